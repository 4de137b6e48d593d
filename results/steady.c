#include "results/steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/stream.h"
#include "results/db.h"
#include "results/json.h"
#include "results/number.h"
#include "results/query.h"

enum { INTERVALS_LEAST = 10 };

struct main_stream {
        int64_t phase_id, stream_no;
        double interval_ns, duration_ns;
};

static int find_main(struct dbio_store *store, int64_t run_id, const char *phase, struct main_stream *main_stream,
                     struct dbio_steady *steady, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT p.phase_id, s.stream_no, s.name, s.flags, p.interval_ns, p.duration_ns FROM phase p "
                "JOIN stream s USING (phase_id) JOIN total t USING (phase_id, stream_no) "
                "WHERE p.run_id = ? AND p.name = ? AND s.flags & ? = 0 AND t.kind < 2 "
                "GROUP BY p.phase_id, s.stream_no ORDER BY sum(t.ios) DESC LIMIT 1",
                "isi", run_id, phase, (int64_t)DBIO_STREAM_EPISODES);
        int more = stmt ? dbio_db_step(store, stmt, err) : -1;

        if (more <= 0)
                return more;
        main_stream->phase_id = sqlite3_column_int64(stmt, 0);
        main_stream->stream_no = sqlite3_column_int64(stmt, 1);
        snprintf(steady->stream, sizeof steady->stream, "%s", dbio_db_text(stmt, 2));
        steady->by_time = sqlite3_column_int64(stmt, 3) & DBIO_STREAM_TIMED;
        main_stream->interval_ns = sqlite3_column_double(stmt, 4);
        main_stream->duration_ns = sqlite3_column_double(stmt, 5);
        sqlite3_reset(stmt);
        if (main_stream->interval_ns > 0 && main_stream->duration_ns > 0) {
                steady->interval_s = main_stream->interval_ns / 1e9;
                steady->nintervals = (unsigned)fmin(1e7, main_stream->duration_ns / main_stream->interval_ns);
        }
        return 1;
}

/* The longest period of the phase's episodic streams, in intervals; one of a single episode has none: UINT32_MAX. */
static int find_period(struct dbio_store *store, const struct main_stream *main_stream, unsigned *period,
                       struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err,
                                           "SELECT count(*), max(begin_ns) - min(begin_ns) FROM episode "
                                           "WHERE phase_id = ? GROUP BY stream_no",
                                           "i", main_stream->phase_id);
        int more;

        *period = 0;
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                double count = sqlite3_column_double(stmt, 0), span = sqlite3_column_double(stmt, 1);
                double own = count < 2 ? UINT32_MAX : fmax(1, nearbyint(span / (count - 1) / main_stream->interval_ns));

                if (own > *period)
                        *period = (unsigned)fmin(own, UINT32_MAX);
        }
        return more;
}

/* Intervals that have no row stay at 0 (rate), or take the value before (time). */
static int fill_series(struct dbio_store *store, const struct main_stream *main_stream, bool by_time, double *values,
                       unsigned nr, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT i.number, sum(i.ios), sum(i.ios * i.response_mean_ns) FROM interval i "
                "JOIN total t USING (phase_id, key_no) WHERE i.phase_id = ? AND t.stream_no = ? AND t.kind < 2 "
                "GROUP BY i.number",
                "ii", main_stream->phase_id, main_stream->stream_no);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                int64_t number = sqlite3_column_int64(stmt, 0);
                double ios = sqlite3_column_double(stmt, 1);

                if (number >= 0 && number < nr)
                        values[number] = by_time ? ios > 0 ? sqlite3_column_double(stmt, 2) / ios : 0 : ios;
        }
        for (unsigned i = 1; by_time && i < nr; i++)
                if (values[i] == 0)
                        values[i] = values[i - 1];
        return more;
}

static void check_rounds(struct dbio_steady *steady, const double *values)
{
        unsigned length = steady->nintervals / 5;
        double rounds[5] = {0};

        if (steady->period > 1)
                length -= length % steady->period;
        if (!length)
                return;
        for (unsigned r = 0; r < 5; r++)
                for (unsigned i = 0; i < length; i++)
                        rounds[r] += values[steady->nintervals - 5 * length + r * length + i] / length;
        steady->snia = dbio_stat_snia(rounds);
        steady->snia_checked = steady->snia.average > 0;
}

