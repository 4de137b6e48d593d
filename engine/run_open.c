/* Opening and closing a run: workers, arena, verification. */
#include "engine/run_inside.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t guard_of(const struct dbio_run *run)
{
        static const uint64_t guards_ns[] = {
                [DBIO_PACING_PRECISE] = 50000, [DBIO_PACING_BALANCED] = 30000, [DBIO_PACING_FRUGAL] = 0};

        return run->clock->is_virtual || run->ncpus < 2 ? 0 : guards_ns[run->options.pacing];
}

static void init_worker(struct dbio_run *run, unsigned number)
{
        struct dbio_worker *worker = &run->workers[number];

        worker->number = number;
        worker->backend = run->options.backend;
        worker->clock = run->clock;
        worker->targets = run->targets;
        worker->stop = run->options.stop;
        worker->guard_ns = guard_of(run);
        worker->timeout_ns = run->options.timeout_ns;
        worker->max_errors = run->options.max_errors;
        worker->null_payload = run->options.null_payload;
        worker->verify = run->verify;
        worker->user = run;
        if (!worker->ncommands)
                worker->ncommands = 1;
}

static uint64_t payload_seed(const struct dbio_run *run, unsigned worker)
{
        struct timespec t;

        if (run->clock->is_virtual)
                return run->schedule->seed + worker;
        clock_gettime(CLOCK_REALTIME, &t);
        return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * 64 + worker;
}

static int make_arena(struct dbio_run *run, struct dbio_err *err)
{
        unsigned char *at;

        run->arena_bytes = run->nworkers * run->scratch_bytes + 2 * run->fill_bytes;
        for (unsigned i = 0; i < run->nworkers; i++)
                run->arena_bytes += run->write_bytes[i];
        at = mmap(NULL, run->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
                return dbio_err_set(err, DBIO_IO, "cannot have %llu MiB of buffers: %s",
                                    (unsigned long long)(run->arena_bytes >> 20), strerror(errno));
        run->arena = at;
        memset(at + run->fill_bytes, 0xC0, run->fill_bytes); /* the area of zeroes is so already */
        at += 2 * run->fill_bytes;
        for (unsigned i = 0; i < run->nworkers; i++) {
                struct dbio_worker *worker = &run->workers[i];

                worker->zeroes = run->fill_bytes ? run->arena : NULL;
                worker->c0 = run->fill_bytes ? run->arena + run->fill_bytes : NULL;
                worker->scratch = at;
                worker->scratch_bytes = run->scratch_bytes;
                at += run->scratch_bytes;
                if (dbio_buffers_init(&worker->buffers, at, run->write_bytes[i]) ||
                    (!run->options.null_payload && run->write_bytes[i] &&
                     dbio_payload_init(&worker->payload, at, run->write_bytes[i], payload_seed(run, i),
                                       run->options.compressible, run->options.dedup)))
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                at += run->write_bytes[i];
        }
        return 0;
}

static int make_verify(struct dbio_run *run, struct dbio_err *err)
{
        if (!run->options.verify)
                return 0;
        if (run->clock->is_virtual || run->options.null_payload)
                return dbio_err_set(err, DBIO_USAGE, "--verify needs real data: not on engine %s",
                                    run->options.backend->name);
        if (dbio_verify_new(&run->verify, run->targets, err))
                return -1;
        for (unsigned i = 0; i < run->nworkers; i++)
                if (dbio_verify_reads_init(&run->workers[i].verify_reads, run->workers[i].ncommands + 1,
                                           run->scratch_bytes))
                        return dbio_err_set(err, DBIO_IO, "out of memory");
        return 0;
}

static unsigned count_cpus(void)
{
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof set, &set))
                return 1;
        return (unsigned)CPU_COUNT(&set);
}

