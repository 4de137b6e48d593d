/* fio's I/O logs from any text. */
#include "tests/fuzztrace.h"

extern const struct dbio_trace_format dbio_trace_iolog;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_trace(&dbio_trace_iolog, NULL, data, size);
}
