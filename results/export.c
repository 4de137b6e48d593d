#include "results/export.h"

#include <string.h>
#include <time.h>

#include "results/db.h"
#include "results/json.h"
#include "results/show.h"

static int export_csv(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        return dbio_csv_view(store, "v_series", runs->ids, runs->n, out, err);
}

/* Tags and keys escape commas, blanks and equal signs. */
static void tag(FILE *out, const char *name, const char *value)
{
        if (!*value)
                return;
        fprintf(out, ",%s=", name);
        for (; *value; value++) {
                if (strchr(", =", *value))
                        fputc('\\', out);
                if (*value != '\n')
                        fputc(*value, out);
        }
}

static const char influx_sql[] =
        "SELECT r.run_id, coalesce(r.label, ''), p.name, s.name, k.name, o.name, i.ios, i.bytes, i.errors,"
        " i.service_mean_ns, i.service_p99_ns, i.response_mean_ns, i.response_p99_ns,"
        " CAST(strftime('%s', r.started_at) AS INTEGER) * 1000000000 + coalesce(p.begun_ns, 0) + i.number * p.interval_ns"
        " FROM run r JOIN phase p USING (run_id) JOIN interval i USING (phase_id) JOIN total t USING (phase_id, key_no)"
        " JOIN stream s USING (phase_id, stream_no) JOIN kind_name k USING (kind) JOIN role_name o USING (role)"
        " WHERE r.run_id = ? ORDER BY p.position, i.number, i.key_no";

static void influx_row(FILE *out, sqlite3_stmt *stmt)
{
        static const char *const tags[] = {"run", "label", "phase", "stream", "kind", "role"};
        static const char *const times[] = {"service_mean_ns", "service_p99_ns", "response_mean_ns", "response_p99_ns"};

        fputs("dbio", out);
        for (int i = 0; i < 6; i++)
                tag(out, tags[i], dbio_db_text(stmt, i));
        fprintf(out, " ios=%lldi,bytes=%lldi,errors=%lldi", (long long)sqlite3_column_int64(stmt, 6),
                (long long)sqlite3_column_int64(stmt, 7), (long long)sqlite3_column_int64(stmt, 8));
        for (int i = 0; i < 4; i++)
                if (sqlite3_column_type(stmt, 9 + i) != SQLITE_NULL)
                        fprintf(out, ",%s=%.1f", times[i], sqlite3_column_double(stmt, 9 + i));
        fprintf(out, " %lld\n", (long long)sqlite3_column_int64(stmt, 13));
}

/* InfluxDB line protocol: measurement dbio, a line an interval of v_series at its moment. */
static int export_influx(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        for (unsigned r = 0; r < runs->n; r++) {
                sqlite3_stmt *stmt = dbio_db_query(store, err, influx_sql, "i", runs->ids[r]);
                int more;

                if (!stmt)
                        return -1;
                while ((more = dbio_db_step(store, stmt, err)) > 0)
                        influx_row(out, stmt);
                if (more < 0)
                        return -1;
        }
        return 0;
}

/* To add one: a function and its line here. */
static const struct format {
        const char *name;
        int (*write)(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err);
} formats[] = {
        {"json", dbio_show_json},
        {"csv", export_csv},
        {"hdr", dbio_export_hdr},
        {"fio-json", dbio_export_fio},
        {"influx", export_influx},
        {NULL, NULL},
};

int dbio_export(struct dbio_store *store, const struct dbio_runs *runs, const char *format, FILE *out,
                struct dbio_err *err)
{
        for (const struct format *f = formats; f->name; f++) {
                if (strcmp(f->name, format))
                        continue;
                if (f->write(store, runs, out, err))
                        return -1;
                return ferror(out) ? dbio_err_set(err, DBIO_IO, "cannot write the export") : 0;
        }
        return dbio_err_set(err, DBIO_USAGE, "no format `%s`; there are json, csv, hdr, fio-json and influx", format);
}
