/* What one stream's episodes (a checkpoint, a backup) do to another stream, and the sentence that says it. Pure.
 *
 * The unit is the episode: d = ln(rate inside / rate of the quiet time beside it); the drop is 1 - exp(mean d), its
 * interval a t over the episodes of a run, or over the runs' means from three runs on. Never over seconds: those share
 * their fate (measured coverage of a 95 % interval over seconds: 57 to 83 %).
 */
#ifndef DBIO_RESULTS_INTERFERENCE_H
#define DBIO_RESULTS_INTERFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One whole episode as v_recovery has it. */
struct dbio_interference_episode {
        unsigned run;                    /* any number; the same for episodes of one run, runs one after the other */
        double quiet, affected;          /* rates, per second; episodes with one not above 0 are left out */
        uint64_t begin_ns, recovered_ns; /* UINT64_MAX = not recovered before the next, or the phase's end */
};

struct dbio_interference {
        unsigned episodes, runs; /* that count */
        double change;           /* share of the quiet rate: -0.45; NAN without episodes */
        bool bounded;            /* low and high are there: 3 episodes of one run, or 3 runs */
        double low, high;        /* 95 % interval of change */
        unsigned recovered;      /* episodes after which the stream recovered */
        double recovery_ns;      /* mean time from the episode's beginning until then; NAN = never */
};

/* Fills all members; without an episode that counts, change is NAN. */
void dbio_interference_measure(const struct dbio_interference_episode *episodes, unsigned nr,
                               struct dbio_interference *interference);

/* A stream beside an episodic one, over a phase. Times in ns, NAN where there is none. */
struct dbio_interference_figures {
        const char *other, *stream;
        const char *op;                         /* "read", "write", "commit" */
        double quiet_iops, affected_iops;       /* of the windows quiet and affected */
        double quiet_mean_ns, affected_mean_ns; /* response */
        double quiet_p99_ns, affected_p99_ns;
        double affected_ns; /* mean length of the window affected, an episode */
        double period_ns;   /* between beginnings of episodes; NAN with fewer than two */
        struct dbio_interference effect;
};

/* Whether the rate falls: the interval of the change lies below 0 and the change is at least 1 %; without an interval at
 * least 5 %. */
bool dbio_interference_falls(const struct dbio_interference_figures *figures);

/* Whether anything is to be said: the rate falls, or the mean rises by at least 10 %. */
bool dbio_interference_seen(const struct dbio_interference_figures *figures);

/* "While checkpoint works, user-reads falls from 3,755 to 2,060 IOPS (-45 %, 95 % CI -47..-43) for 7.1 s in every 60 s;
 * the average read rises from 20.2 to 36.9 ms." or "log: no change seen while checkpoint works.", unwrapped. */
char *dbio_interference_sentence(char *text, size_t size, const struct dbio_interference_figures *figures);

#endif
