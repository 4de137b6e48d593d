/* Whether a run may be used as evidence: the generator must not be the thing measured. */
#ifndef DBIO_RESULTS_VALIDITY_H
#define DBIO_RESULTS_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

/* Of one phase, or the worst over a run's recorded phases. */
struct dbio_validity {
        uint64_t lag_p99_ns;        /* submitted - ready */
        uint64_t turn_p99_ns;       /* worker's loop, reap to reap */
        uint64_t median_service_ns; /* 0 = no op */
        double foreign_share;       /* others' I/O on the devices, share of 1 */
        bool foreign_counts;        /* the targets are block devices; over files a file system's own writes are in it */
        bool simulated;             /* virtual time: the generator cannot be late */
};

/* True when valid; else why (size bytes) says what is wrong, every reason of several. Invalid: p99 of lag or of the loop's turn
 * over 100 us and over 10 % of the median service; foreign I/O over 10 % where it counts. */
bool dbio_validity_check(const struct dbio_validity *validity, char *why, unsigned long size);

#endif
