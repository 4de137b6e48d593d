#include "replay/command.h"

#include <stdio.h>
#include <string.h>

#include "engine/units.h"
#include "replay/demand.h"
#include "replay/oldresults.h"
#include "replay/trace.h"

int dbio_cmd_import(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *output = dbio_cmdline_value(line, DBIO_OPT_OUTPUT);
        struct dbio_trace_options options;
        struct dbio_trace_feed *feed;
        struct dbio_trace_op op;
        int code;

        if (dbio_old_format_find(line->arguments[0])) {
                if (output)
                        return dbio_err_set(err, DBIO_USAGE, "%s holds results and no trace: without -o they become runs in --db",
                                            line->arguments[0]);
                return dbio_old_results_import(line, err);
        }
        if (dbio_demand_trace_options(line, &options, err) ||
            dbio_trace_feed_open(&feed, line->arguments[0], (const char *const *)line->arguments + 1, line->narguments - 1,
                                 &options, err))
                return -1;
        if (output) {
                code = dbio_trace_file_write(feed, output, err);
        } else {
                while ((code = dbio_trace_feed_next(feed, &op, err)) > 0)
                        ;
        }
        if (!code && !dbio_trace_feed_ops(feed)) {
                dbio_err_set(err, DBIO_USAGE, "there is no I/O in it");
                code = dbio_err_locate(err, line->arguments[1], 0, 0);
        }
        if (!code && dbio_cmdline_has(line, DBIO_OPT_JSON))
                dbio_trace_summary_json(feed, stdout);
        else if (!code)
                dbio_trace_summary_print(feed, stdout);
        dbio_trace_feed_close(feed);
        return code;
}
