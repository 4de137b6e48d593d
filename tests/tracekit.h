/* Traces in memory for tests: written to a temporary file, read to the end. */
#ifndef DBIO_TESTS_TRACEKIT_H
#define DBIO_TESTS_TRACEKIT_H

#include <stddef.h>

#include "replay/trace.h"

struct trace_result {
        int code;                   /* 0 = read to the end; -1 = err */
        struct dbio_err err;
        struct dbio_trace_summary summary;
        uint64_t ops;
        unsigned ntargets;
        struct dbio_trace_op first[64]; /* the first ops */
        char targets[16][64];
};

/* Reads a trace of this content. options may be NULL. */
struct trace_result trace_read(const char *format, const void *data, size_t size, const struct dbio_trace_options *options);
struct trace_result trace_read_files(const char *format, const char *const *paths, unsigned n,
                                     const struct dbio_trace_options *options);
/* A path for a file with this content; the same each time, in $DBIO_WORK or /tmp. */
const char *trace_file(const void *data, size_t size);

#endif
