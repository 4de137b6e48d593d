/* Binary trace files, read in order through a buffer. */
#ifndef DBIO_REPLAY_TRACEBINARY_H
#define DBIO_REPLAY_TRACEBINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"

#define DBIO_TRACE_BINARY_BYTES (256u << 10)

struct dbio_trace_binary {
        const char *path;
        int fd;
        unsigned char *buffer;
        size_t at, size;
        uint64_t position; /* in the file, of buffer + at */
        bool ended, failed;
};

/* path must stay. DBIO_USAGE where it is missing or no file to read, DBIO_IO. */
int dbio_trace_binary_open(struct dbio_trace_binary *file, const char *path, struct dbio_err *err);
/* Up to `want` bytes (at most 128 KiB) from the current position without taking them; fewer at the end; 0 also where reading
 * failed (failed is set, err filled). */
size_t dbio_trace_binary_peek(struct dbio_trace_binary *file, size_t want, const unsigned char **bytes, struct dbio_err *err);
static inline void dbio_trace_binary_skip(struct dbio_trace_binary *file, size_t bytes)
{
        file->at += bytes;
        file->position += bytes;
}
void dbio_trace_binary_close(struct dbio_trace_binary *file); /* accepts one with fd -1 */
int dbio_trace_binary_bad(const struct dbio_trace_binary *file, uint64_t place, struct dbio_err *err, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

#endif
