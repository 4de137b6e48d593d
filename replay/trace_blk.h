/* What blktrace's binary records and blkparse's lines have in common: one event a step of a request's way, from which the
 * I/O is taken that is to be replayed. Queued: Q, what was asked for, before merging. Issued: D, what the device got. Never
 * both. */
#ifndef DBIO_REPLAY_TRACE_BLK_H
#define DBIO_REPLAY_TRACE_BLK_H

#include "replay/trace.h"

#define DBIO_BLK_NO_DEVICE UINT32_MAX /* major and minor where the lines do not say which */

struct dbio_blk_step {
        uint64_t t_ns, sector, bytes, place;
        uint64_t from_sector;       /* of a remap (A) */
        uint32_t major, minor, from_major, from_minor;
        uint16_t file;
        char action;                /* Q D C A R; others are left out */
        bool read, write, discard, flush, fua;
};

struct dbio_blk;

/* The letters of RWBS, `[F](D|W|R|N)[F][A][S][M]` (fill_rwbs of blktrace and the kernel): an F before the letter is a flush,
 * one behind it FUA. */
void dbio_blk_flags(const char *letters, size_t size, struct dbio_blk_step *step);

/* read gives the next step: 1, 0 end, -1; see dbio_trace_format. NULL without memory. */
struct dbio_blk *dbio_blk_new(int (*read)(struct dbio_trace_input *input, struct dbio_blk_step *step, struct dbio_err *err));
void dbio_blk_free(struct dbio_blk *blk);
/* Makes events of steps; see dbio_trace_format. Which are taken: queued, unless asked for issued ones or the first 64 Ki steps
 * have none, which the note then tells. */
int dbio_blk_next(struct dbio_blk *blk, struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err);

#endif
