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
};

struct dbio_metrics; /* one worker's figures of one phase, and its ring */

/* Takes from the ring all that is there, one call a record, in the order of writing. On the store thread. Returns the
 * number of records; user is handed on. */
unsigned dbio_metrics_drain(struct dbio_metrics *metrics,
                            void (*take)(void *user, const struct dbio_record *record), void *user);

#endif
