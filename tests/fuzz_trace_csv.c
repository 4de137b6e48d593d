/* Tables from any text: the first line is the spec, or a preset's name, the rest the table. */
#include <string.h>

#include "tests/fuzztrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char spec[512];
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : 0;
        const struct dbio_trace_format *format;
        struct dbio_err err;

        if (!end || length >= sizeof spec)
                return 0;
        memcpy(spec, data, length);
        spec[length] = 0;
        format = dbio_trace_format_find(spec, "", &err);
        if (!format || !format->spec)
                format = dbio_trace_format_find("csv", "", &err);
        return fuzz_trace(format, format->spec ? NULL : spec, end + 1, size - length - 1);
}
