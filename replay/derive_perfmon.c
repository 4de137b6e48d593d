/* PerfMon logs as CSV (relog -f csv): means over the samples of the disks' counters, or, without any, of SQL Server's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

enum counter { READS, WRITES, READ_SIZE, WRITE_SIZE, READ_BYTES, WRITE_BYTES, READ_SEC, WRITE_SEC, DISK_COUNTERS,
               PAGE_READS = DISK_COUNTERS, READAHEAD, CHECKPOINT, LAZY, BACKGROUND, LOG_FLUSHES, LOG_BYTES, COUNTERS };

static const struct {
        const char *object, *name;
} counters[COUNTERS] = {
        [READS] = {"Disk", "Disk Reads/sec"},
        [WRITES] = {"Disk", "Disk Writes/sec"},
        [READ_SIZE] = {"Disk", "Avg. Disk Bytes/Read"},
        [WRITE_SIZE] = {"Disk", "Avg. Disk Bytes/Write"},
        [READ_BYTES] = {"Disk", "Disk Read Bytes/sec"},
        [WRITE_BYTES] = {"Disk", "Disk Write Bytes/sec"},
        [READ_SEC] = {"Disk", "Avg. Disk sec/Read"},
        [WRITE_SEC] = {"Disk", "Avg. Disk sec/Write"},
        [PAGE_READS] = {"Buffer Manager", "Page reads/sec"},
        [READAHEAD] = {"Buffer Manager", "Readahead pages/sec"},
        [CHECKPOINT] = {"Buffer Manager", "Checkpoint pages/sec"},
        [LAZY] = {"Buffer Manager", "Lazy writes/sec"},
        [BACKGROUND] = {"Buffer Manager", "Background writer pages/sec"},
        [LOG_FLUSHES] = {"Databases", "Log Flushes/sec"},
        [LOG_BYTES] = {"Databases", "Log Bytes Flushed/sec"},
};

struct column {
        int counter;               /* -1 = none of these */
        char instance[64], object[40];
        double sum, weight, peak;  /* of rates: weight = samples; of means per I/O: weighted by the I/Os */
        unsigned pair;             /* the column of the I/Os that weigh it */
        double value;              /* of this sample; NAN */
};

struct perfmon {
        const struct dbio_derive_file *file;
        struct dbio_derived *out;
        struct column *columns;
        unsigned n, samples, head;
};

/* `\\HOST\PhysicalDisk(0 C:)\Disk Reads/sec` */
static void name_column(struct column *column, const char *path)
{
        const char *last = strrchr(path, '\\'), *object, *open, *close;
        char before[200];

        *column = (struct column){.counter = -1, .value = NAN};
        if (!last || last == path)
                return;
        snprintf(before, sizeof before, "%.*s", (int)(last - path), path);
        object = strrchr(before, '\\');
        object = object ? object + 1 : before;
        open = strchr(object, '(');
        close = open ? strrchr(open, ')') : NULL;
        snprintf(column->object, sizeof column->object, "%.*s", (int)strcspn(object, "("), object);
        if (close)
                snprintf(column->instance, sizeof column->instance, "%.*s", (int)(close - open - 1), open + 1);
        for (int c = 0; c < COUNTERS; c++)
                if (!strcasecmp(last + 1, counters[c].name) && strcasestr(column->object, counters[c].object))
                        column->counter = c;
        if (!strcasecmp(column->instance, "_Total") && column->counter < DISK_COUNTERS)
                column->counter = -1;
        /* A database's own log, not the sum over all. */
        if (!strcasecmp(column->instance, "_Total"))
                column->counter = -1;
}

static const struct column *find(const struct perfmon *p, const struct column *like, int counter)
{
        for (unsigned i = 0; i < p->n; i++)
                if (p->columns[i].counter == counter && !strcmp(p->columns[i].instance, like->instance) &&
                    !strcmp(p->columns[i].object, like->object))
                        return &p->columns[i];
        return NULL;
}

