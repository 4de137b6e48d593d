/* The pacer, the worker's loop and the run, on a virtual clock and a device of fixed latency. Expected values follow
 * from that latency and from Little's law (depth = rate x response). */
#include "tests/unit.h"

#include <errno.h>
#include <string.h>

#include "tests/enginekit.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define ENDLESS UINT64_MAX

static struct kit *new_kit(uint64_t latency_ns)
{
        struct kit *kit = malloc(sizeof *kit);

        kit_init(kit);
        kit_backend.latency_ns = latency_ns;
        return kit;
}

START_TEST(closed_loop_keeps_its_depth)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 7;
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        /* 7 at a time, 200 times a second; those of t = 1 s are not issued any more */
        ck_assert_uint_eq(kit->figures[0].ios, 1400);
        ck_assert_uint_eq(kit->figures[0].bytes, 1400 * 8192);
        ck_assert_uint_eq(kit_peak, 7);
        for (unsigned i = 0; i < kit_nissues; i++)
                ck_assert_uint_eq(kit_issues[i].t_ns, i / 7 * 5 * MS);
        ck_assert_uint_eq(kit->figures[0].service.sum_ns, 1400 * 5 * MS);
        ck_assert_uint_eq(kit->figures[0].wait.sum_ns, 0);
        ck_assert_uint_eq(kit->figures[0].lag.sum_ns, 0);
        ck_assert_uint_eq(kit->result.duration_ns, SECOND);
        ck_assert_uint_eq(kit->result.due[0], 1400);
        ck_assert_uint_eq(kit->result.unissued[0], 0);
        ck_assert(kit->planned[0].finished);
        kit_release(kit);
}
END_TEST

START_TEST(open_loop_goes_when_due)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS, .gap_ns = 333333});
        kit->phase.duration_ns = 2 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        /* due at 0, 333333, … below 2 s */
        ck_assert_uint_eq(kit->figures[0].ios, 6001);
        for (unsigned i = 0; i < kit_nissues; i++)
                ck_assert_uint_eq(kit_issues[i].t_ns, i * 333333ull);
        ck_assert_uint_eq(kit->figures[0].response.max_ns, 5 * MS);
        ck_assert_uint_eq(kit->result.due[0], 6001);
        ck_assert_uint_eq(kit->result.unissued[0], 0);
        /* the last completes at 1999998000 + 5 ms: in the third interval */
        ck_assert_uint_eq(kit->last_t_ns, 2 * SECOND);
        kit_release(kit);
}
END_TEST

