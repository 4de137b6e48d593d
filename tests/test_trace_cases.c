/* Traces from the field (in $DBIO_CASES): the counts, bytes and spans that stand in each folder's note.md, which independent
 * scripts computed; and those that are refused, with the reason. */
#include <string.h>

#include "tests/tracekit.h"
#include "tests/unit.h"

#define ANY UINT64_MAX

static const struct real {
        const char *format, *files; /* %d: 0 to 7 */
        uint64_t reads, read_bytes, writes, write_bytes, trims, trim_bytes, fsyncs, span_ns;
        unsigned devices;
        unsigned skip_bad;
} reals[] = {
        {"fio-iolog", "fio_iolog/data.v3.iolog", 212, 4308992, 88, 1507328, 0, 0, 0, 8888000, 1, 0},
        {"fio-iolog", "fio_iolog/data.v2.derived.iolog", 212, 4308992, 88, 1507328, 0, 0, 0, ANY, 1, 0},
        {"fio-iolog", "fio_iolog/log.v3.iolog", 0, 0, 150, 4347904, 0, 0, 149, 589006000, 1, 0},
        {"fio-iolog", "fio_iolog/wild_v3_nvme.iolog", 0, 0, 3, 49152, 0, 0, 0, ANY, 1, 0},
        {"blktrace", "blktrace/keks.blktrace.%d", 0, 0, 1153, 13058048, 5, 212992, 24, ANY, 1, 0},
        {"blkparse", "blktrace/keks.blkparse.txt", 0, 0, 1153, 13058048, 5, 212992, 24, ANY, 1, 0},
        {"blkparse", "blktrace/mariadb_oltp.ftrace_blk.txt", 189, 3096576, 253, 5884416, 0, 0, 75, 1297332586, 1, 0},
        {"blktrace", "blktrace/nvme_miscpu_sample.blktrace.0", 500, 2048000, 0, 0, 0, 0, 0, ANY, 1, 0},
        {"blkparse", "blktrace/snia_rocksdb_blkparse.txt", 2, 69632, 0, 0, 0, 0, 0, ANY, 1, 0},
        {"msr", "block_trace_csv/msr_prxy_0.excerpt.csv", 0, 0, 5, 8192, 0, 0, 0, 293683692800, 1, 0},
        {"msr", "block_trace_csv/msr_preprocessed_with_header.excerpt.csv", 3, 102400, 0, 0, 0, 0, 0, 14339975226600, 1, 0},
        {"msr", "block_trace_csv/msr_layout_multidisk_fixture.csv", 3, 5632, 1, 4096, 0, 0, 0, ANY, 3, 0},
        {"spc", "block_trace_csv/spc_spec_example.spc", 2, 8192, 8, 49664, 0, 0, 0, 1898027000, 3, 1},
        {"spc", "block_trace_csv/spc_lowercase_oltp_line.spc", 1, 32768, 0, 0, 0, 0, 0, 0, 1, 0},
        {"alibaba", "block_trace_csv/alibaba_2020.excerpt.csv", 5, 1359872, 1, 16384, 0, 0, 0, 264000, 4, 0},
        {"tencent", "block_trace_csv/tencent_cbs_2018.excerpt.csv", 6, 417792, 3, 272384, 0, 0, 0, 888888888, 7, 0},
        {"k5", "block_trace_csv/k5cloud_2018.excerpt.csv", 0, 0, 6, 53248, 0, 0, 0, 5924393000, 1, 0},
        {"systor", "block_trace_csv/systor17_layout_fixture.csv", 1, 4096, 3, 16384, 0, 0, 0, 3000000000, 1, 0},
        {"systor", "block_trace_csv/systor17_real_line.csv", 1, 131072, 0, 0, 0, 0, 0, 0, 1, 0},
        {"fiu", "block_trace_csv/fiu_layout.excerpt.txt", 0, 0, 1, 4096, 0, 0, 0, 0, 1, 0},
        {"csv:separator=blank,time=1:ns,device=2,op=3:W/R,offset=4,length=5", "block_trace_csv/hpc_pfs_inverted_rw.excerpt.tsv", 5,
         163840, 0, 0, 0, 0, 0, ANY, 1, 0},
        {"cloudphysics", "cloudphysics_vscsi/cloudphysics_first5000.vscsi", 6, 299008, 4994, 44062208, 0, 0, 0, 1306691320000, 1, 0},
        {"cloudphysics-csv", "cloudphysics_vscsi/cloudphysics_first5000.csv", 6, 299008, 4994, 44062208, 0, 0, 0, ANY, 1, 0},
        {"biosnoop", "bpf_tools/bcc_biosnoop_example.txt", 0, 0, 15, 127488, 0, 0, 0, ANY, 3, 0},
        {"strace", "strace_ioprofile/mariadb_10.11_oltp.strace.txt", 234, 3833856, 92, 1362432, 0, 0, 92, 1992596000, 5, 0},
        /* two pages, and 65 bytes of db.opt behind an open and seeks; a pread64 on a descriptor without a name is dropped */
        {"strace", "strace_ioprofile/003-samples.txt", 3, 32833, 0, 0, 0, 0, 0, ANY, 3, 0},
        {"strace", "strace_ioprofile/004-samples.txt", 0, 0, 0, 0, 0, 0, 1, ANY, 1, 0},
};

