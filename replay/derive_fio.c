/* fio job files: the subset that streams can do. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"

#define OPTIONS 128
#define INCLUDES 16

struct option {
        const struct dbio_derive_file *file;
        char key[48], value[256];
        unsigned line;
};

struct section {
        const struct dbio_derive_file *file;
        char name[DBIO_DERIVED_NAME];
        unsigned line, n;
        struct option options[OPTIONS];
};

struct job_file {
        struct dbio_derived *out;
        struct section global, job;
        /* of the phase that is being gathered */
        char list[4096];
        uint64_t seconds, warmup;
        unsigned nphases, njobs, line;
        const struct dbio_derive_file *file;
        struct dbio_derive_file includes[INCLUDES];
        char *paths[INCLUDES];
        unsigned nincludes;
};

/* Options without meaning for the I/O itself. */
static const char *const no_io[] = {
        "group_reporting", "name", "description", "write_bw_log", "write_lat_log", "write_iops_log", "log_avg_msec", "clat_percentiles",
        "percentile_list", "norandommap", "randrepeat", "thread", "time_based", "stonewall", "new_group", "ioengine", "refill_buffers",
        "eta-newline", "lat_percentiles", "disk_util", "unified_rw_reporting", "gtod_reduce", "wait_for_previous", "exitall", NULL};

static const char *const known[] = {
        "rw", "readwrite", "bs", "blocksize", "bssplit", "size", "filesize", "filename", "directory", "numjobs", "iodepth", "direct", "sync",
        "fsync", "rwmixread", "rwmixwrite", "rate_iops", "rate", "thinktime", "runtime", "timeout", "ramp_time",
        "random_distribution", "offset", "fdatasync", NULL};

static bool in(const char *const *list, const char *key)
{
        for (; *list; list++)
                if (!strcasecmp(*list, key))
                        return true;
        return false;
}

/* A section's own option, else the global one; the last of several counts. */
static const struct option *find(const struct job_file *f, const char *key)
{
        for (unsigned i = f->job.n; i--;)
                if (!strcasecmp(f->job.options[i].key, key))
                        return &f->job.options[i];
        for (unsigned i = f->global.n; i--;)
                if (!strcasecmp(f->global.options[i].key, key))
                        return &f->global.options[i];
        return NULL;
}

static const char *value_of(const struct job_file *f, const char *key, const char *fallback)
{
        const struct option *option = find(f, key);

        return option ? option->value : fallback;
}

/* fio's sizes: k, m, g, t of 1024, with or without `b` or `ib` behind. */
static bool take_size(const char *text, uint64_t *bytes)
{
        static const char units[] = "kmgtp";
        char *end;
        const char *unit;

        if (*text < '0' || *text > '9' || strspn(text, "0123456789") > 17)
                return false;
        *bytes = strtoull(text, &end, 10);
        unit = *end ? strchr(units, *end | 32) : NULL;
        if (unit) {
                unsigned shift = 10 * (unsigned)(unit - units + 1);

                if (*bytes > UINT64_MAX >> shift)
                        return false;
                *bytes <<= shift;
                end++;
        }
        if ((*end | 32) == 'i')
                end++;
        if ((*end | 32) == 'b')
                end++;
        return !*end && *bytes < 1ull << 60;
}

/* A time in `plain` us (1, 1000000) unless a unit says otherwise. */
static bool take_time(const char *text, uint64_t plain, uint64_t *us)
{
        static const struct {
                const char *name;
                uint64_t us;
        } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", 3600000000u}, {"d", 86400000000u}};
        char *end;

        if (strspn(text, "0123456789") > 9 || *text < '0' || *text > '9')
                return false;
        *us = strtoull(text, &end, 10);
        plain = *end ? 0 : plain;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
                if (!strcasecmp(end, units[i].name))
                        plain = units[i].us;
        *us *= plain;
        return plain && *us < 100000000000000u;
}

static bool take_seconds(const char *text, uint64_t *seconds)
{
        uint64_t us;

        return take_time(text, 1000000, &us) && !(us % 1000000) && (*seconds = us / 1000000, true);
}

static int wrong(const struct job_file *f, const char *key, const char *right, struct dbio_err *err)
{
        const struct option *option = find(f, key);

        return dbio_derive_bad(option->file, option->line, err, "%s=%.80s: %s is right", key, option->value, right);
}

