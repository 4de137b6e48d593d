/* Expected values: the contract's Units paragraph (1 K = 1024, 1 kB = 1000, 1 GiB = 2^30) and plain arithmetic. */
#include <math.h>
#include <string.h>

#include "engine/units.h"
#include "tests/unit.h"

#define BAD UINT64_MAX

struct whole_case {
        const char *text;
        uint64_t value;      /* BAD: an error */
        const char *message; /* part of it */
};

static void try_whole(int (*parse)(const char *, uint64_t *, struct dbio_err *), const struct whole_case *cases)
{
        for (; cases->text; cases++) {
                struct dbio_err err = {0};
                uint64_t value = 0;
                int code = parse(cases->text, &value, &err);

                ck_assert_msg(code == (cases->value == BAD ? -1 : 0), "%s: %s", cases->text, err.message);
                if (cases->value != BAD)
                        ck_assert_msg(value == cases->value, "%s: %llu", cases->text, (unsigned long long)value);
                else
                        ck_assert_msg(err.code == DBIO_USAGE && strstr(err.message, cases->message), "%s: %s",
                                      cases->text, err.message);
        }
}

START_TEST(sizes)
{
        static const struct whole_case cases[] = {
                {"8K", 8192, NULL},
                {"8KiB", 8192, NULL},
                {"8kB", 8000, NULL},
                {"8MB", 8000000, NULL},
                {"1.5GiB", 1610612736, NULL},
                {"1.50GiB", 1610612736, NULL},
                {"0", 0, NULL},
                {"0.0K", 0, NULL},
                {"4_096", 4096, NULL},
                {"0.5K", 512, NULL},
                {"2T", 2199023255552, NULL},
                {"007K", 7168, NULL},
                {"8k", BAD, "8K or 8KiB (binary), 8kB (decimal)"},
                {"8KB", BAD, "8K or 8KiB (binary), 8kB (decimal)"},
                {"8kib", BAD, "8K or 8KiB (binary), 8kB (decimal)"},
                {"1g", BAD, "1G or 1GiB (binary), 1GB (decimal)"},
                {"0.3", BAD, "not a whole number of bytes"},
                {"1.0001K", BAD, "not a whole number of bytes"},
                {"", BAD, "no size"},
                {"-8K", BAD, "no size"},
                {"8 K", BAD, "no size"},
                {"8_K", BAD, "no size"},
                {"_8K", BAD, "no size"},
                {"8.K", BAD, "no size"},
                {".5K", BAD, "no size"},
                {"50%", BAD, "no size"},
                {"8Q", BAD, "KiB MiB GiB TiB"},
                {"99999999P", BAD, "too large"},
                {"9999999999999999999", BAD, "too large"},
                {"99999999999999999999", BAD, "more than 19 digits"},
                {NULL, 0, NULL},
        };

        try_whole(dbio_parse_size, cases);
}
END_TEST

START_TEST(times)
{
        static const struct whole_case cases[] = {
                {"20ms", 20000000, NULL},
                {"1.5s", 1500000000, NULL},
                {"5m", 300000000000, NULL},
                {"2h", 7200000000000, NULL},
                {"7ns", 7, NULL},
                {"0.5us", 500, NULL},
                {"0s", 0, NULL},
                {"60", BAD, "write 60s or 60ms"},
                {"60sec", BAD, "ns us ms s m h"},
                {"20MS", BAD, "ns us ms s m h"},
                {"1m30s", BAD, "ns us ms s m h"},
                {"0.5ns", BAD, "not a whole number of ns"},
                {"soon", BAD, "no time"},
                {"99999999999999999999s", BAD, "more than 19 digits"},
                {NULL, 0, NULL},
        };

        try_whole(dbio_parse_time, cases);
}
END_TEST

