#include "patterns/dirtymap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/common.h"

int dbio_dirty_map_init(struct dbio_dirty_map *map, const struct dbio_space *space, unsigned page, struct dbio_err *err)
{
        uint64_t npages = (space->to - space->from) / page;
        size_t words = npages / 64 + 1;

        *map = (struct dbio_dirty_map){
                .space = *space,
                .page = page,
                .extent = page < DBIO_EXTENT_BYTES ? DBIO_EXTENT_BYTES / page : 1,
                .npages = npages,
                .file_pages = space->file_size / page,
                .lead_pages = space->from % space->file_size / page,
                .old_from = npages,
                .fresh_from = npages,
        };
        map->old = malloc(words * sizeof *map->old);
        map->fresh = malloc(words * sizeof *map->fresh);
        if (!map->old || !map->fresh) {
                dbio_dirty_map_release(map);
                return dbio_err_set(err, DBIO_BUG, "no memory for a dirty map of %" PRIu64 " pages", npages);
        }
        /* Written rather than callocated, so that no page fault falls into a phase. */
        memset(map->old, 0, words * sizeof *map->old);
        memset(map->fresh, 0, words * sizeof *map->fresh);
        return 0;
}

int dbio_dirty_map_join(struct dbio_dirty_map *map, const struct dbio_region *region, const struct dbio_geometry *geometry,
                        unsigned page, struct dbio_err *err)
{
        struct dbio_space space;
        uint64_t align = page < DBIO_EXTENT_BYTES ? DBIO_EXTENT_BYTES : page;

        if (dbio_space_init(&space, region, geometry, align, page, err))
                return -1;
        if (geometry->file_size % align)
                return dbio_err_set(err, DBIO_USAGE, "a file of %" PRIu64 " bytes is no multiple of %" PRIu64,
                                    geometry->file_size, align);
        if (!map->page)
                return dbio_dirty_map_init(map, &space, page, err);
        if (map->page != page || map->space.from != space.from || map->space.to != space.to)
                return dbio_err_set(err, DBIO_USAGE, "dirty_map: streams of one map must have the same page and region");
        return 0;
}

void dbio_dirty_map_release(struct dbio_dirty_map *map)
{
        free(map->old);
        free(map->fresh);
        memset(map, 0, sizeof *map);
}

void dbio_dirty_map_age(struct dbio_dirty_map *map)
{
        uint64_t *bits = map->old;

        map->old = map->fresh;
        map->fresh = bits;
        map->nold = map->nfresh;
        map->old_from = map->fresh_from;
        map->old_to = map->fresh_to;
        map->nfresh = 0;
        map->fresh_from = map->npages;
        map->fresh_to = 0;
}

static bool find_between(const struct dbio_dirty_map *map, uint64_t from, uint64_t to, uint64_t *page)
{
        while (from < to) {
                uint64_t bits = (map->old[from / 64] | map->fresh[from / 64]) >> from % 64;

                if (bits) {
                        *page = from + (unsigned)__builtin_ctzll(bits);
                        return *page < to;
                }
                from = (from / 64 + 1) * 64;
        }
        return false;
}

bool dbio_dirty_map_find(const struct dbio_dirty_map *map, uint64_t from, uint64_t *page)
{
        if (!map->nold && !map->nfresh)
                return false;
        return find_between(map, from, map->npages, page) || find_between(map, 0, from, page);
}

bool dbio_dirty_map_set_old(struct dbio_dirty_map *map, uint64_t page)
{
        if (dbio_dirty_map_is_dirty(map, page))
                return false;
        map->old[page / 64] |= (uint64_t)1 << page % 64;
        map->nold++;
        if (page < map->old_from)
                map->old_from = page;
        if (page >= map->old_to)
                map->old_to = page + 1;
        return true;
}

bool dbio_dirty_map_set_fresh(struct dbio_dirty_map *map, uint64_t page)
{
        if (dbio_dirty_map_is_dirty(map, page))
                return false;
        map->fresh[page / 64] |= (uint64_t)1 << page % 64;
        map->nfresh++;
        if (page < map->fresh_from)
                map->fresh_from = page;
        if (page >= map->fresh_to)
                map->fresh_to = page + 1;
        return true;
}

