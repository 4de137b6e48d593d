/* InnoDB's patterns. Expected figures: the rules of MySQL's sources, worked out by hand. */
#include "tests/drive.h"
#include "tests/one.h"
#include "tests/unit.h"

#include <math.h>

#include "patterns/flushloop.h"
#include "patterns/logtail.h"

#define MS     ((uint64_t)1000000)
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

/* Golden vectors of pct_lsn at a = 10, 20, … 100. */
START_TEST(adaptive_flushing_has_the_golden_vectors)
{
        static const unsigned slow[10] = {42, 119, 219, 337, 471, 619, 780, 954, 1138, 1333};
        static const unsigned fast[10] = {8, 23, 43, 67, 94, 123, 156, 190, 227, 266};
        static const struct {
                double capacity, max;
                const unsigned *pct;
        } cases[] = {{200, 2000, slow}, {2000, 4000, fast}, {10000, 20000, fast}};

        for (unsigned i = 0; i < 3; i++) {
                struct dbio_flushloop loop = {.version = 804,
                                              .io_capacity = cases[i].capacity,
                                              .io_capacity_max = cases[i].max,
                                              .adaptive_lwm = 1,
                                              .adaptive = true,
                                              .limits = {.free = 1e9, .age = 1e9}};

                for (unsigned k = 1; k <= 10; k++)
                        ck_assert_uint_eq(dbio_flush_pct_lsn(&loop, 1e8 * k), cases[i].pct[k - 1]);
                /* Below the low-water mark, and not adaptive. */
                ck_assert_uint_eq(dbio_flush_pct_lsn(&loop, 0.9e7), 0);
                loop.adaptive = false;
                ck_assert_uint_eq(dbio_flush_pct_lsn(&loop, 9.9e8), 0);
        }
        /* 2000 DIV 3999 … the division of the two is whole: 2000/3999 gives 1. */
        struct dbio_flushloop odd = {.version = 804,
                                     .io_capacity = 2000,
                                     .io_capacity_max = 3999,
                                     .adaptive_lwm = 1,
                                     .adaptive = true,
                                     .limits = {.free = 1e9, .age = 1e9}};
        ck_assert_uint_eq(dbio_flush_pct_lsn(&odd, 1e9), 133);
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

static double six_hundred(void *user, double lsn_span)
{
        *(double *)user = lsn_span;
        return 600;
}

/* n = min((io_cap·max(pct_dirty, pct_lsn)/100 + page_avg + pages_lsn) / 3, io_max), by hand. */
START_TEST(adaptive_flushing_adds_up)
{
        struct dbio_flushloop loop = {.version = 800,
                                      .io_capacity = 200,
                                      .io_capacity_max = 2000,
                                      .max_dirty_pct = 90,
                                      .max_dirty_pct_lwm = 10,
                                      .adaptive_lwm = 10,
                                      .adaptive = true,
                                      .avg_loops = 30,
                                      .limits = {.free = 1000000, .age = 1000000, .sync = 1100000, .hard = 1200000}};
        double span = -1;
        struct dbio_flush_input input = {.now_ns = SECOND,
                                         .lsn = 500000,
                                         .age = 300000,
                                         .dirty_pct = 45.5,
                                         .pages_within = six_hundred,
                                         .user = &span};
        struct dbio_flush_target target = dbio_flushloop_turn(&loop, &input);

        ck_assert_uint_eq(target.pct_dirty, 50); /* 100 × 45.5 / 91 */
        ck_assert_uint_eq(target.pct_lsn, 219);
        ck_assert_uint_eq(target.pages, (200 * 219 / 100 + 0 + 200) / 3);
        ck_assert(!target.sync);
        /* Nothing logged since: only the share of dirty pages counts. */
        input.now_ns += SECOND;
        target = dbio_flushloop_turn(&loop, &input);
        ck_assert_uint_eq(target.pct_lsn, 0);
        ck_assert_uint_eq(target.pages, 200 * 50 / 100 / 3);
        /* 28 more turns and the averages are taken: 40 pages and 1,000,000 bytes in 30 s, halved against 0. */
        input.pages_flushed = 40;
        for (unsigned i = 0; i < 28; i++) {
                input.now_ns += SECOND;
                input.lsn = 1500000;
                target = dbio_flushloop_turn(&loop, &input);
        }
        ck_assert_double_eq(loop.page_avg_rate, floor(40.0 * 28 / 30 / 2));
        ck_assert_double_eq(loop.lsn_avg_rate, 25000);
        input.lsn += 1;
        input.age = 1100001;
        target = dbio_flushloop_turn(&loop, &input);
        ck_assert_double_eq(span, 75000);
        /* Furious: max(pages_lsn, io_cap), no sleep. */
        ck_assert(target.sync);
        ck_assert_uint_eq(target.pages, 200);
        /* 5.6: (io_cap·pct/100 + avg) / 2. */
        loop.version = 506;
        input.age = 300000;
        input.lsn += 1;
        target = dbio_flushloop_turn(&loop, &input);
        ck_assert_uint_eq(target.pages, (200 * 219 / 100 + 18) / 2);
}
END_TEST

/* A cleaner without a redo log: all by the share of dirty pages. */
static struct drive *clean(struct one *one, unsigned version, const char *yaml, unsigned map, uint64_t *latency,
                           uint64_t limit)
{
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.page_cleaner"), 0);
        struct drive *drive;

        keys.version = version;
        keys.dirty.map = (int)map;
        one_init(one, 1u << 30, 512, 16384);
        one_must(one, "innodb.page_cleaner", &keys, yaml, UINT64_MAX);
        drive = drive_one(one, latency);
        drive_run(drive, limit, 100000);
        return drive;
}

struct step {
        unsigned kind, role, target;
        uint64_t length, repeat;
        unsigned flags;
};

static void check_steps(const struct drive *drive, const struct step *steps, unsigned n)
{
        unsigned at = 0;

        for (unsigned i = 0; i < n; i++)
                for (unsigned k = 0; k < steps[i].repeat; k++, at++) {
                        const struct dbio_op *op = &drive->ops[at].op;

                        ck_assert_msg(at < drive->nops, "only %u ops, step %u", drive->nops, i);
                        ck_assert_msg(op->kind == steps[i].kind && op->role == steps[i].role &&
                                              op->target == steps[i].target && op->length == steps[i].length &&
                                              op->flags == steps[i].flags,
                                      "op %u (step %u): kind %u role %u target %u length %u flags %u", at, i, op->kind,
                                      op->role, op->target, op->length, op->flags);
                }
}

#define W  DBIO_WRITE
#define F  DBIO_FSYNC
#define DW DBIO_ROLE_DOUBLEWRITE
#define PF DBIO_ROLE_PAGE_FLUSH
#define B  DBIO_OP_BARRIER

/* The sequences of each version and method, op by op. At the first tick 150 pages of 320 are dirty, more
 * than max_dirty_pages_pct: 100 % of io_capacity 150; with the average, which begins at dirty_rate, (150 + 150) / 3 are
 * asked for. */
START_TEST(doublewrite_sequences)
{
        static const struct {
                const char *label, *yaml;
                unsigned version;
                struct step steps[8];
                unsigned n;
        } cases[] = {
                {"5.7: 64 pages, 36 pages, fsync, pages, fsync",
                 "doublewrite_pages: 120, flush_method: fsync",
                 507,
                 {{W, DW, 0, 64 * 16384, 1, B},
                  {W, DW, 0, 36 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 100, 0},
                  {F, PF, 0, 0, 1, B}},
                 5},
                {"5.7 with O_DIRECT syncs ibdata1 all the same",
                 "flush_method: o_direct, doublewrite_pages: 50",
                 507,
                 {{W, DW, 0, 50 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 50, 0},
                  {F, PF, 0, 0, 1, B},
                  {W, DW, 0, 50 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 50, 0},
                  {F, PF, 0, 0, 1, B}},
                 8},
                {"8.0: batches of 4, fsync of both",
                 "buffer_pool_instances: 1, flush_method: fsync",
                 800,
                 {{W, DW, 0, 4 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 4, 0},
                  {F, PF, 0, 0, 1, B},
                  {W, DW, 0, 4 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 4, 0},
                  {F, PF, 0, 0, 1, B}},
                 8},
                {"8.4: O_DIRECT, no fsync of the doublewrite file",
                 "buffer_pool_instances: 1, doublewrite_to: t1",
                 804,
                 {{W, DW, 1, 100 * 16384, 1, B}, {W, PF, 0, 16384, 100, 0}, {F, PF, 0, 0, 1, B}},
                 3},
                {"8.4: O_DIRECT_NO_FSYNC",
                 "buffer_pool_instances: 1, flush_method: o_direct_no_fsync",
                 804,
                 {{W, DW, 0, 100 * 16384, 1, B}, {W, PF, 0, 16384, 100, 0}},
                 2},
                {"8.4: fsync",
                 "buffer_pool_instances: 1, flush_method: fsync, doublewrite_pages: 64",
                 804,
                 {{W, DW, 0, 64 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 64, 0},
                  {F, PF, 0, 0, 1, B},
                  {W, DW, 0, 36 * 16384, 1, B},
                  {F, DW, 0, 0, 1, B},
                  {W, PF, 0, 16384, 36, 0},
                  {F, PF, 0, 0, 1, B}},
                 8},
                {"8.4: detect_only writes 8K",
                 "buffer_pool_instances: 1, doublewrite: detect_only",
                 804,
                 {{W, DW, 0, 8192, 1, B}, {W, PF, 0, 16384, 100, 0}, {F, PF, 0, 0, 1, B}},
                 3},
                {"off",
                 "buffer_pool_instances: 1, doublewrite: off",
                 804,
                 {{W, PF, 0, 16384, 100, 0}, {F, PF, 0, 0, 1, B}},
                 2},
        };

        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
                uint64_t latency[3] = {MS, 2 * MS, 0};
                char yaml[512];
                struct one one;
                struct drive *drive;

                snprintf(yaml, sizeof yaml,
                         "{io_capacity: 150, dirty_rate: 150/s, max_dirty_pages_pct_lwm: 0, max_dirty_pages_pct: 1,"
                         " buffer_pool_size: 5M, flush_neighbors: 0, %s}",
                         cases[i].yaml);
                drive = clean(&one, cases[i].version, yaml, DBIO_DIRTY_PAGES, latency, SECOND + 500 * MS);
                check_steps(drive, cases[i].steps, cases[i].n);
                /* Nothing of a step before all of the step before it. */
                for (unsigned k = 1; k < drive->nops; k++)
                        if (drive->ops[k].op.kind == F || drive->ops[k].op.role == DW ||
                            drive->ops[k - 1].op.role == DW || drive->ops[k - 1].op.kind == F)
                                ck_assert_uint_ge(drive->ops[k].submitted_ns, drive->ops[k - 1].completed_ns);
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

/* Places: before 8.0.20 the second and third extent; from then on segments in turn, 8.4 with 4 instances:
 * ceil(8/2) segments of 128 pages. Bytes are doubled, ops are 1 + 1/m. */
START_TEST(doublewrite_doubles_the_bytes)
{
        uint64_t latency[3] = {100000, MS, 0}, bytes[DBIO_ROLES] = {0}, writes[DBIO_ROLES] = {0};
        struct one one;
        struct drive *drive = clean(&one, 804,
                                    "{io_capacity: 3000, dirty_rate: 2000/s, max_dirty_pages_pct_lwm: 0,"
                                    " max_dirty_pages_pct: 1, buffer_pool_size: 64M, buffer_pool_instances: 4}",
                                    DBIO_DIRTY_PAGES, latency, 10 * SECOND - 1);
        unsigned used[4] = {0};

        for (unsigned i = 0; i < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                bytes[op->role] += op->length;
                writes[op->role] += op->kind == DBIO_WRITE;
                ck_assert_uint_eq(op->flags & DBIO_OP_BARRIER, 0);
                if (op->role != DBIO_ROLE_DOUBLEWRITE)
                        continue;
                ck_assert_uint_eq(op->offset % (128 * 16384), 0);
                ck_assert_uint_lt(op->offset, 4 * 128 * 16384);
                used[op->offset / (128 * 16384)]++;
        }
        for (unsigned i = 0; i < 4; i++)
                ck_assert_uint_le(used[i] - writes[DBIO_ROLE_DOUBLEWRITE] / 4, 1);
        ck_assert_uint_gt(writes[DBIO_ROLE_PAGE_FLUSH], 8000);
        ck_assert_uint_eq(bytes[DBIO_ROLE_DOUBLEWRITE], bytes[DBIO_ROLE_PAGE_FLUSH]);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* flush_neighbors, with a share q of 4,096 pages dirty by chance: 2,048 draws leave q = 1 − exp(−1/2) = 0.393.
 * Pages a victim: mode 0 one, mode 1 1 + 2q/(1−q) = 2.30, mode 2 64q = 25.2. */
START_TEST(neighbours_go_along)
{
        const double q = 1 - exp(-0.5);
        const double expected[3] = {1, 1 + 2 * q / (1 - q), 64 * q};

        for (unsigned mode = 0; mode < 3; mode++) {
                uint64_t latency[3] = {MS, 2 * MS, 0};
                struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.page_cleaner"), 0);
                char yaml[300];
                struct one one;
                struct drive *drive;
                unsigned pages = 0, victims = 0;

                keys.dirty.map = DBIO_DIRTY_PAGES;
                one_init(&one, 64u << 20, 512, 16384);
                snprintf(yaml, sizeof yaml,
                         "{io_capacity: 1200, dirty_rate: 2048/s, max_dirty_pages_pct_lwm: 0, max_dirty_pages_pct: 1,"
                         " flush_neighbors: %u, doublewrite: off, buffer_pool_instances: 1}",
                         mode);
                one_must(&one, "innodb.page_cleaner", &keys, yaml, UINT64_MAX);
                drive = drive_one(&one, latency);
                drive_run(drive, SECOND + 500 * MS, 100000);
                for (unsigned k = 0; k < drive->nops && pages < 400; k++) {
                        const struct dbio_op *op = &drive->ops[k].op;
                        uint64_t page = op->offset / 16384, last = k ? drive->ops[k - 1].op.offset / 16384 : UINT64_MAX;

                        if (op->kind != DBIO_WRITE)
                                continue;
                        pages++;
                        victims += mode == 2   ? page / 64 != last / 64 || page < last
                                   : mode == 1 ? page != last + 1 || page / 64 != last / 64
                                               : 1;
                }
                ck_assert_uint_eq(pages, 400);
                ck_assert_double_eq_tol((double)pages / victims, expected[mode], mode ? 0.15 * expected[mode] : 1e-9);
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

static double last_gauge(const struct drive *drive, const char *name)
{
        for (unsigned i = drive->ngauges; i--;)
                if (!strcmp(drive->gauges[i].name, name))
                        return drive->gauges[i].value;
        return NAN;
}

/* A server in its steady state flushes what gets dirty: 8.0's loop on a redo log of 96 MiB with 2 MB/s of redo, 400
 * pages/s, 5.7's and 8.4's too. The redo age stays between the low-water mark and the sync point. */
START_TEST(cleaner_keeps_up)
{
        static const unsigned versions[] = {506, 507, 800, 804};

        for (unsigned i = 0; i < 4; i++) {
                uint64_t latency[3] = {200000, MS, 0}, flushed = 0;
                struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 1);
                struct dbio_redo_limits limits;
                struct one one;
                struct drive *drive;

                one_init(&one, 4ull << 30, 512, 16384);
                keys.version = versions[i];
                one_must(&one, "innodb.redo_log", &keys, "{commit_rate: 200/s, bytes_per_commit: 10000}", UINT64_MAX);
                keys.target = 0;
                keys.dirty.map = DBIO_DIRTY_PAGES;
                one_must(&one, "innodb.page_cleaner", &keys, "{dirty_rate: 400/s, redo: s0, io_capacity: 400}",
                         UINT64_MAX);
                drive = drive_one(&one, latency);
                drive_run(drive, 300 * SECOND, 2000000);
                for (unsigned k = 0; k < drive->nops; k++)
                        flushed += drive->ops[k].op.role == DBIO_ROLE_PAGE_FLUSH &&
                                   drive->ops[k].op.kind == DBIO_WRITE && drive->ops[k].submitted_ns >= 200 * SECOND;
                /* Of 262,144 pages few are drawn again while dirty. */
                ck_assert_double_eq_tol((double)flushed / 100, 400, 40);
                limits = dbio_redo_limits(versions[i], versions[i] == 804 ? 100u << 20 : 96u << 20, 16384);
                ck_assert_double_gt(last_gauge(drive, "checkpoint_age"), 0.1 * limits.free * 0.9);
                ck_assert_double_lt(last_gauge(drive, "checkpoint_age"), limits.sync);
                ck_assert(!isnan(last_gauge(drive, "pages_requested")));
                ck_assert(!isnan(last_gauge(drive, "pages_flushed")));
                drive_free(drive);
                one_release(&one, false);
        }
}
END_TEST

/* Furious flushing: rounds without sleep. A fast device and 8,000 dirty pages a second: a round is at most
 * 2·io_capacity_max = 4,000 pages, so that one each second could not keep the log from filling. */
START_TEST(furious_flushing_does_not_sleep)
{
        uint64_t latency[3] = {100000, 200000, 0}, pages = 0;
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 1);
        struct one one;
        struct drive *drive;

        one_init(&one, 16ull << 30, 512, 16384);
        keys.version = 800;
        one_must(&one, "innodb.redo_log", &keys, "{commit_rate: 1000/s, bytes_per_commit: 20000}", UINT64_MAX);
        keys.target = 0;
        keys.dirty.map = DBIO_DIRTY_PAGES;
        one_must(&one, "innodb.page_cleaner", &keys, "{dirty_rate: 8000/s, redo: s0, doublewrite_pages: 128}",
                 UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 30 * SECOND, 2000000);
        for (unsigned i = 0; i < drive->nops; i++)
                pages += drive->ops[i].op.role == DBIO_ROLE_PAGE_FLUSH && drive->ops[i].op.kind == DBIO_WRITE &&
                         drive->ops[i].submitted_ns >= 15 * SECOND;
        ck_assert_double_ge((double)pages / 15, 6500);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

/* The cliff: more redo than the cleaner's io_capacity_max can follow: age passes the sync point, rounds follow each
 * other without sleep, and where even that is too slow, commits wait: the age never passes the hard limit. */
START_TEST(cliff_stops_commits)
{
        uint64_t latency[3] = {3 * MS, 10 * MS, 0}, slowest = 0, last = 0;
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 1);
        struct dbio_redo_limits limits = dbio_redo_limits(800, 96u << 20, 16384);
        struct one one;
        struct drive *drive;
        double age = 0;

        one_init(&one, 4ull << 30, 512, 16384);
        keys.version = 800;
        one_must(&one, "innodb.redo_log", &keys, "{commit_rate: 1000/s, bytes_per_commit: 10000}", UINT64_MAX);
        keys.target = 0;
        keys.dirty.map = DBIO_DIRTY_PAGES;
        one_must(&one, "innodb.page_cleaner", &keys, "{dirty_rate: 5000/s, redo: s0, buffer_pool_instances: 1}",
                 UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 60 * SECOND, 2000000);
        for (unsigned i = 0; i < drive->ngauges; i++)
                if (!strcmp(drive->gauges[i].name, "checkpoint_age"))
                        age = fmax(age, drive->gauges[i].value);
        ck_assert_double_gt(age, limits.sync);
        ck_assert_double_le(age, limits.hard + 20000);
        /* No second goes by without a write of the cleaner, and none sleeps out: 10 + 10 ms is the longest pair of
         * fsyncs. */
        for (unsigned i = 0; i < drive->nops; i++) {
                if (drive->ops[i].op.role == DBIO_ROLE_LOG)
                        continue;
                if (last > 40 * SECOND)
                        ck_assert_uint_le(drive->ops[i].submitted_ns - last, 20 * MS);
                last = drive->ops[i].submitted_ns;
        }
        for (unsigned i = 0; i < drive->ncommits; i++)
                if (drive->commits[i].durable_ns - drive->commits[i].arrived_ns > slowest)
                        slowest = drive->commits[i].durable_ns - drive->commits[i].arrived_ns;
        ck_assert_uint_gt(slowest, 5 * SECOND);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

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

/* 64K reads of the log one by one, then windows of 32 pages with many in flight. */
START_TEST(recovery_scans_then_applies)
{
        uint64_t latency[3] = {0, 0, MS};
        struct one one;
        struct drive *drive;

        one_init(&one, 1u << 30, 512, 16384);
        one_must(&one, "innodb.recovery", NULL, "{log: t1, log_bytes: 1M, pages: 1000, density: 50%}", UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 100 * SECOND, 100000);
        ck_assert_uint_eq(drive->nops, 16 + 1000);
        for (unsigned i = 0; i < 16; i++) {
                ck_assert_uint_eq(drive->ops[i].op.target, 1);
                ck_assert_uint_eq(drive->ops[i].op.length, 65536);
                ck_assert_uint_eq(drive->ops[i].submitted_ns, i * MS);
        }
        for (unsigned i = 16; i < drive->nops; i++) {
                ck_assert_uint_eq(drive->ops[i].op.target, 0);
                ck_assert_uint_eq(drive->ops[i].op.length, 16384);
                ck_assert_uint_eq(drive->ops[i].op.role, DBIO_ROLE_RECOVERY);
        }
        ck_assert_uint_eq(drive->peak[0], 256);
        drive_free(drive);
        one_release(&one, false);
}
END_TEST

TEST_MAIN("innodb", redo_writer_rewrites_its_tail, redo_writer_pads_by_the_rule, redo_leader_writes_in_one_piece,
          redo_device_view_is_in_whole_blocks, redo_groups_commits, redo_lazy_flushes_once_a_second,
          lazy_redo_goes_on_to_the_binlog, redo_goes_round, redo_writes_its_checkpoints,
          binlog_syncs_after_the_redo_log, binlog_syncs_each_nth_group, adaptive_flushing_has_the_golden_vectors,
          redo_log_has_its_limits, adaptive_flushing_adds_up, doublewrite_sequences, doublewrite_doubles_the_bytes,
          neighbours_go_along, cleaner_keeps_up, furious_flushing_does_not_sleep, cliff_stops_commits,
          scan_reads_ahead_an_area_at_a_time, scan_thresholds, page_reads_come_in_pairs, lru_flush_is_random,
          purge_reads_undo_in_order, merge_stays_in_its_windows, recovery_scans_then_applies)