START_TEST(overload_skips_nothing_and_counts_what_is_left)
{
        struct kit *kit = new_kit(10 * MS);

        /* 1000/s are due, depth 4 behind 10 ms carries 400/s */
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS, .gap_ns = MS})->depth = 4;
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->result.due[0], 1000);
        ck_assert_uint_eq(kit->figures[0].ios + kit->result.unissued[0], 1000);
        ck_assert_uint_ge(kit->figures[0].ios, 396);
        ck_assert_uint_le(kit->figures[0].ios, 400);
        /* no coordinated omission: the last op was due long before it went, and its lag is none of ours */
        ck_assert_uint_gt(kit->figures[0].wait.max_ns, 590 * MS);
        ck_assert_uint_eq(kit->figures[0].lag.max_ns, 0);
        ck_assert_uint_eq(kit->figures[0].service.max_ns, 10 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(think_time_is_kept)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "reads", (struct kit_source){.nr = 10})->think_ns = 20 * MS;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios, 10);
        for (unsigned i = 0; i < 10; i++)
                ck_assert_uint_eq(kit_issues[i].t_ns, i * 25 * MS);
        ck_assert_uint_eq(kit->figures[0].response.max_ns, 5 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(hba_what_if)
{
        struct kit *kit = new_kit(5 * MS);

        kit->hba = (struct dbio_hba){.ports = 1, .max_outstanding = 1024};
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 2048;
        kit->phase.duration_ns = 10 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        /* 2,048 behind 1,024 elements of 5 ms: Little's law gives 10.0 ms, of which 5.0 before the adapter */
        double n = (double)kit->figures[0].ios;

        ck_assert_uint_eq(kit_peak, 1024);
        ck_assert_double_eq_tol(n / 10, 204800, 205);
        ck_assert_double_eq_tol((double)kit->figures[0].response.sum_ns / n / 1e6, 10.0, 0.02);
        ck_assert_double_eq_tol((double)kit->figures[0].wait.sum_ns / n / 1e6, 5.0, 0.02);
        ck_assert_double_eq_tol((double)kit->figures[0].service.sum_ns / n / 1e6, 5.0, 1e-9);
        ck_assert_uint_eq(kit->figures[0].lag.max_ns, 0);
        ck_assert_uint_eq(kit->result.outstanding.peak, 1024);
        ck_assert_uint_eq(kit->result.outstanding.cap, 1024);
        ck_assert_uint_eq(kit->result.outstanding.hits, kit->figures[0].hba_waits);
        ck_assert_double_eq_tol((double)kit->result.outstanding.at_cap_ns / 1e9, 10.0, 0.01);
        kit_release(kit);
}
END_TEST

START_TEST(hba_splits_and_ports)
{
        struct kit *kit = new_kit(5 * MS);

        kit->hba = (struct dbio_hba){.ports = 2, .max_outstanding = 3, .max_transfer = 65536};
        struct dbio_stream *stream =
                kit_add(kit, "reads", (struct kit_source){.nr = 20, .length = 150000 / 512 * 512, .stride = 1 << 20});

        stream->depth = 4;
        stream->max_length = 1 << 20;
        ck_assert_int_eq(kit_run(kit), 0);
        /* 149,504 bytes = 64K + 64K + the rest: three commands an op, one op fills a port */
        ck_assert_uint_eq(kit->figures[0].ios, 20);
        ck_assert_uint_eq(kit->figures[0].splits, 40);
        ck_assert_uint_eq(kit_nissues, 60);
        ck_assert_uint_eq(kit_peak, 6);
        for (unsigned i = 0; i < kit_nissues; i++) {
                ck_assert_uint_le(kit_issues[i].length, 65536);
                for (unsigned k = 0; k < i; k++)
                        ck_assert(kit_issues[k].call != kit_issues[i].call ||
                                  kit_issues[k].offset + kit_issues[k].length != kit_issues[i].offset);
        }
        ck_assert_uint_eq(kit->figures[0].bytes, 20 * 149504);
        ck_assert_uint_eq(kit->result.transfer.hits, 20);
        ck_assert_uint_eq(kit->result.transfer.peak, 65536);
        /* two at a time, 5 ms each, and each fills its port: the time at the cap is the phase's, not twice that */
        ck_assert_uint_eq(kit->result.duration_ns, 50 * MS);
        ck_assert_uint_eq(kit->result.outstanding.peak, 3);
        ck_assert_uint_eq(kit->result.outstanding.at_cap_ns, 50 * MS);
        kit_release(kit);
}
END_TEST

/* A command of the adapter's length must be one that the target takes; the kit's sector is 512. */
START_TEST(hba_splits_at_sectors)
{
        struct kit *kit = new_kit(5 * MS);

        kit->hba = (struct dbio_hba){.ports = 1, .max_transfer = 1000};
        kit_add(kit, "reads", (struct kit_source){.nr = 10});
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(kit_run(kit), -1);
        ck_assert_int_eq(kit->err.code, DBIO_USAGE);
        ck_assert_str_eq(kit->err.message, "hba.max_transfer: 1000 bytes are no multiple of target data's sector of 512");
        kit_release(kit);
}
END_TEST

START_TEST(touching_ops_never_share_a_call)
{
        struct kit *kit = new_kit(5 * MS);
        unsigned calls = 0;

        kit_add(kit, "sequential", (struct kit_source){.nr = 640, .stride = 8192})->depth = 64;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit_nissues, 640);
        for (unsigned i = 1; i < kit_nissues; i++)
                calls += kit_issues[i].call != kit_issues[i - 1].call;
        ck_assert_uint_eq(calls, 639);
        kit_release(kit);

        /* unless the pattern wants it */
        kit = new_kit(5 * MS);
        calls = 0;
        kit_add(kit, "adjacent", (struct kit_source){.nr = 640, .stride = 8192, .flags = DBIO_OP_ADJACENT})->depth = 64;
        ck_assert_int_eq(kit_run(kit), 0);
        for (unsigned i = 1; i < kit_nissues; i++)
                calls += kit_issues[i].call != kit_issues[i - 1].call;
        /* depth 64: at least a quarter of it a call */
        ck_assert_uint_le(calls, 640 / 16);
        kit_release(kit);
}
END_TEST

