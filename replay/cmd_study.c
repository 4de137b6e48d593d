#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/units.h"
#include "replay/command.h"
#include "replay/filesystems.h"
#include "replay/session.h"
#include "replay/sessioninfo.h"
#include "replay/study.h"
#include "results/manage.h"
#include "results/query.h"
#include "results/show.h"

#define SECOND      ((uint64_t)1000000000)
#define QUICK_SHARE 20u /* --quick: a twentieth of each phase, at least two seconds */

static const char *label_of(const struct dbio_study_run *study)
{
        return dbio_cmdline_value(study->line, DBIO_OPT_LABEL);
}

static void print_span(const char *what, uint64_t ns)
{
        uint64_t minutes = (ns + 30 * SECOND) / (60 * SECOND);

        if (minutes >= 60)
                fprintf(stderr, "%s%" PRIu64 " h %" PRIu64 " min", what, minutes / 60, minutes % 60);
        else
                fprintf(stderr, "%s%" PRIu64 " min %" PRIu64 " s", what, ns / SECOND / 60, ns / SECOND % 60);
}

static void pause_between(const struct dbio_study_run *study)
{
        struct timespec time = {(time_t)(study->plan.pause_ns / SECOND), (long)(study->plan.pause_ns % SECOND)};

        if (!study->simulated && study->runs_done && !study->nquick)
                nanosleep(&time, NULL);
}

static struct dbio_session_extra extra_of(const struct dbio_study_run *study, const struct dbio_cell *cell,
                                          struct dbio_set *sets, struct dbio_option_value *bindings)
{
        memcpy(sets, study->quick, study->nquick * sizeof *sets);
        memcpy(sets + study->nquick, cell->sets, cell->nsets * sizeof *sets);
        *bindings = (struct dbio_option_value){cell->nbindings, (const char **)cell->bindings};
        return (struct dbio_session_extra){.sets = sets, .nsets = study->nquick + cell->nsets, .cell = bindings};
}

/* --ops-log FILE: one file a run, FILE.CELL.REPETITION. */
static void name_ops_log(struct dbio_cmdline *line, const char *cell, unsigned repetition, const char *path[1],
                         char text[PATH_MAX])
{
        size_t used = (size_t)snprintf(text, PATH_MAX, "%s.", dbio_cmdline_value(line, DBIO_OPT_OPS_LOG));

        if (used < PATH_MAX)
                snprintf(text + used, PATH_MAX - used, "%s.%u", cell, repetition);
        for (; used < PATH_MAX && text[used]; used++)
                if (text[used] == '/')
                        text[used] = '_';
        path[0] = text;
        line->options[DBIO_OPT_OPS_LOG] = (struct dbio_option_value){1, path};
}

int dbio_study_run_cell(struct dbio_study_run *study, unsigned number, const struct dbio_cell *cell, int64_t *set_id,
                        int64_t *run_id, struct dbio_err *err)
{
        struct dbio_session session = {0};
        struct dbio_option_value bindings;
        struct dbio_set *sets = calloc(study->nquick + cell->nsets + 1, sizeof *sets);
        struct dbio_session_extra extra = extra_of(study, cell, sets, &bindings);
        struct dbio_cmdline line = *study->line;
        const char *path[1];
        unsigned runs = 0;
        char label[256], ops_log[PATH_MAX];
        int code = 0;

        pause_between(study);
        if (study->study_id)
                code = dbio_study_cell_runs(study->store, study->study_id, number, set_id, &runs, err);
        if (dbio_cmdline_has(&line, DBIO_OPT_OPS_LOG))
                name_ops_log(&line, cell->name, runs + 1, path, ops_log);
        if (!code)
                code = dbio_session_open(&session, study->source, &line, &extra, err);
        if (!code) {
                bool fresh = !*set_id;
                study->simulated = session.simulated;
                snprintf(label, sizeof label, "%s/%s", label_of(study) ? label_of(study) : session.demand.name,
                         cell->name);
                code = dbio_session_repeat(&session, label, runs + 1, set_id, run_id, err);
                study->invalid |= code == DBIO_INVALID;
                study->errors |= code == DBIO_IO;
                if (dbio_session_goes_on(&session, code))
                        code = 0;
                if (code >= 0 && fresh && study->study_id &&
                    dbio_study_cell_set(study->store, study->study_id, number, *set_id, err))
                        code = -1;
                dbio_session_close(&session);
        }
        study->runs_done++;
        study->runs_left -= study->runs_left > 0;
        free(sets);
        return code;
}

