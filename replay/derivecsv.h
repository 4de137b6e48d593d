/* Tables as text: rows of columns behind a line of names. */
#ifndef DBIO_REPLAY_DERIVECSV_H
#define DBIO_REPLAY_DERIVECSV_H

#include "replay/derive.h"

#define DBIO_CSV_COLUMNS 4096u

/* Cuts a line (changed) at its separators, quotes taken away (`""` inside is one), blanks at the ends dropped. Returns
 * the number of columns, at most max. */
unsigned dbio_csv_cut(char *line, char separator, char **columns, unsigned max);
/* The separator of a line of names: the one of comma, semicolon and TAB that it has most of. */
char dbio_csv_separator(const char *line);

/* A whole text as a number without sign: digits, then perhaps a point or (where allowed) a comma and more of them, and an
 * exponent. Not strtod, which goes by the locale. false: it is none. */
bool dbio_csv_number(const char *text, bool comma, double *value);

#endif
