#include "results/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "engine/stream.h"
#include "results/db.h"
#include "results/number.h"
#include "results/query.h"
#include "results/verdict.h"

#define COLUMNS_MAX 12u
#define AXES_MAX 6u
#define RUNS_MAX 64u
#define WIDTH_MIN 10 /* of a column */
#define WIDTH_MAX 18

/* What a row of the matrix is judged by. */
enum metric { IOPS, MIB_PER_S, MEAN_MS };
static const char *const metric_names[] = {"IOPS", "MiB/s", "avg ms"};

struct cell {
        char *name, *values[AXES_MAX];
        unsigned column, combination; /* of the last axis' value; of the others' */
        unsigned nruns;
        bool simulated;
        struct dbio_figure_rows runs[RUNS_MAX];
};

struct study {
        char *label, *workload, *answer;
        unsigned naxes;
        char *axes[AXES_MAX];
        unsigned ncells;
        struct cell *cells;
        unsigned ncolumns, ncombinations;
        const char *columns[COLUMNS_MAX];
        int width; /* of a column */
};

static char *keep(sqlite3_stmt *stmt, int column)
{
        return strdup(dbio_db_text(stmt, column));
}

static int load_head(struct dbio_store *store, int64_t id, struct study *study, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT label, workload, answer FROM study WHERE study_id = ?", "i", id);
        int more;

        if (!stmt || dbio_db_step(store, stmt, err) <= 0)
                return -1;
        study->label = keep(stmt, 0);
        study->workload = keep(stmt, 1);
        study->answer = keep(stmt, 2);
        sqlite3_reset(stmt);
        stmt = dbio_db_query(store, err, "SELECT key FROM study_axis WHERE study_id = ? ORDER BY axis", "i", id);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0)
                if (study->naxes < AXES_MAX)
                        study->axes[study->naxes++] = keep(stmt, 0);
        return more;
}

static int load_cells(struct dbio_store *store, int64_t id, struct study *study, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err,
                "SELECT c.cell, c.name, v.axis, v.value FROM study_cell c JOIN study_value v USING (study_id, cell)"
                " WHERE study_id = ? ORDER BY c.cell, v.axis", "i", id);
        int64_t last = -1;
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                int axis = sqlite3_column_int(stmt, 2);
                if (sqlite3_column_int64(stmt, 0) != last) {
                        struct cell *grown = realloc(study->cells, (study->ncells + 1) * sizeof *grown);
                        if (!grown) {
                                sqlite3_reset(stmt);
                                return dbio_err_set(err, DBIO_BUG, "out of memory");
                        }
                        study->cells = grown;
                        memset(&grown[study->ncells], 0, sizeof *grown);
                        grown[study->ncells++].name = keep(stmt, 1);
                        last = sqlite3_column_int64(stmt, 0);
                }
                if (axis < (int)AXES_MAX)
                        study->cells[study->ncells - 1].values[axis] = keep(stmt, 3);
        }
        return more;
}

static int load_runs(struct dbio_store *store, int64_t id, struct study *study, struct dbio_err *err)
{
        for (unsigned i = 0; i < study->ncells; i++) {
                struct cell *cell = &study->cells[i];
                int64_t ids[RUNS_MAX];
                sqlite3_stmt *stmt = dbio_db_query(store, err,
                        "SELECT r.run_id, r.simulated FROM study_cell c JOIN run r USING (set_id) WHERE c.study_id = ? AND"
                        " c.cell = ? AND r.status = 'complete' AND r.valid ORDER BY r.run_id", "ii", id, (int64_t)i);
                int more;
                if (!stmt)
                        return -1;
                while ((more = dbio_db_step(store, stmt, err)) > 0)
                        if (cell->nruns < RUNS_MAX) {
                                ids[cell->nruns++] = sqlite3_column_int64(stmt, 0);
                                cell->simulated = sqlite3_column_int(stmt, 1);
                        }
                for (unsigned r = 0; r < cell->nruns && !more; r++)
                        more = dbio_figures_load(store, ids[r], &cell->runs[r], err);
                if (more)
                        return -1;
        }
        return 0;
}