START_TEST(counts)
{
        static const struct whole_case cases[] = {
                {"20_000_000", 20000000, NULL},
                {"16", 16, NULL},
                {"999999999999999999", 999999999999999999, NULL},
                {"9223372036854775807", 9223372036854775807, NULL},
                {"9223372036854775808", BAD, "too large"},
                {"16.5", BAD, "no count: write a whole number"},
                {"16.0", BAD, "no count: write a whole number"}, /* counts are integers; decimals are for sizes */
                {"99999999999999999999", BAD, "more than 19 digits"},
                {"00000000000000000000016", 16, NULL},
                {"1,000", BAD, "10_000"},
                {"1__0", BAD, "10_000"},
                {"10k", BAD, "10_000"},
                {"1e6", BAD, "10_000"},
                {NULL, 0, NULL},
        };

        try_whole(dbio_parse_count, cases);
}
END_TEST

START_TEST(shares_and_factors)
{
        struct dbio_err err;
        double value;

        ck_assert_int_eq(dbio_parse_share("30%", &value, &err), 0);
        ck_assert(value == 0.3);
        ck_assert_int_eq(dbio_parse_share("0.1%", &value, &err), 0);
        ck_assert(value == 0.001);
        ck_assert_int_eq(dbio_parse_share("100%", &value, &err), 0);
        ck_assert(value == 1);
        ck_assert_int_eq(dbio_parse_share("0.3", &value, &err), -1);
        ck_assert_str_eq(err.message, "\"0.3\" has no percent sign: write 0.3% or 30%");
        ck_assert_int_eq(dbio_parse_share("30", &value, &err), -1);
        ck_assert_str_eq(err.message, "\"30\" has no percent sign: write 30%");
        ck_assert_int_eq(dbio_parse_share("101%", &value, &err), -1);
        ck_assert_int_eq(dbio_parse_share("-1%", &value, &err), -1);
        ck_assert_int_eq(dbio_parse_factor("0.5466", &value, &err), 0);
        ck_assert(value == 0.5466);
        ck_assert_int_eq(dbio_parse_factor("16.07", &value, &err), 0);
        ck_assert(value == 16.07);
        ck_assert_int_eq(dbio_parse_factor("1000000000000001", &value, &err), -1);
        ck_assert_int_eq(dbio_parse_factor("1e3", &value, &err), -1);
        ck_assert_int_eq(dbio_parse_factor("nan", &value, &err), -1);
        ck_assert_int_eq(dbio_parse_factor("0.12345678901234567890123", &value, &err), -1);
        ck_assert_str_eq(err.message, "\"0.12345678901234567890123\" has more than 19 digits");
        ck_assert_int_eq(dbio_parse_share("99999999999999999999%", &value, &err), -1);
        ck_assert_str_eq(err.message, "\"99999999999999999999%\" has more than 19 digits");
        ck_assert_int_eq(dbio_parse_factor("50%", &value, &err), -1);
        ck_assert_str_eq(err.message, "\"50%\" is a share where a plain decimal such as 0.75 belongs");
}
END_TEST

START_TEST(rates)
{
        struct dbio_err err;
        double ops, bytes;

        ck_assert_int_eq(dbio_parse_rate("500/s", &ops, &bytes, &err), 0);
        ck_assert(ops == 500 && isnan(bytes));
        ck_assert_int_eq(dbio_parse_rate("0.5/s", &ops, NULL, &err), 0);
        ck_assert(ops == 0.5);
        ck_assert_int_eq(dbio_parse_rate("100MiB/s", &ops, &bytes, &err), 0);
        ck_assert(bytes == 104857600 && isnan(ops));
        ck_assert_int_eq(dbio_parse_rate("1kB/s", NULL, &bytes, &err), 0);
        ck_assert(bytes == 1000);
        ck_assert_int_eq(dbio_parse_rate("500", &ops, &bytes, &err), -1);
        ck_assert_str_eq(err.message, "\"500\" has no unit: write 500/s");
        ck_assert_int_eq(dbio_parse_rate("500/s", NULL, &bytes, &err), -1);
        ck_assert_str_eq(err.message, "\"500/s\" is no rate: write 100MiB/s");
        ck_assert_int_eq(dbio_parse_rate("1MiB/s", &ops, NULL, &err), -1);
        ck_assert_str_eq(err.message, "\"1MiB/s\" is no rate: write 500/s");
        ck_assert_int_eq(dbio_parse_rate("500/m", &ops, &bytes, &err), -1);
        ck_assert_int_eq(dbio_parse_rate("8KB/s", &ops, &bytes, &err), -1);
        ck_assert_str_eq(err.message, "\"8KB/s\" is no rate: \"8KB\" is no size: write 8K or 8KiB (binary), 8kB (decimal)");
        ck_assert_int_eq(dbio_parse_rate("500/sec", &ops, &bytes, &err), -1);
        ck_assert_int_eq(dbio_parse_rate("99999999999999999999/s", &ops, &bytes, &err), -1);
        ck_assert_str_eq(err.message, "\"99999999999999999999/s\" has more than 19 digits");
}
END_TEST

