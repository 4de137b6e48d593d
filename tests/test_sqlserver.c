/* The other patterns of SQL Server, and oltp.transaction: what they must show. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "tests/bed.h"

#define MS 1000000ull
#define S (1000 * MS)
#define MIB (1ull << 20)

static void add(struct bed *bed, const char *pattern, const struct dbio_stream_keys *keys, const char *yaml)
{
        if (bed_add(bed, "stream", pattern, keys, yaml))
                ck_abort_msg("%s", bed->err.message);
}

/* Reads of at most max_io that make up whole segments, one after the other, none across a file's end. */
START_TEST(columnstore_reads_whole_segments)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t segments = 0, bytes = 0, at = 0;

        bed_init(&bed);
        bed.targets[0].nfiles = 4;
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.columnstore_scan", &keys, "{segment: 20M, dop: 2}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        /* 51 segments of 20 MiB fit into 1 GiB: 8 + 8 + 4 MiB each */
        ck_assert_uint_eq(bed.play.nops, 4 * 51 * 3);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                expect(op->length == 8 * MIB || op->length == 4 * MIB);
                expect(op->offset / (1 << 30) == (op->offset + op->length - 1) / (1 << 30));
        }
        bed_release(&bed);

        bed_init(&bed);
        add(&bed, "sqlserver.columnstore_scan", &keys, "{segment: {lognormal: {median: 3M, sigma: 0.5}}}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                expect(op->length <= 8 * MIB && op->offset == at);
                at += op->length;
                bytes += op->length;
                segments += op->length < 8 * MIB || i + 1 == bed.play.nops; /* the last piece of each */
        }
        /* mean of a lognormal: median * exp(sigma^2/2) = 3.4 MiB */
        ck_assert_double_eq_tol((double)bytes / (double)segments / MIB, 3.4, 0.15);
        bed_release(&bed);
}
END_TEST

START_TEST(checkdb_saturates_in_order_of_allocation)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t at = 0, copies = 0;
        unsigned most = 0;

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.checkdb", &keys, "{snapshot_writes: 2000/s, to: t1}");
        bed_play(&bed, UINT64_MAX - 1, 20 * MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->kind == DBIO_WRITE) {
                        expect(op->role == DBIO_ROLE_SNAPSHOT && op->target == 1 && op->length == 8192);
                        copies++;
                        continue;
                }
                expect(op->offset == at && op->length == 65536);
                at += 65536;
                if (bed.play.ops[i].outstanding > most)
                        most = bed.play.ops[i].outstanding;
        }
        ck_assert_uint_eq(at, 1 << 30);
        ck_assert_uint_ge(most, 256);
        ck_assert_uint_eq(bed.play.episodes[0].pages, 131072);
        ck_assert_uint_eq(bed.play.episodes[0].writes, 0); /* copies are not what it is about */
        ck_assert_uint_eq(bed.play.episodes[0].bytes, 1 << 30);
        /* 16,384 reads, 256 at a time, 20 ms each: 1.28 s */
        ck_assert_double_eq_tol((double)bed.play.episodes[0].end_ns, 1.28e9, 0.03e9);
        ck_assert_double_eq_tol((double)copies, 2560, 200);
        bed_release(&bed);
}
END_TEST

/* Pages written for each page that a scan, or a stream of single pages, reads. */
static double lazy_share(const char *yaml, const char *map, bool scan, double *pages_per_write)
{
        struct bed bed;
        struct dbio_stream_keys reads = bed_keys(), lazy = bed_keys();
        double pages = 0, writes = 0, n = 0;

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 28;
        lazy.dirty.map = DBIO_DIRTY_PAGES;
        lazy.dirty_map = map;
        if (scan) {
                add(&bed, "sqlserver.scan", &reads, "{consume_rate: 16MiB/s, repeat: yes}");
        } else {
                reads.rate.per_s = 2000;
                add(&bed, "sqlserver.random_read", &reads, "");
        }
        if (map) {
                struct dbio_stream_keys ckpt = lazy;

                add(&bed, "sqlserver.checkpoint", &ckpt, "{every: 1h, dirty_rate: 5000/s}");
        }
        add(&bed, "sqlserver.lazy_writer", &lazy, yaml);
        bed_play(&bed, 30 * S, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->role == DBIO_ROLE_LAZY_WRITE) {
                        pages += op->length / 8192;
                        writes++;
                        expect(op->length <= 128 * 8192 && bed.play.ops[i].outstanding <= 64);
                } else {
                        n += op->length / 8192;
                }
        }
        *pages_per_write = pages / writes;
        bed_release(&bed);
        return pages / n;
}

