/* Traces as tables: one line an I/O, described by a spec of columns, units and words (`dbio describe formats`), with presets
 * for known collections. Layouts: MSR Cambridge (SNIA 388), SPC trace format of the UMass repository, Alibaba block-traces
 * 2020, Tencent CBS 2018 (SNIA 27917), Systor '17 (SNIA 4964), K5cloud 2018 (SNIA 26663), FIU (SNIA 390). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracelines.h"

#define FIELDS 64
#define DEVICE_PARTS 4

struct column {
        int number;      /* from 0; -1 = by name only */
        char name[48];
        int at;          /* in this file */
        bool given;
};

struct csv {
        struct dbio_trace_lines lines;
        struct column time, offset, length, op, latency, device[DEVICE_PARTS];
        unsigned ndevice, header, fields; /* fields: so many are needed */
        uint64_t time_unit, latency_unit, offset_unit, length_unit;
        bool end_time, has_words, named;
        bool begun;              /* a line of this file has been read that is not left out */
        char words[4][48]; /* of reads, writes, trims, flushes; alternatives separated by | */
        char separator;
};

/* --- the spec ------------------------------------------------------------------------------------------------------ */

static int bad_spec(struct dbio_err *err, const char *what, const char *part)
{
        dbio_err_set(err, DBIO_USAGE, "csv: %s `%s`; `dbio describe formats` tells how a table is described", what, part);
        return -1;
}

/* COL, NAME or COL|NAME; changes text. */
static int parse_column(struct column *column, char *text, struct dbio_err *err)
{
        char *bar = strchr(text, '|'), *name = text;
        const char *at = text;
        uint64_t number;

        column->number = -1;
        if (isdigit((unsigned char)*text)) {
                if (bar)
                        *bar = 0;
                if (!dbio_trace_number(&at, &number) || *at || !number || number > FIELDS)
                        return bad_spec(err, "no column from 1 to 64:", text);
                column->number = (int)number - 1;
                name = bar ? bar + 1 : (char *)"";
        }
        if (strlen(name) >= sizeof column->name || (!*name && column->number < 0))
                return bad_spec(err, "no column:", text);
        snprintf(column->name, sizeof column->name, "%s", name);
        column->given = true;
        column->at = column->number;
        return 0;
}

static int parse_unit(const char *text, bool time, uint64_t *unit, struct dbio_err *err)
{
        static const struct {
                const char *name;
                uint64_t unit;
        } times[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"100ns", 100}, {"ns", 1}};
        const char *at = text;

        for (size_t i = 0; time && i < sizeof times / sizeof *times; i++)
                if (!strcmp(times[i].name, text)) {
                        *unit = times[i].unit;
                        return 0;
                }
        if (!time && !strcmp(text, "bytes"))
                *unit = 1;
        else if (!time && !strcmp(text, "sectors"))
                *unit = 512;
        else if (time || !dbio_trace_number(&at, unit) || *at || !*unit || *unit > 1 << 30)
                return bad_spec(err, time ? "s, ms, us, 100ns or ns is right, not" : "bytes, sectors or a number is right, not", text);
        return 0;
}

static int parse_words(struct csv *csv, char *text, struct dbio_err *err)
{
        unsigned n = 0;

        for (char *slash; text && n < 4; text = slash) {
                slash = strchr(text, '/');
                if (slash)
                        *slash++ = 0;
                if (strlen(text) >= sizeof csv->words[0])
                        return bad_spec(err, "words too long:", text);
                snprintf(csv->words[n++], sizeof csv->words[0], "%s", text);
        }
        csv->has_words = true;
        return 0;
}

static int parse_device(struct csv *csv, char *text, struct dbio_err *err)
{
        for (char *plus; text; text = plus) {
                plus = strchr(text, '+');
                if (plus)
                        *plus++ = 0;
                if (csv->ndevice == DEVICE_PARTS || parse_column(&csv->device[csv->ndevice++], text, err))
                        return bad_spec(err, "device:", text);
        }
        return 0;
}

