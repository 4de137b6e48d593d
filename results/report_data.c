#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "engine/stream.h"
#include "results/db.h"
#include "results/histcode.h"
#include "results/number.h"
#include "results/report_state.h"
#include "results/text.h"

static int no_memory(struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_IO, "out of memory");
}

/* To four digits that count: a page is no database. */
static json_t *rounded(double value)
{
        double unit;

        if (!isfinite(value))
                return json_null();
        if (value == 0)
                return json_integer(0);
        unit = pow(10, floor(log10(fabs(value))) - 4);
        value = nearbyint(value / unit) * unit;
        return fabs(value) >= 1e4 || value == nearbyint(value) ? json_integer((json_int_t)llround(value))
                                                               : json_real(value);
}

/* Phases and their streams as the first set has them. */
static int list_streams(struct dbio_page *page, struct dbio_err *err)
{
        const struct dbio_figure_rows *figures = &page->sets[0].figures;

        for (unsigned i = 0; i < figures->n; i++) {
                const struct dbio_run_figures *row = &figures->rows[i];
                struct dbio_report_stream *stream;

                if (!i || row->position != figures->rows[i - 1].position) {
                        struct dbio_report_phase *phase =
                                dbio_db_add(&page->phases, &page->nphases, sizeof *phase, NULL, err);

                        if (!phase)
                                return -1;
                        snprintf(phase->name, sizeof phase->name, "%s", row->phase);
                        phase->seconds = (double)row->duration_ns / 1e9;
                }
                if (row->kind == DBIO_FSYNC || row->kind == DBIO_TRIM || !row->ios)
                        continue;
                stream = dbio_db_add(&page->streams, &page->nstreams, sizeof *stream, NULL, err);
                if (!stream)
                        return -1;
                stream->phase = page->nphases - 1;
                snprintf(stream->name, sizeof stream->name, "%s", row->stream);
                stream->kind = row->kind;
                stream->ios = (double)row->ios;
        }
        return 0;
}

static int has_episodes(struct dbio_page *page, const struct dbio_report_stream *stream, bool *has,
                        struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(page->store, err,
                                           "SELECT count(*) FROM v_episode WHERE run_id = ? AND phase = ? "
                                           "AND stream = ?",
                                           "iss", page->sets[0].run_id, page->phases[stream->phase].name, stream->name);
        int more = stmt ? dbio_db_step(page->store, stmt, err) : -1;

        if (more < 0)
                return -1;
        *has = sqlite3_column_int64(stmt, 0) > 0;
        sqlite3_reset(stmt);
        return 0;
}

/* The stream with the most ops of those without episodes; reads before writes where there are any. */
static int choose_main(struct dbio_page *page, struct dbio_err *err)
{
        for (unsigned p = 0; p < page->nphases; p++) {
                struct dbio_report_stream *best = NULL;
                double rank = -1;

                for (unsigned i = 0; i < page->nstreams; i++) {
                        struct dbio_report_stream *stream = &page->streams[i];
                        bool episodes;

                        if (stream->phase != p)
                                continue;
                        if (has_episodes(page, stream, &episodes, err))
                                return -1;
                        double own = (episodes ? 0 : 1e18) + (stream->kind == DBIO_READ ? 1e18 : 0) + stream->ios;
                        if (own > rank) {
                                rank = own;
                                best = stream;
                        }
                }
                if (best)
                        best->main = true;
        }
        return 0;
}

/* Sums over a run's intervals, merged to at most REPORT_POINTS. */
struct series {
        unsigned nr, merge;
        double step_s;
        double *ios, *time, *p99;
};

static int series_init(struct series *series, double interval_ns, double duration_ns)
{
        double all = ceil(duration_ns / interval_ns);

        series->merge = (unsigned)fmax(1, ceil(all / REPORT_POINTS));
        series->nr = (unsigned)fmax(1, ceil(all / series->merge));
        series->step_s = interval_ns / 1e9 * series->merge;
        series->ios = calloc((size_t)series->nr * 3, sizeof *series->ios);
        if (!series->ios)
                return -1;
        series->time = series->ios + series->nr;
        series->p99 = series->time + series->nr;
        return 0;
}

static json_t *series_json(const struct series *series, unsigned set, double duration_ns)
{
        json_t *iops = json_array(), *mean = json_array(), *p99 = json_array();

        for (unsigned i = 0; i < series->nr; i++) {
                /* What completes after the end belongs to no whole interval. */
                double length = fmin(series->step_s, duration_ns / 1e9 - i * series->step_s);
                double ios = series->ios[i];

                if (length < 0.5 * series->step_s)
                        break;
                json_array_append_new(iops, rounded(ios / length));
                json_array_append_new(mean, ios > 0 ? rounded(series->time[i] / ios / 1e6) : json_null());
                json_array_append_new(p99, ios > 0 ? rounded(series->p99[i] / 1e6) : json_null());
        }
        return json_pack("{s:i, s:f, s:o, s:o, s:o}", "set", (int)set, "step", series->step_s, "iops", iops, "mean",
                         mean, "p99", p99);
}

