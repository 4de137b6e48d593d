#include "results/stat_series.h"

#include <math.h>
#include <stdlib.h>

#include "results/stat_dist.h"

static double mean_of(const double *values, unsigned nr)
{
        double sum = 0;

        for (unsigned i = 0; i < nr; i++)
                sum += values[i];
        return nr ? sum / nr : 0;
}

struct dbio_stat_snia dbio_stat_snia(const double rounds[5])
{
        struct dbio_stat_snia snia = {.average = mean_of(rounds, 5)};
        double low = rounds[0], high = rounds[0], slope = 0;

        for (int i = 0; i < 5; i++) {
                low = fmin(low, rounds[i]);
                high = fmax(high, rounds[i]);
                slope += (i - 2) * rounds[i] / 10;
        }
        if (snia.average > 0) {
                snia.range = (high - low) / snia.average;
                snia.slope = fabs(slope) * 4 / snia.average;
                /* The limits count as inside, also where 2200 / 10000 - 2000 / 10000 leaves a rounding error. */
                snia.steady = snia.range <= 0.20 + 1e-12 && snia.slope <= 0.10 + 1e-12;
        }
        return snia;
}

/* From the last batch backwards, so that mean and squares of every tail come in one pass (Welford). */
struct dbio_stat_mser dbio_stat_mser(const double *values, unsigned nr)
{
        struct dbio_stat_mser mser = {0};
        unsigned batches = nr / 5, best = 0;
        double mean = 0, squares = 0, least = INFINITY;

        if (batches < 2)
                return mser;
        for (unsigned d = batches; d-- > 0;) {
                double batch = mean_of(values + (size_t)d * 5, 5), step = batch - mean;
                unsigned n = batches - d;

                mean += step / n;
                squares += step * (batch - mean);
                if (d <= batches / 2 && squares / ((double)n * n) <= least) {
                        least = squares / ((double)n * n);
                        best = d;
                }
        }
        mser.cut = best * 5;
        mser.converged = best < batches / 2;
        return mser;
}

int dbio_stat_thirds(const double *values, unsigned nr, unsigned period, double *trend)
{
        unsigned third = nr / 3;
        double first, last;

        if (period > 1)
                third -= third % period;
        if (!third)
                return -1;
        first = mean_of(values, third);
        last = mean_of(values + (nr - third), third);
        if (!(first > 0 && last > 0))
                return -1;
        *trend = log(last / first);
        return 0;
}

struct dbio_stat_trend dbio_stat_trend(const double *trends, unsigned nr)
{
        struct dbio_stat_trend trend = {.mean = mean_of(trends, nr), .p = 1, .runs = nr, .steady = true};
        double squares = 0, se;

        if (nr < 3)
                return trend;
        for (unsigned i = 0; i < nr; i++)
                squares += (trends[i] - trend.mean) * (trends[i] - trend.mean);
        se = sqrt(squares / (nr - 1) / nr);
        if (se > 0)
                trend.p = dbio_stat_t_two_sided(trend.mean / se, nr - 1);
        else
                trend.p = trend.mean == 0 ? 1 : 0;
        trend.steady = !(trend.p < 0.05 && fabs(trend.mean) >= 0.025);
        return trend;
}

/* Sum of (values[i + k] - mean)(values[i] - mean). */
static double products(const double *values, unsigned nr, double mean, unsigned k)
{
        double sum = 0;

        for (unsigned i = 0; i + k < nr; i++)
                sum += (values[i + k] - mean) * (values[i] - mean);
        return sum;
}

/* The lag after which `quiet` correlations in a row stay inside the band, doubled; at most `most`. */
static unsigned window_of(const double *values, unsigned nr, double mean, unsigned quiet, unsigned most)
{
        double band = 2 * sqrt(log10(nr) / nr), all = products(values, nr, mean, 0), head = all, tail = all;
        unsigned inside = 0;

        for (unsigned k = 0; k < most; k++) {
                double first = values[k] - mean, last = values[nr - 1 - k] - mean;

                /* Each part of the series that overlaps is normalised by its own squares. */
                head -= first * first;
                tail -= last * last;
                inside = fabs(products(values, nr, mean, k)) < band * sqrt(head * tail) ? inside + 1 : 0;
                if (inside == quiet) {
                        unsigned lag = k + 1 - quiet;

                        return 2 * (lag ? lag : 1) < most ? 2 * (lag ? lag : 1) : most;
                }
        }
        return most;
}

struct dbio_stat_memory dbio_stat_memory(const double *values, unsigned nr)
{
        struct dbio_stat_memory memory = {.length = 1, .independent = nr};
        unsigned quiet = fmax(5, floor(log10(nr))), most = (unsigned)ceil(sqrt(nr)) + quiet;
        double cap = ceil(fmin(3 * sqrt(nr), nr / 3.0)), mean = mean_of(values, nr), zero;

        if (nr < 9)
                return memory;
        if (most > nr - 1)
                most = nr - 1;
        zero = products(values, nr, mean, 0) / nr;
        if (!(zero > 0))
                return memory;
        memory.lag = window_of(values, nr, mean, quiet, most);
        memory.variance = zero;
        for (unsigned k = 1; k <= memory.lag; k++) {
                double share = (double)k / memory.lag, weight = share <= 0.5 ? 1 : 2 * (1 - share);
                double covariance = products(values, nr, mean, k) / nr;

                memory.variance += 2 * weight * covariance;
                memory.weighted += 2 * weight * k * covariance;
        }
        if (memory.variance > 0) {
                double ratio = memory.weighted / memory.variance;

                memory.length = fmax(1, fmin(cap, cbrt(1.5 * ratio * ratio * nr)));
                memory.independent = nr * zero / memory.variance;
        } else {
                memory.length = cap;
        }
        return memory;
}

uint64_t dbio_stat_random(uint64_t *state)
{
        uint64_t z = *state += 0x9E3779B97F4A7C15u;

        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
}

static int double_compare(const void *left, const void *right)
{
        double a = *(const double *)left, b = *(const double *)right;

        return a < b ? -1 : a > b;
}

int dbio_stat_bootstrap(const double *values, unsigned nr, unsigned block, unsigned draws, uint64_t seed,
                        struct dbio_stat_spread *spread)
{
        double *sums, *means, mean = 0, squares = 0;
        unsigned blocks;

        if (!nr || !block || draws < 40)
                return -1;
        blocks = (unsigned)fmax(1, nearbyint((double)nr / block));
        sums = malloc(((size_t)nr + draws) * sizeof *sums);
        if (!sums)
                return -1;
        means = sums + nr;
        for (unsigned i = 0; i < nr; i++) {
                sums[i] = 0;
                for (unsigned j = 0; j < block; j++)
                        sums[i] += values[(i + j) % nr];
        }
        for (unsigned d = 0; d < draws; d++) {
                means[d] = 0;
                for (unsigned b = 0; b < blocks; b++)
                        means[d] += sums[((dbio_stat_random(&seed) >> 32) * nr) >> 32];
                means[d] /= (double)blocks * block;
                mean += means[d] / draws;
        }
        for (unsigned d = 0; d < draws; d++)
                squares += (means[d] - mean) * (means[d] - mean);
        qsort(means, draws, sizeof *means, double_compare);
        *spread = (struct dbio_stat_spread){sqrt(squares / (draws - 1)), means[draws / 40 - 1],
                                            means[draws - draws / 40 - 1]};
        free(sums);
        return 0;
}
