/* Group commit: commits that arrive, wait for a flush of their log, and are durable in order.
 *
 * Every log pattern (sqlserver.log_write, innodb.redo_log, innodb.binlog, postgres.wal, oracle.lgwr) has one `struct
 * dbio_log` in its source: how commits arrive, those that are not durable yet, and where the log stands. What a flush
 * looks like on the device is the pattern's own. The log is a stream of bytes: a commit of b bytes raises `appended`
 * by b, and is durable once `durable` has passed its end. `durable` never passes a byte whose flush is still in flight,
 * so a flush that overtakes an earlier one makes nothing durable before that one is done.
 *
 * Streams that log through another stream (`log`, `log_stream`, `commits_of`) are in its group, so all calls are on
 * one worker and nothing here locks. Times are ns from the *log stream's* start unless a line says otherwise.
 */
#ifndef DBIO_PATTERNS_GROUPCOMMIT_H
#define DBIO_PATTERNS_GROUPCOMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/stream.h"
#include "patterns/field.h"
#include "patterns/pattern.h"
#include "patterns/rng.h"

/* How commits arrive by themselves: open loop (rate, may be a ramp) or closed loop (sessions). */
struct dbio_commit_plan {
        struct dbio_ramp rate;  /* commits/s; NAN = none */
        int arrival;            /* enum dbio_arrival */
        uint64_t sessions;      /* DBIO_UNSET or 0 = none; session i's first commit is at i/sessions of think */
        uint64_t think_ns;      /* commit durable -> the session's next commit */
        struct dbio_dist bytes; /* bytes a commit, at least 1 */
        bool lazy;              /* commits return at once (delayed durability): sessions do not wait */
};

/* The keys of the above as log patterns have them; config structs hold one. */
struct dbio_commit_keys {
        double commit_rate;
        int arrival;
        uint64_t sessions, think_ns;
        struct dbio_dist bytes;
};
struct dbio_commit_plan dbio_commit_plan_of(const struct dbio_commit_keys *keys);

extern const char *const dbio_arrival_names[];

/* Their entries in a field table: `type` is the config struct, `m` its member of the above type; default and source of
 * bytes_per_commit are the database's own. */
/* clang-format off */
#define DBIO_COMMIT_FIELDS_(type, m, bytes_default, bytes_source)                                                      \
        {"arrival", DBIO_FIELD_ENUM, offsetof(type, m.arrival), "poisson", 0, 0,                                       \
         "how the commits of commit_rate arrive", "judgement: independent sessions", 0, dbio_arrival_names, NULL},     \
        {"sessions", DBIO_FIELD_COUNT, offsetof(type, m.sessions), NULL, 1, 1000000,                                   \
         "closed loop: sessions that commit, wait until the commit is durable, and think", "judgement: no default", 0, \
         NULL, NULL},                                                                                                  \
        {"think", DBIO_FIELD_TIME, offsetof(type, m.think_ns), "0s", 0, 0,                                             \
         "of sessions: from a durable commit to the session's next one", "judgement", 0, NULL, NULL},                  \
        {"bytes_per_commit", DBIO_FIELD_DIST, offsetof(type, m.bytes), bytes_default, 1, 1 << 30,                      \
         "log bytes that a commit adds", bytes_source, 0, NULL, NULL}
#define DBIO_COMMIT_FIELDS(type, m, bytes_default, bytes_source)                                                       \
        {"commit_rate", DBIO_FIELD_RATE, offsetof(type, m.commit_rate), NULL, 0, 0,                                    \
         "open loop: commits a second, whether or not earlier ones are durable", "judgement: no default",              \
         DBIO_FIELD_POSITIVE, NULL, NULL},                                                                             \
        DBIO_COMMIT_FIELDS_(type, m, bytes_default, bytes_source)
/* clang-format on */

/* A commit of another stream, in the caller's storage, alive until `durable` has been called. */
struct dbio_log_waiter {
        /* On the log's worker, from within its done(): may call dbio_log_commit again. phase_ns is from the phase's
         * start. */
        void (*durable)(struct dbio_log_waiter *waiter, uint64_t phase_ns);
};

struct dbio_log_entry {
        uint64_t arrived_ns, end; /* end: position after it */
        uint32_t bytes;
        bool own; /* came by the plan: a session waits */
        struct dbio_log_waiter *waiter;
};

/* A flush that has come back. */
struct dbio_log_flush {
        uint64_t formed_ns;    /* what had arrived by then was in it, as far as it held that */
        uint64_t submitted_ns, durable_ns;
        bool failed;           /* its commits are errors, but whoever waits for them goes on */
};

