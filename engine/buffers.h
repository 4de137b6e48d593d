/* Buffers of a worker's writes: a buddy allocator over one piece of memory, blocks of 4 KiB and powers of two of it.
 * One thread; nothing is allocated after init. */
#ifndef DBIO_ENGINE_BUFFERS_H
#define DBIO_ENGINE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#define DBIO_BUFFERS_BLOCK 4096u
#define DBIO_BUFFERS_ORDERS 20

struct dbio_buffers {
        unsigned char *memory;
        uint32_t nblocks;
        unsigned char *state;                /* per block: order + 1 of a free run that begins here, else 0 */
        uint32_t *next, *previous;           /* of free runs */
        uint32_t free[DBIO_BUFFERS_ORDERS];
};

/* memory of `bytes` (rounded down to blocks) stays the caller's. -1: out of memory. */
int dbio_buffers_init(struct dbio_buffers *buffers, void *memory, size_t bytes);
void dbio_buffers_release(struct dbio_buffers *buffers);

/* NULL where there is no room. `length` must be the same at give. */
void *dbio_buffers_take(struct dbio_buffers *buffers, uint32_t length);
void dbio_buffers_give(struct dbio_buffers *buffers, void *buffer, uint32_t length);

/* Bytes that a buffer of this length occupies. */
static inline uint64_t dbio_buffers_round(uint32_t length)
{
        uint64_t bytes = DBIO_BUFFERS_BLOCK;

        while (bytes < length)
                bytes *= 2;
        return bytes;
}

#endif
