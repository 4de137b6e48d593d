#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "replay/command.h"
#include "replay/sessioninfo.h"
#include "results/show.h"
#include "results/study.h"

int dbio_cmd_show(const struct dbio_cmdline *line, struct dbio_err *err)
{
        setlocale(LC_CTYPE, "");
        const struct dbio_show_options options = {
                .counters = dbio_cmdline_has(line, DBIO_OPT_COUNTERS),
                .plot = dbio_cmdline_has(line, DBIO_OPT_PLOT),
                .db = dbio_cmdline_value(line, DBIO_OPT_DB),
                .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
        };
        struct dbio_store *store = NULL;
        struct dbio_runs runs = {0};
        const char *name = line->narguments ? line->arguments[0] : "latest";
        int64_t study_id;
        int code = -1;

        if (dbio_cmdline_has(line, DBIO_OPT_JSON) + dbio_cmdline_has(line, DBIO_OPT_CSV) + (options.counters || options.plot) > 1)
                return dbio_err_set(err, DBIO_USAGE, "--json, --csv, and --plot or --counters are three forms: give one");
        if (dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_READ, err))
                return -1;
        bool rows = dbio_cmdline_has(line, DBIO_OPT_JSON) || dbio_cmdline_has(line, DBIO_OPT_CSV);
        int found = dbio_study_find(store, name, &study_id, err);
        if (found < 0)
                goto out;
        if (found && !rows) {
                code = dbio_study_show(store, study_id, stdout, err);
                goto out;
        }
        if (found ? dbio_runs_of_study(store, study_id, &runs, err) : dbio_runs_find(store, name, &runs, err))
                goto out;
        if (dbio_cmdline_has(line, DBIO_OPT_JSON))
                code = dbio_show_json(store, &runs, stdout, err);
        else if (dbio_cmdline_has(line, DBIO_OPT_CSV))
                code = dbio_show_csv(store, &runs, stdout, err);
        else
                code = dbio_show_text(store, &runs, &options, stdout, err);
out:
        dbio_runs_release(&runs);
        dbio_store_close(store);
        return code;
}
