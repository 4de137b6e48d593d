/* Random sequences: one per (workload seed, phase, stream, thread), so that adding a stream or a thread never changes
 * another's ops. The generator is xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * 2018), its state filled by splitmix64. Not for secrets. A sequence belongs to one thread.
 */
#ifndef DBIO_PATTERNS_RNG_H
#define DBIO_PATTERNS_RNG_H

#include <stdint.h>

struct dbio_rng {
        uint64_t s[4];
};

/* What a sequence is for, where a stream needs one besides those of its threads; given instead of a thread's number. */
enum dbio_rng_purpose {
        DBIO_RNG_PLACE = 1 << 24, /* starting places, windows of dirty maps */
        DBIO_RNG_DIRTY,           /* which pages get dirty, and when */
        DBIO_RNG_HOT,             /* which places are the hot ones; of the stream, not of the phase */
        DBIO_RNG_SHAPE,           /* fragmentation, segments */
        DBIO_RNG_ARRIVAL,
};

/* 64 bits that depend on all four; phase may be "" for what is the same in all phases. */
uint64_t dbio_rng_seed(uint64_t seed, const char *phase, const char *stream, unsigned thread);
void dbio_rng_init(struct dbio_rng *rng, uint64_t seed);

/* A bijection of 64 bits in which every bit of the result depends on every bit of x (splitmix64's finish). */
static inline uint64_t dbio_rng_mix(uint64_t x)
{
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
}

static inline uint64_t dbio_rng_next(struct dbio_rng *rng)
{
        uint64_t *s = rng->s;
        uint64_t m = s[1] * 5, t = s[1] << 17;
        uint64_t result = ((m << 7) | (m >> 57)) * 9;

        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = (s[3] << 45) | (s[3] >> 19);
        return result;
}

/* Uniform in [0, n), n >= 1. The bias is below n / 2^64. */
static inline uint64_t dbio_rng_below(struct dbio_rng *rng, uint64_t n)
{
        return (uint64_t)(((unsigned __int128)dbio_rng_next(rng) * n) >> 64);
}

/* Uniform in [0, 1), 53 bits. */
static inline double dbio_rng_unit(struct dbio_rng *rng)
{
        return (double)(dbio_rng_next(rng) >> 11) * 0x1p-53;
}

#endif
