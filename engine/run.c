#include "engine/run.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "engine/placement.h"
#include "engine/worker.h"

#define WORKERS_MAX 64u
#define WORKERS_AUTO 8u
#define RING_BYTES (1u << 20)
#define UNCAPPED_BYTES (32u << 20) /* buffers of a writing stream without a depth */
#define STREAM_BYTES (256u << 20)  /* at most, of any */
#define OPSLOG_NS 10000000u /* so often is an ops log emptied */
#define START_NS 500000u           /* from the order to start until time 0: all workers are awake by then */

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

/* --- planning ----------------------------------------------------------------------------------------------------- */

static unsigned count_cpus(void)
{
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof set, &set))
                return 1;
        return (unsigned)CPU_COUNT(&set);
}

static unsigned most_workers(const struct dbio_run *run)
{
        unsigned n = run->options.workers;

        if (run->clock->is_virtual)
                return 1;
        if (!n)
                n = run->ncpus < WORKERS_AUTO ? run->ncpus : WORKERS_AUTO;
        return n < WORKERS_MAX ? n : WORKERS_MAX;
}

static bool owns_buffers(const struct dbio_run *run, const struct dbio_stream *stream)
{
        for (unsigned i = 0; i < stream->nuses; i++)
                if (stream->uses[i].writes)
                        return true;
        return run->options.verify;
}

/* Buffers of a worker's writes, by the depths of its sources. */
static uint64_t bytes_of(const struct dbio_run *run, const struct dbio_phase *phase,
                         const struct dbio_lane_spec *lanes, unsigned n)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < n;) {
                const struct dbio_stream *stream = &phase->streams[lanes[i].stream];
                uint64_t each = dbio_buffers_round(stream->max_length), bytes;
                unsigned first = i;

                while (i < n && lanes[i].stream == lanes[first].stream)
                        i++;
                if (!owns_buffers(run, stream))
                        continue;
                bytes = stream->depth ? each * stream->depth * (i - first) : each * 2048;
                if (!stream->depth && bytes > UNCAPPED_BYTES)
                        bytes = UNCAPPED_BYTES;
                if (bytes > STREAM_BYTES)
                        bytes = STREAM_BYTES;
                sum += bytes > 4 * each ? bytes : 4 * each;
        }
        return sum;
}

static uint64_t scratch_of(const struct dbio_phase *phase)
{
        uint64_t bytes = DBIO_BUFFERS_BLOCK;

        for (unsigned i = 0; i < phase->nstreams; i++)
                if (dbio_buffers_round(phase->streams[i].max_length) > bytes)
                        bytes = dbio_buffers_round(phase->streams[i].max_length);
        return bytes;
}

/* Bytes of the two areas that writes of zeroes and of 0xC0 come from. */
static uint64_t fill_of(const struct dbio_phase *phase)
{
        uint64_t bytes = 0;

        for (unsigned i = 0; i < phase->nstreams; i++)
                if (phase->streams[i].fills && dbio_buffers_round(phase->streams[i].max_length) > bytes)
                        bytes = dbio_buffers_round(phase->streams[i].max_length);
        return bytes;
}

static struct dbio_pacer_config pacer_config(const struct dbio_run *run, const struct dbio_phase *phase,
                                             const struct dbio_placement *placement, unsigned worker)
{
        return (struct dbio_pacer_config){
                .phase = phase,
                .hba = run->hba,
                .worker = worker,
                .nworkers = placement->nworkers,
                .lanes = placement->lanes + placement->first[worker],
                .nlanes = placement->first[worker + 1] - placement->first[worker],
                .scale_time = run->options.scale_time,
                .max_iops = run->options.max_iops,
                .max_bytes_per_s = run->options.max_bytes_per_s,
                .files = run->files,
                .buffer_reads = run->options.verify,
        };
}

