/* fio's JSON (fio 3.x, stat.c's members), so that what reads fio's output reads this. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/export.h"
#include "results/histcode.h"

/* One stream of one phase. */
struct job {
        char phase[64], stream[64], pattern[64];
        double duration_ns;
        struct {
                uint64_t ios, bytes;
                struct dbio_hist service, response, wait;
                double low, high, sum, squares; /* IOPS of the intervals */
                unsigned samples;
        } kinds[DBIO_COMMIT];
        uint64_t errors, depth_peak;
};

static uint64_t lowest(const struct dbio_hist *hist)
{
        return hist->count > hist->overflow ? dbio_hist_highest(hist->low) : 0;
}

static json_t *latency(const struct dbio_hist *hist, bool percentiles)
{
        static const double points[] = {1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
        struct dbio_stats stats = dbio_stats_of(hist);
        json_t *value = json_pack("{s:I, s:I, s:f, s:f, s:I}", "min", (json_int_t)lowest(hist), "max",
                                  (json_int_t)hist->max_ns, "mean", hist->count ? stats.mean : 0.0, "stddev",
                                  hist->count ? stats.stddev : 0.0, "N", (json_int_t)hist->count);

        if (percentiles && hist->count) {
                json_t *list = json_object();

                for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
                        char name[16];

                        snprintf(name, sizeof name, "%.6f", points[i]);
                        json_object_set_new(list, name,
                                            json_integer((json_int_t)dbio_hist_percentile(hist, points[i] / 100)));
                }
                json_object_set_new(value, "percentile", list);
        }
        return value;
}

static json_t *direction(const struct job *job, int kind)
{
        double seconds = job->duration_ns / 1e9, ios = (double)job->kinds[kind].ios, bytes = (double)job->kinds[kind].bytes;
        double n = job->kinds[kind].samples, mean = n > 0 ? job->kinds[kind].sum / n : 0;
        double variance = n > 0 ? job->kinds[kind].squares / n - mean * mean : 0;
        double rate = seconds > 0 ? bytes / seconds : 0, kib = ios > 0 ? bytes / ios / 1024 : 0;

        return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:i, s:i, s:o, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:i, s:I, "
                         "s:I, s:f, s:f, s:i}",
                         "io_bytes", (json_int_t)bytes, "io_kbytes", (json_int_t)(bytes / 1024), "bw_bytes",
                         (json_int_t)rate, "bw", (json_int_t)(rate / 1024), "iops", seconds > 0 ? ios / seconds : 0.0,
                         "runtime", (json_int_t)(ios > 0 ? job->duration_ns / 1e6 : 0), "total_ios", (json_int_t)ios,
                         "short_ios", 0, "drop_ios", 0, "slat_ns", latency(&job->kinds[kind].wait, false), "clat_ns",
                         latency(&job->kinds[kind].service, true), "lat_ns", latency(&job->kinds[kind].response, true),
                         "bw_min", (json_int_t)(job->kinds[kind].low * kib), "bw_max",
                         (json_int_t)(job->kinds[kind].high * kib), "bw_agg", ios > 0 ? 100.0 : 0.0, "bw_mean", mean * kib,
                         "bw_dev", variance > 0 ? sqrt(variance) * kib : 0.0, "bw_samples", (int)n, "iops_min",
                         (json_int_t)job->kinds[kind].low, "iops_max", (json_int_t)job->kinds[kind].high, "iops_mean", mean,
                         "iops_stddev", variance > 0 ? sqrt(variance) : 0.0, "iops_samples", (int)n);
}

/* Shares of all ops whose completion took less than each bound: fio's buckets of ns, us and ms. */
static json_t *shares(const struct job *job, const char *const *names, const double *bounds, unsigned n, double from)
{
        json_t *value = json_object();
        double all = 0;

        for (int k = 0; k < DBIO_COMMIT; k++)
                all += (double)job->kinds[k].service.count;
        for (unsigned i = 0; i < n; i++) {
                double low = i ? bounds[i - 1] : from, part = 0;

                for (int k = 0; k < DBIO_COMMIT; k++) {
                        const struct dbio_hist *h = &job->kinds[k].service;

                        for (uint32_t c = h->low; h->count > h->overflow && c <= h->high; c++) {
                                double ns = (double)dbio_hist_highest(c);

                                if (ns >= low && ns < bounds[i])
                                        part += h->counts[c];
                        }
                        part += isinf(bounds[i]) ? (double)h->overflow : 0;
                }
                json_object_set_new(value, names[i], json_real(all > 0 ? 100 * part / all : 0));
        }
        return value;
}

