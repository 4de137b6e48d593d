/* What is done with whole runs: list, label, rm, merge. */
#ifndef DBIO_RESULTS_MANAGE_H
#define DBIO_RESULTS_MANAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/err.h"
#include "results/query.h"

/* NULL entries do not filter. Texts are found anywhere in the field, in any case; times are compared as text with
 * started_at (`2026-11-30`, `2026-11-30T20`). */
struct dbio_list_filter {
        const char *label, *workload, *device, *since; /* device: in path, model or profile */
        bool json;                                             /* rows of v_run instead of a table */
};

/* A line a run, oldest first. */
int dbio_runs_list(struct dbio_store *store, const struct dbio_list_filter *filter, FILE *out, struct dbio_err *err);

/* Gives the runs a label; "" takes it away. */
int dbio_runs_label(struct dbio_store *store, const struct dbio_runs *runs, const char *label, struct dbio_err *err);

/* Removes the runs with all their rows and gives the space back. DBIO_USAGE where one of them is running. */
int dbio_runs_remove(struct dbio_store *store, const struct dbio_runs *runs, struct dbio_err *err);

/* Copies from another results database the runs that are not there yet (by uuid), under new ids; sets stay together.
 * All or nothing. */
int dbio_runs_merge(struct dbio_store *store, const char *path, unsigned *merged, unsigned *known, struct dbio_err *err);

#endif
