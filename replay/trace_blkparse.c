/* blkparse's default lines, `maj,min cpu seq sec.ns pid ACT RWBS sector + sectors [comm]`, and those of ftrace's blk tracer,
 * which have no seq column (blkparse(1)); and lines of a layout that was given (blkparse -f, or -F, which leaves other lines as
 * they are). */
#include <stdlib.h>
#include <string.h>

#include "replay/blklayout.h"
#include "replay/tracelines.h"

struct blkparse {
        struct dbio_trace_lines lines;
        struct dbio_blk *blk;
        struct dbio_blk_layout *layout; /* or NULL */
        bool summary;                   /* the counts at the end of this file have begun */
};

static const char *blanks(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return at;
}

static bool take_number(const char **at, uint64_t *value, char behind)
{
        *at = blanks(*at);
        if (!dbio_trace_number(at, value))
                return false;
        if (!behind)
                return **at == ' ' || **at == '\t' || !**at;
        if (**at != behind)
                return false;
        ++*at;
        return true;
}

/* device, cpu, [seq], time, pid. false: no line of an event. */
static bool take_begin(const char **at, struct dbio_blk_step *step)
{
        uint64_t major, minor, number, part;
        const char *begin;

        if (!take_number(at, &major, ',') || !take_number(at, &minor, 0) || !take_number(at, &number, 0) || major > UINT32_MAX ||
            minor > UINT32_MAX)
                return false;
        step->major = (uint32_t)major;
        step->minor = (uint32_t)minor;
        *at = begin = blanks(*at);
        if (!dbio_trace_number(at, &number))
                return false;
        if (**at != '.') { /* that was the sequence number */
                *at = blanks(*at);
                if (!dbio_trace_number(at, &number))
                        return false;
        }
        if (**at != '.')
                return false;
        begin = ++*at;
        if (!dbio_trace_number(at, &part) || *at - begin != 9 || number > UINT64_MAX / 1000000000 - 1)
                return false;
        step->t_ns = number * 1000000000 + part;
        return take_number(at, &number, 0);
}

/* `sector + sectors`, or `sector / sector` of a split, or nothing. */
static bool take_place(const char *at, struct dbio_blk_step *step)
{
        uint64_t sectors;

        at = blanks(at);
        step->sector = step->bytes = 0;
        if (!dbio_trace_number(&at, &step->sector))
                return true;
        at = blanks(at);
        if (*at != '+')
                return true;
        at++;
        if (!take_number(&at, &sectors, 0) || sectors > UINT64_MAX / 512)
                return false;
        step->bytes = sectors * 512;
        at = blanks(at);
        if (step->action == 'A' && !strncmp(at, "<- (", 4)) {
                uint64_t major, minor;
                at += 4;
                if (!take_number(&at, &major, ',') || !take_number(&at, &minor, ')') || !take_number(&at, &step->from_sector, 0))
                        return false;
                step->from_major = (uint32_t)major;
                step->from_minor = (uint32_t)minor;
        }
        return true;
}

/* 1: the parts of a line that is one of an event; 0: of one that may be there, too; -1: of no line of blkparse. */
static int take_parts(struct dbio_trace_input *input, struct blkparse *parse, const char *text, struct dbio_blk_step *step, struct dbio_err *err)
{
        const char *at = text;
        size_t size;

        if (parse->lines.line == 1)
                parse->summary = false;
        if (parse->layout && !parse->summary && dbio_blk_layout_match(parse->layout, text, step))
                return 1;
        memset(step, 0, sizeof *step);
        if (!take_begin(&at, step)) {
                parse->summary |= !strncmp(text, "CPU", 3) && strchr(text, ':');
                if (!*text)
                        return 0;
                if (parse->summary || *text == '#' || !strncmp(text, "Input file ", 11)) {
                        dbio_trace_skip(input, parse->summary ? "lines of counts" : "comments, names of files");
                        return 0;
                }
                return dbio_trace_lines_bad(&parse->lines, (size_t)(at - text), err, "no line of blkparse%s: `8,0 1 23 0.000000000 "
                                            "456 Q WS 789 + 8 [name]` is right", parse->layout ? " in this or its own layout" : "");
        }
        at = blanks(at);
        size = strcspn(at, " \t");
        step->action = size == 1 ? *at : '?';
        if (!strchr("QDCA", step->action))
                return 1;
        at = blanks(at + size);
        size = strcspn(at, " \t");
        dbio_blk_flags(at, size, step);
        if (!take_place(at + size, step))
                return dbio_trace_lines_bad(&parse->lines, (size_t)(at - text), err, "no `SECTOR + SECTORS` behind %.8s", at);
        return 1;
}