/* pages/s = dirty share x reads; all runs of single pages of density q have the mean 1/(1-q). */
START_TEST(lazy_writer_follows_the_reads)
{
        double mean;

        ck_assert_double_eq_tol(lazy_share("{paired_with: s0}", NULL, false, &mean), 0.3, 0.006);
        ck_assert_double_gt(mean, 1 / 0.7); /* runs, of which the longer are found more often: over the mean of all */
        ck_assert_double_eq_tol(lazy_share("{paired_with: s0, victim_dirty: 10%}", NULL, false, &mean), 0.1, 0.002);
        ck_assert_double_eq_tol(lazy_share("{paired_with: s0}", "shared", false, &mean), 0.3, 0.01);
        /* Every page of a read-ahead of 512K takes a buffer. */
        ck_assert_double_eq_tol(lazy_share("{paired_with: s0}", NULL, true, &mean), 0.3, 0.006);
}
END_TEST

/* One loader, one file: sequential writes of 256K. Eight loaders: 64K each, the file filled without a hole. */
START_TEST(bulk_load_interleaves_by_extent)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        add(&bed, "sqlserver.bulk_load", &keys, "");
        bed.play.max_ops = 1000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                expect(bed.play.ops[i].op.length == 256 << 10 && bed.play.ops[i].op.offset == i * (256 << 10));
        bed_release(&bed);

        bed_init(&bed);
        keys.threads = 8;
        add(&bed, "sqlserver.bulk_load", &keys, "{rate: 400MiB/s}");
        bed_play(&bed, 10 * S, MS);
        char *seen = calloc(1, 131072);
        uint64_t last[8] = {0}, bytes = 0, top = 0;
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                expect(op->length == 65536 && op->offset % 65536 == 0 && op->role == DBIO_ROLE_EAGER_WRITE);
                expect(!seen[op->offset / 65536]);
                seen[op->offset / 65536] = 1;
                expect(!last[op->thread] || op->offset > last[op->thread]);
                last[op->thread] = op->offset;
                bytes += op->length;
                top = op->offset > top ? op->offset : top;
        }
        free(seen);
        ck_assert_double_eq_tol((double)bytes / MIB, 4000, 40);
        ck_assert_uint_le(top / 65536 + 1 - bytes / 65536, 16); /* only what the loaders still hold is missing */
        bed_release(&bed);
}
END_TEST

/* Two files are filled in turn, 64K at a time; what one loader has in each file is adjacent and goes out as 256K. */
START_TEST(bulk_load_fills_files_in_proportion)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t bytes[2] = {0};

        bed_init(&bed);
        bed.targets[0].nfiles = 2;
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.bulk_load", &keys, "");
        bed.play.max_ops = 1001;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                unsigned file = (unsigned)(bed.play.ops[i].op.offset >> 30);

                expect(bed.play.ops[i].op.length == 256 << 10);
                expect(bed.play.ops[i].op.offset % (1 << 30) == bytes[file]);
                bytes[file] += 256 << 10;
                expect(bytes[0] >= bytes[1] && bytes[0] - bytes[1] <= 256 << 10);
        }
        bed_release(&bed);
}
END_TEST

/* A flush a batch: 1 MiB = 16 extents of 256 log bytes; source reads go ahead of the writes. */
START_TEST(bulk_load_commits_batches_and_reads_ahead)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t read = 0, written = 0, commits = 0;

        bed_init(&bed);
        add(&bed, "sqlserver.bulk_load", &keys, "{batch: 1M, log: t1, from: t2}");
        bed.play.max_ops = 2000;
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->role == DBIO_ROLE_SOURCE) {
                        expect(op->target == 2 && op->kind == DBIO_READ && op->offset == read);
                        read += op->length;
                } else if (op->role == DBIO_ROLE_LOG) {
                        expect(op->target == 1 && op->length == 16 * 256);
                        commits++;
                } else {
                        written += op->length;
                        expect(written <= read);
                        expect(written <= (commits + 1) * MIB); /* the loader waits for its commit */
                }
        }
        ck_assert_uint_ge(commits, 100);
        ck_assert_uint_le(written / MIB - commits, 1);
        bed_release(&bed);
}
END_TEST

