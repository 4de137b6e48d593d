/* Oracle AWR report as text: IOStat by Function, the load profile, and wait events for what the database saw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

#define FUNCTIONS 32
#define BLOCK 8192u

struct function {
        char name[40];
        unsigned line;
        double read_bytes_s, reads_s, write_bytes_s, writes_s, read_total, wait_ms;
};

struct event {
        double ms;
        unsigned line;
};

enum { SYNC, PARALLEL, SEQUENTIAL, SCATTERED, DIRECT, DBWR, EVENTS };
static const char *const event_names[EVENTS] = {"log file sync", "log file parallel write", "db file sequential read",
                                                "db file scattered read", "direct path read", "db file parallel write"};

struct awr {
        const struct dbio_derive_file *file;
        struct dbio_derived *out;
        struct function functions[FUNCTIONS];
        unsigned n;
        struct event events[EVENTS];
        double elapsed_s, commits_s, redo_bytes_s;
        unsigned elapsed_line, commits_line, redo_line;
        char begin[40], end[40];
        bool top_events; /* the columns have no share of time-outs */
};

/* `14.9G`, `1690.3K`, `.000277`, `N/A`: powers of base; NAN where there is none. */
static double value_of(const char *text, double base)
{
        static const char units[] = "KMGTP";
        char number[40];
        size_t n = strlen(text);
        const char *unit = n ? strchr(units, text[n - 1]) : NULL;
        double value;

        if (!n || n >= sizeof number)
                return NAN;
        strcpy(number, text);
        if (unit && *unit)
                number[n - 1] = 0;
        if (!dbio_csv_number(number, false, &value))
                return NAN;
        return unit && *unit ? value * pow(base, (double)(unit - units + 1)) : value;
}

/* A number with grouped digits: `1,234.5`. */
static double grouped(const char *text)
{
        char number[40];
        size_t n = 0;
        double value;

        for (; *text && n + 1 < sizeof number; text++)
                if (*text != ',')
                        number[n++] = *text;
        number[n] = 0;
        return !*text && dbio_csv_number(number, false, &value) ? value : NAN;
}

/* `Buffer Cache Re   14.9G 504.1 4.22491 0M 0.0 0M 1690.3K 0.0`: eight columns from the right, what is left is the name. */
static int take_function(struct awr *awr, unsigned line, struct dbio_err *err)
{
        const char *text = awr->file->lines[line - 1];
        char copy[256], *words[20];
        struct function f = {.line = line};
        unsigned n;

        if (strlen(text) >= sizeof copy)
                return 0;
        strcpy(copy, text);
        n = dbio_derive_words(copy, words, 20);
        if (n < 9 || awr->n == FUNCTIONS)
                return n < 2 || awr->n == FUNCTIONS ? 0 : dbio_derive_bad(awr->file, line, err, "%u columns of a function, not 8 and its name", n);
        char **v = words + n - 8;
        for (unsigned i = 0; i < n - 8; i++)
                snprintf(f.name + strlen(f.name), sizeof f.name - strlen(f.name), "%s%s", i ? " " : "", words[i]);
        f.read_total = value_of(v[0], 1024);
        f.reads_s = value_of(v[1], 1000);
        /* Data a second is in M where it has no unit. */
        f.read_bytes_s = value_of(v[2], 1024);
        if (strspn(v[2], "0123456789.") == strlen(v[2]))
                f.read_bytes_s *= 1048576;
        f.writes_s = value_of(v[4], 1000);
        f.write_bytes_s = value_of(v[5], 1024);
        if (strspn(v[5], "0123456789.") == strlen(v[5]))
                f.write_bytes_s *= 1048576;
        f.wait_ms = value_of(v[7], 1000);
        if (isnan(f.reads_s) || isnan(f.read_bytes_s) || isnan(f.writes_s) || isnan(f.write_bytes_s))
                return dbio_derive_bad(awr->file, line, err, "a column of %s is no number", f.name);
        awr->functions[awr->n++] = f;
        return 0;
}

/* The average wait of an event: `123,456 366 3 12.1 Commit`, `1.2M 22.8K 19.38ms 61.0`, with the share of time-outs in
 * the second column of other sections. */
