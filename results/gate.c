#include "results/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/number.h"
#include "results/stat_dist.h"

static const char *const words[] = {
        [DBIO_GATE_PASS] = "PASS",
        [DBIO_GATE_FAIL] = "FAIL",
        [DBIO_GATE_INCONCLUSIVE] = "INCONCLUSIVE",
};

const char *dbio_gate_word_name(enum dbio_gate_word word)
{
        return words[word];
}

static bool keeps(const struct dbio_gate *gate, double value, double limit)
{
        if (value == limit)
                return gate->or_equal;
        return gate->less ? value < limit : value > limit;
}

/* The worst run decides: a count has no spread to reason about. */
static void judge_counts(const struct dbio_gate *gate, const struct dbio_verdict_question *q,
                         struct dbio_gate_answer *answer)
{
        answer->word = q->nr_new ? DBIO_GATE_PASS : DBIO_GATE_INCONCLUSIVE;
        for (unsigned i = 0; i < q->nr_new; i++)
                if (!keeps(gate, q->new_[i].value, gate->limit))
                        answer->word = DBIO_GATE_FAIL;
        answer->p = answer->word == DBIO_GATE_FAIL ? 0 : 1;
        snprintf(answer->why, sizeof answer->why, q->nr_new ? "judged in every run" : "no run with this figure");
}

/* 0 has no logarithm, and lies beyond any limit that it keeps or breaks: where all runs agree, nothing is left to estimate. */
static void judge_zeros(const struct dbio_gate *gate, const struct dbio_verdict_question *q,
                        struct dbio_gate_answer *answer)
{
        unsigned nr_kept = 0;

        snprintf(answer->why, sizeof answer->why, q->nr_new == 1 && !q->exact
                                                          ? "one run; a run like this may differ by itself; use --repeat 5"
                                                          : "not above 0 in every run");
        if (q->nr_new < (q->exact ? 1 : 2))
                return;
        for (unsigned i = 0; i < q->nr_new; i++) {
                if (!isfinite(q->new_[i].value))
                        return;
                nr_kept += keeps(gate, q->new_[i].value, gate->limit);
        }
        if (nr_kept != 0 && nr_kept != q->nr_new)
                return;
        answer->word = nr_kept ? DBIO_GATE_PASS : DBIO_GATE_FAIL;
        answer->p = nr_kept ? 1 : 0;
        snprintf(answer->why, sizeof answer->why, "judged in every run");
}

/* ln(y / limit) of NEW alone, as an effect. -1: not enough runs, or a value not above 0. */
static int against_limit(const struct dbio_gate *gate, const struct dbio_verdict_question *q,
                         struct dbio_stat_effect *effect)
{
        double mean = 0, squares = 0;
        unsigned nr = q->nr_new;

        if (!nr || !(gate->limit > 0))
                return -1;
        for (unsigned i = 0; i < nr; i++) {
                if (!(q->new_[i].value > 0 && isfinite(q->new_[i].value)))
                        return -1;
                mean += log(q->new_[i].value / gate->limit) / nr;
        }
        for (unsigned i = 0; i < nr; i++) {
                double rest = log(q->new_[i].value / gate->limit) - mean;

                squares += rest * rest;
        }
        if (nr < 2 && !q->exact)
                return -1;
        *effect = (struct dbio_stat_effect){.b = mean, .df = nr - 1, .nr_new = nr};
        if (!q->exact) {
                effect->sd = sqrt(squares / (nr - 1));
                effect->se = effect->sd / sqrt(nr);
        }
        return 0;
}

void dbio_gate_judge(const struct dbio_gate *gate, const struct dbio_verdict_question *question,
                     struct dbio_gate_answer *answer)
{
        struct dbio_stat_effect effect;
        double limit = 0, sign = gate->less ? 1 : -1, half, oriented, low, worse_than;

