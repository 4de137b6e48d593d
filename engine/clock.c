#include "engine/clock.h"

#include <time.h>

static uint64_t real_now(struct dbio_clock *clock)
{
        struct timespec t;

        (void)clock;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t virtual_now(struct dbio_clock *clock)
{
        return clock->virtual_ns;
}

void dbio_clock_init_real(struct dbio_clock *clock)
{
        *clock = (struct dbio_clock){.now = real_now};
}

void dbio_clock_init_virtual(struct dbio_clock *clock)
{
        *clock = (struct dbio_clock){.now = virtual_now, .is_virtual = true};
}

void dbio_clock_sleep_until(struct dbio_clock *clock, uint64_t until_ns)
{
        if (clock->is_virtual) {
                if (until_ns > clock->virtual_ns)
                        clock->virtual_ns = until_ns;
                return;
        }
        struct timespec t = {.tv_sec = (time_t)(until_ns / 1000000000u), .tv_nsec = (long)(until_ns % 1000000000u)};

        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
