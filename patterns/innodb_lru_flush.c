/* InnoDB: once a second the tail of each LRU list is looked through for free pages; dirty ones are written, through
 * doublewrite, in the order of the list, which on the device is no order at all. */
#include <math.h>
#include <stdlib.h>

#include "patterns/common.h"
#include "patterns/dirtymap.h"
#include "patterns/doublewrite.h"

#define SECOND_NS 1000000000u

struct config {
        struct dbio_dblwr_keys dblwr;
        uint64_t lru_scan_depth;
        double dirty_tail;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"lru_scan_depth", DBIO_FIELD_COUNT, AT(lru_scan_depth), "1024", 100, 1e6,
         "pages of each instance's LRU tail that are looked at each second", "innodb_lru_scan_depth", 0, NULL, NULL},
        {"dirty_tail", DBIO_FIELD_SHARE, AT(dirty_tail), "10%", 0, 1, "share of them that are dirty", "judgement", 0,
         NULL, NULL},
        DBIO_DBLWR_FIELDS(struct config, dblwr),
        {0},
};

static const struct dbio_preset presets[] = {DBIO_DBLWR_PRESETS, {0}};

struct lru {
        struct dbio_source source;
        struct dbio_dblwr dblwr;
        struct dbio_dirty_map *map; /* NULL: any page of the region is as good */
        struct dbio_space space;
        struct dbio_rng rng;
        uint64_t page, npages;
        double a_second, rest; /* pages; what the last rounds owe */
        uint64_t quota, next_tick_ns;
        bool round, more;
        bool drawn;
        uint64_t victim;
};

/* The next page of the list. With a map a dirty one, found from a place by chance; false where there is none. */
static bool draw(struct lru *self)
{
        if (self->drawn)
                return true;
        self->victim = dbio_rng_below(&self->rng, self->npages);
        self->drawn = !self->map || dbio_dirty_map_find(self->map, self->victim, &self->victim);
        return self->drawn;
}

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct lru *self = (struct lru *)source;

        self->more = false;
        if (!self->round && now_ns >= self->next_tick_ns) {
                self->rest += self->a_second;
                self->quota = (uint64_t)self->rest;
                self->rest -= (double)self->quota;
                self->round = self->quota > 0;
                self->next_tick_ns += SECOND_NS;
                if (self->next_tick_ns < now_ns)
                        self->next_tick_ns = now_ns;
        }
        while (self->quota && draw(self)) {
                uint64_t offset = self->space.from + self->victim * self->page;

                if (!dbio_dblwr_has_room(&self->dblwr, offset / self->page, 1))
                        break;
                if (self->map)
                        dbio_dirty_map_clear(self->map, self->victim);
                dbio_dblwr_add(&self->dblwr, offset / self->page, offset, now_ns);
                self->drawn = false;
                self->quota--;
        }
        if (self->quota && !self->drawn)
                self->quota = 0;
        if (self->round && !self->quota) {
                dbio_dblwr_force(&self->dblwr, now_ns);
                self->round = !dbio_dblwr_is_idle(&self->dblwr);
        }
        return dbio_dblwr_fill(&self->dblwr, ops, max);
}

static void done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct lru *self = (struct lru *)source;

        dbio_dblwr_done(&self->dblwr, op, done_op);
        self->more = self->round;
}

static uint64_t wake(struct dbio_source *source)
{
        struct lru *self = (struct lru *)source;

        if (self->more || dbio_dblwr_is_ready(&self->dblwr))
                return 0;
        return self->round ? UINT64_MAX : self->next_tick_ns;
}

static void free_source(struct dbio_source *source)
{
        dbio_dblwr_release(&((struct lru *)source)->dblwr);
        free(source);
}

static const struct dbio_source_class class = {.fill = fill, .done = done, .wake = wake, .free = free_source};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        (void)opaque;
        if (!keys->dirty_map && (dbio_is_set(keys->dirty.density) || dbio_is_set(keys->dirty.pages_per_write)))
                return dbio_pattern_fault(
                        err, "dirty", "its pages are dirty by dirty_tail, or by the stream whose dirty_map it names");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct lru *self;

        if (dbio_stream_add_sources(out, 1, sizeof *self, &class, err))
                return -1;
        self = (struct lru *)out->sources[0];
        self->page = config->dblwr.page;
        if (keys->dirty_map) {
                self->map = env->dirty_map(env, keys->dirty_map);
                if (!self->map)
                        return dbio_err_set(err, DBIO_BUG, "no memory for dirty map %s", keys->dirty_map);
                if (dbio_dirty_map_join(self->map, &keys->region, &env->targets[keys->target], (unsigned)self->page,
                                        err))
                        return -1;
                self->space = self->map->space;
                if (!self->map->made)
                        self->map = NULL;
        } else if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], self->page, self->page,
                                   err)) {
                return -1;
        }
        self->npages = (self->space.to - self->space.from) / self->page;
        dbio_rng_init(&self->rng, dbio_pattern_seed(env, 0));
        dbio_stream_add_use(out, keys->target, false, true, &self->space);
        if (dbio_dblwr_init(&self->dblwr, env, keys, &config->dblwr, true, out, err))
                return -1;
        self->a_second = (double)(config->dblwr.instances * config->lru_scan_depth) * config->dirty_tail;
        self->next_tick_ns = SECOND_NS;
        out->threads = 1;
        out->load = self->a_second;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        return 0;
}

const struct dbio_pattern dbio_innodb_lru_flush = {
        .name = "innodb.lru_flush",
        .summary = "LRU flushing: dirty pages of the LRU tails, in random order, through doublewrite",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION | DBIO_KEYS_DIRTY,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "lazy_write",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.lru_flush, target: data, dirty_tail: 5%}",
        .takes_dirt = true,
        .check = check,
        .compile = compile,
};
