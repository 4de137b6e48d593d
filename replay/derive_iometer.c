/* Iometer configurations (.icf): access specifications as streams, one phase each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

#define FIELDS 16

struct icf {
        const struct dbio_derive_file *file;
        struct dbio_derived *out;
        uint64_t seconds, ramp, outstanding, workers, sectors;
        char disk[260];
        unsigned nspecs, seconds_line, ramp_line;
};

/* A specification's lines share the outstanding I/Os: depth is split by their shares, one at least. */
struct spec {
        char name[DBIO_DERIVED_NAME], list[2048];
        double percent;
        unsigned line;
};

static unsigned cut(const char *text, char copy[512], char *fields[FIELDS])
{
        snprintf(copy, 512, "%.511s", text);
        for (char *c = copy; *c; c++)
                if (*c == '\t')
                        *c = ' ';
        return dbio_csv_cut(copy, ',', fields, FIELDS);
}

static bool is_key(const char *line, const char *key)
{
        line += strspn(line, " \t");
        return *line == '\'' && !strncasecmp(line + 1 + strspn(line + 1, " \t"), key, strlen(key));
}

static uint64_t number_of(const char *text, uint64_t most)
{
        double value;

        return dbio_csv_number(text, false, &value) && value <= (double)most ? (uint64_t)value : UINT64_MAX;
}

/* The values that stand on a line, its key on the one above. */
static void take_setting(struct icf *icf, unsigned line)
{
        const char *key = icf->file->lines[line - 2], *values = icf->file->lines[line - 1];
        char copy[512], *fields[FIELDS], *words[8];
        uint64_t value;
        unsigned n;

        if (is_key(key, "Run Time")) {
                /* Its own line of names is between: `'	hours      minutes    seconds`. */
                return;
        }
        if (is_key(key, "hours")) {
                snprintf(copy, sizeof copy, "%.511s", values);
                n = dbio_derive_words(copy, words, 8);
                if (n >= 3 && number_of(words[0], 10000) != UINT64_MAX && number_of(words[1], 100000) != UINT64_MAX &&
                    number_of(words[2], 1000000) != UINT64_MAX) {
                        icf->seconds_line = line;
                        icf->seconds = number_of(words[0], 10000) * 3600 + number_of(words[1], 100000) * 60 + number_of(words[2], 1000000);
                }
                return;
        }
        if (!cut(values, copy, fields))
                return;
        if (is_key(key, "Ramp Up Time") && (value = number_of(fields[0], 100000)) != UINT64_MAX) {
                icf->ramp = value;
                icf->ramp_line = line;
        } else if (is_key(key, "Number of outstanding IOs") && (value = number_of(fields[0], 65535)) != UINT64_MAX && value) {
                icf->outstanding = value;
        } else if (is_key(key, "Maximum disk size") && (value = number_of(fields[0], 1ull << 50)) != UINT64_MAX) {
                icf->sectors = value;
        } else if (is_key(key, "Target") && !is_key(key, "Target assignments") && !is_key(key, "Target type") && !*icf->disk) {
                snprintf(icf->disk, sizeof icf->disk, "%.259s", fields[0]);
        } else if (is_key(key, "Worker") && !is_key(key, "Worker type")) {
                icf->workers++;
        }
}

static void add_stream(struct icf *icf, struct spec *spec, unsigned line, uint64_t size, double share, double reads, double random, bool whole)
{
        char from[200], name[100], block[40], bytes[40] = "all";
        double depth = fmax(1, round((double)icf->outstanding * share));

        snprintf(from, sizeof from, "%.100s:%u", dbio_derive_base(icf->file), line);
        dbio_format_size(size, block, sizeof block);
        snprintf(name, sizeof name, "%s-%s-%.0fr", random > 0 ? "random" : "sequential", block, reads * 100);
        if (icf->sectors)
                dbio_format_size(icf->sectors * 512, bytes, sizeof bytes);
        if (!whole)
                dbio_derived_lost(icf->out, "%s: %.0f %% of the worker's I/Os: a stream with its share of the outstanding ones, not of the I/Os", from,
                                  share * 100);
        const char *stream = dbio_derived_job(icf->out, &(struct dbio_derived_job){
                .target = dbio_derived_target(icf->out, *icf->disk ? icf->disk : "disk", bytes, from), .name = name, .random = random > 0,
                .read = round(reads * 100) / 100, .bytes = size, .threads = (unsigned)(icf->workers ? icf->workers : 1), .depth = (unsigned)depth,
                .write_through = 1, .write_through_from = "Iometer opens without buffering, write-through", .from = from,
        });
        size_t n = strlen(spec->list);
        if (*stream && n + DBIO_DERIVED_NAME + 4 < sizeof spec->list)
                snprintf(spec->list + n, sizeof spec->list - n, "%s%s", n ? ", " : "[", stream);
}

