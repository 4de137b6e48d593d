/* fio's I/O logs, versions 2 and 3 (fio HOWTO, "Trace file format"): `[usec] file action [offset length]`. Version 2 has no
 * stamps but `wait` lines, whose time counts from the wait before; fio drops waits below 100 us, and so does this. */
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracelines.h"

struct iolog {
        struct dbio_trace_lines lines;
        int version;          /* 0: the first line is still to be read */
        uint64_t now_ns;      /* version 2 */
        struct file {
                bool added, open;
        } *files;             /* by device */
        unsigned room;
};

static int probe(const char *path, const char *head, size_t size)
{
        size_t first = strspn(head, "0123456789");
        const char *second = head + first + 2;

        (void)path;
        if (size > 12 && !strncmp(head, "fio version ", 12))
                return 100;
        /* `rw, offset, length` of version 1, which is refused with a word on why */
        return first == 1 && !strncmp(head + first, ", ", 2) && strspn(second, "0123456789") &&
                               !strncmp(second + strspn(second, "0123456789"), ", ", 2)
                       ? 10
                       : 0;
}

static int open_log(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct iolog *log = input->state = calloc(1, sizeof *log);

        if (!log)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        return dbio_trace_lines_open(&log->lines, input->paths, input->npaths, err);
}

static void close_log(struct dbio_trace_input *input)
{
        struct iolog *log = input->state;

        if (!log)
                return;
        dbio_trace_lines_close(&log->lines);
        free(log->files);
        free(log);
        input->state = NULL;
}

static int stop(struct iolog *log, struct dbio_err *err, const char *what)
{
        dbio_trace_lines_bad(&log->lines, 0, err, "%s", what);
        if (err)
                err->code = DBIO_REFUSED;
        return -1;
}

static int read_version(struct iolog *log, const char *text, struct dbio_err *err)
{
        if (!strcmp(text, "fio version 2 iolog"))
                log->version = 2;
        else if (!strcmp(text, "fio version 3 iolog"))
                log->version = 3;
        else if (!strncmp(text, "fio version ", 12))
                return stop(log, err, "versions 2 and 3 of fio's I/O log are read");
        else
                return stop(log, err, "the first line is not `fio version 2 iolog` or `fio version 3 iolog`: "
                                      "a log of version 1, which has no such line, is not read");
        return 0;
}

/* By the device's number; NULL without memory. */
static struct file *find(struct iolog *log, uint32_t device)
{
        if (device >= log->room) {
                unsigned room = device + device / 2 + 16;
                struct file *grown = realloc(log->files, room * sizeof *grown);
                if (!grown)
                        return NULL;
                memset(grown + log->room, 0, (room - log->room) * sizeof *grown);
                log->files = grown;
                log->room = room;
        }
        return &log->files[device];
}

enum action { ADD, OPEN, CLOSE, WAIT, IO };
static const struct {
        const char *name;
        enum action action;
        uint8_t kind, flags;
        bool sized;
} actions[] = {
        {"add", ADD, 0, 0, false},
        {"open", OPEN, 0, 0, false},
        {"close", CLOSE, 0, 0, false},
        {"wait", WAIT, 0, 0, false},
        {"read", IO, DBIO_READ, 0, true},
        {"write", IO, DBIO_WRITE, 0, true},
        {"trim", IO, DBIO_TRIM, 0, true},
        {"sync", IO, DBIO_FSYNC, 0, false},
        {"datasync", IO, DBIO_FSYNC, DBIO_OP_DATASYNC, false},
};

static unsigned split(char *text, const char **words, unsigned max)
{
        unsigned n = 0;
        char *save = NULL;

        for (char *word = strtok_r(text, " \t", &save); word && n < max; word = strtok_r(NULL, " \t", &save))
                words[n++] = word;
        return n;
}

static bool number(const char *word, uint64_t *value)
{
        return dbio_trace_number(&word, value) && !*word;
}

