/* Statistics against SciPy, statsmodels and arch: tests/data/statistics-vectors.json holds their results, the rest of
 * the expected values are computed here in another way (enumeration of permutations). */
#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "results/stat_dist.h"
#include "results/stat_effect.h"
#include "results/stat_series.h"

static const double set_a[] = {9871, 10042, 9950, 10110, 9903};
static const double set_b[] = {9412, 9530, 9388, 9601, 9475};
static const double set_c[] = {9905, 10003, 9921, 10081, 9866};

static json_t *vectors(void)
{
        json_error_t error;
        json_t *all = json_load_file("tests/data/statistics-vectors.json", 0, &error);

        ck_assert_msg(all != NULL, "%s", error.text);
        return all;
}

static double at(const json_t *array, size_t i)
{
        return json_number_value(json_array_get(array, i));
}

static double member(const json_t *object, const char *key)
{
        json_t *value = json_object_get(object, key);

        ck_assert_msg(json_is_number(value), "no number %s", key);
        return json_number_value(value);
}

static void close_to(double got, double want, double relative, const char *what)
{
        ck_assert_msg(fabs(got - want) <= relative * fmax(fabs(want), 1e-12), "%s: %.17g, expected %.17g", what, got,
                      want);
}

START_TEST(t_quantiles)
{
        json_t *all = vectors(), *entry;
        size_t i;

        json_array_foreach(json_object_get(json_object_get(all, "t_quantile"), "table"), i, entry)
                close_to(dbio_stat_t_quantile(at(entry, 1), at(entry, 0)), at(entry, 2), 1e-7, "t quantile");
        json_array_foreach(json_object_get(json_object_get(all, "t_quantile"), "frac"), i, entry)
        {
                close_to(dbio_stat_t_quantile(at(entry, 1), at(entry, 0)), at(entry, 2), 1e-7, "t quantile");
                close_to(dbio_stat_t_quantile(1 - at(entry, 1), at(entry, 0)), -at(entry, 2), 1e-7, "lower tail");
        }
        /* Closed forms of 1 and 2 degrees of freedom; SciPy's own value for 2 at 0.99 is off in the ninth digit. */
        for (double p = 0.55; p < 1; p += 0.05) {
                close_to(dbio_stat_t_quantile(p, 1), tan(M_PI * (p - 0.5)), 1e-12, "Cauchy");
                close_to(dbio_stat_t_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-12, "two degrees");
        }
        json_decref(all);
}
END_TEST

START_TEST(t_tails)
{
        json_t *all = vectors(), *entry;
        size_t i;

        json_array_foreach(json_object_get(json_object_get(all, "t_sf_two_sided"), "table"), i, entry)
                close_to(dbio_stat_t_two_sided(at(entry, 0), at(entry, 1)), at(entry, 2), 1e-9, "two-sided p");
        ck_assert_double_eq(dbio_stat_t_two_sided(0, 5), 1);
        /* Cauchy: P(T <= 1) = 3/4. */
        close_to(dbio_stat_t_cdf(1, 1), 0.75, 1e-12, "cdf");
        close_to(dbio_stat_t_cdf(-1, 1), 0.25, 1e-12, "cdf");
        json_decref(all);
}
END_TEST

START_TEST(detectable_changes)
{
        static const char *const tables[] = {"two_sample", "with_drift_term"};
        json_t *all = vectors(), *entry;
        size_t i;

        for (int k = 0; k < 2; k++)
                json_array_foreach(json_object_get(json_object_get(all, "mde_in_units_of_SE"), tables[k]), i, entry)
                        close_to(dbio_stat_t_detectable(0.05, at(entry, 2), at(entry, 1)), at(entry, 3), 1e-7,
                                 "factor of the noncentral t");
        /* Central case: the power of no effect is the level. */
        close_to(dbio_stat_t_power(dbio_stat_t_quantile(0.95, 7), 0, 7), 0.05, 1e-9, "power at 0");
        json_decref(all);
}
END_TEST

START_TEST(minimum_counts)
{
        json_t *all = vectors(), *entry;
        size_t i;

        json_array_foreach(json_object_get(json_object_get(all, "order_statistic_ci_ranks"), "min_n_for_upper_bound"),
                           i, entry) ck_assert_double_eq(dbio_stat_quantile_min_count(at(entry, 0)), at(entry, 1));
        json_decref(all);
}
END_TEST