/* Each repetition runs every cell once, in an order drawn from the workload's seed: base and new take turns, so that a
 * drift of the machine does not fall on one of them (facts on statistics, interleaving). */
static void shuffle(unsigned *order, unsigned n, uint64_t seed)
{
        for (unsigned i = n; i > 1; i--) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                unsigned k = (unsigned)((seed >> 33) % i), kept = order[i - 1];
                order[i - 1] = order[k];
                order[k] = kept;
        }
}

static void print_eta(const struct dbio_study_run *study, const struct dbio_cell *cell)
{
        if (study->quiet)
                return;
        fprintf(stderr, "run %u of %u: %s", study->runs_done + 1, study->runs_done + study->runs_left, cell->name);
        if (!study->simulated && study->planned_ns)
                print_span(", left ", study->runs_left * (study->planned_ns + study->plan.pause_ns));
        fputc('\n', stderr);
}

/* On real targets the first run finds everything cold: it is made once more and thrown away. */
static int warm_up(struct dbio_study_run *study, struct dbio_err *err)
{
        struct dbio_cell *cell = &study->plan.cells[0];
        int64_t kept_study = study->study_id, set_id = 0, run_id = 0;
        struct dbio_runs runs = {1, &run_id};

        if (study->simulated || study->repetitions < 2)
                return 0;
        if (!study->quiet)
                fprintf(stderr, "warm-up run, not kept\n");
        study->study_id = 0;
        int code = dbio_study_run_cell(study, 0, cell, &set_id, &run_id, err);
        study->study_id = kept_study;
        study->runs_left++;
        study->runs_done--;
        study->invalid = false;
        return code ? code : dbio_runs_remove(study->store, &runs, err);
}

/* One cell, unless it has that many runs already. */
static int run_once(struct dbio_study_run *study, unsigned number, unsigned repetition, struct dbio_err *err)
{
        struct dbio_cell *cell = &study->plan.cells[number];
        int64_t set_id = 0, run_id;
        unsigned runs;

        if (dbio_study_cell_runs(study->store, study->study_id, number, &set_id, &runs, err))
                return -1;
        if (runs > repetition)
                return 0;
        print_eta(study, cell);
        return dbio_study_run_cell(study, number, cell, &set_id, &run_id, err);
}

/* Of file systems one is made after the other, and each has its cells' runs before the next is. */
static int run_cells(struct dbio_study_run *study, uint64_t seed, struct dbio_err *err)
{
        unsigned n = study->plan.ncells, *order = calloc(n + 1, sizeof *order),
                 turns = study->filesystems ? DBIO_FILESYSTEMS : 1;
        int code = study->filesystems ? 0 : warm_up(study, err);

        for (unsigned r = 0; !code && r < study->repetitions; r++) {
                for (unsigned i = 0; i < n; i++)
                        order[i] = i;
                shuffle(order, n, seed + r);
                for (unsigned turn = 0; !code && turn < turns; turn++) {
                        int made = study->filesystems ? dbio_filesystems_make(study->filesystems, turn, err) : 1;
                        code = made < 0 ? -1 : 0;
                        for (unsigned i = 0; !code && made && i < n; i++)
                                if (order[i] % turns == turn)
                                        code = run_once(study, order[i], r, err);
                        if (!made)
                                study->runs_left -= study->runs_left < n / turns ? study->runs_left : n / turns;
                }
        }
        free(order);
        return code;
}

/* Length of a run by its phases, and the sets that --quick makes of them. */
static void read_phases(struct dbio_study_run *study, const struct dbio_workload *workload)
{
        study->quick = calloc(workload->nphases + 1, sizeof *study->quick);
        for (unsigned i = 0; i < workload->nphases; i++) {
                uint64_t ns = workload->phases[i].duration_ns, quick = ns / QUICK_SHARE;
                char *key = NULL, *value = malloc(32);
                if (ns == UINT64_MAX) {
                        free(value);
                        continue;
                }
                if (dbio_cmdline_has(study->line, DBIO_OPT_QUICK)) {
                        quick = quick < 2 * SECOND ? 2 * SECOND : quick;
                        ns = quick < ns ? quick : ns;
                        dbio_format_time(ns, value, 32);
                        if (asprintf(&key, "phases.%s.duration", workload->phases[i].name) < 0)
                                abort();
                        study->quick[study->nquick++] = (struct dbio_set){key, value};
                } else {
                        free(value);
                }
                study->planned_ns += ns;
        }
}

