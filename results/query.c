#include "results/query.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/near.h"
#include "engine/op.h"
#include "results/db.h"
#include "results/histcode.h"

#define LONG_IO_NS 15000000000ull

static int add_id(struct dbio_runs *runs, int64_t id, struct dbio_err *err)
{
        int64_t *grown = realloc(runs->ids, (runs->n + 1) * sizeof *grown);

        if (!grown)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        runs->ids = grown;
        grown[runs->n++] = id;
        return 0;
}

void dbio_runs_release(struct dbio_runs *runs)
{
        free(runs->ids);
        *runs = (struct dbio_runs){0};
}

static int take_ids(struct dbio_store *store, sqlite3_stmt *stmt, struct dbio_runs *runs, struct dbio_err *err)
{
        int more;

        *runs = (struct dbio_runs){0};
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0)
                if (add_id(runs, sqlite3_column_int64(stmt, 0), err)) {
                        sqlite3_reset(stmt);
                        more = -1;
                        break;
                }
        if (more < 0)
                dbio_runs_release(runs);
        return more;
}

int dbio_runs_of_set(struct dbio_store *store, int64_t set_id, struct dbio_runs *runs, struct dbio_err *err)
{
        return take_ids(store, dbio_db_query(store, err, "SELECT run_id FROM run WHERE set_id = ? ORDER BY run_id", "i",
                                             set_id), runs, err);
}

int dbio_runs_of_study(struct dbio_store *store, int64_t study_id, struct dbio_runs *runs, struct dbio_err *err)
{
        return take_ids(store, dbio_db_query(store, err, "SELECT run_id FROM run WHERE set_id IN (SELECT set_id FROM "
                                             "study_cell WHERE study_id = ?) ORDER BY run_id", "i", study_id), runs, err);
}

static int no_such_run(struct dbio_store *store, const char *text, struct dbio_err *err)
{
        char labels[256][64];
        const char *list[256], *near;
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT label FROM run WHERE length(label) < 64 GROUP BY label "
                                           "ORDER BY max(run_id) DESC LIMIT 256", "");
        unsigned n = 0;
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                snprintf(labels[n], sizeof labels[n], "%s", dbio_db_text(stmt, 0));
                list[n] = labels[n];
                n++;
        }
        if (more < 0)
                return -1;
        near = dbio_near_miss(text, list, n);
        if (near)
                return dbio_err_set(err, DBIO_USAGE, "no run `%s` in %s; did you mean `%s`?", text, store->path, near);
        return dbio_err_set(err, DBIO_USAGE, "no run `%s` in %s; `dbio list` shows what is there", text, store->path);
}

static bool is_number(const char *text)
{
        for (const char *at = text; *at; at++)
                if (!isdigit((unsigned char)*at))
                        return false;
        return *text && strlen(text) < 18;
}

#define NEWEST " GROUP BY set_id ORDER BY max(started_at) DESC, max(run_id) DESC LIMIT 1"

int dbio_runs_find(struct dbio_store *store, const char *text, struct dbio_runs *runs, struct dbio_err *err)
{
        sqlite3_stmt *stmt;
        int found;

        if (is_number(text)) {
                if (take_ids(store, dbio_db_query(store, err, "SELECT run_id FROM run WHERE run_id = ?", "i",
                                                  (int64_t)atoll(text)), runs, err))
                        return -1;
                if (runs->n)
                        return 0;
        }
        stmt = dbio_db_query(store, err, "SELECT set_id FROM run WHERE label = ?" NEWEST, "s", text);
        found = stmt ? dbio_db_step(store, stmt, err) : -1;
        if (!found && !strcmp(text, "latest"))
                found = (stmt = dbio_db_query(store, err, "SELECT set_id FROM run" NEWEST, ""))
                                ? dbio_db_step(store, stmt, err)
                                : -1;
        if (!found && !strcmp(text, "previous"))
                found = (stmt = dbio_db_query(store, err, "SELECT set_id FROM run" NEWEST " OFFSET 1", ""))
                                ? dbio_db_step(store, stmt, err)
                                : -1;
        if (found <= 0)
                return found ? -1 : no_such_run(store, text, err);
        int64_t set_id = sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        return dbio_runs_of_set(store, set_id, runs, err);
}

