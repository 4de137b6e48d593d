/* InnoDB's patterns. Expected figures: facts of the InnoDB sheet (sections in brackets) worked out by hand. */
#include "tests/drive.h"
#include "tests/one.h"
#include "tests/unit.h"

#include <math.h>

#include "patterns/logtail.h"

#define MS ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

/* Writes take user[0] ns, fsyncs user[1], reads user[2]. */
static uint64_t by_kind(void *user, const struct dbio_op *op)
{
        const uint64_t *latency = user;

        return latency[op->kind == DBIO_WRITE ? 0 : op->kind == DBIO_FSYNC ? 1 : 2];
}

static struct drive *drive_one(struct one *one, uint64_t *latency)
{
        struct drive *drive = drive_new(by_kind, latency);

        for (unsigned i = 0; i < one->nstreams; i++)
                drive_add(drive, one->streams[i].sources[0]);
        return drive;
}

/* The redo log begins at the first data byte of its first file. */
static void start_at_header(struct one *one, unsigned stream)
{
        struct dbio_logtail *tail = (struct dbio_logtail *)one->streams[stream].sources[0];

        tail->ring.cursor = tail->ring.from + 2048;
}

struct expected {
        uint64_t offset, length;
};

static void check_writes(const struct drive *drive, const struct expected *expected, unsigned n)
{
        unsigned k = 0;

        for (unsigned i = 0; i < drive->nops && k < n; i++) {
                if (drive->ops[i].op.kind != DBIO_WRITE)
                        continue;
                ck_assert_msg(drive->ops[i].op.offset == expected[k].offset && drive->ops[i].op.length == expected[k].length,
                              "write %u: %llu+%u, expected %llu+%llu", k, (unsigned long long)drive->ops[i].op.offset,
                              drive->ops[i].op.length, (unsigned long long)expected[k].offset,
                              (unsigned long long)expected[k].length);
                k++;
        }
        ck_assert_uint_eq(k, n);
}

/* [2.7] 496 bytes of payload a block; the tail block is rewritten in place; the first write into 8K is padded to its
 * end. Commits of 400 bytes end at 400, 800, 1200, 1600: blocks 0, 1, 2, 3. */
