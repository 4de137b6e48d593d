/* Lines of text files one after the other, in constant memory: UTF-8 or UTF-16 with a byte order mark, LF or CRLF, with or
 * without an end of the last line; and the numbers in them. */
#ifndef DBIO_REPLAY_TRACELINES_H
#define DBIO_REPLAY_TRACELINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"

struct dbio_trace_lines {
        const char *const *paths;
        unsigned npaths, path;      /* path: of the last line */
        uint64_t line;              /* in its file, from 1 */
        int fd;
        char *buffer;
        unsigned char *raw;         /* of UTF-16 */
        size_t at, size, nraw;
        bool ended;                 /* this file has been read */
        unsigned char utf16;        /* 0 none, 1 little, 2 big endian */
        uint32_t high;              /* surrogate that waits for its other half */
};

/* The files are read one after the other; paths must stay. DBIO_USAGE where the first is missing, DBIO_IO. */
int dbio_trace_lines_open(struct dbio_trace_lines *lines, const char *const *paths, unsigned npaths, struct dbio_err *err);
/* 1 and the next line, terminated and without its end or trailing blanks, valid and the caller's to change until the next
 * call; 0 behind the last; -1: DBIO_IO, or DBIO_USAGE for a line beyond 512 KiB. */
int dbio_trace_lines_next(struct dbio_trace_lines *lines, char **text, size_t *size, struct dbio_err *err);
void dbio_trace_lines_close(struct dbio_trace_lines *lines); /* accepts a zeroed one */

/* A bad line: message, file, line and column (at: in the text). Returns -1. */
int dbio_trace_lines_bad(const struct dbio_trace_lines *lines, size_t at, struct dbio_err *err, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

/* Digits at *text as a number; moves *text behind them. false: no digit, or beyond 64 bits. */
static inline bool dbio_trace_number(const char **text, uint64_t *value)
{
        const char *at = *text;
        uint64_t sum = 0;

        for (; (unsigned char)(*at - '0') < 10; at++) {
                unsigned digit = (unsigned)(*at - '0');
                if (sum > UINT64_MAX / 10 || (sum == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
                        return false;
                sum = 10 * sum + digit;
        }
        *value = sum;
        if (at == *text)
                return false;
        *text = at;
        return true;
}

/* A decimal number of units as ns, digits behind 1e-9 of the unit dropped; *whole = without any. false as above. */
bool dbio_trace_time(const char **text, uint64_t unit_ns, uint64_t *ns, bool *whole);

/* Cuts a line into its fields in place, blanks before them dropped, quoted ones without their quotes; with separator ' ' runs
 * of blanks part them. Returns how many, at most max: what follows is left out. */
unsigned dbio_trace_split(char *text, char separator, char **fields, unsigned max);

#endif
