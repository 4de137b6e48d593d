#include "replay/command.h"

#include <stddef.h>
#include <string.h>

#include "engine/near.h"

#define LIST(...) ((const signed char[]){__VA_ARGS__, -1})

/* What `run` and `study` share. */
#define RUN_OPTIONS                                                                                                    \
        DBIO_OPT_TARGET, DBIO_OPT_BIND, DBIO_OPT_ENGINE, DBIO_OPT_DB, DBIO_OPT_LABEL, DBIO_OPT_REPEAT, DBIO_OPT_SET,    \
                DBIO_OPT_DURATION, DBIO_OPT_INTERVAL, DBIO_OPT_INTERVALS, DBIO_OPT_SCALE_TIME, DBIO_OPT_WORKERS,        \
                DBIO_OPT_PACING, DBIO_OPT_CREATE, DBIO_OPT_PREPARE, DBIO_OPT_ALLOW_WRITE, DBIO_OPT_DESTROY,             \
                DBIO_OPT_ALLOW_BUSY, DBIO_OPT_MAX_IOPS, DBIO_OPT_MAX_MIBS, DBIO_OPT_STOP_IF, DBIO_OPT_DRY_RUN,          \
                DBIO_OPT_VERIFY, DBIO_OPT_TIMEOUT, DBIO_OPT_ON_ERROR, DBIO_OPT_STRICT, DBIO_OPT_OPS_LOG, DBIO_OPT_JSON, \
                DBIO_OPT_QUIET, DBIO_OPT_YES
/* How a trace is taken; `run FORMAT:TRACE` and `import`. */
#define TRACE_OPTIONS                                                                                                  \
        DBIO_OPT_MAP, DBIO_OPT_COMPACT, DBIO_OPT_FOLD, DBIO_OPT_READS_ONLY, DBIO_OPT_EVENT, DBIO_OPT_SKIP_BAD,          \
                DBIO_OPT_MISALIGNED

#define MANY 1000000u

const struct dbio_subcommand dbio_subcommands[] = {
        {"check", "WORKLOAD...", "validate workloads", 1, MANY,
         LIST(DBIO_OPT_PRINT, DBIO_OPT_SET, DBIO_OPT_TARGET), dbio_cmd_check},
        {"explain", "WORKLOAD|SCHEDULE", "list the ops of a workload or schedule, no I/O", 1, 1,
         LIST(DBIO_OPT_PHASE, DBIO_OPT_STREAM, DBIO_OPT_LIMIT, DBIO_OPT_FORMAT, DBIO_OPT_SET, DBIO_OPT_TARGET),
         dbio_cmd_explain},
        {"compile", "WORKLOAD -o FILE", "make a versioned, checksummed schedule file", 1, 1,
         LIST(DBIO_OPT_OUTPUT, DBIO_OPT_SET, DBIO_OPT_TARGET), dbio_cmd_compile},
        {"run", "WORKLOAD|SCHEDULE|FORMAT:TRACE --target NAME=BINDING ...", "replay on targets, keep the figures", 0, 1,
         LIST(RUN_OPTIONS, DBIO_OPT_LIKE, DBIO_OPT_PACE, TRACE_OPTIONS), dbio_cmd_run},
        {"study", "WORKLOAD --target NAME=BINDING ...", "run the workload's study", 1, 1,
         LIST(RUN_OPTIONS, DBIO_OPT_MAKE_FILESYSTEMS, DBIO_OPT_QUICK, DBIO_OPT_RESUME), dbio_cmd_study},
        {"import", "FORMAT TRACE... [-o FILE]", "a trace to a schedule; old results to runs", 2, MANY,
         LIST(DBIO_OPT_OUTPUT, DBIO_OPT_DB, DBIO_OPT_LABEL, DBIO_OPT_JSON, TRACE_OPTIONS), dbio_cmd_import},
        {"derive", "FORMAT FILE... -o WORKLOAD", "a workload from the database's own counters", 2, MANY,
         LIST(DBIO_OPT_OUTPUT), dbio_cmd_derive},
        {"diff", "A B", "what two workloads, schedules or traces demand, side by side", 2, 2,
         LIST(DBIO_OPT_SET, DBIO_OPT_JSON, TRACE_OPTIONS), dbio_cmd_diff},
        {"list", "", "the runs in the results database", 0, 0,
         LIST(DBIO_OPT_DB, DBIO_OPT_LABEL, DBIO_OPT_WORKLOAD, DBIO_OPT_DEVICE, DBIO_OPT_SINCE, DBIO_OPT_JSON),
         dbio_cmd_list},
        {"show", "RUN", "a run's figures", 0, 1,
         LIST(DBIO_OPT_DB, DBIO_OPT_JSON, DBIO_OPT_CSV, DBIO_OPT_PLOT, DBIO_OPT_COUNTERS), dbio_cmd_show},
        {"compare", "RUN RUN...", "runs side by side, with a verdict; gates", 2, MANY,
         LIST(DBIO_OPT_DB, DBIO_OPT_GATE, DBIO_OPT_MARGIN, DBIO_OPT_JUNIT, DBIO_OPT_JSON), dbio_cmd_compare},
        {"report", "RUN... -o FILE.html", "one self-contained page", 1, MANY, LIST(DBIO_OPT_OUTPUT, DBIO_OPT_DB),
         dbio_cmd_report},
        {"export", "RUN", "a run's figures for other tools", 1, 1, LIST(DBIO_OPT_DB, DBIO_OPT_EXPORT_FORMAT, DBIO_OPT_OUTPUT),
         dbio_cmd_export},
        {"label", "RUN TEXT", "name a run", 2, 2, LIST(DBIO_OPT_DB), dbio_cmd_label},
        {"rm", "RUN", "remove a run", 1, 1, LIST(DBIO_OPT_DB, DBIO_OPT_YES), dbio_cmd_rm},
        {"merge", "DB", "take another database's runs over", 1, 1, LIST(DBIO_OPT_DB), dbio_cmd_merge},
        {"describe", "[patterns|workloads|engines|devices|formats|keys|bands|NAME]",
         "patterns, workloads, engines, devices, formats, keys, bands", 0, 1,
         LIST(DBIO_OPT_MARKDOWN, DBIO_OPT_JSON_SCHEMA), dbio_cmd_describe},
        {"completion", "bash", "a shell's completion", 1, 1, LIST(-1), dbio_cmd_completion},
        {"help", "[COMMAND]", "commands, or one command's options", 0, 1, LIST(-1), dbio_cmd_help},
        {0},
};

const struct dbio_subcommand *dbio_subcommand_find(const char *name)
{
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                if (!strcmp(command->name, name))
                        return command;
        return NULL;
}

int dbio_subcommand_none(const char *word, struct dbio_err *err)
{
        const char *names[64];
        unsigned n = 0;

        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                names[n++] = command->name;
        if (*word == '-')
                return dbio_err_set(err, DBIO_USAGE, "%s stands before the command; options follow it", word);
        const char *near = dbio_near_miss(word, names, n);
        if (near)
                return dbio_err_set(err, DBIO_USAGE, "no command %s; did you mean %s?", word, near);
        return dbio_err_set(err, DBIO_USAGE, "no command %s; `dbio help` lists them", word);
}
