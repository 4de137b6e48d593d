#include "tests/unit.h"

#include <string.h>

#include "engine/stopif.h"

#define SECOND 1000000000ull

START_TEST(bad_conditions_are_refused)
{
        static const char *const bad[] = {"", "sda", "sda.await", "sda.await > 20ms", "sda.await < 20ms for 3s",
                                          "sda.util > 20ms for 3s", "sda.await > 20 for 3s", "sda.await > 20ms for 3",
                                          "sda.await > 20ms for 3s or so", "no-such-disk.await > 20ms for 3s",
                                          "/dev/null.await > 20ms for 3s", "sda.await => 20ms for 3s"};

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct dbio_stop_if s;
                struct dbio_err err = {0};

                ck_assert_msg(dbio_stop_if_parse(&s, bad[i], &err) == -1, "%s", bad[i]);
                ck_assert_int_eq(err.code, DBIO_USAGE);
                ck_assert_ptr_nonnull(strstr(err.message, "--stop-if"));
        }
}
END_TEST

START_TEST(a_device_is_found_by_name_and_path)
{
        struct dbio_stop_if s, t;
        struct dbio_err err = {0};
        char name[64], text[200];
        FILE *list = popen("ls /sys/block | head -n 1", "r");
        int n = list ? fscanf(list, "%63s", name) : 0;

        if (list)
                pclose(list);
        if (n != 1)
                skip_test("no block device here");
        snprintf(text, sizeof text, "%s.await > 20ms for 3s", name);
        ck_assert_msg(dbio_stop_if_parse(&s, text, &err) == 0, "%s", err.message);
        ck_assert_str_eq(s.device, name);
        ck_assert_uint_eq(s.limit_ns, 20000000);
        ck_assert_uint_eq(s.for_ns, 3 * SECOND);
        snprintf(text, sizeof text, "/dev/%s.await >= 1.5ms for 500ms", name);
        if (dbio_stop_if_parse(&t, text, &err) != 0)
                skip_test("no node in /dev for %s", name);
        ck_assert_uint_eq(t.number, s.number);
        ck_assert_int_eq(t.or_equal, 1);
}
END_TEST

/* iostat's await: milliseconds spent over ios ended. */
START_TEST(it_must_hold_for_its_time)
{
        struct dbio_stop_if s = {.limit_ns = 20000000, .for_ns = 3 * SECOND};
        struct dbio_device_counters c = {0};
        static const struct {
                uint64_t ios, ms;
                bool stop;
        } seconds[] = {
                {0, 0, false},                                     /* only the beginning */
                {100, 2100, false}, {100, 2100, false},            /* 21 ms for 2 s */
                {100, 2000, false},                                /* 20 ms is not over 20 ms */
                {100, 2100, false}, {0, 0, false},                 /* nothing done: nothing suffers */
                {100, 2100, false}, {100, 9000, false}, {100, 2100, true},
        };

        for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
                c.read_ios += seconds[i].ios / 2;
                c.write_ios += seconds[i].ios - seconds[i].ios / 2;
                c.write_ms += seconds[i].ms;
                ck_assert_msg(dbio_stop_if_sample(&s, (10 + i) * SECOND, &c) == seconds[i].stop, "second %zu", i);
        }
}
END_TEST

TEST_MAIN("stopif", bad_conditions_are_refused, a_device_is_found_by_name_and_path, it_must_hold_for_its_time)
