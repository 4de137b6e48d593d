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
        {"blkparse",
         "  8,0    1        1     0.000000000   276  Q  WS 8 + 8 [a b]\n  8,0    1        2     0.000000500   276  G  WS 8 + 8 [a b]\n"
         "  8,0    1        3     0.000001000   276  D  WS 8 + 8 [a b]\n  8,0    1        4     0.000100000     0  C  WS 8 + 8 [0]\n"
         "  8,0    1        5     0.000200000   276  Q   R 80 + 1 [a b]\n  8,0    1        6     0.000300000   276  Q  DS 160 + 64 [x]\n"
         "  8,0    1        7     0.000400000   276  Q FWS [x]\nCPU0 (a):\n Reads Queued: 1\n",
         1, 512, 1, 4096, 1, 1, 400000, 114688},
        {"blkparse",
         "# tracer: blk\n#\n  7,0    0   653.955640576 21124  Q  WS 10 + 2 [m]\n  7,0    0   653.956455422 21124  Q FWS [m]\n"
         "  7,0    0   653.979847832 20290  Q  RS 20 + 32 [m]",
         1, 16384, 1, 1024, 0, 1, 24207256, 26624},
        {"msr", "128166372003061629,hm,0,Write,7014912,4096,26\n128166372016382155,hm,0,Read,1074696192,512,113\n", 1, 512, 1, 4096, 0,
         0, 1332052600, 1074696704},
        {"spc", "0,16,8192,W,0.551706,Alpha/NT\n1,\t8, 512 ,r,0.554041\n", 1, 512, 1, 8192, 0, 0, 2335000, 16384},
        {"alibaba", "419,W,8192,16384,1577808144360767\r\n725,R,0,4096,1577808144360813", 1, 4096, 1, 16384, 0, 0, 46000, 24576},
        /* two in a second: half a second apart */
        {"tencent", "1538323200,16,8,0,1063\n1538323200,0,2,1,1627\n", 1, 4096, 1, 1024, 0, 0, 500000000, 12288},
        {"systor", "Timestamp,Response,IOType,LUN,Offset,Size\n1456135200.5,0.001,W,0,4096,4096\n1456135201.013118000,0.001,R,0,0,512\n"
                   "1456135202.0,,,0,0,512\n", 1, 512, 1, 4096, 0, 0, 513118000, 8192},
        {"k5", "1157,3.828359000,W,4096,4096\n1157,3.833921000,R,0,8192\n", 1, 8192, 1, 4096, 0, 0, 5562000, 8192},
        {"fiu", "0 4892 syslogd 16 8 W 6 0 531e779e\n10 4892 syslogd 0 8 R 6 0 531e779e\n", 1, 4096, 1, 4096, 0, 0, 10, 12288},
        {"cloudphysics-csv", "version,time,op,size,lbn\n1,5633898,2a,512,1\n1,5633899,28,1024,2\n", 1, 1024, 1, 512, 0, 0, 1000000000,
         2048},
        {"biosnoop",
         "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
         "0.000000    a b c          1950   xvda1   W 8          4096       0.50\n"
         "0.002000    kworker/0:3    1950   xvda1   R 0          512        0.50\n",
         1, 512, 1, 4096, 0, 0, 2000000, 8192},
        {"strace",
         "7 100.000000 pread64(3</a/b.ibd>, \"x, 1) = 2\", 16384, 16384) = 16384 <0.000100>\n"
         "7 100.000500 pwrite64(4</a/log>, \"y\"..., 512, 1024 <unfinished ...>\n8 100.000600 fsync(4</a/log>) = 0 <0.000100>\n"
         "7 100.000700 <... pwrite64 resumed>) = 512 <0.000200>\n8 100.000800 close(4</a/log>) = 0 <0.000001>\n",
         1, 16384, 1, 512, 0, 1, 600000, 32768},
        {"strace",
         "10:00:00.000000 openat(AT_FDCWD, \"/d/x\", O_RDWR) = 5\n10:00:01.000000 write(5, \"ab\", 2) = 2\n"
         "10:00:02.000000 io_submit(0x7f, 2, [{aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5, aio_nbytes=4096, aio_offset=8192}, "
         "{pread, fildes=5, buf=0x1, nbytes=512, offset=0}]) = 2\n10:00:03.000000 pread(5, \"\", 8, 0) = -1 EIO (x)\n"
         "10:00:03.000000 fdatasync(5) = 0\n",
         1, 512, 2, 4098, 0, 1, 2000000000, 12288},
        {"procmon",
         "\xEF\xBB\xBF" "\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\"\r\n"
         "\"11:59:59.0000000 PM\",\"sqlservr.exe\",\"1\",\"ReadFile\",\"C:\\d.mdf\",\"SUCCESS\",\"Offset: 2,275,840, Length: 16,384, "
         "I/O Flags: Non-cached\"\r\n"
         "\"12:00:00.5000000 AM\",\"sqlservr.exe\",\"1\",\"WriteFile\",\"C:\\l.ldf\",\"SUCCESS\",\"Offset: 512, Length: 1.024, "
         "I/O Flags: Non-cached, Write Through\"\r\n"
         "\"12:00:01.0000000 AM\",\"sqlservr.exe\",\"1\",\"FlushBuffersFile\",\"C:\\l.ldf\",\"SUCCESS\",\"\"\r\n"
         "\"12:00:01.0000000 AM\",\"x.exe\",\"1\",\"RegOpenKey\",\"HKLM\",\"SUCCESS\",\"\"\r\n",
         1, 16384, 1, 1024, 0, 1, 2000000000, 2292224},
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
        {"auto", "0, 2023424, 65536\n1, 8192, 4096\n", 1, "version 1"},
        {"fio-iolog", "", 0, "empty"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 b read 0 4096\n", 4, "was not added"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n3 a read 0 4096\n", 3, "was not opened"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 99999999999999999999 1\n", 4, "in bytes"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 18446744073709551615 4096\n", 4, "2^63"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a read 0 4294967296\n", 4, "at most 64 MiB"},
        {"fio-iolog", "fio version 3 iolog\n1 a add\n2 a open\n3 a raed 0 512\n", 4, "raed"},
        {"spc", "0,16,8192,W,0.5\n2,16,4096,W,2 448003\n", 2, "no time"},
        {"msr", "128166372003061629,hm,0,Write,7014912\n", 1, "columns"},
        {"msr", "no names\n128166372003061629,hm,0,Write,0,512,1\n", 1, "columns"},
        {"msr", "1172167220.306162,hm,0,Write,7014912,512,1\n", 1, "100 ns"},
        {"alibaba", "1,X,0,512,5\n", 1, "no operation"},
        {"alibaba", "1,R,99999999999999999999,512,5\n", 1, "no offset"},
        {"alibaba", "1,R,9223372036854775807,512,5\n", 1, "2^63"},
        {"alibaba", "1,R,0,4294967296,5\n", 1, "64 MiB"},
        {"csv:time=1:s", "1\n", 0, "are needed"},
        {"csv:time=1:s,offset=2,length=3,op=Kind", "t,o,l,k\n1,0,512,R\n", 1, "no column Kind"},
        {"csv:header=1,time=t:s,offset=o,length=l,op=k", "x\n1,0,512,R\n", 2, "no column t"},
        {"csv:time=1:h,offset=2,length=3,op=4", "", 0, "ms"},
        {"blkparse", "  8,0    1        1     0.000000000   276  Q  WS 8 + 8 [a b]\nrubbish\n", 2, "no line of blkparse"},
        {"blkparse", "  8,0 1 1 0.000000000 276 Q WS 18014398509481984 + 8 [a]\n", 1, "2^63"},
        {"blktrace", "abcdefgh", 0, "magic"},
        {"cloudphysics", "abcdefgh", 0, "no vscsi record"},
        {"biosnoop", "TIME(ms)     DISK             COMM             PID    LAT(ms)\n", 1, "no size"},
        {"biosnoop", "COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n", 1, "no time"},
        {"biosnoop", "0.1 x 1 sda W 8 512 0.1\n", 1, "no line"},
        {"strace", "7 1.0 fsync(3</a>) = 0\n7 1.0 what is this\n", 2, "no line of strace"},
        {"procmon", "\"Operation\",\"Path\"\n", 1, "columns"},
        {"nonsense", "", 0, "no trace format"},
        {"auto", "nothing known", 0, "not recognised"},
        {"auto", "\x1F\x8B\x08", 0, "packed by gzip"},
        {"msr", "\xFD" "7zXZ", 1, "columns"}, /* not all of xz's mark */
        {"msr", "\x28\xB5\x2F\xFD", 0, "packed by zstd"},
        {"blktrace", "PK\3\4", 0, "packed by zip"},
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

/* By hand: of /d regions 1, 2 (an op on both), 2^22 and 2^40 are touched, of e region 7. */
START_TEST(compact)
{
        const char *text = "fio version 3 iolog\n1 d add\n1 d open\n1 e add\n1 e open\n"
                           "1 d read 4398046511616 512\n2 d write 2096640 1024\n3 e read 7344128 4096\n4 d read 1048576 512\n"
                           "5 d datasync 0 0\n6 d write 1152921504606847488 512\n7 d read 2097152 4096\n";
        const uint64_t want[] = {2 * 1048576 + 512, 1048064, 4096, 0, 0, 3 * 1048576 + 512, 1048576};
        const char *both[] = {"d=all@100MiB", "e=all"}, *path = "/dev/null";
        struct dbio_trace_options options = {.compact = true};
        struct trace_result r = trace_read("fio-iolog", text, strlen(text), &options);

        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.ops, 7);
        for (unsigned i = 0; i < 7; i++)
                ck_assert_uint_eq(r.first[i].offset, want[i]);
        ck_assert_uint_eq(r.summary.max_end, 3 * 1048576 + 1024);
        /* regions 0 to 2^40 without the 4 of d, 0 to 7 without the one of e */
        ck_assert_uint_eq(r.summary.gap_bytes, (((uint64_t)1 << 40) + 1 - 4 + 7) * 1048576);
        options = (struct dbio_trace_options){.compact = true, .maps = both, .nmaps = 2};
        r = trace_read("fio-iolog", text, strlen(text), &options);
        ck_assert_uint_eq(r.ntargets, 1);
        for (unsigned i = 0; i < 7; i++) /* e comes first */
                ck_assert_uint_eq(r.first[i].offset, i == 2 ? 4096 : i == 4 ? 0 : want[i] + 1048576);
        r = trace_read_files("fio-iolog", &path, 1, &options);
        ck_assert_int_eq(r.code, -1);
        ck_assert_ptr_nonnull(strstr(r.err.message, "no regular file"));
}
END_TEST

