/* Rows of a query as JSON or CSV. Internal to results/. */
#ifndef DBIO_RESULTS_JSON_H
#define DBIO_RESULTS_JSON_H

#include <sqlite3.h>
#include <stdio.h>

#include "results/store.h"

/* A JSON string with its quotes; NULL becomes null. Bytes that are no UTF-8 become "?". */
void dbio_json_string(FILE *out, const char *text);

/* A row as an object. */
void dbio_json_row(FILE *out, sqlite3_stmt *stmt);

/* "SELECT * FROM view WHERE run_id = ?" for each of the runs as CSV (RFC 4180) with a header line. -1 with err. */
int dbio_csv_view(struct dbio_store *store, const char *view, const int64_t *runs, unsigned n, FILE *out,
                  struct dbio_err *err);

#endif
