/* SQLite as results/ uses it: statements kept for reuse, values bound by a format, errors as struct dbio_err. Internal
 * to results/; nothing else includes it. */
#ifndef DBIO_RESULTS_DB_H
#define DBIO_RESULTS_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"

#define DBIO_STORE_STATEMENTS 48

struct dbio_store {
        sqlite3 *db;
        char *path;
        int64_t begun_ns; /* CLOCK_MONOTONIC of run_begin, so that wall_ns grows with each commit */
        uint64_t steal_ns; /* of the host at run_begin */
        struct {
                const char *sql; /* compared by address: string constants only */
                sqlite3_stmt *stmt;
        } kept[DBIO_STORE_STATEMENTS];
};

/* err from SQLite's last error: DBIO_USAGE where the file is no database, else DBIO_IO. Returns -1. */
int dbio_db_fail(struct dbio_store *store, struct dbio_err *err);

/* Runs a script without parameters. */
int dbio_db_exec(struct dbio_store *store, const char *script, struct dbio_err *err);

/* A statement with its parameters bound in order, one letter each: i int64_t, u uint64_t, d double (NAN binds NULL),
 * s text or NULL, b const void * and size_t (a blob; NULL binds NULL), n NULL without an argument. sql is a string
 * constant; the statement is kept and must be given back with sqlite3_reset. NULL on failure. */
sqlite3_stmt *dbio_db_query(struct dbio_store *store, struct dbio_err *err, const char *sql, const char *format, ...);

/* The same for a statement without rows: binds, steps, resets. */
int dbio_db_run(struct dbio_store *store, struct dbio_err *err, const char *sql, const char *format, ...);

/* Steps: 1 a row, 0 done (and reset), -1 failed (and reset). */
int dbio_db_step(struct dbio_store *store, sqlite3_stmt *stmt, struct dbio_err *err);

/* One more zeroed entry at the end of an array: `array` is the address of its pointer, *nr counts entries of `size`
 * bytes. NULL without memory: err is set, and stmt (may be NULL) reset. */
void *dbio_db_add(void *array, unsigned *nr, size_t size, sqlite3_stmt *stmt, struct dbio_err *err);

/* Finalizes all kept statements: a database can be detached only then. */
void dbio_store_forget(struct dbio_store *store);

int dbio_db_begin(struct dbio_store *store, struct dbio_err *err); /* immediate: waits for other writers */
int dbio_db_commit(struct dbio_store *store, struct dbio_err *err);
void dbio_db_rollback(struct dbio_store *store);

/* A column as text that lives until the next step, "" for NULL; as double, NAN for NULL. */
const char *dbio_db_text(sqlite3_stmt *stmt, int column);
double dbio_db_double(sqlite3_stmt *stmt, int column);

/* results/schema.c: scripts[i] brings user_version i to i + 1; views are made anew after each change. */
extern const char *const dbio_schema_scripts[];
extern const int dbio_schema_version;
extern const char dbio_schema_views[];

#define DBIO_APPLICATION_ID 0x6462696f /* "dbio" */

#endif
