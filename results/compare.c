#include "results/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/compare_state.h"
#include "results/db.h"

enum { HISTORY_LEAST = 5 };

static void side_release(struct dbio_compare_side *side)
{
        for (unsigned i = 0; i < side->nr; i++) {
                free(side->runs[i].left_out);
                dbio_figures_release(&side->runs[i].figures);
        }
        free(side->runs);
        free(side->label);
        free(side->workload);
        free(side->hash);
        free(side->engine);
        free(side->host);
        free(side->targets);
        free(side->trust);
}

void dbio_compare_free(struct dbio_comparison *c)
{
        if (!c)
                return;
        side_release(&c->base);
        side_release(&c->new_);
        for (unsigned i = 0; i < c->nrows; i++) {
                free(c->rows[i].base);
                free(c->rows[i].new_);
        }
        for (unsigned i = 0; i < c->nhost; i++) {
                free(c->host[i].base);
                free(c->host[i].new_);
        }
        for (unsigned i = 0; c->limit_gates && c->limit_gates[i].limit.text; i++) {
                free((char *)c->limit_gates[i].limit.text);
                free((char *)c->limit_gates[i].limit.stream);
        }
        free(c->limit_gates);
        free(c->rows);
        free(c->host);
        free(c->history);
        free(c->steady);
        free(c->interference);
        free(c->answers);
        free(c->differences);
        free(c);
}

/* Runs that ended shortly before the other side's began are of one session. */
static void find_sessions(struct dbio_comparison *c)
{
        const struct dbio_compare_side *first = &c->base, *second = &c->new_;
        int64_t gap;

        c->same_session = true;
        if (!first->used || !second->used)
                return;
        if (first->runs[0].run_id > second->runs[0].run_id) {
                first = &c->new_;
                second = &c->base;
        }
        gap = second->runs[0].began_s - first->runs[first->used - 1].ended_s;
        c->same_session = gap <= DBIO_COMPARE_SESSION_GAP_S;
        c->days_apart = (double)(gap > 0 ? gap : 0) / 86400;
}

/* The geometric mean of a side's runs stands for its session. */
static struct dbio_verdict_value session_value(const struct dbio_verdict_value *values, unsigned nr)
{
        struct dbio_verdict_value mean = {.order = values[0].order};

        for (unsigned i = 0; i < nr; i++)
                mean.value += log(values[i].value) / nr;
        mean.value = exp(mean.value);
        return mean;
}

/* Earlier runs become the means of their sessions, in place; returns their number. */
static unsigned fold_sessions(const struct dbio_comparison *c, double *history)
{
        for (unsigned s = 0, at = 0; s < c->nsessions; s++) {
                double sum = 0;
                unsigned nr = 0;

                for (; at < c->nhistory && c->history[at].session == s; at++, nr++)
                        sum += log(history[at]);
                history[s] = exp(sum / nr);
        }
        return c->nsessions;
}

/* Earlier equal runs tell the noise where one run a side cannot, and where the sides are of two sessions. */
static bool wants_history(const struct dbio_comparison *c)
{
        return c->by_session || (c->nhistory >= HISTORY_LEAST && (c->base.used < 2 || c->new_.used < 2));
}

/* history: nhistory values, changed in place. means: where those of the two sessions go, for as long as the question. */
static void add_history(const struct dbio_comparison *c, struct dbio_verdict_question *question, double *history,
                        struct dbio_verdict_value means[2])
{
        question->history = history;
        question->nr_history = c->nhistory;
        if (!c->by_session)
                return;
        means[0] = session_value(question->base, c->base.used);
        means[1] = session_value(question->new_, c->new_.used);
        question->base = &means[0];
        question->new_ = &means[1];
        question->nr_base = question->nr_new = 1;
        question->nr_history = fold_sessions(c, history);
        question->sessions = true;
}

