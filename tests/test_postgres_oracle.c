/* PostgreSQL's, Oracle's and MyISAM's patterns. Expected figures: the rules of PostgreSQL's
 * sources and of Oracle's and MySQL's documents, worked out by hand. */
#include "tests/onedrive.h"
#include "tests/unit.h"

#include <math.h>

#include "patterns/logblocks.h"
#include "patterns/logtail.h"

#define MS     ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

/* 8K pages, the tail rewritten in place; write, then fdatasync. 8,168 bytes of payload a page: commits of 3,000
 * bytes end in pages 0, 0, 1, 1, 1, 2. */
START_TEST(wal_rewrites_its_tail)
{
        static const unsigned first[6] = {0, 0, 0, 1, 1, 1}, pages[6] = {1, 1, 2, 1, 1, 2};
        uint64_t latency[3] = {100000, MS, 0};
        struct one one;
        struct drive *drive;
        uint64_t begin;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "postgres.wal", NULL, "{commit_rate: 100/s, arrival: uniform, bytes_per_commit: 3000}",
                 UINT64_MAX);
        begin = ((struct dbio_logtail *)one.streams[0].sources[0])->ring.cursor;
        drive = drive_one(&one, latency);
        drive_run(drive, 55 * MS, 1000);
        ck_assert_uint_eq(drive->nops, 12);
        for (unsigned i = 0; i < 6; i++) {
                ck_assert_uint_eq(drive->ops[2 * i].op.offset, begin + first[i] * 8192);
                ck_assert_uint_eq(drive->ops[2 * i].op.length, pages[i] * 8192);
                ck_assert_uint_eq(drive->ops[2 * i + 1].op.kind, DBIO_FSYNC);
                ck_assert_uint_eq(drive->ops[2 * i + 1].op.flags, DBIO_OP_BARRIER | DBIO_OP_DATASYNC);
                ck_assert_uint_eq(drive->commits[i].durable_ns - drive->commits[i].arrived_ns, 1100000);
        }
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* a 16 MiB segment that is complete is fsynced before the next one is written. */
START_TEST(wal_syncs_each_segment)
{
        uint64_t latency[3] = {100000, MS, 0};
        struct one one;
        struct drive *drive;
        unsigned extra = 0;

        one_init(&one, 256u << 20, 512, 8192);
        one_must(&one, "postgres.wal", NULL, "{commit_rate: 1000/s, bytes_per_commit: 20000}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 8 * SECOND, 100000);
        for (unsigned i = 0; i + 2 < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                if (op->kind == DBIO_WRITE)
                        ck_assert_uint_eq(op->offset >> 24, (op->offset + op->length - 1) >> 24);
                /* Two fsyncs in one flush: around a segment's end. */
                if (op->kind == DBIO_FSYNC && op[0].due_ns == drive->ops[i + 2].op.due_ns &&
                    drive->ops[i + 2].op.kind == DBIO_FSYNC) {
                        ck_assert_uint_eq((drive->ops[i - 1].op.offset + drive->ops[i - 1].op.length) % (16u << 20), 0);
                        ck_assert_uint_eq(drive->ops[i + 1].op.offset % (16u << 20), 0);
                        extra++;
                }
        }
        /* 8 s × 20 MB/s are 9.5 segments; a flush that ends just at the end of one needs no second fsync. */
        ck_assert_uint_ge(extra, 8);
        ck_assert_uint_le(extra, 10);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* full-page images: u·exp(−u·t/P) a second. 1,000 commits of 1 page over P = 2,000 pages: in the first 2 s after
 * the checkpoint's begin 2,000·(1 − 1/e) = 1,264 images, in the next 2 s 465. */
START_TEST(wal_images_decay)
{
        uint64_t latency[3] = {100000, 200000, 0};
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("postgres.checkpoint"), 1);
        struct one one;
        struct drive *drive;
        unsigned images[4] = {0};

        one_init(&one, 256u << 20, 512, 8192);
        keys.dirty.map = DBIO_DIRTY_PAGES;
        one_must(&one, "postgres.checkpoint", &keys, "{checkpoint_timeout: 4s, first: 2s, pages: 1000}", 60 * SECOND);
        one_must(&one, "postgres.wal", NULL,
                 "{commit_rate: 1000/s, bytes_per_commit: 100, checkpoint: s0, pages_per_commit: 1, touched_pages: "
                 "2000}",
                 60 * SECOND);
        drive = drive_one(&one, latency);
        drive_run(drive, 8 * SECOND, 1000000);
        for (unsigned i = 0; i < drive->ncommits; i++) {
                ck_assert_uint_eq(drive->commits[i].bytes % 8192, 100);
                if (drive->commits[i].arrived_ns < 8 * SECOND)
                        images[drive->commits[i].arrived_ns / (2 * SECOND)] += drive->commits[i].bytes / 8192;
        }
        ck_assert_uint_eq(images[0], 0);
        ck_assert_double_eq_tol(images[1], 1264, 5 * sqrt(1264));
        ck_assert_double_eq_tol(images[2], 465, 5 * sqrt(465));
        /* The next checkpoint, at 6 s, begins anew. */
        ck_assert_double_eq_tol(images[3], 1264, 5 * sqrt(1264));
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* sorted; spread over 0.9 of the time in naps of 100 ms; written back after each 32 buffers, adjacent ones as one
 * write; then an fsync for each 1 GiB file, one after the other. */
START_TEST(checkpoint_is_sorted_and_spread)
{
        uint64_t latency[3] = {MS, 50 * MS, 0}, last = 0, written = 0;
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("postgres.checkpoint"), 0);
        struct one one;
        struct drive *drive;
        unsigned writes = 0;

        keys.dirty.map = DBIO_DIRTY_DENSE;
        one_init(&one, 3ull << 30, 512, 8192);
        one_must(&one, "postgres.checkpoint", &keys, "{checkpoint_timeout: 100s, first: 0s, pages: 300_000}",
                 99 * SECOND);
        drive = drive_one(&one, latency);
        drive_run(drive, 200 * SECOND, 1000000);
        for (; drive->ops[writes].op.kind == DBIO_WRITE; writes++) {
                const struct drive_op *op = &drive->ops[writes];
                double due;

                ck_assert_uint_le(op->op.length, 262144);
                if (writes)
                        ck_assert_uint_eq(op->op.offset, last);
                last = op->op.offset + op->op.length;
                written += op->op.length / 8192;
                /* No more than a nap ahead or behind of an even spread over 90 s. */
                due = (double)written / 300000 * 90;
                ck_assert_double_eq_tol((double)op->submitted_ns / 1e9, due, 0.2);
        }
        ck_assert_uint_eq(written, 300000);
        /* 32 buffers a write, but for the last of all and where a file ends. */
        ck_assert_uint_eq(writes, 300000 / 32);
        /* 300,000 × 8K are 2.3 GiB: 3 or 4 files. */
        ck_assert_uint_ge(drive->nops - writes, 3);
        ck_assert_uint_le(drive->nops - writes, 4);
        for (unsigned i = writes; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.kind, DBIO_FSYNC);
                ck_assert_uint_ge(drive->ops[i].submitted_ns, drive->ops[i - 1].completed_ns);
        }
        ck_assert_uint_eq(drive->nepisodes, 1);
        ck_assert_uint_eq(drive->episodes[0].pages, 300000);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* After the files' fsyncs the checkpoint's record is flushed, then pg_control written and fsynced, one after the other.
 */
START_TEST(checkpoint_ends_with_its_record)
{
        uint64_t latency[3] = {MS, 50 * MS, 0};
        static const struct {
                unsigned kind, role;
        } tail[] = {{DBIO_FSYNC, DBIO_ROLE_CHECKPOINT},
                    {DBIO_WRITE, DBIO_ROLE_LOG},
                    {DBIO_FSYNC, DBIO_ROLE_LOG},
                    {DBIO_WRITE, DBIO_ROLE_CHECKPOINT},
                    {DBIO_FSYNC, DBIO_ROLE_CHECKPOINT}};
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("postgres.wal"), 1);
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "postgres.wal", &keys, "{commit_rate: 0.01/s, arrival: uniform}", UINT64_MAX);
        keys.target = 0;
        keys.dirty.map = DBIO_DIRTY_DENSE;
        one_must(&one, "postgres.checkpoint", &keys,
                 "{checkpoint_timeout: 10s, first: 1s, pages: 100, checkpoint_completion_target: 0, wal: s0}",
                 9 * SECOND);
        drive = drive_one(&one, latency);
        drive_run(drive, 20 * SECOND, 1000000);
        ck_assert_uint_ge(drive->nops, 2 + 4 + 5);
        for (unsigned i = 0; i < 5; i++) {
                const struct drive_op *op = &drive->ops[drive->nops - 5 + i];

                ck_assert_uint_eq(op->op.kind, tail[i].kind);
                ck_assert_uint_eq(op->op.role, tail[i].role);
                ck_assert_uint_ge(op->submitted_ns, op[-1].completed_ns);
        }
        ck_assert_uint_eq(drive->ops[drive->nops - 2].op.length, 8192);
        ck_assert_uint_eq(drive->episodes[0].end_ns, drive->ops[drive->nops - 1].completed_ns);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* flush_after: 0 leaves all to the fsyncs: nothing before 0.9 of the time, then runs of up to 1M. */
