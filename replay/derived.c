/* The workload that is being written. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "patterns/workload.h"
#include "replay/demand.h"
#include "replay/derive.h"

#define COLUMN 44 /* where comments begin */

struct dbio_derived {
        char *texts[DBIO_DERIVED_PARTS + 3];
        size_t sizes[DBIO_DERIVED_PARTS + 3];
        FILE *parts[DBIO_DERIVED_PARTS + 3]; /* behind the parts: observed, notes, lost */
        char name[DBIO_DERIVED_NAME];
        char description[256];
        unsigned nstreams, nobserved, nnames, nlost;
        struct {
                enum dbio_derived_part part;
                char text[DBIO_DERIVED_NAME];
        } *names;
        char **lost;
        unsigned ntargets;
        struct {
                char *path, *size, name[DBIO_DERIVED_NAME];
        } *targets;
        char job[DBIO_DERIVED_NAME]; /* name of the last one */
};

enum { OBSERVED = DBIO_DERIVED_PARTS, NOTES, LOST, STREAMS_OUT };

static int open_parts(struct dbio_derived *out)
{
        for (int i = 0; i < STREAMS_OUT; i++)
                if (!(out->parts[i] = open_memstream(&out->texts[i], &out->sizes[i])))
                        return -1;
        return 0;
}

static void close_parts(struct dbio_derived *out)
{
        for (int i = 0; i < STREAMS_OUT; i++) {
                if (out->parts[i])
                        fclose(out->parts[i]);
                out->parts[i] = NULL;
        }
}

static void release(struct dbio_derived *out)
{
        close_parts(out);
        for (int i = 0; i < STREAMS_OUT; i++)
                free(out->texts[i]);
        for (unsigned i = 0; i < out->nlost; i++)
                free(out->lost[i]);
        free(out->lost);
        for (unsigned i = 0; i < out->ntargets; i++) {
                free(out->targets[i].path);
                free(out->targets[i].size);
        }
        free(out->targets);
        free(out->names);
}

/* Letters, digits, `-` and `_`, at most 50 of them. */
static void clean_name(const char *raw, char name[DBIO_DERIVED_NAME])
{
        size_t n = 0;

        for (const char *c = raw; *c && n < 50; c++) {
                bool fits = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';

                if (fits)
                        name[n++] = *c;
                else if (n && name[n - 1] != '-')
                        name[n++] = '-';
        }
        while (n && name[n - 1] == '-')
                n--;
        name[n] = 0;
        if (!n)
                strcpy(name, "unnamed");
}

void dbio_derived_describe(struct dbio_derived *out, const char *name, const char *format, ...)
{
        va_list args;

        clean_name(name, out->name);
        va_start(args, format);
        vsnprintf(out->description, sizeof out->description, format, args);
        va_end(args);
        for (char *c = out->description; *c; c++)
                if (*c == '\n' || *c == '\t')
                        *c = ' ';
        /* Cut inside a character: not UTF-8 any more. */
        for (char *end = out->description + strlen(out->description); end > out->description && (end[-1] & 0x80); end--)
                end[-1] = 0;
}

/* A line of comment; longer texts go on in further lines. */
static void comment_lines(FILE *file, const char *begin, const char *text)
{
        fprintf(file, "# %s", begin);
        for (const char *c = text; *c; c++)
                if (*c == '\n')
                        fputs("\n#   ", file);
                else
                        fputc(*c, file);
        fputc('\n', file);
}

void dbio_derived_note(struct dbio_derived *out, const char *format, ...)
{
        char text[1200];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        comment_lines(out->parts[NOTES], "", text);
}

void dbio_derived_lost(struct dbio_derived *out, const char *format, ...)
{
        char text[1200];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        for (unsigned i = 0; i < out->nlost; i++)
                if (!strcmp(out->lost[i], text))
                        return;
        char **more = realloc(out->lost, (out->nlost + 1) * sizeof *more);
        if (!more)
                return;
        out->lost = more;
        out->lost[out->nlost++] = strdup(text);
        fprintf(out->parts[LOST], "%s\n", text);
        comment_lines(out->parts[NOTES], "Not expressed: ", text);
}

void dbio_derived_name(struct dbio_derived *out, enum dbio_derived_part part, const char *raw, char name[DBIO_DERIVED_NAME])
{
        char base[DBIO_DERIVED_NAME];

        clean_name(raw, base);
        memcpy(name, base, sizeof base);
        for (unsigned i = 0, number = 2; i < out->nnames; i++)
                if (out->names[i].part == part && !strcmp(out->names[i].text, name)) {
                        snprintf(name, DBIO_DERIVED_NAME, "%.50s-%u", base, number);
                        /* Of very many alike not every number is tried. */
                        number = number < 50 ? number + 1 : number + out->nnames;
                        i = UINT32_MAX; /* from the beginning */
                }
        void *more = realloc(out->names, (out->nnames + 1) * sizeof *out->names);
        if (!more)
                return;
        out->names = more;
        out->names[out->nnames].part = part;
        memcpy(out->names[out->nnames++].text, name, DBIO_DERIVED_NAME);
}