static char *plan_text(const struct dbio_study_run *study, const struct dbio_workload *workload)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        fprintf(out, "%s%s", workload->resolved, study->nquick ? "quick\n" : "");
        for (unsigned i = 0; i < study->nbindings; i++)
                fprintf(out, "%s=%s\n", study->bindings[i].target, study->bindings[i].text);
        if (study->filesystems)
                fprintf(out, "file systems on %s\n", dbio_cmdline_value(study->line, DBIO_OPT_MAKE_FILESYSTEMS));
        fclose(out);
        return text;
}

static int begin(struct dbio_study_run *study, const struct dbio_workload *workload, struct dbio_err *err)
{
        char *text = plan_text(study, workload);
        struct dbio_study_info info = {
                .label = label_of(study),
                .workload = workload->name,
                .plan = text,
                .naxes = study->plan.naxes,
                .axes = (const char *const *)study->plan.axes,
        };
        int code = dbio_study_begin(study->store, &info, dbio_cmdline_has(study->line, DBIO_OPT_RESUME),
                                    &study->study_id, err);

        free(text);
        for (unsigned i = 0; !code && i < study->plan.ncells; i++) {
                const struct dbio_cell *cell = &study->plan.cells[i];
                int64_t set_id;
                unsigned runs = 0;
                code = dbio_study_cell(study->store, study->study_id, i, cell->name, cell->nvalues,
                                       (const char *const *)cell->values, err);
                if (!code)
                        code = dbio_study_cell_runs(study->store, study->study_id, i, &set_id, &runs, err);
                study->runs_left += runs < study->repetitions ? study->repetitions - runs : 0;
        }
        return code;
}

static bool binds_simulated(const struct dbio_study_run *study)
{
        if (study->nbindings)
                return study->bindings[0].simulated;
        return study->plan.ncells && study->plan.cells[0].nbindings &&
               strstr(study->plan.cells[0].bindings[0], "=sim:");
}

static void announce(const struct dbio_study_run *study)
{
        if (study->quiet)
                return;
        if (study->plan.find_key) {
                fprintf(stderr, "study: the most of %s that holds, from %s on\n", study->plan.find_key,
                        study->plan.find_own);
                return;
        }
        fprintf(stderr, "study: %u cells, %u runs", study->plan.ncells, study->runs_left);
        print_span(", ", study->runs_left * study->planned_ns + (study->runs_left ? study->runs_left - 1 : 0) *
                                                                        (study->nquick ? 0 : study->plan.pause_ns));
        fprintf(stderr, " of I/O in all%s\n", study->simulated ? ", less in virtual time" : "");
}

static int show(struct dbio_study_run *study, struct dbio_err *err)
{
        struct dbio_runs runs;
        int code;

        if (!dbio_cmdline_has(study->line, DBIO_OPT_JSON))
                return dbio_study_show(study->store, study->study_id, stdout, err);
        if (dbio_runs_of_study(study->store, study->study_id, &runs, err))
                return -1;
        code = dbio_show_json(study->store, &runs, stdout, err);
        dbio_runs_release(&runs);
        return code;
}

/* With --make-filesystems: the cells over these, and --create, as their files are made anew. */
static int prepare_filesystems(struct dbio_study_run *study, struct dbio_filesystems *filesystems,
                               struct dbio_cmdline *line, const struct dbio_workload *workload, struct dbio_err *err)
{
        if (!dbio_cmdline_has(line, DBIO_OPT_MAKE_FILESYSTEMS))
                return 0;
        if (dbio_cmdline_has(line, DBIO_OPT_TARGET))
                return dbio_err_set(err, DBIO_USAGE, "--make-filesystems binds all targets: leave --target");
        if (dbio_filesystems_open(filesystems, line, err))
                return -1;
        study->filesystems = filesystems;
        static const char *flag = "";
        line->options[DBIO_OPT_DESTROY].n = 0; /* was for the device; what the runs bind are new files */
        line->options[DBIO_OPT_CREATE] = (struct dbio_option_value){1, &flag};
        return dbio_plan_over_filesystems(&study->plan, workload, dbio_filesystem_names, DBIO_FILESYSTEMS,
                                          filesystems->mount, err);
}

