/* A battery-backed write-back cache: a write is acknowledged once its lines are in the cache, and destaged later, in
 * the order of addresses, neighbouring lines together.
 *
 * Lines are kept per group of the layer below (mirror pair, disk, whole array), each in a treap by line number. A line
 * written while it is being destaged is dirty again at the end of that. Writes wait, in their order, for free lines.
 */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

enum { DIRTY, LEAVING, LEAVING_DIRTY };
enum { ARRIVE, END };

struct line {
        uint64_t number;
        uint32_t left, right, state;
};

struct group {
        uint32_t root;
        unsigned destaging; /* commands */
        uint64_t cursor;    /* line number where the sweep goes on */
        uint64_t dirty;     /* lines not on their way out */
};

struct cache {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor stages;
        struct dbio_sim_layer *below;
        const struct dbio_sim_cache *keys;
        struct dbio_sim_servers bus;
        double ns_per_byte;
        struct line *lines;
        uint32_t nlines, used, unused; /* unused: list of free lines through left */
        struct group *groups;
        struct dbio_sim_queue waiting;
        bool draining; /* watermark */
};

/* --- treap: ordered by number, priority a hash of the number --- */

static uint64_t priority(uint64_t number)
{
        number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15u;
        return number ^ (number >> 29);
}

static struct line *find(const struct cache *cache, const struct group *group, uint64_t number)
{
        uint32_t at = group->root;

        while (at != NONE && cache->lines[at].number != number)
                at = number < cache->lines[at].number ? cache->lines[at].left : cache->lines[at].right;
        return at == NONE ? NULL : &cache->lines[at];
}

/* The first line with at least this number, or NULL. */
static struct line *find_from(const struct cache *cache, const struct group *group, uint64_t number)
{
        uint32_t at = group->root, best = NONE;

        while (at != NONE) {
                if (cache->lines[at].number >= number) {
                        best = at;
                        at = cache->lines[at].left;
                } else {
                        at = cache->lines[at].right;
                }
        }
        return best == NONE ? NULL : &cache->lines[best];
}

static void split(struct cache *cache, uint32_t tree, uint64_t number, uint32_t *below, uint32_t *from)
{
        while (tree != NONE) {
                if (cache->lines[tree].number < number) {
                        *below = tree;
                        below = &cache->lines[tree].right;
                        tree = *below;
                } else {
                        *from = tree;
                        from = &cache->lines[tree].left;
                        tree = *from;
                }
        }
        *below = *from = NONE;
}

static struct line *insert(struct cache *cache, struct group *group, uint64_t number)
{
        uint32_t new = cache->unused, *at = &group->root;
        struct line *line = &cache->lines[new];

        cache->unused = line->left;
        cache->used++;
        while (*at != NONE && priority(cache->lines[*at].number) >= priority(number))
                at = number < cache->lines[*at].number ? &cache->lines[*at].left : &cache->lines[*at].right;
        line->number = number;
        split(cache, *at, number, &line->left, &line->right);
        *at = new;
        return line;
}

static void erase(struct cache *cache, struct group *group, uint64_t number)
{
        uint32_t *at = &group->root, gone, low, high;

        while (cache->lines[*at].number != number)
                at = number < cache->lines[*at].number ? &cache->lines[*at].left : &cache->lines[*at].right;
        gone = *at;
        low = cache->lines[gone].left;
        high = cache->lines[gone].right;
        while (low != NONE && high != NONE) {
                if (priority(cache->lines[low].number) >= priority(cache->lines[high].number)) {
                        *at = low;
                        at = &cache->lines[low].right;
                        low = *at;
                } else {
                        *at = high;
                        at = &cache->lines[high].left;
                        high = *at;
                }
        }
        *at = low != NONE ? low : high;
        cache->lines[gone].left = cache->unused;
        cache->unused = gone;
        cache->used--;
}

/* --- addresses --- */

static struct group *locate(const struct cache *cache, uint64_t offset, uint64_t *line, uint64_t *run)
{
        struct dbio_sim_layer *below = cache->below;
        uint64_t address = offset;
        unsigned group = 0;

