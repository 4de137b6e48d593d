/* blktrace and blkparse: layouts of blkparse -f, what counts as one I/O, flushes. Each input's figures can be added up by hand;
 * how lines look was taken from blkparse 1.2.0 itself (-f with widths: `%D` is always `%3d,%-3d`, `%t` nine digits). */
#include <string.h>
#include <unistd.h>

#include "tests/tracekit.h"
#include "tests/unit.h"

static struct trace_result read_text(const char *format, const char *text)
{
        return trace_read(format, text, strlen(text), NULL);
}

static const struct layout {
        const char *format, *text;
        uint64_t completions;
        bool noted;
} layouts[] = {
        /* a read of 4 KiB, queued, issued and done, a write of 512, and a discard that were only queued, a flush */
        {"blkparse:%T.%t %D %a %d %S %n\\n",
         "0.000000000   8,0   Q R 80 8\n0.000000500   8,0   G R 80 8\n0.000001000   8,0   D R 80 8\n0.000090000   8,0   C R 80 8\n"
         "0.000100000   8,0   Q WS 8 1\n0.000200000   8,0   Q DS 160 64\n0.000400000   8,0   Q FWS 0 0\nCPU0 (x):\n"
         " Reads Queued:           1,        4KiB\t Writes Queued:           1,        1KiB\n", 1, false},
        /* bytes win over sectors; a name with blanks, and one that looks like the rest */
        {"blkparse:%5T.%9t, %p, %C, %2a|%3d|%M;%m|%8S+%N %n",
         "    0.000000000, 276, a b, c,  Q|  R|8;0|      80+4096 0\n    0.000100000, 276, x,  Q|  R|8;0|80+1 0,  Q| WS|8;0|       8+512 1\n"
         "    0.000200000, 276, kworker/0:1H,  Q| DS|8;0|     160+32768 64\n    0.000400000, 276, y,  Q|FWS|8;0|       0+0 0\n"
         "    0.000500000, 276, y,  U|  N|0;0|       0+0 0", 0, false},
        /* -F for queued ones, the others in blkparse's own layout */
        {"blkparse:%a%%\t%T.%t\t%D\t%d\t%S\t%n\t%P",
         "Q%\t0.000000000\t  8,0  \tR\t80\t8\t\n  8,0    1        3     0.000001000   276  D   R 80 + 8 [a b]\n"
         "  8,0    1        4     0.000100000     0  C   R 80 + 8 [0]\nQ%\t0.000100000\t  8,0  \tWS\t8\t1\t00 00 00 ..\n"
         "Q%\t0.000200000\t  8,0  \tDS\t160\t64\t\nQ%\t0.000400000\t  8,0  \tFWS\t0\t0\t\n", 1, false},
        /* without the step each line is an I/O, and that is said */
        {"blkparse:%T.%t %d %S %n", "0.000000000 R 80 8\n0.000100000 WS 8 1\n0.000200000 DS 160 64\n0.000400000 FWS 0 0\n"
                                    "  8,0    1        4     0.000500000     0  C   R 80 + 8 [0]\n", 0, true},
};

START_TEST(layouts_of_blkparse_f)
{
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
                struct trace_result r = read_text(layouts[i].format, layouts[i].text);
                const struct dbio_trace_summary *s = &r.summary;
                expect_msg(!r.code, "%s: %s", layouts[i].format, r.err.message);
                ck_assert_uint_eq(r.ops, 4);
                ck_assert_uint_eq(r.ntargets, 1);
                ck_assert_uint_eq(s->bytes[DBIO_READ], 4096);
                ck_assert_uint_eq(s->bytes[DBIO_WRITE], 512);
                ck_assert_uint_eq(s->bytes[DBIO_TRIM], 32768);
                ck_assert_uint_eq(s->ios[DBIO_FSYNC], 1);
                ck_assert_uint_eq(s->last_ns - s->first_ns, 400000);
                ck_assert_uint_eq(s->max_end, (160 + 64) * 512);
                ck_assert_uint_eq(s->completions, layouts[i].completions);
                expect_msg(!s->note[0] == !layouts[i].noted, "%s: %s", layouts[i].format, s->note);
        }
}
END_TEST