/* A run of n pages inside one word gets old. True where any was clean. */
static bool set_run_old(struct dbio_dirty_map *map, uint64_t page, unsigned n)
{
        uint64_t word = page / 64, bits = (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1) << page % 64;
        uint64_t clean = bits & ~(map->old[word] | map->fresh[word]);

        map->old[word] |= clean;
        map->nold += (unsigned)__builtin_popcountll(clean);
        if (page < map->old_from)
                map->old_from = page;
        if (page + n > map->old_to)
                map->old_to = page + n;
        return clean;
}

bool dbio_dirty_map_clear(struct dbio_dirty_map *map, uint64_t page)
{
        uint64_t bit = (uint64_t)1 << page % 64;

        if (map->old[page / 64] & bit)
                map->nold--;
        else if (map->fresh[page / 64] & bit)
                map->nfresh--;
        else
                return false;
        map->old[page / 64] &= ~bit;
        map->fresh[page / 64] &= ~bit;
        return true;
}

static bool by_extent(const struct dbio_dirty_maker *maker)
{
        return maker->kind == DBIO_DIRTY_EXTENTS || maker->kind == DBIO_DIRTY_HOT;
}

int dbio_dirty_maker_init(struct dbio_dirty_maker *maker, struct dbio_dirty_map *map, const struct dbio_dirty_plan *plan,
                          struct dbio_err *err)
{
        const struct dbio_dirty_keys *keys = plan->keys;

        *maker = (struct dbio_dirty_maker){
                .map = map,
                .kind = keys->map,
                .stride = keys->stride == DBIO_UNSET || !keys->stride ? 2 : keys->stride,
                .window_pages = plan->window_pages,
        };
        dbio_rng_init(&maker->place, plan->place_seed);
        dbio_rng_init(&maker->rng, plan->dirty_seed);
        if (!maker->window_pages && plan->pages && maker->kind == DBIO_DIRTY_DENSE)
                maker->window_pages = plan->pages;
        if (!maker->window_pages && plan->pages && maker->kind == DBIO_DIRTY_STRIDE)
                maker->window_pages = (plan->pages - 1) * maker->stride + 1;
        if (!maker->window_pages)
                maker->window_pages = map->npages;
        if (by_extent(maker)) /* whole extents */
                maker->window_pages = (maker->window_pages + map->extent - 1) / map->extent * map->extent;
        uint64_t holds = maker->kind == DBIO_DIRTY_STRIDE ? (maker->window_pages + maker->stride - 1) / maker->stride :
                                                            maker->window_pages;
        if (maker->window_pages > map->npages)
                return dbio_err_set(err, DBIO_USAGE,
                                    "dirty: a window of %" PRIu64 " pages is more than the region's %" PRIu64,
                                    maker->window_pages, map->npages);
        if (plan->pages > holds)
                return dbio_err_set(err, DBIO_USAGE, "pages: %" PRIu64 " are more than the window's %" PRIu64, plan->pages,
                                    holds);
        if (maker->kind == DBIO_DIRTY_HOT)
                dbio_pick_init(&maker->pick, plan->skew, maker->window_pages / map->extent, plan->hot_seed);
        if (!isnan(plan->rate_per_s))
                maker->events_per_ns = plan->rate_per_s / 1e9 / (by_extent(maker) ? map->extent : 1);
        dbio_dirty_maker_move(maker);
        map->made = true;
        return 0;
}

void dbio_dirty_maker_move(struct dbio_dirty_maker *maker)
{
        const struct dbio_dirty_map *map = maker->map;
        uint64_t need = (maker->window_pages + map->extent - 1) / map->extent;

        maker->window = dbio_rng_below(&maker->place, map->npages / map->extent - need + 1) * map->extent;
        maker->cursor = 0;
        if (maker->events_per_ns > 0 && maker->kind == DBIO_DIRTY_DENSE)
                maker->cursor = dbio_rng_below(&maker->place, maker->window_pages);
}

void dbio_dirty_maker_begin(struct dbio_dirty_maker *maker, uint64_t pages)
{
        unsigned unit = by_extent(maker) ? maker->map->extent : 1;

        if (!maker->map->nold) {
                maker->map->old_from = maker->map->npages;
                maker->map->old_to = 0;
        }
        maker->units = maker->window_pages / unit;
        maker->want = (pages + unit - 1) / unit;
        maker->rest = pages % unit;
        maker->drawn = 0;
        maker->filled = false;
        maker->inverse = maker->want * 2 > maker->units &&
                         (maker->kind == DBIO_DIRTY_EXTENTS || maker->kind == DBIO_DIRTY_PAGES);
}

