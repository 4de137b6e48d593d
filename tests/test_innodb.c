/* InnoDB's reads, LRU flushing, purge, change buffer and recovery. Expected figures: the rules of MySQL's sources, worked out
 * by hand. */
#include "tests/onedrive.h"
#include "tests/unit.h"

#include <math.h>

#define MS     ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

/* Area 0: 64 single reads at depth 1; then bursts of 64 single-page reads, each called for by the access to the
 * last page of the area before: at 64 ms, 65 ms and 66 ms on a device that takes 1 ms for any number. */
START_TEST(scan_reads_ahead_an_area_at_a_time)
{
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.scan", NULL, "{pages: 256}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 256);
        for (unsigned i = 0; i < 256; i++) {
                ck_assert_uint_eq(drive->ops[i].op.length, 16384);
                ck_assert_uint_eq(drive->ops[i].op.role, i < 64 ? DBIO_ROLE_DATA_READ : DBIO_ROLE_READ_AHEAD);
                ck_assert_uint_eq(drive->ops[i].submitted_ns, (i < 64 ? i : 64 + (i - 64) / 64) * MS);
                if (i && drive->ops[i].op.offset)
                        ck_assert_uint_eq(drive->ops[i].op.offset, drive->ops[i - 1].op.offset + 16384);
        }
        ck_assert_uint_eq(drive->peak[0], 64);
        ck_assert_uint_eq(drive->nepisodes, 1);
        ck_assert_uint_eq(drive->episodes[0].pages, 256);
        ck_assert_uint_eq(drive->episodes[0].end_ns, 67 * MS);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* With 10 us of CPU a page the burst for area 1 is called for when page 63 is accessed: 64 reads and 63 times CPU.
 * Without read-ahead all are single; random read-ahead takes the rest of area 0 at the miss on page 13. */
