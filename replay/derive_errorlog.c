/* SQL Server's error log: FlushCache lines of checkpoints, and the 833 warnings of long I/Os. Layouts: 2008 without
 * database and latency, 2008 R2 and 2012 with them, with or without `average writes per second`; lines in order, newest
 * first, or without time stamps; case and blanks differ. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"

#define PAGE 8192.0
#define UNKNOWN UINT64_MAX
#define NO_DATABASE UINT64_MAX

struct flush {
        const struct dbio_derive_file *file;
        unsigned line;
        uint64_t pages, writes, ms, avoided, database;
        uint64_t outstanding, latency_ms; /* UNKNOWN = not said */
        double mib_per_s;                 /* as logged; NAN */
        double end_s;                     /* of its stamp; NAN = none */
};

struct log {
        struct flush *flushes;
        unsigned n;
        bool latencies;
        unsigned version;  /* 0 = not said */
        uint64_t database; /* of the last `Ckpt dbid` line */
        uint64_t long_ios;
        char first_long[400];
        struct dbio_derived *out;
};

/* Digits behind blanks; false where there are none or they are beyond 64 bits. */
static bool number(const char **at, uint64_t *value)
{
        char *end;

        *at += strspn(*at, " \t");
        if (!isdigit((unsigned char)**at) || strspn(*at, "0123456789") > 19)
                return false;
        *value = strtoull(*at, &end, 10);
        *at = end;
        return true;
}

/* What stands behind a text, whatever its case; NULL where it is not there. */
static const char *behind(const char *line, const char *text)
{
        const char *at = strcasestr(line, text);

        return at ? at + strlen(text) : NULL;
}

static bool number_behind(const char *line, const char *text, uint64_t *value)
{
        const char *at = behind(line, text);

        if (!at)
                return false;
        at += strspn(at, ": \t");
        return number(&at, value);
}

/* `2012-05-30 02:01:56.31` as seconds; NAN for a line without. */
static double stamp(const char *line)
{
        int year, month, day, hour, minute, used = 0;
        double second;

        if (!isdigit((unsigned char)*line) ||
            sscanf(line, "%4d-%2d-%2d %2d:%2d:%n", &year, &month, &day, &hour, &minute, &used) < 5 || !used ||
            month < 1 || month > 12 || day < 1 || day > 31)
                return NAN;
        if (!isdigit((unsigned char)line[used]))
                return NAN;
        /* Not strtod: a log may come from a place where the locale has a decimal comma. */
        second = (line[used] - '0') * 10 + (isdigit((unsigned char)line[used + 1]) ? line[used + 1] - '0' : 0);
        if (line[used + 2] == '.' && isdigit((unsigned char)line[used + 3]))
                second += (line[used + 3] - '0') * 0.1 + (isdigit((unsigned char)line[used + 4]) ? (line[used + 4] - '0') * 0.01 : 0);
        /* Days since 1970, months from March on, as in the civil calendar. */
        int y = year - (month <= 2), era = y / 400, yoe = y - era * 400;
        int doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1, doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        return ((double)era * 146097 + doe) * 86400 + hour * 3600 + minute * 60 + second;
}

/* `FlushCache: cleaned up B bufs with W writes in M ms (avoided A new dirty bufs) for db D:F`; its end may be cut. */
static int take_flush(struct log *log, const struct dbio_derive_file *file, unsigned line, struct dbio_err *err)
{
        const char *text = file->lines[line - 1], *at = behind(text, "cleaned up");
        struct flush flush = {.file = file, .line = line, .database = log->database, .outstanding = UNKNOWN,
                              .latency_ms = UNKNOWN, .mib_per_s = NAN, .end_s = stamp(text)};
        bool right = at && number(&at, &flush.pages) && (at = behind(at, "bufs with")) && number(&at, &flush.writes) &&
                     (at = behind(at, "in ")) && number(&at, &flush.ms);

        if (!right)
                return dbio_derive_bad(file, line, err, "a FlushCache line should say: cleaned up N bufs with N writes in N ms");
        if (flush.writes > flush.pages || flush.pages > 1000000000000 || flush.ms > 1000000000000)
                return dbio_derive_bad(file, line, err, "%llu bufs with %llu writes in %llu ms cannot be",
                                       (unsigned long long)flush.pages, (unsigned long long)flush.writes, (unsigned long long)flush.ms);
        number_behind(at, "avoided", &flush.avoided);
        number_behind(at, "for db", &flush.database);
        struct flush *more = realloc(log->flushes, (log->n + 1) * sizeof *more);
        if (!more)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        log->flushes = more;
        log->flushes[log->n++] = flush;
        return 0;
}