/* Figures of the series of one set, or NULL where it has none. */
static int load_series(struct dbio_page *page, unsigned set, const struct dbio_report_stream *stream, json_t **json,
                       struct dbio_err *err)
{
        const char *phase = page->phases[stream->phase].name;
        struct series series = {0};
        double interval_ns, duration_ns;
        sqlite3_stmt *stmt;
        int more, rc = -1;

        *json = NULL;
        stmt = dbio_db_query(page->store, err,
                             "SELECT interval_ns, duration_ns FROM phase WHERE run_id = ? AND name = ?", "is",
                             page->sets[set].run_id, phase);
        more = stmt ? dbio_db_step(page->store, stmt, err) : -1;
        if (more <= 0)
                return more;
        interval_ns = sqlite3_column_double(stmt, 0);
        duration_ns = sqlite3_column_double(stmt, 1);
        sqlite3_reset(stmt);
        if (!(interval_ns > 0 && duration_ns > 0))
                return 0;
        if (series_init(&series, interval_ns, duration_ns))
                return no_memory(err);
        stmt = dbio_db_query(page->store, err,
                             "SELECT i.number, i.ios, i.response_mean_ns, i.response_p99_ns FROM phase p "
                             "JOIN interval i USING (phase_id) JOIN total t USING (phase_id, key_no) "
                             "JOIN stream s USING (phase_id, stream_no) "
                             "WHERE p.run_id = ? AND p.name = ? AND s.name = ? AND t.kind = ?",
                             "issi", page->sets[set].run_id, phase, stream->name, (int64_t)stream->kind);
        if (!stmt)
                goto out;
        while ((more = dbio_db_step(page->store, stmt, err)) > 0) {
                int64_t at = sqlite3_column_int64(stmt, 0) / series.merge;
                double ios = sqlite3_column_double(stmt, 1);

                if (at < 0 || at >= series.nr || ios <= 0)
                        continue;
                series.ios[at] += ios;
                series.time[at] += ios * sqlite3_column_double(stmt, 2);
                series.p99[at] = fmax(series.p99[at], sqlite3_column_double(stmt, 3));
        }
        if (more == 0) {
                *json = series_json(&series, set, duration_ns);
                rc = 0;
        }
out:
        free(series.ios);
        return rc;
}

/* Response times of the whole phase, over all roles. */
static int load_histogram(struct dbio_page *page, unsigned set, const struct dbio_report_stream *stream,
                          struct dbio_hist *hist, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(page->store, err,
                                           "SELECT t.response_hist FROM phase p JOIN total t USING (phase_id) "
                                           "JOIN stream s USING (phase_id, stream_no) "
                                           "WHERE p.run_id = ? AND p.name = ? AND s.name = ? AND t.kind = ?",
                                           "issi", page->sets[set].run_id, page->phases[stream->phase].name,
                                           stream->name, (int64_t)stream->kind);
        int more;

        dbio_hist_reset(hist);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(page->store, stmt, err)) > 0)
                if (dbio_hist_decode(hist, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0))) {
                        sqlite3_reset(stmt);
                        return dbio_err_set(err, DBIO_IO, "a histogram in the results database is damaged");
                }
        return more;
}

/* Percentiles from 0 up to the last that has 10 ops above it, sixteen a nine. */
static json_t *curve_json(const struct dbio_hist *hist, unsigned set, double *most)
{
        json_t *points = json_array();

        for (unsigned i = 0; i <= 16 * 6; i++) {
                double nines = pow(10, i / 16.0);

                if (i && nines > (double)hist->count / 10)
                        break;
                json_array_append_new(
                        points,
                        json_pack("[o, o]", rounded(nines),
                                  rounded((double)dbio_hist_percentile(hist, fmax(1e-9, 1 - 1 / nines)) / 1e6)));
                *most = fmax(*most, nines);
        }
        return json_pack("{s:i, s:o}", "set", (int)set, "points", points);
}

enum { BINS_PER_TEN = 8 };

static int bin_of(double ns)
{
        return (int)floor(log10(fmax(ns, 1)) * BINS_PER_TEN + 1e-9);
}

