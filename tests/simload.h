/* A small load generator over the simulated backend, for its tests: closed loops and bursts in virtual time, with
 * figures of its own. */
#ifndef DBIO_TESTS_SIMLOAD_H
#define DBIO_TESTS_SIMLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sim.h"

enum { SIMLOAD_STREAMS = 4, SIMLOAD_BINS = 4000 };

struct simload_stream {
        unsigned depth;
        uint32_t length;
        bool write, sequential;
        unsigned file;          /* of the place */
        uint64_t span;          /* bytes from its beginning; 0 = all of it */
        uint64_t start_ns, count; /* count 0 = endless */
        /* Results. */
        uint64_t issued, ios;
        double total_ns;        /* of response times */
        uint64_t max_ns, first_ns, last_ns; /* last = time of the last completion */
        uint64_t slow;          /* over slow_ns */
        uint64_t slow_ns;
        unsigned bins[SIMLOAD_BINS]; /* completions in each bin_ns */
};

struct simload {
        const struct dbio_sim_profile *profile;
        struct dbio_layout layout;
        unsigned nfiles;        /* 0 = 1 */
        uint64_t file_size;     /* 0 = what fits */
        uint64_t seed, bin_ns;
        uint64_t end_ns;        /* 0 = when the counted streams are through */
        unsigned nstreams;
        struct simload_stream streams[SIMLOAD_STREAMS];
        /* Results. */
        struct dbio_sim_split split;
        uint64_t inflight;      /* at the end */
        uint64_t digest;        /* over (stream, offset, time) of every completion */
        uint64_t now_ns;
};

/* Aborts the test where the backend fails or time goes back. */
void simload_run(struct simload *load);

/* A copy of the shipped profile for the test to change; kept to the process's end. */
struct dbio_sim_profile *simload_profile(const char *name);

#endif