/* Lines that belong to a flush: `average throughput`, `last target outstanding`. */
static void take_detail(struct log *log, struct flush *flush, const char *text)
{
        uint64_t whole;
        const char *at = behind(text, "average throughput:");

        if (at && number(&at, &whole)) {
                flush->mib_per_s = (double)whole;
                if (*at == '.' || *at == ',') {
                        double place = 1;

                        for (at++; isdigit((unsigned char)*at); at++)
                                flush->mib_per_s += (*at - '0') * (place /= 10);
                }
        }
        number_behind(text, "target outstanding", &flush->outstanding);
        log->latencies |= number_behind(text, "avgWriteLatency", &flush->latency_ms);
}

static bool is_detail(const char *text)
{
        return behind(text, "average throughput:") || behind(text, "last target outstanding");
}

/* `40 occurrence(s) of I/O requests taking longer than 15 seconds to complete on file [F] in database id N. … offset …
 * is: 0x…. The duration of the long I/O is: N ms.` */
static void take_long(struct log *log, const struct dbio_derive_file *file, unsigned line)
{
        const char *text = file->lines[line - 1], *at = behind(text, "has encountered"), *name = behind(text, "on file ["), *end;
        uint64_t count = 1, duration = UNKNOWN, database = NO_DATABASE, seconds = 15;
        unsigned long long offset = 0;
        char said[40] = "", where[40] = "";

        if (at)
                number(&at, &count);
        number_behind(text, "taking longer than", &seconds);
        number_behind(text, "duration of the long I/O is", &duration);
        if (!number_behind(text, "in database id", &database) && (at = behind(text, "in database [")) && (at = strchr(at, '(')))
                at++, number(&at, &database);
        if ((at = behind(text, "latest long I/O is: 0x")))
                offset = strtoull(at, NULL, 16);
        log->long_ios += count;
        end = name ? strchr(name, ']') : NULL;
        if (duration != UNKNOWN)
                snprintf(said, sizeof said, ", %llu ms", (unsigned long long)duration);
        if (database != NO_DATABASE)
                snprintf(where, sizeof where, " of database %llu", (unsigned long long)database);
        if (!*log->first_long)
                snprintf(log->first_long, sizeof log->first_long, "%llu over %llu s on %.*s%s, the last at offset %llu%s",
                         (unsigned long long)count, (unsigned long long)seconds, end ? (int)(end - name) : 0, end ? name : "",
                         where, offset, said);
        dbio_derived_note(log->out, "%s:%u: long I/Os (833): %llu over %llu s on %.*s%s, the last at offset %llu%s", dbio_derive_base(file),
                          line, (unsigned long long)count, (unsigned long long)seconds, end ? (int)(end - name) : 0,
                          end ? name : "", where, offset, said);
}

/* Newest first: by the stamps, and without any by what comes first, a flush or what belongs to one. */
static bool is_reversed(const struct dbio_derive_file *file)
{
        double first = NAN, last = NAN;
        int flush_first = -1;

        for (unsigned i = 0; i < file->nlines; i++) {
                double at = stamp(file->lines[i]);

                if (isnan(first))
                        first = at;
                if (!isnan(at))
                        last = at;
                if (flush_first < 0 && behind(file->lines[i], "FlushCache:"))
                        flush_first = 1;
                if (flush_first < 0 && is_detail(file->lines[i]))
                        flush_first = 0;
        }
        return last < first || (!(last > first) && !flush_first);
}

