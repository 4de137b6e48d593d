/* InnoDB's page cleaner and doublewrite. Expected figures: the rules of MySQL's sources, worked out by hand. */
#include "tests/onedrive.h"
#include "tests/unit.h"

#include <math.h>

#include "patterns/flushloop.h"

#define MS     ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

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
static const struct {
        const char *label, *yaml;
        unsigned version;
        struct step steps[8];
        unsigned n;
} doublewrite_cases[] = {
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

START_TEST(doublewrite_sequences)
{
        for (unsigned i = 0; i < sizeof doublewrite_cases / sizeof *doublewrite_cases; i++) {
                uint64_t latency[3] = {MS, 2 * MS, 0};
                char yaml[512];
                struct one one;
                struct drive *drive;

                snprintf(yaml, sizeof yaml,
                         "{io_capacity: 150, dirty_rate: 150/s, max_dirty_pages_pct_lwm: 0, max_dirty_pages_pct: 1,"
                         " buffer_pool_size: 5M, flush_neighbors: 0, %s}",
                         doublewrite_cases[i].yaml);
                drive = clean(&one, doublewrite_cases[i].version, yaml, DBIO_DIRTY_PAGES, latency, SECOND + 500 * MS);
                check_steps(drive, doublewrite_cases[i].steps, doublewrite_cases[i].n);
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

/* The least age of the oldest dirty page after 40 of 60 s, and the pages flushed in all for each commit. */
static double cliff(const char *redo, double *pages)
{
        uint64_t latency[3] = {MS, 2 * MS, 0};
        struct dbio_stream_keys keys = one_keys(dbio_pattern_find("innodb.redo_log"), 1);
        struct one one;
        struct drive *drive;
        double age = INFINITY;

        one_init(&one, 4ull << 30, 512, 16384);
        keys.version = 800;
        one_must(&one, "innodb.redo_log", &keys, redo, UINT64_MAX);
        keys.target = 0;
        keys.dirty.map = DBIO_DIRTY_PAGES;
        one_must(&one, "innodb.page_cleaner", &keys, "{dirty_rate: 5000/s, redo: s0}",
                 UINT64_MAX);
        drive = drive_one(&one, latency);
        drive_run(drive, 60 * SECOND, 2000000);
        for (unsigned i = 0; i < drive->ngauges; i++)
                if (!strcmp(drive->gauges[i].name, "checkpoint_age") && drive->gauges[i].now_ns > 40 * SECOND)
                        age = fmin(age, drive->gauges[i].value);
        *pages = 0;
        for (unsigned i = 0; i < drive->nops; i++)
                *pages += drive->ops[i].op.role == DBIO_ROLE_PAGE_FLUSH && drive->ops[i].op.kind == DBIO_WRITE &&
                          drive->ops[i].submitted_ns > 40 * SECOND;
        unsigned commits = 0;
        for (unsigned i = 0; i < drive->ncommits; i++)
                commits += drive->commits[i].durable_ns > 40 * SECOND;
        *pages /= commits;
        drive_free(drive);
        one_release(&one, false);
        return age;
}

/* Under the cliff the oldest page's age stays at its limit: pages get dirty with the changes that the log takes in, so
 * that each flushed page makes room for as much log as came with it. 5000 changes and 1000 commits a second are 5 to a
 * commit. 80.8 MB of log are 7,830 commits of 10,000 bytes and headers, their 39,000 changes lie on
 * 262,144 (1 - exp(-39,000 / 262,144)) = 36,200 pages, so that 86 % of the changes find a clean page: 4.3 pages a
 * commit. Sessions with 100 ms between commits make 1000 a second less what they wait for their flushes. */
START_TEST(cliff_holds_pages_and_log_together)
{
        double sync = dbio_redo_limits(800, 96u << 20, 16384).sync, pages;

        ck_assert_double_ge(cliff("{commit_rate: 1000/s, bytes_per_commit: 10000}", &pages), sync);
        ck_assert_double_eq_tol(pages, 4.3, 0.15);
        ck_assert_double_ge(cliff("{sessions: 100, think: 100ms, bytes_per_commit: 10000}", &pages), sync);
        ck_assert_double_eq_tol(pages, 4.3, 0.4);
}
END_TEST

TEST_MAIN("innodb_flush", adaptive_flushing_has_the_golden_vectors, adaptive_flushing_adds_up, doublewrite_sequences,
          doublewrite_doubles_the_bytes, neighbours_go_along, cleaner_keeps_up, furious_flushing_does_not_sleep,
          cliff_stops_commits, cliff_holds_pages_and_log_together)
