/* Which worker carries which sources (design: groups stay together, all is spread by expected load). */
#ifndef DBIO_ENGINE_PLACEMENT_H
#define DBIO_ENGINE_PLACEMENT_H

#include "engine/err.h"
#include "engine/pacer.h"
#include "engine/schedule.h"

struct dbio_placement {
        unsigned nworkers;
        struct dbio_lane_spec *lanes; /* of worker 0, then of worker 1, … each in the order of the phase */
        unsigned *first;              /* nworkers + 1 indexes into lanes */
};

/* At most max_workers, and never more than there are groups and free sources. The same phase gives the same placement.
 * -1: out of memory. */
int dbio_placement_init(struct dbio_placement *placement, const struct dbio_phase *phase, unsigned max_workers);
void dbio_placement_release(struct dbio_placement *placement);

#endif
