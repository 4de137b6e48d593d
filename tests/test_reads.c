/* Reads and plain I/O: what they must show. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "tests/bed.h"

#define MS 1000000ull
#define S (1000 * MS)

static void add(struct bed *bed, const char *pattern, const struct dbio_stream_keys *keys, const char *yaml)
{
        if (bed_add(bed, "stream", pattern, keys, yaml))
                ck_abort_msg("%s", bed->err.message);
}

/* 63 degrees of freedom: below 103.4 with a chance of 99.9 %. */
START_TEST(random_reads_are_uniform)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        double bins[64] = {0}, chi = 0;

        bed_init(&bed);
        keys.region.from.share = 0.5;
        add(&bed, "sqlserver.random_read", &keys, "");
        bed.play.max_ops = 100000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                uint64_t offset = bed.play.ops[i].op.offset;

                ck_assert_uint_eq(bed.play.ops[i].op.length, 8192);
                expect(offset % 8192 == 0 && offset >= 4ull << 30 && offset < 8ull << 30);
                bins[(offset - (4ull << 30)) / (64ull << 20)]++;
        }
        for (int i = 0; i < 64; i++)
                chi += pow(bins[i] - 100000 / 64., 2) / (100000 / 64.);
        ck_assert_double_lt(chi, 103.4);
        bed_release(&bed);
}
END_TEST

static int descending(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x < y) - (x > y);
}

/* Rank-frequency slope of a zipf is -theta: least squares over the log of the first 100 ranks of 10^6 reads. */
START_TEST(zipf_reads_have_their_slope)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        static double counts[131072];
        double sx = 0, sy = 0, sxx = 0, sxy = 0;
        unsigned near = 0;

        bed_init(&bed);
        bed.targets[0].file_size = 1ull << 30;
        keys.skew = (struct dbio_skew){.kind = DBIO_SKEW_ZIPF, .theta = 0.99};
        add(&bed, "sqlserver.random_read", &keys, "");
        bed.play.max_ops = 1000000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                counts[bed.play.ops[i].op.offset / 8192]++;
        for (unsigned i = 0; i + 1 < 131072; i++) /* hot pages are spread, not one beside the other */
                near += counts[i] > 1000 && counts[i + 1] > 1000;
        ck_assert_uint_le(near, 2);
        qsort(counts, 131072, sizeof *counts, descending);
        for (int r = 1; r <= 100; r++) {
                double x = log(r), y = log(counts[r - 1]);

                sx += x;
                sy += y;
                sxx += x * x;
                sxy += x * y;
        }
        ck_assert_double_eq_tol((100 * sxy - sx * sy) / (100 * sxx - sx * sx), -0.99, 0.03);
        bed_release(&bed);
}
END_TEST

START_TEST(closed_loops_keep_threads_times_depth_outstanding)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        keys.threads = 24;
        keys.depth = 16;
        add(&bed, "sqlserver.random_read", &keys, "");
        ck_assert_uint_eq(bed.streams[0].nsources, 24);
        bed_play(&bed, 1 * S, 10 * MS);
        ck_assert_uint_eq(bed.play.nops, 24 * 16 * 100);
        for (uint64_t i = 24 * 16; i < bed.play.nops; i += 24 * 16)
                ck_assert_uint_eq(bed.play.ops[i + 24 * 16 - 1].outstanding, 24 * 16);
        bed_release(&bed);
}
END_TEST

START_TEST(ramp_up_reads_whole_extents)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        add(&bed, "sqlserver.random_read", &keys, "{ramp_up_extent_reads: yes}");
        bed.play.max_ops = 1000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                expect(bed.play.ops[i].op.length == 65536 && bed.play.ops[i].op.offset % 65536 == 0);
        bed_release(&bed);
}
END_TEST

