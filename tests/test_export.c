/* Exports, read back by code that shares nothing with what wrote them: HdrHistogram's V2 encoding decoded here from its
 * published description, JSON by jansson, lines by sscanf. */
#include "tests/unit.h"

#include <jansson.h>
#include <string.h>
#include <zlib.h>

#include "results/export.h"
#include "tests/results_fixture.h"

static char *export(struct fixture *f, const char *format)
{
        struct dbio_runs runs;
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        ck_assert_int_eq(dbio_runs_find(f->store, "latest", &runs, &f->err), 0);
        ck_assert_msg(!dbio_export(f->store, &runs, format, out, &f->err), "%s", f->err.message);
        fclose(out);
        dbio_runs_release(&runs);
        return text;
}

static size_t base64_decode(const char *text, size_t n, unsigned char *out)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        size_t used = 0;
        unsigned bits = 0, have = 0;

        for (size_t i = 0; i < n && text[i] != '='; i++) {
                bits = bits << 6 | (unsigned)(strchr(digits, text[i]) - digits);
                have += 6;
                if (have >= 8)
                        out[used++] = (unsigned char)(bits >> (have -= 8));
        }
        return used;
}

static uint64_t be(const unsigned char *at, int n)
{
        uint64_t v = 0;

        while (n-- > 0)
                v = v << 8 | *at++;
        return v;
}

struct decoded {
        uint64_t count, max_low; /* lowest value of the highest bucket */
        uint64_t values[64], counts[64];
        unsigned n;
};

/* The lowest value of a counter's bucket, as HdrHistogram's valueFromIndex has it for 256 sub-buckets. */
static uint64_t value_from_index(int index)
{
        int bucket = (index >> 7) - 1, sub = (index & 127) + 128;

        if (bucket < 0) {
                sub -= 128;
                bucket = 0;
        }
        return (uint64_t)sub << bucket;
}

static void decode(const char *text, size_t n, struct decoded *d)
{
        static unsigned char packed[65536], plain[65536];
        uLongf size = sizeof plain;

        memset(d, 0, sizeof *d);
        ck_assert_uint_le(n, 80000);
        size_t bytes = base64_decode(text, n, packed);
        ck_assert_uint_eq(be(packed, 4), 0x1c849314);
        ck_assert_uint_eq(be(packed + 4, 4), bytes - 8);
        ck_assert_int_eq(uncompress(plain, &size, packed + 8, bytes - 8), Z_OK);
        ck_assert_uint_eq(be(plain, 4), 0x1c849313);
        ck_assert_uint_eq(be(plain + 4, 4), size - 40);
        ck_assert_uint_eq(be(plain + 12, 4), 2);
        ck_assert_uint_eq(be(plain + 24, 8), 86400ull * 1000000000);
        int index = 0;
        for (size_t i = 40; i < size;) {
                uint64_t raw = 0;
                unsigned shift = 0;

                do {
                        raw |= (uint64_t)(plain[i] & 127) << shift;
                        shift += 7;
                } while (plain[i++] & 128);
                int64_t number = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);
                if (number < 0) {
                        index -= (int)number;
                        continue;
                }
                d->count += (uint64_t)number;
                d->max_low = value_from_index(index);
                if (d->n < 64) {
                        d->values[d->n] = value_from_index(index);
                        d->counts[d->n++] = (uint64_t)number;
                }
                index++;
        }
}

START_TEST(hdr_decodes_to_the_same_counts)
{
        struct fixture f;
        struct decoded d;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        char *text = export(&f, "hdr");
        ck_assert_ptr_nonnull(strstr(text, "#[Histogram log format version 1.3]\n#[StartTime: "));
        const char *line = strstr(text, "\nTag=reads-and-checkpoint/user-reads/read/data_read/service,");
        ck_assert_ptr_nonnull(line);
        double from, length, max;
        int at = 0;
        ck_assert_int_eq(sscanf(line + 1, "%*[^,],%lf,%lf,%lf,%n", &from, &length, &max, &at), 3);
        ck_assert_double_eq_tol(length, 60, 1e-9);
        ck_assert_double_eq_tol(max, 40, 1e-9); /* ms */
        const char *code = line + 1 + at;
        decode(code, strcspn(code, "\n"), &d);
        /* 20,000 ops of 20 ms and 2,000 of 40 ms; buckets of 1/128 */
        ck_assert_uint_eq(d.n, 2);
        ck_assert_uint_eq(d.counts[0], 20000);
        ck_assert_uint_eq(d.counts[1], 2000);
        ck_assert(d.values[0] <= 20000000 && d.values[0] > 20000000ull * 127 / 128);
        ck_assert(d.values[1] <= 40000000 && d.values[1] > 40000000ull * 127 / 128);
        free(text);
        fixture_close(&f);
}
END_TEST

