/* diskspd: command lines (batch files, or as its results repeat them) and XML profiles (-X, or in -Rxml results). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/xmltree.h"

#define WORDS 128
#define TARGETS 64

/* What one command or time span asks, diskspd's defaults first. */
struct test {
        uint64_t block, align, file_bytes, base, depth, threads, total_threads, write_percent, seconds, warmup, rate_bytes_ms, rate_ops;
        bool random, shared, through, cached;
        const char *through_from;
};

static const struct test plain = {
        .block = 65536, .depth = 2, .threads = 1, .seconds = 10, .warmup = 5, .cached = true, .through_from = "no -S option",
};

struct spd {
        struct dbio_derived *out;
        unsigned nphases;
};

/* `8K`, `1g`, a number of bytes, or `16b` blocks. */
static bool take_size(const char *text, uint64_t block, uint64_t *bytes)
{
        char *end;
        uint64_t unit = 1;

        if (*text < '0' || *text > '9' || strspn(text, "0123456789") > 15)
                return false;
        *bytes = strtoull(text, &end, 10);
        switch (*end) {
        case 'K':
        case 'k':
                unit = 1ull << 10;
                break;
        case 'M':
        case 'm':
                unit = 1ull << 20;
                break;
        case 'G':
        case 'g':
                unit = 1ull << 30;
                break;
        case 'T':
        case 't':
                unit = 1ull << 40;
                break;
        case 'b':
        case 'B':
                unit = block;
                break;
        case 0:
                return true;
        default:
                return false;
        }
        return !end[1] && !__builtin_mul_overflow(*bytes, unit, bytes) && *bytes < 1ull << 60;
}

static void name_test(const struct test *t, char *name, size_t size)
{
        char block[40];

        dbio_format_size(t->block, block, sizeof block);
        if (t->write_percent && t->write_percent < 100)
                snprintf(name, size, "%s-%s-%lluw", t->random ? "random" : "sequential", block, (unsigned long long)t->write_percent);
        else
                snprintf(name, size, "%s-%s-%s", t->random ? "random" : "sequential", t->write_percent ? "write" : "read", block);
}

/* One target of a test: its stream; "" if there is none. */
static const char *tell_target(struct spd *spd, const struct test *t, const char *path, const char *from)
{
        char name[DBIO_DERIVED_NAME], size[40] = "all";
        unsigned threads = (unsigned)t->threads;

        if (t->file_bytes)
                dbio_format_size(t->file_bytes, size, sizeof size);
        name_test(t, name, sizeof name);
        if (t->align && t->align < t->block && t->random)
                dbio_derived_lost(spd->out, "%s: places at multiples of %llu bytes: an I/O begins at a multiple of its size", from,
                                  (unsigned long long)t->align);
        if (t->cached)
                dbio_derived_lost(spd->out, "%s: the operating system's file cache (%s); replays go past it", from, t->through_from);
        if (t->base)
                dbio_derived_lost(spd->out, "%s: a base offset of %llu bytes: give the stream a `region`", from, (unsigned long long)t->base);
        return dbio_derived_job(spd->out, &(struct dbio_derived_job){
                .target = dbio_derived_target(spd->out, path, size, from), .name = name, .random = t->random, .shared = t->shared,
                .read = (double)(100 - t->write_percent) / 100, .bytes = t->block, .threads = threads, .depth = (unsigned)t->depth,
                .write_through = t->through, .write_through_from = t->through_from,
                .rate = (double)t->rate_ops * threads, .byte_rate = (double)t->rate_bytes_ms * 1000 * threads, .from = from,
        });
}

