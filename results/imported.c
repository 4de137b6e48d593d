#include "results/imported.h"

#include <math.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"

static const char total_sql[] =
        "INSERT INTO total (phase_id, key_no, stream_no, kind, role, ios, bytes, errors, service_sum_ns, service_mean_ns,"
        " service_p50_ns, service_p90_ns, service_p95_ns, service_p99_ns, service_p999_ns, service_max_ns,"
        " service_stddev_ns, response_mean_ns, response_p50_ns, response_p90_ns, response_p95_ns, response_p99_ns,"
        " response_p999_ns, response_max_ns, response_stddev_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static int add_total(struct dbio_store *store, int64_t phase, unsigned key, unsigned stream,
                     const struct dbio_imported_total *t, struct dbio_err *err)
{
        return dbio_db_run(store, err, total_sql, "iuuiiuuuddddddddddddddddd", phase, (uint64_t)key, (uint64_t)stream,
                           (int64_t)t->kind, (int64_t)DBIO_ROLE_IO, t->ios, t->bytes, t->errors,
                           t->service_mean * (double)t->ios, t->service_mean, t->service_p50, t->service_p90, t->service_p95,
                           t->service_p99, t->service_p999, t->service_max, t->service_stddev, t->response_mean,
                           t->response_p50, t->response_p90, t->response_p95, t->response_p99, t->response_p999,
                           t->response_max, t->response_stddev);
}

static int add_phase(struct dbio_store *store, int64_t run, unsigned position, const struct dbio_imported_phase *phase,
                     struct dbio_err *err)
{
        unsigned stream = 0;
        int64_t id;

        if (dbio_db_run(store, err,
                        "INSERT INTO phase (run_id, position, name, interval_ns, duration_ns, ended, begun_ns) "
                        "VALUES (?, ?, ?, ?, ?, 1, NULL)",
                        "iisuu", run, (int64_t)position, phase->name, phase->duration_ns ? phase->duration_ns : 1,
                        phase->duration_ns))
                return -1;
        id = sqlite3_last_insert_rowid(store->db);
        for (unsigned i = 0; i < phase->n; i++) {
                const struct dbio_imported_total *t = &phase->totals[i];

                if (!i || strcmp(t->stream, phase->totals[i - 1].stream)) {
                        stream += i > 0;
                        if (dbio_db_run(store, err, "INSERT INTO stream VALUES (?, ?, ?, ?, ?, ?, 0, NULL, NULL)", "iussuu", id,
                                        (uint64_t)stream, t->stream, t->pattern, (uint64_t)t->threads, (uint64_t)t->depth))
                                return -1;
                }
                if (add_total(store, id, i, stream, t, err))
                        return -1;
        }
        return 0;
}

int dbio_store_import(struct dbio_store *store, const struct dbio_run_info *info, const char *started_at,
                      const struct dbio_imported_phase *phases, unsigned n, int64_t *run_id, struct dbio_err *err)
{
        struct dbio_run_outcome outcome = {.status = "complete", .valid = true};
        int64_t id;

        for (unsigned i = 0; i < n; i++)
                outcome.wall_ns += phases[i].duration_ns;
        if (dbio_store_run_begin(store, info, &id, NULL, err))
                return -1;
        if (dbio_db_begin(store, err))
                return -1;
        for (unsigned i = 0; i < n; i++)
                if (add_phase(store, id, i, &phases[i], err))
                        goto fail;
        if (started_at && dbio_db_run(store, err, "UPDATE run SET started_at = ? WHERE run_id = ?", "si", started_at, id))
                goto fail;
        if (dbio_db_commit(store, err))
                goto fail;
        *run_id = id;
        return dbio_store_run_end(store, id, &outcome, err);
fail:
        dbio_db_rollback(store);
        outcome.status = "failed";
        dbio_store_run_end(store, id, &outcome, NULL);
        return -1;
}
