/* The top of the page: the answer in words, and the tiles. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/op.h"
#include "results/bands.h"
#include "results/number.h"
#include "results/report_state.h"

void dbio_report_printf(struct dbio_page *page, const char *format, ...)
{
        char text[4096];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        dbio_report_text(page, text);
}

const struct dbio_report_stream *dbio_report_main(const struct dbio_page *page)
{
        const struct dbio_report_stream *found = NULL;

        /* Of the last phase: warm-ups come first. */
        for (unsigned i = 0; i < page->nstreams; i++)
                if (page->streams[i].main)
                        found = &page->streams[i];
        return found;
}

const struct dbio_run_figures *dbio_report_figures(const struct dbio_page *page, unsigned set,
                                                   const struct dbio_report_stream *stream)
{
        return dbio_figures_get(&page->sets[set].figures, page->phases[stream->phase].name, stream->name, stream->kind);
}

/* The greatest loss among what episodes do; nr where nothing is seen. */
static unsigned worst_entry(const struct dbio_interference_list *list)
{
        unsigned worst = list->nr;

        for (unsigned i = 0; i < list->nr; i++) {
                if (!dbio_interference_seen(&list->entries[i].figures))
                        continue;
                if (worst == list->nr ||
                    list->entries[i].figures.effect.change < list->entries[worst].figures.effect.change)
                        worst = i;
        }
        return worst;
}

/* What one set's episodes do to the other streams, or how its main stream fared. */
static void answer_of_one(struct dbio_page *page)
{
        const struct dbio_interference_list *list = &page->sets[0].interference;
        const struct dbio_report_stream *stream = dbio_report_main(page);
        const struct dbio_run_figures *figures = stream ? dbio_report_figures(page, 0, stream) : NULL;
        char text[512], iops[DBIO_NUMBER_SIZE], mean[DBIO_NUMBER_SIZE], p99[DBIO_NUMBER_SIZE];
        unsigned worst = worst_entry(list);

        fputs("<h1>", page->out);
        if (worst < list->nr)
                dbio_report_text(page, dbio_interference_sentence(text, sizeof text, &list->entries[worst].figures));
        else if (figures)
                dbio_report_printf(page, "%s: %s IOPS, %s ms on average, %s ms at p99.", stream->name,
                                   dbio_number_short(iops, sizeof iops, figures->iops),
                                   dbio_number_short(mean, sizeof mean, figures->response.mean / 1e6),
                                   dbio_number_short(p99, sizeof p99, figures->response.p99 / 1e6));
        fputs("</h1>\n", page->out);
        for (unsigned i = 0; i < list->nr; i++) {
                if (i == worst)
                        continue;
                fputs("<p class=\"answer\">", page->out);
                dbio_report_text(page, dbio_interference_sentence(text, sizeof text, &list->entries[i].figures));
                fputs("</p>\n", page->out);
        }
}

static void answer_of_two(struct dbio_page *page)
{
        const struct dbio_comparison *c = page->comparison;
        char text[4096];

        fputs("<h1>", page->out);
        if (c->same_demand)
                dbio_report_text(page, dbio_compare_headline(c, text, sizeof text));
        else
                dbio_report_text(page, "The demand is not the same, so this says nothing about the storage.");
        fputs("</h1>\n", page->out);
        if (!c->same_demand)
                return;
        dbio_compare_answer(c, text, sizeof text);
        if (*text) {
                fputs("<p class=\"answer\">", page->out);
                dbio_report_text(page, text);
                fputs("</p>\n", page->out);
        }
        for (unsigned i = 0; i < c->nrows; i++) {
                char name[180], line[600];

                if (!c->rows[i].headline)
                        continue;
                dbio_compare_row_name(name, sizeof name, &c->rows[i]);
                dbio_verdict_line(line, sizeof line, &c->rows[i].plain, name, c->rows[i].time ? " ms" : "",
                                  c->rows[i].time ? 1e-6 : 1);
                fputs("<p class=\"line\">", page->out);
                dbio_report_printf(page, "%s: %s", c->rows[i].phase, line);
                fputs("</p>\n", page->out);
        }
        dbio_compare_reservations(c, text, sizeof text);
        if (*text) {
                fputs("<p class=\"note\">", page->out);
                dbio_report_text(page, text);
                fputs("</p>\n", page->out);
        }
}

