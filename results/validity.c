#include "results/validity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LATE_NS 100000u
#define LATE_SHARE 0.10
#define FOREIGN_SHARE 0.10

static bool is_late(uint64_t p99_ns, uint64_t median_ns)
{
        return p99_ns > LATE_NS && (double)p99_ns > LATE_SHARE * (double)median_ns;
}

/* Every reason is named: they call for different remedies. */
__attribute__((format(printf, 3, 4))) static void add(char *why, unsigned long size, const char *format, ...)
{
        size_t used = strlen(why);
        va_list args;

        if (used)
                used += (size_t)snprintf(why + used, size - used, "; ");
        va_start(args, format);
        if (used < size)
                vsnprintf(why + used, size - used, format, args);
        va_end(args);
}

bool dbio_validity_check(const struct dbio_validity *validity, char *why, unsigned long size)
{
        uint64_t median = validity->median_service_ns;
        bool real = !validity->simulated && median;

        why[0] = 0;
        if (real && is_late(validity->lag_p99_ns, median))
                add(why, size, "the generator was late: lag p99 %.0f us against a median service of %.0f us",
                    (double)validity->lag_p99_ns / 1e3, (double)median / 1e3);
        if (real && is_late(validity->turn_p99_ns, median))
                add(why, size, "a worker's loop was slow: turn p99 %.0f us against a median service of %.0f us",
                    (double)validity->turn_p99_ns / 1e3, (double)median / 1e3);
        if (validity->foreign_counts && validity->foreign_share > FOREIGN_SHARE)
                add(why, size, "others used the device: %.1f %% of its I/O was not this run's",
                    100 * validity->foreign_share);
        return !why[0];
}
