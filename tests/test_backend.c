/* One suite over every backend, and over the fault-injecting wrapper of each without a fault: what engine/backend.h
 * promises. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/backend_faulty.h"
#include "tests/loopdev.h"

#define DEPTH 16u
#define BLOCK 4096u
#define FILE_BYTES (DEPTH * 4 * BLOCK)

struct bench {
        struct dbio_clock clock;
        struct dbio_file file;
        struct dbio_backend_env env;
        struct dbio_io ios[DEPTH];
        const struct dbio_backend *backend;
        struct dbio_fault_plan plan;
        bool moves_data;
        void *state;
};

/* The simulated device needs profiles and has tests of its own. */
static bool is_simulated(const struct dbio_backend *backend)
{
        return strcmp(backend->name, "sim") == 0;
}

/* A container may forbid io_uring. */
static bool is_offered(const struct dbio_backend *backend)
{
        struct dbio_clock clock;
        struct dbio_backend_env env = {.clock = &clock, .max_inflight = 1};
        void *state = NULL;

        dbio_clock_init_real(&clock);
        if (is_simulated(backend) || backend->open(&state, &env, NULL) != 0)
                return false;
        backend->close(state);
        return true;
}

/* `null` has no data behind it. */
static bool moves_data(const struct dbio_backend *backend)
{
        return strcmp(backend->name, "null") != 0;
}

static int scratch_file(void)
{
        const char *dir = getenv("DBIO_BUILD");
        char path[4096];
        char *zeros = calloc(1, FILE_BYTES);
        int fd, direct;

        snprintf(path, sizeof path, "%s/dbio-backend.XXXXXX", dir ? dir : "/tmp");
        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        memset(zeros, 0x5a, FILE_BYTES);
        ck_assert_int_eq(pwrite(fd, zeros, FILE_BYTES, 0), FILE_BYTES);
        free(zeros);
        direct = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
        unlink(path);
        if (direct < 0)
                return fd; /* a file system without O_DIRECT */
        close(fd);
        return direct;
}