/* Process Monitor's files are those of their whole path, and what was written through is. */
START_TEST(files_of_one_name)
{
        const char *text = "\"Process Name\",\"Time of Day\",\"Operation\",\"Path\",\"Result\",\"Detail\"\r\n"
                           "\"s\",\"10:00:00.0 AM\",\"WriteFile\",\"D:\\a.ldf\",\"SUCCESS\",\"Offset: 0, Length: 512, I/O Flags: Non-cached, "
                           "Write Through\"\r\n"
                           "\"s\",\"10:00:01.0 AM\",\"WriteFile\",\"E:\\a.ldf\",\"SUCCESS\",\"Offset: 0, Length: 512, I/O Flags: Non-cached\"\r\n";
        const char *map[] = {"D:\\a.ldf=log", "a.ldf=other"};
        struct dbio_trace_options options = {.maps = map, .nmaps = 2};
        struct trace_result r = trace_read("auto", text, strlen(text), NULL);

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_str_eq(r.targets[0], "a_ldf");
        ck_assert_str_eq(r.targets[1], "a_ldf-2");
        ck_assert_uint_eq(r.first[0].flags, DBIO_OP_FUA);
        ck_assert_uint_eq(r.first[1].flags, 0);
        r = trace_read("auto", text, strlen(text), &options);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_str_eq(r.targets[0], "log");
        ck_assert_str_eq(r.targets[1], "other");
}
END_TEST

