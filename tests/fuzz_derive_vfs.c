#include "tests/fuzz_derive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_derive("vfs", data, size);
}
