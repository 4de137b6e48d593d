/* InnoDB's redo log and binlog. Expected figures: the rules of MySQL's sources, worked out by hand. */
#include "tests/onedrive.h"
#include "tests/unit.h"

#include "patterns/flushloop.h"
#include "patterns/logtail.h"

#define MS     ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

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
                ck_assert_msg(drive->ops[i].op.offset == expected[k].offset &&
                                      drive->ops[i].op.length == expected[k].length,
                              "write %u: %llu+%u, expected %llu+%llu", k, (unsigned long long)drive->ops[i].op.offset,
                              drive->ops[i].op.length, (unsigned long long)expected[k].offset,
                              (unsigned long long)expected[k].length);
                k++;
        }
        ck_assert_uint_eq(k, n);
}

/* 496 bytes of payload a block; the tail block is rewritten in place; the first write into 8K is padded to its
 * end. Commits of 400 bytes end at 400, 800, 1200, 1600: blocks 0, 1, 2, 3. */
START_TEST(redo_writer_rewrites_its_tail)
{
        static const struct expected expected[] = {
                {2048, 6144},              /* opens the first 8K */
                {2048, 512},  {2560, 512}, /* block 0 complete, then the tail in block 1 */
                {2560, 512},  {3072, 512}, {3072, 512}, {3584, 512},
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

/* 20,000 bytes are 40 complete blocks and a tail: to the boundary of 8K, then a whole 8K, then 12 blocks that are
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

/* 5.6 and 5.7: one write from the tail's block to the end, under the leader; 5.7 pads to 8K where it enters a new
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
        one_must(&one, "innodb.redo_log", NULL, "{commit_rate: 100/s, arrival: uniform, bytes_per_commit: 400}",
                 UINT64_MAX);
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

/* Group commit: fsyncs back to back, g = λT commits each: 10,000/s × 1 ms. Doubling the device's latency doubles
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

/* 0 and 2: an fsync a second, whatever the commits. */
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
        /* 16 sessions each 20 ms, whether or not anything is durable. */
        one_must(&one, "innodb.redo_log", NULL, "{sessions: 16, think: 20ms, flush_log_at_trx_commit: 0}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 10 * SECOND - 1, 100000);
        ck_assert_uint_eq(drive->ncommits, 8000);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* flush_log_at_trx_commit 2 with sync_binlog 1: a commit waits for the binlog's fsync alone. */
START_TEST(lazy_redo_goes_on_to_the_binlog)
{
        uint64_t latency[3] = {100000, 2 * MS, 0};
        struct one one;
        struct drive *drive;
        unsigned rows[2] = {0, 0}, syncs = 0;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.redo_log", NULL, "{sessions: 1, think: 7900us, flush_log_at_trx_commit: 2}", UINT64_MAX);
        one_must(&one, "innodb.binlog", NULL, "{commits_of: s0}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 10 * SECOND - 1, 100000);
        for (unsigned i = 0; i < drive->ncommits; i++) {
                const struct drive_commit *commit = &drive->commits[i];

                rows[commit->source]++;
                ck_assert_uint_eq(commit->durable_ns - commit->arrived_ns, commit->source ? 2100000 : 0);
        }
        ck_assert_uint_eq(rows[0], 1000);
        ck_assert_uint_eq(rows[1], 1000);
        for (unsigned i = 0; i < drive->nops; i++)
                syncs += drive->ops[i].op.kind == DBIO_FSYNC && drive->ops[i].op.role == DBIO_ROLE_LOG;
        ck_assert_uint_eq(syncs, 9);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* The ring: 100 MiB in 32 files (8.4), round and round inside the region, no write across a file's end. */
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

/* Checkpoints of the log: a block of the file's header at 512 and 1536 in turn, each second (8.0, in the file
 * that is being written) or each 7 seconds (before, in the first file), and an fsync. */
START_TEST(redo_writes_its_checkpoints)
{
        for (unsigned version = 507; version <= 800; version += 800 - 507) {
                uint64_t latency[3] = {10000, 100000, 0};
                struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 0);
                struct one one;
                struct drive *drive;
                unsigned blocks[2] = {0};

                keys.version = version;
                one_init(&one, 1u << 30, 512, 16384);
                one_must(&one, "innodb.redo_log", &keys, "{commit_rate: 100/s, bytes_per_commit: 400, view: syscall}",
                         UINT64_MAX);
                ((struct dbio_logtail *)one.streams[0].sources[0])->ring.cursor = (48u << 20) + 8192;
                drive = drive_one(&one, latency);
                drive_run(drive, 28 * SECOND + 500 * MS, 100000);
                for (unsigned i = 0; i < drive->nops; i++) {
                        const struct dbio_op *op = &drive->ops[i].op;
                        uint64_t in = op->offset % (48u << 20);

                        if (op->kind != DBIO_WRITE || in >= 2048 || in == 0)
                                continue;
                        ck_assert_uint_eq(in, blocks[0] == blocks[1] ? 512 : 1536);
                        ck_assert_uint_eq(op->length, 512);
                        ck_assert_uint_eq(op->offset >= 48u << 20, version == 800);
                        blocks[in != 512]++;
                }
                ck_assert_uint_eq(blocks[0] + blocks[1], version == 800 ? 28 : 4);
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

/* A group pays the redo log's fsync and then the binlog's. */
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
                one_must(&one, "innodb.binlog", NULL,
                         every ? "{commits_of: s0, sync_binlog: 10}" : "{commits_of: s0, sync_binlog: 0}", UINT64_MAX);
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

/* Worked example of the log's limits: 100 MiB: hard 93.3, 7/8 of soft less margin 72.4, start 8.4; 1 GiB: 749 and
 * 86 MiB. Before 8.0.30: C = 0.9·(96 MiB − 4 KiB) = 86.4, M = 0.9·(C − 48 pages of 16K) = 77.08, 7/8 of it 67.45. */
START_TEST(redo_log_has_its_limits)
{
        const double mib = 1 << 20;
        struct dbio_redo_limits limits = dbio_redo_limits(804, 100u << 20, 16384);

        ck_assert_double_eq_tol(limits.hard / mib, 93.3, 0.05);
        ck_assert_double_eq_tol(limits.age / mib, 72.4, 0.1);
        ck_assert_double_eq_tol(limits.free / mib * 0.1, 8.4, 0.05);
        limits = dbio_redo_limits(804, 1u << 30, 16384);
        ck_assert_double_eq_tol(limits.age / mib, 749, 0.5);
        ck_assert_double_eq_tol(limits.free / mib * 0.1, 86, 0.5);
        limits = dbio_redo_limits(507, 96u << 20, 16384);
        ck_assert_double_eq_tol(limits.free / mib, 86.4, 0.01);
        ck_assert_double_eq_tol(limits.hard / mib, 77.08, 0.01);
        ck_assert_double_eq_tol(limits.age / mib, 67.45, 0.01);
        ck_assert_double_eq_tol(limits.sync / mib, 72.27, 0.01);
}
END_TEST

TEST_MAIN("innodb_log", redo_writer_rewrites_its_tail, redo_writer_pads_by_the_rule, redo_leader_writes_in_one_piece,
          redo_device_view_is_in_whole_blocks, redo_groups_commits, redo_lazy_flushes_once_a_second,
          lazy_redo_goes_on_to_the_binlog, redo_goes_round, redo_writes_its_checkpoints,
          binlog_syncs_after_the_redo_log, binlog_syncs_each_nth_group, redo_log_has_its_limits)
