#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/compare_state.h"

/* JSON has no NaN: null. */
static json_t *number(double value)
{
        return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
        return text ? json_string(text) : json_null();
}

static json_t *pair(double low, double high)
{
        return json_pack("[o, o]", number(low), number(high));
}

static json_t *side_json(const struct dbio_compare_side *side)
{
        json_t *runs = json_array(), *left = json_array();

        for (unsigned i = 0; i < side->nr; i++) {
                if (side->runs[i].left_out)
                        json_array_append_new(left, json_pack("{s:I, s:s}", "run_id", (json_int_t)side->runs[i].run_id,
                                                              "why", side->runs[i].left_out));
                else
                        json_array_append_new(runs, json_integer(side->runs[i].run_id));
        }
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "name", side->name, "runs", runs, "left_out", left,
                         "label", text_or_null(side->label), "workload", text_or_null(side->workload), "schedule_hash",
                         text_or_null(side->hash), "seed", (json_int_t)side->seed, "simulated", side->simulated);
}

static json_t *values_json(const struct dbio_verdict_value *values, unsigned nr)
{
        json_t *array = json_array();

        for (unsigned i = 0; i < nr; i++)
                json_array_append_new(array, number(values[i].value));
        return array;
}

static const char *method_name(const struct dbio_verdict *verdict)
{
        static const char *const names[] = {[DBIO_STAT_POOLED] = "pooled t",
                                            [DBIO_STAT_WELCH] = "Welch t",
                                            [DBIO_STAT_DRIFT] = "regression with drift"};

        return verdict->exact ? "exact" : names[verdict->effect.method];
}

static json_t *row_json(const struct dbio_comparison *c, const struct dbio_compare_row *row)
{
        const struct dbio_verdict *verdict = row->headline ? &row->plain : &row->verdict;
        const struct dbio_stat_effect *effect = &verdict->effect;
        json_t *object =
                json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:s, s:f, s:[i, i], s:b}", "phase",
                          row->phase, "stream", row->stream, "kind", row->kind, "figure", row->figure, "window",
                          row->window, "unit", row->time ? "ns" : "per second", "headline", row->headline, "base",
                          number(verdict->base), "new", number(verdict->new_), "base_values",
                          values_json(row->base, c->base.used), "new_values", values_json(row->new_, c->new_.used),
                          "verdict", c->same_demand ? dbio_verdict_word_name(verdict->word) : "none", "margin",
                          verdict->margin, "n", c->base.used, c->new_.used, "computed", verdict->computed);
        json_t *more;

        if (!verdict->computed) {
                json_object_set_new(object, "why", json_string(verdict->why));
                return object;
        }
        more = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:i, s:o, s:o, s:o}",
                         "method", method_name(verdict), "b", number(effect->b), "se", number(effect->se), "df",
                         number(effect->df), "sd", number(effect->sd), "p", number(verdict->p), "p_holm",
                         number(row->verdict.p_holm), "ci95", pair(verdict->low95, verdict->high95), "ci90",
                         pair(verdict->low90, verdict->high90), "tost_p", number(verdict->tost_p), "change",
                         number(expm1(effect->b)), "mde80", number(dbio_verdict_could_see(verdict)), "interleaved",
                         verdict->interleaved, "history", (int)effect->nr_history, "repetitions_needed",
                         verdict->repetitions ? json_integer(verdict->repetitions) : json_null(), "drift",
                         effect->method == DBIO_STAT_DRIFT ? number(effect->drift) : json_null(), "drift_p",
                         effect->method == DBIO_STAT_DRIFT ? number(effect->drift_p) : json_null());
        json_object_update(object, more);
        json_decref(more);
        return object;
}