int dbio_steady_load(struct dbio_store *store, int64_t run_id, const char *phase, struct dbio_steady *steady,
                     struct dbio_err *err)
{
        struct main_stream main_stream;
        double *values;
        int rc = -1, found;

        *steady = (struct dbio_steady){0};
        found = find_main(store, run_id, phase, &main_stream, steady, err);
        if (found <= 0 || steady->nintervals < INTERVALS_LEAST)
                return found < 0 ? -1 : 0;
        values = calloc(steady->nintervals, sizeof *values);
        if (!values)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (find_period(store, &main_stream, &steady->period, err) ||
            fill_series(store, &main_stream, steady->by_time, values, steady->nintervals, err))
                goto out;
        steady->trend_checked = !dbio_stat_thirds(values, steady->nintervals, steady->period, &steady->trend);
        check_rounds(steady, values);
        steady->mser = dbio_stat_mser(values, steady->nintervals);
        rc = 0;
out:
        free(values);
        return rc;
}

/* What MSER-5 proposes; nothing where it would cut nothing. */
static const char *warm_up_text(char *text, size_t size, const struct dbio_steady *steady)
{
        char number[DBIO_NUMBER_SIZE];
        double seconds = steady->mser.cut * steady->interval_s;

        if (!steady->mser.converged)
                return "; not settled by half of the phase";
        if (!steady->mser.cut)
                return "";
        snprintf(text, size, "; a warm-up of %s s more would take it out",
                 dbio_number_group(number, sizeof number, seconds, seconds < 10));
        return text;
}

char *dbio_steady_line(char *text, size_t size, const struct dbio_steady *steady)
{
        char range[DBIO_NUMBER_SIZE], slope[DBIO_NUMBER_SIZE], advice[96];

        if (!steady->snia_checked) {
                snprintf(text, size, "not checked: %s",
                         steady->period ? "a fifth of the phase holds no whole period of its episodes" : "too short");
                return text;
        }
        dbio_number_percent(range, sizeof range, steady->snia.range);
        dbio_number_percent(slope, sizeof slope, steady->snia.slope);
        if (steady->snia.steady)
                snprintf(text, size, "steady by SNIA's rule (range %s, slope %s of mean over 5 rounds)", range, slope);
        else
                snprintf(text, size, "%s %s of mean over 5 rounds: not steady by SNIA's rule%s",
                         steady->snia.range > 0.20 ? "range" : "slope", steady->snia.range > 0.20 ? range : slope,
                         warm_up_text(advice, sizeof advice, steady));
        return text;
}

static int phase_json(struct dbio_store *store, int64_t run_id, const char *phase, bool first, FILE *out,
                      struct dbio_err *err)
{
        struct dbio_steady steady;

        if (dbio_steady_load(store, run_id, phase, &steady, err))
                return -1;
        fprintf(out, "%s{\"run_id\": %lld, \"phase\": ", first ? "" : ", ", (long long)run_id);
        dbio_json_string(out, phase);
        fputs(", \"stream\": ", out);
        dbio_json_string(out, steady.stream);
        fprintf(out, ", \"by\": \"%s\", \"trend\": ", steady.by_time ? "mean response" : "rate");
        if (steady.trend_checked)
                fprintf(out, "%.9g", steady.trend);
        else
                fputs("null", out);
        fputs(", \"snia\": ", out);
        if (steady.snia_checked)
                fprintf(out, "{\"range\": %.9g, \"slope\": %.9g, \"steady\": %s}", steady.snia.range, steady.snia.slope,
                        steady.snia.steady ? "true" : "false");
        else
                fputs("null", out);
        fprintf(out, ", \"mser5\": {\"warm_up_s\": %.9g, \"converged\": %s}}", steady.mser.cut * steady.interval_s,
                steady.mser.converged ? "true" : "false");
        return 0;
}

int dbio_steady_json(struct dbio_store *store, const int64_t *ids, unsigned nr, FILE *out, struct dbio_err *err)
{
        bool first = true;

        fputc('[', out);
        for (unsigned i = 0; i < nr; i++) {
                struct dbio_figure_rows figures;
                int code = dbio_figures_load(store, ids[i], &figures, err);

                for (unsigned k = 0; !code && k < figures.n; k++)
                        if (k == 0 || figures.rows[k].position != figures.rows[k - 1].position) {
                                code = phase_json(store, ids[i], figures.rows[k].phase, first, out, err);
                                first = false;
                        }
                dbio_figures_release(&figures);
                if (code)
                        return -1;
        }
        fputc(']', out);
        return 0;
}
