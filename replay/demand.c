#include "replay/demand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "patterns/doc.h"
#include "patterns/profile.h"
#include "replay/schedulefile.h"
#include "replay/tracerun.h"

/* --set KEY=VALUE …, then --duration, then the caller's. The strings are cut in place of a copy kept in *text. */
static int collect_sets(const struct dbio_cmdline *line, const struct dbio_set *extra, unsigned nextra,
                        struct dbio_set **sets, unsigned *nsets, char ***texts, struct dbio_err *err)
{
        const struct dbio_option_value *given = &line->options[DBIO_OPT_SET];
        const char *duration = dbio_cmdline_value(line, DBIO_OPT_DURATION);

        *sets = calloc(given->n + 1 + nextra, sizeof **sets);
        *texts = calloc(given->n + 1, sizeof **texts);
        *nsets = 0;
        for (unsigned i = 0; i < given->n; i++) {
                char *text = (*texts)[i] = strdup(given->values[i]);
                char *equal = strchr(text, '=');
                if (!equal || equal == text)
                        return dbio_err_set(err, DBIO_USAGE, "--set %s: KEY=VALUE is right", text);
                *equal = 0;
                (*sets)[(*nsets)++] = (struct dbio_set){text, equal + 1};
        }
        if (duration)
                (*sets)[(*nsets)++] = (struct dbio_set){"phases.*.duration", duration};
        for (unsigned i = 0; i < nextra; i++)
                (*sets)[(*nsets)++] = extra[i];
        return 0;
}

/* text NULL: source is a schedule file, a path or an installed name. */
static int load_workload(struct dbio_demand *demand, const char *source, const char *text, const struct dbio_set *sets,
                         unsigned nsets, struct dbio_err *err)
{
        char *found_text = NULL;
        size_t size = text ? strlen(text) : 0;

        if (!text) {
                if (dbio_schedulefile_read_workload(source, &found_text, &size, err) < 0)
                        return -1;
                text = found_text;
        }
        int code = text ? dbio_workload_load_text(&demand->workload, source, text, size, sets, nsets, err)
                        : dbio_workload_load(&demand->workload, source, sets, nsets, err);
        free(found_text);
        if (code)
                return -1;
        demand->has_workload = true;
        demand->name = demand->workload.name;
        demand->nspecs = demand->workload.ntargets;
        demand->specs = demand->workload.targets;
        return 0;
}

int dbio_demand_trace_options(const struct dbio_cmdline *line, struct dbio_trace_options *options, struct dbio_err *err)
{
        const char *misaligned = dbio_cmdline_value(line, DBIO_OPT_MISALIGNED);
        const char *skip = dbio_cmdline_value(line, DBIO_OPT_SKIP_BAD);
        struct dbio_err why = {0};

        *options = (struct dbio_trace_options){
                .nmaps = line->options[DBIO_OPT_MAP].n,
                .maps = line->options[DBIO_OPT_MAP].values,
                .compact = dbio_cmdline_has(line, DBIO_OPT_COMPACT),
                .fold = dbio_cmdline_has(line, DBIO_OPT_FOLD),
                .reads_only = dbio_cmdline_has(line, DBIO_OPT_READS_ONLY),
                .issue_events = !strcmp(dbio_cmdline_value(line, DBIO_OPT_EVENT), "issue"),
                .misaligned = !strcmp(misaligned, "round")  ? DBIO_MISALIGNED_ROUND
                              : !strcmp(misaligned, "pass") ? DBIO_MISALIGNED_PASS
                                                            : DBIO_MISALIGNED_REFUSE,
        };
        if (dbio_parse_count(skip, &options->skip_bad, &why))
                return dbio_err_set(err, DBIO_USAGE, "--skip-bad %s: %s", skip, why.message);
        return 0;
}

/* The target of a line with a single --target; malloced, else NULL. */
static char *only_target(const struct dbio_cmdline *line)
{
        const struct dbio_option_value *given = &line->options[DBIO_OPT_TARGET];

        if (given->n != 1 || dbio_cmdline_has(line, DBIO_OPT_BIND))
                return NULL;
        return strndup(given->values[0], strcspn(given->values[0], "="));
}

