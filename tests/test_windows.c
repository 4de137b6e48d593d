/* During, after, quiet. Series made by hand; the expected cuts, times and rates are worked out in
 * the comments. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "results/windows.h"
#include "tests/results_fixture.h"

#define N 20

static unsigned char outside[N];
static struct dbio_window_recovery recoveries[4];
static struct dbio_window_result result;

static void cut(const uint64_t *inside, const uint64_t *out, const struct dbio_window_span *spans, unsigned nspans,
                uint64_t duration_ns)
{
        struct dbio_window_input input = {
                .interval_ns = S, .duration_ns = duration_ns, .nintervals = (unsigned)((duration_ns + S - 1) / S),
                .inside = inside, .outside = out, .nepisodes = nspans, .episodes = spans,
        };

        result = (struct dbio_window_result){.outside = outside, .recoveries = recoveries};
        ck_assert_int_eq(dbio_windows_cut(&input, &result), 0);
}

/* The letters of the outside parts: q quiet, a after. */
static const char *letters(unsigned n)
{
        static char text[N + 1];

        for (unsigned i = 0; i < n; i++)
                text[i] = outside[i] == DBIO_AFTER ? 'a' : outside[i] == DBIO_QUIET ? 'q' : '?';
        text[n] = 0;
        return text;
}

/* Episode 5.2 s … 7.4 s. Untouched intervals: 0-4 and 8-19, median 100. Intervals 8 and 9 are slow, 10 is at 96 %, 11
 * at 94 %: three in a row at 95 % begin with 12. */
START_TEST(after_lasts_until_three_intervals_in_a_row)
{
        const uint64_t in[N] = {[5] = 40, [6] = 50, [7] = 20};
        const uint64_t out[N] = {100, 100, 100, 100, 100, 20, 0, 30, 50, 60, 96, 94, 95, 100, 100, 100, 100, 100, 100, 100};
        const struct dbio_window_span spans[] = {{5200 * MS, 7400 * MS}};

        cut(in, out, spans, 1, 20 * S);
        ck_assert_str_eq(letters(N), "qqqqqqqaaaaaqqqqqqqq");
        ck_assert(result.median_rate == 100);
        ck_assert_uint_eq(recoveries[0].recovered_ns, 12 * S);
        ck_assert_uint_eq(result.duration_ns[DBIO_DURING], 2200 * MS);
        ck_assert_uint_eq(result.duration_ns[DBIO_AFTER], 4600 * MS); /* 7.4 to 12 */
        ck_assert_uint_eq(result.duration_ns[DBIO_QUIET], 13200 * MS);
        ck_assert_uint_eq(result.duration_ns[DBIO_AFFECTED], 6800 * MS);
        /* 40 + 50 + 20 inside, 30 + 50 + 60 + 96 + 94 after, in 6.8 s */
        ck_assert_double_eq_tol(recoveries[0].iops_affected, 440 / 6.8, 1e-9);
        ck_assert_double_eq_tol(recoveries[0].iops_quiet, 795 / 8.0, 1e-9); /* 12 to 20 */
}
END_TEST

/* The second episode begins before three intervals have recovered: after goes on up to it; the last is cut. */
START_TEST(next_episode_ends_after)
{
        const uint64_t in[10] = {[2] = 30, [4] = 20, [5] = 30, [9] = 10};
        const uint64_t out[10] = {100, 100, 50, 100, 40, 60, 100, 100, 100, 40};
        const struct dbio_window_span spans[] = {{2 * S, 2500 * MS}, {4500 * MS, 5500 * MS}, {9500 * MS, UINT64_MAX}};

        cut(in, out, spans, 3, 10 * S);
        /* interval 4's part outside lies between two episodes; 5's is after the second, which recovers with 6 */
        ck_assert_str_eq(letters(10), "qqaaaaqqqq");
        ck_assert_uint_eq(recoveries[0].recovered_ns, UINT64_MAX);
        ck_assert_uint_eq(recoveries[1].recovered_ns, 6 * S);
        ck_assert_uint_eq(recoveries[2].recovered_ns, UINT64_MAX);
        ck_assert_uint_eq(result.duration_ns[DBIO_DURING], 2 * S);
        ck_assert_uint_eq(result.duration_ns[DBIO_AFTER], 2500 * MS);
        ck_assert_uint_eq(result.duration_ns[DBIO_QUIET], 5500 * MS);
        /* first: 30 in, 50 + 100 + 40 out, from 2 to 4.5; no quiet of its own: that before it */
        ck_assert_double_eq_tol(recoveries[0].iops_affected, 220 / 2.5, 1e-9);
        ck_assert_double_eq_tol(recoveries[0].iops_quiet, 100, 1e-9);
        /* second: quiet from 6 to 9.5 with 100 x 3 + 40 */
        ck_assert_double_eq_tol(recoveries[1].iops_quiet, 340 / 3.5, 1e-9);
        /* third: 10 in half a second */
        ck_assert_double_eq_tol(recoveries[2].iops_affected, 20, 1e-9);
}
END_TEST

