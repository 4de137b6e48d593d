#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/histcode.h"
#include "results/query.h"
#include "results/recorder_state.h"

/* Where a temporary file takes them, so that an hour of histograms is not held in memory. */
static const char parts_table[] =
        "DROP TABLE IF EXISTS temp.part;"
        "CREATE TEMP TABLE part (key_no INTEGER, number INTEGER, mask INTEGER, ios INTEGER, bytes INTEGER,"
        " service BLOB, response BLOB);";

int dbio_rec_begin_phase(struct dbio_recorder *rec, struct dbio_err *err)
{
        const struct dbio_phase *phase = rec->phase;
        struct dbio_store *store = rec->store;

        if (rec->windows && dbio_db_exec(store, parts_table, err))
                return -1;
        if (dbio_db_begin(store, err))
                return -1;
        if (dbio_db_run(store, err,
                        "INSERT INTO phase (run_id, position, name, interval_ns, duration_ns, ended, begun_ns) "
                        "VALUES (?, ?, ?, ?, 0, 0, ?)",
                        "iisui", rec->options.run_id, (int64_t)rec->options.position, phase->name,
                        rec->options.interval_ns, dbio_rec_monotonic_ns() - store->begun_ns))
                goto fail;
        rec->phase_id = sqlite3_last_insert_rowid(store->db);
        for (unsigned s = 0; s < phase->nstreams; s++)
                if (dbio_db_run(store, err, "INSERT INTO stream VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)", "iissiii",
                                rec->phase_id, (int64_t)s, phase->streams[s].name, phase->streams[s].pattern,
                                (int64_t)phase->streams[s].threads, (int64_t)phase->streams[s].depth,
                                (int64_t)phase->streams[s].flags))
                        goto fail;
        if (dbio_db_commit(store, err))
                goto fail;
        return 0;
fail:
        dbio_db_rollback(store);
        return -1;
}

static const char total_sql[] =
        "INSERT OR REPLACE INTO total (phase_id, key_no, stream_no, kind, role, ios, bytes, errors, due, unissued,"
        " service_sum_ns, depth_peak, splits, hba_waits, hba_wait_ns, service_mean_ns, service_p50_ns, service_p90_ns,"
        " service_p95_ns, service_p99_ns, service_p999_ns, service_max_ns, service_stddev_ns, response_mean_ns,"
        " response_p50_ns, response_p90_ns, response_p95_ns, response_p99_ns, response_p999_ns, response_max_ns,"
        " response_stddev_ns, wait_mean_ns, wait_p99_ns, lag_p99_ns, lag_max_ns, service_hist, response_hist,"
        " wait_hist) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?)";

struct codes {
        unsigned char *service, *response, *wait; /* NULL: not written yet */
};

static int write_total(struct dbio_recorder *rec, const struct dbio_rec_key *key, uint64_t due, uint64_t unissued,
                       const struct codes *codes, struct dbio_err *err)
{
        struct dbio_stats s = dbio_stats_of(&key->service), r = dbio_stats_of(&key->response);
        struct dbio_stats w = dbio_stats_of(&key->wait), l = dbio_stats_of(&key->lag);
        bool commit = key->kind == DBIO_COMMIT; /* is never in flight itself */
        size_t ns = codes->service ? dbio_hist_encode(&key->service, codes->service) : 0;
        size_t nr = codes->response ? dbio_hist_encode(&key->response, codes->response) : 0;
        size_t nw = codes->wait ? dbio_hist_encode(&key->wait, codes->wait) : 0;

        /* The sum of times in flight over a span is the mean number in flight: Little's law. Failed ops were there too. */
        double in_flight_ns = commit ? NAN : (double)(key->service.sum_ns + key->failed_ns);
        double peak = commit ? NAN : (double)key->depth_peak;

        return dbio_db_run(rec->store, err, total_sql, "iuuuuuuuuudduuudddddddddddddddddddd" "bbb", rec->phase_id,
                           (uint64_t)key->number, (uint64_t)key->stream, (uint64_t)key->kind, (uint64_t)key->role,
                           key->ios, key->bytes, key->errors, due, unissued,
                           in_flight_ns, peak, key->splits, key->hba_waits, key->hba_wait_ns, s.mean, s.p50, s.p90, s.p95, s.p99, s.p999, s.max, s.stddev, r.mean,
                           r.p50, r.p90, r.p95, r.p99, r.p999, r.max, r.stddev, w.mean, w.p99, l.p99, l.max,
                           codes->service, ns, codes->response, nr, codes->wait, nw);
}

