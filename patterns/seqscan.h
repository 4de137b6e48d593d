/* Scans that read what lies there from one end to the other, so many reads ahead (myisam.scan, postgres.seq_scan). */
#ifndef DBIO_PATTERNS_SEQSCAN_H
#define DBIO_PATTERNS_SEQSCAN_H

#include "patterns/flow.h"

struct dbio_seqscan_spec {
        struct dbio_due_keys due;
        uint64_t pages;       /* of a pass; DBIO_UNSET = the whole region */
        uint64_t read_bytes;  /* the longest read, rounded down to pages; none crosses the end of a file */
        const char *read_key; /* where that comes from, for messages */
        unsigned reads;       /* most in flight: 1 at a pass's beginning, twice as many after each read */
};

/* The entry of `pages` in a field table. */
#define DBIO_SEQSCAN_PAGES(offset)                                                                                     \
        {"pages", DBIO_FIELD_COUNT, offset, NULL, 1, 1e12,                                                             \
         "length of a pass in pages of the target, from a place of its own; all of the region from its beginning "     \
         "unless given", "judgement", 0, NULL, NULL}

/* Errors: a read without a page, a pass longer than the region, memory. */
int dbio_seqscan_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                         const struct dbio_seqscan_spec *spec, struct dbio_stream *out, struct dbio_err *err);

#endif
