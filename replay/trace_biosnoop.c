/* bcc's biosnoop: `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`, printed at completion, TIME counted from the first
 * line printed (bcc tools/biosnoop.py). COMM may hold blanks, so columns are taken from the right. */
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracelines.h"

#define BASE_NS 1000000000000u /* an issue may lie before the first completion, which is time 0 */
#define WORDS 32

struct biosnoop {
        struct dbio_trace_lines lines;
        bool table, over, queued;
};

static int open_snoop(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct biosnoop *snoop = input->state = calloc(1, sizeof *snoop);

        if (!snoop)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        dbio_trace_note(input, "Flushes and discards: every I/O that is no write is printed as R. The clock is moved by 1000 s, as "
                               "the first issue lies before the first completion.");
        return dbio_trace_lines_open(&snoop->lines, input->paths, input->npaths, err);
}

static void close_snoop(struct dbio_trace_input *input)
{
        struct biosnoop *snoop = input->state;

        if (!snoop)
                return;
        dbio_trace_lines_close(&snoop->lines);
        free(snoop);
        input->state = NULL;
}

static int refuse(struct biosnoop *snoop, const char *why, struct dbio_err *err)
{
        dbio_trace_lines_bad(&snoop->lines, 0, err, "%s", why);
        err->code = DBIO_REFUSED;
        return -1;
}

static int take_row(struct dbio_trace_input *input, struct biosnoop *snoop, char *text, struct dbio_trace_event *event,
                    struct dbio_err *err)
{
        char *words[WORDS];
        unsigned n = dbio_trace_split(text, ' ', words, WORDS), columns = snoop->queued ? 9 : 8, last = n - 1;
        uint64_t time, latency, queue = 0, sector;
        bool whole;

        if (n < columns)
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "%u columns, %u are needed", n, columns);
        const char *at = words[0], *late = words[last], *wait = words[last - 1];
        last -= snoop->queued;
        const char *bytes = words[last - 1], *place = words[last - 2], *kind = words[last - 3], *disk = words[last - 4];
        if (!dbio_trace_time(&at, 1000000000, &time, &whole) || *at)
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "`%.40s` is no time", words[0]);
        if (!dbio_trace_time(&late, 1000000, &latency, &whole) || *late ||
            (snoop->queued && (!dbio_trace_time(&wait, 1000000, &queue, &whole) || *wait)))
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "no latency in milliseconds at the end");
        if ((*kind != 'R' && *kind != 'W') || kind[1])
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "`%.40s`: R or W is right", kind);
        if (!dbio_trace_number(&place, &sector) || *place || sector > UINT64_MAX / 512 ||
            !dbio_trace_number(&bytes, &event->length) || *bytes)
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "no sector and bytes");
        dbio_trace_stamp(input, time);
        if (latency > BASE_NS / 4 || queue > BASE_NS / 4 || time > UINT64_MAX / 2)
                return dbio_trace_lines_bad(&snoop->lines, 0, err, "a latency of more than 250 s");
        event->t_ns = BASE_NS + time - latency - queue;
        event->latency_ns = latency + queue;
        event->offset = sector * 512;
        event->kind = *kind == 'R' ? DBIO_READ : DBIO_WRITE;
        event->flags = 0;
        event->place = snoop->lines.line;
        event->file = (uint16_t)snoop->lines.path;
        event->device = dbio_trace_device(input, disk, strlen(disk));
        return event->device == UINT32_MAX ? dbio_trace_lines_bad(&snoop->lines, 0, err, "more than 65,535 devices") : 1;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct biosnoop *snoop = input->state;
        char *text;
        size_t size;
        int code;

        while ((code = dbio_trace_lines_next(&snoop->lines, &text, &size, err)) > 0) {
                if (snoop->lines.line == 1)
                        snoop->table = snoop->over = false;
                if (!snoop->table && !strncmp(text, "TIME(ms)", 8))
                        return refuse(snoop, "biosnoop of bpftrace prints no size, sector or direction: bcc's does", err);
                if (!snoop->table && !strncmp(text, "COMM ", 5) && strstr(text, "LATms"))
                        return refuse(snoop, "iosnoop's lines have no time that could be replayed: use biosnoop of bcc", err);
                if (!snoop->table) {
                        snoop->table = !strncmp(text, "TIME(s)", 7) && strstr(text, "SECTOR") && strstr(text, "BYTES");
                        snoop->queued = strstr(text, "QUE(ms)");
                        if (!snoop->table)
                                dbio_trace_skip(input, "lines before the table");
                        continue;
                }
                snoop->over |= !size;
                if (snoop->over) { /* biosnoop itself prints no empty lines */
                        dbio_trace_skip(input, "lines behind the table");
                        continue;
                }
                return take_row(input, snoop, text, event, err);
        }
        if (!code && !snoop->table)
                return refuse(snoop, "no line `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`", err);
        return code;
}

static int probe(const char *path, const char *head, size_t size)
{
        const char *at = strstr(head, "TIME(s) ");

        (void)path;
        (void)size;
        if (at && strstr(at, "SECTOR") && strstr(at, "LAT(ms)"))
                return 70;
        return strstr(head, "TIME(ms) ") || (strstr(head, "COMM ") && strstr(head, "LATms")) ? 40 : 0;
}

const struct dbio_trace_format dbio_trace_biosnoop = {
        .name = "biosnoop",
        .summary = "biosnoop of bcc, also with -Q",
        .probe = probe,
        .open = open_snoop,
        .next = next,
        .close = close_snoop,
};
