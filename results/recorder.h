/* Takes a phase's records while it runs, adds intervals up and writes them: one transaction a second. All on the
 * thread that calls dbio_run_phase's tick; nothing of a worker waits for it. */
#ifndef DBIO_RESULTS_RECORDER_H
#define DBIO_RESULTS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/err.h"
#include "engine/metrics.h"
#include "engine/run.h"
#include "engine/schedule.h"

struct dbio_store;
struct dbio_recorder;

/* A block device under the run's targets, whose kernel counters are kept beside the run's own. */
struct dbio_recorder_device {
        const char *name;       /* as shown: sda, nvme0n1 */
        dev_t dev;
        const double *shares;   /* a target (in the schedule's order): the share of its I/O that goes there, 0 to 1 */
};

struct dbio_recorder_options {
        int64_t run_id;
        unsigned position;      /* of the phase in the schedule, from 0 */
        uint64_t interval_ns;   /* the grid, as in dbio_run_options */
        bool full_intervals;    /* keep a histogram of service times with each interval (--intervals full) */
        unsigned ndevices;
        const struct dbio_recorder_device *devices;
};

/* phase must stay open, and devices stay valid, until dbio_recorder_close. A phase with record false gets no rows: its
 * ios and bytes go to the run. */
int dbio_recorder_open(struct dbio_recorder **recorder, struct dbio_store *store, const struct dbio_phase *phase,
                       const struct dbio_recorder_options *options, struct dbio_err *err);

/* Takes one record: fits dbio_metrics_drain. What goes wrong is told by the next tick. */
void dbio_recorder_take(void *recorder, const struct dbio_record *record);

/* After each drain: elapsed_ns as dbio_run_phase's tick has it. Commits when a second has passed since the last. */
int dbio_recorder_tick(struct dbio_recorder *recorder, uint64_t elapsed_ns, struct dbio_err *err);

/* After dbio_run_phase: writes what is left, the windows and recoveries, and closes the phase's rows. */
int dbio_recorder_finish(struct dbio_recorder *recorder, const struct dbio_phase_result *result, struct dbio_err *err);

void dbio_recorder_close(struct dbio_recorder *recorder); /* accepts NULL */

/* What the progress block shows of a stream: its latest complete interval (reads and writes; commits apart). */
struct dbio_live {
        double iops, mib_per_s;        /* NAN before the first interval is complete */
        uint64_t p50_ns, p99_ns;       /* response; 0 where there was no op */
        double commits_per_s;
        uint64_t commit_p50_ns, commit_p99_ns;
        uint32_t episode;              /* running now, 0 = none */
        double last_pages_per_write;   /* of the last episode that ended, 0 = none */
        uint64_t all_ios, all_bytes, all_errors; /* since the phase's start, commits left out */
};
void dbio_recorder_live(const struct dbio_recorder *recorder, unsigned stream, struct dbio_live *live);

/* Of all I/O since the phase's start, ns; UINT64_MAX = no op yet. */
uint64_t dbio_recorder_lag_p99_ns(const struct dbio_recorder *recorder);

/* For the validity rule, after finish: the share of I/O on the devices that was not the run's, the highest of all
 * devices; 0 where there are none. */
double dbio_recorder_foreign_share(const struct dbio_recorder *recorder);

/* After finish: the median service time over all I/O of the phase, ns; 0 = no op. */
uint64_t dbio_recorder_median_service_ns(const struct dbio_recorder *recorder);

#endif