static void check_effect(const json_t *want, const struct dbio_stat_effect *effect)
{
        const double margin = -log(1 - 0.05);
        double low, high;

        close_to(effect->b, member(want, "log_ratio"), 1e-9, "b");
        close_to(effect->se, member(want, "se"), 1e-9, "se");
        close_to(effect->df, member(want, "df"), 1e-9, "df");
        close_to(effect->b / effect->se, member(want, "t"), 1e-9, "t");
        close_to(dbio_stat_p(effect), member(want, "p"), 1e-7, "p");
        close_to(100 * expm1(effect->b), member(want, "change_pct"), 1e-9, "change");
        dbio_stat_interval(effect, 0.95, &low, &high);
        close_to(100 * expm1(low), at(json_object_get(want, "ci95_pct"), 0), 1e-7, "low 95");
        close_to(100 * expm1(high), at(json_object_get(want, "ci95_pct"), 1), 1e-7, "high 95");
        dbio_stat_interval(effect, 0.90, &low, &high);
        close_to(100 * expm1(low), at(json_object_get(want, "ci90_pct"), 0), 1e-7, "low 90");
        close_to(100 * expm1(high), at(json_object_get(want, "ci90_pct"), 1), 1e-7, "high 90");
        close_to(dbio_stat_tost_p(effect, margin), member(want, "tost_p_5pct"), 1e-7, "tost");
}

static struct dbio_stat_sample logs(const double *values, unsigned nr, double *into)
{
        for (unsigned i = 0; i < nr; i++)
                into[i] = log(values[i]);
        return (struct dbio_stat_sample){into, nr};
}

START_TEST(two_samples)
{
        static const struct {
                const char *name;
                const double *base, *new_;
                unsigned nr_base, nr_new;
        } cases[] = {
                {"A_B5", set_a, set_b, 5, 5}, {"A_C5", set_a, set_c, 5, 5},  {"A_B3", set_a, set_b, 3, 3},
                {"A_C3", set_a, set_c, 3, 3}, {"A5_B3", set_a, set_b, 5, 3},
        };
        json_t *all = vectors();

        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                double a[5], b[5];
                struct dbio_stat_sample base = logs(cases[i].base, cases[i].nr_base, a);
                struct dbio_stat_sample new_ = logs(cases[i].new_, cases[i].nr_new, b);
                struct dbio_stat_effect effect;
                char name[32];

                snprintf(name, sizeof name, "pooled_%s", cases[i].name);
                ck_assert_int_eq(dbio_stat_pooled(&base, &new_, NULL, &effect), 0);
                check_effect(json_object_get(all, name), &effect);
                snprintf(name, sizeof name, "welch_%s", cases[i].name);
                ck_assert_int_eq(dbio_stat_welch(&base, &new_, &effect), 0);
                check_effect(json_object_get(all, name), &effect);
                /* Counts that differ by more than 1.5 choose Welch; A and B differ little in spread. */
                ck_assert_int_eq(dbio_stat_two_sample(&base, &new_, NULL, &effect), 0);
                ck_assert_int_eq(effect.method,
                                 cases[i].nr_base != cases[i].nr_new ? DBIO_STAT_WELCH : DBIO_STAT_POOLED);
        }
        json_decref(all);
}
END_TEST

START_TEST(drift_regression)
{
        static const struct {
                const char *name;
                const double *base, *new_;
        } cases[] = {{"drift_A_B5", set_a, set_b}, {"drift_A_C5", set_a, set_c}, {"drift_A_B3", set_a, set_b}};
        json_t *all = vectors();

        for (unsigned i = 0; i < 3; i++) {
                json_t *want = json_object_get(all, cases[i].name);
                const char *order = json_string_value(json_object_get(want, "order"));
                unsigned nr = (unsigned)strlen(order), nr_base = 0, nr_new = 0;
                struct dbio_stat_effect effect, mirrored;
                bool is_new[10];
                double z[10];

                for (unsigned k = 0; k < nr; k++) {
                        is_new[k] = order[k] == 'B';
                        z[k] = log(is_new[k] ? cases[i].new_[nr_new++] : cases[i].base[nr_base++]);
                }
                ck_assert_int_eq(dbio_stat_drift(z, is_new, nr, &effect), 0);
                check_effect(want, &effect);
                close_to(effect.drift, member(want, "drift_per_run"), 1e-9, "drift");
                close_to(effect.drift_se, member(want, "drift_se"), 1e-9, "drift se");
                close_to(effect.drift_p, member(want, "drift_p"), 1e-7, "drift p");
                for (unsigned k = 0; k < nr; k++)
                        is_new[k] = !is_new[k];
                ck_assert_int_eq(dbio_stat_drift(z, is_new, nr, &mirrored), 0);
                close_to(mirrored.b, -effect.b, 1e-12, "sides exchanged");
                close_to(mirrored.se, effect.se, 1e-12, "sides exchanged");
        }
        json_decref(all);
}
END_TEST

