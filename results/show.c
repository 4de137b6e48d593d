#include "results/show.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/show_state.h"
#include "results/text.h"

static int load_phases(struct dbio_show *show, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err,
                                           "SELECT name, phase_id, duration_ns, lag_p99_ns, foreign_share, ended, "
                                           "stopped, timed_out, error_stop FROM phase WHERE run_id = ? "
                                           "ORDER BY position", "i", show->run_id);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0) {
                struct dbio_show_phase *p = dbio_db_add(&show->phases, &show->nphases, sizeof *p, stmt, err);

                if (!p)
                        return -1;
                snprintf(p->name, sizeof p->name, "%s", dbio_db_text(stmt, 0));
                p->phase_id = sqlite3_column_int64(stmt, 1);
                p->duration_ns = dbio_db_double(stmt, 2);
                p->lag_p99_ns = dbio_db_double(stmt, 3);
                p->foreign_share = dbio_db_double(stmt, 4);
                p->ended = sqlite3_column_int(stmt, 5);
                p->stopped = sqlite3_column_int(stmt, 6);
                p->timed_out = sqlite3_column_int(stmt, 7);
                p->error_stop = sqlite3_column_int(stmt, 8);
        }
        return more;
}

/* The tables are of the last run that is complete and valid, else of the last. */
static int choose_run(struct dbio_show *show, struct dbio_err *err)
{
        const struct dbio_runs *runs = show->runs;

        show->single = runs->n == 1;
        show->good.ids = calloc(runs->n, sizeof *show->good.ids);
        if (!show->good.ids)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        for (unsigned i = 0; i < runs->n; i++) {
                sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT status = 'complete' AND valid, simulated, "
                                                   "coalesce(valid, 1), status = 'running' FROM run WHERE run_id = ?", "i",
                                                   runs->ids[i]);
                int found = stmt ? dbio_db_step(show->store, stmt, err) : -1;

                if (found < 0)
                        return -1;
                bool good = found && sqlite3_column_int(stmt, 0);
                if (good || !show->good.n) {
                        show->run_id = runs->ids[i];
                        show->simulated = found && sqlite3_column_int(stmt, 1);
                        show->valid = found && sqlite3_column_int(stmt, 2);
                        show->running = found && sqlite3_column_int(stmt, 3);
                }
                if (good)
                        show->good.ids[show->good.n++] = runs->ids[i];
                sqlite3_reset(stmt);
        }
        if (!show->good.n) {
                memcpy(show->good.ids, runs->ids, runs->n * sizeof *runs->ids);
                show->good.n = runs->n;
        }
        return 0;
}

/* The label where it names just these runs, else the id of the one that is shown. The caller frees. */
static char *name_of(struct dbio_show *show)
{
        struct dbio_err unknown = {0};
        struct dbio_runs named = {0};
        char *label = dbio_run_text(show->store, show->run_id, "label", &unknown), id[24];
        bool same = label && *label && *label != '-' && !strchr(label, '\'') &&
                    !dbio_runs_find(show->store, label, &named, &unknown) && named.n == show->runs->n &&
                    !memcmp(named.ids, show->runs->ids, named.n * sizeof *named.ids);

        dbio_runs_release(&named);
        if (same)
                return label;
        free(label);
        snprintf(id, sizeof id, "%lld", (long long)show->run_id);
        return strdup(id);
}

/* What to type next, on one line where it fits. */
static void show_next(struct dbio_show *show, const char *db)
{
        char *name = name_of(show), word[160], commands[3][400], path[PATH_MAX + 8] = "";

        if (!name)
                return;
        dbio_text_shell_word(word, sizeof word, name);
        snprintf(commands[0], sizeof commands[0], "dbio compare %s OTHER", word);
        snprintf(commands[1], sizeof commands[1], "dbio report %s -o %s.html", word,
                 strpbrk(name, "/ ") || strlen(name) > 35 ? "report" : name);
        snprintf(commands[2], sizeof commands[2], "dbio show %s --plot", word);
        free(name);
        if (!db && 15 + strlen(commands[0]) + strlen(commands[1]) + strlen(commands[2]) <= DBIO_COLUMNS) {
                dbio_text_line(show->out, "NEXT     %s | %s | %s", commands[0], commands[1], commands[2]);
                return;
        }
        for (unsigned i = 0; i < 3; i++)
                fprintf(show->out, "%-9s%s%s%s\n", i ? "" : "NEXT", commands[i], db ? " --db " : "",
                        db ? dbio_text_shell_word(path, sizeof path, db) : "");
}

static int show_parts(struct dbio_show *show, const struct dbio_show_options *options, struct dbio_show_pairs *pairs,
                      struct dbio_err *err)
{
        if (dbio_show_header(show, err) || load_phases(show, err) ||
            dbio_figures_load(show->store, show->run_id, &show->rows, err) || dbio_show_pairs_load(show, pairs, err))
                return -1;
        fputc('\n', show->out);
        dbio_show_answer(show);
        for (unsigned p = 0; p < show->nphases; p++) {
                fputc('\n', show->out);
                if (dbio_show_phase(show, &show->phases[p], pairs, err))
                        return -1;
        }
        fputc('\n', show->out);
        if (dbio_show_limits(show, err))
                return -1;
        if (options->counters) {
                fputc('\n', show->out);
                if (dbio_show_counters(show, err))
                        return -1;
        }
        if (options->plot) {
                fputc('\n', show->out);
                if (dbio_show_plot(show->store, show->run_id, options->utf8, show->out, err))
                        return -1;
        }
        if (options->counters || options->plot)
                fputc('\n', show->out);
        show_next(show, options->db);
        return 0;
}

int dbio_show_text(struct dbio_store *store, const struct dbio_runs *runs, const struct dbio_show_options *options,
                   FILE *out, struct dbio_err *err)
{
        struct dbio_show show = {.store = store, .runs = runs, .out = out};
        struct dbio_show_pairs pairs = {0};
        int code = choose_run(&show, err);

        if (!code)
                code = show_parts(&show, options, &pairs, err);
        dbio_show_pairs_release(&pairs);
        dbio_runs_release(&show.good);
        dbio_interference_release(&show.effects);
        dbio_figures_release(&show.rows);
        free(show.phases);
        if (!code && ferror(out))
                code = dbio_err_set(err, DBIO_IO, "cannot write the result");
        return code;
}
