/* The tables of show: phases, windows, episodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/metrics.h"
#include "engine/op.h"
#include "engine/stream.h"
#include "results/bands.h"
#include "results/db.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/steady.h"
#include "results/text.h"
#include "results/windows.h"

#define N DBIO_NUMBER_SIZE

static char *ms(char *text, double ns)
{
        return dbio_number_short(text, N, ns / 1e6);
}

static void phase_row(struct dbio_show *show, const struct dbio_run_figures *r)
{
        char iops[N], mib[N], mb[N], wait[N], service[N], response[N], p50[N], p95[N], p99[N], max[N];
        const char *name = strlen(r->stream) > 12 ? "" : r->stream;

        if (!*name)
                dbio_text_line(show->out, "  %s", r->stream);
        dbio_text_line(show->out, "  %-12s %-6.6s%10s%8s%8s%7s%8s%9s%7s%7s%7s%8s", name,
                       dbio_kind_name((unsigned)r->kind), dbio_number_short(iops, N, r->iops),
                       dbio_number_short(mib, N, r->bytes ? r->mib_per_s : NAN),
                       dbio_number_short(mb, N, r->bytes ? r->mib_per_s * 1.048576 : NAN), ms(wait, r->wait.mean),
                       ms(service, r->service.mean), ms(response, r->response.mean), ms(p50, r->response.p50),
                       ms(p95, r->response.p95), ms(p99, r->response.p99), ms(max, r->response.max));
}

struct mean {
        double sum, n;
};

static void add_mean(struct mean *mean, const struct dbio_run_figures *row)
{
        if (!row->ios)
                return;
        mean->sum += row->response.mean * (double)row->ios;
        mean->n += (double)row->ios;
}

/* Reads of data and writes of logs, in the words that DBAs use. */
static void band_line(struct dbio_show *show, const char *phase)
{
        struct mean reads = {0, 0}, log = {0, 0};
        char text[128] = "";

        for (unsigned i = 0; i < show->rows.n; i++) {
                const struct dbio_run_figures *row = &show->rows.rows[i];

                if (strcmp(row->phase, phase))
                        continue;
                if (row->kind == DBIO_READ)
                        add_mean(&reads, row);
                else if (row->kind == DBIO_WRITE && !strcmp(row->role, dbio_role_name(DBIO_ROLE_LOG)))
                        add_mean(&log, row);
        }
        const struct dbio_band *r = dbio_band_of(reads.n > 0 ? reads.sum / reads.n : NAN);
        const struct dbio_band *l = dbio_band_of(log.n > 0 ? log.sum / log.n : NAN);
        if (r)
                snprintf(text, sizeof text, "data reads: %s (%s)", r->name, r->range);
        if (l)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%slog: %s (%s)", r ? "   " : "", l->name,
                         l->range);
        if (*text)
                dbio_text_line(show->out, "%100s", text);
}

static void notes(struct dbio_show *show, const struct dbio_show_phase *phase)
{
        char a[N], b[N];

        for (unsigned i = 0; i < show->rows.n; i++) {
                const struct dbio_run_figures *r = &show->rows.rows[i];

                if (strcmp(r->phase, phase->name))
                        continue;
                if (r->unissued)
                        dbio_text_line(show->out, "  OVERLOADED: %s of the %s %s due of %s were never %s",
                                       dbio_number_group(a, N, (double)r->unissued, 0),
                                       dbio_number_group(b, N, (double)r->due, 0),
                                       r->kind == DBIO_COMMIT ? "commits" : "ops", r->stream,
                                       r->kind == DBIO_COMMIT ? "flushed" : "issued");
                if (r->errors)
                        dbio_text_line(show->out, "  ERRORS: %s of %s's %s%s failed",
                                       dbio_number_group(a, N, (double)r->errors, 0), r->stream,
                                       dbio_kind_name((unsigned)r->kind), r->kind == DBIO_COMMIT ? "s" : " ops");
        }
        if (!phase->ended && show->running)
                dbio_text_line(show->out, "  RUNNING: figures up to the last commit");
        else if (!phase->ended)
                dbio_text_line(show->out, "  CUT: the run ended without closing this phase; its last two intervals are "
                                          "missing");
        else if (phase->stopped)
                dbio_text_line(show->out, "  STOPPED before its time%s%s", phase->timed_out ? ": an op timed out" : "",
                               phase->error_stop ? ": I/O errors" : "");
}

/* A phase that is shorter than the time between checkpoints is another load than its workload's name says. */
static int idle_lines(struct dbio_show *show, const struct dbio_show_phase *phase, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                show->store, err,
                "SELECT name FROM stream s WHERE phase_id = ? AND flags & ? AND NOT EXISTS (SELECT 1 FROM episode e "
                "WHERE e.phase_id = s.phase_id AND e.stream_no = s.stream_no) AND NOT EXISTS (SELECT 1 FROM total t "
                "WHERE t.phase_id = s.phase_id AND t.stream_no = s.stream_no) ORDER BY stream_no",
                "ii", phase->phase_id, (int64_t)DBIO_STREAM_EPISODES);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0)
                dbio_text_line(show->out, "  %s did nothing: no episode was due in this phase", dbio_db_text(stmt, 0));
        return more;
}

