/* Lines for a terminal: never wider than 100 columns. */
#ifndef DBIO_RESULTS_TEXT_H
#define DBIO_RESULTS_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DBIO_COLUMNS 100

/* Writes one line and its newline, without blanks at its end. What is beyond the columns goes on in further lines, four
 * blanks deeper than the line itself. */
void dbio_text_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A paragraph, broken between words, each line behind `indent` blanks. */
void dbio_text_wrap(FILE *out, unsigned indent, const char *text);

/* The same behind a lead of its own; further lines stand behind `indent` blanks. */
void dbio_text_hang(FILE *out, const char *lead, unsigned indent, const char *text);

/* A word as a shell takes it: in quotes where it needs them. Quotes in the word itself are left as they are. Returns
 * text. */
char *dbio_text_shell_word(char *text, size_t size, const char *word);

/* 0.85s, 10s, 7m10s, 2h05m. Returns text. */
char *dbio_text_duration(char *text, size_t size, double ns);

/* 1.36 TiB, 512 MiB. Returns text. */
char *dbio_text_size(char *text, size_t size, double bytes);

/* "2026-11-30 20:31:07" of the database's "2026-11-30T20:31:07Z", in the user's time zone. Returns text. */
char *dbio_text_moment(char *text, size_t size, const char *stored);

#endif
