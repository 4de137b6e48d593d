/* Logs: the ring, group commit, blocks. Device latencies are set by the test, so every expected figure is arithmetic.
 */
#include "tests/drive.h"
#include "tests/unit.h"

#include <math.h>

#include "patterns/logblocks.h"

#define MS     1000000u
#define SECOND 1000000000u

static const struct dbio_geometry one_gib = {.file_size = 1u << 30, .nfiles = 1, .sector = 512};

static struct dbio_pattern_env env_of(const struct dbio_geometry *targets, unsigned n)
{
        return (struct dbio_pattern_env){
                .phase = "p", .stream = "log", .seed = 7, .duration_ns = UINT64_MAX, .ntargets = n, .targets = targets};
}

static struct dbio_stream_keys keys_of(void)
{
        return (struct dbio_stream_keys){.region = {.from = {.share = 0}, .to = {.share = 1}},
                                         .nmembers = 1,
                                         .write_through = true,
                                         .after = -1};
}

static struct dbio_logblocks_spec spec_of(double rate, uint64_t sessions)
{
        return (struct dbio_logblocks_spec){
                .plan = {.rate = {rate, rate, 0},
                         .sessions = sessions,
                         .bytes = {.kind = DBIO_DIST_FIXED, .value = 400}},
                .max_block = 60 * 1024,
                .max_outstanding = 32,
                .writers = 1,
                .segments = 8,
                .length = UINT64_MAX,
        };
}

static struct drive *blocks_run(const struct dbio_logblocks_spec *spec, const struct dbio_geometry *geometry,
                                uint64_t latency_ns, uint64_t limit_ns, struct dbio_logblocks **source)
{
        static uint64_t latency;
        struct dbio_pattern_env env = env_of(geometry, 1);
        struct dbio_stream_keys keys = keys_of();
        struct dbio_stream out = {0};
        struct dbio_err err = {0};
        struct drive *drive;

        latency = latency_ns;
        ck_assert_msg(dbio_logblocks_compile(&env, &keys, spec, &out, &err) == 0, "%s", err.message);
        drive = drive_new(drive_constant, &latency);
        drive_add(drive, out.sources[0]);
        if (source)
                *source = (struct dbio_logblocks *)out.sources[0];
        free(out.sources);
        drive_run(drive, limit_ns, 1000000);
        return drive;
}

static double mean_length(const struct drive *drive)
{
        double sum = 0;

        for (unsigned i = 0; i < drive->nops; i++)
                sum += drive->ops[i].op.length;
        return sum / drive->nops;
}

/* 4 parts of 256 KiB; writes of 60K: 4 fit a part, the fifth begins the next one. */
START_TEST(ring_wraps_and_never_crosses_a_cut)
{
        struct dbio_geometry geometry = {.file_size = 1u << 19, .nfiles = 2, .sector = 512};
        struct dbio_logring ring;
        struct dbio_err err = {0};
        uint64_t last = 0;
        unsigned laps = 0;

        ck_assert_int_eq(dbio_logring_init(&ring, &geometry, 0, 1u << 20, 4, 0, 512, 61440, 3, &err), 0);
        ck_assert_uint_eq(ring.cursor, 3 * 61440);
        for (unsigned i = 0; i < 160; i++) {
                uint64_t offset = dbio_logring_place(&ring, 61440);

                ck_assert_uint_eq(offset / 262144, (offset + 61439) / 262144);
                if (i && offset < last)
                        laps++;
                else if (i)
                        ck_assert_uint_ge(offset, last + 61440);
                last = offset;
        }
        /* 16 writes a lap, from the fourth place of the first part. */
        ck_assert_uint_eq(laps, 10);
        ck_assert_uint_eq(ring.laps, 10);
        ck_assert_uint_eq(ring.switches, 40);
}
END_TEST

