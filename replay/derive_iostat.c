/* iostat -x (text with a point or a decimal comma, or -o JSON), and snapshots of /proc/diskstats with `TS seconds` lines
 * between them. Reports and snapshots are differenced or averaged: means a second of each device. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

#define COLUMNS 64

enum { READS, WRITES, KINDS };

/* Sums over the reports, or differences of snapshots. */
struct device {
        char name[64];
        double ios[KINDS], bytes[KINDS], ms[KINDS]; /* of ms: sum of await × ios */
        double discards, flushes, flush_ms, peak;
        bool has_ms;
};

struct snapshot {
        double at_s;
        unsigned line;
};

struct table {
        const struct dbio_derive_file *file;
        struct dbio_derived *out;
        struct device *devices;
        unsigned n;
        unsigned reports;     /* that counted, or 1 */
        double seconds;       /* that they cover; NAN = not known */
        unsigned first_line, last_line;
};

static struct device *find_device(struct table *table, const char *name)
{
        for (unsigned i = 0; i < table->n; i++)
                if (!strcmp(table->devices[i].name, name))
                        return &table->devices[i];
        struct device *more = realloc(table->devices, (table->n + 1) * sizeof *more);
        if (!more)
                return NULL;
        table->devices = more;
        more = &table->devices[table->n++];
        *more = (struct device){0};
        snprintf(more->name, sizeof more->name, "%.63s", name);
        return more;
}

/* --- iostat -x ----------------------------------------------------------------------------------------------------- */

struct values {
        double r, w, d, f, rkb, wkb, rms, wms, fms;
};

/* One report's line of a device. */
static int add_values(struct table *table, const char *name, const struct values *v, struct dbio_err *err)
{
        struct device *device = find_device(table, name);

        if (!device)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        device->ios[READS] += v->r;
        device->ios[WRITES] += v->w;
        device->bytes[READS] += v->rkb * 1024;
        device->bytes[WRITES] += v->wkb * 1024;
        if (!isnan(v->rms)) {
                device->has_ms = true;
                device->ms[READS] += v->rms * v->r;
                device->ms[WRITES] += (isnan(v->wms) ? v->rms : v->wms) * v->w;
        }
        device->discards += v->d;
        device->flushes += v->f;
        device->flush_ms += v->f * v->fms;
        device->peak = fmax(device->peak, v->r + v->w);
        return 0;
}

static int column_of(char *const *names, unsigned n, const char *name)
{
        for (unsigned i = 0; i < n; i++)
                if (!strcmp(names[i], name))
                        return (int)i;
        return -1;
}

struct columns {
        char *text, *names[COLUMNS];
        unsigned n;
};

/* A value by its column's name; fallback where there is none; false where it is no number. */
static bool value_at(const struct columns *head, char **words, const char *name, double *value, double fallback)
{
        int column = column_of(head->names, head->n, name);

        *value = fallback;
        return column < 0 || dbio_csv_number(words[column], true, value);
}

/* kB/s whichever unit the columns have. */
static bool rate_at(const struct columns *head, char **words, char kind, double *kb)
{
        static const struct {
                const char *name;
                double factor;
        } units[] = {{"kB/s", 1}, {"MB/s", 1024}, {"sec/s", 0.5}, {"KB/s", 1}};
        char name[16];

        *kb = 0;
        for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
                snprintf(name, sizeof name, "%c%s", kind, units[i].name);
                if (column_of(head->names, head->n, name) < 0)
                        continue;
                if (!value_at(head, words, name, kb, 0))
                        return false;
                *kb *= units[i].factor;
                return true;
        }
        return true;
}

