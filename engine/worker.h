/* One worker: an OS thread that carries a share of a phase's sources (in virtual time the calling thread). Its loop:
 * reap, record, pace, batch, submit. Between a phase's start and its end it neither allocates nor locks nor makes a
 * system call but through its backend and the clock.
 */
#ifndef DBIO_ENGINE_WORKER_H
#define DBIO_ENGINE_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/buffers.h"
#include "engine/backend.h"
#include "engine/metrics.h"
#include "engine/opslog.h"
#include "engine/pacer.h"
#include "engine/payload.h"
#include "engine/target.h"
#include "engine/verify.h"

enum dbio_stop {
        DBIO_STOP_NOT,
        DBIO_STOP_ENDED,     /* the last finite stream has ended */
        DBIO_STOP_ASKED,     /* from outside */
        DBIO_STOP_ERRORS,    /* more than were allowed */
        DBIO_STOP_TIMED_OUT,
        DBIO_STOP_BROKEN,    /* a backend */
};

/* What the workers of a phase share. */
struct dbio_crew {
        _Alignas(64) _Atomic int stop;           /* enum dbio_stop; the first cause stays */
        _Alignas(64) _Atomic unsigned finite_left; /* lanes of finite streams that are not at their end */
        _Alignas(64) _Atomic unsigned spinning;  /* workers that do */
        unsigned max_spinning;
        bool ends_with_finite;                   /* the phase has neither duration nor ops, but a finite stream */
        _Alignas(64) _Atomic uint64_t errors;
        struct dbio_pace pace;
};

#define DBIO_WORKER_ERRORS 16

struct dbio_worker {
        /* for the whole run, set by the run */
        unsigned number;
        const struct dbio_backend *backend;
        struct dbio_clock *clock;
        const struct dbio_targets *targets;
        atomic_int *stop;             /* or NULL */
        uint64_t guard_ns;                       /* spin so long before a due time; 0 = never */
        uint64_t timeout_ns, max_errors;
        bool null_payload;
        unsigned char *scratch;                  /* what reads overwrite */
        uint64_t scratch_bytes;                  /* the longest op */
        unsigned char *zeroes, *c0;              /* what DBIO_OP_ZEROES and DBIO_OP_C0 write, of all workers; or NULL */
        struct dbio_buffers buffers;
        struct dbio_payload payload;
        unsigned ncommands;                      /* most in flight */
        struct dbio_verify *verify;              /* of all workers; NULL without --verify */
        struct dbio_verify_reads verify_reads;

        /* set by dbio_worker_open */
        void *state;                             /* the backend's */
        struct dbio_io *ios;
        struct dbio_slot **slots;                /* per io: its op */
        uint64_t *since_ns;                      /* per io: 1 + when it was submitted; 0 = not in flight */
        uint32_t *free_ios;
        unsigned nfree;

        /* for one phase, set by the run */
        struct dbio_crew *crew;
        struct dbio_pacer *pacer;
        struct dbio_metrics *metrics;
        struct dbio_opslog_buffer *opslog;       /* NULL = none */
        uint16_t *mixes;                         /* of the payload, by stream; NULL without payload */
        uint64_t start_ns, end_ns;               /* absolute; from start */
        void (*tick)(struct dbio_worker *worker, uint64_t now_ns); /* virtual time: at each interval closed */
        void *user;

        /* of one phase, left by dbio_worker_run */
        uint64_t last_ns;                        /* last completion */
        struct dbio_hist turn;
        struct dbio_io_error errors[DBIO_WORKER_ERRORS];
        int broken;                              /* errno of the backend */
        bool abandoned;                          /* it still holds ios that never came back */

        /* the loop's own */
        uint64_t now_ns, check_ns;
        uint64_t lost_ns;                        /* when an op was found that had timed out */
        unsigned left, finite_left;
        bool closed, spinning;
        unsigned limit;                          /* ios in a call, for now */
        unsigned ncarried;
        struct dbio_io *batch[64];
};

/* On the worker's thread. close accepts a worker that was never opened. */
int dbio_worker_open(struct dbio_worker *worker, const struct dbio_backend_env *env, struct dbio_err *err);
void dbio_worker_close(struct dbio_worker *worker);

/* Carries its share of the phase from start to the last completion. */
void dbio_worker_run(struct dbio_worker *worker);

#endif
