/* The inside of a comparison, shared by its files: compare_load.c reads, compare.c decides, compare_text.c,
 * compare_json.c and report_compare.c say it. */
#ifndef DBIO_RESULTS_COMPARE_STATE_H
#define DBIO_RESULTS_COMPARE_STATE_H

#include "results/compare.h"
#include "results/gate.h"
#include "results/interference.h"
#include "results/query.h"
#include "results/stat_series.h"
#include "results/verdict.h"

struct dbio_compare_run {
        int64_t run_id;
        int64_t began_s, ended_s; /* since the epoch */
        char *left_out;           /* why; NULL = counts */
        bool complete;
        struct dbio_figure_rows figures;
};

struct dbio_compare_side {
        const char *name;
        char shown[96]; /* the label, else the name given; with the run's id where both sides have the same */
        unsigned nr, used;
        bool shown_only; /* no run is valid: the complete ones are used for the table, and for no verdict or gate */
        struct dbio_compare_run *runs; /* those that count first */
        bool write_through; /* as the run's line `how` says */
        char *label, *workload, *hash, *engine, *host, *targets, *trust;
        int64_t seed;
        bool simulated;
        double headroom; /* what a search under the side's label found, as a factor of the workload's own value; 0 = not
                          * even that, NAN = no search */
        double foreign;  /* highest share of others' I/O; NAN where not known */
};

/* A row of the table: one figure of one stream, a value a run. */
struct dbio_compare_row {
        char phase[64], stream[64];
        char kind[8];    /* read write fsync trim commit; "" for an episode's length */
        char figure[12]; /* IOPS, avg, p99, p99.9, episode */
        char window[72]; /* "", "quiet", "in checkpoint" */
        char other[64];  /* the stream whose episodes the window is about */
        bool time;       /* ns; else per second */
        bool higher_is_better;
        bool paced; /* the stream has due times */
        bool headline;
        double floor; /* ln of a bucket's width for percentiles */
        struct dbio_verdict_value *base, *new_;
        struct dbio_verdict verdict, plain; /* after Holm's correction, and before */
};

/* A phase's answer about being steady. */
struct dbio_compare_steady {
        char phase[64], stream[64];
        bool time; /* judged by the mean response, else by the rate */
        struct dbio_stat_trend base, new_, difference;
        unsigned checked_base, checked_new; /* runs in which a third holds a whole period */
        struct dbio_stat_snia snia_base, snia_new;
        bool snia_checked;
        struct dbio_stat_mser mser; /* of NEW's first run, in intervals */
        double interval_s;
        bool steady; /* false: no verdict, unless both sides share the trend */
        bool shared;
};

struct dbio_compare_interference {
        char phase[64];
        char other[64], stream[64];
        const char *op;
        struct dbio_interference_figures base, new_;
};

struct dbio_compare_answer {
        char text[160], phase[64];
        struct dbio_gate rule;
        struct dbio_gate_answer answer;
};

struct dbio_compare_difference {
        char what[96];
        char *base, *new_;
};

struct dbio_comparison {
        struct dbio_store *store;
        struct dbio_compare_side base, new_;
        double margin;
        bool same_demand, exact, interleaved, same_session;
        double days_apart;
        char *differences;
        unsigned nhistory, nsessions; /* earlier equal runs, and the sessions they were made in */
        struct dbio_compare_past {
                int64_t run_id;
                unsigned session; /* from 0 */
        } * history;
        bool by_session; /* base and new lie in sessions of their own, and enough earlier ones are known */
        unsigned nrows;
        struct dbio_compare_row *rows;
        unsigned nsteady;
        struct dbio_compare_steady *steady;
        unsigned ninterference;
        struct dbio_compare_interference *interference;
        unsigned nhost;
        struct dbio_compare_difference *host;
        unsigned nanswers;
        struct dbio_compare_answer *answers;
        struct dbio_compare_gate *limit_gates; /* read from the database for `--gate limits` */
        enum dbio_code code;
};

/* compare_load.c. All fill their part of the comparison; -1 with err. */
int dbio_compare_load_side(struct dbio_comparison *c, struct dbio_compare_side *side,
                           const struct dbio_compare_ids *ids, struct dbio_err *err);
int dbio_compare_load_history(struct dbio_comparison *c, struct dbio_err *err);
int dbio_compare_load_rows(struct dbio_comparison *c, struct dbio_err *err);
int dbio_compare_load_steady(struct dbio_comparison *c, struct dbio_err *err);
int dbio_compare_load_interference(struct dbio_comparison *c, struct dbio_err *err);

/* The row's figure in each run of the history: nhistory values. */
int dbio_compare_history_values(struct dbio_comparison *c, const struct dbio_compare_row *row, double *values,
                                struct dbio_err *err);

/* Seconds between the end of one run and the beginning of the next, from which on they are of two sessions. */
enum { DBIO_COMPARE_SESSION_GAP_S = 3600 };

/* compare_host.c: what changed of host and targets. */
int dbio_compare_host(struct dbio_comparison *c, struct dbio_err *err);

/* compare_text.c: the side's `shown`; "user-reads read IOPS quiet"; "8.5 days". */
/* The verdict in a sentence, what it rests on and means, and what speaks against relying on it ("" where nothing
 * does). */
char *dbio_compare_headline(const struct dbio_comparison *c, char *text, size_t size);
char *dbio_compare_answer(const struct dbio_comparison *c, char *text, size_t size);
char *dbio_compare_reservations(const struct dbio_comparison *c, char *text, size_t size);
char *dbio_compare_row_name(char *text, size_t size, const struct dbio_compare_row *row);

#endif
