/* Texts that the tables of keys and patterns give: `dbio describe patterns|keys|NAME`. All are written to `out`. */
#ifndef DBIO_PATTERNS_REFERENCE_H
#define DBIO_PATTERNS_REFERENCE_H

#include <stdio.h>

#include "patterns/pattern.h"

/* `describe patterns`: names and what they are. */
void dbio_reference_patterns(FILE *out);
/* `describe workloads`: names of the installed ones and what they show. */
void dbio_reference_workloads(FILE *out);
/* `describe NAME`: purpose, keys with defaults, ranges and sources, an example. */
void dbio_reference_pattern(FILE *out, const struct dbio_pattern *pattern);
/* `describe keys`: every key of a workload file; `--markdown`: with all patterns, as configs/README.md. */
void dbio_reference_keys(FILE *out);
void dbio_reference_markdown(FILE *out);
/* `describe keys --json-schema`: JSON Schema, draft 07, with which editors complete and check workloads. -1 where out
 * cannot be written. */
int dbio_reference_schema(FILE *out);

#endif
