/* list, label, rm, merge, export: what is done with whole runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "replay/command.h"
#include "replay/sessioninfo.h"
#include "results/export.h"
#include "results/manage.h"
#include "results/query.h"

/* Opens the database and finds the runs that the first argument names. */
static int open_runs(const struct dbio_cmdline *line, enum dbio_store_mode mode, struct dbio_store **store,
                     struct dbio_runs *runs, struct dbio_err *err)
{
        *store = NULL;
        memset(runs, 0, sizeof *runs);
        if (dbio_store_open(store, dbio_database_path(line), mode, err))
                return -1;
        return dbio_runs_find(*store, line->arguments[0], runs, err);
}

static int close_runs(struct dbio_store *store, struct dbio_runs *runs, int code)
{
        dbio_runs_release(runs);
        dbio_store_close(store);
        return code;
}

/* --since as started_at is stored: given in local time, as list shows it, or with Z as the views have it. */
static int read_since(const char *given, char stored[32], struct dbio_err *err)
{
        static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                              "%Y-%m-%dT%H:%M:%S"};

        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
                struct tm tm = {.tm_isdst = -1};
                const char *end = strptime(given, formats[i], &tm);

                if (!end || (*end && strcmp(end, "Z")))
                        continue;
                time_t moment = *end ? timegm(&tm) : mktime(&tm);
                strftime(stored, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&moment, &tm));
                return 0;
        }
        return dbio_err_set(err, DBIO_USAGE, "--since %s: a day or a time is right, as in 2026-11-30 or '2026-11-30 20:31'",
                            given);
}

int dbio_cmd_list(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *since = dbio_cmdline_value(line, DBIO_OPT_SINCE);
        char stored[32];
        const struct dbio_list_filter filter = {
                .label = dbio_cmdline_value(line, DBIO_OPT_LABEL),
                .workload = dbio_cmdline_value(line, DBIO_OPT_WORKLOAD),
                .device = dbio_cmdline_value(line, DBIO_OPT_DEVICE),
                .since = since ? stored : NULL,
                .json = dbio_cmdline_has(line, DBIO_OPT_JSON),
        };
        struct dbio_store *store;

        if ((since && read_since(since, stored, err)) ||
            dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_READ, err))
                return -1;
        int code = dbio_runs_list(store, &filter, stdout, err);
        dbio_store_close(store);
        return code;
}

int dbio_cmd_label(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct dbio_store *store;
        struct dbio_runs runs;
        int code;

        if (dbio_label_check(line->arguments[1], err))
                return -1;
        code = open_runs(line, DBIO_STORE_WRITE, &store, &runs, err);
        if (!code)
                code = dbio_runs_label(store, &runs, line->arguments[1], err);
        return close_runs(store, &runs, code);
}

int dbio_cmd_rm(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct dbio_store *store;
        struct dbio_runs runs;
        int code = open_runs(line, DBIO_STORE_WRITE, &store, &runs, err);

        if (!code)
                code = dbio_runs_remove(store, &runs, err);
        if (!code)
                fprintf(stderr, "%u run%s removed\n", runs.n, runs.n == 1 ? "" : "s");
        return close_runs(store, &runs, code);
}

int dbio_cmd_merge(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct dbio_store *store;
        unsigned merged, known;

        if (dbio_store_open(&store, dbio_database_path(line), DBIO_STORE_CREATE, err))
                return -1;
        int code = dbio_runs_merge(store, line->arguments[0], &merged, &known, err);
        if (!code)
                fprintf(stderr, "%u runs taken over, %u were there already\n", merged, known);
        dbio_store_close(store);
        return code;
}

int dbio_cmd_export(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *path = dbio_cmdline_value(line, DBIO_OPT_OUTPUT);
        const char *format = dbio_cmdline_value(line, DBIO_OPT_EXPORT_FORMAT);
        struct dbio_store *store;
        struct dbio_runs runs;
        FILE *out = stdout;
        int code = open_runs(line, DBIO_STORE_READ, &store, &runs, err);

        if (code)
                return close_runs(store, &runs, code);
        if (path && !(out = fopen(path, "w")))
                return close_runs(store, &runs, dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno)));
        code = dbio_export(store, &runs, format, out, err);
        if (path && fclose(out) && !code)
                code = dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        return close_runs(store, &runs, code);
}