/* `8k/80:64k/20` as the value of `sizes`; shares left empty are fio's to fill and are not taken. */
static bool take_split(const char *text, char *value, size_t size)
{
        char copy[256], *next = copy;
        uint64_t bytes, percent, sum = 0;
        size_t n = 0;

        snprintf(copy, sizeof copy, "%s", text);
        if (strchr(copy, ','))
                return false;
        while (next) {
                char *part = strsep(&next, ":"), *slash = strchr(part, '/'), block[40];

                if (!slash)
                        return false;
                *slash = 0;
                if (!take_size(part, &bytes) || bytes < 512 || bytes > 64 << 20 || !dbio_derive_count(slash + 1, 100, &percent))
                        return false;
                sum += percent;
                dbio_format_size(bytes, block, sizeof block);
                n += (size_t)snprintf(value + n, size - n, "%s%s: %llu%%", n ? ", " : "{", block, (unsigned long long)percent);
                if (n + 2 > size)
                        return false;
        }
        snprintf(value + n, size - n, "}");
        return sum == 100;
}

static void end_phase(struct job_file *f)
{
        char name[DBIO_DERIVED_NAME], raw[40], value[40], from[300];

        if (!*f->list)
                return;
        snprintf(from, sizeof from, "%s:%u", dbio_derive_base(f->file), f->line);
        strcat(f->list, "]");
        f->nphases++;
        for (int warm = 1; warm >= 0; warm--) {
                uint64_t seconds = warm ? f->warmup : f->seconds;

                if (warm && !seconds)
                        continue;
                snprintf(raw, sizeof raw, "%s-%u", warm ? "ramp" : "jobs", f->nphases);
                dbio_derived_name(f->out, DBIO_DERIVED_PHASES, raw, name);
                dbio_derived_item(f->out, DBIO_DERIVED_PHASES, name);
                snprintf(value, sizeof value, "%llus", (unsigned long long)(seconds ? seconds : 60));
                dbio_derived_key(f->out, DBIO_DERIVED_PHASES, "duration", value, seconds ? "%s" : "%s: no runtime is given; a minute stands for it",
                                 from);
                if (warm)
                        dbio_derived_key(f->out, DBIO_DERIVED_PHASES, "record", "no", NULL);
                dbio_derived_key(f->out, DBIO_DERIVED_PHASES, "streams", f->list, NULL);
        }
        *f->list = 0;
        f->seconds = f->warmup = 0;
}

/* rw and its mix: random, share of reads; false = none of those. */
static bool take_rw(const struct job_file *f, bool *random, double *read)
{
        char rw[64];
        uint64_t percent = 50;

        snprintf(rw, sizeof rw, "%.63s", value_of(f, "rw", value_of(f, "readwrite", "read")));
        rw[strcspn(rw, ":")] = 0;
        *random = !strncasecmp(rw, "rand", 4);
        const char *rest = *random ? rw + 4 : rw;
        if (!strcasecmp(rest, "read") || !strcasecmp(rest, "write"))
                return *read = !strcasecmp(rest, "read"), true;
        if (strcasecmp(rest, "rw") && strcasecmp(rest, "readwrite"))
                return false;
        if (find(f, "rwmixwrite") && dbio_derive_count(value_of(f, "rwmixwrite", ""), 100, &percent))
                percent = 100 - percent;
        else if (find(f, "rwmixread") && !dbio_derive_count(value_of(f, "rwmixread", ""), 100, &percent))
                return false;
        *read = (double)percent / 100;
        return true;
}

/* Names what a job is left out for; 1. */
static int lost_job(struct job_file *f, const char *key)
{
        const struct option *option = find(f, key);

        dbio_derived_lost(f->out, "%s:%u: %s=%s: job %s is left out", dbio_derive_base(option ? option->file : f->job.file),
                          option ? option->line : f->job.line, key, option ? option->value : "", f->job.name);
        return 1;
}

