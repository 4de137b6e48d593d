/* The results database: one SQLite file of runs, read through its views, whose columns stay. Several processes may
 * use one file. A store is used on one thread at a time. Times are ns. */
#ifndef DBIO_RESULTS_STORE_H
#define DBIO_RESULTS_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "results/limits.h"

struct dbio_store;

enum dbio_store_mode {
        DBIO_STORE_READ,   /* must exist; needs no right to write */
        DBIO_STORE_WRITE,  /* must exist (label, rm, merge) */
        DBIO_STORE_CREATE, /* made where it is missing (run, import) */
};

/* Opens the file and brings its tables up to date. A run whose process is gone, but that is still called running, is
 * called interrupted from here on. DBIO_USAGE: missing, not a results database, made by a newer dbio. DBIO_IO: errno. */
int dbio_store_open(struct dbio_store **store, const char *path, enum dbio_store_mode mode, struct dbio_err *err);
void dbio_store_close(struct dbio_store *store); /* accepts NULL */

/* What is kept of a run from its start. Strings stay the caller's; those that do not apply are NULL. */
struct dbio_run_info {
        int64_t set_id;            /* 0 begins a set; else the run_id of the set's first run */
        unsigned repetition;       /* from 1 */
        const char *label;
        const char *workload;      /* name */
        const char *workload_text; /* as read */
        const char *resolved_text;
        const char *schedule_hash; /* hex */
        uint64_t seed;
        const char *engine;        /* as chosen, never "auto" */
        bool simulated;
        const char *trust;         /* what a simulated run says of itself: `raid10-15k-sas (fitted to …)` */
        const char *profile_text;  /* simulated: the profiles used, and their hash */
        const char *profile_hash;
        const char *tool_version;
        const char *options_json;  /* options and bindings, for --like */
        const char *host_json;     /* results/host.h */
        const char *targets_json;
        const char *how;           /* the line `how` of show, less lag and foreign I/O: `io_uring, O_DIRECT, depth 76 kept` */
        unsigned nlimits, nobserved;
        const struct dbio_limit *limits, *observed;
};

/* Adds a run with status `running` and gives its id and set id (either may be NULL). */
int dbio_store_run_begin(struct dbio_store *store, const struct dbio_run_info *info, int64_t *run_id, int64_t *set_id,
                         struct dbio_err *err);

struct dbio_run_outcome {
        const char *status;      /* "complete", "interrupted" (stopped by the user) or "failed" */
        bool nothing;            /* no recorded phase was begun: neither valid nor invalid, NULL in v_run */
        bool valid;
        const char *invalid_why; /* results/validity.h; NULL when valid */
        uint64_t wall_ns;        /* real time */
        uint64_t cpu_user_ns, cpu_sys_ns;
        unsigned ntargets;
        const char *const *target_notes; /* one a target, shown beside it; NULL or "" = none; may be NULL itself */
};

/* Closes the run's row: until then its status is `running`. */
int dbio_store_run_end(struct dbio_store *store, int64_t run_id, const struct dbio_run_outcome *outcome,
                       struct dbio_err *err);

#endif
