/* Figures that a workload sets a bound to (`limits`) or that the database saw (`observed`), as results keep them. */
#ifndef DBIO_RESULTS_LIMITS_H
#define DBIO_RESULTS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"

enum dbio_limit_part { DBIO_PART_RESPONSE, DBIO_PART_WAIT, DBIO_PART_SERVICE };

enum dbio_limit_stat {
        DBIO_LIMIT_IOPS,
        DBIO_LIMIT_MIB_PER_S,
        DBIO_LIMIT_MEAN,
        DBIO_LIMIT_P50,
        DBIO_LIMIT_P95,
        DBIO_LIMIT_P99,
        DBIO_LIMIT_P999,
        DBIO_LIMIT_MAX,
        DBIO_LIMIT_ERRORS,
        DBIO_LIMIT_STATS
};

enum dbio_limit_comparison { DBIO_COMPARE_NONE, DBIO_COMPARE_LT, DBIO_COMPARE_LE, DBIO_COMPARE_GT, DBIO_COMPARE_GE };

/* `log.commit.mean < 2ms`. Strings stay the caller's. */
struct dbio_limit {
        const char *text;   /* as written: what is printed */
        const char *stream;
        int kind;           /* enum dbio_kind, -1 = the stream's only one */
        enum dbio_limit_part part;
        enum dbio_limit_stat stat;
        enum dbio_limit_comparison comparison; /* DBIO_COMPARE_NONE in `observed` */
        double value;       /* ns, ops/s, bytes/s or a count */
};

struct dbio_store;

/* The run's own figure for it over all roles of the kind, in the unit of `value`; NAN where the stream did not run in
 * the phase or had no such op. wait has a mean and p99 only, else NAN. kind -1 takes the stream's only kind, NAN where
 * it has several (fsync does not count as one). */
int dbio_limit_figure(struct dbio_store *store, int64_t run_id, const char *phase, const struct dbio_limit *limit,
                      double *figure, struct dbio_err *err);

/* Whether a figure keeps the limit. NAN does not. */
bool dbio_limit_holds(const struct dbio_limit *limit, double figure);

#endif