START_TEST(hdr_encodes_any_histogram)
{
        struct dbio_hist *h = calloc(1, sizeof *h);
        struct decoded d;

        char *text = dbio_hdr_encode(h);
        decode(text, strlen(text), &d);
        ck_assert_uint_eq(d.count, 0);
        free(text);
        for (uint64_t v = 1; v < DBIO_HIST_MAX_NS; v = v * 3 + 1)
                dbio_hist_add(h, v);
        dbio_hist_add(h, 0);
        dbio_hist_add(h, DBIO_HIST_MAX_NS);
        text = dbio_hdr_encode(h);
        decode(text, strlen(text), &d);
        ck_assert_uint_eq(d.count, h->count);
        ck_assert_uint_eq(d.values[0], 0);
        ck_assert_uint_eq(d.values[1], 1);
        ck_assert(d.max_low <= DBIO_HIST_MAX_NS && d.max_low > DBIO_HIST_MAX_NS / 129 * 128);
        free(text);
        free(h);
}
END_TEST

/* Members that fio's readers take (fio-plot, fio's own fio_jsonplus_clat2csv): their names come from fio 3.33's output. */
START_TEST(fio_json_has_fios_members)
{
        struct fixture f;
        json_error_t error;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        char *text = export(&f, "fio-json");
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(root != NULL, "%s, line %d", error.text, error.line);
        ck_assert_int_eq(strncmp(json_string_value(json_object_get(root, "fio version")), "fio-3", 5), 0);
        json_t *jobs = json_object_get(root, "jobs"), *job = json_array_get(jobs, 0);
        ck_assert_uint_eq(json_array_size(jobs), 3);
        ck_assert_str_eq(json_string_value(json_object_get(job, "jobname")), "reads-and-checkpoint/user-reads");
        json_t *read = json_object_get(job, "read");
        ck_assert_int_eq(json_integer_value(json_object_get(read, "total_ios")), 22000);
        ck_assert_int_eq(json_integer_value(json_object_get(read, "io_bytes")), 22000ll * 8192);
        ck_assert_double_eq_tol(json_number_value(json_object_get(read, "iops")), 22000 / 60.0, 1e-6);
        ck_assert_int_eq(json_integer_value(json_object_get(read, "iops_min")), 200);
        ck_assert_int_eq(json_integer_value(json_object_get(read, "iops_max")), 400);
        ck_assert_int_eq(json_integer_value(json_object_get(read, "runtime")), 60000); /* ms */
        json_t *clat = json_object_get(read, "clat_ns");
        ck_assert_double_eq_tol(json_number_value(json_object_get(clat, "mean")), 480e6 / 22, 1);
        ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(clat, "percentile"), "99.000000")), 40000000);
        /* 20 and 40 ms lie in fio's classes up to 50 and up to 100 ms: 20 < 20 does not hold */
        json_t *ms = json_object_get(job, "latency_ms");
        ck_assert_double_eq_tol(json_number_value(json_object_get(ms, "50")), 100, 1e-6);
        static const char *const members[] = {"groupid", "error", "eta", "elapsed", "job options", "write", "trim", "sync",
                                              "job_runtime", "usr_cpu", "sys_cpu", "ctx", "majf", "minf", "latency_ns",
                                              "latency_us", "latency_depth", "latency_target", "latency_percentile",
                                              "latency_window"};
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
                ck_assert_msg(json_object_get(job, members[i]) != NULL, "%s", members[i]);
        json_decref(root);
        free(text);
        fixture_close(&f);
}
END_TEST

START_TEST(influx_lines_carry_their_moment)
{
        struct fixture f;
        long long ios, bytes, errors, t;
        unsigned lines = 0;

        fixture_open(&f);
        fixture_example(&f, "raid 10,a=b", 1);
        fixture_exec(&f, "UPDATE run SET started_at = '1970-01-01T00:01:40Z'; UPDATE phase SET begun_ns = 5000000000");
        char *text = export(&f, "influx");
        for (const char *c = text; *c; c++)
                lines += *c == '\n';
        ck_assert_uint_eq(lines, 4 * 60); /* four rows of v_phase, sixty intervals */
        ck_assert_int_eq(sscanf(text, "dbio,run=1,label=raid\\ 10\\,a\\=b,phase=reads-and-checkpoint,stream=user-reads,"
                                      "kind=read,role=data_read ios=%lldi,bytes=%lldi,errors=%lldi,service_mean_ns="
                                      "20000000.0,service_p99_ns=20000000.0,response_mean_ns=20000000.0,response_p99_ns="
                                      "20000000.0 %lld", &ios, &bytes, &errors, &t), 4);
        ck_assert_int_eq(ios, 400);
        ck_assert_int_eq(t, 105000000000); /* 100 s since 1970, and 5 s into the run */
        free(text);
        fixture_close(&f);
}
END_TEST

START_TEST(csv_is_the_series)
{
        struct fixture f;
        struct dbio_runs runs = {0};
        unsigned lines = 0;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        char *text = export(&f, "csv");
        for (const char *c = text; *c; c++)
                lines += *c == '\n';
        ck_assert_uint_eq(lines, 1 + 4 * 60);
        free(text);
        ck_assert_int_eq(dbio_export(f.store, &runs, "xml", stdout, &f.err), -1);
        ck_assert_int_eq(f.err.code, DBIO_USAGE);
        fixture_close(&f);
}
END_TEST

TEST_MAIN("export", hdr_decodes_to_the_same_counts, hdr_encodes_any_histogram, fio_json_has_fios_members,
          influx_lines_carry_their_moment, csv_is_the_series)
