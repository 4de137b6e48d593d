#include "results/histcode.h"

#include <stdint.h>
#include <string.h>

#include "engine/varint.h"

size_t dbio_hist_encode(const struct dbio_hist *hist, unsigned char *code)
{
        unsigned char *at = code;
        uint32_t next = 0;

        at = dbio_varint_put(at, hist->count);
        at = dbio_varint_put(at, hist->overflow);
        at = dbio_varint_put(at, hist->sum_ns);
        at = dbio_varint_put(at, hist->max_ns);
        memcpy(at, &hist->sum_squares, sizeof hist->sum_squares);
        at += sizeof hist->sum_squares;
        if (hist->count == hist->overflow)
                return (size_t)(at - code);
        for (uint32_t i = hist->low; i <= hist->high; i++) {
                if (!hist->counts[i])
                        continue;
                /* Mostly the next bucket is not empty either: then its distance is not written. */
                at = dbio_varint_put(at, (uint64_t)hist->counts[i] << 1 | (i != next));
                if (i != next)
                        at = dbio_varint_put(at, i - next);
                next = i + 1;
        }
        return (size_t)(at - code);
}

int dbio_hist_decode(struct dbio_hist *into, const unsigned char *code, size_t size)
{
        const unsigned char *at = code, *end = code + size;
        uint64_t count, overflow, sum, max, gap, n, index = 0;
        double squares;

        if (size == 0)
                return 0;
        at = dbio_varint_get(at, end, &count);
        at = dbio_varint_get(at, end, &overflow);
        at = dbio_varint_get(at, end, &sum);
        at = dbio_varint_get(at, end, &max);
        if (!at || (size_t)(end - at) < sizeof squares || overflow > count)
                return -1;
        memcpy(&squares, at, sizeof squares);
        at += sizeof squares;
        while (at < end) {
                gap = 0;
                at = dbio_varint_get(at, end, &n);
                if (at && n & 1)
                        at = dbio_varint_get(at, end, &gap);
                n >>= 1;
                if (!at || gap >= DBIO_HIST_COUNTS || (index += gap) >= DBIO_HIST_COUNTS)
                        return -1;
                if (into->count == into->overflow) {
                        into->low = into->high = (uint32_t)index;
                } else {
                        if (index < into->low)
                                into->low = (uint32_t)index;
                        if (index > into->high)
                                into->high = (uint32_t)index;
                }
                into->counts[index] += n;
                into->count += n;
                index++;
        }
        into->count += overflow;
        into->overflow += overflow;
        into->sum_ns += sum;
        into->sum_squares += squares;
        if (max > into->max_ns)
                into->max_ns = max;
        return 0;
}
