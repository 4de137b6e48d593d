#include "results/stat_effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stat_dist.h"

static double mean_of(const struct dbio_stat_sample *sample)
{
        double sum = 0;

        for (unsigned i = 0; i < sample->nr; i++)
                sum += sample->z[i];
        return sample->nr ? sum / sample->nr : 0;
}

/* Sum of squares about the mean. */
static double squares_of(const struct dbio_stat_sample *sample)
{
        double mean = mean_of(sample), sum = 0;

        for (unsigned i = 0; i < sample->nr; i++)
                sum += (sample->z[i] - mean) * (sample->z[i] - mean);
        return sum;
}

int dbio_stat_pooled(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                     const struct dbio_stat_sample *history, struct dbio_stat_effect *effect)
{
        unsigned nr_history = history ? history->nr : 0;
        double squares = squares_of(base) + squares_of(new_), df = (double)base->nr + new_->nr - 2;

        if (!base->nr || !new_->nr)
                return -1;
        if (nr_history > 1) {
                squares += squares_of(history);
                df += nr_history - 1;
        }
        if (df < 1)
                return -1;
        *effect = (struct dbio_stat_effect){
                .method = DBIO_STAT_POOLED,
                .b = mean_of(new_) - mean_of(base),
                .df = df,
                .sd = sqrt(squares / df),
                .drift_p = 1,
                .nr_base = base->nr,
                .nr_new = new_->nr,
                .nr_history = nr_history > 1 ? nr_history : 0,
        };
        effect->se = effect->sd * sqrt(1.0 / base->nr + 1.0 / new_->nr);
        return 0;
}

int dbio_stat_welch(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                    struct dbio_stat_effect *effect)
{
        double u, v;

        if (base->nr < 2 || new_->nr < 2)
                return -1;
        u = squares_of(base) / (base->nr - 1) / base->nr;
        v = squares_of(new_) / (new_->nr - 1) / new_->nr;
        if (u + v == 0)
                return dbio_stat_pooled(base, new_, NULL, effect);
        *effect = (struct dbio_stat_effect){
                .method = DBIO_STAT_WELCH,
                .b = mean_of(new_) - mean_of(base),
                .se = sqrt(u + v),
                .df = (u + v) * (u + v) / (u * u / (base->nr - 1) + v * v / (new_->nr - 1)),
                .sd = sqrt((u * base->nr + v * new_->nr) / 2),
                .drift_p = 1,
                .nr_base = base->nr,
                .nr_new = new_->nr,
        };
        return 0;
}

int dbio_stat_two_sample(const struct dbio_stat_sample *base, const struct dbio_stat_sample *new_,
                         const struct dbio_stat_sample *history, struct dbio_stat_effect *effect)
{
        bool welch = false;

        if (base->nr >= 2 && new_->nr >= 2 && !(history && history->nr > 1)) {
                double a = squares_of(base) / (base->nr - 1), b = squares_of(new_) / (new_->nr - 1);

                welch = base->nr > 1.5 * new_->nr || new_->nr > 1.5 * base->nr || a > 9 * b || b > 9 * a;
        }
        return welch ? dbio_stat_welch(base, new_, effect) : dbio_stat_pooled(base, new_, history, effect);
}

