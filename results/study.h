/* Studies: many runs of one workload, each a cell of a matrix (or a trial of a search), and what they say together. */
#ifndef DBIO_RESULTS_STUDY_H
#define DBIO_RESULTS_STUDY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"
#include "results/store.h"

struct dbio_study_info {
        const char *label;          /* its name for `show`; NULL = the workload's name */
        const char *workload;
        const char *plan;           /* what makes it the same study, for --resume: workload, axes, bindings, as text */
        unsigned naxes;             /* 0 for cases */
        const char *const *axes;    /* the axes' keys, the last one is compared across columns */
};

/* A study of that label and plan that is there already is taken up again where resume is set, and its id given. */
int dbio_study_begin(struct dbio_store *store, const struct dbio_study_info *info, bool resume, int64_t *study_id,
                     struct dbio_err *err);

/* What is kept of a cell: its number in the plan, its name, one value an axis (one for a case: its name). Adds it or
 * leaves it as it is. */
int dbio_study_cell(struct dbio_store *store, int64_t study_id, unsigned cell, const char *name, unsigned nvalues,
                    const char *const *values, struct dbio_err *err);
/* The cell's set (0 = none yet) and its complete runs so far. */
int dbio_study_cell_runs(struct dbio_store *store, int64_t study_id, unsigned cell, int64_t *set_id, unsigned *runs,
                         struct dbio_err *err);
int dbio_study_cell_set(struct dbio_store *store, int64_t study_id, unsigned cell, int64_t set_id, struct dbio_err *err);

/* The answer of a search: the most that held (NAN: nothing did) and the least that did not (NAN: all did), against the
 * workload's own value. text is the sentence. */
int dbio_study_found(struct dbio_store *store, int64_t study_id, double holds, double fails, double own, const char *text,
                     struct dbio_err *err);

/* The newest study of a label: 1 and its id, 0 where there is none, -1. */
int dbio_study_find(struct dbio_store *store, const char *label, int64_t *study_id, struct dbio_err *err);

/* The cells that have runs, in the plan's order. Names are malloced. */
struct dbio_study_cells {
        unsigned n;
        struct dbio_study_cell_set {
                char *name;
                int64_t set_id;
        } *cells;
};
int dbio_study_cells_load(struct dbio_store *store, int64_t study_id, struct dbio_study_cells *cells, struct dbio_err *err);
void dbio_study_cells_release(struct dbio_study_cells *cells);

/* The matrix: a block a phase, stream and kind, a row a combination of the first axes, a column a value of the last one
 * (or a case), the best of each column, and who wins by how much, or that there is no difference. */
int dbio_study_show(struct dbio_store *store, int64_t study_id, FILE *out, struct dbio_err *err);

#endif