START_TEST(lookups_end_with_their_rows)
{
        static const char *const yaml[] = {"{rows: 1001, prefetch_depth: 32}", "{rows: 1001, order: ordered}"};

        for (int ordered = 0; ordered < 2; ordered++) {
                struct bed bed;
                struct dbio_stream_keys keys = bed_keys();
                unsigned most = 0;

                bed_init(&bed);
                keys.threads = 2;
                add(&bed, "sqlserver.lookup", &keys, yaml[ordered]);
                bed_play(&bed, UINT64_MAX - 1, MS);
                ck_assert_uint_eq(bed.play.nops, 1001);
                for (uint64_t i = 0; i < bed.play.nops; i++)
                        if (bed.play.ops[i].outstanding > most)
                                most = bed.play.ops[i].outstanding;
                ck_assert_uint_eq(most, 64);
                expect(bed.streams[0].sources[0]->ended && bed.streams[0].sources[1]->ended);
                bed_release(&bed);
        }
}
END_TEST

static uint64_t first_is_slow(void *user, const struct dbio_op *op, uint64_t now_ns)
{
        bool *first = user;
        uint64_t latency = *first ? 100 * MS : MS;

        (void)op;
        (void)now_ns;
        *first = false;
        return latency;
}

/* Ordered: nothing goes out more than 32 rows after the oldest that is missing. Unordered reads go on past it. */
START_TEST(ordered_lookups_wait_for_the_oldest)
{
        uint64_t before_100ms[2];

        for (int ordered = 0; ordered < 2; ordered++) {
                struct bed bed;
                struct dbio_stream_keys keys = bed_keys();
                bool first = true;

                bed_init(&bed);
                add(&bed, "sqlserver.lookup", &keys, ordered ? "{rows: 5000, order: ordered}" : "{rows: 5000}");
                bed.play.latency = first_is_slow;
                bed.play.user = &first;
                bed_play(&bed, UINT64_MAX - 1, 0);
                before_100ms[ordered] = 0;
                for (uint64_t i = 0; i < bed.play.nops; i++)
                        before_100ms[ordered] += bed.play.ops[i].done.submitted_ns < 100 * MS;
                bed_release(&bed);
        }
        ck_assert_uint_eq(before_100ms[1], 32);
        ck_assert_uint_eq(before_100ms[0], 32 + 31 * 99);
}
END_TEST

/* 64 pages of 8K, all of the region, once, in order. */
START_TEST(scan_reads_512K)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.scan", &keys, "");
        bed_play(&bed, UINT64_MAX - 1, MS);
        ck_assert_uint_eq(bed.play.nops, 2048);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                ck_assert_uint_eq(bed.play.ops[i].op.length, 512 << 10);
                ck_assert_uint_eq(bed.play.ops[i].op.offset, i * (512 << 10));
                ck_assert_uint_le(bed.play.ops[i].outstanding_bytes, 500 * 8192);
        }
        ck_assert_uint_eq(bed.play.nepisodes, 1);
        ck_assert_uint_eq(bed.play.episodes[0].pages, 131072);
        ck_assert_uint_eq(bed.play.episodes[0].bytes, 1 << 30); /* what it read, as it writes nothing */
        ck_assert_uint_eq(bed.play.episodes[0].end_ns, bed.play.end_ns);
        bed_release(&bed);
}
END_TEST

/* Runs end with chance f after each page: mean of what is cut at 64 pages = (1 - (1-f)^64) / f. Every page once. */
START_TEST(key_order_reads_runs)
{
        static const double fs[] = {0.05, 0.1, 0.25, 0.5, 1.0};

        for (int i = 0; i < 5; i++) {
                struct bed bed;
                struct dbio_stream_keys keys = bed_keys();
                char yaml[100];
                double f = fs[i], pages = 0, expected = (1 - pow(1 - f, 64)) / f;
                static char seen[131072];

                bed_init(&bed);
                bed.targets[0].file_size = 1 << 30;
                snprintf(yaml, sizeof yaml, "{mode: key, logical_fragmentation: %g%%}", f * 100);
                add(&bed, "sqlserver.scan", &keys, yaml);
                bed_play(&bed, UINT64_MAX - 1, MS);
                memset(seen, 0, sizeof seen);
                for (uint64_t k = 0; k < bed.play.nops; k++) {
                        const struct dbio_op *op = &bed.play.ops[k].op;

                        for (uint64_t p = op->offset / 8192; p < (op->offset + op->length) / 8192; p++) {
                                expect(!seen[p]);
                                seen[p] = 1;
                        }
                        pages += op->length / 8192;
                }
                ck_assert_double_eq(pages, 131072);
                ck_assert_double_eq_tol(pages / (double)bed.play.nops, expected, expected * 0.03);
                ck_assert_double_eq_tol(pages / (double)bed.play.nops, fmin(64, 1 / f), 0.07 / f);
                bed_release(&bed);
        }
}
END_TEST