/* The best by the main stream's rate, the next and the least. */
static void answer_of_many(struct dbio_page *page)
{
        const struct dbio_report_stream *stream = dbio_report_main(page);
        double rates[3] = {-1, -1, INFINITY}; /* best, next, least */
        unsigned best = 0, least = 0;
        char iops[DBIO_NUMBER_SIZE], lead[DBIO_NUMBER_SIZE];

        for (unsigned s = 0; stream && s < page->nr; s++) {
                const struct dbio_run_figures *figures = dbio_report_figures(page, s, stream);
                double own = figures && page->sets[s].usable ? figures->iops : NAN;

                if (own > rates[0]) {
                        rates[1] = rates[0];
                        rates[0] = own;
                        best = s;
                } else if (own > rates[1]) {
                        rates[1] = own;
                }
                if (own < rates[2]) {
                        rates[2] = own;
                        least = s;
                }
        }
        fputs("<h1>", page->out);
        if (rates[1] > 0) {
                dbio_report_printf(page, "%s does most for %s: %s IOPS", page->sets[best].name, stream->name,
                                   dbio_number_short(iops, sizeof iops, rates[0]));
                dbio_report_printf(page, ", %s on the next",
                                   dbio_number_change(lead, sizeof lead, log(rates[0] / rates[1]), 0));
                dbio_report_printf(page, " and %s on the least, %s.",
                                   dbio_number_change(lead, sizeof lead, log(rates[0] / rates[2]), 0),
                                   page->sets[least].name);
        }
        fputs("</h1>\n<p class=\"note\">A difference between runs of one each is no proof, and up to 5 % is none to "
              "speak of; "
              "compare two sets with repetitions for a verdict.</p>\n",
              page->out);
}

static bool any_usable(const struct dbio_page *page)
{
        for (unsigned s = 0; s < page->nr; s++)
                if (page->sets[s].usable)
                        return true;
        return false;
}

void dbio_report_answer(struct dbio_page *page)
{
        if (page->nr != 2 && !any_usable(page))
                fputs("<h1>None: no run is valid, so they say nothing about the storage.</h1>\n", page->out);
        else if (page->nr == 1)
                answer_of_one(page);
        else if (page->nr == 2)
                answer_of_two(page);
        else
                answer_of_many(page);
}

static void tile(struct dbio_page *page, const char *what, const char *value, const char *class, const char *under)
{
        fputs("<div class=\"tile\"><div class=\"what\">", page->out);
        dbio_report_text(page, what);
        fputs("</div><div class=\"value\">", page->out);
        dbio_report_text(page, value);
        fprintf(page->out, "</div><div class=\"verdict %s\">", class);
        dbio_report_text(page, under);
        fputs("</div></div>\n", page->out);
}

static void compare_tile(struct dbio_page *page, const struct dbio_compare_row *row)
{
        const struct dbio_verdict *verdict = row->headline ? &row->plain : &row->verdict;
        char what[200], value[96], label[64], under[160], base[DBIO_NUMBER_SIZE], new_[DBIO_NUMBER_SIZE];
        const struct dbio_band *bands[2] = {dbio_band_of(verdict->base), dbio_band_of(verdict->new_)};

        dbio_compare_row_name(what, sizeof what, row);
        snprintf(value, sizeof value, "%s → %s\u00a0%s",
                 dbio_number_short(base, sizeof base, verdict->base * (row->time ? 1e-6 : 1)),
                 dbio_number_short(new_, sizeof new_, verdict->new_ * (row->time ? 1e-6 : 1)), row->time ? "ms" : "/s");
        dbio_verdict_label(label, sizeof label, verdict);
        snprintf(under, sizeof under, "%s%s%s", label,
                 row->time && !strcmp(row->figure, "avg") && bands[0] && bands[0] == bands[1] ? ", both " : "",
                 row->time && !strcmp(row->figure, "avg") && bands[0] && bands[0] == bands[1] ? bands[0]->name : "");
        tile(page, what, value,
             verdict->word == DBIO_VERDICT_FASTER        ? "faster"
             : verdict->word == DBIO_VERDICT_SLOWER      ? "slower"
             : verdict->word == DBIO_VERDICT_CANNOT_TELL ? "cannot"
                                                         : "same",
             under);
}