/* Only where the phase had not settled: its mean is then no figure to keep. */
static int steady_line(struct dbio_show *show, const struct dbio_show_phase *phase, struct dbio_err *err)
{
        struct dbio_steady steady;
        char text[160];

        if (dbio_steady_load(show->store, show->run_id, phase->name, &steady, err))
                return -1;
        if (steady.snia_checked && !steady.snia.steady)
                dbio_text_line(show->out, "  %s: %s", steady.stream, dbio_steady_line(text, sizeof text, &steady));
        return 0;
}

/* More streams with episodes than the records can tell apart. */
static int too_many_line(struct dbio_show *show, const struct dbio_show_phase *phase, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT count(*) FROM stream WHERE phase_id = ? AND flags & ?",
                                           "ii", phase->phase_id, (int64_t)DBIO_STREAM_EPISODES);
        int more = stmt ? dbio_db_step(show->store, stmt, err) : -1;

        if (more < 0)
                return -1;
        if (sqlite3_column_int(stmt, 0) > DBIO_MAX_EPISODIC)
                dbio_text_line(show->out, "  WINDOWS are kept around the first %d streams with episodes: around %d there "
                                          "are none", DBIO_MAX_EPISODIC, sqlite3_column_int(stmt, 0) - DBIO_MAX_EPISODIC);
        sqlite3_reset(stmt);
        return 0;
}

static int hba_lines(struct dbio_show *show, const struct dbio_show_phase *phase, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT limit_name, cap, peak, hits, wait_ns, at_cap_ns "
                                           "FROM limit_use WHERE phase_id = ?", "i", phase->phase_id);
        char cap[N], peak[N], hits[N], wait[N], at[N];
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0) {
                double n = sqlite3_column_double(stmt, 3);

                if (n == 0) {
                        dbio_text_line(show->out, "  %s %s: never reached, peak %s", dbio_db_text(stmt, 0),
                                       dbio_number_group(cap, N, sqlite3_column_double(stmt, 1), 0),
                                       dbio_number_group(peak, N, sqlite3_column_double(stmt, 2), 0));
                        continue;
                }
                dbio_text_line(show->out, "  %s %s: peak %s, reached %s times, %s ms lost each, %s s at it",
                               dbio_db_text(stmt, 0), dbio_number_group(cap, N, sqlite3_column_double(stmt, 1), 0),
                               dbio_number_group(peak, N, sqlite3_column_double(stmt, 2), 0),
                               dbio_number_group(hits, N, n, 0),
                               dbio_number_short(wait, N, sqlite3_column_double(stmt, 4) / 1e6 / n),
                               dbio_number_short(at, N, sqlite3_column_double(stmt, 5) / 1e9));
        }
        return more;
}

static void window_line(struct dbio_show *show, const char *name, const char *kind, const char *what,
                        const double values[4], bool percent)
{
        char during[N], after[N], quiet[N], lost[N] = "-";
        double from = values[DBIO_QUIET], to = values[DBIO_AFFECTED];

        if (percent && from > 0 && fabs(to / from - 1) >= 0.01)
                snprintf(lost, N, "%+.0f %%", 100 * (to / from - 1));
        else if (!percent && fabs(to - from) >= 0.01 * from)
                snprintf(lost, N, "%s%s", to > from ? "+" : "", dbio_number_short(during, N, to - from));
        dbio_text_line(show->out, "  %-12.12s %-6.6s %-6s%17s%17s%18s%11s", name, kind, what,
                       dbio_number_short(during, N, values[DBIO_DURING]),
                       dbio_number_short(after, N, values[DBIO_AFTER]), dbio_number_short(quiet, N, from), lost);
}

static void pair_rows(struct dbio_show *show, const struct dbio_show_pair *pair)
{
        double iops[4], mean[4], p99[4];
        char text[N];

        for (unsigned w = 0; w < DBIO_WINDOWS; w++) {
                iops[w] = pair->windows[w].iops;
                mean[w] = pair->windows[w].mean_ns / 1e6;
                p99[w] = pair->windows[w].p99_ns / 1e6;
        }
        window_line(show, pair->stream, dbio_kind_name((unsigned)pair->kind), "IOPS", iops, true);
        window_line(show, "", "", "avg ms", mean, false);
        window_line(show, "", "", "p99 ms", p99, false);
        const struct dbio_interference_entry *effect = dbio_show_effect(show, pair);
        if (effect && dbio_interference_seen(&effect->figures) && effect->figures.effect.recovered)
                dbio_text_line(show->out, "  back within 5 %% of quiet %s after it begins, in %u of %u episodes",
                               dbio_text_duration(text, N, effect->figures.effect.recovery_ns),
                               effect->figures.effect.recovered, effect->figures.effect.episodes);
}

