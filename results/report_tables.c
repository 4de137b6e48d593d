#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/report_state.h"
#include "results/text.h"

void dbio_report_text(struct dbio_page *page, const char *text)
{
        for (; text && *text; text++) {
                switch (*text) {
                case '&':
                        fputs("&amp;", page->out);
                        break;
                case '<':
                        fputs("&lt;", page->out);
                        break;
                case '>':
                        fputs("&gt;", page->out);
                        break;
                case '"':
                        fputs("&quot;", page->out);
                        break;
                case '-':
                        /* The arrow of the terminal's texts. */
                        if (!strncmp(text, "-> ", 3)) {
                                fputs("→", page->out);
                                text++;
                                break;
                        }
                        /* fall through */
                default:
                        fputc(*text, page->out);
                }
        }
}

static void report_cell(struct dbio_page *page, const char *name, double value, double scale)
{
        char text[DBIO_NUMBER_SIZE];

        if (isnan(value))
                fprintf(page->out, "<td>-</td>");
        else
                fprintf(page->out, "<td data-n=\"%s\" data-v=\"%.9g\">%s</td>", name, value,
                        dbio_number_short(text, sizeof text, value * scale));
}

static void text_cell(struct dbio_page *page, const char *text)
{
        fputs("<td class=\"t\">", page->out);
        dbio_report_text(page, text);
        fputs("</td>", page->out);
}

static void heads(struct dbio_page *page, const char *const *names, unsigned left)
{
        fputs("<tr>", page->out);
        for (unsigned i = 0; names[i]; i++)
                fprintf(page->out, "<th%s>%s</th>", i < left ? " class=\"t\"" : "", names[i]);
        fputs("</tr>\n", page->out);
}

static void figures_row(struct dbio_page *page, unsigned set, const struct dbio_run_figures *row)
{
        const struct dbio_run_figures *f = row;
        bool is_io = row->kind == DBIO_READ || row->kind == DBIO_WRITE || row->kind == DBIO_COMMIT;

        fprintf(page->out, "<tr data-run=\"%lld\" data-phase=\"", (long long)page->sets[set].run_id);
        dbio_report_text(page, row->phase);
        fputs("\" data-stream=\"", page->out);
        dbio_report_text(page, row->stream);
        fprintf(page->out, "\" data-kind=\"%s\">", dbio_kind_name((unsigned)row->kind));
        text_cell(page, row->stream);
        text_cell(page, dbio_kind_name((unsigned)row->kind));
        if (page->nr > 1)
                text_cell(page, page->sets[set].name);
        report_cell(page, "iops", f->iops, 1);
        report_cell(page, "mib_per_s", is_io ? f->mib_per_s : NAN, 1);
        report_cell(page, "mb_per_s", is_io ? f->mib_per_s * 1.048576 : NAN, 1);
        report_cell(page, "wait_mean_ns", f->wait.mean, 1e-6);
        report_cell(page, "service_mean_ns", f->service.mean, 1e-6);
        report_cell(page, "response_mean_ns", f->response.mean, 1e-6);
        report_cell(page, "response_p50_ns", f->response.p50, 1e-6);
        report_cell(page, "response_p95_ns", f->response.p95, 1e-6);
        report_cell(page, "response_p99_ns", f->response.p99, 1e-6);
        report_cell(page, "response_max_ns", f->response.max, 1e-6);
        fputs("</tr>\n", page->out);
}

static void figures_table(struct dbio_page *page, const char *phase)
{
        static const char *const single[] = {"stream",  "kind",       "IOPS",        "MiB/s",  "MB/s",
                                             "wait ms", "service ms", "response ms", "p50 ms", "p95 ms",
                                             "p99 ms",  "max ms",     NULL};
        static const char *const several[] = {"stream", "kind",    "run",        "IOPS",        "MiB/s",
                                              "MB/s",   "wait ms", "service ms", "response ms", "p50 ms",
                                              "p95 ms", "p99 ms",  "max ms",     NULL};
        const struct dbio_figure_rows *first = &page->sets[0].figures;

        fputs("<div class=\"scroll\"><table class=\"figures\">\n", page->out);
        heads(page, page->nr > 1 ? several : single, page->nr > 1 ? 3 : 2);
        for (unsigned i = 0; i < first->n; i++) {
                if (strcmp(first->rows[i].phase, phase))
                        continue;
                for (unsigned s = 0; s < page->nr; s++) {
                        const struct dbio_run_figures *row = dbio_figures_get(
                                &page->sets[s].figures, phase, first->rows[i].stream, first->rows[i].kind);

                        if (row)
                                figures_row(page, s, row);
                }
        }
        fputs("</table></div>\n", page->out);
}

