/* Expected values: the contract's Units paragraph, and field.h. */
#include <string.h>

#include "patterns/doc.h"
#include "patterns/field.h"
#include "tests/unit.h"

struct inner {
        double density;
        int map;
};

struct all {
        uint64_t size, time, count, sector;
        double rate, byte_rate, share, factor;
        struct dbio_rate any_rate;
        bool flag;
        int word;
        const char *text;
        int target, stream;
        struct dbio_region region;
        struct dbio_skew skew;
        struct dbio_dist dist;
        struct dbio_mix mix;
        struct dbio_ramp ramp;
        struct inner inner;
        struct dbio_amount amount;
        struct dbio_target_list targets;
        uint64_t version;
        const struct dbio_node *node;
        uint64_t limit;
};

#define AT(member) .offset = offsetof(struct all, member)

static const char *const words[] = {"extents", "pages", NULL};
static const char *const versions[] = {"8.4", "5.7", "8.0", NULL};
static const struct dbio_field inner_fields[] = {
        {.key = "density", .type = DBIO_FIELD_FACTOR, .offset = offsetof(struct inner, density), .max = 1},
        {.key = "map",
         .type = DBIO_FIELD_ENUM,
         .offset = offsetof(struct inner, map),
         .fallback = "extents",
         .names = words},
        {.key = NULL},
};
static const struct dbio_field fields[] = {
        {.key = "size", .type = DBIO_FIELD_SIZE, AT(size), .fallback = "8K", .min = 512, .max = 1 << 20},
        {.key = "time", .type = DBIO_FIELD_TIME, AT(time), .fallback = "20ms"},
        {.key = "count", .type = DBIO_FIELD_COUNT, AT(count), .flags = DBIO_FIELD_POSITIVE},
        {.key = "sector",
         .type = DBIO_FIELD_SIZE,
         AT(sector),
         .fallback = "auto",
         .flags = DBIO_FIELD_SECTOR,
         .min = 512,
         .max = 4096},
        {.key = "rate", .type = DBIO_FIELD_RATE, AT(rate), .min = 1},
        {.key = "byte_rate", .type = DBIO_FIELD_BYTE_RATE, AT(byte_rate)},
        {.key = "share", .type = DBIO_FIELD_SHARE, AT(share), .fallback = "100%"},
        {.key = "factor", .type = DBIO_FIELD_FACTOR, AT(factor), .fallback = "0.75"},
        {.key = "any_rate", .type = DBIO_FIELD_ANY_RATE, AT(any_rate)},
        {.key = "flag", .type = DBIO_FIELD_BOOL, AT(flag), .fallback = "yes"},
        {.key = "word", .type = DBIO_FIELD_ENUM, AT(word), .fallback = "pages", .names = words},
        {.key = "text", .type = DBIO_FIELD_TEXT, AT(text)},
        {.key = "target", .type = DBIO_FIELD_TARGET, AT(target)},
        {.key = "stream", .type = DBIO_FIELD_STREAM, AT(stream)},
        {.key = "region", .type = DBIO_FIELD_REGION, AT(region)},
        {.key = "skew", .type = DBIO_FIELD_SKEW, AT(skew)},
        {.key = "dist", .type = DBIO_FIELD_DIST, AT(dist), .fallback = "{lognormal: {median: 400, sigma: 0.8}}"},
        {.key = "mix", .type = DBIO_FIELD_MIX, AT(mix)},
        {.key = "ramp", .type = DBIO_FIELD_RAMP, AT(ramp)},
        {.key = "inner", .type = DBIO_FIELD_MAP, AT(inner), .sub = inner_fields},
        {.key = "amount", .type = DBIO_FIELD_AMOUNT, AT(amount), .fallback = "all"},
        {.key = "targets", .type = DBIO_FIELD_TARGETS, AT(targets)},
        {.key = "version", .type = DBIO_FIELD_VERSION, AT(version), .fallback = "8.4", .names = versions},
        {.key = "node", .type = DBIO_FIELD_NODE, AT(node)},
        {.key = "limit", .type = DBIO_FIELD_COUNT, AT(limit), .fallback = "7", .flags = DBIO_FIELD_NONE},
        {.key = NULL},
};

static const char *const names[] = {"data", "log"};
static const struct dbio_field_scope scope = {2, 2, names, names};
static struct dbio_doc doc;
static struct dbio_err err;

static int parse(const char *text, struct all *all)
{
        int code;

        memset(&err, 0, sizeof err);
        ck_assert_msg(!dbio_doc_parse(&doc, "a.yaml", text, strlen(text), &err), "%s", err.message);
        code = dbio_fields_parse(fields, doc.root, &scope, all, &err);
        if (code)
                dbio_doc_release(&doc);
        return code;
}