START_TEST(bulk_load_commits_through_the_log_stream)
{
        struct bed bed;
        struct dbio_stream_keys log = bed_keys(), keys = bed_keys();
        uint64_t written = 0, bytes = 0;

        bed_init(&bed);
        log.target = 1;
        add(&bed, "sqlserver.log_write", &log, "{commit_rate: 1/s}");
        keys.threads = 4;
        keys.after = 0;
        add(&bed, "sqlserver.bulk_load", &keys, "{batch: 1M, log: t1}");
        bed_play(&bed, 1 * S, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                if (bed.play.ops[i].stream == 1) {
                        expect(bed.play.ops[i].op.target == 0);
                        written += bed.play.ops[i].op.length;
                }
        for (uint64_t i = 0; i < bed.play.ncommits; i++)
                bytes += bed.play.commits[i].bytes == 16 * 256;
        ck_assert_uint_ge(written / MIB, 100);
        ck_assert_double_eq_tol((double)bytes, (double)written / MIB, 8);
        bed_release(&bed);
}
END_TEST

/* Every page read once, as many written; with a sort target the runs are written out and read back once. */
START_TEST(index_build_scans_sorts_and_writes)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t scanned = 0, out = 0, back = 0, written = 0, log = 0, at = 4ull << 30;
        uint64_t last_out = 0, first_back = UINT64_MAX;

        bed_init(&bed);
        add(&bed, "sqlserver.index_build", &keys, "{pages: 100_000, sort: t1, run: 100M, dop: 4, log: t2}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->role == DBIO_ROLE_READ_AHEAD) {
                        expect(op->offset == scanned && op->length <= 512 << 10);
                        scanned += op->length;
                } else if (op->role == DBIO_ROLE_SORT && op->kind == DBIO_WRITE) {
                        expect(op->target == 1);
                        out += op->length;
                        last_out = bed.play.ops[i].done.completed_ns;
                        expect(out <= (scanned / (100 * MIB) + (scanned == 100000 * 8192ull)) * 100 * MIB);
                } else if (op->role == DBIO_ROLE_SORT) {
                        back += op->length;
                        first_back = first_back == UINT64_MAX ? bed.play.ops[i].done.submitted_ns : first_back;
                } else if (op->role == DBIO_ROLE_EAGER_WRITE) {
                        expect(op->offset == at && op->length <= 1 << 20);
                        at += op->length;
                        written += op->length;
                        expect(written <= back + 65536);
                } else {
                        expect(op->target == 2);
                        log += op->length;
                }
        }
        ck_assert_uint_eq(scanned, 100000 * 8192ull);
        ck_assert_uint_eq(written, scanned);
        ck_assert_uint_eq(out, scanned);
        ck_assert_uint_eq(back, scanned);
        ck_assert_uint_ge(first_back, last_out);
        ck_assert_uint_ge(log, scanned / 65536 * 256);
        ck_assert_uint_eq(bed.play.nepisodes, 1);
        ck_assert(bed.streams[0].sources[0]->ended);
        bed_release(&bed);
}
END_TEST

/* 64M in writes of 8M, one at a time; the next growth goes on where this one ended. */
START_TEST(file_init_is_serial)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();

        bed_init(&bed);
        bed.duration_ns = 35 * S;
        add(&bed, "sqlserver.file_init", &keys, "{every: 10s, fill: c0}");
        ck_assert(bed.streams[0].fills);
        bed_play(&bed, bed.duration_ns, MS);
        ck_assert_uint_eq(bed.play.nops, 3 * 8);
        ck_assert_uint_eq(bed.play.nepisodes, 3);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                expect(bed.play.ops[i].outstanding == 1);
                expect(bed.play.ops[i].op.offset == i * 8 * MIB && bed.play.ops[i].op.length == 8 * MIB);
                expect(bed.play.ops[i].op.flags == (DBIO_OP_DSYNC | DBIO_OP_C0));
        }
        bed_release(&bed);
}
END_TEST

static void add_up(const struct bed *bed, uint64_t *read, uint64_t *written, uint64_t *most)
{
        *read = *written = *most = 0;
        for (uint64_t i = 0; i < bed->play.nops; i++) {
                const struct dbio_op *op = &bed->play.ops[i].op;

                if (op->kind == DBIO_READ)
                        *read += op->length;
                else
                        *written += op->length;
                if (bed->play.ops[i].outstanding_bytes > *most)
                        *most = bed->play.ops[i].outstanding_bytes;
        }
}