        *answer = (struct dbio_gate_answer){.word = DBIO_GATE_INCONCLUSIVE, .p = 1};
        if (gate->exact_only) {
                judge_counts(gate, question, answer);
                return;
        }
        if (gate->relative) {
                struct dbio_verdict_question q = *question;
                struct dbio_verdict verdict;

                q.rate_set = false;
                q.margin = DBIO_VERDICT_MARGIN;
                q.alpha = 0.05;
                dbio_verdict_decide(&q, &verdict);
                if (!verdict.computed) {
                        snprintf(answer->why, sizeof answer->why, "%s", verdict.why);
                        return;
                }
                effect = verdict.effect;
                limit = log1p(gate->limit) * sign;
        } else if (against_limit(gate, question, &effect)) {
                judge_zeros(gate, question, answer);
                return;
        }
        answer->computed = true;
        half = effect.se > 0 ? dbio_stat_t_quantile(0.95, effect.df) * effect.se : 0;
        answer->b = effect.b;
        answer->low = effect.b - half;
        answer->high = effect.b + half;
        oriented = effect.b * sign;
        low = oriented - half;
        /* What counts as "worse": no change, or the limit itself where that asks for less than no change. */
        worse_than = gate->relative ? fmin(0, limit) : limit;
        answer->p = effect.se > 0           ? dbio_stat_t_cdf(-(oriented - worse_than) / effect.se, effect.df)
                    : oriented > worse_than ? 0
                                            : 1;
        if (oriented + half < limit)
                answer->word = DBIO_GATE_PASS;
        else if (oriented >= limit && (low > worse_than || (half == 0 && oriented >= worse_than)))
                answer->word = DBIO_GATE_FAIL;
        else if (effect.sd > 0)
                answer->repetitions = dbio_stat_repetitions(effect.sd, fabs(oriented - limit), false);
}

enum dbio_code dbio_gates_conclude(struct dbio_gate_answer *answers, size_t nr)
{
        double *p = malloc((nr + !nr) * sizeof *p);
        enum dbio_code code = DBIO_OK;

        if (!p)
                return DBIO_BUG;
        for (size_t i = 0; i < nr; i++)
                p[i] = answers[i].p;
        if (dbio_stat_holm(p, nr)) {
                free(p);
                return DBIO_BUG;
        }
        for (size_t i = 0; i < nr; i++) {
                /* A point estimate at the limit fails without a p of its own. */
                if (answers[i].word == DBIO_GATE_FAIL && p[i] >= 0.05 && answers[i].low < answers[i].high) {
                        answers[i].word = DBIO_GATE_INCONCLUSIVE;
                        snprintf(answers[i].why, sizeof answers[i].why, "one of %zu gates", nr);
                }
                if (answers[i].word == DBIO_GATE_FAIL)
                        code = DBIO_GATE_FAILED;
                else if (answers[i].word == DBIO_GATE_INCONCLUSIVE && code == DBIO_OK)
                        code = DBIO_INVALID;
        }
        free(p);
        return code;
}

char *dbio_gate_line(char *text, size_t size, const char *expression, const struct dbio_gate *gate,
                     const struct dbio_gate_answer *answer)
{
        char change[DBIO_NUMBER_SIZE], bound[DBIO_NUMBER_SIZE], more[160] = "", scope[24] = "";
        double half = (answer->high - answer->low) / 2, best = gate->less ? answer->low : answer->high;
        double worst = gate->less ? answer->high : answer->low;
        bool fail = answer->word == DBIO_GATE_FAIL;

        if (!answer->computed) {
                snprintf(text, size, "gate %s: %s, %s", expression, words[answer->word], answer->why);
                return text;
        }
        if (!gate->relative)
                snprintf(scope, sizeof scope, " against the limit");
        dbio_number_change(change, sizeof change, answer->b, half);
        dbio_number_bound(bound, sizeof bound, fail ? best : worst, half);
        if (answer->word == DBIO_GATE_INCONCLUSIVE && answer->why[0])
                snprintf(more, sizeof more, "; %s", answer->why);
        else if (answer->word == DBIO_GATE_INCONCLUSIVE && answer->repetitions)
                snprintf(more, sizeof more, "; about %u runs each would settle it", answer->repetitions);
        if (half > 0)
                snprintf(text, size, "gate %s: %s, %s%s (%s %s)%s", expression, words[answer->word], change, scope,
                         fail                             ? "at best"
                         : answer->word == DBIO_GATE_PASS ? "at worst"
                                                          : "could be as bad as",
                         bound, more);
        else
                snprintf(text, size, "gate %s: %s, %s%s", expression, words[answer->word], change, scope);
        return text;
}
