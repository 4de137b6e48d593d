/* The parts of the simulated devices against theory: stations, flash translation, token buckets, extents. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "engine/sim_core.h"

/* --- stations against M/M/1 and M/D/1 (Kleinrock, Queueing Systems I: T = s/(1-rho), T = s(1 + rho/(2(1-rho)))) --- */

enum { CUSTOMERS = 4000000 };

struct queue {
        struct dbio_sim_line line;
        double total_ns;
};

static void served(struct dbio_sim *sim, struct dbio_sim_line *line, struct dbio_sim_req *req)
{
        struct queue *queue = line->owner;

        queue->total_ns += (double)(sim->now - req->arrived);
        dbio_sim_req_free(sim, req);
}

static double exponential(struct dbio_sim_random *random, double mean)
{
        return -mean * log(1 - dbio_sim_random_unit(random));
}

/* Mean response over the mean service time: of the event-driven line in [0], of the station without events in [1]. */
static void respond(double rho, bool deterministic, double ratio[2])
{
        const double mean = 100000;
        struct dbio_sim sim;
        struct queue queue = {.total_ns = 0};
        struct dbio_sim_servers servers;
        struct dbio_sim_random arrivals, services;
        double at = 0, total = 0;

        dbio_sim_init(&sim, 7);
        dbio_sim_random_init(&arrivals, 7, 1);
        dbio_sim_random_init(&services, 7, 2);
        dbio_sim_line_init(&queue.line, &queue, 0, served);
        ck_assert_int_eq(dbio_sim_servers_init(&servers, 1), 0);
        for (int i = 0; i < CUSTOMERS; i++) {
                struct dbio_sim_req *req;

                at += exponential(&arrivals, mean / rho);
                while (dbio_sim_step(&sim, (int64_t)at))
                        continue;
                sim.now = (int64_t)at;
                req = dbio_sim_req_new(&sim);
                req->duration = llround(deterministic ? mean : exponential(&services, mean));
                total += (double)(dbio_sim_servers_enter(&servers, sim.now, req->duration) - sim.now);
                dbio_sim_line_enter(&sim, &queue.line, req);
        }
        while (dbio_sim_step(&sim, INT64_MAX))
                continue;
        ratio[0] = queue.total_ns / CUSTOMERS / mean;
        ratio[1] = total / CUSTOMERS / mean;
        dbio_sim_servers_release(&servers);
        dbio_sim_release(&sim);
}

START_TEST(stations_follow_mm1_and_md1)
{
        const double rhos[] = {0.5, 0.8};

        for (int i = 0; i < 2; i++) {
                double rho = rhos[i], mm1 = 1 / (1 - rho), md1 = 1 + rho / (2 * (1 - rho)), ratio[2];

                respond(rho, false, ratio);
                ck_assert_double_lt(fabs(ratio[0] / mm1 - 1), 0.01);
                ck_assert_double_eq_tol(ratio[0], ratio[1], 1e-9);
                respond(rho, true, ratio);
                ck_assert_double_lt(fabs(ratio[0] / md1 - 1), 0.01);
                ck_assert_double_eq_tol(ratio[0], ratio[1], 1e-9);
        }
}
END_TEST

/* M/M/c against Erlang C: rho = 0.8 on 4 servers waits C/(c·mu - lambda) = 0.7455 service times. */
START_TEST(several_servers_follow_erlang_c)
{
        struct dbio_sim_servers servers;
        struct dbio_sim_random random;
        double at = 0, total = 0, a = 3.2, sum = 0, term = 1, last, wait;
        const double mean = 100000;
        int n = 6000000;

        for (int k = 0; k < 4; k++) {
                sum += term;
                term *= a / (k + 1);
        }
        last = term * 4 / (4 - a); /* a^4/4! · c/(c-a) */
        wait = last / (sum + last) / (4 - a);
        dbio_sim_random_init(&random, 3, 1);
        ck_assert_int_eq(dbio_sim_servers_init(&servers, 4), 0);
        for (int i = 0; i < n; i++) {
                int64_t now, service;

                at += exponential(&random, mean / a);
                now = (int64_t)at;
                service = llround(exponential(&random, mean));
                total += (double)(dbio_sim_servers_enter(&servers, now, service) - now - service);
        }
        ck_assert_double_lt(fabs(total / n / mean / wait - 1), 0.01);
        dbio_sim_servers_release(&servers);
}
END_TEST

static int64_t seen[64];
static unsigned nseen;

static void note(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        (void)sim;
        (void)actor;
        seen[nseen++] = (int64_t)req->cookie;
}

