/* The one error a caller owns and a library function fills. */
#ifndef DBIO_ENGINE_ERR_H
#define DBIO_ENGINE_ERR_H

/* The program's exit codes; an error carries the one it leads to. */
enum dbio_code {
        DBIO_OK = 0,
        DBIO_GATE_FAILED = 1,
        DBIO_USAGE = 2,    /* usage or configuration, also an input that cannot be read as what it should be */
        DBIO_REFUSED = 3,  /* refused for safety */
        DBIO_IO = 4,       /* any errno on a target or on the results database */
        DBIO_MISMATCH = 5, /* verification found wrong data */
        DBIO_INVALID = 6,  /* run invalid, or gate inconclusive */
        DBIO_BUG = 70,
};

/* Zero-initialise before use. `file` is empty and `line` 0 where there is no file or no position; line and column
 * count from 1. `path` is the place inside a document (`phases[1].streams[0]`), or empty. */
struct dbio_err {
        enum dbio_code code;
        unsigned line, column;
        char file[512];
        char path[256];
        char message[1024];
};

/* Fills err (which may be NULL) with code and message, no position. Returns -1, so that callers `return dbio_err_set(…)`. */
int dbio_err_set(struct dbio_err *err, enum dbio_code code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Adds a position to an error already filled; file NULL leaves the file as it is. Returns -1. */
int dbio_err_locate(struct dbio_err *err, const char *file, unsigned line, unsigned column);

/* Writes `file:line:column: error: message` and, where path is set, a second line `    at path`, both ended by a
 * newline, into text (size bytes, always terminated). Without a file the line begins with `dbio: error:`. */
void dbio_err_format(const struct dbio_err *err, char *text, unsigned long size);

#endif
