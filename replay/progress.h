/* What is seen while a run goes on (stderr): a block that redraws itself on a terminal, plain lines elsewhere. */
#ifndef DBIO_REPLAY_PROGRESS_H
#define DBIO_REPLAY_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/schedule.h"
#include "results/recorder.h"

struct dbio_progress {
        bool terminal, unicode, quiet;
        unsigned phase, nphases;
        unsigned drawn;            /* lines of the block on the screen */
        uint64_t next_line_ns;     /* real time at which the next block or line is due */
        double history[16][32];    /* IOPS of the latest draws, by stream */
        unsigned nhistory;
};

/* quiet: nothing is ever printed. */
void dbio_progress_init(struct dbio_progress *progress, bool quiet, unsigned nphases);
void dbio_progress_phase(struct dbio_progress *progress, unsigned phase);
/* At most streams + 1 lines. */
void dbio_progress_draw(struct dbio_progress *progress, const struct dbio_phase *phase,
                        const struct dbio_recorder *recorder, uint64_t elapsed_ns);
/* Ends the block so that what follows starts on a line of its own. */
void dbio_progress_end(struct dbio_progress *progress);

/* For making files: bytes done of all, with an ETA; user is a struct dbio_progress. */
void dbio_progress_bytes(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes);

#endif
