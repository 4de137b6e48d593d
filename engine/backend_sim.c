/* The simulated devices as a backend. It is the clock: waiting moves the virtual time. */
#include "engine/sim_core.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/backend.h"

struct file {
        const struct dbio_extents *extents;
        struct dbio_sim_layer *device;
        const struct dbio_sim_profile *profile;
        struct dbio_sim_split *split;
        unsigned number; /* among its target's */
};

struct backend {
        struct dbio_sim sim;
        struct dbio_sim_actor next_ns;
        struct dbio_clock *clock;
        const struct dbio_sim_spec *spec;
        struct dbio_sim_layer **devices; /* ndevices */
        struct dbio_extents **extents;   /* ntargets */
        struct file *files;
        struct dbio_sim_queue finished;
        unsigned inflight, max_inflight;
};

static int open_devices(struct backend *backend, struct dbio_err *err)
{
        const struct dbio_sim_spec *spec = backend->spec;

        for (unsigned i = 0; i < spec->ndevices; i++) {
                backend->devices[i] = dbio_sim_device_open(&backend->sim, spec->devices[i].profile, 1000 * (i + 1));
                if (!backend->devices[i])
                        return dbio_err_set(err, DBIO_IO, "out of memory for the simulated device sim:%s",
                                            spec->devices[i].profile->name);
        }
        for (unsigned i = 0; i < spec->ntargets; i++)
                if (dbio_extents_new(&backend->extents[i], &spec->targets[i], spec->seed + i, err))
                        return -1;
        return 0;
}

static void sim_close(void *state)
{
        struct backend *backend = state;

        if (!backend)
                return;
        for (unsigned i = 0; backend->devices && i < backend->spec->ndevices; i++)
                dbio_sim_layer_close(backend->devices[i]);
        for (unsigned i = 0; backend->extents && i < backend->spec->ntargets; i++)
                dbio_extents_free(backend->extents[i]);
        dbio_sim_release(&backend->sim);
        free(backend->devices);
        free(backend->extents);
        free(backend->files);
        free(backend);
}

static void finish(struct dbio_sim *sim, struct dbio_sim_req *req)
{
        struct backend *backend = (struct backend *)((char *)sim - offsetof(struct backend, sim));

        /* An io that took no time would let a closed loop stand still for ever. */
        if (req->arrived >= sim->now)
                dbio_sim_at(sim, sim->now + 1, &backend->next_ns, req);
        else
                dbio_sim_queue_put(&backend->finished, req);
}

static void next_ns_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        (void)actor;
        finish(sim, req);
}

static int sim_open(void **state, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct backend *backend;

        if (!env->sim)
                return dbio_err_set(err, DBIO_USAGE, "the simulated device needs targets bound to sim:PROFILE");
        if (!env->clock->is_virtual)
                return dbio_err_set(err, DBIO_BUG, "the simulated device needs a virtual clock");
        backend = calloc(1, sizeof *backend);
        if (!backend)
                return dbio_err_set(err, DBIO_IO, "out of memory for the simulated devices");
        dbio_sim_init(&backend->sim, env->sim->seed);
        backend->sim.now = (int64_t)dbio_clock_now(env->clock);
        backend->next_ns.event = next_ns_event;
        backend->clock = env->clock;
        backend->spec = env->sim;
        backend->max_inflight = env->max_inflight;
        backend->devices = calloc(env->sim->ndevices, sizeof *backend->devices);
        backend->extents = calloc(env->sim->ntargets, sizeof *backend->extents);
        backend->files = calloc(env->nfiles, sizeof *backend->files);
        if (!backend->devices || !backend->extents || !backend->files) {
                sim_close(backend);
                return dbio_err_set(err, DBIO_IO, "out of memory for the simulated devices");
        }
        if (open_devices(backend, err)) {
                sim_close(backend);
                return -1;
        }
        for (unsigned i = 0; i < env->sim->ntargets; i++)
                env->sim->split[i] = (struct dbio_sim_split){0, 0, 0};
        for (unsigned i = 0; i < env->nfiles; i++) {
                unsigned target = env->files[i].target;
                const struct dbio_sim_device *device = &env->sim->devices[env->sim->targets[target].device];

                backend->files[i].extents = backend->extents[target];
                backend->files[i].device = backend->devices[env->sim->targets[target].device];
                backend->files[i].profile = device->profile;
                backend->files[i].split = &env->sim->split[target];
                backend->files[i].number = i && env->files[i - 1].target == target ? backend->files[i - 1].number + 1 : 0;
        }
        *state = backend;
        return 0;
}