START_TEST(drift_needs_what_it_needs)
{
        const double z[] = {1, 2, 3, 4};
        const bool one_side[] = {false, false, false, false}, mixed[] = {false, true, true, false};
        struct dbio_stat_effect effect;

        ck_assert_int_eq(dbio_stat_drift(z, one_side, 4, &effect), -1);
        ck_assert_int_eq(dbio_stat_drift(z, mixed, 3, &effect), -1);
        ck_assert_int_eq(dbio_stat_drift(z, mixed, 4, &effect), 0);
}
END_TEST

START_TEST(history_stands_in)
{
        double a[5], b[5], h[5];
        struct dbio_stat_sample base = logs(set_a, 1, a), new_ = logs(set_b, 1, b), history = logs(set_c, 5, h);
        struct dbio_stat_effect effect;
        double mean = 0, squares = 0;

        for (int i = 0; i < 5; i++)
                mean += h[i] / 5;
        for (int i = 0; i < 5; i++)
                squares += (h[i] - mean) * (h[i] - mean);
        ck_assert_int_eq(dbio_stat_pooled(&base, &new_, NULL, &effect), -1);
        ck_assert_int_eq(dbio_stat_pooled(&base, &new_, &history, &effect), 0);
        ck_assert_double_eq(effect.df, 4);
        close_to(effect.se, sqrt(squares / 4 * 2), 1e-12, "s * sqrt(1/1 + 1/1)");
        base = logs(set_a, 3, a), new_ = logs(set_b, 3, b);
        ck_assert_int_eq(dbio_stat_pooled(&base, &new_, &history, &effect), 0);
        ck_assert_double_eq(effect.df, 3 + 3 + 5 - 3);
}
END_TEST

START_TEST(no_spread_gives_a_point)
{
        const double same[] = {2, 2, 2};
        struct dbio_stat_sample side = {same, 3};
        struct dbio_stat_effect effect;
        double low, high;

        ck_assert_int_eq(dbio_stat_two_sample(&side, &side, NULL, &effect), 0);
        dbio_stat_interval(&effect, 0.95, &low, &high);
        ck_assert_double_eq(low, 0);
        ck_assert_double_eq(high, 0);
        ck_assert_double_eq(dbio_stat_p(&effect), 1);
        ck_assert_double_eq(dbio_stat_tost_p(&effect, 0.05), 0);
}
END_TEST

/* Exhaustive permutation of the mean difference agrees with the count that is stored, and its p with the t's order of
 * magnitude: an independent check of direction and size of the t test. */
START_TEST(permutation_agrees)
{
        json_t *all = vectors(), *want = json_object_get(all, "permutation");
        const double *const others[] = {set_b, set_c};
        static const char *const names[] = {"A_B5", "A_C5"};

        for (int k = 0; k < 2; k++) {
                double z[10], observed = 0;
                struct dbio_stat_effect effect;
                struct dbio_stat_sample base = logs(set_a, 5, z), new_ = logs(others[k], 5, z + 5);
                unsigned extreme = 0, count = 0;

                for (int i = 0; i < 5; i++)
                        observed += (z[5 + i] - z[i]) / 5;
                for (unsigned mask = 0; mask < 1024; mask++) {
                        double difference = 0;

                        if (__builtin_popcount(mask) != 5)
                                continue;
                        for (int i = 0; i < 10; i++)
                                difference += (mask >> i & 1 ? z[i] : -z[i]) / 5;
                        count++;
                        extreme += fabs(difference) >= fabs(observed) - 1e-12;
                }
                ck_assert_int_eq(extreme, (int)at(json_object_get(want, names[k]), 0));
                ck_assert_int_eq(count, (int)at(json_object_get(want, names[k]), 1));
                ck_assert_int_eq(dbio_stat_pooled(&base, &new_, NULL, &effect), 0);
                ck_assert(fabs(dbio_stat_p(&effect) - (double)extreme / count) < 0.02);
        }
        json_decref(all);
}
END_TEST

START_TEST(holm_correction)
{
        json_t *all = vectors(), *want = json_object_get(all, "holm_bh");
        json_t *given = json_object_get(want, "p"), *holm = json_object_get(want, "holm");
        double p[8], backwards[8];

        for (size_t i = 0; i < 8; i++) {
                p[i] = at(given, i);
                backwards[7 - i] = p[i];
        }
        ck_assert_int_eq(dbio_stat_holm(p, 8), 0);
        ck_assert_int_eq(dbio_stat_holm(backwards, 8), 0);
        for (size_t i = 0; i < 8; i++) {
                close_to(p[i], at(holm, i), 1e-9, "holm");
                ck_assert_double_eq(p[i], backwards[7 - i]);
                ck_assert(i == 0 || p[i] >= p[i - 1]);
        }
        ck_assert_int_eq(dbio_stat_holm(NULL, 0), 0);
        json_decref(all);
}
END_TEST