START_TEST(checkpoint_without_writeback_is_a_spike)
{
        uint64_t latency[3] = {MS, 50 * MS, 0};
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("postgres.checkpoint"), 0);
        struct one one;
        struct drive *drive;

        keys.dirty.map = DBIO_DIRTY_DENSE;
        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "postgres.checkpoint", &keys,
                 "{checkpoint_timeout: 10s, first: 0s, pages: 1280, checkpoint_flush_after: 0}", 9 * SECOND + 500 * MS);
        drive = drive_one(&one, latency);
        drive_run(drive, 20 * SECOND, 1000000);
        ck_assert_uint_eq(drive->nops, 10 + 1);
        for (unsigned i = 0; i < 10; i++) {
                ck_assert_uint_eq(drive->ops[i].op.length, 1u << 20);
                ck_assert_uint_ge(drive->ops[i].submitted_ns, 8 * SECOND + 900 * MS);
        }
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* 128K reads; each that is done doubles how many may be in flight: 1, then 2, then 8, at last 16. */
START_TEST(seq_scan_looks_further_ahead)
{
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "postgres.seq_scan", NULL, "{pages: 16_000}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 1000);
        for (unsigned i = 0; i < drive->nops; i++)
                ck_assert_uint_eq(drive->ops[i].op.length, 131072);
        ck_assert_uint_eq(drive->peak[0], 16);
        for (unsigned i = 0; i < 1 + 2 + 8 + 16; i++)
                ck_assert_uint_eq(drive->ops[i].submitted_ns, (i < 1 ? 0 : i < 3 ? 1 : i < 11 ? 2 : 3) * MS);
        ck_assert_uint_eq(drive->nepisodes, 1);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* each 200 ms; 30 % of 500 buffers a second are 150 writes; groups of 64, each ascending; never over 100 a round.
 */
START_TEST(bgwriter_writes_groups)
{
        uint64_t latency[3] = {MS, 0, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "postgres.bgwriter", NULL, "{alloc_rate: 500/s}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 15000 / 64 * 64);
        for (unsigned i = 0; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].submitted_ns % (200 * MS), 0);
                if (i % 64)
                        ck_assert_uint_ge(drive->ops[i].op.offset, drive->ops[i - 1].op.offset);
        }
        drive_free(drive);
        one_release(&one, false);
        one_must(&one, "postgres.bgwriter", NULL, "{alloc_rate: 5000/s}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND, 100000);
        /* 100 a round, 500 rounds. */
        ck_assert_uint_eq(drive->nops, 50000 / 64 * 64);
        drive_free(drive);
        one_release(&one, false);
        ck_assert_int_eq(one_add(&one, "postgres.bgwriter", NULL, "{}", UINT64_MAX), -1);
        ck_assert_str_eq(one.err.path, "alloc_rate");
}
END_TEST

/* 512 · ceil(bytes / 496), one write at a time, a new block for each, group commit: 8,000/s on 1 ms are 8 commits
 * of 600 bytes a write: 4,800 bytes in 10 blocks. */
START_TEST(lgwr_groups_in_blocks)
{
        uint64_t latency[3] = {MS, 0, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "oracle.lgwr", NULL, "{commit_rate: 8000/s, arrival: uniform, bytes_per_commit: 600}",
                 UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND - 1, 100000);
        ck_assert_uint_eq(drive->peak[0], 1);
        ck_assert_uint_eq(drive->nops, 1000);
        ck_assert_uint_eq(drive->ops[0].op.length, 1024);
        for (unsigned i = 1; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.length, 10 * 512);
                ck_assert_uint_eq(drive->ops[i].op.flags, DBIO_OP_DSYNC);
                if (drive->ops[i].op.offset)
                        ck_assert_uint_ge(drive->ops[i].op.offset,
                                          drive->ops[i - 1].op.offset + drive->ops[i - 1].op.length);
        }
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* at a switch the full log is read from its beginning to its end and copied, 1M at a time. */
START_TEST(arch_copies_each_full_log)
{
        uint64_t latency[3] = {MS, 0, MS}, read = 0, wrote = 0;
        struct dbio_logblocks *blocks;
        struct one one;
        struct drive *drive;
        uint64_t first;

        one_init(&one, 64u << 20, 512, 8192);
        one_must(&one, "oracle.lgwr", NULL, "{commit_rate: 2000/s, bytes_per_commit: 4000, redo_log_size: 16M}",
                 UINT64_MAX);
        one_must(&one, "oracle.arch", NULL, "{after_switch_of: s0, to: t1}", UINT64_MAX);
        blocks = (struct dbio_logblocks *)one.streams[0].sources[0];
        first = blocks->ring.cursor / (16u << 20);
        drive = drive_one(&one, latency);
        drive_run(drive, 10 * SECOND, 100000);
        for (unsigned i = 0; i < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                if (op->role == DBIO_ROLE_LOG_READ) {
                        ck_assert_uint_eq(op->length, 1u << 20);
                        ck_assert_uint_eq(op->offset, (first * (16u << 20) + read) % (64u << 20));
                        read += op->length;
                } else if (op->role == DBIO_ROLE_ARCHIVE) {
                        ck_assert_uint_eq(op->target, 1);
                        wrote += op->length;
                }
        }
        /* 10 s × 8 MB/s in blocks of 496 of 512: 82.6 MB and the part of the first log: 4 or 5 switches. */
        ck_assert_uint_eq(read % (16u << 20), 0);
        ck_assert_uint_ge(read >> 24, 4);
        ck_assert_uint_le(read >> 24, 6);
        ck_assert_uint_eq(read >> 24, blocks->full);
        ck_assert_uint_eq(wrote, read);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* every 3 s, ascending, a batch at a time: 500/s × 3 s in batches of 300 on 1 ms. */
START_TEST(dbwr_writes_batches)
{
        uint64_t latency[3] = {MS, 0, 0}, last = 0;
        struct one one;
        struct drive *drive;
        unsigned rounds[11] = {0};

        one_init(&one, 8ull << 30, 512, 8192);
        one_must(&one, "oracle.dbwr", NULL, "{dirty_rate: 500/s}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 31 * SECOND, 100000);
        for (unsigned i = 0; i < drive->nops; i++) {
                unsigned round = (unsigned)(drive->ops[i].submitted_ns / (3 * SECOND));

                ck_assert_uint_eq(drive->ops[i].op.length, 8192);
                /* The k-th batch of a round is submitted when the one before it is done. */
                ck_assert_uint_eq(drive->ops[i].submitted_ns % (3 * SECOND), rounds[round] / 300 * MS);
                if (rounds[round]++)
                        ck_assert_uint_gt(drive->ops[i].op.offset, last);
                last = drive->ops[i].op.offset;
        }
        ck_assert_uint_eq(rounds[0], 0);
        for (unsigned i = 1; i <= 10; i++)
                ck_assert_double_eq_tol(rounds[i], 1500, 15);
        ck_assert_uint_eq(drive->peak[0], 300);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

START_TEST(multiblock_reads_scan_segments)
{
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("oracle.multiblock_read"), 0);
        struct dbio_op ops[200];
        struct one one;

        one_init(&one, 8ull << 30, 512, 8192);
        keys.threads = 2;
        one_must(&one, "oracle.multiblock_read", &keys, "{segment: 10M}", UINT64_MAX);
        ck_assert_uint_eq(one.streams[0].nsources, 2);
        ck_assert_uint_eq(one.streams[0].sources[0]->class->fill(one.streams[0].sources[0], 0, ops, 200), 200);
        for (unsigned i = 0; i < 200; i++) {
                ck_assert_uint_eq(ops[i].length, 1u << 20);
                if (i % 10)
                        ck_assert_uint_eq(ops[i].offset, ops[i - 1].offset + (1u << 20));
                else
                        ck_assert_uint_eq(ops[i].offset % (10u << 20), 0);
        }
        one_release(&one, true);
}
END_TEST

/* nothing is synced; every 5 s the kernel writes what has been dirty for 30 s: nothing before 35 s, then what was
 * appended, in runs of up to 512K, and index blocks by themselves. */
START_TEST(inserts_are_written_back)
{
        uint64_t latency[3] = {MS, 0, 0}, data = 0, index = 0;
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 8192);
        one_must(&one, "myisam.insert", NULL, "{insert_rate: 1000/s, bytes_per_row: 400}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND + 500 * MS, 1000000);
        for (unsigned i = 0; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.kind, DBIO_WRITE);
                ck_assert_uint_le(drive->ops[i].op.length, 524288);
                ck_assert_uint_ge(drive->ops[i].submitted_ns, 35 * SECOND);
                /* The index file is the last fifth. */
                if (drive->ops[i].op.offset < (uint64_t)(0.8 * (1u << 30)) - 524288)
                        data += drive->ops[i].op.length;
                else if (drive->ops[i].submitted_ns < 40 * SECOND)
                        index += drive->ops[i].op.length / 4096;
        }
        /* 5,000 rows have expired by 35 s, in 52,429 index blocks: 52,429·(1 − exp(−5,000/52,429)) = 4,767; of the 48.7
         * % that are dirty by then some lie beside these and go along, 1 + 2q/(1 − q) = 2.9 for each at most. */
        ck_assert_uint_ge(index, 4767 - 100);
        ck_assert_uint_le(index, 2.9 * 4767);
        /* 400,000 bytes a second: 70 s of them have expired by the write-back at 100 s, and all that lay adjacent went
         * along. */
        ck_assert_uint_ge(data, 70 * 400000);
        ck_assert_uint_le(data, 101 * 400000);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

START_TEST(myisam_scans_by_its_buffer)
{
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 16u << 20, 512, 8192);
        one_must(&one, "myisam.scan", NULL, "{}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 128);
        for (unsigned i = 0; i < 128; i++) {
                ck_assert_uint_eq(drive->ops[i].op.offset, i * 131072);
                ck_assert_uint_eq(drive->ops[i].submitted_ns, i * MS);
        }
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

TEST_MAIN("postgres_oracle", wal_rewrites_its_tail, wal_syncs_each_segment, wal_images_decay,
          checkpoint_is_sorted_and_spread, checkpoint_ends_with_its_record, checkpoint_without_writeback_is_a_spike,
          seq_scan_looks_further_ahead, bgwriter_writes_groups, lgwr_groups_in_blocks, arch_copies_each_full_log,
          dbwr_writes_batches, multiblock_reads_scan_segments, inserts_are_written_back, myisam_scans_by_its_buffer)
