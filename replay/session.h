/* A session: one demand bound to targets and a results database, ready to be repeated. */
#ifndef DBIO_REPLAY_SESSION_H
#define DBIO_REPLAY_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/run.h"
#include "engine/stopif.h"
#include "patterns/profile.h"
#include "replay/demand.h"
#include "results/host.h"
#include "results/recorder.h"
#include "results/store.h"

struct dbio_session {
        const struct dbio_cmdline *line;
        struct dbio_demand demand;
        struct dbio_binding *bindings;
        unsigned nbindings;
        struct dbio_targets targets;
        bool simulated;
        struct dbio_sim_set sim;   /* empty on real targets */
        struct dbio_schedule *schedule;
        struct dbio_run_options options;
        char engine_why[160];
        struct dbio_store *store;
        struct dbio_host_devices devices; /* under the targets */
        char *host_json, *targets_json, *options_json, *profile_text;
        char profile_hash[65], trust[1500], how[256];
        unsigned nlimits, nobserved;
        struct dbio_limit *limits, *observed;
        bool watched;              /* --stop-if was given */
        struct dbio_stop_if stop_if;
        char **notes;              /* one a target, for `show`; NULL = none */
        bool begun;                /* targets may have been written by a run or by preconditioning */
        bool went_on;              /* the last repetition had I/O errors and went on, as on_error says */
};

/* What one open wants besides the command line: a study's cell, or nothing. */
struct dbio_session_extra {
        const struct dbio_set *sets;
        unsigned nsets;
        /* NAME=BINDING for targets besides those of --target and --bind; NULL = none. The cell's win over the line's,
         * these win over the earlier run's. */
        const struct dbio_option_value *cell, *earlier;
        const char *earlier_targets; /* the earlier run's targets_json: its devices are found again by it */
        const char *resolved;      /* a run's resolved text instead of a source (--like); NULL = none */
};

/* Loads, binds, compiles, asks the guards, opens the database, makes and opens the targets. With --dry-run nothing is
 * made or opened for writing and no database is touched. On failure everything is released. Closing says which devices
 * now hold dbio's data. */
int dbio_session_open(struct dbio_session *session, const char *source, const struct dbio_cmdline *line,
                      const struct dbio_session_extra *extra, struct dbio_err *err);
void dbio_session_close(struct dbio_session *session);

/* One repetition. set_id 0 begins a set, then names it. Returns an exit code (0, 4, 5, 6, 128 + signal), or -1. */
int dbio_session_repeat(struct dbio_session *session, const char *label, unsigned repetition, int64_t *set_id,
                        int64_t *run_id, struct dbio_err *err);
/* Whether the next repetition is made after one that returned this code: not where it was ended. */
bool dbio_session_goes_on(const struct dbio_session *session, int code);

/* Preconditions the targets for which the workload asks it, unless that is remembered, and notes the state of all; part
 * of dbio_session_open. */
int dbio_session_precondition(struct dbio_session *session, struct dbio_err *err);
void dbio_session_notes_release(struct dbio_session *session);

/* --verify: says before the first phase what memory it may take; after the last reads again what was written and lists
 * what is wrong, on stderr. Returns DBIO_OK, DBIO_MISMATCH, or -1. Nothing without the option. */
void dbio_session_verify_announce(const struct dbio_session *session);
int dbio_session_verify(const struct dbio_session *session, struct dbio_run *run, struct dbio_err *err);

/* What --dry-run prints. */
int dbio_session_describe(struct dbio_session *session, FILE *out, struct dbio_err *err);

/* Set by the first Ctrl-C, or to end the run; the next Ctrl-C ends the process. Read by all workers.
 * dbio_interrupt_signal: 0, or the signal's number. */
extern atomic_int dbio_interrupt_flag;
void dbio_interrupt_watch(void);
int dbio_interrupt_signal(void);

#endif
