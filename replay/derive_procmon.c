/* Process Monitor CSV as rates: reads and writes of each file, with their sizes and times. The trace itself is replayed by
 * `import procmon`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

#define COLUMNS 64
#define SIZES 256
#define FILES_MAX 64

enum { TIME, OPERATION, PATH, DETAIL, DURATION, RESULT, NAMES }; /* needed: those before DURATION */
static const char *const names[NAMES] = {"Time of Day", "Operation", "Path", "Detail", "Duration", "Result"};

struct side {
        double ios, bytes, seconds;
        unsigned nsizes, sequential;
        uint64_t sizes[SIZES];
        double counts[SIZES];
        uint64_t end;
};

struct file {
        char path[260];
        struct side sides[2][2]; /* cached or not said, non-cached; reads, writes */
        double flushes;
};

struct procmon {
        const struct dbio_derive_file *in;
        struct dbio_derived *out;
        struct file *files;
        unsigned n;
        int columns[NAMES];
        double first_s, last_s, failed;
        bool any;
};

/* `10:00:00.1234567 AM`; the separator of seconds follows the locale. */
static bool take_time(const char *text, double *seconds)
{
        unsigned hour, minute, second;
        int used = 0;
        double place = 1;

        if (sscanf(text, "%2u:%2u:%2u%n", &hour, &minute, &second, &used) != 3 || hour > 23 || minute > 59 || second > 60)
                return false;
        *seconds = hour * 3600.0 + minute * 60.0 + second;
        text += used;
        if (*text == '.' || *text == ',')
                for (text++; *text >= '0' && *text <= '9'; text++)
                        *seconds += (*text - '0') * (place /= 10);
        text += strspn(text, " ");
        if (!strncasecmp(text, "PM", 2) && hour < 12)
                *seconds += 43200;
        if (!strncasecmp(text, "AM", 2) && hour == 12)
                *seconds -= 43200;
        return true;
}

/* `Offset: 2,275,840`: grouped by whatever the locale groups with. */
static bool take_detail(const char *detail, const char *name, uint64_t *value)
{
        const char *at = strstr(detail, name);

        if (!at)
                return false;
        at += strlen(name);
        at += strspn(at, " :");
        *value = 0;
        if (*at < '0' || *at > '9')
                return false;
        for (; *at; at++) {
                bool group = strchr(",.' ", *at) && at[1] >= '0' && at[1] <= '9';

                if (*at >= '0' && *at <= '9') {
                        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
                                return false;
                } else if (!group) {
                        break;
                }
        }
        return true;
}

static struct file *find_file(struct procmon *p, const char *path)
{
        for (unsigned i = 0; i < p->n; i++)
                if (!strcasecmp(p->files[i].path, path))
                        return &p->files[i];
        struct file *more = realloc(p->files, (p->n + 1) * sizeof *more);
        if (!more)
                return NULL;
        p->files = more;
        more = &p->files[p->n++];
        memset(more, 0, sizeof *more);
        snprintf(more->path, sizeof more->path, "%s", path);
        return more;
}

static void add_io(struct side *side, uint64_t offset, uint64_t length, double seconds)
{
        unsigned i;

        side->sequential += side->ios > 0 && offset == side->end;
        side->end = offset + length;
        side->ios++;
        side->bytes += (double)length;
        side->seconds += seconds;
        for (i = 0; i < side->nsizes && side->sizes[i] != length; i++)
                ;
        if (i == side->nsizes && i < SIZES)
                side->sizes[side->nsizes++] = length;
        if (i < SIZES)
                side->counts[i]++;
}

