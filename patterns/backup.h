/* Backup and restore: one target is read from its beginning on, another written, through a fixed set of buffers. */
#ifndef DBIO_PATTERNS_BACKUP_H
#define DBIO_PATTERNS_BACKUP_H

#include "patterns/flow.h"

struct dbio_copy_plan {
        int from, to;                  /* targets */
        const struct dbio_region *from_region, *to_region; /* NULL = all of the target */
        uint64_t io;                   /* bytes a transfer */
        unsigned buffers;
        double changed;                /* share of 64K extents that are read at all */
        double compression;            /* bytes read for each byte written */
        uint8_t role;
        struct dbio_due_keys due;
};

/* The regions must outlive the stream. DBIO_USAGE where what is read does not fit. */
int dbio_copy_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                      const struct dbio_copy_plan *plan, struct dbio_stream *out, struct dbio_err *err);

#endif
