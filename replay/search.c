#include "replay/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/limits.h"
#include "results/query.h"
#include "replay/sessioninfo.h"

#define FACTOR_MAX 1048576.0 /* upwards from the workload's own value */
#define FACTOR_MIN 1024.0    /* downwards */
#define RESOLUTION 1.05      /* between what holds and what does not */
#define NEAR_BOUND 0.10      /* a figure this near to its bound is asked for three times */
#define NEAR_RUNS 3u

int dbio_search_begin(struct dbio_search *search, const char *own, struct dbio_err *err)
{
        char digits[64];
        unsigned n = 0;
        const char *c = own;
        char *end;

        *search = (struct dbio_search){.holds = NAN, .fails = NAN};
        for (; *c && strchr("0123456789._", *c) && n + 1 < sizeof digits; c++)
                if (*c != '_')
                        digits[n++] = *c;
        digits[n] = 0;
        search->own = strtod(digits, &end);
        if (!n || *end || search->own <= 0 || strlen(c) >= sizeof search->unit)
                return dbio_err_set(err, DBIO_USAGE, "find: a number above 0 to start from is right, not %s", own);
        snprintf(search->unit, sizeof search->unit, "%s", c);
        search->whole = !*c;
        return 0;
}

double dbio_search_next(const struct dbio_search *search)
{
        double value;

        if (isnan(search->holds) && isnan(search->fails))
                return search->own;
        if (isnan(search->fails))
                value = search->holds * 2;
        else if (isnan(search->holds))
                value = search->fails / 2;
        else if (search->fails / search->holds <= RESOLUTION || (search->whole && search->fails - search->holds <= 1))
                return NAN;
        else
                value = sqrt(search->holds * search->fails);
        if (search->whole)
                value = value < search->holds + 1 ? search->holds + 1 : floor(value);
        if (value < 1 && search->whole)
                return NAN;
        if (value == search->holds || value == search->fails || value / search->own > FACTOR_MAX ||
            search->own / value > FACTOR_MIN)
                return NAN;
        return value;
}

void dbio_search_take(struct dbio_search *search, double value, bool holds)
{
        if (holds)
                search->holds = value;
        else
                search->fails = value;
}

void dbio_search_format(const struct dbio_search *search, double value, char *text, unsigned long size)
{
        char number[32];

        snprintf(number, sizeof number, search->whole || value >= 100 ? "%.0f" : "%.3f", value);
        if (strchr(number, '.')) {
                char *end = number + strlen(number);

                while (end[-1] == '0')
                        *--end = 0;
                if (end[-1] == '.')
                        end[-1] = 0;
        }
        snprintf(text, size, "%s%s", number, search->unit);
}

/* One run's worst distance to its bounds, as ln(figure / bound), above 0 = broken. NAN where no phase has the figure. */
static int distance(struct dbio_study_run *study, int64_t run_id, double *worst, struct dbio_err *err)
{
        struct dbio_figure_rows rows = {0};

        *worst = NAN;
        if (dbio_figures_load(study->store, run_id, &rows, err))
                return -1;
        for (unsigned i = 0; i < study->plan.nconditions; i++) {
                struct dbio_limit limit = dbio_limit_from_figure(&study->plan.conditions[i]);
                const char *before = "";
                for (unsigned r = 0; r < rows.n; r++) {
                        if (!strcmp(rows.rows[r].phase, before))
                                continue;
                        before = rows.rows[r].phase;
                        double figure = dbio_limit_of(&rows, before, &limit);
                        if (isnan(figure))
                                continue;
                        double off = log((figure > 0 ? figure : 1e-9) / (limit.value > 0 ? limit.value : 1e-9));
                        if (limit.comparison == DBIO_COMPARE_GT || limit.comparison == DBIO_COMPARE_GE)
                                off = -off;
                        if (isnan(*worst) || off > *worst)
                                *worst = off;
                }
        }
        dbio_figures_release(&rows);
        return 0;
}

static int try_value(struct dbio_study_run *study, unsigned number, const char *text, bool *holds, struct dbio_err *err)
{
        struct dbio_set set = {study->plan.find_key, text};
        char *values[] = {(char *)text};
        struct dbio_cell cell = {.name = (char *)text, .nvalues = 1, .values = values, .nsets = 1, .sets = &set};
        double sum = 0;
        int64_t set_id = 0, run_id;
        unsigned runs = 0;

        if (dbio_study_cell(study->store, study->study_id, number, text, 1, (const char *const *)values, err))
                return -1;
        do {
                double off;
                int code = dbio_study_run_cell(study, number, &cell, &set_id, &run_id, err);
                if (code)
                        return code;
                if (distance(study, run_id, &off, err))
                        return -1;
                if (isnan(off) && !number)
                        return dbio_err_set(err, DBIO_USAGE, "find: no recorded phase has the figures that `while` names");
                sum += isnan(off) ? INFINITY : off; /* a rate so low that nothing was issued proves nothing */
                runs++;
        } while (!study->simulated && runs < NEAR_RUNS && fabs(sum / runs) < NEAR_BOUND);
        *holds = sum / runs < 0;
        return 0;
}

static void sentence(const struct dbio_search *search, const char *key, char *text, size_t size)
{
        char holds[48], fails[48], own[48];

        dbio_search_format(search, search->holds, holds, sizeof holds);
        dbio_search_format(search, search->fails, fails, sizeof fails);
        dbio_search_format(search, search->own, own, sizeof own);
        if (isnan(search->holds))
                snprintf(text, size, "%s: the limits are not met, not even at %s; no headroom over %s.", key, fails, own);
        else if (isnan(search->fails))
                snprintf(text, size, "%s: the limits hold at %s, the most that was tried: headroom over %.0f x of %s.", key,
                         holds, search->holds / search->own, own);
        else
                snprintf(text, size, "%s: the limits hold up to %s and no longer at %s: headroom %.*f x of %s.", key, holds,
                         fails, search->holds / search->own < 10 ? 1 : 0, search->holds / search->own, own);
}

int dbio_study_search(struct dbio_study_run *study, struct dbio_err *err)
{
        struct dbio_search search;
        char text[256];
        unsigned number = 0;

        if (dbio_search_begin(&search, study->plan.find_own, err))
                return -1;
        for (double value; !isnan(value = dbio_search_next(&search)); number++) {
                char written[48];
                bool holds = false;
                dbio_search_format(&search, value, written, sizeof written);
                int code = try_value(study, number, written, &holds, err);
                if (code)
                        return code;
                if (!study->quiet)
                        fprintf(stderr, "%s = %s: the limits %s\n", study->plan.find_key, written, holds ? "hold" : "do not hold");
                dbio_search_take(&search, value, holds);
        }
        sentence(&search, study->plan.find_key, text, sizeof text);
        return dbio_study_found(study->store, study->study_id, search.holds, search.fails, search.own, text, err);
}
