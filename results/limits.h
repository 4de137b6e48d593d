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

struct dbio_figure_rows; /* results/query.h */

/* A run's own figure for it over all roles of the kind, in the unit of `value`; NAN where the stream did not run in the
 * phase or had no such op. kind -1 takes the stream's only kind, NAN where it has several (fsync does not count). */
double dbio_limit_of(const struct dbio_figure_rows *rows, const char *phase, const struct dbio_limit *limit);

/* Whether a figure keeps the limit. NAN does not. */
bool dbio_limit_holds(const struct dbio_limit *limit, double figure);

/* The sentence that follows from an `observed` figure and the run's own: "the array can carry it; look above the array"
 * (the run is better by 20 % or more), "the storage explains it" (within 10 %, or worse), else "cannot tell"; that too
 * where the run is not valid or simulated. Response counts, as the database saw it. */
const char *dbio_observed_conclusion(const struct dbio_limit *observed, double figure, bool valid);

#endif
