/* What a study's commands share: running one cell, its ETA, its search. */
#ifndef DBIO_REPLAY_STUDY_H
#define DBIO_REPLAY_STUDY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/cells.h"
#include "results/store.h"
#include "results/study.h"

struct dbio_study_run {
        const struct dbio_cmdline *line;
        const char *source;
        struct dbio_plan plan;
        struct dbio_store *store;
        int64_t study_id;
        unsigned repetitions;
        unsigned nquick;           /* sets of --quick, before the cell's own */
        struct dbio_set *quick;
        uint64_t planned_ns;       /* length of one run, by its phases; 0 = not known */
        unsigned runs_left, runs_done;
        struct dbio_filesystems *filesystems; /* NULL: none are made */
        unsigned nbindings;
        struct dbio_binding *bindings; /* --target and --bind */
        bool simulated, quiet;
        bool invalid, errors;      /* some run was; some had I/O errors */
};

/* One run of a cell into its set; label is LABEL/CELL. 0 where the study goes on: an invalid run, and I/O errors that were
 * gone past, are noted. Else an exit code as dbio_session_repeat, or -1. */
int dbio_study_run_cell(struct dbio_study_run *study, unsigned number, const struct dbio_cell *cell, int64_t *set_id,
                        int64_t *run_id, struct dbio_err *err);

/* `find`: doubles or halves from the workload's own value until a bracket is found, then bisects to 5 %; near a bound a
 * trial takes three runs. Keeps and prints nothing but progress; the answer goes into the store. */
int dbio_study_search(struct dbio_study_run *study, struct dbio_err *err);

/* The search's arithmetic. `own` as it is written: a number and its unit. */
struct dbio_search {
        double own, holds, fails;  /* NAN = not met yet */
        bool whole;                /* counts only */
        char unit[16];
};
int dbio_search_begin(struct dbio_search *search, const char *own, struct dbio_err *err);
/* The next value to try; NAN when the search is over. */
double dbio_search_next(const struct dbio_search *search);
void dbio_search_take(struct dbio_search *search, double value, bool holds);
void dbio_search_format(const struct dbio_search *search, double value, char *text, unsigned long size);

#endif
