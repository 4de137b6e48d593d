#include "results/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/number.h"

enum { HISTORY_LEAST = 5 };

static const char *const words[] = {
        [DBIO_VERDICT_CANNOT_TELL] = "cannot tell",
        [DBIO_VERDICT_SAME] = "same",
        [DBIO_VERDICT_FASTER] = "faster",
        [DBIO_VERDICT_SLOWER] = "slower",
        [DBIO_VERDICT_RATE_SET] = "rate set by schedule",
};

const char *dbio_verdict_word_name(enum dbio_verdict_word word)
{
        return words[word];
}

struct turn {
        int64_t order;
        double z;
        bool is_new;
};

static int turn_compare(const void *left, const void *right)
{
        const struct turn *a = left, *b = right;

        if (a->order != b->order)
                return a->order < b->order ? -1 : 1;
        return a->is_new - b->is_new;
}

/* Sides took turns when their means of position lie so close that side and position share less than half of their
 * variance; AAABBB shares 3/4, ABAB 1/5. */
static bool takes_turns(const struct turn *turns, unsigned nr)
{
        double share_new = 0, cross = 0, positions = 0;

        for (unsigned i = 0; i < nr; i++)
                share_new += (double)turns[i].is_new / nr;
        for (unsigned i = 0; i < nr; i++) {
                double q = i - (nr - 1) / 2.0;

                cross += (turns[i].is_new - share_new) * q;
                positions += q * q;
        }
        return cross * cross < 0.5 * positions * nr * share_new * (1 - share_new);
}

static double middle(const struct dbio_verdict_value *values, unsigned nr)
{
        double logs = 0, sum = 0;
        bool positive = true;

        for (unsigned i = 0; i < nr; i++) {
                positive = positive && values[i].value > 0;
                logs += positive ? log(values[i].value) : 0;
                sum += values[i].value;
        }
        return !nr ? NAN : positive ? exp(logs / nr) : sum / nr;
}

static bool all_positive(const struct dbio_verdict_value *values, unsigned nr)
{
        for (unsigned i = 0; i < nr; i++)
                if (!(values[i].value > 0 && isfinite(values[i].value)))
                        return false;
        return true;
}

/* The effect by the method that the runs allow. -1: not enough of them. */
static int estimate(const struct dbio_verdict_question *q, struct dbio_verdict *verdict)
{
        unsigned nr_base = q->nr_base, nr_new = q->nr_new, nr = nr_base + nr_new;
        unsigned nr_history = q->nr_history >= HISTORY_LEAST ? q->nr_history : 0;
        struct turn *turns = malloc(nr * sizeof *turns);
        double *z = malloc((nr + nr_history) * sizeof *z);
        bool *is_new = malloc(nr * sizeof *is_new);
        int rc = -1;

        if (!turns || !z || !is_new)
                goto out;
        for (unsigned i = 0; i < nr_base; i++)
                turns[i] = (struct turn){q->base[i].order, log(q->base[i].value), false};
        for (unsigned i = 0; i < nr_new; i++)
                turns[nr_base + i] = (struct turn){q->new_[i].order, log(q->new_[i].value), true};
        qsort(turns, nr, sizeof *turns, turn_compare);
        verdict->interleaved = takes_turns(turns, nr);
        for (unsigned i = 0; i < nr; i++) {
                z[i] = turns[i].z;
                is_new[i] = turns[i].is_new;
        }
        if (verdict->interleaved && nr_base >= 2 && nr_new >= 2 && !nr_history)
                rc = dbio_stat_drift(z, is_new, nr, &verdict->effect);
        if (rc) {
                struct dbio_stat_sample base = {z, nr_base}, new_ = {z + nr_base, nr_new};
                struct dbio_stat_sample history = {z + nr, nr_history};
                unsigned to[2] = {0, nr_base};

                for (unsigned i = 0; i < nr; i++)
                        z[to[turns[i].is_new]++] = turns[i].z;
                for (unsigned i = 0; i < nr_history; i++)
                        z[nr + i] = log(q->history[i]);
                rc = dbio_stat_two_sample(&base, &new_, &history, &verdict->effect);
        }
out:
        free(turns);
        free(z);
        free(is_new);
        return rc;
}

static enum dbio_verdict_word direction(const struct dbio_verdict *verdict)
{
        return (verdict->effect.b > 0) == verdict->higher_is_better ? DBIO_VERDICT_FASTER : DBIO_VERDICT_SLOWER;
}

/* Repetitions that would show a rounder, smaller change than this comparison could. */
static void advise(struct dbio_verdict *verdict)
{
        static const double changes[] = {0.5, 0.2, 0.1, 0.05, 0.02, 0.01};
        double seen = dbio_verdict_could_see(verdict);

        for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
                unsigned more;

                if (changes[i] > 0.8 * seen)
                        continue;
                verdict->wanted = verdict->higher_is_better ? -log1p(-changes[i]) : log1p(changes[i]);
                more = dbio_stat_repetitions(verdict->effect.sd, verdict->wanted, verdict->interleaved);
                if (more <= verdict->effect.nr_base || more > 200)
                        more = 0;
                verdict->repetitions = more;
                return;
        }
}