/* A version that the workload knows; the table's first word is the text looked for. */
static unsigned version_of(const char *text)
{
        static const unsigned known[] = {2022, 2019, 2016, 2012, 2008, 2005, 2000};
        static const struct {
                const char *text;
                unsigned version;
        } others[] = {{"SQL Server 2017", 2016}, {"SQL Server 2014", 2012}, {"MSSQL16.", 2022}, {"MSSQL15.", 2019},
                      {"MSSQL14.", 2016}, {"MSSQL13.", 2016}, {"MSSQL12.", 2012}, {"MSSQL11.", 2012}, {"MSSQL10", 2008}};
        char name[32];

        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
                snprintf(name, sizeof name, "SQL Server %u", known[i]);
                if (behind(text, name))
                        return known[i];
        }
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                if (behind(text, others[i].text))
                        return others[i].version;
        return 0;
}

static int read_log(struct log *log, const struct dbio_derive_file *file, struct dbio_err *err)
{
        bool reversed = is_reversed(file);
        unsigned pending[8], npending = 0; /* details that come before their flush */

        log->database = NO_DATABASE;
        for (unsigned i = 0; i < file->nlines; i++) {
                const char *text = file->lines[i];

                if (!log->version)
                        log->version = version_of(text);
                if (behind(text, "FlushCache:")) {
                        if (take_flush(log, file, i + 1, err))
                                return -1;
                        while (npending)
                                take_detail(log, &log->flushes[log->n - 1], file->lines[pending[--npending]]);
                } else if (is_detail(text) && reversed) {
                        if (npending == 8)
                                npending = 0;
                        pending[npending++] = i;
                } else if (is_detail(text) && log->n && log->flushes[log->n - 1].file == file) {
                        take_detail(log, &log->flushes[log->n - 1], text);
                } else if (behind(text, "I/O requests taking longer than")) {
                        take_long(log, file, i + 1);
                }
                number_behind(text, "Ckpt dbid", &log->database);
                /* Newest first the line stands behind its flush. */
                if (reversed && behind(text, "Ckpt dbid") && log->n && log->flushes[log->n - 1].database == NO_DATABASE)
                        log->flushes[log->n - 1].database = log->database;
        }
        return 0;
}

#define RECOVERY_INTERVAL_S 60u

struct database {
        uint64_t id, pages, writes, ms, outstanding;
        double latency_sum;       /* ms times writes */
        uint64_t latency_writes;
        bool zeroes;              /* a latency of 0 was left out */
        unsigned n;
        double longest_s;         /* of one */
        double interval_s;        /* mean between begins; NAN */
        char lines[300];          /* where its flushes stand */
};

static int by_time(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return x < y ? -1 : x > y;
}

static void add_place(struct database *database, const struct flush *flush)
{
        size_t used = strlen(database->lines);

        if (used > sizeof database->lines - 60)
                return;
        if (!database->n)
                snprintf(database->lines, sizeof database->lines, "%.150s:%u", dbio_derive_base(flush->file), flush->line);
        else if (database->n < 8)
                snprintf(database->lines + used, sizeof database->lines - used, ", %u", flush->line);
        else if (database->n == 8)
                snprintf(database->lines + used, sizeof database->lines - used, " …");
}

static int gather(const struct log *log, uint64_t id, struct database *database, struct dbio_err *err)
{
        double *begins = malloc((log->n + 1) * sizeof *begins);
        unsigned nbegins = 0;

        if (!begins)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        *database = (struct database){.id = id, .interval_s = NAN};
        for (unsigned i = 0; i < log->n; i++) {
                const struct flush *flush = &log->flushes[i];

                if (flush->database != id)
                        continue;
                add_place(database, flush);
                database->n++;
                database->pages += flush->pages;
                database->writes += flush->writes;
                database->ms += flush->ms;
                if (flush->outstanding != UNKNOWN && flush->outstanding > database->outstanding)
                        database->outstanding = flush->outstanding;
                if (flush->latency_ms != UNKNOWN && flush->latency_ms) {
                        database->latency_sum += (double)flush->latency_ms * (double)flush->writes;
                        database->latency_writes += flush->writes;
                }
                database->zeroes |= !flush->latency_ms;
                database->longest_s = fmax(database->longest_s, (double)flush->ms / 1000);
                if (!isnan(flush->end_s))
                        begins[nbegins++] = flush->end_s - (double)flush->ms / 1000;
        }
        qsort(begins, nbegins, sizeof *begins, by_time);
        if (nbegins > 1 && begins[nbegins - 1] > begins[0])
                database->interval_s = (begins[nbegins - 1] - begins[0]) / (nbegins - 1);
        free(begins);
        return 0;
}

