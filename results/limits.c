#include "results/limits.h"

#include <math.h>
#include <string.h>

#include "engine/op.h"
#include "results/query.h"

static double time_of(const struct dbio_stats *stats, enum dbio_limit_stat stat)
{
        switch (stat) {
        case DBIO_LIMIT_MEAN:
                return stats->mean;
        case DBIO_LIMIT_P50:
                return stats->p50;
        case DBIO_LIMIT_P95:
                return stats->p95;
        case DBIO_LIMIT_P99:
                return stats->p99;
        case DBIO_LIMIT_P999:
                return stats->p999;
        case DBIO_LIMIT_MAX:
                return stats->max;
        default:
                return NAN;
        }
}

/* fsync is left out where the stream has others: a figure without a kind means what the stream moves. */
static const struct dbio_run_figures *only_kind(const struct dbio_figure_rows *rows, const char *phase, const char *stream)
{
        const struct dbio_run_figures *only = NULL, *fsync = NULL;

        for (unsigned i = 0; i < rows->n; i++) {
                const struct dbio_run_figures *row = &rows->rows[i];

                if (strcmp(row->phase, phase) || strcmp(row->stream, stream))
                        continue;
                if (row->kind == DBIO_FSYNC) {
                        fsync = row;
                        continue;
                }
                if (only)
                        return NULL;
                only = row;
        }
        return only ? only : fsync;
}

double dbio_limit_of(const struct dbio_figure_rows *rows, const char *phase, const struct dbio_limit *limit)
{
        const struct dbio_run_figures *row = limit->kind < 0 ? only_kind(rows, phase, limit->stream)
                                                         : dbio_figures_get(rows, phase, limit->stream, limit->kind);

        if (!row)
                return NAN;
        if (limit->stat == DBIO_LIMIT_IOPS)
                return row->iops;
        if (limit->stat == DBIO_LIMIT_MIB_PER_S)
                return row->mib_per_s * 1048576;
        if (limit->stat == DBIO_LIMIT_ERRORS)
                return (double)row->errors;
        return time_of(limit->part == DBIO_PART_WAIT      ? &row->wait
                       : limit->part == DBIO_PART_SERVICE ? &row->service
                                                          : &row->response,
                       limit->stat);
}

bool dbio_limit_holds(const struct dbio_limit *limit, double figure)
{
        switch (limit->comparison) {
        case DBIO_COMPARE_LT:
                return figure < limit->value;
        case DBIO_COMPARE_LE:
                return figure <= limit->value;
        case DBIO_COMPARE_GT:
                return figure > limit->value;
        case DBIO_COMPARE_GE:
                return figure >= limit->value;
        default:
                return false;
        }
}
