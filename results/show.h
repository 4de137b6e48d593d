/* A run, or the newest set under a name, as people and programs read it. All write to the FILE given and set err with
 * DBIO_IO where the database or the FILE fails. */
#ifndef DBIO_RESULTS_SHOW_H
#define DBIO_RESULTS_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/err.h"
#include "results/query.h"

struct dbio_show_options {
        bool counters; /* the figures under the names of the databases' own counters, too */
        bool plot;     /* the series, too */
        bool utf8;     /* the terminal can show it: blocks in the plot */
        const char *db; /* where the database was named: so do the commands proposed next; NULL: it was not */
};

/* What `dbio show` prints: an answer first, then tables, at most 100 columns. Of a set, the tables are those of its
 * last valid run, the answer is over all. */
int dbio_show_text(struct dbio_store *store, const struct dbio_runs *runs, const struct dbio_show_options *options,
                   FILE *out, struct dbio_err *err);

/* One JSON object: run, phase, series, episode, interference, recovery, limit, device, gauge, each the rows of the view
 * v_… under its column names. */
int dbio_show_json(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err);

/* The rows of v_phase with a header line (RFC 4180). */
int dbio_show_csv(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err);

/* The series of a run's phases in a terminal: lines of blocks for the rate and the mean response of each stream,
 * and where episodes ran; UTF-8 or ASCII. */
int dbio_show_plot(struct dbio_store *store, int64_t run_id, bool utf8, FILE *out, struct dbio_err *err);

#endif
