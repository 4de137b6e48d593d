/* A schedule: a compiled workload or an imported trace. Phases of streams, opened one at a time. */
#ifndef DBIO_ENGINE_SCHEDULE_H
#define DBIO_ENGINE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/stream.h"

/* What the adapter allows, per port. 0 = no limit. */
struct dbio_hba {
        unsigned ports;           /* at least 1 where a limit is set */
        unsigned max_outstanding; /* commands, after splitting */
        uint64_t max_transfer;    /* bytes a command */
};

/* Shape of a target, as patterns see it: nfiles files of file_size bytes end to end. */
struct dbio_geometry {
        uint64_t file_size;
        unsigned nfiles;
        unsigned sector; /* bytes: the smallest unit and alignment of an I/O */
};

/* One phase while it is open. */
struct dbio_phase {
        const char *name;
        uint64_t duration_ns; /* UINT64_MAX = until the finite streams have ended */
        uint64_t ops;         /* reads and writes issued over its streams; UINT64_MAX = no such end */
        bool record;
        unsigned nstreams;
        struct dbio_stream *streams;
        void *state; /* the schedule's own */
};

struct dbio_schedule {
        unsigned ntargets, nphases;
        const char *const *target_names;
        const char *const *phase_names;
        uint64_t seed;
        struct dbio_hba hba;
        char hash[65]; /* hex SHA-256: equal hash = equal demand */
        /* Builds the streams of a phase afresh (sequences, cursors, maps, governors). DBIO_USAGE where something does
         * not fit its target. phase_close frees all of it and accepts an empty phase. */
        int (*phase_open)(struct dbio_schedule *schedule, unsigned phase, struct dbio_phase *out, struct dbio_err *err);
        void (*phase_close)(struct dbio_schedule *schedule, struct dbio_phase *phase);
        void (*free)(struct dbio_schedule *schedule);
};

#endif
