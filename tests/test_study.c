/* The curve that a study fits to scaling, against curves made by the formulas themselves. */
#include "tests/unit.h"

#include <math.h>

#include "results/study_state.h"

enum { N = 64 };
static double n[N], x[N];

static void make(double (*law)(double))
{
        for (unsigned i = 0; i < N; i++) {
                n[i] = i + 1;
                x[i] = law(n[i]);
        }
}

static double ceiling(double v)
{
        return v < 20 ? 50 * v : 1000;
}

/* 20 x 50 = 1,000; 95.24 % of it, from which 1,000 is 5 % more, is first passed at 20: 19 x 50 = 950. */
START_TEST(a_ceiling_is_found_with_its_knee)
{
        struct dbio_study_curve curve;

        make(ceiling);
        dbio_study_curve_fit(n, x, N, &curve);
        ck_assert_int_eq(curve.shape, DBIO_STUDY_CEILING);
        ck_assert_double_eq_tol(curve.rate, 50, 1e-9);
        ck_assert_double_eq_tol(curve.a, 1000, 1e-9);
        ck_assert_double_lt(curve.residual, 1e-12);
        ck_assert_double_eq(n[curve.knee], 20);
}
END_TEST

static double logarithm(double v)
{
        return 40 + 70 * log(v);
}

START_TEST(a_log_curve_is_found)
{
        struct dbio_study_curve curve;

        make(logarithm);
        dbio_study_curve_fit(n, x, N, &curve);
        ck_assert_int_eq(curve.shape, DBIO_STUDY_LOG);
        ck_assert_double_eq_tol(curve.rate, 40, 1e-6);
        ck_assert_double_eq_tol(curve.a, 70, 1e-6);
}
END_TEST

static double law(double v)
{
        return 90 * v / (1 + 0.06 * (v - 1));
}

START_TEST(contention_is_found)
{
        struct dbio_study_curve curve;

        make(law);
        dbio_study_curve_fit(n, x, N, &curve);
        ck_assert_int_eq(curve.shape, DBIO_STUDY_USL);
        ck_assert_double_eq_tol(curve.rate, 90, 0.01);
        ck_assert_double_eq_tol(curve.a, 0.06, 1e-4);
        ck_assert_double_lt(curve.residual, 1e-3);
}
END_TEST

static double straight(double v)
{
        return 7 * v;
}

START_TEST(what_still_scales_has_its_knee_at_the_end)
{
        struct dbio_study_curve curve;

        make(straight);
        dbio_study_curve_fit(n, x, N, &curve);
        ck_assert_uint_eq(curve.knee, N - 1);
        ck_assert_double_eq_tol(curve.rate, 7, 1e-9);
        ck_assert(isinf(curve.a));
}
END_TEST

START_TEST(numbers_are_read_with_their_units)
{
        double number;

        ck_assert(dbio_study_number("2_000/s", &number));
        ck_assert_double_eq(number, 2000);
        ck_assert(!dbio_study_number("sim:sata-ssd", &number));
}
END_TEST

TEST_MAIN("study", a_ceiling_is_found_with_its_knee, a_log_curve_is_found, contention_is_found,
          what_still_scales_has_its_knee_at_the_end, numbers_are_read_with_their_units)
