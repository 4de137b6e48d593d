/* Distributions, all in O(1) memory and without allocation: places with and without skew, sizes, gaps. */
#ifndef DBIO_PATTERNS_DIST_H
#define DBIO_PATTERNS_DIST_H

#include <stdint.h>

#include "patterns/field.h"
#include "patterns/rng.h"

/* Exponential with this mean (> 0); what lies between the arrivals of a Poisson process. */
double dbio_dist_exponential(struct dbio_rng *rng, double mean);
/* exp(N(ln median, sigma^2)); its mean is median * exp(sigma^2 / 2). */
double dbio_dist_lognormal(struct dbio_rng *rng, double median, double sigma);
/* A value of a `{lognormal: …}` or fixed key, and its mean. */
double dbio_dist_draw(const struct dbio_dist *dist, struct dbio_rng *rng);
double dbio_dist_mean(const struct dbio_dist *dist);

/* Ranks 1 … n, rank k with a chance in proportion to k^-theta, theta > 0. Rejection-inversion (Hörmann and Derflinger,
 * "Rejection-inversion to generate variates from monotone discrete distributions", 1996). */
struct dbio_zipf {
        uint64_t n;
        double theta, h_low, h_high, squeeze;
};
void dbio_zipf_init(struct dbio_zipf *zipf, uint64_t n, double theta);
uint64_t dbio_zipf_next(const struct dbio_zipf *zipf, struct dbio_rng *rng);

/* A pseudo-random permutation of [0, n): what the i-th is, without a table. */
struct dbio_scatter {
        uint64_t n, mask, key[2];
        unsigned shift;
};
void dbio_scatter_init(struct dbio_scatter *scatter, uint64_t n, uint64_t seed);
uint64_t dbio_scatter_at(const struct dbio_scatter *scatter, uint64_t i);

/* Places 0 … n-1 by a stream's `skew`. The hot ones are scattered over all of them, the same for equal seeds. */
struct dbio_pick {
        struct dbio_skew skew;
        uint64_t n, hot; /* hot = how many places are hot */
        struct dbio_zipf zipf;
        struct dbio_scatter scatter;
};
void dbio_pick_init(struct dbio_pick *pick, const struct dbio_skew *skew, uint64_t n, uint64_t seed);
/* The skewed part, out of line. */
uint64_t dbio_pick_skewed(const struct dbio_pick *pick, struct dbio_rng *rng);

static inline uint64_t dbio_pick_next(const struct dbio_pick *pick, struct dbio_rng *rng)
{
        if (pick->skew.kind == DBIO_SKEW_UNIFORM)
                return dbio_rng_below(rng, pick->n);
        return dbio_pick_skewed(pick, rng);
}

#endif
