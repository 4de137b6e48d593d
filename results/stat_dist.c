#include "results/stat_dist.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Continued fraction of the incomplete beta (Abramowitz and Stegun 26.5.8), evaluated after Lentz. Converges fast for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
        const double tiny = 1e-300;
        double c = 1, d = 1 - (a + b) * x / (a + 1);
        double value;

        d = 1 / (fabs(d) < tiny ? tiny : d);
        value = d;
        for (int m = 1; m < 1000; m++) {
                double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
                double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
                double step;

                d = 1 + even * d;
                c = 1 + even / c;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = fabs(c) < tiny ? tiny : c;
                value *= c * d;
                d = 1 + odd * d;
                c = 1 + odd / c;
                d = 1 / (fabs(d) < tiny ? tiny : d);
                c = fabs(c) < tiny ? tiny : c;
                step = c * d;
                value *= step;
                if (fabs(step - 1) < 4 * DBL_EPSILON)
                        break;
        }
        return value;
}

/* Regularised incomplete beta I_x(a, b); y = 1 - x comes from the caller, who knows it without cancellation. */
static double incomplete_beta(double x, double y, double a, double b)
{
        double front;

        if (x <= 0)
                return 0;
        if (y <= 0)
                return 1;
        front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
        if (x < (a + 1) / (a + b + 2))
                return front * beta_fraction(x, a, b) / a;
        return 1 - front * beta_fraction(y, b, a) / b;
}

double dbio_stat_t_two_sided(double t, double df)
{
        double square = t * t;

        if (isinf(square))
                return 0;
        return incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5);
}

double dbio_stat_t_cdf(double t, double df)
{
        double tail = dbio_stat_t_two_sided(t, df) / 2;

        return t < 0 ? tail : 1 - tail;
}

static double t_density(double t, double df)
{
        return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * M_PI);
}

/* Newton's steps on the tail, kept inside a bracket that every step narrows. */
double dbio_stat_t_quantile(double p, double df)
{
        double tail = p < 0.5 ? p : 1 - p;
        double low = 0, high = 1, t;

        if (p == 0.5)
                return 0;
        while (dbio_stat_t_two_sided(high, df) / 2 > tail && high < 1e150) {
                low = high;
                high *= 2;
        }
        t = (low + high) / 2;
        for (int i = 0; i < 200; i++) {
                double miss = dbio_stat_t_two_sided(t, df) / 2 - tail;
                double next = t + miss / t_density(t, df);

                if (miss > 0)
                        low = t;
                else
                        high = t;
                if (fabs(next - t) <= 4 * DBL_EPSILON * t)
                        break;
                if (!(next > low && next < high))
                        next = (low + high) / 2;
                t = next;
        }
        return p < 0.5 ? -t : t;
}

/* Integrates P(Z > limit * s - shift) over the density of s = sqrt(chi2 / df) by Simpson's rule. */
double dbio_stat_t_power(double limit, double shift, double df)
{
        enum { STEPS = 400 };
        double width = 1 / sqrt(2 * df);
        double from = fmax(0, 1 - 10 * width), to = 1 + 12 * width;
        double h = (to - from) / STEPS, sum = 0;
        double scale = log(2) + df / 2 * log(df / 2) - lgamma(df / 2);

        for (int i = 0; i <= STEPS; i++) {
                double s = from + i * h;
                double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
                double density = s > 0 ? exp(scale + (df - 1) * log(s) - df * s * s / 2) : df == 1 ? exp(scale) : 0;

                sum += weight * density * erfc((limit * s - shift) / M_SQRT2) / 2;
        }
        return sum * h / 3;
}

double dbio_stat_t_detectable(double alpha, double power, double df)
{
        double limit = dbio_stat_t_quantile(1 - alpha / 2, df);
        double shift = limit + dbio_stat_t_quantile(power, df);
        double before = shift * 1.02, before_miss = dbio_stat_t_power(limit, before, df) - power;

        for (int i = 0; i < 50; i++) {
                double miss = dbio_stat_t_power(limit, shift, df) - power;
                double next;

                if (miss == before_miss)
                        break;
                next = shift - miss * (shift - before) / (miss - before_miss);
                before = shift;
                before_miss = miss;
                shift = next;
                if (fabs(shift - before) < 1e-13 * shift)
                        break;
        }
        return shift;
}

double dbio_stat_quantile_min_count(double p)
{
        return ceil(log(0.025) / log(p));
}