START_TEST(events_at_one_time_keep_their_order)
{
        struct dbio_sim sim;
        struct dbio_sim_actor actor = {note};
        int64_t before = 0;

        nseen = 0;
        dbio_sim_init(&sim, 1);
        for (unsigned i = 0; i < 60; i++) {
                struct dbio_sim_req *req = dbio_sim_req_new(&sim);

                req->cookie = (i % 3) * 100 + i; /* expected place: by time, then by order of making */
                dbio_sim_at(&sim, (int64_t)(i % 3), &actor, req);
        }
        while (dbio_sim_step(&sim, 1))
                continue;
        ck_assert_uint_eq(nseen, 40); /* nothing beyond the limit */
        while (dbio_sim_step(&sim, INT64_MAX))
                continue;
        ck_assert_uint_eq(nseen, 60);
        for (unsigned i = 0; i < nseen; i++) {
                ck_assert_int_ge(seen[i], before);
                before = seen[i];
        }
        dbio_sim_release(&sim);
}
END_TEST

START_TEST(components_have_sequences_of_their_own)
{
        struct dbio_sim_random a, b, again;

        dbio_sim_random_init(&a, 1, 1);
        dbio_sim_random_init(&b, 1, 2);
        dbio_sim_random_init(&again, 1, 1);
        ck_assert_uint_eq(dbio_sim_random_next(&a), dbio_sim_random_next(&again));
        ck_assert_uint_ne(dbio_sim_random_next(&a), dbio_sim_random_next(&b));
}
END_TEST

/* --- flash translation --- */

/* Write amplification of greedy collection under uniform random writes: a/(a + W(-a·e^-a)), a = 1 + over-provision
 * (Xiang and Kurkoski, arXiv 1110.4245). W by Newton's method on its principal branch. */
static double amplification(double over_provision)
{
        double a = 1 + over_provision, x = -a * exp(-a), w = -0.5;

        for (int i = 0; i < 200; i++) {
                double step = (w * exp(w) - x) / (exp(w) * (1 + w));

                w -= step / 2;
                if (w <= -0.999999)
                        w = -0.999999;
        }
        return a / (a + w);
}

START_TEST(write_amplification_follows_the_formula)
{
        const double spares[] = {0.07, 0.15, 0.28, 0.5, 1.0};

        ck_assert_double_eq_tol(amplification(0.30), 2.36, 0.005); /* the value printed in the paper */
        for (int i = 0; i < 5; i++) {
                struct dbio_sim_ftl keys = {spares[i], 1 << 18, 512, 3000000, true};
                struct dbio_ftl *ftl = dbio_ftl_new(&keys, 5);
                struct dbio_sim_random random;
                uint64_t moved = 0, writes = 1 << 20;

                ck_assert_ptr_nonnull(ftl);
                dbio_sim_random_init(&random, 9, 9);
                for (uint64_t k = 0; k < writes; k++)
                        moved += dbio_ftl_write(ftl, dbio_sim_random_next(&random) >> 20).moved;
                ck_assert_double_lt(fabs(((double)(moved + writes) / (double)writes) / amplification(spares[i]) - 1), 0.03);
                ck_assert(dbio_ftl_check(ftl));
                dbio_ftl_free(ftl);
        }
}
END_TEST

START_TEST(sequential_writes_move_no_pages)
{
        struct dbio_sim_ftl keys = {0.07, 1 << 16, 256, 3000000, false};
        struct dbio_ftl *ftl = dbio_ftl_new(&keys, 5);
        uint64_t moved = 0;

        for (uint64_t k = 0; k < 1000000; k++)
                moved += dbio_ftl_write(ftl, k).moved;
        ck_assert_uint_eq(moved, 0);
        ck_assert(dbio_ftl_check(ftl));
        dbio_ftl_free(ftl);
}
END_TEST

/* --- extents --- */

static double mean_pieces(const struct dbio_sim_place *place, uint64_t length, unsigned file)
{
        struct dbio_extents *extents;
        uint64_t ios = 0, pieces = 0;

        ck_assert_int_eq(dbio_extents_new(&extents, place, 42, NULL), 0);
        for (uint64_t offset = 0; offset + length <= place->file_size; offset += length) {
                uint64_t at = offset, run;

                while (at < offset + length) {
                        uint64_t where = dbio_extents_find(extents, file, at, &run);

                        if (where < place->base)
                                ck_abort_msg("a place before the target's");
                        at += run;
                        pieces++;
                }
                ios++;
        }
        dbio_extents_free(extents);
        return (double)pieces / (double)ios;
}

