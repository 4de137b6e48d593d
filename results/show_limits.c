/* LIMITS and OBSERVED: the workload's bounds, and what the database saw, beside the run's own figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/text.h"

/* Within this share of each other, both are called the same; below the second, the array did clearly better. */
#define SAME_SHARE 0.10
#define BETTER_SHARE 0.20

static char *value_text(char *text, size_t size, enum dbio_limit_stat stat, double value)
{
        char number[DBIO_NUMBER_SIZE];

        if (isnan(value))
                snprintf(text, size, "-");
        else if (stat == DBIO_LIMIT_IOPS)
                snprintf(text, size, "%s/s", dbio_number_short(number, sizeof number, value));
        else if (stat == DBIO_LIMIT_MIB_PER_S)
                snprintf(text, size, "%s MiB/s", dbio_number_short(number, sizeof number, value / 1048576));
        else if (stat == DBIO_LIMIT_ERRORS)
                snprintf(text, size, "%s", dbio_number_group(number, sizeof number, value, 0));
        else
                snprintf(text, size, "%s ms", dbio_number_short(number, sizeof number, value / 1e6));
        return text;
}

static bool more_is_better(enum dbio_limit_stat stat)
{
        return stat == DBIO_LIMIT_IOPS || stat == DBIO_LIMIT_MIB_PER_S;
}

const char *dbio_observed_conclusion(const struct dbio_limit *observed, double figure, bool valid)
{
        double ratio = more_is_better(observed->stat) ? observed->value / figure : figure / observed->value;

        if (!valid || !(ratio >= 0) || isinf(ratio) || !(observed->value > 0))
                return "cannot tell";
        if (ratio <= 1 - BETTER_SHARE)
                return "the array can carry it; look above the array";
        return ratio >= 1 - SAME_SHARE ? "the storage explains it" : "cannot tell";
}

static bool runs_in(const struct dbio_show *show, const char *phase, const char *stream)
{
        for (unsigned i = 0; i < show->rows.n; i++)
                if (!strcmp(show->rows.rows[i].phase, phase) && !strcmp(show->rows.rows[i].stream, stream))
                        return true;
        return false;
}

static void figure_line(struct dbio_show *show, const char *head, const struct dbio_limit *limit, bool observed,
                        const char *phase)
{
        char mine[48], theirs[48];
        double figure = dbio_limit_of(&show->rows, phase, limit);

        if (observed) {
                dbio_text_line(show->out, "%-9s%-30s seen %s, replayed %s%s%s", head, limit->text,
                               value_text(theirs, sizeof theirs, limit->stat, limit->value),
                               value_text(mine, sizeof mine, limit->stat, figure), show->nphases > 1 ? " in " : "",
                               show->nphases > 1 ? phase : "");
                dbio_text_line(show->out, "%-9s%s", "",
                               dbio_observed_conclusion(limit, figure, show->valid && !show->simulated));
                return;
        }
        dbio_text_line(show->out, "%-9s%-30s %10s   %s%s%s", head, limit->text,
                       value_text(mine, sizeof mine, limit->stat, figure),
                       isnan(figure) ? "no such figure" : dbio_limit_holds(limit, figure) ? "pass" : "fail",
                       show->nphases > 1 ? "   in " : "", show->nphases > 1 ? phase : "");
}

static int figures(struct dbio_show *show, bool observed, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(show->store, err,
                                           "SELECT text, stream, kind, part, stat, comparison, value FROM figure WHERE "
                                           "run_id = ? AND observed = ? ORDER BY number", "ii", show->run_id,
                                           (int64_t)observed);
        const char *head = observed ? "OBSERVED" : "LIMITS";
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(show->store, stmt, err)) > 0) {
                struct dbio_limit limit = {
                        .text = dbio_db_text(stmt, 0), .stream = dbio_db_text(stmt, 1),
                        .kind = sqlite3_column_int(stmt, 2), .part = (enum dbio_limit_part)sqlite3_column_int(stmt, 3),
                        .stat = (enum dbio_limit_stat)sqlite3_column_int(stmt, 4),
                        .comparison = (enum dbio_limit_comparison)sqlite3_column_int(stmt, 5),
                        .value = sqlite3_column_double(stmt, 6),
                };

                for (unsigned p = 0; p < show->nphases; p++)
                        if (runs_in(show, show->phases[p].name, limit.stream)) {
                                figure_line(show, head, &limit, observed, show->phases[p].name);
                                head = "";
                        }
        }
        return more;
}

int dbio_show_limits(struct dbio_show *show, struct dbio_err *err)
{
        char late[DBIO_NUMBER_SIZE], errors[DBIO_NUMBER_SIZE];
        uint64_t long_ios = 0, failed = 0;

        if (figures(show, false, err) || figures(show, true, err))
                return -1;
        for (unsigned i = 0; i < show->rows.n; i++) {
                if (show->rows.rows[i].kind == DBIO_COMMIT)
                        continue;
                long_ios += show->rows.rows[i].long_ios;
                failed += show->rows.rows[i].errors;
        }
        dbio_text_line(show->out, "CHECKS   long I/O (>= 15 s, error 833): %s   errors: %s",
                       dbio_number_group(late, sizeof late, (double)long_ios, 0),
                       dbio_number_group(errors, sizeof errors, (double)failed, 0));
        return 0;
}
