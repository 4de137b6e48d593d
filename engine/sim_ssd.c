/* A solid-state disk: a serial command stage, K units, a serial link, and a bounded write buffer.
 *
 * A read is cut into as many chunks as it has pages, at most K; each is read by a unit and crosses the link. A write
 * crosses the link, then takes room in the buffer page by page; it is acknowledged with its last page and programmed
 * behind the host's back, the units in turn. Room comes back when a page is programmed.
 */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>

enum { COMMAND, LINK, END };

struct ssd {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor stages;
        const struct dbio_sim_ssd *keys;
        struct dbio_sim_servers command, link;
        struct dbio_sim_line *units;
        struct dbio_ftl *ftl;
        const struct dbio_sim_ftl *ftl_keys;
        struct dbio_sim_queue waiting; /* for a tag */
        struct dbio_sim_queue writes;  /* for room in the buffer */
        uint64_t taken, buffered, next_unit;
        double ns_per_channel_byte, ns_per_link_byte;
};

static void ssd_start(struct ssd *ssd, struct dbio_sim_req *req)
{
        struct dbio_sim *sim = ssd->layer.sim;

        req->stage = COMMAND;
        dbio_sim_at(sim, dbio_sim_servers_enter(&ssd->command, sim->now, (int64_t)ssd->keys->command), &ssd->stages, req);
}

static void ssd_end(struct ssd *ssd, struct dbio_sim_req *req)
{
        struct dbio_sim_req *next = NULL;

        if (ssd->keys->tags) {
                next = dbio_sim_queue_take(&ssd->waiting);
                if (!next)
                        ssd->taken--;
        }
        if (next)
                ssd_start(ssd, next);
        req->done(ssd->layer.sim, req);
}

/* Rows of K pages lie over the units, each row turned by a number of its own: consecutive pages keep all units busy,
 * and no stride can keep them idle. */
static unsigned unit_of(const struct ssd *ssd, uint64_t page)
{
        uint64_t row = page / ssd->keys->units;
        uint64_t turn = (row * 0x9e3779b97f4a7c15u) >> 32;

        return (unsigned)((page + turn) % ssd->keys->units);
}

static void read_chunks(struct ssd *ssd, struct dbio_sim_req *req)
{
        const struct dbio_sim_ssd *keys = ssd->keys;
        uint64_t page = req->offset / keys->page;
        uint64_t pages = (req->offset + req->length - 1) / keys->page - page + 1;
        uint64_t chunks = req->length <= keys->page ? 1 : pages < keys->units ? pages : keys->units;
        double bytes = (double)req->length / (double)chunks;
        unsigned unit = unit_of(ssd, page);

        req->left = (uint32_t)chunks;
        for (uint64_t i = 0; i < chunks; i++) {
                struct dbio_sim_req *chunk = dbio_sim_req_new(ssd->layer.sim);

                chunk->parent = req;
                chunk->kind = DBIO_READ;
                chunk->duration = (int64_t)keys->read + llround(bytes * ssd->ns_per_channel_byte);
                chunk->length = (uint64_t)llround(bytes);
                dbio_sim_line_enter(ssd->layer.sim, &ssd->units[unit], chunk);
                unit = unit + 1 == keys->units ? 0 : unit + 1;
        }
}

/* Work behind the host's back, on the units in turn; owner is set where it gives back room in the buffer. */
static void background(struct ssd *ssd, int64_t duration, void *owner)
{
        struct dbio_sim_req *job = dbio_sim_req_new(ssd->layer.sim);

        job->kind = DBIO_WRITE;
        job->priority = ssd->keys->reads_first > 0;
        job->duration = duration;
        job->owner = owner;
        dbio_sim_line_enter(ssd->layer.sim, &ssd->units[ssd->next_unit], job);
        ssd->next_unit = ssd->next_unit + 1 == ssd->keys->units ? 0 : ssd->next_unit + 1;
}

static void program(struct ssd *ssd, uint64_t offset, uint64_t bytes)
{
        const struct dbio_sim_ssd *keys = ssd->keys;

        background(ssd, (int64_t)keys->program + llround((double)bytes * ssd->ns_per_channel_byte), ssd);
        if (!ssd->ftl)
                return;

        struct dbio_ftl_cost cost = dbio_ftl_write(ssd->ftl, offset / keys->page);

        for (unsigned i = 0; i < cost.moved; i++)
                background(ssd, (int64_t)(keys->read + keys->program), NULL);
        for (unsigned i = 0; i < cost.erased; i++)
                background(ssd, (int64_t)ssd->ftl_keys->erase, NULL);
}