static const char *verdict_class(enum dbio_verdict_word word)
{
        return word == DBIO_VERDICT_FASTER        ? "faster"
               : word == DBIO_VERDICT_SLOWER      ? "slower"
               : word == DBIO_VERDICT_CANNOT_TELL ? "cannot"
                                                  : "same";
}

static void compare_row(struct dbio_page *page, const struct dbio_compare_row *row)
{
        const struct dbio_verdict *verdict = row->headline ? &row->plain : &row->verdict;
        char figure[32], change[DBIO_NUMBER_SIZE], low[DBIO_NUMBER_SIZE], high[DBIO_NUMBER_SIZE], label[64];
        double scale = row->time ? 1e-6 : 1, half = (verdict->high95 - verdict->low95) / 2;

        snprintf(figure, sizeof figure, "%s%s", row->figure, row->time ? " ms" : "");
        fputs("<tr>", page->out);
        text_cell(page, row->stream);
        text_cell(page, row->kind);
        text_cell(page, figure);
        text_cell(page, row->window);
        report_cell(page, "base", verdict->base, scale);
        report_cell(page, "new", verdict->new_, scale);
        fprintf(page->out, "<td data-n=\"b\" data-v=\"%.9g\">%s</td>", verdict->computed ? verdict->effect.b : 0,
                dbio_number_change(change, sizeof change,
                                   verdict->computed ? verdict->effect.b : log(verdict->new_ / verdict->base), half));
        if (verdict->computed && !verdict->exact)
                fprintf(page->out, "<td>%s to %s</td>", dbio_number_bound(low, sizeof low, verdict->low95, half),
                        dbio_number_bound(high, sizeof high, verdict->high95, half));
        else
                fprintf(page->out, "<td>%s</td>", verdict->exact ? "exact" : "-");
        fprintf(page->out, "<td class=\"t %s\">%s</td></tr>\n", verdict_class(verdict->word),
                dbio_verdict_label(label, sizeof label, verdict));
}

static void compare_table(struct dbio_page *page)
{
        const struct dbio_comparison *c = page->comparison;

        fputs("<h2>Comparison</h2>\n<div class=\"scroll\"><table class=\"compare\">\n", page->out);
        for (unsigned i = 0; i < c->nrows; i++) {
                if (i == 0 || strcmp(c->rows[i].phase, c->rows[i - 1].phase)) {
                        fputs("<tr><th class=\"t\" colspan=\"4\">", page->out);
                        dbio_report_text(page, c->rows[i].phase);
                        fputs("</th><th>", page->out);
                        dbio_report_text(page, page->sets[0].name);
                        fputs("</th><th>", page->out);
                        dbio_report_text(page, page->sets[1].name);
                        fputs("</th><th>change</th><th>95 % between</th><th class=\"t\">verdict</th></tr>\n",
                              page->out);
                }
                compare_row(page, &c->rows[i]);
        }
        fputs("</table></div>\n<p class=\"says\">A row says faster or slower only where chance alone would say so in "
              "fewer than "
              "5 of 100 whole tables; \"cannot tell\" means that more repetitions are needed.</p>\n",
              page->out);
}

static void interference_table(struct dbio_page *page, unsigned set)
{
        static const char *const names[] = {"phase",
                                            "while",
                                            "stream",
                                            "op",
                                            "quiet IOPS",
                                            "affected IOPS",
                                            "change",
                                            "95 % between",
                                            "quiet ms",
                                            "affected ms",
                                            "quiet p99 ms",
                                            "affected p99 ms",
                                            "recovered after s",
                                            NULL};
        const struct dbio_interference_list *list = &page->sets[set].interference;

        if (!list->nr)
                return;
        fputs("<h3>", page->out);
        dbio_report_text(page, page->sets[set].name);
        fputs("</h3>\n<div class=\"scroll\"><table class=\"interference\">\n", page->out);
        heads(page, names, 4);
        for (unsigned i = 0; i < list->nr; i++) {
                const struct dbio_interference_entry *entry = &list->entries[i];
                const struct dbio_interference *effect = &entry->figures.effect;

                fputs("<tr>", page->out);
                text_cell(page, entry->phase);
                text_cell(page, entry->other);
                text_cell(page, entry->stream);
                text_cell(page, entry->op);
                report_cell(page, "quiet_iops", entry->figures.quiet_iops, 1);
                report_cell(page, "affected_iops", entry->figures.affected_iops, 1);
                if (isnan(effect->change))
                        fputs("<td>-</td>", page->out);
                else
                        fprintf(page->out, "<td data-n=\"change\" data-v=\"%.9g\">%+.0f %%</td>", effect->change,
                                100 * effect->change);
                if (effect->bounded)
                        fprintf(page->out, "<td>%+.0f to %+.0f %%</td>", 100 * effect->low, 100 * effect->high);
                else
                        fprintf(page->out, "<td>%u episode%s</td>", effect->episodes, effect->episodes == 1 ? "" : "s");
                report_cell(page, "quiet_mean_ns", entry->figures.quiet_mean_ns, 1e-6);
                report_cell(page, "affected_mean_ns", entry->figures.affected_mean_ns, 1e-6);
                report_cell(page, "quiet_p99_ns", entry->figures.quiet_p99_ns, 1e-6);
                report_cell(page, "affected_p99_ns", entry->figures.affected_p99_ns, 1e-6);
                report_cell(page, "recovery_ns", effect->recovery_ns, 1e-9);
                fputs("</tr>\n", page->out);
        }
        fputs("</table></div>\n", page->out);
}

