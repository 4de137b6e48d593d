#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/text.h"

static const char *get(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : "";
}

static const char *title_of(struct dbio_show *show, char *text, size_t size)
{
        const struct dbio_runs *runs = show->runs;

        if (show->single)
                snprintf(text, size, "RUN %lld", (long long)show->run_id);
        else
                snprintf(text, size, "RUNS %lld-%lld (%u repetitions)", (long long)runs->ids[0],
                         (long long)runs->ids[runs->n - 1], runs->n);
        return text;
}

/* "PERC H700 fw 12.10, 1.36 TiB, write-back"; of a file, its file system and what that lies on. */
static void device_text(char *text, size_t size, const json_t *file)
{
        const json_t *device = json_object_get(file, "device"), *fs = json_object_get(file, "file_system");
        double bytes = json_number_value(json_object_get(device, "size_bytes"));
        char span[DBIO_NUMBER_SIZE];
        size_t used = 0;

        text[0] = 0;
        if (json_is_object(fs))
                used += (size_t)snprintf(text, size, "%s %lld on ", get(fs, "type"),
                                         (long long)json_integer_value(json_object_get(fs, "block")));
        if (used >= size || !json_is_object(device))
                return;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s",
                                 *get(device, "model") ? get(device, "model") : get(device, "name"),
                                 *get(device, "firmware") ? " fw " : "", get(device, "firmware"), bytes > 0 ? ", " : "",
                                 bytes > 0 ? dbio_text_size(span, sizeof span, bytes) : "");
        if (used < size && *get(device, "write_cache"))
                snprintf(text + used, size - used, ", %s", get(device, "write_cache"));
}

static void target_line(struct dbio_show *show, const json_t *targets, size_t i, int width)
{
        const json_t *target = json_array_get(targets, i), *files = json_object_get(target, "files");
        const json_t *file = json_array_get(files, 0), *device = json_object_get(file, "device");
        const char *place = get(file, "path");
        char text[256], more[32] = "";

        device_text(text, sizeof text, file);
        for (size_t k = 0; k < i && json_is_object(device); k++) {
                const json_t *other = json_array_get(json_object_get(json_array_get(targets, k), "files"), 0);

                if (json_equal(json_object_get(other, "device"), device))
                        snprintf(text, sizeof text, "same device as %s", get(json_array_get(targets, k), "name"));
        }
        if (json_array_size(files) > 1)
                snprintf(more, sizeof more, " (+%zu)", json_array_size(files) - 1);
        if (!*place)
                place = *get(target, "binding") ? get(target, "binding") : get(target, "kind");
        dbio_text_line(show->out, "  %-*s  %s%s  %s", width, get(target, "name"), place, more, text);
        if (*get(target, "note"))
                dbio_text_line(show->out, "  %-*s  %s", width, "", get(target, "note"));
}

static void target_lines(struct dbio_show *show, const char *text)
{
        json_t *targets = json_loads(text, 0, NULL);
        int width = 4;

        for (size_t i = 0; i < json_array_size(targets); i++) {
                int n = (int)strlen(get(json_array_get(targets, i), "name"));

                width = n > width && n < 20 ? n : width;
        }
        for (size_t i = 0; i < json_array_size(targets); i++)
                target_line(show, targets, i, width);
        json_decref(targets);
}

/* `how`, and what the generator and others did to the measurement. */
static int how_line(struct dbio_show *show, const char *how, const char *engine, struct dbio_err *err)
{
        char text[256], number[DBIO_NUMBER_SIZE];
        sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT max(lag_p99_ns), max(foreign_share) FROM phase "
                                           "WHERE run_id = ?", "i", show->run_id);
        int found = stmt ? dbio_db_step(show->store, stmt, err) : -1;

        if (found < 0)
                return -1;
        double lag = dbio_db_double(stmt, 0), foreign = dbio_db_double(stmt, 1);
        sqlite3_reset(stmt);
        snprintf(text, sizeof text, "%s", *how ? how : engine);
        if (!isnan(lag))
                snprintf(text + strlen(text), sizeof text - strlen(text), ", lag p99 %s us",
                         dbio_number_short(number, sizeof number, lag / 1e3));
        if (!isnan(foreign))
                snprintf(text + strlen(text), sizeof text - strlen(text), ", foreign I/O %.1f %%", 100 * foreign);
        dbio_text_line(show->out, "  how   %s", text);
        return 0;
}

