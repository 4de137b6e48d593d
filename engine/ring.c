#include "engine/ring.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Before each record stands its size, in 8 bytes; SKIP there means that the rest up to the ring's end is unused. */
#define SKIP UINT64_MAX

int dbio_ring_init(struct dbio_ring *ring, uint64_t size)
{
        *ring = (struct dbio_ring){.bytes = malloc(size), .size = size};
        return ring->bytes ? 0 : -1;
}

void dbio_ring_release(struct dbio_ring *ring)
{
        free(ring->bytes);
        ring->bytes = NULL;
}

static uint64_t *word(struct dbio_ring *ring, uint64_t position)
{
        return (uint64_t *)(void *)(ring->bytes + (position & (ring->size - 1)));
}

void *dbio_ring_reserve(struct dbio_ring *ring, size_t size, size_t reserve)
{
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        uint64_t need = 8 + ((size + 7) & ~(uint64_t)7), room = ring->size - (head - tail);
        uint64_t to_end = ring->size - (head & (ring->size - 1));

        if (need > to_end) {
                if (room < to_end + need + reserve)
                        return NULL;
                *word(ring, head) = SKIP;
                head += to_end;
                atomic_store_explicit(&ring->head, head, memory_order_release);
        } else if (room < need + reserve) {
                return NULL;
        }
        return word(ring, head) + 1;
}

void dbio_ring_commit(struct dbio_ring *ring, size_t used)
{
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

        *word(ring, head) = used;
        atomic_store_explicit(&ring->head, head + 8 + ((used + 7) & ~(uint64_t)7), memory_order_release);
}

const void *dbio_ring_oldest(struct dbio_ring *ring, size_t *size)
{
        for (;;) {
                uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

                if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
                        return NULL;
                if (*word(ring, tail) != SKIP) {
                        *size = *word(ring, tail);
                        return word(ring, tail) + 1;
                }
                atomic_store_explicit(&ring->tail, tail + ring->size - (tail & (ring->size - 1)), memory_order_release);
        }
}

void dbio_ring_release_oldest(struct dbio_ring *ring)
{
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

        atomic_store_explicit(&ring->tail, tail + 8 + ((*word(ring, tail) + 7) & ~(uint64_t)7), memory_order_release);
}