START_TEST(scan_thresholds)
{
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.scan", NULL, "{pages: 128, cpu_per_page: 10us}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        ck_assert_uint_eq(drive->ops[64].submitted_ns, 64 * MS + 63 * 10000);
        ck_assert_uint_eq(drive->ops[127].submitted_ns, 64 * MS + 63 * 10000);
        drive_free(drive);
        one_release(&one, false);
        one_must(&one, "innodb.scan", NULL, "{pages: 128, read_ahead_threshold: 0}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 128);
        ck_assert_uint_eq(drive->peak[0], 1);
        drive_free(drive);
        one_release(&one, false);
        one_must(&one, "innodb.scan", NULL, "{pages: 128, random_read_ahead: yes}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 128);
        ck_assert_uint_eq(drive->ops[12].submitted_ns, 12 * MS);
        ck_assert_uint_eq(drive->ops[13].submitted_ns, 13 * MS);
        ck_assert_uint_eq(drive->ops[63].submitted_ns, 13 * MS);
        ck_assert_uint_eq(drive->ops[64].submitted_ns, 14 * MS);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* Two dependent reads a lookup: 8 slots, 1 ms each, think 6 ms: a lookup each 8 ms a slot. */
START_TEST(page_reads_come_in_pairs)
{
        uint64_t latency[3] = {0, 0, MS};
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.page_read"), 0);
        struct one one;
        struct drive *drive;
        unsigned seconds = 0;

        keys.depth = 8;
        keys.think_ns = 6 * MS;
        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.page_read", &keys, "{pages_per_lookup: 2}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND - 1, 100000);
        ck_assert_uint_eq(drive->nops, 8 * 2 * 125);
        ck_assert_uint_eq(drive->peak[0], 8);
        for (unsigned i = 0; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.offset % 16384, 0);
                ck_assert_uint_eq(drive->ops[i].op.length, 16384);
                seconds += drive->ops[i].submitted_ns % (8 * MS) == MS;
        }
        ck_assert_uint_eq(seconds, 1000);
        drive_free(drive);
        one_release(&one, false);
        /* Open loop: 500 lookups a second are 1,000 reads. */
        keys.depth = DBIO_UNSET;
        keys.think_ns = 0;
        keys.rate.per_s = 500;
        keys.arrival = DBIO_UNIFORM;
        one_must(&one, "innodb.page_read", &keys, "{pages_per_lookup: 2}", SECOND);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND - 1, 100000);
        ck_assert_uint_eq(drive->nops, 1000);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* Each second instances × depth × dirty share: 2 × 1024 × 10 % = 204.8 pages, in no order, from the second
 * doublewrite file: behind 2 segments of 128 pages. */
START_TEST(lru_flush_is_random)
{
        uint64_t latency[3] = {100000, 200000, 0};
        struct one one;
        struct drive *drive;
        unsigned pages = 0, rising = 0;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.lru_flush", NULL, "{dirty_tail: 10%, buffer_pool_instances: 2}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 10 * SECOND + 500 * MS, 100000);
        for (unsigned i = 1; i < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                if (op->role == DBIO_ROLE_DOUBLEWRITE && op->kind == DBIO_WRITE)
                        ck_assert_uint_ge(op->offset, 2 * 128 * 16384);
                if (op->role != DBIO_ROLE_LAZY_WRITE || op->kind != DBIO_WRITE)
                        continue;
                pages++;
                rising += op->offset > drive->ops[i - 1].op.offset;
        }
        ck_assert_uint_eq(pages, 2048);
        /* Half of all pairs rise by chance: 1,024, and 5 standard deviations of a run test are 5·sqrt(2048/12). */
        ck_assert_double_eq_tol(rising, 1024, 66 + 40);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* 300 undo pages a batch, read one after the other, with 2 index pages for each. */
START_TEST(purge_reads_undo_in_order)
{
        uint64_t latency[3] = {0, 0, 100000}, last = 0;
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.purge"), 0);
        struct one one;
        struct drive *drive;
        unsigned undo = 0;

        keys.version = 506;
        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.purge", &keys, "{rate: 300/s}", 10 * SECOND);
        drive = drive_one(&one, latency);
        drive_run(drive, 2 * SECOND - 1, 100000);
        ck_assert_uint_eq(one.streams[0].nsources, 1);
        ck_assert_uint_eq(one.streams[0].depth, 1);
        /* Two batches of 300 undo pages with 600 others each. The drive has no depth; the engine holds it to 1. */
        last = drive->ops[0].op.offset;
        for (unsigned i = 0; i < 1800; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                ck_assert_uint_eq(op->role, DBIO_ROLE_PURGE);
                ck_assert_uint_eq(op->due_ns, i < 900 ? 0 : SECOND);
                if (i % 3)
                        continue;
                ck_assert_uint_eq(op->offset, (last + (uint64_t)undo++ * 16384) % (1u << 30));
        }
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* 5 % of io_capacity 200: 10 pages a second in bursts inside aligned windows of 8. */
START_TEST(merge_stays_in_its_windows)
{
        uint64_t latency[3] = {0, 0, MS}, window = UINT64_MAX;
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.change_buffer_merge"), 0);
        struct one one;
        struct drive *drive;
        unsigned windows = 0;

        keys.version = 507;
        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.change_buffer_merge", &keys, "{}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND - 1, 100000);
        ck_assert_double_eq_tol(drive->nops, 1000, 8);
        for (unsigned i = 0; i < drive->nops; i++) {
                uint64_t w = drive->ops[i].op.offset / (8 * 16384);

                ck_assert_uint_eq(drive->ops[i].op.role, DBIO_ROLE_MERGE);
                if (w == window && drive->ops[i].op.offset > drive->ops[i - 1].op.offset)
                        ck_assert_uint_eq(drive->ops[i].submitted_ns, drive->ops[i - 1].submitted_ns);
                else
                        windows++;
                window = w;
        }
        /* 1 … 8 of 8 pages by chance: 8 / 2 × 256/255 a window. */
        ck_assert_double_eq_tol((double)drive->nops / windows, 4.016, 0.25);
        ck_assert_uint_le(drive->peak[0], 8);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* 64K reads of the log one by one, then windows of 32 pages with many in flight, no page twice. */
START_TEST(recovery_scans_then_applies)
{
        static unsigned char seen[65536]; /* pages of 16K in 1 GiB */
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        /* half of 65,536 pages have redo, at most */
        ck_assert_int_eq(one_add(&one, "innodb.recovery", NULL, "{log: t1, pages: 32769, density: 50%}", UINT64_MAX), -1);
        one_must(&one, "innodb.recovery", NULL, "{log: t1, log_bytes: 1M, pages: 20000, density: 50%}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 16 + 20000);
        for (unsigned i = 0; i < 16; i++) {
                ck_assert_uint_eq(drive->ops[i].op.target, 1);
                ck_assert_uint_eq(drive->ops[i].op.length, 65536);
                ck_assert_uint_eq(drive->ops[i].submitted_ns, i * MS);
        }
        for (unsigned i = 16; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.target, 0);
                ck_assert_uint_eq(drive->ops[i].op.length, 16384);
                ck_assert_uint_eq(drive->ops[i].op.role, DBIO_ROLE_RECOVERY);
                expect(!seen[drive->ops[i].op.offset / 16384]++);
        }
        ck_assert_uint_eq(drive->peak[0], 256);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

TEST_MAIN("innodb", scan_reads_ahead_an_area_at_a_time, scan_thresholds, page_reads_come_in_pairs,
          lru_flush_is_random, purge_reads_undo_in_order, merge_stays_in_its_windows, recovery_scans_then_applies)