static int take_row(struct table *table, const struct columns *head, unsigned line, struct dbio_err *err)
{
        const struct dbio_derive_file *file = table->file;
        char *text = strdup(file->lines[line - 1]), *words[COLUMNS];
        unsigned n = text ? dbio_derive_words(text, words, COLUMNS) : 0;
        struct values v = {0};
        int code = -1;

        if (n != head->n) {
                dbio_derive_bad(file, line, err, "%u columns, where the names above are %u", n, head->n);
        } else if (!value_at(head, words, "r/s", &v.r, 0) || !value_at(head, words, "w/s", &v.w, 0) ||
                   !value_at(head, words, "d/s", &v.d, 0) || !value_at(head, words, "f/s", &v.f, 0) ||
                   !rate_at(head, words, 'r', &v.rkb) || !rate_at(head, words, 'w', &v.wkb) ||
                   !value_at(head, words, "await", &v.rms, NAN) || !value_at(head, words, "r_await", &v.rms, v.rms) ||
                   !value_at(head, words, "w_await", &v.wms, NAN) || !value_at(head, words, "f_await", &v.fms, 0)) {
                dbio_derive_bad(file, line, err, "a column of %s is no number", words[0]);
        } else {
                code = add_values(table, words[0], &v, err);
        }
        free(text);
        return code;
}

/* The first report holds means since the system's start: it is skipped. */
static int read_text(struct table *table, struct dbio_err *err)
{
        const struct dbio_derive_file *file = table->file;
        struct columns head = {0};
        unsigned reports = 0;
        int code = 0;

        for (unsigned i = 0; !code && i < file->nlines; i++) {
                const char *text = file->lines[i];

                if (!strncmp(text, "Device", 6)) {
                        free(head.text);
                        head.text = strdup(text);
                        head.n = head.text ? dbio_derive_words(head.text, head.names, COLUMNS) : 0;
                        if (column_of(head.names, head.n, "r/s") < 0)
                                code = dbio_derive_bad(file, i + 1, err, "no column r/s: iostat -x is needed");
                        reports++;
                        table->last_line = i + 1;
                        if (reports == 2)
                                table->first_line = i + 1;
                } else if (!*text || !head.n) {
                        head.n = 0; /* a blank line ends a report */
                } else if (reports > 1) {
                        code = take_row(table, &head, i + 1, err);
                }
        }
        free(head.text);
        if (!code && !reports)
                return dbio_derive_bad(file, 0, err, "neither iostat -x nor snapshots of /proc/diskstats with `TS seconds` lines");
        if (!code && reports < 2)
                return dbio_derive_bad(file, table->last_line, err, "one report alone, of means since the system's start: take two or more (iostat -x 1 60)");
        table->reports = reports - 1;
        return code;
}

static double json_value(const json_t *disk, const char *name, double fallback)
{
        const json_t *value = json_object_get(disk, name);
        double number = json_is_number(value) ? json_number_value(value) : fallback;

        return number >= 0 && number < 1e15 ? number : fallback;
}

static int take_json_report(struct table *table, const json_t *disks, struct dbio_err *err)
{
        size_t i;
        json_t *disk;

        json_array_foreach(disks, i, disk) {
                const char *name = json_string_value(json_object_get(disk, "disk_device"));
                bool mib = json_object_get(disk, "rMB/s") != NULL;
                struct values v = {
                        .r = json_value(disk, "r/s", 0), .w = json_value(disk, "w/s", 0), .d = json_value(disk, "d/s", 0),
                        .f = json_value(disk, "f/s", 0), .rms = json_value(disk, "r_await", NAN), .wms = json_value(disk, "w_await", NAN),
                        .fms = json_value(disk, "f_await", 0),
                        .rkb = mib ? 1024 * json_value(disk, "rMB/s", 0) : json_value(disk, "rkB/s", 0),
                        .wkb = mib ? 1024 * json_value(disk, "wMB/s", 0) : json_value(disk, "wkB/s", 0),
                };

                if (name && add_values(table, name, &v, err))
                        return -1;
        }
        return 0;
}