static void bench_open(struct bench *b, const struct dbio_backend *backend, bool wrapped)
{
        struct dbio_err err = {0};

        memset(b, 0, sizeof *b);
        b->plan.inner = backend;
        b->backend = wrapped ? dbio_backend_faulty(&b->plan) : backend;
        b->moves_data = moves_data(backend);
        dbio_clock_init_real(&b->clock);
        b->file = (struct dbio_file){.fd = moves_data(backend) ? scratch_file() : -1, .size = FILE_BYTES,
                                     .sector = BLOCK, .memory_alignment = BLOCK};
        b->env = (struct dbio_backend_env){.clock = &b->clock, .files = &b->file, .nfiles = 1,
                                           .arena_bytes = DEPTH * BLOCK, .max_inflight = DEPTH};
        b->env.arena = mmap(NULL, b->env.arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(b->env.arena, MAP_FAILED);
        ck_assert_msg(b->backend->open(&b->state, &b->env, &err) == 0, "%s: %s", backend->name, err.message);
}

static void bench_close(struct bench *b)
{
        b->backend->close(b->state);
        munmap(b->env.arena, b->env.arena_bytes);
        if (b->file.fd >= 0)
                close(b->file.fd);
}

static struct dbio_io *io_of(struct bench *b, unsigned slot, enum dbio_kind kind, uint64_t offset, uint8_t flags)
{
        struct dbio_io *io = &b->ios[slot];

        *io = (struct dbio_io){.offset = offset, .slot = slot, .kind = (uint8_t)kind, .flags = flags, .result = -12345};
        if (kind == DBIO_READ || kind == DBIO_WRITE)
                io->buffer = (char *)b->env.arena + slot * BLOCK;
        if (kind != DBIO_FSYNC)
                io->length = BLOCK;
        return io;
}

/* Submits all, however many the backend takes a call. */
static void submit_all(struct bench *b, struct dbio_io *const *ios, unsigned nr)
{
        for (unsigned done = 0; done < nr;) {
                int taken = b->backend->submit(b->state, ios + done, nr - done);

                ck_assert_msg(taken > 0 && (unsigned)taken <= nr - done, "%s: submit gave %d", b->backend->name, taken);
                done += (unsigned)taken;
        }
}

static void reap_all(struct bench *b, struct dbio_io **done, unsigned nr)
{
        for (unsigned got = 0; got < nr;) {
                int code = b->backend->reap(b->state, done + got, 1, nr - got, UINT64_MAX);

                ck_assert_msg(code > 0 && (unsigned)code <= nr - got, "%s: reap gave %d", b->backend->name, code);
                got += (unsigned)code;
        }
}

static int64_t carry_out(struct bench *b, struct dbio_io *io)
{
        struct dbio_io *done = NULL;

        submit_all(b, &io, 1);
        reap_all(b, &done, 1);
        ck_assert_ptr_eq(done, io);
        return io->result;
}

#define FOR_EACH_BACKEND(b)                                                                               \
        for (const struct dbio_backend *const *each = dbio_backends; *each; each++)                       \
                for (int wrapped = is_offered(*each) ? 0 : 2; wrapped < 2; wrapped++)                       \
                        for (bool once = (bench_open(b, *each, wrapped), true); once; once = false, bench_close(b))

START_TEST(every_backend_is_offered_here)
{
        for (const struct dbio_backend *const *each = dbio_backends; *each; each++)
                if (!is_simulated(*each) && !is_offered(*each))
                        skip_test("the kernel or a container's rules do not offer %s", (*each)->name);
}
END_TEST

START_TEST(names_are_unique_and_found)
{
        for (const struct dbio_backend *const *each = dbio_backends; *each; each++) {
                ck_assert_ptr_eq(dbio_backend_find((*each)->name), *each);
                ck_assert_int_gt(strlen((*each)->summary), 0);
        }
        ck_assert_ptr_null(dbio_backend_find("no such"));
}
END_TEST

START_TEST(every_io_comes_back_once)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *ios[DEPTH], *done[DEPTH];
                unsigned seen = 0;

                for (unsigned i = 0; i < DEPTH; i++)
                        ios[i] = io_of(&b, i, i % 3 == 2 ? DBIO_WRITE : DBIO_READ, 2 * i * BLOCK, 0);
                submit_all(&b, ios, DEPTH);
                reap_all(&b, done, DEPTH);
                for (unsigned i = 0; i < DEPTH; i++) {
                        ck_assert_int_eq(done[i]->result, BLOCK);
                        seen |= 1u << done[i]->slot;
                }
                ck_assert_uint_eq(seen, (1u << DEPTH) - 1);
        }
}
END_TEST

START_TEST(takes_no_more_than_max_inflight)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *ios[DEPTH], extra = {0}, *done[DEPTH], *more = &extra;

                for (unsigned i = 0; i < DEPTH; i++)
                        ios[i] = io_of(&b, i, DBIO_READ, i * BLOCK, 0);
                submit_all(&b, ios, DEPTH);
                extra = b.ios[0];
                ck_assert_int_eq(b.backend->submit(b.state, &more, 1), 0);
                reap_all(&b, done, DEPTH);
        }
}
END_TEST

START_TEST(reap_returns_at_most_max_and_at_least_min)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *ios[DEPTH], *done[DEPTH + 1] = {0};
                unsigned got = 0;

                for (unsigned i = 0; i < DEPTH; i++)
                        ios[i] = io_of(&b, i, DBIO_READ, i * BLOCK, 0);
                submit_all(&b, ios, DEPTH);
                while (got < DEPTH) {
                        unsigned max = DEPTH - got < 5 ? DEPTH - got : 5, min = max < 3 ? max : 3;
                        int code = b.backend->reap(b.state, done + got, min, max, UINT64_MAX);

                        ck_assert_int_ge(code, (int)min);
                        ck_assert_int_le(code, (int)max);
                        got += (unsigned)code;
                        ck_assert_ptr_null(done[got]);
                }
        }
}
END_TEST

