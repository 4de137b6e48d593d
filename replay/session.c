#include "replay/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/backend_faulty.h"
#include "engine/guard.h"
#include "engine/precondition.h"
#include "engine/units.h"
#include "replay/progress.h"
#include "replay/refind.h"
#include "replay/sessioninfo.h"

static const char *value(const struct dbio_cmdline *line, enum dbio_option_id id)
{
        return dbio_cmdline_value(line, id);
}

static int read_double(const struct dbio_cmdline *line, enum dbio_option_id id, double *out, struct dbio_err *err)
{
        const char *text = value(line, id);
        struct dbio_err why = {0};

        if (!text)
                return 0;
        if (dbio_parse_factor(text, out, &why) || *out <= 0)
                return dbio_err_set(err, DBIO_USAGE, "--%s %s: a number above 0 is right", dbio_options[id].name, text);
        return 0;
}

static int read_time(const struct dbio_cmdline *line, enum dbio_option_id id, uint64_t *out, uint64_t min,
                     struct dbio_err *err)
{
        struct dbio_err why = {0};

        if (dbio_parse_time(value(line, id), out, &why))
                return dbio_err_set(err, DBIO_USAGE, "--%s %s: %s", dbio_options[id].name, value(line, id), why.message);
        if (*out < min)
                return dbio_err_set(err, DBIO_USAGE, "--%s %s: at least %g ms is right", dbio_options[id].name,
                                    value(line, id), (double)min / 1e6);
        return 0;
}

/* The workload's on_error, timeout and workers, unless the command line has them. */
static int read_run_options(struct dbio_session *session, struct dbio_err *err)
{
        const struct dbio_cmdline *line = session->line;
        const struct dbio_workload *workload = &session->demand.workload;
        struct dbio_run_options *options = &session->options;
        const char *text;
        struct dbio_err why = {0};
        uint64_t number;

        options->scale_time = 1;
        options->stop = &dbio_interrupt_flag;
        options->verify = dbio_cmdline_has(line, DBIO_OPT_VERIFY);
        if (session->demand.has_workload) {
                options->compressible = workload->compressible;
                options->dedup = workload->dedup;
                options->max_errors = workload->max_errors == DBIO_UNSET - 1 ? 0 : workload->max_errors;
                options->workers = workload->workers == DBIO_UNSET ? 0 : (unsigned)workload->workers;
        }
        if (read_time(line, DBIO_OPT_INTERVAL, &options->interval_ns, 10000000, err) ||
            read_time(line, DBIO_OPT_TIMEOUT, &options->timeout_ns, 1000000, err) ||
            read_double(line, DBIO_OPT_SCALE_TIME, &options->scale_time, err) ||
            read_double(line, DBIO_OPT_MAX_IOPS, &options->max_iops, err) ||
            read_double(line, DBIO_OPT_MAX_MIBS, &options->max_bytes_per_s, err))
                return -1;
        options->max_bytes_per_s *= 1048576;
        session->watched = dbio_cmdline_has(line, DBIO_OPT_STOP_IF);
        if (session->watched && dbio_stop_if_parse(&session->stop_if, value(line, DBIO_OPT_STOP_IF), err))
                return -1;
        if (!dbio_cmdline_has(line, DBIO_OPT_TIMEOUT) && session->demand.has_workload && workload->timeout_ns != DBIO_UNSET)
                options->timeout_ns = workload->timeout_ns;
        text = value(line, DBIO_OPT_PACING);
        options->pacing = !strcmp(text, "frugal")     ? DBIO_PACING_FRUGAL
                          : !strcmp(text, "balanced") ? DBIO_PACING_BALANCED
                                                      : DBIO_PACING_PRECISE;
        if (dbio_cmdline_has(line, DBIO_OPT_WORKERS)) {
                text = value(line, DBIO_OPT_WORKERS);
                if (!strcmp(text, "auto"))
                        options->workers = 0;
                else if (dbio_parse_count(text, &number, &why) || !number || number > 256)
                        return dbio_err_set(err, DBIO_USAGE, "--workers %s: auto, or 1 to 256, is right", text);
                else
                        options->workers = (unsigned)number;
        }
        if (dbio_cmdline_has(line, DBIO_OPT_ON_ERROR)) {
                text = value(line, DBIO_OPT_ON_ERROR);
                if (!strcmp(text, "stop"))
                        options->max_errors = 0;
                else if (!strcmp(text, "continue"))
                        options->max_errors = UINT64_MAX;
                else if (dbio_parse_count(text, &options->max_errors, &why))
                        return dbio_err_set(err, DBIO_USAGE, "--on-error %s: stop, continue or a count is right", text);
        }
        return 0;
}