static int init_run(struct dbio_run *run, struct dbio_err *err)
{
        run->ncpus = count_cpus();
        dbio_clock_init_real(&run->own_clock);
        if (run->options.sim)
                dbio_clock_init_virtual(&run->own_clock);
        run->clock = run->options.clock ? run->options.clock : &run->own_clock;
        run->hba = run->schedule->hba;
        if (!run->hba.ports)
                run->hba.ports = 1;
        run->nworkers = 1;
        run->files = calloc(run->targets->n + 1, sizeof *run->files);
        run->own_reads = run->options.verify;
        for (unsigned i = 0; i < run->targets->nfiles; i++)
                run->own_reads = run->own_reads || run->targets->io_files[i].checked;
        unsigned most = dbio_run_most_workers(run);

        run->workers = calloc(most, sizeof *run->workers);
        run->write_bytes = calloc(most, sizeof *run->write_bytes);
        run->metrics = calloc(most, sizeof(struct dbio_metrics *));
        if (!run->files || !run->workers || !run->write_bytes || !run->metrics)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < run->targets->n; i++) {
                const struct dbio_geometry *geometry = &run->targets->targets[i].geometry;

                run->files[i] = geometry->nfiles;
                if (geometry->sector && run->hba.max_transfer % geometry->sector)
                        return dbio_err_set(err, DBIO_USAGE,
                                            "hba.max_transfer: %llu bytes are no multiple of target %s's sector of %u",
                                            (unsigned long long)run->hba.max_transfer, run->schedule->target_names[i],
                                            geometry->sector);
        }
        return 0;
}

int dbio_run_open(struct dbio_run **out, struct dbio_schedule *schedule, struct dbio_targets *targets,
                  const struct dbio_run_options *options, struct dbio_err *err)
{
        struct dbio_run *run = calloc(1, sizeof *run);

        if (!run)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        run->options = *options;
        if (!run->options.scale_time)
                run->options.scale_time = 1;
        run->schedule = schedule;
        run->targets = targets;
        if (init_run(run, err) || dbio_run_plan_all(run, err) || make_arena(run, err) || make_verify(run, err))
                goto fail;
        for (unsigned i = 0; i < run->nworkers; i++)
                init_worker(run, i);
        if (dbio_run_start_threads(run, err)) {
                dbio_run_stop_threads(run);
                goto fail;
        }
        *out = run;
        return 0;
fail:
        if (run->arena)
                munmap(run->arena, run->arena_bytes);
        for (unsigned i = 0; run->workers && i < run->nworkers; i++)
                dbio_worker_close(&run->workers[i]);
        dbio_verify_free(run->verify);
        free(run->files);
        free(run->workers);
        free(run->write_bytes);
        free(run->metrics);
        free(run);
        return -1;
}

/* Runs whose backends still hold ios: they are kept until the program ends. */
static struct dbio_run *dead_runs;

static void close_worker(struct dbio_run *run, struct dbio_worker *worker)
{
        (void)run;
        /* a backend that waits for a dead device would never come back */
        if (!worker->abandoned)
                dbio_worker_close(worker);
}

void dbio_run_close(struct dbio_run *run)
{
        if (!run)
                return;
        dbio_run_dispatch(run, close_worker, run->nworkers, 0);
        dbio_run_stop_threads(run);
        if (run->dead) {
                run->next_dead = dead_runs;
                dead_runs = run;
                return;
        }
        munmap(run->arena, run->arena_bytes);
        dbio_verify_free(run->verify);
        free(run->files);
        free(run->workers);
        free(run->write_bytes);
        free(run->metrics);
        free(run);
}

int dbio_run_verify(struct dbio_run *run, void (*progress)(void *user, const char *what, uint64_t done, uint64_t all),
                    void *user, struct dbio_verify_report *report, struct dbio_err *err)
{
        int result = 0;

        memset(report, 0, sizeof *report);
        if (!run->verify)
                return 0;
        if (!run->dead)
                result = dbio_verify_sweep(run->verify, run->options.stop, progress, user, err);
        dbio_verify_report(run->verify, report);
        return result;
}
