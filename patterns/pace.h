/* When the ops of a planned thread of an open loop are due. */
#ifndef DBIO_PATTERNS_PACE_H
#define DBIO_PATTERNS_PACE_H

#include <stdint.h>

#include "engine/op.h"
#include "patterns/dist.h"

/* Thread `thread` of `threads`: with poisson it has a process of its own with rate / threads; with uniform op k of the
 * stream, k from 0, is due at k / rate and goes to thread k mod threads. rate NAN: closed loop. */
struct dbio_pace {
        double gap_ns; /* poisson: mean gap of this thread; uniform: gap of the stream; 0 = closed loop */
        double at_ns;
        uint64_t k, step;
        bool uniform;
};

static inline void dbio_pace_init(struct dbio_pace *pace, double rate_per_s, bool uniform, unsigned thread, unsigned threads)
{
        *pace = (struct dbio_pace){.uniform = uniform, .k = thread, .step = threads};
        if (!isnan(rate_per_s))
                pace->gap_ns = 1e9 / rate_per_s * (uniform ? 1 : threads);
}

/* The next op's due time, DBIO_NO_DUE in a closed loop. */
static inline uint64_t dbio_pace_next(struct dbio_pace *pace, struct dbio_rng *rng)
{
        if (pace->gap_ns == 0)
                return DBIO_NO_DUE;
        if (pace->uniform) {
                uint64_t due = (uint64_t)llround((double)pace->k * pace->gap_ns);

                pace->k += pace->step;
                return due;
        }
        pace->at_ns += dbio_dist_exponential(rng, pace->gap_ns);
        return (uint64_t)pace->at_ns;
}

#endif
