/* SQLIO: batch files with its command lines, and the param files that they name. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"

#define WORDS 64
#define VARIABLES 64
#define PARAMS 64

/* A line of a param file: `path threads mask sizeMB`. */
struct param {
        const struct dbio_derive_file *file;
        unsigned line;
        char path[260];
        uint64_t threads, mib; /* mib 0 = not said */
};

struct test {
        bool write, sequential;
        uint64_t kib, depth, threads, seconds;
        int write_through;
        char buffering[4];  /* of -B */
        char param[260], path[260];
};

struct stream {
        struct test test; /* but for depth and seconds */
        char names[PARAMS][DBIO_DERIVED_NAME];
        unsigned n;
};

struct batch {
        const struct dbio_derive_file *files;
        unsigned nfiles;
        struct dbio_derived *out;
        char variables[VARIABLES][2][128];
        unsigned nvariables;
        struct stream *streams;
        unsigned nstreams, ntests;
};

static bool take_param(const struct dbio_derive_file *file, unsigned line, struct param *param)
{
        char *text = strdup(file->lines[line - 1]), *words[8];
        unsigned n = text ? dbio_derive_words(text, words, 8) : 0;
        uint64_t mib = 0;
        bool right = n >= 3 && n <= 4 && words[0][0] != '#' && dbio_derive_count(words[1], 65535, &param->threads) &&
                     param->threads && !strncasecmp(words[2], "0x", 2) && (n == 3 || dbio_derive_count(words[3], 1ull << 40, &mib));

        if (right) {
                *param = (struct param){.file = file, .line = line, .threads = param->threads, .mib = mib};
                snprintf(param->path, sizeof param->path, "%s", words[0]);
        }
        free(text);
        return right;
}

static unsigned take_params(const struct dbio_derive_file *file, struct param params[PARAMS])
{
        unsigned n = 0;

        for (unsigned i = 0; i < file->nlines && n < PARAMS; i++)
                n += take_param(file, i + 1, &params[n]);
        return n;
}

/* `%NAME%` replaced by what `set NAME=value` gave. */
static int substitute(struct batch *batch, const struct dbio_derive_file *file, unsigned line, char *text, size_t size,
                      struct dbio_err *err)
{
        const char *at = file->lines[line - 1];
        size_t n = 0;

        while (*at && n + 1 < size) {
                const char *end = *at == '%' ? strchr(at + 1, '%') : NULL;
                const char *value = NULL;

                if (!end || end == at + 1 || (size_t)(end - at - 1) > 100 || memchr(at, ' ', (size_t)(end - at))) {
                        text[n++] = *at++;
                        continue;
                }
                for (unsigned i = 0; i < batch->nvariables; i++)
                        if (strlen(batch->variables[i][0]) == (size_t)(end - at - 1) &&
                            !strncasecmp(batch->variables[i][0], at + 1, (size_t)(end - at - 1)))
                                value = batch->variables[i][1];
                if (!value)
                        return dbio_derive_bad(file, line, err, "%.*s has no value: no `set` line gives it one", (int)(end - at + 1), at);
                for (; *value && n + 1 < size; value++)
                        text[n++] = *value;
                at = end + 1;
        }
        text[n] = 0;
        return 0;
}

static void take_variable(struct batch *batch, const char *text)
{
        const char *equal;

        text += strspn(text, " \t@");
        if (strncasecmp(text, "set ", 4))
                return;
        text += 4 + strspn(text + 4, " \t\"");
        equal = strchr(text, '=');
        if (!equal || batch->nvariables == VARIABLES || equal - text > 100)
                return;
        snprintf(batch->variables[batch->nvariables][0], 128, "%.*s", (int)(equal - text), text);
        snprintf(batch->variables[batch->nvariables][1], 128, "%s", equal + 1);
        batch->variables[batch->nvariables][1][strcspn(batch->variables[batch->nvariables][1], "\"")] = 0;
        batch->nvariables++;
}

/* -B: what the file was opened with. */
static void take_buffering(struct batch *batch, struct test *test, const char *value, const char *from)
{
        snprintf(test->buffering, sizeof test->buffering, "-B%c", *value);
        switch (*value) {
        case 'H':
        case 'h':
                test->write_through = 0;
                break;
        case 'N':
        case 'n':
                test->write_through = 1;
                break;
        default:
                test->write_through = *value == 'S' || *value == 's';
                dbio_derived_lost(batch->out, "%s: -B%s: the operating system's file cache; replays go past it", from, value);
        }
}

