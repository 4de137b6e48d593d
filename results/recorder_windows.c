#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/histcode.h"
#include "results/recorder_state.h"
#include "results/windows.h"

/* One stream against one other stream with episodes. */
struct pair {
        uint32_t stream, other;
        uint32_t bit; /* of the other, in the masks */
        uint64_t *inside, *outside;
        struct dbio_window_span *spans;
        uint32_t *numbers; /* of the episodes */
        unsigned nspans;
        struct dbio_window_result result;
};

struct sums {
        uint64_t ios, bytes;
        struct dbio_hist service, response;
};

static int by_begin(const void *a, const void *b)
{
        const struct dbio_rec_episode *x = a, *y = b;

        return (x->e.begin_ns > y->e.begin_ns) - (x->e.begin_ns < y->e.begin_ns);
}

static void pair_release(struct pair *pair)
{
        free(pair->inside);
        free(pair->outside);
        free(pair->spans);
        free(pair->numbers);
        free(pair->result.outside);
        free(pair->result.recoveries);
}

static int pair_init(struct pair *pair, const struct dbio_recorder *rec, uint64_t intervals)
{
        size_t n = intervals + 1;

        pair->inside = calloc(n, sizeof *pair->inside);
        pair->outside = calloc(n, sizeof *pair->outside);
        pair->spans = calloc(rec->nepisodes + 1, sizeof *pair->spans);
        pair->numbers = calloc(rec->nepisodes + 1, sizeof *pair->numbers);
        pair->result.outside = calloc(n, 1);
        pair->result.recoveries = calloc(rec->nepisodes + 1, sizeof *pair->result.recoveries);
        if (!pair->inside || !pair->outside || !pair->spans || !pair->numbers || !pair->result.outside ||
            !pair->result.recoveries)
                return -1;
        for (size_t i = 0; i < rec->nepisodes; i++)
                if (rec->episodes[i].stream == pair->other) {
                        pair->numbers[pair->nspans] = rec->episodes[i].e.episode;
                        pair->spans[pair->nspans++] = (struct dbio_window_span){rec->episodes[i].e.begin_ns,
                                                                               rec->episodes[i].e.end_ns};
                }
        return 0;
}

static const char key_parts_sql[] =
        "SELECT number, mask, ios, bytes, service, response FROM temp.part WHERE key_no = ?";

static int fill_rates(struct dbio_recorder *rec, struct pair *pair, uint64_t intervals, struct dbio_err *err)
{
        for (size_t k = 0; k < rec->nkeys; k++) {
                int more;

                if (rec->keys[k]->stream != pair->stream || !dbio_rec_is_io(rec->keys[k]))
                        continue;
                sqlite3_stmt *stmt = dbio_db_query(rec->store, err, "SELECT number, mask, ios FROM temp.part "
                                                   "WHERE key_no = ?", "u", (uint64_t)k);
                if (!stmt)
                        return -1;
                while ((more = dbio_db_step(rec->store, stmt, err)) > 0) {
                        uint64_t number = (uint64_t)sqlite3_column_int64(stmt, 0);
                        uint64_t ios = (uint64_t)sqlite3_column_int64(stmt, 2);

                        if (number >= intervals)
                                continue;
                        if (sqlite3_column_int64(stmt, 1) & pair->bit)
                                pair->inside[number] += ios;
                        else
                                pair->outside[number] += ios;
                }
                if (more < 0)
                        return -1;
        }
        return 0;
}

static int add_part(sqlite3_stmt *stmt, struct sums *sums)
{
        const void *service = sqlite3_column_blob(stmt, 4), *response = sqlite3_column_blob(stmt, 5);

        sums->ios += (uint64_t)sqlite3_column_int64(stmt, 2);
        sums->bytes += (uint64_t)sqlite3_column_int64(stmt, 3);
        if (dbio_hist_decode(&sums->service, service, (size_t)sqlite3_column_bytes(stmt, 4)) ||
            dbio_hist_decode(&sums->response, response, (size_t)sqlite3_column_bytes(stmt, 5)))
                return -1;
        return 0;
}

static double mean_of(const struct dbio_hist *h)
{
        return h->count ? (double)h->sum_ns / (double)h->count : NAN;
}

static double percentile_of(const struct dbio_hist *h, double p)
{
        return h->count ? (double)dbio_hist_percentile(h, p) : NAN;
}

static int write_key(struct dbio_recorder *rec, const struct pair *pair, const struct dbio_rec_key *key,
                     struct sums *windows, struct dbio_err *err)
{
        int more;