START_TEST(key_order_without_fragmentation_reads_512K)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.scan", &keys, "{mode: key}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        ck_assert_uint_eq(bed.play.nops, 2048);
        bed_release(&bed);
}
END_TEST

/* Every extent followed by another table's: 64K reads, every other extent of the region. */
START_TEST(extent_fragmentation_cuts_at_extents)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.scan", &keys, "{extent_fragmentation: 100%}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        ck_assert_uint_eq(bed.play.nops, (1 << 30) / 131072);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                expect(bed.play.ops[i].op.length == 65536 && bed.play.ops[i].op.offset == i * 131072);
        bed_release(&bed);
}
END_TEST

/* Expected pages of 64 that remain when each is cached with chance c and only the ends are cut: 64 - 2c/(1-c). */
START_TEST(cached_pages_are_cut_off)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        double pages = 0;

        bed_init(&bed);
        add(&bed, "sqlserver.scan", &keys, "{cached: 50%}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                pages += bed.play.ops[i].op.length / 8192;
        ck_assert_double_eq_tol(pages / (double)bed.play.nops, 62, 0.1);
        ck_assert_uint_eq(bed.play.episodes[0].pages, 1 << 20); /* the consumer gets them all */
        bed_release(&bed);
}
END_TEST

/* 80 MiB/s through a window: the pass takes 1 GiB / 80 MiB/s = 12.8 s, less the window itself at its end. */
START_TEST(a_slow_consumer_holds_the_window)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.scan", &keys, "{consume_rate: 80MiB/s, dop: 4}");
        ck_assert_uint_eq(bed.streams[0].threads, 4);
        bed_play(&bed, UINT64_MAX - 1, MS);
        ck_assert_uint_eq(bed.play.nops, 2048);
        ck_assert_double_eq_tol((double)bed.play.end_ns, 12.8e9 - 4 * 448 * 8192 / (80. * (1 << 20)) * 1e9, 0.1e9);
        unsigned threads[4] = {0};
        for (uint64_t i = 0; i < bed.play.nops; i++)
                threads[bed.play.ops[i].op.thread]++;
        for (int t = 0; t < 4; t++)
                ck_assert_uint_eq(threads[t], 512);
        bed_release(&bed);
}
END_TEST

START_TEST(passes_with_a_length_start_anywhere_and_wrap)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t starts[20];

        bed_init(&bed);
        bed.duration_ns = 100 * S;
        bed.targets[0].nfiles = 4;
        bed.targets[0].file_size = 64 << 20;
        add(&bed, "sqlserver.scan", &keys, "{pages: 16_000, every: 10s, first: 0s}");
        bed_play(&bed, bed.duration_ns, MS);
        ck_assert_uint_eq(bed.play.nepisodes, 10);
        uint32_t episode = 0;
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                ck_assert_uint_eq(op->offset / (64 << 20), (op->offset + op->length - 1) / (64 << 20));
                if (op->episode != episode) {
                        episode = op->episode;
                        starts[episode] = op->offset;
                        ck_assert_uint_eq(op->offset % (512 << 10), 0);
                }
        }
        for (unsigned e = 1; e <= 10; e++) {
                ck_assert_uint_eq(bed.play.episodes[e - 1].pages, 16000);
                ck_assert_uint_eq(bed.play.episodes[e - 1].begin_ns, (e - 1) * 10 * S);
                expect(e == 1 || starts[e] != starts[e - 1]);
        }
        bed_release(&bed);
}
END_TEST

