#include "engine/backend_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static int trim(const struct dbio_file *file, const struct dbio_io *io, uint64_t at)
{
        if (file->block) {
                uint64_t range[2] = {at, io->length};

                return ioctl(file->fd, BLKDISCARD, range);
        }
        return fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)io->length);
}

static ssize_t once(const struct dbio_file *file, const struct dbio_io *io)
{
        struct iovec part = {.iov_base = io->buffer, .iov_len = io->length};
        uint64_t at = file->base + io->offset;

        switch (io->kind) {
        case DBIO_READ:
                return pread(file->fd, io->buffer, io->length, (off_t)at);
        case DBIO_WRITE:
                return pwritev2(file->fd, &part, 1, (off_t)at,
                                io->flags & (DBIO_OP_DSYNC | DBIO_OP_FUA) ? RWF_DSYNC : 0);
        case DBIO_FSYNC:
                return io->flags & DBIO_OP_DATASYNC ? fdatasync(file->fd) : fsync(file->fd);
        case DBIO_TRIM:
                return trim(file, io, at);
        default:
                errno = EINVAL;
                return -1;
        }
}

int64_t dbio_io_execute(const struct dbio_file *file, const struct dbio_io *io)
{
        ssize_t moved;

        do {
                moved = once(file, io);
        } while (moved < 0 && errno == EINTR);
        return moved < 0 ? -errno : moved;
}

struct sync_state {
        struct dbio_clock *clock;
        const struct dbio_file *files;
        unsigned max_inflight;
        unsigned head, ndone;  /* done is a ring: ios leave in the order in which they came */
        struct dbio_io **done; /* max_inflight entries */
};

static int sync_open(void **out, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct sync_state *s = calloc(1, sizeof *s);

        if (s)
                s->done = calloc(env->max_inflight, sizeof *s->done);
        if (!s || !s->done) {
                free(s);
                return dbio_err_set(err, DBIO_IO, "sync: out of memory for %u ios in flight", env->max_inflight);
        }
        s->clock = env->clock;
        s->files = env->files;
        s->max_inflight = env->max_inflight;
        *out = s;
        return 0;
}

/* One io a call, so that the caller's stamp before the call is the io's own. */
static int sync_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct sync_state *s = state;

        if (nr == 0 || s->ndone == s->max_inflight)
                return 0;
        ios[0]->result = dbio_io_execute(&s->files[ios[0]->file], ios[0]);
        s->done[(s->head + s->ndone++) % s->max_inflight] = ios[0];
        return 1;
}

static int sync_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct sync_state *s = state;
        unsigned nr = 0;

        if (min > max)
                min = max;
        /* Nothing more can become ready, so a wait for more than there is lasts until the given time; without one it
         * would never end. */
        if (s->ndone < min && until_ns != UINT64_MAX && until_ns > dbio_clock_now(s->clock))
                dbio_clock_sleep_until(s->clock, until_ns);
        while (nr < max && s->ndone > 0) {
                done[nr++] = s->done[s->head];
                s->head = (s->head + 1) % s->max_inflight;
                s->ndone--;
        }
        return (int)nr;
}

static void sync_close(void *state)
{
        struct sync_state *s = state;

        if (!s)
                return;
        free(s->done);
        free(s);
}

const struct dbio_backend dbio_backend_sync = {
        .name = "sync",
        .summary = "one system call at a time: pread, pwritev2, fsync",
        .open = sync_open,
        .submit = sync_submit,
        .reap = sync_reap,
        .close = sync_close,
};
