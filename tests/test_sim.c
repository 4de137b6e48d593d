/* What must hold of simulated devices whatever their numbers: repeatability, conservation, Little's law, and the
 * capacity laws of arrays, disks, buckets and caches. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "engine/backend.h"
#include "patterns/profile.h"
#include "tests/simload.h"

#define S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct simload load;

static struct simload_stream *alone(const struct dbio_sim_profile *profile, struct simload_stream stream, uint64_t end_ns)
{
        load = (struct simload){.profile = profile, .seed = 1, .nstreams = 1, .end_ns = end_ns, .layout = {.contiguous = true}};
        load.streams[0] = stream;
        simload_run(&load);
        return &load.streams[0];
}

static double iops(const struct dbio_sim_profile *profile, struct simload_stream stream, uint64_t end_ns)
{
        return (double)alone(profile, stream, end_ns)->ios / ((double)end_ns / (double)S);
}

static void mixed(struct simload *mix, const char *name, uint64_t seed)
{
        *mix = (struct simload){.profile = simload_profile(name), .seed = seed, .nstreams = 3, .end_ns = S / 2,
                                .layout = {.aged = 16 << 20}};
        mix->file_size = UINT64_C(20) << 30;
        mix->streams[0] = (struct simload_stream){.depth = 16, .length = 8192};
        mix->streams[1] = (struct simload_stream){.depth = 4, .length = 65536, .write = true};
        mix->streams[2] = (struct simload_stream){.depth = 2, .length = 524288, .sequential = true};
        simload_run(mix);
}

START_TEST(the_same_seed_gives_the_same_run)
{
        for (const char *const *name = dbio_profile_names(); *name; name++) {
                static struct simload a, b, c;

                mixed(&a, *name, 1);
                mixed(&b, *name, 1);
                mixed(&c, *name, 2);
                ck_assert_uint_eq(a.digest, b.digest);
                ck_assert_int_eq(memcmp(a.streams, b.streams, sizeof a.streams), 0);
                ck_assert_uint_ne(a.digest, c.digest);
        }
}
END_TEST

START_TEST(what_is_submitted_comes_back_or_is_in_flight)
{
        for (const char *const *name = dbio_profile_names(); *name; name++) {
                uint64_t issued = 0, ios = 0;

                mixed(&load, *name, 3);
                for (unsigned i = 0; i < load.nstreams; i++) {
                        issued += load.streams[i].issued;
                        ios += load.streams[i].ios;
                }
                ck_assert_uint_eq(issued, ios + load.inflight);
                ck_assert_uint_eq(load.inflight, 16 + 4 + 2); /* closed loops keep their depth */
                ck_assert_uint_gt(ios, 100);
        }
}
END_TEST

/* N = X·R: depth kept against rate times mean response, both counted by the generator. */
START_TEST(littles_law_holds)
{
        static const struct {
                const char *name;
                unsigned depth;
                uint64_t seconds;
        } cases[] = {{"pcie-ssd-iodrive80", 12, 2}, {"raid10-15k-sas", 16, 40}, {"hdd-15k-sas", 4, 200}, {"sata-ssd", 32, 2},
                     {"ebs-gp3", 64, 60}, {"fc-san", 256, 30}};

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                uint64_t end = cases[i].seconds * S;
                struct simload_stream *stream =
                        alone(simload_profile(cases[i].name), (struct simload_stream){.depth = cases[i].depth, .length = 8192}, end);
                double x = (double)stream->ios / (double)end, r = stream->total_ns / (double)stream->ios;

                if (fabs(x * r / cases[i].depth - 1) > 0.001)
                        ck_abort_msg("%s: X·R = %.4f at depth %u", cases[i].name, x * r, cases[i].depth);
        }
}
END_TEST

START_TEST(throughput_does_not_fall_with_depth)
{
        for (const char *const *name = dbio_profile_names(); *name; name++) {
                const struct dbio_sim_profile *profile = simload_profile(*name);
                uint64_t end = profile->medium == DBIO_SIM_DISK ? 60 * S : profile->medium == DBIO_SIM_SSD ? S / 10 : 2 * S;
                double before = 0;

                for (unsigned depth = 1; depth <= 256; depth *= 4) {
                        double now = iops(profile, (struct simload_stream){.depth = depth, .length = 8192}, end);

                        if (now < 0.99 * before)
                                ck_abort_msg("%s: %.0f at depth %u after %.0f", *name, now, depth, before);
                        before = now;
                }
        }
}
END_TEST

/* --- disks --- */

