/* InnoDB's adaptive flushing: how many pages the page cleaner is asked for, once a second. Pure arithmetic, no ops.
 *
 * Rules and constants: MySQL's sources (buf0flu.cc set_flush_target_by_lsn, log0log.cc,
 * log0files_capacity.cc). LSNs and ages are bytes of the redo log, headers of its blocks included.
 */
#ifndef DBIO_PATTERNS_FLUSHLOOP_H
#define DBIO_PATTERNS_FLUSHLOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Ages of the oldest dirty page at which InnoDB does more. */
struct dbio_redo_limits {
        double free; /* L_free: base of adaptive_flushing_lwm */
        double age;  /* L_age: base of the age factor */
        double sync; /* beyond it the cleaner does not sleep ("furious" flushing) */
        double hard; /* beyond it nothing more is logged */
};
/* version as in struct dbio_stream_keys (804: the rules of 8.0.30 and later); page in bytes; file_size (before 8.0.30)
 * = capacity / 2. */
struct dbio_redo_limits dbio_redo_limits(uint64_t version, uint64_t capacity, uint64_t page);

struct dbio_flushloop {
        uint64_t version;
        double io_capacity, io_capacity_max;
        double max_dirty_pct, max_dirty_pct_lwm, adaptive_lwm;
        bool adaptive;
        unsigned avg_loops;             /* innodb_flushing_avg_loops */
        struct dbio_redo_limits limits; /* all 0 without a redo log */
        /* State. */
        double page_avg_rate, lsn_avg_rate;
        double sum_pages;
        double avg_from_lsn;
        uint64_t avg_from_ns;
        unsigned loops;
        double last_lsn;
};

struct dbio_flush_input {
        uint64_t now_ns;
        double dirty_pct; /* of the pages in the buffer pool */
        double lsn, age;
        double pages_flushed; /* from the flush list since the last call */
        /* Dirty pages whose oldest change is at most `lsn_span` after the oldest of all. */
        double (*pages_within)(void *user, double lsn_span);
        void *user;
};

struct dbio_flush_target {
        unsigned pages; /* n_to_flush_requested */
        unsigned pct_dirty, pct_lsn;
        double pages_lsn;
        bool sync; /* no sleep before the next round */
};

/* floor((io_max DIV io_cap) · a·sqrt(a) / 7.5), a = 100·age/L_age; 0 below the low-water mark. */
unsigned dbio_flush_pct_lsn(const struct dbio_flushloop *loop, double age);
struct dbio_flush_target dbio_flushloop_turn(struct dbio_flushloop *loop, const struct dbio_flush_input *input);

#endif