static void take_event(struct awr *awr, unsigned line, int which)
{
        char copy[256], *words[12], number[40];
        const char *text = awr->file->lines[line - 1] + strlen(event_names[which]), *unit;
        double waits, seconds, ms, factor = 1;
        unsigned n, shift = awr->top_events ? 0 : 1;

        if (strlen(text) >= sizeof copy || (*text != ' ' && *text != '\t'))
                return;
        strcpy(copy, text);
        n = dbio_derive_words(copy, words, 12);
        if (n < 3 + shift)
                return;
        waits = strchr(words[0], ',') ? grouped(words[0]) : value_of(words[0], 1000);
        seconds = strchr(words[1 + shift], ',') ? grouped(words[1 + shift]) : value_of(words[1 + shift], 1000);
        snprintf(number, sizeof number, "%.39s", words[2 + shift]);
        unit = number + strspn(number, "0123456789.,");
        if (!strcmp(unit, "us"))
                factor = 0.001;
        else if (!strcmp(unit, "s"))
                factor = 1000;
        else if (*unit && strcmp(unit, "ms"))
                return;
        number[unit - number] = 0;
        ms = grouped(number) * factor;
        /* An average in whole ms is coarser than total by waits. */
        if (!strpbrk(words[2 + shift], ".um") && seconds >= 10 && waits > 0)
                ms = seconds * 1000 / waits;
        if (!isnan(ms) && !awr->events[which].line)
                awr->events[which] = (struct event){ms, line};
}

/* `Redo size (bytes):   1,234,567.8   12,345.6`: a second, then a transaction. */
static void take_profile(const char *text, const char *name, unsigned line, double *value, unsigned *at)
{
        char word[40];

        while (*text == ' ' || *text == '\t')
                text++;
        if (*at || strncmp(text, name, strlen(name)) || !(text = strchr(text, ':')))
                return;
        text++;
        text += strspn(text, " \t");
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " \t"), text);
        double said = grouped(word);
        if (!isnan(said)) {
                *value = said;
                *at = line;
        }
}

/* `user commits   5,328,000   1,480.0   1.0`: total, a second, a transaction. */
static void take_commits(struct awr *awr, const char *text, unsigned line)
{
        char copy[200], *words[8];

        if (strncmp(text, "user commits ", 13) || strlen(text) >= sizeof copy)
                return;
        snprintf(copy, sizeof copy, "%s", text + 13);
        if (dbio_derive_words(copy, words, 8) >= 2 && !isnan(grouped(words[1]))) {
                awr->commits_s = grouped(words[1]);
                awr->commits_line = line;
        }
}

static void take_snap(const char *text, const char *begin, char stamp[40])
{
        const char *at = strstr(text, begin);
        char copy[200], *words[8];

        if (!at || strlen(at) >= sizeof copy || *stamp)
                return;
        strcpy(copy, at + strlen(begin));
        if (dbio_derive_words(copy, words, 8) >= 3)
                snprintf(stamp, 40, "%.19s %.19s", words[1], words[2]);
}

static void take_other(struct awr *awr, const char *text, unsigned line)
{
        const char *at = strstr(text, "Elapsed:");

        take_snap(text, "Begin Snap:", awr->begin);
        take_snap(text, "End Snap:", awr->end);
        if (at && strstr(at, "(mins)") && !awr->elapsed_line) {
                char word[40];

                at += 8 + strspn(at + 8, " \t");
                snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " \t"), at);
                awr->elapsed_s = grouped(word) * 60;
                awr->elapsed_line = line;
        }
        take_profile(text, "Redo size", line, &awr->redo_bytes_s, &awr->redo_line);
        take_profile(text, "Transactions", line, &awr->commits_s, &awr->commits_line);
        take_commits(awr, text, line);
        if (strstr(text, "Top ") && strstr(text, "Events"))
                awr->top_events = true;
        else if (strstr(text, "Wait Events"))
                awr->top_events = false;
        for (int e = 0; e < EVENTS; e++)
                if (!strncmp(text, event_names[e], strlen(event_names[e])))
                        take_event(awr, line, e);
}