START_TEST(an_episode_inside_one_interval)
{
        const uint64_t in[8] = {[3] = 10};
        const uint64_t out[8] = {100, 100, 100, 80, 100, 100, 100, 100};
        const struct dbio_window_span spans[] = {{3300 * MS, 3500 * MS}};

        cut(in, out, spans, 1, 8 * S);
        ck_assert_str_eq(letters(8), "qqqaqqqq");
        ck_assert_uint_eq(recoveries[0].recovered_ns, 4 * S);
        /* ios and time go together: the whole rest of the interval is after */
        ck_assert_uint_eq(result.duration_ns[DBIO_AFTER], 800 * MS);
        ck_assert_double_eq_tol(recoveries[0].iops_affected, 90, 1e-9);
}
END_TEST

START_TEST(nothing_untouched_means_no_recovery)
{
        const uint64_t in[3] = {50, 50, 50}, out[3] = {0, 0, 0};
        const struct dbio_window_span spans[] = {{0, UINT64_MAX}};

        cut(in, out, spans, 1, 2500 * MS);
        ck_assert(isnan(result.median_rate));
        ck_assert_uint_eq(recoveries[0].recovered_ns, UINT64_MAX);
        ck_assert(isnan(recoveries[0].iops_quiet));
        ck_assert_uint_eq(result.duration_ns[DBIO_DURING], 2500 * MS);
        ck_assert_uint_eq(result.duration_ns[DBIO_QUIET], 0);
        ck_assert_double_eq_tol(recoveries[0].iops_affected, 60, 1e-9);
}
END_TEST

/* The same through the recorder: 1 s grid, episode 2.0-2.5 s, user slowed to 40 ms in it and to 30 ms in the interval
 * after. ios of the three windows add up to the totals; the percentile of a window is the one of its ops alone. */
START_TEST(recorder_keeps_windows_apart)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "sqlserver.random_read", 0);
        unsigned ckpt = fixture_stream(&f, "checkpoint", "sqlserver.checkpoint", DBIO_STREAM_EPISODES);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", S, false);
        for (unsigned i = 0; i < 10; i++) {
                bool hit = i == 2, slow = i == 2 || i == 3;

                if (hit)
                        fixture_ops(&f, user, DBIO_READ, DBIO_ROLE_DATA_READ, 1, i * S, 20, 8192, 40 * MS, 0);
                fixture_ops(&f, user, DBIO_READ, DBIO_ROLE_DATA_READ, 0, i * S, slow ? 50 : 100, 8192,
                            slow ? 30 * MS : 10 * MS, 0);
        }
        fixture_ops(&f, ckpt, DBIO_WRITE, DBIO_ROLE_CHECKPOINT, 1, 2 * S, 40, 65536, 1 * MS, 0);
        fixture_episode(&f, ckpt, &(struct dbio_episode){.episode = 1, .begin_ns = 2 * S, .end_ns = 2500 * MS, .pages = 320,
                                                          .writes = 40, .bytes = 40 * 65536});
        fixture_finish(&f, 10 * S);
        assert_sql(&f, "during 20 500|after 100 1500|quiet 800 8000|affected 120 2000",
                   "SELECT group_concat(window || ' ' || ios || ' ' || (duration_ns / 1000000), '|') FROM v_interference "
                   "WHERE stream = 'user'");
        assert_sql(&f, "1", "SELECT (SELECT sum(ios) FROM v_interference WHERE stream = 'user' AND window <> 'affected') "
                            "= (SELECT ios FROM v_phase WHERE stream = 'user')");
        assert_sql(&f, "40000000.0", "SELECT service_mean_ns FROM v_interference WHERE window = 'during'");
        assert_sql(&f, "30000000", "SELECT service_p50_ns FROM v_interference WHERE window = 'after'");
        assert_sql(&f, "10000000", "SELECT response_p99_ns FROM v_interference WHERE window = 'quiet'");
        assert_sql(&f, "100.0", "SELECT iops FROM v_interference WHERE window = 'quiet'");
        assert_sql(&f, "60.0", "SELECT iops FROM v_interference WHERE window = 'affected'");
        assert_sql(&f, "4000000000|100.0|60.0", "SELECT recovered_ns || '|' || iops_quiet || '|' || iops_affected "
                                                "FROM v_recovery");
        assert_sql(&f, "0", "SELECT count(*) FROM v_interference WHERE stream = other_stream");
        fixture_close(&f);
}
END_TEST

TEST_MAIN("windows", after_lasts_until_three_intervals_in_a_row, next_episode_ends_after, an_episode_inside_one_interval,
          nothing_untouched_means_no_recovery, recorder_keeps_windows_apart)