static int take_head(struct perfmon *p, unsigned line, char separator, struct dbio_err *err)
{
        char *text = strdup(p->file->lines[line - 1]), **names = calloc(DBIO_CSV_COLUMNS, sizeof *names);
        bool known = false;

        p->n = text && names ? dbio_csv_cut(text, separator, names, DBIO_CSV_COLUMNS) : 0;
        p->columns = calloc(p->n + 1, sizeof *p->columns);
        p->head = line;
        for (unsigned i = 0; p->columns && i < p->n; i++) {
                name_column(&p->columns[i], names[i]);
                known |= p->columns[i].counter >= 0;
        }
        free(names);
        free(text);
        if (!known)
                return dbio_derive_bad(p->file, line, err, "no counter of disks or of SQL Server among %u columns (English names are needed)", p->n);
        for (unsigned i = 0; i < p->n; i++) {
                struct column *column = &p->columns[i];
                const struct column *pair = NULL;

                column->pair = i;
                if (column->counter == READ_SIZE || column->counter == READ_SEC)
                        pair = find(p, column, READS);
                if (column->counter == WRITE_SIZE || column->counter == WRITE_SEC)
                        pair = find(p, column, WRITES);
                if (pair)
                        column->pair = (unsigned)(pair - p->columns);
        }
        return 0;
}

static int take_sample(struct perfmon *p, unsigned line, char separator, struct dbio_err *err)
{
        char *text = strdup(p->file->lines[line - 1]), **cells = calloc(DBIO_CSV_COLUMNS, sizeof *cells);
        unsigned n = text && cells ? dbio_csv_cut(text, separator, cells, DBIO_CSV_COLUMNS) : 0;
        bool any = false;
        int code = 0;

        for (unsigned i = 0; !code && i < p->n; i++) {
                struct column *column = &p->columns[i];

                column->value = NAN;
                /* A counter of rates has no first value: the cell is blank. */
                if (i >= n || column->counter < 0 || !*cells[i] || !strcmp(cells[i], "-1"))
                        continue;
                if (!dbio_csv_number(cells[i], true, &column->value))
                        code = dbio_derive_bad(p->file, line, err, "column %u (%s): %.40s is no number", i + 1, counters[column->counter].name, cells[i]);
        }
        for (unsigned i = 0; !code && i < p->n; i++) {
                struct column *column = &p->columns[i];
                double weight = column->pair == i ? 1 : p->columns[column->pair].value;

                if (isnan(column->value) || isnan(weight))
                        continue;
                any = true;
                column->sum += column->value * weight;
                column->weight += weight;
                column->peak = fmax(column->peak, column->value);
        }
        p->samples += any;
        free(cells);
        free(text);
        return code;
}

static double mean(const struct column *column)
{
        return column && column->weight > 0 ? column->sum / column->weight : NAN;
}

static void tell_disk(struct perfmon *p, const struct column *reads, int write)
{
        const struct column *rate = find(p, reads, write ? WRITES : READS);
        double per_s = mean(rate), bytes = mean(find(p, reads, write ? WRITE_SIZE : READ_SIZE));
        double all = mean(find(p, reads, write ? WRITE_BYTES : READ_BYTES));
        char from[200], name[120], number[40], peak[40];

        if (!(per_s > 0))
                return;
        if (isnan(bytes))
                bytes = all / per_s;
        snprintf(from, sizeof from, "%.80s:%u, %s(%s)", dbio_derive_base(p->file), p->head, reads->object, reads->instance);
        snprintf(name, sizeof name, "disk-%s-%s", reads->instance, write ? "writes" : "reads");
        if (isnan(bytes)) {
                dbio_derived_lost(p->out, "%s: %s %s a second without their size", from, dbio_derived_number(per_s, number), write ? "writes" : "reads");
                return;
        }
        if (dbio_derived_rate(p->out, &(struct dbio_derived_rate){
                .target = dbio_derived_target(p->out, reads->instance, "all", from), .name = name, .write = write, .per_s = per_s, .bytes = bytes,
                .ms = mean(find(p, reads, write ? WRITE_SEC : READ_SEC)) * 1000, .from = from,
        }))
                dbio_derived_note(p->out, "%s: busiest sample %s %s a second, mean %s", from, dbio_derived_number(rate->peak, peak),
                                  write ? "writes" : "reads", dbio_derived_number(per_s, number));
}

/* Physical disks where there are any, else logical ones: both hold the same I/O. */
static bool tell_disks(struct perfmon *p)
{
        static const char *const objects[] = {"PhysicalDisk", "LogicalDisk"};
        bool told = false;

        for (int o = 0; o < 2 && !told; o++)
                for (unsigned i = 0; i < p->n; i++) {
                        const struct column *column = &p->columns[i];

                        if ((column->counter != READS && column->counter != WRITES) || strcasecmp(column->object, objects[o]) ||
                            (column->counter == WRITES && find(p, column, READS)))
                                continue;
                        tell_disk(p, column, 0);
                        tell_disk(p, column, 1);
                        told = true;
                }
        return told;
}

static const struct column *any(const struct perfmon *p, int counter)
{
        for (unsigned i = 0; i < p->n; i++)
                if (p->columns[i].counter == counter)
                        return &p->columns[i];
        return NULL;
}

