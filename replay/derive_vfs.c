/* sys.dm_io_virtual_file_stats twice, as CSV: a pair of files, or both samples in one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/units.h"
#include "replay/derive.h"
#include "replay/derive_formats.h"
#include "replay/derivecsv.h"

#define COLUMNS 64

enum value { SAMPLE, READS, READ_BYTES, READ_STALL, WRITES, WRITE_BYTES, WRITE_STALL, SIZE, VALUES };

static const char *const names[VALUES] = {"sample_ms", "num_of_reads", "num_of_bytes_read", "io_stall_read_ms", "num_of_writes",
                                          "num_of_bytes_written", "io_stall_write_ms", "size_on_disk_bytes"};
static const char *const key_names[] = {"database_id", "file_id", "database_name", "db", "name", "logical_name", "physical_name", "type_desc"};
enum { KEYS = sizeof key_names / sizeof *key_names };

/* A row: a file of a database at one time. */
struct row {
        const struct dbio_derive_file *file;
        unsigned line;
        char keys[KEYS][200];
        double v[VALUES];
        bool used;
};

struct rows {
        struct row *rows;
        unsigned n;
};

static int header(const struct dbio_derive_file *file, unsigned line, char separator, int values[VALUES], int keys[KEYS],
                  struct dbio_err *err)
{
        char *text = strdup(file->lines[line - 1]), *columns[COLUMNS];
        unsigned n = text ? dbio_csv_cut(text, separator, columns, COLUMNS) : 0;
        int code = 0;

        for (int v = 0; v < VALUES; v++) {
                values[v] = -1;
                for (unsigned i = 0; i < n; i++)
                        if (!strcasecmp(columns[i], names[v]))
                                values[v] = (int)i;
                if (values[v] < 0 && v != SIZE && !code)
                        code = dbio_derive_bad(file, line, err, "no column %s: the names of sys.dm_io_virtual_file_stats are needed", names[v]);
        }
        for (int k = 0; k < KEYS; k++) {
                keys[k] = -1;
                for (unsigned i = 0; i < n; i++)
                        if (!strcasecmp(columns[i], key_names[k]))
                                keys[k] = (int)i;
        }
        if (!code && (keys[1] < 0 || (keys[0] < 0 && keys[2] < 0 && keys[3] < 0)))
                code = dbio_derive_bad(file, line, err, "no columns database_id and file_id: which files are the same?");
        free(text);
        return code;
}

