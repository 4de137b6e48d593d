/* A backend that wraps any other and does to ios what storage does: errors, short transfers, delays, hangs, and data
 * that is torn, lost, misdirected or flipped. For tests; not among dbio_backends. */
#ifndef DBIO_ENGINE_BACKEND_FAULTY_H
#define DBIO_ENGINE_BACKEND_FAULTY_H

#include <stdint.h>

#include "engine/backend.h"
#include "engine/err.h"

#define DBIO_FAULTS_MAX 16

enum dbio_fault_type {
        DBIO_FAULT_ERROR,       /* error: not carried out, ends with errno `error` */
        DBIO_FAULT_SHORT,       /* short: half is moved and half is told */
        DBIO_FAULT_DELAY,       /* delay: carried out, told `delay_ns` later */
        DBIO_FAULT_HANG,        /* hang: never told */
        DBIO_FAULT_TORN,        /* torn: half of a write arrives, all is told */
        DBIO_FAULT_LOST,        /* lost: a write, fsync or trim does not happen, all is told */
        DBIO_FAULT_MISDIRECTED, /* misdirected: carried out `distance` bytes further on (before, where that is outside) */
        DBIO_FAULT_FLIP,        /* flip: one bit of what is written or read is wrong */
        DBIO_FAULT_TYPES
};

/* An io is hit when all of it holds; zero values hold always, but for `type`. The first fault that holds is taken. */
struct dbio_fault {
        enum dbio_fault_type type;
        uint64_t every;             /* each that many-th of the ios for which the rest holds, counted by worker */
        uint64_t times;             /* at most so often, over all workers */
        uint64_t from_bytes, to_bytes; /* offsets in the file that it touches; to 0 = no end */
        uint64_t from_ns, to_ns;    /* time since the backend's open; to 0 = no end */
        unsigned kinds;             /* 1 << enum dbio_kind, joined; 0 = those that the fault can hit */
        unsigned file;              /* 1 + index; 0 = all */
        int error;                  /* DBIO_FAULT_ERROR: > 0, EIO where 0 */
        uint64_t delay_ns, distance;
        uint64_t hits;              /* so far, over all workers; atomic */
};

struct dbio_fault_plan {
        const struct dbio_backend *inner;
        unsigned nfaults;
        struct dbio_fault faults[DBIO_FAULTS_MAX];
};

/* Parses `TYPE[:KEY=VALUE,…][;…]`, as in `error:every=100,kind=write,error=ENOSPC;delay:delay=20ms,from=0,to=1MiB`;
 * keys every times from to after before kind file error delay distance. DBIO_USAGE. */
int dbio_fault_plan_parse(struct dbio_fault_plan *plan, const char *text, struct dbio_err *err);

/* The backend that carries ios out by plan->inner with the plan's faults. One plan a process: it replaces the one
 * before, and must outlive the instances opened after. */
const struct dbio_backend *dbio_backend_faulty(struct dbio_fault_plan *plan);

#endif
