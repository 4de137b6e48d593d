/* Schedule files of traces from any bytes. */
#include <string.h>

#include "tests/fuzztrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int fd = -1;
        static char path[64];
        const struct dbio_trace_options options = {0};
        struct dbio_trace_feed *feed = NULL;
        struct dbio_trace_op op;
        struct dbio_err err = {0};
        int code = 0;

        if (fd < 0) {
                fd = memfd_create("schedule", 0);
                snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        }
        if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
                abort();
        if (dbio_trace_feed_open_file(&feed, path, &options, &err) > 0)
                while ((code = dbio_trace_feed_next(feed, &op, &err)) > 0)
                        if (op.kind > DBIO_TRIM || op.target >= dbio_trace_feed_targets(feed))
                                abort();
        if (code < 0 && !err.message[0])
                abort();
        dbio_trace_feed_close(feed);
        return 0;
}