static void add_shares(json_t *value, const struct job *job)
{
        static const char *const names[] = {"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000",
                                            ">=2000"};
        double bounds[12] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, INFINITY}, scaled[12];
        static const char *const units[] = {"latency_ns", "latency_us", "latency_ms"};
        double scale = 1;

        for (int u = 0; u < 3; u++, scale *= 1000) {
                for (int i = 0; i < 12; i++)
                        scaled[i] = bounds[i] * scale;
                json_object_set_new(value, units[u], shares(job, names, scaled, u < 2 ? 10 : 12, u ? scale : 0));
        }
}

static json_t *job_value(const struct job *job, double user_share, double system_share)
{
        char name[140];

        snprintf(name, sizeof name, "%s/%s", job->phase, job->stream);
        json_t *value = json_pack("{s:s, s:i, s:i, s:i, s:I, s:{s:s, s:s}, s:o, s:o, s:o, s:{s:I, s:o}, s:I, s:f, s:f, s:i, "
                                  "s:i, s:i}",
                                  "jobname", name, "groupid", 0, "error", job->errors ? 5 : 0, "eta", 0, "elapsed",
                                  (json_int_t)ceil(job->duration_ns / 1e9), "job options", "name", name, "pattern",
                                  job->pattern, "read", direction(job, DBIO_READ), "write", direction(job, DBIO_WRITE),
                                  "trim", direction(job, DBIO_TRIM), "sync", "total_ios",
                                  (json_int_t)job->kinds[DBIO_FSYNC].ios, "lat_ns",
                                  latency(&job->kinds[DBIO_FSYNC].service, true), "job_runtime",
                                  (json_int_t)(job->duration_ns / 1e6), "usr_cpu", user_share, "sys_cpu", system_share,
                                  "ctx", 0, "majf", 0, "minf", 0);
        add_shares(value, job);
        json_object_set_new(value, "latency_depth", json_integer((json_int_t)job->depth_peak));
        json_object_set_new(value, "latency_target", json_integer(0));
        json_object_set_new(value, "latency_percentile", json_real(100));
        json_object_set_new(value, "latency_window", json_integer(0));
        return value;
}

static const char keys_sql[] =
        "SELECT p.name, s.name, coalesce(s.pattern, ''), p.duration_ns, t.kind, t.ios, t.bytes, t.errors, t.depth_peak,"
        " t.service_hist, t.response_hist, t.wait_hist, p.phase_id, t.stream_no,"
        " (SELECT count(*) || ' ' || coalesce(min(n), 0) || ' ' || coalesce(max(n), 0) || ' ' || coalesce(sum(n), 0) || ' '"
        " || coalesce(sum(n * n), 0) FROM (SELECT i.ios * 1e9 / p.interval_ns AS n FROM interval i"
        " WHERE i.phase_id = p.phase_id AND i.key_no = t.key_no AND (i.number + 1) * p.interval_ns <= p.duration_ns))"
        " FROM phase p JOIN total t USING (phase_id) JOIN stream s USING (phase_id, stream_no) WHERE p.run_id = ?"
        " AND t.kind < 4 ORDER BY p.position, t.stream_no";

static int add_key(struct job *job, sqlite3_stmt *stmt, struct dbio_err *err)
{
        int kind = sqlite3_column_int(stmt, 4);
        struct dbio_hist *hists[] = {&job->kinds[kind].service, &job->kinds[kind].response, &job->kinds[kind].wait};
        unsigned samples = 0;
        double low = 0, high = 0, sum = 0, squares = 0;

        job->kinds[kind].ios += (uint64_t)sqlite3_column_int64(stmt, 5);
        job->kinds[kind].bytes += (uint64_t)sqlite3_column_int64(stmt, 6);
        job->errors += (uint64_t)sqlite3_column_int64(stmt, 7);
        if ((uint64_t)sqlite3_column_int64(stmt, 8) > job->depth_peak)
                job->depth_peak = (uint64_t)sqlite3_column_int64(stmt, 8);
        if (sscanf(dbio_db_text(stmt, 14), "%u %lf %lf %lf %lf", &samples, &low, &high, &sum, &squares) == 5) {
                job->kinds[kind].samples += samples;
                job->kinds[kind].low = low;
                job->kinds[kind].high = fmax(job->kinds[kind].high, high);
                job->kinds[kind].sum += sum;
                job->kinds[kind].squares += squares;
        }
        for (int h = 0; h < 3; h++)
                if (dbio_hist_decode(hists[h], sqlite3_column_blob(stmt, 9 + h), (size_t)sqlite3_column_bytes(stmt, 9 + h)))
                        return dbio_err_set(err, DBIO_IO, "results: a histogram cannot be read");
        return 0;
}