static int take_row(struct procmon *p, unsigned line, char separator, struct dbio_err *err)
{
        char *text = strdup(p->in->lines[line - 1]), *cells[COLUMNS], path[260];
        unsigned n = text ? dbio_csv_cut(text, separator, cells, COLUMNS) : 0;
        double at, seconds = 0;
        uint64_t offset, length;
        struct file *file;
        int code = 0;

        for (int c = 0; c < DURATION; c++)
                if ((unsigned)p->columns[c] >= n) {
                        code = dbio_derive_bad(p->in, line, err, "%u columns: there is no %s", n, names[c]);
                        goto out;
                }
        bool read = !strcmp(cells[p->columns[OPERATION]], "ReadFile"), write = !strcmp(cells[p->columns[OPERATION]], "WriteFile");
        bool flush = !strncmp(cells[p->columns[OPERATION]], "FlushBuffersFile", 16);
        if (!read && !write && !flush)
                goto out;
        if (p->columns[RESULT] >= 0 && (unsigned)p->columns[RESULT] < n && strcmp(cells[p->columns[RESULT]], "SUCCESS")) {
                p->failed++;
                goto out;
        }
        if (!take_time(cells[p->columns[TIME]], &at)) {
                code = dbio_derive_bad(p->in, line, err, "%.40s is no time of day", cells[p->columns[TIME]]);
                goto out;
        }
        if (!p->any)
                p->first_s = p->last_s = at;
        p->any = true;
        if (at < p->last_s - 43200)
                at += 86400; /* over midnight */
        p->last_s = fmax(p->last_s, at);
        snprintf(path, sizeof path, "%.259s", cells[p->columns[PATH]]);
        if (p->columns[DURATION] >= 0 && (unsigned)p->columns[DURATION] < n)
                dbio_csv_number(cells[p->columns[DURATION]], true, &seconds);
        file = find_file(p, path);
        if (!file) {
                code = dbio_err_set(err, DBIO_IO, "out of memory");
        } else if (flush) {
                file->flushes++;
        } else if (!take_detail(cells[p->columns[DETAIL]], "Offset", &offset) || !take_detail(cells[p->columns[DETAIL]], "Length", &length) ||
                   offset > UINT64_MAX - length) {
                code = dbio_derive_bad(p->in, line, err, "no `Offset: N, Length: N` in Detail");
        } else {
                add_io(&file->sides[strstr(cells[p->columns[DETAIL]], "Non-cached") != NULL][write], offset, length, seconds);
        }
out:
        free(text);
        return code;
}

/* `{8K: 70%, 64K: 30%}` where all sizes are ones that an I/O may have, at most eight; NULL = the mean stands for them. */
static const char *mix(const struct side *side, char *value, size_t size)
{
        uint64_t left = 10000;
        size_t n = 0;

        if (side->nsizes < 2 || side->nsizes > 8)
                return NULL;
        for (unsigned i = 0; i < side->nsizes; i++) {
                uint64_t share = i + 1 == side->nsizes ? left : (uint64_t)llround(side->counts[i] / side->ios * 10000);
                char text[40];

                if (side->sizes[i] < 512 || side->sizes[i] > 64 << 20 || side->sizes[i] % 512 || !share || share > left)
                        return NULL;
                left -= share;
                dbio_format_size(side->sizes[i], text, sizeof text);
                n += (size_t)snprintf(value + n, size - n, "%s%s: %llu.%02llu%%", i ? ", " : "{", text, (unsigned long long)share / 100,
                                      (unsigned long long)share % 100);
        }
        snprintf(value + n, size - n, "}");
        return left ? NULL : value;
}

