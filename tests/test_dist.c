/* Sequences, distributions, places and due times against their formulas. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "patterns/dist.h"
#include "patterns/pace.h"
#include "patterns/region.h"
#include "patterns/rng.h"

START_TEST(sequences_are_their_own)
{
        struct dbio_rng a, b;

        dbio_rng_init(&a, dbio_rng_seed(1, "p", "s", 0));
        dbio_rng_init(&b, dbio_rng_seed(1, "p", "s", 0));
        for (int i = 0; i < 1000; i++)
                expect(dbio_rng_next(&a) == dbio_rng_next(&b));
        uint64_t one = dbio_rng_seed(1, "p", "s", 0);
        ck_assert_uint_ne(one, dbio_rng_seed(2, "p", "s", 0));
        ck_assert_uint_ne(one, dbio_rng_seed(1, "q", "s", 0));
        ck_assert_uint_ne(one, dbio_rng_seed(1, "p", "t", 0));
        ck_assert_uint_ne(one, dbio_rng_seed(1, "p", "s", 1));
        ck_assert_uint_ne(dbio_rng_seed(1, "ab", "c", 0), dbio_rng_seed(1, "a", "bc", 0));
}
END_TEST

/* xoshiro256** from the state 1, 2, 3, 4: 11520, 0, 1509978240, 1215971899390074240 (worked by hand from the published
 * steps: s1*5 = 10, rotated by 7 = 1280, times 9 = 11520; …). */
START_TEST(generator_is_xoshiro256starstar)
{
        struct dbio_rng rng = {{1, 2, 3, 4}};

        expect(dbio_rng_next(&rng) == 11520);
        expect(dbio_rng_next(&rng) == 0);
        expect(dbio_rng_next(&rng) == 1509978240);
        expect(dbio_rng_next(&rng) == 1215971899390074240u);
}
END_TEST

/* 63 degrees of freedom: chi-square is below 103.4 with a chance of 99.9 % (any table). */
START_TEST(below_is_uniform)
{
        struct dbio_rng rng;
        double bins[64] = {0}, chi = 0;

        dbio_rng_init(&rng, 7);
        for (int i = 0; i < 640000; i++)
                bins[dbio_rng_below(&rng, 64)]++;
        for (int i = 0; i < 64; i++)
                chi += (bins[i] - 10000) * (bins[i] - 10000) / 10000;
        ck_assert_double_lt(chi, 103.4);
}
END_TEST

/* P(k) = k^-theta / sum: the ranks' own formula. */
START_TEST(zipf_has_its_frequencies)
{
        static const double thetas[] = {0.5, 0.99, 1.0, 1.2};
        enum { N = 1000, DRAWS = 400000 };

        for (size_t t = 0; t < 4; t++) {
                struct dbio_zipf zipf;
                struct dbio_rng rng;
                static double counts[N + 1];
                double sum = 0;

                memset(counts, 0, sizeof counts);
                dbio_zipf_init(&zipf, N, thetas[t]);
                dbio_rng_init(&rng, 11 + t);
                for (int i = 0; i < DRAWS; i++) {
                        uint64_t k = dbio_zipf_next(&zipf, &rng);

                        expect(k >= 1 && k <= N);
                        counts[k]++;
                }
                for (int k = 1; k <= N; k++)
                        sum += pow(k, -thetas[t]);
                for (int k = 1; k <= 20; k++) {
                        double expected = DRAWS * pow(k, -thetas[t]) / sum;

                        ck_assert_double_eq_tol(counts[k], expected, 4.5 * sqrt(expected));
                }
        }
}
END_TEST

START_TEST(scatter_is_a_permutation)
{
        static const uint64_t sizes[] = {1, 2, 3, 7, 64, 1000, 4097, 100003};

        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct dbio_scatter scatter;
                char *seen = calloc(1, sizes[s]);
                uint64_t neighbours = 0, before = 0;

                dbio_scatter_init(&scatter, sizes[s], 5);
                for (uint64_t i = 0; i < sizes[s]; i++) {
                        uint64_t at = dbio_scatter_at(&scatter, i);

                        ck_assert_uint_lt(at, sizes[s]);
                        expect(!seen[at]);
                        seen[at] = 1;
                        neighbours += i && (at == before + 1 || before == at + 1);
                        before = at;
                }
                if (sizes[s] >= 1000) /* a random order has 2 of them on average */
                        ck_assert_uint_lt(neighbours, 20);
                free(seen);
        }
}
END_TEST

START_TEST(hot_places_get_their_share)
{
        struct dbio_skew skew = {.kind = DBIO_SKEW_HOT, .space = 0.1, .ops = 0.9};
        struct dbio_pick pick;
        struct dbio_rng rng;
        static unsigned counts[1000];
        unsigned hot = 0, hot_ops = 0;

        dbio_pick_init(&pick, &skew, 1000, 3);
        dbio_rng_init(&rng, 1);
        for (int i = 0; i < 1000000; i++)
                counts[dbio_pick_next(&pick, &rng)]++;
        for (int i = 0; i < 1000; i++)
                if (counts[i] > 4000) { /* hot: 9000 each, others 111 */
                        hot++;
                        hot_ops += counts[i];
                }
        expect(hot == 100);
        ck_assert_double_eq_tol(hot_ops / 1e6, 0.9, 0.002);
}
END_TEST

