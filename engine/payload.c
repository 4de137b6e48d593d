#include "engine/payload.h"

#include <stdlib.h>
#include <string.h>

enum { OWN, DUPLICATE, SPOILT };

/* xorshift64* (Vigna 2016): no compressor finds anything in it. */
static uint64_t next(struct dbio_payload *payload)
{
        payload->state ^= payload->state >> 12;
        payload->state ^= payload->state << 25;
        payload->state ^= payload->state >> 27;
        return payload->state * 0x2545F4914F6CDD1Du;
}

/* Random up to the compressible share, zeros after it. */
static void fill_block(struct dbio_payload *payload, unsigned char *block)
{
        size_t noise = (size_t)((1 - payload->compressible) * DBIO_PAYLOAD_BLOCK + 7) & ~(size_t)7;

        for (size_t i = 0; i < noise; i += 8) {
                uint64_t value = next(payload);

                memcpy(block + i, &value, 8);
        }
        memset(block + noise, 0, DBIO_PAYLOAD_BLOCK - noise);
}

int dbio_payload_init(struct dbio_payload *payload, void *memory, size_t bytes, uint64_t seed, double compressible,
                      double dedup)
{
        *payload = (struct dbio_payload){.compressible = compressible, .dedup = dedup, .memory = memory,
                                         .state = 0x9E3779B97F4A7C15u};
        size_t nblocks = bytes / DBIO_PAYLOAD_BLOCK;

        payload->holds = calloc(nblocks + 1, 1);
        if (!payload->holds)
                return -1;
        fill_block(payload, payload->duplicate); /* the same in every run and worker */
        payload->state = seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
        if (!payload->state)
                payload->state = 1;
        payload->counter = next(payload);
        for (size_t i = 0; i < nblocks; i++)
                fill_block(payload, payload->memory + i * DBIO_PAYLOAD_BLOCK);
        return 0;
}

void dbio_payload_release(struct dbio_payload *payload)
{
        free(payload->holds);
        payload->holds = NULL;
}

static unsigned char *holds_at(struct dbio_payload *payload, const unsigned char *at)
{
        return &payload->holds[(size_t)(at - payload->memory) / DBIO_PAYLOAD_BLOCK];
}

void dbio_payload_spoil(struct dbio_payload *payload, void *buffer, uint32_t length)
{
        unsigned char *at = buffer;

        for (uint32_t done = 0; done < length; done += DBIO_PAYLOAD_BLOCK, at += DBIO_PAYLOAD_BLOCK)
                *holds_at(payload, at) = SPOILT;
}

void dbio_payload_stamp(struct dbio_payload *payload, void *buffer, uint32_t length)
{
        unsigned char *at = buffer;

        for (uint32_t done = 0; done < length; done += DBIO_PAYLOAD_BLOCK, at += DBIO_PAYLOAD_BLOCK) {
                unsigned char *holds = holds_at(payload, at);

                if (payload->dedup > 0 && (double)(next(payload) >> 11) * 0x1p-53 < payload->dedup) {
                        if (*holds != DUPLICATE)
                                memcpy(at, payload->duplicate, DBIO_PAYLOAD_BLOCK);
                        *holds = DUPLICATE;
                        continue;
                }
                if (*holds != OWN)
                        fill_block(payload, at);
                *holds = OWN;
                uint64_t stamp[2] = {++payload->counter, payload->counter * 0x9E3779B97F4A7C15u};

                memcpy(at, stamp, sizeof stamp);
        }
}
