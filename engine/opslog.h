/* The log of every op that was carried out (`--ops-log`): workers pack ops into rings, the thread that ticks writes
 * them to a file, a reader gives them back. About 20 bytes an op.
 *
 * The file: "dbioops1", then blocks {u32 type, u32 bytes, u32 CRC-32 of the payload, payload}, little-endian. PHASE: the
 * phase's name, the numbers of streams and targets, their names. OPS: u32 number of ops, then each as varints, times
 * against the op before it in the block.
 */
#ifndef DBIO_ENGINE_OPSLOG_H
#define DBIO_ENGINE_OPSLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/ring.h"
#include "engine/schedule.h"

#define DBIO_OPSLOG_MAGIC "dbioops1"

/* One op. Times are ns from the phase's start. */
struct dbio_opslog_op {
        struct dbio_op op;    /* due_ns and cookie are not kept */
        uint32_t stream;
        uint64_t seq;         /* of its source, in the order of issue, from 0 */
        uint64_t intended_ns, submitted_ns, completed_ns;
        int error;            /* errno; 0 = done */
};

/* ----- a worker's side: nothing is allocated after init, nothing blocks ----- */

#define DBIO_OPSLOG_BLOCK 8192u

struct dbio_opslog_buffer {
        struct dbio_ring ring;
        uint64_t logged, lost; /* lost: the ring was full */
        void (*make_room)(void *user); /* drains the ring when it is full (one thread); NULL: ops are lost */
        void *user;
        uint32_t used, nr;
        uint64_t last_ns;
        unsigned char block[DBIO_OPSLOG_BLOCK];
};

int dbio_opslog_buffer_init(struct dbio_opslog_buffer *buffer); /* -1: out of memory */
void dbio_opslog_buffer_release(struct dbio_opslog_buffer *buffer);
void dbio_opslog_add(struct dbio_opslog_buffer *buffer, const struct dbio_opslog_op *op);
void dbio_opslog_flush(struct dbio_opslog_buffer *buffer); /* what is in hand goes to the ring */

/* ----- the writer ----- */

struct dbio_opslog;

/* Makes the file, which must not exist. DBIO_IO. */
int dbio_opslog_open(struct dbio_opslog **log, const char *path, struct dbio_err *err);
void dbio_opslog_phase(struct dbio_opslog *log, const struct dbio_schedule *schedule, const struct dbio_phase *phase);
/* Writes what is in the buffer's ring; not on the worker. After an error all is dropped. */
void dbio_opslog_drain(struct dbio_opslog *log, struct dbio_opslog_buffer *buffer);
/* Accepts NULL. DBIO_IO where anything could not be written. */
int dbio_opslog_close(struct dbio_opslog *log, struct dbio_err *err);

/* ----- the reader ----- */

struct dbio_opslog_names {
        const char *phase;
        unsigned nstreams, ntargets;
        const char *const *streams, *const *targets;
};

/* True where the file begins as an ops log does. */
bool dbio_opslog_is(const char *path);

/* Calls row for each op, in the order of the file (each worker's in order of completion). A row that returns other than
 * 0 ends it, and its value is returned. A file cut short gives what is whole, then DBIO_USAGE. */
int dbio_opslog_read(const char *path,
                     int (*row)(void *user, const struct dbio_opslog_names *names, const struct dbio_opslog_op *op),
                     void *user, struct dbio_err *err);

#endif
