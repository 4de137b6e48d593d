/* strace of a database process: pread, pwrite, their vectors, read and write where the place is known, fsync, fdatasync and
 * io_submit, by file. With -f and -ttt (or -t, -tt, -r) and -T; file names by -yy or -y, else from an lsof listing before the
 * calls, else from the opens seen. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay/straceline.h"
#include "replay/trace.h"
#include "replay/tracelines.h"

#define BUCKETS 4096u   /* of calls that are unfinished, by process */
#define PENDING_MAX (64u << 20) /* bytes of them */
#define FILES 65536u    /* descriptors */
#define EVENTS 1024u    /* of one io_submit */
#define CUT_MAX 65536u  /* bytes of a line that messages cut */

struct file {
        char *name;
        uint64_t at;
        bool placed;    /* at is known */
        bool character; /* a character device */
        bool positioned; /* read or written at a place: a device, not a terminal */
        bool through;   /* opened by O_SYNC or O_DSYNC: each write is durable when it is done */
        bool append;    /* opened by O_APPEND: written where it ends, which is not known */
};

struct strace {
        struct dbio_trace_lines lines;
        struct file *files;
        uint64_t nfiles;   /* the highest descriptor that has a name, and 1 */
        struct pending {
                struct pending *next;
                uint64_t pid, t_ns;
                bool coarse;
                char text[];
        } *pending[BUCKETS];
        size_t pending_bytes;
        struct dbio_trace_event *events;
        unsigned nevents, event;
        struct dbio_strace_clock clock;
        char *begun; /* a line that a message of strace has cut; or NULL */
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

/* Whether there were any. */
static bool drop_pending(struct strace *strace)
{
        bool any = false;

        for (unsigned i = 0; i < BUCKETS; i++)
                for (struct pending *pending; (pending = strace->pending[i]); any = true) {
                        strace->pending[i] = pending->next;
                        free(pending);
                }
        strace->pending_bytes = 0;
        return any;
}

static void close_strace(struct dbio_trace_input *input)
{
        struct strace *strace = input->state;

        if (!strace)
                return;
        for (uint64_t i = 0; i < strace->nfiles; i++)
                free(strace->files[i].name);
        drop_pending(strace);
        free(strace->files);
        free(strace->events);
        free(strace->begun);
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

/* The descriptor that is the first argument, and its name where -y or -yy tells it. */
static struct file *file_of(struct strace *strace, const char *at, const char *end, uint64_t *fd)
{
        struct dbio_strace_name name;

        if (!dbio_trace_number(&at, fd) || *fd >= FILES)
                return NULL;
        struct file *file = &strace->files[*fd];
        if (dbio_strace_name_parse(at, end, &name)) {
                if (!file->name || strncmp(file->name, name.text, name.size) || file->name[name.size])
                        name_file(strace, *fd, name.text, name.size, false);
                file->character = name.character;
        }
        return file->name ? file : NULL;
}

/* --- calls --------------------------------------------------------------------------------------------------------- */

static int give(struct dbio_trace_input *input, struct strace *strace, const struct dbio_strace_call *call, const struct file *file,
                const struct dbio_trace_event *like)
{
        struct dbio_trace_event *event = &strace->events[strace->nevents];

        if (strace->nevents == EVENTS || (file->character && !file->positioned) ||
            (file->name[0] != '/' && file->name[0] != '.' && strchr(file->name, ':'))) {
                dbio_trace_skip(input, "calls on what is no file");
                return 0;
        }
        *event = *like;
        event->t_ns = call->t_ns;
        event->latency_ns = call->latency_ns;
        event->place = strace->lines.line;
        event->file = (uint16_t)strace->lines.path;
        event->flags |= (call->coarse ? DBIO_TRACE_COARSE : 0) | (file->through && event->kind == DBIO_WRITE ? DBIO_OP_FUA : 0);
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

static void take_open(struct dbio_trace_input *input, struct strace *strace, const struct dbio_strace_call *call)
{
        const char *quote = memchr(call->args, '"', (size_t)(call->end - call->args)), *end, *at = call->result_text;
        struct dbio_strace_name name;

        if (!quote || call->result >= FILES)
                return;
        end = memchr(quote + 1, '"', (size_t)(call->end - quote - 1));
        if (!end)
                return;
        struct file *file = &strace->files[call->result];
        at += strspn(at, "0123456789");
        if (dbio_strace_name_parse(at, at + strlen(at), &name)) {
                name_file(strace, call->result, name.text, name.size, true);
                file->character = name.character;
        } else {
                if (file->name)
                        dbio_trace_note(input, "Whose file a descriptor is: descriptors were opened that were open already, as those of "
                                               "several processes are; strace -yy tells the names.");
                name_file(strace, call->result, quote + 1, (size_t)(end - quote - 1), true);
        }
        file->through = memmem(end, (size_t)(call->end - end), "SYNC", 4);
        file->append = memmem(end, (size_t)(call->end - end), "O_APPEND", 8);
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
static int take_submit(struct dbio_trace_input *input, struct strace *strace, struct dbio_strace_call *call)
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

/* RWF_DSYNC or RWF_SYNC as the last argument. */
static bool has_sync_flag(const struct dbio_strace_call *call)
{
        const char *comma = memrchr(call->args, ',', (size_t)(call->end - call->args));

        return comma && memmem(comma, (size_t)(call->end - comma), "SYNC", 4);
}

static int take_io(struct dbio_trace_input *input, struct strace *strace, const struct dbio_strace_call *call, unsigned i)
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
                if (!file->placed || (file->append && like.kind == DBIO_WRITE)) {
                        dbio_trace_skip(input, "read and write at a place that is not known");
                        return 0;
                }
                like.offset = file->at;
                file->at += call->result;
        } else if (calls[i].what != SYNC) {
                if (!dbio_strace_argument(call, calls[i].what == BEFORE_FLAGS, &like.offset))
                        return -1;
                if (like.kind == DBIO_WRITE && calls[i].what == BEFORE_FLAGS && has_sync_flag(call))
                        like.flags = DBIO_OP_FUA;
                file->positioned = true;
        }
        return give(input, strace, call, file, &like) < 0 ? -1 : 0;
}

static int take_other(struct dbio_trace_input *input, struct strace *strace, struct dbio_strace_call *call, enum what what)
{
        uint64_t fd;
        struct file *file;
        const char *at = call->args;

        switch (what) {
        case OPEN:
                take_open(input, strace, call);
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

static int take_whole_call(struct dbio_trace_input *input, struct strace *strace, struct dbio_strace_call *call, struct dbio_err *err)
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

static struct pending *take_pending(struct strace *strace, struct pending **link)
{
        struct pending *pending = *link;

        *link = pending->next;
        strace->pending_bytes -= sizeof *pending + strlen(pending->text);
        return pending;
}

static struct pending **find_pending(struct strace *strace, uint64_t pid)
{
        struct pending **link = &strace->pending[pid % BUCKETS];

        while (*link && (*link)->pid != pid)
                link = &(*link)->next;
        return link;
}

/* Any whose text begins with this call's name. */
static struct pending **find_call(struct strace *strace, const char *name, size_t size)
{
        struct pending **link = NULL;

        for (unsigned i = 0; i < BUCKETS; i++)
                for (link = &strace->pending[i]; *link; link = &(*link)->next)
                        if (!strncmp((*link)->text, name, size) && (*link)->text[size] == '(')
                                return link;
        return link;
}

static int keep(struct strace *strace, uint64_t pid, uint64_t t_ns, bool coarse, const char *text, size_t size,
                struct dbio_err *err)
{
        struct pending **link = find_pending(strace, pid), *pending;

        if (*link)
                free(take_pending(strace, link));
        if (strace->pending_bytes + size > PENDING_MAX)
                return dbio_trace_lines_bad(&strace->lines, 0, err, "more than 64 MiB of calls are unfinished");
        pending = calloc(1, sizeof *pending + size + 1);
        if (!pending)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        pending->pid = pid;
        pending->t_ns = t_ns;
        pending->coarse = coarse;
        memcpy(pending->text, text, size);
        pending->next = strace->pending[pid % BUCKETS];
        strace->pending[pid % BUCKETS] = pending;
        strace->pending_bytes += sizeof *pending + strlen(pending->text);
        return 0;
}

/* The whole of a call whose rest is `<... NAME resumed>REST`, malloced. Lines of the only process have no pid: one may be the
 * only one when its call begins, and not when it ends, and the other way round. */
static char *resume(struct strace *strace, uint64_t pid, const char *name, const char *behind, struct dbio_strace_call *call)
{
        struct pending **link = find_pending(strace, pid), *pending;
        size_t size = (size_t)(behind - name);
        char *whole = NULL;

        if (!*link)
                link = pid ? find_pending(strace, 0) : find_call(strace, name, size);
        if (!*link || strncmp((*link)->text, name, size) || (*link)->text[size] != '(')
                return NULL;
        pending = take_pending(strace, link);
        call->t_ns = pending->t_ns;
        call->coarse = pending->coarse;
        if (asprintf(&whole, "%s%s", pending->text, behind + strlen(" resumed>")) < 0)
                whole = NULL;
        free(pending);
        return whole;
}

static int stop(const struct strace *strace, struct dbio_err *err, const char *what)
{
        dbio_trace_lines_bad(&strace->lines, 0, err, "%s", what);
        err->code = DBIO_REFUSED;
        return -1;
}

static int take_line(struct dbio_trace_input *input, struct strace *strace, const char *text, struct dbio_err *err)
{
        struct dbio_strace_call call = {0};
        uint64_t pid, t_ns = 0;
        const char *at = blanks(text), *cut, *behind;
        bool coarse = false, timed;
        char *whole = NULL;

        if (!*at)
                return 0;
        if (take_lsof(strace, at) || !strncmp(at, "Process ", 8) || !strncmp(at, "strace: ", 8)) {
                dbio_trace_skip(input, "lines of lsof, and strace's own");
                return 0;
        }
        timed = dbio_strace_time(&strace->clock, text, &at, &t_ns, &coarse);
        pid = dbio_strace_pid(&at);
        if (!timed)
                timed = dbio_strace_time(&strace->clock, text, &at, &t_ns, &coarse);
        if (strace->lines.path && (strace->clock.relative || strace->clock.deltas))
                return stop(strace, err, "stamps that count from the line before (-r) give several files no common clock: use -ttt");
        if (timed)
                dbio_trace_stamp(input, t_ns);
        input->untimed = !strace->clock.timed;
        if (!strncmp(at, "+++", 3) || !strncmp(at, "---", 3)) {
                dbio_trace_skip(input, "signals and exits");
                return 0;
        }
        if ((cut = strstr(at, "<unfinished ...>")) && !cut[16])
                return keep(strace, pid, t_ns, coarse, at, (size_t)(cut - at), err);
        call.t_ns = t_ns;
        call.coarse = coarse;
        if (!strncmp(at, "<... ", 5) && (behind = strstr(at, " resumed>"))) {
                whole = resume(strace, pid, at + 5, behind, &call);
                if (!whole) {
                        dbio_trace_skip(input, "calls whose begin is missing");
                        return 0;
                }
                at = whole;
        }
        int code = 0;
        if (dbio_strace_call_parse(at, &call))
                code = take_whole_call(input, strace, &call, err);
        else
                code = dbio_trace_lines_bad(&strace->lines, (size_t)(whole ? 0 : at - text), err,
                                            "no line of strace: `PID TIME call(arguments) = RESULT <LATENCY>` is right");
        free(whole);
        return code;
}

/* `read(3, strace: Process 7 attached`: on a terminal strace's messages cut lines, which go on behind them. */
static int take_whole_line(struct dbio_trace_input *input, struct strace *strace, const char *text, struct dbio_err *err)
{
        const char *line = text, *message;
        char *joined = NULL;
        size_t size;
        int code = 0;

        if (strace->begun && asprintf(&joined, "%s%s", strace->begun, text) > 0)
                line = joined;
        free(strace->begun);
        strace->begun = NULL;
        size = strlen(line);
        message = strstr(line, "strace: Process ");
        if (message && message > blanks(line) && size < CUT_MAX && !strcmp(line + size - 9, " attached"))
                strace->begun = strndup(line, (size_t)(message - line));
        else
                code = take_line(input, strace, line, err);
        free(joined);
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
                if (!code && drop_pending(strace))
                        dbio_trace_note(input, "Calls that were unfinished at the end are left out.");
                if (code <= 0)
                        return code;
                if (take_whole_line(input, strace, text, err))
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
        .summary = "strace -f -yy -ttt -T of a database process; also -y, -t, -tt, -r, -ff",
        .probe = probe,
        .open = open_strace,
        .next = next,
        .close = close_strace,
};
