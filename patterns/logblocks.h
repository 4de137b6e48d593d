/* A log written in blocks that each begin at a new sector and are never rewritten: SQL Server's and Oracle's.
 *
 * What has been committed and not yet written goes into one block as soon as a write is free; while all writes are in
 * flight commits gather, so the slower the device, the larger the block. With several members every block goes to all
 * of them in parallel and is done when all are.
 */
#ifndef DBIO_PATTERNS_LOGBLOCKS_H
#define DBIO_PATTERNS_LOGBLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/groupcommit.h"
#include "patterns/logring.h"
#include "patterns/pattern.h"

struct dbio_logblocks_spec {
        struct dbio_commit_plan plan;
        uint32_t sector;          /* bytes: unit of size and place; 0 = the target's */
        uint32_t header;          /* bytes of each sector that hold no commit */
        uint32_t max_block;       /* bytes */
        unsigned max_outstanding; /* blocks in flight */
        unsigned writers;         /* what waits at one time is spread over up to so many blocks */
        unsigned segments;        /* parts of the ring that no block crosses */
        uint64_t length;          /* bytes of the ring from the region's beginning; UINT64_MAX = all of it */
};

struct dbio_logblock {
        uint64_t end; /* log position */
        uint64_t offset, due_ns, formed_ns, submitted_ns;
        uint32_t length;
        bool failed;
        unsigned members_left; /* 0 = done */
};

struct dbio_logblocks {
        struct dbio_source source;
        struct dbio_log log;
        struct dbio_logring ring;
        uint32_t sector, header, max_block;
        unsigned max_outstanding, writers, nmembers;
        uint16_t members[DBIO_MEMBERS_MAX];
        uint8_t flags;
        uint64_t packed;     /* log position that blocks have been formed up to */
        uint64_t head, tail; /* blocks by number: head the oldest not durable, tail the next to form */
        unsigned in_flight;  /* blocks */
        unsigned member;     /* of block tail - 1, the next to be issued; nmembers = all are */
        unsigned part;       /* of the ring, that the last durable block lies in */
        uint64_t full;       /* parts that have been filled and left: log switches */
        uint64_t freed_ns;   /* when the last completion made room after all writes were busy */
        unsigned capacity;
        struct dbio_logblock *blocks;
};

/* How long a commit with delayed durability waits for its block to fill. Judgement: the documents say that the block
 * is written when full or after a time, not which. */
#define DBIO_LOG_LAZY_NS 100000000u

/* Makes the stream's one source and fills out. The source's first member is a struct dbio_logblocks. */
int dbio_logblocks_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                           const struct dbio_logblocks_spec *spec, struct dbio_stream *out, struct dbio_err *err);

#endif
