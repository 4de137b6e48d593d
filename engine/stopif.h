/* --stop-if `DEVICE.await > 20ms for 3s`: ends a run when the host suffers. await is iostat's: the mean time of all reads
 * and writes that ended, by the kernel's counters of the whole device, ours and others'. One thread. */
#ifndef DBIO_ENGINE_STOPIF_H
#define DBIO_ENGINE_STOPIF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/device.h"
#include "engine/err.h"

struct dbio_stop_if {
        char device[64];       /* as written: sda or /dev/sda */
        dev_t number;
        bool or_equal;         /* >= */
        uint64_t limit_ns, for_ns;
        /* while it watches */
        struct dbio_device_counters before;
        uint64_t sampled_ns;   /* 0 = not yet */
        uint64_t since_ns;     /* begin of the first sample in a row that is over; 0 = none is */
        double await_ns;       /* of the last sample */
};

/* Parses and finds the device. DBIO_USAGE. */
int dbio_stop_if_parse(struct dbio_stop_if *stop_if, const char *text, struct dbio_err *err);

/* Looks at the counters, at most every half second; true once the condition has held for as long as it says. A sample
 * without any I/O is not over. */
bool dbio_stop_if_check(struct dbio_stop_if *stop_if, uint64_t now_ns);

/* The same with counters of the caller's (for tests). */
bool dbio_stop_if_sample(struct dbio_stop_if *stop_if, uint64_t now_ns, const struct dbio_device_counters *counters);

#endif