/* 0.1 ms overhead + 3.4 ms mean seek + half a turn of 4 ms + transfer = 5.53 ms. */
START_TEST(a_disk_alone_takes_overhead_seek_and_half_a_turn)
{
        struct simload_stream *stream = alone(simload_profile("hdd-15k-sas"), (struct simload_stream){.depth = 1, .length = 8192}, 100 * S);

        ck_assert_double_lt(fabs(stream->total_ns / (double)stream->ios / 5.53e6 - 1), 0.01);
}
END_TEST

/* First come, first served gains nothing from depth; ageing in steps (everything over 400 ms first) once fell back to
 * that: 494 -> 185 reads a second at depth 128. */
START_TEST(soft_ageing_keeps_the_gain_of_sorting_and_starves_nobody)
{
        struct dbio_sim_profile *disk = simload_profile("hdd-15k-sas");
        struct simload_stream *stream;
        double aged, greedy;
        uint64_t aged_max, greedy_max;

        for (unsigned depth = 64; depth <= 256; depth *= 2)
                ck_assert_double_gt(iops(disk, (struct simload_stream){.depth = depth, .length = 8192}, 60 * S), 400);
        stream = alone(disk, (struct simload_stream){.depth = 64, .length = 8192}, 200 * S);
        aged = (double)stream->ios / 200;
        aged_max = stream->max_ns;
        disk->disk.ageing = 0;
        stream = alone(disk, (struct simload_stream){.depth = 64, .length = 8192}, 200 * S);
        greedy = (double)stream->ios / 200;
        greedy_max = stream->max_ns;
        ck_assert_double_gt(greedy, aged);
        ck_assert_double_gt(aged, 0.75 * greedy);
        /* Nobody waits for more than three times the mean of 64/aged s; without ageing somebody does. */
        ck_assert_double_lt((double)aged_max, 3 * 64 / aged * 1e9);
        ck_assert_double_gt((double)greedy_max, 3 * 64 / greedy * 1e9);
        disk->disk.scheduler = DBIO_SIM_FIFO;
        ck_assert_double_lt(fabs(iops(disk, (struct simload_stream){.depth = 64, .length = 8192}, 60 * S) / 181 - 1), 0.03);
}
END_TEST

/* A long sequential read or write runs at the media rate less the head switches: 171 MB/s / (1 + 0.4/4). */
START_TEST(a_disk_streams_at_its_media_rate)
{
        const struct dbio_sim_profile *disk = simload_profile("hdd-15k-sas");
        double expected = 171e6 / 1.1;

        for (int write = 0; write <= 1; write++) {
                double bytes = 262144 * iops(disk, (struct simload_stream){.depth = 4, .length = 262144, .sequential = true, .write = write}, 10 * S);

                ck_assert_double_lt(fabs(bytes / expected - 1), 0.02);
        }
}
END_TEST

/* --- arrays over members that take 1 ms a command, one at a time --- */

static struct dbio_sim_profile members(int level, unsigned n, uint64_t read, uint64_t write, double byte_rate)
{
        return (struct dbio_sim_profile){
                .name = "members", .medium = DBIO_SIM_FIXED, .has_array = true,
                .array = {.level = level, .members = n, .strip = 65536, .side_strips = 1},
                .fixed = {.capacity = UINT64_C(1) << 30, .read = read, .write = write, .rate = byte_rate, .servers = 1},
        };
}

/* Host IOPS = C/(reads + f·writes), C = all members: f = 1, 2, 4 for levels 0, 10, 5. */
START_TEST(arrays_follow_their_capacity_laws)
{
        static const struct {
                int level;
                unsigned n;
                double write_cost;
        } cases[] = {{0, 4, 1}, {10, 4, 2}, {1, 2, 2}, {5, 5, 4}};

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct dbio_sim_profile array = members(cases[i].level, cases[i].n, MS, MS, 0);
                double all = 1000.0 * cases[i].n;

                array.array.side_strips = 1;
                ck_assert_double_lt(fabs(iops(&array, (struct simload_stream){.depth = 512, .length = 8192}, 20 * S) / all - 1), 0.02);
                ck_assert_double_lt(fabs(iops(&array, (struct simload_stream){.depth = 512, .length = 8192, .write = true}, 20 * S) /
                                         (all / cases[i].write_cost) - 1), 0.04);
        }
}
END_TEST

/* A whole row of 4 + 1 strips is five writes at once, less needs old data and parity first: two commands one after the
 * other. */
