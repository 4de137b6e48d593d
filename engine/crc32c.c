#include "engine/crc32c.h"

#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* 0x1edc6f41, bits reversed */

uint32_t dbio_crc32c_plain(uint32_t crc, const void *bytes, size_t length)
{
        const unsigned char *at = bytes;

        crc = ~crc;
        while (length--) {
                crc ^= *at++;
                for (int bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t length)
{
        const unsigned char *at = bytes;
        uint64_t wide = ~crc;

        for (; length >= 8; length -= 8, at += 8) {
                uint64_t word;

                memcpy(&word, at, 8);
                wide = _mm_crc32_u64(wide, word);
        }
        crc = (uint32_t)wide;
        while (length--)
                crc = _mm_crc32_u8(crc, *at++);
        return ~crc;
}
#endif

uint32_t dbio_crc32c(uint32_t crc, const void *bytes, size_t length)
{
#if defined(__x86_64__)
        if (__builtin_cpu_supports("sse4.2"))
                return by_instruction(crc, bytes, length);
#endif
        return dbio_crc32c_plain(crc, bytes, length);
}