static void judge_row(struct dbio_comparison *c, struct dbio_compare_row *row, double *history)
{
        struct dbio_verdict_value means[2];
        struct dbio_verdict_question question = {
                .base = row->base,
                .new_ = row->new_,
                .nr_base = c->base.used,
                .nr_new = c->new_.used,
                .higher_is_better = row->higher_is_better,
                .exact = c->exact,
                .margin = c->margin,
                .resolution = row->floor,
                .alpha = 0.05,
        };

        if (history)
                add_history(c, &question, history, means);
        dbio_verdict_decide(&question, &row->plain);
        if (row->paced && !row->time && fabs(log(row->plain.new_ / row->plain.base)) < 0.02) {
                question.rate_set = true;
                dbio_verdict_decide(&question, &row->plain);
        }
        if (row->plain.word == DBIO_VERDICT_CANNOT_TELL && !row->plain.computed &&
            (isnan(row->plain.base) || isnan(row->plain.new_)) && (*row->figure == 'p' || *row->figure == 'e'))
                snprintf(row->plain.why, sizeof row->plain.why,
                         *row->figure == 'p' ? "too few I/Os for %s" : "no whole %s on one side", row->figure);
        if (c->base.shown_only || c->new_.shown_only) {
                row->plain.word = DBIO_VERDICT_CANNOT_TELL;
                row->plain.computed = false;
                snprintf(row->plain.why, sizeof row->plain.why, "invalid");
        }
        for (unsigned i = 0; i < c->nsteady; i++) {
                const struct dbio_compare_steady *steady = &c->steady[i];

                if (strcmp(steady->phase, row->phase) || steady->steady || steady->shared)
                        continue;
                row->plain.word = DBIO_VERDICT_CANNOT_TELL;
                row->plain.computed = false;
                snprintf(row->plain.why, sizeof row->plain.why, "not steady");
        }
        row->verdict = row->plain;
}

static bool is_limit(const struct dbio_compare_row *row, const struct dbio_limit *limit)
{
        static const struct {
                enum dbio_limit_stat stat;
                const char *figure;
        } figures[] = {{DBIO_LIMIT_IOPS, "IOPS"},
                       {DBIO_LIMIT_MEAN, "avg"},
                       {DBIO_LIMIT_P99, "p99"},
                       {DBIO_LIMIT_P999, "p99.9"}};

        /* Where a phase is cut into windows, its quiet rows stand for it. */
        if ((*row->window && strcmp(row->window, "quiet")) || strcmp(row->stream, limit->stream) ||
            (limit->kind >= 0 && limit->kind != dbio_kind_find(row->kind)))
                return false;
        for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++)
                if (limit->stat == figures[i].stat && !strcmp(row->figure, figures[i].figure))
                        return true;
        return false;
}

/* The first of the workload's limits that has a row in the phase; else the IOPS where no schedule sets them, of reads
 * first; else the p99 of reads or the commits' mean. */
static unsigned rank_headline(const struct dbio_compare_row *row, const struct dbio_compare_gate *limits)
{
        bool mean = !strcmp(row->figure, "avg"), p99 = !strcmp(row->figure, "p99"), rate = !strcmp(row->figure, "IOPS");
        bool quiet = !*row->window || !strcmp(row->window, "quiet");

        if (row->plain.word == DBIO_VERDICT_RATE_SET || !*row->kind)
                return 0;
        for (unsigned i = 0; limits[i].limit.text; i++)
                if (is_limit(row, &limits[i].limit))
                        return 1000 - i;
        if (rate && quiet)
                return !strcmp(row->kind, "read") ? 8 : 7;
        if (p99 && quiet && !strcmp(row->kind, "read"))
                return 6;
        if (mean && !strcmp(row->kind, "commit"))
                return 5;
        return mean && quiet ? 4 : 1;
}

static void choose_headlines(struct dbio_comparison *c)
{
        for (unsigned from = 0, to; from < c->nrows; from = to) {
                unsigned best = from, rank = 0;

                for (to = from; to < c->nrows && !strcmp(c->rows[to].phase, c->rows[from].phase); to++) {
                        unsigned own = rank_headline(&c->rows[to], c->limit_gates);

                        if (own > rank) {
                                rank = own;
                                best = to;
                        }
                }
                c->rows[best].headline = true;
        }
}

