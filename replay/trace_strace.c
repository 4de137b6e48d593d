/* strace of a database process: pread, pwrite, their vectors, read and write where the place is known, fsync, fdatasync and
 * io_submit, by file. With -f and -ttt (or -t, -tt) and -T; file names by -yy, else from an lsof listing before the calls,
 * else from the opens seen. Buffers may hold anything, so arguments are taken from the right. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracelines.h"

#define PENDING 512u    /* calls that are unfinished */
#define FILES 65536u    /* descriptors */
#define EVENTS 1024u    /* of one io_submit */
#define DAY_NS 86400000000000u

struct file {
        char *name;
        uint64_t at;
        bool placed;    /* at is known */
};

struct strace {
        struct dbio_trace_lines lines;
        struct file *files;
        uint64_t nfiles;   /* the highest descriptor that has a name, and 1 */
        struct pending {
                uint64_t pid, t_ns;
                char *text;
                bool coarse;
        } pending[PENDING];
        unsigned npending;
        struct dbio_trace_event *events;
        unsigned nevents, event;
        uint64_t day_ns, last_ns;
        bool timed;
};

struct call {
        const char *name, *args, *end; /* end: of the arguments */
        uint64_t t_ns, latency_ns, result;
        bool coarse, failed;
};

static int open_strace(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct strace *strace = input->state = calloc(1, sizeof *strace);

        if (!strace)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        strace->lines.fd = -1;
        strace->files = calloc(FILES, sizeof *strace->files);
        strace->events = calloc(EVENTS, sizeof *strace->events);
        if (!strace->files || !strace->events)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        dbio_trace_note(input, "I/O by io_uring and the completions of io_submit: strace does not show them. Pages of an InnoDB that "
                               "uses them are missing.");
        return dbio_trace_lines_open(&strace->lines, input->paths, input->npaths, err);
}

static void close_strace(struct dbio_trace_input *input)
{
        struct strace *strace = input->state;

        if (!strace)
                return;
        for (uint64_t i = 0; i < strace->nfiles; i++)
                free(strace->files[i].name);
        for (unsigned i = 0; i < strace->npending; i++)
                free(strace->pending[i].text);
        free(strace->files);
        free(strace->events);
        dbio_trace_lines_close(&strace->lines);
        free(strace);
        input->state = NULL;
}

static const char *blanks(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return at;
}

static void name_file(struct strace *strace, uint64_t fd, const char *name, size_t size, bool placed)
{
        if (fd >= FILES)
                return;
        if (fd >= strace->nfiles)
                strace->nfiles = fd + 1;
        free(strace->files[fd].name);
        strace->files[fd] = (struct file){.name = name ? strndup(name, size < 255 ? size : 255) : NULL, .placed = placed};
}

/* `COMMAND PID USER FD TYPE DEVICE SIZE NODE NAME` of lsof: descriptors of regular files and devices. */
static bool take_lsof(struct strace *strace, const char *text)
{
        const char *word[9];
        unsigned n = 0;
        const char *at = blanks(text);

        for (; n < 9 && *at; n++) {
                word[n] = at;
                at += strcspn(at, " \t");
                at = blanks(at);
        }
        if (n < 7 || (strncmp(word[4], "REG ", 4) && strncmp(word[4], "BLK ", 4)))
                return n >= 5 && (!strncmp(word[4], "DIR ", 4) || !strncmp(word[4], "CHR ", 4) || !strncmp(word[4], "TYPE ", 5));
        const char *fd = word[3];
        uint64_t number;
        if (!dbio_trace_number(&fd, &number))
                return true;
        const char *name = strchr(word[4], '/');
        if (!name)
                return true;
        const char *deleted = strstr(name, " (deleted)");
        name_file(strace, number, name, deleted ? (size_t)(deleted - name) : strlen(name), false);
        return true;
}

/* --- the parts of a line ------------------------------------------------------------------------------------------- */

