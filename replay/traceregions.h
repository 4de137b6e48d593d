/* Compaction: what a trace never touches takes no room on its targets. */
#ifndef DBIO_REPLAY_TRACEREGIONS_H
#define DBIO_REPLAY_TRACEREGIONS_H

#include "replay/trace.h"

#define DBIO_TRACE_REGION_BYTES ((uint64_t)1 << 20)

struct dbio_trace_regions;

/* Reads a trace to its end and keeps, for each of its targets, which regions of 1 MiB its ops touch. Arguments as for
 * dbio_trace_feed_open, whose errors it gives; DBIO_USAGE where a path is no regular file and so cannot be read again.
 * Takes up to 48 bytes of memory for each run of touched regions. The caller frees what it gets. */
int dbio_trace_regions_find(struct dbio_trace_regions **regions, const char *format_name, const char *const *paths,
                            unsigned npaths, const struct dbio_trace_options *options, struct dbio_err *err);
/* Where a byte of a target lies once the regions below it that no op touches are taken out; order and neighbours stay. The
 * byte is one that an op touches, and targets are numbered in the order in which the trace meets them. */
uint64_t dbio_trace_regions_place(const struct dbio_trace_regions *regions, unsigned target, uint64_t offset);
/* Bytes taken out, below the last region that is touched, over all targets. */
uint64_t dbio_trace_regions_gaps(const struct dbio_trace_regions *regions);
void dbio_trace_regions_free(struct dbio_trace_regions *regions); /* accepts NULL */

#endif
