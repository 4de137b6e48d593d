/* Past measurements of other tools, put into the results database as runs: totals as they were printed, NULL for what was
 * not. */
#ifndef DBIO_RESULTS_IMPORTED_H
#define DBIO_RESULTS_IMPORTED_H

#include <stdint.h>

#include "engine/err.h"
#include "results/store.h"

/* Times are ns; NAN = not given. */
struct dbio_imported_total {
        const char *stream, *pattern;
        unsigned threads, depth;  /* depth: of each thread */
        int kind;                 /* enum dbio_kind; several of a stream come one after the other */
        uint64_t ios, bytes, errors;
        double service_mean, service_p50, service_p90, service_p95, service_p99, service_p999, service_max, service_stddev;
        double response_mean, response_p50, response_p90, response_p95, response_p99, response_p999, response_max, response_stddev;
};

struct dbio_imported_phase {
        const char *name;
        uint64_t duration_ns;
        unsigned n;
        const struct dbio_imported_total *totals;
};

/* Adds a complete run, all in one transaction. info's schedule_hash NULL: what was demanded is not known. started_at (as
 * the views have it) NULL: now. DBIO_IO. */
int dbio_store_import(struct dbio_store *store, const struct dbio_run_info *info, const char *started_at,
                      const struct dbio_imported_phase *phases, unsigned n, int64_t *run_id, struct dbio_err *err);

#endif
