#include "engine/payload.h"

#include <stdlib.h>
#include <string.h>

#define SPOILT UINT16_MAX
#define MIXES_MAX 32000

/* What a block holds: twice the number of its mix, and 1 for the duplicate. */
#define OWN_OF(mix) ((uint16_t)(2 * (mix)))
#define DUPLICATE_OF(mix) ((uint16_t)(2 * (mix) + 1))

/* xorshift64* (Vigna 2016): no compressor finds anything in it. */
static uint64_t next(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return *state * 0x2545F4914F6CDD1Du;
}

/* Random up to the compressible share, zeros after it. */
static void fill_block(uint64_t *state, double compressible, unsigned char *block)
{
        size_t noise = (size_t)((1 - compressible) * DBIO_PAYLOAD_BLOCK + 7) & ~(size_t)7;

        for (size_t i = 0; i < noise; i += 8) {
                uint64_t value = next(state);

                memcpy(block + i, &value, 8);
        }
        memset(block + noise, 0, DBIO_PAYLOAD_BLOCK - noise);
}

int dbio_payload_mix(struct dbio_payload *payload, double compressible, double dedup)
{
        struct dbio_payload_mix *mixes = payload->mixes;
        uint64_t state = 0x9E3779B97F4A7C15u; /* the same duplicate in every run and worker */
        unsigned n = payload->nmixes;

        for (unsigned i = 0; i < n; i++)
                if (mixes[i].compressible == compressible && mixes[i].dedup == dedup)
                        return (int)i;
        mixes = n < MIXES_MAX ? realloc(mixes, (n + 1) * sizeof *mixes) : NULL;
        if (!mixes)
                return -1;
        payload->mixes = mixes;
        mixes[n] = (struct dbio_payload_mix){.compressible = compressible, .dedup = dedup};
        fill_block(&state, compressible, mixes[n].duplicate);
        payload->nmixes++;
        return (int)n;
}

int dbio_payload_init(struct dbio_payload *payload, void *memory, size_t bytes, uint64_t seed, double compressible,
                      double dedup)
{
        *payload = (struct dbio_payload){.memory = memory};
        size_t nblocks = bytes / DBIO_PAYLOAD_BLOCK;

        payload->holds = calloc(nblocks + 1, sizeof *payload->holds);
        if (!payload->holds || dbio_payload_mix(payload, compressible, dedup))
                return -1;
        payload->state = seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
        if (!payload->state)
                payload->state = 1;
        payload->counter = next(&payload->state);
        for (size_t i = 0; i < nblocks; i++)
                fill_block(&payload->state, compressible, payload->memory + i * DBIO_PAYLOAD_BLOCK);
        return 0;
}

void dbio_payload_release(struct dbio_payload *payload)
{
        free(payload->holds);
        free(payload->mixes);
        *payload = (struct dbio_payload){0};
}

static uint16_t *holds_at(struct dbio_payload *payload, const unsigned char *at)
{
        return &payload->holds[(size_t)(at - payload->memory) / DBIO_PAYLOAD_BLOCK];
}

void dbio_payload_spoil(struct dbio_payload *payload, void *buffer, uint32_t length)
{
        unsigned char *at = buffer;

        for (uint32_t done = 0; done < length; done += DBIO_PAYLOAD_BLOCK, at += DBIO_PAYLOAD_BLOCK)
                *holds_at(payload, at) = SPOILT;
}

void dbio_payload_stamp(struct dbio_payload *payload, void *buffer, uint32_t length, unsigned number)
{
        const struct dbio_payload_mix *mix = &payload->mixes[number];
        uint16_t own = OWN_OF(number), duplicate = DUPLICATE_OF(number);
        unsigned char *at = buffer;

        for (uint32_t done = 0; done < length; done += DBIO_PAYLOAD_BLOCK, at += DBIO_PAYLOAD_BLOCK) {
                uint16_t *holds = holds_at(payload, at);

                if (mix->dedup > 0 && (double)(next(&payload->state) >> 11) * 0x1p-53 < mix->dedup) {
                        if (*holds != duplicate)
                                memcpy(at, mix->duplicate, DBIO_PAYLOAD_BLOCK);
                        *holds = duplicate;
                        continue;
                }
                if (*holds != own)
                        fill_block(&payload->state, mix->compressible, at);
                *holds = own;
                uint64_t stamp[2] = {++payload->counter, payload->counter * 0x9E3779B97F4A7C15u};

                memcpy(at, stamp, sizeof stamp);
        }
}