static int take_counts(struct job_file *f, struct dbio_derived_job *job, uint64_t *seconds, uint64_t *warmup, struct dbio_err *err)
{
        uint64_t threads = 1, depth = 1, rate = 0, think = 0, bytes = 4096;
        const char *bs = find(f, "bs") ? "bs" : "blocksize";

        if (find(f, "numjobs") && (!dbio_derive_count(value_of(f, "numjobs", ""), 65535, &threads) || !threads))
                return wrong(f, "numjobs", "a number from 1", err);
        if (find(f, "iodepth") && (!dbio_derive_count(value_of(f, "iodepth", ""), 65535, &depth) || !depth))
                return wrong(f, "iodepth", "a number from 1", err);
        if (find(f, bs) && !take_size(value_of(f, bs, ""), &bytes)) {
                if (!strpbrk(value_of(f, bs, ""), ",-:"))
                        return wrong(f, bs, "a size like 8k", err);
                return lost_job(f, bs);
        }
        if (find(f, "rate_iops") && !dbio_derive_count(value_of(f, "rate_iops", ""), 1000000000, &rate))
                return lost_job(f, "rate_iops");
        job->rate = (double)rate * (double)threads;
        rate = 0;
        if (find(f, "rate") && !take_size(value_of(f, "rate", ""), &rate))
                return lost_job(f, "rate");
        job->byte_rate = job->rate > 0 ? 0 : (double)rate * (double)threads;
        if (find(f, "thinktime") && !take_time(value_of(f, "thinktime", ""), 1, &think))
                return lost_job(f, "thinktime");
        if (find(f, "runtime") && !take_seconds(value_of(f, "runtime", ""), seconds))
                return wrong(f, "runtime", "seconds", err);
        if (find(f, "timeout") && !take_seconds(value_of(f, "timeout", ""), seconds))
                return wrong(f, "timeout", "seconds", err);
        if (find(f, "ramp_time") && !take_seconds(value_of(f, "ramp_time", ""), warmup))
                return wrong(f, "ramp_time", "seconds", err);
        job->threads = (unsigned)threads;
        job->depth = (unsigned)depth;
        job->bytes = bytes;
        job->think_ns = think * 1000;
        return 0;
}

static bool is_on(const struct job_file *f, const char *key)
{
        const struct option *option = find(f, key);

        return option && strcmp(option->value, "0") && strcasecmp(option->value, "none");
}

/* What stays behind of a job that can be made otherwise. */
static void tell_lost(struct job_file *f, const char *from)
{
        static const char *const engines[] = {"libaio", "io_uring", "windowsaio", "posixaio", NULL};
        const struct section *sections[] = {&f->global, &f->job};

        for (int s = 0; s < 2; s++)
                for (unsigned i = 0; i < sections[s]->n; i++) {
                        const struct option *option = &sections[s]->options[i];

                        if (!in(known, option->key) && !in(no_io, option->key))
                                dbio_derived_lost(f->out, "%s:%u: %s%s%s", dbio_derive_base(option->file), option->line,
                                                  option->key, *option->value ? "=" : "", option->value);
                }
        if (!is_on(f, "direct"))
                dbio_derived_lost(f->out, "%s: no direct=1: the page cache; replays go past it", from);
        if (is_on(f, "iodepth") && strcmp(value_of(f, "iodepth", "1"), "1") && !in(engines, value_of(f, "ioengine", "psync")))
                dbio_derived_lost(f->out, "%s: iodepth has no effect with fio's ioengine=%s, here it has", from, value_of(f, "ioengine", "psync"));
        if (find(f, "fdatasync"))
                dbio_derived_lost(f->out, "%s: fdatasync=%s", from, value_of(f, "fdatasync", ""));
        if (strchr(value_of(f, "rw", value_of(f, "readwrite", "")), ':'))
                dbio_derived_lost(f->out, "%s: rw=%s: what stands behind the colon", from, value_of(f, "rw", value_of(f, "readwrite", "")));
        if (is_on(f, "offset"))
                dbio_derived_lost(f->out, "%s: offset=%s: give the stream a `region`", from, value_of(f, "offset", ""));
}

static void tell_more(struct job_file *f, const char *stream)
{
        const char *distribution = value_of(f, "random_distribution", "random");
        char value[64], number[40];
        uint64_t each;

        if (!*stream)
                return;
        if (find(f, "fsync") && dbio_derive_count(value_of(f, "fsync", ""), 1000000000, &each) && each)
                dbio_derived_key(f->out, DBIO_DERIVED_STREAMS, "fsync_every", value_of(f, "fsync", ""), "fsync");
        if (!strncasecmp(distribution, "zipf:", 5) && strspn(distribution + 5, "0123456789.") == strlen(distribution + 5) &&
            strlen(distribution) < 20 && strtod(distribution + 5, NULL) > 0) {
                snprintf(value, sizeof value, "{zipf: %s}", dbio_derived_number(strtod(distribution + 5, NULL), number));
                dbio_derived_key(f->out, DBIO_DERIVED_STREAMS, "skew", value, "random_distribution");
        } else if (strcasecmp(distribution, "random")) {
                dbio_derived_lost(f->out, "%s: random_distribution=%s", stream, distribution);
        }
}

