/* Latency governor of a checkpoint's outstanding pages; SQLIOSim documents the running mean. */
#ifndef DBIO_PATTERNS_GOVERNOR_H
#define DBIO_PATTERNS_GOVERNOR_H

#include <stdint.h>

struct dbio_governor {
        double target;       /* pages that may be outstanding now */
        double ceiling;      /* outstanding_pages: where the target begins and which it never passes */
        double mean_ns;      /* running mean of write latency */
        double latency_target_ns, shrink, grow;
};

static inline void dbio_governor_init(struct dbio_governor *governor, uint64_t outstanding_pages, uint64_t latency_target_ns,
                                      double shrink, double grow)
{
        *governor = (struct dbio_governor){
                .target = (double)outstanding_pages,
                .ceiling = (double)outstanding_pages,
                .latency_target_ns = (double)latency_target_ns,
                .shrink = shrink,
                .grow = grow,
        };
}

/* A write has completed; outstanding counts writes, this one included. */
static inline void dbio_governor_done(struct dbio_governor *governor, uint64_t latency_ns, unsigned outstanding)
{
        governor->mean_ns = (governor->mean_ns * (outstanding - 1) + (double)latency_ns) / outstanding;
}

static inline void dbio_governor_poll(struct dbio_governor *governor)
{
        if (governor->mean_ns > governor->latency_target_ns) {
                governor->target *= governor->shrink;
                if (governor->target < 2)
                        governor->target = 2;
        } else {
                governor->target = governor->grow * governor->target + 1;
                if (governor->target > governor->ceiling)
                        governor->target = governor->ceiling;
        }
}

#endif