/* 1796067820.121622, 10:05:01, 10:05:01.123456; t_ns stays where there is none. */
static bool take_time(struct strace *strace, const char **text, uint64_t *t_ns, bool *coarse)
{
        const char *at = *text, *look = *text;
        uint64_t hours, minutes, seconds;

        if (!dbio_trace_number(&look, &hours))
                return false;
        if (*look == '.') {
                if (!dbio_trace_time(&at, 1000000000, t_ns, coarse) || *at != ' ')
                        return false;
        } else if (*look == ':') {
                at = look + 1;
                if (!dbio_trace_number(&at, &minutes) || *at++ != ':' || hours > 23 || minutes > 59 ||
                    !dbio_trace_time(&at, 1000000000, &seconds, coarse) || *at != ' ' || seconds > 61000000000u)
                        return false;
                *t_ns = strace->day_ns + (hours * 60 + minutes) * 60000000000u + seconds;
                if (*t_ns + DAY_NS / 2 < strace->last_ns) {
                        strace->day_ns += DAY_NS;
                        *t_ns += DAY_NS;
                }
                strace->last_ns = *t_ns;
        } else {
                return false;
        }
        *text = blanks(at);
        return true;
}

static void take_pid(const char **text, uint64_t *pid)
{
        const char *at = *text;

        *pid = 0;
        if (!strncmp(at, "[pid", 4)) {
                at = blanks(at + 4);
                if (dbio_trace_number(&at, pid) && *at == ']')
                        *text = blanks(at + 1);
        } else if (dbio_trace_number(&at, pid) && (*at == ' ' || *at == '\t')) {
                *text = blanks(at);
        }
}

/* `name(args) = result <latency>` */
static bool take_call(const char *text, struct call *call)
{
        const char *open = strchr(text, '('), *equal = NULL, *at;
        bool ignored;

        for (at = text; (at = strstr(at, " = ")); at++)
                equal = at;
        if (!open || !equal || equal < open)
                return false;
        for (at = equal; at > open && *at != ')'; at--)
                ;
        if (at == open)
                return false;
        call->name = text;
        call->args = open + 1;
        call->end = at;
        at = blanks(equal + 3);
        call->failed = *at == '-' || *at == '?';
        call->result = 0;
        if (!call->failed && !dbio_trace_number(&at, &call->result))
                return false;
        const char *angle = strrchr(at, '<');
        call->latency_ns = DBIO_TRACE_UNKNOWN;
        if (angle && (angle++, !dbio_trace_time(&angle, 1000000000, &call->latency_ns, &ignored) || *angle != '>'))
                call->latency_ns = DBIO_TRACE_UNKNOWN;
        return true;
}

/* The argument that is so many from the right, as a number. */
static bool argument_from_right(const struct call *call, unsigned n, uint64_t *value)
{
        const char *at = call->end;

        for (;; n--) {
                while (at > call->args && at[-1] != ',')
                        at--;
                if (!n || at == call->args)
                        break;
                at--;
        }
        at = blanks(at);
        return !n && dbio_trace_number(&at, value);
}

/* The descriptor that is the first argument, and its name where -yy tells it. */
static struct file *file_of(struct strace *strace, const char *at, const char *end, uint64_t *fd)
{
        if (!dbio_trace_number(&at, fd) || *fd >= FILES)
                return NULL;
        struct file *file = &strace->files[*fd];
        if (*at == '<') {
                const char *name = ++at;
                while (at < end && !(*at == '>' && (at + 1 >= end || at[1] == ',' || at[1] == '}')))
                        at++;
                size_t size = (size_t)(at - name);
                const char *char_device = memmem(name, size, "<char", 5);
                if (char_device)
                        size = (size_t)(char_device - name);
                if (!file->name || strncmp(file->name, name, size) || file->name[size])
                        name_file(strace, *fd, name, size, false);
        }
        return file->name ? file : NULL;
}

/* --- calls --------------------------------------------------------------------------------------------------------- */

