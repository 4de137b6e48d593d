#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/study.h"

int dbio_study_begin(struct dbio_store *store, const struct dbio_study_info *info, bool resume, int64_t *study_id,
                     struct dbio_err *err)
{
        const char *label = info->label ? info->label : info->workload;
        sqlite3_stmt *stmt;

        if (resume) {
                stmt = dbio_db_query(store, err, "SELECT max(study_id) FROM study WHERE label = ? AND plan = ?", "ss", label,
                                     info->plan);
                if (!stmt || dbio_db_step(store, stmt, err) < 0)
                        return -1;
                *study_id = sqlite3_column_int64(stmt, 0);
                sqlite3_reset(stmt);
                if (*study_id)
                        return 0;
        }
        if (dbio_db_run(store, err, "INSERT INTO study (label, workload, plan) VALUES (?, ?, ?)", "sss", label,
                        info->workload, info->plan))
                return -1;
        *study_id = sqlite3_last_insert_rowid(store->db);
        for (unsigned i = 0; i < info->naxes; i++)
                if (dbio_db_run(store, err, "INSERT INTO study_axis (study_id, axis, key) VALUES (?, ?, ?)", "iis", *study_id,
                                (int64_t)i, info->axes[i]))
                        return -1;
        return 0;
}

int dbio_study_cell(struct dbio_store *store, int64_t study_id, unsigned cell, const char *name, unsigned nvalues,
                    const char *const *values, struct dbio_err *err)
{
        if (dbio_db_run(store, err, "INSERT OR IGNORE INTO study_cell (study_id, cell, name) VALUES (?, ?, ?)", "iis",
                        study_id, (int64_t)cell, name))
                return -1;
        for (unsigned i = 0; i < nvalues; i++)
                if (dbio_db_run(store, err, "INSERT OR IGNORE INTO study_value (study_id, cell, axis, value) VALUES (?, ?, ?, ?)",
                                "iiis", study_id, (int64_t)cell, (int64_t)i, values[i]))
                        return -1;
        return 0;
}

int dbio_study_cell_runs(struct dbio_store *store, int64_t study_id, unsigned cell, int64_t *set_id, unsigned *runs,
                         struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err,
                "SELECT coalesce(max(c.set_id), 0), count(r.run_id) FROM study_cell c LEFT JOIN run r"
                " ON r.set_id = c.set_id AND r.status = 'complete' WHERE c.study_id = ? AND c.cell = ?",
                "ii", study_id, (int64_t)cell);

        if (!stmt || dbio_db_step(store, stmt, err) < 0)
                return -1;
        *set_id = sqlite3_column_int64(stmt, 0);
        *runs = (unsigned)sqlite3_column_int64(stmt, 1);
        sqlite3_reset(stmt);
        return 0;
}

int dbio_study_cell_set(struct dbio_store *store, int64_t study_id, unsigned cell, int64_t set_id, struct dbio_err *err)
{
        return dbio_db_run(store, err, "UPDATE study_cell SET set_id = ? WHERE study_id = ? AND cell = ?", "iii", set_id,
                           study_id, (int64_t)cell);
}

int dbio_study_found(struct dbio_store *store, int64_t study_id, double holds, double fails, double own, const char *text,
                     struct dbio_err *err)
{
        return dbio_db_run(store, err, "UPDATE study SET holds = ?, fails = ?, own = ?, answer = ? WHERE study_id = ?",
                           "dddsi", holds, fails, own, text, study_id);
}

int dbio_study_find(struct dbio_store *store, const char *label, int64_t *study_id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT max(study_id) FROM study WHERE label = ?", "s", label);

        if (!stmt || dbio_db_step(store, stmt, err) < 0)
                return -1;
        *study_id = sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        return *study_id != 0;
}

int dbio_study_cells_load(struct dbio_store *store, int64_t study_id, struct dbio_study_cells *cells, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err,
                                           "SELECT name, set_id FROM study_cell WHERE study_id = ? AND set_id IN "
                                           "(SELECT set_id FROM run) ORDER BY cell",
                                           "i", study_id);
        int more;

        *cells = (struct dbio_study_cells){0};
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                struct dbio_study_cell_set *cell = dbio_db_add(&cells->cells, &cells->n, sizeof *cell, stmt, err);

                if (!cell) {
                        dbio_study_cells_release(cells);
                        return -1;
                }
                *cell = (struct dbio_study_cell_set){strdup(dbio_db_text(stmt, 0)), sqlite3_column_int64(stmt, 1)};
                if (!cell->name) {
                        sqlite3_reset(stmt);
                        dbio_study_cells_release(cells);
                        return dbio_err_set(err, DBIO_IO, "results: out of memory");
                }
        }
        return more;
}

void dbio_study_cells_release(struct dbio_study_cells *cells)
{
        for (unsigned i = 0; i < cells->n; i++)
                free(cells->cells[i].name);
        free(cells->cells);
        *cells = (struct dbio_study_cells){0};
}
