/* Drives streams on a virtual clock, as the engine does but for its workers: depth, think, due times, barriers, `after`,
 * wakes. For tests of patterns; every op takes the time that `latency` says and all run at once. */
#ifndef DBIO_TESTS_PLAY_H
#define DBIO_TESTS_PLAY_H

#include "engine/stream.h"

struct play_op {
        struct dbio_op op;
        struct dbio_done done; /* times from the phase's start */
        unsigned stream, source;
        unsigned outstanding;  /* of its stream, this one included */
        uint64_t outstanding_bytes;
};

struct play_commit {
        uint64_t arrived_ns, submitted_ns, durable_ns;
        uint32_t bytes;
        unsigned stream;
};

struct play {
        /* Set by the caller. */
        struct dbio_stream *streams;
        unsigned nstreams;
        uint64_t until_ns;   /* no op is issued from there on */
        uint64_t max_ops;    /* 0 = no limit */
        unsigned batch;      /* ops asked for at once; 0 = 64 */
        uint64_t latency_ns; /* used without latency */
        uint64_t (*latency)(void *user, const struct dbio_op *op, uint64_t now_ns);
        void *user;
        /* Results, in the order of issue. */
        struct play_op *ops;
        uint64_t nops, capacity;
        struct dbio_episode *episodes; /* in the order of their end; streams mixed */
        unsigned *episode_stream, *begun; /* begun: episodes begun, by stream */
        unsigned nepisodes;
        struct play_commit *commits;
        uint64_t ncommits;
        uint64_t end_ns;
        uint64_t *read_bytes; /* by stream */
        struct {
                const char *name;
                uint64_t t_ns;
                double value;
        } gauges[4096];
        unsigned ngauges;
};

void play_run(struct play *play);
void play_release(struct play *play);

#endif
