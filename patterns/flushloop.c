#include "patterns/flushloop.h"

#include <math.h>

/* LOG_CHECKPOINT_FREE_PER_THREAD pages for each of 10 + innodb_thread_concurrency (0) threads, and
 * LOG_CHECKPOINT_EXTRA_FREE pages. */
#define FREE_THREADS    10.0
#define FREE_PER_THREAD 4.0
#define EXTRA_FREE      8.0
#define LOG_FILE_HEADER 2048.0

static struct dbio_redo_limits limits_before_8_0_30(double capacity, double page)
{
        double c = 0.9 * (capacity - 2 * LOG_FILE_HEADER);
        double m = 0.9 * (c - (FREE_PER_THREAD * FREE_THREADS + EXTRA_FREE) * page);

        return (struct dbio_redo_limits){.free = c, .age = m * 7 / 8, .sync = m * 15 / 16, .hard = m};
}

static struct dbio_redo_limits limits_from_8_0_30(double capacity, double page)
{
        double hard = 512 * floor((capacity * 30 / 32 - 31 * LOG_FILE_HEADER - 131072 - 0.1 * capacity / 32) / 512);
        double soft = 0.95 * hard;
        double margin = 0.05 * soft + FREE_PER_THREAD * page * FREE_THREADS + 4096;

        return (struct dbio_redo_limits){
                .free = soft - margin, .age = soft * 7 / 8 - margin, .sync = soft * 15 / 16 - margin, .hard = hard};
}

struct dbio_redo_limits dbio_redo_limits(uint64_t version, uint64_t capacity, uint64_t page)
{
        return version >= 804 ? limits_from_8_0_30((double)capacity, (double)page)
                              : limits_before_8_0_30((double)capacity, (double)page);
}

static unsigned flush_pct_dirty(const struct dbio_flushloop *loop, double dirty_pct)
{
        if (dirty_pct <= 0)
                return 0;
        if (loop->max_dirty_pct_lwm <= 0)
                return dirty_pct >= loop->max_dirty_pct ? 100 : 0;
        if (dirty_pct < loop->max_dirty_pct_lwm)
                return 0;
        return (unsigned)(100 * dirty_pct / (loop->max_dirty_pct + 1));
}

unsigned dbio_flush_pct_lsn(const struct dbio_flushloop *loop, double age)
{
        double a;

        if (loop->limits.age <= 0 || age < loop->adaptive_lwm / 100 * loop->limits.free)
                return 0;
        if (!loop->adaptive && age < loop->limits.age)
                return 0;
        a = 100 * age / loop->limits.age;
        if (loop->version < 804)
                a = floor(a);
        return (unsigned)(floor(loop->io_capacity_max / loop->io_capacity) * a * sqrt(a) / 7.5);
}

static void take_averages(struct dbio_flushloop *loop, const struct dbio_flush_input *input)
{
        double elapsed = (double)(input->now_ns - loop->avg_from_ns) / 1e9;

        loop->sum_pages += input->pages_flushed;
        if (++loop->loops < loop->avg_loops && elapsed < loop->avg_loops)
                return;
        if (elapsed < 1)
                elapsed = 1;
        loop->page_avg_rate = floor((loop->sum_pages / elapsed + loop->page_avg_rate) / 2);
        loop->lsn_avg_rate = floor(((input->lsn - loop->avg_from_lsn) / elapsed + loop->lsn_avg_rate) / 2);
        loop->avg_from_ns = input->now_ns;
        loop->avg_from_lsn = input->lsn;
        loop->sum_pages = 0;
        loop->loops = 0;
}

struct dbio_flush_target dbio_flushloop_turn(struct dbio_flushloop *loop, const struct dbio_flush_input *input)
{
        struct dbio_flush_target target = {.pct_dirty = flush_pct_dirty(loop, input->dirty_pct)};
        bool logged = input->lsn > loop->last_lsn;
        double pct, pages;

        take_averages(loop, input);
        loop->last_lsn = input->lsn;
        /* Nothing logged since the last turn: the redo part is left out. */
        if (logged)
                target.pct_lsn = dbio_flush_pct_lsn(loop, input->age);
        pct = target.pct_dirty > target.pct_lsn ? target.pct_dirty : target.pct_lsn;
        if (loop->version < 507) {
                pages = floor((loop->io_capacity * pct / 100 + loop->page_avg_rate) / 2);
        } else {
                if (logged) {
                        target.pages_lsn = floor(input->pages_within(input->user, 3 * loop->lsn_avg_rate) / 3);
                        target.pages_lsn = fmin(target.pages_lsn, 2 * loop->io_capacity_max);
                        target.pages_lsn = fmax(target.pages_lsn, 1);
                }
                pages = floor((loop->io_capacity * pct / 100 + loop->page_avg_rate + target.pages_lsn) / 3);
        }
        pages = fmin(pages, loop->io_capacity_max);
        target.sync = loop->limits.sync > 0 && input->age > loop->limits.sync;
        if (target.sync)
                pages = fmax(target.pages_lsn, loop->io_capacity);
        target.pages = (unsigned)pages;
        return target;
}
