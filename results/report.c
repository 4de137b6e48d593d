#include "results/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/embedded.h"
#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/report_state.h"
#include "results/text.h"

#define TABLE_BUTTON "<button class=\"table\" type=\"button\" aria-pressed=\"false\">table</button>"

static void release(struct dbio_page *page)
{
        for (unsigned s = 0; page->sets && s < page->nr; s++) {
                struct dbio_report_run *set = &page->sets[s];

                dbio_figures_release(&set->figures);
                dbio_interference_release(&set->interference);
                free(set->workload);
                free(set->hash);
                free(set->started);
                free(set->trust);
                free(set->why);
        }
        dbio_compare_free(page->comparison);
        free(page->sets);
        free(page->phases);
        free(page->streams);
        json_decref(page->data);
}

/* The run whose figures are shown: the first that counts, else the first. */
static int choose_run(struct dbio_page *page, struct dbio_report_run *set, int64_t *ids, struct dbio_err *err)
{
        set->run_id = 0;
        for (unsigned i = 0; i < set->runs->n; i++) {
                sqlite3_stmt *stmt = dbio_db_query(page->store, err,
                                                   "SELECT status = 'complete' AND valid = 1, simulated, "
                                                   "coalesce(invalid_why, status) FROM run WHERE run_id = ?",
                                                   "i", set->runs->ids[i]);
                int more = stmt ? dbio_db_step(page->store, stmt, err) : -1;

                if (more < 0)
                        return -1;
                if (!more)
                        continue;
                if (sqlite3_column_int(stmt, 0)) {
                        ids[set->used++] = set->runs->ids[i];
                        if (set->used == 1)
                                set->run_id = set->runs->ids[i];
                } else if (!set->why) {
                        set->why = strdup(dbio_db_text(stmt, 2));
                }
                set->simulated = sqlite3_column_int(stmt, 1);
                sqlite3_reset(stmt);
        }
        set->usable = set->used > 0;
        if (!set->usable && set->runs->n) {
                set->run_id = set->runs->ids[0];
                ids[0] = set->run_id;
        }
        return set->run_id ? 0 : dbio_err_set(err, DBIO_USAGE, "no run called '%s'", set->name);
}

static int load_set(struct dbio_page *page, struct dbio_report_run *set, struct dbio_err *err)
{
        int64_t *ids = calloc(set->runs->n + 1, sizeof *ids);
        int rc = -1;

        if (!ids)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (choose_run(page, set, ids, err) || dbio_figures_load(page->store, set->run_id, &set->figures, err) ||
            dbio_interference_load(page->store, ids, set->used ? set->used : 1, &set->interference, err))
                goto out;
        set->workload = dbio_run_text(page->store, set->run_id, "workload", err);
        set->hash = dbio_run_text(page->store, set->run_id, "schedule_hash", err);
        set->started = dbio_run_text(page->store, set->run_id, "started_at", err);
        set->trust = dbio_run_text(page->store, set->run_id, "trust", err);
        rc = 0;
out:
        free(ids);
        return rc;
}

static int compare_sets(struct dbio_page *page, struct dbio_err *err)
{
        struct dbio_compare_ids sides[2];

        for (unsigned s = 0; s < 2; s++)
                sides[s] =
                        (struct dbio_compare_ids){page->sets[s].name, page->sets[s].runs->ids, page->sets[s].runs->n};
        return dbio_compare_open(&page->comparison, page->store, &sides[0], &sides[1],
                                 &(struct dbio_compare_options){0}, err);
}

static void asset(struct dbio_page *page, const char *path)
{
        const struct dbio_embedded *file = dbio_embedded_find(path);

        if (file)
                fwrite(file->text, 1, file->size, page->out);
}

static bool any_simulated(const struct dbio_page *page)
{
        for (unsigned s = 0; s < page->nr; s++)
                if (page->sets[s].simulated)
                        return true;
        return false;
}

static void print_title(struct dbio_page *page)
{
        const char *workload = page->sets[0].workload ? page->sets[0].workload : "runs";

        if (page->nr == 1) {
                dbio_report_printf(page, "%s: %s", page->sets[0].name, workload);
                return;
        }
        if (page->nr == 2)
                dbio_report_printf(page, "%s against %s: %s", page->sets[1].name, page->sets[0].name, workload);
        else
                dbio_report_printf(page, "%s: %u sets side by side", workload, page->nr);
}