/* E[pieces] = 1 + max(0, S - C)/L for aligned ios of S bytes over clusters of C in extents of mean length L, their ends
 * uniform over the cluster boundaries. */
START_TEST(pieces_of_an_aged_file_follow_the_formula)
{
        const struct {
                uint64_t length, cluster, extent;
        } cases[] = {
                {8192, 4096, 1 << 20}, {8192, 4096, 65536}, {524288, 4096, 65536}, {524288, 65536, 262144}, {524288, 8192, 262144},
        };

        for (int i = 0; i < 5; i++) {
                struct dbio_sim_place place = {.base = 1 << 20, .file_size = UINT64_C(20) << 30, .nfiles = 1,
                        .layout = {.cluster = (uint32_t)cases[i].cluster, .aged = cases[i].extent}};
                double expected = 1 + (double)(cases[i].length - cases[i].cluster) / (double)cases[i].extent;

                ck_assert_double_lt(fabs(mean_pieces(&place, cases[i].length, 0) / expected - 1), 0.01);
        }
}
END_TEST

START_TEST(a_cluster_as_large_as_the_io_splits_nothing)
{
        struct dbio_sim_place place = {.file_size = 1 << 30, .nfiles = 1, .layout = {.cluster = 8192, .aged = 65536}};

        ck_assert_double_eq(mean_pieces(&place, 8192, 0), 1);
        place.layout = (struct dbio_layout){.contiguous = true, .cluster = 4096};
        ck_assert_double_eq(mean_pieces(&place, 524288, 0), 1);
        /* Grown alone, a file is contiguous whatever the step. */
        place.layout = (struct dbio_layout){.cluster = 4096, .grow = 65536};
        ck_assert_double_eq(mean_pieces(&place, 524288, 0), 1);
        /* 512K reads of a file grown in 64K steps beside another: 8; in 1 MiB steps: 1 (measured on ext4 and XFS). */
        place.layout = (struct dbio_layout){.cluster = 4096, .grow = 65536, .interleave = true};
        ck_assert_double_eq(mean_pieces(&place, 524288, 0), 8);
        place.layout.grow = 1 << 20;
        ck_assert_double_eq(mean_pieces(&place, 524288, 0), 1);
}
END_TEST

/* Every byte of every file has a place of its own inside what the target takes. */
START_TEST(extents_do_not_overlap)
{
        const struct dbio_layout layouts[] = {
                {.contiguous = true}, {.grow = 65536, .interleave = true}, {.grow = 50000, .cluster = 8192, .interleave = true},
                {.aged = 40960}, {.aged = 1 << 20, .cluster = 65536, .partition_offset = 32256},
        };

        for (int i = 0; i < 5; i++) {
                for (unsigned nfiles = 1; nfiles <= 3; nfiles++) {
                        struct dbio_sim_place place = {.base = 4096, .file_size = 8 << 20, .nfiles = nfiles, .layout = layouts[i]};
                        uint64_t bytes = dbio_sim_place_bytes(&layouts[i], place.file_size, nfiles), run;
                        unsigned char *taken = calloc(bytes / 512 + 1, 1);
                        struct dbio_extents *extents;

                        ck_assert_int_eq(dbio_extents_new(&extents, &place, 1, NULL), 0);
                        for (unsigned f = 0; f < nfiles; f++) {
                                for (uint64_t at = 0; at < place.file_size; at += 512) {
                                        uint64_t where = dbio_extents_find(extents, f, at, &run) - place.base;

                                        if (where + 512 > bytes || taken[where / 512]++)
                                                ck_abort_msg("layout %d, %u files: byte %llu", i, nfiles,
                                                             (unsigned long long)where);
                                }
                        }
                        dbio_extents_free(extents);
                        free(taken);
                }
        }
}
END_TEST

START_TEST(too_many_extents_are_an_error)
{
        struct dbio_sim_place place = {.file_size = UINT64_C(1) << 40, .nfiles = 1, .layout = {.aged = 65536}};
        struct dbio_extents *extents = NULL;
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_extents_new(&extents, &place, 1, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "aged"));
}
END_TEST

TEST_MAIN("sim_parts", stations_follow_mm1_and_md1, several_servers_follow_erlang_c, events_at_one_time_keep_their_order,
          components_have_sequences_of_their_own, write_amplification_follows_the_formula, sequential_writes_move_no_pages,
          pieces_of_an_aged_file_follow_the_formula, a_cluster_as_large_as_the_io_splits_nothing, extents_do_not_overlap,
          too_many_extents_are_an_error)
