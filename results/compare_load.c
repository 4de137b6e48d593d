#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "engine/stream.h"
#include "results/compare_state.h"
#include "results/db.h"
#include "results/interference_load.h"
#include "results/stat_dist.h"
#include "results/steady.h"

static int no_memory(struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_IO, "out of memory");
}

static char *column_copy(sqlite3_stmt *stmt, int column)
{
        const char *text = (const char *)sqlite3_column_text(stmt, column);

        return text ? strdup(text) : NULL;
}

static void take_identity(struct dbio_compare_side *side, sqlite3_stmt *stmt)
{
        side->label = column_copy(stmt, 6);
        side->workload = column_copy(stmt, 7);
        side->hash = column_copy(stmt, 8);
        side->seed = sqlite3_column_int64(stmt, 9);
        side->engine = column_copy(stmt, 10);
        side->simulated = sqlite3_column_int(stmt, 11);
        side->host = column_copy(stmt, 12);
        side->targets = column_copy(stmt, 13);
        side->trust = column_copy(stmt, 14);
        side->write_through = strstr(dbio_db_text(stmt, 15), "write-through") != NULL;
}

static int load_run(struct dbio_comparison *c, struct dbio_compare_side *side, int64_t id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                c->store, err,
                "SELECT run_id, strftime('%s', started_at), wall_ns, status, valid, invalid_why, label, workload, "
                "schedule_hash, seed, engine, simulated, host_json, targets_json, trust, how FROM run WHERE run_id = ?",
                "i", id);
        struct dbio_compare_run *run;
        int more = stmt ? dbio_db_step(c->store, stmt, err) : -1;

        if (more < 0)
                return -1;
        if (!more)
                return dbio_err_set(err, DBIO_USAGE, "no run %lld", (long long)id);
        run = dbio_db_add(&side->runs, &side->nr, sizeof *run, stmt, err);
        if (!run)
                return -1;
        run->run_id = id;
        run->began_s = sqlite3_column_int64(stmt, 1);
        run->ended_s = run->began_s + sqlite3_column_int64(stmt, 2) / 1000000000;
        run->complete = !strcmp(dbio_db_text(stmt, 3), "complete");
        if (!run->complete)
                run->left_out = column_copy(stmt, 3);
        else if (sqlite3_column_type(stmt, 4) == SQLITE_NULL)
                run->left_out = strdup("nothing was recorded");
        else if (!sqlite3_column_int(stmt, 4))
                run->left_out = strdup(*dbio_db_text(stmt, 5) ? dbio_db_text(stmt, 5) : "not valid");
        if (side->nr == 1)
                take_identity(side, stmt);
        sqlite3_reset(stmt);
        return 0;
}

/* Those that count first, each part in the order of running. */
static int run_compare(const void *left, const void *right)
{
        const struct dbio_compare_run *a = left, *b = right;

        if (!a->left_out != !b->left_out)
                return !b->left_out - !a->left_out;
        if (a->complete != b->complete)
                return b->complete - a->complete;
        return a->run_id < b->run_id ? -1 : a->run_id > b->run_id;
}

static int load_foreign(struct dbio_comparison *c, struct dbio_compare_side *side, struct dbio_err *err)
{
        side->foreign = NAN;
        for (unsigned i = 0; i < side->used; i++) {
                sqlite3_stmt *stmt =
                        dbio_db_query(c->store, err, "SELECT max(foreign_share) FROM phase WHERE run_id = ?", "i",
                                      side->runs[i].run_id);
                int more = stmt ? dbio_db_step(c->store, stmt, err) : -1;

                if (more < 0)
                        return -1;
                side->foreign = fmax(side->foreign, dbio_db_double(stmt, 0));
                sqlite3_reset(stmt);
        }
        return 0;
}