/* Same values on all axes but the last. */
static bool same_combination(const struct study *study, const struct cell *a, const struct cell *b)
{
        for (unsigned i = 0; i + 1 < study->naxes; i++)
                if (strcmp(a->values[i], b->values[i]))
                        return false;
        return true;
}

static int place_cells(struct study *study, struct dbio_err *err)
{
        unsigned last = study->naxes ? study->naxes - 1 : 0;

        study->width = WIDTH_MIN;
        for (unsigned i = 0; i < study->ncells && study->answer[0]; i++)
                study->cells[i].column = i;
        if (study->answer[0])
                return 0;
        for (unsigned i = 0; i < study->ncells; i++) {
                struct cell *cell = &study->cells[i];
                const char *value = study->naxes ? cell->values[last] : cell->name;
                unsigned k = 0, before = 0;
                value += strncmp(value, "sim:", 4) ? 0 : 4; /* the heading says SIMULATED */
                while (k < study->ncolumns && strcmp(study->columns[k], value))
                        k++;
                if (k == COLUMNS_MAX)
                        return dbio_err_set(err, DBIO_USAGE, "a study of more than %u columns is not drawn; put the longest axis first",
                                            COLUMNS_MAX);
                if (k == study->ncolumns)
                        study->columns[study->ncolumns++] = value;
                if ((int)strlen(value) > study->width)
                        study->width = (int)strlen(value) < WIDTH_MAX ? (int)strlen(value) : WIDTH_MAX;
                cell->column = k;
                while (before < i && !same_combination(study, &study->cells[before], cell))
                        before++;
                cell->combination = before < i ? study->cells[before].combination : study->ncombinations++;
        }
        return 0;
}

static enum metric metric_of(const struct dbio_run_figures *figures)
{
        static const char *const by_bytes[] = {"sequential", "scan", "backup", "restore", "bulk_load", "file_init"};

        if (figures->kind == DBIO_COMMIT || figures->flags & DBIO_STREAM_TIMED)
                return MEAN_MS;
        for (size_t i = 0; i < sizeof by_bytes / sizeof *by_bytes; i++)
                if (strstr(figures->pattern, by_bytes[i]))
                        return MIB_PER_S;
        return IOPS;
}

static double value_of(const struct dbio_run_figures *figures, enum metric metric)
{
        return metric == IOPS ? figures->iops : metric == MIB_PER_S ? figures->mib_per_s : figures->response.mean / 1e6;
}

/* One column's values of a row: the runs of one cell. */
struct values {
        unsigned n;
        double value[RUNS_MAX];
        double mean; /* geometric; NAN = none */
        bool exact;
        const struct cell *cell;
};

static struct values values_of(const struct study *study, const struct dbio_run_figures *row, enum metric metric,
                               unsigned combination, unsigned column)
{
        struct values values = {.mean = NAN};
        double sum = 0;

        for (unsigned i = 0; i < study->ncells; i++) {
                const struct cell *cell = &study->cells[i];
                if (cell->combination != combination || cell->column != column)
                        continue;
                values.cell = cell;
                values.exact = cell->simulated;
                for (unsigned r = 0; r < cell->nruns; r++) {
                        const struct dbio_run_figures *figures =
                                dbio_figures_get(&cell->runs[r], row->phase, row->stream, row->kind);
                        double value = figures ? value_of(figures, metric) : NAN;
                        if (!(value > 0))
                                continue;
                        values.value[values.n++] = value;
                        sum += log(value);
                }
        }
        if (values.n)
                values.mean = exp(sum / values.n);
        return values;
}

static bool better(enum metric metric, double a, double b)
{
        return metric == MEAN_MS ? a < b : a > b;
}

