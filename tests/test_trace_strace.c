/* strace's lines in all its forms of stamps, processes and names, as strace 6.1 prints them. */
#include <string.h>

#include "tests/tracekit.h"
#include "tests/unit.h"

static struct trace_result read_text(const char *text)
{
        return trace_read("strace", text, strlen(text), NULL);
}

/* A read of 16 KiB, 300 us later a write of 512 bytes, 200 us later an fsync. */
static const char *const forms[] = {
        "1796083589.555118 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n1796083589.555418 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n"
        "1796083589.555618 fsync(3</d/a>)       = 0\n",
        "12:06:29.555118 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n12:06:29.555418 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n"
        "12:06:29.555618 fsync(3</d/a>)       = 0\n",
        "12:06:29.604200272 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n12:06:29.604500272 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n"
        "12:06:29.604700272 fsync(3</d/a>)       = 0\n",
        /* -r: from line to line, whatever the lines are */
        "     0.000000 openat(AT_FDCWD</d>, \"a\", O_RDWR) = 3</d/a>\n     0.000144 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n"
        "     0.000100 brk(NULL) = 0x1\n     0.000200 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n     0.000150 --- SIGCHLD {} ---\n"
        "     0.000050 fsync(3</d/a>)       = 0\n",
        "23580     0.000152 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n23581     0.000300 pwrite64(3</d/a>, \"\"..., 512, 0 <unfinished ...>\n"
        "23580     0.000200 fsync(3</d/a>)       = 0\n23581     0.000022 <... pwrite64 resumed>) = 512\n",
        "[pid 23580]     12.000152 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n[pid 23581]      0.000300 pwrite64(3</d/a>, \"\"..., 512, 0) = "
        "512\n[pid 23580]      0.000200 fsync(3</d/a>)       = 0\n",
        "     0.000000000 brk(NULL) = 0\n     0.000029915 pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n"
        "     0.000300000 pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n     0.000200000 fsync(3</d/a>)       = 0\n",
        /* -r with -t, -tt, -ttt */
        "23:59:59 (+     0.000000) pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n00:00:00 (+     0.000300) pwrite64(3</d/a>, \"\"..., 512, 0) = "
        "512\n00:00:00 (+     0.000200) fsync(3</d/a>)       = 0\n",
        "12:06:29.525187 (+     0.000000) pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n12:06:29.525499 (+     0.000300) pwrite64(3</d/a>, "
        "\"\"..., 512, 0) = 512\n12:06:29.525800 (+     0.000200) fsync(3</d/a>)       = 0\n",
        "1796083589.555118 (+     0.000000) pread64(3</d/a>, \"\"..., 16384, 0) = 16384\n1796083589.555418 (+     0.000300) pwrite64(3</d/a>, "
        "\"\"..., 512, 0) = 512\n1796083589.555618 (+     0.000200) fsync(3</d/a>)       = 0\n",
        /* a name with a mark behind it; a call of a name that goes on later; a message that cuts a line */
        "1796083589.555118 pread64(3</d/a>(deleted), \"\"..., 16384, 0) = 16384\n1796083589.555418 pwrite64(3</d/a>(deleted), \"\"..., 512, 0) = "
        "512\n7 1796083589.555618 fsync(3</d/a> <unfinished ...>\n7 1796083589.555700 <... fsync resumed>)       = 0\n",
        "1796083589.555118 pread64(3</d/a>, strace: Process 23130 attached\n <unfinished ...>\n[pid 23130] 1796083589.555418 "
        "pwrite64(3</d/a>, \"\"..., 512, 0) = 512\n[pid 7] 1796083589.555500 <... pread64 resumed>\"\"..., 16384, 0) = 16384\n"
        "[pid 23130] 1796083589.555618 fsync(3</d/a> <unfinished ...>\n1796083589.555650 <... fsync resumed>) = 0\n",
};

START_TEST(forms_of_stamps)
{
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
                struct trace_result r = read_text(forms[i]);
                const struct dbio_trace_summary *s = &r.summary;
                expect_msg(!r.code, "%s: %s", forms[i], r.err.message);
                expect_msg(r.ops == 3 && r.ntargets == 1 && !strcmp(r.targets[0], "a"), "%s", forms[i]);
                expect_msg(s->bytes[DBIO_READ] == 16384 && s->bytes[DBIO_WRITE] == 512 && s->ios[DBIO_FSYNC] == 1, "%s", forms[i]);
                expect_msg(r.first[1].t_ns == 300000 && r.first[2].t_ns == 500000, "%s", forms[i]);
                expect_msg(!s->inversions && !s->untimed, "%s", forms[i]);
        }
}
END_TEST

