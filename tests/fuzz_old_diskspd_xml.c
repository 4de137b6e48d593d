#include "tests/fuzz_derive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        return fuzz_old("diskspd-xml", data, size);
}
