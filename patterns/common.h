/* What the compile functions of patterns share. */
#ifndef DBIO_PATTERNS_COMMON_H
#define DBIO_PATTERNS_COMMON_H

#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/region.h"

/* Gives the stream n zeroed sources of `size` bytes, each beginning with its struct dbio_source, threads numbered.
 * Their class->free is to release the memory too (dbio_source_free where there is nothing else). Errors: memory. */
int dbio_stream_add_sources(struct dbio_stream *out, unsigned n, size_t size, const struct dbio_source_class *class,
                            struct dbio_err *err);
void dbio_source_free(struct dbio_source *source);
/* Adds a target to the stream's uses (or widens it); at most four, more are a bug of the pattern. */
void dbio_stream_add_use(struct dbio_stream *out, int target, bool reads, bool writes, const struct dbio_space *space);

/* The alignment of ops of `bytes` on a target: its page where that divides them, else its sector. */
uint64_t dbio_pattern_align(const struct dbio_pattern_env *env, int target, uint64_t bytes);
/* dbio_space_init of the stream's region on its main target, or (region NULL) of all of another target. */
int dbio_pattern_space(struct dbio_space *space, const struct dbio_pattern_env *env, int target,
                       const struct dbio_region *region, uint64_t op_bytes, struct dbio_err *err);
uint64_t dbio_pattern_seed(const struct dbio_pattern_env *env, unsigned thread);
/* Of the stream, whatever the phase: for what is hot. */
uint64_t dbio_pattern_hot_seed(const struct dbio_pattern_env *env);
/* Bytes of a page of the target. */
unsigned dbio_pattern_page(const struct dbio_pattern_env *env, int target);

/* A check shared by patterns with DBIO_KEYS_READ: think belongs to closed loops. */
int dbio_read_keys_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err);
/* Sets threads, depth, think, flags and load of a planned stream from those keys. rate in ops/s, NAN = closed loop. */
void dbio_stream_set_loop(struct dbio_stream *out, const struct dbio_stream_keys *keys, double rate);

/* Sets err's message and, as path, the key at fault; -1. For check functions. */
int dbio_key_error(struct dbio_err *err, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
