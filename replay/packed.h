/* Files that are packed, which nothing here unpacks: known by their first bytes, so that the message helps. */
#ifndef DBIO_REPLAY_PACKED_H
#define DBIO_REPLAY_PACKED_H

#include <stddef.h>

#include "engine/err.h"

/* -1 and DBIO_USAGE, with the command that unpacks it, where a file of that name begins so; else 0. */
int dbio_packed_check(const char *path, const void *head, size_t size, struct dbio_err *err);

#endif
