#include "results/validity.h"

#include <stdio.h>

#define LATE_NS 100000u
#define LATE_SHARE 0.10
#define FOREIGN_SHARE 0.10

static bool is_late(uint64_t p99_ns, uint64_t median_ns)
{
        return p99_ns > LATE_NS && (double)p99_ns > LATE_SHARE * (double)median_ns;
}

bool dbio_validity_check(const struct dbio_validity *validity, char *why, unsigned long size)
{
        uint64_t median = validity->median_service_ns;

        if (!validity->simulated && median && is_late(validity->lag_p99_ns, median)) {
                snprintf(why, size, "the generator was late: lag p99 %.0f us against a median service of %.0f us",
                         (double)validity->lag_p99_ns / 1e3, (double)median / 1e3);
                return false;
        }
        if (!validity->simulated && median && is_late(validity->turn_p99_ns, median)) {
                snprintf(why, size, "a worker's loop was slow: turn p99 %.0f us against a median service of %.0f us",
                         (double)validity->turn_p99_ns / 1e3, (double)median / 1e3);
                return false;
        }
        if (validity->foreign_counts && validity->foreign_share > FOREIGN_SHARE) {
                snprintf(why, size, "others used the device: %.1f %% of its I/O was not this run's",
                         100 * validity->foreign_share);
                return false;
        }
        return true;
}
