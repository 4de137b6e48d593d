/* Units as users write them. Each parses the whole text; on failure sets a message that says what would be
 * right, code DBIO_USAGE. Numbers are decimals without sign or exponent, at most 19 digits, digits grouped by `_`. */
#ifndef DBIO_ENGINE_UNITS_H
#define DBIO_ENGINE_UNITS_H

#include <stdint.h>

#include "engine/err.h"

/* Whole results are at most UINT64_MAX / 2, others at most 1e15. */
int dbio_parse_size(const char *text, uint64_t *bytes, struct dbio_err *err);
int dbio_parse_time(const char *text, uint64_t *ns, struct dbio_err *err);
int dbio_parse_count(const char *text, uint64_t *count, struct dbio_err *err);
int dbio_parse_share(const char *text, double *share, struct dbio_err *err);  /* "30%" -> 0.3; 0 … 1 */
int dbio_parse_factor(const char *text, double *factor, struct dbio_err *err);
/* "500/s" or "100MiB/s"; either of the pointers may be NULL, then that form is an error. The other gets NAN. */
int dbio_parse_rate(const char *text, double *ops_per_s, double *bytes_per_s, struct dbio_err *err);

/* The shortest text that parses back to the value, for resolved texts and screens: 8K, 1536, 20ms, 1.5s … */
void dbio_format_size(uint64_t bytes, char *text, unsigned long size);
void dbio_format_time(uint64_t ns, char *text, unsigned long size);
/* Likewise: 0.75; 30%; 500/s; 100MiB/s (bytes set). Values that the parsers above can have given. */
void dbio_format_factor(double factor, char *text, unsigned long size);
void dbio_format_share(double share, char *text, unsigned long size);
void dbio_format_rate(double per_s, int bytes, char *text, unsigned long size);

#endif