static int read_report(struct awr *awr, struct dbio_err *err)
{
        enum { NOWHERE, HEAD, ROWS } place = NOWHERE;

        awr->top_events = true;
        for (unsigned i = 0; i < awr->file->nlines; i++) {
                const char *text = awr->file->lines[i];

                if (!strncmp(text, "Function Name", 13)) {
                        place = HEAD;
                } else if (place == HEAD && !strncmp(text, "---", 3)) {
                        place = ROWS;
                } else if (place == ROWS && (!*text || !strncmp(text, "---", 3) || !strncmp(text, "TOTAL", 5))) {
                        place = NOWHERE;
                } else if (place == ROWS) {
                        if (take_function(awr, i + 1, err))
                                return -1;
                } else {
                        take_other(awr, text, i + 1);
                }
        }
        if (!awr->n)
                return dbio_derive_bad(awr->file, 0, err, "no `IOStat by Function` section: no AWR report as text");
        return 0;
}

static void tell_event(struct awr *awr, int which, const char *stream, const char *figure)
{
        char from[300];

        snprintf(from, sizeof from, "%s:%u: %s", dbio_derive_base(awr->file), awr->events[which].line, event_names[which]);
        if (awr->events[which].line)
                dbio_derived_observed_ms(awr->out, stream, figure, awr->events[which].ms, from);
}

/* Without the event: the mean of the section itself. */
static void tell_wait(struct awr *awr, const struct function *f, const char *stream, const char *figure)
{
        char from[300];

        snprintf(from, sizeof from, "%s:%u: IOStat by Function, Avg Tm", dbio_derive_base(awr->file), f->line);
        dbio_derived_observed_ms(awr->out, stream, figure, f->wait_ms, from);
}

/* LGWR with commits and redo size known. */
static bool tell_commits(struct awr *awr, const struct function *f)
{
        char value[40], text[48];
        double bytes = awr->redo_bytes_s / awr->commits_s;

        if (!(awr->commits_s >= 0.01) || !(bytes >= 1) || bytes > 1 << 20)
                return false;
        dbio_derived_item(awr->out, DBIO_DERIVED_STREAMS, "lgwr");
        dbio_derived_key(awr->out, DBIO_DERIVED_STREAMS, "pattern", "oracle.lgwr", NULL);
        dbio_derived_key(awr->out, DBIO_DERIVED_STREAMS, "target", "redo", NULL);
        snprintf(text, sizeof text, "%s/s", dbio_derived_number(awr->commits_s, value));
        dbio_derived_key(awr->out, DBIO_DERIVED_STREAMS, "commit_rate", text, "%s:%u", dbio_derive_base(awr->file), awr->commits_line);
        snprintf(text, sizeof text, "%.0f", bytes);
        dbio_derived_key(awr->out, DBIO_DERIVED_STREAMS, "bytes_per_commit", text, "%s:%u: redo size / commits", dbio_derive_base(awr->file),
                         awr->redo_line);
        dbio_derived_note(awr->out, "%s:%u: LGWR wrote %s times a second: `show` tells how many the replay needs", dbio_derive_base(awr->file),
                          f->line, dbio_derived_number(f->writes_s, value));
        tell_event(awr, SYNC, "lgwr", "commit.mean");
        tell_event(awr, PARALLEL, "lgwr", "write.mean");
        return true;
}

static void tell_side(struct awr *awr, const struct function *f, bool write, const char *name, const char *target, bool sequential, unsigned step)
{
        char from[300];
        double per_s = write ? f->writes_s : f->reads_s, bytes = write ? f->write_bytes_s : f->read_bytes_s;

        snprintf(from, sizeof from, "%s:%u %s", dbio_derive_base(awr->file), f->line, f->name);
        if (per_s > 0)
                dbio_derived_rate(awr->out, &(struct dbio_derived_rate){.target = target, .name = name, .write = write, .sequential = sequential,
                                                                        .per_s = per_s, .bytes = bytes / per_s, .step = step, .ms = NAN,
                                                                        .from = from, .through = "Oracle opens its files so"});
        else if (bytes > 0)
                dbio_derived_lost(awr->out, "%s: %s: %.0f bytes a second in less than 0.1 I/Os", from, write ? "writes" : "reads", bytes);
}