void dbio_derived_item(struct dbio_derived *out, enum dbio_derived_part part, const char *name)
{
        fprintf(out->parts[part], part == DBIO_DERIVED_PHASES ? "  - name: %s\n" : "  %s:\n", name);
        out->nstreams += part == DBIO_DERIVED_STREAMS;
}

static void end_line(FILE *file, int width, const char *comment, va_list args)
{
        char text[600];

        if (comment && *comment) {
                vsnprintf(text, sizeof text, comment, args);
                for (char *c = text; *c; c++)
                        if (*c == '\n')
                                *c = ' ';
                /* One that was cut may end inside a character. */
                if (strlen(text) == sizeof text - 1)
                        for (char *end = text + strlen(text); end > text && (end[-1] & 0x80); end--)
                                end[-1] = 0;
                fprintf(file, "%*s  # %s", width < COLUMN ? COLUMN - width : 0, "", text);
        }
        fputc('\n', file);
}

void dbio_derived_key(struct dbio_derived *out, enum dbio_derived_part part, const char *key, const char *value,
                      const char *comment, ...)
{
        FILE *file = out->parts[part];
        int width = fprintf(file, "    %s: %s", key, value);
        va_list args;

        va_start(args, comment);
        end_line(file, width, comment, args);
        va_end(args);
}

void dbio_derived_observed(struct dbio_derived *out, const char *figure, const char *value, const char *comment, ...)
{
        FILE *file = out->parts[OBSERVED];
        int width = fprintf(file, "  %s: %s", figure, value);
        va_list args;

        out->nobserved++;
        va_start(args, comment);
        end_line(file, width, comment, args);
        va_end(args);
}

void dbio_derived_observed_ms(struct dbio_derived *out, const char *stream, const char *figure, double ms,
                              const char *from)
{
        char key[2 * DBIO_DERIVED_NAME], value[48], number[40];

        if (!(ms > 0.0000005) || !(ms < 1e9))
                return;
        snprintf(key, sizeof key, "%s.%s", stream, figure);
        if (ms < 0.01)
                snprintf(value, sizeof value, "%lldns", llround(ms * 1e6));
        else
                snprintf(value, sizeof value, "%sms", dbio_derived_number(ms, number));
        dbio_derived_observed(out, key, value, "%s", from);
}

const char *dbio_derived_number(double value, char text[40])
{
        char *end;

        snprintf(text, 40, value < 0.01 ? "%.7f" : value < 1 ? "%.5f" : "%.3f", value);
        for (end = text + strlen(text); end > text && end[-1] == '0'; end--)
                ;
        if (end > text && end[-1] == '.')
                end--;
        *end = 0;
        return text;
}

/* `size`, or `sizes` of two neighbouring multiples of step with the shares that give the mean. false (nothing is
 * written) where the mean is none that an I/O may have. */
static bool tell_sizes(struct dbio_derived *out, double mean_bytes, unsigned step, const char *from)
{
        char lower[40], upper[40], mean[40], value[160];

        if (!(mean_bytes >= 512) || mean_bytes > 64 << 20)
                return false;
        if (!step)
                step = 4096;
        while (step > 512 && mean_bytes < step)
                step /= 2;
        uint64_t low = (uint64_t)(mean_bytes / step) * step;
        double above = (mean_bytes - (double)low) / step;
        unsigned share = (unsigned)lround(above * 10000); /* in 0.01 % */
        dbio_format_size(low, lower, sizeof lower);
        dbio_format_size(low + step, upper, sizeof upper);
        dbio_derived_number(mean_bytes / 1024, mean);
        if (!share || low + step > 64 << 20) {
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "size", lower, "%s: mean %s KiB", from, mean);
        } else if (share == 10000) {
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "size", upper, "%s: mean %s KiB", from, mean);
        } else {
                snprintf(value, sizeof value, "{%s: %u.%02u%%, %s: %u.%02u%%}", lower, (10000 - share) / 100,
                         (10000 - share) % 100, upper, share / 100, share % 100);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "sizes", value, "%s: mean %s KiB; how it is mixed is not known",
                                 from, mean);
        }
        return true;
}

