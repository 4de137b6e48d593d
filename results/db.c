#include "results/db.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int dbio_db_fail(struct dbio_store *store, struct dbio_err *err)
{
        int code = sqlite3_errcode(store->db);
        enum dbio_code as = code == SQLITE_NOTADB ? DBIO_USAGE : DBIO_IO;
        int reason = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(store->db) : 0;

        return dbio_err_set(err, as, "results database %s: %s%s%s", store->path, sqlite3_errmsg(store->db), reason ? ": " : "",
                            reason ? strerror(reason) : "");
}

int dbio_db_exec(struct dbio_store *store, const char *script, struct dbio_err *err)
{
        if (sqlite3_exec(store->db, script, NULL, NULL, NULL) != SQLITE_OK)
                return dbio_db_fail(store, err);
        return 0;
}

static sqlite3_stmt *find_statement(struct dbio_store *store, const char *sql, struct dbio_err *err)
{
        unsigned i;

        for (i = 0; i < DBIO_STORE_STATEMENTS && store->kept[i].sql; i++)
                if (store->kept[i].sql == sql && !sqlite3_stmt_busy(store->kept[i].stmt))
                        return store->kept[i].stmt;
        if (i == DBIO_STORE_STATEMENTS) {
                /* Full: an idle one makes room. */
                for (i = 0; i < DBIO_STORE_STATEMENTS && sqlite3_stmt_busy(store->kept[i].stmt); i++)
                        ;
                if (i == DBIO_STORE_STATEMENTS) {
                        dbio_err_set(err, DBIO_BUG, "results: too many open queries");
                        return NULL;
                }
                sqlite3_finalize(store->kept[i].stmt);
                store->kept[i].stmt = NULL;
        }
        if (sqlite3_prepare_v2(store->db, sql, -1, &store->kept[i].stmt, NULL) != SQLITE_OK) {
                dbio_db_fail(store, err);
                store->kept[i].sql = i + 1 < DBIO_STORE_STATEMENTS && store->kept[i + 1].sql ? "" : NULL;
                return NULL;
        }
        store->kept[i].sql = sql;
        return store->kept[i].stmt;
}

static void bind_one(sqlite3_stmt *stmt, int at, char letter, va_list *args)
{
        switch (letter) {
        case 'i':
                sqlite3_bind_int64(stmt, at, va_arg(*args, int64_t));
                break;
        case 'u':
                sqlite3_bind_int64(stmt, at, (sqlite3_int64)va_arg(*args, uint64_t));
                break;
        case 'd': {
                double value = va_arg(*args, double);
                if (isnan(value))
                        sqlite3_bind_null(stmt, at);
                else
                        sqlite3_bind_double(stmt, at, value);
                break;
        }
        case 's':
                sqlite3_bind_text(stmt, at, va_arg(*args, const char *), -1, SQLITE_STATIC);
                break;
        case 'b': {
                const void *data = va_arg(*args, const void *);
                size_t size = va_arg(*args, size_t);
                sqlite3_bind_blob64(stmt, at, data, size, SQLITE_STATIC);
                break;
        }
        default:
                sqlite3_bind_null(stmt, at);
        }
}

static sqlite3_stmt *query(struct dbio_store *store, struct dbio_err *err, const char *sql, const char *format,
                           va_list *args)
{
        sqlite3_stmt *stmt = find_statement(store, sql, err);

        if (stmt)
                for (int at = 1; format[at - 1]; at++)
                        bind_one(stmt, at, format[at - 1], args);
        return stmt;
}

sqlite3_stmt *dbio_db_query(struct dbio_store *store, struct dbio_err *err, const char *sql, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        sqlite3_stmt *stmt = query(store, err, sql, format, &args);
        va_end(args);
        return stmt;
}

int dbio_db_step(struct dbio_store *store, sqlite3_stmt *stmt, struct dbio_err *err)
{
        int code = sqlite3_step(stmt);

        if (code == SQLITE_ROW)
                return 1;
        if (code != SQLITE_DONE)
                dbio_db_fail(store, err);
        sqlite3_reset(stmt);
        return code == SQLITE_DONE ? 0 : -1;
}

int dbio_db_run(struct dbio_store *store, struct dbio_err *err, const char *sql, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        sqlite3_stmt *stmt = query(store, err, sql, format, &args);
        va_end(args);
        if (!stmt)
                return -1;
        int code = dbio_db_step(store, stmt, err);
        if (code > 0)
                sqlite3_reset(stmt);
        return code < 0 ? -1 : 0;
}

void *dbio_db_add(void *array, unsigned *nr, size_t size, sqlite3_stmt *stmt, struct dbio_err *err)
{
        char *entries;

        memcpy(&entries, array, sizeof entries);
        entries = realloc(entries, (*nr + 1) * size);
        if (!entries) {
                sqlite3_reset(stmt);
                dbio_err_set(err, DBIO_IO, "results: out of memory");
                return NULL;
        }
        memcpy(array, &entries, sizeof entries);
        memset(entries + *nr * size, 0, size);
        return entries + (*nr)++ * size;
}

void dbio_store_forget(struct dbio_store *store)
{
        for (unsigned i = 0; i < DBIO_STORE_STATEMENTS; i++) {
                sqlite3_finalize(store->kept[i].stmt);
                store->kept[i].stmt = NULL;
                store->kept[i].sql = NULL;
        }
}

int dbio_db_begin(struct dbio_store *store, struct dbio_err *err)
{
        return dbio_db_run(store, err, "BEGIN IMMEDIATE", "");
}

int dbio_db_commit(struct dbio_store *store, struct dbio_err *err)
{
        return dbio_db_run(store, err, "COMMIT", "");
}

void dbio_db_rollback(struct dbio_store *store)
{
        if (!sqlite3_get_autocommit(store->db))
                sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

const char *dbio_db_text(sqlite3_stmt *stmt, int column)
{
        const unsigned char *text = sqlite3_column_text(stmt, column);

        return text ? (const char *)text : "";
}

double dbio_db_double(sqlite3_stmt *stmt, int column)
{
        return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, column);
}