static void print_head(struct dbio_page *page, const char *version)
{
        bool simulated = any_simulated(page);
        char moment[64];

        fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
              "href=\"data:,\">\n"
              "<title>",
              page->out);
        print_title(page);
        fputs("</title>\n<style>\n", page->out);
        asset(page, "results/report.css");
        fputs("</style>\n</head>\n<body>\n<header><span class=\"title\">", page->out);
        print_title(page);
        fputs("</span><span class=\"made\">", page->out);
        dbio_report_printf(page, "%.16s · dbio %s",
                           dbio_text_moment(moment, sizeof moment, page->sets[0].started ? page->sets[0].started : ""),
                           version);
        fprintf(page->out, "</span><span class=\"badge %s\">%s</span></header>\n<main>\n",
                simulated ? "simulated" : "real", simulated ? "SIMULATED" : "REAL");
}

static void print_facts(struct dbio_page *page)
{
        bool same = true, usable = true;

        for (unsigned s = 0; s < page->nr; s++) {
                same = same && page->sets[s].hash && page->sets[0].hash &&
                       !strcmp(page->sets[s].hash, page->sets[0].hash);
                usable = usable && page->sets[s].usable;
        }
        fputs("<p class=\"facts\">", page->out);
        if (page->nr > 1)
                dbio_report_printf(page, same ? "Same demand (%.8s) · " : "Demand differs · ",
                                   page->sets[0].hash ? page->sets[0].hash : "");
        else if (page->sets[0].hash)
                dbio_report_printf(page, "Schedule %.8s · ", page->sets[0].hash);
        for (unsigned s = 0; s < page->nr; s++)
                if (!page->sets[s].usable)
                        dbio_report_printf(page, "%s is not valid: %s · ", page->sets[s].name,
                                           page->sets[s].why ? page->sets[s].why : "not known");
        if (usable)
                dbio_report_printf(page, page->nr == 1   ? "valid · "
                                         : page->nr == 2 ? "both runs valid · "
                                                         : "all runs valid · ");
        for (unsigned s = 0; s < page->nr && s < 6; s++)
                dbio_report_printf(page, "%s%u", s ? " + " : "", page->sets[s].used);
        dbio_report_printf(page, " repetition%s", page->nr == 1 && page->sets[0].used == 1 ? "" : "s");
        fputs("</p>\n", page->out);
        for (unsigned s = 0; s < page->nr; s++)
                if (page->sets[s].trust && *page->sets[s].trust) {
                        fputs("<p class=\"trust\">SIMULATED ", page->out);
                        dbio_report_printf(page, "%s: %s", page->sets[s].name, page->sets[s].trust);
                        fputs("</p>\n", page->out);
                }
}

static void keys(struct dbio_page *page, bool p99, bool episodes)
{
        for (unsigned s = 0; s < page->nr; s++) {
                fprintf(page->out, "<span class=\"key\"><i style=\"background:var(--set%u)\"></i>", s % 6);
                dbio_report_printf(page, "%s%s", page->sets[s].name, p99 ? " average, dashed p99" : "");
                fputs("</span>", page->out);
        }
        if (episodes)
                fputs("<span class=\"key\"><i class=\"band\" style=\"background:var(--episode)\"></i>episode</span>"
                      "<span class=\"key\"><i class=\"band light\" style=\"background:var(--episode)\"></i>until "
                      "recovered</span>",
                      page->out);
}

static void chart(struct dbio_page *page, const char *type, unsigned index, const char *title, bool log,
                  const char *says)
{
        const struct dbio_report_stream *stream = &page->streams[index];
        bool over_time = !strcmp(type, "rate") || !strcmp(type, "latency");
        bool wide = json_is_true(json_object_get(stream->json, "wide"));
        unsigned at = 0;

        for (unsigned i = 0; i < index; i++)
                at += page->streams[i].phase == stream->phase;
        fputs("<div class=\"chart\"><div class=\"head\"><b>", page->out);
        dbio_report_text(page, title);
        fputs("</b>", page->out);
        keys(page, !strcmp(type, "latency"), over_time && json_array_size(json_object_get(stream->json, "episodes")));
        if (log)
                fprintf(page->out, "<button class=\"log\" type=\"button\" aria-pressed=\"%s\">log scale</button>",
                        wide ? "true" : "false");
        fputs(TABLE_BUTTON, page->out);
        fprintf(page->out,
                "</div><div class=\"box\"><canvas data-chart=\"%s\" data-phase=\"%u\" data-stream=\"%u\" "
                "role=\"img\" aria-label=\"",
                type, stream->phase, at);
        dbio_report_printf(page, "%s. %s", title, says);
        fputs("\"></canvas></div></div>\n<p class=\"says\">", page->out);
        dbio_report_text(page, says);
        fputs("</p>\n", page->out);
}