static void print_value(const struct study *study, FILE *out, double value)
{
        char text[32] = "-";

        if (!isnan(value))
                dbio_number_short(text, sizeof text, value);
        fprintf(out, " %*s", study->width, text);
}

/* Who wins among the columns' best, and whether more than noise or margin says so. */
static void print_winner(const struct study *study, FILE *out, enum metric metric, const struct values *best)
{
        unsigned first = COLUMNS_MAX, second = COLUMNS_MAX;
        struct dbio_verdict_value sides[2][RUNS_MAX];

        for (unsigned k = 0; k < study->ncolumns; k++) {
                if (isnan(best[k].mean))
                        continue;
                if (first == COLUMNS_MAX || better(metric, best[k].mean, best[first].mean)) {
                        second = first;
                        first = k;
                } else if (second == COLUMNS_MAX || better(metric, best[k].mean, best[second].mean)) {
                        second = k;
                }
        }
        if (second == COLUMNS_MAX) {
                fputc('\n', out);
                return;
        }
        const struct values *pair[2] = {&best[second], &best[first]};
        for (unsigned s = 0; s < 2; s++)
                for (unsigned r = 0; r < pair[s]->n; r++)
                        sides[s][r] = (struct dbio_verdict_value){pair[s]->value[r], (int64_t)(2 * r + s)};
        struct dbio_verdict verdict;
        dbio_verdict_decide(&(struct dbio_verdict_question){.base = sides[0], .new_ = sides[1], .nr_base = pair[0]->n,
                                                            .nr_new = pair[1]->n, .higher_is_better = metric != MEAN_MS,
                                                            .exact = pair[0]->exact && pair[1]->exact,
                                                            .margin = DBIO_VERDICT_MARGIN, .alpha = 0.05},
                            &verdict);
        double lead = metric == MEAN_MS ? best[second].mean / best[first].mean : best[first].mean / best[second].mean;
        if (verdict.word == DBIO_VERDICT_FASTER && lead > 2)
                fprintf(out, "  %s, x %.1f\n", study->columns[first], lead);
        else if (verdict.word == DBIO_VERDICT_FASTER)
                fprintf(out, "  %s by %.0f %%\n", study->columns[first], 100 * (lead - 1));
        else if (verdict.word == DBIO_VERDICT_SAME)
                fprintf(out, "  no difference\n");
        else
                fprintf(out, "  cannot tell (%u runs)\n", best[first].n);
}

static void print_combination(const struct study *study, FILE *out, unsigned combination)
{
        char text[64] = "";

        for (unsigned i = 0; i < study->ncells; i++) {
                const struct cell *cell = &study->cells[i];
                if (cell->combination != combination)
                        continue;
                for (unsigned a = 0; a + 1 < study->naxes; a++)
                        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", a ? ", " : "", cell->values[a]);
                break;
        }
        fprintf(out, "    %-24.24s", text);
}

static void print_row(const struct study *study, FILE *out, const struct dbio_run_figures *row)
{
        enum metric metric = metric_of(row);
        struct values *best = calloc(COLUMNS_MAX, sizeof *best);

        fprintf(out, "  %s  %s %s  %s\n", row->phase, row->stream, dbio_kind_name((unsigned)row->kind), metric_names[metric]);
        for (unsigned k = 0; k < COLUMNS_MAX; k++)
                best[k].mean = NAN;
        for (unsigned c = 0; c < study->ncombinations; c++) {
                if (study->ncombinations > 1)
                        print_combination(study, out, c);
                for (unsigned k = 0; k < study->ncolumns; k++) {
                        struct values values = values_of(study, row, metric, c, k);
                        if (study->ncombinations > 1)
                                print_value(study, out, values.mean);
                        if (!isnan(values.mean) && (isnan(best[k].mean) || better(metric, values.mean, best[k].mean)))
                                best[k] = values;
                }
                if (study->ncombinations > 1)
                        fputc('\n', out);
        }
        fprintf(out, "    %-24s", study->ncombinations > 1 ? "best" : "");
        for (unsigned k = 0; k < study->ncolumns; k++)
                print_value(study, out, best[k].mean);
        print_winner(study, out, metric, best);
        free(best);
}