static int load_headroom(struct dbio_comparison *c, struct dbio_compare_side *side, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(c->store, err,
                                           "SELECT coalesce(holds, 0) / own FROM study WHERE label = ? AND own > 0 "
                                           "AND answer IS NOT NULL ORDER BY study_id DESC LIMIT 1",
                                           "s", side->label);
        int more = stmt ? dbio_db_step(c->store, stmt, err) : -1;

        side->headroom = NAN;
        if (more > 0) {
                side->headroom = dbio_db_double(stmt, 0);
                sqlite3_reset(stmt);
        }
        return more < 0 ? -1 : 0;
}

int dbio_compare_load_side(struct dbio_comparison *c, struct dbio_compare_side *side,
                           const struct dbio_compare_ids *ids, struct dbio_err *err)
{
        side->name = ids->name;
        if (!ids->nr)
                return dbio_err_set(err, DBIO_USAGE, "no run called '%s'", ids->name);
        for (unsigned i = 0; i < ids->nr; i++)
                if (load_run(c, side, ids->ids[i], err))
                        return -1;
        qsort(side->runs, side->nr, sizeof *side->runs, run_compare);
        for (unsigned i = 0; i < side->nr; i++)
                side->used += !side->runs[i].left_out;
        side->shown_only = !side->used;
        for (unsigned i = 0; i < side->nr && side->shown_only; i++)
                side->used += side->runs[i].complete;
        for (unsigned i = 0; i < side->used; i++)
                if (dbio_figures_load(c->store, side->runs[i].run_id, &side->runs[i].figures, err))
                        return -1;
        if (load_foreign(c, side, err) || load_headroom(c, side, err))
                return -1;
        return 0;
}

int dbio_compare_load_history(struct dbio_comparison *c, struct dbio_err *err)
{
        int64_t first = c->base.runs[0].run_id, own = c->new_.runs[0].run_id, ended_s = 0;
        sqlite3_stmt *stmt =
                dbio_db_query(c->store, err,
                              "SELECT h.run_id, strftime('%s', h.started_at), h.wall_ns / 1000000000 FROM run h "
                              "JOIN run b ON b.run_id = ? WHERE h.status = 'complete' AND h.valid = 1 "
                              "AND h.schedule_hash = b.schedule_hash AND h.seed = b.seed AND h.engine = b.engine "
                              "AND h.targets_json = b.targets_json AND h.tool_version = b.tool_version "
                              "AND h.simulated = 0 AND json_extract(h.host_json, '$.host') IS "
                              "json_extract(b.host_json, '$.host') AND h.run_id < min(?, ?) ORDER BY h.run_id",
                              "iii", first, first, own);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(c->store, stmt, err)) > 0) {
                struct dbio_compare_past *past = dbio_db_add(&c->history, &c->nhistory, sizeof *past, stmt, err);
                int64_t began_s = sqlite3_column_int64(stmt, 1);

                if (!past)
                        return -1;
                c->nsessions += c->nhistory == 1 || began_s - ended_s > DBIO_COMPARE_SESSION_GAP_S;
                *past = (struct dbio_compare_past){sqlite3_column_int64(stmt, 0), c->nsessions - 1};
                ended_s = began_s + sqlite3_column_int64(stmt, 2);
        }
        return more;
}

/* What a row asks of a run: a figure over the phase, or one of the tables around episodes. */
struct query {
        enum { WHOLE, WINDOW, EPISODE } from;
        enum dbio_limit_stat stat;
        const char *other, *window;
};

static int window_figure(struct dbio_comparison *c, int64_t run_id, const struct dbio_compare_row *row,
                         const struct query *query, double *value, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                c->store, err,
                "SELECT sum(ios) * 1e9 / max(duration_ns), sum(ios * response_mean_ns) / sum(ios), "
                "CASE count(*) WHEN 1 THEN max(response_p99_ns) END, sum(ios) FROM v_interference "
                "WHERE run_id = ? AND phase = ? AND stream = ? AND kind = ? AND other_stream = ? AND window = ?",
                "isssss", run_id, row->phase, row->stream, row->kind, query->other, query->window);
        int more = stmt ? dbio_db_step(c->store, stmt, err) : -1;

        *value = NAN;
        if (more < 0)
                return -1;
        if (more) {
                int column = query->stat == DBIO_LIMIT_IOPS ? 0 : query->stat == DBIO_LIMIT_MEAN ? 1 : 2;

                if (column < 2 || sqlite3_column_double(stmt, 3) >= dbio_stat_quantile_min_count(0.99))
                        *value = dbio_db_double(stmt, column);
                sqlite3_reset(stmt);
        }
        return 0;
}