START_TEST(barriers_hold_both_ways)
{
        struct kit *kit = new_kit(5 * MS);
        static const struct dbio_op ops[] = {
                {.offset = 0, .length = 8192, .kind = DBIO_WRITE, .due_ns = DBIO_NO_DUE},
                {.offset = 65536, .length = 8192, .kind = DBIO_WRITE, .due_ns = DBIO_NO_DUE},
                {.kind = DBIO_FSYNC, .flags = DBIO_OP_BARRIER, .due_ns = DBIO_NO_DUE},
                {.offset = 131072, .length = 8192, .kind = DBIO_WRITE, .due_ns = DBIO_NO_DUE},
                {.offset = 196608, .length = 8192, .kind = DBIO_WRITE, .due_ns = DBIO_NO_DUE},
        };
        static const uint64_t expected_ms[] = {0, 0, 5, 5, 10, 10};

        kit->nfiles = 2; /* the fsync goes to both files */
        kit_add(kit, "writes", (struct kit_source){.ops = ops, .nr = 5})->depth = 16;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit_nissues, 6);
        for (unsigned i = 0; i < 6; i++)
                ck_assert_uint_eq(kit_issues[i].t_ns, expected_ms[i] * MS);
        ck_assert_int_eq(kit_issues[2].kind, DBIO_FSYNC);
        ck_assert_int_eq(kit_issues[3].kind, DBIO_FSYNC);
        ck_assert_uint_eq(kit->figures[0].ios, 5);
        ck_assert_uint_eq(kit->figures[0].splits, 0);
        ck_assert_uint_eq(kit->figures[0].lag.max_ns, 0);
        ck_assert_uint_eq(kit->result.duration_ns, 15 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(phase_ops_end_it_exactly)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 16;
        kit_add(kit, "timed", (struct kit_source){.nr = ENDLESS, .gap_ns = MS, .kind = DBIO_WRITE});
        kit->phase.ops = 1234;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios + kit->figures[1].ios, 1234);
        ck_assert_uint_eq(kit_nissues, 1234);
        kit_release(kit);
}
END_TEST

START_TEST(endless_streams_stop_with_the_last_finite_one)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "endless", (struct kit_source){.nr = ENDLESS});
        kit_add(kit, "finite", (struct kit_source){.nr = 20});
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[1].ios, 20);
        ck_assert_uint_ge(kit->figures[0].ios, 20);
        ck_assert_uint_le(kit->figures[0].ios, 21);
        ck_assert(!kit->result.stopped && !kit->result.timed_out);
        kit_release(kit);
}
END_TEST

START_TEST(streams_start_and_stop)
{
        struct kit *kit = new_kit(5 * MS);
        struct dbio_stream *late = kit_add(kit, "late", (struct kit_source){.nr = ENDLESS, .gap_ns = 10 * MS});

        late->start_ns = 200 * MS;
        late->stop_ns = 700 * MS;
        struct dbio_stream *closed = kit_add(kit, "closed", (struct kit_source){.nr = ENDLESS});

        closed->start_ns = 100 * MS;
        closed->stop_ns = 600 * MS;
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios, 50);
        ck_assert_uint_eq(kit->figures[1].ios, 100);
        ck_assert_uint_eq(kit_issues[0].t_ns, 100 * MS);
        kit_release(kit);
}
END_TEST