static void tell_function(struct awr *awr, const struct function *f)
{
        static const struct {
                const char *begin, *read, *write;
                bool sequential, redo;
                unsigned step;
        } known[] = {
                {"Buffer Cache", "buffer-cache-reads", "buffer-cache-writes", false, false, BLOCK},
                {"Direct Reads", "direct-reads", "direct-reads-writes", true, false, BLOCK},
                {"Direct Writes", "direct-writes-reads", "direct-writes", true, false, BLOCK},
                {"DBWR", "dbwr-reads", "dbwr", false, false, BLOCK},
                {"LGWR", "lgwr-reads", "lgwr", true, true, 512},
        };
        char reads[64], writes[64];
        bool sequential = false, redo = false;
        unsigned step = BLOCK;

        snprintf(reads, sizeof reads, "%s-reads", f->name);
        snprintf(writes, sizeof writes, "%s-writes", f->name);
        for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
                if (!strncmp(f->name, known[i].begin, strlen(known[i].begin))) {
                        snprintf(reads, sizeof reads, "%s", known[i].read);
                        snprintf(writes, sizeof writes, "%s", known[i].write);
                        sequential = known[i].sequential;
                        redo = known[i].redo;
                        step = known[i].step;
                }
        tell_side(awr, f, false, reads, redo ? "redo" : "data", sequential, step);
        if (!redo || !tell_commits(awr, f)) {
                tell_side(awr, f, true, writes, redo ? "redo" : "data", sequential, step);
                if (redo && f->writes_s > 0)
                        tell_event(awr, PARALLEL, "lgwr", "write.mean");
        }
        if (redo && f->writes_s > 0 && !awr->events[PARALLEL].line)
                tell_wait(awr, f, "lgwr", "write.mean");
        if (!strncmp(f->name, "Buffer Cache", 12) && f->reads_s > 0) {
                if (awr->events[SEQUENTIAL].line)
                        tell_event(awr, SEQUENTIAL, "buffer-cache-reads", "read.mean");
                else
                        tell_wait(awr, f, "buffer-cache-reads", "read.mean");
        }
        if (!strncmp(f->name, "Direct Reads", 12) && f->reads_s > 0)
                tell_event(awr, DIRECT, "direct-reads", "read.mean");
        if (!strncmp(f->name, "DBWR", 4) && f->writes_s > 0)
                tell_event(awr, DBWR, "dbwr", "write.mean");
}

static void tell(struct awr *awr)
{
        char number[40], over[60] = "the report's time";
        const struct function *f = &awr->functions[0];

        /* Without the report's head: what was read in all, by what was read a second. */
        if (!(awr->elapsed_s > 0) && f->read_bytes_s > 0 && f->read_total > 0) {
                awr->elapsed_s = f->read_total / f->read_bytes_s;
                dbio_derived_note(awr->out, "%s:%u: about %.0f s (data read / data a second)", dbio_derive_base(awr->file), f->line, awr->elapsed_s);
        }
        if (awr->elapsed_s > 0)
                snprintf(over, sizeof over, "%sm", dbio_derived_number(awr->elapsed_s / 60, number));
        dbio_derived_describe(awr->out, "awr", "AWR %s%s%s%s, means over %s", *awr->begin ? awr->begin : dbio_derive_base(awr->file),
                              *awr->end ? " to " : "", awr->end, "", over);
        dbio_derived_note(awr->out, "Sections of one AWR report can disagree: rates and sizes here are those of IOStat by Function.");
        dbio_derived_note(awr->out, "Rates are means of the report's time: bursts are not known, and an adapter's limit is reached in bursts.");
        dbio_derived_item(awr->out, DBIO_DERIVED_TARGETS, "data");
        dbio_derived_key(awr->out, DBIO_DERIVED_TARGETS, "size", "50%", "not in the report");
        dbio_derived_item(awr->out, DBIO_DERIVED_TARGETS, "redo");
        dbio_derived_key(awr->out, DBIO_DERIVED_TARGETS, "size", "4GiB", "not in the report");
        for (unsigned i = 0; i < awr->n; i++)
                tell_function(awr, &awr->functions[i]);
        dbio_derived_item(awr->out, DBIO_DERIVED_PHASES, "mean");
        dbio_derived_key(awr->out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct awr *awr;
        int code;

        if (n > 1)
                return dbio_derive_bad(&files[1], 0, err, "one report at a time: each holds the means of its own time; `diff` compares two");
        awr = calloc(1, sizeof *awr);
        if (!awr)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        awr->file = files;
        awr->out = out;
        code = read_report(awr, err);
        if (!code)
                tell(awr);
        free(awr);
        return code;
}

const struct dbio_derive_format dbio_derive_awr = {
        "awr", "Oracle AWR report as text: IOStat by Function, load profile, wait events", derive,
};
