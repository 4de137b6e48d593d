#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "results/interference.h"

#define SECOND 1000000000ull

/* d = ln(.5), ln(.55), ln(.6): mean -.60056, sd .09122; t(.975, 2) = 4.302653 (tables): half .22659. */
START_TEST(interval_over_episodes)
{
        const struct dbio_interference_episode episodes[] = {
                {0, 1000, 500, 60 * SECOND, 67 * SECOND},
                {0, 1000, 550, 120 * SECOND, 129 * SECOND},
                {0, 1000, 600, 180 * SECOND, UINT64_MAX},
                {0, 0, 600, 240 * SECOND, UINT64_MAX},
        };
        double d[] = {log(0.5), log(0.55), log(0.6)}, mean = (d[0] + d[1] + d[2]) / 3, squares = 0;
        struct dbio_interference got;

        for (int i = 0; i < 3; i++)
                squares += (d[i] - mean) * (d[i] - mean);
        dbio_interference_measure(episodes, 4, &got);
        ck_assert_uint_eq(got.episodes, 3);
        ck_assert(got.bounded);
        ck_assert_double_eq_tol(got.change, exp(mean) - 1, 1e-12);
        ck_assert_double_eq_tol(got.low, exp(mean - 4.302652729911275 * sqrt(squares / 2 / 3)) - 1, 1e-9);
        ck_assert_double_eq_tol(got.high, exp(mean + 4.302652729911275 * sqrt(squares / 2 / 3)) - 1, 1e-9);
        ck_assert_uint_eq(got.recovered, 2);
        ck_assert_double_eq_tol(got.recovery_ns, 8e9, 1);
}
END_TEST

START_TEST(interval_over_runs)
{
        struct dbio_interference_episode episodes[6];
        const double affected[] = {500, 500, 550, 550, 600, 600};
        struct dbio_interference got;

        for (unsigned i = 0; i < 6; i++)
                episodes[i] = (struct dbio_interference_episode){i / 2, 1000, affected[i], 0, UINT64_MAX};
        dbio_interference_measure(episodes, 6, &got);
        ck_assert_uint_eq(got.runs, 3);
        ck_assert(got.bounded);
        /* The same three means as above: pairs of equal episodes count once. */
        ck_assert_double_eq_tol(got.change, cbrt(0.5 * 0.55 * 0.6) - 1, 1e-12);
        ck_assert(got.low < -0.55 && got.low > -0.58);
        /* Two runs are too few to know what runs do, however many episodes they have. */
        dbio_interference_measure(episodes, 4, &got);
        ck_assert(!got.bounded);
        dbio_interference_measure(episodes, 0, &got);
        ck_assert(isnan(got.change));
        ck_assert(!got.bounded);
}
END_TEST

START_TEST(sentences)
{
        struct dbio_interference_figures figures = {
                .other = "checkpoint",
                .stream = "user-reads",
                .op = "read",
                .quiet_iops = 3755,
                .affected_iops = 2060,
                .quiet_mean_ns = 20.2e6,
                .affected_mean_ns = 36.9e6,
                .affected_ns = 7.1e9,
                .period_ns = 60e9,
                .effect = {.episodes = 4, .runs = 1, .change = -0.4514, .bounded = true, .low = -0.47, .high = -0.43},
        };
        char text[512];

        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_str_eq(text, "While checkpoint works, user-reads falls from 3,755 to 2,060 IOPS (-45 %, 95 % CI "
                               "-47..-43) for 7.1 s in every 60 s; the average read rises from 20.2 to 36.9 ms.");
        figures.effect.change = -0.0351; /* a bound that is not 0 is not shown as one */
        figures.effect.low = -0.0646;
        figures.effect.high = -0.0044;
        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_ptr_nonnull(strstr(text, "(-3.5 %, 95 % CI -6.5..-0.4)"));
        figures.effect.change = -0.4514;
        figures.effect.bounded = false;
        figures.effect.episodes = 2;
        figures.affected_mean_ns = 20.3e6;
        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_str_eq(text, "While checkpoint works, user-reads falls from 3,755 to 2,060 IOPS (-45 %, 2 episodes: "
                               "too few for an interval) for 7.1 s in every 60 s.");
        figures.effect.change = -0.02;
        ck_assert(!dbio_interference_seen(&figures));
        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_str_eq(text, "user-reads: no change seen while checkpoint works.");
        figures.stream = "log";
        figures.op = "commit";
        figures.quiet_mean_ns = 0.5e6;
        figures.affected_mean_ns = 0.9e6;
        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_str_eq(text, "While checkpoint works, log keeps its rate, but the average commit rises from 0.500 to "
                               "0.900 ms for 7.1 s in every 60 s.");
        figures.effect = (struct dbio_interference){
                .episodes = 3, .runs = 1, .change = -0.45, .bounded = true, .low = -0.80, .high = 0.15};
        figures.affected_ns = 60e9;
        dbio_interference_sentence(text, sizeof text, &figures);
        ck_assert_str_eq(text, "While checkpoint works, log may lose rate (-45 %, 95 % CI -80..+15), and the average "
                               "commit rises from 0.500 to 0.900 ms from one episode to the next.");
}
END_TEST

TEST_MAIN("interference", interval_over_episodes, interval_over_runs, sentences)
