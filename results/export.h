/* Runs in the formats of other tools. */
#ifndef DBIO_RESULTS_EXPORT_H
#define DBIO_RESULTS_EXPORT_H

#include <stdio.h>

#include "engine/err.h"
#include "engine/hist.h"
#include "results/query.h"

/* In one of the formats of export.c's table: json (as show --json), csv (the rows of v_series), hdr, fio-json, influx.
 * DBIO_USAGE where there is no such format. */
int dbio_export(struct dbio_store *store, const struct dbio_runs *runs, const char *format, FILE *out,
                struct dbio_err *err);

/* HdrHistogram's log, version 1.3 (its published format): a histogram of service and one of response a stream and phase,
 * and with full intervals one of service an interval, each under a tag PHASE/STREAM/KIND/ROLE/service. Values above 24 h
 * have no place in it and are left out. */
int dbio_export_hdr(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err);

/* The base64 text of one histogram (V2, compressed) as HdrHistogram's decoders take it. The caller frees; NULL without
 * memory. */
char *dbio_hdr_encode(const struct dbio_hist *hist);

/* fio's JSON output (version 3.x): a job a phase and stream; clat is service, slat wait, lat response. */
int dbio_export_fio(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err);

#endif
