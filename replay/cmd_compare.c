#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "patterns/workload.h"
#include "replay/command.h"
#include "replay/offered.h"
#include "replay/sessioninfo.h"
#include "results/compare.h"
#include "results/query.h"

/* BASE against each NEW: one comparison a pair. */
struct comparing {
        struct dbio_store *store;
        unsigned n; /* sides */
        struct dbio_runs *sides;
        struct dbio_comparison **comparisons; /* n - 1 */
        char **differences;
        struct dbio_figure *figures; /* texts that the gates point into */
        struct dbio_compare_gate *gates;
        struct dbio_compare_options options;
};

static int read_options(struct comparing *all, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const struct dbio_option_value *given = &line->options[DBIO_OPT_GATE];
        const char *margin = dbio_cmdline_value(line, DBIO_OPT_MARGIN);
        struct dbio_err why = {0};

        if (dbio_parse_share(margin, &all->options.margin, &why) || all->options.margin <= 0 || all->options.margin >= 1)
                return dbio_err_set(err, DBIO_USAGE, "--margin %s: more than 0%% and less than 100%% is right", margin);
        all->figures = calloc(given->n + 1, sizeof *all->figures);
        all->gates = calloc(given->n + 1, sizeof *all->gates);
        for (unsigned i = 0; i < given->n; i++) {
                struct dbio_figure *figure = &all->figures[all->options.ngates];
                if (!strcmp(given->values[i], "limits")) {
                        all->options.gate_limits = true;
                        continue;
                }
                if (dbio_figure_parse(figure, given->values[i], &why))
                        return dbio_err_set(err, DBIO_USAGE, "--gate '%s': %s", given->values[i], why.message);
                if (figure->comparison == DBIO_OP_NONE)
                        return dbio_err_set(err, DBIO_USAGE, "--gate '%s': a bound is missing, as in 'log.commit.p99 < +10%%'",
                                            given->values[i]);
                all->gates[all->options.ngates].limit = dbio_limit_from_figure(figure);
                all->gates[all->options.ngates++].relative = figure->relative;
        }
        all->options.gates = all->gates;
        return 0;
}

static int compare_pair(struct comparing *all, unsigned new_, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const struct dbio_runs *base = &all->sides[0], *side = &all->sides[new_];
        struct dbio_compare_ids ids[2] = {
                {line->arguments[0], base->ids, base->n},
                {line->arguments[new_], side->ids, side->n},
        };
        struct dbio_err why = {0};
        char *before = dbio_run_text(all->store, base->ids[base->n - 1], "resolved_text", &why);
        char *after = dbio_run_text(all->store, side->ids[side->n - 1], "resolved_text", &why);

        all->differences[new_ - 1] = before && after ? dbio_offered_differences(before, after) : NULL;
        free(before);
        free(after);
        all->options.differences = all->differences[new_ - 1];
        return dbio_compare_open(&all->comparisons[new_ - 1], all->store, &ids[0], &ids[1], &all->options, err);
}

/* Worst of all: failed, then inconclusive, then done. */
static int worst(int a, int b)
{
        if (a == DBIO_GATE_FAILED || b == DBIO_GATE_FAILED)
                return DBIO_GATE_FAILED;
        return a ? a : b;
}

static int print_all(const struct comparing *all, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *junit = dbio_cmdline_value(line, DBIO_OPT_JUNIT);
        bool json = dbio_cmdline_has(line, DBIO_OPT_JSON);
        int code = DBIO_OK;

        if (json && all->n > 2)
                puts("[");
        for (unsigned i = 0; i + 1 < all->n; i++) {
                if (i)
                        puts(json ? "," : "");
                if (json && dbio_compare_json(all->comparisons[i], stdout, err))
                        return -1;
                if (!json)
                        dbio_compare_text(all->comparisons[i], stdout);
                code = worst(code, (int)dbio_compare_code(all->comparisons[i]));
        }
        if (json && all->n > 2)
                puts("]");
        if (junit) {
                FILE *file = fopen(junit, "w");
                if (!file)
                        return dbio_err_set(err, DBIO_IO, "%s: %s", junit, strerror(errno));
                dbio_compare_junit(all->comparisons, all->n - 1, file);
                if (fclose(file))
                        return dbio_err_set(err, DBIO_IO, "%s: %s", junit, strerror(errno));
        }
        return code;
}

int dbio_cmd_compare(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct comparing all = {.n = line->narguments};
        int code = -1;

        all.sides = calloc(all.n, sizeof *all.sides);
        all.comparisons = calloc(all.n, sizeof *all.comparisons);
        all.differences = calloc(all.n, sizeof *all.differences);
        if (read_options(&all, line, err) || dbio_store_open(&all.store, dbio_database_path(line), DBIO_STORE_READ, err))
                goto out;
        for (unsigned i = 0; i < all.n; i++)
                if (dbio_runs_find(all.store, line->arguments[i], &all.sides[i], err))
                        goto out;
        for (unsigned i = 1; i < all.n; i++)
                if (compare_pair(&all, i, line, err))
                        goto out;
        code = print_all(&all, line, err);
out:
        for (unsigned i = 0; i < all.n; i++) {
                dbio_compare_free(all.comparisons[i]);
                dbio_runs_release(&all.sides[i]);
                free(all.differences[i]);
        }
        dbio_store_close(all.store);
        free(all.sides);
        free(all.comparisons);
        free(all.differences);
        free(all.gates);
        free(all.figures);
        return code;
}
