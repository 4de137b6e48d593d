/* What writes carry: incompressible and unique by default, so that devices that compress or deduplicate are not
 * flattered. One thread. */
#ifndef DBIO_ENGINE_PAYLOAD_H
#define DBIO_ENGINE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define DBIO_PAYLOAD_BLOCK 4096u

struct dbio_payload {
        double compressible, dedup; /* shares of 1 */
        uint64_t state, counter;
        unsigned char *memory;
        unsigned char *holds;       /* per block of memory: payload of its own, the duplicate, or what was read */
        unsigned char duplicate[DBIO_PAYLOAD_BLOCK];
};

/* Fills memory (a worker's arena; stays the caller's). seed must differ between workers and runs for unique payload.
 * -1: out of memory. */
int dbio_payload_init(struct dbio_payload *payload, void *memory, size_t bytes, uint64_t seed, double compressible,
                      double dedup);
void dbio_payload_release(struct dbio_payload *payload);

/* A buffer inside that memory is read into: a later write has fresh payload there. */
void dbio_payload_spoil(struct dbio_payload *payload, void *buffer, uint32_t length);

/* Makes a buffer inside that memory ready for a write: each 4 KiB of it gets a stamp of 16 bytes that occurs nowhere
 * else, or, for the share `dedup`, the content that all duplicates have. */
void dbio_payload_stamp(struct dbio_payload *payload, void *buffer, uint32_t length);

#endif