static int episode_figure(struct dbio_comparison *c, int64_t run_id, const struct dbio_compare_row *row, double *value,
                          struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(c->store, err,
                                           "SELECT avg(end_ns - begin_ns) FROM v_episode WHERE run_id = ? "
                                           "AND phase = ? AND stream = ? AND end_ns IS NOT NULL",
                                           "iss", run_id, row->phase, row->stream);
        int more = stmt ? dbio_db_step(c->store, stmt, err) : -1;

        *value = NAN;
        if (more < 0)
                return -1;
        if (more) {
                *value = dbio_db_double(stmt, 0);
                sqlite3_reset(stmt);
        }
        return 0;
}

static int row_figure(struct dbio_comparison *c, const struct dbio_compare_run *run, const struct dbio_compare_row *row,
                      const struct query *query, double *value, struct dbio_err *err)
{
        struct dbio_limit limit = {.stream = row->stream, .kind = dbio_kind_find(row->kind), .stat = query->stat};
        double share = query->stat == DBIO_LIMIT_P999 ? 0.999 : query->stat == DBIO_LIMIT_P99 ? 0.99 : 0;
        const struct dbio_run_figures *figures;

        if (query->from == WINDOW)
                return window_figure(c, run->run_id, row, query, value, err);
        if (query->from == EPISODE)
                return episode_figure(c, run->run_id, row, value, err);
        figures = dbio_figures_get(&run->figures, row->phase, row->stream, limit.kind);
        /* A percentile with too few ops below it is no figure. */
        *value = figures && (share == 0 || (double)figures->ios >= dbio_stat_quantile_min_count(share))
                         ? dbio_limit_of(&run->figures, row->phase, &limit)
                         : NAN;
        return 0;
}

static int fill_side(struct dbio_comparison *c, const struct dbio_compare_side *side,
                     const struct dbio_compare_row *row, const struct query *query, struct dbio_verdict_value **values,
                     unsigned *known, struct dbio_err *err)
{
        *values = calloc(side->used + 1, sizeof **values);
        if (!*values)
                return no_memory(err);
        for (unsigned i = 0; i < side->used; i++) {
                (*values)[i].order = side->runs[i].run_id;
                if (row_figure(c, &side->runs[i], row, query, &(*values)[i].value, err))
                        return -1;
                *known += !isnan((*values)[i].value);
        }
        return 0;
}

int dbio_compare_history_values(struct dbio_comparison *c, const struct dbio_compare_row *row, double *values,
                                struct dbio_err *err)
{
        struct query query = {.from = *row->window  ? WINDOW
                                      : !*row->kind ? EPISODE
                                                    : WHOLE,
                              .other = row->other,
                              .window = strcmp(row->window, "quiet") ? "affected" : "quiet"};

        query.stat = !strcmp(row->figure, "IOPS")  ? DBIO_LIMIT_IOPS
                     : !strcmp(row->figure, "avg") ? DBIO_LIMIT_MEAN
                     : !strcmp(row->figure, "p99") ? DBIO_LIMIT_P99
                                                   : DBIO_LIMIT_P999;
        for (unsigned i = 0; i < c->nhistory; i++) {
                struct dbio_compare_run run = {.run_id = c->history[i].run_id};
                int code = dbio_figures_load(c->store, run.run_id, &run.figures, err);

                if (!code)
                        code = row_figure(c, &run, row, &query, &values[i], err);
                dbio_figures_release(&run.figures);
                if (code)
                        return -1;
        }
        return 0;
}

