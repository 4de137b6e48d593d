#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/command.h"
#include "replay/session.h"
#include "replay/sessioninfo.h"
#include "results/query.h"
#include "results/show.h"

/* `run --like RUN`: the earlier run's options, then the ones given now, which win. */
struct like {
        struct dbio_cmdline line;
        struct dbio_option_value bindings;
        char *resolved, *targets;
        json_t *options;
        const char **words;
};

static int read_like(struct like *like, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *run = dbio_cmdline_value(line, DBIO_OPT_LIKE);
        struct dbio_store *store = NULL;
        struct dbio_runs runs = {0};
        char *options = NULL;
        int code = -1;

        if (dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_READ, err))
                return -1;
        if (dbio_runs_find(store, run, &runs, err))
                goto out;
        like->resolved = dbio_run_text(store, runs.ids[runs.n - 1], "resolved_text", err);
        like->targets = dbio_run_text(store, runs.ids[runs.n - 1], "targets_json", err);
        options = dbio_run_text(store, runs.ids[runs.n - 1], "options_json", err);
        if (!like->resolved) {
                dbio_err_set(err, DBIO_USAGE, "run %s has no workload text: it replayed a trace or was imported", run);
                goto out;
        }
        like->options = json_loads(options ? options : "{}", 0, NULL);
        json_t *words = json_object_get(like->options, "options"), *bindings = json_object_get(like->options, "bindings");
        size_t n = json_array_size(words);
        like->words = calloc(n + 2, sizeof *like->words);
        like->words[0] = "run";
        for (size_t i = 0; i < n; i++)
                like->words[i + 1] = json_string_value(json_array_get(words, i));
        if (dbio_cmdline_parse(&like->line, line->command, (int)n + 1, (char **)like->words, err))
                goto out;
        for (int i = 0; i < DBIO_OPTIONS; i++) {
                if (!line->options[i].n)
                        continue;
                free(like->line.options[i].values);
                like->line.options[i].n = line->options[i].n;
                like->line.options[i].values = malloc(line->options[i].n * sizeof(char *));
                memcpy(like->line.options[i].values, line->options[i].values, line->options[i].n * sizeof(char *));
        }
        /* Simulated instead of real: the earlier engine was for what is bound no more. */
        if (!line->options[DBIO_OPT_ENGINE].n && line->options[DBIO_OPT_TARGET].n &&
            strstr(line->options[DBIO_OPT_TARGET].values[0], "=sim:"))
                like->line.options[DBIO_OPT_ENGINE].n = 0;
        like->bindings.n = (unsigned)json_array_size(bindings);
        like->bindings.values = calloc(like->bindings.n + 1, sizeof *like->bindings.values);
        for (unsigned i = 0; i < like->bindings.n; i++)
                like->bindings.values[i] = json_string_value(json_array_get(bindings, i));
        code = 0;
out:
        free(options);
        dbio_runs_release(&runs);
        dbio_store_close(store);
        return code;
}

static void release_like(struct like *like)
{
        dbio_cmdline_release(&like->line);
        free(like->bindings.values);
        free(like->words);
        free(like->resolved);
        free(like->targets);
        json_decref(like->options);
}

/* `run` prints what `show` prints. */
static int show_set(struct dbio_session *session, const struct dbio_cmdline *line, int64_t set_id, struct dbio_err *err)
{
        const struct dbio_show_options options = {.db = dbio_cmdline_value(line, DBIO_OPT_DB)};
        struct dbio_runs runs = {0};

        int code = dbio_runs_of_set(session->store, set_id, &runs, err);
        if (!code)
                code = dbio_cmdline_has(line, DBIO_OPT_JSON) ? dbio_show_json(session->store, &runs, stdout, err)
                                                            : dbio_show_text(session->store, &runs, &options, stdout, err);
        dbio_runs_release(&runs);
        return code;
}

/* The graver of two repetitions' codes: I/O errors that were gone past before an invalid run. */
static int graver(int a, int b)
{
        return a == DBIO_OK || (a == DBIO_INVALID && b != DBIO_OK) ? b : b == DBIO_OK || b == DBIO_INVALID ? a : b;
}

static int repeat_all(struct dbio_session *session, const struct dbio_cmdline *line, uint64_t repetitions,
                      struct dbio_err *err)
{
        const char *label = dbio_cmdline_value(line, DBIO_OPT_LABEL);
        int64_t set_id = 0, run_id = 0;
        int code = DBIO_OK;

        dbio_interrupt_watch();
        for (uint64_t i = 1; i <= repetitions; i++) {
                int now = dbio_session_repeat(session, label, (unsigned)i, &set_id, &run_id, err);
                code = graver(code, now);
                if (!dbio_session_goes_on(session, now))
                        break;
        }
        if (!run_id)
                return code;
        struct dbio_err why = {0};
        if (show_set(session, line, set_id, &why) && code >= 0) {
                *err = why;
                return -1;
        }
        return code;
}

int dbio_cmd_run(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct dbio_session session;
        struct dbio_session_extra extra = {0};
        struct like like = {0};
        const struct dbio_cmdline *used = line;
        const char *source = line->narguments ? line->arguments[0] : NULL;
        uint64_t repetitions;
        int code = -1;

        if (!source == !dbio_cmdline_has(line, DBIO_OPT_LIKE))
                return dbio_err_set(err, DBIO_USAGE, "run needs a workload, a schedule or FORMAT:TRACE, or --like RUN; one of them");
        if (dbio_parse_count(dbio_cmdline_value(line, DBIO_OPT_REPEAT), &repetitions, err) || !repetitions)
                return dbio_err_set(err, DBIO_USAGE, "--repeat %s: a count from 1 is right",
                                    dbio_cmdline_value(line, DBIO_OPT_REPEAT));
        if (!source) {
                if (read_like(&like, line, err))
                        goto out;
                used = &like.line;
                source = dbio_cmdline_value(line, DBIO_OPT_LIKE);
                extra.resolved = like.resolved;
                extra.earlier = &like.bindings;
                extra.earlier_targets = like.targets;
        }
        if (dbio_session_open(&session, source, used, &extra, err))
                goto out;
        if (dbio_cmdline_has(used, DBIO_OPT_DRY_RUN))
                code = dbio_session_describe(&session, stdout, err);
        else
                code = repeat_all(&session, used, repetitions, err);
        dbio_session_close(&session);
out:
        release_like(&like);
        return code;
}
