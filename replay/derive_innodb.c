/* SHOW ENGINE INNODB STATUS twice: the differences of its counters. Its per-second values are not used: they cover the
 * last N seconds, and N can be 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"

struct status {
        const struct dbio_derive_file *file;
        unsigned line;            /* of its stamp */
        double at_s;
        bool has_io, has_lsn, has_pages, has_log_ios;
        double reads, writes, fsyncs, lsn, checkpoint, log_ios, pages_read, pages_written;
        double pool_pages, pool_bytes, read_bytes; /* read_bytes: avg bytes/read */
        unsigned io_line, lsn_line, pages_line, log_line, average_s;
};

struct statuses {
        struct status *list;
        unsigned n;
};

/* `180305 13:24:56`, `111010  9:56:19`, `2023-08-21 22:25:51 …` before INNODB MONITOR OUTPUT. */
static bool take_stamp(const char *text, double *seconds)
{
        int year, month, day, hour, minute, second;

        if (sscanf(text, "%4d-%2d-%2d %2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6) {
                if (sscanf(text, "%2d%2d%2d %2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6)
                        return false;
                year += 2000;
        }
        if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970)
                return false;
        int y = year - (month <= 2), era = y / 400, yoe = y - era * 400;
        int doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1, doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        *seconds = ((double)era * 146097 + doe) * 86400 + hour * 3600 + minute * 60 + second;
        return true;
}

static double digits(const char **at)
{
        double value = 0;

        for (; **at >= '0' && **at <= '9'; ++*at)
                value = 10 * value + (**at - '0');
        return value;
}

/* The number at the line's begin where `text` stands right behind it. */
static bool before(const char *line, const char *text, double *value)
{
        const char *at = line;
        double number;

        if (*at < '0' || *at > '9')
                return false;
        number = digits(&at);
        if (strncmp(at, text, strlen(text)))
                return false;
        *value = number;
        return true;
}

/* The number behind a text at the line's begin; `0 1018231439` (two words of 32 bits) as InnoDB 5.0 has it. */
static bool after(const char *line, const char *text, double *value)
{
        size_t n = strlen(text);

        if (strncmp(line, text, n))
                return false;
        line += n + strspn(line + n, " \t");
        if (*line < '0' || *line > '9')
                return false;
        *value = digits(&line);
        if (*line == ' ' && line[1] >= '0' && line[1] <= '9') {
                line++;
                *value = *value * 4294967296.0 + digits(&line);
        }
        return true;
}

static void take_line(struct status *s, const char *text, unsigned line)
{
        double reads, created, value;

        if (before(text, " OS file reads, ", &reads)) {
                const char *at = strstr(text, "reads, ") + 7;

                s->reads = reads;
                s->has_io = before(at, " OS file writes, ", &s->writes) && (at = strstr(at, "writes, ")) &&
                            before(at + 8, " OS fsyncs", &s->fsyncs);
                s->io_line = line;
        } else if (strstr(text, " avg bytes/read")) {
                const char *at = strstr(text, "reads/s, ");

                if (at)
                        before(at + 9, " avg bytes/read", &s->read_bytes);
        } else if (after(text, "Log sequence number", &s->lsn)) {
                s->has_lsn = true;
                s->lsn_line = line;
        } else if (before(text, " log i/o's done", &s->log_ios)) {
                s->has_log_ios = true;
                s->log_line = line;
        } else if (!s->has_pages && after(text, "Pages read", &s->pages_read)) {
                const char *at = strstr(text, "written ");

                s->has_pages = after(strstr(text, "created") ? strstr(text, "created") : "", "created", &created) && at &&
                               after(at, "written", &s->pages_written);
                s->pages_line = line;
        } else if (!s->pool_bytes && after(text, "Buffer pool size, bytes", &value)) {
                s->pool_bytes = value;
        } else if (!s->pool_pages && after(text, "Buffer pool size", &value)) {
                s->pool_pages = value;
        } else {
                after(text, "Last checkpoint at", &s->checkpoint);
        }
}

/* A file as `mysql -e` writes it has the whole status in one line, with `\n` for ends of lines. */
static int read_lines(struct statuses *all, const struct dbio_derive_file *file, struct dbio_err *err)
{
        struct status *s = NULL;

        for (unsigned i = 0; i < file->nlines; i++) {
                char *copy = strdup(file->lines[i]), *next = copy;

                while (next) {
                        char *end = strstr(next, "\\n"), *text = next;
                        double at;

                        next = end ? end + 2 : NULL;
                        if (end)
                                *end = 0;
                        char *stamp = strstr(text, " INNODB MONITOR OUTPUT");
                        if (stamp && !strstr(text, "END OF INNODB")) {
                                struct status *more = realloc(all->list, (all->n + 1) * sizeof *more);

                                if (!more || !take_stamp(text, &at)) {
                                        free(copy);
                                        if (more)
                                                all->list = more;
                                        return dbio_derive_bad(file, i + 1, err, "no date and time before INNODB MONITOR OUTPUT");
                                }
                                all->list = more;
                                s = &all->list[all->n++];
                                *s = (struct status){.file = file, .line = i + 1, .at_s = at};
                        } else if (s && !strncmp(text, "Per second averages calculated from the last ", 45)) {
                                const char *number = text + 45;
                                s->average_s = (unsigned)fmin(digits(&number), 1e9);
                        } else if (s) {
                                take_line(s, text, i + 1);
                        }
                }
                free(copy);
        }
        return 0;
}

static int one_alone(const struct statuses *all, const struct dbio_derive_file *file, struct dbio_err *err)
{
        const struct status *s = all->list;

        if (!all->n)
                return dbio_derive_bad(file, 0, err, "no `INNODB MONITOR OUTPUT` in it");
        return dbio_derive_bad(s->file, s->line, err,
                               "one status alone (LSN %.0f, checkpoint age %.0f, %.0f reads, %.0f writes, %.0f fsyncs, %.0f bytes a read, "
                               "averages over the last %u seconds): rates need two, some minutes apart", s->lsn, s->lsn - s->checkpoint,
                               s->reads, s->writes, s->fsyncs, s->read_bytes, s->average_s);
}

struct growth {
        double seconds, reads, writes, fsyncs, lsn, log_ios, pages_read, pages_written, page;
};

static int compare(const struct status *a, const struct status *b, struct growth *g, struct dbio_err *err)
{
        *g = (struct growth){b->at_s - a->at_s, b->reads - a->reads, b->writes - a->writes, b->fsyncs - a->fsyncs, b->lsn - a->lsn,
                             b->log_ios - a->log_ios, b->pages_read - a->pages_read, b->pages_written - a->pages_written, 16384};
        if (!a->has_io || !b->has_io || !a->has_lsn || !b->has_lsn || !a->has_pages || !b->has_pages)
                return dbio_derive_bad(b->file, b->line, err, "a status is cut: the lines of FILE I/O, LOG and BUFFER POOL are needed in both");
        if (!(g->seconds > 0))
                return dbio_derive_bad(b->file, b->line, err, "both statuses are of the same second");
        if (g->reads < 0 || g->writes < 0 || g->fsyncs < 0 || g->lsn < 0 || g->log_ios < 0 || g->pages_read < 0 || g->pages_written < 0)
                return dbio_derive_bad(b->file, b->line, err, "a counter went back: the server was started anew between the statuses");
        if (b->pool_pages > 0 && b->pool_bytes >= 4096 * b->pool_pages && b->pool_bytes <= 65536 * b->pool_pages)
                g->page = exp2(round(log2(b->pool_bytes / b->pool_pages)));
        else if (b->read_bytes >= 4096 && b->read_bytes <= 65536 && exp2(round(log2(b->read_bytes))) == b->read_bytes)
                g->page = b->read_bytes;
        return 0;
}

static void tell_redo(struct dbio_derived *out, const struct status *a, const struct status *b, const struct growth *g)
{
        char from[300], value[40], text[64];
        double commits = b->has_log_ios && g->log_ios > 0 ? g->log_ios : g->fsyncs, bytes;

        if (!(g->lsn > 0) || !(commits > 0))
                return;
        bytes = fmax(1, round(g->lsn / commits));
        dbio_derived_item(out, DBIO_DERIVED_TARGETS, "redo");
        dbio_derived_key(out, DBIO_DERIVED_TARGETS, "size", "1GiB", "not in the status: innodb_log_file_size or innodb_redo_log_capacity");
        dbio_derived_item(out, DBIO_DERIVED_STREAMS, "redo");
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "pattern", "innodb.redo_log", NULL);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "target", "redo", NULL);
        snprintf(text, sizeof text, "%s/s", dbio_derived_number(commits / g->seconds, value));
        snprintf(from, sizeof from, "%.100s:%u, %.100s:%u", dbio_derive_base(a->file), b->has_log_ios ? a->log_line : a->io_line,
                 dbio_derive_base(b->file), b->has_log_ios ? b->log_line : b->io_line);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "commit_rate", text, "%s: %s; commits are not in the status", from,
                         b->has_log_ios ? "log i/o's done, each taken as a commit" : "fsyncs, each taken as a commit");
        snprintf(text, sizeof text, "%.0f", bytes);
        dbio_derived_key(out, DBIO_DERIVED_STREAMS, "bytes_per_commit", text, "%.100s:%u, %.100s:%u: log sequence number grew by %.0f bytes, %.0f/s",
                         dbio_derive_base(a->file), a->lsn_line, dbio_derive_base(b->file), b->lsn_line, g->lsn, g->lsn / g->seconds);
        /* At 1 every commit's write has an fsync. */
        if (b->has_log_ios && g->fsyncs < 0.5 * g->log_ios)
                dbio_derived_key(out, DBIO_DERIVED_STREAMS, "flush_log_at_trx_commit", "2", "only %.0f fsyncs for %.0f log writes", g->fsyncs, g->log_ios);
        snprintf(text, sizeof text, "%s/s", dbio_derived_number(commits / g->seconds, value));
        dbio_derived_observed(out, "redo.commit.iops", text, "%s; the status has no latencies", from);
}

