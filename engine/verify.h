/* --verify: every sector of 512 bytes that is written carries a stamp, and what is read is held against what may be
 * there. The unit of judgement is the sector.
 *
 * What may be there: the last write that was over before the read began, or any write that overlapped it or the read.
 * Sectors of failed writes and trims are unknown until a later write succeeds. A sector that no write of this run has
 * touched may hold anything but a stamp of this run (that one was misdirected).
 *
 * The stamp, little-endian, at the sector's beginning: 4 bytes magic, 2 version, 2 target, 8 run, 8 sector in the
 * target, 8 write id, 4 CRC-32C of the whole sector without these four.
 *
 * Thread rule: any worker may call begin, end and the reads; sectors are guarded by spin locks held for 64 of them. The
 * rest is for one thread while no worker runs.
 */
#ifndef DBIO_ENGINE_VERIFY_H
#define DBIO_ENGINE_VERIFY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/target.h"

#define DBIO_VERIFY_SECTOR   512u
#define DBIO_VERIFY_STAMP    36u
#define DBIO_VERIFY_FINDINGS 20u

enum dbio_verify_type {
        DBIO_VERIFY_TORN,        /* torn: other sectors of the same write are there */
        DBIO_VERIFY_LOST,        /* lost: after the run, an older content is there */
        DBIO_VERIFY_STALE,       /* stale: a read during the run got an older content */
        DBIO_VERIFY_MISDIRECTED, /* misdirected: the stamp is of another place */
        DBIO_VERIFY_CORRUPT,     /* corrupt: the checksum is wrong */
        DBIO_VERIFY_TYPES
};

struct dbio_verify_finding {
        enum dbio_verify_type type;
        uint16_t target;
        uint64_t offset;         /* bytes in the target's address space */
        uint64_t expected;       /* the newest write that should be there */
        uint64_t found;          /* the write that is there; 0 = none of this run */
        uint16_t found_target;   /* misdirected: where the stamp says that it belongs */
        uint64_t found_offset;
};

struct dbio_verify_report {
        uint64_t writes;         /* stamped */
        uint64_t read_sectors;   /* judged during the run */
        uint64_t swept_sectors;  /* judged after it */
        uint64_t unknown_sectors; /* left out of the sweep: failed writes, trims, ops that never came back */
        uint64_t wrong[DBIO_VERIFY_TYPES];
        unsigned nfirst;
        struct dbio_verify_finding first[DBIO_VERIFY_FINDINGS];
};

struct dbio_verify;

/* Bytes that it may need at most, for the targets that are written: memory is taken as sectors are touched. */
uint64_t dbio_verify_memory(const struct dbio_targets *targets, const struct dbio_target_spec *specs);

/* For all targets, which must outlive it. DBIO_IO. */
int dbio_verify_new(struct dbio_verify **verify, const struct dbio_targets *targets, struct dbio_err *err);
void dbio_verify_free(struct dbio_verify *verify);

/* A write goes out: its buffer is stamped. Without a buffer it is a trim. Offsets and lengths are multiples of 512. */
void dbio_verify_begin(struct dbio_verify *verify, unsigned target, uint64_t offset, uint32_t length, void *buffer);
/* It is over, wholly done or not. Of a trim, done is false. */
void dbio_verify_end(struct dbio_verify *verify, unsigned target, uint64_t offset, uint32_t length, bool done);

/* What was there when a read began: one entry a sector, the caller's memory (length / 512 entries). */
void dbio_verify_read_begin(struct dbio_verify *verify, unsigned target, uint64_t offset, uint32_t length,
                            uint32_t *before);
/* The read has brought all of buffer. */
void dbio_verify_read_end(struct dbio_verify *verify, unsigned target, uint64_t offset, uint32_t length,
                          const void *buffer, const uint32_t *before);

/* Memory of a worker for what was there when its reads began: n reads of up to max_length bytes. take returns a number
 * above 0 that at and give understand, 0 where there is no room. -1: out of memory. One thread. */
struct dbio_verify_reads {
        uint32_t *memory, *free;
        unsigned n, nfree, stride;
};
int dbio_verify_reads_init(struct dbio_verify_reads *reads, unsigned n, uint64_t max_length);
void dbio_verify_reads_release(struct dbio_verify_reads *reads);
static inline uint32_t dbio_verify_reads_take(struct dbio_verify_reads *reads)
{
        return reads->nfree ? reads->free[--reads->nfree] : 0;
}
static inline uint32_t *dbio_verify_reads_at(const struct dbio_verify_reads *reads, uint32_t number)
{
        return reads->memory + (size_t)(number - 1) * reads->stride;
}
static inline void dbio_verify_reads_give(struct dbio_verify_reads *reads, uint32_t number)
{
        reads->free[reads->nfree++] = number;
}

/* Reads again all that was written, by plain reads of the targets' fds, and judges it. stop and progress may be NULL.
 * DBIO_IO where it cannot be read. */
int dbio_verify_sweep(struct dbio_verify *verify, atomic_int *stop,
                      void (*progress)(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes),
                      void *user, struct dbio_err *err);

/* What was checked and found so far; findings beyond those that are kept are counted alone. */
void dbio_verify_report(const struct dbio_verify *verify, struct dbio_verify_report *report);

/* `torn lost stale misdirected corrupt`, and a finding in one line. */
const char *dbio_verify_type_name(enum dbio_verify_type type);
void dbio_verify_format(const struct dbio_verify_finding *finding, const struct dbio_targets *targets, char *text,
                        size_t size);

#endif