/* Makes a unit old, or clean. False where it was so already. */
static bool turn(struct dbio_dirty_maker *maker, uint64_t unit, unsigned pages, bool dirty)
{
        uint64_t page = maker->window + unit * (by_extent(maker) ? maker->map->extent : 1);
        bool changed = false;

        if (dirty && page % 64 + pages <= 64)
                return set_run_old(maker->map, page, pages);
        for (unsigned i = 0; i < pages; i++)
                changed |= dirty ? dbio_dirty_map_set_old(maker->map, page + i) : dbio_dirty_map_clear(maker->map, page + i);
        return changed;
}

static void fill_window(struct dbio_dirty_maker *maker)
{
        struct dbio_dirty_map *map = maker->map;
        uint64_t page = maker->window, end = maker->window + maker->window_pages;

        while (page < end) {
                if (page % 64 || end - page < 64) {
                        dbio_dirty_map_set_old(map, page++);
                        continue;
                }
                map->nold += 64 - (unsigned)__builtin_popcountll(map->old[page / 64] | map->fresh[page / 64]);
                map->old[page / 64] |= ~map->fresh[page / 64];
                page += 64;
        }
        if (maker->window < map->old_from)
                map->old_from = maker->window;
        if (end > map->old_to)
                map->old_to = end;
}

static bool unit_is_dirty(const struct dbio_dirty_maker *maker, uint64_t unit)
{
        return dbio_dirty_map_is_dirty(maker->map, maker->window + unit * (by_extent(maker) ? maker->map->extent : 1));
}

/* The next unit to turn. Under a strong skew what is left may be very rarely drawn, hence the end of patience. */
static uint64_t draw(struct dbio_dirty_maker *maker)
{
        uint64_t unit = 0;

        if (maker->kind == DBIO_DIRTY_DENSE || maker->kind == DBIO_DIRTY_STRIDE) {
                unit = maker->cursor;
                maker->cursor += maker->kind == DBIO_DIRTY_DENSE ? 1 : maker->stride;
                return unit;
        }
        for (int tries = 0; tries < 64; tries++) {
                unit = maker->kind == DBIO_DIRTY_HOT ? dbio_pick_next(&maker->pick, &maker->rng) :
                                                       dbio_rng_below(&maker->rng, maker->units);
                if (unit_is_dirty(maker, unit) == maker->inverse)
                        return unit;
        }
        while (unit_is_dirty(maker, unit) != maker->inverse)
                unit = unit + 1 < maker->units ? unit + 1 : 0;
        return unit;
}

bool dbio_dirty_maker_step(struct dbio_dirty_maker *maker, unsigned budget)
{
        unsigned unit = by_extent(maker) ? maker->map->extent : 1;
        uint64_t turns = maker->inverse ? maker->units - maker->want : maker->want;

        if (maker->inverse && !maker->filled) {
                fill_window(maker);
                maker->filled = true;
        }
        for (; maker->drawn < turns; maker->drawn++) {
                bool last = !maker->inverse && maker->rest && maker->drawn + 1 == turns;

                if (!budget--)
                        return false;
                turn(maker, draw(maker), last ? (unsigned)maker->rest : unit, !maker->inverse);
        }
        if (maker->inverse && maker->rest) {
                uint64_t last;

                do
                        last = dbio_rng_below(&maker->rng, maker->units);
                while (!unit_is_dirty(maker, last));
                for (uint64_t i = maker->rest; i < unit; i++)
                        dbio_dirty_map_clear(maker->map, maker->window + last * unit + i);
                maker->rest = 0;
        }
        return true;
}

uint64_t dbio_dirty_maker_next(struct dbio_dirty_maker *maker, unsigned *pages)
{
        const struct dbio_dirty_map *map = maker->map;
        uint64_t page = maker->window;

        *pages = 1;
        switch (maker->kind) {
        case DBIO_DIRTY_EXTENTS:
                *pages = map->extent;
                return page + dbio_rng_below(&maker->rng, maker->window_pages / map->extent) * map->extent;
        case DBIO_DIRTY_HOT:
                *pages = map->extent;
                return page + dbio_pick_next(&maker->pick, &maker->rng) * map->extent;
        case DBIO_DIRTY_PAGES:
                return page + dbio_rng_below(&maker->rng, maker->window_pages);
        default:
                page += maker->cursor;
                maker->cursor += maker->kind == DBIO_DIRTY_DENSE ? 1 : maker->stride;
                if (maker->cursor >= maker->window_pages)
                        maker->cursor = 0;
                return page;
        }
}

