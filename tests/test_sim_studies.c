/* The figures of a published study (ioDrive against SAS RAID 10, SQL Server, 2008-2009) from the shipped profiles.
 *
 * Names say `fitted` where the figure was used to choose the profile's numbers or the test's depth (the study gives
 * no depths), `predicted` where it was not. Gates are those of the validation table that the profiles rest on.
 */
#include "tests/unit.h"

#include <math.h>

#include "tests/simload.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static void near(const char *what, double got, double published, double gate)
{
        ck_assert_msg(fabs(got / published - 1) <= gate, "%s: %.1f, published %.1f, %+.1f %%", what, got, published,
                      100 * (got / published - 1));
}

/* --- reads while 10,000 pages are written at once --- */

enum { BEGIN = 10, PAGES = 10000 };

struct dip {
        double quiet, affected, seconds; /* reads a second; from the burst to 95 % of quiet for 0.3 s */
        double after;                    /* reads a second in the 10 s that follow */
        double read_ms, write_ms;        /* means; reads over the dip by Little's law */
        uint64_t slow_writes;            /* over 1 ms */
};

static double rate(const struct simload *load, unsigned from, unsigned to)
{
        double sum = 0;

        for (unsigned i = from; i < to; i++)
                sum += load->streams[0].bins[i];
        return sum / (to - from) * ((double)S / (double)load->bin_ns);
}

static struct dip measure(const char *profile, double share, unsigned readers, unsigned writers, uint64_t bin_ns)
{
        static struct simload load;
        unsigned begin = (unsigned)(BEGIN * S / bin_ns), end = begin;
        struct dip dip;

        load = (struct simload){.profile = simload_profile(profile), .seed = 20081216, .bin_ns = bin_ns, .nstreams = 2,
                                .end_ns = SIMLOAD_BINS * bin_ns < 40 * S ? SIMLOAD_BINS * bin_ns : 40 * S};
        uint64_t span = (uint64_t)(share * (double)dbio_sim_capacity(load.profile)) >> 20 << 20;

        load.streams[0] = (struct simload_stream){.depth = readers, .length = 8192, .span = span};
        load.streams[1] = (struct simload_stream){.depth = writers, .length = 8192, .write = true, .span = span,
                                                  .start_ns = BEGIN * S, .count = PAGES, .slow_ns = MS};
        simload_run(&load);
        dip.quiet = rate(&load, begin / 10, begin);
        while (rate(&load, end, end + 3) < 0.95 * dip.quiet && end + 3 < load.end_ns / bin_ns)
                end++;
        dip.affected = end > begin ? rate(&load, begin, end) : dip.quiet;
        dip.seconds = (double)(end - begin) * (double)bin_ns / (double)S;
        dip.after = rate(&load, end, (unsigned)(load.end_ns / bin_ns));
        dip.read_ms = readers / dip.affected * 1000;
        dip.write_ms = load.streams[1].total_ns / PAGES / 1e6;
        dip.slow_writes = load.streams[1].slow;
        return dip;
}

START_TEST(fitted_v1_v2_raid10_reads_fall_from_3700_to_2000)
{
        struct dip dip = measure("raid10-15k-sas", 0.5, 76, 32, 100 * MS);

        near("quiet reads/s", dip.quiet, 3700, 0.05);
        near("affected reads/s", dip.affected, 2000, 0.08);
        ck_assert_double_lt(dip.seconds, 15);
        ck_assert_double_ge(dip.after, 0.95 * dip.quiet);
}
END_TEST

/* The study: write response stays very low, as the controller caches; read response rises. */
START_TEST(predicted_v3_raid10_writes_stay_fast)
{
        struct dip dip = measure("raid10-15k-sas", 0.5, 76, 32, 100 * MS);

        ck_assert_uint_le(dip.slow_writes, PAGES / 100);
        ck_assert_double_gt(dip.read_ms, 1.5 * 76 / dip.quiet * 1000);
}
END_TEST