START_TEST(reap_waits_until_the_time_also_with_nothing_in_flight)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *done[2], *io;
                uint64_t until = dbio_clock_now(&b.clock) + 3000000;

                ck_assert_int_eq(b.backend->reap(b.state, done, 1, 2, until), 0);
                ck_assert_uint_ge(dbio_clock_now(&b.clock), until);
                ck_assert_int_eq(b.backend->reap(b.state, done, 1, 2, 0), 0);
                ck_assert_int_eq(b.backend->reap(b.state, done, 1, 2, 1), 0);
                ck_assert_int_eq(b.backend->reap(b.state, done, 1, 2, UINT64_MAX), 0);

                /* One in flight and two wanted: not before the time, and then with the one if it is done. */
                io = io_of(&b, 0, DBIO_READ, 0, 0);
                submit_all(&b, &io, 1);
                until = dbio_clock_now(&b.clock) + 3000000;
                int got = b.backend->reap(b.state, done, 2, 2, until);
                ck_assert_uint_ge(dbio_clock_now(&b.clock), until);
                if (got == 0) /* a slow disk */
                        got = b.backend->reap(b.state, done, 2, 2, UINT64_MAX);
                ck_assert_int_eq(got, 1);
        }
}
END_TEST

START_TEST(polling_brings_the_io)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *io = io_of(&b, 0, DBIO_READ, 0, 0), *done = NULL;
                uint64_t limit = dbio_clock_now(&b.clock) + 10000000000;

                submit_all(&b, &io, 1);
                while (b.backend->reap(b.state, &done, 0, 1, 0) == 0)
                        ck_assert_uint_lt(dbio_clock_now(&b.clock), limit);
                ck_assert_ptr_eq(done, io);
                ck_assert_int_eq(io->result, BLOCK);
        }
}
END_TEST

START_TEST(what_is_written_is_read)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                static const uint8_t flags[] = {0, DBIO_OP_DSYNC, DBIO_OP_FUA};

                for (unsigned f = 0; f < 3; f++) {
                        struct dbio_io *io = io_of(&b, f, DBIO_WRITE, f * BLOCK, flags[f]);

                        memset(io->buffer, 'a' + (int)f, BLOCK);
                        ck_assert_int_eq(carry_out(&b, io), BLOCK);
                        memset(io->buffer, 0, BLOCK);
                        io->kind = DBIO_READ;
                        io->flags = 0;
                        ck_assert_int_eq(carry_out(&b, io), BLOCK);
                        if (!b.moves_data)
                                continue;
                        for (unsigned i = 0; i < BLOCK; i++)
                                ck_assert_int_eq(((char *)io->buffer)[i], 'a' + (int)f);
                }
        }
}
END_TEST

START_TEST(syncs_and_trims_are_ios)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                int64_t result;

                ck_assert_int_eq(carry_out(&b, io_of(&b, 1, DBIO_FSYNC, 0, 0)), 0);
                ck_assert_int_eq(carry_out(&b, io_of(&b, 2, DBIO_FSYNC, 0, DBIO_OP_DATASYNC)), 0);
                result = carry_out(&b, io_of(&b, 3, DBIO_TRIM, BLOCK, 0));
                if (result == -EOPNOTSUPP || !b.moves_data)
                        continue; /* a file system without holes */
                ck_assert_int_eq(result, 0);
                ck_assert_int_eq(carry_out(&b, io_of(&b, 4, DBIO_READ, BLOCK, 0)), BLOCK);
                for (unsigned i = 0; i < BLOCK; i++)
                        ck_assert_int_eq(((char *)b.ios[4].buffer)[i], 0);
        }
}
END_TEST

START_TEST(trims_between_reads_come_back_too)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *ios[DEPTH], *done[DEPTH];

                for (unsigned i = 0; i < DEPTH; i++)
                        ios[i] = io_of(&b, i, i % 4 == 1 ? DBIO_TRIM : DBIO_READ, i * BLOCK, 0);
                submit_all(&b, ios, DEPTH);
                reap_all(&b, done, DEPTH);
                for (unsigned i = 0; i < DEPTH; i++)
                        ck_assert_int_ne(done[i]->result, -12345);
        }
}
END_TEST

