/* Results of diskspd, as text (2.0 and 2.2 layouts) and as XML. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "replay/derivecsv.h"
#include "replay/oldresults.h"
#include "replay/xmltree.h"

enum { READ, WRITE, KINDS };
enum { P50, P90, P95, P99, P999, MAX, PERCENTILES };

struct span {
        unsigned line;
        double seconds, iops[KINDS], ios[KINDS], bytes[KINDS], mean[KINDS], stddev[KINDS], percentile[KINDS][PERCENTILES];
        uint64_t block, threads, depth;
        bool random, ended;       /* ended: its total table has been read */
};

static void span_clear(struct span *s)
{
        *s = (struct span){.seconds = NAN};
        for (int k = 0; k < KINDS; k++) {
                s->mean[k] = s->stddev[k] = NAN;
                for (int p = 0; p < PERCENTILES; p++)
                        s->percentile[k][p] = NAN;
        }
}

static int store_span(const struct span *s, struct dbio_old_results *out, struct dbio_err *err)
{
        char name[DBIO_OLD_NAME], phase[DBIO_OLD_NAME];

        double ios = s->ios[READ] + s->ios[WRITE];
        int most = s->ios[READ] > s->ios[WRITE] ? READ : WRITE;
        uint64_t block = s->block ? s->block : ios > 0 ? (uint64_t)((s->bytes[READ] + s->bytes[WRITE]) / ios) : 0;

        snprintf(name, sizeof name, "%s-%lluK", s->random ? "random" : "sequential", (unsigned long long)block / 1024);
        snprintf(phase, sizeof phase, "timespan-%u", out->n + 1);
        if (!dbio_old_phase_add(out, phase, dbio_old_seconds(s->seconds, 0.01, s->ios[most], s->iops[most])))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (int k = 0; k < KINDS; k++) {
                struct dbio_imported_total *t;

                if (!(s->ios[k] > 0))
                        continue;
                t = dbio_old_total_add(out, name, k == READ ? DBIO_READ : DBIO_WRITE);
                if (!t)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                t->pattern = s->random ? "io.random" : "io.sequential";
                t->threads = (unsigned)(s->threads ? s->threads : 1);
                t->depth = (unsigned)(s->depth ? s->depth : 1);
                t->ios = (uint64_t)s->ios[k];
                t->bytes = (uint64_t)s->bytes[k];
                t->service_mean = t->response_mean = s->mean[k] * 1e6;
                t->service_stddev = t->response_stddev = s->stddev[k] * 1e6;
                t->service_p50 = t->response_p50 = s->percentile[k][P50] * 1e6;
                t->service_p90 = t->response_p90 = s->percentile[k][P90] * 1e6;
                t->service_p95 = t->response_p95 = s->percentile[k][P95] * 1e6;
                t->service_p99 = t->response_p99 = s->percentile[k][P99] * 1e6;
                t->service_p999 = t->response_p999 = s->percentile[k][P999] * 1e6;
                t->service_max = t->response_max = s->percentile[k][MAX] * 1e6;
        }
        return 0;
}

/* --- text ---------------------------------------------------------------------------------------------------------- */

static double plain(const char *text)
{
        double value;

        return dbio_csv_number(text, false, &value) ? value : NAN;
}

/* `total:   146169856 |   35686 |  4.64 |  1189.03 |  0.840 |  129.18 |  1.051` of the table of that kind. */
static int take_total(const struct dbio_derive_file *file, unsigned line, struct span *s, int kind, struct dbio_err *err)
{
        char copy[400], *cells[12];
        unsigned n;

        snprintf(copy, sizeof copy, "%.399s", file->lines[line - 1] + strlen("total:"));
        n = dbio_csv_cut(copy, '|', cells, 12);
        if (n < 4 || isnan(plain(cells[0])) || isnan(plain(cells[1])) || plain(cells[0]) > 1e18 || plain(cells[1]) > 1e18)
                return dbio_derive_bad(file, line, err, "a total of bytes | I/Os | MiB/s | I/O per s is right");
        s->bytes[kind] = plain(cells[0]);
        s->ios[kind] = plain(cells[1]);
        s->iops[kind] = plain(cells[3]);
        if (n > 4)
                s->mean[kind] = plain(cells[4]);
        if (n > 6)
                s->stddev[kind] = plain(cells[6]);
        return 0;
}

static void take_percentile(struct span *s, const char *text)
{
        static const char *const rows[PERCENTILES] = {"50th", "90th", "95th", "99th", "3-nines", "max"};
        char copy[200], *cells[6];
        unsigned n;

        snprintf(copy, sizeof copy, "%.199s", text);
        n = dbio_csv_cut(copy, '|', cells, 6);
        for (int p = 0; n >= 3 && p < PERCENTILES; p++)
                if (!strcmp(cells[0], rows[p]))
                        for (int k = 0; k < KINDS; k++)
                                s->percentile[k][p] = plain(cells[1 + k]);
}

