#include "results/interference_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"

static void copy(char *to, size_t size, const char *from)
{
        snprintf(to, size, "%s", from);
}

static int add_entry(struct dbio_interference_list *list, const char *const names[4], sqlite3_stmt *stmt,
                     struct dbio_err *err)
{
        struct dbio_interference_entry *entry = dbio_db_add(&list->entries, &list->nr, sizeof *entry, stmt, err);

        if (!entry)
                return -1;
        copy(entry->phase, sizeof entry->phase, names[0]);
        copy(entry->other, sizeof entry->other, names[1]);
        copy(entry->stream, sizeof entry->stream, names[2]);
        copy(entry->op, sizeof entry->op, names[3]);
        return 0;
}

/* Commits come before the rest of a stream's kinds; a later, lesser kind of the same stream is passed over. */
static int list_entries(struct dbio_store *store, int64_t run_id, struct dbio_interference_list *list,
                        struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT p.name, o.name, s.name, k.name FROM phase p JOIN interference i USING (phase_id) "
                "JOIN total t USING (phase_id, key_no) "
                "JOIN stream s ON s.phase_id = p.phase_id AND s.stream_no = t.stream_no "
                "JOIN stream o ON o.phase_id = p.phase_id AND o.stream_no = i.other_no JOIN kind_name k USING (kind) "
                "WHERE p.run_id = ? AND k.name IN ('read', 'write', 'commit') AND i.window = 2 "
                "GROUP BY p.position, i.other_no, t.stream_no, t.kind "
                "ORDER BY p.position, i.other_no, t.stream_no, k.name <> 'commit', sum(i.ios) DESC",
                "i", run_id);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                const char *names[4];
                struct dbio_interference_entry *last = list->nr ? &list->entries[list->nr - 1] : NULL;

                for (int i = 0; i < 4; i++)
                        names[i] = dbio_db_text(stmt, i);
                if (last && !strcmp(last->phase, names[0]) && !strcmp(last->other, names[1]) &&
                    !strcmp(last->stream, names[2]))
                        continue;
                if (add_entry(list, names, stmt, err))
                        return -1;
        }
        return more;
}

struct window_sums {
        double ios, ns, time, p99, runs;
};

static int add_windows(struct dbio_store *store, int64_t run_id, const struct dbio_interference_entry *entry,
                       struct window_sums sums[2], struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT window, sum(ios), max(duration_ns), sum(ios * response_mean_ns), max(response_p99_ns) "
                "FROM v_interference WHERE run_id = ? AND phase = ? AND other_stream = ? AND stream = ? AND kind = ? "
                "AND window IN ('quiet', 'affected') GROUP BY window",
                "issss", run_id, entry->phase, entry->other, entry->stream, entry->op);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                struct window_sums *sum = &sums[!strcmp(dbio_db_text(stmt, 0), "affected")];
                double p99 = dbio_db_double(stmt, 4);

                sum->ios += sqlite3_column_double(stmt, 1);
                sum->ns += sqlite3_column_double(stmt, 2);
                sum->time += sqlite3_column_double(stmt, 3);
                if (!isnan(p99)) {
                        sum->p99 += p99;
                        sum->runs++;
                }
        }
        return more;
}

struct episodes {
        unsigned nr;
        struct dbio_interference_episode *list;
};

static const char rates_sql[] =
        "SELECT iops_quiet, iops_affected, begin_ns, recovered_ns FROM v_recovery "
        "WHERE run_id = ? AND phase = ? AND other_stream = ? AND stream = ? AND end_ns IS NOT NULL ORDER BY episode";

/* v_recovery is of reads and writes, which a log makes fewer and larger of where commits wait: theirs are counted over
 * the same intervals, the quiet ones from recovery to the next episode, else all. */
static const char commit_rates_sql[] =
        "WITH episodes AS (SELECT v.*, coalesce(lead(begin_ns) OVER later, p.duration_ns) AS next_ns "
        "FROM v_recovery v JOIN phase p ON p.run_id = v.run_id AND p.name = v.phase "
        "WHERE v.run_id = ?1 AND v.phase = ?2 AND other_stream = ?3 AND stream = ?4 WINDOW later AS (ORDER BY episode)), "
        "commits AS MATERIALIZED (SELECT t_ns, v.ios, min(t_ns + v.interval_ns, p.duration_ns) AS end_ns "
        "FROM v_series v JOIN phase p ON p.run_id = v.run_id AND p.name = v.phase "
        "WHERE v.run_id = ?1 AND v.phase = ?2 AND stream = ?4 AND kind = 'commit' AND t_ns < p.duration_ns) "
        "SELECT coalesce((SELECT sum(ios) * 1e9 / sum(end_ns - t_ns) FROM commits c "
        "WHERE c.t_ns >= coalesce(recovered_ns, next_ns) AND c.end_ns <= next_ns), "
        "(SELECT sum(ios) * 1e9 / sum(end_ns - t_ns) FROM commits)), "
        "(SELECT sum(ios) * 1e9 / sum(end_ns - t_ns) FROM commits c "
        "WHERE c.end_ns > begin_ns AND c.t_ns < coalesce(recovered_ns, next_ns)), "
        "begin_ns, recovered_ns FROM episodes e WHERE e.end_ns IS NOT NULL ORDER BY episode";

