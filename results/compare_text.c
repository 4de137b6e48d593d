#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "results/bands.h"
#include "results/compare_state.h"
#include "results/number.h"
#include "results/text.h"

#define COLUMN 8 /* letters over a figure */

/* A paragraph that grows sentence by sentence. */
struct paragraph {
        char text[4096];
};

static void say(struct paragraph *paragraph, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct paragraph *paragraph, const char *format, ...)
{
        size_t used = strlen(paragraph->text);
        va_list args;

        if (used && used + 1 < sizeof paragraph->text)
                paragraph->text[used++] = ' ';
        va_start(args, format);
        vsnprintf(paragraph->text + used, sizeof paragraph->text - used, format, args);
        va_end(args);
}

static const char *compare_name(const struct dbio_compare_side *side)
{
        return side->shown;
}

static char *compare_span(char *text, size_t size, double days)
{
        char number[DBIO_NUMBER_SIZE];
        double hours = days * 24;

        if (hours < 36)
                snprintf(text, size, "%s hours", dbio_number_group(number, sizeof number, hours, hours < 10));
        else
                snprintf(text, size, "%s days", dbio_number_group(number, sizeof number, days, days < 10));
        return text;
}

char *dbio_compare_row_name(char *text, size_t size, const struct dbio_compare_row *row)
{
        snprintf(text, size, "%s%s%s %s%s%s", row->stream, *row->kind ? " " : "", row->kind, row->figure,
                 *row->window ? " " : "", row->window);
        return text;
}

static void print_head(const struct dbio_comparison *c, FILE *out)
{
        char left[160], right[64];
        const struct dbio_compare_side *sides[2] = {&c->base, &c->new_};

        if (sides[0]->simulated != sides[1]->simulated)
                dbio_text_line(out,
                               "WARNING  %s is SIMULATED, the other real: this compares a device with a model of one",
                               compare_name(sides[sides[1]->simulated]));
        snprintf(left, sizeof left, "COMPARE  %lld %.40s  ->  %lld %.40s", (long long)c->base.runs[0].run_id,
                 c->base.label ? c->base.label : "", (long long)c->new_.runs[0].run_id,
                 c->new_.label ? c->new_.label : "");
        snprintf(right, sizeof right, "%u + %u repetitions", c->base.shown_only ? 0 : c->base.used,
                 c->new_.shown_only ? 0 : c->new_.used);
        dbio_text_line(out, "%-70s %29s", left, right);
        for (int i = 0; i < 2; i++)
                if (sides[i]->simulated) {
                        char trust[2048];

                        snprintf(trust, sizeof trust, "%s: %s", compare_name(sides[i]),
                                 sides[i]->trust ? sides[i]->trust : "a device model");
                        dbio_text_hang(out, "  SIMULATED  ", 13, trust);
                }
        if (!c->base.hash || !c->new_.hash)
                dbio_text_line(out, "  demand   NOT KNOWN: no verdict   results without a schedule");
        else if (c->same_demand)
                dbio_text_line(out, "  demand   SAME   schedule %.8s, seed %lld%s", c->base.hash,
                               (long long)c->base.seed, c->base.seed == c->new_.seed ? "" : " and another");
        else
                dbio_text_line(out, "  demand   DIFFERS: no verdict   schedule %.8s -> %.8s", c->base.hash,
                               c->new_.hash);
}

/* Past results of other tools come without a schedule, and without what else dbio keeps of a run. */
static bool is_imported(const struct dbio_compare_side *side)
{
        return !side->hash;
}

static void print_host(const struct dbio_comparison *c, FILE *out)
{
        struct paragraph paragraph = {""};

        for (unsigned i = 0; i < c->nhost && i < 12; i++)
                say(&paragraph, "%s %.60s -> %.60s%s", c->host[i].what, c->host[i].base, c->host[i].new_,
                    i + 1 < c->nhost ? "," : "");
        if (c->nhost > 12)
                say(&paragraph, "and %u more (--json)", c->nhost - 12);
        if (!c->nhost)
                say(&paragraph, is_imported(&c->base) || is_imported(&c->new_) ? "not known" : "same");
        dbio_text_hang(out, "  host     ", 11, paragraph.text);
}