static int write_row(struct dbio_recorder *rec, const struct dbio_rec_row *row, struct dbio_err *err)
{
        if (dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "iuuuuudddd", rec->phase_id, row->number, (uint64_t)row->key, row->ios, row->bytes,
                        row->errors, row->service_mean_ns, row->ios ? (double)row->service_p99_ns : NAN,
                        row->response_mean_ns, row->ios ? (double)row->response_p99_ns : NAN))
                return -1;
        if (!row->code_size)
                return 0;
        return dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO interval_hist VALUES (?, ?, ?, ?)", "iuub",
                           rec->phase_id, row->number, (uint64_t)row->key, rec->codes + row->code, row->code_size);
}

static int compare_rows(const void *a, const void *b)
{
        const struct dbio_rec_row *x = a, *y = b;

        if (x->number != y->number)
                return x->number < y->number ? -1 : 1;
        return (x->key > y->key) - (x->key < y->key);
}

static int write_intervals(struct dbio_recorder *rec, uint64_t intervals, struct dbio_err *err)
{
        struct dbio_rec_row row;
        uint64_t from = UINT64_MAX;

        for (size_t k = 0; k < rec->nkeys; k++)
                if (rec->keys[k]->filled < from)
                        from = rec->keys[k]->filled;
        /* In order, so that the tree grows at its end. Rows with ops replace the zero rows. */
        qsort(rec->rows, rec->nrows, sizeof *rec->rows, compare_rows);
        size_t r = 0;
        for (uint64_t i = from; i < intervals; i++) {
                for (size_t k = 0; k < rec->nkeys; k++)
                        if (rec->keys[k]->filled <= i &&
                            dbio_db_run(rec->store, err,
                                        "INSERT OR IGNORE INTO interval (phase_id, number, key_no, ios, bytes, errors) "
                                        "VALUES (?, ?, ?, 0, 0, 0)",
                                        "iuu", rec->phase_id, i, (uint64_t)k))
                                return -1;
                for (; r < rec->nrows && rec->rows[r].number <= i; r++)
                        if (write_row(rec, &rec->rows[r], err))
                                return -1;
        }
        for (; r < rec->nrows; r++)
                if (write_row(rec, &rec->rows[r], err))
                        return -1;
        for (size_t k = 0; k < rec->nkeys; k++) {
                if (rec->keys[k]->filled < intervals)
                        rec->keys[k]->filled = intervals;
                for (struct dbio_rec_cell *cell = rec->keys[k]->cells; cell; cell = cell->next) {
                        dbio_rec_cell_row(rec->keys[k], cell, &row);
                        if (write_row(rec, &row, err))
                                return -1;
                }
        }
        return 0;
}

static int write_parts(struct dbio_recorder *rec, struct dbio_err *err)
{
        for (size_t i = 0; i < rec->nparts; i++) {
                const struct dbio_rec_part *p = &rec->parts[i];

                if (dbio_db_run(rec->store, err, "INSERT INTO temp.part VALUES (?, ?, ?, ?, ?, ?, ?)", "uuuuubb",
                                (uint64_t)p->key, p->number, (uint64_t)p->mask, p->ios, p->bytes, rec->codes + p->code,
                                p->service_size, rec->codes + p->code + p->service_size, p->response_size))
                        return -1;
        }
        return 0;
}

static double or_null(uint64_t value, bool known)
{
        return known ? (double)value : NAN;
}

static int write_episodes(struct dbio_recorder *rec, struct dbio_err *err)
{
        for (size_t i = 0; i < rec->nepisodes; i++) {
                struct dbio_rec_episode *r = &rec->episodes[i];
                const struct dbio_episode *e = &r->e;

                if (!r->dirty)
                        continue;
                if (dbio_db_run(rec->store, err,
                                "INSERT OR REPLACE INTO episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                "iuuudddddddd", rec->phase_id, (uint64_t)r->stream, (uint64_t)e->episode, e->begin_ns,
                                or_null(e->end_ns, e->end_ns != UINT64_MAX), or_null(e->pages, r->ended),
                                or_null(e->writes, r->ended), or_null(e->bytes, r->ended),
                                or_null(e->avoided, r->ended), or_null(e->stalls, r->ended),
                                or_null(e->outstanding_target, e->outstanding_target != 0),
                                or_null(e->write_mean_ns, e->writes != 0)))
                        return -1;
                r->dirty = false;
        }
        for (size_t i = 0; i < rec->ngauges; i++)
                if (dbio_db_run(rec->store, err, "INSERT INTO gauge VALUES (?, ?, ?, ?, ?)", "iusud", rec->phase_id,
                                (uint64_t)rec->gauges[i].stream, rec->gauges[i].name, rec->gauges[i].t_ns,
                                rec->gauges[i].value))
                        return -1;
        return 0;
}