/* What is neither page nor log are doublewrite batches, binlog apart: each page goes there first. */
static void tell_doublewrite(struct dbio_derived *out, const struct status *a, const struct status *b, const struct growth *g)
{
        double rest = g->writes - g->log_ios - g->pages_written, bytes;
        char from[400];

        if (!b->has_log_ios || !(rest >= 1))
                return;
        bytes = g->pages_written * g->page / rest;
        snprintf(from, sizeof from, "%.100s:%u, %.100s:%u: %.0f OS writes beyond log and pages, taken as doublewrite batches",
                 dbio_derive_base(a->file), a->io_line, dbio_derive_base(b->file), b->io_line, rest);
        if (bytes < g->page || bytes > 4 << 20) {
                dbio_derived_lost(out, "%s; their size does not fit that", from);
                return;
        }
        dbio_derived_rate(out, &(struct dbio_derived_rate){.target = "data", .name = "doublewrite", .write = true, .sequential = true,
                                                           .per_s = rest / g->seconds, .bytes = bytes, .step = (unsigned)g->page, .ms = NAN,
                                                           .from = from});
}

static void tell_pages(struct dbio_derived *out, const struct status *a, const struct status *b, const struct growth *g)
{
        char from[300], page[40];

        snprintf(from, sizeof from, "%.100s:%u, %.100s:%u", dbio_derive_base(a->file), a->pages_line, dbio_derive_base(b->file), b->pages_line);
        dbio_format_size((uint64_t)g->page, page, sizeof page);
        dbio_derived_item(out, DBIO_DERIVED_TARGETS, "data");
        dbio_derived_key(out, DBIO_DERIVED_TARGETS, "size", "all", "not in the status");
        dbio_derived_key(out, DBIO_DERIVED_TARGETS, "page", page, "Buffer pool size, bytes / Buffer pool size");
        if (!dbio_derived_rate(out, &(struct dbio_derived_rate){.target = "data", .name = "page-reads", .per_s = g->pages_read / g->seconds,
                                                               .bytes = g->page, .step = (unsigned)g->page, .ms = NAN, .from = from}))
                dbio_derived_note(out, "%s: pages read: %.0f", from, g->pages_read);
        dbio_derived_rate(out, &(struct dbio_derived_rate){.target = "data", .name = "page-writes", .write = true,
                                                           .per_s = g->pages_written / g->seconds, .bytes = g->page,
                                                           .step = (unsigned)g->page, .ms = NAN, .from = from});
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct statuses all = {0};
        const struct status *a, *b;
        struct growth g;
        int code = 0;

        for (unsigned i = 0; !code && i < n; i++)
                code = read_lines(&all, &files[i], err);
        if (!code && all.n < 2)
                code = one_alone(&all, &files[0], err);
        if (code)
                goto out;
        /* The earliest and the latest. */
        a = b = &all.list[0];
        for (unsigned i = 1; i < all.n; i++) {
                if (all.list[i].at_s < a->at_s)
                        a = &all.list[i];
                if (all.list[i].at_s >= b->at_s)
                        b = &all.list[i];
        }
        code = compare(a, b, &g, err);
        if (code)
                goto out;
        dbio_derived_describe(out, "innodb-status", "InnoDB status of %.80s and %.80s, means over %.0fs", dbio_derive_base(a->file),
                              dbio_derive_base(b->file), g.seconds);
        dbio_derived_note(out, "OS reads +%.0f, writes +%.0f, fsyncs +%.0f, log i/o's +%.0f, LSN +%.0f, pages read +%.0f, written +%.0f in %.0f s",
                          g.reads, g.writes, g.fsyncs, g.log_ios, g.lsn, g.pages_read, g.pages_written, g.seconds);
        dbio_derived_note(out, "The values a second that the status prints cover its last %u s only, and are not used.", b->average_s);
        dbio_derived_note(out, "Page writes are a mean rate here; innodb.page_cleaner would make them as the server does, in bursts.");
        tell_pages(out, a, b, &g);
        tell_redo(out, a, b, &g);
        tell_doublewrite(out, a, b, &g);
        dbio_derived_item(out, DBIO_DERIVED_PHASES, "mean");
        dbio_derived_key(out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
out:
        free(all.list);
        return code;
}

const struct dbio_derive_format dbio_derive_innodb = {
        "innodb-status", "SHOW ENGINE INNODB STATUS twice", derive,
};
