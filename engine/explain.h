/* The ops that a phase would issue, without issuing them. */
#ifndef DBIO_ENGINE_EXPLAIN_H
#define DBIO_ENGINE_EXPLAIN_H

#include <stdint.h>

#include "engine/err.h"
#include "engine/schedule.h"

/* Drives an open phase on a virtual clock on which every op completes when it is submitted, and calls row for its ops:
 * first all that have a due time, in due order (ties: stream, thread, seq), then the others stream by stream, threads
 * in turn, seq rising; seq counts a thread's ops from 0. op->due_ns is from the phase's start, DBIO_NO_DUE where the op
 * has none. only_stream NULL = all. limit cuts endless streams, at so many ops each; 0 = no cut, DBIO_USAGE where a
 * listed stream is endless. A row that returns other than 0 ends it, and its value is returned. Memory is bounded (ops
 * of reactive streams wait in temporary files: DBIO_IO). The phase's sources are used up. */
int dbio_explain_phase(struct dbio_phase *phase, const char *only_stream, uint64_t limit,
                       int (*row)(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op), void *user,
                       struct dbio_err *err);

#endif