/* 1000/s are due from 200 to 700 ms, depth 4 behind 10 ms carries 400/s: what is late at the stop does not go. */
START_TEST(late_ops_stop_with_their_stream)
{
        struct kit *kit = new_kit(10 * MS);
        struct dbio_stream *late = kit_add(kit, "late", (struct kit_source){.nr = ENDLESS, .gap_ns = MS});

        late->depth = 4;
        late->start_ns = 200 * MS;
        late->stop_ns = 700 * MS;
        kit->phase.duration_ns = 2 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->result.due[0], 500);
        ck_assert_uint_eq(kit->figures[0].ios + kit->result.unissued[0], 500);
        ck_assert_uint_ge(kit->figures[0].ios, 196);
        ck_assert_uint_le(kit->figures[0].ios, 204);
        for (unsigned i = 0; i < kit_nissues; i++)
                ck_assert_uint_le(kit_issues[i].t_ns, 700 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(time_can_be_scaled)
{
        struct kit *kit = new_kit(5 * MS);

        kit_add(kit, "timed", (struct kit_source){.nr = ENDLESS, .gap_ns = 10 * MS});
        kit->phase.duration_ns = SECOND;
        kit->options.scale_time = 0.5;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios, 100);
        ck_assert_uint_eq(kit_issues[99].t_ns, 495 * MS);
        ck_assert_uint_eq(kit->figures[0].service.max_ns, 5 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(caps_hold)
{
        struct kit *kit = new_kit(MS);

        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 32;
        kit->phase.duration_ns = 4 * SECOND;
        kit->options.max_iops = 500;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_ge(kit->figures[0].ios, 1999);
        ck_assert_uint_le(kit->figures[0].ios, 2002);
        ck_assert_uint_eq(kit->figures[0].lag.max_ns, 0);
        kit_release(kit);

        kit = new_kit(MS);
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 32;
        kit->phase.duration_ns = 4 * SECOND;
        kit->options.max_bytes_per_s = 8192 * 100;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_ge(kit->figures[0].ios, 399);
        ck_assert_uint_le(kit->figures[0].ios, 402);
        kit_release(kit);
}
END_TEST

/* Btrfs and protection information hold what was read against sums where it lies: two reads into one place fail. */
START_TEST(reads_that_are_checked_own_their_buffers)
{
        for (int checked = 0; checked < 2; checked++) {
                struct kit *kit = new_kit(MS);
                unsigned same = 0;

                kit->checked = checked;
                kit_add(kit, "reads", (struct kit_source){.nr = 8})->depth = 8;
                ck_assert_int_eq(kit_run(kit), 0);
                ck_assert_uint_eq(kit_peak, 8); /* all at once */
                for (unsigned i = 0; i < 8; i++)
                        for (unsigned k = 0; k < i; k++)
                                same += kit_issues[i].buffer == kit_issues[k].buffer;
                ck_assert_uint_eq(same, checked ? 0 : 28);
                kit_release(kit);
        }
}
END_TEST

/* Who waits under a cap is served in the order of asking: each thread gets the same. */
START_TEST(caps_are_shared)
{
        struct kit *kit = new_kit(MS);

        kit_add(kit, "deep", (struct kit_source){.nr = ENDLESS})->depth = 32;
        kit_add(kit, "shallow", (struct kit_source){.nr = ENDLESS})->depth = 2;
        kit_add(kit, "timed", (struct kit_source){.nr = ENDLESS, .gap_ns = 100 * MS});
        kit->phase.duration_ns = 4 * SECOND;
        kit->options.max_iops = 500;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[2].ios, 40); /* asks for less than its share */
        ck_assert_uint_ge(kit->figures[0].ios, 975);
        ck_assert_uint_le(kit->figures[0].ios, 985);
        ck_assert_uint_ge(kit->figures[1].ios, 975);
        ck_assert_uint_le(kit->figures[1].ios, 985);
        kit_release(kit);
}
END_TEST

START_TEST(errors_are_counted_apart)
{
        struct kit *kit = new_kit(5 * MS);

        kit_backend.fail_every = 10;
        kit_backend.error = ENOSPC;
        kit_backend.short_every = 7;
        kit_add(kit, "writes", (struct kit_source){.nr = 700, .kind = DBIO_WRITE})->depth = 4;
        ck_assert_int_eq(kit_run(kit), 0);
        /* number 10k-1 fails: 70; number 7k-1 is short, unless it fails (both: 70k-1): 100 - 10 */
        ck_assert_uint_eq(kit->figures[0].errors, 160);
        ck_assert_uint_eq(kit->figures[0].ios, 540);
        ck_assert_uint_eq(kit->figures[0].service.count, 540);
        ck_assert_int_eq(kit->result.errors[0].error, EIO);
        ck_assert(kit->result.errors[0].is_short);
        ck_assert_uint_eq(kit->result.errors[0].count, 90);
        ck_assert_uint_eq(kit->result.errors[0].first_offset, 6 * 65536);
        ck_assert_int_eq(kit->result.errors[1].error, ENOSPC);
        ck_assert_uint_eq(kit->result.errors[1].count, 70);
        ck_assert_uint_eq(kit->result.errors[1].first_offset, 9 * 65536);
        ck_assert(!kit->result.error_stop);
        kit_release(kit);
}
END_TEST

START_TEST(too_many_errors_stop_the_run)
{
        struct kit *kit = new_kit(5 * MS);

        kit_backend.fail_every = 10;
        kit_backend.error = EIO;
        kit->options.max_errors = 2;
        kit_add(kit, "writes", (struct kit_source){.nr = ENDLESS, .kind = DBIO_WRITE});
        kit->phase.duration_ns = 100 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert(kit->result.error_stop);
        ck_assert_uint_eq(kit->figures[0].errors, 3);
        ck_assert_uint_eq(kit->figures[0].ios, 27);
        kit_release(kit);
}
END_TEST

START_TEST(an_op_that_never_comes_back_ends_the_run)
{
        struct kit *kit = new_kit(5 * MS);

        kit_backend.lose_every = 50;
        kit->options.timeout_ns = SECOND;
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS})->depth = 1;
        kit->phase.duration_ns = 100 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert(kit->result.timed_out);
        ck_assert_uint_eq(kit->figures[0].ios, 49);
        ck_assert_uint_lt(kit->clock.virtual_ns, 4 * SECOND);
        kit_release(kit);
}
END_TEST

