/* Linux native AIO: batched io_submit; completions are read from the ring that the kernel maps into the process where
 * its layout is the known one (magic of fs/aio.c), so that a busy worker makes no call for them. */
#include "engine/backend_sync.h"

#include <errno.h>
#include <libaio.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_MAGIC 0xa10a10a1u

/* fs/aio.c: struct aio_ring. The kernel moves tail, we move head. */
struct aio_ring {
        unsigned id, nr, head, tail, magic, compat_features, incompat_features, header_length;
        struct io_event events[];
};

struct aio_state {
        struct dbio_clock *clock;
        const struct dbio_file *files;
        io_context_t context;
        struct aio_ring *ring;  /* NULL where it cannot be read */
        unsigned max_inflight;
        unsigned inflight;      /* in the kernel */
        struct iocb *iocbs;     /* by slot */
        struct dbio_io **ios;   /* by slot */
        struct iocb **batch;
        struct io_event *events;
        unsigned inline_head, ninline;
        struct dbio_io **inlined; /* ring of ios done inside submit: trims and those that the kernel did not take */
};

static void aio_close(void *state)
{
        struct aio_state *s = state;

        if (!s)
                return;
        if (s->context)
                io_destroy(s->context); /* waits for what is in flight */
        free(s->iocbs);
        free(s->ios);
        free(s->batch);
        free(s->events);
        free(s->inlined);
        free(s);
}

static int allocate(struct aio_state *s, const struct dbio_backend_env *env)
{
        s->iocbs = calloc(env->max_inflight, sizeof *s->iocbs);
        s->ios = calloc(env->max_inflight, sizeof *s->ios);
        s->batch = calloc(env->max_inflight, sizeof *s->batch);
        s->events = calloc(env->max_inflight, sizeof *s->events);
        s->inlined = calloc(env->max_inflight, sizeof *s->inlined);
        return s->iocbs && s->ios && s->batch && s->events && s->inlined ? 0 : -1;
}

static int aio_open(void **out, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct aio_state *s = calloc(1, sizeof *s);
        int code;

        if (!s || allocate(s, env) != 0) {
                aio_close(s);
                return dbio_err_set(err, DBIO_IO, "libaio: out of memory for %u ios in flight", env->max_inflight);
        }
        s->clock = env->clock;
        s->files = env->files;
        s->max_inflight = env->max_inflight;
        code = io_setup((int)env->max_inflight, &s->context);
        if (code < 0) {
                aio_close(s);
                return dbio_err_set(err, DBIO_IO, "libaio: io_setup for %u ios in flight: %s%s", env->max_inflight,
                                    strerror(-code), code == -EAGAIN ? " (raise the sysctl fs.aio-max-nr)" : "");
        }
        s->ring = (struct aio_ring *)s->context;
        if (s->ring->magic != RING_MAGIC || s->ring->incompat_features != 0 ||
            s->ring->header_length != sizeof *s->ring)
                s->ring = NULL;
        *out = s;
        return 0;
}

static void complete_inline(struct aio_state *s, struct dbio_io *io, int64_t result)
{
        io->result = result;
        s->inlined[(s->inline_head + s->ninline++) % s->max_inflight] = io;
}

static void prepare(struct aio_state *s, struct dbio_io *io)
{
        static const short opcodes[] = {
                [DBIO_READ] = IO_CMD_PREAD, [DBIO_WRITE] = IO_CMD_PWRITE, [DBIO_FSYNC] = IO_CMD_FSYNC};
        struct iocb *cb = &s->iocbs[io->slot];

        memset(cb, 0, sizeof *cb);
        cb->aio_fildes = s->files[io->file].fd;
        cb->aio_lio_opcode = opcodes[io->kind];
        cb->data = io;
        if (io->kind == DBIO_FSYNC) {
                if (io->flags & DBIO_OP_DATASYNC)
                        cb->aio_lio_opcode = IO_CMD_FDSYNC;
                return;
        }
        cb->u.c.buf = io->buffer;
        cb->u.c.nbytes = io->length;
        cb->u.c.offset = (long long)(s->files[io->file].base + io->offset);
        if (io->kind == DBIO_WRITE && io->flags & (DBIO_OP_DSYNC | DBIO_OP_FUA))
                cb->aio_rw_flags = RWF_DSYNC;
}

/* Hands the batch over. Returns how many of it were taken, refused ones among them, or -errno. */
static int hand_over(struct aio_state *s, unsigned nr)
{
        unsigned done = 0;

        while (done < nr) {
                int code = io_submit(s->context, (long)(nr - done), s->batch + done);

                if (code > 0) {
                        done += (unsigned)code;
                        s->inflight += (unsigned)code;
                } else if (code == -EAGAIN && s->inflight > 0) {
                        break; /* full: completions will make room */
                } else if (code == -EINTR) {
                        continue;
                } else if (code == -EFAULT || code == -ENOSYS || code == 0) {
                        return code ? code : -EIO;
                } else {
                        /* io_submit stops at the first iocb that it refuses: that io has failed, the rest has not. */
                        complete_inline(s, s->batch[done]->data, code);
                        done++;
                }
        }
        return (int)done;
}

