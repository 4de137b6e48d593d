/* What tests of the engine share: sources made of arrays and rules, a backend of fixed latency on any clock, a run of
 * one phase with its figures added up. */
#ifndef DBIO_TESTS_ENGINEKIT_H
#define DBIO_TESTS_ENGINEKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/run.h"

#define KIT_STREAMS 8
#define KIT_LOG 200000

/* A planned source: the literal ops, or, with ops NULL, `nr` ops of `kind` and `length` one after another, every
 * gap_ns (0 = without due times). nr UINT64_MAX = endless. */
struct kit_source {
        struct dbio_source source;
        const struct dbio_op *ops;
        uint64_t nr, next, gap_ns, first_offset, stride;
        uint32_t length;
        uint8_t kind, flags;
        bool finished;
};
extern const struct dbio_source_class kit_planned;

/* What backend `kit` does; set before the run. */
struct kit_backend {
        uint64_t latency_ns;
        unsigned room;            /* ios that it takes; 0 = all */
        uint64_t fail_every, short_every, lose_every; /* 0 = never */
        int error;                /* errno of the failing */
        int broken_after;         /* reaps until it breaks; 0 = never */
};
extern struct kit_backend kit_backend;
extern const struct dbio_backend kit_backend_class;

/* What reached the backend, in order. */
struct kit_issue {
        uint64_t t_ns, offset;
        uint32_t length;
        unsigned call; /* submit call */
        uint8_t kind;
        unsigned inflight; /* at that time, this one included */
        ptrdiff_t buffer;  /* where in the arena; -1 = none */
};
extern struct kit_issue kit_issues[KIT_LOG];
extern unsigned kit_nissues, kit_peak;

struct kit_figures {
        uint64_t ios, bytes, errors, splits, hba_waits, hba_wait_ns, records, commits;
        struct dbio_hist service, response, wait, lag;
};

/* One phase of streams of planned sources, or of any others. */
struct kit {
        struct dbio_clock clock;          /* virtual unless real is set */
        bool real;
        struct dbio_run_options options;  /* defaults set by kit_init */
        struct dbio_hba hba;
        struct dbio_phase phase;          /* streams are below */
        struct dbio_stream streams[KIT_STREAMS];
        struct dbio_source *sources[KIT_STREAMS][64];
        struct kit_source planned[KIT_STREAMS];
        unsigned nfiles;
        bool checked;                     /* the files hold reads against sums */
        struct dbio_targets *targets;     /* NULL = one of 1 TiB without anything behind it */
        /* after kit_run */
        struct dbio_verify_report verified; /* under options.verify */
        struct kit_figures figures[KIT_STREAMS];
        struct dbio_phase_result result;
        struct dbio_err err;
        uint64_t begins, ends, last_t_ns, ticks;
        struct dbio_episode last_episode;
};

void kit_init(struct kit *kit);
/* Adds a stream with one planned source, which the caller may change; sets flags by gap_ns and nr. */
struct dbio_stream *kit_add(struct kit *kit, const char *name, struct kit_source source);
/* Adds a stream with a source of the caller's. */
struct dbio_stream *kit_add_source(struct kit *kit, const char *name, unsigned flags, struct dbio_source *source);
/* Runs the phase; figures, result and err are set. Returns what dbio_run_phase does. */
int kit_run(struct kit *kit);
void kit_release(struct kit *kit);

#endif