/* Streams of one test run together: a warm-up that is not recorded, and the phase. */
static void tell_phases(struct spd *spd, const struct test *t, const char *streams, const char *from)
{
        char name[DBIO_DERIVED_NAME], raw[DBIO_DERIVED_NAME], value[40];

        for (int warm = 1; warm >= 0; warm--) {
                uint64_t seconds = warm ? t->warmup : t->seconds;

                if (!seconds)
                        continue;
                snprintf(raw, sizeof raw, "%s-%u", warm ? "warm-up" : "test", spd->nphases + 1);
                dbio_derived_name(spd->out, DBIO_DERIVED_PHASES, raw, name);
                dbio_derived_item(spd->out, DBIO_DERIVED_PHASES, name);
                snprintf(value, sizeof value, "%llus", (unsigned long long)seconds);
                dbio_derived_key(spd->out, DBIO_DERIVED_PHASES, "duration", value, "%s", from);
                if (warm)
                        dbio_derived_key(spd->out, DBIO_DERIVED_PHASES, "record", "no", NULL);
                dbio_derived_key(spd->out, DBIO_DERIVED_PHASES, "streams", streams, NULL);
        }
        spd->nphases++;
}

/* --- command lines ------------------------------------------------------------------------------------------------- */

static void take_caching(struct test *t, const char *letters, const char *word)
{
        /* -S alone turns the file cache off; u: no file cache, w: write-through, h: both, b: cache on, m: mapped. */
        t->cached = *letters != 0;
        for (const char *c = letters; *c; c++) {
                if (*c == 'h' || *c == 'w')
                        t->through = true;
                if (*c == 'h' || *c == 'u')
                        t->cached = false;
        }
        t->through_from = word;
}

static bool take_throughput(struct test *t, const char *value)
{
        size_t digits = strspn(value, "0123456789");

        if (!digits || digits > 9 || (value[digits] && strcmp(value + digits, "i")))
                return false;
        *(value[digits] ? &t->rate_ops : &t->rate_bytes_ms) = strtoull(value, NULL, 10);
        return true;
}

/* false: the value is wrong. */
static bool take_option(struct spd *spd, struct test *t, const char *word, const char *from)
{
        const char *value = word + 2;

        switch (word[1]) {
        case 'b':
                return take_size(value, 1, &t->block) && t->block;
        case 'c':
                return take_size(value, t->block, &t->file_bytes);
        case 'B':
                return take_size(value, t->block, &t->base);
        case 'o':
                return dbio_derive_count(value, 65535, &t->depth) && t->depth;
        case 't':
                return dbio_derive_count(value, 65535, &t->threads) && t->threads;
        case 'F':
                return dbio_derive_count(value, 65535, &t->total_threads) && t->total_threads;
        case 'w':
                return dbio_derive_count(value, 100, &t->write_percent);
        case 'd':
                return dbio_derive_count(value, 1000000, &t->seconds) && t->seconds;
        case 'W':
                return dbio_derive_count(value, 1000000, &t->warmup);
        case 'g':
                return take_throughput(t, value);
        case 'r':
                t->random = true;
                if (*value == 's' || *value == 'd')
                        return dbio_derived_lost(spd->out, "%s: %s: its mix or distribution; all are random and even", from, word), true;
                return !*value || take_size(value, t->block, &t->align);
        case 's':
                t->shared = *value == 'i';
                if (*value && *value != 'i')
                        dbio_derived_lost(spd->out, "%s: %s: a stride; I/Os follow each other", from, word);
                return true;
        case 'h':
                return take_caching(t, "h", "-h"), true;
        case 'S':
                return take_caching(t, value, word), true;
        case 'L':
        case 'D':
        case 'R':
        case 'v':
                return true; /* what is measured and printed */
        default:
                return dbio_derived_lost(spd->out, "%s: %s", from, word), true;
        }
}

static int take_command(struct spd *spd, const struct dbio_derive_file *file, unsigned line, char **words, unsigned n,
                        struct dbio_err *err)
{
        struct test t = plain;
        char from[300], list[TARGETS * (DBIO_DERIVED_NAME + 2) + 8] = "[";
        const char *paths[TARGETS];
        unsigned npaths = 0;

