/* A ring of bytes between one writer and one reader, for records of any size up to a quarter of it. */
#ifndef DBIO_ENGINE_RING_H
#define DBIO_ENGINE_RING_H

#include <stddef.h>
#include <stdint.h>

struct dbio_ring {
        unsigned char *bytes;
        uint64_t size; /* power of two */
        _Alignas(64) _Atomic uint64_t head; /* written; the writer's */
        _Alignas(64) _Atomic uint64_t tail; /* read; the reader's */
};

int dbio_ring_init(struct dbio_ring *ring, uint64_t size); /* -1: out of memory */
void dbio_ring_release(struct dbio_ring *ring);

/* Writer: `size` bytes in one piece, leaving `reserve` free beside them; NULL where there is no room. Commit then makes
 * the first `used` (<= size) of them a record. */
void *dbio_ring_reserve(struct dbio_ring *ring, size_t size, size_t reserve);
void dbio_ring_commit(struct dbio_ring *ring, size_t used);

/* Reader: the oldest record, NULL for none; it stays valid until release_oldest. */
const void *dbio_ring_oldest(struct dbio_ring *ring, size_t *size);
void dbio_ring_release_oldest(struct dbio_ring *ring);

#endif