static int judge_rows(struct dbio_comparison *c, struct dbio_err *err)
{
        struct dbio_verdict **table = calloc(c->nrows + 1, sizeof *table);
        double *history = calloc(c->nhistory + 1, sizeof *history);
        int rc = -1;

        if (!table || !history) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        for (unsigned i = 0; i < c->nrows; i++) {
                bool wanted = wants_history(c);

                if (wanted && dbio_compare_history_values(c, &c->rows[i], history, err))
                        goto out;
                judge_row(c, &c->rows[i], wanted ? history : NULL);
                table[i] = &c->rows[i].verdict;
        }
        rc = dbio_verdict_correct(table, c->nrows) ? dbio_err_set(err, DBIO_IO, "out of memory") : 0;
out:
        free(history);
        free(table);
        return rc;
}

/* The limits that the workload of NEW was run with, as gates; ended by an empty one. */
static int load_limits(struct dbio_comparison *c, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(c->store, err,
                                           "SELECT text, stream, kind, part, stat, comparison, value FROM figure "
                                           "WHERE run_id = ? AND observed = 0 ORDER BY number",
                                           "i", c->new_.runs[0].run_id);
        unsigned nr = 0;
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(c->store, stmt, err)) > 0) {
                struct dbio_compare_gate *gate = dbio_db_add(&c->limit_gates, &nr, sizeof *gate, stmt, err);

                if (!gate)
                        return -1;
                gate->limit = (struct dbio_limit){
                        .text = strdup(dbio_db_text(stmt, 0)),
                        .stream = strdup(dbio_db_text(stmt, 1)),
                        .kind = sqlite3_column_int(stmt, 2),
                        .part = (enum dbio_limit_part)sqlite3_column_int(stmt, 3),
                        .stat = (enum dbio_limit_stat)sqlite3_column_int(stmt, 4),
                        .comparison = (enum dbio_limit_comparison)sqlite3_column_int(stmt, 5),
                        .value = sqlite3_column_double(stmt, 6),
                };
        }
        if (more == 0 && !dbio_db_add(&c->limit_gates, &nr, sizeof *c->limit_gates, NULL, err))
                return -1;
        return more;
}

static void gate_values(const struct dbio_compare_side *side, const char *phase, const struct dbio_limit *limit,
                        struct dbio_verdict_value *values, unsigned *known)
{
        for (unsigned i = 0; i < side->used; i++) {
                values[i].order = side->runs[i].run_id;
                values[i].value = dbio_limit_of(&side->runs[i].figures, phase, limit);
                *known += !isnan(values[i].value);
        }
}

static int judge_gate(struct dbio_comparison *c, struct dbio_compare_answer *answer, const struct dbio_limit *limit,
                      const struct dbio_verdict_value *values, struct dbio_err *err)
{
        struct dbio_verdict_value means[2];
        struct dbio_verdict_question question = {.base = values,
                                                 .nr_base = c->base.used,
                                                 .new_ = values + c->base.used,
                                                 .nr_new = c->new_.used,
                                                 .exact = c->exact};
        bool wanted = answer->rule.relative && wants_history(c);
        double *history = wanted ? calloc(c->nhistory, sizeof *history) : NULL;
        int rc = 0;

        if (wanted && !history)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; wanted && !rc && i < c->nhistory; i++) {
                struct dbio_figure_rows figures = {0};

                rc = dbio_figures_load(c->store, c->history[i].run_id, &figures, err);
                history[i] = rc ? 0 : dbio_limit_of(&figures, answer->phase, limit);
                dbio_figures_release(&figures);
        }
        if (wanted)
                add_history(c, &question, history, means);
        if (!rc)
                dbio_gate_judge(&answer->rule, &question, &answer->answer);
        free(history);
        return rc;
}