        snprintf(from, sizeof from, "%s:%u", dbio_derive_base(file), line);
        for (unsigned i = 0; i < n && !strchr(">|&", words[i][0]); i++) {
                if (words[i][0] != '-' && (words[i][0] != '/' || strchr(words[i] + 1, '/'))) {
                        if (npaths < TARGETS)
                                paths[npaths++] = words[i];
                        continue;
                }
                if (!words[i][1] || !take_option(spd, &t, words[i], from))
                        return dbio_derive_bad(file, line, err, "%s: no such value of a diskspd option", words[i]);
        }
        if (!npaths)
                return dbio_derive_bad(file, line, err, "the command names no target");
        if (t.total_threads) {
                t.threads = (t.total_threads + npaths - 1) / npaths;
                if (npaths > 1)
                        dbio_derived_lost(spd->out, "%s: -F%llu: threads that work on all targets; each has its share of them", from,
                                          (unsigned long long)t.total_threads);
        }
        for (unsigned i = 0; i < npaths; i++) {
                const char *stream = tell_target(spd, &t, paths[i], from);

                if (*stream)
                        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[1] ? ", " : "", stream);
        }
        strcat(list, "]");
        if (list[1] != ']')
                tell_phases(spd, &t, list, from);
        return 0;
}

static bool is_diskspd(const char *word)
{
        const char *base = word;

        for (const char *c = word; *c; c++)
                if (*c == '\\' || *c == '/' || *c == '@')
                        base = c + 1;
        return !strcasecmp(base, "diskspd") || !strcasecmp(base, "diskspd.exe");
}

static int take_lines(struct spd *spd, const struct dbio_derive_file *file, struct dbio_err *err)
{
        for (unsigned i = 0; i < file->nlines; i++) {
                char *text, *words[WORDS];
                unsigned n, at;
                int code = 0;

                if (!strcasestr(file->lines[i], "diskspd") || !strcasestr(file->lines[i], " -"))
                        continue;
                text = strdup(file->lines[i]);
                if (!text)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                n = dbio_derive_words(text, words, WORDS);
                for (at = 0; at < n && !is_diskspd(words[at]); at++)
                        if (!strcasecmp(words[0], "rem") || !strcasecmp(words[0], "echo") || words[0][0] == '#')
                                at = n - 1;
                if (at < n)
                        code = take_command(spd, file, i + 1, words + at + 1, n - at - 1, err);
                free(text);
                if (code)
                        return -1;
        }
        return 0;
}

/* --- XML ----------------------------------------------------------------------------------------------------------- */

static bool is_true(const struct dbio_xml *xml, const char *name)
{
        return !strcasecmp(dbio_xml_text(xml, name, "false"), "true");
}

static int take_xml_count(const struct dbio_derive_file *file, const struct dbio_xml *xml, const char *name, uint64_t most,
                          uint64_t *value, struct dbio_err *err)
{
        const char *said = dbio_xml_text(xml, name, NULL);
        const struct dbio_xml *item = dbio_xml_get(xml, name);

        if (said && !dbio_derive_count(said, most, value))
                return dbio_derive_bad(file, item->line, err, "%s: a count up to %llu is right, not %.40s", name,
                                       (unsigned long long)most, said);
        return 0;
}

static int take_xml_target(struct spd *spd, const struct dbio_derive_file *file, const struct dbio_xml *xml, struct test *t,
                           char *from, struct dbio_err *err)
{
        static const char *const lost[] = {"BurstSize", "ThinkTime", "ThreadStride", "MaxFileSize", "Distribution", "RandomRatio",
                                           "InterlockedSequential", NULL};

        t->cached = true;
        if (take_xml_count(file, xml, "BlockSize", 1ull << 40, &t->block, err) ||
            take_xml_count(file, xml, "Random", 1ull << 40, &t->align, err) ||
            take_xml_count(file, xml, "FileSize", 1ull << 58, &t->file_bytes, err) ||
            take_xml_count(file, xml, "BaseFileOffset", 1ull << 58, &t->base, err) ||
            take_xml_count(file, xml, "RequestCount", 65535, &t->depth, err) ||
            take_xml_count(file, xml, "ThreadsPerFile", 65535, &t->threads, err) ||
            take_xml_count(file, xml, "WriteRatio", 100, &t->write_percent, err) ||
            take_xml_count(file, xml, "Throughput", 1000000000, &t->rate_bytes_ms, err))
                return -1;
        if (!t->block || !t->threads || !t->depth)
                return dbio_derive_bad(file, xml->line, err, "BlockSize, ThreadsPerFile and RequestCount of a Target are more than 0");
        t->random = dbio_xml_get(xml, "Random") != NULL;
        t->shared = is_true(xml, "InterlockedSequential");
        t->through = is_true(xml, "WriteThrough");
        if (is_true(xml, "DisableOSCache") || is_true(xml, "DisableAllCache"))
                t->cached = false;
        t->through |= is_true(xml, "DisableAllCache");
        t->through_from = "WriteThrough, DisableOSCache";
        for (unsigned i = 0; lost[i]; i++)
                if (strcmp(dbio_xml_text(xml, lost[i], "0"), "0") && strcmp(lost[i], "InterlockedSequential"))
                        dbio_derived_lost(spd->out, "%s: %s %s", from, lost[i], dbio_xml_text(xml, lost[i], ""));
        return 0;
}

