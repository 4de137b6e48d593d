#include "results/remember.h"

#include <stdio.h>

#include "results/db.h"

int dbio_store_remember(struct dbio_store *store, const char *name, const char *text, struct dbio_err *err)
{
        return dbio_db_run(store, err, "INSERT OR REPLACE INTO remembered VALUES (?, ?, datetime('now'))", "ss", name, text);
}

int dbio_store_recall(struct dbio_store *store, const char *name, char *text, size_t size, char *since, size_t since_size,
                      struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT text, since FROM remembered WHERE name = ?", "s", name);
        int row;

        text[0] = since[0] = 0;
        if (!stmt)
                return -1;
        row = dbio_db_step(store, stmt, err);
        if (row == 1) {
                snprintf(text, size, "%s", dbio_db_text(stmt, 0));
                snprintf(since, since_size, "%s", dbio_db_text(stmt, 1));
                sqlite3_reset(stmt);
        }
        return row < 0 ? -1 : 0;
}