/* `4096,100,67,100,0,1,0,0`: size, % of size, % reads, % random, delay, burst, align, reply. */
static int take_access(struct icf *icf, struct spec *spec, unsigned line, struct dbio_err *err)
{
        static const char *const others[] = {"a delay", "a burst", "an alignment", "a reply"};
        char copy[512], *fields[FIELDS];
        unsigned n = cut(icf->file->lines[line - 1], copy, fields);
        uint64_t size = n >= 4 ? number_of(fields[0], 1ull << 40) : UINT64_MAX;
        double share, reads, random;

        if (size == UINT64_MAX || !dbio_csv_number(fields[1], false, &share) || !dbio_csv_number(fields[2], false, &reads) ||
            !dbio_csv_number(fields[3], false, &random) || share > 100 || reads > 100 || random > 100)
                return dbio_derive_bad(icf->file, line, err, "size, %% of size, %% reads and %% random are right");
        spec->percent += share;
        for (unsigned i = 4; i < n && i < 8; i++)
                if (strcmp(fields[i], "0") && !(i == 5 && !strcmp(fields[i], "1")))
                        dbio_derived_lost(icf->out, "%.100s:%u: %s of %.20s", dbio_derive_base(icf->file), line, others[i - 4], fields[i]);
        share /= 100;
        if (random > 0 && random < 100) {
                add_stream(icf, spec, line, size, share * random / 100, reads / 100, 100, false);
                add_stream(icf, spec, line, size, share * (100 - random) / 100, reads / 100, 0, false);
        } else if (share > 0) {
                add_stream(icf, spec, line, size, share, reads / 100, random, share >= 1);
        }
        return 0;
}

static int end_spec(struct icf *icf, struct spec *spec, struct dbio_err *err)
{
        char name[DBIO_DERIVED_NAME], value[40];

        if (!spec->line)
                return 0;
        if (fabs(spec->percent - 100) > 0.5)
                return dbio_derive_bad(icf->file, spec->line, err, "the lines of %s add up to %.0f %%, not 100", spec->name, spec->percent);
        for (int warm = icf->ramp > 0; warm >= 0 && *spec->list; warm--) {
                char raw[DBIO_DERIVED_NAME + 8], list[2060];

                snprintf(raw, sizeof raw, "%s%s", warm ? "ramp-" : "", spec->name);
                dbio_derived_name(icf->out, DBIO_DERIVED_PHASES, raw, name);
                dbio_derived_item(icf->out, DBIO_DERIVED_PHASES, name);
                snprintf(value, sizeof value, "%llus", (unsigned long long)(warm ? icf->ramp : icf->seconds ? icf->seconds : 60));
                dbio_derived_key(icf->out, DBIO_DERIVED_PHASES, "duration", value, warm || icf->seconds ? "%s:%u" : "%s: no run time is given; a minute stands for it",
                                 dbio_derive_base(icf->file), warm ? icf->ramp_line : icf->seconds_line);
                if (warm)
                        dbio_derived_key(icf->out, DBIO_DERIVED_PHASES, "record", "no", NULL);
                snprintf(list, sizeof list, "%s]", spec->list);
                dbio_derived_key(icf->out, DBIO_DERIVED_PHASES, "streams", list, NULL);
        }
        icf->nspecs++;
        spec->line = 0;
        return 0;
}

static int take_specs(struct icf *icf, struct dbio_err *err)
{
        struct spec spec = {0};
        bool rows = false;

        for (unsigned i = 0; i < icf->file->nlines; i++) {
                const char *text = icf->file->lines[i];

                if (is_key(text, "Access specification name") && i + 1 < icf->file->nlines) {
                        char copy[512], *fields[FIELDS];

                        if (end_spec(icf, &spec, err))
                                return -1;
                        spec = (struct spec){.line = i + 2};
                        if (cut(icf->file->lines[i + 1], copy, fields))
                                snprintf(spec.name, sizeof spec.name, "%.50s", fields[0]);
                        rows = false;
                } else if (is_key(text, "size")) {
                        rows = spec.line > 0;
                } else if (*(text + strspn(text, " \t")) == '\'') {
                        rows = false;
                        if (is_key(text, "End access specifications") && end_spec(icf, &spec, err))
                                return -1;
                } else if (rows && *text && take_access(icf, &spec, i + 1, err)) {
                        return -1;
                }
        }
        return end_spec(icf, &spec, err);
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct icf icf = {.file = files, .out = out, .outstanding = 1};

        if (n > 1)
                return dbio_derive_bad(&files[1], 0, err, "one configuration at a time");
        for (unsigned i = 0; i + 1 < files->nlines; i++)
                take_setting(&icf, i + 2);
        dbio_derived_describe(out, "iometer", "Iometer access specifications of %s", dbio_derive_base(files));
        dbio_derived_note(out, "Each access specification is a phase, whichever workers it was assigned to.");
        if (take_specs(&icf, err))
                return -1;
        return icf.nspecs ? 0 : dbio_derive_bad(files, 0, err, "no access specification: no Iometer configuration");
}

const struct dbio_derive_format dbio_derive_iometer = {
        "iometer", "Iometer configuration (.icf)", derive,
};