START_TEST(redo_writer_rewrites_its_tail)
{
        static const struct expected expected[] = {
                {2048, 6144},                           /* opens the first 8K */
                {2048, 512}, {2560, 512},               /* block 0 complete, then the tail in block 1 */
                {2560, 512}, {3072, 512}, {3072, 512}, {3584, 512},
        };
        uint64_t latency[3] = {10000, 100000, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL,
                 "{commit_rate: 100/s, arrival: uniform, bytes_per_commit: 400, view: syscall}", UINT64_MAX);
        start_at_header(&one, 0);
        drive = drive_one(&one, latency);
        drive_run(drive, 35 * MS, 1000);
        check_writes(drive, expected, 7);
        for (unsigned i = 0; i < drive->nops; i++)
                if (drive->ops[i].op.kind == DBIO_FSYNC)
                        ck_assert_uint_eq(drive->ops[i].op.flags, DBIO_OP_DATASYNC);
        ck_assert_uint_eq(drive->ncommits, 4);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* [2.7] 20,000 bytes are 40 complete blocks and a tail: to the boundary of 8K, then a whole 8K, then 12 blocks that are
 * padded to the next boundary, then the tail inside what has been padded. */
START_TEST(redo_writer_pads_by_the_rule)
{
        static const struct expected expected[] = {{2048, 6144}, {8192, 8192}, {16384, 8192}, {22528, 512}};
        uint64_t latency[3] = {10000, 100000, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL,
                 "{commit_rate: 1/s, arrival: uniform, bytes_per_commit: 20000, view: syscall}", UINT64_MAX);
        start_at_header(&one, 0);
        drive = drive_one(&one, latency);
        drive_run(drive, 500 * MS, 1000);
        check_writes(drive, expected, 4);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* [2.7] 5.6 and 5.7: one write from the tail's block to the end, under the leader; 5.7 pads to 8K where it enters a new
 * one, 5.6 does not. */
START_TEST(redo_leader_writes_in_one_piece)
{
        static const struct expected plain[] = {{2048, 512}, {2048, 1024}, {2560, 1024}, {3072, 1024}};
        static const struct expected padded[] = {{2048, 6144}, {2048, 1024}, {2560, 1024}, {3072, 1024}};
        uint64_t latency[3] = {10000, 100000, 0};

        for (unsigned version = 506; version <= 507; version++) {
                struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 0);
                struct one one;
                struct drive *drive;

                keys.version = version;
                one_init(&one, 1u << 30, 512, 16384);
                one_must(&one, "innodb.redo_log", &keys,
                         "{commit_rate: 100/s, arrival: uniform, bytes_per_commit: 400, view: syscall}", UINT64_MAX);
                start_at_header(&one, 0);
                drive = drive_one(&one, latency);
                drive_run(drive, 35 * MS, 1000);
                check_writes(drive, version == 506 ? plain : padded, 4);
                /* Write, fsync, write, fsync …; fsync, not fdatasync. */
                for (unsigned i = 0; i < drive->nops; i++) {
                        ck_assert_uint_eq(drive->ops[i].op.kind, i % 2 ? DBIO_FSYNC : DBIO_WRITE);
                        ck_assert_uint_eq(drive->ops[i].op.flags, i % 2 ? DBIO_OP_BARRIER : 0);
                }
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

/* [0.1] What reaches the device: whole 4K blocks, one write for what fsync finds, then the fsync. */
START_TEST(redo_device_view_is_in_whole_blocks)
{
        static const struct expected expected[] = {{0, 8192}, {0, 4096}, {0, 4096}, {0, 4096}};
        uint64_t latency[3] = {10000, 100000, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 4096, 16384);
        ck_assert_int_eq(one_add(&one, "innodb.redo_log", NULL, "{commit_rate: 100/s, view: syscall}", UINT64_MAX), -1);
        ck_assert_str_eq(one.err.message,
                         "view: syscall writes blocks of 512 bytes, but the target's sector is 4096: say view: device");
        one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 100/s, arrival: uniform, bytes_per_commit: 400}", UINT64_MAX);
        start_at_header(&one, 0);
        drive = drive_one(&one, latency);
        drive_run(drive, 35 * MS, 1000);
        check_writes(drive, expected, 4);
        for (unsigned i = 0; i < drive->nops; i++)
                ck_assert_uint_eq(drive->ops[i].op.kind, i % 2 ? DBIO_FSYNC : DBIO_WRITE);
        ck_assert_uint_eq(drive->ops[1].op.flags, DBIO_OP_BARRIER | DBIO_OP_DATASYNC);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* [2.7] Group commit: fsyncs back to back, g = λT commits each: 10,000/s × 1 ms. Doubling the device's latency doubles
 * the bytes a flush. */
START_TEST(redo_groups_commits)
{
        double commits[2], bytes[2];

        for (unsigned i = 0; i < 2; i++) {
                uint64_t latency[3] = {0, (i + 1) * MS, 0};
                unsigned fsyncs = 0;
                struct one one;
                struct drive *drive;

                one_init(&one, 1u << 30, 512, 16384);
                one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 10000/s, bytes_per_commit: 2000}", UINT64_MAX);
                drive = drive_one(&one, latency);
                drive_run(drive, SECOND, 100000);
                bytes[i] = 0;
                for (unsigned k = 0; k < drive->nops; k++) {
                        fsyncs += drive->ops[k].op.kind == DBIO_FSYNC;
                        bytes[i] += drive->ops[k].op.length;
                }
                commits[i] = (double)drive->ncommits / fsyncs;
                bytes[i] /= fsyncs;
                ck_assert_double_eq_tol(commits[i], (i + 1) * 10, 0.6);
                drive_free(drive);
                one_release(&one, false);
        }
        /* 10 × 2,000 × 512/496, in 4K blocks whose first and last are shared: 20,645 + about 4,096. */
        ck_assert_double_eq_tol(bytes[0], 20645 + 4096, 2500);
        ck_assert_double_eq_tol(bytes[1], 41290 + 4096, 4000);
}
END_TEST

/* [2.7] 0 and 2: an fsync a second, whatever the commits. */
START_TEST(redo_lazy_flushes_once_a_second)
{
        uint64_t latency[3] = {10000, MS, 0};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 1000/s, flush_log_at_trx_commit: 2}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 10 * SECOND + 500 * MS, 100000);
        for (unsigned i = 0, n = 0; i < drive->nops; i++)
                if (drive->ops[i].op.kind == DBIO_FSYNC)
                        ck_assert_uint_eq(drive->ops[i].submitted_ns / SECOND, ++n);
        ck_assert_uint_gt(drive->ncommits, 9000);
        ck_assert_uint_eq(drive->commits[5].durable_ns, drive->commits[5].arrived_ns);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* [2.7] The ring: 100 MiB in 32 files (8.4), round and round inside the region, no write across a file's end. */
START_TEST(redo_goes_round)
{
        uint64_t latency[3] = {0, 10 * MS, 0}, last = 0;
        unsigned laps = 0;
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 20000/s, bytes_per_commit: 2000}", UINT64_MAX);
        ck_assert_uint_eq(one.streams[0].uses[0].to, 100u << 20);
        drive = drive_one(&one, latency);
        drive_run(drive, 8 * SECOND, 100000);
        for (unsigned i = 0; i < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                if (op->kind != DBIO_WRITE)
                        continue;
                ck_assert_uint_eq(op->offset % 4096, 0);
                ck_assert_uint_eq(op->length % 4096, 0);
                ck_assert_uint_le(op->length, 1u << 20);
                ck_assert_uint_eq(op->offset / 3276800, (op->offset + op->length - 1) / 3276800);
                ck_assert_uint_le(op->offset + op->length, 100u << 20);
                laps += op->offset + (50u << 20) < last;
                last = op->offset;
        }
        /* 8 s × 40 MB/s × 512/496 of 104.8 MB. */
        ck_assert_uint_eq(laps, 3);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* [2.8] A group pays the redo log's fsync and then the binlog's. */
START_TEST(binlog_syncs_after_the_redo_log)
{
        uint64_t latency[3] = {100000, 2 * MS, 0};
        struct one one;
        struct drive *drive;
        unsigned rows[2] = {0, 0};

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL, "{sessions: 1, think: 10ms, bytes_per_commit: 400}", UINT64_MAX);
        one_must(&one, "innodb.binlog", NULL, "{commits_of: s0}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, SECOND, 100000);
        for (unsigned i = 0; i < drive->nops; i++) {
                static const struct {
                        unsigned kind, role;
                } order[4] = {{DBIO_WRITE, DBIO_ROLE_LOG},
                              {DBIO_FSYNC, DBIO_ROLE_LOG},
                              {DBIO_WRITE, DBIO_ROLE_BINLOG},
                              {DBIO_FSYNC, DBIO_ROLE_BINLOG}};

                ck_assert_uint_eq(drive->ops[i].op.kind, order[i % 4].kind);
                ck_assert_uint_eq(drive->ops[i].op.role, order[i % 4].role);
                if (i)
                        ck_assert_uint_ge(drive->ops[i].submitted_ns, drive->ops[i - 1].completed_ns);
        }
        for (unsigned i = 0; i < drive->ncommits; i++) {
                const struct drive_commit *commit = &drive->commits[i];

                rows[commit->source]++;
                ck_assert_uint_eq(commit->durable_ns - commit->arrived_ns, (commit->source ? 4200 : 2100) * 1000);
        }
        /* 1 session: a commit each 10 + 4.2 ms. */
        ck_assert_uint_eq(rows[1], 71);
        ck_assert_uint_eq(rows[0], 71);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* sync_binlog 10: an fsync each tenth group; 0: none, the kernel writes it back. */
START_TEST(binlog_syncs_each_nth_group)
{
        for (unsigned every = 0; every <= 10; every += 10) {
                uint64_t latency[3] = {100000, MS, 0};
                unsigned syncs = 0, writes = 0;
                struct one one;
                struct drive *drive;

                one_init(&one, 1u << 30, 512, 16384);
                one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 100/s, arrival: uniform}", UINT64_MAX);
                one_must(&one, "innodb.binlog", NULL, every ? "{commits_of: s0, sync_binlog: 10}"
                                                            : "{commits_of: s0, sync_binlog: 0}", UINT64_MAX);
                drive = drive_one(&one, latency);
                drive_run(drive, 10 * SECOND - 5 * MS, 100000);
                for (unsigned i = 0; i < drive->nops; i++) {
                        syncs += drive->ops[i].op.role == DBIO_ROLE_BINLOG && drive->ops[i].op.kind == DBIO_FSYNC;
                        writes += drive->ops[i].op.role == DBIO_ROLE_BINLOG && drive->ops[i].op.kind == DBIO_WRITE;
                }
                ck_assert_uint_eq(syncs, every ? 100 : 0);
                ck_assert_uint_eq(writes, every ? 100 : 1);
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

TEST_MAIN("innodb", redo_writer_rewrites_its_tail, redo_writer_pads_by_the_rule, redo_leader_writes_in_one_piece,
          redo_device_view_is_in_whole_blocks, redo_groups_commits, redo_lazy_flushes_once_a_second, redo_goes_round,
          binlog_syncs_after_the_redo_log, binlog_syncs_each_nth_group)
