#include "tests/simrun.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "patterns/profile.h"
#include "patterns/workload.h"

struct taker {
        struct simrun_phase *phase;
        uint64_t interval_ns;
};

static void take(void *user, const struct dbio_record *record)
{
        struct taker *taker = user;
        struct simrun_stream *stream = &taker->phase->streams[record->stream];

        if (record->type == DBIO_RECORD_EPISODE && !stream->episodes++)
                stream->first = record->episode;
        if (record->type != DBIO_RECORD_INTERVAL)
                return;

        struct simrun_figures *figures = &stream->kinds[record->interval.kind];
        uint64_t at = record->interval.t_ns / taker->interval_ns;

        figures->ios += record->interval.ios;
        figures->bytes += record->interval.bytes;
        dbio_hist_merge(&figures->service, record->interval.service);
        dbio_hist_merge(&figures->response, record->interval.response);
        dbio_hist_merge(&figures->wait, record->interval.wait);
        if (record->interval.kind == DBIO_READ && at < SIMRUN_INTERVALS)
                stream->reads[at] += record->interval.ios;
}

static void tick(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns)
{
        (void)elapsed_ns;
        for (unsigned i = 0; i < nr; i++)
                dbio_metrics_drain(metrics[i], take, user);
}

static double cpu_s(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_phases(struct simrun *run, struct dbio_schedule *schedule, struct dbio_run *engine, uint64_t interval_ns)
{
        struct dbio_err err = {0};

        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct simrun_phase *to = &run->phases[i];
                struct taker taker = {to, interval_ns};
                struct dbio_phase phase = {0};
                struct dbio_phase_result result;

                ck_assert_msg(schedule->phase_open(schedule, i, &phase, &err) == 0, "%s", err.message);
                snprintf(to->name, sizeof to->name, "%s", phase.name);
                to->nstreams = phase.nstreams;
                for (unsigned s = 0; s < phase.nstreams; s++)
                        snprintf(to->streams[s].name, sizeof to->streams[s].name, "%s", phase.streams[s].name);
                run->cpu_s -= cpu_s();
                ck_assert_msg(dbio_run_phase(engine, &phase, tick, &taker, &result, &err) == 0, "%s", err.message);
                run->cpu_s += cpu_s();
                to->duration_ns = result.duration_ns;
                to->outstanding = result.outstanding;
                dbio_phase_result_release(&result);
                schedule->phase_close(schedule, &phase);
        }
        run->nphases = schedule->nphases;
}

struct simrun *simrun(const char *text, const char *const *binding_texts, uint64_t interval_ns)
{
        struct simrun *run = calloc(1, sizeof *run);
        struct dbio_workload workload = {0};
        struct dbio_binding bindings[8] = {{0}};
        struct dbio_sim_set set = {0};
        struct dbio_targets targets = {0};
        struct dbio_geometry geometry[8];
        struct dbio_schedule *schedule = NULL;
        struct dbio_run *engine = NULL;
        struct dbio_err err = {0};
        unsigned n = 0;

        for (; binding_texts[n]; n++)
                ck_assert_msg(dbio_binding_parse(&bindings[n], binding_texts[n], &err) == 0, "%s", err.message);
        ck_assert_msg(dbio_workload_load_text(&workload, "test.yaml", text, strlen(text), NULL, 0, &err) == 0, "%u: %s", err.line,
                      err.message);
        ck_assert_msg(dbio_sim_set_load(&set, bindings, n, &err) == 0, "%s", err.message);

        struct dbio_target_options options = {.sim_geometry = dbio_sim_set_geometry, .sim_user = &set};

        ck_assert_msg(dbio_targets_resolve(&targets, workload.targets, workload.ntargets, bindings, n, &options, &err) == 0, "%s",
                      err.message);
        ck_assert_msg(dbio_sim_set_place(&set, workload.targets, &targets, workload.seed, &err) == 0, "%s", err.message);
        for (unsigned i = 0; i < targets.n; i++)
                geometry[i] = targets.targets[i].geometry;
        ck_assert_msg(dbio_workload_compile(&workload, geometry, &schedule, &err) == 0, "%s", err.message);
        memcpy(run->schedule_hash, workload.hash, sizeof run->schedule_hash);

        struct dbio_run_options run_options = {
                .backend = dbio_backend_find("sim"), .interval_ns = interval_ns, .timeout_ns = UINT64_C(30000000000),
                .scale_time = 1, .null_payload = true, .sim = &set.spec};

        ck_assert_msg(dbio_run_open(&engine, schedule, &targets, &run_options, &err) == 0, "%s", err.message);
        run_phases(run, schedule, engine, interval_ns);
        dbio_run_close(engine);
        for (unsigned i = 0; i < set.spec.ntargets; i++) {
                run->split.ios += set.spec.split[i].ios;
                run->split.split += set.spec.split[i].split;
                run->split.pieces += set.spec.split[i].pieces;
        }
        schedule->free(schedule);
        dbio_sim_set_release(&set);
        dbio_targets_close(&targets);
        dbio_workload_release(&workload);
        for (unsigned i = 0; i < n; i++)
                dbio_binding_release(&bindings[i]);
        return run;
}

struct simrun_stream *simrun_stream(struct simrun *run, const char *phase, const char *stream)
{
        for (unsigned i = 0; i < run->nphases; i++)
                for (unsigned s = 0; s < run->phases[i].nstreams; s++)
                        if (!strcmp(run->phases[i].name, phase) && !strcmp(run->phases[i].streams[s].name, stream))
                                return &run->phases[i].streams[s];
        ck_abort_msg("no stream %s in phase %s", stream, phase);
        return NULL;
}