static int add_episodes(struct dbio_store *store, int64_t run_id, unsigned run,
                        const struct dbio_interference_entry *entry, struct episodes *episodes, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, strcmp(entry->op, "commit") ? rates_sql : commit_rates_sql, "isss",
                                           run_id, entry->phase, entry->other, entry->stream);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                struct dbio_interference_episode *episode =
                        dbio_db_add(&episodes->list, &episodes->nr, sizeof *episode, stmt, err);

                if (!episode)
                        return -1;
                *episode = (struct dbio_interference_episode){
                        .run = run,
                        .quiet = dbio_db_double(stmt, 0),
                        .affected = dbio_db_double(stmt, 1),
                        .begin_ns = (uint64_t)sqlite3_column_int64(stmt, 2),
                        .recovered_ns = sqlite3_column_type(stmt, 3) == SQLITE_NULL
                                                ? UINT64_MAX
                                                : (uint64_t)sqlite3_column_int64(stmt, 3),
                };
        }
        return more;
}

/* The time affected of whole episodes (a cut one would shorten the mean), and the time between beginnings. */
static int add_periods(struct dbio_store *store, int64_t run_id, const struct dbio_interference_entry *entry,
                       double *count, double *affected, double *span, double *gaps, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(
                store, err,
                "SELECT count(*), max(begin_ns) - min(begin_ns), sum(end_ns IS NOT NULL), "
                "sum(CASE WHEN end_ns IS NOT NULL THEN coalesce(recovered_ns, next_ns, duration_ns) - begin_ns END) "
                "FROM (SELECT begin_ns, end_ns, recovered_ns, duration_ns, lead(begin_ns) OVER (ORDER BY episode) AS "
                "next_ns "
                "FROM v_recovery v JOIN phase p ON p.run_id = v.run_id AND p.name = v.phase "
                "WHERE v.run_id = ? AND v.phase = ? AND other_stream = ? AND stream = ?)",
                "isss", run_id, entry->phase, entry->other, entry->stream);
        int more = stmt ? dbio_db_step(store, stmt, err) : -1;

        if (more < 0)
                return -1;
        if (more) {
                double episodes = sqlite3_column_double(stmt, 0);

                *count += sqlite3_column_double(stmt, 2);
                *affected += sqlite3_column_double(stmt, 3);
                if (episodes >= 2) {
                        *span += sqlite3_column_double(stmt, 1);
                        *gaps += episodes - 1;
                }
                sqlite3_reset(stmt);
        }
        return 0;
}

static int fill_entry(struct dbio_store *store, const int64_t *ids, unsigned nr, struct dbio_interference_entry *entry,
                      struct dbio_err *err)
{
        struct window_sums sums[2] = {{0}};
        struct episodes episodes = {0};
        double count = 0, affected = 0, span = 0, gaps = 0;
        int rc = -1;

        for (unsigned i = 0; i < nr; i++)
                if (add_windows(store, ids[i], entry, sums, err) ||
                    add_episodes(store, ids[i], i, entry, &episodes, err) ||
                    add_periods(store, ids[i], entry, &count, &affected, &span, &gaps, err))
                        goto out;
        entry->figures = (struct dbio_interference_figures){
                .quiet_iops = sums[0].ns > 0 ? sums[0].ios * 1e9 / sums[0].ns : NAN,
                .affected_iops = sums[1].ns > 0 ? sums[1].ios * 1e9 / sums[1].ns : NAN,
                .quiet_mean_ns = sums[0].ios > 0 ? sums[0].time / sums[0].ios : NAN,
                .affected_mean_ns = sums[1].ios > 0 ? sums[1].time / sums[1].ios : NAN,
                .quiet_p99_ns = sums[0].runs > 0 ? sums[0].p99 / sums[0].runs : NAN,
                .affected_p99_ns = sums[1].runs > 0 ? sums[1].p99 / sums[1].runs : NAN,
                .affected_ns = count > 0 ? affected / count : NAN,
                .period_ns = gaps > 0 ? span / gaps : NAN,
        };
        dbio_interference_measure(episodes.list, episodes.nr, &entry->figures.effect);
        rc = 0;
out:
        free(episodes.list);
        return rc;
}

int dbio_interference_load(struct dbio_store *store, const int64_t *ids, unsigned nr,
                           struct dbio_interference_list *list, struct dbio_err *err)
{
        *list = (struct dbio_interference_list){0};
        if (!nr)
                return 0;
        if (list_entries(store, ids[0], list, err))
                goto fail;
        for (unsigned i = 0; i < list->nr; i++)
                if (fill_entry(store, ids, nr, &list->entries[i], err))
                        goto fail;
        for (unsigned i = 0; i < list->nr; i++) {
                list->entries[i].figures.other = list->entries[i].other;
                list->entries[i].figures.stream = list->entries[i].stream;
                list->entries[i].figures.op = list->entries[i].op;
        }
        return 0;
fail:
        dbio_interference_release(list);
        return -1;
}

void dbio_interference_release(struct dbio_interference_list *list)
{
        free(list->entries);
        *list = (struct dbio_interference_list){0};
}
