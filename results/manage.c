#include "results/manage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "results/db.h"
#include "results/json.h"
#include "results/text.h"

#define FILTER                                                                                                    \
        " FROM run WHERE (?1 IS NULL OR label LIKE '%' || ?1 || '%') AND (?2 IS NULL OR workload LIKE '%' || ?2 || '%')" \
        " AND (?3 IS NULL OR targets_json LIKE '%' || ?3 || '%' OR trust LIKE '%' || ?3 || '%')"                   \
        " AND (?4 IS NULL OR started_at >= ?4)"                                                                   \
        " ORDER BY started_at, run_id"

static const char ids_sql[] = "SELECT run_id" FILTER;
static const char list_sql[] =
        "SELECT run_id, coalesce(label, '-'), workload, started_at, " DBIO_RUN_TIME_SQL ", status, valid, schedule_hash,"
        " CASE WHEN simulated THEN 'simulated' ELSE engine END, set_id, repetition" FILTER;

static sqlite3_stmt *filtered(struct dbio_store *store, const char *sql, const struct dbio_list_filter *filter,
                              struct dbio_err *err)
{
        return dbio_db_query(store, err, sql, "ssss", filter->label, filter->workload, filter->device, filter->since);
}

static int list_json(struct dbio_store *store, const struct dbio_list_filter *filter, FILE *out, struct dbio_err *err)
{
        sqlite3_stmt *stmt = filtered(store, ids_sql, filter, err);
        bool first = true;
        int more;

        if (!stmt)
                return -1;
        fputc('[', out);
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                sqlite3_stmt *row = dbio_db_query(store, err, "SELECT * FROM v_run WHERE run_id = ?", "i",
                                                  (int64_t)sqlite3_column_int64(stmt, 0));
                int found = row ? dbio_db_step(store, row, err) : -1;

                if (found > 0) {
                        fputs(first ? "\n  " : ",\n  ", out);
                        dbio_json_row(out, row);
                        sqlite3_reset(row);
                        first = false;
                }
                if (found < 0) {
                        sqlite3_reset(stmt);
                        return -1;
                }
        }
        fputs(first ? "]\n" : "\n]\n", out);
        return more;
}

static const char *validity_word(sqlite3_stmt *stmt, int column)
{
        if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
                return "-";
        return sqlite3_column_int(stmt, column) ? "valid" : "INVALID";
}

int dbio_runs_list(struct dbio_store *store, const struct dbio_list_filter *filter, FILE *out, struct dbio_err *err)
{
        char moment[32], span[32];
        int more;

        if (filter->json)
                return list_json(store, filter, out, err);
        sqlite3_stmt *stmt = filtered(store, list_sql, filter, err);
        if (!stmt)
                return -1;
        /* A line a run, the label last and whole: it is what one types. */
        fprintf(out, "%5s %5s  %-16s %6s  %-9s %-7s %-11s %-20s %s\n", "RUN", "SET", "STARTED", "TIME", "ENGINE", "",
                "STATUS", "WORKLOAD", "LABEL");
        while ((more = dbio_db_step(store, stmt, err)) > 0)
                fprintf(out, "%5lld %5lld  %-16.16s %6s  %-9s %-7s %-11s %-20.20s %s\n",
                        (long long)sqlite3_column_int64(stmt, 0), (long long)sqlite3_column_int64(stmt, 9),
                        dbio_text_moment(moment, sizeof moment, dbio_db_text(stmt, 3)),
                        dbio_text_duration(span, sizeof span, dbio_db_double(stmt, 4)), dbio_db_text(stmt, 8),
                        validity_word(stmt, 6), dbio_db_text(stmt, 5), dbio_db_text(stmt, 2), dbio_db_text(stmt, 1));
        return more;
}

int dbio_runs_label(struct dbio_store *store, const struct dbio_runs *runs, const char *label, struct dbio_err *err)
{
        if (dbio_db_begin(store, err))
                return -1;
        for (unsigned i = 0; i < runs->n; i++)
                if (dbio_db_run(store, err, "UPDATE run SET label = nullif(?, '') WHERE run_id = ?", "si", label,
                                runs->ids[i]))
                        goto fail;
        if (dbio_db_commit(store, err))
                goto fail;
        return 0;
fail:
        dbio_db_rollback(store);
        return -1;
}