static int take_row(struct rows *rows, const struct dbio_derive_file *file, unsigned line, char separator, const int values[VALUES],
                    const int keys[KEYS], struct dbio_err *err)
{
        char *text = strdup(file->lines[line - 1]), *columns[COLUMNS];
        unsigned n = text ? dbio_csv_cut(text, separator, columns, COLUMNS) : 0;
        struct row row = {.file = file, .line = line}, *more;
        int code = 0;

        /* What sqlcmd draws under the names, and says at the end. */
        if (n < 3 || !*columns[0] || columns[0][0] == '-' || columns[0][0] == '(')
                goto out;
        for (int k = 0; k < KEYS; k++)
                if (keys[k] >= 0 && (unsigned)keys[k] < n)
                        snprintf(row.keys[k], sizeof row.keys[k], "%.199s", columns[keys[k]]);
        for (int v = 0; v < VALUES && !code; v++) {
                const char *said;

                if (values[v] < 0)
                        continue;
                if ((unsigned)values[v] >= n) {
                        code = dbio_derive_bad(file, line, err, "%u columns, so there is no %s", n, names[v]);
                        break;
                }
                said = columns[values[v]];
                /* sample_ms is a 32-bit number that turns negative after 24.8 days. */
                bool minus = v == SAMPLE && *said == '-';
                if (!dbio_csv_number(said + minus, false, &row.v[v]))
                        code = dbio_derive_bad(file, line, err, "%s: %.40s is no number", names[v], said);
                if (minus)
                        row.v[v] = 4294967296.0 - row.v[v];
        }
        if (code)
                goto out;
        more = realloc(rows->rows, (rows->n + 1) * sizeof *more);
        if (!more) {
                code = dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        rows->rows = more;
        rows->rows[rows->n++] = row;
out:
        free(text);
        return code;
}

static int read_file(struct rows *rows, const struct dbio_derive_file *file, struct dbio_err *err)
{
        int values[VALUES], keys[KEYS], code = 0;
        char separator = 0;

        for (unsigned i = 0; !code && i < file->nlines; i++) {
                if (strcasestr(file->lines[i], "num_of_reads")) {
                        separator = dbio_csv_separator(file->lines[i]);
                        code = header(file, i + 1, separator, values, keys, err);
                } else if (separator && *file->lines[i]) {
                        code = take_row(rows, file, i + 1, separator, values, keys, err);
                }
        }
        if (!code && !separator)
                code = dbio_derive_bad(file, 0, err, "no line with the names of sys.dm_io_virtual_file_stats' columns (num_of_reads …)");
        return code;
}

static bool same_file(const struct row *a, const struct row *b)
{
        return !strcmp(a->keys[0], b->keys[0]) && !strcmp(a->keys[1], b->keys[1]) && !strcasecmp(a->keys[2], b->keys[2]) &&
               !strcasecmp(a->keys[3], b->keys[3]);
}

static bool is_log(const struct row *row)
{
        const char *physical = row->keys[6];
        size_t n = strlen(physical);

        if (*row->keys[7])
                return !strcasecmp(row->keys[7], "LOG");
        if (n > 4)
                return !strcasecmp(physical + n - 4, ".ldf");
        return !strcmp(row->keys[1], "2"); /* the first log file of every database */
}

static double grown(const struct row *a, const struct row *b, enum value v)
{
        return b->v[v] - a->v[v];
}

static double seconds_of(const struct row *a, const struct row *b)
{
        double ms = grown(a, b, SAMPLE);

        return (ms < -2147483648.0 ? ms + 4294967296.0 : ms) / 1000;
}

static void name_file(const struct row *row, char *name, size_t size)
{
        const char *database = *row->keys[2] ? row->keys[2] : row->keys[3], *file = *row->keys[4] ? row->keys[4] : row->keys[5];
        const char *begin = *row->keys[6] ? row->keys[6] : file;

        for (const char *c = begin; *c; c++)
                if (*c == '\\' || *c == '/')
                        begin = c + 1;
        if (*begin)
                snprintf(name, size, "%.40s", begin);
        else if (*database)
                snprintf(name, size, "%.30s-%.10s%s", database, row->keys[1], is_log(row) ? "-log" : "");
        else
                snprintf(name, size, "db%.10s-file%.10s%s", row->keys[0], row->keys[1], is_log(row) ? "-log" : "");
        if (strrchr(name, '.') > name)
                *strrchr(name, '.') = 0;
}

static void tell_file(struct dbio_derived *out, const struct row *a, const struct row *b)
{
        double seconds = seconds_of(a, b);
        char from[400], file[80], name[100], size[40] = "all";
        const char *target;

        if (grown(a, b, READS) + grown(a, b, WRITES) <= 0)
                return;
        snprintf(from, sizeof from, "%.100s:%u, %.100s:%u", dbio_derive_base(a->file), a->line, dbio_derive_base(b->file), b->line);
        name_file(b, file, sizeof file);
        if (b->v[SIZE] >= 1 << 20 && b->v[SIZE] < 1e18)
                dbio_format_size((uint64_t)b->v[SIZE], size, sizeof size);
        target = dbio_derived_target(out, *b->keys[6] ? b->keys[6] : file, size, from);
        for (int k = 0; k < 2; k++) {
                enum value count = k ? WRITES : READS;
                double n = grown(a, b, count);

                snprintf(name, sizeof name, "%s-%s", file, k ? "writes" : "reads");
                dbio_derived_rate(out, &(struct dbio_derived_rate){
                        .target = target, .name = name, .write = k, .sequential = is_log(b), .per_s = n / seconds,
                        .bytes = grown(a, b, k ? WRITE_BYTES : READ_BYTES) / n, .step = is_log(b) ? 512 : 8192,
                        .ms = grown(a, b, k ? WRITE_STALL : READ_STALL) / n, .from = from,
                        .through = DBIO_DERIVED_SQL_SERVER,
                });
        }
}

static int check_pair(const struct row *a, const struct row *b, struct dbio_err *err)
{
        if (!(seconds_of(a, b) > 0))
                return dbio_derive_bad(b->file, b->line, err, "sample_ms is not later than that of %s:%u: the older sample comes first",
                                       dbio_derive_base(a->file), a->line);
        for (int v = READS; v < SIZE; v++)
                if (grown(a, b, v) < 0)
                        return dbio_derive_bad(b->file, b->line, err, "%s went back: the server was started anew between the samples", names[v]);
        return 0;
}

static int derive(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err)
{
        struct rows rows = {0};
        unsigned pairs = 0;
        double longest = 0;
        char number[40];
        int code = 0;

        for (unsigned i = 0; !code && i < n; i++)
                code = read_file(&rows, &files[i], err);
        dbio_derived_note(out, "Log writes: commits and group commit are not in these counters; each write is taken as it is.");
        dbio_derived_note(out, "Rates and sizes are means: bursts such as checkpoints are not in them. Add the error log's.");
        /* The first and the last sample of each file. */
        for (unsigned i = 0; !code && i < rows.n; i++) {
                const struct row *last = NULL;

                if (rows.rows[i].used)
                        continue;
                for (unsigned j = i + 1; j < rows.n; j++)
                        if (!rows.rows[j].used && same_file(&rows.rows[i], &rows.rows[j])) {
                                rows.rows[j].used = true;
                                last = &rows.rows[j];
                        }
                if (!last) {
                        dbio_derived_lost(out, "%s:%u: file %s of database %s%s: only one sample", dbio_derive_base(rows.rows[i].file),
                                          rows.rows[i].line, rows.rows[i].keys[1], rows.rows[i].keys[0], rows.rows[i].keys[2]);
                        continue;
                }
                code = check_pair(&rows.rows[i], last, err);
                if (code)
                        break;
                pairs++;
                longest = fmax(longest, seconds_of(&rows.rows[i], last));
                tell_file(out, &rows.rows[i], last);
        }
        if (!code && !pairs)
                code = dbio_derive_bad(&files[0], 0, err, "one sample alone: the counters run since the server's start, rates need two samples");
        if (!code) {
                dbio_derived_describe(out, "virtual-file-stats", "sys.dm_io_virtual_file_stats of %s, means over %ss",
                                      dbio_derive_base(&files[0]), dbio_derived_number(longest, number));
                dbio_derived_item(out, DBIO_DERIVED_PHASES, "mean");
                dbio_derived_key(out, DBIO_DERIVED_PHASES, "duration", "60s", DBIO_DERIVED_CHOSEN);
        }
        free(rows.rows);
        return code;
}

const struct dbio_derive_format dbio_derive_vfs = {
        "vfs", "SQL Server, sys.dm_io_virtual_file_stats twice as CSV", derive,
};