START_TEST(layouts_that_are_wrong)
{
        static const char *const wrong[][2] = {
                {"blkparse:", "are needed"},          {"blkparse:%T.%t %a %S %n", "are needed"}, {"blkparse:%T %S %d %n", "are needed"},
                {"blkparse:%T.%t %d %S", "are needed"}, {"blkparse:%T.%t %d %S %q", "no such field"},
                {"blkparse:%T.%t %d %S %n %", "no such field"}, {"blkparse:%T.%t %d %S%n", "between two fields"},
                {"blkparse:%T.%t\\n%d %S %n", "one line"},
        };
        struct dbio_trace_options issue = {.issue_events = true};
        const char *line = "0.000000000 R 80 8\n";

        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                struct trace_result r = read_text(wrong[i][0], line);
                expect_msg(r.code == -1 && r.err.code == DBIO_USAGE && strstr(r.err.message, wrong[i][1]), "%s: %s", wrong[i][0],
                           r.err.message);
        }
        struct trace_result r = trace_read("blkparse:%T.%t %d %S %n", line, strlen(line), &issue);
        expect_msg(r.code == -1 && strstr(r.err.message, "%a"), "%s", r.err.message);
        r = read_text("blkparse:%T.%t %d %S %n", "0.000000000 R 80 8\n0.1234567890 R 80 8\n");
        expect_msg(r.code == -1 && r.err.line == 2, "%s", r.err.message);
        r = read_text("spc:%T", line);
        expect_msg(r.code == -1 && strstr(r.err.message, "no trace format"), "%s", r.err.message);
}
END_TEST

/* A write with REQ_PREFLUSH is a flush and then the write (linux Documentation/block/writeback_cache_control.rst): here as in
 * cases' ftrace_blk, where the device gets FN, then WSM. */
START_TEST(flush_before_a_write)
{
        struct trace_result r = read_text("blkparse", "  7,0    0   655.247189940 20340  Q FWFSM 2100790 + 5 [m]\n"
                                                      "  7,0    0   655.247202649    10  D  FN [k]\n"
                                                      "  7,0    0   655.247459179    10  D WSM 2100790 + 5 [k]\n"
                                                      "  7,0    1   655.247502548    22  C WSM 2100790 + 5 [0]\n");

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 2);
        ck_assert_int_eq(r.first[0].kind, DBIO_FSYNC);
        ck_assert_int_eq(r.first[1].kind, DBIO_WRITE);
        ck_assert_int_eq(r.first[1].flags, DBIO_OP_FUA);
        ck_assert_uint_eq(r.first[0].t_ns, r.first[1].t_ns);
        ck_assert_uint_eq(r.summary.preflushes, 1);
        ck_assert_uint_eq(r.summary.ios[DBIO_FSYNC], 0);
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 5 * 512);
}
END_TEST

/* A flush of a loop device and the write behind it, from the blk tracer of Linux 6.18: the flush took 77,796 ns for who had asked,
 * 71,056 ns as a command of the device. */
