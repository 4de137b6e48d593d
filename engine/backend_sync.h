/* Carrying out one io by plain system calls: all of backend sync, and what the asynchronous ones cannot do. */
#ifndef DBIO_ENGINE_BACKEND_SYNC_H
#define DBIO_ENGINE_BACKEND_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/backend.h"

/* Whether fd is a block device: trims of those are discards, of files holes. */
bool dbio_fd_is_block(int fd);

/* Carries io out and returns bytes moved (0 for fsync and trim), or -errno. Write-through is RWF_DSYNC, which the kernel
 * turns into FUA where the device has it. EINTR is not an outcome: the call is made again. */
int64_t dbio_io_execute(int fd, bool block, const struct dbio_io *io);

/* Sleeps until the real clock shows until_ns. */
void dbio_sleep_until(uint64_t until_ns);

#endif