/* --dry-run: each cell's, and nothing is opened for writing. Of file systems the files are not there yet. */
static int describe_cells(struct dbio_study_run *study, struct dbio_err *err)
{
        static const struct dbio_cell whole = {.name = "the workload as it stands"};
        unsigned n = study->filesystems ? 0 : study->plan.find_key ? 1 : study->plan.ncells;
        int code = 0;

        for (unsigned i = 0; !code && i < n; i++) {
                const struct dbio_cell *cell = study->plan.find_key ? &whole : &study->plan.cells[i];
                struct dbio_session session;
                struct dbio_option_value bindings;
                struct dbio_set *sets = calloc(study->nquick + cell->nsets + 1, sizeof *sets);
                struct dbio_session_extra extra = extra_of(study, cell, sets, &bindings);
                code = dbio_session_open(&session, study->source, study->line, &extra, err);
                if (!code) {
                        printf("%sCELL %s\n", i ? "\n" : "", cell->name);
                        code = dbio_session_describe(&session, stdout, err);
                        dbio_session_close(&session);
                }
                free(sets);
        }
        return code;
}

int dbio_cmd_study(const struct dbio_cmdline *given, struct dbio_err *err)
{
        struct dbio_cmdline copy = *given, *line = &copy;
        struct dbio_filesystems filesystems = {.loop = -1};
        struct dbio_study_run study = {.line = line, .source = line->arguments[0],
                                       .quiet = dbio_cmdline_has(line, DBIO_OPT_QUIET)};
        struct dbio_demand demand = {0};
        uint64_t repetitions;
        int code = -1;

        if (dbio_parse_count(dbio_cmdline_value(line, DBIO_OPT_REPEAT), &repetitions, err) || !repetitions ||
            repetitions > 64)
                return dbio_err_set(err, DBIO_USAGE, "--repeat %s: 1 to 64 is right",
                                    dbio_cmdline_value(line, DBIO_OPT_REPEAT));
        study.repetitions = (unsigned)repetitions;
        if (dbio_demand_open(&demand, study.source, line, NULL, 0, err))
                return -1;
        if (!demand.has_workload) {
                dbio_err_set(err, DBIO_USAGE, "a study needs a workload");
                goto out;
        }
        if (dbio_plan_read(&study.plan, &demand.workload, err) ||
            dbio_bindings_read(line, &study.bindings, &study.nbindings, err) ||
            prepare_filesystems(&study, &filesystems, line, &demand.workload, err))
                goto out;
        read_phases(&study, &demand.workload);
        study.simulated = binds_simulated(&study);
        if (dbio_cmdline_has(line, DBIO_OPT_DRY_RUN)) {
                study.runs_left = study.plan.ncells * study.repetitions;
                announce(&study);
                code = describe_cells(&study, err);
                goto out;
        }
        if (dbio_store_open(&study.store, dbio_database_path(line), DBIO_STORE_CREATE, err) ||
            begin(&study, &demand.workload, err))
                goto out;
        announce(&study);
        dbio_interrupt_watch();
        code = study.plan.find_key ? dbio_study_search(&study, err) : run_cells(&study, demand.workload.seed, err);
        if (code >= 0 && show(&study, err))
                code = -1;
        if (code == DBIO_OK)
                code = study.errors ? DBIO_IO : study.invalid ? DBIO_INVALID : DBIO_OK;
out:
        dbio_filesystems_close(&filesystems);
        dbio_store_close(study.store);
        for (unsigned i = 0; i < study.nquick; i++) {
                free((char *)study.quick[i].key);
                free((char *)study.quick[i].value);
        }
        free(study.quick);
        dbio_plan_release(&study.plan);
        dbio_bindings_free(study.bindings, study.nbindings);
        dbio_demand_release(&demand);
        return code;
}
