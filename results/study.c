#include "results/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "engine/stream.h"
#include "results/db.h"
#include "results/number.h"
#include "results/study_state.h"
#include "results/text.h"
#include "results/verdict.h"

#define COLUMNS_MAX DBIO_STUDY_COLUMNS
#define AXES_MAX    DBIO_STUDY_AXES
#define RUNS_MAX    DBIO_STUDY_RUNS
#define WIDTH_MIN   10 /* of a column */
#define WIDTH_MAX   18
#define VARIES      1.05 /* commits: where their rate differs so much, it is what the study changed */

const char *const dbio_study_metric_names[] = {"IOPS", "MiB/s", "avg ms"};

static char *keep(sqlite3_stmt *stmt, int column)
{
        return strdup(dbio_db_text(stmt, column));
}

static int load_head(struct dbio_store *store, int64_t id, struct dbio_study_state *study, struct dbio_err *err)
{
        sqlite3_stmt *stmt =
                dbio_db_query(store, err, "SELECT label, workload, answer FROM study WHERE study_id = ?", "i", id);
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

static int load_cells(struct dbio_store *store, int64_t id, struct dbio_study_state *study, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT c.cell, c.name, v.axis, v.value FROM study_cell c JOIN study_value v USING (study_id, cell)"
                " WHERE study_id = ? ORDER BY c.cell, v.axis",
                "i", id);
        int64_t last = -1;
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                int axis = sqlite3_column_int(stmt, 2);
                if (sqlite3_column_int64(stmt, 0) != last) {
                        struct dbio_study_cell *cell = dbio_db_add(&study->cells, &study->ncells, sizeof *cell, stmt, err);
                        if (!cell)
                                return -1;
                        cell->name = keep(stmt, 1);
                        last = sqlite3_column_int64(stmt, 0);
                }
                if (axis < (int)AXES_MAX)
                        study->cells[study->ncells - 1].values[axis] = keep(stmt, 3);
        }
        return more;
}

/* Of the cell's first run: what its targets' layouts did, and the limits of the host's adapter. */
static int load_notes(struct dbio_store *store, struct dbio_study_cell *cell, int64_t run_id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT group_concat(json_extract(t.value, '$.name') || ': ' || json_extract(t.value, '$.note'), '; ')"
                " FROM run, json_each(targets_json) t WHERE run_id = ? AND json_extract(t.value, '$.note') <> ''",
                "i", run_id);
        int more;

        if (!stmt || dbio_db_step(store, stmt, err) < 0)
                return -1;
        if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
                cell->note = keep(stmt, 0);
        sqlite3_reset(stmt);
        stmt = dbio_db_query(
                store, err,
                "SELECT phase, limit_name, cap, peak, hits, wait_ns, at_cap_ns FROM v_limit WHERE run_id = ?", "i",
                run_id);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                struct dbio_study_limit *limit = dbio_db_add(&cell->limits, &cell->nlimits, sizeof *limit, stmt, err);
                if (!limit)
                        return -1;
                *limit = (struct dbio_study_limit){keep(stmt, 0),           keep(stmt, 1),
                                                   dbio_db_double(stmt, 2), dbio_db_double(stmt, 3),
                                                   dbio_db_double(stmt, 4), dbio_db_double(stmt, 5),
                                                   dbio_db_double(stmt, 6)};
        }
        return more;
}

static int load_runs(struct dbio_store *store, int64_t id, struct dbio_study_state *study, struct dbio_err *err)
{
        for (unsigned i = 0; i < study->ncells; i++) {
                struct dbio_study_cell *cell = &study->cells[i];
                int64_t ids[RUNS_MAX];
                sqlite3_stmt *stmt =
                        dbio_db_query(store, err,
                                      "SELECT r.run_id, r.simulated, r.status = 'complete' AND r.valid, r.trust FROM study_cell c"
                                      " JOIN run r USING (set_id) WHERE c.study_id = ? AND c.cell = ? ORDER BY r.run_id",
                                      "ii", id, (int64_t)i);
                int more;
                if (!stmt)
                        return -1;
                while ((more = dbio_db_step(store, stmt, err)) > 0) {
                        cell->ran = true;
                        if (cell->nruns < RUNS_MAX && sqlite3_column_int(stmt, 2)) {
                                ids[cell->nruns++] = sqlite3_column_int64(stmt, 0);
                                cell->simulated = sqlite3_column_int(stmt, 1);
                                if (cell->simulated && !cell->trust)
                                        cell->trust = strdup(dbio_db_text(stmt, 3));
                        }
                }
                for (unsigned r = 0; r < cell->nruns && !more; r++)
                        more = dbio_figures_load(store, ids[r], &cell->runs[r], err);
                if (!more && cell->nruns)
                        more = load_notes(store, cell, ids[0], err);
                if (more)
                        return -1;
        }
        return 0;
}

