/* A study's plan: its cells, from the workload's `study` map. */
#ifndef DBIO_REPLAY_CELLS_H
#define DBIO_REPLAY_CELLS_H

#include "patterns/workload.h"
#include "replay/command.h"

/* One run to make: keys to set and targets to bind differently. Strings belong to the plan. */
struct dbio_cell {
        char *name;          /* `depth=4,cluster=8K`, or the case's name */
        unsigned nvalues;
        char **values;       /* one an axis; a case has its name */
        unsigned nsets;
        struct dbio_set *sets;
        unsigned nbindings;
        char **bindings;     /* NAME=BINDING */
};

struct dbio_plan {
        unsigned naxes;
        char **axes;
        unsigned ncells;
        struct dbio_cell *cells;
        char *find_key;      /* NULL without `find` */
        char *find_own;      /* the workload's own value of it */
        unsigned nconditions;
        const struct dbio_figure *conditions; /* the workload's */
        uint64_t pause_ns;
};

/* DBIO_USAGE where the workload has no study. The workload has been checked, so the map has its right shape. */
int dbio_plan_read(struct dbio_plan *plan, const struct dbio_workload *workload, struct dbio_err *err);
/* A last axis of file systems in place of an axis over `layout.cluster`: cell i is on the one of number i % n, and every
 * target is a file in folder. DBIO_USAGE for cases and find. */
int dbio_plan_over_filesystems(struct dbio_plan *plan, const struct dbio_workload *workload, const char *const *names,
                               unsigned n, const char *folder, struct dbio_err *err);
void dbio_plan_release(struct dbio_plan *plan);

#endif
