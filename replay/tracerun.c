#include "replay/tracerun.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/sha256.h"

#define LOOK_OPS 100000u
#define SAMPLES 64u
#define SAMPLE_BYTES 4096u
#define MIB ((uint64_t)1 << 20)

int dbio_trace_feed_take(struct dbio_trace *trace, struct dbio_trace_feed **feed, struct dbio_err *err)
{
        *feed = trace->spare;
        trace->spare = NULL;
        if (*feed)
                return 0;
        int code = trace->format ? dbio_trace_feed_open(feed, trace->format, (const char *const *)trace->files.gl_pathv,
                                                        (unsigned)trace->files.gl_pathc, &trace->options, err)
                                 : dbio_trace_feed_open_file(feed, trace->path, &trace->options, err);
        if (code < 0)
                return -1;
        if (!*feed) {
                dbio_err_set(err, DBIO_USAGE, "the schedule file has changed");
                return dbio_err_locate(err, trace->path, 0, 0);
        }
        if (dbio_trace_feed_prime(*feed, err)) {
                dbio_trace_feed_close(*feed);
                *feed = NULL;
                return -1;
        }
        return 0;
}

static void hash_samples(FILE *out, const char *path)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        char sample[SAMPLE_BYTES];
        struct stat facts;

        if (fd < 0)
                return;
        if (!fstat(fd, &facts)) {
                fprintf(out, " %" PRIu64 " ", (uint64_t)facts.st_size);
                for (uint64_t i = 0; i < SAMPLES; i++) {
                        ssize_t got = pread(fd, sample, sizeof sample, (off_t)((uint64_t)facts.st_size / SAMPLES * i));
                        if (got > 0)
                                fwrite(sample, (size_t)got, 1, out);
                }
        }
        close(fd);
}

/* Equal hash = equal demand: what is read and how. Of a trace's files the size and samples of the content stand for all of
 * it, so that a long trace starts at once. */
static void make_hash(struct dbio_trace *trace, const char *of_file)
{
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        if (!out)
                return;
        fprintf(out, "%s %s %d %d %d %d %d", trace->format ? trace->format : "", of_file, trace->pace, trace->options.fold,
                trace->options.reads_only, trace->options.issue_events, trace->options.misaligned);
        if (trace->options.compact)
                fputs(" compact", out);
        for (unsigned i = 0; i < trace->options.nmaps; i++)
                fprintf(out, " %s", trace->options.maps[i]);
        for (size_t i = 0; i < trace->files.gl_pathc; i++)
                hash_samples(out, trace->files.gl_pathv[i]);
        fclose(out);
        dbio_sha256_hex(text, size, trace->hash);
        free(text);
}

static int copy_targets(struct dbio_trace *trace, const struct dbio_trace_feed *feed, struct dbio_err *err)
{
        trace->ntargets = dbio_trace_feed_targets(feed);
        trace->targets = calloc(trace->ntargets + 1, sizeof *trace->targets);
        trace->specs = calloc(trace->ntargets + 1, sizeof *trace->specs);
        if (!trace->targets || !trace->specs)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < trace->ntargets; i++) {
                trace->targets[i] = *dbio_trace_feed_target(feed, i);
                trace->targets[i].name = strdup(trace->targets[i].name);
        }
        return 0;
}

static void make_specs(struct dbio_trace *trace, const struct dbio_trace_request *request)
{
        for (unsigned i = 0; i < trace->ntargets; i++) {
                const struct dbio_trace_target *target = &trace->targets[i];
                struct dbio_target_spec *spec = &trace->specs[i];
                uint64_t end = target->end ? (target->end + MIB - 1) / MIB * MIB : MIB;

                *spec = (struct dbio_target_spec){.name = target->name, .unit = DBIO_SIZE_BYTES, .size_bytes = end,
                                                  .page = 4096, .layout = {.contiguous = true}};
                if (request->bound && !request->create && (trace->options.fold || !trace->whole)) {
                        spec->unit = DBIO_SIZE_SHARE;
                        spec->size_share = 1;
                } else if (!trace->whole && !request->create) {
                        spec->size_bytes = 1ull << 50; /* nothing is there that it could be too small for */
                }
        }
}

/* Looks through a trace, or at its beginning, for its targets and their sizes. */
static int look(struct dbio_trace *trace, struct dbio_err *err)
{
        struct dbio_trace_feed *feed;
        struct dbio_trace_op op;
        uint64_t n = 0;
        int code;

        if (dbio_trace_feed_take(trace, &feed, err))
                return -1;
        while ((code = dbio_trace_feed_next(feed, &op, err)) > 0 && ++n < LOOK_OPS)
                ;
        trace->whole = code == 0;
        trace->summary = *dbio_trace_feed_summary(feed);
        trace->ops = dbio_trace_feed_ops(feed);
        if (code >= 0)
                code = copy_targets(trace, feed, err);
        if (!code && !trace->ntargets) {
                dbio_err_set(err, DBIO_USAGE, "there is no I/O in it");
                code = dbio_err_locate(err, trace->path, 0, 0);
        }
        dbio_trace_feed_close(feed);
        make_hash(trace, "");
        return code;
}

