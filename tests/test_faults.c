/* The fault-injecting backend: each fault does what its name says, and only to the ios that it is meant for. */
#include "tests/unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/backend_faulty.h"

#define BLOCK  4096u
#define SECTOR 512u
#define BLOCKS 16u

struct bench {
        struct dbio_clock clock;
        struct dbio_fault_plan plan;
        struct dbio_file file;
        struct dbio_backend_env env;
        const struct dbio_backend *backend;
        void *state;
        _Alignas(4096) unsigned char buffer[BLOCK];
};

/* A buffered file of 16 blocks of 4096 bytes `o`, under `inner` with the faults of text. */
static void bench_open(struct bench *b, const char *inner, const char *text, bool virtual_time)
{
        unsigned char old[BLOCK];
        FILE *file = tmpfile();
        struct dbio_err err = {0};

        memset(b, 0, sizeof *b);
        memset(old, 'o', sizeof old);
        ck_assert_ptr_nonnull(file);
        b->file = (struct dbio_file){.fd = dup(fileno(file)), .size = BLOCKS * BLOCK, .sector = SECTOR};
        fclose(file);
        for (unsigned i = 0; i < BLOCKS; i++)
                ck_assert_int_eq(pwrite(b->file.fd, old, BLOCK, i * BLOCK), BLOCK);
        if (virtual_time)
                dbio_clock_init_virtual(&b->clock);
        else
                dbio_clock_init_real(&b->clock);
        b->env = (struct dbio_backend_env){.clock = &b->clock, .files = &b->file, .nfiles = 1, .arena = b->buffer,
                                           .arena_bytes = BLOCK, .max_inflight = 4};
        ck_assert_msg(dbio_fault_plan_parse(&b->plan, text, &err) == 0, "%s", err.message);
        b->plan.inner = dbio_backend_find(inner);
        b->backend = dbio_backend_faulty(&b->plan);
        ck_assert_msg(b->backend->open(&b->state, &b->env, &err) == 0, "%s", err.message);
}

static void bench_close(struct bench *b)
{
        b->backend->close(b->state);
        close(b->file.fd);
}

static int64_t carry_out(struct bench *b, enum dbio_kind kind, uint64_t offset)
{
        bool data = kind == DBIO_READ || kind == DBIO_WRITE;
        struct dbio_io io = {.offset = offset, .buffer = data ? b->buffer : NULL, .length = kind == DBIO_FSYNC ? 0 : BLOCK,
                             .kind = (uint8_t)kind}, *one = &io, *done = NULL;

        ck_assert_int_eq(b->backend->submit(b->state, &one, 1), 1);
        ck_assert_int_eq(b->backend->reap(b->state, &done, 1, 1, UINT64_MAX), 1);
        ck_assert_ptr_eq(done, &io);
        return io.result;
}

static int64_t write_new(struct bench *b, uint64_t offset)
{
        memset(b->buffer, 'n', BLOCK);
        return carry_out(b, DBIO_WRITE, offset);
}

/* How many bytes of the file's block are new, and whether they are its first. */
static unsigned new_bytes(struct bench *b, uint64_t offset)
{
        unsigned char now[BLOCK];
        unsigned nr = 0;

        ck_assert_int_eq(pread(b->file.fd, now, BLOCK, (off_t)offset), BLOCK);
        while (nr < BLOCK && now[nr] == 'n')
                nr++;
        for (unsigned i = nr; i < BLOCK; i++)
                ck_assert_int_eq(now[i], 'o');
        return nr;
}

START_TEST(errors_hit_every_nth)
{
        struct bench b;

        bench_open(&b, "sync", "error:every=3,error=ENOSPC,kind=write", false);
        for (int i = 1; i <= 9; i++)
                ck_assert_int_eq(write_new(&b, 0), i % 3 ? (int64_t)BLOCK : -ENOSPC);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), BLOCK);
        ck_assert_uint_eq(b.plan.faults[0].hits, 3);
        bench_close(&b);

        bench_open(&b, "sync", "error:times=2", false);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), -EIO);
        ck_assert_int_eq(carry_out(&b, DBIO_FSYNC, 0), -EIO);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), BLOCK);
        bench_close(&b);
}
END_TEST

START_TEST(ranges_and_windows_bound_faults)
{
        struct bench b;

        bench_open(&b, "sync", "error:from=8K,to=12K", false);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, BLOCK), BLOCK);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 2 * BLOCK), -EIO);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 3 * BLOCK), BLOCK);
        ck_assert_int_eq(carry_out(&b, DBIO_FSYNC, 0), 0);
        bench_close(&b);

        bench_open(&b, "null", "error:after=10ms,before=20ms", true);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), BLOCK);
        b.clock.virtual_ns += 10000000;
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), -EIO);
        b.clock.virtual_ns += 10000000;
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), BLOCK);
        bench_close(&b);
}
END_TEST