/* Rows of a query as a table: the columns' names are the heads. */
static int query_table(struct dbio_page *page, const char *sql, int64_t run_id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(page->store, err, sql, "i", run_id);
        char number[DBIO_NUMBER_SIZE];
        int more, columns;
        unsigned rows = 0;

        if (!stmt)
                return -1;
        columns = sqlite3_column_count(stmt);
        while ((more = dbio_db_step(page->store, stmt, err)) > 0 && rows < 400) {
                if (!rows++) {
                        fputs("<div class=\"scroll\"><table>\n<tr>", page->out);
                        for (int i = 0; i < columns; i++)
                                fprintf(page->out, "<th%s>%s</th>", i < 2 ? " class=\"t\"" : "",
                                        sqlite3_column_name(stmt, i));
                        fputs("</tr>\n", page->out);
                }
                fputs("<tr>", page->out);
                for (int i = 0; i < columns; i++) {
                        if (sqlite3_column_type(stmt, i) == SQLITE_TEXT)
                                text_cell(page, dbio_db_text(stmt, i));
                        else if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER)
                                fprintf(page->out, "<td>%s</td>",
                                        dbio_number_group(number, sizeof number, sqlite3_column_double(stmt, i), 0));
                        else
                                report_cell(page, sqlite3_column_name(stmt, i), dbio_db_double(stmt, i), 1);
                }
                fputs("</tr>\n", page->out);
        }
        sqlite3_reset(stmt);
        fputs(rows ? "</table></div>\n" : "<p class=\"note\">None.</p>\n", page->out);
        if (rows == 400)
                fputs("<p class=\"note\">The first 400 rows.</p>\n", page->out);
        return more < 0 ? -1 : 0;
}

static const char episodes_sql[] = "SELECT phase, stream, episode, begin_ns / 1e9 AS \"begin s\", (end_ns - begin_ns) "
                                   "/ 1e6 AS \"ms\", pages, writes, "
                                   "pages * 1.0 / nullif(writes, 0) AS \"pages/write\", mib_per_s AS \"MiB/s\", "
                                   "stalls, outstanding_target AS target, "
                                   "write_mean_ns / 1e6 AS \"write ms\" FROM v_episode WHERE run_id = ?";
static const char limits_sql[] = "SELECT phase, limit_name AS \"limit\", cap, peak, hits, wait_ns / 1e6 AS \"wait "
                                 "ms\", at_cap_ns / 1e9 AS \"at cap "
                                 "s\" FROM v_limit WHERE run_id = ?";

/* A bound or an observed figure: what it says, the run's own, and whether it holds. */
static void figure_row(struct dbio_page *page, unsigned set, const char *phase, const struct dbio_limit *limit,
                       double value)
{
        bool time = limit->stat >= DBIO_LIMIT_MEAN && limit->stat <= DBIO_LIMIT_MAX;
        double own = dbio_limit_of(&page->sets[set].figures, phase, limit), scale = time ? 1e-6 : 1;

        if (isnan(own))
                return;
        if (limit->stat == DBIO_LIMIT_MIB_PER_S)
                scale = 1 / 1048576.0;
        fputs("<tr>", page->out);
        text_cell(page, limit->text);
        text_cell(page, phase);
        text_cell(page, page->sets[set].name);
        report_cell(page, "own", own, scale);
        if (limit->comparison == DBIO_COMPARE_NONE) {
                report_cell(page, "observed", value, scale);
                fputs("<td class=\"t\">observed</td></tr>\n", page->out);
        } else {
                fprintf(page->out, "<td></td><td class=\"t %s\">%s</td></tr>\n",
                        dbio_limit_holds(limit, own) ? "pass" : "fail", dbio_limit_holds(limit, own) ? "pass" : "FAIL");
        }
}