static int is_running(struct dbio_store *store, int64_t run_id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT status = 'running' FROM run WHERE run_id = ?", "i", run_id);
        int found = stmt ? dbio_db_step(store, stmt, err) : -1;
        int running = found > 0 && sqlite3_column_int(stmt, 0);

        if (found > 0)
                sqlite3_reset(stmt);
        return found < 0 ? -1 : running;
}

int dbio_runs_remove(struct dbio_store *store, const struct dbio_runs *runs, struct dbio_err *err)
{
        if (dbio_db_begin(store, err))
                return -1;
        for (unsigned i = 0; i < runs->n; i++) {
                int running = is_running(store, runs->ids[i], err);

                if (running > 0)
                        dbio_err_set(err, DBIO_USAGE, "run %lld is still running; stop it first",
                                     (long long)runs->ids[i]);
                if (running || dbio_db_run(store, err, "DELETE FROM run WHERE run_id = ?", "i", runs->ids[i]))
                        goto fail;
        }
        if (dbio_db_commit(store, err))
                goto fail;
        return dbio_db_exec(store, "PRAGMA incremental_vacuum", err);
fail:
        dbio_db_rollback(store);
        return -1;
}

/* The table's columns without its key, as "a, b, c". The caller frees. */
static char *columns_of(struct dbio_store *store, const char *table, const char *key, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT group_concat('\"' || name || '\"', ', ') FROM "
                                           "pragma_table_info(?) WHERE name <> ?", "ss", table, key);
        int found = stmt ? dbio_db_step(store, stmt, err) : -1;
        char *columns = NULL;

        if (found > 0) {
                columns = strdup(dbio_db_text(stmt, 0));
                sqlite3_reset(stmt);
                if (!columns)
                        dbio_err_set(err, DBIO_IO, "out of memory");
        }
        return columns;
}

/* Copies the rows of `table` whose `key` is `from`, under the key `to`. */
static int copy_rows(struct dbio_store *store, const char *table, const char *key, const char *dropped, int64_t from,
                     int64_t to, struct dbio_err *err)
{
        char *columns = columns_of(store, table, key, err), *sql = NULL;
        sqlite3_stmt *stmt = NULL;
        int code = -1;

        if (!columns)
                return -1;
        /* The table's own number, if it has one, is given anew. */
        char *at = *dropped ? strstr(columns, dropped) : NULL;
        if (at)
                memmove(at, at + strlen(dropped), strlen(at + strlen(dropped)) + 1);
        sql = sqlite3_mprintf("INSERT INTO main.%s (%s, %s) SELECT ?, %s FROM other.%s WHERE %s = ?", table, key, columns,
                              columns, table, key);
        if (sql && sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
                sqlite3_bind_int64(stmt, 1, to);
                sqlite3_bind_int64(stmt, 2, from);
                code = sqlite3_step(stmt) == SQLITE_DONE ? 0 : -1;
        }
        if (code)
                dbio_db_fail(store, err);
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
        free(columns);
        return code;
}

static int copy_phases(struct dbio_store *store, int64_t from_run, int64_t to_run, struct dbio_err *err)
{
        static const char *const tables[] = {"stream",   "total",     "interval", "interval_hist", "episode", "interference",
                                             "recovery", "limit_use", "device",   "gauge",         "io_error"};
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT phase_id, position FROM other.phase WHERE run_id = ?", "i",
                                           from_run);
        int more;

        if (!stmt)
                return -1;
        if (copy_rows(store, "phase", "run_id", "\"phase_id\", ", from_run, to_run, err)) {
                sqlite3_reset(stmt);
                return -1;
        }
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                int64_t from = sqlite3_column_int64(stmt, 0), to = 0;
                sqlite3_stmt *fresh = dbio_db_query(store, err, "SELECT phase_id FROM main.phase WHERE run_id = ? AND "
                                                    "position = ?", "ii", to_run, (int64_t)sqlite3_column_int64(stmt, 1));

                more = fresh ? dbio_db_step(store, fresh, err) : -1;
                if (more > 0) {
                        to = sqlite3_column_int64(fresh, 0);
                        sqlite3_reset(fresh);
                }
                for (size_t i = 0; more > 0 && i < sizeof tables / sizeof *tables; i++)
                        if (copy_rows(store, tables[i], "phase_id", "", from, to, err))
                                more = -1;
                if (more < 0) {
                        sqlite3_reset(stmt);
                        return -1;
                }
        }
        return more;
}

