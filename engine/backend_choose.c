#include "engine/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static bool offered(const struct dbio_backend *backend, struct dbio_err *err)
{
        struct dbio_clock clock;
        struct dbio_backend_env env = {.clock = &clock, .max_inflight = 1};
        void *state = NULL;

        dbio_clock_init_real(&clock);
        if (backend->open(&state, &env, err) != 0)
                return false;
        backend->close(state);
        return true;
}

/* Whether io_uring would hand this file's requests to kernel worker threads: files and devices without NOWAIT support
 * (bio-based devices such as zram, tmpfs). The kernel answers a read that must not block with EOPNOTSUPP there. */
static bool punts(const struct dbio_file *file)
{
        size_t bytes = file->sector ? file->sector : 512;
        size_t alignment = file->memory_alignment > 4096 ? file->memory_alignment : 4096;
        void *buffer = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        struct iovec part = {.iov_base = buffer, .iov_len = bytes};
        bool answer = false;

        if (buffer && file->fd >= 0)
                answer = preadv2(file->fd, &part, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP;
        free(buffer);
        return answer;
}

const struct dbio_backend *dbio_backend_choose(const struct dbio_file *files, unsigned nfiles, char *why, size_t size)
{
        const struct dbio_backend *uring = dbio_backend_find("io_uring"), *aio = dbio_backend_find("libaio");
        struct dbio_err no_uring = {0}, no_aio = {0};
        bool punting = false, asked = true;

        for (unsigned i = 0; i < nfiles && !punting; i++) {
                punting = punts(&files[i]);
                asked = asked && files[i].fd >= 0;
        }
        if (!punting && uring && offered(uring, &no_uring)) {
                snprintf(why, size, "the kernel offers io_uring%s",
                         asked ? " and no target makes it punt" : "; the targets are asked once they are open");
                return uring;
        }
        if (aio && offered(aio, &no_aio)) {
                snprintf(why, size, "%s", punting ? "io_uring would hand this target's requests to kernel threads"
                                                  : no_uring.message);
                return aio;
        }
        snprintf(why, size, "neither io_uring nor libaio: %s", no_aio.message);
        return dbio_backend_find("sync");
}