static struct trace_result read_case(const char *cases, const char *format, const char *files, unsigned skip_bad)
{
        char text[8][4096];
        const char *paths[8];
        struct dbio_trace_options options = {.skip_bad = skip_bad};
        unsigned n = strstr(files, "%d") ? 8 : 1;

        for (unsigned i = 0; i < n; i++) {
                const char *mark = strstr(files, "%d");
                if (mark)
                        snprintf(text[i], sizeof text[i], "%s/%.*s%u", cases, (int)(mark - files), files, i);
                else
                        snprintf(text[i], sizeof text[i], "%s/%s", cases, files);
                paths[i] = text[i];
        }
        return trace_read_files(format, paths, n, &options);
}

START_TEST(figures_of_the_notes)
{
        const char *cases = getenv("DBIO_CASES");
        FILE *there;
        char path[4096];

        snprintf(path, sizeof path, "%s/fio_iolog/data.v3.iolog", cases ? cases : "");
        if (!(there = fopen(path, "r")))
                skip_test("no DBIO_CASES");
        fclose(there);
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
                const struct real *real = &reals[i];
                const char *formats[] = {real->format, "auto"};
                for (int k = 0; k < (strncmp(real->format, "csv:", 4) ? 2 : 1); k++) {
                        struct trace_result r = read_case(cases, formats[k], real->files, real->skip_bad);
                        const struct dbio_trace_summary *s = &r.summary;
                        expect_msg(!r.code, "%s as %s: %s", real->files, formats[k], r.err.message);
                        expect_msg(s->ios[DBIO_READ] == real->reads && s->bytes[DBIO_READ] == real->read_bytes, "reads of %s", real->files);
                        expect_msg(s->ios[DBIO_WRITE] == real->writes && s->bytes[DBIO_WRITE] == real->write_bytes, "writes of %s",
                                   real->files);
                        expect_msg(s->ios[DBIO_TRIM] == real->trims && s->bytes[DBIO_TRIM] == real->trim_bytes, "trims of %s",
                                   real->files);
                        expect_msg(s->ios[DBIO_FSYNC] == real->fsyncs, "fsyncs of %s", real->files);
                        expect_msg(r.ntargets == real->devices, "devices of %s", real->files);
                        expect_msg(real->span_ns == ANY || s->last_ns - s->first_ns == real->span_ns, "span of %s", real->files);
                        expect_msg(s->bad == real->skip_bad, "bad lines of %s", real->files);
                }
        }
}
END_TEST

static const struct refused {
        const char *format, *file;
        unsigned line;
        const char *message;
} refusals[] = {
        {"fio-iolog", "fio_iolog/wild_v1_csv.iolog", 1, "version 1"},
        {"auto", "fio_iolog/wild_v2_file_mismatch.iolog", 4, "was not added"},
        {"auto", "block_trace_csv/spc_spec_example.spc", 9, "2 448003"},
        {"auto", "bpf_tools/bpftrace_biosnoop_example.txt", 9, "no size, sector or direction"},
        {"auto", "bpf_tools/perftools_iosnoop_example.txt", 8, "no time"},
        {"auto", "bpf_tools/bcc_bitesize_example.txt", 0, "not recognised"},
        {"auto", "blktrace/btt_sample_output.txt", 0, "not recognised"},
        {"auto", "strace_ioprofile/001-tab.txt", 0, "not recognised"},
};

START_TEST(refused_as_the_notes_say)
{
        const char *cases = getenv("DBIO_CASES");
        char path[4096];
        FILE *there;

        snprintf(path, sizeof path, "%s/fio_iolog/data.v3.iolog", cases ? cases : "");
        if (!(there = fopen(path, "r")))
                skip_test("no DBIO_CASES");
        fclose(there);
        for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
                struct trace_result r = read_case(cases, refusals[i].format, refusals[i].file, 0);
                expect_msg(r.code == -1 && r.err.code == DBIO_USAGE, "%s", refusals[i].file);
                expect_msg(strstr(r.err.message, refusals[i].message), "%s: %s", refusals[i].file, r.err.message);
                ck_assert_uint_eq(r.err.line, refusals[i].line);
        }
}
END_TEST

TEST_MAIN("trace_cases", figures_of_the_notes, refused_as_the_notes_say)
