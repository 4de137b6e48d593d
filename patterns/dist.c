#include "patterns/dist.h"

#include <math.h>

double dbio_dist_exponential(struct dbio_rng *rng, double mean)
{
        return -mean * log(1 - dbio_rng_unit(rng));
}

double dbio_dist_lognormal(struct dbio_rng *rng, double median, double sigma)
{
        double radius = sqrt(-2 * log(1 - dbio_rng_unit(rng)));

        return median * exp(sigma * radius * cos(2 * M_PI * dbio_rng_unit(rng)));
}

double dbio_dist_draw(const struct dbio_dist *dist, struct dbio_rng *rng)
{
        if (dist->kind == DBIO_DIST_LOGNORMAL)
                return dbio_dist_lognormal(rng, dist->value, dist->sigma);
        return dist->value;
}

double dbio_dist_mean(const struct dbio_dist *dist)
{
        if (dist->kind == DBIO_DIST_LOGNORMAL)
                return dist->value * exp(dist->sigma * dist->sigma / 2);
        return dist->value;
}

/* H(x) = (x^(1-theta) - 1) / (1 - theta), or ln x, and its inverse, without loss of digits near theta = 1. */
static double integral(double theta, double x)
{
        double l = log(x), t = (1 - theta) * l;

        return fabs(t) > 1e-8 ? expm1(t) / t * l : l * (1 + t / 2);
}

static double inverse(double theta, double y)
{
        double t = (1 - theta) * y;

        if (t < -1)
                t = -1; /* rounding */
        return exp(fabs(t) > 1e-8 ? log1p(t) / t * y : y * (1 - t / 2));
}

void dbio_zipf_init(struct dbio_zipf *zipf, uint64_t n, double theta)
{
        zipf->n = n;
        zipf->theta = theta;
        zipf->h_low = integral(theta, 1.5) - 1;
        zipf->h_high = integral(theta, (double)n + 0.5);
        zipf->squeeze = 2 - inverse(theta, integral(theta, 2.5) - pow(2, -theta));
}

uint64_t dbio_zipf_next(const struct dbio_zipf *zipf, struct dbio_rng *rng)
{
        for (;;) {
                double y = zipf->h_high + dbio_rng_unit(rng) * (zipf->h_low - zipf->h_high);
                double x = inverse(zipf->theta, y), k = floor(x + 0.5);

                if (k < 1)
                        k = 1;
                else if (k > (double)zipf->n)
                        k = (double)zipf->n;
                if (k - x <= zipf->squeeze || y >= integral(zipf->theta, k + 0.5) - pow(k, -zipf->theta))
                        return (uint64_t)k;
        }
}

void dbio_scatter_init(struct dbio_scatter *scatter, uint64_t n, uint64_t seed)
{
        unsigned bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 1;

        scatter->n = n;
        scatter->mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        scatter->shift = (bits + 1) / 2;
        scatter->key[0] = dbio_rng_mix(seed);
        scatter->key[1] = dbio_rng_mix(seed + 0x9e3779b97f4a7c15u);
}

uint64_t dbio_scatter_at(const struct dbio_scatter *scatter, uint64_t i)
{
        uint64_t x = i, mask = scatter->mask;

        /* Each step is a bijection of the next power of two; what falls outside [0, n) is sent on until it falls inside,
         * which keeps it one (at most twice on average). */
        do {
                x = (x + scatter->key[0]) & mask;
                x = (x * 0x9e3779b97f4a7c15u) & mask;
                x ^= x >> scatter->shift;
                x = (x * 0xd6e8feb86659fd93u) & mask;
                x ^= x >> scatter->shift;
                x = (x + scatter->key[1]) & mask;
                x = (x * 0xbf58476d1ce4e5b9u) & mask;
                x ^= x >> scatter->shift;
        } while (x >= scatter->n);
        return x;
}

void dbio_pick_init(struct dbio_pick *pick, const struct dbio_skew *skew, uint64_t n, uint64_t seed)
{
        pick->skew = *skew;
        pick->n = n;
        pick->hot = 0;
        if (skew->kind == DBIO_SKEW_ZIPF && skew->theta <= 0)
                pick->skew.kind = DBIO_SKEW_UNIFORM;
        if (skew->kind == DBIO_SKEW_HOT) {
                pick->hot = (uint64_t)llround(skew->space * (double)n);
                if (!pick->hot || pick->hot >= n)
                        pick->skew.kind = DBIO_SKEW_UNIFORM;
        }
        if (pick->skew.kind == DBIO_SKEW_ZIPF)
                dbio_zipf_init(&pick->zipf, n, skew->theta);
        if (pick->skew.kind != DBIO_SKEW_UNIFORM)
                dbio_scatter_init(&pick->scatter, n, seed);
}

uint64_t dbio_pick_skewed(const struct dbio_pick *pick, struct dbio_rng *rng)
{
        uint64_t rank;

        if (pick->skew.kind == DBIO_SKEW_ZIPF)
                rank = dbio_zipf_next(&pick->zipf, rng) - 1;
        else if (dbio_rng_unit(rng) < pick->skew.ops)
                rank = dbio_rng_below(rng, pick->hot);
        else
                rank = pick->hot + dbio_rng_below(rng, pick->n - pick->hot);
        return dbio_scatter_at(&pick->scatter, rank);
}