/* Which streams touch which targets. */
static void see_uses(void *user, const struct dbio_phase *phase)
{
        struct dbio_session *session = user;

        for (unsigned s = 0; s < phase->nstreams; s++)
                for (unsigned u = 0; u < phase->streams[s].nuses; u++) {
                        struct dbio_target_spec *spec = &session->demand.specs[phase->streams[s].uses[u].target];
                        spec->reads |= phase->streams[s].uses[u].reads;
                        spec->writes |= phase->streams[s].uses[u].writes;
                }
}

static int find_uses(struct dbio_session *session, struct dbio_err *err)
{
        if (dbio_demand_try(&session->demand, session->schedule, see_uses, session, err))
                return -1;
        for (unsigned i = 0; i < session->targets.n; i++)
                session->demand.specs[i].writes |= dbio_precondition_asked(&session->demand.specs[i].precondition);
        return 0;
}

/* DBIO_FAULTS, for tests: faults as engine/backend_faulty.h says, put upon whatever engine is used. */
static int add_faults(struct dbio_run_options *options, struct dbio_err *err)
{
        static struct dbio_fault_plan plan;
        const char *text = getenv("DBIO_FAULTS");
        struct dbio_err why = {0};

        if (!text)
                return 0;
        if (dbio_fault_plan_parse(&plan, text, &why))
                return dbio_err_set(err, DBIO_USAGE, "DBIO_FAULTS: %s", why.message);
        plan.inner = options->backend;
        options->backend = dbio_backend_faulty(&plan);
        return 0;
}

static int choose_engine(struct dbio_session *session, struct dbio_err *err)
{
        const char *name = value(session->line, DBIO_OPT_ENGINE);
        struct dbio_run_options *options = &session->options;

        if (session->simulated && strcmp(name, "auto"))
                return dbio_err_set(err, DBIO_USAGE, "--engine %s: simulated targets are carried out by their simulation",
                                    name);
        if (session->simulated) {
                options->backend = dbio_backend_find("sim");
                options->sim = &session->sim.spec;
                snprintf(session->engine_why, sizeof session->engine_why, "simulated device, virtual time");
        } else if (!strcmp(name, "auto")) {
                options->backend = dbio_backend_choose(session->targets.io_files, session->targets.nfiles,
                                                       session->engine_why, sizeof session->engine_why);
        } else {
                options->backend = dbio_backend_find(name);
                snprintf(session->engine_why, sizeof session->engine_why, "as asked");
        }
        if (!options->backend)
                return dbio_err_set(err, DBIO_USAGE, "no engine %s", name);
        /* Neither keeps what is written. */
        options->null_payload = session->simulated || !strcmp(options->backend->name, "null");
        if (options->verify && options->null_payload)
                return dbio_err_set(err, DBIO_USAGE, "--verify needs a device that keeps what is written: %s does not",
                                    session->simulated ? "a simulated one" : "the null engine");
        return add_faults(options, err);
}

/* A study opens one session a run: what was said of a target is not said again. */
static bool said_before(const char *text)
{
        static char **said;
        static unsigned n;

        for (unsigned i = 0; i < n; i++)
                if (!strcmp(said[i], text))
                        return true;
        char **grown = realloc(said, (n + 1) * sizeof *said);
        if (grown) {
                said = grown;
                said[n] = strdup(text);
                n += said[n] != NULL;
        }
        return false;
}

static void warn(void *user, const char *text)
{
        (void)user;
        if (!said_before(text))
                fprintf(stderr, "warning: %s\n", text);
}

static void tell(void *user, const char *text)
{
        (void)user;
        if (!said_before(text))
                fprintf(stderr, "%s\n", text);
}

static int guard(struct dbio_session *session, struct dbio_err *err)
{
        const struct dbio_cmdline *line = session->line;
        struct dbio_guard_options options = {
                .allow_write = dbio_cmdline_has(line, DBIO_OPT_ALLOW_WRITE),
                .allow_busy = dbio_cmdline_has(line, DBIO_OPT_ALLOW_BUSY),
                .prepare = dbio_cmdline_has(line, DBIO_OPT_PREPARE),
                .destroy = line->options[DBIO_OPT_DESTROY].values,
                .ndestroy = line->options[DBIO_OPT_DESTROY].n,
                .database = dbio_database_path(line),
                .warn = warn,
        };

        if (dbio_guard_check(&session->targets, session->demand.specs, &options, err))
                return -1;
        if (options.capped) {
                if (!session->options.max_iops)
                        session->options.max_iops = 500;
                if (!session->options.max_bytes_per_s)
                        session->options.max_bytes_per_s = 50 * 1048576.0;
        }
        return 0;
}