static bool refuse(const struct dbio_verdict_question *q, struct dbio_verdict *verdict)
{
        const char *why = NULL;

        if (!q->nr_base || !q->nr_new)
                why = "no run with this figure on one side";
        else if (!all_positive(q->base, q->nr_base) || !all_positive(q->new_, q->nr_new))
                why = "a run has no value above 0";
        else if (!q->exact && q->nr_history < HISTORY_LEAST && q->nr_base == 1 && q->nr_new == 1)
                why = "one run each; a run like this may differ by itself; use --repeat 5";
        else if (!q->exact && q->nr_history < HISTORY_LEAST && (q->nr_base < 2 || q->nr_new < 2))
                why = "one run on a side; a run like this may differ by itself; use --repeat 5";
        if (why)
                snprintf(verdict->why, sizeof verdict->why, "%s", why);
        return why != NULL;
}

static void judge_exact(struct dbio_verdict *verdict, double margin)
{
        double b = log(verdict->new_ / verdict->base);

        verdict->exact = true;
        verdict->computed = true;
        verdict->effect.b = verdict->low95 = verdict->high95 = verdict->low90 = verdict->high90 = b;
        verdict->p = verdict->p_holm = fabs(b) < margin;
        verdict->tost_p = fabs(b) >= margin;
        verdict->word = fabs(b) < margin ? DBIO_VERDICT_SAME : direction(verdict);
}

void dbio_verdict_decide(const struct dbio_verdict_question *question, struct dbio_verdict *verdict)
{
        struct dbio_verdict_question q = *question;
        double margin = -log1p(-q.margin), floor_;

        q.nr_base = q.nr_base > DBIO_VERDICT_MAX_RUNS ? DBIO_VERDICT_MAX_RUNS : q.nr_base;
        q.nr_new = q.nr_new > DBIO_VERDICT_MAX_RUNS ? DBIO_VERDICT_MAX_RUNS : q.nr_new;
        *verdict = (struct dbio_verdict){
                .base = middle(q.base, q.nr_base),
                .new_ = middle(q.new_, q.nr_new),
                .margin = q.margin,
                .higher_is_better = q.higher_is_better,
                .sessions = q.sessions,
                .p = 1,
                .p_holm = 1,
                .tost_p = 1,
                .effect = {.nr_base = q.nr_base, .nr_new = q.nr_new},
        };
        for (unsigned i = 0; i < q.nr_history; i++)
                if (!(q.history[i] > 0 && isfinite(q.history[i])))
                        q.nr_history = 0;
        if (q.rate_set) {
                verdict->word = DBIO_VERDICT_RATE_SET;
                return;
        }
        if (refuse(&q, verdict))
                return;
        if (q.exact) {
                judge_exact(verdict, margin);
                return;
        }
        if (estimate(&q, verdict)) {
                snprintf(verdict->why, sizeof verdict->why, "too few runs");
                return;
        }
        floor_ = q.resolution / sqrt(12) * sqrt(1.0 / q.nr_base + 1.0 / q.nr_new);
        verdict->effect.se = fmax(verdict->effect.se, floor_);
        verdict->computed = true;
        dbio_stat_interval(&verdict->effect, 1 - q.alpha, &verdict->low95, &verdict->high95);
        dbio_stat_interval(&verdict->effect, 0.90, &verdict->low90, &verdict->high90);
        verdict->p = verdict->p_holm = dbio_stat_p(&verdict->effect);
        verdict->tost_p = dbio_stat_tost_p(&verdict->effect, margin);
        if (verdict->low90 > -margin && verdict->high90 < margin)
                verdict->word = DBIO_VERDICT_SAME;
        else if (verdict->low95 > 0 || verdict->high95 < 0)
                verdict->word = direction(verdict);
        if (verdict->word == DBIO_VERDICT_CANNOT_TELL)
                advise(verdict);
}

int dbio_verdict_correct(struct dbio_verdict *const *rows, size_t nr)
{
        double *p = malloc((nr + !nr) * sizeof *p);
        size_t used = 0;
        int rc = -1;

        if (!p)
                return -1;
        for (size_t i = 0; i < nr; i++)
                if (rows[i]->computed && !rows[i]->exact)
                        p[used++] = rows[i]->p;
        if (dbio_stat_holm(p, used))
                goto out;
        used = 0;
        for (size_t i = 0; i < nr; i++) {
                struct dbio_verdict *row = rows[i];

                if (!row->computed || row->exact)
                        continue;
                row->p_holm = p[used++];
                if ((row->word == DBIO_VERDICT_FASTER || row->word == DBIO_VERDICT_SLOWER) && row->p_holm >= 0.05) {
                        row->word = DBIO_VERDICT_CANNOT_TELL;
                        row->holm_rows = (unsigned)used;
                }
        }
        for (size_t i = 0; i < nr; i++)
                if (rows[i]->holm_rows)
                        rows[i]->holm_rows = (unsigned)used;
        rc = 0;
out:
        free(p);
        return rc;
}

