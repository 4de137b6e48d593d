#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/command.h"
#include "replay/sessioninfo.h"
#include "results/query.h"
#include "results/report.h"
#include "results/study.h"

/* What is on the page: each RUN is a side, a study's label is all its cells. */
struct sides {
        unsigned n;
        struct dbio_runs *runs;
        char **names;
};

static int add_side(struct sides *sides, const char *name, const struct dbio_runs *runs, struct dbio_err *err)
{
        struct dbio_runs *more_runs = realloc(sides->runs, (sides->n + 1) * sizeof *more_runs);
        char **more_names;

        if (more_runs)
                sides->runs = more_runs;
        more_names = more_runs ? realloc(sides->names, (sides->n + 1) * sizeof *more_names) : NULL;
        if (!more_names)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        sides->names = more_names;
        sides->runs[sides->n] = *runs;
        sides->names[sides->n] = strdup(name);
        return sides->names[sides->n++] ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");
}

static int add_study(struct sides *sides, struct dbio_store *store, int64_t study_id, struct dbio_err *err)
{
        struct dbio_study_cells cells;
        struct dbio_runs runs;
        int code = dbio_study_cells_load(store, study_id, &cells, err);

        for (unsigned i = 0; !code && i < cells.n; i++) {
                code = dbio_runs_of_set(store, cells.cells[i].set_id, &runs, err);
                if (!code && add_side(sides, cells.cells[i].name, &runs, err)) {
                        dbio_runs_release(&runs);
                        code = -1;
                }
        }
        dbio_study_cells_release(&cells);
        return code;
}

static int add_argument(struct sides *sides, struct dbio_store *store, const char *name, struct dbio_err *err)
{
        struct dbio_runs runs = {0};
        int64_t study_id;
        int found = dbio_study_find(store, name, &study_id, err);

        if (found)
                return found < 0 ? -1 : add_study(sides, store, study_id, err);
        if (dbio_runs_find(store, name, &runs, err))
                return -1;
        if (add_side(sides, name, &runs, err)) {
                dbio_runs_release(&runs);
                return -1;
        }
        return 0;
}

static int write_page(const struct sides *sides, struct dbio_store *store, const char *path, struct dbio_err *err)
{
        struct dbio_report_set *sets = calloc(sides->n + 1, sizeof *sets);
        FILE *out = NULL;
        int code = -1;

        if (!sets) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        for (unsigned i = 0; i < sides->n; i++)
                sets[i] = (struct dbio_report_set){sides->names[i], &sides->runs[i]};
        out = fopen(path, "w");
        if (!out) {
                dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
                goto out;
        }
        code = dbio_report_write(store, sets, sides->n, DBIO_VERSION, out, err);
        if (fclose(out) && !code)
                code = dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        if (!code)
                fprintf(stderr, "report: %s\n", path);
out:
        free(sets);
        return code;
}

int dbio_cmd_report(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *path = dbio_cmdline_value(line, DBIO_OPT_OUTPUT);
        struct dbio_store *store = NULL;
        struct sides sides = {0};
        int code = -1;

        if (!path)
                return dbio_err_set(err, DBIO_USAGE, "report: -o FILE.html is missing");
        if (dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_READ, err))
                return -1;
        for (unsigned i = 0; i < line->narguments; i++)
                if (add_argument(&sides, store, line->arguments[i], err))
                        goto out;
        if (!sides.n) {
                dbio_err_set(err, DBIO_USAGE, "%s: the study has no runs yet", line->arguments[0]);
                goto out;
        }
        code = write_page(&sides, store, path, err);
out:
        for (unsigned i = 0; i < sides.n; i++) {
                dbio_runs_release(&sides.runs[i]);
                free(sides.names[i]);
        }
        free(sides.runs);
        free(sides.names);
        dbio_store_close(store);
        return code;
}
