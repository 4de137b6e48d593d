/* What the parts of a feed share: the pipeline (tracefeed.c), targets and what fits them (tracetargets.c), schedule files
 * (tracefile.c). */
#ifndef DBIO_REPLAY_TRACEFEED_H
#define DBIO_REPLAY_TRACEFEED_H

#include "replay/trace.h"

struct dbio_trace_file; /* a schedule file that is read */
struct dbio_trace_regions;

struct dbio_trace_sorter {
        struct dbio_trace_event *ring, *heap; /* in order as they came; the others, by time and number */
        uint64_t *numbers, *heap_numbers;
        unsigned head, nring, nheap;
        uint64_t number, last_ns;             /* last_ns: of the last one given */
        bool ended;
};

/* The events of one whole second: the first ones in memory, the others in a file without a name. */
struct dbio_trace_spreader {
        struct dbio_trace_event *events;
        FILE *more;
        uint64_t n, at;                       /* of them, and given */
        struct dbio_trace_event ahead;        /* of the next second */
        bool has_ahead;
};

/* Completions to come, by time: the last that is over is the one that the next issue followed. */
struct dbio_trace_pending {
        uint64_t (*heap)[2];                  /* time, number of the op */
        unsigned n;
        uint64_t last_ns, last_op;            /* last_op: number + 1; 0 = none */
};

struct dbio_trace_feed {
        struct dbio_trace_input input;
        struct dbio_trace_options options;
        char *spec;
        struct dbio_trace_sorter sorter;
        struct dbio_trace_spreader spreader;
        struct dbio_trace_pending pending;
        struct dbio_trace_file *file;         /* instead of input */
        struct dbio_trace_regions *regions;   /* --compact; else NULL */
        char hash[65];
        struct dbio_trace_target *targets;
        unsigned ntargets, room;
        struct last {                         /* per device */
                int32_t target;               /* or a sign of tracetargets.c */
                uint64_t base, offset;        /* of its map */
                uint64_t end[2];
        } *devices;
        unsigned ndevices, device_room;
        bool fitted;
        struct dbio_trace_summary summary;
        uint64_t ops;
        bool started, over;
};

/* Whether every --map can be read. */
int dbio_trace_maps_check(const struct dbio_trace_options *options, struct dbio_err *err);
/* Finds the target of a device at its first use. */
int dbio_trace_map(struct dbio_trace_feed *feed, struct dbio_trace_event *event, uint16_t *target, struct dbio_err *err);
/* The target of that name, made where there is none; -1 without memory. */
int dbio_trace_target_add(struct dbio_trace_feed *feed, const char *name, struct dbio_err *err);
/* Makes an op fit its target. place tells where it stands. */
int dbio_trace_fit(struct dbio_trace_feed *feed, struct dbio_trace_op *op, const char *place, struct dbio_err *err);
void dbio_trace_count_misaligned(struct dbio_trace_summary *summary, const struct dbio_trace_op *op, const char *place);

/* Widens an op to whole sectors. */
void dbio_trace_round(struct dbio_trace_summary *summary, struct dbio_trace_op *op, uint64_t sector);

/* The next event in order of time: 1, 0, -1. */
int dbio_trace_sorted_next(struct dbio_trace_feed *feed, struct dbio_trace_event *event, struct dbio_err *err);
/* Likewise, events stamped with the same whole second spread evenly over it. */
int dbio_trace_spread_next(struct dbio_trace_feed *feed, struct dbio_trace_event *event, struct dbio_err *err);
void dbio_trace_spreader_release(struct dbio_trace_spreader *spreader);

/* Of a schedule file: the next op (1, 0 at the end, -1). */
int dbio_trace_file_next(struct dbio_trace_feed *feed, struct dbio_trace_op *op, struct dbio_err *err);
void dbio_trace_file_close(struct dbio_trace_file *file);

#endif
