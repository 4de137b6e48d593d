#include "replay/oldresults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sessioninfo.h"
#include "results/query.h"
#include "results/show.h"

const struct dbio_old_format *const dbio_old_formats[] = {
        &dbio_old_sqlio_text, &dbio_old_diskspd_text, &dbio_old_diskspd_xml, &dbio_old_fio_json, NULL,
};

const struct dbio_old_format *dbio_old_format_find(const char *name)
{
        for (const struct dbio_old_format *const *format = dbio_old_formats; *format; format++)
                if (!strcmp((*format)->name, name))
                        return *format;
        return NULL;
}

void dbio_old_formats_print(FILE *out)
{
        for (const struct dbio_old_format *const *format = dbio_old_formats; *format; format++)
                fprintf(out, "%-14s %s\n", (*format)->name, (*format)->summary);
}

/* A copy that lives as long as out. */
static const char *keep_text(struct dbio_old_results *out, const char *text)
{
        char **more = realloc(out->texts, (out->ntexts + 1) * sizeof *more), *copy = strdup(text);

        if (more)
                out->texts = more;
        if (!more || !copy) {
                free(copy);
                return "";
        }
        return out->texts[out->ntexts++] = copy;
}

struct dbio_old_phase *dbio_old_phase_add(struct dbio_old_results *out, const char *name, double seconds)
{
        struct dbio_old_phase *more = realloc(out->phases, (out->n + 1) * sizeof *more);
        unsigned same = 1;

        if (!more)
                return NULL;
        out->phases = more;
        more = &out->phases[out->n];
        *more = (struct dbio_old_phase){.duration_ns = seconds > 0 && seconds < 1e9 ? (uint64_t)llround(seconds * 1e9) : 0};
        snprintf(more->name, sizeof more->name, "%.50s", name);
        for (unsigned i = 0; i < out->n; i++)
                if (!strcmp(out->phases[i].name, more->name)) {
                        snprintf(more->name, sizeof more->name, "%.50s-%u", name, ++same);
                        i = UINT32_MAX; /* from the beginning */
                }
        out->n++;
        return more;
}

double dbio_old_seconds(double seconds, double step, double ios, double iops)
{
        double exact = iops > 0 && ios > 0 ? ios / iops : seconds;

        return fabs(exact - seconds) <= step ? exact : seconds;
}

struct dbio_imported_total *dbio_old_total_add(struct dbio_old_results *out, const char *stream, int kind)
{
        struct dbio_old_phase *phase = &out->phases[out->n - 1];
        struct dbio_imported_total *more = realloc(phase->totals, (phase->n + 1) * sizeof *more);

        if (!more)
                return NULL;
        phase->totals = more;
        more = &phase->totals[phase->n++];
        *more = (struct dbio_imported_total){
                .stream = keep_text(out, stream), .pattern = "io", .threads = 1, .depth = 1, .kind = kind,
                .service_mean = NAN, .service_p50 = NAN, .service_p90 = NAN, .service_p95 = NAN, .service_p99 = NAN,
                .service_p999 = NAN, .service_max = NAN, .service_stddev = NAN, .response_mean = NAN, .response_p50 = NAN,
                .response_p90 = NAN, .response_p95 = NAN, .response_p99 = NAN, .response_p999 = NAN, .response_max = NAN,
                .response_stddev = NAN,
        };
        return more;
}

void dbio_old_results_release(struct dbio_old_results *out)
{
        for (unsigned i = 0; i < out->n; i++)
                free(out->phases[i].totals);
        for (unsigned i = 0; i < out->ntexts; i++)
                free(out->texts[i]);
        free(out->phases);
        free(out->texts);
        *out = (struct dbio_old_results){0};
}

static int store_run(struct dbio_store *store, const struct dbio_old_format *format, const struct dbio_derive_file *file,
                     const struct dbio_old_results *old, const char *label, int64_t *run_id, struct dbio_err *err)
{
        struct dbio_imported_phase *phases = calloc(old->n, sizeof *phases);
        char how[400];
        struct dbio_run_info info = {.label = label, .workload = dbio_derive_base(file), .engine = format->tool, .how = how,
                                     .tool_version = DBIO_VERSION};
        int code;

        if (!phases)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < old->n; i++)
                phases[i] = (struct dbio_imported_phase){old->phases[i].name, old->phases[i].duration_ns, old->phases[i].n,
                                                         old->phases[i].totals};
        snprintf(how, sizeof how, "imported from %s; its demand and validity are not known%s%s", format->name, *old->note ? "; " : "",
                 old->note);
        code = dbio_store_import(store, &info, *old->started_at ? old->started_at : NULL, phases, old->n, run_id, err);
        free(phases);
        return code;
}

int dbio_old_results_import(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const struct dbio_old_format *format = dbio_old_format_find(line->arguments[0]);
        unsigned n = line->narguments - 1;
        struct dbio_derive_file *files = calloc(n + 1, sizeof *files);
        struct dbio_old_results *old = calloc(n + 1, sizeof *old);
        struct dbio_runs runs = {.ids = calloc(n + 1, sizeof *runs.ids)};
        struct dbio_store *store = NULL;
        bool json = dbio_cmdline_has(line, DBIO_OPT_JSON);
        int code = files && old && format && runs.ids ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");

        /* All are read before the first is stored. */
        for (unsigned i = 0; !code && i < n; i++) {
                code = dbio_derive_file_read(&files[i], line->arguments[i + 1], err);
                if (!code)
                        code = format->read(&files[i], &old[i], err);
                for (unsigned p = 0; !code && p < old[i].n; p++)
                        if (!old[i].phases[p].duration_ns)
                                code = dbio_derive_bad(&files[i], 0, err, "%s has no duration", old[i].phases[p].name);
        }
        if (!code)
                code = dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_CREATE, err);
        for (; !code && runs.n < n; runs.n += !code) {
                unsigned i = runs.n, tests = old[i].n;

                code = store_run(store, format, &files[i], &old[i], dbio_cmdline_value(line, DBIO_OPT_LABEL), &runs.ids[i], err);
                if (!code && !json)
                        printf("run %lld: %s, %u test%s\n", (long long)runs.ids[i], files[i].path, tests, tests > 1 ? "s" : "");
        }
        if (!code && json)
                code = dbio_show_json(store, &runs, stdout, err);
        dbio_runs_release(&runs);
        dbio_store_close(store);
        for (unsigned i = 0; old && files && i < n; i++) {
                dbio_old_results_release(&old[i]);
                dbio_derive_file_release(&files[i]);
        }
        free(files);
        free(old);
        return code;
}