/* The last phase's rate, quiet and affected, of the main stream, and the commits. */
static void tiles_of_two(struct dbio_page *page)
{
        const struct dbio_comparison *c = page->comparison;
        const char *phase = c->nrows ? c->rows[c->nrows - 1].phase : "";
        unsigned shown = 0;

        if (!isnan(c->base.headroom) && !isnan(c->new_.headroom)) {
                char value[96];

                snprintf(value, sizeof value, "%.1f x → %.1f x", c->base.headroom, c->new_.headroom);
                tile(page, "headroom", value, "", "at the limits; 0 x: not met");
        }
        for (unsigned pass = 0; pass < 2; pass++)
                for (unsigned i = 0; i < c->nrows && shown < 4; i++) {
                        const struct dbio_compare_row *row = &c->rows[i];
                        bool first = !strcmp(row->figure, "IOPS") && row->plain.word != DBIO_VERDICT_RATE_SET;
                        bool second = !strcmp(row->kind, "commit")
                                              ? !strcmp(row->figure, "avg")
                                              : !strcmp(row->figure, "p99") && !strcmp(row->kind, "read") &&
                                                        strcmp(row->window, "quiet");

                        if (strcmp(row->phase, phase) || !(pass ? second : first))
                                continue;
                        compare_tile(page, row);
                        shown++;
                }
}

static void tiles_of_one(struct dbio_page *page)
{
        const struct dbio_interference_list *list = &page->sets[0].interference;
        const struct dbio_report_stream *stream = dbio_report_main(page);
        const struct dbio_run_figures *figures = stream ? dbio_report_figures(page, 0, stream) : NULL;
        char what[200], value[96], under[128], a[DBIO_NUMBER_SIZE], b[DBIO_NUMBER_SIZE];
        const struct dbio_band *band;

        if (figures) {
                snprintf(what, sizeof what, "%s %s", stream->name, dbio_kind_name((unsigned)stream->kind));
                snprintf(value, sizeof value, "%s\u00a0/s", dbio_number_short(a, sizeof a, figures->iops));
                snprintf(under, sizeof under, "%s MiB/s", dbio_number_short(b, sizeof b, figures->mib_per_s));
                tile(page, what, value, "", under);
                band = dbio_band_of(figures->response.mean);
                snprintf(value, sizeof value, "%s\u00a0ms",
                         dbio_number_short(a, sizeof a, figures->response.mean / 1e6));
                snprintf(under, sizeof under, "average response: %s (%s)", band ? band->name : "",
                         band ? band->range : "");
                tile(page, what, value, "", under);
                snprintf(value, sizeof value, "%s\u00a0ms",
                         dbio_number_short(a, sizeof a, figures->response.p99 / 1e6));
                tile(page, what, value, "", "p99 response");
        }
        for (unsigned i = 0; i < list->nr && i < 3; i++) {
                const struct dbio_interference_figures *f = &list->entries[i].figures;

                if (!dbio_interference_falls(f))
                        continue;
                snprintf(what, sizeof what, "%s while %s works", f->stream, f->other);
                snprintf(value, sizeof value, "%s → %s\u00a0/s", dbio_number_short(a, sizeof a, f->quiet_iops),
                         dbio_number_short(b, sizeof b, f->affected_iops));
                snprintf(under, sizeof under, "%+.0f %%", 100 * f->effect.change);
                tile(page, what, value, "slower", under);
        }
        for (unsigned i = 0; i < page->nstreams; i++) {
                const struct dbio_report_stream *commits = &page->streams[i];
                const struct dbio_run_figures *own = dbio_report_figures(page, 0, commits);

                if (commits->kind != DBIO_COMMIT || !stream || commits->phase != stream->phase || !own)
                        continue;
                band = dbio_band_of(own->response.mean);
                snprintf(what, sizeof what, "%s commit", commits->name);
                snprintf(value, sizeof value, "%s\u00a0ms", dbio_number_short(a, sizeof a, own->response.mean / 1e6));
                snprintf(under, sizeof under, "average: %s", band ? band->name : "");
                tile(page, what, value, "", under);
        }
}

void dbio_report_tiles(struct dbio_page *page)
{
        fputs("<div class=\"tiles\">\n", page->out);
        if (page->nr == 2)
                tiles_of_two(page);
        else if (page->nr == 1)
                tiles_of_one(page);
        fputs("</div>\n", page->out);
}