static void print_validity(const struct dbio_comparison *c, FILE *out)
{
        const struct dbio_compare_side *sides[2] = {&c->base, &c->new_};
        struct paragraph paragraph = {""};

        if (is_imported(&c->base) || is_imported(&c->new_))
                say(&paragraph, "not known of results of another tool;");
        else if (c->base.used == c->base.nr && c->new_.used == c->new_.nr && !c->base.shown_only && !c->new_.shown_only)
                say(&paragraph, "both valid;");
        for (int s = 0; s < 2; s++)
                for (unsigned i = sides[s]->shown_only ? 0 : sides[s]->used; i < sides[s]->nr; i++)
                        say(&paragraph, "run %lld is left out: %s;", (long long)sides[s]->runs[i].run_id,
                            sides[s]->runs[i].left_out);
        if (!isnan(c->base.foreign) && !isnan(c->new_.foreign))
                say(&paragraph, "other I/O %.1f %% / %.1f %%;", 100 * c->base.foreign, 100 * c->new_.foreign);
        if (c->base.write_through && c->new_.write_through)
                say(&paragraph, "write-through on both;");
        else if (c->base.write_through || c->new_.write_through)
                say(&paragraph, "write-through on %s alone;", compare_name(sides[c->new_.write_through]));
        if (*paragraph.text)
                paragraph.text[strlen(paragraph.text) - 1] = 0;
        dbio_text_hang(out, "  validity ", 11, paragraph.text);
}

static const char *loud(enum dbio_verdict_word word)
{
        return word == DBIO_VERDICT_FASTER   ? "FASTER"
               : word == DBIO_VERDICT_SLOWER ? "SLOWER"
               : word == DBIO_VERDICT_SAME   ? "SAME"
                                             : "cannot tell";
}

static bool is_clear(const struct dbio_compare_row *row)
{
        return row->headline && row->plain.computed && row->plain.word != DBIO_VERDICT_CANNOT_TELL;
}

/* Whether a later phase has the same figure: a sentence takes the last. */
static bool comes_again(const struct dbio_comparison *c, unsigned at)
{
        const struct dbio_compare_row *row = &c->rows[at];

        for (unsigned i = at + 1; i < c->nrows; i++)
                if (!strcmp(c->rows[i].stream, row->stream) && !strcmp(c->rows[i].kind, row->kind) &&
                    !strcmp(c->rows[i].figure, row->figure) && strncmp(c->rows[i].window, "in ", 3))
                        return true;
        return false;
}

static void say_row(const struct dbio_compare_row *row, struct paragraph *paragraph)
{
        char base[DBIO_NUMBER_SIZE], new_[DBIO_NUMBER_SIZE], change[DBIO_NUMBER_SIZE], figure[24];
        double scale = row->time ? 1e-6 : 1;

        snprintf(figure, sizeof figure, "%s%s", row->time ? "ms " : "", row->figure);
        say(paragraph, "%s%s: %s -> %s %s (%s).", row->stream, strcmp(row->kind, "commit") ? "" : " commits",
            dbio_number_short(base, sizeof base, row->plain.base * scale),
            dbio_number_short(new_, sizeof new_, row->plain.new_ * scale), figure,
            dbio_number_change(change, sizeof change, row->plain.effect.b,
                               (row->plain.high95 - row->plain.low95) / 2));
}

/* "reads: 4,001 -> 44,817 IOPS (x 11.2)." of reads that no schedule paces, then of each headline that has an answer. */
static void say_figures(const struct dbio_comparison *c, struct paragraph *paragraph)
{
        for (int rates = 1; rates >= 0; rates--)
                for (unsigned i = 0; i < c->nrows; i++) {
                        const struct dbio_compare_row *row = &c->rows[i];
                        bool rate = !strcmp(row->figure, "IOPS") && !strcmp(row->kind, "read") &&
                                    strncmp(row->window, "in ", 3);

                        if (comes_again(c, i) || rate != rates)
                                continue;
                        if (is_clear(row) ||
                            (rate && row->verdict.computed && (row->verdict.word == DBIO_VERDICT_FASTER ||
                                                               row->verdict.word == DBIO_VERDICT_SLOWER)))
                                say_row(row, paragraph);
                }
}

