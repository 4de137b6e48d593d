/* The dirty-page map and gather-writes against their closed forms. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "patterns/gather.h"

struct figures {
        uint64_t pages, writes, largest;
};

static struct dbio_space whole(uint64_t pages, uint64_t files)
{
        return (struct dbio_space){0, pages * 8192, pages * 8192 / files};
}

/* One episode: `pages` dirty, written by gather; every page once, nothing over the cap or a file's end. */
static struct figures episode(struct dbio_space space, const struct dbio_dirty_keys *keys, uint64_t pages, bool hash, unsigned cap)
{
        struct dbio_skew skew = {.kind = DBIO_SKEW_ZIPF, .theta = 0.99};
        struct dbio_dirty_plan plan = {keys, &skew, pages, 0, NAN, 1, 2, 3};
        struct dbio_dirty_map map = {0};
        struct dbio_dirty_maker maker;
        struct dbio_sweep sweep;
        struct figures figures = {0};
        struct dbio_err err = {0};
        uint64_t page, file = space.file_size / 8192;
        int more;

        if (!isnan(keys->density))
                plan.window_pages = (uint64_t)ceil((double)pages / keys->density);
        expect(dbio_dirty_map_init(&map, &space, 8192, &err) == 0);
        expect(dbio_dirty_maker_init(&maker, &map, &plan, &err) == 0);
        dbio_dirty_maker_begin(&maker, pages);
        while (!dbio_dirty_maker_step(&maker, 1000))
                ;
        expect(map.nold == pages);
        char *due = malloc(map.npages);
        for (uint64_t i = 0; i < map.npages; i++)
                due[i] = dbio_dirty_map_is_dirty(&map, i);
        dbio_sweep_begin(&sweep, &map, hash, 4);
        while ((more = dbio_sweep_next(&sweep, 1000, &page))) {
                if (more < 0)
                        continue;
                struct dbio_gather run = dbio_gather_take(&map, page, cap);

                expect(run.page <= page && page < run.page + run.pages && run.pages <= cap);
                expect(run.page / file == (run.page + run.pages - 1) / file);
                for (unsigned i = 0; i < run.pages; i++) {
                        expect(due[run.page + i]); /* dirty, and not written before */
                        due[run.page + i] = 0;
                }
                figures.writes++;
                figures.pages += run.pages;
                if (run.pages > figures.largest)
                        figures.largest = run.pages;
        }
        expect(figures.pages == pages);
        expect(map.nold + map.nfresh == 0);
        free(due);
        dbio_dirty_map_release(&map);
        return figures;
}

static double mean(int kind, double density, uint64_t pages, bool hash, unsigned cap)
{
        struct dbio_dirty_keys keys = {.map = kind, .density = density, .pages_per_write = NAN, .stride = 2};
        struct figures figures = episode(whole(1000000, 1), &keys, pages, hash, cap);

        return (double)figures.pages / (double)figures.writes;
}

START_TEST(dense_runs_fill_the_cap)
{
        ck_assert_double_eq(mean(DBIO_DIRTY_DENSE, NAN, 320000, false, 32), 32.0);
        ck_assert_double_eq(mean(DBIO_DIRTY_DENSE, NAN, 320000, false, 16), 16.0);
        ck_assert_double_eq(mean(DBIO_DIRTY_DENSE, NAN, 256000, false, 128), 128.0);
        /* random sweep: 98.4 at cap 128, 24.9 at cap 32 (simulated there) */
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_DENSE, NAN, 500000, true, 128), 98.4, 1.0);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_DENSE, NAN, 500000, true, 32), 24.9, 0.3);
}
END_TEST

/* mean = 8(1+p+p^2+p^3) at cap 32; random sweep and cap 128 from the table there. */
START_TEST(extents_follow_the_closed_form)
{
        static const double ps[] = {0.1, 0.3, 0.5, 0.545, 0.7, 0.9};

        for (size_t i = 0; i < 6; i++) {
                double p = ps[i], expected = 8 * (1 + p + p * p + p * p * p);

                ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, p, (uint64_t)(p * 400000) * 2, false, 32), expected,
                                        expected * 0.01);
        }
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, 0.5, 250000, true, 32), 14.8, 0.15);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, 0.9, 400000, true, 32), 23.0, 0.3);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, 0.7, 400000, false, 128), 26.8, 0.4);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, 0.9, 400000, false, 128), 65.6, 2.0);
}
END_TEST

/* mean = 1/(1-q), clipped at the cap; q = 0.29 gives 1.40, the published figure. */
START_TEST(single_pages_follow_the_closed_form)
{
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_PAGES, 0.29, 200000, false, 32), 1.40, 0.014);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_PAGES, 0.5, 200000, false, 32), 2.0, 0.02);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_PAGES, 0.8, 200000, false, 32), 5.0, 0.06);
        ck_assert_double_le(mean(DBIO_DIRTY_PAGES, 0.999, 200000, false, 32), 32.0);
}
END_TEST

START_TEST(stride_never_coalesces)
{
        ck_assert_double_eq(mean(DBIO_DIRTY_STRIDE, NAN, 147579, false, 32), 1.0); /* every other row: 1.0000 */
}
END_TEST

