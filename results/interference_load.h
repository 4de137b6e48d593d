/* The interference of a set of runs, read from the database: one entry a phase, episodic stream and other stream. */
#ifndef DBIO_RESULTS_INTERFERENCE_LOAD_H
#define DBIO_RESULTS_INTERFERENCE_LOAD_H

#include "engine/err.h"
#include "results/interference.h"

struct dbio_store;

struct dbio_interference_entry {
        char phase[64], other[64], stream[64], op[8];
        struct dbio_interference_figures figures; /* its strings are those above */
};

struct dbio_interference_list {
        unsigned nr;
        struct dbio_interference_entry *entries;
};

/* ids: the runs of one set; figures are over all of them. Phases, then streams, in the workload's order. An entry is of
 * the kind that matters most to the stream: commits where it has them, else reads or writes, whichever are more. */
int dbio_interference_load(struct dbio_store *store, const int64_t *ids, unsigned nr,
                           struct dbio_interference_list *list, struct dbio_err *err);
void dbio_interference_release(struct dbio_interference_list *list);

#endif