static void job_target(struct job_file *f, const char *from, char name[DBIO_DERIVED_NAME])
{
        const char *path = value_of(f, "filename", NULL), *said = find(f, "filesize") ? value_of(f, "filesize", "") : value_of(f, "size", "");
        char own[DBIO_DERIVED_NAME + 8], size[40] = "all";
        uint64_t bytes;

        if (!path) {
                snprintf(own, sizeof own, "%s.0.0", f->job.name);
                path = own;
        }
        if (strchr(path, ':') && path[1] != ':')
                dbio_derived_lost(f->out, "%s: filename=%s: several files; bind the target to all of them", from, path);
        size_t digits = strspn(said, "0123456789");
        if (take_size(said, &bytes) && bytes)
                dbio_format_size(bytes, size, sizeof size);
        else if (digits && digits < 4 && !strcmp(said + digits, "%") && atoi(said) >= 1 && atoi(said) <= 100)
                snprintf(size, sizeof size, "%d%%", atoi(said));
        snprintf(name, DBIO_DERIVED_NAME, "%s", dbio_derived_target(f->out, path, size, from));
}

static int end_job(struct job_file *f, struct dbio_err *err)
{
        struct dbio_derived_job job = {.name = f->job.name, .write_through = -1};
        char from[300], sizes[400], target[DBIO_DERIVED_NAME];
        uint64_t seconds = 0, warmup = 0;
        int code;

        if (!f->job.line)
                return 0;
        if (find(f, "stonewall") || find(f, "wait_for_previous"))
                end_phase(f);
        snprintf(from, sizeof from, "%s:%u", dbio_derive_base(f->job.file), f->job.line);
        job.from = from;
        code = take_counts(f, &job, &seconds, &warmup, err);
        if (code < 0)
                return -1;
        if (!code && !take_rw(f, &job.random, &job.read))
                code = lost_job(f, find(f, "rw") ? "rw" : "readwrite");
        if (code) {
                f->job.line = 0;
                return 0;
        }
        if (find(f, "bssplit")) {
                if (take_split(value_of(f, "bssplit", ""), sizes, sizeof sizes))
                        job.sizes = sizes;
                else
                        dbio_derived_lost(f->out, "%s: bssplit=%s: bs stands for it", from, value_of(f, "bssplit", ""));
        }
        tell_lost(f, from);
        if (job.rate > 0 || job.byte_rate > 0)
                job.think_ns = 0;
        job.write_through = is_on(f, "sync");
        job.write_through_from = find(f, "sync") ? "sync" : "no sync";
        job_target(f, from, target);
        job.target = target;
        const char *stream = dbio_derived_job(f->out, &job);
        tell_more(f, stream);
        if (*stream && strlen(f->list) + DBIO_DERIVED_NAME + 4 < sizeof f->list) {
                snprintf(f->list + strlen(f->list), sizeof f->list - strlen(f->list), "%s%s", *f->list ? ", " : "[", stream);
                f->line = f->job.line;
                f->file = f->job.file;
                f->njobs++;
        }
        f->seconds = seconds > f->seconds ? seconds : f->seconds;
        f->warmup = warmup > f->warmup ? warmup : f->warmup;
        f->job.line = 0;
        return 0;
}

/* `${NAME}` from the environment, as fio does. */
static int substitute(const struct dbio_derive_file *file, unsigned line, char text[512], struct dbio_err *err)
{
        char whole[512], name[64];
        size_t n = 0;

        for (const char *at = file->lines[line - 1], *end; *at && n + 1 < sizeof whole;) {
                if (strncmp(at, "${", 2) || !(end = strchr(at, '}')) || (size_t)(end - at) >= sizeof name) {
                        whole[n++] = *at++;
                        continue;
                }
                snprintf(name, sizeof name, "%.*s", (int)(end - at - 2), at + 2);
                const char *value = getenv(name);
                if (!value || strlen(value) + n + 1 >= sizeof whole)
                        return dbio_derive_bad(file, line, err, "${%s}: the environment has no value for it", name);
                n += (size_t)snprintf(whole + n, sizeof whole - n, "%s", value);
                at = end + 1;
        }
        whole[n] = 0;
        strcpy(text, whole);
        return 0;
}

