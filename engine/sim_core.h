/* Inside the simulated devices: events, requests, stations, and what every layer of a device offers.
 *
 * Time is int64_t ns. Events happen in the order of (time, number): two at the same time in the order in which they
 * were made, so a run repeats bit by bit. Durations may be computed in double and are rounded once. Nothing here is
 * shared between threads.
 */
#ifndef DBIO_ENGINE_SIM_CORE_H
#define DBIO_ENGINE_SIM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/sim.h"

struct dbio_sim;
struct dbio_sim_req;
struct dbio_sim_layer;

/* A command, or a part of one, on its way through a layer. Whoever takes one from the pool gives it back. */
struct dbio_sim_req {
        struct dbio_sim_req *next;       /* in the queue where it stands */
        struct dbio_sim_req *parent;     /* of which it is a part */
        void (*done)(struct dbio_sim *sim, struct dbio_sim_req *req);
        void *owner;                     /* the maker's */
        uint64_t offset, length;
        int64_t arrived;
        uint32_t left;                   /* parts still out */
        uint8_t kind;                    /* DBIO_READ, DBIO_WRITE; fsync and trim end in the backend */
        uint8_t stage, priority, sequential;
        uint32_t unit;                   /* member, unit, group: the layer's */
        int64_t duration;
        struct {                         /* where the disk finds it */
                int32_t cylinder, head;
                double angle, transfer;
        } at;
        uint64_t cookie;
};

/* Who gets an event. Embedded first. */
struct dbio_sim_actor {
        void (*event)(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req);
};

struct dbio_sim_event {
        int64_t time;
        uint64_t number;
        struct dbio_sim_actor *actor;
        struct dbio_sim_req *req;
};

struct dbio_sim {
        int64_t now;
        uint64_t number, seed;
        struct dbio_sim_event *events;   /* a heap */
        size_t nevents, room;
        struct dbio_sim_req *free_reqs;
        void *chunks;
        bool failed;                     /* out of memory: seen by the backend, which then reports broken */
};

/* Time 0, nothing in flight. release frees the requests too, also those still in flight. */
void dbio_sim_init(struct dbio_sim *sim, uint64_t seed);
void dbio_sim_release(struct dbio_sim *sim);

/* Lets actor get req at time (not before now). */
void dbio_sim_at(struct dbio_sim *sim, int64_t time, struct dbio_sim_actor *actor, struct dbio_sim_req *req);
/* Moves to the next event and carries it out; false where there is none at or before limit. */
bool dbio_sim_step(struct dbio_sim *sim, int64_t limit);

/* Zeroed but for arrived = now; never NULL (out of memory ends in a spare one and failed). */
struct dbio_sim_req *dbio_sim_req_new(struct dbio_sim *sim);
static inline void dbio_sim_req_free(struct dbio_sim *sim, struct dbio_sim_req *req)
{
        req->next = sim->free_reqs;
        sim->free_reqs = req;
}

struct dbio_sim_queue {
        struct dbio_sim_req *head, *tail;
        unsigned n;
};
static inline void dbio_sim_queue_put(struct dbio_sim_queue *queue, struct dbio_sim_req *req)
{
        req->next = NULL;
        if (queue->tail)
                queue->tail->next = req;
        else
                queue->head = req;
        queue->tail = req;
        queue->n++;
}
static inline struct dbio_sim_req *dbio_sim_queue_take(struct dbio_sim_queue *queue)
{
        struct dbio_sim_req *req = queue->head;

        if (!req)
                return NULL;
        queue->head = req->next;
        if (!queue->head)
                queue->tail = NULL;
        queue->n--;
        return req;
}

/* Random sequences: one a component, seeded from the run's seed and the component's number, so that another component
 * never changes its draws. splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
struct dbio_sim_random {
        uint64_t state;
};
static inline uint64_t dbio_sim_random_next(struct dbio_sim_random *random)
{
        uint64_t z = (random->state += 0x9e3779b97f4a7c15u);

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}
static inline double dbio_sim_random_unit(struct dbio_sim_random *random)
{
        return (double)(dbio_sim_random_next(random) >> 11) * 0x1p-53;
}
/* A component has the same sequence under the same seed, whatever else the stack holds. */
void dbio_sim_random_init(struct dbio_sim_random *random, uint64_t seed, uint64_t component);
/* A factor with median 1 whose logarithm has the standard deviation sigma; 1 where sigma is 0. */
double dbio_sim_random_lognormal(struct dbio_sim_random *random, double sigma);

