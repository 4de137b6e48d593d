/* What the fuzz targets of trace readers share: any bytes as a file, read to the end past everything that is bad. */
#ifndef DBIO_TESTS_FUZZTRACE_H
#define DBIO_TESTS_FUZZTRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/trace.h"
#include "replay/tracedevices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_trace(const struct dbio_trace_format *format, const char *spec, const uint8_t *data, size_t size)
{
        static int fd = -1;
        static char path[64];
        const char *const paths[] = {path};
        struct dbio_trace_input input = {.format = format, .spec = spec ? spec : format->spec, .paths = paths, .npaths = 1};
        struct dbio_trace_event event;
        struct dbio_err err = {0};
        int code;

        if (fd < 0) {
                fd = memfd_create("trace", 0);
                snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        }
        if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
                abort();
        input.devices = dbio_trace_devices_new();
        if (!format->open(&input, &err)) {
                for (unsigned bad = 0; bad < 1000 && (code = format->next(&input, &event, &err)); bad += code < 0) {
                        if (code > 0 ? event.kind > DBIO_TRIM || event.device >= dbio_trace_devices_count(input.devices)
                                     : !err.message[0])
                                abort();
                        if (code < 0 && (err.code == DBIO_REFUSED || err.code == DBIO_IO)) /* there is no way on */
                                break;
                }
        } else if (!err.message[0]) {
                abort();
        }
        format->close(&input);
        dbio_trace_devices_free(input.devices);
        return 0;
}

#endif