START_TEST(hot_extents_are_whole_and_exact)
{
        ck_assert_double_ge(mean(DBIO_DIRTY_HOT, NAN, 80000, false, 32), 8.0);
        ck_assert_double_ge(mean(DBIO_DIRTY_HOT, NAN, 960000, false, 32), 8.0);
}
END_TEST

/* 8(1+p+p^2+p^3) = 16.07, what the error log of a 2005 server gave, has p = 0.5466. */
START_TEST(density_is_solved_for_pages_per_write)
{
        ck_assert_double_eq_tol(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 16.07, 32, 8), 0.5466, 0.00005);
        ck_assert_double_eq_tol(dbio_dirty_density(DBIO_DIRTY_PAGES, 1.40, 32, 8), 1 - 1 / 1.4, 1e-12);
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 33, 32, 8)));
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 7, 32, 8)));
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_PAGES, 33, 32, 8)));
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_PAGES, 0.5, 32, 8)));
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_DENSE, 16, 32, 8)));
}
END_TEST

/* A cap that is no whole number of extents: a run of k extents takes ceil(8k / cap) writes, so cap 12 gives
 * 8(1+p+p^2)/(1+p); cap 20 is held against the map itself. */
START_TEST(density_is_solved_for_any_cap)
{
        ck_assert_double_eq_tol(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 8 * 1.75 / 1.5, 12, 8), 0.5, 1e-9);
        ck_assert_double_eq_tol(mean(DBIO_DIRTY_EXTENTS, dbio_dirty_density(DBIO_DIRTY_EXTENTS, 12, 20, 8), 80000, false, 20),
                                12, 0.15);
        /* Below an extent every write is a part of one, whatever the density. */
        ck_assert_double_eq(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 4, 4, 8), 1);
        expect(isnan(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 3, 4, 8)));
        /* The least: extents that lie alone, anywhere. */
        ck_assert_double_eq(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 8, 32, 8), 0);
        ck_assert_double_eq(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 32, 32, 8), 1);
        /* Pages of 16K: 4(1+p+…+p^7) = 7.96875 at p = 1/2. */
        ck_assert_double_eq_tol(dbio_dirty_density(DBIO_DIRTY_EXTENTS, 7.96875, 32, 4), 0.5, 1e-9);
}
END_TEST

START_TEST(runs_end_at_files_and_the_last_extent_holds_the_rest)
{
        struct dbio_dirty_keys dense = {.map = DBIO_DIRTY_DENSE, .density = NAN, .pages_per_write = NAN, .stride = 2};
        struct dbio_dirty_keys extents = {.map = DBIO_DIRTY_EXTENTS, .density = NAN, .pages_per_write = NAN, .stride = 2};
        struct figures figures = episode(whole(2560, 10), &dense, 2560, false, 128); /* files of 256 pages */

        expect(figures.writes == 20);
        episode(whole(2560, 10), &dense, 2560, true, 128);
        figures = episode(whole(800, 1), &extents, 5, false, 32);
        expect(figures.writes == 1);
        figures = episode(whole(800, 1), &extents, 797, false, 32); /* most are dirty: drawn the other way round */
        ck_assert_uint_ge(figures.writes, 25);
}
END_TEST

/* Order in which every second one of n pages comes by hash, cap 1; returns how many. */
static unsigned hash_order(uint64_t n, unsigned budget, uint64_t *order)
{
        struct dbio_space space = whole(n, 1);
        struct dbio_dirty_map map = {0};
        struct dbio_sweep sweep;
        struct dbio_err err = {0};
        unsigned k = 0;
        int more;

        expect(dbio_dirty_map_init(&map, &space, 8192, &err) == 0);
        for (uint64_t page = 0; page < n; page += 2)
                dbio_dirty_map_set_old(&map, page);
        dbio_sweep_begin(&sweep, &map, true, 7);
        while ((more = dbio_sweep_next(&sweep, budget, &order[k])))
                if (more > 0)
                        dbio_gather_take(&map, order[k++], 1);
        dbio_dirty_map_release(&map);
        return k;
}

/* Two random places of n lie n/3 apart on average, within 64 pages of each other with a chance of 2 x 64/n; and the
 * budget, which says how long a call may look, does not change the order. */
START_TEST(a_hash_sweep_is_everywhere_at_once)
{
        enum { N = 200000 };
        uint64_t *order = calloc(N, sizeof *order), *again = calloc(N, sizeof *again), near = 0;
        unsigned n = hash_order(N, 1u << 20, order);
        double sum = 0;

        ck_assert_uint_eq(n, N / 2);
        for (unsigned i = 1; i < n; i++) {
                uint64_t apart = order[i] > order[i - 1] ? order[i] - order[i - 1] : order[i - 1] - order[i];

                sum += (double)apart;
                near += apart <= 64;
        }
        ck_assert_double_eq_tol(sum / (n - 1), N / 3.0, N / 3.0 * 0.01);
        ck_assert_uint_le(near, 2 * 2 * 64 * (uint64_t)n / N);
        ck_assert_uint_eq(hash_order(N, 0, again), n);
        expect(!memcmp(order, again, n * sizeof *order));
        free(order);
        free(again);
}
END_TEST

