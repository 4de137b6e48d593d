/* Simulated devices: what a profile says (in numbers), which devices a run has, and where its targets lie on them.
 *
 * A device is a stack, from the host down: link, write cache, array, and one kind of medium (for an array: each of its
 * members). Every part is optional but the medium. Profiles are read from YAML by patterns/profile.h. Times are ns,
 * sizes bytes, rates bytes a second.
 *
 * To add a medium: its numbers here, a line in the table of engine/sim_device.c, one file engine/sim_NAME.c, and its
 * keys in patterns/profile.c.
 */
#ifndef DBIO_ENGINE_SIM_H
#define DBIO_ENGINE_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"
#include "engine/target.h"

enum dbio_sim_medium { DBIO_SIM_DISK, DBIO_SIM_SSD, DBIO_SIM_CLOUD, DBIO_SIM_FIXED, DBIO_SIM_MEDIA };

/* A rotating disk without a write cache of its own. Seek time over a distance of d cylinders is a + b√d up to a third
 * of the stroke and linear beyond; a, b and the line follow from the three seek times. */
enum dbio_sim_scheduler { DBIO_SIM_SPTF, DBIO_SIM_FIFO };
struct dbio_sim_disk {
        uint64_t capacity;
        uint64_t rpm, heads, zones;
        double outer, inner;             /* media rate of the outermost and the innermost zone */
        uint64_t seek_track, seek_average, seek_full, head_switch, write_settle, overhead;
        uint64_t read_ahead;             /* bytes that the drive reads on after a read */
        double bus;                      /* rate of its interface */
        uint64_t tags;                   /* commands that the drive itself sees and sorts */
        int scheduler;                   /* enum dbio_sim_scheduler */
        double ageing;                   /* SPTF: a waiting request's positioning time counts for less by this share
                                          * of its age; soft, so that no request starves and none jumps the queue */
};

/* A solid-state disk as K parallel units behind a serial command stage and a serial link. */
struct dbio_sim_ssd {
        uint64_t capacity, units, page;
        uint64_t read, program, command, host; /* a unit's page read and program; each command, serial; each command,
                                                * parallel */
        double channel, link;            /* to and from one unit; to the host */
        uint64_t buffer_pages;           /* acknowledged before they are programmed */
        uint64_t tags;                   /* commands taken at a time (NCQ); 0 = no limit */
        uint64_t reads_first;            /* reads that may go before a program that waits for the same unit; 0 = in turn */
};

/* Page-mapped flash translation with greedy garbage collection. The device's pages are folded onto map_pages. */
struct dbio_sim_ftl {
        double over_provision;           /* spare ÷ user pages */
        uint64_t map_pages, block_pages, erase;
        bool steady;                     /* begins as after long random overwriting, else as after a secure erase */
};

/* A cloud volume: token buckets in series, then a latency. Rates a second; a rate of 0 = no such bucket. */
struct dbio_sim_cloud {
        uint64_t capacity;
        double ops_rate, base_rate, byte_rate;
        uint64_t credits;                /* of the bucket that base_rate refills; ops_rate is the rate while they last */
        uint64_t op_bytes;               /* an op costs one token per so many bytes, rounded up */
        uint64_t latency;                /* median */
        double sigma;                    /* of ln latency */
        uint64_t parallel;               /* ops served at a time; 0 = any number */
};

/* A fixed time a command and a byte, on a number of servers. */
struct dbio_sim_fixed {
        uint64_t capacity;
        uint64_t read, write;            /* a command's time, median where sigma > 0 */
        double rate;                     /* bytes a second of one server; 0 = size does not matter */
        double sigma;                    /* of ln time */
        uint64_t servers;                /* 0 = any number */
};

struct dbio_sim_array {
        int level;                       /* 0, 1, 5, 10 */
        uint64_t members, strip;
        uint64_t side_strips;            /* levels 1 and 10: strips of a long read taken from one side of a pair before
                                          * the other side goes on */
        uint64_t overhead;               /* the controller's own time a command */
};

