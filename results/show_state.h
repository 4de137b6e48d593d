/* What the files of show share. */
#ifndef DBIO_RESULTS_SHOW_STATE_H
#define DBIO_RESULTS_SHOW_STATE_H

#include "results/interference_load.h"
#include "results/show.h"

/* One recorded phase. */
struct dbio_show_phase {
        char name[64];
        int64_t phase_id;
        double duration_ns, lag_p99_ns, foreign_share; /* NAN where not known */
        bool ended, stopped, timed_out, error_stop;
};

struct dbio_show {
        struct dbio_store *store;
        const struct dbio_runs *runs;
        FILE *out;
        int64_t run_id; /* whose tables are shown */
        struct dbio_runs good; /* those of the runs that are valid, else all */
        struct dbio_figure_rows rows;
        struct dbio_interference_list effects;
        unsigned nphases;
        struct dbio_show_phase *phases;
        bool simulated, valid, running, single; /* single: one repetition */
};

/* One window of one stream and kind beside an episodic stream, over all roles; p99 NAN over several. */
struct dbio_show_window {
        double ios, ns, iops, mean_ns, p99_ns;
};

/* A stream and kind beside an episodic one. */
struct dbio_show_pair {
        char phase[64], other[64], stream[64];
        char other_pattern[64];
        int kind;
        struct dbio_show_window windows[4]; /* enum dbio_window */
        unsigned episodes;                  /* of the other, cut ones too */
        double during_ns;                   /* mean length of its whole episodes */
};

struct dbio_show_pairs {
        unsigned n;
        struct dbio_show_pair *pairs; /* by phase, other, stream, kind */
};

/* Also show->effects. The caller releases the pairs in any case. */
int dbio_show_pairs_load(struct dbio_show *show, struct dbio_show_pairs *pairs, struct dbio_err *err);
void dbio_show_pairs_release(struct dbio_show_pairs *pairs);
/* What the set says of it; NULL for a kind that is not the stream's main one. */
const struct dbio_interference_entry *dbio_show_effect(const struct dbio_show *show, const struct dbio_show_pair *pair);

/* The parts, in the order of the page. */
int dbio_show_header(struct dbio_show *show, struct dbio_err *err);
void dbio_show_answer(struct dbio_show *show);
int dbio_show_phase(struct dbio_show *show, const struct dbio_show_phase *phase, const struct dbio_show_pairs *pairs,
                    struct dbio_err *err);
int dbio_show_limits(struct dbio_show *show, struct dbio_err *err);
int dbio_show_counters(struct dbio_show *show, struct dbio_err *err);

#endif
