/* What writes carry: incompressible and unique by default, so that devices that compress or deduplicate are not
 * flattered. One thread. */
#ifndef DBIO_ENGINE_PAYLOAD_H
#define DBIO_ENGINE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#define DBIO_PAYLOAD_BLOCK 4096u

struct dbio_payload_mix {
        double compressible, dedup; /* shares of 1 */
        unsigned char duplicate[DBIO_PAYLOAD_BLOCK];
};

struct dbio_payload {
        uint64_t state, counter;
        unsigned char *memory;
        uint16_t *holds;            /* per block of memory: a mix's payload of its own, its duplicate, or what was read */
        struct dbio_payload_mix *mixes;
        unsigned nmixes;
};

/* Fills memory (a worker's arena; stays the caller's) for mix 0 of these shares. seed must differ between workers and
 * runs for unique payload. -1: out of memory. */
int dbio_payload_init(struct dbio_payload *payload, void *memory, size_t bytes, uint64_t seed, double compressible,
                      double dedup);
void dbio_payload_release(struct dbio_payload *payload);

/* The number of the mix of these shares, for stamp. Allocates: not while ops go. -1: out of memory. */
int dbio_payload_mix(struct dbio_payload *payload, double compressible, double dedup);

/* A buffer inside that memory is read into: a later write has fresh payload there. */
void dbio_payload_spoil(struct dbio_payload *payload, void *buffer, uint32_t length);

/* Makes a buffer inside that memory ready for a write of a mix: each 4 KiB of it gets a stamp of 16 bytes that occurs
 * nowhere else, or, for the share `dedup`, the content that all duplicates of the mix have. */
void dbio_payload_stamp(struct dbio_payload *payload, void *buffer, uint32_t length, unsigned mix);

#endif
