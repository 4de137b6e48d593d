/* The rule: p99 of lag or of the loop's turn over 100 us and over 10 % of the median service; foreign I/O
 * over 10 % on devices. */
#include "tests/unit.h"

#include <string.h>

#include "results/validity.h"

static const struct dbio_validity good = {
        .lag_p99_ns = 11000, .turn_p99_ns = 20000, .median_service_ns = 5000000, .foreign_share = 0, .foreign_counts = true,
};

static bool check(struct dbio_validity validity, const char *word)
{
        char why[256] = "";
        bool valid = dbio_validity_check(&validity, why, sizeof why);

        if (!valid)
                ck_assert_ptr_nonnull(strstr(why, word));
        return valid;
}

START_TEST(late_needs_both_bounds)
{
        struct dbio_validity v = good;

        ck_assert(check(v, ""));
        v.lag_p99_ns = 499000; /* over 100 us, but under 10 % of 5 ms */
        ck_assert(check(v, ""));
        v.lag_p99_ns = 501000;
        ck_assert(!check(v, "lag p99 501 us"));
        v.median_service_ns = 50000;
        v.lag_p99_ns = 99000; /* twice the median, but not over 100 us */
        ck_assert(check(v, ""));
        v.turn_p99_ns = 101000;
        ck_assert(!check(v, "turn p99 101 us"));
        v.simulated = true;
        ck_assert(check(v, ""));
}
END_TEST

START_TEST(foreign_io_counts_on_devices)
{
        struct dbio_validity v = good;

        v.foreign_share = 0.10;
        ck_assert(check(v, ""));
        v.foreign_share = 0.101;
        ck_assert(!check(v, "10.1 %"));
        v.foreign_counts = false;
        ck_assert(check(v, ""));
}
END_TEST

TEST_MAIN("validity", late_needs_both_bounds, foreign_io_counts_on_devices)
