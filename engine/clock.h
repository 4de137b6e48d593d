/* Time, in ns. Real time is CLOCK_MONOTONIC; a simulated device or a test moves its own. */
#ifndef DBIO_ENGINE_CLOCK_H
#define DBIO_ENGINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct dbio_clock {
        uint64_t (*now)(struct dbio_clock *clock);
        uint64_t virtual_ns; /* what a virtual clock shows; unused by the real one */
        bool is_virtual;
};

/* CLOCK_MONOTONIC, or a clock at 0 that only dbio_clock_sleep_until and the simulated device move. */
void dbio_clock_init_real(struct dbio_clock *clock);
void dbio_clock_init_virtual(struct dbio_clock *clock);

static inline uint64_t dbio_clock_now(struct dbio_clock *clock)
{
        return clock->now(clock);
}

/* Waits until the clock shows until_ns (a signal may end it early); a virtual clock is moved there. */
void dbio_clock_sleep_until(struct dbio_clock *clock, uint64_t until_ns);

#endif