/* Same values on all axes but the last. */
static bool same_combination(const struct dbio_study_state *study, const struct dbio_study_cell *a,
                             const struct dbio_study_cell *b)
{
        for (unsigned i = 0; i + 1 < study->naxes; i++)
                if (strcmp(a->values[i], b->values[i]))
                        return false;
        return true;
}

static int collect_rows(struct dbio_study_state *study, struct dbio_err *err)
{
        for (unsigned i = 0; i < study->ncells; i++)
                for (unsigned k = 0; study->cells[i].nruns && k < study->cells[i].runs[0].n; k++) {
                        const struct dbio_run_figures *row = &study->cells[i].runs[0].rows[k];
                        const struct dbio_run_figures **added;
                        unsigned r = 0;
                        while (r < study->nrows &&
                               (strcmp(study->rows[r]->phase, row->phase) ||
                                strcmp(study->rows[r]->stream, row->stream) || study->rows[r]->kind != row->kind))
                                r++;
                        if (r < study->nrows || row->kind == DBIO_FSYNC || row->kind == DBIO_TRIM)
                                continue;
                        added = dbio_db_add(&study->rows, &study->nrows, sizeof *added, NULL, err);
                        if (!added)
                                return -1;
                        *added = row;
                }
        return 0;
}

static bool is_scaling(const struct dbio_study_state *study)
{
        double number;

        if (study->naxes != 1 || study->ncells < 4)
                return false;
        for (unsigned i = 0; i < study->ncells; i++)
                if (!dbio_study_number(study->cells[i].values[0], &number) || number <= 0)
                        return false;
        return true;
}