/* pread(2): a read at the end of the file gives what there is, then 0; EBADF for what is no file. */
START_TEST(an_ios_own_failure_is_in_its_result)
{
        struct bench b;

        FOR_EACH_BACKEND(&b) {
                struct dbio_io *io;

                if (!b.moves_data)
                        continue;
                ck_assert_int_eq(carry_out(&b, io_of(&b, 0, DBIO_READ, FILE_BYTES, 0)), 0);
                io = io_of(&b, 1, DBIO_WRITE, 0, 0);
                io->buffer = (void *)16; /* no memory there */
                ck_assert_int_lt(carry_out(&b, io), 0);
                ck_assert_int_eq(carry_out(&b, io_of(&b, 2, DBIO_READ, 0, 0)), BLOCK);
        }
        FOR_EACH_BACKEND(&b) {
                struct dbio_io *ios[3], *done[3];
                int bad = open("/dev/null", O_PATH | O_CLOEXEC);
                struct dbio_file files[2] = {b.file, {.fd = bad, .size = FILE_BYTES, .sector = 1}};
                struct dbio_err err = {0};

                if (!b.moves_data)
                        continue;
                b.backend->close(b.state);
                b.env.files = files;
                b.env.nfiles = 2;
                ck_assert_msg(b.backend->open(&b.state, &b.env, &err) == 0, "%s", err.message);
                for (unsigned i = 0; i < 3; i++)
                        ios[i] = io_of(&b, i, DBIO_READ, i * BLOCK, 0);
                ios[1]->file = 1;
                submit_all(&b, ios, 3);
                reap_all(&b, done, 3);
                ck_assert_int_eq(ios[0]->result, BLOCK);
                ck_assert_int_eq(ios[1]->result, -EBADF);
                ck_assert_int_eq(ios[2]->result, BLOCK);
                close(bad);
        }
}
END_TEST

/* Field 12 of /sys/block/DEV/stat: discards completed (iostats.rst). */
static unsigned long long discards_of(const char *device)
{
        unsigned long long fields[15] = {0};
        char path[128];
        FILE *file;

        snprintf(path, sizeof path, "/sys/block/%s/stat", device + strlen("/dev/"));
        file = fopen(path, "re");
        for (int i = 0; file && i < 15 && fscanf(file, "%llu", &fields[i]) == 1; i++)
                ;
        if (file)
                fclose(file);
        return fields[11];
}

START_TEST(trims_of_devices_are_discards)
{
        struct bench b;
        char path[64];
        int fd = loop_attach(FILE_BYTES, BLOCK, 0, path);

        if (fd < 0)
                skip_test("no loop device for this user");
        FOR_EACH_BACKEND(&b) {
                unsigned long long before = discards_of(path);
                struct dbio_io *io = io_of(&b, 0, DBIO_WRITE, 2 * BLOCK, 0);

                if (!b.moves_data)
                        continue;
                close(b.file.fd);
                b.backend->close(b.state);
                b.file.fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
                b.file.block = true;
                b.file.base = BLOCK;
                ck_assert_int_eq(b.backend->open(&b.state, &b.env, NULL), 0);
                memset(io->buffer, 'x', BLOCK);
                ck_assert_int_eq(carry_out(&b, io), BLOCK);
                ck_assert_int_eq(carry_out(&b, io_of(&b, 1, DBIO_TRIM, 2 * BLOCK, 0)), 0);
                ck_assert_uint_eq(discards_of(path), before + 1);
                ck_assert_int_eq(pread(b.file.fd, io->buffer, BLOCK, 3 * BLOCK), BLOCK);
                for (unsigned i = 0; i < BLOCK; i++)
                        ck_assert_int_eq(((char *)io->buffer)[i], 0);
        }
        close(fd);
}
END_TEST

START_TEST(auto_says_why)
{
        struct dbio_file file = {.fd = scratch_file(), .size = FILE_BYTES, .sector = BLOCK};
        char why[256] = "";
        const struct dbio_backend *backend = dbio_backend_choose(&file, 1, why, sizeof why);

        ck_assert_ptr_nonnull(backend);
        ck_assert_int_gt(strlen(why), 0);
        ck_assert_msg(!strcmp(backend->name, "io_uring") || !strcmp(backend->name, "libaio") ||
                              !strcmp(backend->name, "sync"), "%s", backend->name);
        close(file.fd);
}
END_TEST

TEST_MAIN("backend", every_backend_is_offered_here, names_are_unique_and_found, every_io_comes_back_once, takes_no_more_than_max_inflight,
          reap_returns_at_most_max_and_at_least_min, reap_waits_until_the_time_also_with_nothing_in_flight,
          polling_brings_the_io, what_is_written_is_read, syncs_and_trims_are_ios, trims_between_reads_come_back_too,
          an_ios_own_failure_is_in_its_result, trims_of_devices_are_discards, auto_says_why)
