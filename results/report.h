/* One self-contained HTML page about one or several sets of runs: no network, charts by Chart.js out of the Debian
 * package libjs-chart.js, which is compiled in. */
#ifndef DBIO_RESULTS_REPORT_H
#define DBIO_RESULTS_REPORT_H

#include <stdio.h>

#include "engine/err.h"
#include "results/query.h"

/* One side, or one cell of a study. */
struct dbio_report_set {
        const char *name;             /* as it is called on the page */
        const struct dbio_runs *runs; /* its repetitions; figures are those of the first that is complete and valid */
};

/* One set: its figures and what its streams do to each other. Two: their comparison too (base first). More: bars.
 * version is the tool's. DBIO_USAGE where a set has no run; DBIO_IO. */
int dbio_report_write(struct dbio_store *store, const struct dbio_report_set *sets, unsigned nr, const char *version,
                      FILE *out, struct dbio_err *err);

#endif