static int parse_separator(struct csv *csv, const char *text, struct dbio_err *err)
{
        static const char *const names[] = {"comma", "semicolon", "tab", "blank"};

        for (unsigned i = 0; i < 4; i++)
                if (!strcmp(names[i], text)) {
                        csv->separator = ",;\t "[i];
                        return 0;
                }
        return bad_spec(err, "comma, semicolon, tab or blank is right, not", text);
}

static int parse_part(struct csv *csv, char *key, struct dbio_err *err)
{
        char *value = strchr(key, '='), *unit;
        const char *at;
        uint64_t number;

        if (!value)
                return bad_spec(err, "KEY=VALUE is right, not", key);
        *value++ = 0;
        if (!strcmp(key, "separator"))
                return parse_separator(csv, value, err);
        if (!strcmp(key, "device"))
                return parse_device(csv, value, err);
        unit = strchr(value, ':');
        if (unit)
                *unit++ = 0;
        if (!strcmp(key, "time") || !strcmp(key, "end")) {
                csv->end_time = *key == 'e';
                return parse_column(&csv->time, value, err) || parse_unit(unit ? unit : "", true, &csv->time_unit, err);
        }
        if (!strcmp(key, "latency"))
                return parse_column(&csv->latency, value, err) || parse_unit(unit ? unit : "", true, &csv->latency_unit, err);
        if (!strcmp(key, "offset"))
                return parse_column(&csv->offset, value, err) || parse_unit(unit ? unit : "bytes", false, &csv->offset_unit, err);
        if (!strcmp(key, "length"))
                return parse_column(&csv->length, value, err) || parse_unit(unit ? unit : "bytes", false, &csv->length_unit, err);
        if (!strcmp(key, "op"))
                return parse_column(&csv->op, value, err) || (unit && parse_words(csv, unit, err));
        at = value;
        if (strcmp(key, "header") || !dbio_trace_number(&at, &number) || *at || number > 1000)
                return bad_spec(err, "unknown part", key);
        csv->header = (unsigned)number;
        return 0;
}

static struct column *column_of(struct csv *csv, unsigned i)
{
        struct column *columns[] = {&csv->time, &csv->offset, &csv->length, &csv->op, &csv->latency};

        return i < 5 ? columns[i] : i - 5 < csv->ndevice ? &csv->device[i - 5] : NULL;
}

static void count_fields(struct csv *csv)
{
        struct column *column;

        csv->fields = 0;
        for (unsigned i = 0; (column = column_of(csv, i)); i++)
                if (column->given && column->at >= (int)csv->fields)
                        csv->fields = (unsigned)column->at + 1;
}

static int parse_spec(struct csv *csv, const char *spec, struct dbio_err *err)
{
        char *text = strdup(spec ? spec : ""), *save = NULL;
        struct column *column;
        int code = text ? 0 : -1;

        csv->separator = ',';
        for (char *part = text ? strtok_r(text, ",", &save) : NULL; part && !code; part = strtok_r(NULL, ",", &save))
                code = parse_part(csv, part, err) ? -1 : 0;
        free(text);
        if (code)
                return -1;
        if (!csv->time.given || !csv->offset.given || !csv->length.given || !csv->op.given)
                return bad_spec(err, "time (or end), offset, length and op are needed, as in",
                                "csv:time=1:us,op=2,offset=3:bytes,length=4:bytes");
        if (csv->end_time && !csv->latency.given)
                return bad_spec(err, "without latency the begin is not known from", "end=");
        for (unsigned i = 0; (column = column_of(csv, i)); i++)
                csv->named |= column->given && column->number < 0;
        count_fields(csv);
        return 0;
}

/* --- lines --------------------------------------------------------------------------------------------------------- */

/* Names are the same whatever their case, with or without underscores. */
static bool same_name(const char *a, const char *b)
{
        for (;; a++, b++) {
                a += *a == '_';
                b += *b == '_';
                if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
                        return false;
                if (!*a)
                        return true;
        }
}

