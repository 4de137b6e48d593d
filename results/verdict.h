/* Faster, slower, same or cannot tell: what two sets of repetitions allow to say. Pure, any thread.
 *
 * The rules in their order: (0) runs that are not valid are the caller's to leave out; (1) fewer than two runs on a
 * side without a history, or a value not above 0, cannot tell; (2) the 90 % interval inside the margin is "same": this
 * comes first, so a proven change of 1 % is "same within 5 %"; (3) the 95 % interval without 0 is faster or slower; (4)
 * the rest cannot tell, with the change that could have been seen and the repetitions that would do. Measured by
 * tests/test_verdict.c: 5 % false alarms where nothing differs.
 */
#ifndef DBIO_RESULTS_VERDICT_H
#define DBIO_RESULTS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/stat_effect.h"

enum dbio_verdict_word {
        DBIO_VERDICT_CANNOT_TELL,
        DBIO_VERDICT_SAME,
        DBIO_VERDICT_FASTER,
        DBIO_VERDICT_SLOWER,
        DBIO_VERDICT_RATE_SET, /* the schedule sets the figure: equal by construction */
};

/* "cannot tell", "same", "faster", "slower", "rate set by schedule". */
const char *dbio_verdict_word_name(enum dbio_verdict_word word);

#define DBIO_VERDICT_MARGIN   0.05 /* the default: "same within 5 %" */
#define DBIO_VERDICT_MAX_RUNS 1024 /* a side; more are left out, the last first */

/* One value a run: a mean, a rate, a percentile of the whole run. */
struct dbio_verdict_value {
        double value;
        int64_t order; /* when the run began, in any unit; only the order counts */
};

struct dbio_verdict_question {
        const struct dbio_verdict_value *base, *new_;
        unsigned nr_base, nr_new;
        const double *history; /* values of earlier equal runs; used from 5 on */
        unsigned nr_history;
        bool sessions;         /* values and history are means of sessions, not of runs */
        bool higher_is_better; /* IOPS, MiB/s: yes; times: no */
        bool rate_set;         /* iops or MiB/s of a paced stream that kept its rate on both sides */
        bool exact;            /* simulated, same seed: no noise, the figure is judged against the margin */
        double margin;         /* share, 0.05 */
        double resolution;     /* ln(upper / lower bound of the histogram's bucket), 0 for exact figures */
        double alpha;          /* 0.05 */
};

struct dbio_verdict {
        enum dbio_verdict_word word;
        bool computed; /* effect, bounds and p are there */
        bool exact, sessions;
        bool interleaved;  /* base and new took turns; else a drift of the machine is in the difference */
        double base, new_; /* geometric means of the runs; arithmetic where a value is not above 0; NAN for none */
        struct dbio_stat_effect effect;
        double low95, high95, low90, high90; /* of effect.b */
        double p, tost_p;
        double p_holm;      /* as dbio_verdict_correct leaves it; p before that */
        unsigned holm_rows; /* rows of the table, where correction took the verdict away; else 0 */
        double margin;
        bool higher_is_better;
        double wanted;        /* a smaller |b| … */
        unsigned repetitions; /* … and the runs a side that would show it; 0 = none worth naming */
        char why[128];        /* of rule 1: why nothing is computed */
};

/* By the rules of this file's head; fills all members. */
void dbio_verdict_decide(const struct dbio_verdict_question *question, struct dbio_verdict *verdict);

/* Holm's correction over the rows of one table: faster and slower that lose their proof become "cannot tell (1 of m)".
 * Returns -1 only where memory ran out. */
int dbio_verdict_correct(struct dbio_verdict *const *rows, size_t nr);

/* The verdict in the table's last column: "faster", "same within 5 %", "cannot tell (1 of 12)". */
char *dbio_verdict_label(char *text, size_t size, const struct dbio_verdict *verdict);

/* The line of plain language. name is "read p99", unit " ms" or "", base and new_ scaled to that unit by `scale`. */
char *dbio_verdict_line(char *text, size_t size, const struct dbio_verdict *verdict, const char *name, const char *unit,
                        double scale);

/* "could have seen": the change, in the direction that hurts, that is found in 80 of 100 such comparisons, as a share.
 * 0 where nothing was computed or there is no noise. */
double dbio_verdict_could_see(const struct dbio_verdict *verdict);

#endif