START_TEST(writes_are_torn_lost_and_misdirected)
{
        struct bench b;

        bench_open(&b, "sync", "torn:from=0,to=4K;lost:from=4K,to=8K;misdirected:from=8K,to=12K,distance=16K", false);
        ck_assert_int_eq(write_new(&b, 0), BLOCK);
        ck_assert_uint_eq(new_bytes(&b, 0), BLOCK / 2);
        ck_assert_int_eq(write_new(&b, BLOCK), BLOCK);
        ck_assert_uint_eq(new_bytes(&b, BLOCK), 0);
        ck_assert_int_eq(write_new(&b, 2 * BLOCK), BLOCK);
        ck_assert_uint_eq(new_bytes(&b, 2 * BLOCK), 0);
        ck_assert_uint_eq(new_bytes(&b, 6 * BLOCK), BLOCK);
        ck_assert_int_eq(write_new(&b, 3 * BLOCK), BLOCK);
        ck_assert_uint_eq(new_bytes(&b, 3 * BLOCK), BLOCK);
        bench_close(&b);
}
END_TEST

START_TEST(short_transfers_tell_what_was_moved)
{
        struct bench b;

        bench_open(&b, "sync", "short", false);
        ck_assert_int_eq(write_new(&b, 0), BLOCK / 2);
        ck_assert_uint_eq(new_bytes(&b, 0), BLOCK / 2);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, BLOCK), BLOCK / 2);
        ck_assert_int_eq(carry_out(&b, DBIO_FSYNC, 0), 0);
        bench_close(&b);
}
END_TEST

static unsigned wrong_bits(const unsigned char *block, unsigned char right)
{
        unsigned nr = 0;

        for (unsigned i = 0; i < BLOCK; i++)
                nr += (unsigned)__builtin_popcount(block[i] ^ right);
        return nr;
}

START_TEST(a_flip_is_one_bit)
{
        struct bench b;
        unsigned char now[BLOCK];

        bench_open(&b, "sync", "flip", false);
        ck_assert_int_eq(carry_out(&b, DBIO_READ, 0), BLOCK);
        ck_assert_uint_eq(wrong_bits(b.buffer, 'o'), 1);
        ck_assert_int_eq(write_new(&b, 0), BLOCK);
        ck_assert_uint_eq(wrong_bits(b.buffer, 'n'), 0); /* the writer's own copy is whole again */
        ck_assert_int_eq(pread(b.file.fd, now, BLOCK, 0), BLOCK);
        ck_assert_uint_eq(wrong_bits(now, 'n'), 1);
        bench_close(&b);
}
END_TEST

START_TEST(delays_are_told_later)
{
        struct dbio_io io = {.length = BLOCK, .kind = DBIO_READ}, *one = &io, *done = NULL;
        struct bench b;

        bench_open(&b, "null", "delay:delay=5ms", true);
        io.buffer = b.buffer;
        ck_assert_int_eq(b.backend->submit(b.state, &one, 1), 1);
        ck_assert_int_eq(b.backend->reap(b.state, &done, 1, 1, 4000000), 0);
        ck_assert_uint_eq(b.clock.virtual_ns, 4000000);
        ck_assert_int_eq(b.backend->reap(b.state, &done, 1, 1, UINT64_MAX), 1);
        ck_assert_uint_eq(b.clock.virtual_ns, 5000000);
        ck_assert_int_eq(io.result, BLOCK);
        bench_close(&b);
}
END_TEST

START_TEST(a_hung_io_never_comes)
{
        struct dbio_io ios[5] = {0}, *one, *done[5];
        struct bench b;

        bench_open(&b, "null", "hang:times=1", true);
        for (unsigned i = 0; i < 4; i++) {
                ios[i] = (struct dbio_io){.buffer = b.buffer, .length = BLOCK, .kind = DBIO_READ, .slot = i};
                one = &ios[i];
                ck_assert_int_eq(b.backend->submit(b.state, &one, 1), 1);
        }
        one = &ios[4];
        ck_assert_int_eq(b.backend->submit(b.state, &one, 1), 0); /* it still holds its slot */
        ck_assert_int_eq(b.backend->reap(b.state, done, 4, 5, 1000000000), 3);
        for (unsigned i = 0; i < 3; i++)
                ck_assert_ptr_ne(done[i], &ios[0]);
        ck_assert_int_eq(b.backend->reap(b.state, done, 1, 5, UINT64_MAX), 0);
        bench_close(&b);
}
END_TEST

START_TEST(bad_plans_are_refused)
{
        static const char *const bad[] = {"", "eio", "error:every", "error:every=x", "error:speed=1", "error:error=EFOO",
                                          "error:kind=commit", "lost;", "delay:delay=5"};

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct dbio_fault_plan plan;
                struct dbio_err err = {0};

                ck_assert_msg(dbio_fault_plan_parse(&plan, bad[i], &err) == -1, "%s", bad[i]);
                ck_assert_int_eq(err.code, DBIO_USAGE);
        }
}
END_TEST

TEST_MAIN("faults", errors_hit_every_nth, ranges_and_windows_bound_faults, writes_are_torn_lost_and_misdirected,
          short_transfers_tell_what_was_moved, a_flip_is_one_bit, delays_are_told_later, a_hung_io_never_comes,
          bad_plans_are_refused)
