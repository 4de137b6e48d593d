/* Bringing the flash under a target into the state that it has in long use, before anything is measured: written whole,
 * overwritten at random, and on until its rate of random writes is steady. */
#ifndef DBIO_ENGINE_PRECONDITION_H
#define DBIO_ENGINE_PRECONDITION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/backend.h"
#include "engine/err.h"
#include "engine/target.h"

#define DBIO_STEADY_WINDOW 5
#define DBIO_STEADY_ROUNDS 25

struct dbio_precondition_options {
        const struct dbio_backend *backend;
        unsigned page;                /* bytes of a random write */
        void (*progress)(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes); /* may be NULL */
        void *user;
        atomic_int *stop;  /* may be NULL */
};

/* Whether anything is asked for. */
bool dbio_precondition_asked(const struct dbio_precondition *precondition);

/* What is asked for, and of which bytes of which device or file, as texts that two equal ones have in common: the name
 * goes by serial or WWN where the device has one, so that it is known again under another path. */
void dbio_precondition_format(const struct dbio_precondition *precondition, char *text, size_t size);
void dbio_precondition_name(const struct dbio_targets *targets, unsigned target, char *name, size_t size);

/* Does it to an open target: payload incompressible and unique. rounds gets the number of rounds until steady (0 where
 * not asked for), steady whether it came to that. DBIO_IO. */
int dbio_precondition_run(const struct dbio_targets *targets, unsigned target,
                          const struct dbio_precondition *precondition,
                          const struct dbio_precondition_options *options, unsigned *rounds, bool *steady,
                          struct dbio_err *err);

/* Steady state of the last DBIO_STEADY_WINDOW of n rates, as SNIA's Solid State Storage Performance Test Specification
 * defines it (2.0.2, 2.1.24): all within 20 % of their mean, and the line of best fit within 10 % of it over the window. */
bool dbio_precondition_is_steady(const double *rates, unsigned n);

#endif
