/* Where a stream may go: its region, in bytes of the target's address space, cut at the ends of the target's files. */
#ifndef DBIO_PATTERNS_REGION_H
#define DBIO_PATTERNS_REGION_H

#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"
#include "patterns/field.h"

/* [from, to), both multiples of the alignment asked for. */
struct dbio_space {
        uint64_t from, to, file_size;
};

/* A stream's `region` on a target, rounded inward to `align` bytes (which the sector divides or equals). Errors
 * (DBIO_USAGE): from not below to, beyond the target's end, no room for one op of `op_bytes`, op_bytes no multiple of
 * the target's sector. */
int dbio_space_init(struct dbio_space *space, const struct dbio_region *region, const struct dbio_geometry *geometry,
                    uint64_t align, uint64_t op_bytes, struct dbio_err *err);

/* End of the file that `offset` lies in, but at most the region's: up to there an op may reach. */
static inline uint64_t dbio_space_end(const struct dbio_space *space, uint64_t offset)
{
        uint64_t end = (offset / space->file_size + 1) * space->file_size;

        return end < space->to ? end : space->to;
}

/* Next place at or after `offset` where `bytes` fit before the end of file and region; wraps at the region's end to its
 * beginning. `bytes` must fit somewhere. */
uint64_t dbio_space_fit(const struct dbio_space *space, uint64_t offset, uint64_t bytes);

/* Places for ops of one size, end to end in each file; what is left before a file's end is not used. */
struct dbio_slots {
        uint64_t n; /* their number */
        uint64_t size, from, file_size;
        uint64_t first, middle; /* in the first file that the region touches, and in each after it */
        uint64_t next;          /* where the second file begins */
};
void dbio_slots_init(struct dbio_slots *slots, const struct dbio_space *space, uint64_t size);

static inline uint64_t dbio_slots_offset(const struct dbio_slots *slots, uint64_t i)
{
        if (i < slots->first)
                return slots->from + i * slots->size;
        i -= slots->first;
        return slots->next + i / slots->middle * slots->file_size + i % slots->middle * slots->size;
}

/* Places for streams that allocate: the files of the region in turn, `size` bytes at a time, as proportional fill gives
 * them where files are equally free. Round again at the end. */
struct dbio_stripe {
        struct dbio_space space;
        uint64_t size, per_file, n; /* n = places in all */
        uint64_t first_file, files;
};
/* size must fit into the region. */
void dbio_stripe_init(struct dbio_stripe *stripe, const struct dbio_space *space, uint64_t size);
uint64_t dbio_stripe_offset(const struct dbio_stripe *stripe, uint64_t i);

#endif