static void piece_done(struct dbio_sim *sim, struct dbio_sim_req *piece)
{
        struct dbio_sim_req *whole = piece->parent;

        dbio_sim_req_free(sim, piece);
        if (!--whole->left)
                finish(sim, whole);
}

/* whole->left begins at 1, so that pieces done at once do not end it early. */
static void submit_pieces(struct backend *backend, const struct file *file, struct dbio_sim_req *whole)
{
        const struct dbio_io *io = whole->owner;
        uint64_t offset = io->offset, left = io->length, pieces = 0;

        whole->left = 1;
        while (left) {
                struct dbio_sim_req *piece = dbio_sim_req_new(&backend->sim);
                uint64_t run;

                piece->offset = dbio_extents_find(file->extents, file->number, offset, &run);
                piece->length = run < left ? run : left;
                piece->kind = io->kind;
                piece->parent = whole;
                piece->done = piece_done;
                offset += piece->length;
                left -= piece->length;
                whole->left++;
                pieces++;
                file->device->class->submit(file->device, piece);
        }
        file->split->split++;
        file->split->pieces += pieces;
        if (!--whole->left)
                finish(&backend->sim, whole);
}

static void submit_one(struct backend *backend, struct dbio_io *io)
{
        struct file *file = &backend->files[io->file];
        struct dbio_sim_req *req = dbio_sim_req_new(&backend->sim);
        uint64_t run;

        backend->clock->virtual_ns += file->profile->submit_cpu;
        backend->inflight++;
        io->result = io->length;
        req->owner = io;
        req->kind = io->kind;
        req->done = finish;
        if (io->kind != DBIO_READ && io->kind != DBIO_WRITE) {
                dbio_sim_at(&backend->sim, backend->sim.now + (int64_t)file->profile->flush, &backend->next_ns, req);
                return;
        }
        req->offset = dbio_extents_find(file->extents, file->number, io->offset, &run);
        req->length = io->length;
        file->split->ios++;
        if (run < io->length) {
                submit_pieces(backend, file, req);
                return;
        }
        file->split->pieces++;
        file->device->class->submit(file->device, req);
}

static void catch_up(struct backend *backend)
{
        int64_t now = (int64_t)backend->clock->virtual_ns;

        while (dbio_sim_step(&backend->sim, now))
                continue;
        backend->sim.now = now;
}

static int sim_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct backend *backend = state;
        unsigned i;

        for (i = 0; i < nr && backend->inflight < backend->max_inflight; i++) {
                catch_up(backend);
                submit_one(backend, ios[i]);
        }
        return backend->sim.failed ? -ENOMEM : (int)i;
}

static unsigned take_finished(struct backend *backend, struct dbio_io **done, unsigned n, unsigned max)
{
        struct dbio_sim_req *req;

        while (n < max && (req = dbio_sim_queue_take(&backend->finished))) {
                struct dbio_io *io = req->owner;

                dbio_sim_req_free(&backend->sim, req);
                backend->inflight--;
                backend->clock->virtual_ns += backend->files[io->file].profile->complete_cpu;
                done[n++] = io;
        }
        return n;
}

static int sim_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct backend *backend = state;
        struct dbio_clock *clock = backend->clock;
        int64_t until = until_ns > INT64_MAX ? INT64_MAX : (int64_t)until_ns;
        unsigned n;

        catch_up(backend);
        n = take_finished(backend, done, 0, max);
        while (n < min && n < max) {
                /* Without an end to wait for and nothing in flight there is nothing that could ever come. */
                if (until == INT64_MAX && !backend->inflight)
                        break;
                if (until <= (int64_t)clock->virtual_ns || !dbio_sim_step(&backend->sim, until))
                        break;
                clock->virtual_ns = (uint64_t)backend->sim.now;
                if (!backend->finished.n)
                        continue;
                catch_up(backend);
                n = take_finished(backend, done, n, max);
        }
        if (n < min && until != INT64_MAX && until > (int64_t)clock->virtual_ns)
                clock->virtual_ns = until_ns;
        return backend->sim.failed ? -ENOMEM : (int)n;
}

const struct dbio_backend dbio_backend_sim = {
        "sim", "simulated devices, in virtual time", sim_open, sim_submit, sim_reap, sim_close,
};