START_TEST(fitted_v4_v5_iodrive_reads_fall_from_42000_to_33000)
{
        struct dip dip = measure("pcie-ssd-iodrive80", 0.5, 12, 8, 10 * MS);

        near("quiet reads/s", dip.quiet, 42000, 0.05);
        near("affected reads/s", dip.affected, 33000, 0.08);
}
END_TEST

START_TEST(predicted_v4_v5_iodrive_reads_take_at_most_400us)
{
        struct dip dip = measure("pcie-ssd-iodrive80", 0.5, 12, 8, 10 * MS);

        ck_assert_double_le(12 / dip.quiet * 1000, 0.4);
        ck_assert_double_le(dip.read_ms, 0.4);
}
END_TEST

START_TEST(predicted_v6_iodrive_writes_rise_to_about_1ms)
{
        for (unsigned writers = 8; writers <= 16; writers *= 2) {
                struct dip dip = measure("pcie-ssd-iodrive80", 0.5, 12, writers, 10 * MS);

                ck_assert_double_ge(dip.write_ms, 0.4);
                ck_assert_double_le(dip.write_ms, 1.5);
        }
}
END_TEST

/* --- one load --- */

static struct simload_stream *alone(struct simload *load, const char *profile, struct simload_stream stream, uint64_t end_ns)
{
        *load = (struct simload){.profile = simload_profile(profile), .seed = 1, .nstreams = 1, .end_ns = end_ns,
                                 .layout = {.contiguous = true}};
        load->streams[0] = stream;
        simload_run(load);
        return &load->streams[0];
}

static struct simload load;

START_TEST(fitted_v7_v8_iodrive_sqlio_65000_reads_46000_writes)
{
        struct simload_stream *stream;

        stream = alone(&load, "pcie-ssd-iodrive80", (struct simload_stream){.depth = 256, .length = 8192}, 2 * S);
        near("8K random reads/s", (double)stream->ios / 2, 65000, 0.05);
        for (unsigned depth = 16; depth <= 64; depth *= 2) {
                stream = alone(&load, "pcie-ssd-iodrive80", (struct simload_stream){.depth = depth, .length = 8192, .write = true},
                               2 * S);
                near("8K random writes/s", (double)stream->ios / 2, 46000, 0.05);
        }
}
END_TEST

START_TEST(fitted_v9_iodrive_scan_takes_10_4_s)
{
        struct simload_stream *stream = alone(&load, "pcie-ssd-iodrive80",
                (struct simload_stream){.depth = 8, .length = 64 * 8192, .sequential = true, .count = 1002491 / 64}, 0);

        near("scan s", (double)stream->last_ns / 1e9, 10.404, 0.05);
}
END_TEST

START_TEST(predicted_v10_iodrive_lookup_takes_15_9_s)
{
        for (unsigned depth = 128; depth <= 256; depth *= 2) {
                struct simload_stream *stream = alone(&load, "pcie-ssd-iodrive80",
                        (struct simload_stream){.depth = depth, .length = 8192, .count = 1006198}, 0);

                near("lookup s", (double)stream->last_ns / 1e9, 15.898, 0.07);
        }
}
END_TEST

/* --- fragmentation: two files of 5 GB grown in turn by 1 MB; one is scanned, 579,712 pages --- */

static double scan_s(const char *profile, bool fragmented, unsigned depth, uint64_t *splits)
{
        load = (struct simload){.profile = simload_profile(profile), .seed = 1, .nfiles = 2, .file_size = UINT64_C(5) << 30,
                                .nstreams = 1};
        load.layout = (struct dbio_layout){.contiguous = !fragmented, .grow = fragmented ? 1 << 20 : 0, .interleave = fragmented};
        load.streams[0] = (struct simload_stream){.depth = depth, .length = 512 << 10, .sequential = true, .count = 579712 / 64};
        simload_run(&load);
        *splits = load.split.split;
        return (double)load.streams[0].last_ns / 1e9;
}