/* One option; 1 = the test cannot be made. */
static int take_option(struct batch *batch, struct test *test, const char *word, const char *from)
{
        const char *value = word + 2;

        switch (word[1]) {
        case 'k':
                test->write = *value == 'W' || *value == 'w';
                return 0;
        case 's':
                return !dbio_derive_count(value, 1000000, &test->seconds) || !test->seconds;
        case 'f':
                test->sequential = !strcasecmp(value, "sequential");
                if (test->sequential || !strcasecmp(value, "random"))
                        return 0;
                return dbio_derived_lost(batch->out, "%s: -f%s: a stride; the test is left out", from, value), 1;
        case 'o':
                return !dbio_derive_count(value, 65535, &test->depth) || !test->depth;
        case 'b':
                return !dbio_derive_count(value, 65536, &test->kib) || !test->kib;
        case 't':
                return !dbio_derive_count(value, 65535, &test->threads) || !test->threads;
        case 'F':
                return snprintf(test->param, sizeof test->param, "%s", value), 0;
        case 'B':
                return take_buffering(batch, test, value, from), 0;
        case 'L':
                dbio_derived_lost(batch->out, "%s: how latencies are timed; dbio has its own clock", "-L");
                return 0;
        default:
                return dbio_derived_lost(batch->out, "%s: %s", from, word), 0;
        }
}

/* Files of the test, from its param file or its own words. */
static int find_params(struct batch *batch, const struct dbio_derive_file *file, unsigned line, const struct test *test,
                       struct param params[PARAMS], unsigned *n, struct dbio_err *err)
{
        const struct dbio_derive_file *given;
        struct dbio_derive_file beside = {0};
        char path[600];

        if (!*test->param) {
                params[0] = (struct param){.file = file, .line = line, .threads = test->threads};
                snprintf(params[0].path, sizeof params[0].path, "%s", *test->path ? test->path : "testfile.dat");
                *n = 1;
                return 0;
        }
        given = dbio_derive_find(batch->files, batch->nfiles, test->param);
        if (!given && !strpbrk(test->param, "/\\")) {
                snprintf(path, sizeof path, "%.*s%s", (int)(dbio_derive_base(file) - file->path), file->path, test->param);
                if (!dbio_derive_file_read(&beside, path, NULL))
                        given = &beside;
        }
        if (!given)
                return dbio_derive_bad(file, line, err, "-F%s: give that param file too", test->param);
        *n = take_params(given, params);
        for (unsigned i = 0; i < *n && given == &beside; i++)
                params[i].file = file; /* it goes away */
        dbio_derive_file_release(&beside);
        if (!*n)
                return dbio_derive_bad(file, line, err, "-F%s: no line `path threads mask sizeMB` in it", test->param);
        return 0;
}

static bool same_stream(const struct test *a, const struct test *b)
{
        return a->write == b->write && a->sequential == b->sequential && a->kib == b->kib && a->threads == b->threads &&
               a->write_through == b->write_through && !strcmp(a->param, b->param) && !strcmp(a->path, b->path);
}

static struct stream *make_stream(struct batch *batch, const struct test *test, const struct param *params, unsigned n,
                                  const char *from)
{
        struct stream *more = realloc(batch->streams, (batch->nstreams + 1) * sizeof *more), *stream;
        char name[60], size[40], place[400];

        if (!more)
                return NULL;
        batch->streams = more;
        stream = &batch->streams[batch->nstreams++];
        *stream = (struct stream){.test = *test};
        snprintf(name, sizeof name, "%s-%s-%lluK", test->sequential ? "sequential" : "random", test->write ? "write" : "read",
                 (unsigned long long)test->kib);
        for (unsigned i = 0; i < n; i++) {
                strcpy(size, "all");
                if (params[i].mib)
                        snprintf(size, sizeof size, "%lluMiB", (unsigned long long)params[i].mib);
                snprintf(place, sizeof place, "%.300s:%u", *test->param ? test->param : dbio_derive_base(params[i].file), params[i].line);
                struct dbio_derived_job job = {
                        .target = dbio_derived_target(batch->out, params[i].path, size, place), .name = name,
                        .random = !test->sequential, .read = !test->write, .bytes = test->kib * 1024,
                        .threads = (unsigned)params[i].threads, .write_through = test->write_through,
                        .write_through_from = test->buffering, .from = from, .threads_from = *test->param ? place : from,
                };
                snprintf(stream->names[i], DBIO_DERIVED_NAME, "%s", dbio_derived_job(batch->out, &job));
                stream->n = i + 1;
        }
        if (*test->param && test->threads != 1)
                dbio_derived_note(batch->out, "%s: -t%llu is overridden by the param file", from, (unsigned long long)test->threads);
        return stream;
}

static void tell_phase(struct batch *batch, const struct stream *stream, const struct test *test, const char *from)
{
        char name[DBIO_DERIVED_NAME], raw[DBIO_DERIVED_NAME + 24], value[40], *list = NULL, *sets = NULL;
        size_t size;
        FILE *lists = open_memstream(&list, &size), *set = open_memstream(&sets, &size);

        if (!lists || !set)
                return;
        for (unsigned i = 0; i < stream->n; i++) {
                if (!*stream->names[i])
                        continue;
                fprintf(lists, "%s%s", i ? ", " : "[", stream->names[i]);
                fprintf(set, "%sstreams.%s.depth: %llu", i ? ", " : "{", stream->names[i], (unsigned long long)test->depth);
        }
        fputc(']', lists);
        fputc('}', set);
        fclose(lists);
        fclose(set);
        snprintf(raw, sizeof raw, "%s-o%llu", stream->names[0], (unsigned long long)test->depth);
        if (*stream->names[0]) {
                dbio_derived_name(batch->out, DBIO_DERIVED_PHASES, raw, name);
                dbio_derived_item(batch->out, DBIO_DERIVED_PHASES, name);
                snprintf(value, sizeof value, "%llus", (unsigned long long)test->seconds);
                dbio_derived_key(batch->out, DBIO_DERIVED_PHASES, "duration", value, "%s", from);
                dbio_derived_key(batch->out, DBIO_DERIVED_PHASES, "streams", list, NULL);
                dbio_derived_key(batch->out, DBIO_DERIVED_PHASES, "set", sets, "%s: -o", from);
                batch->ntests++;
        }
        free(list);
        free(sets);
}