struct dbio_stats dbio_stats_of(const struct dbio_hist *h)
{
        if (!h->count)
                return (struct dbio_stats){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
        double n = (double)h->count, mean = (double)h->sum_ns / n, variance = h->sum_squares / n - mean * mean;

        return (struct dbio_stats){
                mean,
                (double)dbio_hist_percentile(h, 0.50),
                (double)dbio_hist_percentile(h, 0.90),
                (double)dbio_hist_percentile(h, 0.95),
                (double)dbio_hist_percentile(h, 0.99),
                (double)dbio_hist_percentile(h, 0.999),
                (double)h->max_ns,
                variance > 0 ? sqrt(variance) : 0,
        };
}

static const char rows_sql[] =
        "SELECT p.name, p.position, p.duration_ns, s.name, t.stream_no, s.pattern, t.kind, t.role, t.ios, t.bytes,"
        " t.errors, t.due, t.unissued, t.depth_peak, t.splits, t.hba_waits, t.hba_wait_ns, t.service_sum_ns,"
        " t.lag_p99_ns, t.wait_mean_ns, t.wait_p99_ns, t.service_hist, t.response_hist, t.wait_hist,"
        " service_mean_ns, service_p50_ns, service_p90_ns, service_p95_ns, service_p99_ns, service_p999_ns,"
        " service_max_ns, service_stddev_ns, response_mean_ns, response_p50_ns, response_p90_ns, response_p95_ns,"
        " response_p99_ns, response_p999_ns, response_max_ns, response_stddev_ns, s.flags"
        " FROM phase p JOIN total t USING (phase_id) JOIN stream s USING (phase_id, stream_no)"
        " WHERE p.run_id = ? ORDER BY p.position, t.stream_no, t.kind, t.ios DESC";

struct hists {
        struct dbio_hist service, response, wait;
        bool complete; /* of every role so far */
};

static void copy_text(char *to, size_t size, sqlite3_stmt *stmt, int column)
{
        snprintf(to, size, "%s", dbio_db_text(stmt, column));
}

static struct dbio_stats read_stats(sqlite3_stmt *stmt, int column)
{
        return (struct dbio_stats){
                dbio_db_double(stmt, column),     dbio_db_double(stmt, column + 1), dbio_db_double(stmt, column + 2),
                dbio_db_double(stmt, column + 3), dbio_db_double(stmt, column + 4), dbio_db_double(stmt, column + 5),
                dbio_db_double(stmt, column + 6), dbio_db_double(stmt, column + 7),
        };
}

static void read_first(sqlite3_stmt *stmt, struct dbio_run_figures *row)
{
        const char *role = dbio_role_name((unsigned)sqlite3_column_int(stmt, 7));

        *row = (struct dbio_run_figures){.position = (unsigned)sqlite3_column_int(stmt, 1),
                                     .duration_ns = (uint64_t)sqlite3_column_int64(stmt, 2),
                                     .stream_no = (unsigned)sqlite3_column_int(stmt, 4),
                                     .kind = sqlite3_column_int(stmt, 6),
                                     .flags = (unsigned)sqlite3_column_int(stmt, 40),
                                     .lag_p99_ns = dbio_db_double(stmt, 18)};
        copy_text(row->phase, sizeof row->phase, stmt, 0);
        copy_text(row->stream, sizeof row->stream, stmt, 3);
        copy_text(row->pattern, sizeof row->pattern, stmt, 5);
        snprintf(row->role, sizeof row->role, "%s", role ? role : "");
        row->service = read_stats(stmt, 24);
        row->response = read_stats(stmt, 32);
        row->wait = (struct dbio_stats){dbio_db_double(stmt, 19), NAN, NAN, NAN, dbio_db_double(stmt, 20), NAN, NAN, NAN};
}

static int add_hist(sqlite3_stmt *stmt, int column, struct dbio_hist *hist, bool *complete)
{
        const void *code = sqlite3_column_blob(stmt, column);

        if (!code)
                *complete = false;
        return dbio_hist_decode(hist, code, (size_t)sqlite3_column_bytes(stmt, column));
}

static int add_role(sqlite3_stmt *stmt, struct dbio_run_figures *row, struct hists *hists)
{
        double sum = dbio_db_double(stmt, 17), seconds = (double)row->duration_ns / 1e9;
        uint64_t peak = (uint64_t)sqlite3_column_int64(stmt, 13);

        row->roles++;
        row->ios += (uint64_t)sqlite3_column_int64(stmt, 8);
        row->bytes += (uint64_t)sqlite3_column_int64(stmt, 9);
        row->errors += (uint64_t)sqlite3_column_int64(stmt, 10);
        row->due += (uint64_t)sqlite3_column_int64(stmt, 11);
        row->unissued += (uint64_t)sqlite3_column_int64(stmt, 12);
        row->depth_peak = peak > row->depth_peak ? peak : row->depth_peak;
        row->splits += (uint64_t)sqlite3_column_int64(stmt, 14);
        row->hba_waits += (uint64_t)sqlite3_column_int64(stmt, 15);
        row->hba_wait_ns += (uint64_t)sqlite3_column_int64(stmt, 16);
        row->iops = seconds > 0 ? (double)row->ios / seconds : NAN;
        row->mib_per_s = seconds > 0 ? (double)row->bytes / 1048576 / seconds : NAN;
        row->depth_mean = (row->roles == 1 ? 0 : row->depth_mean) + (seconds > 0 ? sum / 1e9 / seconds : NAN);
        return add_hist(stmt, 21, &hists->service, &hists->complete) ||
                               add_hist(stmt, 22, &hists->response, &hists->complete) ||
                               add_hist(stmt, 23, &hists->wait, &hists->complete)
                       ? -1
                       : 0;
}

static uint64_t count_from(const struct dbio_hist *hist, uint64_t ns)
{
        uint64_t n = hist->overflow;

        for (uint32_t i = dbio_hist_index(ns); hist->count > hist->overflow && i <= hist->high; i++)
                n += hist->counts[i];
        return n;
}

static void close_row(struct dbio_run_figures *row, const struct hists *hists)
{
        const struct dbio_stats none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

        if (hists->complete)
                row->wait = dbio_stats_of(&hists->wait);
        row->long_ios = count_from(&hists->response, LONG_IO_NS);
        if (row->roles == 1)
                return;
        row->service = hists->complete ? dbio_stats_of(&hists->service) : none;
        row->response = hists->complete ? dbio_stats_of(&hists->response) : none;
        row->wait = hists->complete ? row->wait : none;
}

static bool same_row(sqlite3_stmt *stmt, const struct dbio_run_figures *row)
{
        return (unsigned)sqlite3_column_int(stmt, 1) == row->position &&
               (unsigned)sqlite3_column_int(stmt, 4) == row->stream_no && sqlite3_column_int(stmt, 6) == row->kind;
}

static int load_rows(struct dbio_store *store, sqlite3_stmt *stmt, struct dbio_figure_rows *out, struct hists *hists,
                     struct dbio_err *err)
{
        int more;

        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                if (!out->n || !same_row(stmt, &out->rows[out->n - 1])) {
                        struct dbio_run_figures *row;

                        if (out->n)
                                close_row(&out->rows[out->n - 1], hists);
                        row = dbio_db_add(&out->rows, &out->n, sizeof *row, stmt, err);
                        if (!row)
                                return -1;
                        memset(hists, 0, sizeof *hists);
                        hists->complete = true;
                        read_first(stmt, row);
                }
                if (add_role(stmt, &out->rows[out->n - 1], hists)) {
                        more = dbio_err_set(err, DBIO_IO, "results database %s: a histogram cannot be read", store->path);
                        break;
                }
        }
        sqlite3_reset(stmt);
        if (more == 0 && out->n)
                close_row(&out->rows[out->n - 1], hists);
        return more < 0 ? -1 : 0;
}