static int look_at_schedule(struct dbio_trace *trace, struct dbio_trace_feed *feed, struct dbio_err *err)
{
        trace->summary = *dbio_trace_feed_summary(feed);
        trace->ops = dbio_trace_feed_ops(feed);
        trace->whole = true;
        make_hash(trace, dbio_trace_feed_hash(feed));
        if (!trace->ops || !dbio_trace_feed_targets(feed))
                return dbio_err_set(err, DBIO_USAGE, "%s: there is no I/O in it", trace->path);
        return copy_targets(trace, feed, err);
}

/* A path as it stands where there is such a file, else as a pattern, else as the name that blktrace gave its files. */
static int find_files(struct dbio_trace *trace)
{
        char pattern[4096];
        bool there = !access(trace->path, F_OK);

        if (!there && !strcmp(trace->format, "blktrace")) {
                snprintf(pattern, sizeof pattern, "%s.blktrace.*", trace->path);
                if (!glob(pattern, 0, NULL, &trace->files))
                        return 0;
                globfree(&trace->files);
        }
        if (!there && !glob(trace->path, 0, NULL, &trace->files))
                return 0;
        globfree(&trace->files);
        trace->files.gl_pathv = calloc(2, sizeof(char *));
        if (!trace->files.gl_pathv || !(trace->files.gl_pathv[0] = strdup(trace->path)))
                return -1;
        trace->files.gl_pathc = 1;
        return 0;
}

/* A run looks at its trace before it replays it, and again for each repetition. */
static int check_files(const struct dbio_trace *trace, struct dbio_err *err)
{
        struct stat facts;

        for (size_t i = 0; i < trace->files.gl_pathc; i++)
                if (!stat(trace->files.gl_pathv[i], &facts) && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
                        dbio_err_set(err, DBIO_USAGE, "no regular file: make a schedule of it by `dbio import FORMAT FILE -o SCHEDULE`, "
                                                      "which reads it once");
                        return dbio_err_locate(err, trace->files.gl_pathv[i], 0, 0);
                }
        return 0;
}

static int copy_request(struct dbio_trace *trace, const struct dbio_trace_request *request)
{
        const char *slash = strrchr(request->path, '/');

        trace->format = request->format ? strdup(request->format) : NULL;
        trace->path = strdup(request->path);
        if (!trace->path || (request->format && !trace->format))
                return -1;
        trace->name = slash ? trace->path + (slash + 1 - request->path) : trace->path;
        trace->options = request->options;
        trace->pace = request->pace;
        trace->duration_ns = request->duration_ns;
        return trace->format ? find_files(trace) : 0;
}

int dbio_trace_open(struct dbio_trace **out, const struct dbio_trace_request *request, struct dbio_err *err)
{
        struct dbio_trace *trace = calloc(1, sizeof *trace);
        struct dbio_trace_feed *feed = NULL;
        int code = 1;

        *out = NULL;
        if (!trace || copy_request(trace, request)) {
                dbio_trace_free(trace);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        if (!request->format) {
                code = dbio_trace_feed_open_file(&feed, request->path, &request->options, err);
                if (code > 0 && look_at_schedule(trace, feed, err))
                        code = -1;
                trace->options.fold |= code > 0 && dbio_trace_feed_folds(feed);
                dbio_trace_feed_close(feed);
        } else if (check_files(trace, err) || look(trace, err)) {
                code = -1;
        }
        if (code > 0 && trace->summary.untimed && trace->pace != DBIO_PACE_FAST) {
                dbio_err_set(err, DBIO_USAGE, "there are no time stamps in the trace, only an order: --pace fast replays it");
                code = dbio_err_locate(err, trace->path, 0, 0);
        }
        if (code <= 0) {
                dbio_trace_free(trace);
                return code;
        }
        make_specs(trace, request);
        *out = trace;
        return 1;
}

void dbio_trace_free(struct dbio_trace *trace)
{
        if (!trace)
                return;
        dbio_trace_feed_close(trace->spare);
        for (unsigned i = 0; trace->targets && i < trace->ntargets; i++)
                free(trace->targets[i].name);
        free(trace->targets);
        free(trace->specs);
        globfree(&trace->files);
        free(trace->format);
        free(trace->path);
        free(trace);
}

int dbio_trace_failure(const struct dbio_trace *trace, struct dbio_err *err)
{
        if (!trace || !trace->failed)
                return 0;
        if (err)
                *err = trace->failure;
        return -1;
}
