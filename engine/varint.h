/* Whole numbers in few bytes (LEB128): seven bits a byte, the lowest first; the top bit says that more follow. Pure. */
#ifndef DBIO_ENGINE_VARINT_H
#define DBIO_ENGINE_VARINT_H

#include <stddef.h>
#include <stdint.h>

/* Writes at most 10 bytes; returns the place behind them. */
static inline unsigned char *dbio_varint_put(unsigned char *at, uint64_t value)
{
        for (; value >= 128; value >>= 7)
                *at++ = (unsigned char)(value | 128);
        *at++ = (unsigned char)value;
        return at;
}

/* Returns the place behind the number, NULL where it does not end before `end`. `at` may be NULL, which gives NULL, so
 * that calls can follow each other and be asked once. */
static inline const unsigned char *dbio_varint_get(const unsigned char *at, const unsigned char *end, uint64_t *value)
{
        *value = 0;
        for (unsigned shift = 0; at && at < end && shift < 64; shift += 7) {
                *value |= (uint64_t)(*at & 127) << shift;
                if (!(*at++ & 128))
                        return at;
        }
        return NULL;
}

/* Small negative numbers as small numbers, too. */
static inline uint64_t dbio_zigzag(int64_t value)
{
        return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

#endif
