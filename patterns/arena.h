/* Memory that is freed all at once: for trees and tables whose size the input's limits bound. Ends the program by
 * abort() when the system has no memory left. Not for several threads at a time. */
#ifndef DBIO_PATTERNS_ARENA_H
#define DBIO_PATTERNS_ARENA_H

#include <stddef.h>

struct dbio_arena;

struct dbio_arena *dbio_arena_new(void); /* never NULL */
void dbio_arena_free(struct dbio_arena *arena);                /* accepts NULL */
void *dbio_arena_alloc(struct dbio_arena *arena, size_t size); /* zeroed */
/* Terminated copies. */
char *dbio_arena_text(struct dbio_arena *arena, const char *text, size_t size);
char *dbio_arena_format(struct dbio_arena *arena, const char *format, ...)
        __attribute__((format(printf, 2, 3), nonnull));

#endif
