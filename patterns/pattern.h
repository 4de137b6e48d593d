/* The table of patterns: named generators of ops.
 *
 * To add one: a file patterns/NAME.c with its config struct, field table and a const struct dbio_pattern; its line in
 * the table of pattern.c; its tests in the suite of tests/test_patterns.c (which runs over every entry) and one test
 * for each thing that it must show; `make reference`, which writes its keys into configs/. A rule that comes from a
 * database names its source in the field table.
 */
#ifndef DBIO_PATTERNS_PATTERN_H
#define DBIO_PATTERNS_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"
#include "engine/stream.h"
#include "patterns/field.h"

/* Which keys of `struct dbio_stream_keys` a pattern knows besides pattern, target, start, stop, region, payload. */
enum dbio_pattern_key {
        DBIO_KEYS_READ = 1,    /* threads depth rate arrival think skew */
        DBIO_KEYS_WRITE = 2,   /* write_through after */
        DBIO_KEYS_VERSION = 4, /* version */
        DBIO_KEYS_DIRTY = 8,   /* dirty_map dirty */
        DBIO_KEYS_THREADS = 16, /* threads alone (bulk_load …) */
        DBIO_KEYS_SKEW = 32,   /* skew alone (dirty map hot) */
        DBIO_KEYS_MEMBERS = 64, /* target may be a list of up to DBIO_MEMBERS_MAX */
};

#define DBIO_MEMBERS_MAX 4

enum dbio_arrival { DBIO_POISSON, DBIO_UNIFORM };
enum dbio_dirty_kind { DBIO_DIRTY_EXTENTS, DBIO_DIRTY_PAGES, DBIO_DIRTY_DENSE, DBIO_DIRTY_STRIDE, DBIO_DIRTY_HOT };

struct dbio_dirty_keys {
        int map;                 /* enum dbio_dirty_kind */
        double density;          /* NAN = not given */
        double pages_per_write;  /* NAN = not given */
        uint64_t stride;         /* pages, DBIO_UNSET = not given */
};

/* The keys that streams share, parsed. Which of them a pattern has: its `keys`. */
struct dbio_stream_keys {
        int target;              /* the first where it is a list */
        unsigned nmembers;       /* 1 where target is no list */
        int members[DBIO_MEMBERS_MAX];
        uint64_t threads;        /* 1 */
        uint64_t depth;          /* DBIO_UNSET = not given: 1 in a closed loop, no cap in an open one */
        struct dbio_rate rate;
        int arrival;             /* enum dbio_arrival */
        uint64_t think_ns;
        uint64_t start_ns, stop_ns; /* stop DBIO_UNSET = to the end */
        struct dbio_region region;
        struct dbio_skew skew;
        int after;               /* stream index in the workload, -1 = none */
        bool write_through;
        const char *dirty_map;   /* shared map's name, NULL = own */
        struct dbio_dirty_keys dirty;
        uint64_t version;        /* SQL Server: 2000 …; InnoDB: 506 507 800 804 */
};

struct dbio_pattern_env;

/* A default that depends on the version: from `version` on (until the next entry of the same key), `key` is `text`.
 * Ends with key NULL. */
struct dbio_preset {
        uint64_t version;
        const char *key, *text;
};

struct dbio_pattern {
        const char *name, *summary;
        unsigned rev;            /* raised when the ops made from the same keys change; part of the schedule's hash */
        unsigned keys;           /* enum dbio_pattern_key */
        unsigned flags;          /* enum dbio_stream_flag that always hold */
        const char *role;        /* main role, for describe */
        const char *const *versions; /* NULL-terminated words, the first is the default; NULL without DBIO_KEYS_VERSION */
        const struct dbio_field *fields; /* own keys */
        const struct dbio_preset *presets; /* or NULL */
        size_t config_size;
        const char *example;     /* a stream's map in YAML, for describe */
        bool write_through;      /* default of write_through */
        bool takes_dirt;         /* a stream that shares its dirty map may make the pages dirty: compiled after those */
        /* Checks what one field cannot say (exactly one of …, keys of another mode). On failure sets err's message, and
         * err->path to the key at fault; the caller adds the position. May be NULL. */
        int (*check)(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err);
        /* Makes the sources of one stream for one phase: sets out's sources, nsources, threads, depth, think, flags,
         * group wishes and sizes. */
        int (*compile)(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                       struct dbio_stream *out, struct dbio_err *err);
        /* Whether the stream comes to an end by itself in a phase without `duration` and `ops` (`pages`, `rows`, one
         * pass …). Lets `check` refuse a phase without an end at its place in the file. NULL: only compile knows, unless
         * flags have DBIO_STREAM_ENDLESS. */
        bool (*ends)(const struct dbio_stream_keys *keys, const void *config);
};

/* What a pattern may know when it compiles a stream of a phase. */
struct dbio_pattern_env {
        const char *phase, *stream;
        uint64_t seed;              /* the workload's; use dbio_rng_seed(seed, phase, stream, thread) */
        uint64_t duration_ns;       /* of the phase, less the stream's start (and up to its stop); UINT64_MAX = open */
        unsigned ntargets;
        const struct dbio_geometry *targets; /* by target index */
        const unsigned *pages;      /* the targets' `page` */
        unsigned self;              /* index in the phase's streams */
        /* Another stream of the phase, by workload index: its compiled form, or NULL where it is not in this phase.
         * Streams named by another are compiled before it. */
        struct dbio_stream *(*other)(const struct dbio_pattern_env *env, int stream);
        unsigned (*other_index)(const struct dbio_pattern_env *env, int stream); /* its index in the phase */
        /* The first log stream of the phase (flag DBIO_STREAM_COMMITS) that writes to the target, or NULL: records for it
         * go through its `log` as commits. Log streams are compiled before all others. Using it joins the groups. */
        struct dbio_stream *(*log_of)(const struct dbio_pattern_env *env, int target);
        /* The shared dirty map of that name, made at the first call of the phase; freed by the phase. */
        struct dbio_dirty_map *(*dirty_map)(const struct dbio_pattern_env *env, const char *name);
        void *state;
};

extern const struct dbio_pattern *const dbio_patterns[]; /* ended by NULL */
const struct dbio_pattern *dbio_pattern_find(const char *name);

/* ----- for patterns ----- */

/* The versions that every sqlserver.* and innodb.* pattern knows, the default first. */
extern const char *const dbio_sqlserver_versions[], *const dbio_innodb_versions[];

/* For `ends` of patterns whose streams never do. */
bool dbio_never_ends(const struct dbio_stream_keys *keys, const void *config);

/* What check returns where a key is at fault: err's path is the key, its message `KEY: what`. */
int dbio_pattern_fault(struct dbio_err *err, const char *key, const char *what);

/* Gives out its one source that carries all threads: sources (malloced, freed by the phase), nsources and threads are
 * set, depth is 0: the source itself holds back. -1 with err without memory. */
int dbio_stream_one_source(struct dbio_stream *out, struct dbio_source *source, struct dbio_err *err);

#endif
