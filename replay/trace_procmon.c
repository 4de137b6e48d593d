/* Process Monitor's CSV: quoted columns by name, `Offset: 2,275,840, Length: 16,384` in Detail, digits grouped as the locale
 * has it. Taken are ReadFile, WriteFile and FlushBuffersFile that succeeded; of reads and writes those that reached the
 * device (Non-cached). */
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracelines.h"

#define FIELDS 64
#define DAY_NS 86400000000000u

enum name { TIME, DATE_TIME, OPERATION, PATH, RESULT, DETAIL, DURATION, NAMES };
static const char *const names[NAMES] = {"Time of Day", "Date & Time", "Operation", "Path", "Result", "Detail", "Duration"};

struct procmon {
        struct dbio_trace_lines lines;
        int at[NAMES];
        unsigned fields;
        uint64_t day_ns, last_ns;
};

static int open_procmon(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct procmon *mon = input->state = calloc(1, sizeof *mon);

        if (!mon)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        return dbio_trace_lines_open(&mon->lines, input->paths, input->npaths, err);
}

static void close_procmon(struct dbio_trace_input *input)
{
        struct procmon *mon = input->state;

        if (!mon)
                return;
        dbio_trace_lines_close(&mon->lines);
        free(mon);
        input->state = NULL;
}

static int take_header(struct procmon *mon, char **fields, unsigned n, struct dbio_err *err)
{
        mon->fields = 0;
        for (unsigned k = 0; k < NAMES; k++) {
                mon->at[k] = -1;
                for (unsigned i = 0; i < n; i++)
                        if (!strcmp(names[k], fields[i]))
                                mon->at[k] = (int)i;
                if (mon->at[k] >= (int)mon->fields)
                        mon->fields = (unsigned)mon->at[k] + 1;
        }
        if (mon->at[TIME] < 0 || mon->at[OPERATION] < 0 || mon->at[PATH] < 0 || mon->at[DETAIL] < 0) {
                dbio_trace_lines_bad(&mon->lines, 0, err, "columns Time of Day, Operation, Path and Detail are needed in the first line");
                err->code = DBIO_REFUSED;
                return -1;
        }
        return 0;
}

/* `10:05:01.1234567 AM`, or of 24 hours; the next day where it goes back by more than half of one. */
static bool take_time(struct procmon *mon, const char *at, uint64_t *t_ns)
{
        uint64_t hours, minutes, seconds;
        bool whole;

        if (!dbio_trace_number(&at, &hours) || *at++ != ':' || !dbio_trace_number(&at, &minutes) || *at++ != ':' || hours > 23 ||
            minutes > 59 || !dbio_trace_time(&at, 1000000000, &seconds, &whole) || seconds > 61000000000u)
                return false;
        while (*at == ' ' || (unsigned char)*at >= 0x80) /* a narrow blank stands there in newer locales */
                at++;
        if ((*at | 0x20) == 'p' && hours < 12)
                hours += 12;
        else if ((*at | 0x20) == 'a' && hours == 12)
                hours = 0;
        *t_ns = mon->day_ns + (hours * 60 + minutes) * 60000000000u + seconds;
        if (*t_ns + DAY_NS / 2 < mon->last_ns) {
                mon->day_ns += DAY_NS;
                *t_ns += DAY_NS;
        }
        mon->last_ns = *t_ns;
        return true;
}

/* A number whose digits are grouped in threes by anything that is no digit. */
static bool take_grouped(const char *detail, const char *name, uint64_t *value)
{
        const char *at = strstr(detail, name);
        uint64_t group;

        if (!at)
                return false;
        at += strlen(name);
        while (*at == ' ')
                at++;
        if (!dbio_trace_number(&at, value))
                return false;
        for (;;) {
                size_t gap = (unsigned char)*at == 0xC2 ? 2 : (unsigned char)*at == 0xE2 ? 3 : *at ? 1 : 0;
                if (!gap || strnlen(at, gap + 3) < gap + 3 || strspn(at + gap, "0123456789") != 3)
                        return true;
                at += gap;
                if (!dbio_trace_number(&at, &group) || __builtin_mul_overflow(*value, 1000, value) ||
                    __builtin_add_overflow(*value, group, value))
                        return false;
        }
}