/* The workload's limits, and what the database saw, beside the figures of each set. */
static int limits_table(struct dbio_page *page, struct dbio_err *err)
{
        static const char *const names[] = {"figure", "phase", "run", "here", "observed", "", NULL};
        bool head = false;

        for (unsigned s = 0; s < page->nr; s++) {
                sqlite3_stmt *stmt =
                        dbio_db_query(page->store, err,
                                      "SELECT text, stream, kind, part, stat, comparison, value, observed FROM figure "
                                      "WHERE run_id = ? ORDER BY number",
                                      "i", page->sets[s].run_id);
                int more;

                if (!stmt)
                        return -1;
                while ((more = dbio_db_step(page->store, stmt, err)) > 0) {
                        struct dbio_limit limit = {
                                .text = dbio_db_text(stmt, 0),
                                .stream = dbio_db_text(stmt, 1),
                                .kind = sqlite3_column_int(stmt, 2),
                                .part = (enum dbio_limit_part)sqlite3_column_int(stmt, 3),
                                .stat = (enum dbio_limit_stat)sqlite3_column_int(stmt, 4),
                                .comparison = (enum dbio_limit_comparison)sqlite3_column_int(stmt, 5),
                                .value = sqlite3_column_double(stmt, 6),
                        };

                        if (!head) {
                                fputs("<h2>Limits and observed figures</h2>\n<div class=\"scroll\"><table "
                                      "class=\"limits\">\n",
                                      page->out);
                                heads(page, names, 3);
                                head = true;
                        }
                        for (unsigned p = 0; p < page->nphases; p++)
                                figure_row(page, s, page->phases[p].name, &limit, limit.value);
                }
                if (more < 0)
                        return -1;
        }
        fputs(head ? "</table></div>\n<p class=\"says\">Times in ms, rates a second. A limit is held to the run's own "
                     "figure; gates "
                     "over repetitions are for compare.</p>\n"
                   : "",
              page->out);
        return 0;
}

int dbio_report_tables(struct dbio_page *page, struct dbio_err *err)
{
        bool any = false;

        if (page->comparison && page->comparison->nrows)
                compare_table(page);
        if (limits_table(page, err))
                return -1;
        for (unsigned s = 0; s < page->nr; s++)
                any = any || page->sets[s].interference.nr;
        if (any) {
                fputs("<details class=\"figures\" open><summary>What episodes do to the other streams</summary>\n",
                      page->out);
                for (unsigned s = 0; s < page->nr; s++)
                        interference_table(page, s);
                fputs("</details>\n", page->out);
        }
        fputs("<details class=\"figures\" open><summary>All figures</summary>\n", page->out);
        for (unsigned p = 0; p < page->nphases; p++) {
                fputs("<h3>", page->out);
                dbio_report_text(page, page->phases[p].name);
                fputs("</h3>\n", page->out);
                figures_table(page, page->phases[p].name);
        }
        fputs("</details>\n", page->out);
        if (!any)
                return 0;
        fputs("<details class=\"figures\"><summary>Checkpoints and other episodes</summary>\n", page->out);
        for (unsigned s = 0; s < page->nr; s++) {
                fputs("<h3>", page->out);
                dbio_report_text(page, page->sets[s].name);
                fputs("</h3>\n", page->out);
                if (query_table(page, episodes_sql, page->sets[s].run_id, err))
                        return -1;
        }
        fputs("</details>\n", page->out);
        return 0;
}

static void json_rows(struct dbio_page *page, const char *path, const json_t *value)
{
        const char *key;
        json_t *member;
        size_t i;
        char deeper[200], *text;

        if (json_is_object(value)) {
                json_object_foreach((json_t *)value, key, member)
                {
                        snprintf(deeper, sizeof deeper, "%.120s%s%.60s", path, *path ? "." : "", key);
                        json_rows(page, deeper, member);
                }
                return;
        }
        if (json_is_array(value)) {
                json_array_foreach(value, i, member)
                {
                        const char *name = json_string_value(json_object_get(member, "name"));

                        if (name)
                                snprintf(deeper, sizeof deeper, "%.120s%s%.60s", path, *path ? "." : "", name);
                        else
                                snprintf(deeper, sizeof deeper, "%.120s%s%zu", path, *path ? "." : "", i + 1);
                        json_rows(page, deeper, member);
                }
                return;
        }
        if (json_is_null(value))
                return;
        text = json_is_string(value) ? strdup(json_string_value(value))
                                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        fputs("<tr>", page->out);
        text_cell(page, path);
        text_cell(page, text);
        fputs("</tr>\n", page->out);
        free(text);
}