static int give(struct dbio_trace_input *input, struct strace *strace, const struct call *call, const struct file *file,
                const struct dbio_trace_event *like)
{
        struct dbio_trace_event *event = &strace->events[strace->nevents];

        if (strace->nevents == EVENTS || (file->name[0] != '/' && file->name[0] != '.' && strchr(file->name, ':'))) {
                dbio_trace_skip(input, "calls on what is no file");
                return 0;
        }
        *event = *like;
        event->t_ns = call->t_ns;
        event->latency_ns = call->latency_ns;
        event->place = strace->lines.line;
        event->file = (uint16_t)strace->lines.path;
        event->flags |= call->coarse ? DBIO_TRACE_COARSE : 0;
        event->device = dbio_trace_device(input, file->name, strlen(file->name));
        if (event->device == UINT32_MAX)
                return -1;
        strace->nevents++;
        return 1;
}

enum what { AT_END, BEFORE_FLAGS, MOVING, SYNC, OPEN, CLOSE, SEEK, LLSEEK, SUBMIT, URING };
static const struct {
        const char *name;
        enum what what;
        uint8_t kind, flags;
} calls[] = {
        {"pread64", AT_END, DBIO_READ, 0},        {"pread", AT_END, DBIO_READ, 0},
        {"preadv", AT_END, DBIO_READ, 0},         {"preadv2", BEFORE_FLAGS, DBIO_READ, 0},
        {"pwrite64", AT_END, DBIO_WRITE, 0},      {"pwrite", AT_END, DBIO_WRITE, 0},
        {"pwritev", AT_END, DBIO_WRITE, 0},       {"pwritev2", BEFORE_FLAGS, DBIO_WRITE, 0},
        {"read", MOVING, DBIO_READ, 0},           {"readv", MOVING, DBIO_READ, 0},
        {"write", MOVING, DBIO_WRITE, 0},         {"writev", MOVING, DBIO_WRITE, 0},
        {"fsync", SYNC, DBIO_FSYNC, 0},           {"fdatasync", SYNC, DBIO_FSYNC, DBIO_OP_DATASYNC},
        {"open", OPEN, 0, 0},                     {"openat", OPEN, 0, 0},
        {"creat", OPEN, 0, 0},                    {"close", CLOSE, 0, 0},
        {"lseek", SEEK, 0, 0},                    {"_llseek", LLSEEK, 0, 0},
        {"io_submit", SUBMIT, 0, 0},              {"io_uring_enter", URING, 0, 0},
};

static void take_open(struct strace *strace, const struct call *call)
{
        const char *quote = memchr(call->args, '"', (size_t)(call->end - call->args)), *end;

        if (!quote)
                return;
        end = memchr(quote + 1, '"', (size_t)(call->end - quote - 1));
        if (end)
                name_file(strace, call->result, quote + 1, (size_t)(end - quote - 1), true);
}

static uint64_t number_behind(const char *from, const char *end, const char *key)
{
        const char *at = memmem(from, (size_t)(end - from), key, strlen(key));
        uint64_t value = 0;

        if (at) {
                at += strlen(key);
                dbio_trace_number(&at, &value);
        }
        return value;
}

/* `[{…fildes=4, …nbytes=16384, …offset=0}, {…}]`, old and new ways to print it. */
static int take_submit(struct dbio_trace_input *input, struct strace *strace, struct call *call)
{
        const char *at = memchr(call->args, '[', (size_t)(call->end - call->args));

        call->latency_ns = DBIO_TRACE_UNKNOWN;
        while (at && (at = memchr(at, '{', (size_t)(call->end - at)))) {
                struct dbio_trace_event like = {0};
                const char *end = memchr(at + 1, '{', (size_t)(call->end - at - 1));
                uint64_t fd;
                if (!end)
                        end = call->end;
                size_t size = (size_t)(end - at);
                bool write = memmem(at, size, "pwrite", 6) || memmem(at, size, "PWRITE", 6);
                const char *named = memmem(at, size, "fildes=", 7);
                like.kind = memmem(at, size, "SYNC", 4) || memmem(at, size, "fsync", 5) ? DBIO_FSYNC : write ? DBIO_WRITE : DBIO_READ;
                like.length = like.kind == DBIO_FSYNC ? 0 : number_behind(at, end, "nbytes=");
                like.offset = like.kind == DBIO_FSYNC ? 0 : number_behind(at, end, "offset=");
                const struct file *file = named ? file_of(strace, named + 7, end, &fd) : NULL;
                if (!file)
                        dbio_trace_skip(input, "calls on descriptors without a name");
                else if (give(input, strace, call, file, &like) < 0)
                        return -1;
                at = end;
                if (end == call->end)
                        break;
        }
        return 0;
}