/* A run keeps its set: that of a brother which is here already, else a set of its own that later brothers join. */
static int copy_run(struct dbio_store *store, int64_t from, struct dbio_err *err)
{
        int64_t to;

        /* -from: any value that no run here has, until the new id is known */
        if (dbio_db_run(store, err,
                        "INSERT INTO main.run (run_uuid, set_id, repetition, label, workload, schedule_hash, seed, engine, "
                        "simulated, status, valid, invalid_why, started_at, wall_ns, cpu_user_ns, cpu_sys_ns, "
                        "unrecorded_ios, unrecorded_bytes, tool_version, host_json, targets_json, workload_text, "
                        "resolved_text, options_json, profile_text, profile_hash, trust, how) "
                        "SELECT run_uuid, 0, repetition, label, workload, schedule_hash, seed, engine, simulated, "
                        "CASE status WHEN 'running' THEN 'interrupted' ELSE status END, valid, invalid_why, started_at, "
                        "wall_ns, cpu_user_ns, cpu_sys_ns, unrecorded_ios, unrecorded_bytes, tool_version, host_json, "
                        "targets_json, workload_text, resolved_text, options_json, profile_text, profile_hash, trust, how "
                        "FROM other.run WHERE run_id = ?", "i", from))
                return -1;
        to = sqlite3_last_insert_rowid(store->db);
        if (dbio_db_run(store, err,
                        "UPDATE main.run SET set_id = coalesce((SELECT m.set_id FROM other.run a JOIN other.run b USING "
                        "(set_id) JOIN main.run m ON m.run_uuid = b.run_uuid WHERE a.run_id = ? AND m.run_id <> main.run.run_id "
                        "LIMIT 1), run_id) WHERE run_id = ?", "ii", from, to))
                return -1;
        if (copy_rows(store, "figure", "run_id", "", from, to, err))
                return -1;
        return copy_phases(store, from, to, err);
}

static int copy_all(struct dbio_store *store, unsigned *merged, unsigned *known, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT run_id, EXISTS (SELECT 1 FROM main.run m WHERE m.run_uuid = "
                                           "o.run_uuid) FROM other.run o ORDER BY run_id", "");
        int more;

        *merged = *known = 0;
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                if (sqlite3_column_int(stmt, 1)) {
                        ++*known;
                        continue;
                }
                if (copy_run(store, sqlite3_column_int64(stmt, 0), err)) {
                        sqlite3_reset(stmt);
                        return -1;
                }
                ++*merged;
        }
        return more;
}

static bool is_same_file(const char *a, const char *b)
{
        struct stat first, second;

        return a && !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int dbio_runs_merge(struct dbio_store *store, const char *path, unsigned *merged, unsigned *known, struct dbio_err *err)
{
        struct dbio_store *other = NULL;
        int code = -1;

        /* Attached to itself, it would wait for its own lock. */
        if (is_same_file(sqlite3_db_filename(store->db, "main"), path))
                return dbio_err_set(err, DBIO_USAGE, "%s is the database that the runs would be taken over to", path);
        /* Opened for itself first: it is checked, and brought up to date, like any other. */
        if (dbio_store_open(&other, path, DBIO_STORE_READ, err))
                return -1;
        dbio_store_close(other);
        if (dbio_db_run(store, err, "ATTACH ? AS other", "s", path))
                return -1;
        if (dbio_db_begin(store, err))
                goto out;
        if (copy_all(store, merged, known, err) || dbio_db_commit(store, err))
                dbio_db_rollback(store);
        else
                code = 0;
out:
        dbio_store_forget(store);
        if (dbio_db_exec(store, "DETACH other", code ? NULL : err))
                code = -1;
        return code;
}