static void window_head(char *text, size_t size, const char *word, double ns)
{
        char span[N];

        snprintf(text, size, "%s (%s s)", word, dbio_number_group(span, N, ns / 1e9, 1));
}

/* The mean times of a whole episode and of the quiet up to the next one. */
static void around_head(struct dbio_show *show, const struct dbio_show_pair *pair)
{
        char title[96], during[48], after[48], quiet[48];
        const struct dbio_interference_entry *effect = NULL;

        for (unsigned i = 0; i < show->effects.nr && !effect; i++)
                if (!strcmp(show->effects.entries[i].phase, pair->phase) &&
                    !strcmp(show->effects.entries[i].other, pair->other))
                        effect = &show->effects.entries[i];
        double affected_ns = effect ? effect->figures.affected_ns : NAN;
        double period_ns = effect ? effect->figures.period_ns : NAN;
        if (isnan(period_ns))
                period_ns = affected_ns + pair->windows[DBIO_QUIET].ns;
        snprintf(title, sizeof title, strcmp(pair->other, "checkpoint") ? "AROUND %s" : "AROUND THE CHECKPOINT", pair->other);
        window_head(during, sizeof during, "during", pair->during_ns);
        window_head(after, sizeof after, "after", affected_ns - pair->during_ns);
        window_head(quiet, sizeof quiet, "quiet", fmax(0, period_ns - affected_ns));
        dbio_text_line(show->out, "%s", "");
        dbio_text_line(show->out, "%-28.28s%17s%17s%18s%11s", title, during, after, quiet, "lost");
}

static void around(struct dbio_show *show, const char *phase, const struct dbio_show_pairs *pairs)
{
        const char *other = "";

        for (unsigned i = 0; i < pairs->n; i++) {
                const struct dbio_show_pair *pair = &pairs->pairs[i];

                /* during_ns is NAN where no episode is whole, as of an endless scan. */
                if (strcmp(pair->phase, phase) || isnan(pair->during_ns) || pair->kind == DBIO_FSYNC ||
                    pair->kind == DBIO_TRIM)
                        continue;
                if (strcmp(pair->other, other)) {
                        other = pair->other;
                        around_head(show, pair);
                }
                pair_rows(show, pair);
        }
}

struct episode {
        double begin, end, pages, writes, bytes, avoided, stalls, target;
        unsigned number;
};

static bool is_flush_cache(const char *pattern)
{
        return !strcmp(pattern, "sqlserver.checkpoint");
}

/* What SQL Server writes to its error log with trace flags 3502 and 3504; its MB is MiB. */
static void flush_cache(struct dbio_show *show, const struct episode *e)
{
        double ns = e->end - e->begin;

        if (isnan(e->end)) {
                dbio_text_line(show->out, "  %u  (cut): %.0f bufs with %.0f writes so far", e->number,
                               isnan(e->pages) ? 0 : e->pages, isnan(e->writes) ? 0 : e->writes);
                return;
        }
        dbio_text_line(show->out, "  FlushCache: cleaned up %.0f bufs with %.0f writes in %.0f ms (avoided %.0f new dirty "
                                  "bufs)", e->pages, e->writes, ns / 1e6, e->avoided);
        dbio_text_line(show->out, "              average throughput: %6.2f MB/sec, I/O saturation: %.0f",
                       ns > 0 ? e->bytes / 1048576 / (ns / 1e9) : 0, e->stalls);
        dbio_text_line(show->out, "              last target outstanding: %.0f", isnan(e->target) ? 0 : e->target);
}