static int take_span(struct spd *spd, const struct dbio_derive_file *file, const struct dbio_xml *span, struct dbio_err *err)
{
        const struct dbio_xml *targets = dbio_xml_get(span, "Targets");
        struct test t = plain;
        char from[300], list[TARGETS * (DBIO_DERIVED_NAME + 2) + 8] = "[";
        unsigned n = 0;

        if (take_xml_count(file, span, "Duration", 1000000, &t.seconds, err) ||
            take_xml_count(file, span, "Warmup", 1000000, &t.warmup, err))
                return -1;
        for (unsigned i = 0; targets && i < targets->n; i++) {
                const struct dbio_xml *xml = targets->items[i];
                struct test of = t;

                if (strcmp(xml->name, "Target"))
                        continue;
                if (n++ == TARGETS)
                        return dbio_derive_bad(file, xml->line, err, "over %d targets", TARGETS);
                snprintf(from, sizeof from, "%s:%u", dbio_derive_base(file), xml->line);
                if (take_xml_target(spd, file, xml, &of, from, err))
                        return -1;
                const char *stream = tell_target(spd, &of, dbio_xml_text(xml, "Path", "target"), from);
                if (*stream)
                        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", list[1] ? ", " : "", stream);
        }
        if (!n)
                return dbio_derive_bad(file, span->line, err, "a TimeSpan without Targets");
        strcat(list, "]");
        snprintf(from, sizeof from, "%s:%u", dbio_derive_base(file), span->line);
        if (list[1] != ']')
                tell_phases(spd, &t, list, from);
        return 0;
}

static int take_profile(struct spd *spd, const struct dbio_derive_file *file, struct dbio_err *err)
{
        struct dbio_xml *root = dbio_xml_parse(file, err);
        const struct dbio_xml *profile = dbio_xml_find(root, "Profile"), *spans = dbio_xml_get(profile, "TimeSpans");
        int code = 0;

        if (!root)
                return -1;
        if (!spans || !spans->n)
                code = dbio_derive_bad(file, root->line, err, "no Profile with TimeSpans in it");
        for (unsigned i = 0; !code && i < spans->n; i++)
                if (!strcmp(spans->items[i]->name, "TimeSpan"))
                        code = take_span(spd, file, spans->items[i], err);
        dbio_xml_free(root);
        return code;
}

static bool is_xml(const struct dbio_derive_file *file)
{
        for (unsigned i = 0; i < file->nlines; i++) {
                const char *at = file->lines[i] + strspn(file->lines[i], " \t");

                if (*at)
                        return *at == '<';
        }
        return false;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct spd spd = {.out = out};
        int code = 0;

        dbio_derived_describe(out, "diskspd", "diskspd tests of %s", dbio_derive_base(&files[0]));
        for (unsigned i = 0; !code && i < n; i++)
                code = is_xml(&files[i]) ? take_profile(&spd, &files[i], err) : take_lines(&spd, &files[i], err);
        if (!code && !spd.nphases)
                code = dbio_derive_bad(&files[0], 0, err, "neither a diskspd command line nor an XML profile that a workload can do");
        return code;
}

const struct dbio_derive_format dbio_derive_diskspd = {
        "diskspd", "diskspd command lines, XML profiles", derive,
};