START_TEST(level_5_writes_whole_rows_without_reading)
{
        struct dbio_sim_profile array = members(5, 5, MS, 3 * MS, 0);
        struct simload_stream *stream;

        stream = alone(&array, (struct simload_stream){.depth = 1, .length = 4 * 65536, .write = true, .sequential = true}, S);
        ck_assert_double_eq_tol(stream->total_ns / (double)stream->ios, 3e6, 1);
        stream = alone(&array, (struct simload_stream){.depth = 1, .length = 8192, .write = true}, S);
        ck_assert_double_eq_tol(stream->total_ns / (double)stream->ios, 4e6, 1);
        /* Two writes of one row wait for each other. */
        stream = alone(&array, (struct simload_stream){.depth = 2, .length = 8192, .write = true, .span = 8192}, S);
        ck_assert_double_lt(fabs(stream->total_ns / (double)stream->ios / 8e6 - 1), 0.01);
}
END_TEST

/* A write of level 10 ends with the slower side, which is the other's twin here. At depth 1 an array reads as one disk. */
START_TEST(an_idle_mirror_reads_as_one_disk)
{
        double disk = iops(simload_profile("hdd-15k-sas"), (struct simload_stream){.depth = 1, .length = 8192}, 60 * S);
        double array = iops(simload_profile("raid10-15k-sas"), (struct simload_stream){.depth = 1, .length = 8192}, 60 * S);

        ck_assert_double_lt(fabs(array / disk - 1), 0.02);
}
END_TEST

/* A partition that begins at sector 63: exactly one of eight 8K pages crosses a strip of 64K. Members move 8 KiB a ms, so
 * a page cut in two is done sooner. */
START_TEST(an_old_partition_offset_cuts_one_page_in_eight)
{
        struct dbio_sim_profile array = members(0, 4, 0, 0, 8192000);

        load = (struct simload){.profile = &array, .seed = 1, .nstreams = 1, .file_size = 1 << 30,
                                .layout = {.contiguous = true, .partition_offset = 63 * 512}};
        load.streams[0] = (struct simload_stream){.depth = 1, .length = 8192, .sequential = true, .count = 8000, .slow_ns = 999999};
        simload_run(&load);
        ck_assert_uint_eq(load.streams[0].ios - load.streams[0].slow, 1000);
        ck_assert_uint_eq(load.split.split, 0); /* the layout cut nothing: strips are the array's */
}
END_TEST

/* --- write cache over one member of 1 ms a write --- */

static struct dbio_sim_profile cached(uint64_t lines, int policy)
{
        struct dbio_sim_profile profile = members(0, 2, MS, MS, 0);

        profile.has_cache = true;
        profile.cache = (struct dbio_sim_cache){.size = lines * 8192, .line = 8192, .hit = 50000, .bus = 8e9, .policy = policy,
                                                .destage = 4, .coalesce = 8192, .high = 0.8, .low = 0.2};
        return profile;
}

START_TEST(a_cache_answers_at_once_until_it_is_full)
{
        struct dbio_sim_profile profile = cached(1000, DBIO_SIM_EAGER);
        struct simload_stream *stream;

        stream = alone(&profile, (struct simload_stream){.depth = 8, .length = 8192, .write = true, .count = 900}, 0);
        ck_assert_uint_lt(stream->max_ns, 100000);
        /* Then it takes what two members destage, 2,000 lines a second. */
        stream = alone(&profile, (struct simload_stream){.depth = 8, .length = 8192, .write = true}, 20 * S);
        ck_assert_double_lt(fabs((double)(stream->ios - 1000) / 20 / 2000 - 1), 0.02);
}
END_TEST

START_TEST(lines_written_again_are_destaged_once)
{
        struct dbio_sim_profile profile = cached(1000, DBIO_SIM_WATERMARK);
        struct simload_stream *stream;

        /* 700 of 1,000 lines: below the mark nothing is destaged and writes never wait. */
        stream = alone(&profile, (struct simload_stream){.depth = 8, .length = 8192, .write = true, .span = 700 * 8192}, S);
        ck_assert_uint_lt(stream->max_ns, 100000);
        ck_assert_uint_gt(stream->ios, 50000);
}
END_TEST

START_TEST(neighbouring_lines_leave_together)
{
        struct dbio_sim_profile profile = cached(1000, DBIO_SIM_EAGER);
        double apart, joined;

        apart = iops(&profile, (struct simload_stream){.depth = 8, .length = 8192, .write = true, .sequential = true}, 20 * S);
        profile.cache.coalesce = 65536;
        joined = iops(&profile, (struct simload_stream){.depth = 8, .length = 8192, .write = true, .sequential = true}, 20 * S);
        ck_assert_double_gt(joined, 6 * apart); /* up to eight lines a command of 1 ms */
        ck_assert_double_lt(joined, 8.5 * apart);
}
END_TEST