static int aio_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct aio_state *s = state;
        unsigned room = s->max_inflight - s->inflight - s->ninline, taken = 0;

        if (nr > room)
                nr = room;
        while (taken < nr) {
                unsigned batch = 0;
                int code;

                for (; taken + batch < nr && ios[taken + batch]->kind != DBIO_TRIM; batch++) {
                        struct dbio_io *io = ios[taken + batch];

                        prepare(s, io);
                        s->batch[batch] = &s->iocbs[io->slot];
                }
                if (batch > 0) {
                        code = hand_over(s, batch);
                        if (code < 0)
                                return code;
                        taken += (unsigned)code;
                        if ((unsigned)code < batch)
                                break;
                }
                for (; taken < nr && ios[taken]->kind == DBIO_TRIM; taken++) {
                        /* The kernel has no asynchronous form of it. */
                        complete_inline(s, ios[taken], dbio_io_execute(&s->files[ios[taken]->file], ios[taken]));
                }
        }
        return (int)taken;
}

static unsigned take_inline(struct aio_state *s, struct dbio_io **done, unsigned max)
{
        unsigned nr = 0;

        while (nr < max && s->ninline > 0) {
                done[nr++] = s->inlined[s->inline_head];
                s->inline_head = (s->inline_head + 1) % s->max_inflight;
                s->ninline--;
        }
        return nr;
}

static struct dbio_io *finish(struct aio_state *s, const struct io_event *event)
{
        struct dbio_io *io = event->data;

        io->result = (int64_t)event->res;
        s->inflight--;
        return io;
}

static unsigned take_ring(struct aio_state *s, struct dbio_io **done, unsigned max)
{
        struct aio_ring *ring = s->ring;
        unsigned head = ring->head, nr = 0;
        unsigned tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

        while (nr < max && head != tail) {
                done[nr++] = finish(s, &ring->events[head]);
                head = head + 1 == ring->nr ? 0 : head + 1;
        }
        if (nr > 0)
                __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
        return nr;
}

/* Straight to the kernel: the library's own look at the ring would only be made twice. until_ns 0 polls. */
static int take_kernel(struct aio_state *s, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct timespec timeout = {0}, *wait = &timeout;
        uint64_t now = until_ns == 0 || until_ns == UINT64_MAX ? 0 : dbio_clock_now(s->clock);
        long code;

        if (max > s->max_inflight)
                max = s->max_inflight;
        if (min > max)
                min = max;
        if (until_ns == UINT64_MAX) {
                wait = NULL;
        } else if (until_ns > now) {
                timeout.tv_sec = (time_t)((until_ns - now) / 1000000000);
                timeout.tv_nsec = (long)((until_ns - now) % 1000000000);
        }
        code = syscall(SYS_io_getevents, s->context, (long)min, (long)max, s->events, wait);
        if (code < 0)
                return errno == EINTR ? 0 : -errno;
        for (long i = 0; i < code; i++)
                done[i] = finish(s, &s->events[i]);
        return (int)code;
}

static int take_ready(struct aio_state *s, struct dbio_io **done, unsigned max)
{
        if (max == 0 || s->inflight == 0)
                return 0;
        return s->ring ? (int)take_ring(s, done, max) : take_kernel(s, done, 0, max, 0);
}

static int aio_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct aio_state *s = state;
        unsigned nr = take_inline(s, done, max);
        int code = take_ready(s, done + nr, max - nr);

        if (code < 0)
                return code;
        nr += (unsigned)code;
        if (min > max)
                min = max;
        while (nr < min && until_ns != 0) {
                unsigned want = min - nr;

                /* More than is in flight cannot come; without a time to end at, the wait for it would not end. */
                if (until_ns == UINT64_MAX && want > s->inflight)
                        want = s->inflight;
                if (want == 0)
                        break;
                if (s->inflight == 0) {
                        dbio_clock_sleep_until(s->clock, until_ns);
                        break;
                }
                code = take_kernel(s, done + nr, want, max - nr, until_ns);
                if (code < 0)
                        return code;
                nr += (unsigned)code;
                if (nr < min && until_ns != UINT64_MAX && dbio_clock_now(s->clock) >= until_ns)
                        break;
        }
        return (int)nr;
}

const struct dbio_backend dbio_backend_libaio = {
        .name = "libaio",
        .summary = "Linux native AIO, batched; completions read from the kernel's ring without a call",
        .open = aio_open,
        .submit = aio_submit,
        .reap = aio_reap,
        .close = aio_close,
};
