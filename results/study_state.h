/* What the files that print a study share. */
#ifndef DBIO_RESULTS_STUDY_STATE_H
#define DBIO_RESULTS_STUDY_STATE_H

#include <stdbool.h>
#include <stdio.h>

#include "results/query.h"

#define DBIO_STUDY_COLUMNS 12u
#define DBIO_STUDY_AXES    6u
#define DBIO_STUDY_RUNS    64u

/* What a row of the matrix is judged by. */
enum dbio_study_metric { DBIO_STUDY_IOPS, DBIO_STUDY_MIB_PER_S, DBIO_STUDY_MEAN_MS };
extern const char *const dbio_study_metric_names[]; /* as printed, the unit in them */

struct dbio_study_limit {
        char *phase, *name;
        double cap, peak, hits, wait_ns, at_cap_ns;
};

struct dbio_study_cell {
        char *name, *values[DBIO_STUDY_AXES];
        unsigned column, combination; /* of the last axis' value; of the others' */
        unsigned nruns;
        bool simulated, ran; /* ran: also where no run was valid and complete */
        struct dbio_figure_rows runs[DBIO_STUDY_RUNS];
        char *trust; /* of a simulated one's profiles; NULL where real */
        char *note; /* what the first run says of its targets' layouts; NULL = nothing */
        unsigned nlimits;
        struct dbio_study_limit *limits; /* of the first run */
};

struct dbio_study_state {
        char *label, *workload, *answer;
        unsigned naxes;
        char *axes[DBIO_STUDY_AXES];
        unsigned ncells;
        struct dbio_study_cell *cells;
        unsigned ncolumns, ncombinations;
        const char *columns[DBIO_STUDY_COLUMNS];
        int width;    /* of a column */
        bool scaling; /* one axis of numbers: printed downwards, with a curve */
        unsigned nrows;
        const struct dbio_run_figures **rows; /* every phase, stream and kind that some cell has */
};

/* One column's values of a row: the runs of one cell. */
struct dbio_study_values {
        unsigned n;
        double value[DBIO_STUDY_RUNS];
        double mean; /* geometric; NAN = none */
        bool exact;
        const struct dbio_study_cell *cell;
};

/* Rates of closed loops, MiB/s of scans and the like, mean times of what has a schedule and of logs. */
enum dbio_study_metric dbio_study_metric_of(const struct dbio_study_state *study, const struct dbio_run_figures *row);
/* n = 0 and mean NAN where that cell has no valid run, or the stream did nothing in it. */
struct dbio_study_values dbio_study_values_of(const struct dbio_study_state *study, const struct dbio_run_figures *row,
                                              enum dbio_study_metric metric, unsigned combination, unsigned column);
/* Whether a beats b: the smaller of two times, the larger of two rates. */
bool dbio_study_better(enum dbio_study_metric metric, double a, double b);

/* The number that a value begins with (`16`, `2_000/s`, `64K`); false where it begins with none. */
bool dbio_study_number(const char *text, double *number);

/* A list of one is shown without its brackets: moves *value behind the first and returns the length without the other.
 */
int dbio_study_bare(const char **value);

/* Scaling over one axis of numbers, from ascending n and what was reached at each (both > 0, count >= 3): of three
 * shapes the one that fits best. Pure. */
enum dbio_study_shape {
        DBIO_STUDY_CEILING, /* rate n, at most a: each adds the same until something is full */
        DBIO_STUDY_LOG,     /* rate + a ln n: each adds less */
        DBIO_STUDY_USL,     /* rate n / (1 + a (n - 1) + b n (n - 1)): Gunther's universal scalability law */
};
struct dbio_study_curve {
        enum dbio_study_shape shape;
        double rate, a, b;
        double residual; /* root mean square of the relative differences */
        unsigned knee; /* first index from which no later value is 5 % more, of those with n a quarter beyond; else last
                        */
};
void dbio_study_curve_fit(const double *n, const double *x, unsigned count, struct dbio_study_curve *curve);

/* Prints, each where it applies to the study, else nothing. */
void dbio_study_print_scaling(const struct dbio_study_state *study, FILE *out);
void dbio_study_print_device_limit(const struct dbio_study_state *study, FILE *out, const struct dbio_run_figures *row);
void dbio_study_print_bars(const struct dbio_study_state *study, FILE *out);
/* A search: a line a trial, in the order of trying; rows: the figures of its first run. */
void dbio_study_print_trials(const struct dbio_study_state *study, FILE *out, const struct dbio_figure_rows *rows);
void dbio_study_print_layouts(const struct dbio_study_state *study, FILE *out);
void dbio_study_print_limits(const struct dbio_study_state *study, FILE *out);
/* Response, wait and service of a row, case by case. */
void dbio_study_print_times(const struct dbio_study_state *study, FILE *out, const struct dbio_run_figures *row);

#endif
