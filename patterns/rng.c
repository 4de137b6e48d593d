#include "patterns/rng.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
        for (; *text; text++)
                hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
        return dbio_rng_mix(hash + 0x9e3779b97f4a7c15u); /* mixed, so that "ab","c" differs from "a","bc" */
}

uint64_t dbio_rng_seed(uint64_t seed, const char *phase, const char *stream, unsigned thread)
{
        uint64_t hash = dbio_rng_mix(seed + 0x9e3779b97f4a7c15u);

        hash = hash_text(hash, phase);
        hash = hash_text(hash, stream);
        return dbio_rng_mix(hash ^ ((uint64_t)thread + 1) * 0x9e3779b97f4a7c15u);
}

void dbio_rng_init(struct dbio_rng *rng, uint64_t seed)
{
        for (int i = 0; i < 4; i++)
                rng->s[i] = dbio_rng_mix(seed += 0x9e3779b97f4a7c15u);
}