START_TEST(a_broken_backend_keeps_the_figures)
{
        struct kit *kit = new_kit(5 * MS);

        kit_backend.broken_after = 30;
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS});
        kit->phase.duration_ns = 100 * SECOND;
        ck_assert_int_eq(kit_run(kit), -1);
        ck_assert_int_eq(kit->err.code, DBIO_IO);
        ck_assert_uint_eq(kit->figures[0].ios, 29);
        kit_release(kit);
}
END_TEST

START_TEST(a_full_backend_is_waited_for)
{
        struct kit *kit = new_kit(5 * MS);

        kit_backend.room = 3;
        kit_add(kit, "reads", (struct kit_source){.nr = 100})->depth = 16;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios, 100);
        ck_assert_uint_eq(kit_peak, 3);
        ck_assert_uint_eq(kit->figures[0].service.max_ns, 5 * MS);
        ck_assert_uint_eq(kit->result.duration_ns, 34 * 5 * MS);
        kit_release(kit);
}
END_TEST

START_TEST(a_stop_from_outside_drains)
{
        struct kit *kit = new_kit(5 * MS);
        atomic_int stop = 1;

        kit->options.stop = &stop;
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS});
        kit->phase.duration_ns = 100 * SECOND;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert(kit->result.stopped);
        ck_assert_uint_eq(kit->figures[0].ios, 0);
        kit_release(kit);
}
END_TEST

