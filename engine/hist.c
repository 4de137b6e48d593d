#include "engine/hist.h"

#include <math.h>
#include <string.h>

uint64_t dbio_hist_highest(uint32_t index)
{
        if (index < DBIO_HIST_SUB)
                return index;
        unsigned shift = index / 128 - 1;

        return ((uint64_t)(index - shift * 128 + 1) << shift) - 1;
}

static int has_buckets(const struct dbio_hist *hist)
{
        return hist->count > hist->overflow;
}

void dbio_hist_merge(struct dbio_hist *into, const struct dbio_hist *from)
{
        if (!from->count)
                return;
        if (has_buckets(from)) {
                if (!has_buckets(into)) {
                        into->low = from->low;
                        into->high = from->high;
                }
                if (from->low < into->low)
                        into->low = from->low;
                if (from->high > into->high)
                        into->high = from->high;
                for (uint32_t i = from->low; i <= from->high; i++)
                        into->counts[i] += from->counts[i];
        }
        into->count += from->count;
        into->overflow += from->overflow;
        into->sum_ns += from->sum_ns;
        into->sum_squares += from->sum_squares;
        if (from->max_ns > into->max_ns)
                into->max_ns = from->max_ns;
}

void dbio_hist_reset(struct dbio_hist *hist)
{
        if (has_buckets(hist))
                memset(hist->counts + hist->low, 0, (hist->high - hist->low + 1) * sizeof *hist->counts);
        hist->count = hist->overflow = hist->sum_ns = hist->max_ns = 0;
        hist->sum_squares = 0;
}

uint64_t dbio_hist_percentile(const struct dbio_hist *hist, double p)
{
        if (!hist->count)
                return 0;
        uint64_t rank = (uint64_t)ceil(p * (double)hist->count), seen = 0;

        if (!rank)
                rank = 1;
        if (has_buckets(hist)) {
                for (uint32_t i = hist->low; i <= hist->high; i++) {
                        seen += hist->counts[i];
                        if (seen >= rank) {
                                uint64_t highest = dbio_hist_highest(i);

                                return highest < hist->max_ns ? highest : hist->max_ns;
                        }
                }
        }
        return hist->max_ns;
}
