/* A fixed time a command and a byte, on one server, several, or as many as it takes. */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>

struct fixed {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor end;
        const struct dbio_sim_fixed *keys;
        struct dbio_sim_servers servers;
        struct dbio_sim_random random;
        double ns_per_byte;
};

static void fixed_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        (void)actor;
        req->done(sim, req);
}

static void fixed_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct fixed *fixed = (struct fixed *)layer;
        double command = (double)(req->kind == DBIO_WRITE ? fixed->keys->write : fixed->keys->read);
        double ns = command * dbio_sim_random_lognormal(&fixed->random, fixed->keys->sigma) +
                    (double)req->length * fixed->ns_per_byte;

        dbio_sim_at(layer->sim, dbio_sim_servers_enter(&fixed->servers, layer->sim->now, llround(ns)), &fixed->end, req);
}

static void fixed_close(struct dbio_sim_layer *layer)
{
        struct fixed *fixed = (struct fixed *)layer;

        dbio_sim_servers_release(&fixed->servers);
        free(fixed);
}

static struct dbio_sim_layer *fixed_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                         struct dbio_sim_layer *below, uint64_t component)
{
        struct fixed *fixed = calloc(1, sizeof *fixed);

        (void)below;
        if (!fixed)
                return NULL;
        fixed->layer.class = &dbio_sim_fixed_class;
        fixed->layer.sim = sim;
        fixed->layer.groups = 1;
        fixed->end.event = fixed_event;
        fixed->keys = &profile->fixed;
        fixed->ns_per_byte = profile->fixed.rate > 0 ? 1e9 / profile->fixed.rate : 0;
        dbio_sim_random_init(&fixed->random, sim->seed, component);
        if (dbio_sim_servers_init(&fixed->servers, (unsigned)profile->fixed.servers)) {
                fixed_close(&fixed->layer);
                return NULL;
        }
        return &fixed->layer;
}

const struct dbio_sim_layer_class dbio_sim_fixed_class = {"fixed", fixed_open, fixed_submit, fixed_close, NULL, NULL};