static size_t put(unsigned char *to, uint64_t value, unsigned bytes, bool big)
{
        for (unsigned i = 0; i < bytes; i++)
                to[i] = (unsigned char)(value >> 8 * (big ? bytes - 1 - i : i));
        return bytes;
}

/* A record as linux/blktrace_api.h has it. */
static size_t put_record(unsigned char *to, bool big, uint64_t t_ns, uint64_t sector, uint32_t bytes, uint32_t action)
{
        const uint64_t values[][2] = {{0x65617407, 4}, {1, 4}, {t_ns, 8}, {sector, 8}, {bytes, 4}, {action, 4},
                                      {7, 4}, {8 << 20, 4}, {0, 4}, {0, 2}, {0, 2}};
        size_t n = 0;

        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
                n += put(to + n, values[i][0], (unsigned)values[i][1], big);
        return n;
}

/* Q of a write, its D twice (requeued), C, Q of a discard, Q of a flush, a note; in both byte orders, cut off anywhere. */
START_TEST(blktrace_records)
{
        for (int big = 0; big < 2; big++) {
                unsigned char data[1024];
                size_t n = 0;
                n += put_record(data + n, big, 1000, 8, 4096, 1 | 0x2 << 16);
                n += put_record(data + n, big, 2000, 8, 4096, 7 | 0x2 << 16);
                n += put_record(data + n, big, 3000, 8, 4096, 7 | 0x2 << 16);
                n += put_record(data + n, big, 4000, 8, 4096, 8 | 0x2 << 16);
                n += put_record(data + n, big, 5000, 80, 65536, 1 | 0x2002 << 16);
                n += put_record(data + n, big, 6000, 0, 0, 1 | 0x6 << 16);
                n += put_record(data + n, big, 7000, 0, 0, 2 | 0x400 << 16);
                struct dbio_trace_options issue = {.issue_events = true};
                struct trace_result r = trace_read("auto", data, n, NULL);
                expect_msg(!r.code, "%s", r.err.message);
                ck_assert_uint_eq(r.ops, 3);
                ck_assert_uint_eq(r.summary.ios[DBIO_WRITE], 1);
                ck_assert_uint_eq(r.summary.bytes[DBIO_TRIM], 65536);
                ck_assert_uint_eq(r.summary.ios[DBIO_FSYNC], 1);
                ck_assert_uint_eq(r.summary.completions, 1);
                ck_assert_uint_eq(r.summary.last_ns - r.summary.first_ns, 5000);
                r = trace_read("blktrace", data, n, &issue);
                ck_assert_int_eq(r.code, 0);
                ck_assert_uint_eq(r.ops, 1);
                for (size_t cut = 0; cut < n; cut++) {
                        r = trace_read("blktrace", data, cut, NULL);
                        expect(cut % 48 ? r.code == -1 && r.err.code == DBIO_USAGE : r.code == 0);
                }
        }
}
END_TEST

