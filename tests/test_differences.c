#include "tests/unit.h"

#include "replay/differences.h"

static void differ(const char *base, const char *new_, const char *want)
{
        char *got = dbio_differences(base, new_);

        ck_assert_ptr_nonnull(got);
        ck_assert_str_eq(got, want);
        free(got);
}

START_TEST(keys_that_differ)
{
        const char *base = "name: a\nstreams:\n  checkpoint:\n    every: 60s\n    pages: 10000\n"
                           "phases:\n  - {name: one, duration: 5s}\n  - {name: two, duration: 5s}\n";

        differ(base, base, "");
        differ(base, "name: b\nlimits: ['x.iops > 1']\nstreams:\n  checkpoint:\n    every: 10s\n    pages: 10000\n"
                     "phases:\n  - {name: two, duration: 7s, streams: [checkpoint]}\n  - {name: one, duration: 5s}\n",
               "streams.checkpoint.every      60s -> 10s\n"
               "phases.two.duration           5s -> 7s\n"
               "phases.two.streams            (none) -> [checkpoint]\n");
        differ("streams: {a: {depth: 1}}", "streams: {b: {depth: 1}}",
               "streams.a                     {depth: 1} -> (none)\n"
               "streams.b                     (none) -> {depth: 1}\n");
        ck_assert_ptr_null(dbio_differences("a: [", "a: 1"));
        ck_assert_ptr_null(dbio_differences(NULL, "a: 1"));
}
END_TEST

TEST_MAIN("differences", keys_that_differ)