bool dbio_derived_rate(struct dbio_derived *out, const struct dbio_derived_rate *rate)
{
        const char *kind = rate->write ? "write" : "read";
        char name[DBIO_DERIVED_NAME], value[40], text[48];

        if (!(rate->per_s > 0))
                return false;
        if (rate->per_s < 0.001 || rate->per_s > 1e9 || !(rate->bytes >= 512) || rate->bytes > 64 << 20) {
                dbio_derived_lost(out, "%s: %s of %s: %.6g a second of %.6g bytes in the mean", rate->from, kind, rate->name,
                                  rate->per_s, rate->bytes);
                return false;
        }
        dbio_derived_name(out, DBIO_DERIVED_STREAMS, rate->name, name);
        dbio_derived_item(out, DBIO_DERIVED_STREAMS, name);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "pattern", rate->sequential ? "io.sequential" : "io.random", NULL);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "target", rate->target, NULL);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "read", rate->write ? "0%" : "100%", NULL);
        snprintf(text, sizeof text, "%s/s", dbio_derived_number(rate->per_s, value));
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "rate", text, "%s", rate->from);
        if (rate->sizes)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "sizes", rate->sizes, "%s", rate->from);
        else
                tell_sizes(out, rate->bytes, rate->step, rate->from);
        if (rate->write && rate->through)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "write_through", "yes", "%s", rate->through);
        if (rate->write && rate->fsyncs_per_s > 0) {
                double each = fmax(1, fmin(1e9, round(rate->per_s / rate->fsyncs_per_s)));

                snprintf(text, sizeof text, "%.0f", each);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "fsync_every", text, "%s: %s flushes a second", rate->from,
                                 dbio_derived_number(rate->fsyncs_per_s, value));
                dbio_derived_observed_ms(out, name, "fsync.mean", rate->fsync_ms, rate->from);
        }
        dbio_derived_observed_ms(out, name, rate->write ? "write.mean" : "read.mean", rate->ms, rate->from);
        return true;
}

const char *dbio_derived_target(struct dbio_derived *out, const char *path, const char *size, const char *from)
{
        const char *base = path;
        char raw[DBIO_DERIVED_NAME];

        for (unsigned i = 0; i < out->ntargets; i++) {
                if (strcasecmp(out->targets[i].path, path))
                        continue;
                if (strcmp(out->targets[i].size, size))
                        dbio_derived_lost(out, "%s: size %s of %s: it has %s already", from, size, path, out->targets[i].size);
                return out->targets[i].name;
        }
        void *more = realloc(out->targets, (out->ntargets + 1) * sizeof *out->targets);
        if (!more)
                return "data";
        out->targets = more;
        for (const char *c = path; *c; c++)
                if ((*c == '/' || *c == '\\' || *c == ':') && c[1])
                        base = c + 1;
        snprintf(raw, sizeof raw, "%s", base);
        if (strrchr(raw, '.') > raw)
                *strrchr(raw, '.') = 0;
        out->targets[out->ntargets].path = strdup(path);
        out->targets[out->ntargets].size = strdup(size);
        dbio_derived_name(out, DBIO_DERIVED_TARGETS, raw, out->targets[out->ntargets].name);
        dbio_derived_item(out, DBIO_DERIVED_TARGETS, out->targets[out->ntargets].name);
        dbio_derived_key(out, DBIO_DERIVED_TARGETS, "size", size, "%s%s%s%s", from, strstr(from, path) ? "" : ": ",
                         strstr(from, path) ? "" : path, strcmp(size, "all") ? "" : ": its size is not said");
        return out->targets[out->ntargets++].name;
}

static void job_sizes(struct dbio_derived *out, const struct dbio_derived_job *job)
{
        char value[40];

        if (job->sizes) {
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "sizes", job->sizes, "%s", job->from);
                return;
        }
        dbio_format_size(job->bytes, value, sizeof value);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "size", value, "%s", job->from);
}

static void job_rates(struct dbio_derived *out, const struct dbio_derived_job *job)
{
        char value[40], text[48];

        if (job->rate > 0 || job->byte_rate > 0) {
                if (job->rate > 0)
                        snprintf(text, sizeof text, "%s/s", dbio_derived_number(job->rate, value));
                else
                        dbio_format_rate(job->byte_rate, 1, text, sizeof text);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "rate", text, "%s", job->from);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "arrival", "uniform", NULL);
        }
        if (job->depth) {
                snprintf(text, sizeof text, "%u", job->depth);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "depth", text, "%s", job->from);
        }
        if (job->think_ns) {
                dbio_format_time(job->think_ns, value, sizeof value);
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "think", value, "%s", job->from);
        }
}