START_TEST(thirty_days_at_200_000_a_second)
{
        struct kit *kit = new_kit(5 * MS);
        const uint64_t day = 86400 * SECOND;

        /* the same arithmetic with 1 MiB ops every 3 s and time to 30 days; sums reach 2^53 and beyond */
        kit->options.interval_ns = 3600 * SECOND;
        kit_backend.latency_ns = 2 * SECOND;
        kit_add(kit, "reads", (struct kit_source){.nr = ENDLESS, .gap_ns = 3 * SECOND, .length = 1 << 20});
        kit->phase.duration_ns = 30 * day;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[0].ios, 30 * 86400 / 3);
        ck_assert_uint_eq(kit->figures[0].bytes, (uint64_t)(30 * 86400 / 3) << 20);
        ck_assert_uint_eq(kit->figures[0].service.sum_ns, 30ull * 86400 / 3 * 2 * SECOND);
        ck_assert_uint_eq(kit->figures[0].lag.max_ns, 0);
        ck_assert_uint_eq(kit->last_t_ns, 30 * day - 3600 * SECOND);
        ck_assert_uint_eq(kit->figures[0].records, 30 * 24);
        kit_release(kit);
}
END_TEST

START_TEST(workers_share_a_phase_on_the_real_clock)
{
        struct kit *kit = new_kit(0);

        kit->real = true;
        kit->options.backend = dbio_backend_find("null");
        kit->options.workers = 2;
        kit->options.interval_ns = 20 * MS;
        for (unsigned i = 0; i < 4; i++)
                kit_add(kit, "reads", (struct kit_source){.nr = 50000})->depth = 1 + i * 8;
        ck_assert_int_eq(kit_run(kit), 0);
        for (unsigned i = 0; i < 4; i++) {
                ck_assert_uint_eq(kit->figures[i].ios, 50000);
                ck_assert_uint_eq(kit->figures[i].bytes, 50000ull * 8192);
                ck_assert_uint_eq(kit->figures[i].service.count, 50000);
                ck_assert_uint_eq(kit->result.due[i], 50000);
        }
        ck_assert_uint_eq(kit->result.lag.count, 200000);
        ck_assert_uint_gt(kit->result.turn.count, 0);
        kit_release(kit);
}
END_TEST

START_TEST(workers_never_pass_the_adapter)
{
        struct kit *kit = new_kit(0);

        kit->real = true;
        kit->options.backend = dbio_backend_find("null");
        kit->options.workers = 3;
        kit->hba = (struct dbio_hba){.ports = 2, .max_outstanding = 5};
        for (unsigned i = 0; i < 3; i++)
                kit_add(kit, "reads", (struct kit_source){.nr = 20000})->depth = 16;
        ck_assert_int_eq(kit_run(kit), 0);
        for (unsigned i = 0; i < 3; i++)
                ck_assert_uint_eq(kit->figures[i].ios, 20000);
        ck_assert_uint_le(kit->result.outstanding.peak, 5);
        ck_assert_uint_gt(kit->result.outstanding.hits, 0);
        kit_release(kit);
}
END_TEST

TEST_MAIN("run", closed_loop_keeps_its_depth, open_loop_goes_when_due, overload_skips_nothing_and_counts_what_is_left,
          think_time_is_kept, hba_what_if, hba_splits_and_ports, hba_splits_at_sectors,
          touching_ops_never_share_a_call,
          barriers_hold_both_ways, phase_ops_end_it_exactly, endless_streams_stop_with_the_last_finite_one,
          streams_start_and_stop, late_ops_stop_with_their_stream, time_can_be_scaled, caps_hold, caps_are_shared,
          reads_that_are_checked_own_their_buffers, errors_are_counted_apart,
          too_many_errors_stop_the_run, an_op_that_never_comes_back_ends_the_run, a_broken_backend_keeps_the_figures,
          a_full_backend_is_waited_for, a_stop_from_outside_drains, thirty_days_at_200_000_a_second,
          workers_share_a_phase_on_the_real_clock, workers_never_pass_the_adapter)