START_TEST(flushes_have_completions)
{
        const char *text = "  7,0    0 18496.167654716 17016  Q FWS [dd]\n  7,0    0 18496.167655798 17016  G FWS [dd]\n"
                           "  7,0    0 18496.167660645    54  D  FN [kworker/0:1H]\n  7,0    0 18496.167731701    14  C  FN 0 [0]\n"
                           "  7,0    0 18496.167732512    14  C  WS 0 [0]\n  7,0    0 18496.167741676 17016  A WFS 2056 + 8 <- (259,0) 8\n"
                           "  7,0    0 18496.167742086 17016  Q WFS 2056 + 8 [dd]\n  7,0    0 18496.167743789 17016  D  WS 2056 + 8 [dd]\n"
                           "  7,0    0 18496.167762847    14  C  WS 2056 + 8 [0]\n  7,0    0 18496.167766323    54  D  FN [kworker/0:1H]\n"
                           "  7,0    0 18496.171644544    14  C  FN 0 [0]\n  7,0    0 18496.171645756    14  C  WS 2056 [0]\n";
        struct dbio_trace_options issue = {.issue_events = true};
        struct trace_result r = trace_read("blkparse", text, strlen(text), NULL);

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 2);
        ck_assert_uint_eq(r.summary.completions, 2);
        ck_assert_int_eq(r.first[0].kind, DBIO_FSYNC);
        ck_assert_uint_eq(r.first[0].offset, 0);
        ck_assert_uint_eq(r.first[1].after, 1);
        ck_assert_uint_eq(r.first[1].think_ns, 742086 - 732512);
        r = trace_read("blkparse", text, strlen(text), &issue);
        ck_assert_uint_eq(r.ops, 3);
        ck_assert_uint_eq(r.summary.completions, 3);
        ck_assert_uint_eq(r.first[1].think_ns, 743789 - 731701);
        ck_assert_uint_eq(r.first[2].after, 1);
        ck_assert_uint_eq(r.first[2].think_ns, 766323 - 762847);
}
END_TEST

/* Only issues were recorded (blktrace -a issue): a block that is written again was not requeued. */
START_TEST(issues_without_completions)
{
        struct trace_result r = read_text("blkparse", "  8,0 1 1 0.000000000 276 D WS 8 + 8 [a]\n  8,0 1 2 0.100000000 276 D WS 8 + 8 [a]\n");

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 2);
        r = read_text("blkparse", "  8,0 1 1 0.000000000 276 D WS 8 + 8 [a]\n  8,0 1 2 0.100000000 276 D WS 8 + 8 [a]\n"
                                  "  8,0 1 2 0.200000000 276 C WS 8 + 8 [0]\n");
        ck_assert_uint_eq(r.ops, 1);
}
END_TEST

/* Each of these is one I/O of the application, however often it is queued below. A 253,0 -> 8,2 -> 8,0: a volume on a partition;
 * 9,0 -> 8,0 and 8,16: a stripe that cuts; a flush that goes to both. */
START_TEST(remaps_count_once)
{
        struct trace_result r = read_text("blkparse",
                "253,0 0 1 0.000000000 7 Q WS 1000 + 8 [a]\n  8,2 0 2 0.000001000 7 A WS 3048 + 8 <- (253,0) 1000\n"
                "  8,0 0 3 0.000002000 7 A WS 5096 + 8 <- (8,2) 3048\n  8,0 0 4 0.000003000 7 Q WS 5096 + 8 [a]\n");

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 1);
        ck_assert_str_eq(r.targets[0], "253_0");
        r = read_text("blkparse",
                "  9,0 0 1 0.000000000 7 Q R 0 + 1024 [a]\n  8,0 0 2 0.000001000 7 A R 64 + 512 <- (9,0) 0\n"
                "  8,0 0 3 0.000002000 7 Q R 64 + 512 [a]\n  8,16 0 4 0.000003000 7 A R 64 + 512 <- (9,0) 512\n"
                "  8,16 0 5 0.000004000 7 Q R 64 + 512 [a]\n  9,0 0 6 0.000005000 7 Q FWS [a]\n"
                "  8,0 0 7 0.000006000 7 A FWS 0 + 0 <- (9,0) 0\n  8,0 0 8 0.000007000 7 Q FWS [a]\n"
                "  8,16 0 9 0.000008000 7 A FWS 0 + 0 <- (9,0) 0\n  8,16 0 10 0.000009000 7 Q FWS [a]\n");
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 2);
        ck_assert_uint_eq(r.summary.bytes[DBIO_READ], 1024 * 512);
        ck_assert_uint_eq(r.summary.ios[DBIO_FSYNC], 1);
        /* the partition itself is not traced: what it sends to its disk counts */
        r = read_text("blkparse", "  8,0 0 1 0.000000000 7 A R 2056 + 8 <- (8,1) 8\n  8,0 0 2 0.000001000 7 Q R 2056 + 8 [a]\n");
        ck_assert_uint_eq(r.ops, 1);
}
END_TEST