START_TEST(repeated_passes_follow_each_other)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 64 << 20;
        add(&bed, "sqlserver.scan", &keys, "{repeat: yes}");
        expect(bed.streams[0].flags & DBIO_STREAM_ENDLESS);
        bed_play(&bed, 1 * S, MS);
        ck_assert_uint_ge(bed.play.nepisodes, 10);
        for (unsigned e = 1; e < bed.play.nepisodes; e++)
                ck_assert_uint_eq(bed.play.episodes[e].begin_ns, bed.play.episodes[e - 1].end_ns);
        bed_release(&bed);
}
END_TEST

START_TEST(io_random_mixes_sizes_reads_and_fsyncs)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        double reads = 0, writes = 0, fsyncs = 0, large = 0;

        bed_init(&bed);
        keys.write_through = false;
        add(&bed, "io.random", &keys, "{sizes: {8K: 70%, 64K: 30%}, read: 60%, fsync_every: 10}");
        bed.play.max_ops = 100000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                reads += op->kind == DBIO_READ;
                writes += op->kind == DBIO_WRITE;
                fsyncs += op->kind == DBIO_FSYNC;
                large += op->length == 65536;
                expect(op->kind != DBIO_FSYNC || (op->length == 0 && op->offset == 0));
                expect(op->length == 0 || op->offset % op->length == 0);
                expect(!(op->flags & DBIO_OP_DSYNC));
        }
        ck_assert_double_eq_tol(reads / (reads + writes), 0.6, 0.006);
        ck_assert_double_eq_tol(large / (reads + writes), 0.3, 0.006);
        ck_assert_double_eq(fsyncs, floor(writes / 10));
        bed_release(&bed);
}
END_TEST

START_TEST(io_sequential_goes_through_its_part)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].file_size = 64 << 20;
        keys.threads = 4;
        add(&bed, "io.sequential", &keys, "{size: 64K, read: 0%}");
        bed.play.max_ops = 2000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        uint64_t n[4] = {0};
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                ck_assert_uint_eq(op->offset, op->thread * (16ull << 20) + n[op->thread]++ % 256 * 65536);
                ck_assert_int_eq(op->flags, DBIO_OP_DSYNC);
        }
        bed_release(&bed);

        bed_init(&bed);
        bed.targets[0].file_size = 64 << 20;
        add(&bed, "io.sequential", &keys, "{size: 64K, shared: yes}");
        ck_assert_uint_eq(bed.streams[0].nsources, 1);
        bed.play.max_ops = 2000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                ck_assert_uint_eq(bed.play.ops[i].op.offset, i % 1024 * 65536);
                ck_assert_uint_eq(bed.play.ops[i].op.thread, i % 4);
        }
        bed_release(&bed);
}
END_TEST

/* Sub-sector sizes are refused, or rounded where `sector` says so; never silently. */
START_TEST(sectors_are_kept)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.targets[0].sector = 4096;
        ck_assert_int_eq(bed_add(&bed, "s", "io.random", &keys, "{size: 512}"), -1);
        ck_assert_int_eq(bed.err.code, DBIO_USAGE);
        bed_release(&bed);
        bed_init(&bed);
        bed.targets[0].sector = 4096;
        add(&bed, "io.random", &keys, "{size: 512, sector: 4096}");
        bed.play.max_ops = 10;
        bed_play(&bed, UINT64_MAX - 1, MS);
        ck_assert_uint_eq(bed.play.ops[0].op.length, 4096);
        bed_release(&bed);
}
END_TEST

TEST_MAIN("reads", random_reads_are_uniform, zipf_reads_have_their_slope, closed_loops_keep_threads_times_depth_outstanding,
          ramp_up_reads_whole_extents, lookups_end_with_their_rows, ordered_lookups_wait_for_the_oldest, scan_reads_512K,
          key_order_reads_runs, key_order_without_fragmentation_reads_512K, extent_fragmentation_cuts_at_extents,
          cached_pages_are_cut_off, a_slow_consumer_holds_the_window, passes_with_a_length_start_anywhere_and_wrap,
          repeated_passes_follow_each_other, io_random_mixes_sizes_reads_and_fsyncs, io_sequential_goes_through_its_part,
          sectors_are_kept)