/* What is not as the trace has it, or not known from it, is never silent. */
static void tell_of_trace(const struct dbio_trace *trace)
{
        const struct dbio_trace_summary *summary = &trace->summary;

        if (summary->spread)
                fprintf(stderr, "%s: stamps are whole seconds; %" PRIu64 " events%s were spread evenly over their seconds\n", trace->path,
                        summary->spread, trace->whole ? "" : " of its beginning");
        if (summary->bad)
                fprintf(stderr, "%s: %" PRIu64 " bad lines left out, first %s\n", trace->path, summary->bad, summary->first_bad);
        if (summary->note[0])
                fprintf(stderr, "%s: not known: %s\n", trace->path, summary->note);
}

/* 1 where source is FORMAT:TRACE or the schedule file of one. */
static int open_trace(struct dbio_demand *demand, const char *source, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *pace = dbio_cmdline_value(line, DBIO_OPT_PACE);
        const char *duration = dbio_cmdline_value(line, DBIO_OPT_DURATION);
        struct dbio_err why = {0};
        char format[512];
        struct dbio_trace_request request = {
                .path = source,
                .pace = !strcmp(pace, "fast")        ? DBIO_PACE_FAST
                        : !strcmp(pace, "dependent") ? DBIO_PACE_DEPENDENT
                                                     : DBIO_PACE_TIMED,
                .bound = line->options[DBIO_OPT_TARGET].n || dbio_cmdline_has(line, DBIO_OPT_BIND),
                .create = dbio_cmdline_has(line, DBIO_OPT_CREATE),
                .duration_ns = UINT64_MAX,
        };

        if (dbio_demand_trace_options(line, &request.options, err))
                return -1;
        if (duration && (dbio_parse_time(duration, &request.duration_ns, &why) || !request.duration_ns))
                return dbio_err_set(err, DBIO_USAGE, "--duration %s: %s", duration,
                                    *why.message ? why.message : "more than 0 is right");
        if (dbio_trace_source(source, format, sizeof format, &request.path)) {
                request.format = format;
                demand->only_target = only_target(line);
                request.options.only_target = request.options.nmaps ? NULL : demand->only_target;
        } else if (dbio_trace_source_check(source, err)) {
                return -1;
        }
        int code = dbio_trace_open(&demand->trace, &request, err);
        if (code <= 0)
                return code;
        tell_of_trace(demand->trace);
        demand->name = demand->trace->name;
        demand->nspecs = demand->trace->ntargets;
        demand->specs = demand->trace->specs;
        if (line->options[DBIO_OPT_SET].n)
                return dbio_err_set(err, DBIO_USAGE, "--set changes a workload, and this is a trace");
        return 1;
}

int dbio_demand_check_options(const struct dbio_demand *demand, const struct dbio_cmdline *line, struct dbio_err *err)
{
        static const struct {
                enum dbio_option_id option;
                bool import;    /* taken when a schedule is made, and kept in it */
        } options[] = {{DBIO_OPT_MAP, true}, {DBIO_OPT_COMPACT, true}, {DBIO_OPT_EVENT, true}, {DBIO_OPT_SKIP_BAD, true},
                       {DBIO_OPT_FOLD, false}, {DBIO_OPT_MISALIGNED, false}, {DBIO_OPT_READS_ONLY, false}, {DBIO_OPT_PACE, false}};

        for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
                const char *name = dbio_options[options[i].option].name;
                if (!line->options[options[i].option].n)
                        continue;
                if (!demand->trace)
                        return dbio_err_set(err, DBIO_USAGE, "--%s is for traces, and %s is a workload", name, demand->name);
                if (options[i].import && !demand->trace->format)
                        return dbio_err_set(err, DBIO_USAGE, "--%s is for traces, and %s is a schedule of one: give it to "
                                                             "`dbio import`", name, demand->trace->path);
        }
        return 0;
}

int dbio_demand_failure(const struct dbio_demand *demand, struct dbio_err *err)
{
        return dbio_trace_failure(demand->trace, err);
}

