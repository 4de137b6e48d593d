/* blkparse's lines from any text; a first line that begins with % is the layout. */
#include <string.h>

#include "tests/fuzztrace.h"

extern const struct dbio_trace_format dbio_trace_blkparse;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char layout[256];
        const uint8_t *end = size && *data == '%' ? memchr(data, '\n', size) : NULL;
        size_t length = end ? (size_t)(end - data) : 0;

        if (!end || length >= sizeof layout)
                return fuzz_trace(&dbio_trace_blkparse, NULL, data, size);
        memcpy(layout, data, length);
        layout[length] = 0;
        return fuzz_trace(&dbio_trace_blkparse, layout, end + 1, size - length - 1);
}