static int facts(struct dbio_page *page, unsigned set, struct dbio_err *err)
{
        static const char *const columns[] = {"host_json", "targets_json"};
        int64_t id = page->sets[set].run_id;

        fputs("<h3>", page->out);
        dbio_report_text(page, page->sets[set].name);
        fputs("</h3>\n<div class=\"scroll\"><table>\n", page->out);
        for (unsigned i = 0; i < 2; i++) {
                char *text = dbio_run_text(page->store, id, columns[i], err);
                json_t *root = text ? json_loads(text, 0, NULL) : NULL;

                json_rows(page, "", root);
                json_decref(root);
                free(text);
        }
        fputs("</table></div>\n", page->out);
        return 0;
}

static const char provenance_sql[] =
        "SELECT run_uuid, status, run_id, set_id, repetition, label, workload, schedule_hash, CAST(seed AS TEXT) AS seed, engine, valid, "
        "invalid_why, started_at, wall_ns / 1e9 AS \"wall s\", (cpu_user_ns + cpu_sys_ns) / 1e9 AS \"CPU s\", "
        "tool_version "
        "FROM v_run WHERE set_id = (SELECT set_id FROM run WHERE run_id = ?)";

static int provenance(struct dbio_page *page, struct dbio_err *err)
{
        fputs("<details class=\"provenance\"><summary>Provenance</summary>\n", page->out);
        for (unsigned s = 0; s < page->nr; s++)
                if (query_table(page, provenance_sql, page->sets[s].run_id, err))
                        return -1;
        fputs("</details>\n", page->out);
        return 0;
}

static void sql_part(struct dbio_page *page)
{
        static const char *const queries[][2] = {
                {"All figures", "SELECT * FROM v_phase WHERE run_id IN (%s);"},
                {"The charts over time", "SELECT * FROM v_series WHERE run_id IN (%s);"},
                {"What episodes do to the others",
                 "SELECT * FROM v_interference WHERE run_id IN (%s);\nSELECT * FROM v_recovery WHERE run_id IN (%s);"},
                {"Checkpoints and other episodes", "SELECT * FROM v_episode WHERE run_id IN (%s);"},
                {"Limits of the host's adapter", "SELECT * FROM v_limit WHERE run_id IN (%s);"},
                {"Provenance, host, targets", "SELECT * FROM v_run WHERE run_id IN (%s);"},
        };
        char ids[512] = "";
        size_t used = 0;

        for (unsigned s = 0; s < page->nr && used < sizeof ids - 24; s++)
                used += (size_t)snprintf(ids + used, sizeof ids - used, "%s%lld", s ? ", " : "",
                                         (long long)page->sets[s].run_id);
        fputs("<details class=\"sql\"><summary>SQL</summary>\n<p class=\"note\">In the results database, with "
              "sqlite3:</p>\n",
              page->out);
        for (unsigned i = 0; i < sizeof queries / sizeof *queries; i++) {
                const char *text = queries[i][1], *mark;

                fprintf(page->out, "<h3>%s</h3>\n<pre>", queries[i][0]);
                while ((mark = strstr(text, "%s"))) {
                        fprintf(page->out, "%.*s%s", (int)(mark - text), text, ids);
                        text = mark + 2;
                }
                fprintf(page->out, "%s</pre>\n", text);
        }
        fputs("</details>\n", page->out);
}

int dbio_report_folded(struct dbio_page *page, struct dbio_err *err)
{
        fputs("<details class=\"host\"><summary>Host and devices</summary>\n", page->out);
        for (unsigned s = 0; s < page->nr; s++)
                if (facts(page, s, err) || query_table(page, limits_sql, page->sets[s].run_id, err))
                        return -1;
        fputs("</details>\n<details class=\"workload\"><summary>Workload</summary>\n", page->out);
        for (unsigned s = 0; s < page->nr; s++) {
                char *text = dbio_run_text(page->store, page->sets[s].run_id, "resolved_text", err);

                /* Equal demand is shown once. */
                if (s == 0 || !page->sets[s].hash || !page->sets[0].hash ||
                    strcmp(page->sets[s].hash, page->sets[0].hash)) {
                        fputs("<h3>", page->out);
                        dbio_report_text(page, page->sets[s].name);
                        fputs("</h3>\n<pre>", page->out);
                        dbio_report_text(page, text ? text : "not known");
                        fputs("</pre>\n", page->out);
                }
                free(text);
        }
        fputs("</details>\n", page->out);
        if (provenance(page, err))
                return -1;
        sql_part(page);
        return 0;
}
