/* Readers of traces: small inputs whose counts and bytes can be added up by hand, and inputs that are wrong. */
#include <string.h>
#include <unistd.h>

#include "tests/tracekit.h"
#include "tests/unit.h"

static const struct input {
        const char *format, *text;
        uint64_t reads, read_bytes, writes, write_bytes, trims, fsyncs, span_ns, end; /* end: of the last byte */
} inputs[] = {
        {"fio-iolog",
         "fio version 3 iolog\n10 a add\n20 a open\n30 a read 0 4096\n40 a write 8192 512\n45 a datasync 8192 0\n50 a trim 0 65536\n"
         "90 a close\n",
         1, 4096, 1, 512, 1, 1, 20000, 65536},
        {"fio-iolog", "\xEF\xBB\xBF" "fio version 2 iolog\r\na add\r\na open\r\na wait 1000\r\na read 4096 4096\r\na wait 50\r\n"
                      "a wait 200\r\na sync\r\na write 0 4096",
         1, 4096, 1, 4096, 0, 1, 200000, 8192},
};

START_TEST(counts)
{
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
                const struct input *in = &inputs[i];
                const char *formats[] = {in->format, "auto"};
                for (int k = 0; k < 2; k++) {
                        struct trace_result r = trace_read(formats[k], in->text, strlen(in->text), NULL);
                        const struct dbio_trace_summary *s = &r.summary;
                        expect_msg(!r.code, "%s: %s", formats[k], r.err.message);
                        ck_assert_uint_eq(s->ios[DBIO_READ], in->reads);
                        ck_assert_uint_eq(s->bytes[DBIO_READ], in->read_bytes);
                        ck_assert_uint_eq(s->ios[DBIO_WRITE], in->writes);
                        ck_assert_uint_eq(s->bytes[DBIO_WRITE], in->write_bytes);
                        ck_assert_uint_eq(s->ios[DBIO_TRIM], in->trims);
                        ck_assert_uint_eq(s->ios[DBIO_FSYNC], in->fsyncs);
                        ck_assert_uint_eq(s->last_ns - s->first_ns, in->span_ns);
                        ck_assert_uint_eq(s->max_end, in->end);
                }
        }
}
END_TEST

static const struct bad {
        const char *format, *text;
        unsigned line;
        const char *message; /* a part of it */
} bads[] = {
        {"fio-iolog", "0, 2023424, 65536\n", 1, "version 1"},
        {"fio-iolog", "", 0, "empty"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 b read 0 4096\n", 4, "was not added"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n3 a read 0 4096\n", 3, "was not opened"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 99999999999999999999 1\n", 4, "in bytes"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 18446744073709551615 4096\n", 4, "2^63"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 0 4294967296\n", 4, "at most 64 MiB"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a raed 0 512\n", 4, "raed"},
        {"nonsense", "", 0, "no trace format"},
        {"auto", "nothing known", 0, "not recognised"},
};

START_TEST(errors_say_where)
{
        for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
                struct trace_result r = trace_read(bads[i].format, bads[i].text, strlen(bads[i].text), NULL);
                expect_msg(r.code == -1, "%s", bads[i].text);
                expect_msg(r.err.code == DBIO_USAGE, "%s", r.err.message);
                expect_msg(strstr(r.err.message, bads[i].message), "%s", r.err.message);
                ck_assert_uint_eq(r.err.line, bads[i].line);
        }
}
END_TEST

START_TEST(bad_lines_may_be_left_out)
{
        const char *text = "fio version 3 iolog\n1 a add\n2 a open\n3 a raed 0 512\n4 a read 0 512\n5 a read x 512\n";
        struct dbio_trace_options options = {.skip_bad = 2};
        struct trace_result r = trace_read("fio-iolog", text, strlen(text), &options);

        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.summary.ios[DBIO_READ], 1);
        ck_assert_uint_eq(r.summary.bad, 2);
        ck_assert_ptr_nonnull(strstr(r.summary.first_bad, ":4:"));
        options.skip_bad = 1;
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_int_eq(r.code, -1);
        ck_assert_uint_eq(r.err.line, 6);
}
END_TEST

/* Truncated at each byte, every input is read or is an error with a message, never more. */
START_TEST(truncated_anywhere)
{
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
                for (size_t size = 0; size < strlen(inputs[i].text); size++) {
                        struct trace_result r = trace_read(inputs[i].format, inputs[i].text, size, NULL);
                        expect(!r.code || (r.err.code == DBIO_USAGE && r.err.message[0]));
                }
}
END_TEST

