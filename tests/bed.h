/* A test bed for one or more streams made from a pattern and its own keys in YAML, without a workload around them. */
#ifndef DBIO_TESTS_BED_H
#define DBIO_TESTS_BED_H

#include "patterns/dirtymap.h"
#include "patterns/pattern.h"
#include "tests/play.h"

#define BED_STREAMS 8

struct bed {
        struct dbio_geometry targets[4]; /* 8 GiB in one file each, sectors of 512, unless changed */
        unsigned pages[4];               /* 8192 */
        uint64_t duration_ns;            /* UINT64_MAX unless changed */
        uint64_t seed;
        struct dbio_stream streams[BED_STREAMS];
        unsigned nstreams;
        struct dbio_dirty_map map;       /* the one shared map */
        void *configs[BED_STREAMS];
        struct dbio_doc *docs[BED_STREAMS];
        struct dbio_err err;
        struct play play;
};

void bed_init(struct bed *bed);
/* Keys that streams share, at their defaults: target 0, 1 thread, closed loop. */
struct dbio_stream_keys bed_keys(void);
/* Adds a stream called name; its own keys from yaml ("" = all defaults; no presets). -1 with bed->err where a check or
 * compile fails. Streams and targets are named s0 s1 … and t0 t1 … in keys. */
int bed_add(struct bed *bed, const char *name, const char *pattern, const struct dbio_stream_keys *keys, const char *yaml);
/* Plays them until until_ns. */
void bed_play(struct bed *bed, uint64_t until_ns, uint64_t latency_ns);
void bed_release(struct bed *bed);

#endif
