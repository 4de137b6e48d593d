#include "engine/sim_core.h"

#include <stdlib.h>
#include <string.h>

#include "engine/backend.h"

extern const struct dbio_backend dbio_backend_sim;

struct probe {
        struct dbio_sim_probe *asked;
        struct dbio_sim_random random;
        struct dbio_clock clock;
        struct dbio_io *ios, **list, **done;
        uint64_t *submitted, next, span, total_ns;
        uint64_t first; /* first completion after the warm-up */
};

static void aim(struct probe *probe, struct dbio_io *io)
{
        uint64_t places = probe->span / probe->asked->length;
        uint64_t place = probe->asked->sequential ? probe->next++ % places : dbio_sim_random_next(&probe->random) % places;

        io->offset = place * probe->asked->length;
        io->length = probe->asked->length;
        io->kind = probe->asked->write ? DBIO_WRITE : DBIO_READ;
        probe->submitted[io->slot] = probe->clock.virtual_ns;
}

static void count(struct probe *probe, const struct dbio_io *io)
{
        uint64_t took = probe->clock.virtual_ns - probe->submitted[io->slot];

        if (probe->clock.virtual_ns < probe->asked->warmup_ns)
                return;
        probe->asked->ios++;
        probe->total_ns += took;
        if (took > probe->asked->max_ns)
                probe->asked->max_ns = took;
}

static int drive(struct probe *probe, const struct dbio_backend *backend, void *state)
{
        struct dbio_sim_probe *asked = probe->asked;
        uint64_t end = asked->warmup_ns + asked->duration_ns;

        for (unsigned i = 0; i < asked->depth; i++) {
                probe->list[i] = &probe->ios[i];
                probe->ios[i].slot = i;
                aim(probe, probe->list[i]);
        }
        if (backend->submit(state, probe->list, asked->depth) != (int)asked->depth)
                return -1;
        while (probe->clock.virtual_ns < end) {
                int n = backend->reap(state, probe->done, 1, asked->depth, end);

                if (n < 0)
                        return -1;
                for (int i = 0; i < n; i++) {
                        count(probe, probe->done[i]);
                        aim(probe, probe->done[i]);
                }
                if (n && backend->submit(state, probe->done, (unsigned)n) != n)
                        return -1;
        }
        asked->iops = (double)asked->ios / ((double)asked->duration_ns / 1e9);
        asked->mean_ns = asked->ios ? (double)probe->total_ns / (double)asked->ios : 0;
        return 0;
}

int dbio_sim_probe(const struct dbio_sim_profile *profile, struct dbio_sim_probe *asked, struct dbio_err *err)
{
        struct dbio_sim_device device = {profile->name, profile};
        uint64_t capacity = dbio_sim_capacity(profile);
        struct dbio_sim_place place = {.file_size = capacity, .nfiles = 1, .layout = {.contiguous = true}};
        struct dbio_sim_split split = {0, 0, 0};
        struct dbio_sim_spec spec = {asked->seed, 1, 1, &device, &place, &split};
        struct dbio_file file = {.fd = -1, .size = capacity, .sector = 512};
        struct probe probe = {.asked = asked, .span = asked->span ? asked->span : capacity};
        struct dbio_backend_env env = {
                .clock = &probe.clock, .files = &file, .nfiles = 1, .max_inflight = asked->depth, .sim = &spec};
        void *state = NULL;
        int rc = -1;

        asked->ios = asked->max_ns = 0;
        dbio_clock_init_virtual(&probe.clock);
        dbio_sim_random_init(&probe.random, asked->seed, 1);
        probe.ios = calloc(asked->depth, sizeof *probe.ios);
        probe.list = calloc(asked->depth, sizeof *probe.list);
        probe.done = calloc(asked->depth, sizeof *probe.done);
        probe.submitted = calloc(asked->depth, sizeof *probe.submitted);
        if (!probe.ios || !probe.list || !probe.done || !probe.submitted) {
                dbio_err_set(err, DBIO_IO, "out of memory for a probe");
                goto out;
        }
        if (dbio_backend_sim.open(&state, &env, err))
                goto out;
        rc = drive(&probe, &dbio_backend_sim, state);
        if (rc)
                dbio_err_set(err, DBIO_BUG, "the simulated device failed");
        dbio_backend_sim.close(state);
out:
        free(probe.ios);
        free(probe.list);
        free(probe.done);
        free(probe.submitted);
        return rc;
}
