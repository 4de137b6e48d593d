/* io_uring: one ring a worker, arena and files registered, batched submit, waits with a timeout in the same call. */
#include "engine/backend_sync.h"

#include <errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

/* The kernel takes at most 1 GiB as one registered buffer. */
#define CHUNK_SHIFT 30
#define CHUNK_BYTES ((size_t)1 << CHUNK_SHIFT)
#define MAX_ENTRIES 32768u /* io_uring_setup(2), IORING_MAX_ENTRIES */
#define CMD_DISCARD _IO(0x12, 0) /* linux/blkdev.h since 6.12: BLOCK_URING_CMD_DISCARD */

struct uring_state {
        struct io_uring ring;
        struct dbio_clock *clock;
        const struct dbio_file *files;
        char *arena;
        size_t fixed_bytes;    /* of the arena, registered; 0 where the kernel refused */
        bool fixed_files;
        bool opened;
        unsigned max_inflight;
        unsigned inflight;     /* in the ring, handed over or not */
};

static void uring_close(void *state)
{
        struct uring_state *s = state;

        if (!s)
                return;
        if (s->opened) {
                /* Buffers must not be freed under the kernel's hands: what is in flight ends first. */
                while (s->inflight > 0) {
                        struct io_uring_cqe *cqe;

                        if (io_uring_submit_and_wait(&s->ring, 1) < 0 || io_uring_peek_cqe(&s->ring, &cqe) != 0)
                                break;
                        io_uring_cqe_seen(&s->ring, cqe);
                        s->inflight--;
                }
                /* The ring's end is worked off later; the files are let go of now. */
                io_uring_unregister_files(&s->ring);
                io_uring_queue_exit(&s->ring);
        }
        free(s);
}

/* From what serves a single-threaded owner best down to what every kernel takes. */
static int set_up_ring(struct uring_state *s, unsigned entries)
{
        static const unsigned flags[] = {
                IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN |
                        IORING_SETUP_TASKRUN_FLAG,
                IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
                0,
        };
        int code = -EINVAL;

        for (size_t i = 0; i < sizeof flags / sizeof *flags && code == -EINVAL; i++)
                code = io_uring_queue_init(entries, &s->ring, flags[i]);
        return code;
}

static void register_arena(struct uring_state *s, const struct dbio_backend_env *env)
{
        size_t chunks = (env->arena_bytes + CHUNK_BYTES - 1) >> CHUNK_SHIFT;
        struct iovec *parts = chunks ? calloc(chunks, sizeof *parts) : NULL;

        if (!parts)
                return;
        for (size_t i = 0; i < chunks; i++) {
                size_t left = env->arena_bytes - (i << CHUNK_SHIFT);

                parts[i].iov_base = s->arena + (i << CHUNK_SHIFT);
                parts[i].iov_len = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        }
        if (io_uring_register_buffers(&s->ring, parts, (unsigned)chunks) == 0)
                s->fixed_bytes = env->arena_bytes;
        free(parts);
}

static void register_files(struct uring_state *s, const struct dbio_backend_env *env)
{
        int *fds = env->nfiles ? calloc(env->nfiles, sizeof *fds) : NULL;

        if (!fds)
                return;
        for (unsigned i = 0; i < env->nfiles; i++)
                fds[i] = env->files[i].fd;
        s->fixed_files = io_uring_register_files(&s->ring, fds, env->nfiles) == 0;
        free(fds);
}

static int uring_open(void **out, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct uring_state *s = calloc(1, sizeof *s);
        unsigned entries = env->max_inflight < MAX_ENTRIES ? env->max_inflight : MAX_ENTRIES;
        int code = s ? set_up_ring(s, entries) : -ENOMEM;

        if (code < 0) {
                uring_close(s);
                return dbio_err_set(err, DBIO_IO, "io_uring: %s%s", strerror(-code),
                                    code == -EPERM ? " (see the sysctl kernel.io_uring_disabled)" : "");
        }
        s->opened = true;
        s->clock = env->clock;
        s->files = env->files;
        s->max_inflight = env->max_inflight;
        s->arena = env->arena;
        register_arena(s, env);
        register_files(s, env);
        if (!(s->ring.features & IORING_FEAT_EXT_ARG)) {
                uring_close(s);
                return dbio_err_set(err, DBIO_IO, "io_uring: the kernel is older than 5.11 and cannot wait with a time");
        }
        *out = s;
        return 0;
}

/* Index of the registered buffer that holds the io's, or -1. */
static int fixed_index(const struct uring_state *s, const struct dbio_io *io)
{
        size_t at = (size_t)((char *)io->buffer - s->arena);

        if ((char *)io->buffer < s->arena || at + io->length > s->fixed_bytes ||
            at >> CHUNK_SHIFT != (at + io->length - 1) >> CHUNK_SHIFT)
                return -1;
        return (int)(at >> CHUNK_SHIFT);
}

