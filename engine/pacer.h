/* The pacer of one worker: which ops go when. Depth, due times, think, barriers, `after`, caps, the HBA's limits. No
 * I/O, no clock, no system call: it is told the time. All times are ns from the phase's start.
 *
 * The worker's turn: dbio_pacer_turn, then peek and commit until peek gives nothing, then the backend; for each command
 * that comes back dbio_pacer_returned, and where that was an op's last, dbio_pacer_done. Nothing is allocated after
 * new.
 */
#ifndef DBIO_ENGINE_PACER_H
#define DBIO_ENGINE_PACER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/buffers.h"
#include "engine/schedule.h"

struct dbio_figures;

/* What the pacers of all workers share in a phase; zero-initialised. */
struct dbio_pace {
        _Alignas(64) _Atomic uint64_t ops;       /* reads and writes let go, where the phase has a limit of them */
        _Alignas(64) _Atomic uint64_t iops_ns;   /* the time from which the caps allow the next op */
        _Atomic uint64_t bytes_ns;
        struct dbio_port_use *ports;             /* [worker * hba.ports + port]; each written by its worker alone */
};
struct dbio_port_use {
        _Alignas(64) _Atomic uint32_t outstanding; /* commands */
};

/* An op on its way. */
struct dbio_slot {
        struct dbio_op op;
        uint64_t intended_ns, ready_ns, submitted_ns; /* submitted is set by the worker */
        uint64_t queued_ns;      /* when all but the HBA let it go */
        uint64_t cap_ns;         /* from when the caps allow it; UINT64_MAX = not asked yet */
        uint64_t after;          /* log position that must be durable */
        uint64_t seq;            /* of its source, from 0 */
        uint64_t hba_wait_ns;
        int64_t result;          /* bytes of all commands, or the first -errno */
        void *buffer;            /* of writes, and of reads where they own one */
        uint32_t verify;         /* the worker's, under --verify: what was there before a read; 0 = none */
        struct dbio_figures *figures; /* the worker's */
        uint32_t lane, stream, next;
        uint32_t turn;           /* in which it was formed */
        uint16_t commands, issued, returned;
        uint16_t port;
        bool hba_waited;
};

/* One command to issue: a slot's next. */
struct dbio_command {
        struct dbio_slot *slot;
        uint64_t offset;         /* in the target */
        uint32_t length;
        uint16_t number;         /* of the op's commands; of an fsync: the target's file */
};

struct dbio_lane_spec {
        unsigned stream, source; /* indexes in the phase, and of the stream's sources */
};

struct dbio_pacer_config {
        const struct dbio_phase *phase;
        struct dbio_hba hba;             /* ports >= 1 */
        struct dbio_pace *pace;
        unsigned worker, nworkers;
        const struct dbio_lane_spec *lanes;
        unsigned nlanes;
        double scale_time;
        double max_iops, max_bytes_per_s;
        uint64_t end_ns;                 /* of the phase; UINT64_MAX = open */
        const unsigned *files;           /* per target: an fsync is a command to each of them */
        struct dbio_buffers *buffers;       /* buffers of writes; NULL = none are needed */
        bool buffer_reads;               /* reads own a buffer too */
        struct dbio_report *(*report)(void *user, unsigned stream); /* for the sources */
        void *user;
};

struct dbio_limit_use {
        uint64_t cap, peak, hits, wait_ns; /* cap and peak of a port; hits and waits are those of all */
        uint64_t at_cap_ns;                /* in which a port or more was at the cap */
};

struct dbio_pacer_figures {
        uint64_t *issued, *unissued;     /* per stream; unissued is set by dbio_pacer_finish */
        struct dbio_limit_use outstanding, transfer;
};

struct dbio_pacer;

/* NULL when out of memory. Sets the sources' report. */
struct dbio_pacer *dbio_pacer_new(const struct dbio_pacer_config *config);
void dbio_pacer_free(struct dbio_pacer *pacer);

#define DBIO_PACER_COMMANDS_MAX 16384u /* in flight on a worker, at most */

/* The most ops and the most commands that it may have in flight for these lanes. */
void dbio_pacer_room(const struct dbio_pacer_config *config, unsigned *ops, unsigned *commands);

/* Forms the ops that may go at now_ns. */
void dbio_pacer_turn(struct dbio_pacer *pacer, uint64_t now_ns);

/* The next command, false for none. The same again until it is committed. */
bool dbio_pacer_peek(struct dbio_pacer *pacer, struct dbio_command *command);
void dbio_pacer_commit(struct dbio_pacer *pacer, const struct dbio_command *command);

/* A command came back; true where it was the last of its op. */
bool dbio_pacer_returned(struct dbio_pacer *pacer, struct dbio_slot *slot, int64_t result, uint64_t now_ns);
/* The op is over: tells its source, frees the slot. */
void dbio_pacer_done(struct dbio_pacer *pacer, struct dbio_slot *slot, uint64_t completed_ns);

/* When turn may have something without a completion before; 0 = at once, UINT64_MAX = never. */
uint64_t dbio_pacer_wake(const struct dbio_pacer *pacer, uint64_t now_ns);

/* No new ops from now on. Ops that wait are dropped, but those that fell due since the last turn are still formed, and
 * where keep_queued is set those that wait for the HBA alone. */
void dbio_pacer_close(struct dbio_pacer *pacer, uint64_t now_ns, bool keep_queued);

/* After close and when nothing is in flight: finishes the sources, counts what fell due and was never issued. */
void dbio_pacer_finish(struct dbio_pacer *pacer, uint64_t now_ns);

unsigned dbio_pacer_inflight(const struct dbio_pacer *pacer);     /* commands */
unsigned dbio_pacer_commands(const struct dbio_pacer *pacer);     /* in flight, and ops about to go */
bool dbio_pacer_busy(const struct dbio_pacer *pacer);             /* ops begun and not over, or about to begin */
unsigned dbio_pacer_left(const struct dbio_pacer *pacer, bool finite); /* lanes not at their end (finite ones only) */
bool dbio_pacer_spent(const struct dbio_pacer *pacer);            /* the phase's ops have all been let go */
const struct dbio_pacer_figures *dbio_pacer_figures(const struct dbio_pacer *pacer);

#endif
