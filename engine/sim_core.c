#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_REQS = 256 };

struct chunk {
        struct chunk *next;
        struct dbio_sim_req reqs[CHUNK_REQS];
};

void dbio_sim_init(struct dbio_sim *sim, uint64_t seed)
{
        memset(sim, 0, sizeof *sim);
        sim->seed = seed;
}

void dbio_sim_release(struct dbio_sim *sim)
{
        struct chunk *chunk = sim->chunks;

        while (chunk) {
                struct chunk *next = chunk->next;

                free(chunk);
                chunk = next;
        }
        free(sim->events);
        memset(sim, 0, sizeof *sim);
}

struct dbio_sim_req *dbio_sim_req_new(struct dbio_sim *sim)
{
        static _Thread_local struct dbio_sim_req spare;
        struct dbio_sim_req *req = sim->free_reqs;

        if (!req) {
                struct chunk *chunk = malloc(sizeof *chunk);

                if (!chunk) {
                        sim->failed = true;
                        return &spare;
                }
                chunk->next = sim->chunks;
                sim->chunks = chunk;
                for (int i = 0; i < CHUNK_REQS; i++)
                        dbio_sim_req_free(sim, &chunk->reqs[i]);
                req = sim->free_reqs;
        }
        sim->free_reqs = req->next;
        memset(req, 0, sizeof *req);
        req->arrived = sim->now;
        return req;
}

static inline bool earlier(const struct dbio_sim_event *a, const struct dbio_sim_event *b)
{
        return a->time != b->time ? a->time < b->time : a->number < b->number;
}

void dbio_sim_at(struct dbio_sim *sim, int64_t time, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct dbio_sim_event event = {time, sim->number++, actor, req};
        size_t at = sim->nevents;

        if (at == sim->room) {
                size_t room = sim->room ? 2 * sim->room : 1024;
                struct dbio_sim_event *events = realloc(sim->events, room * sizeof *events);

                if (!events) {
                        sim->failed = true;
                        return;
                }
                sim->events = events;
                sim->room = room;
        }
        sim->nevents++;
        while (at) {
                size_t up = (at - 1) / 4;

                if (!earlier(&event, &sim->events[up]))
                        break;
                sim->events[at] = sim->events[up];
                at = up;
        }
        sim->events[at] = event;
}

static void heap_pop(struct dbio_sim *sim)
{
        struct dbio_sim_event *events = sim->events, last = events[--sim->nevents];
        size_t n = sim->nevents, at = 0;

        for (;;) {
                size_t child = 4 * at + 1, end = child + 4 < n ? child + 4 : n, least = child;

                if (child >= n)
                        break;
                for (size_t i = child + 1; i < end; i++)
                        if (earlier(&events[i], &events[least]))
                                least = i;
                if (!earlier(&events[least], &last))
                        break;
                events[at] = events[least];
                at = least;
        }
        events[at] = last;
}

bool dbio_sim_step(struct dbio_sim *sim, int64_t limit)
{
        if (!sim->nevents || sim->events[0].time > limit)
                return false;

        struct dbio_sim_event event = sim->events[0];

        heap_pop(sim);
        if (event.time > sim->now)
                sim->now = event.time;
        event.actor->event(sim, event.actor, event.req);
        return true;
}

void dbio_sim_random_init(struct dbio_sim_random *random, uint64_t seed, uint64_t component)
{
        random->state = seed;
        random->state = dbio_sim_random_next(random) ^ (component * 0xd6e8feb86659fd93u);
        random->state = dbio_sim_random_next(random);
}

double dbio_sim_random_lognormal(struct dbio_sim_random *random, double sigma)
{
        if (sigma == 0)
                return 1;

        double u = 1 - dbio_sim_random_unit(random), v = dbio_sim_random_unit(random);

        return exp(sigma * sqrt(-2 * log(u)) * cos(2 * M_PI * v));
}

int dbio_sim_servers_init(struct dbio_sim_servers *servers, unsigned n)
{
        servers->n = n;
        servers->free_at = n ? calloc(n, sizeof *servers->free_at) : NULL;
        return n && !servers->free_at ? -1 : 0;
}

void dbio_sim_servers_release(struct dbio_sim_servers *servers)
{
        free(servers->free_at);
        memset(servers, 0, sizeof *servers);
}

int64_t dbio_sim_servers_enter(struct dbio_sim_servers *servers, int64_t now, int64_t duration)
{
        int64_t *free_at = servers->free_at;
        unsigned n = servers->n, at = 0;

        if (!n)
                return now + duration;

        int64_t end = (free_at[0] > now ? free_at[0] : now) + duration;

        for (;;) {
                unsigned child = 2 * at + 1;

                if (child >= n)
                        break;
                if (child + 1 < n && free_at[child + 1] < free_at[child])
                        child++;
                if (free_at[child] >= end)
                        break;
                free_at[at] = free_at[child];
                at = child;
        }
        free_at[at] = end;
        return end;
}

static void line_next(struct dbio_sim *sim, struct dbio_sim_line *line)
{
        bool passed_over = line->waiting[1].head && line->passes >= line->max_passes;
        struct dbio_sim_req *req = passed_over ? NULL : dbio_sim_queue_take(&line->waiting[0]);

        if (req) {
                line->passes += line->waiting[1].head != NULL;
        } else {
                req = dbio_sim_queue_take(&line->waiting[1]);
                line->passes = 0;
        }
        line->busy = req;
        if (req)
                dbio_sim_at(sim, sim->now + req->duration, &line->actor, req);
}

static void line_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct dbio_sim_line *line = (struct dbio_sim_line *)actor;

        line_next(sim, line);
        line->done(sim, line, req);
}

void dbio_sim_line_init(struct dbio_sim_line *line, void *owner, uint64_t max_passes,
                        void (*done)(struct dbio_sim *, struct dbio_sim_line *, struct dbio_sim_req *))
{
        memset(line, 0, sizeof *line);
        line->actor.event = line_event;
        line->owner = owner;
        line->max_passes = max_passes;
        line->done = done;
}

void dbio_sim_line_enter(struct dbio_sim *sim, struct dbio_sim_line *line, struct dbio_sim_req *req)
{
        dbio_sim_queue_put(&line->waiting[req->priority], req);
        if (!line->busy)
                line_next(sim, line);
}