static int take_header(struct csv *csv, char **fields, unsigned n, struct dbio_err *err)
{
        struct column *column;

        for (unsigned i = 0; (column = column_of(csv, i)); i++) {
                if (!column->given)
                        continue;
                column->at = column->number;
                for (unsigned k = 0; k < n && column->name[0]; k++)
                        if (same_name(column->name, fields[k]))
                                column->at = (int)k;
                if (column->at < 0)
                        return dbio_trace_lines_bad(&csv->lines, 0, err, "there is no column %s", column->name);
        }
        count_fields(csv);
        return 0;
}

static bool is_end(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return !*at;
}

static bool sized(const char *text, uint64_t unit, uint64_t *bytes)
{
        return dbio_trace_number(&text, bytes) && is_end(text) && !__builtin_mul_overflow(*bytes, unit, bytes);
}

static bool is_word(const char *words, const char *text, size_t size)
{
        for (const char *word = words; word && *word; word = strchr(word, '|')) {
                word += *word == '|';
                if (!strncasecmp(word, text, size) && (word[size] == '|' || !word[size]))
                        return true;
        }
        return false;
}

/* -1 = none that is known */
static int kind_of(const struct csv *csv, const char *text)
{
        static const uint8_t kinds[] = {DBIO_READ, DBIO_WRITE, DBIO_TRIM, DBIO_FSYNC};
        size_t size = strcspn(text, " \t");

        if (csv->has_words) {
                for (unsigned i = 0; i < 4; i++)
                        if (is_word(csv->words[i], text, size))
                                return kinds[i];
                return -1;
        }
        switch (*text | 0x20) {
        case 'r':
                return DBIO_READ;
        case 'w':
                return DBIO_WRITE;
        case 'd':
        case 't':
        case 'u':
                return DBIO_TRIM;
        case 'f':
        case 's':
                return DBIO_FSYNC;
        }
        return -1;
}

static uint32_t device_of(struct dbio_trace_input *input, const struct csv *csv, char **fields)
{
        char name[256];
        size_t used = 0;

        if (!csv->ndevice)
                return dbio_trace_device(input, "trace", 5);
        if (csv->ndevice == 1)
                return dbio_trace_device(input, fields[csv->device[0].at], strlen(fields[csv->device[0].at]));
        for (unsigned i = 0; i < csv->ndevice; i++) {
                const char *part = fields[csv->device[i].at];
                size_t size = strlen(part);
                if (used + size + 2 > sizeof name)
                        size = sizeof name - used - 2;
                if (i)
                        name[used++] = '.';
                memcpy(name + used, part, size);
                used += size;
        }
        return dbio_trace_device(input, name, used);
}

static int bad_field(const struct csv *csv, char **fields, const struct column *column, const char *what, struct dbio_err *err)
{
        return dbio_trace_lines_bad(&csv->lines, (size_t)(fields[column->at] - fields[0]), err, "`%.60s` is no %s",
                                    fields[column->at], what);
}

static int take_fields(struct dbio_trace_input *input, struct csv *csv, char **fields, struct dbio_trace_event *event,
                       struct dbio_err *err)
{
        const char *at = fields[csv->time.at], *op = fields[csv->op.at];
        bool whole, ignored;
        int kind;