START_TEST(fitted_v11_raid10_contiguous_scan_takes_6_5_s)
{
        uint64_t splits;

        near("contiguous scan s", scan_s("raid10-15k-sas", false, 10, &splits), 6.452, 0.10);
}
END_TEST

START_TEST(predicted_v12_raid10_fragmented_scan_takes_10_8_s)
{
        uint64_t splits;
        double fragmented = scan_s("raid10-15k-sas", true, 10, &splits), contiguous = scan_s("raid10-15k-sas", false, 10, &splits);

        near("fragmented scan s", fragmented, 10.829, 0.10);
        ck_assert_double_ge(fragmented / contiguous, 1.4);
        ck_assert_double_le(fragmented / contiguous, 2.0);
}
END_TEST

START_TEST(predicted_v13_ssd_scan_does_not_care_about_fragments)
{
        uint64_t splits;
        double fragmented = scan_s("pcie-ssd-iodrive80", true, 8, &splits);

        ck_assert_uint_eq(splits, 0); /* 512K reads in extents of 1 MiB */
        ck_assert_double_le(fabs(fragmented / scan_s("pcie-ssd-iodrive80", false, 8, &splits) - 1), 0.01);
        ck_assert_uint_eq(load.split.pieces, load.split.ios);
}
END_TEST

/* --- checkpoint: one row a page, consecutive pages updated against every second one; MB of the error log are MiB --- */

START_TEST(fitted_v14_checkpoint_280_and_56_mib_per_s)
{
        /* 97,851 writes for 1,572,070 pages, 147,573 for 147,579. The rate follows the mean size, as the model is linear
         * in it: 16.066 pages = 131,612 bytes, rounded to whole sectors. */
        struct simload_stream *stream = alone(&load, "s0-checkpoint-volume",
                (struct simload_stream){.depth = 32, .length = 131584, .write = true, .sequential = true, .count = 97851}, 0);

        near("consecutive MiB/s", (double)stream->ios * 131584 / 1048576 / ((double)stream->last_ns / 1e9), 280.93, 0.01);
        near("consecutive s", (double)stream->last_ns / 1e9, 43.719, 0.01);
        stream = alone(&load, "s0-checkpoint-volume",
                       (struct simload_stream){.depth = 32, .length = 8192, .write = true, .sequential = true, .count = 147573}, 0);
        near("every second page MiB/s", (double)stream->ios * 8192 / 1048576 / ((double)stream->last_ns / 1e9), 56.41, 0.01);
}
END_TEST

START_TEST(predicted_v14_256k_writes_323_mib_per_s)
{
        struct simload_stream *stream = alone(&load, "s0-checkpoint-volume",
                (struct simload_stream){.depth = 8, .length = 262144, .write = true, .sequential = true, .count = 10000}, 0);

        near("256K MiB/s", (double)stream->ios / 4 / ((double)stream->last_ns / 1e9), 323.5, 0.005);
}
END_TEST

TEST_MAIN("sim_studies", fitted_v1_v2_raid10_reads_fall_from_3700_to_2000, predicted_v3_raid10_writes_stay_fast,
          fitted_v4_v5_iodrive_reads_fall_from_42000_to_33000, predicted_v4_v5_iodrive_reads_take_at_most_400us,
          predicted_v6_iodrive_writes_rise_to_about_1ms, fitted_v7_v8_iodrive_sqlio_65000_reads_46000_writes,
          fitted_v9_iodrive_scan_takes_10_4_s, predicted_v10_iodrive_lookup_takes_15_9_s,
          fitted_v11_raid10_contiguous_scan_takes_6_5_s, predicted_v12_raid10_fragmented_scan_takes_10_8_s,
          predicted_v13_ssd_scan_does_not_care_about_fragments, fitted_v14_checkpoint_280_and_56_mib_per_s,
          predicted_v14_256k_writes_323_mib_per_s)