static int set_lines(struct dbio_show *show, struct dbio_err *err)
{
        for (unsigned i = 0; !show->single && i < show->runs->n; i++) {
                sqlite3_stmt *stmt = dbio_db_query(show->store, err, "SELECT status, valid, coalesce(invalid_why, '') FROM "
                                                   "run WHERE run_id = ?", "i", show->runs->ids[i]);
                int found = stmt ? dbio_db_step(show->store, stmt, err) : -1;

                if (found < 0)
                        return -1;
                if (found && (strcmp(dbio_db_text(stmt, 0), "complete") || !sqlite3_column_int(stmt, 1)))
                        dbio_text_line(show->out, "  run %lld is left out: %s", (long long)show->runs->ids[i],
                                       *dbio_db_text(stmt, 2) ? dbio_db_text(stmt, 2) : dbio_db_text(stmt, 0));
                sqlite3_reset(stmt);
        }
        if (!show->single)
                dbio_text_line(show->out, "  the tables are of run %lld%s", (long long)show->run_id,
                               show->valid ? ", the answer is over all" : "");
        return 0;
}

static void simulated_lines(struct dbio_show *show, const char *trust)
{
        char text[2048];

        snprintf(text, sizeof text, "SIMULATED  %s", trust);
        dbio_text_wrap(show->out, 0, text);
}

int dbio_show_header(struct dbio_show *show, struct dbio_err *err)
{
        char title[64], span[DBIO_NUMBER_SIZE], moment[32], how[256], engine[64], why[320], left[256], right[96];
        sqlite3_stmt *stmt = dbio_db_query(
                show->store, err,
                "SELECT coalesce(label, '-'), workload, started_at, " DBIO_RUN_TIME_SQL ", status, valid, invalid_why, trust, "
                "targets_json, how, engine FROM run WHERE run_id = ?", "i", show->run_id);
        int found = stmt ? dbio_db_step(show->store, stmt, err) : -1;

        if (found <= 0)
                return found ? -1 : dbio_err_set(err, DBIO_USAGE, "no run %lld", (long long)show->run_id);
        bool judged = sqlite3_column_type(stmt, 5) != SQLITE_NULL;
        snprintf(left, sizeof left, "%s  %s   %s", title_of(show, title, sizeof title), dbio_db_text(stmt, 0),
                 dbio_db_text(stmt, 1));
        snprintf(right, sizeof right, "   %s   %s   %s   %s",
                 dbio_text_moment(moment, sizeof moment, dbio_db_text(stmt, 2)),
                 dbio_text_duration(span, sizeof span, dbio_db_double(stmt, 3)), dbio_db_text(stmt, 4),
                 !judged ? "" : sqlite3_column_int(stmt, 5) ? "VALID" : "INVALID");
        bool wide = strlen(left) + strlen(right) > DBIO_COLUMNS;
        dbio_text_line(show->out, "%s%s", left, wide ? "" : right);
        if (wide)
                dbio_text_line(show->out, "%s", right);
        if (show->simulated)
                simulated_lines(show, dbio_db_text(stmt, 7));
        target_lines(show, dbio_db_text(stmt, 8));
        snprintf(how, sizeof how, "%s", dbio_db_text(stmt, 9));
        snprintf(engine, sizeof engine, "%s", dbio_db_text(stmt, 10));
        snprintf(why, sizeof why, *dbio_db_text(stmt, 6) ? "INVALID: %s" : "%s", dbio_db_text(stmt, 6));
        sqlite3_reset(stmt);
        if (how_line(show, how, engine, err) || set_lines(show, err))
                return -1;
        if (*why)
                dbio_text_wrap(show->out, 2, why);
        return 0;
}
