#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "replay/study.h"

/* Drives a search against a known edge: what is below holds. Returns the number of trials. */
static unsigned drive(struct dbio_search *search, const char *own, double edge)
{
        struct dbio_err err = {0};
        unsigned trials = 0;

        ck_assert_int_eq(dbio_search_begin(search, own, &err), 0);
        for (double value; !isnan(value = dbio_search_next(search)) && trials < 100; trials++)
                dbio_search_take(search, value, value <= edge);
        return trials;
}

START_TEST(finds_the_edge_within_5_percent_from_either_side)
{
        static const double edges[] = {3, 777, 1000, 1001, 43210, 9e6};
        struct dbio_search search;

        for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++) {
                unsigned trials = drive(&search, "1_000/s", edges[i]);
                ck_assert_double_le(search.holds, edges[i]);
                ck_assert_double_gt(search.fails, edges[i]);
                ck_assert_double_le(search.fails / search.holds, 1.05);
                /* doublings to the edge, and log2(ln 2 / ln 1.05) = 3.8 halvings of the bracket */
                ck_assert_uint_le(trials, (unsigned)(fabs(log2(edges[i] / 1000)) + 2 + 4));
        }
}
END_TEST

START_TEST(counts_stay_whole_and_end_at_neighbours)
{
        struct dbio_search search;

        drive(&search, "8", 11);
        ck_assert_double_eq(search.holds, 11);
        ck_assert_double_eq(search.fails, 12);
        drive(&search, "8", 0.5);
        ck_assert(isnan(search.holds));
        ck_assert_double_eq(search.fails, 1);
}
END_TEST

START_TEST(ends_where_nothing_fails)
{
        struct dbio_search search;

        drive(&search, "10/s", INFINITY);
        ck_assert(isnan(search.fails));
        ck_assert_double_ge(search.holds, 10.0 * 1048576 / 2);
}
END_TEST

START_TEST(keeps_the_unit)
{
        struct dbio_search search;
        struct dbio_err err = {0};
        char text[48];

        ck_assert_int_eq(dbio_search_begin(&search, "100MiB/s", &err), 0);
        dbio_search_format(&search, 250, text, sizeof text);
        ck_assert_str_eq(text, "250MiB/s");
        dbio_search_format(&search, 50, text, sizeof text); /* no 50.000, which may be read as 50 thousand */
        ck_assert_str_eq(text, "50MiB/s");
        dbio_search_format(&search, 6.25, text, sizeof text);
        ck_assert_str_eq(text, "6.25MiB/s");
        ck_assert_int_eq(dbio_search_begin(&search, "uniform", &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
}
END_TEST

TEST_MAIN("search", finds_the_edge_within_5_percent_from_either_side, counts_stay_whole_and_end_at_neighbours,
          ends_where_nothing_fails, keeps_the_unit)
