/* Dirty-page map: which pages of a region are dirty, and what makes them so. Shared by checkpoint, lazy writer and page
 * cleaner of one target where they name the same `dirty_map`. All its users are in one
 * group, so nothing here locks. Memory: two bits a page. Nothing allocates after init.
 *
 * A page is clean, *old* (dirty since before the running episode began) or *fresh* (dirtied since).
 */
#ifndef DBIO_PATTERNS_DIRTYMAP_H
#define DBIO_PATTERNS_DIRTYMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "patterns/dist.h"
#include "patterns/pattern.h"
#include "patterns/region.h"

#define DBIO_EXTENT_BYTES 65536u /* Microsoft, Pages and Extents: 8 pages of 8K */

struct dbio_dirty_map {
        struct dbio_space space;    /* whole extents */
        unsigned page;              /* bytes; 0 = not made yet */
        unsigned extent;            /* pages an extent, at least 1 */
        uint64_t npages;
        uint64_t file_pages;        /* pages a file */
        uint64_t lead_pages;        /* pages of the first file that lie before the region */
        uint64_t *old, *fresh;      /* a bit a page; the two exclude each other */
        uint64_t nold, nfresh;
        uint64_t old_from, old_to;     /* every old page lies in here, and every fresh one in the other */
        uint64_t fresh_from, fresh_to;
        bool made;                     /* a maker makes its pages dirty */
};

/* Zeroed storage becomes a map of the region, which is rounded inward to extents, with every page clean. A map that is
 * made already must agree in page size and region. Errors: DBIO_USAGE. */
int dbio_dirty_map_join(struct dbio_dirty_map *map, const struct dbio_region *region, const struct dbio_geometry *geometry,
                        unsigned page, struct dbio_err *err);
/* The same for a part of a region that is resolved already, a multiple of extents. */
int dbio_dirty_map_init(struct dbio_dirty_map *map, const struct dbio_space *space, unsigned page, struct dbio_err *err);
void dbio_dirty_map_release(struct dbio_dirty_map *map);

/* An episode begins: what is fresh becomes old. Only when nothing is old any more. O(1). */
void dbio_dirty_map_age(struct dbio_dirty_map *map);
/* First dirty page (old or fresh) at or after `from`, round the end of the map; false where all are clean. */
bool dbio_dirty_map_find(const struct dbio_dirty_map *map, uint64_t from, uint64_t *page);

static inline bool dbio_dirty_map_is_dirty(const struct dbio_dirty_map *map, uint64_t page)
{
        return ((map->old[page / 64] | map->fresh[page / 64]) >> page % 64) & 1;
}

/* Each: false and no effect where the page is dirty (set) or clean (clear) already. */
bool dbio_dirty_map_set_old(struct dbio_dirty_map *map, uint64_t page);
bool dbio_dirty_map_set_fresh(struct dbio_dirty_map *map, uint64_t page);
bool dbio_dirty_map_clear(struct dbio_dirty_map *map, uint64_t page);

/* Byte of the target at which a page begins. */
static inline uint64_t dbio_dirty_map_offset(const struct dbio_dirty_map *map, uint64_t page)
{
        return map->space.from + page * map->page;
}

/* What makes pages dirty: a number of them at once before an episode, or at a rate all the time. */
struct dbio_dirty_maker {
        struct dbio_dirty_map *map;
        int kind;                   /* enum dbio_dirty_kind */
        uint64_t stride;
        struct dbio_rng place, rng;
        struct dbio_pick pick;      /* hot: extents of the window */
        uint64_t window, window_pages; /* first page, length */
        uint64_t cursor;            /* dense, stride: next page within the window */
        /* begin and step */
        uint64_t units, want, drawn, rest;
        bool inverse, filled;
        /* advance */
        double events_per_ns;
        uint64_t events;
};

/* Seeds as dbio_rng_seed gives them: of places and pages (of the phase) and of what is hot (of the stream). window_pages
 * 0 = the whole map, or for dense and stride as long as `pages` need. rate_per_s NAN = by dbio_dirty_maker_begin.
 * Errors (DBIO_USAGE): the window is larger than the map. */
struct dbio_dirty_plan {
        const struct dbio_dirty_keys *keys;
        const struct dbio_skew *skew;
        uint64_t pages;             /* an episode's; 0 with a rate */
        uint64_t window_pages;
        double rate_per_s;
        uint64_t place_seed, dirty_seed, hot_seed;
};
int dbio_dirty_maker_init(struct dbio_dirty_maker *maker, struct dbio_dirty_map *map, const struct dbio_dirty_plan *plan,
                          struct dbio_err *err);
/* Draws the window's place anew. */
void dbio_dirty_maker_move(struct dbio_dirty_maker *maker);
/* Exactly `pages` pages of the window are going to be old; step does the work in slices of about `budget` pages and
 * returns true once it is done. The window must be clean (pages of it that are dirty already stay so and count). */
void dbio_dirty_maker_begin(struct dbio_dirty_maker *maker, uint64_t pages);
bool dbio_dirty_maker_step(struct dbio_dirty_maker *maker, unsigned budget);
/* With a rate: lets pages get fresh up to now_ns, at most `budget` events; false where more are due. */
bool dbio_dirty_maker_advance(struct dbio_dirty_maker *maker, uint64_t now_ns, unsigned budget);
/* Draws what gets dirty next, without making it so: the first of *pages pages. A copy of a maker draws the same again,
 * so that a list of what got dirty when needs no memory. */
uint64_t dbio_dirty_maker_next(struct dbio_dirty_maker *maker, unsigned *pages);
/* One more page, or extent, by the maker's kind gets fresh; returns the pages that were clean before. */
unsigned dbio_dirty_maker_one(struct dbio_dirty_maker *maker);

/* The density for which a gather-write at sweep page_id has so many pages on average, 0 = the least that there is; NAN
 * where the map has no closed form (only extents and pages have one) or the mean is out of reach: below what one page
 * or extent gives, over the cap. */
double dbio_dirty_density(int kind, double pages_per_write, unsigned cap, unsigned extent);
/* The density of `dirty` keys: as given, or solved; NAN where neither is given. The keys must have been checked.
 * DBIO_USAGE where pages_per_write is out of reach. */
int dbio_dirty_keys_density(const struct dbio_dirty_keys *keys, unsigned cap, unsigned extent, double *density,
                            struct dbio_err *err);
/* What `dirty` cannot say: density and pages_per_write exclude each other, and belong to maps with chance. */
int dbio_dirty_keys_check(const struct dbio_stream_keys *keys, struct dbio_err *err);

#endif