static int take_io(struct dbio_trace_input *input, struct strace *strace, const struct call *call, unsigned i)
{
        struct dbio_trace_event like = {.kind = calls[i].kind, .flags = calls[i].flags};
        uint64_t fd;
        struct file *file = file_of(strace, call->args, call->end, &fd);

        if (!file) {
                dbio_trace_skip(input, "calls on descriptors without a name");
                return 0;
        }
        like.length = calls[i].kind == DBIO_FSYNC ? 0 : call->result;
        if (calls[i].what == MOVING) {
                if (!file->placed) {
                        dbio_trace_skip(input, "read and write at a place that is not known");
                        return 0;
                }
                like.offset = file->at;
                file->at += call->result;
        } else if (calls[i].what != SYNC && !argument_from_right(call, calls[i].what == BEFORE_FLAGS, &like.offset)) {
                return -1;
        }
        return give(input, strace, call, file, &like) < 0 ? -1 : 0;
}

static int take_other(struct dbio_trace_input *input, struct strace *strace, struct call *call, enum what what)
{
        uint64_t fd;
        struct file *file;
        const char *at = call->args;

        switch (what) {
        case OPEN:
                take_open(strace, call);
                return 0;
        case CLOSE:
                if (dbio_trace_number(&at, &fd))
                        name_file(strace, fd, NULL, 0, false);
                return 0;
        case SEEK:
        case LLSEEK:
                file = file_of(strace, call->args, call->end, &fd);
                at = memchr(call->args, '[', (size_t)(call->end - call->args));
                if (!file)
                        return 0;
                file->placed = what == SEEK || (at && (at++, dbio_trace_number(&at, &file->at)));
                if (what == SEEK)
                        file->at = call->result;
                return 0;
        case SUBMIT:
                return take_submit(input, strace, call);
        default:
                dbio_trace_skip(input, "io_uring_enter: I/O that strace does not show");
                return 0;
        }
}

static int take_whole_call(struct dbio_trace_input *input, struct strace *strace, struct call *call, struct dbio_err *err)
{
        size_t size = (size_t)(call->args - 1 - call->name);
        unsigned i, n = sizeof calls / sizeof *calls;

        for (i = 0; i < n && (strncmp(calls[i].name, call->name, size) || calls[i].name[size]); i++)
                ;
        if (i == n) {
                dbio_trace_skip(input, "other calls");
                return 0;
        }
        if (call->failed) {
                dbio_trace_skip(input, "calls that failed");
                return 0;
        }
        if (calls[i].what <= SYNC ? take_io(input, strace, call, i) : take_other(input, strace, call, calls[i].what))
                return dbio_trace_lines_bad(&strace->lines, 0, err, "no arguments of %s as strace prints them", calls[i].name);
        return 0;
}

/* --- unfinished calls ---------------------------------------------------------------------------------------------- */

static int keep(struct strace *strace, uint64_t pid, uint64_t t_ns, bool coarse, const char *text, size_t size,
                struct dbio_err *err)
{
        unsigned i;

        for (i = 0; i < strace->npending && strace->pending[i].pid != pid; i++)
                ;
        if (i == PENDING)
                return dbio_trace_lines_bad(&strace->lines, 0, err, "more than 512 calls are unfinished");
        if (i < strace->npending)
                free(strace->pending[i].text);
        else
                strace->npending++;
        strace->pending[i] = (struct pending){.pid = pid, .t_ns = t_ns, .text = strndup(text, size), .coarse = coarse};
        return 0;
}