        if (!*op) {
                dbio_trace_skip(input, "rows without an operation");
                return 0;
        }
        if (!dbio_trace_time(&at, csv->time_unit, &event->t_ns, &whole) || !is_end(at))
                return bad_field(csv, fields, &csv->time, "time", err);
        if ((kind = kind_of(csv, op)) < 0)
                return bad_field(csv, fields, &csv->op, "operation", err);
        if (!sized(fields[csv->offset.at], csv->offset_unit, &event->offset))
                return bad_field(csv, fields, &csv->offset, "offset", err);
        if (!sized(fields[csv->length.at], csv->length_unit, &event->length))
                return bad_field(csv, fields, &csv->length, "length", err);
        if (!whole && csv->time_unit == 100) /* copies of MSR in seconds: ticks are whole */
                return bad_field(csv, fields, &csv->time, "whole number of 100 ns", err);
        event->latency_ns = DBIO_TRACE_UNKNOWN;
        dbio_trace_stamp(input, event->t_ns);
        if (csv->latency.given) {
                at = fields[csv->latency.at];
                if (*at && (!dbio_trace_time(&at, csv->latency_unit, &event->latency_ns, &ignored) || !is_end(at)))
                        return bad_field(csv, fields, &csv->latency, "latency", err);
                if (csv->end_time) {
                        if (event->latency_ns > event->t_ns)
                                return bad_field(csv, fields, &csv->latency, "latency of an I/O that began within the trace", err);
                        event->t_ns -= event->latency_ns;
                }
        }
        event->kind = (uint8_t)kind;
        event->flags = whole && csv->time_unit == 1000000000 ? DBIO_TRACE_COARSE : 0;
        event->device = device_of(input, csv, fields);
        event->place = csv->lines.line;
        event->file = (uint16_t)csv->lines.path;
        if (event->device == UINT32_MAX)
                return dbio_trace_lines_bad(&csv->lines, 0, err, "more than 65,535 devices");
        return 1;
}

static bool begins_with_digit(const char *text)
{
        return (unsigned char)(*text - '0') < 10;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct csv *csv = input->state;
        char *text, *fields[FIELDS];
        size_t size;
        int code;

        while ((code = dbio_trace_lines_next(&csv->lines, &text, &size, err)) > 0) {
                bool first;
                if (csv->lines.line == 1)
                        csv->begun = false;
                if (!size)
                        continue;
                if (text[0] == '#' || csv->lines.line <= csv->header) {
                        dbio_trace_skip(input, "lines before the table, and comments");
                        continue;
                }
                first = !csv->begun;
                csv->begun = true;
                unsigned n = dbio_trace_split(text, csv->separator, fields, first ? FIELDS : csv->fields);
                if (first && (csv->named || (n >= csv->fields && !begins_with_digit(fields[csv->time.at]) &&
                                             isalpha((unsigned char)fields[0][0])))) {
                        if (take_header(csv, fields, n, err)) {
                                err->code = DBIO_REFUSED;
                                return -1;
                        }
                        dbio_trace_skip(input, "lines of names");
                        continue;
                }
                if (n < csv->fields)
                        return dbio_trace_lines_bad(&csv->lines, size, err, "%u columns, %u are needed", n, csv->fields);
                code = take_fields(input, csv, fields, event, err);
                if (code)
                        return code;
        }
        return code;
}

static int open_csv(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct csv *csv = input->state = calloc(1, sizeof *csv);

        if (!csv)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        csv->lines.fd = -1;
        if (parse_spec(csv, input->spec, err))
                return -1;
        return dbio_trace_lines_open(&csv->lines, input->paths, input->npaths, err);
}

static void close_csv(struct dbio_trace_input *input)
{
        struct csv *csv = input->state;

        if (!csv)
                return;
        dbio_trace_lines_close(&csv->lines);
        free(csv);
        input->state = NULL;
}

/* --- recognition --------------------------------------------------------------------------------------------------- */

/* Whether a field looks like this: n digits, N at least 16 digits, s 10 digits, d digits and a point, o R or W,
 * O Read or Write, b 0 or 1, ? anything. */
static bool looks_like(char shape, const char *field)
{
        size_t digits = strspn(field, "0123456789"), size = strlen(field);

        switch (shape) {
        case 'n':
                return digits && digits == size;
        case 'N':
                return digits >= 16 && digits == size;
        case 's':
                return digits == 10 && digits == size;
        case 'd':
                return digits && field[digits] == '.' && digits + 1 + strspn(field + digits + 1, "0123456789") == size;
        case 'o':
                return size == 1 && strchr("rRwW", *field);
        case 'O':
                return !strcasecmp(field, "read") || !strcasecmp(field, "write");
        case 'b':
                return size == 1 && strchr("01", *field);
        }
        return true;
}