/* 6 buffers of 1 MiB: never more under way; with ratio 4 a quarter is written; a differential reads what has changed. */
START_TEST(backup_goes_through_its_buffers)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t read, written, most, to = 0, from = 0;

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.backup", &keys, "{to: t1}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        add_up(&bed, &read, &written, &most);
        ck_assert_uint_eq(read, 1 << 30);
        ck_assert_uint_eq(written, 1 << 30);
        ck_assert_uint_eq(most, 6 * MIB);
        for (uint64_t i = 0; i < bed.play.nops; i++) { /* both sides sequential, writes after their reads */
                const struct dbio_op *op = &bed.play.ops[i].op;
                uint64_t *at = op->kind == DBIO_READ ? &from : &to;

                expect(op->offset == *at && op->length == MIB && op->target == (op->kind == DBIO_WRITE));
                *at += op->length;
                expect(to <= from);
        }
        ck_assert_uint_eq(bed.play.episodes[0].writes, 1024);
        bed_release(&bed);

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.backup", &keys, "{to: t1, compression_ratio: 4, changed: 10%}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        add_up(&bed, &read, &written, &most);
        ck_assert_double_eq_tol((double)read / (1 << 30), 0.1, 0.01);
        ck_assert_double_eq_tol((double)written, (double)read / 4, 8192);
        bed_release(&bed);

        bed_init(&bed); /* does not fit */
        bed.targets[1].file_size = 1 << 30;
        ck_assert_int_eq(bed_add(&bed, "s", "sqlserver.backup", &keys, "{to: t1}"), -1);
        ck_assert_int_eq(bed.err.code, DBIO_USAGE);
        bed_release(&bed);
}
END_TEST

START_TEST(restore_writes_what_it_reads)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t read, written, most;

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.restore", &keys, "{from: t1}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        add_up(&bed, &read, &written, &most);
        ck_assert_uint_eq(read, 1 << 30);
        ck_assert_uint_eq(written, 1 << 30);
        ck_assert_uint_eq(most, 6 * 65536);
        bed_release(&bed);

        bed_init(&bed);
        bed.targets[0].file_size = 1 << 30;
        add(&bed, "sqlserver.restore", &keys, "{from: t1, compression_ratio: 2}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        add_up(&bed, &read, &written, &most);
        ck_assert_uint_eq(read, 1 << 29);
        ck_assert_uint_eq(written, 1 << 30);
        bed_release(&bed);
}
END_TEST

/* 8 runs of 50M written, each from its beginning on; then all of them read in turns, after the last write. */
START_TEST(spill_writes_runs_then_merges)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t written = 0, runs[8] = {0}, turn = 0, last_write = 0;

        bed_init(&bed);
        add(&bed, "sqlserver.spill", &keys, "{run: 50M}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                expect(op->length == 65536 && op->role == DBIO_ROLE_SORT);
                if (op->kind == DBIO_WRITE) {
                        expect(op->offset == written);
                        written += op->length;
                        last_write = bed.play.ops[i].done.completed_ns;
                        continue;
                }
                expect(bed.play.ops[i].done.submitted_ns >= last_write && bed.play.ops[i].outstanding <= 8);
                uint64_t run = turn++ % 8;
                expect(op->offset == run * 50 * MIB + runs[run]);
                runs[run] += op->length;
        }
        ck_assert_uint_eq(written, 400 * MIB);
        ck_assert_uint_eq(turn * 65536, written);
        ck_assert_uint_eq(bed.play.episodes[0].pages, written / 8192);
        bed_release(&bed);

        /* two passes: written twice, read twice; two at once have places of their own */
        bed_init(&bed);
        add(&bed, "sqlserver.spill", &keys, "{run: 10M, fan_in: 4, passes: 2, concurrent: 2}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        uint64_t read, most;
        add_up(&bed, &read, &written, &most);
        ck_assert_uint_eq(read, 2 * 2 * 40 * MIB);
        ck_assert_uint_eq(written, 2 * 2 * 40 * MIB);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                expect(bed.play.ops[i].op.offset / (80 * MIB) == bed.play.ops[i].op.thread);
        bed_release(&bed);
}
END_TEST