/* Adds a row and its values; a row that no run knows is taken back. */
static int add_row(struct dbio_comparison *c, const struct dbio_compare_row *like, const struct query *query,
                   struct dbio_err *err)
{
        struct dbio_compare_row *row = dbio_db_add(&c->rows, &c->nrows, sizeof *row, NULL, err);
        unsigned known = 0;

        if (!row)
                return -1;
        *row = *like;
        if (fill_side(c, &c->base, row, query, &row->base, &known, err) ||
            fill_side(c, &c->new_, row, query, &row->new_, &known, err))
                return -1;
        if (!known) {
                free(row->base);
                free(row->new_);
                c->nrows--;
        }
        return 0;
}

static int add_figures(struct dbio_comparison *c, struct dbio_compare_row row, struct query query, bool rates,
                       bool tails, struct dbio_err *err)
{
        static const struct {
                enum dbio_limit_stat stat;
                const char *figure;
                bool time;
        } figures[] = {{DBIO_LIMIT_IOPS, "IOPS", false}, {DBIO_LIMIT_MEAN, "avg", true}, {DBIO_LIMIT_P99, "p99", true}};

        for (unsigned i = rates ? 0 : 1; i < (tails ? 3 : 2); i++) {
                row.time = figures[i].time;
                row.higher_is_better = !row.time;
                row.floor = figures[i].stat == DBIO_LIMIT_P99 ? log(129 / 128.0) : 0;
                strcpy(row.figure, figures[i].figure);
                query.stat = figures[i].stat;
                if (query.from == WINDOW) {
                        struct dbio_compare_row quiet = row;

                        snprintf(quiet.other, sizeof quiet.other, "%s", query.other);
                        strcpy(quiet.window, "quiet");
                        query.window = "quiet";
                        if (add_row(c, &quiet, &query, err))
                                return -1;
                        snprintf(row.other, sizeof row.other, "%s", query.other);
                        snprintf(row.window, sizeof row.window, "in %s", query.other);
                        query.window = "affected";
                }
                if (add_row(c, &row, &query, err))
                        return -1;
        }
        return 0;
}

/* One (stream, kind) of a phase as the database lists it. */
struct key {
        struct dbio_compare_row row;
        unsigned flags;
        unsigned nothers;
        char others[4][64];
};

static int add_key(struct dbio_comparison *c, const struct key *key, struct dbio_err *err)
{
        struct dbio_compare_row row = key->row;
        struct query whole = {.from = WHOLE};
        bool commits = key->flags & DBIO_STREAM_COMMITS, is_commit = !strcmp(row.kind, "commit");
        bool is_io = !strcmp(row.kind, "read") || !strcmp(row.kind, "write");

        if (key->flags & DBIO_STREAM_EPISODES || !(is_io || is_commit) || (commits && !is_commit))
                return add_figures(c, row, whole, false, false, err);
        if (key->nothers && !is_commit) {
                for (unsigned i = 0; i < key->nothers; i++)
                        if (add_figures(c, row, (struct query){.from = WINDOW, .other = key->others[i]}, true, true,
                                        err))
                                return -1;
                return 0;
        }
        if (add_figures(c, row, whole, !is_commit, true, err))
                return -1;
        if (!is_commit)
                return 0;
        whole.stat = DBIO_LIMIT_P999;
        row.time = true;
        row.floor = log(129 / 128.0);
        strcpy(row.figure, "p99.9");
        return add_row(c, &row, &whole, err);
}

static int list_others(struct dbio_comparison *c, int64_t phase_id, int64_t stream_no, struct key *key,
                       struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(c->store, err,
                                           "SELECT DISTINCT o.name FROM interference i JOIN total t USING (phase_id, "
                                           "key_no) JOIN stream o ON o.phase_id = i.phase_id AND "
                                           "o.stream_no = i.other_no WHERE i.phase_id = ? AND t.stream_no = ? "
                                           "ORDER BY i.other_no LIMIT 4",
                                           "ii", phase_id, stream_no);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(c->store, stmt, err)) > 0)
                snprintf(key->others[key->nothers++], sizeof key->others[0], "%s", dbio_db_text(stmt, 0));
        return more;
}