struct dbio_log {
        struct dbio_log_position position;
        struct dbio_source *source; /* the log pattern's: its report gets the commits */
        uint64_t start_ns;          /* the log stream's start in the phase */
        struct dbio_log *next;      /* commits that are durable here go on to this log (binlog), NULL = they end */
        struct dbio_log *previous;  /* whose `next` this is: gets the sessions back */

        uint64_t hold; /* no commit of its own begins once appended has reached this: a log that is full
                        * up to its oldest dirty page (InnoDB); UINT64_MAX = never */
        /* Bytes on top of a commit's own (PostgreSQL's full-page images); NULL = none. */
        uint32_t (*extra)(struct dbio_log *log, uint64_t arrived_ns);

        struct dbio_commit_plan plan;
        struct dbio_rng rng;
        double cumulative; /* open loop: expected commits up to next_ns */
        uint64_t drawn;    /* commits drawn so far */
        uint64_t next_ns;  /* next arrival, UINT64_MAX = none known */
        uint64_t *ready;   /* closed loop: ring of the times at which idle sessions commit, rising */
        uint64_t ready_head, ready_count;

        struct dbio_log_entry *entries; /* ring of the commits that are not durable, in order of arrival */
        unsigned capacity, head, count;
        unsigned needed;      /* places that own commits must have */
        unsigned reserved;    /* places kept for waiters of other streams */
        uint64_t appended_ns; /* arrival of the newest commit */
        uint64_t formed_ns;   /* of the last flush that came back */
};

/* ----- for patterns that log through another stream ----- */

/* At compile: this many commits of the caller may be waiting at once. Returns 0, or -1 with err (memory). */
int dbio_log_reserve(struct dbio_log *log, unsigned commits, struct dbio_err *err);
/* Appends a commit at phase_ns (from the *phase's* start: the caller's now plus its stream's start_ns). waiter may be
 * NULL: nobody waits, as for records of a checkpoint. Returns the position after it. The log's wake() is then now. A
 * caller that has reserved enough never fails; records without waiter are put together with the newest when there is
 * no room. */
uint64_t dbio_log_commit(struct dbio_log *log, uint64_t phase_ns, uint32_t bytes, struct dbio_log_waiter *waiter);

/* ----- for log patterns ----- */

/* Most commits that may be waiting in an open loop; later ones are taken in, at their own time, when there is room. */
#define DBIO_LOG_CAPACITY 65536u

/* source and its report are read at each call, start_ns now. DBIO_USAGE where neither or both of rate and sessions are
 * given. */
int dbio_log_init(struct dbio_log *log, const struct dbio_commit_plan *plan, struct dbio_source *source,
                  uint64_t start_ns, uint64_t seed, struct dbio_err *err);
void dbio_log_release(struct dbio_log *log);
/* Shows the log in the stream; the stream is endless with sessions, and in a phase without duration. */
void dbio_log_set_stream(struct dbio_log *log, struct dbio_stream *out, const struct dbio_pattern_env *env);
/* Lets commits flow on: commits durable in `log` arrive in `next`, whose plan has no arrivals of its own; its
 * sessions wait until next has them durable. At compile. */
int dbio_log_chain(struct dbio_log *log, struct dbio_log *next, struct dbio_err *err);

/* Takes in the commits that have arrived by now_ns. */
void dbio_log_advance(struct dbio_log *log, uint64_t now_ns);
/* Time of the next arrival that advance would take in, UINT64_MAX = none without a completion. */
uint64_t dbio_log_next(const struct dbio_log *log);
/* The end of the first commit whose end is at or past `at`, or appended where none is: whole commits only. */
uint64_t dbio_log_end_at(const struct dbio_log *log, uint64_t at);
/* When the first byte past `position` arrived; UINT64_MAX where nothing has been appended past it. */
uint64_t dbio_log_arrival_at(const struct dbio_log *log, uint64_t position);
/* Everything up to `position` is durable by a flush that holds its end. Reports the commits, calls waiters, frees
 * sessions. Call once for each flush, in the order of the log. */
void dbio_log_harden(struct dbio_log *log, uint64_t position, const struct dbio_log_flush *flush);
/* The phase is over: reports the commits of an open loop that even the last flush had to leave behind. Those that came
 * after it was formed are cut by the phase's end, as all that comes later. */
void dbio_log_finish(struct dbio_log *log);

/* Commits a second that the plan can be expected to make, for placement; 0 = unknown. */
double dbio_commit_plan_load(const struct dbio_commit_plan *plan);
/* "exactly one of commit_rate and sessions", think only with sessions, lazy sessions need a think time. Sets err's
 * message and path. */
int dbio_commit_plan_check(const struct dbio_commit_plan *plan, struct dbio_err *err);

#endif
