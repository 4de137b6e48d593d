/* What the files of the run share; nobody else includes it. */
#ifndef DBIO_ENGINE_RUN_INSIDE_H
#define DBIO_ENGINE_RUN_INSIDE_H

#include <pthread.h>

#include "engine/placement.h"
#include "engine/run.h"
#include "engine/worker.h"

#define DBIO_WORKERS_MAX 64u

struct dbio_run {
        struct dbio_run_options options;
        struct dbio_schedule *schedule;
        struct dbio_targets *targets;
        struct dbio_clock own_clock, *clock;
        struct dbio_hba hba;
        unsigned *files;           /* per target: how many it has */
        unsigned ncpus, nworkers;  /* the most of any phase */
        struct dbio_worker *workers;
        uint64_t *write_bytes, scratch_bytes, fill_bytes; /* per worker; of each; of all */
        unsigned char *arena;
        size_t arena_bytes;
        struct dbio_verify *verify; /* NULL without --verify */
        bool own_reads;            /* each read has a buffer of its own: they are looked at, by us or below */
        bool dead;                 /* ios of a timed out phase may still write into the arena */
        struct dbio_run *next_dead;

        /* threads; the mutex guards what follows */
        pthread_t *threads;
        unsigned nthreads;
        pthread_mutex_t mutex;
        pthread_cond_t go, done;
        void (*job)(struct dbio_run *run, struct dbio_worker *worker);
        unsigned generation, active, busy;
        struct dbio_err err;       /* the first of a job */

        /* the running phase */
        struct dbio_crew *crew;
        struct dbio_metrics **metrics;
        void (*tick)(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns);
        void *user;
};

/* Planning: what phases need of workers. */
unsigned dbio_run_most_workers(const struct dbio_run *run);
struct dbio_pacer_config dbio_run_pacer_config(const struct dbio_run *run, const struct dbio_phase *phase,
                                               const struct dbio_placement *placement, unsigned worker);
int dbio_run_plan_all(struct dbio_run *run, struct dbio_err *err);

/* Threads. dispatch lets workers 0 … n-1 do a job and waits for them; with every_ns, ticks so often meanwhile. In
 * virtual time the calling thread is worker 0. */
int dbio_run_start_threads(struct dbio_run *run, struct dbio_err *err);
void dbio_run_stop_threads(struct dbio_run *run);
void dbio_run_dispatch(struct dbio_run *run, void (*job)(struct dbio_run *, struct dbio_worker *), unsigned n,
                       uint64_t every_ns);
void dbio_run_tick(struct dbio_run *run, uint64_t elapsed_ns);
void dbio_run_drain_opslogs(void *run);

#endif