static char *loud_text(char *text, size_t size, const struct dbio_comparison *c, enum dbio_verdict_word word)
{
        if (word == DBIO_VERDICT_SAME)
                snprintf(text, size, "SAME within %g %%", 100 * c->margin);
        else
                snprintf(text, size, "%s", loud(word));
        return text;
}

static bool last_headline(const struct dbio_comparison *c, unsigned at)
{
        for (unsigned i = at + 1; i < c->nrows; i++)
                if (c->rows[i].headline)
                        return false;
        return true;
}

/* The answer in one word where all phases agree, else phase by phase. */
static void say_answer(const struct dbio_comparison *c, struct paragraph *paragraph)
{
        const struct dbio_compare_row *first = NULL;
        bool agree = true;
        char word[48];

        for (unsigned i = 0; i < c->nrows; i++) {
                if (!c->rows[i].headline)
                        continue;
                first = first ? first : &c->rows[i];
                agree = agree && c->rows[i].plain.word == first->plain.word;
        }
        if (!first || c->base.shown_only || c->new_.shown_only) {
                say(paragraph, "cannot tell: no run on one side can be used.%s",
                    c->nrows ? " Its figures are shown all the same." : "");
                return;
        }
        if (agree) {
                loud_text(word, sizeof word, c, first->plain.word);
                if (first->plain.word == DBIO_VERDICT_CANNOT_TELL || first->plain.word == DBIO_VERDICT_RATE_SET)
                        say(paragraph, "%s%s", word, c->exact ? ", simulated." : ".");
                else
                        say(paragraph, "%s is %s%s", compare_name(&c->new_), word,
                            c->exact ? ", exact (simulated)." : ".");
                return;
        }
        say(paragraph, "%s is", compare_name(&c->new_));
        for (unsigned i = 0; i < c->nrows; i++)
                if (c->rows[i].headline)
                        say(paragraph, "%s%s in %s%s", &c->rows[i] == first ? "" : "and ",
                            c->rows[i].plain.word == DBIO_VERDICT_CANNOT_TELL
                                    ? "not told apart"
                                    : loud_text(word, sizeof word, c, c->rows[i].plain.word),
                            c->rows[i].phase,
                            !last_headline(c, i) ? ""
                            : c->exact           ? ", exact (simulated)."
                                                 : ".");
}

/* A loss that is more than chance, and more than a trifle. */
static bool costs(const struct dbio_interference_figures *figures)
{
        const struct dbio_interference *effect = &figures->effect;

        return effect->bounded ? effect->high < 0 && effect->change <= -0.02 : effect->change <= -0.05;
}

static void say_interference(const struct dbio_comparison *c, struct paragraph *paragraph)
{
        if (c->base.shown_only || c->new_.shown_only)
                return;
        for (unsigned i = 0; i < c->ninterference; i++) {
                const struct dbio_compare_interference *entry = &c->interference[i];
                const struct dbio_interference_figures *base = &entry->base, *new_ = &entry->new_;

                if (!base->effect.episodes || !new_->effect.episodes ||
                    (!costs(base) && !costs(new_)))
                        continue;
                say(paragraph, "%s costs %s %.0f %% of the rate on %s and %.0f %% on %s.", entry->other, entry->stream,
                    fmax(0, -100 * base->effect.change), compare_name(&c->base),
                    fmax(0, -100 * new_->effect.change), compare_name(&c->new_));
        }
}

static void say_bands(const struct dbio_comparison *c, struct paragraph *paragraph)
{
        if (c->base.shown_only || c->new_.shown_only)
                return;
        for (unsigned i = 0; i < c->nrows; i++) {
                const struct dbio_compare_row *row = &c->rows[i];
                const struct dbio_band *base, *new_;

                if (strcmp(row->figure, "avg") || (*row->window && strcmp(row->window, "quiet")) ||
                    (row->verdict.word != DBIO_VERDICT_FASTER && row->verdict.word != DBIO_VERDICT_SLOWER) ||
                    (strcmp(row->kind, "read") && strcmp(row->kind, "commit")))
                        continue;
                base = dbio_band_of(row->verdict.base);
                new_ = dbio_band_of(row->verdict.new_);
                if (base != new_ || base != &dbio_bands[0])
                        continue;
                say(paragraph, "%s %ss: %s, but both are %s (%s): expect no visible %s there.", row->stream, row->kind,
                    dbio_verdict_word_name(row->verdict.word), base->name, base->range,
                    row->verdict.word == DBIO_VERDICT_FASTER ? "gain" : "loss");
        }
}