/* A battery-backed write-back cache in front of the array (or the medium). */
enum dbio_sim_destage { DBIO_SIM_EAGER, DBIO_SIM_WATERMARK, DBIO_SIM_LINEAR };
struct dbio_sim_cache {
        uint64_t size, line;
        uint64_t hit;                    /* to acknowledge a write or to serve a read of dirty lines */
        double bus;
        int policy;                      /* enum dbio_sim_destage */
        uint64_t destage;                /* write commands in flight per group (pair, or whole array) */
        uint64_t coalesce;               /* longest destage write */
        double high, low;                /* watermark: begin and stop, shares of the size */
        uint64_t learn_from, learn_to;   /* write-through while the battery learns: from the run's start; 0, 0 = never */
};

struct dbio_sim_link {
        uint64_t ports;
        double rate;                     /* of one port */
        uint64_t latency;                /* there and back */
};

struct dbio_sim_profile {
        const char *name, *summary;
        const char *trust;               /* one sentence: how far its figures can be trusted */
        const char *text;                /* the YAML */
        char sha256[65];                 /* of text */
        bool has_link, has_cache, has_array, has_ftl, has_hba;
        enum dbio_sim_medium medium;
        struct dbio_sim_link link;
        struct dbio_sim_cache cache;
        struct dbio_sim_array array;
        struct dbio_sim_disk disk;
        struct dbio_sim_ssd ssd;
        struct dbio_sim_ftl ftl;
        struct dbio_sim_cloud cloud;
        struct dbio_sim_fixed fixed;
        struct dbio_hba hba;
        uint64_t flush;                  /* time of an fsync or trim: nothing here keeps unsafe data */
        uint64_t submit_cpu, complete_cpu; /* host's CPU time an io, serial; 0 = only the device counts */
};

/* Bytes that the whole stack holds. */
uint64_t dbio_sim_capacity(const struct dbio_sim_profile *profile);

/* What the layout did to a target's ios; written by the backend. */
struct dbio_sim_split {
        uint64_t ios;    /* reads and writes */
        uint64_t split;  /* those that an extent's end cut */
        uint64_t pieces; /* what they became */
};

/* What people are told of it, without the target's name: "cluster size changed nothing: 0 split I/Os", or how many were
 * split; empty where the layout says nothing of clusters and nothing was split. */
void dbio_sim_split_format(const struct dbio_layout *layout, const struct dbio_sim_split *split, char *text, size_t size);

struct dbio_sim_device {
        const char *name;                /* as in #NAME, else the target's name */
        const struct dbio_sim_profile *profile;
};

/* Where a target lies. */
struct dbio_sim_place {
        unsigned device;                 /* index into devices */
        uint64_t base, file_size;
        unsigned nfiles;
        struct dbio_layout layout;
};

/* All of it for a run. Strings, profiles and split are the builder's and must outlive the backend. */
struct dbio_sim_spec {
        uint64_t seed;
        unsigned ndevices, ntargets;
        struct dbio_sim_device *devices;
        struct dbio_sim_place *targets;  /* in workload order, indexed as dbio_file.target */
        struct dbio_sim_split *split;    /* one a target */
};

/* Bytes that a target takes on its device: with `interleave` and one file, the other file's extents too. */
uint64_t dbio_sim_place_bytes(const struct dbio_layout *layout, uint64_t file_size, unsigned nfiles);

/* Sets base of every place: those on one device after each other, 1 MiB aligned. DBIO_USAGE where they do not fit. */
int dbio_sim_spec_place(struct dbio_sim_spec *spec, const char *const *target_names, struct dbio_err *err);

/* One closed-loop measurement on a fresh device, through the backend. */
struct dbio_sim_probe {
        uint64_t seed, duration_ns, warmup_ns;
        uint64_t span;                   /* bytes from the device's beginning; 0 = all */
        uint32_t length;
        unsigned depth;
        bool write, sequential;
        /* Results: completions after the warm-up. */
        uint64_t ios;
        double iops, mean_ns;
        uint64_t max_ns;
};
int dbio_sim_probe(const struct dbio_sim_profile *profile, struct dbio_sim_probe *probe, struct dbio_err *err);

#endif