/* First come, first served on a number of equal servers. As requests come in the order of time and none overtakes,
 * the start of each is known when it comes, and no queue is needed; a station with priorities has one
 * (dbio_sim_line). */
struct dbio_sim_servers {
        int64_t *free_at;                /* a heap by time */
        unsigned n;
};
int dbio_sim_servers_init(struct dbio_sim_servers *servers, unsigned n);
void dbio_sim_servers_release(struct dbio_sim_servers *servers);
/* When a request that comes now and takes `duration` ends. n = 0: any number of servers. */
int64_t dbio_sim_servers_enter(struct dbio_sim_servers *servers, int64_t now, int64_t duration);

/* One server that takes priority 0 before priority 1, but not more than max_passes times in a row while one of
 * priority 1 waits; done gets a request when its duration is over. */
struct dbio_sim_line {
        struct dbio_sim_actor actor;
        struct dbio_sim_queue waiting[2];
        uint64_t passes, max_passes;
        struct dbio_sim_req *busy;
        void (*done)(struct dbio_sim *sim, struct dbio_sim_line *line, struct dbio_sim_req *req);
        void *owner;
};
void dbio_sim_line_init(struct dbio_sim_line *line, void *owner, uint64_t max_passes,
                        void (*done)(struct dbio_sim *, struct dbio_sim_line *, struct dbio_sim_req *));
/* req's duration and priority are set. */
void dbio_sim_line_enter(struct dbio_sim *sim, struct dbio_sim_line *line, struct dbio_sim_req *req);

/* A layer of a device. submit takes a read or write inside its capacity and calls req->done at its end, which may be
 * before submit returns only where it takes no time. */
struct dbio_sim_layer_class {
        const char *name;
        /* NULL: out of memory. `below` is what the layer stands on, for link and cache; it becomes the layer's. */
        struct dbio_sim_layer *(*open)(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                       struct dbio_sim_layer *below, uint64_t component);
        void (*submit)(struct dbio_sim_layer *layer, struct dbio_sim_req *req);
        void (*close)(struct dbio_sim_layer *layer);
        /* For a cache above: the group (mirror pair, disk) that holds an offset, the address in it, and up to where
         * both run on; and a write of a run of one group's addresses. NULL: one group, addresses are offsets. */
        unsigned (*locate)(struct dbio_sim_layer *layer, uint64_t offset, uint64_t *address, uint64_t *run);
        void (*submit_group)(struct dbio_sim_layer *layer, struct dbio_sim_req *req, unsigned group);
};

/* Embedded first. */
struct dbio_sim_layer {
        const struct dbio_sim_layer_class *class;
        struct dbio_sim *sim;
        unsigned groups;                 /* at least 1 */
};

extern const struct dbio_sim_layer_class dbio_sim_disk_class, dbio_sim_ssd_class, dbio_sim_cloud_class,
        dbio_sim_fixed_class, dbio_sim_array_class, dbio_sim_cache_class, dbio_sim_link_class;

/* Medium of a profile, for a device or one member of an array. */
struct dbio_sim_layer *dbio_sim_medium_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                            uint64_t component);
/* The whole stack. component is the first of 1,000 numbers that are the device's. */
struct dbio_sim_layer *dbio_sim_device_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                            uint64_t component);
static inline void dbio_sim_layer_close(struct dbio_sim_layer *layer)
{
        if (layer)
                layer->class->close(layer);
}

/* Flash translation of one device (engine/sim_ftl.c). */
struct dbio_ftl;
struct dbio_ftl_cost {
        unsigned moved, erased;
};
struct dbio_ftl *dbio_ftl_new(const struct dbio_sim_ftl *keys, uint64_t seed);
void dbio_ftl_free(struct dbio_ftl *ftl);
/* Writes a logical page (any number; folded); returns what garbage collection that called for. */
struct dbio_ftl_cost dbio_ftl_write(struct dbio_ftl *ftl, uint64_t page);
/* Whether maps in both directions agree; for tests. */
bool dbio_ftl_check(const struct dbio_ftl *ftl);

/* Extents of one target (engine/sim_layout.c). */
struct dbio_extents;
/* Errors: DBIO_USAGE where the table would be too large. */
int dbio_extents_new(struct dbio_extents **extents, const struct dbio_sim_place *place, uint64_t seed,
                     struct dbio_err *err);
void dbio_extents_free(struct dbio_extents *extents);
/* Device offset of a byte of a file, and how many bytes follow it without a break. */
uint64_t dbio_extents_find(const struct dbio_extents *extents, unsigned file, uint64_t offset, uint64_t *run);

#endif