static void tell_file(struct procmon *p, const struct file *file, double seconds)
{
        char from[300], name[100], sizes[300];
        const char *base = file->path;
        const char *target;

        for (const char *c = file->path; *c; c++)
                if (*c == '\\' || *c == '/')
                        base = c + 1;
        snprintf(from, sizeof from, "%.60s, %.200s", dbio_derive_base(p->in), file->path);
        target = dbio_derived_target(p->out, file->path, "all", from);
        bool direct = file->sides[1][0].ios + file->sides[1][1].ios > 0;
        const struct side *sides = file->sides[direct];
        if (direct && file->sides[0][0].ios + file->sides[0][1].ios > 0)
                dbio_derived_lost(p->out, "%s: %.0f cached reads and writes: what of them reached the device is among the non-cached ones",
                                  from, file->sides[0][0].ios + file->sides[0][1].ios);
        for (int k = 0; k < 2; k++) {
                const struct side *side = &sides[k];

                snprintf(name, sizeof name, "%.60s-%s", base, k ? "writes" : "reads");
                if (side->ios > 0)
                        dbio_derived_rate(p->out, &(struct dbio_derived_rate){
                                .target = target, .name = name, .write = k, .sequential = side->sequential > side->ios / 2, .per_s = side->ios / seconds,
                                .bytes = side->bytes / side->ios, .sizes = mix(side, sizes, sizeof sizes), .step = 512,
                                .ms = side->seconds > 0 ? side->seconds * 1000 / side->ios : NAN, .from = from,
                                .fsyncs_per_s = k ? file->flushes / seconds : 0,
                        });
        }
        if (file->flushes > 0 && !(sides[1].ios > 0))
                dbio_derived_lost(p->out, "%s: %.0f flushes without writes", from, file->flushes);
}

static int by_bytes(const void *a, const void *b)
{
        const struct file *x = a, *y = b;
        double bx = 0, by = 0;

        for (int i = 0; i < 4; i++) {
                bx += x->sides[i / 2][i % 2].bytes;
                by += y->sides[i / 2][i % 2].bytes;
        }

        return by < bx ? -1 : by > bx;
}

static void tell(struct procmon *p)
{
        double seconds = fmax(p->last_s - p->first_s, 0.001);
        char number[40];

        dbio_derived_describe(p->out, "procmon", "Process Monitor capture %s, means over %ss", dbio_derive_base(p->in),
                              dbio_derived_number(seconds, number));
        dbio_derived_note(p->out, "Rates of the capture; `dbio run procmon:FILE` replays it op by op, bursts and all.");
        if (p->failed > 0)
                dbio_derived_note(p->out, "%.0f operations that failed are left out", p->failed);
        qsort(p->files, p->n, sizeof *p->files, by_bytes);
        for (unsigned i = 0; i < p->n; i++) {
                if (i < FILES_MAX)
                        tell_file(p, &p->files[i], seconds);
                else
                        dbio_derived_lost(p->out, "files beyond the %d with most bytes: %u", FILES_MAX, p->n - FILES_MAX);
        }
        dbio_derived_item(p->out, DBIO_DERIVED_PHASES, "mean");
        dbio_derived_key(p->out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
}

static int take_head(struct procmon *p, char separator, struct dbio_err *err)
{
        char *text = strdup(p->in->lines[0]), *cells[COLUMNS];
        unsigned n = text ? dbio_csv_cut(text, separator, cells, COLUMNS) : 0;
        int code = 0;

        for (int c = 0; c < NAMES; c++) {
                p->columns[c] = -1;
                for (unsigned i = 0; i < n; i++)
                        if (!strcasecmp(cells[i], names[c]))
                                p->columns[c] = (int)i;
                if (p->columns[c] < 0 && c < DURATION && !code)
                        code = dbio_derive_bad(p->in, 1, err, "no column `%s`: no CSV of Process Monitor (English names are needed)", names[c]);
        }
        free(text);
        return code;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct procmon p = {.in = files, .out = out};
        char separator;
        int code;

        if (n > 1)
                return dbio_derive_bad(&files[1], 0, err, "one capture at a time");
        if (!files->nlines)
                return dbio_derive_bad(files, 0, err, "an empty file");
        separator = dbio_csv_separator(files->lines[0]);
        code = take_head(&p, separator, err);
        for (unsigned i = 1; !code && i < files->nlines; i++)
                if (*files->lines[i])
                        code = take_row(&p, i + 1, separator, err);
        if (!code && !p.any)
                code = dbio_derive_bad(files, 0, err, "no ReadFile or WriteFile in it");
        if (!code)
                tell(&p);
        free(p.files);
        return code;
}

const struct dbio_derive_format dbio_derive_procmon = {
        "procmon", "Process Monitor CSV, as rates of each file", derive,
};
