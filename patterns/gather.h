/* Gather-writes: runs of adjacent dirty pages in one write. */
#ifndef DBIO_PATTERNS_GATHER_H
#define DBIO_PATTERNS_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/dirtymap.h"

struct dbio_gather {
        uint64_t page;    /* first of the run */
        unsigned pages;
        unsigned avoided; /* of them fresh: dirtied after the episode began, and taken along */
};

/* The run around a dirty page: forward from it, then backward, until a clean page, the cap or the file's end. Its pages
 * are clean afterwards. */
struct dbio_gather dbio_gather_take(struct dbio_dirty_map *map, uint64_t page, unsigned cap);

/* Visits the old pages of a map once each: in page order, or in the order of a hash (SQL Server sweeps its buffers, not
 * page numbers, since 7.0). Pages that were taken along meanwhile are passed over.
 *
 * By hash, lots of 8 adjacent pages are visited in the order of a permutation, and of each a random old page is given;
 * then lots of 64, again and again, until none is left. Two pages of a lot come a round apart. As a gather-write mostly
 * takes the whole lot along, that is an eighth of the visits that a permutation of the pages needs, and the runs get as
 * long as with one (within 1 %). */
struct dbio_sweep {
        struct dbio_dirty_map *map;
        uint64_t at, from, to;   /* pages; by hash, at counts lots */
        bool hash;
        unsigned lot, rounds;    /* pages a lot */
        uint64_t first, nlots;
        struct dbio_scatter scatter;
        struct dbio_rng rng;
        uint64_t ahead[64];      /* lots from at on, on their way into the cache, where no random place is */
};
void dbio_sweep_begin(struct dbio_sweep *sweep, struct dbio_dirty_map *map, bool hash, uint64_t seed);
/* 1 and the next old page; 0 when none is left; -1 when `budget` clean places were passed and there may be more. */
int dbio_sweep_next(struct dbio_sweep *sweep, unsigned budget, uint64_t *page);

#endif
