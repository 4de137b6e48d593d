/* Histogram and clock. Expected values: HdrHistogram's rules for two significant digits (256 sub-buckets, the upper
 * 128 of them in each further bucket), worked out by hand, and sorted samples. */
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/hist.h"

static struct dbio_hist a, b;

START_TEST(buckets_are_those_of_hdrhistogram)
{
        /* exact below 256; 256…511 in steps of 2, 512…1023 in steps of 4 */
        ck_assert_uint_eq(dbio_hist_index(0), 0);
        ck_assert_uint_eq(dbio_hist_index(255), 255);
        ck_assert_uint_eq(dbio_hist_index(256), dbio_hist_index(257));
        ck_assert_uint_ne(dbio_hist_index(257), dbio_hist_index(258));
        ck_assert_uint_eq(dbio_hist_highest(dbio_hist_index(256)), 257);
        ck_assert_uint_eq(dbio_hist_highest(dbio_hist_index(512)), 515);
        ck_assert_uint_lt(dbio_hist_index(DBIO_HIST_MAX_NS), DBIO_HIST_COUNTS);
        for (uint64_t v = 1; v < DBIO_HIST_MAX_NS; v = v * 5 / 4 + 1) {
                uint64_t highest = dbio_hist_highest(dbio_hist_index(v));

                ck_assert_uint_ge(highest, v);
                ck_assert_double_lt((double)(highest - v), (double)v / 64 + 1);
                ck_assert_uint_eq(dbio_hist_index(highest + 1), dbio_hist_index(v) + 1);
        }
}
END_TEST

static int by_value(const void *x, const void *y)
{
        uint64_t l = *(const uint64_t *)x, r = *(const uint64_t *)y;

        return l < r ? -1 : l > r;
}

START_TEST(percentile_is_the_rank_in_the_sorted_sample)
{
        static const double ps[] = {0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
        uint64_t v[4321], sum = 0, x = 12345;

        for (unsigned i = 0; i < 4321; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                v[i] = (x >> 33) % 50000000;
                sum += v[i];
                dbio_hist_add(i % 3 ? &a : &b, v[i]);
        }
        dbio_hist_merge(&a, &b);
        qsort(v, 4321, sizeof *v, by_value);
        ck_assert_uint_eq(a.count, 4321);
        ck_assert_uint_eq(a.sum_ns, sum);
        for (unsigned i = 0; i < 7; i++) {
                uint64_t exact = v[(unsigned)ceil(ps[i] * 4321) - 1], got = dbio_hist_percentile(&a, ps[i]);
                uint64_t highest = dbio_hist_highest(dbio_hist_index(exact));

                ck_assert_uint_eq(got, highest < v[4320] ? highest : v[4320]);
        }
}
END_TEST

START_TEST(overflow_is_counted_apart)
{
        dbio_hist_add(&a, DBIO_HIST_MAX_NS + 1);
        ck_assert_uint_eq(a.overflow, 1);
        ck_assert_uint_eq(dbio_hist_percentile(&a, 1), DBIO_HIST_MAX_NS + 1);
        dbio_hist_add(&a, 1000);
        ck_assert_uint_eq(a.count, 2);
        ck_assert_uint_eq(dbio_hist_percentile(&a, 0.5), 1003);
        dbio_hist_merge(&b, &a);
        ck_assert_uint_eq(b.overflow, 1);
        ck_assert_uint_eq(dbio_hist_percentile(&b, 0.5), 1003);
}
END_TEST

START_TEST(reset_clears_what_was_touched)
{
        static const struct dbio_hist empty;

        for (uint64_t v = 1; v < DBIO_HIST_MAX_NS; v *= 3)
                dbio_hist_add(&a, v);
        dbio_hist_reset(&a);
        ck_assert_int_eq(memcmp(a.counts, empty.counts, sizeof a.counts), 0);
        ck_assert_uint_eq(a.count, 0);
        ck_assert_uint_eq(dbio_hist_percentile(&a, 0.5), 0);
        dbio_hist_add(&a, 7);
        ck_assert_uint_eq(dbio_hist_percentile(&a, 0.5), 7);
}
END_TEST

START_TEST(thirty_days_at_200_000_a_second_fit)
{
        /* 518,400,000,000 values of 1 ms (nine in ten) and 9 ms, as 30 days make them: no counter may wrap */
        for (unsigned i = 0; i < 9; i++)
                dbio_hist_add(&a, 1000000);
        dbio_hist_add(&a, 9000000);
        for (unsigned bit = 0; bit < 36; bit++) {
                static struct dbio_hist twice;

                if (51840000000u >> bit & 1)
                        dbio_hist_merge(&b, &a);
                dbio_hist_reset(&twice);
                dbio_hist_merge(&twice, &a);
                dbio_hist_merge(&twice, &a);
                dbio_hist_reset(&a);
                dbio_hist_merge(&a, &twice);
        }
        ck_assert_uint_eq(b.count, 518400000000u);
        ck_assert_uint_eq(b.sum_ns, 518400000000u / 10 * (9 * 1000000ull + 9000000));
        ck_assert_uint_eq(dbio_hist_percentile(&b, 0.5), dbio_hist_highest(dbio_hist_index(1000000)));
        ck_assert_uint_eq(dbio_hist_percentile(&b, 0.9), dbio_hist_highest(dbio_hist_index(1000000)));
        ck_assert_uint_eq(dbio_hist_percentile(&b, 0.91), 9000000);
}
END_TEST

START_TEST(virtual_clock_moves_only_when_told)
{
        struct dbio_clock clock;

        dbio_clock_init_virtual(&clock);
        ck_assert_uint_eq(dbio_clock_now(&clock), 0);
        dbio_clock_sleep_until(&clock, 5000000000u);
        dbio_clock_sleep_until(&clock, 4000000000u);
        ck_assert_uint_eq(dbio_clock_now(&clock), 5000000000u);
}
END_TEST

TEST_MAIN("hist", buckets_are_those_of_hdrhistogram, percentile_is_the_rank_in_the_sorted_sample,
          overflow_is_counted_apart, reset_clears_what_was_touched,
          thirty_days_at_200_000_a_second_fit, virtual_clock_moves_only_when_told)
