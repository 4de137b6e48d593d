/* Histogram of times in HdrHistogram's own layout: two significant digits, 1 ns to 24 h (source: HdrHistogram's
 * published layout: 256 sub-buckets, 128 of them used from the second bucket on). Bucket width <= value/128. */
#ifndef DBIO_ENGINE_HIST_H
#define DBIO_ENGINE_HIST_H

#include <stdint.h>

#define DBIO_HIST_MAX_NS (24ull * 3600 * 1000000000)
#define DBIO_HIST_SUB 256u
#define DBIO_HIST_BUCKETS 40u /* powers of two above the first 256 values needed to reach 24 h */
#define DBIO_HIST_COUNTS (DBIO_HIST_SUB / 2 * (DBIO_HIST_BUCKETS + 1))

/* Zero-initialised is empty. Sums are exact, so means and totals do not suffer from the buckets. */
struct dbio_hist {
        uint64_t count;      /* values added, overflow included */
        uint64_t overflow;   /* values above DBIO_HIST_MAX_NS */
        uint64_t sum_ns;
        double sum_squares;  /* of ns */
        uint64_t max_ns;
        uint32_t low, high;  /* lowest and highest index counted; without meaning while count == overflow */
        uint64_t counts[DBIO_HIST_COUNTS]; /* 64 bits: 200,000 a second pass 2^32 in six hours */
};

/* Index of the bucket of a value, and the highest value equivalent to it. */
static inline uint32_t dbio_hist_index(uint64_t ns)
{
        unsigned shift = 56 - (unsigned)__builtin_clzll(ns | 255);
        return shift * 128 + (uint32_t)(ns >> shift);
}
uint64_t dbio_hist_highest(uint32_t index);

static inline void dbio_hist_add(struct dbio_hist *hist, uint64_t ns)
{
        hist->sum_ns += ns;
        hist->sum_squares += (double)ns * (double)ns;
        if (ns > hist->max_ns)
                hist->max_ns = ns;
        if (__builtin_expect(ns > DBIO_HIST_MAX_NS, 0)) {
                hist->count++;
                hist->overflow++;
                return;
        }
        uint32_t index = dbio_hist_index(ns);
        if (hist->count++ == hist->overflow) {
                hist->low = hist->high = index;
        } else {
                if (index < hist->low)
                        hist->low = index;
                if (index > hist->high)
                        hist->high = index;
        }
        hist->counts[index]++;
}

/* Adds the values of `from`: the sum is as if each had been added. Either may be empty. */
void dbio_hist_merge(struct dbio_hist *into, const struct dbio_hist *from);
void dbio_hist_reset(struct dbio_hist *hist); /* clears only what was touched */

/* p in (0, 1]: highest value equivalent to the bucket of the ceil(p*n)-th smallest, never above the exact maximum.
 * 0 where empty. */
uint64_t dbio_hist_percentile(const struct dbio_hist *hist, double p);

#endif
