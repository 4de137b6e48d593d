/* What differs between the demands of two workloads, in words for compare and diff. */
#ifndef DBIO_REPLAY_DIFFERENCES_H
#define DBIO_REPLAY_DIFFERENCES_H

/* Of two resolved texts: a line a key that differs, `streams.checkpoint.every      60s -> 10s`; keys that do not change
 * the demand (bindings, limits, hba …) are left out. Malloced, "" where nothing differs; NULL where a text is missing,
 * cannot be parsed, or memory ran out. */
char *dbio_differences(const char *base, const char *new_);

#endif