const char *dbio_derived_job(struct dbio_derived *out, const struct dbio_derived_job *job)
{
        char value[40];

        *out->job = 0;
        if (!job->sizes && (job->bytes < 512 || job->bytes > 64 << 20)) {
                dbio_derived_lost(out, "%s: I/Os of %llu bytes: 512 bytes to 64 MiB can be made; left out", job->from,
                                  (unsigned long long)job->bytes);
                return out->job;
        }
        dbio_derived_name(out, DBIO_DERIVED_STREAMS, job->name, out->job);
        dbio_derived_item(out, DBIO_DERIVED_STREAMS, out->job);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "pattern", job->random ? "io.random" : "io.sequential", "%s", job->from);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "target", job->target, NULL);
        dbio_format_share(job->read, value, sizeof value);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "read", value, NULL);
        job_sizes(out, job);
        if (job->shared && !job->random)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "shared", "yes", NULL);
        snprintf(value, sizeof value, "%u", job->threads);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "threads", value, "%s", job->threads_from ? job->threads_from : job->from);
        job_rates(out, job);
        if (job->region)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "region", job->region, "%s", job->from);
        if (job->write_through >= 0 && job->read < 1)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "write_through", job->write_through ? "yes" : "no", "%s",
                                 job->write_through_from);
        return out->job;
}

static void write_text(FILE *file, const char *text)
{
        fputc('\'', file);
        for (; *text; text++)
                fprintf(file, *text == '\'' ? "''" : "%c", *text);
        fputs("'\n", file);
}

static char *assemble(struct dbio_derived *out)
{
        static const char *const heads[] = {"targets", "streams", "phases"};
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        if (!file)
                return NULL;
        fputs(out->texts[NOTES], file);
        fprintf(file, "name: %s\n", *out->name ? out->name : "derived");
        if (*out->description) {
                fputs("description: ", file);
                write_text(file, out->description);
        }
        for (int i = 0; i < DBIO_DERIVED_PARTS; i++)
                fprintf(file, "%s:\n%s", heads[i], out->texts[i]);
        if (out->nobserved)
                fprintf(file, "observed:\n%s", out->texts[OBSERVED]);
        return fclose(file) ? NULL : text;
}

/* What `check` does with it besides loading: every phase is opened, on targets of no size of their own. */
static int try_phases(struct dbio_workload *workload, struct dbio_err *err)
{
        struct dbio_target_options options = {.null_engine = true, .create = true};
        struct dbio_targets targets = {0};
        struct dbio_geometry *geometry = NULL;
        struct dbio_schedule *schedule = NULL;
        int code = dbio_targets_resolve(&targets, workload->targets, workload->ntargets, NULL, 0, &options, err);

        if (!code)
                geometry = dbio_geometry_list(&targets);
        if (!code)
                code = dbio_workload_compile(workload, geometry, &schedule, err);
        for (unsigned i = 0; !code && i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};

                code = schedule->phase_open(schedule, i, &phase, err);
                if (!code)
                        schedule->phase_close(schedule, &phase);
        }
        if (schedule)
                schedule->free(schedule);
        free(geometry);
        dbio_targets_close(&targets);
        return code;
}

/* An error of the derived text, told as one of the input. */
static int no_workload(const char *path, struct dbio_err *inner, struct dbio_err *err)
{
        dbio_err_set(err, DBIO_USAGE, "what it says makes no workload: %s%s%.200s", inner->message, *inner->path ? " at " : "",
                     inner->path);
        return dbio_err_locate(err, path, 0, 0);
}

int dbio_derive(const struct dbio_derive_format *format, const struct dbio_derive_file *files, unsigned n, char **yaml,
                char **lost, struct dbio_err *err)
{
        struct dbio_derived out = {0};
        struct dbio_workload workload = {0};
        struct dbio_err inner = {0};
        int code = -1;

        *yaml = *lost = NULL;
        if (open_parts(&out)) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto done;
        }
        if (format->derive(files, n, &out, err))
                goto done;
        close_parts(&out);
        if (!out.nstreams) {
                dbio_err_set(err, DBIO_USAGE, "no I/O in it that a workload could make%s%.700s", *out.texts[LOST] ? ": " : "",
                             out.texts[LOST]);
                dbio_err_locate(err, files[0].path, 0, 0);
                goto done;
        }
        *yaml = assemble(&out);
        if (!*yaml) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto done;
        }
        if (dbio_workload_load_text(&workload, "derived", *yaml, strlen(*yaml), NULL, 0, &inner)) {
                no_workload(files[0].path, &inner, err);
                goto done;
        }
        code = try_phases(&workload, &inner);
        dbio_workload_release(&workload);
        if (code) {
                no_workload(files[0].path, &inner, err);
                goto done;
        }
        *lost = strdup(out.texts[LOST]);
done:
        if (code) {
                free(*yaml);
                *yaml = NULL;
        }
        release(&out);
        return code;
}