START_TEST(defaults)
{
        struct all all;

        ck_assert_int_eq(dbio_fields_parse(fields, NULL, &scope, &all, &err), 0);
        ck_assert_uint_eq(all.size, 8192);
        ck_assert_uint_eq(all.time, 20000000);
        ck_assert_uint_eq(all.count, DBIO_UNSET);
        ck_assert_uint_eq(all.sector, 0);
        ck_assert(isnan(all.rate) && isnan(all.byte_rate) && isnan(all.any_rate.per_s) && isnan(all.ramp.from_per_s));
        ck_assert(all.share == 1 && all.factor == 0.75 && all.flag && all.word == 1);
        ck_assert_ptr_null(all.text);
        ck_assert(all.target == -1 && all.stream == -1 && all.targets.n == 0 && all.mix.n == 0);
        ck_assert(all.region.from.share == 0 && all.region.to.share == 1);
        ck_assert(all.skew.kind == DBIO_SKEW_UNIFORM);
        ck_assert(all.dist.kind == DBIO_DIST_LOGNORMAL && all.dist.value == 400 && all.dist.sigma == 0.8);
        ck_assert(isnan(all.inner.density) && all.inner.map == 0);
        ck_assert(all.amount.share == 1 && all.version == 804 && all.limit == 7);
}
END_TEST

static const char full[] =
        "{size: 64KiB, time: 1.5s, count: 10_000, sector: 512, rate: 500/s, byte_rate: 1MiB/s, share: 30%,"
        " factor: 1.1, any_rate: 2kB/s, flag: no, word: extents, text: 'a b', target: log, stream: data,"
        " region: {from: 10%, to: 50%}, skew: {hot: {space: 10%, ops: 90%}}, dist: 400, mix: {8K: 70%, 64K: 30%},"
        " ramp: {from: 100/s, to: 5000/s, over: 60s}, inner: {density: 0.5}, amount: 4G, targets: [log, data],"
        " version: 5.7, node: [x, {y: 'z: z'}], limit: none}";

START_TEST(every_type)
{
        struct all all;

        ck_assert_msg(!parse(full, &all), "%s", err.message);
        ck_assert_uint_eq(all.size, 65536);
        ck_assert_uint_eq(all.time, 1500000000);
        ck_assert_uint_eq(all.count, 10000);
        ck_assert_uint_eq(all.sector, 512);
        ck_assert(all.rate == 500 && all.byte_rate == 1048576 && all.share == 0.3 && all.factor == 1.1);
        ck_assert(all.any_rate.per_s == 2000 && all.any_rate.bytes);
        ck_assert(!all.flag && all.word == 0);
        ck_assert_str_eq(all.text, "a b");
        ck_assert(all.target == 1 && all.stream == 0);
        ck_assert(all.region.from.share == 0.1 && all.region.to.share == 0.5);
        ck_assert(all.skew.kind == DBIO_SKEW_HOT && all.skew.space == 0.1 && all.skew.ops == 0.9);
        ck_assert(all.dist.kind == DBIO_DIST_FIXED && all.dist.value == 400);
        ck_assert(all.mix.n == 2 && all.mix.size[1] == 65536 && all.mix.share[1] == 0.3);
        ck_assert(all.ramp.from_per_s == 100 && all.ramp.to_per_s == 5000 && all.ramp.over_ns == 60000000000);
        ck_assert(all.inner.density == 0.5 && all.inner.map == 0);
        ck_assert(isnan(all.amount.share) && all.amount.bytes == 4294967296);
        ck_assert(all.targets.n == 2 && all.targets.targets[0] == 1 && all.targets.targets[1] == 0);
        ck_assert(all.version == 507 && all.limit == DBIO_UNSET);
        dbio_doc_release(&doc);
}
END_TEST

static char *print(const struct all *all)
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        fputc('{', out);
        for (const struct dbio_field *field = fields; field->key; field++) {
                if (!dbio_field_is_set(field, all) && !field->fallback)
                        continue;
                fprintf(out, "%s%s: ", field == fields ? "" : ", ", field->key);
                dbio_field_print(out, field, &scope, all);
        }
        fputs("}\n", out);
        fclose(out);
        return text;
}