/* Shares of ops in bins of an eighth of a decade, on one axis for all sets. */
static void add_shares(struct dbio_report_stream *stream, const struct dbio_hist *hists, unsigned nr)
{
        json_t *bins = json_array(), *shares = json_array();
        int low = INT32_MAX, high = -1;

        for (unsigned s = 0; s < nr; s++)
                if (hists[s].count > hists[s].overflow) {
                        int from = bin_of((double)dbio_hist_highest(hists[s].low));
                        int to = bin_of((double)dbio_hist_highest(hists[s].high));

                        low = from < low ? from : low;
                        high = to > high ? to : high;
                }
        for (int b = low; b <= high; b++)
                json_array_append_new(bins, rounded(pow(10, (b + 1.0) / BINS_PER_TEN) / 1e6));
        for (unsigned s = 0; s < nr; s++) {
                json_t *values = json_array();
                uint32_t index = hists[s].low;

                if (hists[s].count <= hists[s].overflow) {
                        json_decref(values);
                        continue;
                }
                for (int b = low; b <= high; b++) {
                        double count = 0;

                        for (; index <= hists[s].high && bin_of((double)dbio_hist_highest(index)) <= b; index++)
                                count += hists[s].counts[index];
                        json_array_append_new(values, rounded(100 * count / (double)hists[s].count));
                }
                json_array_append_new(shares, json_pack("{s:i, s:o}", "set", (int)s, "values", values));
        }
        json_object_set_new(stream->json, "bins", bins);
        json_object_set_new(stream->json, "shares", shares);
}

/* Episodes of all episodic streams of the phase in the first set, with this stream's recovery. */
static int load_episodes(struct dbio_page *page, struct dbio_report_stream *stream, struct dbio_err *err)
{
        json_t *list = json_array();
        sqlite3_stmt *stmt = dbio_db_query(
                page->store, err,
                "SELECT e.begin_ns / 1e9, e.end_ns / 1e9, r.recovered_ns / 1e9, e.stream FROM v_episode e "
                "LEFT JOIN v_recovery r ON r.run_id = e.run_id AND r.phase = e.phase AND r.other_stream = e.stream "
                "AND r.episode = e.episode AND r.stream = ? WHERE e.run_id = ? AND e.phase = ? AND e.stream <> ?",
                "siss", stream->name, page->sets[0].run_id, page->phases[stream->phase].name, stream->name);
        int more;

        json_object_set_new(stream->json, "episodes", list);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(page->store, stmt, err)) > 0 && json_array_size(list) < 2000) {
                double end = dbio_db_double(stmt, 1), after = dbio_db_double(stmt, 2);

                json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "begin", rounded(dbio_db_double(stmt, 0)),
                                                      "end", rounded(end), "after", rounded(after)));
        }
        sqlite3_reset(stmt);
        return more < 0 ? -1 : 0;
}

static int collect_stream(struct dbio_page *page, struct dbio_report_stream *stream, struct dbio_hist *hists,
                          struct dbio_err *err)
{
        json_t *series = json_array(), *curves = json_array();
        double nines = 2, least = INFINITY, highest = 0;

        json_object_set_new(stream->json, "series", series);
        json_object_set_new(stream->json, "curves", curves);
        for (unsigned s = 0; s < page->nr; s++) {
                const struct dbio_run_figures *figures = dbio_figures_get(
                        &page->sets[s].figures, page->phases[stream->phase].name, stream->name, stream->kind);
                json_t *one;

                if (load_series(page, s, stream, &one, err) || load_histogram(page, s, stream, &hists[s], err))
                        return -1;
                if (one)
                        json_array_append_new(series, one);
                if (hists[s].count)
                        json_array_append_new(curves, curve_json(&hists[s], s, &nines));
                if (figures && figures->iops > 0) {
                        least = fmin(least, figures->iops);
                        highest = fmax(highest, figures->iops);
                }
        }
        json_object_set_new(stream->json, "nines", json_real(nines));
        /* Sets that lie far apart are drawn on a log scale at first. */
        json_object_set_new(stream->json, "wide", json_boolean(highest > 4 * least));
        add_shares(stream, hists, page->nr);
        return load_episodes(page, stream, err);
}

int dbio_report_collect(struct dbio_page *page, struct dbio_err *err)
{
        struct dbio_hist *hists = calloc(page->nr, sizeof *hists);
        json_t *names = json_array(), *phases = json_array();
        int rc = -1;

        json_object_set_new(page->data, "sets", names);
        json_object_set_new(page->data, "phases", phases);
        if (!hists) {
                no_memory(err);
                goto out;
        }
        if (list_streams(page, err) || choose_main(page, err))
                goto out;
        for (unsigned s = 0; s < page->nr; s++)
                json_array_append_new(names, json_string(page->sets[s].name));
        for (unsigned p = 0; p < page->nphases; p++)
                json_array_append_new(phases, json_pack("{s:s, s:f, s:[]}", "name", page->phases[p].name, "seconds",
                                                        page->phases[p].seconds, "streams"));
        for (unsigned i = 0; i < page->nstreams; i++) {
                struct dbio_report_stream *stream = &page->streams[i];

                stream->json =
                        json_pack("{s:s, s:s}", "name", stream->name, "kind", dbio_kind_name((unsigned)stream->kind));
                json_array_append_new(json_object_get(json_array_get(phases, stream->phase), "streams"), stream->json);
                if (collect_stream(page, stream, hists, err))
                        goto out;
        }
        rc = 0;
out:
        free(hists);
        return rc;
}