/* 1: an event; 0: another line; -1. */
static int take_line(struct dbio_trace_input *input, struct iolog *log, char *text, struct dbio_trace_event *event,
                     struct dbio_err *err)
{
        const char *words[6] = {0};
        char *begin = text;
        unsigned n = split(text, words, 6), first = log->version == 3, i;
        uint64_t stamp = 0, wait;

        if (!n)
                return 0;
        if (n < first + 2)
                return dbio_trace_lines_bad(&log->lines, 0, err, "`%sFILE ACTION` is right", first ? "USEC " : "");
        if (first && (!number(words[0], &stamp) || stamp > UINT64_MAX / 1000))
                return dbio_trace_lines_bad(&log->lines, 0, err, "`%.40s` is no time in microseconds", words[0]);
        const char *name = words[first], *action = words[first + 1];
        for (i = 0; i < sizeof actions / sizeof *actions && strcmp(actions[i].name, action); i++)
                ;
        if (i == sizeof actions / sizeof *actions)
                return dbio_trace_lines_bad(&log->lines, (size_t)(action - begin), err,
                                            "`%.40s`: one of add, open, close, wait, read, write, sync, datasync, trim is right", action);
        uint32_t device = dbio_trace_device(input, name, strlen(name));
        struct file *file = device == UINT32_MAX ? NULL : find(log, device);
        if (!file)
                return dbio_trace_lines_bad(&log->lines, 0, err, "more files than can be taken");
        if (log->version == 3 && actions[i].action != WAIT) {
                dbio_trace_stamp(input, stamp * 1000);
                log->now_ns = stamp * 1000;
        }
        input->end_ns = log->now_ns;
        switch (actions[i].action) {
        case ADD:
                file->added = true;
                dbio_trace_skip(input, "add, open and close lines");
                return 0;
        case OPEN:
        case CLOSE:
                if (!file->added)
                        break;
                file->open = actions[i].action == OPEN;
                dbio_trace_skip(input, "add, open and close lines");
                return 0;
        case WAIT:
                if (n < first + 3 || !number(words[first + 2], &wait) || wait > UINT64_MAX / 1000000)
                        return dbio_trace_lines_bad(&log->lines, 0, err, "`wait MICROSECONDS` is right");
                if (log->version == 2 && wait >= 100 && __builtin_add_overflow(log->now_ns, wait * 1000, &log->now_ns))
                        return dbio_trace_lines_bad(&log->lines, 0, err, "waits beyond 584 years");
                input->end_ns = log->now_ns;
                dbio_trace_skip(input, "wait lines");
                return 0;
        case IO:
                if (!file->open)
                        break;
                *event = (struct dbio_trace_event){.t_ns = log->now_ns, .latency_ns = DBIO_TRACE_UNKNOWN, .device = device,
                                                   .kind = actions[i].kind, .flags = actions[i].flags,
                                                   .place = log->lines.line, .file = (uint16_t)log->lines.path};
                if (actions[i].sized && (n < first + 4 || !number(words[first + 2], &event->offset) ||
                                         !number(words[first + 3], &event->length)))
                        return dbio_trace_lines_bad(&log->lines, 0, err, "`%s OFFSET LENGTH`, in bytes, is right", action);
                return 1;
        }
        return dbio_trace_lines_bad(&log->lines, (size_t)(name - begin), err, "file %.200s was not %s before", name,
                                    file->added ? "opened" : "added");
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct iolog *log = input->state;
        char *text;
        size_t size;

        for (;;) {
                int code = dbio_trace_lines_next(&log->lines, &text, &size, err);
                if (code <= 0) {
                        if (!code && !log->version)
                                return stop(log, err, "the file is empty");
                        return code;
                }
                if (log->lines.line == 1) {
                        for (unsigned i = 0; i < log->room; i++)
                                log->files[i] = (struct file){0};
                        if (read_version(log, text, err))
                                return -1;
                        continue;
                }
                code = take_line(input, log, text, event, err);
                if (code)
                        return code;
        }
}

const struct dbio_trace_format dbio_trace_iolog = {
        .name = "fio-iolog",
        .summary = "fio's write_iolog, versions 2 and 3",
        .probe = probe,
        .beside = true,
        .open = open_log,
        .next = next,
        .close = close_log,
};
