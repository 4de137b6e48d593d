/* Ring cursor of a log: strictly rising offsets over the region, round to its beginning at the end.
 *
 * The region is cut at the ends of the target's files and into `segments` equal parts (VLFs, redo log files); an op
 * never crosses a cut, and each part may begin with a header that is skipped. All in bytes of the target's address
 * space, all multiples of `unit`.
 */
#ifndef DBIO_PATTERNS_LOGRING_H
#define DBIO_PATTERNS_LOGRING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"

struct dbio_logring {
        uint64_t from, to;
        uint64_t file_size;
        uint64_t segment; /* bytes a part; the last one takes the rest */
        unsigned segments;
        uint32_t header;   /* bytes skipped at the beginning of a part */
        uint64_t cursor;   /* where the next op goes */
        uint64_t switches; /* parts entered since the phase's start */
        uint64_t laps;     /* times round the ring */
};

/* draw is a random number: the start place is drawn from it, a multiple of `largest` from the region's beginning.
 * DBIO_USAGE where a part cannot hold the largest op. */
int dbio_logring_init(struct dbio_logring *ring, const struct dbio_geometry *geometry, uint64_t from, uint64_t to,
                      unsigned segments, uint32_t header, uint32_t unit, uint32_t largest, uint64_t draw,
                      struct dbio_err *err);
/* Bytes from the cursor to the next cut; never 0, as the cursor goes on to the next part at a cut. */
uint64_t dbio_logring_room(const struct dbio_logring *ring);
/* Where the cursor's part begins (its header, if it has one). */
uint64_t dbio_logring_begin(const struct dbio_logring *ring);
/* The part, numbered from 0, in which a place lies, and its ends. */
unsigned dbio_logring_part(const struct dbio_logring *ring, uint64_t offset, uint64_t *from, uint64_t *to);
/* The place of the next length bytes: here, or in the next part where they would cross a cut. Moves the cursor past
 * them. */
uint64_t dbio_logring_place(struct dbio_logring *ring, uint32_t length);

#endif