/* Counts columns exactly unless the shapes end with `*`. */
static int probe_shapes(const char *head, char separator, const char *shapes)
{
        char line[512], *fields[FIELDS];
        size_t size = strcspn(head, "\r\n");
        unsigned n, want = (unsigned)strcspn(shapes, "*");

        if (!size || size >= sizeof line)
                return 0;
        memcpy(line, head, size);
        line[size] = 0;
        n = dbio_trace_split(line, separator, fields, FIELDS);
        if (n < want || (n > want && !shapes[want]))
                return 0;
        for (unsigned i = 0; i < want; i++)
                if (!looks_like(shapes[i], fields[i]))
                        return 0;
        return 60 + (int)want;
}

static bool begins(const char *head, const char *words)
{
        return !strncasecmp(head, words, strlen(words));
}

#define PROBE(name, ...)                                                    \
        static int probe_##name(const char *path, const char *head, size_t size) \
        {                                                                   \
                (void)path;                                                 \
                (void)size;                                                 \
                return __VA_ARGS__;                                         \
        }
PROBE(msr, begins(head, "timestamp,") && strcasestr(head, "hostname") ? 90 : probe_shapes(head, ',', "N?nOnnn"))
PROBE(spc, probe_shapes(head, ',', "nnnod*"))
PROBE(alibaba, probe_shapes(head, ',', "nonnN"))
PROBE(tencent, probe_shapes(head, ',', "snnbn"))
PROBE(systor, begins(head, "timestamp,response,iotype,lun,offset,size") ? 95 : probe_shapes(head, ',', "ddonnn"))
PROBE(k5, probe_shapes(head, ',', "ndonn"))
PROBE(fiu, probe_shapes(head, ' ', "nn?nnonn*"))
PROBE(cloudphysics, begins(head, "version,time,op,size,lbn") ? 95 : 0)

#define PRESET(variable, title, text, columns, how)                                                           \
        const struct dbio_trace_format dbio_trace_##variable = {.name = title, .summary = text, .spec = columns, \
                                                                .probe = how, .beside = true, .open = open_csv, .next = next,  \
                                                                .close = close_csv}
const struct dbio_trace_format dbio_trace_csv = {.name = "csv", .summary = "any table of one I/O a line, as csv:SPEC (below)",
                                                 .takes_spec = true, .beside = true, .open = open_csv, .next = next, .close = close_csv};
PRESET(msr, "msr", "MSR Cambridge (SNIA 388); the unit of its latency is taken from common use",
       "time=1|timestamp:100ns,device=2|hostname+3|disknumber,op=4|type,offset=5|offset:bytes,length=6|size:bytes,"
       "latency=7|responsetime:100ns", probe_msr);
PRESET(spc, "spc", "SPC trace format (UMass Financial, WebSearch), blocks of 512 bytes",
       "device=1,offset=2:sectors,length=3:bytes,op=4,time=5:s", probe_spc);
PRESET(alibaba, "alibaba", "Alibaba block traces 2020", "device=1,op=2,offset=3:bytes,length=4:bytes,time=5:us", probe_alibaba);
PRESET(tencent, "tencent", "Tencent CBS 2018 (SNIA 27917)",
       "time=1:s,offset=2:sectors,length=3:sectors,op=4:0/1,device=5", probe_tencent);
PRESET(systor, "systor", "Systor '17", "time=1|timestamp:s,latency=2|response:s,op=3|iotype,device=4|lun,offset=5|offset:bytes,"
                                       "length=6|size:bytes", probe_systor);
PRESET(k5, "k5", "K5cloud 2018 (SNIA 26663)", "device=1,time=2:s,op=3,offset=4:bytes,length=5:bytes", probe_k5);
PRESET(fiu, "fiu", "FIU (SNIA 390)", "separator=blank,time=1:ns,offset=4:sectors,length=5:sectors,op=6,device=7+8", probe_fiu);
PRESET(cloudphysics_csv, "cloudphysics-csv", "CloudPhysics as CSV, whole seconds",
       "time=2|time:s,op=3|op:28|88|08/2a|8a|0a/42/35|91,length=4|size:bytes,offset=5|lbn:sectors", probe_cloudphysics);
