/* vscsi records from any bytes. */
#include "tests/fuzztrace.h"

extern const struct dbio_trace_format dbio_trace_cloudphysics;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_trace(&dbio_trace_cloudphysics, NULL, data, size);
}
