/* Workloads from what people have besides traces: logs, counters, other tools' job files. One file a format behind one
 * table; each reads whole text files and tells a builder what to write.
 *
 * To add a format: a file replay/derive_NAME.c with its struct dbio_derive_format, a line in the table of derive.c, an
 * input and its figures in tests/derive.test, a fuzz target tests/fuzz_derive_NAME.c with a corpus.
 */
#ifndef DBIO_REPLAY_DERIVE_H
#define DBIO_REPLAY_DERIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"

/* A text file cut into lines, their ends and trailing blanks dropped; UTF-16 decoded, byte order marks dropped, bytes
 * that are no UTF-8 made `?`, control characters but TAB made blanks. lines[0] is line 1. */
struct dbio_derive_file {
        const char *path; /* the caller's */
        char *text;       /* owns the lines */
        unsigned nlines;
        char **lines;
};

#define DBIO_DERIVE_BYTES_MAX (256u << 20)

/* DBIO_USAGE: missing, no regular file or pipe, too long, NUL bytes (no text); DBIO_IO. */
int dbio_derive_file_read(struct dbio_derive_file *file, const char *path, struct dbio_err *err);
int dbio_derive_file_parse(struct dbio_derive_file *file, const char *path, const char *bytes, size_t size,
                           struct dbio_err *err);
void dbio_derive_file_release(struct dbio_derive_file *file); /* accepts an empty one */
/* Its path without folders, for comments. */
const char *dbio_derive_base(const struct dbio_derive_file *file);
/* `file:line: error: message`, DBIO_USAGE; line from 1, 0 = the whole file. Returns -1. */
int dbio_derive_bad(const struct dbio_derive_file *file, unsigned line, struct dbio_err *err, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

struct dbio_derived;

struct dbio_derive_format {
        const char *name, *summary;
        /* Reads the files (at least one) and tells `out` all it knows. DBIO_USAGE with the place of what is wrong. */
        int (*derive)(const struct dbio_derive_file *files, unsigned n, struct dbio_derived *out, struct dbio_err *err);
};

extern const struct dbio_derive_format *const dbio_derive_formats[]; /* ended by NULL */
void dbio_derive_formats_print(FILE *out);

/* Derives, and loads what came out once more, so that it is always a workload that `check` takes. *yaml and *lost (lines
 * of what could not be expressed, "" = nothing) are malloced. */
int dbio_derive(const struct dbio_derive_format *format, const struct dbio_derive_file *files, unsigned n, char **yaml,
                char **lost, struct dbio_err *err);

/* ----- for formats: the workload that is being written ----- */

enum dbio_derived_part { DBIO_DERIVED_TARGETS, DBIO_DERIVED_STREAMS, DBIO_DERIVED_PHASES, DBIO_DERIVED_PARTS };

/* Name and description of the workload; texts are cleaned. Without it the name is `derived`. */
void dbio_derived_describe(struct dbio_derived *out, const char *name, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* A line of comment at the top. */
void dbio_derived_note(struct dbio_derived *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What cannot be expressed: a line of comment and one on stderr; the same line once. */
void dbio_derived_lost(struct dbio_derived *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define DBIO_DERIVED_NAME 64
/* A name that a workload may have, made of `raw` and not given yet in that part. */
void dbio_derived_name(struct dbio_derived *out, enum dbio_derived_part part, const char *raw,
                       char name[DBIO_DERIVED_NAME]);

/* The comment of a phase's length that no input gives. */
#define DBIO_DERIVED_SQL_SERVER "SQL Server opens its files so"
#define DBIO_DERIVED_CHOSEN "chosen: the rates are means, any length will do"

/* Begins an entry of the part; keys follow. comment NULL or "" = none. */
void dbio_derived_item(struct dbio_derived *out, enum dbio_derived_part part, const char *name);
void dbio_derived_key(struct dbio_derived *out, enum dbio_derived_part part, const char *key, const char *value,
                      const char *comment, ...) __attribute__((format(printf, 5, 6)));
/* An entry of `observed`. */
void dbio_derived_observed(struct dbio_derived *out, const char *figure, const char *value, const char *comment, ...)
        __attribute__((format(printf, 4, 5)));
/* A mean time in ms, where it is more than 0 and finite. */
void dbio_derived_observed_ms(struct dbio_derived *out, const char *stream, const char *figure, double ms,
                              const char *from);

/* Reads or writes of one place, known as rate, mean size and perhaps latency. */
struct dbio_derived_rate {
        const char *target, *name; /* name: of the stream, to be made one */
        bool write, sequential;
        double per_s, bytes;       /* bytes: mean of an I/O */
        unsigned step;             /* sizes are multiples of it: a page; 0 = 4K, below that 512 */
        double ms;                 /* NAN = not known */
        double fsyncs_per_s;       /* of writes; 0 = none or not known */
        double fsync_ms;
        const char *from;          /* where the numbers stand, `FILE:LINE` */
        const char *sizes;         /* the value of `sizes` where the mix is known; else NULL */
        const char *through;       /* why its writes go through the device's cache; NULL = not said */
};
/* Writes the stream, or names what is too little or too large to be one. true if it was written. */
bool dbio_derived_rate(struct dbio_derived *out, const struct dbio_derived_rate *rate);

/* The target that stands for a path (or device): its name, made at the first use with that size (as a workload writes
 * it). from may be "". */
const char *dbio_derived_target(struct dbio_derived *out, const char *path, const char *size, const char *from);

/* A stream of another tool's job. */
struct dbio_derived_job {
        const char *target, *name;
        bool random, shared;       /* shared: of sequential, one cursor for all threads */
        double read;               /* share */
        uint64_t bytes;            /* of an I/O; unused with sizes */
        const char *sizes;         /* the value of `sizes`; NULL = bytes */
        unsigned threads, depth;   /* depth 0: phases set it */
        int write_through;         /* 1, 0; -1 = as it is not said */
        const char *write_through_from;
        double rate, byte_rate;    /* a second, of the whole stream; 0 = closed loop */
        uint64_t think_ns;
        const char *region;        /* the value of `region`; NULL = all */
        const char *from, *threads_from; /* threads_from: NULL = from */
};
/* Writes it and gives its name, "" (and names what is lost) where it is none that a workload may have. */
const char *dbio_derived_job(struct dbio_derived *out, const struct dbio_derived_job *job);

/* Cuts a line (changed) into words at blanks, quotes taken away; at most max. */
unsigned dbio_derive_words(char *line, char **words, unsigned max);
/* The file of that name (its folders apart, case apart) among the files; NULL. */
const struct dbio_derive_file *dbio_derive_find(const struct dbio_derive_file *files, unsigned n, const char *name);
/* Digits alone, up to a most. */
bool dbio_derive_count(const char *text, uint64_t most, uint64_t *value);

/* A number without exponent, at most three digits behind the point (more below 1), for rates and factors. */
const char *dbio_derived_number(double value, char text[40]);

#endif