START_TEST(too_many_devices)
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        for (unsigned i = 0; i < 65540; i++)
                fprintf(out, "%u,%u 0 1 0.%09u 7 Q R 0 + 8 [a]\n", i / 256, i % 256, i);
        fclose(out);
        struct trace_result r = trace_read("blkparse", text, size, NULL);
        expect_msg(r.code == -1 && strstr(r.err.message, "65,535 devices"), "%s", r.err.message);
        ck_assert_uint_eq(r.err.line, 65536);
        free(text);
}
END_TEST

/* struct blk_io_trace of linux/blktrace_api.h, little endian; returns its size. */
static size_t put_record(unsigned char *to, uint64_t t_ns, uint64_t sector, uint32_t bytes, uint32_t action, uint32_t device,
                         uint32_t cpu, const unsigned char *pdu, unsigned pdu_size)
{
        const uint64_t values[][2] = {{0x65617407, 4}, {1, 4}, {t_ns, 8}, {sector, 8}, {bytes, 4}, {action, 4},
                                      {7, 4}, {device, 4}, {cpu, 4}, {0, 2}, {pdu_size, 2}};
        size_t n = 0;

        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
                for (unsigned k = 0; k < values[i][1]; k++)
                        to[n++] = (unsigned char)(values[i][0] >> 8 * k);
        if (pdu_size)
                memcpy(to + n, pdu, pdu_size);
        return n + pdu_size;
}

/* With the kernel's blk_cgroup option __BLK_TA_CGROUP (0x100) is in the action and the cgroup's 8 bytes come first in the pdu. */
START_TEST(records_with_cgroups)
{
        unsigned char data[512], pdu[24] = {1, 2, 3, 4, 5, 6, 7, 8, 0x0F, 0xD0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0xE8};
        const uint32_t queued = 0x100 | 1 | 0x1 << 16, remapped = 0x100 | 15 | 0x1 << 16, above = 253u << 20, below = 8u << 20;
        size_t n = put_record(data, 1000, 1000, 4096, queued, above, 0, pdu, 8);

        n += put_record(data + n, 2000, 2000, 4096, remapped, below, 0, pdu, 24); /* from 253,0 sector 1000 to 8,0 */
        n += put_record(data + n, 3000, 2000, 4096, queued, below, 0, pdu, 8);
        struct trace_result r = trace_read("blktrace", data, n, NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 1);
        ck_assert_uint_eq(r.summary.bytes[DBIO_READ], 4096);
        ck_assert_str_eq(r.summary.note, "");
}
END_TEST

/* blkparse refuses them; here they are taken, and that is said. */
START_TEST(records_of_another_cpu)
{
        unsigned char data[64];
        size_t n = put_record(data, 1000, 1000, 4096, 1 | 0x1 << 16, 8u << 20, 1, NULL, 0);

        for (unsigned cpu = 0; cpu < 2; cpu++) {
                char path[4200];
                const char *paths[] = {path};
                snprintf(path, sizeof path, "%s.blktrace.%u", trace_file(data, n), cpu);
                FILE *out = fopen(path, "wb");
                fwrite(data, n, 1, out);
                fclose(out);
                struct trace_result r = trace_read_files("auto", paths, 1, NULL);
                expect_msg(!r.code, "%s", r.err.message);
                ck_assert_uint_eq(r.ops, 1);
                expect_msg(!strstr(r.summary.note, "CPU") == (cpu == 1), "%s", r.summary.note);
                unlink(path);
        }
}
END_TEST

TEST_MAIN("trace_blk", layouts_of_blkparse_f, layouts_that_are_wrong, flush_before_a_write, flushes_have_completions, issues_without_completions,
          remaps_count_once, too_many_devices, records_with_cgroups, records_of_another_cpu)