static void tell_rate(struct perfmon *p, const char *target, const char *name, bool write, bool sequential, double per_s, double bytes, unsigned step)
{
        char from[200];

        snprintf(from, sizeof from, "%.80s:%u", dbio_derive_base(p->file), p->head);
        dbio_derived_rate(p->out, &(struct dbio_derived_rate){.target = target, .name = name, .write = write, .sequential = sequential, .per_s = per_s,
                                                              .bytes = bytes, .step = step, .ms = NAN, .from = from,
                                                              .through = DBIO_DERIVED_SQL_SERVER});
}

static void tell_server(struct perfmon *p)
{
        double reads = mean(any(p, PAGE_READS)), ahead = mean(any(p, READAHEAD)), checkpoint = mean(any(p, CHECKPOINT));
        double lazy = mean(any(p, LAZY)), background = mean(any(p, BACKGROUND));
        char from[200], value[40];
        const char *target;

        snprintf(from, sizeof from, "%.80s:%u", dbio_derive_base(p->file), p->head);
        target = dbio_derived_target(p->out, "data", "all", from);
        if (ahead > 0)
                tell_rate(p, target, "read-ahead", false, true, ahead / 8, 65536, 8192);
        if (reads > 0)
                tell_rate(p, target, "page-reads", false, false, fmax(0, reads - (ahead > 0 ? ahead : 0)), 8192, 8192);
        if (lazy > 0)
                tell_rate(p, target, "lazy-writes", true, false, lazy, 8192, 8192);
        if (background > 0)
                tell_rate(p, target, "background-writes", true, false, background, 8192, 8192);
        if (checkpoint > 0 && checkpoint * 60 >= 1 && checkpoint < 1e9) {
                dbio_derived_item(p->out, DBIO_DERIVED_STREAMS, "checkpoint");
                dbio_derived_key(p->out, DBIO_DERIVED_STREAMS, "pattern", "sqlserver.checkpoint", NULL);
                dbio_derived_key(p->out, DBIO_DERIVED_STREAMS, "target", target, NULL);
                dbio_derived_key(p->out, DBIO_DERIVED_STREAMS, "every", "60s", "not in the counters; SQL Server's recovery interval");
                snprintf(value, sizeof value, "%.0f", checkpoint * 60);
                dbio_derived_key(p->out, DBIO_DERIVED_STREAMS, "pages", value, "%s: Checkpoint pages/sec, 60 s of it", from);
        }
        for (unsigned i = 0; i < p->n; i++) {
                const struct column *flushes = &p->columns[i];
                char name[100];

                if (flushes->counter != LOG_FLUSHES || !(mean(flushes) > 0))
                        continue;
                snprintf(name, sizeof name, "log-%s", flushes->instance);
                tell_rate(p, dbio_derived_target(p->out, name, "1GiB", from), name, true, true, mean(flushes),
                          mean(find(p, flushes, LOG_BYTES)) / mean(flushes), 512);
        }
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct perfmon p = {.file = files, .out = out};
        char separator = 0;
        int code = 0;

        if (n > 1)
                return dbio_derive_bad(&files[1], 0, err, "one log at a time");
        for (unsigned i = 0; !code && i < p.file->nlines; i++) {
                if (!*p.file->lines[i])
                        continue;
                if (!separator) {
                        separator = dbio_csv_separator(p.file->lines[i]);
                        code = take_head(&p, i + 1, separator, err);
                } else {
                        code = take_sample(&p, i + 1, separator, err);
                }
        }
        if (!code && !p.samples)
                code = dbio_derive_bad(p.file, p.head, err, "no sample behind the line of names");
        if (!code) {
                dbio_derived_describe(out, "perfmon", "PerfMon log %s, means over %u samples", dbio_derive_base(p.file), p.samples);
                dbio_derived_note(out, "Rates and sizes are means of the samples: bursts within one are not known.");
                if (!tell_disks(&p))
                        tell_server(&p);
                else if (any(&p, PAGE_READS) || any(&p, LOG_FLUSHES) || any(&p, CHECKPOINT))
                        dbio_derived_lost(out, "%s:%u: SQL Server's own counters: their I/O is in that of the disks", dbio_derive_base(p.file), p.head);
                dbio_derived_item(out, DBIO_DERIVED_PHASES, "mean");
                dbio_derived_key(out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
        }
        free(p.columns);
        return code;
}

const struct dbio_derive_format dbio_derive_perfmon = {
        "perfmon", "PerfMon log as CSV: disks, or SQL Server's counters", derive,
};
