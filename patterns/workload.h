/* A workload: one YAML file, loaded, checked and resolved. */
#ifndef DBIO_PATTERNS_WORKLOAD_H
#define DBIO_PATTERNS_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"
#include "engine/target.h"
#include "patterns/doc.h"
#include "patterns/pattern.h"

/* One stream as a phase runs it: the phase's `set` applied. */
struct dbio_workload_stream {
        const char *name;
        const struct dbio_pattern *pattern;
        struct dbio_stream_keys keys;
        void *config;              /* pattern->config_size bytes */
        double compressible, dedup; /* payload, shares of 1 */
        const struct dbio_node *node; /* its map as read, for the position of errors */
};

struct dbio_workload_phase {
        const char *name;
        uint64_t duration_ns;      /* UINT64_MAX = none */
        uint64_t ops;              /* UINT64_MAX = none */
        bool record;
        unsigned nstreams;         /* those that run, in file order */
        unsigned *streams;         /* indexes into the workload's streams */
        struct dbio_workload_stream *resolved; /* nstreams entries */
        const struct dbio_node *node; /* as of a stream */
};

/* One figure with a bound: `log.commit.mean < 2ms`. */
struct dbio_figure {
        char stream[64];
        int kind;                  /* enum dbio_kind, -1 = the stream's only one */
        enum { DBIO_FIGURE_RESPONSE, DBIO_FIGURE_WAIT, DBIO_FIGURE_SERVICE } part;
        enum { DBIO_STAT_IOPS, DBIO_STAT_MIB_PER_S, DBIO_STAT_MEAN, DBIO_STAT_P50, DBIO_STAT_P95, DBIO_STAT_P99,
               DBIO_STAT_P999, DBIO_STAT_MAX, DBIO_STAT_ERRORS } stat;
        enum { DBIO_OP_NONE, DBIO_OP_LT, DBIO_OP_LE, DBIO_OP_GT, DBIO_OP_GE } comparison;
        double value;              /* ns, ops/s, bytes/s or a count; a share (+0.10) where relative */
        bool relative;             /* a gate against BASE: `+10%` */
        char text[128];
        const struct dbio_node *node; /* where it stands in the workload; NULL elsewhere */
};

struct dbio_workload {
        const char *name, *description, *file;
        uint64_t seed;
        struct dbio_hba hba;
        bool hba_given;
        unsigned ntargets;
        struct dbio_target_spec *targets;
        unsigned nstreams;
        struct dbio_workload_stream *streams; /* without any phase's `set` */
        unsigned nphases;
        struct dbio_workload_phase *phases;
        unsigned nlimits;
        struct dbio_figure *limits;
        unsigned nobserved;
        struct dbio_figure *observed; /* value only */
        unsigned nconditions;
        struct dbio_figure *conditions; /* `while` of a study's `find` */
        uint64_t timeout_ns;       /* DBIO_UNSET = not given */
        uint64_t workers;          /* DBIO_UNSET = auto or not given */
        uint64_t max_errors;       /* 0 = stop at the first, UINT64_MAX = continue; DBIO_UNSET - 1 = not given */
        double compressible, dedup;
        const char *text;          /* as read */
        const char *resolved;      /* canonical, with defaults: what `check --print` prints and what loads again */
        char hash[65];             /* schedule hash: equal where the demand is the same */
        struct dbio_doc *doc;      /* the resolved document, for study and compare */
        void *arena;               /* owns everything above */
};

/* `--set KEY=VALUE` and the like. */
struct dbio_set {
        const char *key, *value;
};

/* Loads a path, or an installed config's name; applies extends, sets (before checking), defaults. Messages with
 * file, line and column. DBIO_USAGE, DBIO_IO. */
int dbio_workload_load(struct dbio_workload *workload, const char *path_or_name, const struct dbio_set *sets,
                       unsigned nsets, struct dbio_err *err);
/* The same from memory; name stands for the file in messages. */
int dbio_workload_load_text(struct dbio_workload *workload, const char *name, const char *text, size_t size,
                            const struct dbio_set *sets, unsigned nsets, struct dbio_err *err);
void dbio_workload_release(struct dbio_workload *workload);

/* A schedule over the workload (which must outlive it) for targets of this geometry (ntargets entries). */
int dbio_workload_compile(const struct dbio_workload *workload, const struct dbio_geometry *geometry,
                          struct dbio_schedule **out, struct dbio_err *err);

/* Figure expressions of limits and gates: `log.commit.mean < 2ms`, `user-reads.iops > -5%`; without an operator
 * comparison is DBIO_OP_NONE and value 0. No position is set. DBIO_USAGE. */
int dbio_figure_parse(struct dbio_figure *figure, const char *text, struct dbio_err *err);
/* An entry of `observed`: name `user-reads.read.mean` and value `18.4ms`. */
int dbio_figure_observed(struct dbio_figure *figure, const char *name, const char *value, struct dbio_err *err);

/* Which kinds of figures each stream has, by workload index, zero at first: adds what an open phase tells. */
void dbio_kinds_add(unsigned char *kinds, const struct dbio_workload_phase *phase, const struct dbio_phase *open);
/* After all phases: a figure of `limits`, `observed` or `while` without a kind whose stream has several in one phase, or
 * of a kind that its stream has in none, is DBIO_USAGE at its place. */
int dbio_kinds_check(const unsigned char *kinds, const struct dbio_workload *workload, struct dbio_err *err);

/* Keys of a study's axis or case: one dotted key, or several with commas between, which take the same value. Puts the
 * next one of *rest into key and goes on; false where there is none left. */
#define DBIO_STUDY_KEY_SIZE 256
bool dbio_study_next_key(const char **rest, char key[DBIO_STUDY_KEY_SIZE]);

#endif