static void tell_dirty(struct log *log, const struct database *database)
{
        double per_write = (double)database->pages / (double)database->writes;
        char value[40], text[80];

        /* Whole extents give at least their 8 pages. */
        snprintf(text, sizeof text, "{map: %s, pages_per_write: %s}", per_write < 8.1 ? "pages" : "extents",
                 dbio_derived_number(per_write, value));
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "dirty", text, "%s: bufs / writes = %llu / %llu", database->lines,
                         (unsigned long long)database->pages, (unsigned long long)database->writes);
}

static void tell_every(struct log *log, const struct database *database)
{
        char value[40], text[48];
        const char *unknown = database->n > 1 ? "not in the log (checkpoints without stamps)" : "not in the log (1 checkpoint)";

        if (isnan(database->interval_s) && database->longest_s > RECOVERY_INTERVAL_S) {
                snprintf(text, sizeof text, "%ss", dbio_derived_number(database->longest_s, value));
                dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "every", text, "%s; %s: it lasted so long", unknown, database->lines);
                return;
        }
        if (isnan(database->interval_s) || database->interval_s < 0.001) {
                snprintf(text, sizeof text, "%us", RECOVERY_INTERVAL_S);
                dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "every", text, "%s; about a minute is SQL Server's recovery interval", unknown);
                return;
        }
        dbio_derived_number(database->interval_s, value);
        snprintf(text, sizeof text, "%ss", value);
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "every", text, "%s: mean from begin to begin (stamp less duration)",
                         database->lines);
}

static void tell_database(struct log *log, const struct database *database)
{
        char target[DBIO_DERIVED_NAME], name[DBIO_DERIVED_NAME], value[40], raw[40] = "checkpoint", place[40] = "data", from[400];
        uint64_t mean = (database->pages + database->n / 2) / database->n;

        if (!database->writes || !mean) {
                dbio_derived_lost(log->out, "%s: checkpoints that wrote no page", database->lines);
                return;
        }
        if (database->id != NO_DATABASE) {
                snprintf(raw, sizeof raw, "checkpoint-db%llu", (unsigned long long)database->id);
                snprintf(place, sizeof place, "data-db%llu", (unsigned long long)database->id);
        }
        dbio_derived_name(log->out, DBIO_DERIVED_TARGETS, place, target);
        dbio_derived_item(log->out, DBIO_DERIVED_TARGETS, target);
        dbio_derived_key(log->out, DBIO_DERIVED_TARGETS, "size", "all", "not in the log: bind the database's files, or give bytes");
        dbio_derived_name(log->out, DBIO_DERIVED_STREAMS, raw, name);
        dbio_derived_item(log->out, DBIO_DERIVED_STREAMS, name);
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "pattern", "sqlserver.checkpoint", NULL);
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "target", target, NULL);
        snprintf(value, sizeof value, "%u", log->version);
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "version", value, "by the lines' layout, or as the log says");
        tell_every(log, database);
        snprintf(value, sizeof value, "%llu", (unsigned long long)mean);
        dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "pages", value, "%s: mean bufs of %u checkpoint%s", database->lines,
                         database->n, database->n > 1 ? "s" : "");
        tell_dirty(log, database);
        if (database->outstanding && database->outstanding <= 10000000) {
                snprintf(value, sizeof value, "%llu", (unsigned long long)database->outstanding);
                dbio_derived_key(log->out, DBIO_DERIVED_STREAMS, "outstanding_pages", value,
                                 "%s: highest `last target outstanding`", database->lines);
        }
        snprintf(from, sizeof from, "%s: avgWriteLatency, by writes%s", database->lines,
                 database->zeroes ? "; 0 ms, cut to whole ms, is not taken as a time" : "");
        if (database->latency_writes)
                dbio_derived_observed_ms(log->out, name, "write.mean", database->latency_sum / (double)database->latency_writes, from);
}

