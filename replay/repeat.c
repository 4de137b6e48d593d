/* One repetition of a session: its phases, one after the other, into the results database. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/hist.h"
#include "replay/progress.h"
#include "replay/session.h"
#include "results/recorder.h"
#include "results/steady.h"
#include "results/validity.h"

struct repeat {
        struct dbio_session *session;
        struct dbio_run *run;
        struct dbio_progress progress;
        struct dbio_recorder *recorder; /* of the phase that runs */
        const struct dbio_phase *phase;
        struct dbio_err *err;
        int64_t run_id;
        bool store_failed;
        bool stopped, failed, errors;
        struct dbio_validity worst;
        char why[256];
        bool valid, mismatch;
        bool judged;   /* a recorded phase has run, wholly or in part */
        bool suffered; /* --stop-if */
        bool unsteady; /* with --strict */
};

static uint64_t clock_ns(clockid_t id)
{
        struct timespec now;

        clock_gettime(id, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t timeval_ns(struct timeval time)
{
        return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void tick(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns)
{
        struct repeat *repeat = user;

        for (unsigned i = 0; i < nr; i++)
                dbio_metrics_drain(metrics[i], dbio_recorder_take, repeat->recorder);
        /* A full disk under the database must not end the replay: the first failure is kept and told at the end. */
        if (!repeat->store_failed && dbio_recorder_tick(repeat->recorder, elapsed_ns, repeat->err))
                repeat->store_failed = true;
        dbio_progress_draw(&repeat->progress, repeat->phase, repeat->recorder, elapsed_ns);
        if (repeat->session->watched && !repeat->suffered &&
            dbio_stop_if_check(&repeat->session->stop_if, clock_ns(CLOCK_MONOTONIC))) {
                repeat->suffered = true;
                dbio_interrupt_flag = 1;
        }
}

static void print_errors(const struct repeat *repeat, const struct dbio_phase_result *result)
{
        for (unsigned i = 0; i < sizeof result->errors / sizeof *result->errors; i++) {
                const struct dbio_io_error *error = &result->errors[i];
                if (!error->error)
                        continue;
                fprintf(stderr, "%s: %llu %s error%s on %s, the first at offset %llu: %s\n",
                        repeat->phase->streams[error->stream].name, (unsigned long long)error->count,
                        dbio_kind_name(error->kind), error->count == 1 ? "" : "s", repeat->session->schedule->target_names[error->target],
                        (unsigned long long)error->first_offset, strerror(error->error));
        }
}

/* A phase's part in the run's validity; the first reason found is the one that is kept. */
static void judge(struct repeat *repeat, const struct dbio_phase_result *result)
{
        struct dbio_validity validity = {
                .lag_p99_ns = dbio_hist_percentile(&result->lag, 0.99),
                .turn_p99_ns = dbio_hist_percentile(&result->turn, 0.99),
                .median_service_ns = dbio_recorder_median_service_ns(repeat->recorder),
                .foreign_share = dbio_recorder_foreign_share(repeat->recorder),
                .foreign_counts = repeat->session->devices.foreign_counts,
                .simulated = repeat->session->simulated,
        };

        repeat->judged |= repeat->phase->record;
        if (!repeat->phase->record || !repeat->valid)
                return;
        repeat->valid = dbio_validity_check(&validity, repeat->why, sizeof repeat->why);
}

static int run_phase(struct repeat *repeat, unsigned index)
{
        struct dbio_session *session = repeat->session;
        struct dbio_phase phase = {0};
        struct dbio_phase_result result = {0};
        struct dbio_recorder_options options = {
                .run_id = repeat->run_id,
                .position = index,
                .interval_ns = session->options.interval_ns,
                .full_intervals = dbio_cmdline_has(session->line, DBIO_OPT_INTERVALS),
                .ndevices = session->devices.n,
                .devices = session->devices.devices,
        };
        int code = -1;

        if (session->schedule->phase_open(session->schedule, index, &phase, repeat->err))
                return -1;
        repeat->phase = &phase;
        if (dbio_recorder_open(&repeat->recorder, session->store, &phase, &options, repeat->err))
                goto out;
        dbio_progress_phase(&repeat->progress, index);
        code = dbio_run_phase(repeat->run, &phase, tick, repeat, &result, repeat->err);
        dbio_progress_end(&repeat->progress);
        if (!code)
                code = dbio_demand_failure(&session->demand, repeat->err);
        /* What a broken backend did until then is kept, too; its error is the one that is told. */
        if ((!code || result.due) &&
            dbio_recorder_finish(repeat->recorder, &result, code || repeat->store_failed ? NULL : repeat->err))
                repeat->store_failed = true;
        if (code)
                goto out;
        print_errors(repeat, &result);
        judge(repeat, &result);
        repeat->stopped = result.stopped;
        repeat->failed = result.timed_out || result.error_stop;
        repeat->errors |= result.errors[0].error != 0 || result.timed_out;
        if (result.ops_log_lost)
                fprintf(stderr, "warning: %llu ops are missing in the ops log: it could not be written as fast\n",
                        (unsigned long long)result.ops_log_lost);
        if (repeat->suffered)
                fprintf(stderr, "--stop-if: await of %s was %.1f ms: the run ends here\n", session->stop_if.device,
                        session->stop_if.await_ns / 1e6);
        if (result.error_stop)
                fprintf(stderr, "the run ends here, as on_error says\n");
        if (result.timed_out)
                fprintf(stderr, "an op was in flight for longer than the timeout: the run ends here\n");
out:
        dbio_recorder_close(repeat->recorder);
        repeat->recorder = NULL;
        dbio_phase_result_release(&result);
        session->schedule->phase_close(session->schedule, &phase);
        return code;
}

static int begin(struct repeat *repeat, const char *label, unsigned repetition, int64_t *set_id)
{
        struct dbio_session *session = repeat->session;
        const struct dbio_workload *workload = &session->demand.workload;
        struct dbio_run_info info = {
                .set_id = *set_id,
                .repetition = repetition,
                .label = label,
                .workload = session->demand.name,
                .workload_text = session->demand.has_workload ? workload->text : NULL,
                .resolved_text = session->demand.has_workload ? workload->resolved : NULL,
                .schedule_hash = session->schedule->hash,
                .seed = session->schedule->seed,
                .engine = session->options.backend->name,
                .simulated = session->simulated,
                .trust = session->simulated ? session->trust : NULL,
                .profile_text = session->profile_text,
                .profile_hash = session->simulated ? session->profile_hash : NULL,
                .tool_version = DBIO_VERSION,
                .options_json = session->options_json,
                .host_json = session->host_json,
                .targets_json = session->targets_json,
                .how = session->how,
                .nlimits = session->nlimits,
                .nobserved = session->nobserved,
                .limits = session->limits,
                .observed = session->observed,
        };

        return dbio_store_run_begin(session->store, &info, &repeat->run_id, set_id, repeat->err);
}

/* --strict: whether show marks a recorded phase as not steady. -1 where that cannot be read. */
static int find_unsteady(struct repeat *repeat)
{
        const struct dbio_schedule *schedule = repeat->session->schedule;

        if (!dbio_cmdline_has(repeat->session->line, DBIO_OPT_STRICT))
                return 0;
        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_steady steady;

                if (dbio_steady_load(repeat->session->store, repeat->run_id, schedule->phase_names[i], &steady, repeat->err))
                        return -1;
                if (steady.snia_checked && !steady.snia.steady) {
                        fprintf(stderr, "--strict: phase %s is not steady\n", schedule->phase_names[i]);
                        repeat->unsteady = true;
                }
        }
        return 0;
}

static int exit_code(const struct repeat *repeat)
{
        if (dbio_interrupt_signal())
                return 128 + dbio_interrupt_signal();
        if (repeat->mismatch)
                return DBIO_MISMATCH;
        if (repeat->errors)
                return DBIO_IO;
        if (repeat->suffered)
                return DBIO_REFUSED;
        return repeat->valid && !repeat->unsteady ? DBIO_OK : DBIO_INVALID;
}

int dbio_session_repeat(struct dbio_session *session, const char *label, unsigned repetition, int64_t *set_id,
                        int64_t *run_id, struct dbio_err *err)
{
        struct repeat repeat = {.session = session, .err = err, .valid = true};
        struct rusage before, after;
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        int code = 0;

        getrusage(RUSAGE_SELF, &before);
        dbio_progress_init(&repeat.progress, dbio_cmdline_has(session->line, DBIO_OPT_QUIET), session->schedule->nphases);
        dbio_session_verify_announce(session);
        /* A run that cannot be opened is no run: only then is one written. */
        if (dbio_run_open(&repeat.run, session->schedule, &session->targets, &session->options, err))
                return -1;
        if (begin(&repeat, label, repetition, set_id)) {
                dbio_run_close(repeat.run);
                return -1;
        }
        *run_id = repeat.run_id;
        session->begun = true;
        for (unsigned i = 0; !code && i < session->schedule->nphases && !repeat.stopped && !repeat.failed; i++)
                code = run_phase(&repeat, i);
        if (!code && !dbio_interrupt_signal()) {
                int verified = dbio_session_verify(session, repeat.run, err);
                repeat.mismatch = verified == DBIO_MISMATCH;
                code = verified < 0 ? -1 : 0;
        }
        dbio_run_close(repeat.run);
        getrusage(RUSAGE_SELF, &after);
        struct dbio_run_outcome outcome = {
                .ntargets = session->targets.n,
                .target_notes = session->simulated ? dbio_sim_set_notes(&session->sim) : (const char *const *)session->notes,
                .status = code || repeat.failed || repeat.store_failed ? "failed" : repeat.stopped ? "interrupted" : "complete",
                .nothing = !repeat.judged,
                .valid = repeat.valid,
                .invalid_why = repeat.valid ? NULL : repeat.why,
                .wall_ns = clock_ns(CLOCK_MONOTONIC) - began,
                .cpu_user_ns = timeval_ns(after.ru_utime) - timeval_ns(before.ru_utime),
                .cpu_sys_ns = timeval_ns(after.ru_stime) - timeval_ns(before.ru_stime),
        };
        if (dbio_store_run_end(session->store, repeat.run_id, &outcome, code || repeat.store_failed ? NULL : err) && !code)
                return -1;
        if (code || repeat.store_failed || find_unsteady(&repeat))
                return -1;
        session->went_on = repeat.errors && !repeat.failed && !repeat.stopped;
        return exit_code(&repeat);
}

bool dbio_session_goes_on(const struct dbio_session *session, int code)
{
        return code == DBIO_OK || code == DBIO_INVALID || (code == DBIO_IO && session->went_on);
}