/* What one phase needs of each worker, taken into the run's maxima. */
static int plan_phase(struct dbio_run *run, const struct dbio_phase *phase, struct dbio_err *err)
{
        struct dbio_placement placement;

        if (dbio_placement_init(&placement, phase, most_workers(run)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (placement.nworkers > run->nworkers)
                run->nworkers = placement.nworkers;
        if (scratch_of(phase) > run->scratch_bytes)
                run->scratch_bytes = scratch_of(phase);
        if (fill_of(phase) > run->fill_bytes)
                run->fill_bytes = fill_of(phase);
        for (unsigned i = 0; i < placement.nworkers; i++) {
                struct dbio_pacer_config config = pacer_config(run, phase, &placement, i);
                uint64_t bytes = bytes_of(run, phase, config.lanes, config.nlanes);
                unsigned ops, commands;

                dbio_pacer_room(&config, &ops, &commands);
                if (commands > run->workers[i].ncommands)
                        run->workers[i].ncommands = commands;
                if (bytes > run->write_bytes[i])
                        run->write_bytes[i] = bytes;
        }
        dbio_placement_release(&placement);
        return 0;
}

static int plan_all(struct dbio_run *run, struct dbio_err *err)
{
        for (unsigned i = 0; i < run->schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                int result = run->schedule->phase_open(run->schedule, i, &phase, err);

                if (!result)
                        result = plan_phase(run, &phase, err);
                run->schedule->phase_close(run->schedule, &phase);
                if (result)
                        return -1;
        }
        return 0;
}

void dbio_run_plan(const struct dbio_run *run, const struct dbio_phase *phase, unsigned *workers, uint64_t *arena_bytes)
{
        struct dbio_placement placement;

        *workers = 0;
        *arena_bytes = run->arena_bytes;
        if (dbio_placement_init(&placement, phase, most_workers(run)))
                return;
        *workers = placement.nworkers;
        *arena_bytes = placement.nworkers * scratch_of(phase) + 2 * fill_of(phase);
        for (unsigned i = 0; i < placement.nworkers; i++)
                *arena_bytes += bytes_of(run, phase, placement.lanes + placement.first[i],
                                         placement.first[i + 1] - placement.first[i]);
        dbio_placement_release(&placement);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

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

static void drain_opslogs(void *user)
{
        struct dbio_run *run = user;

        for (unsigned i = 0; i < run->active; i++)
                if (run->workers[i].opslog)
                        dbio_opslog_drain(run->options.opslog, run->workers[i].opslog);
}

static void call_tick(struct dbio_run *run, uint64_t elapsed_ns)
{
        drain_opslogs(run);
        run->tick(run->user, run->metrics, run->active, elapsed_ns);
}

/* Lets workers 0 … n-1 do a job and waits for them; with every_ns, calls tick so often meanwhile. */
static void dispatch(struct dbio_run *run, void (*job)(struct dbio_run *, struct dbio_worker *), unsigned n,
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

                drain_opslogs(run);
                if (now_ns >= next_ns) {
                        call_tick(run, now_ns > start_ns ? now_ns - start_ns : 0);
                        next_ns = dbio_clock_now(run->clock) + every_ns;
                }
                pthread_mutex_lock(&run->mutex);
        }
        pthread_mutex_unlock(&run->mutex);
}

static int start_threads(struct dbio_run *run, struct dbio_err *err)
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

static void stop_threads(struct dbio_run *run)
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

/* --- opening and closing ------------------------------------------------------------------------------------------ */

static uint64_t guard_of(const struct dbio_run *run, unsigned worker)
{
        static const uint64_t guards_ns[] = {
                [DBIO_PACING_PRECISE] = 50000, [DBIO_PACING_BALANCED] = 30000, [DBIO_PACING_FRUGAL] = 0};

        /* one CPU at least is for the store and all that is not ours */
        if (run->clock->is_virtual || worker + 1 >= run->ncpus)
                return 0;
        return guards_ns[run->options.pacing];
}

static void init_worker(struct dbio_run *run, unsigned number)
{
        struct dbio_worker *worker = &run->workers[number];

        worker->number = number;
        worker->backend = run->options.backend;
        worker->clock = run->clock;
        worker->targets = run->targets;
        worker->stop = run->options.stop;
        worker->guard_ns = guard_of(run, number);
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
        unsigned most = most_workers(run);

        run->workers = calloc(most, sizeof *run->workers);
        run->write_bytes = calloc(most, sizeof *run->write_bytes);
        run->metrics = calloc(most, sizeof(struct dbio_metrics *));
        if (!run->files || !run->workers || !run->write_bytes || !run->metrics)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < run->targets->n; i++)
                run->files[i] = run->targets->targets[i].geometry.nfiles;
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
        if (init_run(run, err) || plan_all(run, err) || make_arena(run, err) || make_verify(run, err))
                goto fail;
        for (unsigned i = 0; i < run->nworkers; i++)
                init_worker(run, i);
        if (start_threads(run, err)) {
                stop_threads(run);
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
        dispatch(run, close_worker, run->nworkers, 0);
        stop_threads(run);
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

/* --- a phase ------------------------------------------------------------------------------------------------------ */

static void open_worker(struct dbio_run *run, struct dbio_worker *worker)
{
        struct dbio_err err = {0};
        struct dbio_backend_env env = {
                .clock = run->clock,
                .files = run->targets->io_files,
                .nfiles = run->targets->nfiles,
                .arena = run->arena,
                .arena_bytes = run->arena_bytes,
                .max_inflight = worker->ncommands,
                .sim = run->options.sim,
        };

        if (worker->state || !dbio_worker_open(worker, &env, &err))
                return;
        pthread_mutex_lock(&run->mutex);
        if (!run->err.code)
                run->err = err;
        pthread_mutex_unlock(&run->mutex);
}

static void run_worker(struct dbio_run *run, struct dbio_worker *worker)
{
        (void)run;
        dbio_worker_run(worker);
}

static void tick_inline(struct dbio_worker *worker, uint64_t now_ns)
{
        call_tick(worker->user, now_ns);
}

static void make_room(void *user)
{
        struct dbio_run *run = user;

        call_tick(run, run->workers[0].now_ns);
}

static struct dbio_report *report_of(void *user, unsigned stream)
{
        return dbio_metrics_report(((struct dbio_worker *)user)->metrics, stream);
}

static uint64_t scaled(const struct dbio_run *run, uint64_t ns)
{
        return ns == UINT64_MAX || run->options.scale_time == 1 ? ns
                                                                : (uint64_t)((double)ns * run->options.scale_time);
}

static int equip_opslog(struct dbio_run *run, const struct dbio_phase *phase, struct dbio_worker *worker)
{
        if (!run->options.opslog || !phase->record)
                return 0;
        worker->opslog = aligned_alloc(64, (sizeof *worker->opslog + 63) & ~(size_t)63);
        if (!worker->opslog || dbio_opslog_buffer_init(worker->opslog))
                return -1;
        worker->opslog->user = run;
        if (run->clock->is_virtual)
                worker->opslog->make_room = drain_opslogs;
        return 0;
}

static int equip_worker(struct dbio_run *run, struct dbio_phase *phase, const struct dbio_placement *placement,
                        struct dbio_beacon *beacons, unsigned number)
{
        struct dbio_worker *worker = &run->workers[number];
        struct dbio_metrics_config metrics = {
                .phase = phase, .beacons = beacons, .nworkers = placement->nworkers, .worker = number,
                .interval_ns = run->options.interval_ns, .ring_bytes = RING_BYTES,
                .scale_time = run->options.scale_time,
                .make_room = run->clock->is_virtual ? make_room : NULL, .user = run,
        };
        struct dbio_pacer_config pacer = pacer_config(run, phase, placement, number);

        worker->crew = run->crew;
        worker->tick = run->clock->is_virtual ? tick_inline : NULL;
        worker->end_ns = scaled(run, phase->duration_ns);
        worker->metrics = run->metrics[number] = dbio_metrics_new(&metrics);
        if (!worker->metrics)
                return -1;
        pacer.pace = &run->crew->pace;
        pacer.end_ns = worker->end_ns;
        pacer.buffers = &worker->buffers;
        pacer.report = report_of;
        pacer.user = worker;
        worker->pacer = dbio_pacer_new(&pacer);
        return worker->pacer && !equip_opslog(run, phase, worker) ? 0 : -1;
}

static void add_errors(struct dbio_phase_result *result, const struct dbio_io_error *errors)
{
        for (unsigned i = 0; i < DBIO_WORKER_ERRORS && errors[i].error; i++) {
                const struct dbio_io_error *from = &errors[i];
                unsigned n = sizeof result->errors / sizeof *result->errors;

                for (unsigned k = 0; k < n; k++) {
                        struct dbio_io_error *to = &result->errors[k];

                        if (!to->error) {
                                *to = *from;
                                break;
                        }
                        if (to->stream == from->stream && to->error == from->error && to->is_short == from->is_short) {
                                to->count += from->count;
                                break;
                        }
                }
        }
}

static void add_use(struct dbio_limit_use *to, const struct dbio_limit_use *from)
{
        to->cap = from->cap;
        if (from->peak > to->peak)
                to->peak = from->peak;
        to->hits += from->hits;
        to->wait_ns += from->wait_ns;
        if (from->at_cap_ns > to->at_cap_ns)
                to->at_cap_ns = from->at_cap_ns;
}

static void add_worker(struct dbio_phase_result *result, const struct dbio_phase *phase, struct dbio_worker *worker)
{
        const struct dbio_pacer_figures *figures = dbio_pacer_figures(worker->pacer);

        for (unsigned i = 0; i < phase->nstreams; i++) {
                result->due[i] += figures->issued[i] + figures->unissued[i];
                result->unissued[i] += figures->unissued[i];
        }
        if (worker->last_ns > result->duration_ns)
                result->duration_ns = worker->last_ns;
        result->intervals_late += dbio_metrics_late(worker->metrics);
        dbio_hist_merge(&result->lag, dbio_metrics_lag(worker->metrics));
        dbio_hist_merge(&result->turn, &worker->turn);
        add_use(&result->outstanding, &figures->outstanding);
        add_use(&result->transfer, &figures->transfer);
        add_errors(result, worker->errors);
        if (worker->opslog) {
                result->ops_logged += worker->opslog->logged;
                result->ops_log_lost += worker->opslog->lost;
        }
}

/* Memory of a phase's workers beside their own. */
struct gear {
        struct dbio_placement placement;
        struct dbio_beacon *beacons;
        unsigned nios;
};

static int make_gear(struct dbio_run *run, const struct dbio_phase *phase, struct gear *gear)
{
        unsigned n, ports = run->hba.ports;

        if (dbio_placement_init(&gear->placement, phase, run->nworkers))
                return -1;
        n = gear->placement.nworkers;
        gear->nios = (phase->nstreams + 7 + 8) & ~7u;
        gear->beacons = aligned_alloc(64, n * sizeof *gear->beacons);
        run->crew = aligned_alloc(64, sizeof *run->crew);
        if (!gear->beacons || !run->crew)
                return -1;
        memset(run->crew, 0, sizeof *run->crew);
        memset(gear->beacons, 0, n * sizeof *gear->beacons);
        run->crew->pace.ports = aligned_alloc(64, n * ports * sizeof *run->crew->pace.ports);
        if (!run->crew->pace.ports)
                return -1;
        memset(run->crew->pace.ports, 0, n * ports * sizeof *run->crew->pace.ports);
        for (unsigned i = 0; i < n; i++) {
                gear->beacons[i].ios = aligned_alloc(64, gear->nios * sizeof *gear->beacons[i].ios);
                if (!gear->beacons[i].ios)
                        return -1;
                memset((void *)gear->beacons[i].ios, 0, gear->nios * sizeof *gear->beacons[i].ios);
        }
        return 0;
}

static void free_gear(struct dbio_run *run, struct gear *gear)
{
        for (unsigned i = 0; i < run->nworkers; i++) {
                dbio_pacer_free(run->workers[i].pacer);
                dbio_metrics_free(run->workers[i].metrics);
                run->workers[i].pacer = NULL;
                if (run->workers[i].opslog)
                        dbio_opslog_buffer_release(run->workers[i].opslog);
                free(run->workers[i].opslog);
                run->workers[i].opslog = NULL;
                run->workers[i].metrics = run->metrics[i] = NULL;
        }
        for (unsigned i = 0; gear->beacons && i < gear->placement.nworkers; i++)
                free((void *)gear->beacons[i].ios);
        free(gear->beacons);
        if (run->crew)
                free(run->crew->pace.ports);
        free(run->crew);
        run->crew = NULL;
        dbio_placement_release(&gear->placement);
}

static int equip(struct dbio_run *run, struct dbio_phase *phase, struct gear *gear, struct dbio_err *err)
{
        unsigned finite = 0;

        if (make_gear(run, phase, gear))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < gear->placement.nworkers; i++) {
                if (equip_worker(run, phase, &gear->placement, gear->beacons, i))
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                finite += dbio_pacer_left(run->workers[i].pacer, true);
        }
        atomic_store(&run->crew->finite_left, finite);
        run->crew->ends_with_finite = finite && phase->duration_ns == UINT64_MAX && phase->ops == UINT64_MAX;
        run->active = gear->placement.nworkers;
        if (run->options.opslog && phase->record)
                dbio_opslog_phase(run->options.opslog, run->schedule, phase);
        run->err = (struct dbio_err){0};
        dispatch(run, open_worker, gear->placement.nworkers, 0);
        if (run->err.code) {
                if (err)
                        *err = run->err;
                return -1;
        }
        return 0;
}

static void go(struct dbio_run *run, struct dbio_phase_result *result, unsigned n)
{
        uint64_t every_ns = run->options.interval_ns < 1000000000u ? run->options.interval_ns : 1000000000u;

        result->started_ns = dbio_clock_now(run->clock) + (run->clock->is_virtual ? 0 : START_NS);
        for (unsigned i = 0; i < n; i++)
                run->workers[i].start_ns = result->started_ns;
        dispatch(run, run_worker, n, every_ns);
        run->active = n;
        call_tick(run, dbio_clock_now(run->clock) - result->started_ns);
}

static int conclude(struct dbio_run *run, const struct dbio_phase *phase, struct dbio_phase_result *result, unsigned n,
                    struct dbio_err *err)
{
        int stop = atomic_load(&run->crew->stop), broken = 0;

        for (unsigned i = 0; i < n; i++) {
                add_worker(result, phase, &run->workers[i]);
                run->dead |= run->workers[i].abandoned;
                if (run->workers[i].broken)
                        broken = run->workers[i].broken;
        }
        result->stopped = stop == DBIO_STOP_ASKED;
        result->timed_out = stop == DBIO_STOP_TIMED_OUT;
        result->error_stop = stop == DBIO_STOP_ERRORS;
        if (broken)
                return dbio_err_set(err, DBIO_IO, "engine %s failed: %s", run->options.backend->name, strerror(broken));
        return 0;
}

int dbio_run_phase(struct dbio_run *run, struct dbio_phase *phase,
                   void (*tick)(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns),
                   void *user, struct dbio_phase_result *result, struct dbio_err *err)
{
        struct gear gear = {0};
        int status = -1;

        memset(result, 0, sizeof *result);
        if (run->dead)
                return dbio_err_set(err, DBIO_IO, "ops of an earlier phase never came back");
        result->due = calloc(phase->nstreams + 1, sizeof *result->due);
        result->unissued = calloc(phase->nstreams + 1, sizeof *result->unissued);
        if (!result->due || !result->unissued) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        run->tick = tick;
        run->user = user;
        if (equip(run, phase, &gear, err))
                goto out;
        go(run, result, gear.placement.nworkers);
        status = conclude(run, phase, result, gear.placement.nworkers, err);
out:
        free_gear(run, &gear);
        return status;
}

void dbio_phase_result_release(struct dbio_phase_result *result)
{
        free(result->due);
        free(result->unissued);
        result->due = result->unissued = NULL;
}