/* The log twice, then pages: each read once, written once. 64 MiB of log name 16,384 pages of a million. */
START_TEST(recovery_reads_the_log_and_redoes_pages)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t log = 0, read = 0, written = 0;
        char *state = calloc(1, 1 << 20);

        bed_init(&bed);
        add(&bed, "sqlserver.recovery", &keys, "{log: t1, log_bytes: 64M, redo_threads: 2}");
        bed_play(&bed, UINT64_MAX - 1, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->role == DBIO_ROLE_LOG_READ) {
                        expect(op->target == 1 && op->length <= 120 << 10);
                        log += op->length;
                        continue;
                }
                for (uint64_t p = op->offset / 8192; p < (op->offset + op->length) / 8192; p++)
                        expect(++state[p] == (op->kind == DBIO_READ ? 1 : 2));
                if (op->kind == DBIO_READ)
                        read += op->length;
                else
                        written += op->length;
        }
        free(state);
        ck_assert_uint_eq(log, 2 * 64 * MIB);
        ck_assert_uint_eq(read, written);
        ck_assert_double_eq_tol((double)read / 8192, (1 << 20) * (1 - exp(-16384. / (1 << 20))), 40);
        bed_release(&bed);
}
END_TEST

START_TEST(log_read_is_sequential)
{
        struct bed bed;
        struct dbio_stream_keys keys = bed_keys();
        uint64_t at = UINT64_MAX, written = 0, read = 0;

        bed_init(&bed);
        bed.duration_ns = 25 * S;
        add(&bed, "sqlserver.log_read", &keys, "{every: 10s, bytes: 60M, to: t1}");
        bed_play(&bed, bed.duration_ns, MS);
        ck_assert_uint_eq(bed.play.nepisodes, 2);
        for (uint64_t i = 0; i < bed.play.nops; i++) {
                const struct dbio_op *op = &bed.play.ops[i].op;

                if (op->kind == DBIO_WRITE) {
                        expect(op->offset == written);
                        written += op->length;
                        expect(written <= read);
                        continue;
                }
                expect(op->length == 120 << 10 && (at == UINT64_MAX || op->offset == at));
                at = op->offset + op->length;
                read += op->length;
        }
        ck_assert_uint_eq(read, 2 * 60 * MIB);
        ck_assert_uint_eq(written, read);
        bed_release(&bed);
}
END_TEST

/* Closed loop: N sessions give N / (reads x latency + commit + think) transactions a second. 100 sessions, 4 reads of
 * 1 ms, a commit that waits at most for the flush before it and takes its own: 1 … 2 ms, 10 ms think: 6,250 … 6,667/s. */
START_TEST(transactions_read_then_commit_then_wait)
{
        struct bed bed;
        struct dbio_stream_keys log = bed_keys(), keys = bed_keys();
        uint64_t reads = 0, commits = 0;

        bed_init(&bed);
        log.target = 1;
        add(&bed, "sqlserver.log_write", &log, "{commit_rate: 1/s}");
        add(&bed, "oltp.transaction", &keys, "{sessions: 100, think: 10ms, reads: 4, log_stream: s0}");
        bed_play(&bed, 10 * S, MS);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                reads += bed.play.ops[i].stream == 1;
        commits = bed.play.ncommits;
        ck_assert_double_ge((double)commits / 10, 6250 * 0.99);
        ck_assert_double_le((double)commits / 10, 6667 * 1.01);
        ck_assert_double_eq_tol((double)reads / (double)commits, 4, 0.03);
        for (uint64_t i = 0; i < bed.play.nops; i++)
                expect(bed.play.ops[i].stream == 0 || bed.play.ops[i].outstanding <= 100);
        bed_release(&bed);
}
END_TEST

TEST_MAIN("sqlserver", columnstore_reads_whole_segments, checkdb_saturates_in_order_of_allocation,
          lazy_writer_follows_the_reads, bulk_load_interleaves_by_extent, bulk_load_fills_files_in_proportion,
          bulk_load_commits_batches_and_reads_ahead, bulk_load_commits_through_the_log_stream,
          index_build_scans_sorts_and_writes, file_init_is_serial, backup_goes_through_its_buffers,
          restore_writes_what_it_reads, spill_writes_runs_then_merges, recovery_reads_the_log_and_redoes_pages,
          log_read_is_sequential, transactions_read_then_commit_then_wait)
