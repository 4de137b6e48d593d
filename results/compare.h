/* Two sets of runs side by side, with what may be said about the storage.
 *
 * The caller resolves RUN arguments to run ids; a side is all repetitions of a set. Runs that are not valid or not
 * complete are left out and named. Equal schedule hashes are the condition of any verdict. */
#ifndef DBIO_RESULTS_COMPARE_H
#define DBIO_RESULTS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"
#include "results/limits.h"

struct dbio_store;
struct dbio_comparison;

/* `user-reads.iops > -5%` (relative: limit.value is the share, -0.05) or `log.commit.p99 < 2ms`. */
struct dbio_compare_gate {
        struct dbio_limit limit; /* comparison is never DBIO_COMPARE_NONE */
        bool relative;
};

struct dbio_compare_options {
        double margin; /* "same within": a share; 0 = 5 % */
        unsigned ngates;
        const struct dbio_compare_gate *gates; /* stay the caller's until the comparison is freed */
        bool gate_limits;                      /* the workload's limits are gates over NEW too */
        const char *differences; /* what differs in the demand, a line each; NULL = not known. Printed only where the
                                  * schedule hashes differ. */
};

struct dbio_compare_ids {
        const char *name; /* as the user gave it */
        const int64_t *ids;
        unsigned nr;
};

/* DBIO_USAGE where a side has no run; DBIO_IO. */
int dbio_compare_open(struct dbio_comparison **comparison, struct dbio_store *store,
                      const struct dbio_compare_ids *base, const struct dbio_compare_ids *new_,
                      const struct dbio_compare_options *options, struct dbio_err *err);
void dbio_compare_free(struct dbio_comparison *comparison); /* accepts NULL */

/* DBIO_OK; with gates also DBIO_GATE_FAILED or DBIO_INVALID (inconclusive; also where the demand differs). */
enum dbio_code dbio_compare_code(const struct dbio_comparison *comparison);

/* At most 100 columns. */
void dbio_compare_text(const struct dbio_comparison *comparison, FILE *out);

/* One object; see the man page for its members. */
int dbio_compare_json(const struct dbio_comparison *comparison, FILE *out, struct dbio_err *err);

/* A test case a gate, of all comparisons. */
void dbio_compare_junit(struct dbio_comparison *const *comparisons, unsigned nr, FILE *out);

#endif