static int take_file(struct job_file *f, const struct dbio_derive_file *file, bool *global, struct dbio_err *err);

/* Another file's lines in this one's place; beside it, as fio looks for it. */
static int take_include(struct job_file *f, const struct dbio_derive_file *file, unsigned line, const char *name, bool *global,
                        struct dbio_err *err)
{
        struct dbio_derive_file *included = &f->includes[f->nincludes];
        char path[1024];

        if (f->nincludes == INCLUDES)
                return dbio_derive_bad(file, line, err, "more than %d includes", INCLUDES);
        snprintf(path, sizeof path, "%.*s%s", *name == '/' ? 0 : (int)(dbio_derive_base(file) - file->path), file->path, name);
        f->paths[f->nincludes] = strdup(path);
        if (!f->paths[f->nincludes])
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (dbio_derive_file_read(included, f->paths[f->nincludes++], NULL))
                return dbio_derive_bad(file, line, err, "include %s: that file cannot be read", name);
        return take_file(f, included, global, err);
}

static int take_line(struct job_file *f, const struct dbio_derive_file *file, unsigned line, bool *global, struct dbio_err *err)
{
        char text[512], *at = text, *equal, *end;
        struct section *section = *global ? &f->global : &f->job;

        if (strlen(file->lines[line - 1]) >= sizeof text)
                return dbio_derive_bad(file, line, err, "a line beyond %zu bytes", sizeof text);
        if (substitute(file, line, text, err))
                return -1;
        at += strspn(at, " \t");
        if (!*at || *at == '#' || *at == ';')
                return 0;
        if (*at == '[') {
                end = strchr(at, ']');
                if (!end)
                        return dbio_derive_bad(file, line, err, "a section ends with ]");
                *end = 0;
                if (end_job(f, err))
                        return -1;
                *global = !strcasecmp(at + 1, "global");
                section = *global ? &f->global : &f->job;
                if (!*global)
                        section->n = 0;
                section->file = file;
                section->line = line;
                snprintf(section->name, sizeof section->name, "%s", at + 1);
                return 0;
        }
        if (!section->line)
                return dbio_derive_bad(file, line, err, "an option before any [section]: no fio job file");
        if (!strncasecmp(at, "include ", 8))
                return take_include(f, file, line, at + 8 + strspn(at + 8, " \t"), global, err);
        if (section->n == OPTIONS)
                return dbio_derive_bad(file, line, err, "over %d options in a section", OPTIONS);
        equal = strchr(at, '=');
        if (equal)
                *equal++ = 0;
        for (char *c = at + strlen(at); c > at && (c[-1] == ' ' || c[-1] == '\t'); c--)
                c[-1] = 0;
        if (equal)
                equal += strspn(equal, " \t");
        struct option *option = &section->options[section->n++];
        option->file = file;
        option->line = line;
        snprintf(option->key, sizeof option->key, "%s", at);
        snprintf(option->value, sizeof option->value, "%s", equal ? equal : "");
        return 0;
}

static int take_file(struct job_file *f, const struct dbio_derive_file *file, bool *global, struct dbio_err *err)
{
        for (unsigned line = 1; line <= file->nlines; line++)
                if (take_line(f, file, line, global, err))
                        return -1;
        return 0;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct job_file *f = calloc(1, sizeof *f);
        bool global = true;
        int code = 0;

        if (!f)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        f->out = out;
        dbio_derived_describe(out, "fio", "fio jobs of %s", dbio_derive_base(&files[0]));
        for (unsigned i = 0; !code && i < n; i++)
                code = take_file(f, &files[i], &global, err);
        if (!code)
                code = end_job(f, err);
        if (!code)
                end_phase(f);
        for (unsigned i = 0; i < f->nincludes; i++) {
                dbio_derive_file_release(&f->includes[i]);
                free(f->paths[i]);
        }
        free(f);
        return code;
}

const struct dbio_derive_format dbio_derive_fio = {
        "fio", "fio job file", derive,
};