/* Of many sets only the ends. */
static void say_span(struct dbio_page *page, const struct dbio_report_stream *stream, bool rate, char *text,
                     size_t size)
{
        unsigned low = 0, high = 0;
        double values[2] = {INFINITY, -INFINITY};
        char from[DBIO_NUMBER_SIZE], to[DBIO_NUMBER_SIZE];

        for (unsigned s = 0; s < page->nr; s++) {
                const struct dbio_run_figures *figures = dbio_report_figures(page, s, stream);
                double own = !figures ? NAN : rate ? figures->iops : figures->response.mean / 1e6;

                if (own < values[0]) {
                        values[0] = own;
                        low = s;
                }
                if (own > values[1]) {
                        values[1] = own;
                        high = s;
                }
        }
        snprintf(text, size, "From %s (%s) to %s%s (%s) over the whole phase.",
                 dbio_number_short(from, sizeof from, values[0]), page->sets[low].name,
                 dbio_number_short(to, sizeof to, values[1]), rate ? " a second" : " ms on average",
                 page->sets[high].name);
}

/* What the eye is to see in the charts over time. */
static void say_rate(struct dbio_page *page, const struct dbio_report_stream *stream, char *text, size_t size)
{
        size_t used = 0;

        text[0] = 0;
        if (page->nr > 3) {
                say_span(page, stream, true, text, size);
                return;
        }
        for (unsigned s = 0; s < page->nr && used < size - 120; s++) {
                const struct dbio_run_figures *figures = dbio_report_figures(page, s, stream);
                char iops[DBIO_NUMBER_SIZE];

                if (figures)
                        used += (size_t)snprintf(text + used, size - used, "%s%.60s: %s a second over the whole phase",
                                                 used ? "; " : "", page->sets[s].name,
                                                 dbio_number_short(iops, sizeof iops, figures->iops));
                for (unsigned i = 0; i < page->sets[s].interference.nr && used < size - 120; i++) {
                        const struct dbio_interference_entry *entry = &page->sets[s].interference.entries[i];

                        if (dbio_interference_falls(&entry->figures) && !strcmp(entry->stream, stream->name) &&
                            !strcmp(entry->op, dbio_kind_name((unsigned)stream->kind)) &&
                            !strcmp(entry->phase, page->phases[stream->phase].name))
                                used += (size_t)snprintf(text + used, size - used, ", %+.0f %% while %.40s works",
                                                         100 * entry->figures.effect.change, entry->other);
                }
        }
        snprintf(text + used, size - used, ".%s",
                 page->sets[0].used > 1 ? " The lines are those of the first repetition." : "");
}

static void say_latency(struct dbio_page *page, const struct dbio_report_stream *stream, char *text, size_t size)
{
        size_t used = 0;

        text[0] = 0;
        if (page->nr > 3) {
                say_span(page, stream, false, text, size);
                return;
        }
        for (unsigned s = 0; s < page->nr && used < size - 160; s++) {
                const struct dbio_run_figures *figures = dbio_report_figures(page, s, stream);
                char mean[DBIO_NUMBER_SIZE], p99[DBIO_NUMBER_SIZE], worst[DBIO_NUMBER_SIZE];

                if (figures)
                        used += (size_t)snprintf(text + used, size - used,
                                                 "%s%.60s: %s ms on average, 99 of 100 within %s ms, the longest %s ms",
                                                 used ? "; " : "", page->sets[s].name,
                                                 dbio_number_short(mean, sizeof mean, figures->response.mean / 1e6),
                                                 dbio_number_short(p99, sizeof p99, figures->response.p99 / 1e6),
                                                 dbio_number_short(worst, sizeof worst, figures->response.max / 1e6));
        }
        snprintf(text + used, size - used, ".");
}

static void stream_charts(struct dbio_page *page, unsigned index)
{
        const struct dbio_report_stream *stream = &page->streams[index];
        const char *kind = dbio_kind_name((unsigned)stream->kind);
        char title[200], says[1024];

        snprintf(title, sizeof title, "%s: %ss per second", stream->name, kind);
        say_rate(page, stream, says, sizeof says);
        chart(page, "rate", index, title, true, says);
        snprintf(title, sizeof title, "%s: response of a %s, ms", stream->name, kind);
        say_latency(page, stream, says, sizeof says);
        chart(page, "latency", index, title, true, says);
        snprintf(title, sizeof title, "%s: how long the slowest took, ms by percentile", stream->name);
        chart(page, "percentiles", index, title, false,
              "Each step to the right is ten times rarer; a curve ends where fewer than ten I/Os are left above it.");
        snprintf(title, sizeof title, "%s: share of %ss by response, %%", stream->name, kind);
        chart(page, "histogram", index, title, false,
              "Bars are eighths of a power of ten, named by their upper end in ms; two hills are two kinds of service, "
              "such as "
              "cache and disk.");
}