static void prepare(struct uring_state *s, struct io_uring_sqe *sqe, struct dbio_io *io)
{
        const struct dbio_file *file = &s->files[io->file];
        int fd = s->fixed_files ? io->file : file->fd;
        uint64_t at = file->base + io->offset;
        int fixed;

        switch (io->kind) {
        case DBIO_READ:
                fixed = fixed_index(s, io);
                if (fixed >= 0)
                        io_uring_prep_read_fixed(sqe, fd, io->buffer, io->length, at, fixed);
                else
                        io_uring_prep_read(sqe, fd, io->buffer, io->length, at);
                break;
        case DBIO_WRITE:
                fixed = fixed_index(s, io);
                if (fixed >= 0)
                        io_uring_prep_write_fixed(sqe, fd, io->buffer, io->length, at, fixed);
                else
                        io_uring_prep_write(sqe, fd, io->buffer, io->length, at);
                if (io->flags & (DBIO_OP_DSYNC | DBIO_OP_FUA))
                        sqe->rw_flags = RWF_DSYNC;
                break;
        case DBIO_TRIM:
                if (file->block) {
                        /* A hole in a device would be written as zeros where it cannot do better: a trim is a discard. */
                        io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
                        sqe->cmd_op = CMD_DISCARD;
                        sqe->addr = at;
                        sqe->addr3 = io->length;
                        break;
                }
                io_uring_prep_fallocate(sqe, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                                        (off_t)io->length);
                break;
        default:
                io_uring_prep_fsync(sqe, fd, io->flags & DBIO_OP_DATASYNC ? IORING_FSYNC_DATASYNC : 0);
                break;
        }
        if (s->fixed_files)
                sqe->flags |= IOSQE_FIXED_FILE;
        io_uring_sqe_set_data(sqe, io);
}

/* What the kernel does not take now (EAGAIN, EBUSY: completions first) stays in the ring for the next call. */
static int hand_over(struct uring_state *s)
{
        int code = io_uring_submit(&s->ring);

        return code == -EAGAIN || code == -EBUSY || code == -EINTR ? 0 : code;
}

/* An io that is all alone goes with the wait for it, in one call: it is the reap that hands it over, and nothing else
 * could complete unnoticed meanwhile. */
static bool alone(const struct uring_state *s)
{
        return s->inflight == 1 && io_uring_sq_ready(&s->ring) == 1;
}

static int uring_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct uring_state *s = state;
        unsigned room = s->max_inflight - s->inflight, taken;
        int code = io_uring_sq_ready(&s->ring) > 0 ? hand_over(s) : 0; /* ios of two calls may touch: never in one */

        if (code < 0)
                return code;
        for (taken = 0; taken < nr && taken < room; taken++) {
                struct dbio_io *io = ios[taken];
                struct io_uring_sqe *sqe;

                sqe = io_uring_get_sqe(&s->ring);
                if (!sqe)
                        break;
                prepare(s, sqe, io);
                s->inflight++;
        }
        code = io_uring_sq_ready(&s->ring) > 0 && !alone(s) ? hand_over(s) : 0;
        return code < 0 ? code : (int)taken;
}

/* Kernels before 6.12 do not know the discard: then by ioctl, here. */
static int64_t result_of(const struct uring_state *s, const struct dbio_io *io, int result)
{
        const struct dbio_file *file = &s->files[io->file];

        if (io->kind == DBIO_TRIM && file->block && (result == -EOPNOTSUPP || result == -EINVAL))
                return dbio_io_execute(file, io);
        return result;
}

static unsigned take_ready(struct uring_state *s, struct dbio_io **done, unsigned max)
{
        unsigned nr = 0;

        while (nr < max) {
                struct io_uring_cqe *cqes[64];
                unsigned want = max - nr < 64 ? max - nr : 64;
                unsigned got = io_uring_peek_batch_cqe(&s->ring, cqes, want);

                for (unsigned i = 0; i < got; i++) {
                        struct dbio_io *io = io_uring_cqe_get_data(cqes[i]);

                        io->result = result_of(s, io, cqes[i]->res);
                        done[nr++] = io;
                }
                io_uring_cq_advance(&s->ring, got);
                s->inflight -= got;
                if (got < want)
                        break;
        }
        return nr;
}

/* Hands over what is left to be, too. Returns 0 also where the time ran out. */
static int wait_for(struct uring_state *s, unsigned want, uint64_t until_ns)
{
        struct __kernel_timespec timeout = {0};
        struct io_uring_cqe *cqe;
        uint64_t now;
        int code;

        if (until_ns == UINT64_MAX) {
                code = io_uring_submit_and_wait(&s->ring, want);
        } else {
                now = dbio_clock_now(s->clock);
                if (until_ns <= now)
                        return hand_over(s);
                timeout.tv_sec = (long long)((until_ns - now) / 1000000000);
                timeout.tv_nsec = (long long)((until_ns - now) % 1000000000);
                code = io_uring_submit_and_wait_timeout(&s->ring, &cqe, want, &timeout, NULL);
        }
        return code == -ETIME || code == -EINTR || code == -EAGAIN || code == -EBUSY ? 0 : code;
}

static int uring_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct uring_state *s = state;
        unsigned nr = 0;
        int code;

        if (min > max)
                min = max;
        if (io_uring_sq_ready(&s->ring) > 0 && !(alone(s) && min > 0 && until_ns != 0)) {
                code = hand_over(s);
                if (code < 0)
                        return code;
        }
        if (max > 0)
                nr = take_ready(s, done, max);
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
                code = wait_for(s, want, until_ns);
                if (code < 0)
                        return code;
                nr += take_ready(s, done + nr, max - nr);
                if (nr < min && until_ns != UINT64_MAX && dbio_clock_now(s->clock) >= until_ns)
                        break;
        }
        return (int)nr;
}

const struct dbio_backend dbio_backend_io_uring = {
        .name = "io_uring",
        .summary = "io_uring with registered buffers and files, batched",
        .open = uring_open,
        .submit = uring_submit,
        .reap = uring_reap,
        .close = uring_close,
};