static void say_reservations(const struct dbio_comparison *c, struct paragraph *paragraph)
{
        char span[64], change[DBIO_NUMBER_SIZE];

        for (unsigned i = 0; i < c->nrows; i++) {
                const struct dbio_stat_effect *effect = &c->rows[i].plain.effect;

                if (!c->rows[i].headline || !c->rows[i].plain.computed || effect->method != DBIO_STAT_DRIFT ||
                    effect->drift_p >= 0.05)
                        continue;
                say(paragraph, "The machine changed by %s per run in %s while the runs went on; taken out.",
                    dbio_number_change(change, sizeof change, effect->drift, effect->drift_se * 2), c->rows[i].phase);
        }
        for (unsigned i = 0; i < c->nsteady; i++) {
                const struct dbio_compare_steady *steady = &c->steady[i];

                if (steady->steady)
                        continue;
                say(paragraph,
                    "%s is not steady: %s changes by %+.0f %% and %+.0f %% from the first to the last third%s.",
                    steady->phase, steady->stream, 100 * expm1(steady->base.mean), 100 * expm1(steady->new_.mean),
                    steady->shared ? ", alike on both sides" : "; a longer warm-up is needed");
        }
        if (c->exact || c->interleaved || !c->base.used || !c->new_.used)
                return;
        if (c->by_session)
                say(paragraph,
                    "Base and new come from different sessions, %s apart; what sessions differ by is known from %u "
                    "earlier ones.",
                    compare_span(span, sizeof span, c->days_apart), c->nsessions);
        else if (!c->same_session)
                say(paragraph,
                    "Base and new come from different sessions, %s apart; a shift of the machine between them "
                    "would look the same.",
                    compare_span(span, sizeof span, c->days_apart));
        else if (c->base.used + c->new_.used > 2)
                say(paragraph, "The runs did not take turns (not interleaved): a drift of the machine would look the "
                               "same; `dbio study` over target.NAME takes turns.");
}

char *dbio_compare_headline(const struct dbio_comparison *c, char *text, size_t size)
{
        struct paragraph paragraph = {""};

        say_answer(c, &paragraph);
        say_figures(c, &paragraph);
        snprintf(text, size, "%s", paragraph.text);
        return text;
}

char *dbio_compare_answer(const struct dbio_comparison *c, char *text, size_t size)
{
        struct paragraph paragraph = {""};

        say_interference(c, &paragraph);
        say_bands(c, &paragraph);
        snprintf(text, size, "%s", paragraph.text);
        return text;
}

char *dbio_compare_reservations(const struct dbio_comparison *c, char *text, size_t size)
{
        struct paragraph paragraph = {""};

        say_reservations(c, &paragraph);
        snprintf(text, size, "%s", paragraph.text);
        return text;
}

static void print_headlines(const struct dbio_comparison *c, FILE *out)
{
        for (unsigned i = 0; i < c->nrows; i++) {
                const struct dbio_compare_row *row = &c->rows[i];
                char name[180], line[600], text[800];

                if (!row->headline)
                        continue;
                dbio_compare_row_name(name, sizeof name, row);
                dbio_verdict_line(line, sizeof line, &row->plain, name, row->time ? " ms" : "", row->time ? 1e-6 : 1);
                snprintf(text, sizeof text, "%s: %s", row->phase, line);
                dbio_text_hang(out, "  ", 4, text);
        }
}

static void print_verdict(const struct dbio_comparison *c, FILE *out)
{
        char text[4096], answer[4096], all[sizeof text + sizeof answer];

        dbio_compare_answer(c, answer, sizeof answer);
        snprintf(all, sizeof all, "%s%s%s", dbio_compare_headline(c, text, sizeof text), *answer ? " " : "", answer);
        fprintf(out, "\nVERDICT\n");
        dbio_text_wrap(out, 2, all);
        dbio_text_wrap(out, 2, dbio_compare_reservations(c, text, sizeof text));
        print_headlines(c, out);
}

