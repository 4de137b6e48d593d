/* A trace ready to be replayed: of a schedule file or straight from its files. */
#ifndef DBIO_REPLAY_TRACERUN_H
#define DBIO_REPLAY_TRACERUN_H

#include <glob.h>

#include "engine/schedule.h"
#include "engine/target.h"
#include "replay/trace.h"

enum dbio_trace_pace {
        DBIO_PACE_TIMED,     /* as recorded */
        DBIO_PACE_FAST,      /* in order, keeping the depth that was recorded, else 32 */
        DBIO_PACE_DEPENDENT, /* an op that followed a completion follows it here, after the same time */
};

struct dbio_trace_request {
        const char *format;  /* NULL: path is a schedule file */
        const char *path;    /* or a shell pattern of several files of one trace; of blktrace also its name before
                              * `.blktrace.CPU` */
        struct dbio_trace_options options;
        enum dbio_trace_pace pace;
        bool bound, create;  /* targets have bindings; missing files are made */
        uint64_t duration_ns; /* UINT64_MAX = all */
};

struct dbio_trace {
        char *format, *path;
        const char *name;                /* of the file */
        glob_t files;
        struct dbio_trace_options options;
        enum dbio_trace_pace pace;
        uint64_t duration_ns;
        bool whole;                      /* all of it has been seen: what follows is complete */
        struct dbio_trace_summary summary;
        uint64_t ops;
        char hash[65];
        unsigned ntargets;
        struct dbio_trace_target *targets;
        struct dbio_target_spec *specs;  /* one a target */
        struct dbio_trace_feed *spare;   /* primed and not yet read from */
        bool failed;                     /* it could not be read on in the middle of a phase */
        struct dbio_err failure;
};

/* 1; 0 where the path is no schedule file of a trace; -1. A trace of up to 100,000 ops is looked through once; of a longer
 * one, only its beginning: what is wrong behind that ends the run with dbio_trace_failure. */
int dbio_trace_open(struct dbio_trace **trace, const struct dbio_trace_request *request, struct dbio_err *err);
void dbio_trace_free(struct dbio_trace *trace); /* accepts NULL */

/* One phase `trace`, one stream a target. The trace must outlive it. */
int dbio_trace_compile(struct dbio_trace *trace, const struct dbio_geometry *geometry, struct dbio_schedule **schedule,
                       struct dbio_err *err);

/* -1 and the error that ended the reading, else 0. */
int dbio_trace_failure(const struct dbio_trace *trace, struct dbio_err *err);

/* For dbio_trace_compile: a feed at its beginning. */
int dbio_trace_feed_take(struct dbio_trace *trace, struct dbio_trace_feed **feed, struct dbio_err *err);

#endif
