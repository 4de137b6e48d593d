/* What one run's series of equal intervals says about itself: is it steady, does it drift. Never a basis for a
 * verdict between runs. Pure functions, any thread.
 *
 * Sources: SNIA Solid State Storage Performance Test Specification (5 rounds, 20 % range, 10 % slope); MSER-5 (White
 * and Spratt). Held to independent computations by tests/data/statistics-vectors.json.
 */
#ifndef DBIO_RESULTS_STAT_SERIES_H
#define DBIO_RESULTS_STAT_SERIES_H

#include <stdbool.h>
#include <stdint.h>

/* SNIA's steady state of 5 rounds: range and slope over the window as shares of the average. */
struct dbio_stat_snia {
        double average, range, slope; /* range <= 0.20 and slope <= 0.10 is steady */
        bool steady;
};
struct dbio_stat_snia dbio_stat_snia(const double rounds[5]);

/* MSER-5: values to leave out at the beginning (a multiple of 5); converged false where the optimum lies at the limit
 * of half the batches. nr below 10: 0, not converged. */
struct dbio_stat_mser {
        unsigned cut;
        bool converged;
};
struct dbio_stat_mser dbio_stat_mser(const double *values, unsigned nr);

/* ln(mean of the last third / mean of the first third); the thirds are the largest whole multiples of `period` values
 * (0 or 1: none) that fit. Returns -1 where no third holds a period, or a mean is not above 0. */
int dbio_stat_thirds(const double *values, unsigned nr, unsigned period, double *trend);

/* Over the trends of several runs: t test of mean 0. Not steady: p < 0.05 and |mean| >= 2.5 %. Needs 3 runs, else p is
 * 1. */
struct dbio_stat_trend {
        double mean, p;
        unsigned runs;
        bool steady;
};
struct dbio_stat_trend dbio_stat_trend(const double *trends, unsigned nr);

#endif
