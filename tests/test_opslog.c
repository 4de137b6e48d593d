/* The log of every op: what a run did is what is read back. */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/enginekit.h"

#define MS 1000000ull

static char path[64];
static unsigned nread, nfailed;
static uint64_t next_seq[KIT_STREAMS];

static void make_path(void)
{
        snprintf(path, sizeof path, "/tmp/dbio-opslog-%d", (int)getpid());
        unlink(path);
        nread = nfailed = 0;
        memset(next_seq, 0, sizeof next_seq);
}

static int check_row(void *user, const struct dbio_opslog_names *names, const struct dbio_opslog_op *op)
{
        (void)user;
        ck_assert_str_eq(names->phase, "test");
        ck_assert_str_eq(names->streams[op->stream], op->stream ? "timed" : "closed");
        ck_assert_str_eq(names->targets[op->op.target], "data");
        ck_assert_uint_eq(op->seq, next_seq[op->stream]++);
        ck_assert_uint_eq(op->op.offset, op->seq * 65536);
        ck_assert_uint_eq(op->op.length, 8192);
        ck_assert_int_eq(op->op.kind, op->stream ? DBIO_WRITE : DBIO_READ);
        ck_assert_uint_eq(op->completed_ns - op->submitted_ns, 5 * MS);
        ck_assert_uint_eq(op->submitted_ns, op->seq * (op->stream ? 1000000 : 5 * MS));
        ck_assert_uint_eq(op->intended_ns, op->submitted_ns);
        nfailed += op->error != 0;
        if (op->error)
                ck_assert_int_eq(op->error, 5);
        nread++;
        return 0;
}

START_TEST(every_op_is_read_back)
{
        struct kit *kit = malloc(sizeof *kit);
        struct dbio_err err = {0};
        FILE *file;

        make_path();
        kit_init(kit);
        kit_backend.latency_ns = 5 * MS;
        kit_backend.fail_every = 100;
        kit_backend.error = 5;
        kit_add(kit, "closed", (struct kit_source){.nr = 1000});
        kit_add(kit, "timed", (struct kit_source){.nr = 10000, .gap_ns = MS, .kind = DBIO_WRITE});
        ck_assert_int_eq(dbio_opslog_open(&kit->options.opslog, path, &err), 0);
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_int_eq(dbio_opslog_close(kit->options.opslog, &err), 0);
        ck_assert_uint_eq(kit->result.ops_logged, 11000);
        ck_assert_uint_eq(kit->result.ops_log_lost, 0);
        ck_assert(dbio_opslog_is(path));
        ck_assert_int_eq(dbio_opslog_read(path, check_row, NULL, &err), 0);
        ck_assert_uint_eq(nread, 11000);
        ck_assert_uint_eq(nfailed, 110);
        file = fopen(path, "r");
        fseek(file, 0, SEEK_END);
        /* 13 to 32 bytes an op */
        ck_assert_int_lt(ftell(file), 11000 * 32);
        fclose(file);
        unlink(path);
        kit_release(kit);
}
END_TEST

START_TEST(a_file_cut_short_gives_what_is_whole)
{
        struct kit *kit = malloc(sizeof *kit);
        struct dbio_err err = {0};
        struct dbio_opslog *log;

        make_path();
        kit_init(kit);
        kit_backend.latency_ns = 5 * MS;
        kit_add(kit, "closed", (struct kit_source){.nr = 1000});
        ck_assert_int_eq(dbio_opslog_open(&kit->options.opslog, path, &err), 0);
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_int_eq(dbio_opslog_close(kit->options.opslog, &err), 0);
        ck_assert_int_eq(truncate(path, 12000), 0);
        ck_assert_int_eq(dbio_opslog_read(path, check_row, NULL, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_uint_gt(nread, 100);
        ck_assert_uint_lt(nread, 1000);
        /* never over another file */
        ck_assert_int_eq(dbio_opslog_open(&log, path, &err), -1);
        unlink(path);
        ck_assert(!dbio_opslog_is(path));
        kit_release(kit);
}
END_TEST

START_TEST(a_full_ring_is_counted)
{
        static _Alignas(64) struct dbio_opslog_buffer buffer;
        struct dbio_opslog_op op = {.op = {.offset = 1ull << 60, .length = 8192}, .completed_ns = 1000};

        ck_assert_int_eq(dbio_opslog_buffer_init(&buffer), 0);
        for (unsigned i = 0; i < 1000000; i++)
                dbio_opslog_add(&buffer, &op);
        dbio_opslog_flush(&buffer);
        ck_assert_uint_gt(buffer.lost, 0);
        ck_assert_uint_gt(buffer.logged, 0);
        ck_assert_uint_eq(buffer.logged + buffer.lost, 1000000);
        dbio_opslog_buffer_release(&buffer);
}
END_TEST

TEST_MAIN("opslog", every_op_is_read_back, a_file_cut_short_gives_what_is_whole, a_full_ring_is_counted)