/* Replaced, not decorated. */
static void print_no_verdict(const struct dbio_comparison *c, FILE *out)
{
        const char *line = c->differences;

        if (!c->base.hash || !c->new_.hash) {
                fprintf(out,
                        "\nVERDICT  none: what was demanded is not known, so this says nothing about the storage.\n");
                return;
        }
        fprintf(out, "\nVERDICT  none: the demand is NOT the same, so this says nothing about the storage.\n");
        while (line && *line) {
                size_t length = strcspn(line, "\n");

                dbio_text_line(out, "  %.*s", (int)length, line);
                line += length + (line[length] == '\n');
        }
        if (!c->differences || !*c->differences)
                dbio_text_line(out, "  see `dbio diff` of the two workloads");
}

/* "+-0.2": in points of percent, or of the factor. */
static char *half_text(char *text, size_t size, const struct dbio_verdict *verdict)
{
        double factor = exp(verdict->effect.b), half = (exp(verdict->high95) - exp(verdict->low95)) / 2;
        bool factors = factor > 2 || factor < 0.5;
        char number[DBIO_NUMBER_SIZE];
        double width = factors ? half : 100 * half;

        if (!verdict->computed)
                snprintf(text, size, "-");
        else if (verdict->exact)
                snprintf(text, size, "exact");
        else
                snprintf(text, size, "+-%s",
                         dbio_number_group(number, sizeof number, width,
                                           width >= 9.5                     ? 0
                                           : width >= 0.095 || width < 5e-3 ? 1
                                                                            : 2));
        return text;
}

static void print_row(const struct dbio_comparison *c, const struct dbio_compare_row *row,
                      const struct dbio_compare_row *before, FILE *out)
{
        const struct dbio_verdict *verdict = row->headline ? &row->plain : &row->verdict;
        char label[160], figure[24], base[DBIO_NUMBER_SIZE], new_[DBIO_NUMBER_SIZE], change[DBIO_NUMBER_SIZE];
        char half[DBIO_NUMBER_SIZE], word[64];
        bool same_stream = before && !strcmp(before->stream, row->stream) && !strcmp(before->phase, row->phase);
        bool same_kind = same_stream && !strcmp(before->kind, row->kind);
        bool same_figure = same_kind && !strcmp(before->figure, row->figure);
        double scale = row->time ? 1e-6 : 1;

        snprintf(figure, sizeof figure, "%s%s", row->figure, row->time ? " ms" : "");
        if (!same_stream && strlen(row->stream) > 11) {
                dbio_text_line(out, "  %s", row->stream);
                same_stream = true;
        }
        if (*row->kind)
                snprintf(label, sizeof label, "%-11s %-6s %-8s%.13s", same_stream ? "" : row->stream,
                         same_kind ? "" : row->kind, same_figure ? "" : figure, row->window);
        else
                snprintf(label, sizeof label, "%-11s %s", same_stream ? "" : row->stream, figure);
        dbio_number_change(change, sizeof change,
                           verdict->computed ? verdict->effect.b : log(verdict->new_ / verdict->base),
                           (verdict->high95 - verdict->low95) / 2);
        dbio_verdict_label(word, sizeof word, verdict);
        dbio_text_line(out, "  %-40.40s %8s %8s %8s %7s  %s", label,
                       dbio_number_short(base, sizeof base, verdict->base * scale),
                       dbio_number_short(new_, sizeof new_, verdict->new_ * scale), change,
                       half_text(half, sizeof half, verdict), c->same_demand ? word : "-");
}

/* What fits over a column: where labels are the same, the run's id; where they begin alike, their ends. */
static const char *column_name(const struct dbio_compare_side *side, const struct dbio_compare_side *other)
{
        const char *id = strrchr(side->shown, '#');
        size_t length = strlen(side->shown);

        if (length <= COLUMN)
                return side->shown;
        if (id)
                return id;
        if (strncmp(side->shown, other->shown, COLUMN))
                return side->shown;
        const char *end = side->shown + length - COLUMN;
        while ((*end & 0xc0) == 0x80) /* not into the midst of a character */
                end++;
        return end;
}

static void print_table(const struct dbio_comparison *c, FILE *out)
{
        for (unsigned i = 0; i < c->nrows; i++) {
                if (i == 0 || strcmp(c->rows[i].phase, c->rows[i - 1].phase)) {
                        fputc('\n', out);
                        dbio_text_line(out, "  phase %-34.34s %8.8s %8.8s %8s %7s  verdict", c->rows[i].phase,
                                       column_name(&c->base, &c->new_), column_name(&c->new_, &c->base), "change",
                                       "95 % CI");
                }
                print_row(c, &c->rows[i], i ? &c->rows[i - 1] : NULL, out);
        }
}

