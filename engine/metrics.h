/* Figures: workers keep them per interval, one store thread reads them from rings. Nothing here allocates, locks or
 * makes a system call after the phase's start.
 */
#ifndef DBIO_ENGINE_METRICS_H
#define DBIO_ENGINE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/hist.h"
#include "engine/op.h"
#include "engine/schedule.h"
#include "engine/stream.h"

/* A bit a stream of the phase that can have episodes (numbered 0… in file order): which were running when the ops of
 * a record completed. Ops of different masks are never in one record, so windows can be cut afterwards. */
#define DBIO_MAX_EPISODIC 32

enum dbio_record_type { DBIO_RECORD_INTERVAL, DBIO_RECORD_EPISODE_BEGIN, DBIO_RECORD_EPISODE, DBIO_RECORD_GAUGE };

/* What the store thread gets. Times are ns from the phase's start. The pointers are valid during the callback only. */
struct dbio_record {
        enum dbio_record_type type;
        unsigned worker;
        uint32_t stream; /* index in the phase */
        union {
                struct {
                        uint8_t kind, role;
                        uint32_t mask;         /* episodes running, see DBIO_MAX_EPISODIC */
                        uint64_t t_ns;         /* start of the grid interval */
                        uint64_t ios, bytes, errors;
                        uint64_t unissued;     /* commits: due in an open loop and never flushed */
                        uint64_t failed_ns;    /* that failed ops were in flight */
                        uint64_t failed_bytes; /* that they asked for */
                        uint64_t splits;       /* commands beyond the first of each op */
                        uint64_t hba_waits, hba_wait_ns;
                        uint32_t depth_peak;   /* most in flight on this worker */
                        const struct dbio_hist *service, *response, *wait, *lag; /* errors are not in them */
                } interval;
                struct {
                        uint32_t episode;
                        uint64_t begin_ns;
                } begin;
                struct dbio_episode episode;
                struct {
                        const char *name; /* stays valid */
                        uint64_t t_ns;
                        double value;
                } gauge;
        };
};

/* First error of a (stream, errno), for the report. */
struct dbio_io_error {
        uint32_t stream;
        int error;          /* errno, > 0; 0 = unused entry */
        uint64_t count;
        uint64_t first_offset;
        uint16_t target;
        uint8_t kind;
        bool is_short; /* the device moved fewer bytes than asked for (counted as EIO) */
};

struct dbio_metrics; /* one worker's figures of one phase, and its ring */
struct dbio_figures; /* those of one (stream, kind, role) in the running interval */

/* What workers tell each other; every worker writes its own only. */
struct dbio_beacon {
        _Alignas(64) _Atomic uint32_t episodes; /* mask of its streams' running episodes */
        _Atomic uint64_t *read_bytes;           /* per stream of the phase, of reads done; NULL = not kept */
};

struct dbio_metrics_config {
        const struct dbio_phase *phase;
        struct dbio_beacon *beacons; /* of all workers; episodes zero */
        unsigned nworkers, worker;
        uint64_t interval_ns;
        size_t ring_bytes;           /* power of two, at least 256 KiB */
        double scale_time;
        /* Called when the ring has no room, to drain it (virtual time, one thread); NULL: the interval goes on. */
        void (*make_room)(void *user);
        void *user;
};

/* NULL when out of memory. All memory of the phase is taken here; pages are touched as they are used. */
struct dbio_metrics *dbio_metrics_new(const struct dbio_metrics_config *config);
void dbio_metrics_free(struct dbio_metrics *metrics);

/* The report that sources of a stream on this worker get; lives as long as metrics. */
struct dbio_report *dbio_metrics_report(struct dbio_metrics *metrics, unsigned stream);

/* The rest is called on the worker. Times are ns from the phase's start. */
struct dbio_figures *dbio_metrics_figures(struct dbio_metrics *metrics, unsigned stream, unsigned kind, unsigned role);

/* The four stamps of a finished op, and what became of it on the way. */
struct dbio_stamps {
        uint64_t intended_ns, ready_ns, submitted_ns, completed_ns;
        uint64_t hba_wait_ns;
        uint32_t length, splits;
        bool hba_waited;
};

void dbio_metrics_submitted(struct dbio_figures *figures); /* in flight + 1; an op, at its first command */
void dbio_metrics_op(struct dbio_metrics *metrics, struct dbio_figures *figures, const struct dbio_stamps *stamps);
/* An op of length bytes that failed after in_flight_ns. */
void dbio_metrics_error(struct dbio_metrics *metrics, struct dbio_figures *figures, uint64_t in_flight_ns,
                        uint32_t length);

/* Closes the intervals that have passed at now_ns, and records of other masks; to be called before the ops that
 * completed at now_ns are added. True when an interval was closed. */
bool dbio_metrics_advance(struct dbio_metrics *metrics, uint64_t now_ns);
/* Closes the running interval for good. */
void dbio_metrics_finish(struct dbio_metrics *metrics);

uint64_t dbio_metrics_late(const struct dbio_metrics *metrics); /* intervals that found the ring full */
const struct dbio_hist *dbio_metrics_lag(const struct dbio_metrics *metrics); /* of all ops of the phase */

/* Takes from the ring all that is there, one call a record, in the order of writing. On the store thread. Returns the
 * number of records; user is handed on. */
unsigned dbio_metrics_drain(struct dbio_metrics *metrics,
                            void (*take)(void *user, const struct dbio_record *record), void *user);

#endif