/* fio's stamps may go back where its threads write into one log. */
START_TEST(sorted_by_time)
{
        const char *text = "fio version 3 iolog\n1 a add\n2 a open\n30 a read 0 512\n10 a read 512 512\n20 a write 1024 512\n";
        struct trace_result r = trace_read("fio-iolog", text, strlen(text), NULL);

        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.summary.inversions, 1);
        ck_assert_uint_eq(r.first[0].offset, 512);
        ck_assert_uint_eq(r.first[0].t_ns, 0);
        ck_assert_uint_eq(r.first[1].t_ns, 10000);
        ck_assert_uint_eq(r.first[2].t_ns, 20000);
}
END_TEST

START_TEST(maps)
{
        const char *text = "fio version 3 iolog\n1 /d/a add\n1 /d/a open\n1 /e/a add\n1 /e/a open\n1 c add\n1 c open\n"
                           "2 /d/a read 1048576 512\n3 /e/a read 0 512\n4 c write 0 512\n";
        const char *both[] = {"/d/a@1MiB=data", "*=log@64K"}, *less[] = {"c=log", "*=-"}, *few[] = {"c=log"};
        struct dbio_trace_options options = {0};
        struct trace_result r = trace_read("fio-iolog", text, strlen(text), &options);

        ck_assert_uint_eq(r.ntargets, 3);
        ck_assert_str_eq(r.targets[0], "a");
        ck_assert_str_eq(r.targets[1], "a-2");
        options = (struct dbio_trace_options){.maps = both, .nmaps = 2};
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.ntargets, 2);
        ck_assert_uint_eq(r.first[0].offset, 0);
        ck_assert_uint_eq(r.first[1].offset, 65536);
        ck_assert_uint_eq(r.first[2].target, 1);
        options = (struct dbio_trace_options){.maps = less, .nmaps = 2};
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_uint_eq(r.ops, 1);
        ck_assert_uint_eq(r.summary.left_out, 2);
        options = (struct dbio_trace_options){.maps = few, .nmaps = 1};
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_int_eq(r.code, -1);
        ck_assert_uint_eq(r.err.line, 8);
        options = (struct dbio_trace_options){.only_target = "data"};
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_int_eq(r.code, -1);
        ck_assert_ptr_nonnull(strstr(r.err.message, "--map"));
}
END_TEST

START_TEST(schedule_file)
{
        const char *text = inputs[0].text, *path = trace_file(text, strlen(text));
        struct dbio_trace_options options = {0};
        struct dbio_trace_feed *feed;
        struct dbio_trace_op op, was[8];
        struct dbio_err err = {0};
        char file[4200], data[8192];
        unsigned n = 0;

        snprintf(file, sizeof file, "%s.sched", path);
        struct trace_result r = trace_read_files("auto", &path, 1, NULL);
        memcpy(was, r.first, sizeof was);
        ck_assert_int_eq(dbio_trace_feed_open(&feed, "auto", &path, 1, &options, &err), 0);
        ck_assert_int_eq(dbio_trace_file_write(feed, file, &err), 0);
        dbio_trace_feed_close(feed);
        ck_assert_int_eq(dbio_trace_feed_open_file(&feed, file, &options, &err), 1);
        for (; dbio_trace_feed_next(feed, &op, &err) > 0; n++)
                ck_assert_int_eq(memcmp(&op, &was[n], sizeof op), 0);
        ck_assert_uint_eq(n, 4);
        ck_assert_uint_eq(dbio_trace_feed_summary(feed)->bytes[DBIO_READ], 4096);
        dbio_trace_feed_close(feed);
        FILE *in = fopen(file, "rb");
        size_t size = fread(data, 1, sizeof data, in);
        fclose(in);
        for (size_t cut = 0; cut <= size; cut += 7) { /* cut off, or with a byte changed: never taken for whole */
                for (int change = 0; change < 2; change++) {
                        char other[8192];
                        int code = 0;
                        memcpy(other, data, size);
                        if (change && cut < size)
                                other[cut] ^= 4;
                        in = fopen(file, "wb");
                        fwrite(other, change ? size : cut, 1, in);
                        fclose(in);
                        feed = NULL;
                        err = (struct dbio_err){0};
                        int opened = dbio_trace_feed_open_file(&feed, file, &options, &err);
                        while (opened > 0 && (code = dbio_trace_feed_next(feed, &op, &err)) > 0)
                                ;
                        expect(opened <= 0 || code < 0 || (!change && cut == size) || (change && cut == size));
                        expect(opened > 0 ? code >= 0 || err.code == DBIO_USAGE : opened == 0 || err.code == DBIO_USAGE);
                        dbio_trace_feed_close(feed);
                }
        }
        unlink(file);
        unlink(path);
}
END_TEST

TEST_MAIN("trace", counts, errors_say_where, bad_lines_may_be_left_out, truncated_anywhere, sorted_by_time, maps, schedule_file)
