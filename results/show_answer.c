/* What a run says in sentences: what episodes do to the others, else how each stream fared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/text.h"
#include "results/windows.h"

static const char windows_sql[] =
        "SELECT p.name, o.name, s.name, t.kind, i.window, i.ios, i.duration_ns, i.response_mean_ns, i.response_p99_ns,"
        " o.pattern, (SELECT count(*) FROM episode e WHERE e.phase_id = p.phase_id AND e.stream_no = i.other_no),"
        " (SELECT avg(end_ns - begin_ns) FROM episode e WHERE e.phase_id = p.phase_id AND e.stream_no = i.other_no)"
        " FROM phase p JOIN interference i USING (phase_id) JOIN total t USING (phase_id, key_no)"
        " JOIN stream s ON s.phase_id = p.phase_id AND s.stream_no = t.stream_no"
        " JOIN stream o ON o.phase_id = p.phase_id AND o.stream_no = i.other_no WHERE p.run_id = ?"
        " ORDER BY p.position, i.other_no, t.stream_no, t.kind, i.window";

static bool same_pair(const struct dbio_show_pair *pair, sqlite3_stmt *stmt)
{
        return pair->kind == sqlite3_column_int(stmt, 3) && !strcmp(pair->phase, dbio_db_text(stmt, 0)) &&
               !strcmp(pair->other, dbio_db_text(stmt, 1)) && !strcmp(pair->stream, dbio_db_text(stmt, 2));
}

static void start_pair(struct dbio_show_pair *pair, sqlite3_stmt *stmt)
{
        snprintf(pair->phase, sizeof pair->phase, "%s", dbio_db_text(stmt, 0));
        snprintf(pair->other, sizeof pair->other, "%s", dbio_db_text(stmt, 1));
        snprintf(pair->stream, sizeof pair->stream, "%s", dbio_db_text(stmt, 2));
        snprintf(pair->other_pattern, sizeof pair->other_pattern, "%s", dbio_db_text(stmt, 9));
        pair->kind = sqlite3_column_int(stmt, 3);
        pair->episodes = (unsigned)sqlite3_column_int(stmt, 10);
        pair->during_ns = dbio_db_double(stmt, 11);
        for (unsigned w = 0; w < DBIO_WINDOWS; w++)
                pair->windows[w] = (struct dbio_show_window){0, 0, NAN, NAN, NAN};
}

static void add_window(struct dbio_show_window *window, sqlite3_stmt *stmt)
{
        double ios = sqlite3_column_double(stmt, 5), mean = dbio_db_double(stmt, 7);
        bool first = window->ios == 0;

        window->ns = sqlite3_column_double(stmt, 6);
        if (ios > 0) {
                window->mean_ns = first ? mean : (window->mean_ns * window->ios + mean * ios) / (window->ios + ios);
                window->p99_ns = first ? dbio_db_double(stmt, 8) : NAN;
        }
        window->ios += ios;
        window->iops = window->ns > 0 ? window->ios * 1e9 / window->ns : NAN;
}

int dbio_show_pairs_load(struct dbio_show *show, struct dbio_show_pairs *pairs, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err, windows_sql, "i", show->run_id);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0) {
                if (!pairs->n || !same_pair(&pairs->pairs[pairs->n - 1], stmt)) {
                        struct dbio_show_pair *pair = dbio_db_add(&pairs->pairs, &pairs->n, sizeof *pair, stmt, err);

                        if (!pair)
                                return -1;
                        start_pair(pair, stmt);
                }
                add_window(&pairs->pairs[pairs->n - 1].windows[sqlite3_column_int(stmt, 4)], stmt);
        }
        if (more == 0)
                more = dbio_interference_load(show->store, show->good.ids, show->good.n, &show->effects, err);
        return more;
}

void dbio_show_pairs_release(struct dbio_show_pairs *pairs)
{
        free(pairs->pairs);
        *pairs = (struct dbio_show_pairs){0};
}

const struct dbio_interference_entry *dbio_show_effect(const struct dbio_show *show, const struct dbio_show_pair *pair)
{
        for (unsigned i = 0; i < show->effects.nr; i++) {
                const struct dbio_interference_entry *e = &show->effects.entries[i];

                if (!strcmp(e->phase, pair->phase) && !strcmp(e->other, pair->other) &&
                    !strcmp(e->stream, pair->stream) && !strcmp(e->op, dbio_kind_name((unsigned)pair->kind)))
                        return e;
        }
        return NULL;
}

static bool answer_effects(struct dbio_show *show)
{
        char text[640], rest[640] = "";
        bool any = false;

        for (unsigned i = 0; i < show->effects.nr; i++) {
                const struct dbio_interference_figures *figures = &show->effects.entries[i].figures;
                size_t used = strlen(rest);

                /* Without quiet time, or a whole episode, there is nothing to compare. */
                if (isnan(figures->quiet_mean_ns) || isnan(figures->affected_mean_ns) || isnan(figures->affected_ns))
                        continue;
                any = true;
                dbio_interference_sentence(text, sizeof text, figures);
                if (dbio_interference_seen(figures))
                        dbio_text_wrap(show->out, 2, text);
                else if (used + strlen(text) + 2 < sizeof rest)
                        strcat(strcat(rest, used ? "  " : ""), text);
        }
        if (rest[0])
                dbio_text_wrap(show->out, 2, rest);
        return any;
}

static const char *plural_of(int kind)
{
        static const char *const words[DBIO_KINDS] = {"reads", "writes", "fsyncs", "trims", "commits"};

        return words[kind];
}

static void answer_figures(struct dbio_show *show)
{
        char rate[DBIO_NUMBER_SIZE], mean[DBIO_NUMBER_SIZE], p99[DBIO_NUMBER_SIZE], text[256];
        unsigned said = 0;

        for (unsigned i = 0; i < show->rows.n && said < 4; i++) {
                const struct dbio_run_figures *row = &show->rows.rows[i];

                if (!row->ios || row->kind == DBIO_FSYNC || row->kind == DBIO_TRIM)
                        continue;
                snprintf(text, sizeof text, "%s: %s %s/s, %s ms on average, p99 %s ms%s%s%s.", row->stream,
                         dbio_number_short(rate, sizeof rate, row->iops), plural_of(row->kind),
                         dbio_number_short(mean, sizeof mean, row->response.mean / 1e6),
                         dbio_number_short(p99, sizeof p99, row->response.p99 / 1e6), show->nphases > 1 ? " (" : "",
                         show->nphases > 1 ? row->phase : "", show->nphases > 1 ? ")" : "");
                dbio_text_wrap(show->out, 2, text);
                said++;
        }
        if (!said)
                dbio_text_line(show->out, "  No I/O was recorded.");
}

void dbio_show_answer(struct dbio_show *show)
{
        dbio_text_line(show->out, "ANSWER");
        if (!show->valid)
                dbio_text_line(show->out, "  None: the run is INVALID, so it says nothing about the storage.");
        else if (!answer_effects(show))
                answer_figures(show);
}
