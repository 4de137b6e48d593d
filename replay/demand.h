/* What is to be replayed: a workload, a schedule file, or a trace, under one face. */
#ifndef DBIO_REPLAY_DEMAND_H
#define DBIO_REPLAY_DEMAND_H

#include "engine/schedule.h"
#include "engine/target.h"
#include "patterns/workload.h"
#include "replay/command.h"
#include "replay/trace.h"

struct dbio_demand {
        struct dbio_workload workload; /* empty for a trace */
        bool has_workload;
        struct dbio_trace *trace;      /* NULL for a workload */
        const char *name;              /* of workload or trace */
        char *only_target;             /* of a trace */
        unsigned nspecs;
        struct dbio_target_spec *specs;
};

/* source: a workload's path or installed name, a schedule file, or FORMAT:PATH. Options that count: --set, --duration
 * (a set of phases.*.duration) and the trace options. extra sets come last. DBIO_USAGE, DBIO_IO. */
int dbio_demand_open(struct dbio_demand *demand, const char *source, const struct dbio_cmdline *line,
                     const struct dbio_set *extra, unsigned nextra, struct dbio_err *err);
/* From a resolved workload text (--like); name stands for the file in messages. */
int dbio_demand_open_text(struct dbio_demand *demand, const char *name, const char *text,
                          const struct dbio_cmdline *line, struct dbio_err *err);
/* The options of a trace on a command line; strings stay the line's. */
int dbio_demand_trace_options(const struct dbio_cmdline *line, struct dbio_trace_options *options, struct dbio_err *err);
/* DBIO_USAGE where the line has an option that says how a trace is taken, and what is to be run is none or was made a
 * schedule already. */
int dbio_demand_check_options(const struct dbio_demand *demand, const struct dbio_cmdline *line, struct dbio_err *err);
/* -1 and the error that ended the reading of a trace in the middle of a phase, else 0. */
int dbio_demand_failure(const struct dbio_demand *demand, struct dbio_err *err);
void dbio_demand_release(struct dbio_demand *demand);

/* A schedule for targets of this geometry; the demand must outlive it. */
int dbio_demand_compile(const struct dbio_demand *demand, const struct dbio_geometry *geometry,
                        struct dbio_schedule **schedule, struct dbio_err *err);

/* The bindings of --target and --bind, malloced; sets *n. */
int dbio_bindings_read(const struct dbio_cmdline *line, struct dbio_binding **bindings, unsigned *n,
                       struct dbio_err *err);
void dbio_bindings_free(struct dbio_binding *bindings, unsigned n);

/* Says on stderr, beginning with why, of which targets the size is a share of 100 GiB as nothing is bound. */
void dbio_demand_tell_shares(const struct dbio_demand *demand, const char *why);

/* Opens every phase once, so that what does not fit its target, or a figure that its stream does not have, is found
 * before the run and not in the middle of it. see, which may be NULL, is shown each. */
int dbio_demand_try(const struct dbio_demand *demand, struct dbio_schedule *schedule,
                    void (*see)(void *user, const struct dbio_phase *phase), void *user, struct dbio_err *err);

/* All three at once, every phase opened once, so that what does not fit its target is found. On success the caller
 * releases demand and targets and frees the schedule. */
int dbio_demand_prepare(const char *source, const struct dbio_cmdline *line, struct dbio_demand *demand,
                        struct dbio_targets *targets, struct dbio_schedule **schedule, struct dbio_err *err);

/* The geometries of resolved targets, malloced. */
struct dbio_geometry *dbio_geometry_list(const struct dbio_targets *targets);

#endif