/* A gate holds in each recorded phase in which its stream runs. */
static int ask_gate(struct dbio_comparison *c, const struct dbio_compare_gate *gate, const char *phase, bool last,
                    bool *asked, struct dbio_err *err)
{
        struct dbio_verdict_value *values = calloc(c->base.used + c->new_.used + 1, sizeof *values);
        struct dbio_compare_answer *answer;
        unsigned known = 0;
        int rc;

        if (!values)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        gate_values(&c->base, phase, &gate->limit, values, &known);
        gate_values(&c->new_, phase, &gate->limit, values + c->base.used, &known);
        if (!known && (*asked || !last)) {
                free(values);
                return 0;
        }
        *asked = true;
        answer = dbio_db_add(&c->answers, &c->nanswers, sizeof *answer, NULL, NULL);
        if (!answer) {
                free(values);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        snprintf(answer->text, sizeof answer->text, "%s", gate->limit.text);
        snprintf(answer->phase, sizeof answer->phase, "%s", phase);
        answer->rule = (struct dbio_gate){
                .relative = gate->relative,
                .limit = gate->limit.value,
                .less = gate->limit.comparison == DBIO_COMPARE_LT || gate->limit.comparison == DBIO_COMPARE_LE,
                .or_equal = gate->limit.comparison == DBIO_COMPARE_LE || gate->limit.comparison == DBIO_COMPARE_GE,
                .exact_only = gate->limit.stat == DBIO_LIMIT_ERRORS && !gate->relative,
        };
        rc = judge_gate(c, answer, &gate->limit, values, err);
        if (!known)
                snprintf(answer->answer.why, sizeof answer->answer.why, "no run has this figure");
        free(values);
        return rc;
}

/* Phases in the order in which NEW's first run lists them. */
static int ask_in_phases(struct dbio_comparison *c, const struct dbio_compare_gate *gate, struct dbio_err *err)
{
        const struct dbio_figure_rows *figures = &c->new_.runs[0].figures;
        bool asked = false;

        for (unsigned from = 0, to; from < figures->n; from = to) {
                for (to = from; to < figures->n && figures->rows[to].position == figures->rows[from].position; to++)
                        ;
                if (ask_gate(c, gate, figures->rows[from].phase, to == figures->n, &asked, err))
                        return -1;
        }
        return 0;
}

/* A stream that the runs do not have, or a figure of several kinds, is a slip of the pen: no figure would ever come. */
static int check_gate(const struct dbio_comparison *c, const struct dbio_limit *limit, struct dbio_err *err)
{
        const struct dbio_figure_rows *figures = &c->new_.runs[0].figures;
        sqlite3_stmt *stmt = dbio_db_query(
                c->store, err,
                "SELECT group_concat(name, ' '), max(name = ?) FROM (SELECT DISTINCT s.name FROM stream s "
                "JOIN phase USING (phase_id) WHERE run_id = ? ORDER BY s.stream_no)", "si", limit->stream,
                c->new_.runs[0].run_id);
        int found = stmt ? dbio_db_step(c->store, stmt, err) : -1;
        unsigned kinds = 0;
        int code = 0;

        if (found < 0)
                return -1;
        if (!sqlite3_column_int(stmt, 1))
                code = dbio_err_set(err, DBIO_USAGE, "--gate '%s': no stream \"%.60s\"; the runs have %.160s", limit->text,
                                    limit->stream, dbio_db_text(stmt, 0));
        sqlite3_reset(stmt);
        for (unsigned i = 0; i < figures->n; i++)
                if (!strcmp(figures->rows[i].stream, limit->stream) && figures->rows[i].kind != DBIO_FSYNC)
                        kinds |= 1u << figures->rows[i].kind;
        if (!code && limit->kind < 0 && (kinds & (kinds - 1)))
                code = dbio_err_set(err, DBIO_USAGE, "--gate '%s': %s has several kinds; name one, as in %s.%s", limit->text,
                                    limit->stream, limit->stream, dbio_kind_name((unsigned)__builtin_ctz(kinds)));
        return code;
}

static int ask_gates(struct dbio_comparison *c, const struct dbio_compare_options *options, struct dbio_err *err)
{
        struct dbio_gate_answer *answers;

        for (unsigned i = 0; i < options->ngates; i++) {
                if (check_gate(c, &options->gates[i].limit, err))
                        return -1;
                if (ask_in_phases(c, &options->gates[i], err))
                        return -1;
        }
        for (unsigned i = 0; options->gate_limits && c->limit_gates[i].limit.text; i++)
                if (ask_in_phases(c, &c->limit_gates[i], err))
                        return -1;
        answers = calloc(c->nanswers + 1, sizeof *answers);
        if (!answers)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < c->nanswers; i++)
                answers[i] = c->answers[i].answer;
        c->code = dbio_gates_conclude(answers, c->nanswers);
        for (unsigned i = 0; i < c->nanswers; i++)
                c->answers[i].answer = answers[i];
        free(answers);
        return 0;
}