double dbio_verdict_could_see(const struct dbio_verdict *verdict)
{
        double b = verdict->computed && !verdict->exact ? dbio_stat_detectable(&verdict->effect) : 0;

        return verdict->higher_is_better ? -expm1(-b) : expm1(b);
}

char *dbio_verdict_label(char *text, size_t size, const struct dbio_verdict *verdict)
{
        const char *word = words[verdict->word];

        if (verdict->word == DBIO_VERDICT_SAME)
                snprintf(text, size, "same within %g %%", 100 * verdict->margin);
        else if (verdict->holm_rows)
                snprintf(text, size, "%s (1 of %u)", word, verdict->holm_rows);
        else
                snprintf(text, size, "%s", word);
        return text;
}

/* "5 runs each", "5 and 3 runs", with what else made the noise known. */
static void runs_text(char *text, size_t size, const struct dbio_verdict *verdict)
{
        const struct dbio_stat_effect *effect = &verdict->effect;
        char runs[64], history[64] = "";

        if (effect->nr_base != effect->nr_new)
                snprintf(runs, sizeof runs, "%u and %u runs", effect->nr_base, effect->nr_new);
        else if (effect->nr_base == 1)
                snprintf(runs, sizeof runs, "one %s each", verdict->sessions ? "session" : "run");
        else
                snprintf(runs, sizeof runs, "%u runs each", effect->nr_base);
        if (effect->nr_history)
                snprintf(history, sizeof history, ", noise from %u earlier %s", effect->nr_history,
                         verdict->sessions ? "sessions" : "runs");
        snprintf(text, size, "%s%s%s", runs,
                 verdict->exact         ? ""
                 : verdict->interleaved ? ", interleaved"
                 : verdict->computed    ? ", not interleaved"
                                        : "",
                 history);
}

static void cannot_line(char *text, size_t size, const struct dbio_verdict *verdict, const char *name,
                        const char *change, const char *between)
{
        char seen[DBIO_NUMBER_SIZE], wanted[DBIO_NUMBER_SIZE], more[96] = "", runs[64];
        unsigned nr = verdict->effect.nr_base;

        dbio_number_percent(seen, sizeof seen, dbio_verdict_could_see(verdict));
        dbio_number_percent(wanted, sizeof wanted,
                            verdict->higher_is_better ? -expm1(-verdict->wanted) : expm1(verdict->wanted));
        if (verdict->repetitions && !verdict->sessions)
                snprintf(more, sizeof more, ", about %u runs each would show %s", verdict->repetitions, wanted);
        if (nr != verdict->effect.nr_new)
                snprintf(runs, sizeof runs, "%u and %u runs show", nr, verdict->effect.nr_new);
        else if (nr == 1)
                snprintf(runs, sizeof runs, "one %s each shows", verdict->sessions ? "session" : "run");
        else
                snprintf(runs, sizeof runs, "%u runs show", nr);
        snprintf(text, size, "cannot tell: %s %s%s; %s%s changes above %s%s", name, change, between, runs,
                 nr == 2 && verdict->effect.nr_new == 2 ? " only" : "", seen, more);
}

char *dbio_verdict_line(char *text, size_t size, const struct dbio_verdict *verdict, const char *name, const char *unit,
                        double scale)
{
        char base[DBIO_NUMBER_SIZE], new_[DBIO_NUMBER_SIZE], change[DBIO_NUMBER_SIZE], low[DBIO_NUMBER_SIZE];
        char high[DBIO_NUMBER_SIZE], label[64], runs[160], between[96] = "";
        double half = (verdict->high95 - verdict->low95) / 2;

        dbio_number_short(base, sizeof base, verdict->base * scale);
        dbio_number_short(new_, sizeof new_, verdict->new_ * scale);
        dbio_verdict_label(label, sizeof label, verdict);
        runs_text(runs, sizeof runs, verdict);
        if (verdict->word == DBIO_VERDICT_RATE_SET) {
                snprintf(text, size, "%s %s -> %s%s: %s", name, base, new_, unit, label);
                return text;
        }
        if (!verdict->computed) {
                dbio_number_change(change, sizeof change, log(verdict->new_ / verdict->base), 0);
                snprintf(text, size, "cannot tell: %s %s -> %s%s (%s), %s", name, base, new_, unit, change,
                         verdict->why);
                return text;
        }
        dbio_number_change(change, sizeof change, verdict->effect.b, half);
        if (half > 0)
                snprintf(between, sizeof between, " (between %s and %s)",
                         dbio_number_bound(low, sizeof low, verdict->low95, half),
                         dbio_number_bound(high, sizeof high, verdict->high95, half));
        if (verdict->word == DBIO_VERDICT_CANNOT_TELL && !verdict->holm_rows)
                cannot_line(text, size, verdict, name, change, between);
        else
                snprintf(text, size, "%s%s: %s %s -> %s%s, %s%s, %s", label,
                         verdict->exact ? " (exact, simulated)" : "", name, base, new_, unit, change, between, runs);
        return text;
}
