/* Process Monitor's CSV from any text. */
#include "tests/fuzztrace.h"

extern const struct dbio_trace_format dbio_trace_procmon;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_trace(&dbio_trace_procmon, NULL, data, size);
}