/* Those of targets that are not bound yet. */
static int add_bindings(struct dbio_session *session, const struct dbio_option_value *more, const char *earlier_targets,
                        struct dbio_err *err)
{
        unsigned bound = session->nbindings;

        if (!more)
                return 0;
        session->bindings = realloc(session->bindings, (bound + more->n + 1) * sizeof *session->bindings);
        for (unsigned i = 0; i < more->n; i++) {
                size_t size = strcspn(more->values[i], "=");
                unsigned k = 0;
                while (k < bound && (strncmp(session->bindings[k].target, more->values[i], size) ||
                                     session->bindings[k].target[size]))
                        k++;
                if (k < bound)
                        continue;
                struct dbio_binding *binding = &session->bindings[session->nbindings];
                if (dbio_binding_parse(binding, more->values[i], err))
                        return -1;
                session->nbindings++;
                if (dbio_binding_refind(binding, earlier_targets, err))
                        return -1;
        }
        return 0;
}

/* The line's, where a study's cell does not bind the same target. */
static int add_line_bindings(struct dbio_session *session, struct dbio_err *err)
{
        struct dbio_binding *line;
        unsigned n, bound = session->nbindings;

        if (dbio_bindings_read(session->line, &line, &n, err))
                return -1;
        session->bindings = realloc(session->bindings, (bound + n + 1) * sizeof *session->bindings);
        for (unsigned i = 0; i < n; i++) {
                unsigned k = 0;
                while (k < bound && strcmp(session->bindings[k].target, line[i].target))
                        k++;
                if (k < bound)
                        dbio_binding_release(&line[i]);
                else
                        session->bindings[session->nbindings++] = line[i];
        }
        free(line);
        return 0;
}

static int read_bindings(struct dbio_session *session, const struct dbio_session_extra *extra, struct dbio_err *err)
{
        return (extra && add_bindings(session, extra->cell, NULL, err)) || add_line_bindings(session, err) ||
                               (extra && add_bindings(session, extra->earlier, extra->earlier_targets, err))
                       ? -1
                       : 0;
}

/* A real array does not tell how large its cache is. */
static void warn_of_caches(const struct dbio_session *session)
{
        const struct dbio_sim_spec *spec = &session->sim.spec;

        for (unsigned i = 0; i < spec->ntargets; i++) {
                const struct dbio_sim_place *place = &spec->targets[i];
                const struct dbio_sim_profile *profile = spec->devices[place->device].profile;
                uint64_t bytes = place->file_size * place->nfiles;
                char text[400];

                if (!profile->has_cache || bytes >= 2 * profile->cache.size)
                        continue;
                snprintf(text, sizeof text, "target %s (%llu MiB) is smaller than twice the cache of %s (%llu MiB): its figures "
                                            "may be the cache's", session->targets.targets[i].name,
                         (unsigned long long)(bytes >> 20), profile->name, (unsigned long long)(profile->cache.size >> 20));
                warn(NULL, text);
        }
}

/* A trace of a larger device can be made to fit. */
static int advise_trace(const struct dbio_demand *demand, struct dbio_err *err)
{
        size_t used = strlen(err->message);

        if (demand->trace && strstr(err->message, "do not fit"))
                snprintf(err->message + used, sizeof err->message - used, "; --fold or --compact make a trace fit");
        return -1;
}

static int bind(struct dbio_session *session, struct dbio_target_options *options, struct dbio_err *err)
{
        const struct dbio_demand *demand = &session->demand;
        struct dbio_geometry *geometry;

        if (options->null_engine)
                dbio_demand_tell_shares(demand, "--engine null binds nothing");
        session->simulated = !options->null_engine && session->nbindings && session->bindings[0].simulated;
        if (session->simulated) {
                if (dbio_sim_set_load(&session->sim, session->bindings, session->nbindings, err))
                        return -1;
                options->sim_geometry = dbio_sim_set_geometry;
                options->sim_user = &session->sim;
        }
        if (dbio_targets_resolve(&session->targets, demand->specs, demand->nspecs, session->bindings, session->nbindings,
                                 options, err))
                return advise_trace(demand, err);
        geometry = dbio_geometry_list(&session->targets);
        int code = dbio_demand_compile(demand, geometry, &session->schedule, err);
        free(geometry);
        if (code || find_uses(session, err))
                return -1;
        if (!session->simulated)
                return 0;
        bool hba_given = demand->has_workload && demand->workload.hba_given;
        if (!hba_given && dbio_sim_set_hba(&session->sim, &session->schedule->hba, err))
                return -1;
        if (dbio_sim_set_place(&session->sim, demand->specs, &session->targets, session->schedule->seed, err))
                return -1;
        warn_of_caches(session);
        return 0;
}