int dbio_stat_drift(const double *z, const bool *is_new, unsigned nr, struct dbio_stat_effect *effect)
{
        double mean_x = 0, mean_z = 0, xx = 0, qq = 0, xq = 0, xz = 0, qz = 0, rest = 0, d, b, g, variance;
        unsigned nr_new = 0;

        if (nr < 4)
                return -1;
        for (unsigned i = 0; i < nr; i++) {
                nr_new += is_new[i];
                mean_x += (is_new[i] ? 0.5 : -0.5) / nr;
                mean_z += z[i] / nr;
        }
        for (unsigned i = 0; i < nr; i++) {
                double x = (is_new[i] ? 0.5 : -0.5) - mean_x, q = i - (nr - 1) / 2.0, c = z[i] - mean_z;

                xx += x * x;
                qq += q * q;
                xq += x * q;
                xz += x * c;
                qz += q * c;
        }
        d = xx * qq - xq * xq;
        if (d <= 1e-9 * xx * qq || nr_new == 0 || nr_new == nr)
                return -1;
        b = (qq * xz - xq * qz) / d;
        g = (xx * qz - xq * xz) / d;
        for (unsigned i = 0; i < nr; i++) {
                double x = (is_new[i] ? 0.5 : -0.5) - mean_x, q = i - (nr - 1) / 2.0, c = z[i] - mean_z;

                rest += (c - b * x - g * q) * (c - b * x - g * q);
        }
        variance = rest / (nr - 3);
        *effect = (struct dbio_stat_effect){
                .method = DBIO_STAT_DRIFT,
                .b = b,
                .se = sqrt(variance * qq / d),
                .df = nr - 3,
                .sd = sqrt(variance),
                .drift = g,
                .drift_se = sqrt(variance * xx / d),
                .nr_base = nr - nr_new,
                .nr_new = nr_new,
        };
        effect->drift_p = effect->drift_se > 0 ? dbio_stat_t_two_sided(g / effect->drift_se, effect->df) : 1;
        return 0;
}

void dbio_stat_interval(const struct dbio_stat_effect *effect, double level, double *low, double *high)
{
        double half = effect->se > 0 ? dbio_stat_t_quantile(0.5 + level / 2, effect->df) * effect->se : 0;

        *low = effect->b - half;
        *high = effect->b + half;
}

double dbio_stat_p(const struct dbio_stat_effect *effect)
{
        if (effect->se > 0)
                return dbio_stat_t_two_sided(effect->b / effect->se, effect->df);
        return effect->b == 0 ? 1 : 0;
}

double dbio_stat_tost_p(const struct dbio_stat_effect *effect, double margin)
{
        if (effect->se > 0)
                return fmax(dbio_stat_t_cdf(-(effect->b + margin) / effect->se, effect->df),
                            dbio_stat_t_cdf(-(margin - effect->b) / effect->se, effect->df));
        return fabs(effect->b) < margin ? 0 : 1;
}

double dbio_stat_detectable(const struct dbio_stat_effect *effect)
{
        return effect->se > 0 ? dbio_stat_t_detectable(0.05, 0.8, effect->df) * effect->se : 0;
}

/* The sum of two central quantiles stands for the noncentral one: within 2.3 % from 3 degrees of freedom on, and what
 * comes out is "about". */
static bool would_find(unsigned nr, double sd, double b, bool drift)
{
        double df = 2.0 * nr - (drift ? 3 : 2);

        return (dbio_stat_t_quantile(0.975, df) + dbio_stat_t_quantile(0.8, df)) * sd * sqrt(2.0 / nr) <= b;
}

/* Grows by doubling, then halves the gap. */
unsigned dbio_stat_repetitions(double sd, double b, bool drift)
{
        unsigned low = 1, high = 2;

        if (!(b > 0))
                return 0;
        while (!would_find(high, sd, b, drift)) {
                low = high;
                high *= 2;
                if (high > 1024)
                        return 0;
        }
        while (high - low > 1) {
                unsigned middle = (low + high) / 2;

                if (would_find(middle, sd, b, drift))
                        high = middle;
                else
                        low = middle;
        }
        return high <= 1000 ? high : 0;
}

struct ranked {
        double p;
        size_t at;
};

static int ranked_compare(const void *left, const void *right)
{
        const struct ranked *a = left, *b = right;

        return a->p < b->p ? -1 : a->p > b->p;
}

int dbio_stat_holm(double *p, size_t nr)
{
        struct ranked *sorted = malloc((nr + !nr) * sizeof *sorted);
        double least = 0;

        if (!sorted)
                return -1;
        for (size_t i = 0; i < nr; i++)
                sorted[i] = (struct ranked){p[i], i};
        qsort(sorted, nr, sizeof *sorted, ranked_compare);
        for (size_t i = 0; i < nr; i++) {
                least = fmax(least, fmin(1, (double)(nr - i) * sorted[i].p));
                p[sorted[i].at] = least;
        }
        free(sorted);
        return 0;
}