static void admit(struct ssd *ssd)
{
        const struct dbio_sim_ssd *keys = ssd->keys;
        struct dbio_sim *sim = ssd->layer.sim;

        while (ssd->writes.head && ssd->buffered < keys->buffer_pages) {
                struct dbio_sim_req *req = ssd->writes.head;
                uint64_t at = req->offset + req->cookie; /* cookie: bytes that have their room */
                uint64_t bytes = keys->page - at % keys->page;

                if (bytes > req->length - req->cookie)
                        bytes = req->length - req->cookie;
                ssd->buffered++;
                program(ssd, at, bytes);
                req->cookie += bytes;
                if (req->cookie < req->length)
                        continue;
                dbio_sim_queue_take(&ssd->writes);
                req->stage = END;
                dbio_sim_at(sim, sim->now + (int64_t)keys->host, &ssd->stages, req);
        }
}

static void ssd_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct ssd *ssd = (struct ssd *)((char *)actor - offsetof(struct ssd, stages));

        switch (req->stage) {
        case COMMAND:
                if (req->kind == DBIO_READ) {
                        read_chunks(ssd, req);
                        return;
                }
                req->stage = LINK;
                dbio_sim_at(sim, dbio_sim_servers_enter(&ssd->link, sim->now,
                                                        llround((double)req->length * ssd->ns_per_link_byte)),
                            actor, req);
                return;
        case LINK:
                req->cookie = 0;
                dbio_sim_queue_put(&ssd->writes, req);
                admit(ssd);
                return;
        default:
                ssd_end(ssd, req);
        }
}

static void unit_done(struct dbio_sim *sim, struct dbio_sim_line *line, struct dbio_sim_req *part)
{
        struct ssd *ssd = line->owner;
        struct dbio_sim_req *req = part->parent;

        if (part->kind == DBIO_WRITE) {
                bool room = part->owner;

                dbio_sim_req_free(sim, part);
                if (room) {
                        ssd->buffered--;
                        admit(ssd);
                }
                return;
        }

        /* The link serves in the order of arrival, so the chunk that enters it last leaves it last. */
        int64_t end = dbio_sim_servers_enter(&ssd->link, sim->now, llround((double)part->length * ssd->ns_per_link_byte));

        dbio_sim_req_free(sim, part);
        if (--req->left)
                return;
        req->stage = END;
        dbio_sim_at(sim, end + (int64_t)ssd->keys->host, &ssd->stages, req);
}

static void ssd_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct ssd *ssd = (struct ssd *)layer;

        if (ssd->keys->tags) {
                if (ssd->taken == ssd->keys->tags) {
                        dbio_sim_queue_put(&ssd->waiting, req);
                        return;
                }
                ssd->taken++;
        }
        ssd_start(ssd, req);
}

static void ssd_close(struct dbio_sim_layer *layer)
{
        struct ssd *ssd = (struct ssd *)layer;

        dbio_sim_servers_release(&ssd->command);
        dbio_sim_servers_release(&ssd->link);
        dbio_ftl_free(ssd->ftl);
        free(ssd->units);
        free(ssd);
}

static struct dbio_sim_layer *ssd_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                       struct dbio_sim_layer *below, uint64_t component)
{
        struct ssd *ssd = calloc(1, sizeof *ssd);

        (void)below;
        if (!ssd)
                return NULL;
        ssd->layer.class = &dbio_sim_ssd_class;
        ssd->layer.sim = sim;
        ssd->layer.groups = 1;
        ssd->stages.event = ssd_event;
        ssd->keys = &profile->ssd;
        ssd->ns_per_channel_byte = 1e9 / profile->ssd.channel;
        ssd->ns_per_link_byte = 1e9 / profile->ssd.link;
        ssd->units = calloc(profile->ssd.units, sizeof *ssd->units);
        if (!ssd->units || dbio_sim_servers_init(&ssd->command, 1) || dbio_sim_servers_init(&ssd->link, 1))
                goto fail;
        for (uint64_t i = 0; i < profile->ssd.units; i++)
                dbio_sim_line_init(&ssd->units[i], ssd, profile->ssd.reads_first, unit_done);
        if (profile->has_ftl) {
                struct dbio_sim_random random;

                dbio_sim_random_init(&random, sim->seed, component);
                ssd->ftl_keys = &profile->ftl;
                ssd->ftl = dbio_ftl_new(&profile->ftl, random.state);
                if (!ssd->ftl)
                        goto fail;
        }
        return &ssd->layer;
fail:
        ssd_close(&ssd->layer);
        return NULL;
}

const struct dbio_sim_layer_class dbio_sim_ssd_class = {"ssd", ssd_open, ssd_submit, ssd_close, NULL, NULL};