START_TEST(a_learning_battery_means_write_through)
{
        struct dbio_sim_profile profile = cached(1000, DBIO_SIM_WATERMARK);
        struct simload_stream *stream;

        profile.cache.learn_from = S;
        profile.cache.learn_to = 2 * S;
        load = (struct simload){.profile = &profile, .seed = 1, .nstreams = 1, .end_ns = 3 * S, .bin_ns = S, .layout = {.contiguous = true}};
        load.streams[0] = (struct simload_stream){.depth = 1, .length = 8192, .write = true, .span = 500 * 8192};
        simload_run(&load);
        stream = &load.streams[0];
        ck_assert_uint_gt(stream->bins[0], 15000);
        ck_assert_uint_ge(stream->bins[1], 990); /* 1 ms each */
        ck_assert_uint_le(stream->bins[1], 1000);
        ck_assert_uint_gt(stream->bins[2], 15000);
}
END_TEST

/* --- token buckets, by their closed forms --- */

static struct dbio_sim_profile volume(double ceiling, double base, uint64_t credits, double byte_rate)
{
        return (struct dbio_sim_profile){.name = "volume", .medium = DBIO_SIM_CLOUD,
                .cloud = {.capacity = UINT64_C(100) << 30, .ops_rate = ceiling, .base_rate = base, .credits = credits,
                          .byte_rate = byte_rate, .op_bytes = 262144, .latency = 0}};
}

/* gp2 at 3,000 IOPS: 5.4 million credits last 5.4e6/(3000 - base) s: 2,000 s at 100 GiB, 2,703 s at 334 GiB, 7,200 s at
 * 750 GiB (table of the vendor's manual). Here with a hundredth of the credits and of the time. */
START_TEST(burst_credits_last_as_long_as_published)
{
        static const struct {
                double base, seconds;
        } cases[] = {{300, 2000}, {1002, 2703}, {2250, 7200}};

        for (int i = 0; i < 3; i++) {
                struct dbio_sim_profile gp2 = volume(3000, cases[i].base, 54000, 262144000);
                uint64_t end = (uint64_t)(cases[i].seconds / 100 * 1e9);
                double spent = 54000 / (3000 - cases[i].base);

                ck_assert_double_eq_tol(spent * 100, cases[i].seconds, 0.5);
                /* Up to there 3,000 a second, to the op; after it the base rate. */
                ck_assert_uint_le(llabs((long long)alone(&gp2, (struct simload_stream){.depth = 64, .length = 8192},
                                                         (uint64_t)(spent * 1e9))->ios - llround(3000 * spent)), 1);
                ck_assert_uint_le(llabs((long long)alone(&gp2, (struct simload_stream){.depth = 64, .length = 8192}, end + 100 * S)->ios -
                                        llround(54000 + cases[i].base * (double)(end + 100 * S) / 1e9)), 2);
        }
}
END_TEST

/* gp3 as it comes: 3,000 8K reads; 256K reads are bound by 125 MiB/s = 500 a second. 10,000 pages: 3.33 s one by one,
 * 0.626 s in 313 pieces of 256K. */
START_TEST(gp3_is_bound_by_ops_or_by_bytes)
{
        struct dbio_sim_profile gp3 = volume(3000, 0, 0, 131072000);

        ck_assert_uint_le(llabs((long long)alone(&gp3, (struct simload_stream){.depth = 64, .length = 8192}, 10 * S)->ios - 30000), 1);
        ck_assert_uint_le(llabs((long long)alone(&gp3, (struct simload_stream){.depth = 64, .length = 262144}, 10 * S)->ios - 5000), 1);
        ck_assert_double_eq_tol((double)alone(&gp3, (struct simload_stream){.depth = 64, .length = 8192, .count = 10000}, 0)->last_ns / 1e9,
                                3.333, 0.001);
        ck_assert_double_eq_tol((double)alone(&gp3, (struct simload_stream){.depth = 64, .length = 262144, .count = 313}, 0)->last_ns / 1e9,
                                312 * 0.002, 0.0001);
}
END_TEST

/* --- fixed time, host limits --- */