static int add_episode_row(struct dbio_comparison *c, const struct key *key, struct dbio_err *err)
{
        struct dbio_compare_row row = key->row;

        row.kind[0] = 0;
        row.time = true;
        strcpy(row.figure, "episode");
        return add_row(c, &row, &(struct query){.from = EPISODE}, err);
}

int dbio_compare_load_rows(struct dbio_comparison *c, struct dbio_err *err)
{
        sqlite3_stmt *stmt;
        int more;

        if (!c->base.used || !c->new_.used)
                return 0;
        stmt = dbio_db_query(c->store, err,
                             "SELECT p.phase_id, p.name, s.stream_no, s.name, s.flags, k.name, "
                             "lead(s.stream_no) OVER (PARTITION BY p.phase_id ORDER BY s.stream_no, t.kind) "
                             "FROM phase p JOIN stream s USING (phase_id) JOIN total t USING (phase_id, stream_no) "
                             "JOIN kind_name k USING (kind) WHERE p.run_id = ? "
                             "GROUP BY p.position, s.stream_no, t.kind ORDER BY p.position, s.stream_no, t.kind",
                             "i", c->base.runs[0].run_id);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(c->store, stmt, err)) > 0) {
                int64_t phase_id = sqlite3_column_int64(stmt, 0), stream_no = sqlite3_column_int64(stmt, 2);
                bool last = sqlite3_column_type(stmt, 6) == SQLITE_NULL || sqlite3_column_int64(stmt, 6) != stream_no;
                struct key key = {.flags = (unsigned)sqlite3_column_int64(stmt, 4)};

                snprintf(key.row.phase, sizeof key.row.phase, "%s", dbio_db_text(stmt, 1));
                snprintf(key.row.stream, sizeof key.row.stream, "%s", dbio_db_text(stmt, 3));
                snprintf(key.row.kind, sizeof key.row.kind, "%s", dbio_db_text(stmt, 5));
                key.row.paced = key.flags & DBIO_STREAM_TIMED;
                if (list_others(c, phase_id, stream_no, &key, err) || add_key(c, &key, err) ||
                    (last && key.flags & DBIO_STREAM_EPISODES && add_episode_row(c, &key, err))) {
                        sqlite3_reset(stmt);
                        return -1;
                }
        }
        return more;
}

/* Trends of a side's runs; returns how many could be checked, -1 on failure. */
static int load_trends(struct dbio_comparison *c, const struct dbio_compare_side *side, const char *phase,
                       double *trends, struct dbio_steady *first, struct dbio_err *err)
{
        int checked = 0;

        for (unsigned i = 0; i < side->used; i++) {
                struct dbio_steady steady;

                if (dbio_steady_load(c->store, side->runs[i].run_id, phase, &steady, err))
                        return -1;
                if (i == 0)
                        *first = steady;
                if (steady.trend_checked)
                        trends[checked++] = steady.trend;
        }
        return checked;
}

