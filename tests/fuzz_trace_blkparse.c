/* blkparse's lines from any text. */
#include "tests/fuzztrace.h"

extern const struct dbio_trace_format dbio_trace_blkparse;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_trace(&dbio_trace_blkparse, NULL, data, size);
}
