/* fio's JSON output (2.x with usec, 3.x with nsec). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/op.h"
#include "replay/oldresults.h"

static double number(const json_t *object, const char *name)
{
        const json_t *value = json_object_get(object, name);

        if (json_is_string(value)) { /* job options are texts */
                char *rest;
                double said = strtod(json_string_value(value), &rest);
                return *rest || rest == json_string_value(value) ? NAN : said;
        }
        return json_is_number(value) ? json_number_value(value) : NAN;
}

/* clat_ns, else clat in us; *unit in ns. */
static const json_t *latency(const json_t *side, const char *name, double *unit)
{
        char key[16];
        const json_t *found;

        snprintf(key, sizeof key, "%s_ns", name);
        found = json_object_get(side, key);
        *unit = found ? 1 : 1000;
        return found ? found : json_object_get(side, name);
}

static double percentile(const json_t *lat, const char *level)
{
        return number(json_object_get(lat, "percentile"), level);
}

static void take_service(struct dbio_imported_total *t, const json_t *lat, double unit)
{
        t->service_mean = number(lat, "mean") * unit;
        t->service_stddev = number(lat, "stddev") * unit;
        t->service_max = number(lat, "max") * unit;
        t->service_p50 = percentile(lat, "50.000000") * unit;
        t->service_p90 = percentile(lat, "90.000000") * unit;
        t->service_p95 = percentile(lat, "95.000000") * unit;
        t->service_p99 = percentile(lat, "99.000000") * unit;
        t->service_p999 = percentile(lat, "99.900000") * unit;
}

static void take_response(struct dbio_imported_total *t, const json_t *lat, double unit)
{
        t->response_mean = number(lat, "mean") * unit;
        t->response_stddev = number(lat, "stddev") * unit;
        t->response_max = number(lat, "max") * unit;
        t->response_p50 = percentile(lat, "50.000000") * unit;
        t->response_p90 = percentile(lat, "90.000000") * unit;
        t->response_p95 = percentile(lat, "95.000000") * unit;
        t->response_p99 = percentile(lat, "99.000000") * unit;
        t->response_p999 = percentile(lat, "99.900000") * unit;
}

static bool is_count(double value)
{
        return value >= 0 && value < 1e18;
}

static int take_side(const struct dbio_derive_file *file, const json_t *job, const char *name, int kind, struct dbio_old_results *out,
                     struct dbio_err *err)
{
        static const char *const sides[] = {[DBIO_READ] = "read", [DBIO_WRITE] = "write", [DBIO_TRIM] = "trim"};
        const json_t *side = json_object_get(job, sides[kind]), *options = json_object_get(job, "job options");
        double ios = number(side, "total_ios"), bytes = number(side, "io_bytes"), unit, threads = number(options, "numjobs"), depth;
        struct dbio_imported_total *t;

        if (!side || !(ios > 0))
                return 0;
        /* Before 3.0 io_bytes was in KiB where io_kbytes is missing. */
        if (!json_object_get(side, "io_kbytes"))
                bytes *= 1024;
        if (!is_count(ios) || !is_count(bytes))
                return dbio_derive_bad(file, 0, err, "job %.60s: total_ios or io_bytes is missing, or cannot be", name);
        t = dbio_old_total_add(out, name, kind);
        if (!t)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        t->ios = (uint64_t)ios;
        t->bytes = (uint64_t)bytes;
        depth = number(options, "iodepth");
        t->threads = threads >= 1 && threads < 65536 ? (unsigned)threads : 1;
        t->depth = depth >= 1 && depth < 65536 ? (unsigned)depth : 1;
        const json_t *clat = latency(side, "clat", &unit);
        if (json_object_get(json_object_get(job, "job options"), "rw"))
                t->pattern = strstr(json_string_value(json_object_get(options, "rw")) ? json_string_value(json_object_get(options, "rw")) : "", "rand")
                                     ? "io.random" : "io.sequential";
        take_service(t, clat, unit);
        const json_t *lat = latency(side, "lat", &unit);
        take_response(t, lat, unit);
        return 0;
}

/* Jobs of one group ran together: a phase. */
static int take_jobs(const struct dbio_derive_file *file, const json_t *jobs, struct dbio_old_results *out, struct dbio_err *err)
{
        double group = NAN;
        size_t i;
        json_t *job;

        json_array_foreach(jobs, i, job) {
                const char *said = json_string_value(json_object_get(job, "jobname"));
                double own = number(job, "groupid"), ms = number(job, "job_runtime");
                char name[DBIO_OLD_NAME], phase[32];

                snprintf(name, sizeof name, "%.50s", said ? said : "job");
                if (!(ms > 0))
                        ms = fmax(number(json_object_get(job, "read"), "runtime"), number(json_object_get(job, "write"), "runtime"));
                /* Of several groups and threads together; a job's own time is nearer. */
                double longest = fmax(number(json_object_get(job, "read"), "runtime"), number(json_object_get(job, "write"), "runtime"));
                if (longest > 0)
                        ms = longest;
                if (!(ms > 0) || ms > 1e12)
                        return dbio_derive_bad(file, 0, err, "job %s has no runtime", name);
                if (!i || own != group) {
                        snprintf(phase, sizeof phase, "group-%.0f", isnan(own) ? 0 : fmin(fmax(own, 0), 1e9));
                        if (!dbio_old_phase_add(out, phase, ms / 1000))
                                return dbio_err_set(err, DBIO_IO, "out of memory");
                        group = own;
                }
                struct dbio_old_phase *last = &out->phases[out->n - 1];
                if ((uint64_t)(ms * 1e6) > last->duration_ns)
                        last->duration_ns = (uint64_t)(ms * 1e6);
                /* numjobs without group_reporting: several of one name. */
                for (unsigned t = 0, number_ = 1; t < last->n; t++)
                        if (!strcmp(last->totals[t].stream, name)) {
                                snprintf(name, sizeof name, "%.50s-%u", said ? said : "job", ++number_);
                                t = UINT32_MAX;
                        }
                for (int kind = DBIO_READ; kind <= DBIO_WRITE; kind++)
                        if (take_side(file, job, name, kind, out, err))
                                return -1;
                if (take_side(file, job, name, DBIO_TRIM, out, err))
                        return -1;
        }
        return 0;
}

static int read_json(const struct dbio_derive_file *file, struct dbio_old_results *out, struct dbio_err *err)
{
        char *text = NULL;
        size_t size;
        FILE *joined = open_memstream(&text, &size);
        unsigned first = 0;
        json_error_t error;
        json_t *root;
        double stamp;
        int code;

        if (!joined)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        /* fio writes warnings before the document. */
        while (first < file->nlines && file->lines[first][0] != '{')
                first++;
        for (unsigned i = first; i < file->nlines; i++)
                fprintf(joined, "%s\n", file->lines[i]);
        fclose(joined);
        root = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
        free(text);
        if (!root)
                return dbio_derive_bad(file, first + (unsigned)(error.line > 0 ? error.line : 1), err, "no whole JSON document: %s", error.text);
        stamp = number(root, "timestamp");
        if (stamp > 0 && stamp < 4e9) {
                time_t at = (time_t)stamp;
                struct tm tm;

                strftime(out->started_at, sizeof out->started_at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
        }
        code = json_array_size(json_object_get(root, "jobs")) ? take_jobs(file, json_object_get(root, "jobs"), out, err)
                                                              : dbio_derive_bad(file, 0, err, "no `jobs`: no JSON output of fio");
        json_decref(root);
        return code;
}

const struct dbio_old_format dbio_old_fio_json = {"fio-json", "fio's JSON output -> runs", "fio", read_json};