START_TEST(windows_move_and_hold)
{
        struct dbio_dirty_keys keys = {.map = DBIO_DIRTY_EXTENTS, .density = 0.5, .pages_per_write = NAN, .stride = 2};
        struct dbio_skew skew = {0};
        struct dbio_dirty_plan plan = {&keys, &skew, 800, 1600, NAN, 1, 2, 3};
        struct dbio_space space = whole(100000, 1);
        struct dbio_dirty_map map = {0};
        struct dbio_dirty_maker maker;
        struct dbio_err err = {0};
        uint64_t before = UINT64_MAX, same = 0;

        expect(dbio_dirty_map_init(&map, &space, 8192, &err) == 0);
        expect(dbio_dirty_maker_init(&maker, &map, &plan, &err) == 0);
        for (int i = 0; i < 50; i++) {
                uint64_t page;
                struct dbio_sweep sweep;

                dbio_dirty_maker_move(&maker);
                expect(maker.window % 8 == 0);
                same += maker.window == before;
                before = maker.window;
                dbio_dirty_maker_begin(&maker, 800);
                while (!dbio_dirty_maker_step(&maker, 10))
                        ;
                dbio_sweep_begin(&sweep, &map, false, 0);
                while (dbio_sweep_next(&sweep, 100000, &page) > 0) {
                        expect(page >= maker.window && page < maker.window + 1600);
                        dbio_gather_take(&map, page, 32);
                }
        }
        ck_assert_uint_le(same, 1);
        plan.pages = 1601;
        expect(dbio_dirty_maker_init(&maker, &map, &plan, &err) == -1);
        plan.pages = plan.window_pages = 100001;
        expect(dbio_dirty_maker_init(&maker, &map, &plan, &err) == -1);
        dbio_dirty_map_release(&map);
}
END_TEST

/* A page that is dirty already is not counted again: N draws of M pages leave M(1 - e^(-N/M)) of them dirty. */
START_TEST(pages_enter_at_a_rate)
{
        struct dbio_dirty_keys keys = {.map = DBIO_DIRTY_PAGES, .density = NAN, .pages_per_write = NAN, .stride = 2};
        struct dbio_skew skew = {0};
        struct dbio_dirty_plan plan = {&keys, &skew, 0, 0, 50000, 1, 2, 3};
        struct dbio_space space = whole(100000, 1);
        struct dbio_dirty_map map = {0};
        struct dbio_dirty_maker maker;
        struct dbio_err err = {0};

        expect(dbio_dirty_map_init(&map, &space, 8192, &err) == 0);
        expect(dbio_dirty_maker_init(&maker, &map, &plan, &err) == 0);
        while (!dbio_dirty_maker_advance(&maker, 2000000000, 100))
                ;
        expect(map.nold == 0);
        ck_assert_double_eq_tol((double)map.nfresh, 100000 * (1 - exp(-1)), 700);
        uint64_t n = map.nfresh, page;
        dbio_dirty_map_age(&map);
        expect(map.nold == n);
        expect(map.nfresh == 0);
        /* fresh neighbours are taken along, and counted as such */
        expect(dbio_dirty_map_find(&map, 50000, &page));
        while (dbio_dirty_map_is_dirty(&map, page + 1))
                page++;
        expect(dbio_dirty_map_set_fresh(&map, page + 1));
        expect(dbio_gather_take(&map, page, 128).avoided >= 1);
        expect(map.nfresh == 0);
        dbio_dirty_map_release(&map);
}
END_TEST

START_TEST(shared_maps_must_agree)
{
        struct dbio_geometry geometry = {.file_size = 64 << 20, .nfiles = 2, .sector = 512};
        struct dbio_region region = {{.share = 0}, {.share = 1}}, half = {{.share = 0}, {.share = 0.5}};
        struct dbio_dirty_map map = {0};
        struct dbio_err err = {0};

        expect(dbio_dirty_map_join(&map, &region, &geometry, 8192, &err) == 0);
        expect(dbio_dirty_map_join(&map, &region, &geometry, 8192, &err) == 0);
        expect(dbio_dirty_map_join(&map, &half, &geometry, 8192, &err) == -1);
        expect(dbio_dirty_map_join(&map, &region, &geometry, 16384, &err) == -1);
        expect(err.code == DBIO_USAGE);
        dbio_dirty_map_release(&map);
}
END_TEST

TEST_MAIN("dirtymap", dense_runs_fill_the_cap, extents_follow_the_closed_form, single_pages_follow_the_closed_form,
          stride_never_coalesces, hot_extents_are_whole_and_exact, density_is_solved_for_pages_per_write,
          density_is_solved_for_any_cap,
          runs_end_at_files_and_the_last_extent_holds_the_rest, a_hash_sweep_is_everywhere_at_once, windows_move_and_hold,
          pages_enter_at_a_rate, shared_maps_must_agree)
