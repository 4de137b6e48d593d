/* InnoDB's doublewrite: how a batch of pages gets to the data files (buf0dblwr.cc, fil0fil.cc).
 *
 * From 8.0.20 on every buffer pool instance has a batch of its own in flight: one write of all its pages to a segment
 * of the doublewrite file, an fsync of that unless the file is O_DIRECT, then the pages one by one, then an fsync of
 * the data files. Before, the whole server has one batch: up to 64 pages to the first block in ibdata1, the rest to the
 * second, an fsync always, the pages, an fsync. detect_only writes 8K of page numbers instead of the pages. Off: the
 * pages and the fsync.
 *
 * Where only one batch can be in flight its steps carry barriers; with several, each step is given when the step before
 * it in its own batch is done.
 */
#ifndef DBIO_PATTERNS_DOUBLEWRITE_H
#define DBIO_PATTERNS_DOUBLEWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/stream.h"
#include "patterns/pattern.h"

enum dbio_dblwr_mode { DBIO_DBLWR_ON, DBIO_DBLWR_OFF, DBIO_DBLWR_DETECT_ONLY };
enum dbio_flush_method { DBIO_FLUSH_O_DIRECT, DBIO_FLUSH_O_DIRECT_NO_FSYNC, DBIO_FLUSH_FSYNC };
extern const char *const dbio_dblwr_mode_names[], *const dbio_flush_method_names[];

struct dbio_dblwr_keys {
        int mode, flush_method;
        int to;             /* target, -1 = the stream's own */
        uint64_t pages;     /* innodb_doublewrite_pages */
        uint64_t instances; /* innodb_buffer_pool_instances */
        uint64_t page;      /* bytes */
};

/* Their entries in a field table; presets belong to them. */
/* clang-format off */
#define DBIO_DBLWR_FIELDS(type, m)                                                                                     \
        {"page", DBIO_FIELD_SIZE, offsetof(type, m.page), "16K", 4096, 65536, "bytes of a page", "innodb_page_size",   \
         DBIO_FIELD_POWER_OF_TWO, NULL, NULL},                                                                         \
        {"doublewrite", DBIO_FIELD_ENUM, offsetof(type, m.mode), "on", 0, 0,                                           \
         "whether pages are first written to the doublewrite area", "innodb_doublewrite; detect_only from 8.0.30", 0,  \
         dbio_dblwr_mode_names, NULL},                                                                                 \
        {"doublewrite_to", DBIO_FIELD_TARGET, offsetof(type, m.to), NULL, 0, 0,                                        \
         "target of the doublewrite area; not given: at the beginning of the stream's own", "innodb_doublewrite_dir",  \
         0, NULL, NULL},                                                                                               \
        {"doublewrite_pages", DBIO_FIELD_COUNT, offsetof(type, m.pages), "128", 1, 512,                                \
         "pages of a batch: 120 to 5.7 (64 and 56), 4 in 8.0, 128 in 8.4", "innodb_doublewrite_pages; buf0dblwr.cc", 0,\
         NULL, NULL},                                                                                                  \
        {"buffer_pool_instances", DBIO_FIELD_COUNT, offsetof(type, m.instances), "8", 1, 64,                           \
         "each has a batch of its own in flight from 8.0.20 on", "innodb_buffer_pool_instances, of a pool over 1G", 0, \
         NULL, NULL},                                                                                                  \
        {"flush_method", DBIO_FIELD_ENUM, offsetof(type, m.flush_method), "o_direct", 0, 0,                            \
         "which fsyncs there are: fsync all, o_direct those of the data files, o_direct_no_fsync none",                \
         "innodb_flush_method; fil0fil.cc, buf0dblwr.cc", 0, dbio_flush_method_names, NULL}
#define DBIO_DBLWR_PRESETS                                                                                             \
        {506, "doublewrite_pages", "120"}, {800, "doublewrite_pages", "4"}, {804, "doublewrite_pages", "128"},         \
        {506, "flush_method", "fsync"}, {804, "flush_method", "o_direct"}
/* clang-format on */

struct dbio_dblwr_batch {
        unsigned n;        /* pages */
        uint64_t *offsets; /* bytes in the data target */
};

enum dbio_dblwr_step { DBIO_DBLWR_IDLE, DBIO_DBLWR_W1, DBIO_DBLWR_W2, DBIO_DBLWR_F1, DBIO_DBLWR_PAGES, DBIO_DBLWR_F2 };

struct dbio_dblwr_instance {
        struct dbio_dblwr_batch collect, flight;
        bool forced;               /* collect goes out though it is not full */
        enum dbio_dblwr_step step; /* of flight */
        bool given;                /* the step's op has been given; pages: all of them */
        unsigned next, open;       /* page to be given; ops in flight */
        uint64_t segment;          /* place of its doublewrite */
        uint64_t due_ns;
};

struct dbio_dblwr {
        enum dbio_dblwr_mode mode;
        bool old; /* one batch for the server, two blocks */
        bool fsync_area, fsync_data, barriers;
        uint8_t write_flags; /* of its writes */
        uint8_t role;
        uint16_t data, area; /* targets */
        uint64_t area_from;  /* bytes */
        uint32_t page;
        unsigned batch; /* pages */
        unsigned segments, next_segment;
        unsigned ninstances;
        struct dbio_dblwr_instance *instances;
        uint64_t batches, batch_pages; /* Innodb_dblwr_writes, Innodb_dblwr_pages_written */
        uint64_t flushed;              /* pages on the data files since the phase's start */
};

/* lru: the second file, and its role is lazy_write. Adds the area to out's uses. DBIO_USAGE where it does not fit. */
int dbio_dblwr_init(struct dbio_dblwr *dblwr, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                    const struct dbio_dblwr_keys *own, bool lru, struct dbio_stream *out, struct dbio_err *err);
void dbio_dblwr_release(struct dbio_dblwr *dblwr);

/* Whether the instance that the page (number in the data target) belongs to can take n more pages. */
bool dbio_dblwr_has_room(const struct dbio_dblwr *dblwr, uint64_t page, unsigned n);
void dbio_dblwr_add(struct dbio_dblwr *dblwr, uint64_t page, uint64_t offset, uint64_t now_ns);
/* The end of the cleaner's round: what has been collected goes out. */
void dbio_dblwr_force(struct dbio_dblwr *dblwr, uint64_t now_ns);
/* Nothing is collected or in flight. */
bool dbio_dblwr_is_idle(const struct dbio_dblwr *dblwr);
/* Whether fill has something. */
bool dbio_dblwr_is_ready(const struct dbio_dblwr *dblwr);
unsigned dbio_dblwr_fill(struct dbio_dblwr *dblwr, struct dbio_op *ops, unsigned max);
void dbio_dblwr_done(struct dbio_dblwr *dblwr, const struct dbio_op *op, const struct dbio_done *done);

#endif
