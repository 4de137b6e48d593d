/* The parts of a line of strace: `PID TIME name(arguments) = RESULT <LATENCY>` (strace(1)). */
#ifndef DBIO_REPLAY_STRACELINE_H
#define DBIO_REPLAY_STRACELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the stamps of a trace have come to. Zeroed at first. */
struct dbio_strace_clock {
        uint64_t day_ns, last_ns; /* of times of day: the day, and the last of them */
        uint64_t now_ns;          /* of stamps that count from the line before */
        bool timed;               /* there was a stamp */
        bool relative, deltas;    /* -r: stamps count from the line before, alone or behind another stamp */
};

struct dbio_strace_call {
        const char *name, *args, *end; /* end: of the arguments */
        const char *result_text;
        uint64_t t_ns, latency_ns, result; /* latency_ns: DBIO_TRACE_UNKNOWN without -T */
        bool coarse, failed;
};

/* The stamp at *text, which it moves behind it: 1796067820.121622 (-ttt), 10:05:01 (-t), 10:05:01.123456 (-tt), 0.000123 (-r); the
 * first three also with `(+ 0.000123)` behind (-r, too), which then counts. line: where the line begins. coarse: a whole second.
 * false: there is none. */
bool dbio_strace_time(struct dbio_strace_clock *clock, const char *line, const char **text, uint64_t *t_ns, bool *coarse);
/* `[pid 7]` or `7` at *text, which it moves behind it; 0 where there is none. */
uint64_t dbio_strace_pid(const char **text);
/* name(args) = result <latency>; does not set t_ns and coarse. Buffers may hold anything, so it is taken from the right. */
bool dbio_strace_call_parse(const char *text, struct dbio_strace_call *call);
/* The argument that is so many from the right, as a number. */
bool dbio_strace_argument(const struct dbio_strace_call *call, unsigned n, uint64_t *value);

/* What -y and -yy say behind a descriptor: `</dev/sda<block 8:0>>`; names have no angles, strace escapes them. */
struct dbio_strace_name {
        const char *text;
        size_t size;
        bool character; /* a character device */
};
bool dbio_strace_name_parse(const char *at, const char *end, struct dbio_strace_name *name);

#endif