static int decide(struct dbio_comparison *c, const struct dbio_compare_options *options, struct dbio_err *err)
{
        bool gates = options->ngates || options->gate_limits;

        if (load_limits(c, err))
                return -1;
        if (options->gate_limits && !c->limit_gates[0].limit.text)
                return dbio_err_set(err, DBIO_USAGE, "--gate limits: the workload has none");
        if (!c->base.used || !c->new_.used || (c->base.hash && c->new_.hash && !c->same_demand)) {
                c->code = gates ? DBIO_INVALID : DBIO_OK;
                return 0;
        }
        if (c->base.shown_only || c->new_.shown_only) {
                c->code = gates ? DBIO_INVALID : DBIO_OK;
                return dbio_compare_load_rows(c, err) || dbio_compare_load_interference(c, err) || judge_rows(c, err) ? -1 : 0;
        }
        if (!c->same_demand) {
                /* Old results: figures side by side, no verdict. */
                c->code = gates ? DBIO_INVALID : DBIO_OK;
                return dbio_compare_load_rows(c, err) || judge_rows(c, err) ? -1 : 0;
        }
        if (dbio_compare_load_history(c, err))
                return -1;
        c->by_session = !c->same_session && !c->exact && c->nsessions >= HISTORY_LEAST;
        if (dbio_compare_load_rows(c, err) || dbio_compare_load_steady(c, err) ||
            dbio_compare_load_interference(c, err) || judge_rows(c, err))
                return -1;
        choose_headlines(c);
        for (unsigned i = 0; i < c->nrows; i++)
                c->interleaved |= c->rows[i].plain.computed && c->rows[i].plain.interleaved;
        return ask_gates(c, options, err);
}

static void show_names(struct dbio_comparison *c)
{
        struct dbio_compare_side *sides[2] = {&c->base, &c->new_};

        for (int i = 0; i < 2; i++)
                snprintf(sides[i]->shown, sizeof sides[i]->shown, "%.60s",
                         sides[i]->label && *sides[i]->label ? sides[i]->label : sides[i]->name);
        if (strcmp(c->base.shown, c->new_.shown))
                return;
        for (int i = 0; i < 2; i++) {
                size_t used = strlen(sides[i]->shown);

                snprintf(sides[i]->shown + used, sizeof sides[i]->shown - used, " #%lld",
                         (long long)sides[i]->runs[0].run_id);
        }
}

int dbio_compare_open(struct dbio_comparison **comparison, struct dbio_store *store,
                      const struct dbio_compare_ids *base, const struct dbio_compare_ids *new_,
                      const struct dbio_compare_options *options, struct dbio_err *err)
{
        struct dbio_comparison *c = calloc(1, sizeof *c);

        if (!c)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        c->store = store;
        c->margin = options->margin > 0 ? options->margin : DBIO_VERDICT_MARGIN;
        c->differences = options->differences ? strdup(options->differences) : NULL;
        if (dbio_compare_load_side(c, &c->base, base, err) || dbio_compare_load_side(c, &c->new_, new_, err))
                goto fail;
        show_names(c);
        c->same_demand = c->base.hash && c->new_.hash && !strcmp(c->base.hash, c->new_.hash);
        c->exact = c->base.simulated && c->new_.simulated && c->base.seed == c->new_.seed;
        find_sessions(c);
        if (dbio_compare_host(c, err) || decide(c, options, err))
                goto fail;
        *comparison = c;
        return 0;
fail:
        dbio_compare_free(c);
        return -1;
}

enum dbio_code dbio_compare_code(const struct dbio_comparison *c)
{
        return c->code;
}
