#include "tests/tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *trace_file(const void *data, size_t size)
{
        static char path[4096];
        const char *folder = getenv("DBIO_WORK");

        snprintf(path, sizeof path, "%s/trace-%d", folder ? folder : "/tmp", (int)getpid());
        FILE *file = fopen(path, "wb");
        if (!file || (size && fwrite(data, size, 1, file) != 1) || fclose(file))
                abort();
        return path;
}

struct trace_result trace_read_files(const char *format, const char *const *paths, unsigned n,
                                     const struct dbio_trace_options *options)
{
        static const struct dbio_trace_options none;
        struct trace_result result = {0};
        struct dbio_trace_feed *feed;
        struct dbio_trace_op op;

        result.code = dbio_trace_feed_open(&feed, format, paths, n, options ? options : &none, &result.err);
        if (result.code)
                return result;
        while ((result.code = dbio_trace_feed_next(feed, &op, &result.err)) > 0)
                if (result.ops < sizeof result.first / sizeof *result.first)
                        result.first[result.ops++] = op;
        result.summary = *dbio_trace_feed_summary(feed);
        result.ops = dbio_trace_feed_ops(feed);
        result.ntargets = dbio_trace_feed_targets(feed);
        for (unsigned i = 0; i < result.ntargets && i < 16; i++)
                snprintf(result.targets[i], sizeof result.targets[i], "%s", dbio_trace_feed_target(feed, i)->name);
        dbio_trace_feed_close(feed);
        return result;
}

struct trace_result trace_read(const char *format, const void *data, size_t size, const struct dbio_trace_options *options)
{
        const char *path = trace_file(data, size);
        struct trace_result result = trace_read_files(format, &path, 1, options);

        unlink(path);
        return result;
}
