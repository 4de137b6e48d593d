/* Whether a phase had settled, read from the database. Judged by the rate of the phase's main stream (the one with the
 * most ops that has no episodes), or by its mean response where a schedule sets the rate. */
#ifndef DBIO_RESULTS_STEADY_H
#define DBIO_RESULTS_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"
#include "results/stat_series.h"

struct dbio_store;

struct dbio_steady {
        char stream[64];
        bool by_time; /* by the mean response, else by the rate */
        double interval_s;
        unsigned nintervals; /* whole ones */
        unsigned period;     /* of the episodes, in intervals; 0 = none */
        bool trend_checked;  /* a third holds a whole period */
        double trend;        /* ln(last third / first third) */
        bool snia_checked;   /* a round of a fifth holds a whole period */
        struct dbio_stat_snia snia;
        struct dbio_stat_mser mser; /* in intervals; a proposal for the warm-up */
};

/* A phase of one run. No main stream, or fewer than 10 intervals: nothing is checked. */
int dbio_steady_load(struct dbio_store *store, int64_t run_id, const char *phase, struct dbio_steady *steady,
                     struct dbio_err *err);

/* "range 24 % of mean over 5 rounds: not steady by SNIA's rule; a warm-up of 15 s more would take it out", "steady by
 * SNIA's rule (…)" or "not checked: …". */
char *dbio_steady_line(char *text, size_t size, const struct dbio_steady *steady);

/* An array, an object a phase of each run: run_id, phase, stream, by, trend (ln of last third over first), snia, mser5.
 */
int dbio_steady_json(struct dbio_store *store, const int64_t *ids, unsigned nr, FILE *out, struct dbio_err *err);

#endif
