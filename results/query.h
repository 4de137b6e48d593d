/* Reading runs back: which runs a word names, and their figures over all roles. */
#ifndef DBIO_RESULTS_QUERY_H
#define DBIO_RESULTS_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/hist.h"
#include "results/store.h"

/* ns that a row of the table run took: of a simulated one, virtual. */
#define DBIO_RUN_TIME_SQL                                                                                             \
        "CASE WHEN simulated THEN (SELECT sum(duration_ns) FROM phase p WHERE p.run_id = run.run_id) ELSE wall_ns END"

struct dbio_runs {
        unsigned n;
        int64_t *ids; /* rising */
};

/* RUN as commands take it: an id (that run alone), or a label, `latest`, `previous` (the newest set under it, all its
 * repetitions). DBIO_USAGE where there is none; the message names labels that are near. */
int dbio_runs_find(struct dbio_store *store, const char *text, struct dbio_runs *runs, struct dbio_err *err);
void dbio_runs_release(struct dbio_runs *runs);

/* All runs of a run's set, itself included. */
int dbio_runs_of_set(struct dbio_store *store, int64_t set_id, struct dbio_runs *runs, struct dbio_err *err);
/* All runs of a study's cells. */
int dbio_runs_of_study(struct dbio_store *store, int64_t study_id, struct dbio_runs *runs, struct dbio_err *err);

/* ns; NAN where there is none. */
struct dbio_stats {
        double mean, p50, p90, p95, p99, p999, max, stddev;
};

/* One stream and kind in a phase, over all roles. */
struct dbio_run_figures {
        char phase[64], stream[64], pattern[64];
        unsigned position, stream_no; /* of the phase, of the stream in it */
        int kind;
        char role[32];                /* the one with the most ops */
        unsigned flags;               /* enum dbio_stream_flag of the stream */
        unsigned roles;
        uint64_t ios, bytes, errors, due, unissued, duration_ns, depth_peak, splits, hba_waits, hba_wait_ns;
        double iops, mib_per_s, depth_mean; /* NAN where they do not apply */
        struct dbio_stats service, response, wait;
        double lag_p99_ns;
        uint64_t long_ios;            /* responses of 15 s and more (SQL Server's error 833), to the bucket */
};

struct dbio_figure_rows {
        unsigned n;
        struct dbio_run_figures *rows; /* by phase, stream, kind */
};

/* Percentiles over several roles come from the phase's histograms; a run that was killed has none of these: NAN. */
int dbio_figures_load(struct dbio_store *store, int64_t run_id, struct dbio_figure_rows *rows, struct dbio_err *err);
void dbio_figures_release(struct dbio_figure_rows *rows);
const struct dbio_run_figures *dbio_figures_get(const struct dbio_figure_rows *rows, const char *phase, const char *stream,
                                            int kind); /* NULL: none */

/* Of a histogram; all NAN where it is empty. */
struct dbio_stats dbio_stats_of(const struct dbio_hist *hist);

/* One text column of a run: `label`, `workload`, `resolved_text` … (a column of the table run). The caller frees;
 * NULL with err untouched where it is NULL or there is no such run. */
char *dbio_run_text(struct dbio_store *store, int64_t run_id, const char *column, struct dbio_err *err);

#endif