START_TEST(vscsi_records)
{
        unsigned char data[256];
        size_t n = 0;

        for (unsigned i = 0; i < 3; i++) {
                const uint64_t one[][2] = {{i, 4}, {512, 4}, {1, 4}, {i ? 0x2a : 0x28, 2}, {0x100, 2}, {i, 8}, {1000 + i, 8}};
                for (size_t k = 0; k < sizeof one / sizeof *one; k++)
                        n += put(data + n, one[k][0], (unsigned)one[k][1], false);
        }
        struct trace_result r = trace_read("auto", data, n, NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.summary.ios[DBIO_READ], 1);
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 1024);
        ck_assert_uint_eq(r.summary.max_end, 1536);
        ck_assert_uint_eq(r.summary.last_ns - r.summary.first_ns, 2000);
        r = trace_read("cloudphysics", data, n - 1, NULL);
        ck_assert_int_eq(r.code, -1);
        ck_assert_ptr_nonnull(strstr(r.err.message, "byte 64"));
        for (n = 0; n < 80;) {
                const uint64_t two[][2] = {{0x2a, 2}, {0x200, 2}, {1, 4}, {4096, 4}, {1, 4}, {8, 8}, {1000 + n, 8}, {500, 8}};
                for (size_t k = 0; k < sizeof two / sizeof *two; k++)
                        n += put(data + n, two[k][0], (unsigned)two[k][1], false);
        }
        r = trace_read("auto", data, n, NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 8192);
        ck_assert_uint_eq(r.summary.completions, 2);
}
END_TEST