        *run = UINT64_MAX;
        if (below->class->locate)
                group = below->class->locate(below, offset, &address, run);
        *line = address / cache->keys->line;
        if (*run > cache->keys->line - address % cache->keys->line)
                *run = cache->keys->line - address % cache->keys->line;
        return &cache->groups[group];
}

/* Lines of a request that are in the cache; *all = lines that it touches. */
static uint64_t lines_present(const struct cache *cache, const struct dbio_sim_req *req, uint64_t *all)
{
        uint64_t offset = req->offset, end = req->offset + req->length, present = 0;

        *all = 0;
        while (offset < end) {
                uint64_t number, run;
                struct group *group = locate(cache, offset, &number, &run);

                present += find(cache, group, number) != NULL;
                ++*all;
                offset += run;
        }
        return present;
}

/* --- destaging --- */

static unsigned destage_limit(struct cache *cache)
{
        const struct dbio_sim_cache *keys = cache->keys;
        double share = (double)cache->used / cache->nlines;

        if (keys->policy == DBIO_SIM_EAGER || cache->waiting.n)
                return (unsigned)keys->destage;
        if (keys->policy == DBIO_SIM_LINEAR)
                return (unsigned)ceil(share * (double)keys->destage);
        if (share >= keys->high)
                cache->draining = true;
        else if (share <= keys->low)
                cache->draining = false;
        return cache->draining ? (unsigned)keys->destage : 0;
}

static struct line *next_dirty(const struct cache *cache, const struct group *group, uint64_t number)
{
        struct line *line = find_from(cache, group, number);

        while (line && line->state != DIRTY)
                line = find_from(cache, group, line->number + 1);
        return line;
}

static void destaged(struct dbio_sim *sim, struct dbio_sim_req *req);

static void destage_run(struct cache *cache, unsigned number)
{
        struct group *group = &cache->groups[number];
        struct line *line = next_dirty(cache, group, group->cursor);
        uint64_t window = cache->keys->coalesce / cache->keys->line, first, last;
        struct dbio_sim_req *req = dbio_sim_req_new(cache->layer.sim);

        if (!line)
                line = next_dirty(cache, group, 0);
        first = last = line->number;
        /* Runs end on multiples of the longest one, so that whole rows of an array stay whole. */
        while (line && line->number == last && line->state == DIRTY && last / window == first / window) {
                line->state = LEAVING;
                line = find(cache, group, ++last);
        }
        group->dirty -= last - first;
        group->cursor = last;
        group->destaging++;
        req->owner = cache;
        req->done = destaged;
        req->kind = DBIO_WRITE;
        req->unit = number;
        req->offset = first * cache->keys->line;
        req->length = (last - first) * cache->keys->line;
        /* A layer may use cookie itself. */
        if (cache->below->class->submit_group)
                cache->below->class->submit_group(cache->below, req, number);
        else
                cache->below->class->submit(cache->below, req);
}

static void destage(struct cache *cache, unsigned number)
{
        struct group *group = &cache->groups[number];

        while (group->dirty && group->destaging < destage_limit(cache))
                destage_run(cache, number);
}

/* --- writes --- */

static void take_in(struct cache *cache, struct dbio_sim_req *req)
{
        uint64_t offset = req->offset, end = req->offset + req->length;

        while (offset < end) {
                uint64_t number, run;
                struct group *group = locate(cache, offset, &number, &run);
                struct line *line = find(cache, group, number);

                if (!line) {
                        insert(cache, group, number)->state = DIRTY;
                        group->dirty++;
                } else if (line->state == LEAVING) {
                        line->state = LEAVING_DIRTY;
                }
                offset += run;
        }
        req->stage = END;
        dbio_sim_at(cache->layer.sim, cache->layer.sim->now + (int64_t)cache->keys->hit, &cache->stages, req);
}

static void destage_all(struct cache *cache)
{
        for (unsigned i = 0; i < cache->below->groups; i++)
                destage(cache, i);
}

static void take_in_waiting(struct cache *cache)
{
        bool any = false;

        while (cache->waiting.head) {
                struct dbio_sim_req *req = cache->waiting.head;
                uint64_t all, present = lines_present(cache, req, &all);

                if (all - present > cache->nlines - cache->used)
                        break;
                dbio_sim_queue_take(&cache->waiting);
                take_in(cache, req);
                any = true;
        }
        if (any || cache->waiting.head)
                destage_all(cache);
}

