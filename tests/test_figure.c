/* Figure expressions. */
#include <string.h>

#include "engine/op.h"
#include "patterns/workload.h"
#include "tests/unit.h"

static struct dbio_figure figure;
static struct dbio_err err;

static void good(const char *text)
{
        memset(&err, 0, sizeof err);
        ck_assert_msg(!dbio_figure_parse(&figure, text, &err), "%s: %s", text, err.message);
}

static void bad(const char *text, const char *message)
{
        ck_assert_msg(dbio_figure_parse(&figure, text, &err) == -1, "%s", text);
        ck_assert_str_eq(err.message, message);
        ck_assert_int_eq(err.code, DBIO_USAGE);
}

START_TEST(the_contracts_own)
{
        good("log.commit.mean < 2ms");
        ck_assert_str_eq(figure.stream, "log");
        ck_assert(figure.kind == DBIO_COMMIT && figure.part == DBIO_FIGURE_RESPONSE);
        ck_assert(figure.stat == DBIO_STAT_MEAN && figure.comparison == DBIO_OP_LT && figure.value == 2e6);
        ck_assert(!figure.relative);
        ck_assert_str_eq(figure.text, "log.commit.mean < 2ms");
        good("user-reads.read.p99 < 50ms");
        ck_assert_str_eq(figure.stream, "user-reads");
        ck_assert(figure.kind == DBIO_READ && figure.stat == DBIO_STAT_P99 && figure.value == 5e7);
        good("user-reads.iops > -5%");
        ck_assert(figure.kind == -1 && figure.stat == DBIO_STAT_IOPS && figure.comparison == DBIO_OP_GT);
        ck_assert(figure.relative && figure.value == -0.05);
        good("log.commit.p99 < +10%");
        ck_assert(figure.relative && figure.value == 0.1);
        ck_assert_int_eq(dbio_figure_observed(&figure, "user-reads.read.mean", "18.4ms", &err), 0);
        ck_assert(figure.value == 18.4e6 && figure.comparison == DBIO_OP_NONE);
}
END_TEST

START_TEST(parts_stats_and_operators)
{
        good("a.read.service.p999>=1us");
        ck_assert(figure.part == DBIO_FIGURE_SERVICE && figure.stat == DBIO_STAT_P999);
        ck_assert(figure.comparison == DBIO_OP_GE && figure.value == 1000);
        good("a.wait.max <= 1s");
        ck_assert(figure.kind == -1 && figure.part == DBIO_FIGURE_WAIT && figure.comparison == DBIO_OP_LE);
        good("  a.write.mib_per_s > 100MiB/s  ");
        ck_assert(figure.stat == DBIO_STAT_MIB_PER_S && figure.value == 104857600);
        good("a.errors <= 0");
        ck_assert(figure.stat == DBIO_STAT_ERRORS && figure.value == 0);
        good("a.read.iops");
        ck_assert(figure.comparison == DBIO_OP_NONE);
        /* A stream may bear a kind's or a statistic's name. */
        good("read.read.p50 < 1ms");
        ck_assert_str_eq(figure.stream, "read");
        good("mean.p95 < +150%");
        ck_assert(figure.value == 1.5 && figure.stat == DBIO_STAT_P95);
}
END_TEST

START_TEST(what_is_refused)
{
        char text[300];

        bad("", "\"\" is no figure: write STREAM.KIND.STAT, such as log.commit.mean");
        bad("log", "\"log\" is no figure: write STREAM.KIND.STAT, such as log.commit.mean");
        bad("log.commit < 2ms", "\"log.commit < 2ms\" does not say which: end it with .mean, .p99, .iops …");
        bad("log.commit.mean < 2", "\"2\" has no unit: write 2s or 2ms (ns us ms s m h)");
        bad("log.commit.mean = 2ms", "\"log.commit.mean = 2ms\": one of < <= > >= belongs before the value");
        bad("log.commit.mean <", "\"log.commit.mean <\" has no value behind the <");
        bad("log.commit.mean < 10%", "\"10%\" needs a sign: +10% or -10%");
        bad("log.commit.mean < +x%", "\"+x%\" is no change: write +10% or -5%");
        bad("log.commit.service.iops > 5/s", "\"log.commit.service.iops > 5/s\": iops has no service");
        bad("log.iops > 2ms", "\"2ms\" is no rate: write 500/s");
        bad("log.mib_per_s > 500/s", "\"500/s\" is no rate: write 100MiB/s");
        bad("log.mean.p99 > 1ms", "\"log.mean.p99 > 1ms\": mean comes last: STREAM.KIND.PART.STAT");
        bad("log.iops.wait > 1ms", "\"log.iops.wait > 1ms\": iops comes last: STREAM.KIND.PART.STAT");
        bad("log.raed.p99 > 1ms",
            "\"log.raed.p99 > 1ms\": \"raed\" is none of read write fsync trim commit, wait service response, or iops"
            " mib_per_s mean p50 p95 p99 p999 max errors");
        memset(text, 'a', sizeof text - 1);
        text[sizeof text - 1] = '\0';
        ck_assert_int_eq(dbio_figure_parse(&figure, text, &err), -1);
        text[100] = '.';
        text[101] = '\0';
        ck_assert_int_eq(dbio_figure_parse(&figure, text, &err), -1);
        ck_assert_int_eq(dbio_figure_observed(&figure, "a.read.mean", "+5%", &err), -1);
}
END_TEST

TEST_MAIN("figure", the_contracts_own, parts_stats_and_operators, what_is_refused)