START_TEST(ring_skips_headers)
{
        struct dbio_geometry geometry = {.file_size = 1u << 20, .nfiles = 1, .sector = 512};
        struct dbio_logring ring;
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_logring_init(&ring, &geometry, 0, 1u << 20, 2, 2048, 512, 4096, 0, &err), 0);
        ck_assert_uint_eq(ring.cursor, 2048);
        for (unsigned i = 0; i < 127; i++)
                dbio_logring_place(&ring, 4096);
        ck_assert_uint_eq(dbio_logring_room(&ring), 2048);
        ck_assert_uint_eq(dbio_logring_place(&ring, 4096), 524288 + 2048);
        /* Too small for its largest write. */
        ck_assert_int_eq(dbio_logring_init(&ring, &geometry, 0, 4096, 1, 2048, 512, 4096, 0, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
}
END_TEST

/* multiples of the sector, 512 … 60K; rising, round at the end. */
START_TEST(blocks_have_log_sizes_and_rise)
{
        struct dbio_logblocks_spec spec = spec_of(50000, 0);
        struct dbio_geometry geometry = {.file_size = 4u << 20, .nfiles = 1, .sector = 512};
        struct drive *drive;
        unsigned wraps = 0;

        spec.plan.bytes = (struct dbio_dist){.kind = DBIO_DIST_LOGNORMAL, .value = 400, .sigma = 0.8};
        drive = blocks_run(&spec, &geometry, 20 * MS, 2 * (uint64_t)SECOND, NULL);
        ck_assert_uint_gt(drive->nops, 1000);
        for (unsigned i = 0; i < drive->nops; i++) {
                const struct dbio_op *op = &drive->ops[i].op;

                ck_assert_uint_eq(op->length % 512, 0);
                ck_assert_uint_ge(op->length, 512);
                ck_assert_uint_le(op->length, 60 * 1024);
                ck_assert_uint_eq(op->offset % 512, 0);
                ck_assert_uint_eq(op->flags, DBIO_OP_DSYNC);
                ck_assert_uint_eq(op->role, DBIO_ROLE_LOG);
                /* 8 VLFs of 512K */
                ck_assert_uint_eq(op->offset >> 19, (op->offset + op->length - 1) >> 19);
                if (i && op->offset < drive->ops[i - 1].op.offset + drive->ops[i - 1].op.length)
                        wraps++;
        }
        ck_assert_uint_ge(wraps, 8);
        drive_free(drive);
}
END_TEST

/* flushes/s = min(rate, outstanding / latency): 200/s uniform commits on a 1 ms device go alone, 512 bytes each;
 * 50,000/s on 32 outstanding at 10 ms are 3,200 flushes/s. */
START_TEST(flushes_follow_rate_or_device)
{
        struct dbio_logblocks_spec spec = spec_of(200, 0);
        struct drive *drive;

        spec.plan.arrival = DBIO_UNIFORM;
        drive = blocks_run(&spec, &one_gib, 1 * MS, 1 * (uint64_t)SECOND - 1, NULL);
        ck_assert_uint_eq(drive->nops, 200);
        ck_assert_uint_eq(drive->ncommits, 200);
        ck_assert_double_eq(mean_length(drive), 512);
        for (unsigned i = 0; i < 200; i++) {
                ck_assert_uint_eq(drive->commits[i].arrived_ns, i * 5 * (uint64_t)MS);
                ck_assert_uint_eq(drive->commits[i].durable_ns - drive->commits[i].arrived_ns, MS);
                ck_assert_uint_eq(drive->commits[i].bytes, 400);
        }
        drive_free(drive);
        spec = spec_of(50000, 0);
        drive = blocks_run(&spec, &one_gib, 10 * MS, 1 * (uint64_t)SECOND, NULL);
        ck_assert_uint_ge(drive->nops, 3200 - 32);
        ck_assert_uint_le(drive->nops, 3200 + 32);
        ck_assert_uint_eq(drive->peak[0], 32);
        drive_free(drive);
}
END_TEST

/* The slower the device, the larger the block: at the cap a block holds rate × bytes × latency / outstanding bytes:
 * 50,000/s × 400 × 10 ms / 32 = 6,250, and twice that at 20 ms. */
START_TEST(blocks_grow_with_latency)
{
        struct dbio_logblocks_spec spec = spec_of(50000, 0);
        struct drive *fast = blocks_run(&spec, &one_gib, 10 * MS, 1 * (uint64_t)SECOND, NULL);
        struct drive *slow = blocks_run(&spec, &one_gib, 20 * MS, 1 * (uint64_t)SECOND, NULL);

        ck_assert_double_eq_tol(mean_length(fast), 6250 + 256, 200);
        ck_assert_double_eq_tol(mean_length(slow), 12500 + 256, 400);
        drive_free(fast);
        drive_free(slow);
}
END_TEST

/* N sessions: commits/s <= N / (latency + think); here nothing else takes time, so it is just that. */
START_TEST(sessions_wait_for_their_commit)
{
        struct dbio_logblocks_spec spec = spec_of(NAN, 300);
        struct drive *drive;

        spec.plan.think_ns = 100 * MS;
        drive = blocks_run(&spec, &one_gib, 5 * MS, 10 * (uint64_t)SECOND, NULL);
        ck_assert_double_le(drive->ncommits / 10.0, 300 / 0.105 + 30);
        ck_assert_double_ge(drive->ncommits / 10.0, 300 / 0.105 * 0.97);
        drive_free(drive);
        /* Without think time and with one write at a time every session but those of the flush waits. */
        spec = spec_of(NAN, 8);
        spec.max_outstanding = 1;
        drive = blocks_run(&spec, &one_gib, 1 * MS, 1 * (uint64_t)SECOND, NULL);
        /* Flushes begin at 0, 1, … 1000 ms. */
        ck_assert_uint_eq(drive->ncommits, 8 * 1001);
        drive_free(drive);
}
END_TEST

/* Every other write takes 10 times as long: those that overtake make nothing durable before the earlier ones are. */
static uint64_t uneven(void *user, const struct dbio_op *op)
{
        (void)user;
        return op->cookie % 2 ? 1 * MS : 10 * MS;
}

START_TEST(durable_in_order)
{
        struct dbio_logblocks_spec spec = spec_of(1000, 0);
        struct dbio_pattern_env env = env_of(&one_gib, 1);
        struct dbio_stream_keys keys = keys_of();
        struct dbio_stream out = {0};
        struct drive *drive = drive_new(uneven, NULL);
        uint64_t sum = 0;

        spec.plan.arrival = DBIO_UNIFORM;
        ck_assert_int_eq(dbio_logblocks_compile(&env, &keys, &spec, &out, NULL), 0);
        drive_add(drive, out.sources[0]);
        drive_run(drive, 1 * (uint64_t)SECOND, 100000);
        ck_assert_uint_gt(drive->ncommits, 900);
        for (unsigned i = 1; i < drive->ncommits; i++) {
                ck_assert_uint_ge(drive->commits[i].durable_ns, drive->commits[i - 1].durable_ns);
                ck_assert_uint_ge(drive->commits[i].arrived_ns, drive->commits[i - 1].arrived_ns);
                /* An odd block is on the device after 1 ms, but the even one before it, 1 ms older, takes 10. */
                if (i % 2)
                        ck_assert_uint_eq(drive->commits[i].durable_ns - drive->commits[i].arrived_ns, 9 * MS);
        }
        for (unsigned i = 0; i < drive->ncommits; i++)
                sum += drive->commits[i].bytes;
        ck_assert_uint_eq(out.position->durable, sum);
        ck_assert_uint_eq(out.position->appended, sum);
        free(out.sources);
        drive_free(drive);
}
END_TEST

/* A device where every op completes when it is submitted, as explain has it. */
START_TEST(instant_device_ends_no_loop)
{
        struct dbio_logblocks_spec spec = spec_of(1000, 0);
        struct drive *drive = blocks_run(&spec, &one_gib, 0, 1 * (uint64_t)SECOND, NULL);

        ck_assert_uint_gt(drive->nops, 900);
        ck_assert_uint_lt(drive->nops, 1100);
        drive_free(drive);
        spec = spec_of(NAN, 4);
        spec.plan.think_ns = 10 * MS;
        drive = blocks_run(&spec, &one_gib, 0, 1 * (uint64_t)SECOND, NULL);
        ck_assert_uint_ge(drive->nops, 400);
        ck_assert_uint_le(drive->nops, 404);
        drive_free(drive);
}
END_TEST

/* Delayed durability: commits take no time, blocks go out full, or after DBIO_LOG_LAZY_NS, or when somebody needs them.
 */
START_TEST(delayed_durability_fills_blocks)
{
        struct dbio_logblocks_spec spec = spec_of(20000, 0);
        struct dbio_logblocks *source;
        struct drive *drive;
        struct dbio_op ops[4];

        spec.plan.lazy = true;
        drive = blocks_run(&spec, &one_gib, 1 * MS, 1 * (uint64_t)SECOND, &source);
        /* 20,000/s × 400 bytes are 8 MB/s: full blocks, 130 a second. */
        ck_assert_double_ge(mean_length(drive), 60 * 1024);
        for (unsigned i = 0; i < drive->ncommits; i++)
                ck_assert_uint_eq(drive->commits[i].durable_ns, drive->commits[i].arrived_ns);
        drive_free(drive);
        spec.plan.rate = (struct dbio_ramp){10, 10, 0};
        spec.plan.arrival = DBIO_UNIFORM;
        drive = blocks_run(&spec, &one_gib, 1 * MS, 10 * MS, &source);
        ck_assert_uint_eq(drive->nops, 0);
        source->log.position.wanted = 1;
        ck_assert_uint_eq(source->source.class->fill(&source->source, 11 * MS, ops, 4), 1);
        ck_assert_uint_eq(ops[0].length, 512);
        drive_free(drive);
}
END_TEST

START_TEST(writers_spread_what_waits)
{
        struct dbio_logblocks_spec spec = spec_of(NAN, 8);
        struct drive *drive;

        /* Think 0: all 8 sessions commit at once, at the beginning. */
        spec.writers = 4;
        drive = blocks_run(&spec, &one_gib, 1 * MS, 0, NULL);
        ck_assert_uint_eq(drive->nops, 4);
        for (unsigned i = 0; i < 4; i++)
                ck_assert_uint_eq(drive->ops[i].op.length, 1024);
        drive_free(drive);
}
END_TEST

START_TEST(small_sectors_are_refused)
{
        struct dbio_logblocks_spec spec = spec_of(100, 0);
        struct dbio_geometry geometry = {.file_size = 1u << 30, .nfiles = 1, .sector = 4096};
        struct dbio_pattern_env env = env_of(&geometry, 1);
        struct dbio_stream_keys keys = keys_of();
        struct dbio_stream out = {0};
        struct dbio_err err = {0};
        struct drive *drive;

        spec.sector = 512;
        ck_assert_int_eq(dbio_logblocks_compile(&env, &keys, &spec, &out, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_str_eq(err.message,
                         "sector 512 is below the target's, which is 4096: say sector: auto, or bind a target "
                         "with 512-byte sectors");
        spec.sector = 0;
        drive = blocks_run(&spec, &geometry, 1 * MS, 1 * (uint64_t)SECOND, NULL);
        ck_assert_double_eq(mean_length(drive), 4096);
        drive_free(drive);
}
END_TEST

struct waiting {
        struct dbio_log_waiter waiter;
        struct dbio_log *log;
        uint64_t durable_ns;
        unsigned n;
};

static void again(struct dbio_log_waiter *waiter, uint64_t phase_ns)
{
        struct waiting *self = (struct waiting *)waiter;

        self->durable_ns = phase_ns;
        if (++self->n < 3)
                dbio_log_commit(self->log, phase_ns, 100, &self->waiter);
}

/* Another stream's commits: they are packed with the log's own, and tell when they are durable. */
START_TEST(other_streams_commit)
{
        struct dbio_logblocks_spec spec = spec_of(1, 0);
        struct dbio_pattern_env env = env_of(&one_gib, 1);
        struct dbio_stream_keys keys = keys_of();
        struct dbio_stream out = {0};
        static uint64_t latency = 2 * MS;
        struct drive *drive = drive_new(drive_constant, &latency);
        struct waiting waiting = {.waiter.durable = again};

        spec.plan.arrival = DBIO_UNIFORM;
        keys.start_ns = 1 * MS;
        ck_assert_int_eq(dbio_logblocks_compile(&env, &keys, &spec, &out, NULL), 0);
        ck_assert_int_eq(dbio_log_reserve(out.log, 1, NULL), 0);
        drive_add(drive, out.sources[0]);
        waiting.log = out.log;
        /* The log's own first commit is at its 0, the caller's 1 ms in the phase. */
        ck_assert_uint_eq(dbio_log_commit(out.log, 1 * MS, 100, &waiting.waiter), 500);
        dbio_log_commit(out.log, 1 * MS, 1000, NULL);
        drive_run(drive, 100 * MS, 1000);
        ck_assert_uint_eq(waiting.n, 3);
        ck_assert_uint_eq(waiting.durable_ns, 1 * MS + 3 * latency);
        ck_assert_uint_eq(drive->nops, 3);
        ck_assert_uint_eq(drive->ops[0].op.length, 1536);
        ck_assert_uint_eq(drive->ops[1].op.length, 512);
        ck_assert_uint_eq(drive->ncommits, 5);
        free(out.sources);
        drive_free(drive);
}
END_TEST

/* all members in parallel, done when the slowest is. */
static uint64_t by_member(void *user, const struct dbio_op *op)
{
        (void)user;
        return op->target ? 5 * MS : 2 * MS;
}

START_TEST(members_are_written_in_parallel)
{
        struct dbio_geometry targets[2] = {one_gib, one_gib};
        struct dbio_pattern_env env = env_of(targets, 2);
        struct dbio_stream_keys keys = keys_of();
        struct dbio_logblocks_spec spec = spec_of(100, 0);
        struct dbio_stream out = {0};
        struct drive *drive = drive_new(by_member, NULL);

        keys.nmembers = 2;
        keys.members[1] = 1;
        spec.plan.arrival = DBIO_UNIFORM;
        spec.header = 16;
        ck_assert_int_eq(dbio_logblocks_compile(&env, &keys, &spec, &out, NULL), 0);
        ck_assert_uint_eq(out.nuses, 2);
        drive_add(drive, out.sources[0]);
        drive_run(drive, 1 * (uint64_t)SECOND - 1, 1000);
        ck_assert_uint_eq(drive->nops, 200);
        ck_assert_uint_eq(drive->ncommits, 100);
        for (unsigned i = 0; i < 100; i++) {
                ck_assert_uint_eq(drive->ops[2 * i].op.offset, drive->ops[2 * i + 1].op.offset);
                ck_assert_uint_eq(drive->commits[i].durable_ns - drive->commits[i].arrived_ns, 5 * MS);
        }
        free(out.sources);
        drive_free(drive);
}
END_TEST

START_TEST(plan_needs_one_way_of_arrival)
{
        struct dbio_commit_plan plan = {.rate = {NAN, NAN, 0}, .sessions = DBIO_UNSET};
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_commit_plan_check(&plan, &err), -1);
        ck_assert_str_eq(err.message, "give commit_rate (open loop) or sessions (closed loop)");
        plan.sessions = 10;
        ck_assert_int_eq(dbio_commit_plan_check(&plan, &err), 0);
        plan.rate.to_per_s = plan.rate.from_per_s = 5;
        ck_assert_int_eq(dbio_commit_plan_check(&plan, &err), -1);
        ck_assert_str_eq(err.path, "commit_rate");
        plan.sessions = DBIO_UNSET;
        plan.think_ns = 5;
        ck_assert_int_eq(dbio_commit_plan_check(&plan, &err), -1);
        ck_assert_str_eq(err.path, "think");
}
END_TEST

/* A ramp from 100/s to 1,100/s over 10 s makes (100 + 1,100) / 2 × 10 = 6,000 commits in these, then 1,100 a second. */
START_TEST(ramp_integrates)
{
        struct dbio_logblocks_spec spec = spec_of(100, 0);
        struct drive *drive;

        spec.plan.rate = (struct dbio_ramp){100, 1100, 10 * (uint64_t)SECOND};
        spec.plan.arrival = DBIO_UNIFORM;
        drive = blocks_run(&spec, &one_gib, 1000, 11 * (uint64_t)SECOND, NULL);
        ck_assert_uint_ge(drive->ncommits, 7100);
        ck_assert_uint_le(drive->ncommits, 7101);
        /* By symmetry of a linear rise: half of the time, (100 + 600) / 2 × 5 = 1,750. */
        ck_assert_uint_eq(drive->commits[1750].arrived_ns, 5 * (uint64_t)SECOND);
        drive_free(drive);
}
END_TEST

TEST_MAIN("log", ring_wraps_and_never_crosses_a_cut, ring_skips_headers, blocks_have_log_sizes_and_rise,
          flushes_follow_rate_or_device, blocks_grow_with_latency, sessions_wait_for_their_commit, durable_in_order,
          instant_device_ends_no_loop, delayed_durability_fills_blocks, writers_spread_what_waits,
          small_sectors_are_refused, other_streams_commit, members_are_written_in_parallel,
          plan_needs_one_way_of_arrival, ramp_integrates)
