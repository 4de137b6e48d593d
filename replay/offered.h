/* What a workload, schedule file or trace asks of the storage, in numbers, without any I/O. */
#ifndef DBIO_REPLAY_OFFERED_H
#define DBIO_REPLAY_OFFERED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/schedule.h"
#include "patterns/workload.h"

/* One stream in one phase. Rates are NAN where the device sets them (closed loops) or the phase has no length of its
 * own; sizes are NAN where there is no such op. */
struct dbio_offered_stream {
        char name[64];
        char target[64];
        bool log;                 /* writes of a log: role log or binlog, or a target that is called so */
        bool closed;              /* closed loop: threads * depth kept outstanding, as fast as the device goes */
        unsigned threads, depth;
        uint64_t think_ns;
        double reads_per_s, writes_per_s, fsyncs_per_s;
        double read_bytes, write_bytes; /* mean of an op */
        double commits_per_s;     /* NAN: none, or not open loop */
        uint64_t sessions;        /* that commit in a closed loop; 0 = none */
        unsigned episodes;        /* in the phase */
        double episode_bytes;     /* mean of an episode */
        double peak_per_s;        /* reads and writes of the busiest second, where ops have due times; else NAN */
};

struct dbio_offered_phase {
        char name[64];
        uint64_t duration_ns;     /* UINT64_MAX = none */
        unsigned nstreams;
        struct dbio_offered_stream *streams;
};

struct dbio_offered {
        unsigned nphases;         /* recorded ones */
        struct dbio_offered_phase *phases;
};

/* Opens each recorded phase and lists its ops on a virtual clock, at most some millions a stream (then a shorter phase
 * stands for it). workload may be NULL (a trace): commits are then not known. */
int dbio_offered_measure(struct dbio_offered *offered, struct dbio_schedule *schedule, const struct dbio_workload *workload,
                         struct dbio_err *err);
void dbio_offered_release(struct dbio_offered *offered);

/* A side's sums over the streams of a phase. */
enum dbio_offered_figure {
        DBIO_OFFERED_READS, DBIO_OFFERED_READ_SIZE, DBIO_OFFERED_WRITES, DBIO_OFFERED_WRITE_SIZE, DBIO_OFFERED_LOG_WRITES,
        DBIO_OFFERED_LOG_BYTES, DBIO_OFFERED_COMMITS, DBIO_OFFERED_FSYNCS, DBIO_OFFERED_DEPTH, DBIO_OFFERED_EPISODE_BYTES,
        DBIO_OFFERED_PEAK, DBIO_OFFERED_FIGURES
};
extern const char *const dbio_offered_names[DBIO_OFFERED_FIGURES];
/* NAN where nothing makes it, or it is not known. */
void dbio_offered_sum(const struct dbio_offered_phase *phase, double figures[DBIO_OFFERED_FIGURES]);

/* A side's phase of the same name, else the one at the same place; NULL = none. */
const struct dbio_offered_phase *dbio_offered_partner(const struct dbio_offered *other, const struct dbio_offered_phase *phase,
                                                      unsigned place);
/* For people: `4,120`, `8.0K`, `-`; `+39 %`, `x 2.0`, `same`, `new`, `gone`. They return text. */
const char *dbio_offered_count(double value, char text[40]);
const char *dbio_offered_bytes(double bytes, char text[40]);
const char *dbio_offered_text(int figure, double value, char text[40]);
const char *dbio_offered_change(double a, double b, char text[40]);

/* dbio_differences of two resolved texts, and a line for each figure that the demands differ in: `offered log bytes/s
 * 1.0M -> 1.4M   (+38 %)`. */
char *dbio_offered_differences(const char *base, const char *new_);

#endif
