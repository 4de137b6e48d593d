/* How far apart two sets of repetitions are. One value a run: z = ln y; an effect b on that scale is a change of
 * exp(b) - 1. Pure functions, any thread; arrays are the caller's.
 *
 * Sources: ordinary least squares; Welch's approximation of the degrees of freedom; two one-sided tests (Schuirmann);
 * Holm's step-down correction. Held to SciPy and statsmodels by tests/data/statistics-vectors.json.
 */
#ifndef DBIO_RESULTS_STAT_EFFECT_H
#define DBIO_RESULTS_STAT_EFFECT_H

#include <stdbool.h>
#include <stddef.h>

enum dbio_stat_method {
        DBIO_STAT_POOLED, /* two-sample t, one common variance */
        DBIO_STAT_WELCH,  /* two-sample t, a variance a side */
        DBIO_STAT_DRIFT,  /* regression on side and position in the run order */
};

struct dbio_stat_effect {
        enum dbio_stat_method method;
        double b;  /* ln(new / base) */
        double se; /* its standard error; may be 0 */
        double df;
        double sd; /* of one run, pooled over the sides; Welch: root mean of the two variances */
        double drift, drift_se, drift_p; /* per run, on the log scale; DBIO_STAT_DRIFT only, else 0, 0, 1 */
        unsigned nr_base, nr_new, nr_history;
};

/* Logs of one side, as the functions below take them. */
struct dbio_stat_sample {
        const double *z;
        unsigned nr;
};

/* Two-sample t on logs. Pooled variance; Welch where the counts differ by more than a factor of 1.5 or the standard
 * deviations by more than 3. `history` (nr 0 for none) are logs of earlier equal runs, which add to the pooled
 * variance and its degrees of freedom; with them one run a side is enough. Returns -1 where no degree of freedom is
 * left. */
int dbio_stat_two_sample(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                         const struct dbio_stat_sample *history, struct dbio_stat_effect *effect);
int dbio_stat_pooled(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                     const struct dbio_stat_sample *history, struct dbio_stat_effect *effect);
int dbio_stat_welch(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                    struct dbio_stat_effect *effect);

/* Regression z = a + b side + g position for runs given in the order in which they ran. Returns -1 where side and
 * position cannot be told apart or fewer than 4 runs are given. */
int dbio_stat_drift(const double *z, const bool *is_new, unsigned nr, struct dbio_stat_effect *effect);

/* Two-sided interval of b at a level (0.95), and the two-sided p of b = 0. A se of 0 gives a point, and p 0 or 1. */
void dbio_stat_interval(const struct dbio_stat_effect *effect, double level, double *low, double *high);
double dbio_stat_p(const struct dbio_stat_effect *effect);

/* Equivalence: the larger p of the two one-sided tests against -margin and +margin (log scale). */
double dbio_stat_tost_p(const struct dbio_stat_effect *effect, double margin);

/* The least |b| that this comparison finds in 80 of 100 cases at two-sided 5 %. */
double dbio_stat_detectable(const struct dbio_stat_effect *effect);

/* Repetitions a side, at least 2, after which 80 of 100 comparisons with this run-to-run sd would find |b|; drift says
 * whether a drift term will take its degree of freedom. 0 where 1,000 are not enough. */
unsigned dbio_stat_repetitions(double sd, double b, bool drift);

/* Holm's adjusted p values, in place of p. Returns -1 only where memory ran out. */
int dbio_stat_holm(double *p, size_t nr);

#endif