static int read_json(struct table *table, struct dbio_err *err)
{
        const struct dbio_derive_file *file = table->file;
        char *text = NULL;
        size_t size, i;
        FILE *joined = open_memstream(&text, &size);
        json_error_t error;
        json_t *root, *reports, *report;
        int code = 0;

        if (!joined)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned line = 0; line < file->nlines; line++)
                fprintf(joined, "%s\n", file->lines[line]);
        fclose(joined);
        root = json_loads(text, 0, &error);
        free(text);
        if (!root)
                return dbio_derive_bad(file, (unsigned)(error.line > 0 ? error.line : 0), err, "no whole JSON document: %s", error.text);
        reports = json_object_get(json_array_get(json_object_get(json_object_get(root, "sysstat"), "hosts"), 0), "statistics");
        if (json_array_size(reports) < 2)
                code = dbio_derive_bad(file, 0, err, "not two reports of iostat -x -o JSON in it (the first holds means since the system's start)");
        table->first_line = table->last_line = 1;
        table->reports = (unsigned)json_array_size(reports) - 1;
        json_array_foreach(reports, i, report)
                if (!code && i)
                        code = take_json_report(table, json_object_get(report, "disk"), err);
        json_decref(root);
        return code;
}

/* --- /proc/diskstats ----------------------------------------------------------------------------------------------- */

#define FIELDS 17 /* behind the name: 11 of old, 15 with discards, 17 with flushes */

struct counters {
        char name[64];
        bool seen;
        double v[FIELDS];
};

/* A counter's growth; one that wrapped at 2^32 (old kernels) has grown too. */
static bool growth(double before, double now, double *by)
{
        *by = now - before;
        if (now < before && before < 4294967296.0 && before > 2147483648.0)
                *by += 4294967296.0;
        return *by >= 0;
}

static int take_counters(struct table *table, unsigned line, const char *name, const double now[FIELDS], struct counters *before,
                         double seconds, struct dbio_err *err)
{
        struct device *device = find_device(table, name);
        double by[FIELDS];

        if (!device)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (int i = 0; i < FIELDS; i++)
                if (!growth(before->v[i], now[i], &by[i]) && i != 8)
                        return dbio_derive_bad(table->file, line, err, "a counter of %s goes back: the system was started anew between the snapshots", name);
        device->has_ms = true;
        device->ios[READS] += by[0];
        device->bytes[READS] += by[2] * 512;
        device->ms[READS] += by[3];
        device->ios[WRITES] += by[4];
        device->bytes[WRITES] += by[6] * 512;
        device->ms[WRITES] += by[7];
        device->discards += by[11];
        device->flushes += by[15];
        device->flush_ms += by[16];
        if (seconds > 0)
                device->peak = fmax(device->peak, (by[0] + by[4]) / seconds);
        return 0;
}

static struct counters *find_counters(struct counters **list, unsigned *n, const char *name)
{
        for (unsigned i = 0; i < *n; i++)
                if (!strcmp((*list)[i].name, name))
                        return &(*list)[i];
        struct counters *more = realloc(*list, (*n + 1) * sizeof *more);
        if (!more)
                return NULL;
        *list = more;
        more = &(*list)[(*n)++];
        *more = (struct counters){0};
        snprintf(more->name, sizeof more->name, "%.63s", name);
        return more;
}

struct snapshots {
        struct counters *last;
        unsigned n, count, short_rows;
        double first_s, before_s, now_s;
};

static int take_stats_row(struct table *table, struct snapshots *s, unsigned line, char **words, unsigned n, struct dbio_err *err)
{
        struct counters *counters;
        double now[FIELDS] = {0};

        if (n < 14) {
                s->short_rows++;
                return 0;
        }
        for (unsigned i = 0; i < FIELDS && i + 3 < n; i++)
                if (strspn(words[i + 3], "0123456789") != strlen(words[i + 3]) || !dbio_csv_number(words[i + 3], false, &now[i]) ||
                    now[i] > 1.8446744073709552e19)
                        return dbio_derive_bad(table->file, line, err, "%.40s is no counter", words[i + 3]);
        counters = find_counters(&s->last, &s->n, words[2]);
        if (!counters)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (counters->seen && take_counters(table, line, words[2], now, counters, s->now_s - s->before_s, err))
                return -1;
        counters->seen = true;
        memcpy(counters->v, now, sizeof now);
        return 0;
}

