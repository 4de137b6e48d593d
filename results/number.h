/* Figures as people read them. All write into text (size bytes, always terminated) and return text. Pure. */
#ifndef DBIO_RESULTS_NUMBER_H
#define DBIO_RESULTS_NUMBER_H

#include <stddef.h>

#define DBIO_NUMBER_SIZE 32 /* enough for any of them */

/* 41,200 and 3,755.1: groups of three, so many decimals. NAN gives a dash: "does not apply". */
char *dbio_number_group(char *text, size_t size, double value, int decimals);

/* Three digits that count, at most three decimals, grouped from 1,000 on: 41,200, 158, 20.2, 1.80, 0.085. */
char *dbio_number_short(char *text, size_t size, double value);

/* A change exp(b): "+14.8 %" or "-91.1 %" up to a factor of 2, "x 11.2" beyond. half is half the width of its
 * interval on the log scale: the change gets two digits of that width and never more; 0 = not known, one decimal. */
char *dbio_number_change(char *text, size_t size, double b, double half);

/* A bound of a change: as above, with one digit of that width, two where it begins with 1 or 2. */
char *dbio_number_bound(char *text, size_t size, double b, double half);

/* A share or change in percent for a sentence, one or two digits: 0.055 gives "6 %", 0.0032 "0.3 %", 1.5 "150 %". */
char *dbio_number_percent(char *text, size_t size, double share);

#endif