static int write_run(struct dbio_recorder *rec, struct dbio_err *err)
{
        return dbio_db_run(rec->store, err,
                           "UPDATE run SET wall_ns = ?, unrecorded_ios = unrecorded_ios + ?, "
                           "unrecorded_bytes = unrecorded_bytes + ? WHERE run_id = ?",
                           "iuui", dbio_rec_monotonic_ns() - rec->store->begun_ns, rec->unrecorded_ios,
                           rec->unrecorded_bytes, rec->options.run_id);
}

/* What has come since the last commit, within a transaction. */
static int write_news(struct dbio_recorder *rec, const struct codes *codes, struct dbio_err *err)
{
        if (write_run(rec, err) || !rec->phase->record)
                return rec->phase->record ? -1 : 0;
        if (dbio_db_run(rec->store, err, "UPDATE phase SET duration_ns = ? WHERE phase_id = ?", "ui",
                        rec->end * rec->options.interval_ns, rec->phase_id))
                return -1;
        if (write_intervals(rec, rec->end, err) || write_parts(rec, err) || write_episodes(rec, err))
                return -1;
        if (dbio_rec_devices_commit(rec, err))
                return -1;
        for (size_t k = 0; k < rec->nkeys; k++)
                if (rec->keys[k]->dirty &&
                    write_total(rec, rec->keys[k], rec->keys[k]->ios + rec->keys[k]->errors, 0, codes, err))
                        return -1;
        return 0;
}

/* Only once the transaction is through. */
static void forget_news(struct dbio_recorder *rec)
{
        for (size_t k = 0; k < rec->nkeys; k++)
                rec->keys[k]->dirty = false;
        rec->nrows = rec->nparts = rec->ncodes = rec->ngauges = 0;
        rec->unrecorded_ios = rec->unrecorded_bytes = 0;
}

int dbio_rec_commit(struct dbio_recorder *rec, struct dbio_err *err)
{
        if (dbio_db_begin(rec->store, err))
                return -1;
        if (write_news(rec, &(struct codes){NULL, NULL, NULL}, err) || dbio_db_commit(rec->store, err)) {
                dbio_db_rollback(rec->store);
                return -1;
        }
        forget_news(rec);
        return 0;
}

/* The stream's key with the most reads and writes, else any that is no commit: it carries what is known of the whole
 * stream only. */
static const struct dbio_rec_key *main_key(const struct dbio_recorder *rec, uint32_t stream)
{
        const struct dbio_rec_key *best = NULL;

        for (size_t k = 0; k < rec->nkeys; k++) {
                const struct dbio_rec_key *key = rec->keys[k];

                if (key->stream == stream && key->kind != DBIO_COMMIT && (!best || key->ios > best->ios))
                        best = key;
        }
        return best;
}

static uint64_t issued_by_others(const struct dbio_recorder *rec, const struct dbio_rec_key *self)
{
        uint64_t sum = 0;

        for (size_t k = 0; k < rec->nkeys; k++)
                if (rec->keys[k] != self && rec->keys[k]->stream == self->stream && rec->keys[k]->kind != DBIO_COMMIT)
                        sum += rec->keys[k]->ios + rec->keys[k]->errors;
        return sum;
}

static int write_totals(struct dbio_recorder *rec, const struct dbio_phase_result *result, const struct codes *codes,
                        struct dbio_err *err)
{
        for (size_t k = 0; k < rec->nkeys; k++) {
                const struct dbio_rec_key *key = rec->keys[k];
                uint64_t due = key->ios + key->errors + key->unissued, unissued = key->unissued;

                if (key == main_key(rec, key->stream)) {
                        uint64_t others = issued_by_others(rec, key);

                        due = result->due[key->stream] > others ? result->due[key->stream] - others : 0;
                        unissued = result->unissued[key->stream];
                }
                if (write_total(rec, key, due, unissued, codes, err))
                        return -1;
        }
        return 0;
}