START_TEST(formats)
{
        static const struct {
                uint64_t value;
                const char *size, *time;
        } cases[] = {
                {0, "0", "0s"},
                {1536, "1536", "1536ns"},
                {8192, "8K", "8192ns"},
                {20000000, "20MB", "20ms"},
                {1500000000, "1500MB", "1.5s"},
                {60000000000, "60GB", "1m"},
                {90000000000, "90GB", "90s"},
                {3600000000000, "3600GB", "1h"},
                {100000000, "100MB", "100ms"},
                {1610612736, "1536M", "1610612736ns"},
        };
        char text[64];

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                dbio_format_size(cases[i].value, text, sizeof text);
                ck_assert_str_eq(text, cases[i].size);
                dbio_format_time(cases[i].value, text, sizeof text);
                ck_assert_str_eq(text, cases[i].time);
        }
        dbio_format_share(0.3, text, sizeof text);
        ck_assert_str_eq(text, "30%");
        dbio_format_share(0.001, text, sizeof text);
        ck_assert_str_eq(text, "0.1%");
        dbio_format_share(1.0 / 3, text, sizeof text);
        ck_assert(strlen(text) < 22);
        dbio_format_factor(0.5466, text, sizeof text);
        ck_assert_str_eq(text, "0.5466");
        dbio_format_rate(104857600, 1, text, sizeof text);
        ck_assert_str_eq(text, "100M/s");
        dbio_format_rate(1, 1, text, sizeof text);
        ck_assert_str_eq(text, "0.001kB/s");
        dbio_format_rate(2000, 0, text, sizeof text);
        ck_assert_str_eq(text, "2000/s");
}
END_TEST

/* What is formatted parses back to the same value, over a spread of values. */
START_TEST(formats_parse_back)
{
        uint64_t value = 1;

        for (int i = 0; i < 20000; i++) {
                struct dbio_err err = {0};
                uint64_t x, got;
                double factor, back;
                char text[64];

                value = value * 6364136223846793005u + 1442695040888963407u;
                /* Up to 18 digits, as the parsers take; some of them round. */
                x = (value >> 3) % 1000000000000000000u >> (i % 60);
                x = i & 1 ? x : x / 1000000 * 1000000;
                dbio_format_size(x, text, sizeof text);
                ck_assert_msg(!dbio_parse_size(text, &got, &err) && got == x, "%s %s", text, err.message);
                dbio_format_time(x, text, sizeof text);
                ck_assert_msg(!dbio_parse_time(text, &got, &err) && got == x, "%s %s", text, err.message);
                factor = (double)(x % 100000000) / 10000;
                dbio_format_factor(factor, text, sizeof text);
                ck_assert_msg(!dbio_parse_factor(text, &back, &err) && back == factor, "%s %s", text, err.message);
                dbio_format_rate(factor, 0, text, sizeof text);
                ck_assert_msg(!dbio_parse_rate(text, &back, NULL, &err) && back == factor, "%s %s", text, err.message);
        }
}
END_TEST

TEST_MAIN("units", sizes, times, counts, shares_and_factors, rates, formats, formats_parse_back)