        for (unsigned w = 0; w < DBIO_WINDOWS; w++) {
                windows[w].ios = windows[w].bytes = 0;
                dbio_hist_reset(&windows[w].service);
                dbio_hist_reset(&windows[w].response);
        }
        sqlite3_stmt *stmt = dbio_db_query(rec->store, err, key_parts_sql, "u", (uint64_t)key->number);
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(rec->store, stmt, err)) > 0) {
                uint64_t number = (uint64_t)sqlite3_column_int64(stmt, 0);
                bool during = sqlite3_column_int64(stmt, 1) & pair->bit;

                if (add_part(stmt, &windows[during ? DBIO_DURING : pair->result.outside[number]])) {
                        sqlite3_reset(stmt);
                        return dbio_err_set(err, DBIO_BUG, "results: a histogram cannot be read back");
                }
        }
        if (more < 0)
                return -1;
        for (unsigned w = DBIO_DURING; w <= DBIO_AFTER; w++) {
                windows[DBIO_AFFECTED].ios += windows[w].ios;
                windows[DBIO_AFFECTED].bytes += windows[w].bytes;
                dbio_hist_merge(&windows[DBIO_AFFECTED].service, &windows[w].service);
                dbio_hist_merge(&windows[DBIO_AFFECTED].response, &windows[w].response);
        }
        for (unsigned w = 0; w < DBIO_WINDOWS; w++) {
                const struct dbio_hist *s = &windows[w].service, *r = &windows[w].response;

                if (dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO interference VALUES "
                                "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iuuuuuudddddd", rec->phase_id,
                                (uint64_t)key->number, (uint64_t)pair->other, (uint64_t)w, windows[w].ios,
                                windows[w].bytes, pair->result.duration_ns[w], mean_of(s), percentile_of(s, 0.50),
                                percentile_of(s, 0.99), mean_of(r), percentile_of(r, 0.50), percentile_of(r, 0.99)))
                        return -1;
        }
        return 0;
}

static int write_recoveries(struct dbio_recorder *rec, const struct pair *pair, struct dbio_err *err)
{
        for (unsigned e = 0; e < pair->nspans; e++) {
                const struct dbio_window_recovery *r = &pair->result.recoveries[e];
                uint64_t end = pair->spans[e].end_ns;

                if (dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO recovery VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                "iuuuudddd", rec->phase_id, (uint64_t)pair->stream, (uint64_t)pair->other,
                                (uint64_t)pair->numbers[e], pair->spans[e].begin_ns,
                                end == UINT64_MAX ? NAN : (double)end,
                                r->recovered_ns == UINT64_MAX ? NAN : (double)r->recovered_ns, r->iops_quiet,
                                r->iops_affected))
                        return -1;
        }
        return 0;
}

static int write_pair(struct dbio_recorder *rec, struct pair *pair, uint64_t duration_ns, uint64_t intervals,
                      struct sums *windows, struct dbio_err *err)
{
        int code = -1;

        if (pair_init(pair, rec, intervals)) {
                dbio_err_set(err, DBIO_IO, "results: out of memory");
                goto out;
        }
        if (!pair->nspans) {
                code = 0;
                goto out;
        }
        struct dbio_window_input input = {
                .interval_ns = rec->options.interval_ns, .duration_ns = duration_ns, .nintervals = (unsigned)intervals,
                .inside = pair->inside, .outside = pair->outside, .nepisodes = pair->nspans, .episodes = pair->spans,
        };
        if (fill_rates(rec, pair, intervals, err))
                goto out;
        if (dbio_windows_cut(&input, &pair->result)) {
                dbio_err_set(err, DBIO_IO, "results: out of memory");
                goto out;
        }
        for (size_t k = 0; k < rec->nkeys; k++)
                if (rec->keys[k]->stream == pair->stream && write_key(rec, pair, rec->keys[k], windows, err))
                        goto out;
        code = write_recoveries(rec, pair, err);
out:
        pair_release(pair);
        return code;
}

int dbio_rec_write_windows(struct dbio_recorder *rec, uint64_t duration_ns, uint64_t intervals, struct dbio_err *err)
{
        struct sums *windows = calloc(DBIO_WINDOWS, sizeof *windows);
        uint32_t bit = 1;
        int code = windows ? 0 : dbio_err_set(err, DBIO_IO, "results: out of memory");

        if (!code)
                code = dbio_db_exec(rec->store, "CREATE INDEX temp.part_key ON part(key_no)", err);
        if (rec->nepisodes)
                qsort(rec->episodes, rec->nepisodes, sizeof *rec->episodes, by_begin);
        for (unsigned other = 0; !code && other < rec->phase->nstreams; other++) {
                if (!(rec->phase->streams[other].flags & DBIO_STREAM_EPISODES))
                        continue;
                for (unsigned s = 0; !code && s < rec->phase->nstreams; s++) {
                        struct pair pair = {.stream = s, .other = other, .bit = bit};

                        if (s != other)
                                code = write_pair(rec, &pair, duration_ns, intervals, windows, err);
                }
                bit <<= 1; /* the 33rd and later have none: their windows would be all quiet */
                if (!bit)
                        break;
        }
        if (!code)
                code = dbio_db_exec(rec->store, "DROP TABLE temp.part", err);
        free(windows);
        return code;
}
