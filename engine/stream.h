/* Streams as pull sources: all that the engine knows of a pattern, a trace or a test's array.
 *
 * A stream has `threads`; each thread, or all of them together where they share state, is one *source*. A source is
 * owned by one worker for a whole phase, so none of these calls needs a lock. Times are ns from the stream's start.
 */
#ifndef DBIO_ENGINE_STREAM_H
#define DBIO_ENGINE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/op.h"

struct dbio_report;
struct dbio_log; /* the patterns' own: commits that wait for a flush */

/* How an op came back. */
struct dbio_done {
        uint64_t intended_ns;  /* when it was due or there was room, went, was done; from the stream's start */
        uint64_t submitted_ns;
        uint64_t completed_ns;
        int64_t result;        /* bytes moved, or -errno */
        uint64_t service_ns;   /* what the device took: never scaled, as the stream's times are by --scale-time */
};

struct dbio_source;

struct dbio_source_class {
        /* Puts up to max ops that may be issued, in the order of issue, into ops and returns their number; 0 = none
         * at this time. A planned source ignores `now` and gives its next ops (they may lie in the future when they
         * have due times); a reactive one gives only what its rule calls for at `now`. Must not allocate. */
        unsigned (*fill)(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max);
        /* Tells a reactive source of a completion, in the order of reaping. NULL: the source is planned. */
        void (*done)(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done);
        /* The time at which fill may have something without a completion before (a poll, an arrival), now or earlier
         * where it has something at once, UINT64_MAX for never. NULL: only completions change anything. A fill or done
         * of another source of the same group may bring it forward (a commit for a log, a commit that is durable), so
         * ask again after those. */
        uint64_t (*wake)(struct dbio_source *source);
        /* The phase is over and everything in flight has been reaped; a source with an episode still open reports it
         * as cut. May be NULL. */
        void (*finish)(struct dbio_source *source, uint64_t now_ns);
        void (*free)(struct dbio_source *source);
};

/* Embedded first in a pattern's own struct. */
struct dbio_source {
        const struct dbio_source_class *class;
        struct dbio_report *report; /* set by the engine before the first fill; never NULL then */
        uint16_t thread;            /* thread number, 0 where the source carries all threads of its stream */
        bool ended;                 /* set by fill when the last op has been given */
};

/* Where a log stream stands, bytes since the phase's start. Streams with `after` are in the log's group and read it:
 * an op formed when `appended` was p is ready once durable >= p. The pacer raises `wanted` to the highest p that
 * something waits for, so that a log with lazy flushing flushes. */
struct dbio_log_position {
        uint64_t appended, durable, wanted;
};

/* One finished, or cut, episode. writes, bytes and means are over its writes that did not fail, without records and
 * copies to a snapshot; bytes of one that writes nothing are those it read. Fields that do not apply are 0, times are ns
 * from the stream's start, write_mean_ns is real. */
struct dbio_episode {
        uint32_t episode;       /* from 1 */
        uint64_t begin_ns;
        uint64_t end_ns;        /* last completion; UINT64_MAX when cut by the phase's end */
        uint64_t pages, writes, bytes;
        uint64_t avoided;       /* pages dirtied meanwhile and taken along */
        uint64_t stalls;        /* polls that found no room */
        uint64_t outstanding_target; /* pages, at its end; 0 where there is no governor */
        uint64_t write_mean_ns; /* mean service time of its writes */
};

/* What a source tells besides its ops; all from fill, done or finish, on the owning worker, no allocation. */
void dbio_report_commit(struct dbio_report *report, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns,
                        uint32_t bytes);
/* Commits that are none: `failed` whose flush did not succeed, and `left` that arrived in an open loop faster than the
 * log could flush, counted at the phase's end. */
void dbio_report_commits_lost(struct dbio_report *report, uint64_t failed, uint64_t left);
void dbio_report_episode_begin(struct dbio_report *report, uint32_t episode, uint64_t begin_ns);
void dbio_report_episode_end(struct dbio_report *report, const struct dbio_episode *episode);
/* name is a string constant; at most one value of a name is kept per interval (the last). */
void dbio_report_gauge(struct dbio_report *report, const char *name, uint64_t now_ns, double value);
/* Bytes that another stream has read so far on all workers, for `paired_with`. stream is its index in the phase. */
uint64_t dbio_report_read_bytes_of(struct dbio_report *report, unsigned stream);

/* Where the above go: whoever drives a source (the engine, explain, a test) embeds this first in a struct of its own.
 * A slot that is NULL drops what it is told; read_bytes_of is then 0. */
struct dbio_report_class {
        void (*commit)(struct dbio_report *report, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns,
                       uint32_t bytes);
        void (*commits_lost)(struct dbio_report *report, uint64_t failed, uint64_t left);
        void (*episode_begin)(struct dbio_report *report, uint32_t episode, uint64_t begin_ns);
        void (*episode_end)(struct dbio_report *report, const struct dbio_episode *episode);
        void (*gauge)(struct dbio_report *report, const char *name, uint64_t now_ns, double value);
        uint64_t (*read_bytes_of)(struct dbio_report *report, unsigned stream);
};
struct dbio_report {
        const struct dbio_report_class *class;
};
/* Drops everything: for tests and benchmarks that want the ops alone. */
extern struct dbio_report dbio_report_none;

enum dbio_stream_flag {
        DBIO_STREAM_REACTIVE = 1,   /* sources have done(); intended = the op's due_ns */
        DBIO_STREAM_TIMED = 2,      /* ops have due times (rate streams, timed traces) */
        DBIO_STREAM_EPISODES = 4,   /* reports episodes */
        DBIO_STREAM_ENDLESS = 8,    /* never sets `ended` by itself; reactive ones in a phase with a duration: closed loops */
        DBIO_STREAM_COMMITS = 16,   /* reports commits */
};

/* One stream of one phase. Strings and sources are owned by the phase. */
struct dbio_stream {
        const char *name, *pattern;
        unsigned flags;
        unsigned threads;
        unsigned nsources;             /* threads, or 1 where threads share state */
        struct dbio_source **sources;
        unsigned depth;                /* outstanding ops a source may have; 0 = no cap */
        uint64_t think_ns;             /* closed loop: completion -> the slot's next op */
        uint64_t start_ns, stop_ns;    /* from the phase's start; stop UINT64_MAX = to the end */
        unsigned group;                /* sources of streams with the same number share a worker; 0 = free */
        const struct dbio_log_position *after;  /* NULL = none */
        struct dbio_log_position *position;     /* of a log stream, else NULL */
        struct dbio_log *log;          /* of a log stream: where other streams of its group commit; else NULL */
        double load;                   /* expected ops/s, for placement; 0 = unknown */
        char note[96];                 /* what check and --dry-run say of it besides (a density solved for); or empty */
        uint64_t memory_bytes;         /* what its dirty map holds, for --dry-run */
        uint32_t max_length;           /* largest op it makes, for buffers */
        double compressible, dedup;    /* of what its writes carry, shares of 1 */
        bool fills;                    /* it makes writes with DBIO_OP_ZEROES or DBIO_OP_C0 */
        unsigned nuses;                /* targets that it may touch, its main one first */
        struct dbio_stream_use {
                uint16_t target;
                bool reads, writes;    /* writes: also trims */
                uint64_t from, to;     /* bytes of the target's address space; to is exclusive */
        } uses[4];
};

#endif