static void episodes_of(struct dbio_show *show, const char *name, const char *pattern, const struct episode *all,
                        unsigned n)
{
        struct episode sum = {0};
        char title[128], pages[N], writes[N], per[N], span[N], mib[N], stalls[N], target[N];
        unsigned whole = 0;

        for (unsigned i = 0; i < n; i++) {
                const struct episode *e = &all[i];

                if (isnan(e->end))
                        continue;
                whole++;
                sum.pages += e->pages;
                sum.writes += e->writes;
                sum.bytes += e->bytes;
                sum.stalls += e->stalls;
                sum.target += isnan(e->target) ? 0 : e->target;
                sum.end += e->end - e->begin;
        }
        double k = whole ? whole : NAN;
        bool writer = sum.writes > 0 || is_flush_cache(pattern); /* others have no writes that could be 0 */
        if (!is_flush_cache(pattern))
                snprintf(title, sizeof title, "EPISODES of %s  %u of %u", name, whole, n);
        else if (!strcmp(name, "checkpoint"))
                snprintf(title, sizeof title, "CHECKPOINTS  %u of %u", whole, n);
        else
                snprintf(title, sizeof title, "CHECKPOINTS of %s  %u of %u", name, whole, n);
        dbio_text_line(show->out, "%s", "");
        dbio_text_line(show->out, "%-30.30s%10s%9s%13s%10s%9s%10s%8s", title, "pages", "writes", "pages/write", "ms",
                       "MiB/s", "stalls", "target");
        dbio_text_line(show->out, "  %-28s%10s%9s%13s%10s%9s%10s%8s", "mean", dbio_number_group(pages, N, sum.pages > 0 || writer ? sum.pages / k : NAN, 0),
                       dbio_number_group(writes, N, writer ? sum.writes / k : NAN, 0),
                       dbio_number_group(per, N, sum.writes > 0 ? sum.pages / sum.writes : NAN, 1),
                       dbio_number_group(span, N, sum.end / k / 1e6, 0),
                       dbio_number_short(mib, N, sum.end > 0 ? sum.bytes / 1048576 / (sum.end / 1e9) : NAN),
                       dbio_number_group(stalls, N, sum.target > 0 ? sum.stalls / k : NAN, 0),
                       dbio_number_group(target, N, sum.target > 0 ? sum.target / k : NAN, 0));
        for (unsigned i = 0; is_flush_cache(pattern) && i < n; i++)
                flush_cache(show, &all[i]);
}

static int load_episodes(struct dbio_show *show, int64_t phase_id, int stream_no, struct episode **out, unsigned *n,
                         struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err,
                                           "SELECT begin_ns, end_ns, pages, writes, bytes, avoided, stalls, "
                                           "outstanding_target, episode FROM episode WHERE phase_id = ? AND stream_no = ? "
                                           "ORDER BY episode", "ii", phase_id, (int64_t)stream_no);
        int more;

        *n = 0;
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0) {
                struct episode *e = dbio_db_add(out, n, sizeof *e, stmt, err);

                if (!e)
                        return -1;
                *e = (struct episode){
                        dbio_db_double(stmt, 0), dbio_db_double(stmt, 1), dbio_db_double(stmt, 2),
                        dbio_db_double(stmt, 3), dbio_db_double(stmt, 4), dbio_db_double(stmt, 5),
                        dbio_db_double(stmt, 6), dbio_db_double(stmt, 7), (unsigned)sqlite3_column_int(stmt, 8),
                };
        }
        return more;
}

static int episodes(struct dbio_show *show, const struct dbio_show_phase *phase, struct dbio_err *err)
{
        struct episode *all = NULL;
        unsigned n;
        int more = 0;

        for (int s = 0; more == 0; s++) {
                char name[64], pattern[64];
                sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT name, coalesce(pattern, '') FROM stream "
                                                   "WHERE phase_id = ? AND stream_no = ?", "ii", phase->phase_id,
                                                   (int64_t)s);
                int found = stmt ? dbio_db_step(show->store, stmt, err) : -1;

                if (found <= 0) {
                        more = found;
                        break;
                }
                snprintf(name, sizeof name, "%s", dbio_db_text(stmt, 0));
                snprintf(pattern, sizeof pattern, "%s", dbio_db_text(stmt, 1));
                sqlite3_reset(stmt);
                more = load_episodes(show, phase->phase_id, s, &all, &n, err);
                if (more == 0 && n)
                        episodes_of(show, name, pattern, all, n);
        }
        free(all);
        return more;
}

int dbio_show_phase(struct dbio_show *show, const struct dbio_show_phase *phase, const struct dbio_show_pairs *pairs,
                    struct dbio_err *err)
{
        char span[N], title[96];

        snprintf(title, sizeof title, "PHASE %s  %s", phase->name, dbio_text_duration(span, N, phase->duration_ns));
        dbio_text_line(show->out, "%-47s%24s%29s", title, "----- average ms -----", "---- percentiles, ms ----");
        dbio_text_line(show->out, "  %-12s %-6s%10s%8s%8s%7s%8s%9s%7s%7s%7s%8s", "stream", "kind", "IOPS", "MiB/s", "MB/s",
                       "wait", "service", "response", "p50", "p95", "p99", "max");
        for (unsigned i = 0; i < show->rows.n; i++)
                if (!strcmp(show->rows.rows[i].phase, phase->name))
                        phase_row(show, &show->rows.rows[i]);
        band_line(show, phase->name);
        notes(show, phase);
        if (phase->ended && !phase->stopped && idle_lines(show, phase, err))
                return -1;
        if (steady_line(show, phase, err) || too_many_line(show, phase, err))
                return -1;
        if (hba_lines(show, phase, err))
                return -1;
        around(show, phase->name, pairs);
        return episodes(show, phase, err);
}