static void print_unclear(const struct dbio_compare_row *row, const struct dbio_verdict *verdict, FILE *out)
{
        char name[180], seen[DBIO_NUMBER_SIZE], wanted[DBIO_NUMBER_SIZE], text[480], more[128] = "";

        dbio_compare_row_name(name, sizeof name, row);
        if (verdict->repetitions && !verdict->sessions)
                snprintf(more, sizeof more, "; --repeat %u would show %s", verdict->repetitions,
                         dbio_number_percent(wanted, sizeof wanted,
                                             row->higher_is_better ? expm1(-verdict->wanted) : expm1(verdict->wanted)));
        snprintf(text, sizeof text, "%s: this data would have shown a change of %s or more%s", name,
                 dbio_number_percent(seen, sizeof seen, dbio_verdict_could_see(verdict)), more);
        dbio_text_hang(out, "  cannot tell  ", 15, text);
}

/* What each "cannot tell" could have seen, and what would do; a reason that several rows share is said once. */
static void print_cannot_tell(const struct dbio_comparison *c, FILE *out)
{
        for (unsigned i = 0; i < c->nrows && c->same_demand; i++) {
                const struct dbio_compare_row *row = &c->rows[i];
                const struct dbio_verdict *verdict = row->headline ? &row->plain : &row->verdict;
                char name[180], text[480];
                unsigned first = 0;

                if (verdict->word != DBIO_VERDICT_CANNOT_TELL)
                        continue;
                if (verdict->computed) {
                        print_unclear(row, verdict, out);
                        continue;
                }
                while (c->rows[first].plain.computed || strcmp(c->rows[first].plain.why, verdict->why))
                        first++;
                if (first < i)
                        continue;
                dbio_compare_row_name(name, sizeof name, row);
                if (!strncmp(verdict->why, "one run", 7) || !strncmp(verdict->why, "not steady", 10))
                        dbio_text_hang(out, "  cannot tell  ", 15, verdict->why);
                else {
                        snprintf(text, sizeof text, "%s: %s", name, verdict->why);
                        dbio_text_hang(out, "  cannot tell  ", 15, text);
                }
        }
}

/* From the newest search for headroom that was run under each side's label. */
static void print_headroom(const struct dbio_comparison *c, FILE *out)
{
        char sides[2][32];

        if (isnan(c->base.headroom) || isnan(c->new_.headroom))
                return;
        for (int i = 0; i < 2; i++) {
                double factor = i ? c->new_.headroom : c->base.headroom;

                if (factor > 0)
                        snprintf(sides[i], sizeof sides[i], "%.1f x", factor);
                else
                        snprintf(sides[i], sizeof sides[i], "limits not met");
        }
        dbio_text_line(out, "  headroom at limits   %s -> %s", sides[0], sides[1]);
}

static void print_gates(const struct dbio_comparison *c, FILE *out)
{
        if (!c->nanswers && c->code == DBIO_OK)
                return;
        fprintf(out, "\nGATES    %s\n",
                c->code == DBIO_OK            ? "pass"
                : c->code == DBIO_GATE_FAILED ? "FAIL"
                                              : "inconclusive");
        for (unsigned i = 0; i < c->nanswers; i++) {
                char line[400], text[500];

                dbio_gate_line(line, sizeof line, c->answers[i].text, &c->answers[i].rule, &c->answers[i].answer);
                snprintf(text, sizeof text, "%s  in %s", line, c->answers[i].phase);
                dbio_text_hang(out, "  ", 4, text);
        }
        if (!c->nanswers)
                fprintf(out, "  not judged: %s\n",
                        c->same_demand ? "no run on one side can be used" : "the demand is not the same");
}

void dbio_compare_text(const struct dbio_comparison *c, FILE *out)
{
        print_head(c, out);
        print_host(c, out);
        print_validity(c, out);
        if (c->same_demand)
                print_verdict(c, out);
        else
                print_no_verdict(c, out);
        print_table(c, out);
        print_headroom(c, out);
        print_cannot_tell(c, out);
        print_gates(c, out);
}