START_TEST(a_fixed_time_is_exact_at_any_depth)
{
        struct simload_stream *stream = alone(simload_profile("fixed-5ms"), (struct simload_stream){.depth = 2048, .length = 8192}, S);

        ck_assert_uint_eq(stream->max_ns, 5 * MS);
        ck_assert_uint_eq(stream->ios, 200 * 2048);
}
END_TEST

START_TEST(the_host_pays_for_its_cpu)
{
        struct dbio_sim_profile profile = members(0, 2, 0, 0, 0);

        profile.has_array = false;
        profile.fixed.servers = 0;
        profile.submit_cpu = 1500;
        profile.complete_cpu = 1000;
        /* 2.5 us an io, one after the other: 400,000 a second. */
        ck_assert_double_lt(fabs(iops(&profile, (struct simload_stream){.depth = 32, .length = 8192}, S) / 400000 - 1), 0.01);
}
END_TEST

/* --- the backend's side of its contract --- */

START_TEST(reap_moves_the_clock_to_its_end_and_no_further)
{
        const struct dbio_backend *backend = dbio_backend_find("sim");
        struct dbio_sim_profile *profile = simload_profile("fixed-5ms");
        struct dbio_sim_device device = {"d", profile};
        struct dbio_sim_place place = {.file_size = 1 << 30, .nfiles = 1, .layout = {.contiguous = true}};
        struct dbio_sim_split split = {0};
        struct dbio_sim_spec spec = {1, 1, 1, &device, &place, &split};
        struct dbio_file file = {.fd = -1, .size = 1 << 30, .sector = 512};
        struct dbio_clock clock;
        struct dbio_backend_env env = {.clock = &clock, .files = &file, .nfiles = 1, .max_inflight = 2, .sim = &spec};
        struct dbio_io io[3] = {{.length = 8192, .slot = 0}, {.length = 0, .slot = 1, .kind = DBIO_FSYNC}, {.length = 512, .slot = 2}};
        struct dbio_io *list[3] = {&io[0], &io[1], &io[2]}, *done[3];
        void *state = NULL;
        struct dbio_err err = {0};

        dbio_clock_init_virtual(&clock);
        ck_assert_int_eq(backend->open(&state, &env, &err), 0);
        ck_assert_int_eq(backend->reap(state, done, 1, 3, 3 * MS), 0); /* nothing in flight: waits for the time */
        ck_assert_uint_eq(clock.virtual_ns, 3 * MS);
        ck_assert_int_eq(backend->reap(state, done, 1, 3, UINT64_MAX), 0); /* and not for ever */
        ck_assert_int_eq(backend->submit(state, list, 3), 2); /* full at max_inflight */
        ck_assert_int_eq(backend->reap(state, done, 1, 3, 0), 0);
        ck_assert_int_eq(backend->reap(state, done, 1, 3, 4 * MS), 1); /* the fsync: no time but the least */
        ck_assert_ptr_eq(done[0], &io[1]);
        ck_assert_uint_eq(clock.virtual_ns, 3 * MS + 1);
        ck_assert_int_eq(backend->reap(state, done, 1, 3, 4 * MS), 0);
        ck_assert_uint_eq(clock.virtual_ns, 4 * MS);
        ck_assert_int_eq(backend->reap(state, done, 1, 3, UINT64_MAX), 1);
        ck_assert_uint_eq(clock.virtual_ns, 8 * MS);
        ck_assert_int_eq((int)io[0].result, 8192);
        ck_assert_uint_eq(split.ios, 1);
        backend->close(state);
        env.sim = NULL;
        ck_assert_int_eq(backend->open(&state, &env, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        backend->close(NULL);
}
END_TEST

TEST_MAIN("sim", the_same_seed_gives_the_same_run, what_is_submitted_comes_back_or_is_in_flight, littles_law_holds,
          throughput_does_not_fall_with_depth, a_disk_alone_takes_overhead_seek_and_half_a_turn,
          soft_ageing_keeps_the_gain_of_sorting_and_starves_nobody, a_disk_streams_at_its_media_rate,
          arrays_follow_their_capacity_laws, level_5_writes_whole_rows_without_reading, an_idle_mirror_reads_as_one_disk,
          an_old_partition_offset_cuts_one_page_in_eight, a_cache_answers_at_once_until_it_is_full,
          lines_written_again_are_destaged_once, neighbouring_lines_leave_together, a_learning_battery_means_write_through,
          burst_credits_last_as_long_as_published, gp3_is_bound_by_ops_or_by_bytes, a_fixed_time_is_exact_at_any_depth,
          the_host_pays_for_its_cpu, reap_moves_the_clock_to_its_end_and_no_further)