static int fill_jobs(struct dbio_store *store, int64_t run_id, json_t *jobs, const double cpu[2], struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, keys_sql, "i", run_id);
        struct job *job = calloc(1, sizeof *job);
        int64_t phase = -1, stream = -1;
        int more = stmt && job ? 1 : -1;

        while (more > 0 && (more = dbio_db_step(store, stmt, err)) > 0) {
                if (phase != sqlite3_column_int64(stmt, 12) || stream != sqlite3_column_int64(stmt, 13)) {
                        if (phase >= 0)
                                json_array_append_new(jobs, job_value(job, cpu[0], cpu[1]));
                        memset(job, 0, sizeof *job);
                        phase = sqlite3_column_int64(stmt, 12);
                        stream = sqlite3_column_int64(stmt, 13);
                        snprintf(job->phase, sizeof job->phase, "%s", dbio_db_text(stmt, 0));
                        snprintf(job->stream, sizeof job->stream, "%s", dbio_db_text(stmt, 1));
                        snprintf(job->pattern, sizeof job->pattern, "%s", dbio_db_text(stmt, 2));
                        job->duration_ns = sqlite3_column_double(stmt, 3);
                }
                if (add_key(job, stmt, err)) {
                        sqlite3_reset(stmt);
                        more = -1;
                }
        }
        if (more == 0 && phase >= 0)
                json_array_append_new(jobs, job_value(job, cpu[0], cpu[1]));
        free(job);
        return more;
}

static json_t *run_value(struct dbio_store *store, int64_t run_id, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT CAST(strftime('%s', started_at) AS INTEGER), started_at, "
                                           "100.0 * cpu_user_ns / nullif(wall_ns, 0), 100.0 * cpu_sys_ns / nullif(wall_ns, 0), "
                                           "coalesce(tool_version, '') FROM run WHERE run_id = ?", "i", run_id);
        int found = stmt ? dbio_db_step(store, stmt, err) : -1;
        char version[64];

        if (found <= 0)
                return NULL;
        json_int_t started = sqlite3_column_int64(stmt, 0);
        double cpu[2] = {sqlite3_column_double(stmt, 2), sqlite3_column_double(stmt, 3)};
        /* Readers look for "fio-3" to know the layout. */
        snprintf(version, sizeof version, "fio-3.33 (written by dbio %s)", dbio_db_text(stmt, 4));
        json_t *jobs = json_array();
        json_t *value = json_pack("{s:s, s:I, s:I, s:s, s:{}, s:o, s:[]}", "fio version", version, "timestamp", started,
                                  "timestamp_ms", started * 1000, "time", dbio_db_text(stmt, 1), "global options", "jobs",
                                  jobs, "disk_util");
        sqlite3_reset(stmt);
        if (fill_jobs(store, run_id, jobs, cpu, err)) {
                json_decref(value);
                return NULL;
        }
        return value;
}

int dbio_export_fio(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        json_t *all = NULL;

        /* fio writes one run a file: of a set, the jobs of all runs follow each other. */
        for (unsigned r = 0; r < runs->n; r++) {
                json_t *value = run_value(store, runs->ids[r], err);

                if (!value) {
                        json_decref(all);
                        return -1;
                }
                if (!all) {
                        all = value;
                        continue;
                }
                json_array_extend(json_object_get(all, "jobs"), json_object_get(value, "jobs"));
                json_decref(value);
        }
        int code = all && json_dumpf(all, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12))
                           ? dbio_err_set(err, DBIO_IO, "cannot write the export")
                           : 0;
        fputc('\n', out);
        json_decref(all);
        return code;
}