/* A search: a line a trial, in the order of trying. */
static void print_trials(const struct study *study, FILE *out, const struct dbio_figure_rows *rows)
{
        fprintf(out, "\n  %-16s", "tried");
        for (unsigned i = 0; i < rows->n && i < 4; i++) {
                char text[80];
                snprintf(text, sizeof text, "%s %s %s", rows->rows[i].stream, dbio_kind_name((unsigned)rows->rows[i].kind),
                         metric_names[metric_of(&rows->rows[i])]);
                fprintf(out, " %20.20s", text);
        }
        fputc('\n', out);
        for (unsigned c = 0; c < study->ncells; c++) {
                if (!study->cells[c].nruns)
                        continue;
                fprintf(out, "  %-16s", study->cells[c].name);
                for (unsigned i = 0; i < rows->n && i < 4; i++) {
                        char text[DBIO_NUMBER_SIZE] = "-";
                        struct values values = values_of(study, &rows->rows[i], metric_of(&rows->rows[i]), 0, c);
                        if (!isnan(values.mean))
                                dbio_number_short(text, sizeof text, values.mean);
                        fprintf(out, " %20s", text);
                }
                fputc('\n', out);
        }
}

static void print_study(const struct study *study, FILE *out)
{
        const struct dbio_figure_rows *rows = NULL;
        unsigned done = 0;

        for (unsigned i = 0; i < study->ncells; i++) {
                done += study->cells[i].nruns > 0;
                if (!rows && study->cells[i].nruns)
                        rows = &study->cells[i].runs[0];
        }
        fprintf(out, "STUDY  %s   %s   %u of %u cells with valid runs%s\n", study->label, study->workload, done, study->ncells,
                study->ncells && study->cells[0].simulated ? "   SIMULATED" : "");
        if (study->answer[0])
                fprintf(out, "\nANSWER\n  %s\n", study->answer);
        if (!rows)
                return;
        if (study->answer[0]) {
                print_trials(study, out, rows);
                return;
        }
        fputc('\n', out);
        if (study->naxes)
                fprintf(out, "  columns: %s", study->axes[study->naxes - 1]);
        for (unsigned a = 0; a + 1 < study->naxes; a++)
                fprintf(out, "%s%s", a ? ", " : "; rows: ", study->axes[a]);
        fprintf(out, "%s    %-24s", study->naxes ? "\n" : "", "");
        for (unsigned k = 0; k < study->ncolumns; k++)
                fprintf(out, " %*.*s", study->width, study->width, study->columns[k]);
        fputc('\n', out);
        for (unsigned i = 0; i < rows->n; i++)
                if (rows->rows[i].kind != DBIO_FSYNC && rows->rows[i].kind != DBIO_TRIM)
                        print_row(study, out, &rows->rows[i]);
}

static void release(struct study *study)
{
        for (unsigned i = 0; i < study->ncells; i++) {
                free(study->cells[i].name);
                for (unsigned a = 0; a < AXES_MAX; a++)
                        free(study->cells[i].values[a]);
                for (unsigned r = 0; r < study->cells[i].nruns; r++)
                        dbio_figures_release(&study->cells[i].runs[r]);
        }
        free(study->cells);
        for (unsigned a = 0; a < study->naxes; a++)
                free(study->axes[a]);
        free(study->label);
        free(study->workload);
        free(study->answer);
}

int dbio_study_show(struct dbio_store *store, int64_t study_id, FILE *out, struct dbio_err *err)
{
        struct study study = {0};
        int code = -1;

        if (load_head(store, study_id, &study, err) || load_cells(store, study_id, &study, err) ||
            load_runs(store, study_id, &study, err) || place_cells(&study, err))
                goto out;
        print_study(&study, out);
        code = 0;
out:
        release(&study);
        return code;
}
