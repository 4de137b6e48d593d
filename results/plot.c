/* The series of a run in a terminal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/show.h"
#include "results/text.h"

#define WIDTH 64

struct bins {
        double ios[WIDTH], sum_ns[WIDTH];
};

static const char *const utf8_blocks[] = {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const ascii_blocks[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

/* One line: a mark a bin, in eighths of the highest; NAN leaves a gap. */
static void draw(FILE *out, const char *name, const double *values, unsigned n, const char *unit, bool utf8)
{
        char line[WIDTH * 4 + 1] = "", top[DBIO_NUMBER_SIZE];
        double max = 0;

        for (unsigned i = 0; i < n; i++)
                if (values[i] > max)
                        max = values[i];
        for (unsigned i = 0; i < n; i++) {
                int step = max > 0 && values[i] > 0 ? (int)ceil(8 * values[i] / max) : 0;

                strcat(line, (utf8 ? utf8_blocks : ascii_blocks)[step > 8 ? 8 : step]);
        }
        dbio_text_line(out, "  %-18.18s %s%*s %s %s", name, line, (int)(WIDTH - n), "",
                       dbio_number_short(top, sizeof top, max), unit);
}

/* `#` where an episode of a stream runs. */
static int draw_episodes(struct dbio_store *store, int64_t phase_id, double bin_ns, unsigned n, FILE *out,
                         struct dbio_err *err)
{
        char line[WIDTH + 1], last[64] = "";
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT s.name, e.begin_ns, coalesce(e.end_ns, 9e18) FROM episode e "
                                           "JOIN stream s USING (phase_id, stream_no) WHERE phase_id = ? ORDER BY "
                                           "stream_no, episode", "i", phase_id);
        int more;

        if (!stmt)
                return -1;
        do {
                more = dbio_db_step(store, stmt, err);
                const char *name = more > 0 ? dbio_db_text(stmt, 0) : "";

                if (strcmp(name, last)) {
                        if (*last)
                                dbio_text_line(out, "  %-18.18s %s", last, line);
                        snprintf(last, sizeof last, "%s", name);
                        memset(line, ' ', n);
                        line[n] = 0;
                }
                for (unsigned i = 0; more > 0 && i < n; i++)
                        if (sqlite3_column_double(stmt, 1) < (i + 1) * bin_ns && sqlite3_column_double(stmt, 2) > i * bin_ns)
                                line[i] = '#';
        } while (more > 0);
        return more;
}

static void draw_stream(FILE *out, const char *name, const struct bins *bins, double bin_ns, unsigned n, bool utf8)
{
        double rate[WIDTH], mean[WIDTH];

        for (unsigned i = 0; i < n; i++) {
                rate[i] = bins->ios[i] * 1e9 / bin_ns;
                mean[i] = bins->ios[i] > 0 ? bins->sum_ns[i] / bins->ios[i] / 1e6 : NAN;
        }
        draw(out, name, rate, n, "/s", utf8);
        draw(out, "", mean, n, "ms", utf8);
}

static int draw_phase(struct dbio_store *store, int64_t phase_id, double duration_ns, double interval_ns, bool utf8,
                      FILE *out, struct dbio_err *err)
{
        struct bins bins = {0};
        char last[96] = "", name[96];
        double intervals = ceil(duration_ns / interval_ns), each = ceil(intervals / WIDTH);
        double bin_ns = each * interval_ns;
        unsigned n = (unsigned)ceil(intervals / each);
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT s.name, k.name, i.number, i.ios, i.response_mean_ns FROM "
                                           "total t JOIN stream s USING (phase_id, stream_no) JOIN kind_name k USING (kind) "
                                           "JOIN interval i USING (phase_id, key_no) WHERE phase_id = ? ORDER BY stream_no, "
                                           "kind, number", "i", phase_id);
        int more;

        if (!stmt)
                return -1;
        if (!(n > 0) || n > WIDTH) {
                sqlite3_reset(stmt);
                return 0;
        }
        do {
                more = dbio_db_step(store, stmt, err);
                snprintf(name, sizeof name, "%s %s", more > 0 ? dbio_db_text(stmt, 0) : "",
                         more > 0 ? dbio_db_text(stmt, 1) : "");
                if (strcmp(name, last)) {
                        if (*last)
                                draw_stream(out, last, &bins, bin_ns, n, utf8);
                        memset(&bins, 0, sizeof bins);
                        snprintf(last, sizeof last, "%s", name);
                }
                if (more > 0) {
                        unsigned bin = (unsigned)(sqlite3_column_double(stmt, 2) / each);
                        double ios = sqlite3_column_double(stmt, 3);

                        if (bin < n && ios > 0) {
                                bins.ios[bin] += ios;
                                bins.sum_ns[bin] += ios * sqlite3_column_double(stmt, 4);
                        }
                }
        } while (more > 0);
        if (more < 0)
                return -1;
        return draw_episodes(store, phase_id, bin_ns, n, out, err);
}

int dbio_show_plot(struct dbio_store *store, int64_t run_id, bool utf8, FILE *out, struct dbio_err *err)
{
        char span[DBIO_NUMBER_SIZE];
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT phase_id, duration_ns, interval_ns, name FROM phase WHERE "
                                           "run_id = ? ORDER BY position", "i", run_id);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                dbio_text_line(out, "PLOT %s  0 to %s; each line to its own highest value, at its right",
                               dbio_db_text(stmt, 3),
                               dbio_text_duration(span, sizeof span, sqlite3_column_double(stmt, 1)));
                if (draw_phase(store, sqlite3_column_int64(stmt, 0), sqlite3_column_double(stmt, 1),
                               sqlite3_column_double(stmt, 2), utf8, out, err)) {
                        sqlite3_reset(stmt);
                        return -1;
                }
        }
        return more;
}