unsigned dbio_dirty_maker_one(struct dbio_dirty_maker *maker)
{
        unsigned pages, n = 0;
        uint64_t page = dbio_dirty_maker_next(maker, &pages);

        for (unsigned i = 0; i < pages; i++)
                n += dbio_dirty_map_set_fresh(maker->map, page + i);
        return n;
}

bool dbio_dirty_maker_advance(struct dbio_dirty_maker *maker, uint64_t now_ns, unsigned budget)
{
        uint64_t due = (uint64_t)(maker->events_per_ns * (double)now_ns);

        for (; maker->events < due; maker->events++) {
                if (!budget--)
                        return false;
                dbio_dirty_maker_one(maker);
        }
        return true;
}

/* Mean pages a write of runs of k extents, k geometric with p, cut at every cap: such a run takes ceil(extent k / cap)
 * writes, which is the sum over j of p^floor(j cap / extent), periodic in j. Where cap is whole extents, the facts'
 * 8(1 + p + … + p^(cap / 8 - 1)). */
static double extents_mean(double p, unsigned cap, unsigned extent)
{
        double pages = 0, writes = 0, power = 1;
        unsigned period = 1;

        while (period * cap % extent)
                period++;
        for (unsigned k = 0, j = 0; k < period * cap / extent; k++, power *= p) {
                pages += extent * power;
                for (; j < period && j * cap / extent == k; j++)
                        writes += power;
        }
        return pages / writes;
}

double dbio_dirty_density(int kind, double pages_per_write, unsigned cap, unsigned extent)
{
        double low = 0, high = 1;

        if (kind == DBIO_DIRTY_PAGES)
                return pages_per_write >= 1 && pages_per_write <= cap ? 1 - 1 / pages_per_write : NAN;
        if (kind != DBIO_DIRTY_EXTENTS || pages_per_write < extents_mean(0, cap, extent) || pages_per_write > cap)
                return NAN;
        if (pages_per_write == cap || pages_per_write == extents_mean(0, cap, extent))
                return pages_per_write == cap ? 1 : 0;
        for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;

                if (extents_mean(middle, cap, extent) < pages_per_write)
                        low = middle;
                else
                        high = middle;
        }
        return (low + high) / 2;
}

int dbio_dirty_keys_density(const struct dbio_dirty_keys *keys, unsigned cap, unsigned extent, double *density,
                            struct dbio_err *err)
{
        double wanted = keys->pages_per_write;

        *density = dbio_is_set(wanted) ? dbio_dirty_density(keys->map, wanted, cap, extent) : keys->density;
        if (dbio_is_set(wanted) && isnan(*density))
                return dbio_key_error(err, "dirty.pages_per_write",
                                      "%g pages a write is out of reach: at least %g, at most %u (max_pages_per_write)", wanted,
                                      keys->map == DBIO_DIRTY_EXTENTS ? extents_mean(0, cap, extent) : 1, cap);
        return 0;
}

int dbio_dirty_keys_check(const struct dbio_stream_keys *keys, struct dbio_err *err)
{
        const struct dbio_dirty_keys *dirty = &keys->dirty;
        bool chance = dirty->map == DBIO_DIRTY_EXTENTS || dirty->map == DBIO_DIRTY_PAGES;

        if (dirty->stride != DBIO_UNSET && dirty->map != DBIO_DIRTY_STRIDE)
                return dbio_key_error(err, "dirty.stride", "stride belongs to map stride");
        if (keys->skew.kind != DBIO_SKEW_UNIFORM && dirty->map != DBIO_DIRTY_HOT)
                return dbio_key_error(err, "skew", "skew belongs to map hot");
        if (dbio_is_set(dirty->density) && !chance && dirty->map != DBIO_DIRTY_HOT)
                return dbio_key_error(err, "dirty.density", "the map has no density; extents, pages and hot have");
        if (!dbio_is_set(dirty->pages_per_write))
                return 0;
        if (dbio_is_set(dirty->density))
                return dbio_key_error(err, "dirty.pages_per_write", "density and pages_per_write exclude each other");
        if (!chance)
                return dbio_key_error(err, "dirty.pages_per_write", "only maps extents and pages have pages_per_write");
        return 0;
}