static int take_stamp(struct table *table, struct snapshots *s, unsigned line, const char *text, struct dbio_err *err)
{
        double at;

        if (!dbio_csv_number(text, false, &at))
                return dbio_derive_bad(table->file, line, err, "TS %.40s: seconds are right", text);
        if (s->count && !(at > s->now_s))
                return dbio_derive_bad(table->file, line, err, "a snapshot that is not later than the one before it");
        s->before_s = s->count ? s->now_s : at;
        s->now_s = at;
        if (!s->count++) {
                s->first_s = at;
                table->first_line = line;
        }
        table->last_line = line;
        return 0;
}

static int read_stats(struct table *table, const struct dbio_derive_file *files, unsigned nfiles, struct dbio_err *err)
{
        struct snapshots s = {0};
        int code = 0;

        for (unsigned f = 0; f < nfiles; f++) {
                table->file = &files[f];
                for (unsigned i = 0; !code && i < files[f].nlines; i++) {
                        char text[512], *words[32];
                        unsigned n;

                        if (strlen(files[f].lines[i]) >= sizeof text) {
                                code = dbio_derive_bad(&files[f], i + 1, err, "a line beyond %zu bytes", sizeof text);
                                break;
                        }
                        strcpy(text, files[f].lines[i]);
                        n = dbio_derive_words(text, words, 32);
                        if (n >= 2 && !strcmp(words[0], "TS"))
                                code = take_stamp(table, &s, i + 1, words[1], err);
                        else if (n >= 3 && s.count)
                                code = take_stats_row(table, &s, i + 1, words, n, err);
                }
        }
        free(s.last);
        table->file = &files[0];
        if (!code && s.count < 2)
                code = dbio_derive_bad(&files[0], table->last_line, err, "one snapshot alone: rates need two, each behind a line `TS seconds`");
        table->seconds = s.now_s - s.first_s;
        table->reports = 1;
        if (s.short_rows)
                dbio_derived_note(table->out, "%u rows of partitions without all counters are left out", s.short_rows);
        return code;
}

/* --- what both tell ------------------------------------------------------------------------------------------------ */

static bool is_busy(const struct device *device)
{
        return device->ios[READS] + device->ios[WRITES] > 0;
}

/* The disk that a partition is of: sda of sda3, cciss/c0d1 of cciss/c0d1p2. */
static const struct device *disk_of(const struct table *table, const struct device *device)
{
        for (unsigned i = 0; i < table->n; i++) {
                size_t n = strlen(table->devices[i].name);
                const char *rest = device->name + n;

                if (&table->devices[i] == device || strncmp(table->devices[i].name, device->name, n) || !*rest || !is_busy(&table->devices[i]))
                        continue;
                if (n && table->devices[i].name[n - 1] >= '0' && table->devices[i].name[n - 1] <= '9' && *rest++ != 'p')
                        continue;
                if (*rest && strspn(rest, "0123456789") == strlen(rest))
                        return &table->devices[i];
        }
        return NULL;
}

static bool is_stacked(const struct device *device)
{
        return !strncmp(device->name, "dm-", 3) || !strncmp(device->name, "md", 2);
}

static bool has_disks(const struct table *table)
{
        for (unsigned i = 0; i < table->n; i++)
                if (is_busy(&table->devices[i]) && !is_stacked(&table->devices[i]) && strncmp(table->devices[i].name, "loop", 4))
                        return true;
        return false;
}