static int take_row(struct dbio_trace_input *input, struct procmon *mon, char **fields, struct dbio_trace_event *event,
                    struct dbio_err *err)
{
        const char *operation = fields[mon->at[OPERATION]], *detail = fields[mon->at[DETAIL]], *path = fields[mon->at[PATH]];
        bool whole;

        event->kind = !strcmp(operation, "ReadFile")           ? DBIO_READ
                      : !strcmp(operation, "WriteFile")        ? DBIO_WRITE
                      : !strcmp(operation, "FlushBuffersFile") ? DBIO_FSYNC
                                                               : DBIO_KINDS;
        if (event->kind == DBIO_KINDS) {
                dbio_trace_skip(input, "other operations");
                return 0;
        }
        if (!take_time(mon, fields[mon->at[TIME]], &event->t_ns))
                return dbio_trace_lines_bad(&mon->lines, 0, err, "`%.40s` is no time of day", fields[mon->at[TIME]]);
        dbio_trace_stamp(input, event->t_ns);
        if (mon->at[RESULT] >= 0 && strcmp(fields[mon->at[RESULT]], "SUCCESS")) {
                dbio_trace_skip(input, "operations that failed");
                return 0;
        }
        event->offset = event->length = 0;
        if (event->kind != DBIO_FSYNC && !strstr(detail, "Non-cached")) {
                dbio_trace_skip(input, "cached reads and writes (the device saw other ones)");
                return 0;
        }
        if (event->kind != DBIO_FSYNC && (!take_grouped(detail, "Offset:", &event->offset) ||
                                          !take_grouped(detail, "Length:", &event->length)))
                return dbio_trace_lines_bad(&mon->lines, 0, err, "no `Offset: N, Length: N` in Detail");
        event->latency_ns = DBIO_TRACE_UNKNOWN;
        if (mon->at[DURATION] >= 0) {
                const char *at = fields[mon->at[DURATION]];
                if (!dbio_trace_time(&at, 1000000000, &event->latency_ns, &whole) || *at)
                        event->latency_ns = DBIO_TRACE_UNKNOWN;
        }
        event->flags = event->kind == DBIO_WRITE && strstr(detail, "Write Through") ? DBIO_OP_FUA : 0;
        event->place = mon->lines.line;
        event->file = (uint16_t)mon->lines.path;
        event->device = dbio_trace_device(input, path, strlen(path));
        return event->device == UINT32_MAX ? dbio_trace_lines_bad(&mon->lines, 0, err, "more than 65,535 files") : 1;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct procmon *mon = input->state;
        char *text, *fields[FIELDS];
        size_t size;
        int code;

        while ((code = dbio_trace_lines_next(&mon->lines, &text, &size, err)) > 0) {
                unsigned n = dbio_trace_split(text, ',', fields, FIELDS);
                if (mon->lines.line == 1) {
                        if (take_header(mon, fields, n, err))
                                return -1;
                        dbio_trace_skip(input, "lines of names");
                        continue;
                }
                if (!n)
                        continue;
                if (n < mon->fields)
                        return dbio_trace_lines_bad(&mon->lines, size, err, "%u columns, %u are needed", n, mon->fields);
                code = take_row(input, mon, fields, event, err);
                if (code)
                        return code;
        }
        return code;
}

static int probe(const char *path, const char *head, size_t size)
{
        (void)path;
        (void)size;
        size_t line = strcspn(head, "\r\n");

        return *head == '"' && memmem(head, line, "\"Operation\"", 11) && memmem(head, line, "\"Detail\"", 8) ? 95 : 0;
}

const struct dbio_trace_format dbio_trace_procmon = {
        .name = "procmon",
        .summary = "Process Monitor's CSV: non-cached reads and writes, and flushes",
        .probe = probe,
        .beside = true,
        .open = open_procmon,
        .next = next,
        .close = close_procmon,
};