/* Repetitions a side for 80 % power, two-sided 5 % (exact noncentral t, no drift term): at 10 % sd 2 % 3, 3 % 3, 4 % 4,
 * 5 % 5, 8 % 11; at 5 % sd 2 % 4, 3 % 7, 4 % 11. Computed with SciPy's noncentral t. */
START_TEST(repetitions_needed)
{
        static const struct {
                double sd, change;
                unsigned want;
        } cases[] = {{0.03, 0.10, 3}, {0.04, 0.10, 4}, {0.05, 0.10, 5}, {0.08, 0.10, 11},
                     {0.02, 0.05, 4}, {0.03, 0.05, 7}, {0.04, 0.05, 11}};

        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
                ck_assert_uint_eq(dbio_stat_repetitions(cases[i].sd, -log(1 - cases[i].change), false), cases[i].want);
        ck_assert_uint_eq(dbio_stat_repetitions(0.5, 0.001, false), 0);
        ck_assert_uint_eq(dbio_stat_repetitions(0.02, 0, true), 0);
}
END_TEST

START_TEST(snia_rounds)
{
        json_t *all = vectors(), *entry;
        size_t i;

        json_array_foreach(json_object_get(json_object_get(all, "snia_5_rounds"), "table"), i, entry)
        {
                double rounds[5];
                struct dbio_stat_snia snia;

                for (size_t k = 0; k < 5; k++)
                        rounds[k] = at(json_array_get(entry, 0), k);
                snia = dbio_stat_snia(rounds);
                close_to(snia.average, at(entry, 1), 1e-9, "average");
                close_to(snia.range, at(entry, 2), 1e-9, "range");
                ck_assert(fabs(snia.slope - at(entry, 3)) < 1e-9);
                ck_assert_int_eq(snia.steady, json_is_true(json_array_get(entry, 4)));
        }
        json_decref(all);
}
END_TEST

static unsigned series(const json_t *array, double *into)
{
        for (size_t i = 0; i < json_array_size(array); i++)
                into[i] = at(array, i);
        return (unsigned)json_array_size(array);
}

START_TEST(mser)
{
        json_t *all = vectors(), *want = json_object_get(all, "mser5");
        double values[100];
        unsigned nr = series(json_object_get(want, "values"), values);
        struct dbio_stat_mser got = dbio_stat_mser(values, nr);
        double sum = 0;

        ck_assert_uint_eq(nr, 100);
        ck_assert_uint_eq(got.cut, (unsigned)member(want, "truncate_first"));
        ck_assert(got.converged);
        for (unsigned i = got.cut; i < nr; i++)
                sum += values[i];
        close_to(sum / (nr - got.cut), member(want, "mean_after"), 1e-9, "mean after the cut");
        /* A ramp never settles: the optimum lies at the limit. */
        for (unsigned i = 0; i < 100; i++)
                values[i] = i;
        ck_assert(!dbio_stat_mser(values, 100).converged);
        json_decref(all);
}
END_TEST

START_TEST(thirds)
{
        double values[30], trend;
        const double trends[] = {-0.10, -0.11, -0.09}, small[] = {-0.01, -0.011, -0.009};

        for (int i = 0; i < 30; i++)
                values[i] = i < 10 ? 200 : i < 20 ? 150 : 100;
        ck_assert_int_eq(dbio_stat_thirds(values, 30, 1, &trend), 0);
        close_to(trend, log(0.5), 1e-12, "halved");
        /* Period 4: thirds of 8 values. */
        values[8] = values[9] = 1e9;
        ck_assert_int_eq(dbio_stat_thirds(values, 30, 4, &trend), 0);
        close_to(trend, log(0.5), 1e-12, "halved");
        ck_assert_int_eq(dbio_stat_thirds(values, 30, 11, &trend), -1);
        ck_assert(!dbio_stat_trend(trends, 3).steady);
        ck_assert(dbio_stat_trend(small, 3).steady);
        ck_assert(dbio_stat_trend(trends, 2).steady);
}
END_TEST

TEST_MAIN("stats", t_quantiles, t_tails, detectable_changes, minimum_counts, two_samples, drift_regression,
          drift_needs_what_it_needs, history_stands_in, no_spread_gives_a_point, permutation_agrees, holm_correction,
          repetitions_needed, snia_rounds, mser, thirds)
