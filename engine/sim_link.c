/* A link to the device (Fibre Channel): a command takes the port that is free first, for a write's data on the way
 * there, for a read's on the way back. */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>

enum { THERE, BACK };

struct link {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor way;
        struct dbio_sim_layer *below;
        struct dbio_sim_servers ports;
        double ns_per_byte;
        int64_t half_latency;
};

static int64_t cross(struct link *link, const struct dbio_sim_req *req, bool data)
{
        int64_t now = link->layer.sim->now;
        int64_t end = now;

        if (data)
                end = dbio_sim_servers_enter(&link->ports, now, llround((double)req->length * link->ns_per_byte));
        return end + link->half_latency;
}

static void below_done(struct dbio_sim *sim, struct dbio_sim_req *inner)
{
        struct dbio_sim_req *req = inner->parent;
        struct link *link = inner->owner;

        dbio_sim_req_free(sim, inner);
        req->stage = BACK;
        dbio_sim_at(sim, cross(link, req, req->kind == DBIO_READ), &link->way, req);
}

static void link_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct link *link = (struct link *)((char *)actor - offsetof(struct link, way));

        if (req->stage == BACK) {
                req->done(sim, req);
                return;
        }

        struct dbio_sim_req *inner = dbio_sim_req_new(sim);

        inner->parent = req;
        inner->owner = link;
        inner->done = below_done;
        inner->offset = req->offset;
        inner->length = req->length;
        inner->kind = req->kind;
        link->below->class->submit(link->below, inner);
}

static void link_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct link *link = (struct link *)layer;

        req->stage = THERE;
        dbio_sim_at(layer->sim, cross(link, req, req->kind == DBIO_WRITE), &link->way, req);
}

static void link_close(struct dbio_sim_layer *layer)
{
        struct link *link = (struct link *)layer;

        dbio_sim_layer_close(link->below);
        dbio_sim_servers_release(&link->ports);
        free(link);
}

static struct dbio_sim_layer *link_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                        struct dbio_sim_layer *below, uint64_t component)
{
        struct link *link = calloc(1, sizeof *link);

        (void)component;
        if (!link)
                return NULL;
        link->layer.class = &dbio_sim_link_class;
        link->layer.sim = sim;
        link->layer.groups = 1;
        link->way.event = link_event;
        link->ns_per_byte = 1e9 / profile->link.rate;
        link->half_latency = (int64_t)profile->link.latency / 2;
        if (dbio_sim_servers_init(&link->ports, (unsigned)profile->link.ports)) {
                link_close(&link->layer);
                return NULL;
        }
        link->below = below;
        return &link->layer;
}

const struct dbio_sim_layer_class dbio_sim_link_class = {"link", link_open, link_submit, link_close, NULL, NULL};