static int place_cells(struct dbio_study_state *study, struct dbio_err *err)
{
        unsigned last = study->naxes ? study->naxes - 1 : 0;

        study->width = WIDTH_MIN;
        for (unsigned i = 0; i < study->ncells && study->answer[0]; i++)
                study->cells[i].column = i;
        if (study->answer[0])
                return 0;
        study->scaling = is_scaling(study);
        for (unsigned i = 0; i < study->ncells && study->scaling; i++)
                study->cells[i].combination = i;
        if (study->scaling)
                return 0;
        for (unsigned i = 0; i < study->ncells; i++) {
                struct dbio_study_cell *cell = &study->cells[i];
                const char *value = study->naxes ? cell->values[last] : cell->name;
                unsigned k = 0, before = 0;
                value += strncmp(value, "sim:", 4) ? 0 : 4; /* the heading says SIMULATED */
                while (k < study->ncolumns && strcmp(study->columns[k], value))
                        k++;
                if (k == COLUMNS_MAX)
                        return dbio_err_set(err, DBIO_USAGE,
                                            "a study of more than %u columns is not drawn; put the longest axis first",
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

/* Whether cells differ in the commits' rate: sessions that wait show in it, an open loop only in the time. */
static bool rate_varies(const struct dbio_study_state *study, const struct dbio_run_figures *row)
{
        double least = INFINITY, most = 0;

        for (unsigned i = 0; i < study->ncells; i++)
                for (unsigned r = 0; r < study->cells[i].nruns; r++) {
                        const struct dbio_run_figures *figures =
                                dbio_figures_get(&study->cells[i].runs[r], row->phase, row->stream, row->kind);
                        if (!figures || !(figures->iops > 0))
                                continue;
                        least = figures->iops < least ? figures->iops : least;
                        most = figures->iops > most ? figures->iops : most;
                }
        return most > VARIES * least;
}

enum dbio_study_metric dbio_study_metric_of(const struct dbio_study_state *study, const struct dbio_run_figures *row)
{
        static const char *const by_bytes[] = {"sequential", "scan", "backup", "restore", "bulk_load", "file_init"};

        if (row->kind == DBIO_COMMIT)
                return !study->answer[0] && rate_varies(study, row) ? DBIO_STUDY_IOPS : DBIO_STUDY_MEAN_MS;
        /* A log's writes are what group commit makes of them: fewer can be better. Its commits count, and their time. */
        if (row->flags & (DBIO_STREAM_TIMED | DBIO_STREAM_COMMITS))
                return DBIO_STUDY_MEAN_MS;
        for (size_t i = 0; i < sizeof by_bytes / sizeof *by_bytes; i++)
                if (strstr(row->pattern, by_bytes[i]))
                        return DBIO_STUDY_MIB_PER_S;
        return DBIO_STUDY_IOPS;
}

static double value_of(const struct dbio_run_figures *figures, enum dbio_study_metric metric)
{
        return metric == DBIO_STUDY_IOPS        ? figures->iops
               : metric == DBIO_STUDY_MIB_PER_S ? figures->mib_per_s
                                                : figures->response.mean / 1e6;
}

struct dbio_study_values dbio_study_values_of(const struct dbio_study_state *study, const struct dbio_run_figures *row,
                                              enum dbio_study_metric metric, unsigned combination, unsigned column)
{
        struct dbio_study_values values = {.mean = NAN};
        double sum = 0;

        for (unsigned i = 0; i < study->ncells; i++) {
                const struct dbio_study_cell *cell = &study->cells[i];
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

bool dbio_study_better(enum dbio_study_metric metric, double a, double b)
{
        return metric == DBIO_STUDY_MEAN_MS ? a < b : a > b;
}

static void print_value(const struct dbio_study_state *study, FILE *out, double value)
{
        char text[32] = "-";

        if (!isnan(value))
                dbio_number_short(text, sizeof text, value);
        fprintf(out, " %*s", study->width, text);
}

/* What is to be said of a against b, more than noise or margin. */
static enum dbio_verdict_word verdict_of(enum dbio_study_metric metric, const struct dbio_study_values *a,
                                         const struct dbio_study_values *b)
{
        const struct dbio_study_values *pair[2] = {b, a};
        struct dbio_verdict_value sides[2][RUNS_MAX];
        struct dbio_verdict verdict;

        for (unsigned s = 0; s < 2; s++)
                for (unsigned r = 0; r < pair[s]->n; r++)
                        sides[s][r] = (struct dbio_verdict_value){pair[s]->value[r], (int64_t)(2 * r + s)};
        dbio_verdict_decide(&(struct dbio_verdict_question){.base = sides[0],
                                                            .new_ = sides[1],
                                                            .nr_base = b->n,
                                                            .nr_new = a->n,
                                                            .higher_is_better = metric != DBIO_STUDY_MEAN_MS,
                                                            .exact = a->exact && b->exact,
                                                            .margin = DBIO_VERDICT_MARGIN,
                                                            .alpha = 0.05},
                            &verdict);
        return verdict.word;
}

static double lead_of(enum dbio_study_metric metric, const struct dbio_study_values *a, const struct dbio_study_values *b)
{
        return metric == DBIO_STUDY_MEAN_MS ? b->mean / a->mean : a->mean / b->mean;
}

/* Who wins among the columns' best, else who falls behind. */
static void print_winner(const struct dbio_study_state *study, FILE *out, enum dbio_study_metric metric,
                         const struct dbio_study_values *best)
{
        unsigned first = COLUMNS_MAX, second = COLUMNS_MAX, last = COLUMNS_MAX;

        for (unsigned k = 0; k < study->ncolumns; k++) {
                if (isnan(best[k].mean))
                        continue;
                if (first == COLUMNS_MAX || dbio_study_better(metric, best[k].mean, best[first].mean)) {
                        second = first;
                        first = k;
                } else if (second == COLUMNS_MAX || dbio_study_better(metric, best[k].mean, best[second].mean)) {
                        second = k;
                }
                if (last == COLUMNS_MAX || dbio_study_better(metric, best[last].mean, best[k].mean))
                        last = k;
        }
        if (second == COLUMNS_MAX) {
                fputc('\n', out);
                return;
        }
        enum dbio_verdict_word word = verdict_of(metric, &best[first], &best[second]);
        double lead = lead_of(metric, &best[first], &best[second]);
        if (word == DBIO_VERDICT_FASTER && lead > 2)
                fprintf(out, "  %s, x %.1f\n", study->columns[first], lead);
        else if (word == DBIO_VERDICT_FASTER)
                fprintf(out, "  %s by %.0f %%\n", study->columns[first], 100 * (lead - 1));
        else if (word != DBIO_VERDICT_SAME)
                fprintf(out, "  cannot tell (%u runs)\n", best[first].n);
        else if (verdict_of(metric, &best[first], &best[last]) == DBIO_VERDICT_FASTER)
                fprintf(out, "  %s behind by %.0f %%\n", study->columns[last],
                        100 * (1 - 1 / lead_of(metric, &best[first], &best[last])));
        else
                fprintf(out, "  no difference\n");
}

static void print_combination(const struct dbio_study_state *study, FILE *out, unsigned combination)
{
        char text[64] = "";

        for (unsigned i = 0; i < study->ncells; i++) {
                const struct dbio_study_cell *cell = &study->cells[i];
                if (cell->combination != combination)
                        continue;
                for (unsigned a = 0; a + 1 < study->naxes; a++) {
                        const char *value = cell->values[a];
                        int size = dbio_study_bare(&value);
                        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", a ? ", " : "", size, value);
                }
                break;
        }
        fprintf(out, "    %-24.24s", text);
}

/* Rows that are devices have no best in common: each says what the columns do to it. */
static bool rows_are_devices(const struct dbio_study_state *study)
{
        for (unsigned a = 0; a + 1 < study->naxes; a++)
                if (!strncmp(study->axes[a], "target.", 7))
                        return true;
        return false;
}

static void print_row(const struct dbio_study_state *study, FILE *out, const struct dbio_run_figures *row)
{
        enum dbio_study_metric metric = dbio_study_metric_of(study, row);
        struct dbio_study_values *best = calloc(COLUMNS_MAX, sizeof *best), *own = calloc(COLUMNS_MAX, sizeof *own);
        bool devices = rows_are_devices(study);

        fprintf(out, "  %s  %s %s  %s\n", row->phase, row->stream, dbio_kind_name((unsigned)row->kind),
                dbio_study_metric_names[metric]);
        for (unsigned k = 0; k < COLUMNS_MAX; k++)
                best[k].mean = NAN;
        for (unsigned c = 0; c < study->ncombinations; c++) {
                bool any = false;
                for (unsigned k = 0; k < study->ncolumns; k++)
                        any |= dbio_study_values_of(study, row, metric, c, k).n > 0;
                if (!any)
                        continue;
                if (study->ncombinations > 1)
                        print_combination(study, out, c);
                for (unsigned k = 0; k < study->ncolumns; k++) {
                        struct dbio_study_values values = dbio_study_values_of(study, row, metric, c, k);
                        own[k] = values;
                        if (study->ncombinations > 1)
                                print_value(study, out, values.mean);
                        if (!isnan(values.mean) &&
                            (isnan(best[k].mean) || dbio_study_better(metric, values.mean, best[k].mean)))
                                best[k] = values;
                }
                if (devices && study->ncombinations > 1)
                        print_winner(study, out, metric, own);
                else if (study->ncombinations > 1)
                        fputc('\n', out);
        }
        if (!devices || study->ncombinations < 2) {
                fprintf(out, "    %-24s", study->ncombinations > 1 ? "best" : "");
                for (unsigned k = 0; k < study->ncolumns; k++)
                        print_value(study, out, best[k].mean);
                print_winner(study, out, metric, best);
        }
        if (!study->naxes)
                dbio_study_print_times(study, out, row);
        dbio_study_print_device_limit(study, out, row);
        free(own);
        free(best);
}

static void print_matrix(const struct dbio_study_state *study, FILE *out)
{
        char axes[800];
        int used = study->naxes ? snprintf(axes, sizeof axes, "  columns: %.160s", study->axes[study->naxes - 1]) : 0;

        for (unsigned a = 0; a + 1 < study->naxes && used < (int)sizeof axes - 165; a++)
                used += snprintf(axes + used, sizeof axes - (size_t)used, "%s%.160s", a ? ", " : "; rows: ", study->axes[a]);
        if (study->naxes)
                dbio_text_line(out, "%s", axes);
        fprintf(out, "    %-24s", "");
        for (unsigned k = 0; k < study->ncolumns; k++)
                fprintf(out, " %*.*s", study->width, study->width, study->columns[k]);
        fputc('\n', out);
        for (unsigned r = 0; r < study->nrows; r++)
                print_row(study, out, study->rows[r]);
}

/* How one of its cells is looked at, and two that stand side by side are compared. */
static void print_next(const struct dbio_study_state *study, FILE *out)
{
        const struct dbio_study_cell *first = NULL, *second = NULL;
        char label[400], word[400];

        for (unsigned i = 0; i < study->ncells && !second; i++) {
                const struct dbio_study_cell *cell = &study->cells[i];

                if (!first && cell->nruns)
                        first = cell;
                else if (cell->nruns && !study->scaling && !study->answer[0] && cell->combination == first->combination)
                        second = cell;
        }
        snprintf(label, sizeof label, "%s/%s", study->label, first->name);
        dbio_text_shell_word(word, sizeof word, label);
        fprintf(out, "\nNEXT     dbio show %s\n", word);
        if (!second)
                return;
        fprintf(out, "         dbio compare %s", word);
        snprintf(label, sizeof label, "%s/%s", study->label, second->name);
        fprintf(out, " %s\n", dbio_text_shell_word(word, sizeof word, label));
}

/* How far the devices' models can be trusted, each said once. */
static void print_trust(const struct dbio_study_state *study, FILE *out)
{
        for (unsigned i = 0, k; i < study->ncells; i++) {
                const char *trust = study->cells[i].trust;

                for (k = 0; trust && k < i; k++)
                        if (study->cells[k].trust && !strcmp(study->cells[k].trust, trust))
                                break;
                if (trust && k == i)
                        dbio_text_hang(out, "SIMULATED  ", 0, trust);
        }
}

static void print_study(const struct dbio_study_state *study, FILE *out)
{
        const struct dbio_figure_rows *rows = NULL;
        unsigned done = 0;

        for (unsigned i = 0; i < study->ncells; i++) {
                done += study->cells[i].nruns > 0;
                if (!rows && study->cells[i].nruns)
                        rows = &study->cells[i].runs[0];
        }
        dbio_text_line(out, "STUDY  %s   %s   %u of %u cells with valid runs", study->label, study->workload, done,
                       study->ncells);
        print_trust(study, out);
        if (study->answer[0]) {
                fputs("\nANSWER\n", out);
                dbio_text_wrap(out, 2, study->answer);
        }
        if (!rows) {
                for (unsigned i = 0; i < study->ncells; i++)
                        if (study->cells[i].ran) {
                                fprintf(out, "  `dbio show '%s/%s'` says why not\n", study->label, study->cells[i].name);
                                break;
                        }
                return;
        }
        if (study->answer[0]) {
                dbio_study_print_trials(study, out, rows);
                print_next(study, out);
                return;
        }
        fputc('\n', out);
        if (study->scaling) {
                fprintf(out, "  n: %s\n", study->axes[0]);
                dbio_study_print_scaling(study, out);
        } else {
                print_matrix(study, out);
        }
        dbio_study_print_bars(study, out);
        dbio_study_print_limits(study, out);
        dbio_study_print_layouts(study, out);
        print_next(study, out);
}

static void release(struct dbio_study_state *study)
{
        for (unsigned i = 0; i < study->ncells; i++) {
                free(study->cells[i].name);
                free(study->cells[i].trust);
                free(study->cells[i].note);
                for (unsigned k = 0; k < study->cells[i].nlimits; k++) {
                        free(study->cells[i].limits[k].phase);
                        free(study->cells[i].limits[k].name);
                }
                free(study->cells[i].limits);
                for (unsigned a = 0; a < AXES_MAX; a++)
                        free(study->cells[i].values[a]);
                for (unsigned r = 0; r < study->cells[i].nruns; r++)
                        dbio_figures_release(&study->cells[i].runs[r]);
        }
        free(study->cells);
        free(study->rows);
        for (unsigned a = 0; a < study->naxes; a++)
                free(study->axes[a]);
        free(study->label);
        free(study->workload);
        free(study->answer);
}

int dbio_study_show(struct dbio_store *store, int64_t study_id, FILE *out, struct dbio_err *err)
{
        struct dbio_study_state study = {0};
        int code = -1;

        if (load_head(store, study_id, &study, err) || load_cells(store, study_id, &study, err) ||
            load_runs(store, study_id, &study, err) || collect_rows(&study, err) || place_cells(&study, err))
                goto out;
        print_study(&study, out);
        code = 0;
out:
        release(&study);
        return code;
}