static int open_demand(struct dbio_demand *demand, const char *source, const char *text, const struct dbio_cmdline *line,
                       const struct dbio_set *extra, unsigned nextra, struct dbio_err *err)
{
        struct dbio_set *sets = NULL;
        char **texts = NULL;
        unsigned nsets = 0;

        memset(demand, 0, sizeof *demand);
        int code = text ? 0 : open_trace(demand, source, line, err);
        if (code)
                return code < 0 ? -1 : 0;
        code = collect_sets(line, extra, nextra, &sets, &nsets, &texts, err);
        if (!code)
                code = load_workload(demand, source, text, sets, nsets, err);
        for (unsigned i = 0; texts && texts[i]; i++)
                free(texts[i]);
        free(texts);
        free(sets);
        return code;
}

int dbio_demand_open(struct dbio_demand *demand, const char *source, const struct dbio_cmdline *line,
                     const struct dbio_set *extra, unsigned nextra, struct dbio_err *err)
{
        return open_demand(demand, source, NULL, line, extra, nextra, err);
}

int dbio_demand_open_text(struct dbio_demand *demand, const char *name, const char *text,
                          const struct dbio_cmdline *line, struct dbio_err *err)
{
        return open_demand(demand, name, text, line, NULL, 0, err);
}

void dbio_demand_release(struct dbio_demand *demand)
{
        if (demand->has_workload)
                dbio_workload_release(&demand->workload);
        dbio_trace_free(demand->trace);
        free(demand->only_target);
        memset(demand, 0, sizeof *demand);
}

int dbio_demand_compile(const struct dbio_demand *demand, const struct dbio_geometry *geometry,
                        struct dbio_schedule **schedule, struct dbio_err *err)
{
        if (demand->trace)
                return dbio_trace_compile(demand->trace, geometry, schedule, err);
        return dbio_workload_compile(&demand->workload, geometry, schedule, err);
}

static int read_bind_file(const char *path, struct dbio_binding **bindings, unsigned *n, struct dbio_err *err)
{
        struct dbio_doc doc = {0};
        int code = dbio_doc_read(&doc, path, NULL, err);

        if (code)
                return -1;
        if (doc.root->type != DBIO_NODE_MAP)
                code = dbio_node_error(doc.root, err, "a map of `target: binding` is right");
        for (unsigned i = 0; !code && i < doc.root->n; i++) {
                char text[8192];
                if (doc.root->items[i]->type != DBIO_NODE_SCALAR) {
                        code = dbio_node_error(doc.root->items[i], err, "a binding is one text: PATH[,PATH...] or sim:PROFILE");
                        break;
                }
                snprintf(text, sizeof text, "%s=%s", doc.root->keys[i]->text, doc.root->items[i]->text);
                *bindings = realloc(*bindings, (*n + 1) * sizeof **bindings);
                code = dbio_binding_parse(&(*bindings)[*n], text, err);
                if (code) {
                        dbio_err_locate(err, path, doc.root->items[i]->line, doc.root->items[i]->column);
                } else {
                        (*bindings)[*n].file = strdup(path);
                        (*bindings)[*n].line = doc.root->keys[i]->line;
                        (*bindings)[*n].column = doc.root->keys[i]->column;
                        ++*n;
                }
        }
        dbio_doc_release(&doc);
        return code;
}

int dbio_bindings_read(const struct dbio_cmdline *line, struct dbio_binding **bindings, unsigned *n,
                       struct dbio_err *err)
{
        const struct dbio_option_value *given = &line->options[DBIO_OPT_TARGET];
        const char *file = dbio_cmdline_value(line, DBIO_OPT_BIND);

        *bindings = NULL;
        *n = 0;
        if (file && read_bind_file(file, bindings, n, err))
                goto fail;
        for (unsigned i = 0; i < given->n; i++) {
                *bindings = realloc(*bindings, (*n + 1) * sizeof **bindings);
                if (dbio_binding_parse(&(*bindings)[*n], given->values[i], err))
                        goto fail;
                ++*n;
        }
        return 0;
fail:
        dbio_bindings_free(*bindings, *n);
        *bindings = NULL;
        *n = 0;
        return -1;
}

