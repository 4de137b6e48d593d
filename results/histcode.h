/* Histograms as the database keeps them: only the counts that are not 0, as numbers of variable length. */
#ifndef DBIO_RESULTS_HISTCODE_H
#define DBIO_RESULTS_HISTCODE_H

#include <stddef.h>

#include "engine/hist.h"

/* Enough for any histogram. */
#define DBIO_HIST_CODE_MAX (64 + 6 * (size_t)DBIO_HIST_COUNTS)

/* Writes at most DBIO_HIST_CODE_MAX bytes to code and returns their number. */
size_t dbio_hist_encode(const struct dbio_hist *hist, unsigned char *code);

/* Adds an encoded histogram to `into`. -1 where code is not one (into may then hold a part of it). Size 0 adds
 * nothing. */
int dbio_hist_decode(struct dbio_hist *into, const unsigned char *code, size_t size);

#endif