static int load_phase(struct dbio_comparison *c, const char *phase, struct dbio_err *err)
{
        struct dbio_compare_steady *steady = dbio_db_add(&c->steady, &c->nsteady, sizeof *steady, NULL, err);
        double *trends = calloc(c->base.used + c->new_.used + 1, sizeof *trends);
        struct dbio_steady base = {0}, new_ = {0};
        struct dbio_stat_effect effect;
        int nr_base, nr_new, rc = -1;

        if (!steady || !trends) {
                no_memory(err);
                goto out;
        }
        nr_base = load_trends(c, &c->base, phase, trends, &base, err);
        if (nr_base < 0)
                goto out;
        nr_new = load_trends(c, &c->new_, phase, trends + nr_base, &new_, err);
        if (nr_new < 0)
                goto out;
        snprintf(steady->phase, sizeof steady->phase, "%s", phase);
        snprintf(steady->stream, sizeof steady->stream, "%s", new_.stream);
        steady->time = new_.by_time;
        steady->checked_base = (unsigned)nr_base;
        steady->checked_new = (unsigned)nr_new;
        steady->base = dbio_stat_trend(trends, (unsigned)nr_base);
        steady->new_ = dbio_stat_trend(trends + nr_base, (unsigned)nr_new);
        steady->snia_base = base.snia;
        steady->snia_new = new_.snia;
        steady->snia_checked = base.snia_checked && new_.snia_checked;
        steady->mser = new_.mser;
        steady->interval_s = new_.interval_s;
        steady->steady = steady->base.steady && steady->new_.steady;
        if (!steady->steady &&
            !dbio_stat_pooled(&(struct dbio_stat_sample){trends, (unsigned)nr_base},
                              &(struct dbio_stat_sample){trends + nr_base, (unsigned)nr_new}, NULL, &effect))
                steady->shared = dbio_stat_p(&effect) >= 0.05;
        rc = 0;
out:
        free(trends);
        return rc;
}

int dbio_compare_load_steady(struct dbio_comparison *c, struct dbio_err *err)
{
        /* No noise, no test: what a simulated device does, it does again. */
        if (c->exact)
                return 0;
        for (unsigned i = 0; i < c->nrows; i++)
                if (i == 0 || strcmp(c->rows[i].phase, c->rows[i - 1].phase))
                        if (load_phase(c, c->rows[i].phase, err))
                                return -1;
        return 0;
}

static int load_list(struct dbio_comparison *c, const struct dbio_compare_side *side,
                     struct dbio_interference_list *list, struct dbio_err *err)
{
        int64_t *ids = calloc(side->used + 1, sizeof *ids);
        int rc;

        *list = (struct dbio_interference_list){0};
        if (!ids)
                return no_memory(err);
        for (unsigned i = 0; i < side->used; i++)
                ids[i] = side->runs[i].run_id;
        rc = dbio_interference_load(c->store, ids, side->used, list, err);
        free(ids);
        return rc;
}

int dbio_compare_load_interference(struct dbio_comparison *c, struct dbio_err *err)
{
        struct dbio_interference_list base = {0}, new_ = {0};
        int rc = -1;

        if (load_list(c, &c->base, &base, err) || load_list(c, &c->new_, &new_, err))
                goto out;
        for (unsigned i = 0; i < base.nr; i++)
                for (unsigned k = 0; k < new_.nr; k++) {
                        struct dbio_interference_entry *a = &base.entries[i], *b = &new_.entries[k];
                        struct dbio_compare_interference *entry;

                        if (strcmp(a->phase, b->phase) || strcmp(a->other, b->other) || strcmp(a->stream, b->stream) ||
                            strcmp(a->op, b->op))
                                continue;
                        entry = dbio_db_add(&c->interference, &c->ninterference, sizeof *entry, NULL, err);
                        if (!entry)
                                goto out;
                        strcpy(entry->phase, a->phase);
                        strcpy(entry->other, a->other);
                        strcpy(entry->stream, a->stream);
                        entry->op = dbio_kind_name((unsigned)dbio_kind_find(a->op));
                        entry->base = a->figures;
                        entry->new_ = b->figures;
                }
        /* The lists' strings go with them; the entries do not move any more. */
        for (unsigned i = 0; i < c->ninterference; i++) {
                struct dbio_compare_interference *entry = &c->interference[i];

                entry->base.op = entry->new_.op = entry->op;
                entry->base.other = entry->new_.other = entry->other;
                entry->base.stream = entry->new_.stream = entry->stream;
        }
        rc = 0;
out:
        dbio_interference_release(&base);
        dbio_interference_release(&new_);
        return rc;
}