void dbio_bindings_free(struct dbio_binding *bindings, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                dbio_binding_release(&bindings[i]);
        free(bindings);
}

void dbio_demand_tell_shares(const struct dbio_demand *demand, const char *why)
{
        for (unsigned i = 0; i < demand->nspecs; i++)
                if (demand->specs[i].unit != DBIO_SIZE_BYTES)
                        fprintf(stderr, "target %s: %s, so its size is a share of 100 GiB, sector 512\n", demand->specs[i].name, why);
}

/* The demand's targets for check, explain and compile, by the bindings given, else as shares of 100 GiB with
 * sector 512, which is said on stderr where a share is used. */
static int resolve_targets(const struct dbio_demand *demand, const struct dbio_cmdline *line, struct dbio_targets *targets,
                           struct dbio_err *err)
{
        struct dbio_binding *bindings;
        unsigned nbindings;
        struct dbio_target_options options = {0};
        struct dbio_sim_set sim = {0};
        int code = -1;

        if (dbio_bindings_read(line, &bindings, &nbindings, err))
                return -1;
        if (nbindings && bindings[0].simulated) {
                if (dbio_sim_set_load(&sim, bindings, nbindings, err))
                        goto out;
                options.sim_geometry = dbio_sim_set_geometry;
                options.sim_user = &sim;
        }
        options.null_engine = nbindings == 0;
        options.create = true; /* nothing is made: a file that is still missing has the size that the workload says */
        if (options.null_engine)
                dbio_demand_tell_shares(demand, "no binding");
        code = dbio_targets_resolve(targets, demand->specs, demand->nspecs, bindings, nbindings, &options, err);
        if (!code && !options.null_engine && bindings[0].simulated)
                code = dbio_sim_set_place(&sim, demand->specs, targets, 0, err);
out:
        dbio_sim_set_release(&sim);
        dbio_bindings_free(bindings, nbindings);
        return code;
}

struct dbio_geometry *dbio_geometry_list(const struct dbio_targets *targets)
{
        struct dbio_geometry *list = calloc(targets->n + 1, sizeof *list);

        for (unsigned i = 0; i < targets->n; i++)
                list[i] = targets->targets[i].geometry;
        return list;
}

int dbio_demand_try(const struct dbio_demand *demand, struct dbio_schedule *schedule,
                    void (*see)(void *user, const struct dbio_phase *phase), void *user, struct dbio_err *err)
{
        unsigned char *kinds = calloc(demand->workload.nstreams + 1, 1);
        int code = 0;

        for (unsigned i = 0; !code && i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                code = schedule->phase_open(schedule, i, &phase, err);
                if (code)
                        break;
                if (see)
                        see(user, &phase);
                if (demand->has_workload)
                        dbio_kinds_add(kinds, &demand->workload.phases[i], &phase);
                schedule->phase_close(schedule, &phase);
        }
        if (!code && demand->has_workload)
                code = dbio_kinds_check(kinds, &demand->workload, err);
        free(kinds);
        return code;
}

int dbio_demand_prepare(const char *source, const struct dbio_cmdline *line, struct dbio_demand *demand,
                   struct dbio_targets *targets, struct dbio_schedule **schedule, struct dbio_err *err)
{
        struct dbio_geometry *geometry = NULL;
        int code = -1;

        *schedule = NULL;
        memset(targets, 0, sizeof *targets);
        if (dbio_demand_open(demand, source, line, NULL, 0, err))
                goto out;
        if (resolve_targets(demand, line, targets, err))
                goto out;
        geometry = dbio_geometry_list(targets);
        if (dbio_demand_compile(demand, geometry, schedule, err))
                goto out;
        code = dbio_demand_try(demand, *schedule, NULL, NULL, err);
out:
        free(geometry);
        if (code) {
                if (*schedule)
                        (*schedule)->free(*schedule);
                *schedule = NULL;
                dbio_targets_close(targets);
                dbio_demand_release(demand);
        }
        return code;
}
