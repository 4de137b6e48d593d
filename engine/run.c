#include "engine/run.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run_inside.h"

#define RING_BYTES (1u << 20)
#define START_NS 500000u /* from the order to start until time 0: all workers are awake by then */

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
        dbio_run_tick(worker->user, now_ns);
}

static void make_room(void *user)
{
        struct dbio_run *run = user;

        dbio_run_tick(run, run->workers[0].now_ns);
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
                worker->opslog->make_room = dbio_run_drain_opslogs;
        return 0;
}

static int equip_payload(const struct dbio_phase *phase, struct dbio_worker *worker)
{
        if (worker->null_payload || !worker->payload.memory)
                return 0;
        worker->mixes = calloc(phase->nstreams + 1, sizeof *worker->mixes);
        for (unsigned i = 0; worker->mixes && i < phase->nstreams; i++) {
                int mix = dbio_payload_mix(&worker->payload, phase->streams[i].compressible, phase->streams[i].dedup);

                if (mix < 0)
                        return -1;
                worker->mixes[i] = (uint16_t)mix;
        }
        return worker->mixes ? 0 : -1;
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
        struct dbio_pacer_config pacer = dbio_run_pacer_config(run, phase, placement, number);

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
        return worker->pacer && !equip_payload(phase, worker) && !equip_opslog(run, phase, worker) ? 0 : -1;
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
        unsigned nstreams;
};

static int make_gear(struct dbio_run *run, const struct dbio_phase *phase, struct gear *gear)
{
        unsigned n, ports = run->hba.ports;

        if (dbio_placement_init(&gear->placement, phase, run->nworkers))
                return -1;
        n = gear->placement.nworkers;
        gear->nstreams = (phase->nstreams + 7 + 8) & ~7u;
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
                gear->beacons[i].read_bytes = aligned_alloc(64, gear->nstreams * sizeof *gear->beacons[i].read_bytes);
                if (!gear->beacons[i].read_bytes)
                        return -1;
                memset((void *)gear->beacons[i].read_bytes, 0, gear->nstreams * sizeof *gear->beacons[i].read_bytes);
        }
        return 0;
}

static void free_gear(struct dbio_run *run, struct gear *gear)
{
        for (unsigned i = 0; i < run->nworkers; i++) {
                dbio_pacer_free(run->workers[i].pacer);
                dbio_metrics_free(run->workers[i].metrics);
                run->workers[i].pacer = NULL;
                free(run->workers[i].mixes);
                run->workers[i].mixes = NULL;
                if (run->workers[i].opslog)
                        dbio_opslog_buffer_release(run->workers[i].opslog);
                free(run->workers[i].opslog);
                run->workers[i].opslog = NULL;
                run->workers[i].metrics = run->metrics[i] = NULL;
        }
        for (unsigned i = 0; gear->beacons && i < gear->placement.nworkers; i++)
                free((void *)gear->beacons[i].read_bytes);
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
        run->crew->max_spinning = run->ncpus - 1; /* one CPU at least is for the store and all that is not ours */
        run->crew->ends_with_finite = finite && phase->duration_ns == UINT64_MAX && phase->ops == UINT64_MAX;
        run->active = gear->placement.nworkers;
        if (run->options.opslog && phase->record)
                dbio_opslog_phase(run->options.opslog, run->schedule, phase);
        run->err = (struct dbio_err){0};
        dbio_run_dispatch(run, open_worker, gear->placement.nworkers, 0);
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
        dbio_run_dispatch(run, run_worker, n, every_ns);
        run->active = n;
        dbio_run_tick(run, dbio_clock_now(run->clock) - result->started_ns);
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
