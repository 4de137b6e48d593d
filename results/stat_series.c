#include "results/stat_series.h"

#include <math.h>
#include <stddef.h>

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
