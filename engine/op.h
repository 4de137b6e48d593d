/* An op: one I/O of the database that is replayed. */
#ifndef DBIO_ENGINE_OP_H
#define DBIO_ENGINE_OP_H

#include <stdint.h>

/* DBIO_COMMIT is no I/O, but has figures of its own. */
enum dbio_kind { DBIO_READ, DBIO_WRITE, DBIO_FSYNC, DBIO_TRIM, DBIO_COMMIT, DBIO_KINDS };

/* What the op is for, in the database's words; the names are in the table of op.c. */
enum dbio_role {
        DBIO_ROLE_IO,          /* io: io.random, io.sequential, a trace that does not say */
        DBIO_ROLE_DATA_READ,   /* data_read: single page reads */
        DBIO_ROLE_READ_AHEAD,  /* read_ahead: scans, prefetch */
        DBIO_ROLE_CHECKPOINT,  /* checkpoint */
        DBIO_ROLE_LAZY_WRITE,  /* lazy_write: evicted pages */
        DBIO_ROLE_EAGER_WRITE, /* eager_write: bulk load, index build */
        DBIO_ROLE_PAGE_FLUSH,  /* page_flush: InnoDB page cleaner, DBWR */
        DBIO_ROLE_DOUBLEWRITE, /* doublewrite */
        DBIO_ROLE_LOG,         /* log: log, redo, WAL writes and their fsyncs and commits */
        DBIO_ROLE_BINLOG,      /* binlog */
        DBIO_ROLE_LOG_READ,    /* log_read: log backup, recovery, archiver reads */
        DBIO_ROLE_ARCHIVE,     /* archive: archived log writes */
        DBIO_ROLE_SORT,        /* sort: sort runs, spills, written and merged */
        DBIO_ROLE_BACKUP,      /* backup: both sides */
        DBIO_ROLE_RESTORE,     /* restore: both sides */
        DBIO_ROLE_RECOVERY,    /* recovery: redo's reads and writes */
        DBIO_ROLE_SNAPSHOT,    /* snapshot: copy on first write */
        DBIO_ROLE_FILE_INIT,   /* file_init: growth, zeroing */
        DBIO_ROLE_SOURCE,      /* source: rows read by a load */
        DBIO_ROLE_INSERT,      /* insert: buffered appends (MyISAM) */
        DBIO_ROLE_PURGE,       /* purge */
        DBIO_ROLE_MERGE,       /* change_buffer_merge */
        DBIO_ROLE_WRITEBACK,   /* writeback: bgwriter, kernel write-back of buffered pages */
        DBIO_ROLES
};

enum dbio_op_flag {
        DBIO_OP_BARRIER = 1,  /* waits for every earlier op of its source, and every later one waits for it */
        DBIO_OP_DSYNC = 2,    /* write-through, however the backend does it */
        DBIO_OP_FUA = 4,      /* as recorded in a trace */
        DBIO_OP_DATASYNC = 8, /* an fsync that is fdatasync */
        DBIO_OP_ZEROES = 32,  /* a write that carries zeroes instead of the payload (not shown in explain) */
        DBIO_OP_C0 = 64,      /* likewise bytes of 0xC0 */
        DBIO_OP_ADJACENT = 16, /* the pattern wants it in one submit call with its neighbours (not shown in explain) */
};

#define DBIO_NO_DUE UINT64_MAX

struct dbio_op {
        uint64_t offset;  /* bytes, in the target's address space (its files end to end); 0 for fsync */
        uint64_t due_ns;  /* planned: due time; reactive: when the rule called for it; DBIO_NO_DUE in closed loops.
                           * From the stream's start. */
        uint64_t cookie;  /* the source's own, given back by done() */
        uint32_t length;  /* bytes; 0 for fsync */
        uint32_t episode; /* from 1, 0 outside one */
        uint16_t target;  /* index into the schedule's targets */
        uint16_t thread;  /* thread of the stream, from 0 */
        uint8_t kind;     /* enum dbio_kind */
        uint8_t role;     /* enum dbio_role */
        uint8_t flags;    /* enum dbio_op_flag */
};

/* The names that users see; NULL outside the enum. find returns -1 where there is no such name. */
const char *dbio_kind_name(unsigned kind);
const char *dbio_role_name(unsigned role);
int dbio_kind_find(const char *name);
int dbio_role_find(const char *name);

/* Writes the flags joined by `+` (empty for none), in the order barrier dsync fua datasync; text has 64 bytes. */
void dbio_op_flags_format(uint8_t flags, char *text);

#endif
