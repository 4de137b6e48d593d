#include "replay/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain.h"
#include "engine/units.h"
#include "replay/demand.h"

struct listing {
        enum { TABLE, CSV, JSON } format;
        const struct dbio_schedule *schedule;
        const struct dbio_phase *phase;
        uint64_t rows;
};

static void row_table(const struct listing *list, const char *stream, uint64_t seq, const struct dbio_op *op,
                      const char *due, const char *flags)
{
        char offset[32], length[32];

        snprintf(offset, sizeof offset, "%" PRIu64, op->offset);
        dbio_format_size(op->length, length, sizeof length);
        printf("%-16s %-16s %6u %8" PRIu64 " %15s %-6s %-12s %-8s %15s %8s %4u %s\n", list->phase->name, stream, op->thread,
               seq, due, dbio_kind_name(op->kind), dbio_role_name(op->role), list->schedule->target_names[op->target],
               offset, length, op->episode, flags);
}

static int row(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op)
{
        struct listing *list = user;
        const char *name = list->phase->streams[stream].name;
        const char *target = list->schedule->target_names[op->target];
        char due[32] = "", episode[16] = "", flags[64];

        if (op->due_ns != DBIO_NO_DUE)
                snprintf(due, sizeof due, "%" PRIu64, op->due_ns);
        if (op->episode)
                snprintf(episode, sizeof episode, "%u", op->episode);
        dbio_op_flags_format(op->flags, flags);
        if (list->format == TABLE)
                row_table(list, name, seq, op, due, flags);
        else if (list->format == CSV)
                printf("%s,%s,%u,%" PRIu64 ",%s,%s,%s,%s,%" PRIu64 ",%u,%s,%s\n", list->phase->name, name, op->thread, seq,
                       due, dbio_kind_name(op->kind), dbio_role_name(op->role), target, op->offset, op->length, episode,
                       flags);
        else
                printf("%s{\"phase\":\"%s\",\"stream\":\"%s\",\"thread\":%u,\"seq\":%" PRIu64
                       ",\"due_ns\":%s,\"kind\":\"%s\",\"role\":\"%s\",\"target\":\"%s\",\"offset\":%" PRIu64
                       ",\"length\":%u,\"episode\":%s,\"flags\":\"%s\"}",
                       list->rows ? ",\n" : "\n", list->phase->name, name, op->thread, seq, due[0] ? due : "null",
                       dbio_kind_name(op->kind), dbio_role_name(op->role), target, op->offset, op->length,
                       episode[0] ? episode : "null", flags);
        list->rows++;
        return ferror(stdout) ? -1 : 0;
}

static int explain_phases(struct listing *list, struct dbio_schedule *schedule, const struct dbio_cmdline *line,
                          uint64_t limit, struct dbio_err *err)
{
        const char *only = dbio_cmdline_value(line, DBIO_OPT_PHASE);
        const char *stream = dbio_cmdline_value(line, DBIO_OPT_STREAM);
        bool found = false, stream_found = false;

        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                if (only && strcmp(only, schedule->phase_names[i]))
                        continue;
                found = true;
                if (schedule->phase_open(schedule, i, &phase, err))
                        return -1;
                for (unsigned s = 0; s < phase.nstreams; s++)
                        stream_found |= !stream || !strcmp(stream, phase.streams[s].name);
                list->phase = &phase;
                int code = dbio_explain_phase(&phase, stream, limit, row, list, err);
                schedule->phase_close(schedule, &phase);
                if (code)
                        return ferror(stdout) ? 0 : -1;
        }
        if (only && !found)
                return dbio_err_set(err, DBIO_USAGE, "no phase %s in the workload", only);
        if (stream && !stream_found)
                return dbio_err_set(err, DBIO_USAGE, "no stream %s in %s", stream, only ? only : "any phase");
        return 0;
}

int dbio_cmd_explain(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *format = dbio_cmdline_value(line, DBIO_OPT_FORMAT);
        struct listing list = {.format = !strcmp(format, "csv") ? CSV : !strcmp(format, "json") ? JSON : TABLE};
        struct dbio_demand demand;
        struct dbio_targets targets;
        struct dbio_schedule *schedule;
        uint64_t limit;

        if (dbio_parse_count(dbio_cmdline_value(line, DBIO_OPT_LIMIT), &limit, err))
                return -1;
        if (dbio_demand_prepare(line->arguments[0], line, &demand, &targets, &schedule, err))
                return -1;
        list.schedule = schedule;
        if (list.format == TABLE)
                printf("%-16s %-16s %6s %8s %15s %-6s %-12s %-8s %15s %8s %4s %s\n", "phase", "stream", "thread", "seq",
                       "due_ns", "kind", "role", "target", "offset", "length", "ep", "flags");
        else
                puts(list.format == CSV ? "phase,stream,thread,seq,due_ns,kind,role,target,offset,length,episode,flags"
                                        : "[");
        int code = explain_phases(&list, schedule, line, limit, err);
        if (list.format == JSON)
                puts("\n]");
        schedule->free(schedule);
        dbio_targets_close(&targets);
        dbio_demand_release(&demand);
        return code;
}
