/* Runs a schedule's phases on open targets: spreads sources over workers, starts and stops them, hands figures on. */
#ifndef DBIO_ENGINE_RUN_H
#define DBIO_ENGINE_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/backend.h"
#include "engine/metrics.h"
#include "engine/opslog.h"
#include "engine/pacer.h"
#include "engine/schedule.h"
#include "engine/target.h"
#include "engine/verify.h"

enum dbio_pacing { DBIO_PACING_PRECISE, DBIO_PACING_BALANCED, DBIO_PACING_FRUGAL };

struct dbio_run_options {
        const struct dbio_backend *backend;
        unsigned workers;          /* 0 = as engine/placement.h chooses */
        enum dbio_pacing pacing;
        uint64_t interval_ns;      /* the grid, >= 10 ms */
        uint64_t timeout_ns;       /* an op in flight for longer ends the run */
        uint64_t max_errors;       /* errors allowed before the run stops; UINT64_MAX = continue */
        double max_iops, max_bytes_per_s; /* caps over all workers; 0 = none */
        double scale_time;         /* multiplies due times and durations; 1 = as written */
        bool verify;
        bool null_payload;         /* writes carry whatever is in the buffer (under null) */
        double compressible, dedup; /* payload that most streams have, made beforehand; a stream's own is what counts */
        const struct dbio_sim_spec *sim;
        struct dbio_clock *clock;  /* NULL = real, or virtual under the simulated device; stays the caller's */
        struct dbio_opslog *opslog; /* gets every op of recorded phases; NULL = none; stays the caller's */
        atomic_int *stop; /* set from outside: no new ops, drain, end */
};

/* Figures of a phase that are not per interval. Per-stream arrays have the phase's nstreams entries. */
struct dbio_phase_result {
        uint64_t started_ns;     /* clock, absolute */
        uint64_t duration_ns;    /* start to last completion */
        uint64_t *due, *unissued; /* per stream: open loop, else due = issued and unissued = 0 */
        uint64_t intervals_late;  /* closed into the next one because a ring was full */
        struct dbio_hist lag, turn; /* over all workers; turn = from reap's return to the next reap's call */
        struct dbio_limit_use outstanding, transfer; /* of the HBA; cap 0 = no limit */
        struct dbio_io_error errors[16];
        bool stopped, timed_out, error_stop;
        uint64_t ops_logged, ops_log_lost;
};

struct dbio_run; /* workers, backends, arena: for all phases of a run */

/* `opened` targets stay the caller's and must outlive the run. Errors: DBIO_IO from backends, DBIO_USAGE. */
int dbio_run_open(struct dbio_run **run, struct dbio_schedule *schedule, struct dbio_targets *targets,
                  const struct dbio_run_options *options, struct dbio_err *err);

/* The worker count and arena that a phase needs, without starting anything (for --dry-run). */
void dbio_run_plan(const struct dbio_run *run, const struct dbio_phase *phase, unsigned *workers,
                   uint64_t *arena_bytes);

/* Runs one open phase to its end. `tick` is called on the calling thread: about every interval while workers run (in
 * virtual time: whenever one has passed), and once more at the end with everything in the rings; it drains them.
 * result's arrays are the caller's to release with dbio_phase_result_release. */
int dbio_run_phase(struct dbio_run *run, struct dbio_phase *phase,
                   void (*tick)(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns),
                   void *user, struct dbio_phase_result *result, struct dbio_err *err);

/* Under --verify, after the last phase: reads again what was written and reports all that was found, also by the phases'
 * reads; nothing without --verify. A report with anything in `wrong` leads to exit code DBIO_MISMATCH. After a timeout
 * nothing is read again. DBIO_IO. */
int dbio_run_verify(struct dbio_run *run, void (*progress)(void *user, const char *what, uint64_t done, uint64_t all),
                    void *user, struct dbio_verify_report *report, struct dbio_err *err);

void dbio_phase_result_release(struct dbio_phase_result *result); /* its arrays; accepts an empty one */
void dbio_run_close(struct dbio_run *run); /* accepts NULL; targets, clock and ops log stay the caller's */

#endif