static int take_line(struct dbio_trace_input *input, struct blkparse *parse, const char *text, struct dbio_blk_step *step,
                     struct dbio_err *err)
{
        bool all = parse->layout && !dbio_blk_layout_has_action(parse->layout);
        int code = take_parts(input, parse, text, step, err);

        if (code <= 0)
                return code;
        dbio_trace_stamp(input, step->t_ns);
        step->place = parse->lines.line;
        step->file = (uint16_t)parse->lines.path;
        if (all && step->action) {
                dbio_trace_skip(input, "lines in blkparse's own layout");
                return 0;
        }
        if (all)
                step->action = 'Q';
        if (!strchr("QDCA", step->action)) {
                dbio_trace_skip(input, "events of other steps (G I M P U X ...)");
                return 0;
        }
        return 1;
}

static int step_next(struct dbio_trace_input *input, struct dbio_blk_step *step, struct dbio_err *err)
{
        struct blkparse *parse = input->state;
        char *text;
        size_t size;
        int code;

        while ((code = dbio_trace_lines_next(&parse->lines, &text, &size, err)) > 0) {
                code = take_line(input, parse, blanks(text), step, err);
                if (code)
                        return code;
        }
        return code;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct blkparse *parse = input->state;

        return dbio_blk_next(parse->blk, input, event, err);
}

static int open_layout(struct dbio_trace_input *input, struct blkparse *parse, struct dbio_err *err)
{
        if (dbio_blk_layout_new(&parse->layout, input->spec, err))
                return -1;
        if (dbio_blk_layout_has_action(parse->layout))
                return 0;
        if (input->issue_events)
                return dbio_err_set(err, DBIO_USAGE, "--event issue: the layout has no %%a, so which lines are issues is not known");
        dbio_trace_note(input, "Which step of its way a line is: the layout has no %a, so every line is taken as an I/O; where the "
                               "trace holds more than one step, each I/O is there more than once.");
        return 0;
}

static int open_parse(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct blkparse *parse = input->state = calloc(1, sizeof *parse);

        if (!parse)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        parse->lines.fd = -1;
        parse->blk = dbio_blk_new(step_next);
        if (!parse->blk)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (input->spec && open_layout(input, parse, err))
                return -1;
        return dbio_trace_lines_open(&parse->lines, input->paths, input->npaths, err);
}

static void close_parse(struct dbio_trace_input *input)
{
        struct blkparse *parse = input->state;

        if (!parse)
                return;
        dbio_trace_lines_close(&parse->lines);
        dbio_blk_layout_free(parse->layout);
        dbio_blk_free(parse->blk);
        free(parse);
        input->state = NULL;
}

static int probe(const char *path, const char *head, size_t size)
{
        struct dbio_blk_step step;

        (void)path;
        (void)size;
        if (!strncmp(head, "# tracer: blk", 13))
                return 95;
        for (int i = 0; i < 40 && *head; i++) {
                const char *at = blanks(head);
                if (take_begin(&at, &step))
                        return 90;
                if (*at != '#' && strncmp(head, "Input file", 10))
                        return 0;
                head += strcspn(head, "\n");
                head += *head == '\n';
        }
        return 0;
}

const struct dbio_trace_format dbio_trace_blkparse = {
        .name = "blkparse",
        .summary = "blkparse's text, and ftrace's blk tracer; a layout of blkparse -f as blkparse:LAYOUT (below)",
        .takes_spec = true,
        .probe = probe,
        .open = open_parse,
        .next = next,
        .close = close_parse,
};
