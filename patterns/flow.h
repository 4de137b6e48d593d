/* Reactive streams as episodes of ops: when an episode begins and ends, how many ops may be out, what is reported. What
 * the next op is, is the pattern's. One source a stream.
 *
 * Episodes: due at first + k * every; an episode begins when it is due, or at the end of the one before if
 * that is later; never two at once, none skipped, only those due inside the duration.
 */
#ifndef DBIO_PATTERNS_FLOW_H
#define DBIO_PATTERNS_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/common.h"
#include "patterns/groupcommit.h"
#include "patterns/logring.h"

struct dbio_flow;

enum dbio_flow_step {
        DBIO_FLOW_OP,   /* op is filled in */
        DBIO_FLOW_WAIT, /* nothing until a completion, a nudge, or the class's wake */
        DBIO_FLOW_END,  /* the episode has no more ops; it ends with its last completion */
};

struct dbio_flow_class {
        void (*begin)(struct dbio_flow *flow, uint64_t begin_ns);
        /* op comes zeroed but for due_ns and episode, which may be left. */
        enum dbio_flow_step (*next)(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op);
        void (*done)(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done); /* or NULL */
        void (*tick)(struct dbio_flow *flow, uint64_t now_ns); /* at each fill, before anything else; or NULL */
        uint64_t (*wake)(struct dbio_flow *flow); /* a time at which next or tick wants to be called; or NULL */
        void (*end)(struct dbio_flow *flow, struct dbio_episode *episode); /* adds figures; or NULL */
        void (*release)(struct dbio_flow *flow); /* what the pattern has allocated, not the flow itself; or NULL */
};

struct dbio_flow {
        struct dbio_source base;
        const struct dbio_flow_class *class;
        /* Set at compile. */
        uint64_t first_ns, every_ns; /* every UINT64_MAX = once */
        uint64_t duration_ns;        /* of the stream in the phase */
        unsigned per_due;            /* episodes one after the other at each due time; at least 1 */
        unsigned depth;              /* ops in flight, 0 = no cap */
        unsigned page_bytes;         /* pages written are counted for the episode; 0 = the pattern counts what it reads */
        bool repeat;                 /* without every: begin again at the end */
        bool continuous;             /* no episodes: begins at 0, reports none */
        bool lives_on;               /* when no episode is due any more either: others need what tick does */
        /* State. */
        bool running, ending, more, nudged;
        unsigned outstanding;
        uint64_t begun;              /* episodes begun so far */
        uint64_t ended_ns;           /* end of the last one */
        uint64_t last_ns;            /* last completion of this one */
        uint64_t called_ns;          /* when the rule called for what next gives: begin, completion, or as tick sets */
        uint64_t ops;                /* of this episode */
        uint64_t read_bytes;         /* likewise */
        double service_ns;           /* sum over its writes */
        struct dbio_episode episode;
};

/* When episodes are due, as keys give it. The config structs of patterns with these keys begin with it. */
struct dbio_due_keys {
        uint64_t first_ns, every_ns; /* DBIO_UNSET = not given */
        bool repeat;
};

/* Their entries in a field table: `type` is the config struct, `due` its member of the above type, `one` what an episode
 * is called. Streams that go over something in passes have `repeat` as well. */
#define DBIO_DUE_FIELDS(type, due, one)                                                                                \
        {"first", DBIO_FIELD_TIME, offsetof(type, due.first_ns), NULL, 0, 0,                                           \
         "when the first " one " is due; every unless given, else 0s", "judgement", 0, NULL, NULL},                    \
        {"every", DBIO_FIELD_TIME, offsetof(type, due.every_ns), NULL, 0, 0,                                           \
         "time between two due times; once unless given", "judgement", DBIO_FIELD_POSITIVE, NULL, NULL}
#define DBIO_PASS_FIELDS(type, due)                                                                                    \
        {"repeat", DBIO_FIELD_BOOL, offsetof(type, due.repeat), "no", 0, 0, "yes: one pass after the other",           \
         "judgement", 0, NULL, NULL},                                                                                  \
        DBIO_DUE_FIELDS(type, due, "pass")

/* `check` and `ends` of patterns with those keys; config begins with a struct dbio_due_keys. */
int dbio_due_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err);
bool dbio_due_ends(const struct dbio_stream_keys *keys, const void *config);

/* Of a flow that begins at once and runs through. */
#define DBIO_DUE_ONCE ((struct dbio_due_keys){0, DBIO_UNSET, false})

struct dbio_flow_plan {
        const struct dbio_flow_class *class;
        struct dbio_due_keys due;
        unsigned depth;
};

/* Makes the stream's one source, `size` bytes that begin with a struct dbio_flow, and sets flags and threads. The last
 * of first's defaults: every, else 0. Errors: memory. */
int dbio_flow_new(struct dbio_stream *out, size_t size, const struct dbio_flow_plan *plan,
                  const struct dbio_pattern_env *env, struct dbio_err *err);
/* Something outside of completions has changed at `at_ns`: next is called as soon as may be. */
void dbio_flow_nudge(struct dbio_flow *flow, uint64_t at_ns);

/* Records of a stream that logs to a target named by `log`: through that target's log stream as commits, or where there
 * is none by writes of its own, one after the other over the target. */
struct dbio_log_out {
        struct dbio_log_waiter waiter;
        struct dbio_flow *flow;
        struct dbio_log *log;    /* NULL: own writes */
        uint64_t start_ns;
        struct dbio_logring ring;
        unsigned sector;
        uint16_t target;
        bool used;               /* the stream has a log at all */
        unsigned waiting;        /* records that are not durable yet */
};
/* target -1: no log, nothing is ever written. records: how many may wait at once, each of up to largest bytes. */
int dbio_log_out_init(struct dbio_log_out *out, struct dbio_flow *flow, const struct dbio_pattern_env *env,
                      struct dbio_stream *stream, int target, unsigned records, uint32_t largest, struct dbio_err *err);
/* A record. True: op is the write that the caller has to give; false: nothing to do. It is durable once `waiting` has
 * gone down again. */
bool dbio_log_out_put(struct dbio_log_out *out, uint64_t now_ns, uint32_t bytes, struct dbio_op *op);
/* To be told of every completion of the stream; true where it was a record's. */
bool dbio_log_out_done(struct dbio_log_out *out, const struct dbio_op *op);

#endif
