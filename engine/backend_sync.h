/* Carrying out one io by plain system calls: all of backend sync, and what the asynchronous ones cannot do. */
#ifndef DBIO_ENGINE_BACKEND_SYNC_H
#define DBIO_ENGINE_BACKEND_SYNC_H

#include <stdint.h>

#include "engine/backend.h"

/* Carries io out on file and returns bytes moved (0 for fsync and trim), or -errno. Write-through is RWF_DSYNC, which the
 * kernel turns into FUA where the device has it. EINTR is not an outcome: the call is made again. */
int64_t dbio_io_execute(const struct dbio_file *file, const struct dbio_io *io);

#endif
