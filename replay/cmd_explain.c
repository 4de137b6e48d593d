#include "replay/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain.h"
#include "engine/near.h"
#include "engine/opslog.h"
#include "engine/units.h"
#include "replay/demand.h"

#define NAMES_MAX 1024 /* of streams, for "did you mean" */

struct listing {
        enum { TABLE, CSV, JSON } format;
        const struct dbio_schedule *schedule;
        const struct dbio_phase *phase;
        const char *only_phase, *only_stream; /* of an ops log; NULL = all */
        uint64_t rows;
        bool headed;
};

struct names {
        const char *phase, *stream, *target;
};

static void row_table(const struct names *names, uint64_t seq, const struct dbio_op *op, const char *due,
                      const char *flags)
{
        char offset[32], length[32];

        snprintf(offset, sizeof offset, "%" PRIu64, op->offset);
        dbio_format_size(op->length, length, sizeof length);
        printf("%-20s %-16s %6u %8" PRIu64 " %15s %-6s %-12s %-8s %15s %8s %4u %s\n", names->phase, names->stream,
               op->thread, seq, due, dbio_kind_name(op->kind), dbio_role_name(op->role), names->target, offset, length, op->episode, flags);
}

/* With the first row, so that an error found before it leaves stdout empty. */
static void print_head(struct listing *list)
{
        if (list->headed)
                return;
        list->headed = true;
        if (list->format == TABLE)
                printf("%-20s %-16s %6s %8s %15s %-6s %-12s %-8s %15s %8s %4s %s\n", "phase", "stream", "thread", "seq",
                       "due_ns", "kind", "role", "target", "offset", "length", "ep", "flags");
        else
                fputs(list->format == CSV ? "phase,stream,thread,seq,due_ns,kind,role,target,offset,length,episode,flags\n"
                                          : "[", stdout);
}

static int print_row(struct listing *list, const struct names *names, uint64_t seq, const struct dbio_op *op)
{
        char due[32] = "", episode[16] = "", flags[64];

        print_head(list);
        if (op->due_ns != DBIO_NO_DUE)
                snprintf(due, sizeof due, "%" PRIu64, op->due_ns);
        if (op->episode)
                snprintf(episode, sizeof episode, "%u", op->episode);
        dbio_op_flags_format(op->flags, flags);
        if (list->format == TABLE)
                row_table(names, seq, op, due, flags);
        else if (list->format == CSV)
                printf("%s,%s,%u,%" PRIu64 ",%s,%s,%s,%s,%" PRIu64 ",%u,%s,%s\n", names->phase, names->stream,
                       op->thread, seq, due, dbio_kind_name(op->kind), dbio_role_name(op->role), names->target, op->offset,
                       op->length, episode, flags);
        else
                printf("%s{\"phase\":\"%s\",\"stream\":\"%s\",\"thread\":%u,\"seq\":%" PRIu64
                       ",\"due_ns\":%s,\"kind\":\"%s\",\"role\":\"%s\",\"target\":\"%s\",\"offset\":%" PRIu64
                       ",\"length\":%u,\"episode\":%s,\"flags\":\"%s\"}",
                       list->rows ? ",\n" : "\n", names->phase, names->stream, op->thread, seq, due[0] ? due : "null",
                       dbio_kind_name(op->kind), dbio_role_name(op->role), names->target, op->offset, op->length,
                       episode[0] ? episode : "null", flags);
        list->rows++;
        return ferror(stdout) ? -1 : 0;
}

static int row(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op)
{
        struct listing *list = user;
        struct names names = {list->phase->name, list->phase->streams[stream].name,
                              list->schedule->target_names[op->target]};

        return print_row(list, &names, seq, op);
}

/* What was done: due_ns is when the op was intended. */
static int logged_row(void *user, const struct dbio_opslog_names *log, const struct dbio_opslog_op *logged)
{
        struct listing *list = user;
        struct names names = {log->phase, log->streams[logged->stream], log->targets[logged->op.target]};
        struct dbio_op op = logged->op;

        if ((list->only_phase && strcmp(list->only_phase, names.phase)) ||
            (list->only_stream && strcmp(list->only_stream, names.stream)))
                return 0;
        op.due_ns = logged->intended_ns;
        return print_row(list, &names, logged->seq, &op);
}

