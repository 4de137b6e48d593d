/* Commands and their options: one table gives parsing, help, the man page's check and the shell's completion. */
#ifndef DBIO_REPLAY_COMMAND_H
#define DBIO_REPLAY_COMMAND_H

#include <stdbool.h>

#include "engine/err.h"

enum dbio_option_id {
        DBIO_OPT_ALLOW_BUSY, DBIO_OPT_ALLOW_WRITE, DBIO_OPT_BIND, DBIO_OPT_COMPACT, DBIO_OPT_CREATE, DBIO_OPT_CSV, DBIO_OPT_COUNTERS,
        DBIO_OPT_DB, DBIO_OPT_DESTROY, DBIO_OPT_DEVICE, DBIO_OPT_DRY_RUN, DBIO_OPT_DURATION, DBIO_OPT_ENGINE,
        DBIO_OPT_EVENT, DBIO_OPT_FOLD, DBIO_OPT_FORMAT, DBIO_OPT_EXPORT_FORMAT, DBIO_OPT_GATE, DBIO_OPT_INTERVAL,
        DBIO_OPT_INTERVALS, DBIO_OPT_JSON, DBIO_OPT_JSON_SCHEMA, DBIO_OPT_JUNIT, DBIO_OPT_LABEL, DBIO_OPT_LIKE,
        DBIO_OPT_LIMIT, DBIO_OPT_MAKE_FILESYSTEMS, DBIO_OPT_MAP, DBIO_OPT_MARGIN, DBIO_OPT_MARKDOWN, DBIO_OPT_MAX_IOPS,
        DBIO_OPT_MAX_MIBS, DBIO_OPT_MISALIGNED, DBIO_OPT_ON_ERROR, DBIO_OPT_OPS_LOG, DBIO_OPT_OUTPUT, DBIO_OPT_PACE,
        DBIO_OPT_PACING, DBIO_OPT_PHASE, DBIO_OPT_PLOT, DBIO_OPT_PREPARE, DBIO_OPT_PRINT, DBIO_OPT_QUICK,
        DBIO_OPT_QUIET, DBIO_OPT_READS_ONLY, DBIO_OPT_REPEAT, DBIO_OPT_RESUME, DBIO_OPT_SCALE_TIME, DBIO_OPT_SET,
        DBIO_OPT_SINCE, DBIO_OPT_SKIP_BAD, DBIO_OPT_STOP_IF, DBIO_OPT_STREAM, DBIO_OPT_STRICT, DBIO_OPT_TARGET,
        DBIO_OPT_TIMEOUT, DBIO_OPT_VERIFY, DBIO_OPT_WORKERS, DBIO_OPT_WORKLOAD, DBIO_OPT_YES,
        DBIO_OPTIONS
};

struct dbio_option {
        const char *name;     /* without dashes */
        const char *argument; /* what is shown for its value (`FILE`, `a|b`); NULL = a flag */
        const char *help;
        const char *fallback; /* shown as the default; NULL = none */
        char letter;          /* short form, 0 = none */
        bool repeats;
        bool choice;          /* argument lists the only values allowed */
};

/* A command line taken apart. Strings belong to argv. */
struct dbio_cmdline {
        const struct dbio_subcommand *command;
        unsigned narguments;
        char **arguments;
        struct dbio_option_value {
                unsigned n;
                const char **values;
        } options[DBIO_OPTIONS];
};

struct dbio_subcommand {
        const char *name, *usage, *summary;
        unsigned min_arguments, max_arguments;
        const signed char *options; /* enum dbio_option_id, ended by -1 */
        int (*run)(const struct dbio_cmdline *line, struct dbio_err *err); /* exit code, or -1 with err */
};

extern const struct dbio_option dbio_options[DBIO_OPTIONS];
extern const struct dbio_subcommand dbio_subcommands[]; /* ended by name NULL */

const struct dbio_subcommand *dbio_subcommand_find(const char *name); /* NULL where there is none */
/* DBIO_USAGE for a word that is no command, with what may have been meant. */
int dbio_subcommand_none(const char *word, struct dbio_err *err);

/* Options and arguments in any order, `--` ends the options. DBIO_USAGE with a near miss named. */
int dbio_cmdline_parse(struct dbio_cmdline *line, const struct dbio_subcommand *command, int argc, char **argv,
                       struct dbio_err *err);
void dbio_cmdline_release(struct dbio_cmdline *line);

/* Labels name runs and stand in JSON: DBIO_USAGE for one that could not (empty, a number, latest, previous). */
int dbio_label_check(const char *label, struct dbio_err *err);

/* The last value given, else the table's fallback, else NULL; "" for a flag that is there. */
const char *dbio_cmdline_value(const struct dbio_cmdline *line, enum dbio_option_id option);
bool dbio_cmdline_has(const struct dbio_cmdline *line, enum dbio_option_id option);

/* stderr: file:line:column: error: message, and the path inside the document. */
void dbio_error_print(const struct dbio_err *err);

/* One function a command; cmd_*.c. */
int dbio_cmd_check(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_compare(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_compile(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_completion(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_derive(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_describe(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_diff(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_explain(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_export(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_help(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_import(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_label(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_list(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_merge(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_report(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_rm(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_run(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_show(const struct dbio_cmdline *line, struct dbio_err *err);
int dbio_cmd_study(const struct dbio_cmdline *line, struct dbio_err *err);

#endif
