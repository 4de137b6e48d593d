/* Sort runs: written out one after the other, read back all together, each from its beginning. */
#ifndef DBIO_PATTERNS_SORTAREA_H
#define DBIO_PATTERNS_SORTAREA_H

#include "patterns/region.h"

struct dbio_sort_area {
        struct dbio_stripe stripe;  /* of io bytes */
        uint64_t base;              /* first place in it */
        uint64_t ios, run;          /* in all; of one run */
        uint64_t runs;
        uint64_t written, read;     /* ios given */
        uint64_t turn;              /* of the merge: run and place in it */
};

static inline void dbio_sort_area_init(struct dbio_sort_area *area, const struct dbio_stripe *stripe, uint64_t base,
                                       uint64_t ios, uint64_t run)
{
        *area = (struct dbio_sort_area){*stripe, base, ios, run, (ios + run - 1) / run, 0, 0, 0};
}

/* The next io to write; the caller sees to it that written < ios. */
static inline uint64_t dbio_sort_area_write(struct dbio_sort_area *area)
{
        return dbio_stripe_offset(&area->stripe, area->base + area->written++);
}

/* The next io to read: the runs in turn, as a merge of evenly spread keys takes from them. */
static inline uint64_t dbio_sort_area_read(struct dbio_sort_area *area)
{
        uint64_t place;

        do {
                place = area->turn % area->runs * area->run + area->turn / area->runs;
                area->turn++;
        } while (place >= area->ios); /* the last run is the shorter one */
        area->read++;
        return dbio_stripe_offset(&area->stripe, area->base + place);
}

#endif