static int check_ops_log(const char *path, struct dbio_err *err)
{
        struct stat st;

        if (path && lstat(path, &st) == 0)
                return dbio_err_set(err, DBIO_IO, "--ops-log %s: that is there already; a new name is right", path);
        return 0;
}

int dbio_session_open(struct dbio_session *session, const char *source, const struct dbio_cmdline *line,
                      const struct dbio_session_extra *extra, struct dbio_err *err)
{
        struct dbio_progress progress;
        struct dbio_target_options options = {
                .create = dbio_cmdline_has(line, DBIO_OPT_CREATE),
                .prepare = dbio_cmdline_has(line, DBIO_OPT_PREPARE),
                .null_engine = !strcmp(value(line, DBIO_OPT_ENGINE), "null"),
                .progress = dbio_progress_bytes,
                .user = &progress,
                .stop = &dbio_interrupt_flag,
        };
        bool dry = dbio_cmdline_has(line, DBIO_OPT_DRY_RUN);

        memset(session, 0, sizeof *session);
        session->line = line;
        if (dry && dbio_cmdline_has(line, DBIO_OPT_JSON))
                return dbio_err_set(err, DBIO_USAGE, "--dry-run is told in words: leave --json");
        if (!dry) /* making files takes long */
                dbio_interrupt_watch();
        dbio_progress_init(&progress, dbio_cmdline_has(line, DBIO_OPT_QUIET), 1);
        if (extra && extra->resolved) {
                if (dbio_demand_open_text(&session->demand, source, extra->resolved, line, err))
                        goto fail;
        } else if (dbio_demand_open(&session->demand, source, line, extra ? extra->sets : NULL, extra ? extra->nsets : 0,
                                    err)) {
                goto fail;
        }
        if (dbio_demand_check_options(&session->demand, line, err) || read_run_options(session, err) ||
            read_bindings(session, extra, err) || bind(session, &options, err) || choose_engine(session, err))
                goto fail;
        if (!session->simulated && !options.null_engine &&
            (guard(session, err) ||
             dbio_targets_check_room(&session->targets, session->demand.specs, &options, err)))
                goto fail;
        if (dry)
                return 0;
        /* Before files are made or filled, which takes long. */
        if (check_ops_log(value(line, DBIO_OPT_OPS_LOG), err) ||
            dbio_store_open(&session->store, dbio_database_path(line), DBIO_STORE_CREATE, err))
                goto fail;
        if (!session->simulated && !options.null_engine)
                dbio_guard_describe(&session->targets, session->demand.specs, options.prepare, tell, NULL);
        if (!session->simulated && !options.null_engine && dbio_targets_open(&session->targets, session->demand.specs, &options, err))
                goto fail;
        if (!strcmp(value(line, DBIO_OPT_ENGINE), "auto") && !session->simulated && choose_engine(session, err))
                goto fail;
        if (dbio_session_inform(session, err) || dbio_session_precondition(session, err))
                goto fail;
        if (dbio_cmdline_has(line, DBIO_OPT_OPS_LOG) &&
            dbio_opslog_open(&session->options.opslog, value(line, DBIO_OPT_OPS_LOG), err))
                goto fail;
        return 0;
fail:
        dbio_session_close(session);
        return -1;
}

/* Who looks at a device next should know. */
static void tell_written_devices(const struct dbio_session *session)
{
        const struct dbio_targets *targets = &session->targets;

        for (unsigned i = 0; session->begun && i < targets->nfiles; i++) {
                bool first = true, written = false;

                for (unsigned k = 0; k < targets->nfiles; k++) {
                        if (!targets->files[k].block || targets->files[k].device != targets->files[i].device)
                                continue;
                        first = first && k >= i;
                        written = written || session->demand.specs[targets->io_files[k].target].writes;
                }
                if (targets->files[i].block && first && written)
                        fprintf(stderr, "%s now holds dbio data\n", targets->files[i].path);
        }
}

void dbio_session_close(struct dbio_session *session)
{
        struct dbio_err err = {0};

        tell_written_devices(session);

        if (dbio_opslog_close(session->options.opslog, &err))
                fprintf(stderr, "warning: %s\n", err.message);
        dbio_store_close(session->store);
        dbio_session_notes_release(session);
        if (session->schedule)
                session->schedule->free(session->schedule);
        dbio_targets_close(&session->targets);
        dbio_sim_set_release(&session->sim);
        dbio_bindings_free(session->bindings, session->nbindings);
        dbio_session_info_release(session);
        dbio_demand_release(&session->demand);
        memset(session, 0, sizeof *session);
}