/* W means read there (Zenodo 3340631): the words of the spec decide. */
START_TEST(any_table)
{
        const char *text = "265 a W 4096 512\n300 b R 0 1024\n", *named = "Kind;At;Where;Size\nput;1.5;8;2\nget;2;0;1\n";
        struct trace_result r = trace_read("csv:separator=blank,time=1:ns,device=2,op=3:W/R,offset=4,length=5", text, strlen(text), NULL);

        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.summary.bytes[DBIO_READ], 512);
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 1024);
        r = trace_read("csv:separator=semicolon,time=At:ms,op=Kind:get/put,offset=Where:sectors,length=Size:4096", named, strlen(named),
                       NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.summary.bytes[DBIO_WRITE], 8192);
        ck_assert_uint_eq(r.summary.max_end, 12288);
        ck_assert_uint_eq(r.summary.last_ns - r.summary.first_ns, 500000);
}
END_TEST

START_TEST(utf16)
{
        for (unsigned big = 0; big < 2; big++) {
                const char *text = inputs[0].text;
                char wide[1024] = {0};
                size_t n = 2;
                memcpy(wide, big ? "\xFE\xFF" : "\xFF\xFE", 2);
                for (const char *at = text; *at; at++, n += 2)
                        wide[n + big] = *at;
                struct trace_result r = trace_read("auto", wide, n, NULL);
                expect_msg(!r.code, "%s", r.err.message);
                ck_assert_uint_eq(r.ops, 4);
        }
}
END_TEST

/* Bytes by a fixed rule and the inputs with bytes changed: read, or an error with a message; never more. */
START_TEST(random_bytes)
{
        uint64_t state = 1;
        char data[4096];

        for (unsigned f = 0; dbio_trace_formats[f]; f++)
                for (unsigned i = 0; i < 30; i++) {
                        for (size_t k = 0; k < sizeof data; k++) {
                                state = state * 6364136223846793005u + 1442695040888963407u;
                                data[k] = (char)(state >> 56);
                        }
                        struct trace_result r = trace_read(dbio_trace_formats[f]->name, data, sizeof data, NULL);
                        expect(!r.code || (r.err.code == DBIO_USAGE && r.err.message[0]));
                }
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
                for (unsigned k = 0; k < 200; k++) {
                        size_t size = strlen(inputs[i].text);
                        memcpy(data, inputs[i].text, size);
                        for (unsigned c = 0; c < 3; c++) {
                                state = state * 6364136223846793005u + 1442695040888963407u;
                                data[(state >> 33) % size] = (char)(state >> 25);
                        }
                        struct trace_result r = trace_read(inputs[i].format, data, size, NULL);
                        expect(!r.code || (r.err.code == DBIO_USAGE && r.err.message[0]));
                }
}
END_TEST

START_TEST(ten_thousand_devices)
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        for (unsigned i = 0; i < 10000; i++)
                fprintf(out, "%u,R,0,512,%u\n", i, 1000 + i);
        fclose(out);
        struct trace_result r = trace_read("alibaba", text, size, NULL);
        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.ntargets, 10000);
        free(text);
}
END_TEST

/* Within the window it is sorted, beyond it is refused, with the line. */
START_TEST(time_that_goes_back)
{
        for (unsigned n = 60000; n <= 70000; n += 10000) {
                char *text;
                size_t size;
                FILE *out = open_memstream(&text, &size);
                for (unsigned i = 0; i < n; i++)
                        fprintf(out, "1,R,0,512,%u\n", 1000000 + i);
                fprintf(out, "1,R,0,512,5\n");
                fclose(out);
                struct trace_result r = trace_read("alibaba", text, size, NULL);
                ck_assert_int_eq(r.code, n > DBIO_TRACE_WINDOW ? -1 : 0);
                if (r.code)
                        ck_assert_uint_eq(r.err.line, n + 1);
                else
                        ck_assert_uint_eq(r.first[1].t_ns, 1000000000 - 5000);
                free(text);
        }
}
END_TEST