/* The logged rate where it is not that of its pages: then lines of several checkpoints were mixed. */
static void tell_flush(struct log *log, const struct flush *flush)
{
        double seconds = (double)flush->ms / 1000, rate = seconds > 0 ? (double)flush->pages * PAGE / 1048576 / seconds : NAN;
        char per_write[40], mib[40], logged[40];

        if (!flush->writes)
                return;
        dbio_derived_note(log->out, "%s:%u: %llu pages with %llu writes in %llu ms: %s pages a write, %s MiB/s",
                          dbio_derive_base(flush->file), flush->line, (unsigned long long)flush->pages,
                          (unsigned long long)flush->writes, (unsigned long long)flush->ms,
                          dbio_derived_number((double)flush->pages / (double)flush->writes, per_write),
                          isnan(rate) ? "?" : dbio_derived_number(rate, mib));
        if (!isnan(rate) && !isnan(flush->mib_per_s) && fabs(flush->mib_per_s - rate) > 0.006 + 0.02 * rate)
                dbio_derived_note(log->out, "%s:%u: the log says %s MB/sec there, which is not what its pages give",
                                  dbio_derive_base(flush->file), flush->line, dbio_derived_number(flush->mib_per_s, logged));
}

static int tell(struct log *log, struct dbio_err *err)
{
        double longest = RECOVERY_INTERVAL_S;
        char value[40];

        dbio_derived_describe(log->out, "checkpoints", "Checkpoints derived from an error log (FlushCache lines)");
        for (unsigned i = 0; i < log->n; i++) {
                struct database database;
                unsigned before = 0;

                if (i < 20)
                        tell_flush(log, &log->flushes[i]);
                while (log->flushes[before].database != log->flushes[i].database)
                        before++;
                if (before < i)
                        continue;
                if (gather(log, log->flushes[i].database, &database, err))
                        return -1;
                tell_database(log, &database);
                longest = fmax(longest, fmin(isnan(database.interval_s) ? database.longest_s : database.interval_s, 86400));
        }
        dbio_derived_note(log->out, "Reads, log and what else the server did are not in the log's lines: add streams for them.");
        dbio_derived_note(log->out, "`show` prints FlushCache lines of each checkpoint, to lay beside the log's.");
        dbio_derived_item(log->out, DBIO_DERIVED_PHASES, "checkpoints");
        snprintf(value, sizeof value, "%.0fs", ceil(5 * longest));
        dbio_derived_key(log->out, DBIO_DERIVED_PHASES, "duration", value, "chosen: five of the longest interval");
        return 0;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct log log = {.out = out};
        double most = 0;
        int code = 0;

        for (unsigned i = 0; !code && i < n; i++)
                code = read_log(&log, &files[i], err);
        for (unsigned i = 0; i < log.n; i++)
                if (log.flushes[i].writes)
                        most = fmax(most, (double)log.flushes[i].pages / (double)log.flushes[i].writes);
        if (!code && !log.n)
                code = log.long_ios ? dbio_derive_bad(&files[0], 0, err, "no FlushCache line; long I/Os alone (833: %s) tell no demand", log.first_long)
                                    : dbio_derive_bad(&files[0], 0, err, "no FlushCache line: no error log, or no checkpoint was logged (trace flags 3502, 3504)");
        /* Up to 32 pages a write before 2016, 128 since. */
        if (!log.version || (most > 32 && log.version < 2016))
                log.version = most > 32 ? 2016 : log.latencies ? 2012 : 2008;
        if (!code)
                code = tell(&log, err);
        free(log.flushes);
        return code;
}

const struct dbio_derive_format dbio_derive_errorlog = {
        "errorlog", "SQL Server error log: FlushCache lines -> checkpoints", derive,
};
