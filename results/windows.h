/* During, after, quiet: how one stream's figures are split by another stream's episodes. Pure. */
#ifndef DBIO_RESULTS_WINDOWS_H
#define DBIO_RESULTS_WINDOWS_H

#include <stdint.h>

enum dbio_window { DBIO_DURING, DBIO_AFTER, DBIO_QUIET, DBIO_AFFECTED, DBIO_WINDOWS };

/* An episode of the other stream, ns from the phase's start; end UINT64_MAX = cut by the phase's end. */
struct dbio_window_span {
        uint64_t begin_ns, end_ns;
};

struct dbio_window_input {
        uint64_t interval_ns, duration_ns;
        unsigned nintervals;             /* at least duration / interval, rounded up */
        const uint64_t *inside, *outside; /* an interval: the stream's reads and writes completed while an episode ran,
                                          * and the others */
        unsigned nepisodes;
        const struct dbio_window_span *episodes; /* in order of their beginning */
};

/* Of one episode. iops_quiet is over the quiet time from this episode's recovery to the next one's beginning; where
 * there is none, over the nearest quiet time before; NAN where there is none at all. */
struct dbio_window_recovery {
        uint64_t recovered_ns; /* on the grid; UINT64_MAX = not before the next episode or the phase's end */
        double iops_quiet, iops_affected;
};

struct dbio_window_result {
        unsigned char *outside;                  /* nintervals entries, the caller's: DBIO_AFTER or DBIO_QUIET, where an
                                                  * interval's ops outside episodes belong */
        struct dbio_window_recovery *recoveries; /* nepisodes entries, the caller's */
        uint64_t duration_ns[DBIO_WINDOWS];      /* during + after + quiet = the phase's */
        double median_rate;                      /* of the intervals that no episode touches, per second; NAN = none */
};

/* Fills result. `after` begins with the rest of the interval in which the episode ended and goes on until the first of
 * three intervals in a row (whole ones that no episode touches) with at least 95 % of the median rate, else until the
 * next episode or the phase's end. Where two episodes share an interval, its ops inside are theirs in proportion to time:
 * records tell only whether one ran. -1: out of memory. */
int dbio_windows_cut(const struct dbio_window_input *input, struct dbio_window_result *result);

#endif