/* One file a volume, as MSR's: op k of file f has stamp 10 k + f, and they take turns, far beyond what is sorted. */
START_TEST(files_side_by_side)
{
        const unsigned n = DBIO_TRACE_WINDOW + 100, files = 3;
        char path[3][4200];
        const char *paths[] = {path[2], path[0], path[1]};

        for (unsigned f = 0; f < files; f++) {
                snprintf(path[f], sizeof path[f], "%s.%u", trace_file("", 0), f);
                FILE *out = fopen(path[f], "w");
                for (unsigned k = 0; k < n; k++)
                        fprintf(out, "%u,R,%u,512,%u\n", f, 512 * k, 1000 + 10 * k + f);
                fputs(f == 1 ? "rubbish\n" : "", out);
                fclose(out);
        }
        struct dbio_trace_options options = {.skip_bad = 1};
        struct trace_result r = trace_read_files("alibaba", paths, files, &options);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, files * n);
        ck_assert_uint_eq(r.summary.inversions, 0);
        expect_msg(strstr(r.summary.first_bad, path[1]), "%s", r.summary.first_bad);
        ck_assert_str_eq(r.targets[0], "0");
        for (unsigned i = 0; i < 60; i++) {
                ck_assert_uint_eq(r.first[i].target, i % 3);
                ck_assert_uint_eq(r.first[i].t_ns, (i / 3 * 10 + i % 3) * 1000);
        }
        r = trace_read_files("alibaba", paths, files, NULL);
        expect_msg(r.code == -1 && r.err.line == n + 1, "%s", r.err.message);
        for (unsigned f = 0; f < files; f++)
                unlink(path[f]);
        unlink(trace_file("", 0));
}
END_TEST

/* More in a whole second than are kept in memory: i of n at i / n, and the next second begins anew. */
START_TEST(seconds_with_many_events)
{
        const unsigned n = 3 * DBIO_TRACE_WINDOW / 2;
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        for (unsigned i = 0; i < 2 * n + 2; i++)
                fprintf(out, "%u,%u,8,0,7\n", 1538323200 + i / n, 8 * i);
        fclose(out);
        struct trace_result r = trace_read("tencent", text, size, NULL);
        expect_msg(!r.code, "%s", r.err.message);
        ck_assert_uint_eq(r.ops, 2 * n + 2);
        ck_assert_uint_eq(r.summary.spread, 2 * n + 2);
        ck_assert_uint_eq(r.summary.spread_seconds, 3);
        ck_assert_uint_eq(r.first[63].t_ns, 63ull * 1000000000 / n);
        ck_assert_uint_eq(r.summary.last_ns - r.summary.first_ns, 2500000000);
        ck_assert_uint_eq(r.summary.sequential, 2 * n + 1);
        free(text);
}
END_TEST

/* The second followed the first's completion after 100 us; the third came while the second was in flight. */
START_TEST(dependencies)
{
        const char *text = "10000000000000000,a,0,Read,0,512,1000\n10000000000002000,a,0,Read,0,512,1000\n"
                           "10000000000002500,a,0,Read,0,512,10\n";
        struct trace_result r = trace_read("msr", text, strlen(text), NULL);

        ck_assert_int_eq(r.code, 0);
        ck_assert_uint_eq(r.first[0].after, 0);
        ck_assert_uint_eq(r.first[1].after, 1);
        ck_assert_uint_eq(r.first[1].think_ns, 100000);
        ck_assert_uint_eq(r.first[2].after, 2);
        ck_assert_uint_eq(r.first[2].think_ns, 150000);
        ck_assert_uint_eq(r.summary.peak_depth, 2);
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
                expect(op.t_ns == was[n].t_ns && op.offset == was[n].offset && op.think_ns == was[n].think_ns &&
                       op.length == was[n].length && op.after == was[n].after && op.target == was[n].target &&
                       op.kind == was[n].kind && op.flags == was[n].flags);
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

TEST_MAIN("trace", counts, errors_say_where, bad_lines_may_be_left_out, truncated_anywhere, sorted_by_time, maps, compact,
          blktrace_records, vscsi_records, any_table, files_of_one_name, utf16, random_bytes, ten_thousand_devices, time_that_goes_back, files_side_by_side, seconds_with_many_events, dependencies,
          schedule_file)
