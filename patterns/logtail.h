/* A log that is a stream of blocks whose last one is rewritten until it is full, written through the page cache and
 * made durable by fsync: InnoDB's redo log and binlog, PostgreSQL's WAL.
 *
 * Three ways to flush: a *leader* writes all that has been appended, in one piece, and fsyncs it, while later commits
 * wait for the next leader; a *writer* writes what is ready all the time, and a flusher fsyncs back to back.
 * In the device view an op is what reaches the device: what fsync finds dirty in the page cache, in whole blocks of 4K,
 * then the fsync. In the syscall view every write() is an op.
 */
#ifndef DBIO_PATTERNS_LOGTAIL_H
#define DBIO_PATTERNS_LOGTAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "patterns/groupcommit.h"
#include "patterns/logring.h"
#include "patterns/pattern.h"

enum dbio_log_view { DBIO_VIEW_DEVICE, DBIO_VIEW_SYSCALL };
extern const char *const dbio_log_view_names[];

enum dbio_logtail_style { DBIO_LOG_LEADER, DBIO_LOG_WRITER };

struct dbio_logtail_spec {
        struct dbio_commit_plan plan;
        enum dbio_logtail_style style;
        enum dbio_log_view view;
        uint8_t role;
        uint32_t block;       /* bytes: 512, 4096, 8192 */
        uint32_t header;      /* bytes of each block that hold no commit */
        uint32_t write_ahead; /* bytes: InnoDB's log_write_ahead_size; 0 = none */
        uint32_t ready;       /* writer: it writes once so many bytes are ready, or all that is */
        uint64_t length;      /* bytes of the ring from the region's beginning; UINT64_MAX = all of it */
        unsigned segments;    /* files of the ring */
        uint32_t part_header; /* bytes at the beginning of each file, of which the first block is written on a switch */
        uint64_t lazy_ns;     /* plan.lazy: time between fsyncs */
        unsigned sync_every;  /* fsync every so many flushes (sync_binlog); 0 = never */
        uint64_t checkpoint_ns; /* InnoDB: how often the header of a file gets the checkpoint's LSN; 0 = never */
        bool checkpoint_first;  /* … of the first file, else of the one that is being written */
        bool sync_segment;      /* an fsync of its own at the end of each segment */
        bool datasync;
};

struct dbio_logtail_run {
        uint64_t from, to;
        bool sync; /* an fsync of its own follows it */
};

#define DBIO_LOGTAIL_RUNS 64

struct dbio_logtail {
        struct dbio_source source;
        struct dbio_log log;
        struct dbio_logring ring;
        struct dbio_logtail_spec spec;
        uint32_t grain, max_write;
        uint16_t target;
        uint8_t flags;
        uint64_t written;         /* log position in the page cache */
        uint64_t write_ahead_end; /* place in the part up to which blocks are padded */
        uint64_t switches;        /* of the ring, seen by the writer */
        unsigned flushes;         /* since the phase's start */

        unsigned nruns; /* dirty in the page cache */
        struct dbio_logtail_run runs[DBIO_LOGTAIL_RUNS];

        /* The flush that is going on. */
        bool flushing, sync, sync_run, failed;
        unsigned nout, out, open; /* runs to write, the next of them, ops in flight */
        struct dbio_logtail_run outs[DBIO_LOGTAIL_RUNS];
        uint64_t end, due_ns, formed_ns, submitted_ns, idle_ns, synced_ns;

        uint64_t checkpoint_due_ns, checkpointed; /* the next one; log position at the last one */
        unsigned checkpoints;

        /* Syscall view of a writer. */
        bool unsynced; /* a checkpoint has been written */
        bool writing, syncing;
        bool write_failed;  /* since the last fsync */
        uint64_t write_end, settled, sync_end;
        uint64_t write_formed_ns, settled_ns; /* when the write was formed, and the one up to `settled` */
};

/* Makes the stream's one source and fills out; the source is a struct dbio_logtail, followed by what the pattern adds
 * (size bytes in all, at least sizeof(struct dbio_logtail), zeroed). */
int dbio_logtail_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                         const struct dbio_logtail_spec *spec, size_t size, struct dbio_stream *out,
                         struct dbio_err *err);

#endif