START_TEST(relative_stamps_of_several_files)
{
        const char *text = "     0.000000 fsync(3</d/a>) = 0\n";
        char copy[4200];
        const char *paths[] = {trace_file(text, strlen(text)), copy};

        snprintf(copy, sizeof copy, "%s.2", paths[0]);
        FILE *out = fopen(copy, "w");
        fputs(text, out);
        fclose(out);
        struct trace_result r = trace_read_files("strace", paths, 2, NULL);
        expect_msg(r.code == -1 && r.err.code == DBIO_USAGE && strstr(r.err.message, "-r") && r.err.line == 1, "%s", r.err.message);
        remove(copy);
        remove(paths[0]);
}
END_TEST

/* What is no file, or at no known place, is counted and left out; a device is known by its name alone. */
START_TEST(what_descriptors_are)
{
        struct trace_result r = read_text(
                "1700000001.000000 openat(AT_FDCWD</d>, \"link\", O_RDWR) = 3</e/real>\n1700000002.000000 write(3</e/real>, \"ab\", 2) = 2\n"
                "1700000003.000000 openat(AT_FDCWD</d>, \"t\", O_WRONLY) = 4</dev/null<char 1:3>>\n"
                "1700000004.000000 write(4</dev/null<char 1:3>>, \"ab\", 2) = 2\n"
                "1700000005.000000 openat(AT_FDCWD</d>, \"l\", O_WRONLY|O_APPEND) = 5</e/log>\n1700000006.000000 write(5</e/log>, \"ab\", 2) = 2\n"
                "1700000007.000000 pread64(6</dev/sda<block 8:0>>, \"\"..., 512, 512) = 512\n"
                "1700000008.000000 pread64(7</dev/raw/raw1<char 162:1>>, \"\"..., 512, 0) = 512\n"
                "1700000009.000000 read(8<TCP:[127.0.0.1:1->127.0.0.1:2]>, \"x\", 1) = 1\n");

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 3);
        ck_assert_str_eq(r.targets[0], "real");
        ck_assert_str_eq(r.targets[1], "sda");
        ck_assert_str_eq(r.targets[2], "raw1");
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 2);
}
END_TEST

/* Write-through as recorded: by the descriptor, or by the call. */
START_TEST(writes_that_go_through)
{
        struct trace_result r = read_text(
                "1700000001.000000 openat(AT_FDCWD, \"/d/a\", O_RDWR|O_DSYNC) = 3\n1700000002.000000 pwrite64(3, \"\"..., 512, 0) = 512\n"
                "1700000003.000000 openat(AT_FDCWD, \"/d/b\", O_RDWR) = 4\n1700000004.000000 pwrite64(4, \"\"..., 512, 0) = 512\n"
                "1700000005.000000 pwritev2(4, [{iov_base=\"\", iov_len=512}], 1, 512, RWF_DSYNC) = 512\n"
                "1700000006.000000 pread64(3, \"\"..., 512, 0) = 512\n");

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 4);
        ck_assert_uint_eq(r.first[0].flags, DBIO_OP_FUA);
        ck_assert_uint_eq(r.first[1].flags, 0);
        ck_assert_uint_eq(r.first[2].flags, DBIO_OP_FUA);
        ck_assert_uint_eq(r.first[2].offset, 512);
        ck_assert_uint_eq(r.first[3].flags, 0);
}
END_TEST

/* Without -yy descriptors of two processes cannot be told apart, which is said. */
START_TEST(processes_without_names)
{
        struct trace_result r = read_text("7 1700000001.000000 openat(AT_FDCWD, \"/d/a\", O_RDWR) = 3\n"
                                          "8 1700000002.000000 openat(AT_FDCWD, \"/d/b\", O_RDWR) = 3\n7 1700000003.000000 fsync(3) = 0\n");

        expect_msg(!r.code && strstr(r.summary.note, "-yy"), "%s%s", r.err.message, r.summary.note);
        r = read_text("7 1700000001.000000 openat(AT_FDCWD, \"/d/a\", O_RDWR) = 3\n7 1700000001.500000 close(3) = 0\n"
                      "8 1700000002.000000 openat(AT_FDCWD, \"/d/b\", O_RDWR) = 3\n7 1700000003.000000 fsync(3) = 0\n");
        expect_msg(!r.code && !strstr(r.summary.note, "-yy"), "%s%s", r.err.message, r.summary.note);
}
END_TEST

/* As many calls as threads wait in: here 5,000, all resumed. */
START_TEST(many_unfinished_calls)
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        for (unsigned i = 0; i < 5000; i++)
                fprintf(out, "%u 1700000001.%06u pread64(3</d/a>,  <unfinished ...>\n", 1000 + i, i);
        for (unsigned i = 0; i < 5000; i++)
                fprintf(out, "%u 1700000002.%06u <... pread64 resumed>\"\"..., 512, %u) = 512\n", 1000 + i, i, 512 * i);
        fclose(out);
        struct trace_result r = trace_read("strace", text, size, NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 5000);
        ck_assert_uint_eq(r.summary.last_ns - r.summary.first_ns, 4999000);
        free(text);
}
END_TEST

TEST_MAIN("trace_strace", forms_of_stamps, relative_stamps_of_several_files, what_descriptors_are, writes_that_go_through,
          processes_without_names, many_unfinished_calls)