/* `block size: 8192` or `4KiB`. */
static uint64_t size_of(const char *text)
{
        static const char units[] = "KMG";
        char word[40];
        const char *rest, *unit;
        double value;

        text += strspn(text, " \t");
        snprintf(word, sizeof word, "%.*s", (int)strspn(text, "0123456789."), text);
        rest = text + strlen(word);
        unit = *rest ? strchr(units, *rest) : NULL;
        if (!dbio_csv_number(word, false, &value))
                return 0;
        value *= unit ? (double)(1ull << 10 * (unit - units + 1)) : 1;
        return value < 1e15 ? (uint64_t)value : 0;
}

static void take_parameter(struct span *s, const char *text)
{
        const char *at;

        if ((at = strstr(text, "block size:")))
                s->block = size_of(at + 11);
        else if (strstr(text, "using random I/O") || (!strncmp(text, "Command Line:", 13) && strstr(text, " -r")))
                s->random = true;
        else if ((at = strstr(text, "number of outstanding I/O operations")) && (at = strchr(at, ':')))
                s->depth = size_of(at + 1) & 0xffff;
        else if (!strncmp(text, "thread count:", 13))
                s->threads = size_of(text + 13) & 0xffffff;
        else if (!strncmp(text, "actual test time:", 17)) {
                char word[40];

                text += 17 + strspn(text + 17, " \t");
                snprintf(word, sizeof word, "%.*s", (int)strspn(text, "0123456789."), text);
                s->seconds = plain(word);
        }
}

/* `start time: 2021/04/16 19:03:38 UTC` as the views have it. */
static void take_start(struct dbio_old_results *out, const char *text)
{
        int y, mo, d, h, mi, s;

        if (!*out->started_at && sscanf(text, "%4d/%2d/%2d %2d:%2d:%2d", &y, &mo, &d, &h, &mi, &s) == 6 && y >= 1970 && mo >= 1 &&
            mo <= 12 && d >= 1 && d <= 31 && h >= 0 && h < 24 && mi >= 0 && mi < 60 && s >= 0 && s < 61)
                snprintf(out->started_at, sizeof out->started_at, "%04d-%02d-%02dT%02d:%02d:%02dZ", y, mo, d, h, mi, s);
}

static int end_span(const struct dbio_derive_file *file, struct span *s, struct dbio_old_results *out, struct dbio_err *err)
{
        if (!s->line)
                return 0;
        if (isnan(s->seconds) || !(s->seconds > 0) || !s->ended)
                return dbio_derive_bad(file, s->line, err, "results without %s: the file is cut", isnan(s->seconds) ? "`actual test time`" : "their totals");
        return store_span(s, out, err);
}

static int read_text(const struct dbio_derive_file *file, struct dbio_old_results *out, struct dbio_err *err)
{
        struct span s;
        int kind = -1;          /* of the table that is being read */
        bool overall = false;   /* percentiles of all threads and targets together */

        span_clear(&s);
        for (unsigned i = 0; i < file->nlines; i++) {
                const char *text = file->lines[i], *at = strstr(text, "start time:");

                text += strspn(text, " \t");
                if (at)
                        take_start(out, at + 11 + strspn(at + 11, " \t"));
                if (!strncmp(text, "Results for timespan", 20)) {
                        struct span next;

                        if (end_span(file, &s, out, err))
                                return -1;
                        span_clear(&next);
                        next.block = s.block;
                        next.random = s.random;
                        next.depth = s.depth;
                        s = next;
                        s.line = i + 1;
                        overall = false;
                } else if (!strcmp(text, "Read IO")) {
                        kind = READ;
                } else if (!strcmp(text, "Write IO")) {
                        kind = WRITE;
                } else if (!strcmp(text, "Total IO")) {
                        kind = -1;
                } else if (!strncmp(text, "total:", 6) && strchr(text, '|')) {
                        if (kind >= 0 && s.line && take_total(file, i + 1, &s, kind, err))
                                return -1;
                        s.ended |= kind == WRITE;
                } else if (!strcmp(text, "total:") || !strncmp(text, "Total latency distribution", 26)) {
                        overall = true;
                } else if (strstr(text, "th |") || !strncmp(text, "3-nines |", 9) || !strncmp(text, "max |", 5)) {
                        if (overall)
                                take_percentile(&s, text);
                } else {
                        take_parameter(&s, text);
                }
        }
        if (end_span(file, &s, out, err))
                return -1;
        return out->n ? 0 : dbio_derive_bad(file, 0, err, "no `Results for timespan`: no result of diskspd as text");
}