static void tell_device(struct table *table, const struct device *device, double seconds)
{
        char from[300], name[80], number[40];
        const char *target;
        struct dbio_derived_rate rate = {0};

        snprintf(from, sizeof from, "%s:%u-%u %s", dbio_derive_base(table->file), table->first_line, table->last_line, device->name);
        target = dbio_derived_target(table->out, device->name, "all", from);
        for (int k = 0; k < KINDS; k++) {
                snprintf(name, sizeof name, "%s-%s", device->name, k ? "writes" : "reads");
                rate = (struct dbio_derived_rate){
                        .target = target, .name = name, .write = k == WRITES, .per_s = device->ios[k] / seconds,
                        .bytes = device->bytes[k] / device->ios[k], .from = from,
                        .ms = device->has_ms && device->ios[k] > 0 ? device->ms[k] / device->ios[k] : NAN,
                };
                if (k == WRITES && device->flushes > 0) {
                        rate.fsyncs_per_s = device->flushes / seconds;
                        rate.fsync_ms = device->flush_ms / device->flushes;
                }
                dbio_derived_rate(table->out, &rate);
        }
        if (device->discards > 0)
                dbio_derived_lost(table->out, "%s: %s discards a second", from, dbio_derived_number(device->discards / seconds, number));
        dbio_derived_note(table->out, "%s: busiest interval %s reads and writes a second, mean %s", from,
                          dbio_derived_number(device->peak, number),
                          dbio_derived_number((device->ios[READS] + device->ios[WRITES]) / seconds, (char[40]){0}));
}

static void tell(struct table *table)
{
        double seconds = isnan(table->seconds) ? table->reports : table->seconds;
        bool disks = has_disks(table);
        char over[64], number[40];

        if (isnan(table->seconds))
                snprintf(over, sizeof over, "%u reports", table->reports);
        else
                snprintf(over, sizeof over, "%ss", dbio_derived_number(table->seconds, number));
        dbio_derived_describe(table->out, "iostat", "Block devices of %s, means over %s", dbio_derive_base(table->file), over);
        dbio_derived_note(table->out, "Rates and sizes are means: what is random and what sequential, and bursts within them, are not known.");
        for (unsigned i = 0; i < table->n; i++) {
                const struct device *device = &table->devices[i], *disk = disk_of(table, device);

                if (!is_busy(device))
                        continue;
                if (disk)
                        dbio_derived_note(table->out, "%s: its I/O is in that of %s", device->name, disk->name);
                else if (is_stacked(device) && disks)
                        dbio_derived_lost(table->out, "%s lies on other devices whose I/O is taken: it would count twice", device->name);
                else
                        tell_device(table, device, seconds);
        }
        dbio_derived_item(table->out, DBIO_DERIVED_PHASES, "mean");
        dbio_derived_key(table->out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
}

static bool has_stamps(const struct dbio_derive_file *file)
{
        for (unsigned i = 0; i < file->nlines; i++)
                if (!strncmp(file->lines[i], "TS ", 3))
                        return true;
        return false;
}

static bool is_json(const struct dbio_derive_file *file)
{
        for (unsigned i = 0; i < file->nlines; i++) {
                const char *at = file->lines[i] + strspn(file->lines[i], " \t");

                if (*at)
                        return *at == '{';
        }
        return false;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct table table = {.file = &files[0], .out = out, .seconds = NAN};
        int code;

        if (has_stamps(&files[0]))
                code = read_stats(&table, files, n, err);
        else if (n > 1)
                code = dbio_derive_bad(&files[1], 0, err, "one file of iostat at a time");
        else
                code = is_json(&files[0]) ? read_json(&table, err) : read_text(&table, err);
        if (!code)
                tell(&table);
        free(table.devices);
        return code;
}

const struct dbio_derive_format dbio_derive_iostat = {
        "iostat", "iostat -x (text, JSON), snapshots of /proc/diskstats", derive,
};
