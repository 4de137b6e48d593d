/* From a document to a workload: what load, study and the canonical text share. Private to them. */
#ifndef DBIO_PATTERNS_BUILD_H
#define DBIO_PATTERNS_BUILD_H

#include "patterns/doc.h"
#include "patterns/keys.h"
#include "patterns/workload.h"

#define DBIO_STREAMS_MAX 10000

/* A stream as parsed, by the workload or with a phase's `set`. */
struct dbio_build_stream {
        struct dbio_node *node; /* its map, `defaults` filled in */
        const struct dbio_pattern *pattern;
        const struct dbio_field *shared; /* the shared keys it has */
        struct dbio_stream_entry entry;
        void *config;
        /* What it would be with pattern, target and version alone: tells where `none` must be written. */
        struct dbio_stream_entry plain_entry;
        void *plain_config;
};

struct dbio_build_phase {
        struct dbio_node *node;
        struct dbio_phase_keys keys;
        struct dbio_build_stream **streams; /* by workload index; NULL = as the workload has it */
        bool *runs;                         /* by workload index */
};

struct dbio_build {
        struct dbio_arena *arena;
        struct dbio_workload *workload;
        struct dbio_node *root;
        const char *file; /* for the name, where none is given */
        struct dbio_workload_keys keys;
        struct dbio_field_scope scope;
        struct dbio_stream_entry blank; /* the defaults of all shared keys */
        struct dbio_target_keys *targets;
        struct dbio_layout_keys *layouts;
        struct dbio_build_stream *streams;
        struct dbio_build_phase *phases;
};

/* Fills build and its workload from build->root, which is changed (`defaults` are filled in). arena, workload, root
 * and file are given. All that it makes is owned by the arena. */
int dbio_build_workload(struct dbio_build *build, struct dbio_err *err);
/* Patterns, targets and streams of it; split for its length. */
int dbio_build_streams(struct dbio_build *build, struct dbio_err *err);
int dbio_build_phases(struct dbio_build *build, struct dbio_err *err);
/* Parses build->streams[i] from another map, into out. */
int dbio_build_stream(const struct dbio_build *build, unsigned i, struct dbio_node *node, struct dbio_build_stream *out,
                      struct dbio_err *err);
struct dbio_workload_stream dbio_build_result(const struct dbio_build *build, unsigned i,
                                              const struct dbio_build_stream *stream);
/* Index of a stream by name; -1 with err at the node. */
int dbio_build_find_stream(const struct dbio_build *build, const char *name, size_t length, const struct dbio_node *at,
                           struct dbio_err *err);
/* A name: `[A-Za-z0-9_-]+`, at most 63 bytes. */
int dbio_build_name(const struct dbio_node *name, const char *what, struct dbio_err *err);
/* A figure of limits, observed or a study, whose stream must be one of the workload's. value NULL: it is in text. */
int dbio_build_figure(const struct dbio_build *build, const struct dbio_node *text, const struct dbio_node *value,
                      struct dbio_figure *out, struct dbio_err *err);

/* Checks the study: shape, dotted keys, and each value by a trial. `pristine` is the document before `defaults` were
 * filled in. */
int dbio_study_check(const struct dbio_build *build, const struct dbio_node *pristine, struct dbio_err *err);

/* The canonical text (malloced, terminated), or, for the schedule's hash, the part of it that makes the demand. */
char *dbio_canonical_text(const struct dbio_build *build, bool for_hash);

#endif