/* Mean of the exponential = 1/rate; of the lognormal = median * exp(sigma^2/2), half of it below the median. */
START_TEST(gaps_and_sizes_have_their_means)
{
        struct dbio_rng rng;
        double sum = 0, log_sum = 0;
        int below = 0, n = 1000000;

        dbio_rng_init(&rng, 17);
        for (int i = 0; i < n; i++) {
                double x = dbio_dist_lognormal(&rng, 400, 0.8);

                sum += dbio_dist_exponential(&rng, 250);
                log_sum += x;
                below += x < 400;
        }
        ck_assert_double_eq_tol(sum / n, 250, 1.25);
        ck_assert_double_eq_tol(log_sum / n, 400 * exp(0.32), 2.5);
        ck_assert_double_eq_tol((double)below / n, 0.5, 0.002);
}
END_TEST

START_TEST(slots_stay_inside_files)
{
        struct dbio_geometry geometry = {.file_size = 10 << 20, .nfiles = 3, .sector = 512};
        struct dbio_region region = {{.share = NAN, .bytes = (3 << 20) + 100}, {.share = 0.9}};
        struct dbio_space space;
        struct dbio_slots slots;
        struct dbio_err err = {0};
        uint64_t size = 3 << 20, before = 0;

        expect(dbio_space_init(&space, &region, &geometry, 8192, size, &err) == 0);
        expect(space.from == (3 << 20) + 8192);
        expect(space.to == 27 << 20);
        dbio_slots_init(&slots, &space, size);
        expect(slots.n == 2 + 3 + 2); /* 7 MiB less a page, 10, 7 */
        for (uint64_t i = 0; i < slots.n; i++) {
                uint64_t offset = dbio_slots_offset(&slots, i);

                ck_assert_uint_ge(offset, i ? before + size : space.from);
                ck_assert_uint_le(offset + size, space.to);
                expect(offset / geometry.file_size == (offset + size - 1) / geometry.file_size);
                before = offset;
        }
        expect(dbio_space_fit(&space, 8 << 20, size) == 10 << 20);
        expect(dbio_space_fit(&space, 26 << 20, size) == space.from);

        region.to = (struct dbio_amount){.bytes = 31 << 20, .share = NAN};
        expect(dbio_space_init(&space, &region, &geometry, 8192, size, &err) == -1);
        expect(err.code == DBIO_USAGE);
        region.to = (struct dbio_amount){.bytes = 4 << 20, .share = NAN};
        expect(dbio_space_init(&space, &region, &geometry, 8192, size, &err) == -1); /* no room */
        expect(dbio_space_init(&space, &region, &geometry, 512, 700, &err) == -1);   /* no sector's multiple */
}
END_TEST

START_TEST(uniform_arrivals_take_turns)
{
        struct dbio_rng rng;
        struct dbio_pace pace[3];

        dbio_rng_init(&rng, 1);
        for (unsigned t = 0; t < 3; t++)
                dbio_pace_init(&pace[t], 1000, true, t, 3);
        for (uint64_t k = 0; k < 3000; k++)
                expect(dbio_pace_next(&pace[k % 3], &rng) == k * 1000000);
        dbio_pace_init(&pace[0], NAN, false, 0, 3);
        expect(dbio_pace_next(&pace[0], &rng) == DBIO_NO_DUE);
}
END_TEST

/* 100,000 arrivals at 4 of 12,000/s: the sum's standard deviation is 0.32 %. Exponential gaps: 1 - 1/e of them are
 * below the mean. */
START_TEST(poisson_arrivals_keep_the_rate)
{
        struct dbio_rng rng;
        struct dbio_pace pace;
        uint64_t before = 0, at = 0;
        int below = 0, n = 100000;

        dbio_rng_init(&rng, 20081216);
        dbio_pace_init(&pace, 12000, false, 1, 4);
        for (int i = 0; i < n; i++, before = at) {
                at = dbio_pace_next(&pace, &rng);
                ck_assert_uint_ge(at, before);
                below += (double)(at - before) < 1e9 / 3000;
        }
        ck_assert_double_eq_tol(n / ((double)at / 1e9), 3000, 30);
        ck_assert_double_eq_tol((double)below / n, 1 - exp(-1), 0.007);
}
END_TEST

TEST_MAIN("dist", sequences_are_their_own, generator_is_xoshiro256starstar, below_is_uniform, zipf_has_its_frequencies,
          scatter_is_a_permutation, hot_places_get_their_share, gaps_and_sizes_have_their_means, slots_stay_inside_files,
          uniform_arrivals_take_turns, poisson_arrivals_keep_the_rate)
