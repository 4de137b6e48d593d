/* A workload's text run on simulated devices through the pacer, the worker and the metrics, its figures added up: what
 * `run` does, without a store. */
#ifndef DBIO_TESTS_SIMRUN_H
#define DBIO_TESTS_SIMRUN_H

#include <stdint.h>

#include "engine/hist.h"
#include "engine/op.h"
#include "engine/run.h"
#include "engine/sim.h"

enum { SIMRUN_PHASES = 8, SIMRUN_STREAMS = 8, SIMRUN_INTERVALS = 4096 };

struct simrun_figures {
        uint64_t ios, bytes;
        struct dbio_hist service, response, wait;
};

struct simrun_stream {
        char name[32];
        struct simrun_figures kinds[DBIO_KINDS];
        uint64_t reads[SIMRUN_INTERVALS]; /* completed in each interval of the grid */
        unsigned episodes;
        struct dbio_episode first;
};

struct simrun_phase {
        char name[32];
        unsigned nstreams;
        struct simrun_stream streams[SIMRUN_STREAMS];
        uint64_t duration_ns;
        struct dbio_limit_use outstanding;
};

struct simrun {
        unsigned nphases;
        struct simrun_phase phases[SIMRUN_PHASES];
        struct dbio_sim_split split; /* over all targets */
        char schedule_hash[65];
        double cpu_s;                /* of the phases */
};

/* bindings: NAME=sim:… texts, ended by NULL. Aborts the test on any error. The result is the caller's to free. */
struct simrun *simrun(const char *workload, const char *const *bindings, uint64_t interval_ns);

/* Aborts the test where there is none. */
struct simrun_stream *simrun_stream(struct simrun *run, const char *phase, const char *stream);

#endif