int dbio_figures_load(struct dbio_store *store, int64_t run_id, struct dbio_figure_rows *out, struct dbio_err *err)
{
        struct hists *hists = calloc(1, sizeof *hists);
        int code = -1;

        *out = (struct dbio_figure_rows){0};
        if (!hists)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        sqlite3_stmt *stmt = dbio_db_query(store, err, rows_sql, "i", run_id);
        if (stmt)
                code = load_rows(store, stmt, out, hists, err);
        free(hists);
        if (code)
                dbio_figures_release(out);
        return code;
}

void dbio_figures_release(struct dbio_figure_rows *rows)
{
        free(rows->rows);
        *rows = (struct dbio_figure_rows){0};
}

const struct dbio_run_figures *dbio_figures_get(const struct dbio_figure_rows *rows, const char *phase, const char *stream,
                                            int kind)
{
        for (unsigned i = 0; i < rows->n; i++)
                if (rows->rows[i].kind == kind && !strcmp(rows->rows[i].phase, phase) &&
                    !strcmp(rows->rows[i].stream, stream))
                        return &rows->rows[i];
        return NULL;
}

char *dbio_run_text(struct dbio_store *store, int64_t run_id, const char *column, struct dbio_err *err)
{
        char sql[128];
        sqlite3_stmt *stmt = NULL;
        char *text = NULL;

        snprintf(sql, sizeof sql, "SELECT \"%s\" FROM run WHERE run_id = ?", column);
        if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
                dbio_db_fail(store, err);
                return NULL;
        }
        sqlite3_bind_int64(stmt, 1, run_id);
        if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
                text = strdup(dbio_db_text(stmt, 0));
        sqlite3_finalize(stmt);
        return text;
}