static int write_limit(struct dbio_recorder *rec, const char *name, const struct dbio_limit_use *use,
                       struct dbio_err *err)
{
        if (!use->cap)
                return 0;
        return dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO limit_use VALUES (?, ?, ?, ?, ?, ?, ?)", "isuuuuu",
                           rec->phase_id, name, use->cap, use->peak, use->hits, use->wait_ns, use->at_cap_ns);
}

static int write_result(struct dbio_recorder *rec, const struct dbio_phase_result *result, struct dbio_err *err)
{
        struct dbio_store *store = rec->store;
        uint64_t unissued = 0;

        for (unsigned s = 0; s < rec->phase->nstreams; s++) {
                unissued += result->unissued[s];
                if (dbio_db_run(store, err, "UPDATE stream SET due = ?, unissued = ? WHERE phase_id = ? AND stream_no = ?",
                                "uuiu", result->due[s], result->unissued[s], rec->phase_id, (uint64_t)s))
                        return -1;
        }
        for (size_t k = 0; k < rec->nkeys; k++)
                unissued += rec->keys[k]->unissued;
        if (dbio_db_run(store, err,
                        "UPDATE phase SET duration_ns = ?, ended = 1, lag_p99_ns = ?, lag_max_ns = ?, turn_p99_ns = ?, "
                        "turn_max_ns = ?, intervals_late = ?, overloaded = ?, stopped = ?, timed_out = ?, "
                        "error_stop = ?, foreign_share = ? WHERE phase_id = ?",
                        "uuuuuuiiiidi", result->duration_ns, dbio_hist_percentile(&result->lag, 0.99),
                        result->lag.max_ns, dbio_hist_percentile(&result->turn, 0.99), result->turn.max_ns,
                        result->intervals_late, (int64_t)(unissued > 0), (int64_t)result->stopped,
                        (int64_t)result->timed_out, (int64_t)result->error_stop,
                        rec->options.ndevices ? rec->foreign_share : NAN, rec->phase_id))
                return -1;
        for (size_t i = 0; i < sizeof result->errors / sizeof *result->errors && result->errors[i].error; i++) {
                const struct dbio_io_error *e = &result->errors[i];

                if (dbio_db_run(store, err, "INSERT INTO io_error VALUES (?, ?, ?, ?, ?, ?, ?)", "iuiuuuu",
                                rec->phase_id, (uint64_t)e->stream, (int64_t)e->error, e->count, e->first_offset,
                                (uint64_t)e->target, (uint64_t)e->kind))
                        return -1;
        }
        return write_limit(rec, "hba.max_outstanding", &result->outstanding, err) ||
                               write_limit(rec, "hba.max_transfer", &result->transfer, err)
                       ? -1
                       : 0;
}

int dbio_rec_end_phase(struct dbio_recorder *rec, const struct dbio_phase_result *result, struct dbio_err *err)
{
        uint64_t interval = rec->options.interval_ns;
        uint64_t intervals = (result->duration_ns + interval - 1) / interval;
        struct codes codes;
        int code = -1;

        codes.service = malloc(DBIO_HIST_CODE_MAX);
        codes.response = malloc(DBIO_HIST_CODE_MAX);
        codes.wait = malloc(DBIO_HIST_CODE_MAX);
        if (intervals > rec->end)
                rec->end = intervals;
        if (!codes.service || !codes.response || !codes.wait) {
                dbio_err_set(err, DBIO_IO, "results: out of memory");
                goto out;
        }
        if (dbio_db_begin(rec->store, err) || write_news(rec, &codes, err) ||
            dbio_rec_devices_write(rec, result->started_ns, rec->end, err))
                goto out;
        if (rec->phase->record && (write_totals(rec, result, &codes, err) || write_result(rec, result, err) ||
                                   (rec->windows && dbio_rec_write_windows(rec, result->duration_ns, rec->end, err))))
                goto out;
        if (dbio_db_commit(rec->store, err))
                goto out;
        forget_news(rec);
        code = 0;
out:
        if (code)
                dbio_db_rollback(rec->store);
        free(codes.service);
        free(codes.response);
        free(codes.wait);
        return code;
}