static int take_test(struct batch *batch, const struct dbio_derive_file *file, unsigned line, char **words, unsigned n,
                     struct dbio_err *err)
{
        /* SQLIO's own defaults. */
        struct test test = {.kib = 2, .depth = 1, .threads = 1, .seconds = 30, .sequential = true, .write_through = 1,
                            .buffering = "-BN"};
        struct param params[PARAMS];
        struct stream *stream = NULL;
        char from[300];
        unsigned nparams;

        snprintf(from, sizeof from, "%s:%u", dbio_derive_base(file), line);
        for (unsigned i = 0; i < n; i++) {
                if (words[i][0] == '>' || words[i][0] == '|' || words[i][0] == '&')
                        break;
                if (words[i][0] != '-' && words[i][0] != '/')
                        snprintf(test.path, sizeof test.path, "%s", words[i]);
                else if (strchr("sobt", words[i][1]) && words[i][1] && !strspn(words[i] + 2, "0123456789"))
                        return dbio_derive_bad(file, line, err, "%s: a number is right", words[i]);
                else if (words[i][1] && take_option(batch, &test, words[i], from))
                        return strchr("sobt", words[i][1]) ? dbio_derive_bad(file, line, err, "%s: no such number of it", words[i]) : 0;
        }
        if (find_params(batch, file, line, &test, params, &nparams, err))
                return -1;
        for (unsigned i = 0; i < batch->nstreams && !stream; i++)
                if (same_stream(&batch->streams[i].test, &test))
                        stream = &batch->streams[i];
        if (!stream && !(stream = make_stream(batch, &test, params, nparams, from)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        tell_phase(batch, stream, &test, from);
        return 0;
}

/* The word that is SQLIO itself. */
static bool is_sqlio(const char *word)
{
        const char *base = word;

        for (const char *c = word; *c; c++)
                if (*c == '\\' || *c == '/' || *c == '@' || *c == '>')
                        base = c + 1;
        return !strcasecmp(base, "sqlio") || !strcasecmp(base, "sqlio.exe");
}

static int take_line(struct batch *batch, const struct dbio_derive_file *file, unsigned line, struct dbio_err *err)
{
        char text[2048], *words[WORDS];
        unsigned n, at;

        take_variable(batch, file->lines[line - 1]);
        if (!strncasecmp(file->lines[line - 1], "timeout", 7))
                dbio_derived_lost(batch->out, "%s: `%s` between tests: phases follow at once", dbio_derive_base(file), file->lines[line - 1]);
        if (!strcasestr(file->lines[line - 1], "sqlio") || !strcasestr(file->lines[line - 1], " -"))
                return 0;
        if (substitute(batch, file, line, text, sizeof text, err))
                return -1;
        n = dbio_derive_words(text, words, WORDS);
        for (at = 0; at < n && !is_sqlio(words[at]); at++)
                if (!strcasecmp(words[0], "rem") || !strcasecmp(words[0], "echo") || words[0][0] == ':')
                        return 0;
        return at < n ? take_test(batch, file, line, words + at + 1, n - at - 1, err) : 0;
}

/* Param files alone: what they say is said, but it is no demand. */
static int no_tests(struct batch *batch, struct dbio_err *err)
{
        struct param params[PARAMS];

        for (unsigned i = 0; i < batch->nfiles; i++)
                if (take_params(&batch->files[i], params))
                        return dbio_derive_bad(&batch->files[i], params[0].line, err,
                                               "a param file alone (%s, %llu threads, %llu bytes): give the batch file with the sqlio "
                                               "lines first", params[0].path, (unsigned long long)params[0].threads,
                                               (unsigned long long)params[0].mib << 20);
        return dbio_derive_bad(&batch->files[0], 0, err, "no sqlio command line in it");
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct batch batch = {.files = files, .nfiles = n, .out = out};
        int code = 0;

        dbio_derived_describe(out, "sqlio", "SQLIO tests of %s", dbio_derive_base(&files[0]));
        dbio_derived_note(out, "SQLIO's KB and MB are of 1024; each test is a phase, outstanding I/Os are of each thread.");
        for (unsigned i = 0; !code && i < n; i++)
                for (unsigned line = 1; !code && line <= files[i].nlines; line++)
                        code = take_line(&batch, &files[i], line, err);
        if (!code && !batch.ntests && !batch.nstreams)
                code = no_tests(&batch, err);
        free(batch.streams);
        return code;
}

const struct dbio_derive_format dbio_derive_sqlio = {
        "sqlio", "SQLIO batch file, with its param files", derive,
};
