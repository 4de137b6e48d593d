/* Planned ops at random places: what io.random, sqlserver.random_read, lookups and Oracle's single reads have in
 * common. One source a thread, O(1) memory. */
#ifndef DBIO_PATTERNS_RANDOM_H
#define DBIO_PATTERNS_RANDOM_H

#include "patterns/common.h"
#include "patterns/rng.h"

struct dbio_random_plan {
        struct dbio_mix sizes;  /* bytes */
        uint64_t align;         /* of the first place; 0 = page or sector, see dbio_pattern_align */
        double read;            /* share of reads, the rest are writes */
        uint64_t ops;           /* of the whole stream, shared out over the threads; UINT64_MAX = endless */
        uint64_t fsync_every;   /* writes of a thread; DBIO_UNSET = never */
        uint8_t role;
        uint8_t write_flags;    /* enum dbio_op_flag */
};

/* Errors: a region without room for the largest op, memory. plan is not needed afterwards. */
int dbio_random_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                        const struct dbio_random_plan *plan, struct dbio_stream *out, struct dbio_err *err);

/* `rate` in ops/s, where bytes are given by their mean size; NAN in a closed loop. */
double dbio_mix_rate(const struct dbio_mix *sizes, const struct dbio_rate *rate);
/* A mix of one size. */
struct dbio_mix dbio_mix_of(uint64_t size);

/* Index of a size, each with its share. */
static inline unsigned dbio_mix_draw(const struct dbio_mix *mix, struct dbio_rng *rng)
{
        unsigned i = 0;

        if (mix->n > 1) {
                double u = dbio_rng_unit(rng);

                while (i + 1 < mix->n && u >= mix->share[i])
                        u -= mix->share[i++];
        }
        return i;
}

#endif