static void print_foot(struct listing *list)
{
        print_head(list);
        if (list->format == JSON)
                puts("\n]");
}

static int explain_log(struct listing *list, const struct dbio_cmdline *line, struct dbio_err *err)
{
        list->only_phase = dbio_cmdline_value(line, DBIO_OPT_PHASE);
        list->only_stream = dbio_cmdline_value(line, DBIO_OPT_STREAM);
        int code = dbio_opslog_read(line->arguments[0], logged_row, list, err);
        if (code && !ferror(stdout))
                return -1;
        if (!list->rows && (list->only_phase || list->only_stream))
                return dbio_err_set(err, DBIO_USAGE, "%s has no ops of %s%s%s%s%s", line->arguments[0],
                                    list->only_stream ? "stream " : "", list->only_stream ? list->only_stream : "",
                                    list->only_stream && list->only_phase ? " in " : "", list->only_phase ? "phase " : "",
                                    list->only_phase ? list->only_phase : "");
        print_foot(list);
        return 0;
}

/* Whether the phase runs the stream; if not, what may have been meant. */
static bool has_stream(const struct dbio_phase *phase, const char *stream, char near[64])
{
        const char *names[NAMES_MAX], *meant;
        unsigned n = 0;

        for (unsigned s = 0; s < phase->nstreams; s++) {
                if (!strcmp(stream, phase->streams[s].name))
                        return true;
                if (n < NAMES_MAX)
                        names[n++] = phase->streams[s].name;
        }
        meant = dbio_near_miss(stream, names, n);
        if (meant)
                snprintf(near, 64, "%s", meant);
        return false;
}

/* `no phase mian in the workload; did you mean main?` */
static int no_name(const char *what, const char *name, const char *where, const char *near, struct dbio_err *err)
{
        bool meant = near && *near;

        return dbio_err_set(err, DBIO_USAGE, "no %s %s in %s%s%s%s", what, name, where, meant ? "; did you mean " : "",
                            meant ? near : "", meant ? "?" : "");
}

static int explain_phases(struct listing *list, struct dbio_schedule *schedule, const struct dbio_cmdline *line,
                          uint64_t limit, struct dbio_err *err)
{
        const char *only = dbio_cmdline_value(line, DBIO_OPT_PHASE);
        const char *stream = dbio_cmdline_value(line, DBIO_OPT_STREAM);
        bool found = false, stream_found = !stream;
        char near[64] = "";

        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                if (only && strcmp(only, schedule->phase_names[i]))
                        continue;
                found = true;
                if (schedule->phase_open(schedule, i, &phase, err))
                        return -1;
                stream_found |= stream && has_stream(&phase, stream, near);
                list->phase = &phase;
                int code = dbio_explain_phase(&phase, stream, limit, row, list, err);
                schedule->phase_close(schedule, &phase);
                if (code)
                        return ferror(stdout) ? 0 : -1;
        }
        if (only && !found)
                return no_name("phase", only, "the workload",
                               dbio_near_miss(only, schedule->phase_names, schedule->nphases), err);
        return stream_found ? 0 : no_name("stream", stream, only ? only : "any phase", near, err);
}

int dbio_cmd_explain(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *format = dbio_cmdline_value(line, DBIO_OPT_FORMAT);
        struct listing list = {.format = !strcmp(format, "csv") ? CSV : !strcmp(format, "json") ? JSON : TABLE};
        struct dbio_demand demand;
        struct dbio_targets targets;
        struct dbio_schedule *schedule;
        struct dbio_err why = {0};
        uint64_t limit;

        if (dbio_parse_count(dbio_cmdline_value(line, DBIO_OPT_LIMIT), &limit, &why))
                return dbio_err_set(err, DBIO_USAGE, "--limit %s: %s", dbio_cmdline_value(line, DBIO_OPT_LIMIT), why.message);
        if (dbio_opslog_is(line->arguments[0]))
                return explain_log(&list, line, err);
        if (dbio_demand_prepare(line->arguments[0], line, &demand, &targets, &schedule, err))
                return -1;
        list.schedule = schedule;
        int code = explain_phases(&list, schedule, line, limit, err);
        if (!code)
                code = dbio_demand_failure(&demand, err);
        if (!code)
                print_foot(&list);
        schedule->free(schedule);
        dbio_targets_close(&targets);
        dbio_demand_release(&demand);
        return code;
}