/* --- XML ----------------------------------------------------------------------------------------------------------- */

static void add_targets(struct span *s, const struct dbio_xml *span)
{
        for (unsigned i = 0; i < span->n; i++) {
                const struct dbio_xml *thread = span->items[i];

                for (unsigned j = 0; !strcmp(thread->name, "Thread") && j < thread->n; j++) {
                        const struct dbio_xml *target = thread->items[j];

                        if (strcmp(target->name, "Target"))
                                continue;
                        s->ios[READ] += dbio_xml_number(target, "ReadCount", 0);
                        s->ios[WRITE] += dbio_xml_number(target, "WriteCount", 0);
                        s->bytes[READ] += dbio_xml_number(target, "ReadBytes", 0);
                        s->bytes[WRITE] += dbio_xml_number(target, "WriteBytes", 0);
                }
        }
}

static void take_latency(struct span *s, const struct dbio_xml *latency)
{
        static const double levels[PERCENTILES] = {50, 90, 95, 99, 99.9, 100};

        s->mean[READ] = dbio_xml_number(latency, "AverageReadMilliseconds", NAN);
        s->mean[WRITE] = dbio_xml_number(latency, "AverageWriteMilliseconds", NAN);
        s->stddev[READ] = dbio_xml_number(latency, "ReadLatencyStdev", NAN);
        s->stddev[WRITE] = dbio_xml_number(latency, "WriteLatencyStdev", NAN);
        for (unsigned i = 0; latency && i < latency->n; i++) {
                const struct dbio_xml *bucket = latency->items[i];
                double level = strcmp(bucket->name, "Bucket") ? NAN : dbio_xml_number(bucket, "Percentile", NAN);

                for (int p = 0; p < PERCENTILES; p++)
                        if (fabs(level - levels[p]) < 1e-9) {
                                s->percentile[READ][p] = dbio_xml_number(bucket, "ReadMilliseconds", NAN);
                                s->percentile[WRITE][p] = dbio_xml_number(bucket, "WriteMilliseconds", NAN);
                        }
        }
}

static int take_span(const struct dbio_derive_file *file, const struct dbio_xml *root, const struct dbio_xml *xml,
                     struct dbio_old_results *out, struct dbio_err *err)
{
        const struct dbio_xml *target = dbio_xml_find(dbio_xml_get(root, "Profile"), "Target");
        struct span s;

        span_clear(&s);
        s.seconds = dbio_xml_number(xml, "TestTimeSeconds", NAN);
        s.threads = (uint64_t)fmax(1, fmin(65535, dbio_xml_number(xml, "ThreadCount", 1)));
        s.block = (uint64_t)fmax(0, fmin(1e15, dbio_xml_number(target, "BlockSize", 0)));
        s.depth = (uint64_t)fmax(1, fmin(65535, dbio_xml_number(target, "RequestCount", 1)));
        s.random = dbio_xml_get(target, "Random") != NULL;
        add_targets(&s, xml);
        take_latency(&s, dbio_xml_get(xml, "Latency"));
        if (!(s.seconds > 0) || s.seconds > 1e9)
                return dbio_derive_bad(file, xml->line, err, "a TimeSpan without TestTimeSeconds");
        for (int k = 0; k < KINDS; k++)
                if (!(s.ios[k] >= 0 && s.ios[k] < 1e18 && s.bytes[k] >= 0 && s.bytes[k] < 1e18))
                        return dbio_derive_bad(file, xml->line, err, "counts that cannot be");
        return store_span(&s, out, err);
}

static int read_xml(const struct dbio_derive_file *file, struct dbio_old_results *out, struct dbio_err *err)
{
        struct dbio_xml *root = dbio_xml_parse(file, err);
        const struct dbio_xml *results = dbio_xml_find(root, "Results");
        char started[40];
        int code = 0;

        if (!root)
                return -1;
        snprintf(started, sizeof started, "%.39s", dbio_xml_text(dbio_xml_get(results, "System"), "RunTime", ""));
        take_start(out, started);
        for (unsigned i = 0; !code && results && i < results->n; i++)
                if (!strcmp(results->items[i]->name, "TimeSpan"))
                        code = take_span(file, results, results->items[i], out, err);
        if (!code && !out->n)
                code = dbio_derive_bad(file, root->line, err, "no Results with a TimeSpan in it: a profile alone is for derive");
        dbio_xml_free(root);
        return code;
}

const struct dbio_old_format dbio_old_diskspd_text = {"diskspd-text", "diskspd results as text -> runs", "diskspd", read_text};
const struct dbio_old_format dbio_old_diskspd_xml = {"diskspd-xml", "diskspd results as XML (-Rxml) -> runs", "diskspd", read_xml};