START_TEST(printing_parses_back)
{
        struct all all;
        char *once, *twice;

        ck_assert_int_eq(parse(full, &all), 0);
        once = print(&all);
        dbio_doc_release(&doc);
        ck_assert_str_eq(once,
                         "{size: 64K, time: 1.5s, count: 10000, sector: 512, rate: 500/s, byte_rate: 1M/s, share: 30%,"
                         " factor: 1.1, any_rate: 2kB/s, flag: no, word: extents, text: 'a b', target: log,"
                         " stream: data, region: {from: 10%, to: 50%}, skew: {hot: {space: 10%, ops: 90%}}, dist: 400,"
                         " mix: {8K: 70%, 64K: 30%}, ramp: {from: 100/s, to: 5000/s, over: 1m},"
                         " inner: {density: 0.5, map: extents}, amount: 4G, targets: [log, data], version: 5.7,"
                         " node: [x, {y: 'z: z'}], limit: none}\n");
        ck_assert_msg(!parse(once, &all), "%s", err.message);
        twice = print(&all);
        dbio_doc_release(&doc);
        ck_assert_str_eq(once, twice);
        free(once);
        free(twice);
}
END_TEST

START_TEST(messages)
{
        static const struct {
                const char *text;
                unsigned column;
                const char *message;
        } cases[] = {
                {"{siez: 8K}", 2, "unknown key \"siez\": did you mean \"size\"?"},
                {"{size: 8k}", 8, "\"8k\" is no size: write 8K or 8KiB (binary), 8kB (decimal)"},
                {"{size: 2M}", 8, "\"2M\" is out of range: 512 to 1M"},
                {"{size: [8K]}", 8, "a list where a size belongs"},
                {"{size: }", 8, "no value: a size belongs here"},
                {"{count: 0}", 9, "must be more than 0"},
                {"{rate: 0.5/s}", 8, "\"0.5/s\" is out of range: at least 1/s"},
                {"{rate: 1MiB/s}", 8, "\"1MiB/s\" is no rate: write 500/s"},
                {"{any_rate: 5}", 12, "\"5\" has no unit: write 5/s"},
                {"{flag: maybe}", 8, "\"maybe\" is none of yes, no, true, false"},
                {"{word: extent}", 8, "\"extent\" is none of extents, pages: did you mean \"extents\"?"},
                {"{target: dat}", 10, "no target \"dat\": did you mean \"data\"?"},
                {"{stream: undo}", 10, "no stream \"undo\": there are data, log"},
                {"{region: {from: 50%, to: 50%}}", 10, "the region is empty: \"to\" must lie behind \"from\""},
                {"{skew: hot}", 8, "no skew: write uniform, {zipf: 0.99} or {hot: {space: 10%, ops: 90%}}"},
                {"{skew: {hot: {space: 10%}}}", 14, "key \"ops\" is missing: it has no default"},
                {"{mix: {8K: 70%, 64K: 20%}}", 7, "the shares add to 90%: they must add to 100%"},
                {"{mix: {8K: 70%, 8192: 30%}}", 17, "8192 is given twice"},
                {"{ramp: {from: 1/s, to: 2/s}}", 8, "key \"over\" is missing: it has no default"},
                {"{inner: 5}", 9, "a single value where a map of keys belongs"},
                {"{inner: {density: 50%}}", 19, "\"50%\" is a share where a plain decimal such as 0.75 belongs"},
                {"{inner: {density: 2}}", 19, "\"2\" is out of range: 0 to 1"},
                {"{targets: [log, log]}", 17, "target \"log\" is named twice"},
                {"{version: 2008}", 11, "\"2008\" is none of 8.4, 5.7, 8.0"},
                {"{amount: 120%}", 10, "\"120%\" is over 100%"},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct all all;

                ck_assert_msg(parse(cases[i].text, &all) == -1, "%s", cases[i].text);
                ck_assert_str_eq(err.message, cases[i].message);
                ck_assert_msg(err.column == cases[i].column, "%s: %u", cases[i].text, err.column);
        }
}
END_TEST

START_TEST(texts_survive)
{
        static const char *const texts[] = {
                "plain",           "",           "a b",         "it's",         "a: b", "- x",     "#x",  "\"q\"",
                "tab\there",       "two\nlines", "caf\xc3\xa9", "\xe2\x80\xa8", "\\",   "nul\x01", "yes", "{",
                "\xf0\x9f\x98\x80"};

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                char *text;
                size_t size;
                FILE *out = open_memstream(&text, &size);

                fputs("a: ", out);
                dbio_text_print(out, texts[i]);
                fputc('\n', out);
                fclose(out);
                ck_assert_msg(!dbio_doc_parse(&doc, "a", text, size, &err), "%s: %s", text, err.message);
                ck_assert_str_eq(dbio_node_get(doc.root, "a")->text, texts[i]);
                dbio_doc_release(&doc);
                free(text);
        }
}
END_TEST

TEST_MAIN("field", defaults, every_type, printing_parses_back, messages, texts_survive)