/* The rest of a call; its text is malloced. */
static char *resume(struct strace *strace, uint64_t pid, const char *rest, struct call *call)
{
        char *whole = NULL;

        for (unsigned i = 0; i < strace->npending; i++) {
                struct pending *pending = &strace->pending[i];
                if (pending->pid != pid)
                        continue;
                call->t_ns = pending->t_ns;
                call->coarse = pending->coarse;
                if (!pending->text || asprintf(&whole, "%s%s", pending->text, rest) < 0)
                        whole = NULL;
                free(pending->text);
                *pending = strace->pending[--strace->npending];
                break;
        }
        return whole;
}

static int take_line(struct dbio_trace_input *input, struct strace *strace, const char *text, struct dbio_err *err)
{
        struct call call = {0};
        uint64_t pid, t_ns = 0;
        const char *at = blanks(text), *cut, *behind;
        bool coarse = false, timed;
        char *whole = NULL;

        if (!*at || take_lsof(strace, at) || !strncmp(at, "Process ", 8) || !strncmp(at, "strace: ", 8))
                return 0;
        timed = take_time(strace, &at, &t_ns, &coarse);
        if (!timed) {
                take_pid(&at, &pid);
                timed = take_time(strace, &at, &t_ns, &coarse);
        } else {
                take_pid(&at, &pid);
        }
        if (timed)
                dbio_trace_stamp(input, t_ns);
        strace->timed |= timed;
        input->untimed = !strace->timed;
        if (!strncmp(at, "+++", 3) || !strncmp(at, "---", 3)) {
                dbio_trace_skip(input, "signals and exits");
                return 0;
        }
        if ((cut = strstr(at, "<unfinished ...>")) && !cut[16])
                return keep(strace, pid, t_ns, coarse, at, (size_t)(cut - at), err);
        call.t_ns = t_ns;
        call.coarse = coarse;
        if (!strncmp(at, "<... ", 5) && (behind = strstr(at, " resumed>"))) {
                whole = resume(strace, pid, behind + 9, &call);
                if (!whole) {
                        dbio_trace_skip(input, "calls whose begin is missing");
                        return 0;
                }
                at = whole;
        }
        int code = 0;
        if (take_call(at, &call))
                code = take_whole_call(input, strace, &call, err);
        else
                code = dbio_trace_lines_bad(&strace->lines, (size_t)(whole ? 0 : at - text), err,
                                            "no line of strace: `PID TIME call(arguments) = RESULT <LATENCY>` is right");
        free(whole);
        return code;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct strace *strace = input->state;
        char *text;
        size_t size;
        int code;

        while (strace->event == strace->nevents) {
                strace->event = strace->nevents = 0;
                code = dbio_trace_lines_next(&strace->lines, &text, &size, err);
                if (!code && strace->npending) {
                        dbio_trace_note(input, "Calls that were unfinished at the end are left out.");
                        while (strace->npending)
                                free(strace->pending[--strace->npending].text);
                }
                if (code <= 0)
                        return code;
                if (take_line(input, strace, text, err))
                        return -1;
        }
        *event = strace->events[strace->event++];
        return 1;
}

static int probe(const char *path, const char *head, size_t size)
{
        (void)path;
        (void)size;
        if (!strncmp(head, "COMMAND ", 8) && strstr(head, "[pid"))
                return 70;
        return (strstr(head, "pread64(") || strstr(head, "pwrite64(") || strstr(head, "pread(") || strstr(head, "fsync(")) &&
                               strstr(head, ") = ")
                       ? 60
                       : 0;
}

const struct dbio_trace_format dbio_trace_strace = {
        .name = "strace",
        .summary = "strace -f -yy -ttt -T of a database process",
        .probe = probe,
        .open = open_strace,
        .next = next,
        .close = close_strace,
};