static void destaged(struct dbio_sim *sim, struct dbio_sim_req *req)
{
        struct cache *cache = req->owner;
        struct group *group = &cache->groups[req->unit];
        uint64_t first = req->offset / cache->keys->line, n = req->length / cache->keys->line;
        unsigned number = req->unit;

        for (uint64_t i = first; i < first + n; i++) {
                struct line *line = find(cache, group, i);

                if (line->state == LEAVING_DIRTY) {
                        line->state = DIRTY;
                        group->dirty++;
                } else {
                        erase(cache, group, i);
                }
        }
        group->destaging--;
        dbio_sim_req_free(sim, req);
        take_in_waiting(cache);
        destage(cache, number);
}

static void through_done(struct dbio_sim *sim, struct dbio_sim_req *inner)
{
        struct dbio_sim_req *req = inner->parent;

        dbio_sim_req_free(sim, inner);
        req->done(sim, req);
}

static void go_through(struct cache *cache, struct dbio_sim_req *req)
{
        struct dbio_sim_req *inner = dbio_sim_req_new(cache->layer.sim);

        inner->parent = req;
        inner->done = through_done;
        inner->offset = req->offset;
        inner->length = req->length;
        inner->kind = req->kind;
        cache->below->class->submit(cache->below, inner);
}

static bool learning(const struct cache *cache)
{
        uint64_t now = (uint64_t)cache->layer.sim->now;

        return now >= cache->keys->learn_from && now < cache->keys->learn_to;
}

static void cache_event(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct cache *cache = (struct cache *)((char *)actor - offsetof(struct cache, stages));

        if (req->stage == END) {
                req->done(sim, req);
                return;
        }
        dbio_sim_queue_put(&cache->waiting, req);
        take_in_waiting(cache);
}

static void cache_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct cache *cache = (struct cache *)layer;
        int64_t now = layer->sim->now;
        uint64_t all;
        bool read = req->kind == DBIO_READ;

        if (read ? !cache->used || lines_present(cache, req, &all) < all
                 : learning(cache) || req->length > cache->keys->size / 2) {
                go_through(cache, req);
                return;
        }

        int64_t end = dbio_sim_servers_enter(&cache->bus, now, llround((double)req->length * cache->ns_per_byte));

        req->stage = read ? END : ARRIVE;
        dbio_sim_at(layer->sim, end + (read ? (int64_t)cache->keys->hit : 0), &cache->stages, req);
}

static void cache_close(struct dbio_sim_layer *layer)
{
        struct cache *cache = (struct cache *)layer;

        dbio_sim_layer_close(cache->below);
        dbio_sim_servers_release(&cache->bus);
        free(cache->lines);
        free(cache->groups);
        free(cache);
}

static struct dbio_sim_layer *cache_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                         struct dbio_sim_layer *below, uint64_t component)
{
        const struct dbio_sim_cache *keys = &profile->cache;
        struct cache *cache = calloc(1, sizeof *cache);

        (void)component;
        if (!cache)
                return NULL;
        cache->layer.class = &dbio_sim_cache_class;
        cache->layer.sim = sim;
        cache->layer.groups = 1;
        cache->stages.event = cache_event;
        cache->keys = keys;
        cache->ns_per_byte = 1e9 / keys->bus;
        cache->nlines = (uint32_t)(keys->size / keys->line);
        cache->lines = calloc(cache->nlines, sizeof *cache->lines);
        cache->groups = calloc(below->groups, sizeof *cache->groups);
        if (!cache->lines || !cache->groups || dbio_sim_servers_init(&cache->bus, 1)) {
                cache_close(&cache->layer);
                return NULL;
        }
        for (uint32_t i = 0; i < cache->nlines; i++)
                cache->lines[i].left = i + 1 < cache->nlines ? i + 1 : NONE;
        for (unsigned i = 0; i < below->groups; i++)
                cache->groups[i].root = NONE;
        cache->below = below;
        return &cache->layer;
}

const struct dbio_sim_layer_class dbio_sim_cache_class = {"cache", cache_open, cache_submit, cache_close, NULL, NULL};