static json_t *steady_json(const struct dbio_compare_steady *steady)
{
        json_t *object =
                json_pack("{s:s, s:s, s:s, s:b, s:b, s:[i, i], s:[f, f], s:[f, f]}", "phase", steady->phase, "stream",
                          steady->stream, "by", steady->time ? "mean response" : "rate", "steady", steady->steady,
                          "shared", steady->shared, "checked_runs", steady->checked_base, steady->checked_new, "trend",
                          steady->base.mean, steady->new_.mean, "trend_p", steady->base.p, steady->new_.p);

        if (steady->snia_checked)
                json_object_set_new(object, "snia",
                                    json_pack("{s:[f, f], s:[f, f], s:[b, b]}", "range", steady->snia_base.range,
                                              steady->snia_new.range, "slope", steady->snia_base.slope,
                                              steady->snia_new.slope, "steady", steady->snia_base.steady,
                                              steady->snia_new.steady));
        else
                json_object_set_new(object, "snia", json_null());
        json_object_set_new(object, "mser5",
                            json_pack("{s:f, s:b}", "warm_up_s", steady->mser.cut * steady->interval_s, "converged",
                                      steady->mser.converged));
        return object;
}

static json_t *figures_json(const struct dbio_interference_figures *figures)
{
        const struct dbio_interference *effect = &figures->effect;

        return json_pack(
                "{s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "quiet_iops", number(figures->quiet_iops),
                "affected_iops", number(figures->affected_iops), "quiet_mean_ns", number(figures->quiet_mean_ns),
                "affected_mean_ns", number(figures->affected_mean_ns), "change", number(effect->change), "ci95",
                effect->bounded ? pair(effect->low, effect->high) : json_null(), "episodes", (int)effect->episodes,
                "recovered", (int)effect->recovered, "recovery_ns", number(effect->recovery_ns), "affected_ns",
                number(figures->affected_ns), "period_ns", number(figures->period_ns));
}

static json_t *lists_json(const struct dbio_comparison *c)
{
        json_t *rows = json_array(), *steady = json_array(), *interference = json_array(), *host = json_array();
        json_t *gates = json_array();

        for (unsigned i = 0; i < c->nrows; i++)
                json_array_append_new(rows, row_json(c, &c->rows[i]));
        for (unsigned i = 0; i < c->nsteady; i++)
                json_array_append_new(steady, steady_json(&c->steady[i]));
        for (unsigned i = 0; i < c->ninterference; i++)
                json_array_append_new(interference,
                                      json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "phase", c->interference[i].phase,
                                                "other_stream", c->interference[i].other, "stream",
                                                c->interference[i].stream, "kind", c->interference[i].op, "base",
                                                figures_json(&c->interference[i].base), "new",
                                                figures_json(&c->interference[i].new_)));
        for (unsigned i = 0; i < c->nhost; i++)
                json_array_append_new(host, json_pack("{s:s, s:s, s:s}", "what", c->host[i].what, "base",
                                                      c->host[i].base, "new", c->host[i].new_));
        for (unsigned i = 0; i < c->nanswers; i++) {
                const struct dbio_compare_answer *a = &c->answers[i];

                json_array_append_new(gates, json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:s}", "gate", a->text,
                                                       "phase", a->phase, "result", dbio_gate_word_name(a->answer.word),
                                                       "computed", a->answer.computed, "b", number(a->answer.b),
                                                       "low95", number(a->answer.low), "high95", number(a->answer.high),
                                                       "p", number(a->answer.p), "why", a->answer.why));
        }
        return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", rows, "steady", steady, "interference", interference,
                         "host", host, "gates", gates);
}

int dbio_compare_json(const struct dbio_comparison *c, FILE *out, struct dbio_err *err)
{
        json_t *lists = lists_json(c);
        json_t *root = json_pack("{s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:b, s:b, s:f, s:i}", "base", side_json(&c->base),
                                 "new", side_json(&c->new_), "demand",
                                 !c->base.hash || !c->new_.hash ? "unknown"
                                 : c->same_demand               ? "same"
                                                                : "different",
                                 "differences", text_or_null(c->same_demand ? NULL : c->differences), "sessions",
                                 c->interleaved    ? "interleaved"
                                 : c->same_session ? "same"
                                                   : "different",
                                 "earlier_sessions", c->by_session ? json_integer(c->nsessions) : json_null(),
                                 "days_apart", number(c->days_apart), "exact", c->exact, "simulated",
                                 c->base.simulated || c->new_.simulated, "margin", c->margin, "exit", (int)c->code);
        int rc = 0;

        json_object_update(root, lists);
        json_decref(lists);
        if (!root || json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) || fputc('\n', out) == EOF)
                rc = dbio_err_set(err, DBIO_IO, "cannot write the comparison");
        json_decref(root);
        return rc;
}