static void bars_chart(struct dbio_page *page)
{
        const struct dbio_report_stream *stream = dbio_report_main(page);
        json_t *labels = json_array(), *values = json_array(), *list = json_array();

        for (unsigned s = 0; s < page->nr; s++) {
                const struct dbio_run_figures *figures = dbio_report_figures(page, s, stream);

                json_array_append_new(labels, json_string(page->sets[s].name));
                json_array_append_new(values, figures ? json_real(figures->iops) : json_null());
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "figure", "IOPS", "unit", "/s", "labels", labels,
                                              "values", values));
        json_object_set_new(page->data, "bars", list);
        fputs("<div class=\"chart\"><div class=\"head\"><b>", page->out);
        dbio_report_printf(page, "%s: %ss per second in %s", stream->name, dbio_kind_name((unsigned)stream->kind),
                           page->phases[stream->phase].name);
        fputs("</b>" TABLE_BUTTON "</div><div class=\"box tall\"><canvas data-chart=\"bars\" data-bars=\"0\" role=\"img\" "
              "aria-label=\"bars\">"
              "</canvas></div></div>\n<p class=\"says\">One bar a set, its first valid repetition; the table below has "
              "the other "
              "figures.</p>\n",
              page->out);
}

static void print_charts(struct dbio_page *page)
{
        const struct dbio_report_stream *shown = dbio_report_main(page);

        if (!shown)
                return;
        if (page->nr > 2)
                bars_chart(page);
        fputs("<h2>", page->out);
        dbio_report_text(page, page->phases[shown->phase].name);
        fputs("</h2>\n", page->out);
        stream_charts(page, (unsigned)(shown - page->streams));
        for (unsigned p = page->nphases; p-- > 0;) {
                for (unsigned i = 0; i < page->nstreams; i++) {
                        if (page->streams[i].phase != p || &page->streams[i] == shown)
                                continue;
                        fputs("<details class=\"charts\"><summary>", page->out);
                        dbio_report_printf(page, "%s: %s %ss", page->phases[p].name, page->streams[i].name,
                                           dbio_kind_name((unsigned)page->streams[i].kind));
                        fputs("</summary>\n", page->out);
                        stream_charts(page, i);
                        fputs("</details>\n", page->out);
                }
        }
}

/* `</script` must not appear inside a script; JSON allows the slash to be escaped. */
static int print_data(struct dbio_page *page, struct dbio_err *err)
{
        char *text = json_dumps(page->data, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ESCAPE_SLASH);

        if (!text)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        fprintf(page->out, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>", text);
        asset(page, "chart.js");
        fputs("</script>\n<script>\n", page->out);
        asset(page, "results/report.js");
        fputs("</script>\n", page->out);
        free(text);
        return 0;
}

static int print_page(struct dbio_page *page, const char *version, struct dbio_err *err)
{
        print_head(page, version);
        dbio_report_answer(page);
        print_facts(page);
        dbio_report_tiles(page);
        fputs("<noscript><p>The charts need JavaScript; the tables do not.</p></noscript>\n", page->out);
        print_charts(page);
        if (dbio_report_tables(page, err) || dbio_report_folded(page, err))
                return -1;
        fputs("</main>\n", page->out);
        if (print_data(page, err))
                return -1;
        fputs("</body>\n</html>\n", page->out);
        return ferror(page->out) ? dbio_err_set(err, DBIO_IO, "the report cannot be written") : 0;
}

int dbio_report_write(struct dbio_store *store, const struct dbio_report_set *sets, unsigned nr, const char *version,
                      FILE *out, struct dbio_err *err)
{
        struct dbio_page page = {.store = store, .nr = nr, .out = out};
        int rc = -1;

        page.sets = calloc(nr + 1, sizeof *page.sets);
        page.data = json_object();
        if (!page.sets || !page.data) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        for (unsigned s = 0; s < nr; s++) {
                page.sets[s].name = sets[s].name;
                page.sets[s].runs = sets[s].runs;
                if (load_set(&page, &page.sets[s], err))
                        goto out;
        }
        if (nr == 2 && compare_sets(&page, err))
                goto out;
        if (dbio_report_collect(&page, err) || print_page(&page, version, err))
                goto out;
        rc = 0;
out:
        release(&page);
        return rc;
}
