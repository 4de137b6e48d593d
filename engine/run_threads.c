/* The threads of a run, between phases and in them. */
#include "engine/run_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define OPSLOG_NS 10000000u /* so often is an ops log emptied */

static void finish_job(struct dbio_run *run)
{
        pthread_mutex_lock(&run->mutex);
        if (!--run->busy)
                pthread_cond_signal(&run->done);
        pthread_mutex_unlock(&run->mutex);
}

static void *worker_thread(void *argument)
{
        struct dbio_worker *worker = argument;
        struct dbio_run *run = worker->user;
        unsigned seen = 0;
        sigset_t all;

        /* signals are the main thread's: a worker's wait is not for them to cut short */
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
        /* the default slack of 50 us would be added to every wait */
        prctl(PR_SET_TIMERSLACK, 1ul);
        for (;;) {
                pthread_mutex_lock(&run->mutex);
                while (seen == run->generation || worker->number >= run->active) {
                        seen = run->generation;
                        pthread_cond_wait(&run->go, &run->mutex);
                }
                seen = run->generation;
                void (*job)(struct dbio_run *, struct dbio_worker *) = run->job;

                pthread_mutex_unlock(&run->mutex);
                if (!job)
                        return NULL;
                job(run, worker);
                finish_job(run);
        }
}

static struct timespec in_ns(uint64_t ns)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        ns += (uint64_t)t.tv_nsec;
        t.tv_sec += (time_t)(ns / 1000000000u);
        t.tv_nsec = (long)(ns % 1000000000u);
        return t;
}

void dbio_run_drain_opslogs(void *user)
{
        struct dbio_run *run = user;

        for (unsigned i = 0; i < run->active; i++)
                if (run->workers[i].opslog)
                        dbio_opslog_drain(run->options.opslog, run->workers[i].opslog);
}

void dbio_run_tick(struct dbio_run *run, uint64_t elapsed_ns)
{
        dbio_run_drain_opslogs(run);
        run->tick(run->user, run->metrics, run->active, elapsed_ns);
}

/* Lets workers 0 … n-1 do a job and waits for them; with every_ns, calls tick so often meanwhile. */
void dbio_run_dispatch(struct dbio_run *run, void (*job)(struct dbio_run *, struct dbio_worker *), unsigned n,
                     uint64_t every_ns)
{
        uint64_t start_ns = run->workers[0].start_ns, next_ns = dbio_clock_now(run->clock) + every_ns;

        if (run->clock->is_virtual) {
                job(run, &run->workers[0]);
                return;
        }
        pthread_mutex_lock(&run->mutex);
        run->job = job;
        run->active = run->busy = n;
        run->generation++;
        pthread_cond_broadcast(&run->go);
        while (run->busy) {
                if (!every_ns) {
                        pthread_cond_wait(&run->done, &run->mutex);
                        continue;
                }
                struct timespec until = in_ns(run->options.opslog && every_ns > OPSLOG_NS ? OPSLOG_NS : every_ns);

                if (pthread_cond_timedwait(&run->done, &run->mutex, &until) != ETIMEDOUT)
                        continue;
                pthread_mutex_unlock(&run->mutex);
                uint64_t now_ns = dbio_clock_now(run->clock);

                dbio_run_drain_opslogs(run);
                if (now_ns >= next_ns) {
                        dbio_run_tick(run, now_ns > start_ns ? now_ns - start_ns : 0);
                        next_ns = dbio_clock_now(run->clock) + every_ns;
                }
                pthread_mutex_lock(&run->mutex);
        }
        pthread_mutex_unlock(&run->mutex);
}

int dbio_run_start_threads(struct dbio_run *run, struct dbio_err *err)
{
        pthread_condattr_t monotonic;

        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_mutex_init(&run->mutex, NULL);
        pthread_cond_init(&run->go, NULL);
        pthread_cond_init(&run->done, &monotonic);
        pthread_condattr_destroy(&monotonic);
        if (run->clock->is_virtual)
                return 0;
        run->threads = calloc(run->nworkers, sizeof *run->threads);
        if (!run->threads)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (; run->nthreads < run->nworkers; run->nthreads++) {
                int error = pthread_create(&run->threads[run->nthreads], NULL, worker_thread,
                                           &run->workers[run->nthreads]);

                if (error)
                        return dbio_err_set(err, DBIO_IO, "cannot start a worker: %s", strerror(error));
        }
        return 0;
}

void dbio_run_stop_threads(struct dbio_run *run)
{
        pthread_mutex_lock(&run->mutex);
        run->job = NULL;
        run->active = run->nthreads;
        run->generation++;
        pthread_cond_broadcast(&run->go);
        pthread_mutex_unlock(&run->mutex);
        for (unsigned i = 0; i < run->nthreads; i++)
                pthread_join(run->threads[i], NULL);
        free(run->threads);
        pthread_mutex_destroy(&run->mutex);
        pthread_cond_destroy(&run->go);
        pthread_cond_destroy(&run->done);
}
