/* Making the files of targets, and filling what is unwritten in those that exist. */
#include "engine/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "engine/device.h"

#define BLOCK_BYTES ((size_t)4 << 20)
#define INTERLEAVE_BYTES ((uint64_t)1 << 20) /* a step where files take turns and `grow` does not say */
#define MARK "user.dbio"

static void sidecar_of(const char *path, char *sidecar)
{
        snprintf(sidecar, PATH_MAX, "%.*s.dbio", PATH_MAX - 8, path);
}

bool dbio_file_is_own(const char *path)
{
        char sidecar[PATH_MAX];

        if (getxattr(path, MARK, NULL, 0) >= 0)
                return true;
        sidecar_of(path, sidecar);
        return access(sidecar, F_OK) == 0;
}


uint64_t dbio_target_reserve(uint64_t filesystem_bytes)
{
        uint64_t share = filesystem_bytes / 20, most = (uint64_t)10 << 30;

        return share < most ? share : most;
}

/* A file that grows. */
struct growing {
        const char *path;
        int fd;
        uint64_t end, done;
        bool sidecar; /* it has been made, too */
};

static int mark_own(struct growing *file, struct dbio_err *err)
{
        char sidecar[PATH_MAX];
        int fd;

        if (fsetxattr(file->fd, MARK, "1", 1, 0) == 0)
                return 0;
        sidecar_of(file->path, sidecar);
        fd = open(sidecar, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0 && errno != EEXIST)
                return dbio_err_set(err, DBIO_IO, "%s: %s", sidecar, strerror(errno));
        if (fd >= 0) {
                file->sidecar = true;
                close(fd);
        }
        return 0;
}

static void remove_made(const struct growing *file)
{
        char sidecar[PATH_MAX];

        unlink(file->path);
        sidecar_of(file->path, sidecar);
        if (file->sidecar)
                unlink(sidecar);
}

/* What writing goes through: a buffer of fresh random bytes a block, so that nothing compresses or repeats. */
struct filler {
        const struct dbio_target_options *options;
        const char *what;
        char *buffer;
        uint64_t state;
        uint64_t done, all;
        struct dbio_err *err;
};

static int filler_init(struct filler *filler, const struct dbio_target_options *options, const char *what, uint64_t all,
                       struct dbio_err *err)
{
        *filler = (struct filler){.options = options, .what = what, .all = all, .err = err};
        if (getrandom(&filler->state, sizeof filler->state, 0) != sizeof filler->state)
                filler->state = (uint64_t)getpid();
        filler->buffer = aligned_alloc(4096, BLOCK_BYTES);
        if (options->progress)
                options->progress(options->user, what, 0, all);
        return filler->buffer ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static void refresh(struct filler *filler, size_t bytes)
{
        uint64_t *word = (uint64_t *)(void *)filler->buffer, state = filler->state;

        for (size_t i = 0; i < bytes / 8; i++) {
                uint64_t z = (state += 0x9e3779b97f4a7c15);

                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
                z = (z ^ z >> 27) * 0x94d049bb133111eb;
                word[i] = z ^ z >> 31;
        }
        filler->state = state;
}

static int fill(struct filler *filler, const char *path, int fd, uint64_t from, uint64_t bytes)
{
        while (bytes > 0) {
                size_t block = bytes < BLOCK_BYTES ? (size_t)bytes : BLOCK_BYTES;
                ssize_t n;

                if (filler->options->stop && *filler->options->stop)
                        return dbio_err_set(filler->err, DBIO_IO, "%s: interrupted", path);
                refresh(filler, block);
                n = pwrite(fd, filler->buffer, block, (off_t)from);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return dbio_err_set(filler->err, DBIO_IO, "%s: writing at %" PRIu64 ": %s", path, from,
                                            n < 0 ? strerror(errno) : "nothing was taken");
                from += (uint64_t)n;
                bytes -= (uint64_t)n;
                filler->done += (uint64_t)n;
                if (filler->options->progress)
                        filler->options->progress(filler->options->user, filler->what, filler->done, filler->all);
        }
        return 0;
}

static void set_direct(int fd, bool buffered)
{
        if (!buffered)
                fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_DIRECT); /* where it is not offered, buffered will do */
}

static int start(struct growing *file, bool buffered, struct dbio_err *err)
{
        file->fd = open(file->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
        if (file->fd < 0)
                return dbio_err_set(err, DBIO_IO, "%s: %s", file->path, strerror(errno));
        set_direct(file->fd, buffered);
        return mark_own(file, err);
}

static int step(struct growing *file, uint64_t bytes, struct filler *filler)
{
        if (bytes > file->end - file->done)
                bytes = file->end - file->done;
        if (bytes == 0)
                return 0;
        if (fallocate(file->fd, 0, (off_t)file->done, (off_t)bytes) != 0 && errno != EOPNOTSUPP)
                return dbio_err_set(filler->err, DBIO_IO, "%s: %s", file->path, strerror(errno));
        if (fill(filler, file->path, file->fd, file->done, bytes) != 0)
                return -1;
        file->done += bytes;
        return 0;
}

static int grow_all(struct growing *files, unsigned n, const struct dbio_layout *layout, struct filler *filler)
{
        uint64_t bytes = layout->grow ? layout->grow : layout->interleave ? INTERLEAVE_BYTES : UINT64_MAX;

        for (bool more = true; more;) {
                more = false;
                for (unsigned i = 0; i < n; i++) {
                        do {
                                if (step(&files[i], bytes, filler) != 0)
                                        return -1;
                        } while (!layout->interleave && files[i].done < files[i].end);
                        more = more || files[i].done < files[i].end;
                }
        }
        for (unsigned i = 0; i < n; i++)
                if (fsync(files[i].fd) != 0)
                        return dbio_err_set(filler->err, DBIO_IO, "%s: %s", files[i].path, strerror(errno));
        return 0;
}

/* The end of a missing file over all targets that lie in it. */
static uint64_t end_of(const struct dbio_targets *targets, unsigned n)
{
        uint64_t end = 0;

        for (unsigned k = 0; k < targets->nfiles; k++) {
                uint64_t this_end = targets->io_files[k].base + targets->io_files[k].size;

                if (dbio_target_file_same(&targets->files[k], &targets->files[n]) && this_end > end)
                        end = this_end;
        }
        return end;
}

/* Whether a missing file is made beside a neighbour: see dbio_target_create. */
static bool has_neighbour(const struct dbio_targets *targets, unsigned target, const struct dbio_target_spec *spec)
{
        const struct dbio_target *t = &targets->targets[target];
        unsigned missing = 0;

        for (unsigned i = t->first_file; i < t->first_file + t->geometry.nfiles; i++)
                missing += targets->files[i].missing;
        return missing == 1 && spec->layout.interleave;
}

/* What making or filling a file takes of its file system; 0 where that was counted with an earlier target's. */
static uint64_t bytes_to_come(const struct dbio_targets *targets, const struct dbio_target_spec *specs, unsigned n,
                              const struct dbio_target_options *options)
{
        const struct dbio_target_file *file = &targets->files[n];
        unsigned target = targets->io_files[n].target;
        struct stat st;

        if (!file->path || file->block)
                return 0;
        for (unsigned k = 0; k < n; k++)
                if (dbio_target_file_same(&targets->files[k], file))
                        return 0;
        if (file->missing)
                return end_of(targets, n) * (has_neighbour(targets, target, &specs[target]) ? 2 : 1);
        if (!options->prepare || stat(file->path, &st) != 0 || st.st_size <= st.st_blocks * 512)
                return 0;
        return (uint64_t)(st.st_size - st.st_blocks * 512);
}

/* Where a file is or will be; its number, and how much is there. */
static int look_at_filesystem(const struct dbio_target_file *file, dev_t *number, struct statvfs *fs)
{
        char place[PATH_MAX], *slash;
        struct stat st;

        snprintf(place, sizeof place, "%s", file->path);
        slash = strrchr(place, '/');
        if (file->missing)
                strcpy(slash ? slash + 1 : place, ".");
        if (stat(place, &st) != 0 || statvfs(place, fs) != 0)
                return -1;
        *number = st.st_dev;
        return 0;
}

struct coming {
        uint64_t bytes;
        dev_t number; /* of the file system */
        uint64_t left, reserve;
};

static int look_at_all(const struct dbio_targets *targets, const struct dbio_target_spec *specs,
                       const struct dbio_target_options *options, struct coming *coming, struct dbio_err *err)
{
        struct statvfs fs;

        for (unsigned i = 0; i < targets->nfiles; i++) {
                coming[i].bytes = bytes_to_come(targets, specs, i, options);
                if (coming[i].bytes == 0)
                        continue;
                if (look_at_filesystem(&targets->files[i], &coming[i].number, &fs) != 0)
                        return dbio_err_set(err, DBIO_IO, "%s: %s", targets->files[i].path, strerror(errno));
                coming[i].left = (uint64_t)fs.f_bavail * fs.f_frsize;
                coming[i].reserve = dbio_target_reserve((uint64_t)fs.f_blocks * fs.f_frsize);
        }
        return 0;
}

int dbio_targets_check_room(const struct dbio_targets *targets, const struct dbio_target_spec *specs,
                            const struct dbio_target_options *options, struct dbio_err *err)
{
        struct coming *coming = calloc(targets->nfiles + 1, sizeof *coming);
        int code = coming ? look_at_all(targets, specs, options, coming, err) : dbio_err_set(err, DBIO_IO, "out of memory");

        for (unsigned i = 0; code == 0 && i < targets->nfiles; i++) {
                uint64_t need = 0;

                for (unsigned k = 0; coming[i].bytes && k < targets->nfiles; k++)
                        need += coming[k].number == coming[i].number ? coming[k].bytes : 0;
                if (need && need + coming[i].reserve > coming[i].left)
                        code = dbio_err_set(err, DBIO_REFUSED, "%s: %" PRIu64 " MiB are to be written there and %" PRIu64
                                            " MiB must stay free, but only %" PRIu64 " MiB are: smaller targets, or another "
                                            "file system", targets->files[i].path, need >> 20, coming[i].reserve >> 20,
                                            coming[i].left >> 20);
        }
        free(coming);
        return code;
}

static void now_exists(struct dbio_targets *targets, unsigned n)
{
        struct dbio_target_file *file = &targets->files[n];
        struct stat st;

        if (stat(file->path, &st) != 0)
                return;
        for (unsigned k = targets->nfiles; k-- > 0;) {
                if (k == n || !dbio_target_file_same(&targets->files[k], file))
                        continue;
                targets->files[k].missing = false;
                targets->files[k].number = st.st_dev;
                targets->files[k].inode = st.st_ino;
        }
        file->missing = false;
        file->number = st.st_dev;
        file->inode = st.st_ino;
}

static int make_files(struct growing *files, unsigned n, const struct dbio_target_spec *spec, uint64_t bytes,
                      const struct dbio_target_options *options, struct dbio_err *err)
{
        struct filler filler;
        char what[128];
        int code;

        snprintf(what, sizeof what, "creating %s", spec->name);
        code = filler_init(&filler, options, what, bytes, err);
        for (unsigned i = 0; i < n && code == 0; i++)
                code = start(&files[i], options->buffered, err);
        if (code == 0)
                code = grow_all(files, n, &spec->layout, &filler);
        free(filler.buffer);
        for (unsigned i = 0; i < n; i++) {
                if (files[i].fd < 0)
                        continue;
                close(files[i].fd);
                if (code != 0)
                        remove_made(&files[i]);
        }
        return code;
}

int dbio_target_create(struct dbio_targets *targets, unsigned index, const struct dbio_target_spec *spec,
                       const struct dbio_target_options *options, struct dbio_err *err)
{
        const struct dbio_target *target = &targets->targets[index];
        struct growing *files = calloc(target->geometry.nfiles + 1, sizeof *files);
        unsigned n = 0;
        uint64_t bytes = 0;
        char scratch[PATH_MAX] = "";
        int code = files ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");

        for (unsigned i = target->first_file; files && i < target->first_file + target->geometry.nfiles; i++) {
                if (!targets->files[i].missing)
                        continue;
                files[n] = (struct growing){.path = targets->files[i].path, .fd = -1, .end = end_of(targets, i)};
                bytes += files[n++].end;
        }
        if (n == 0)
                goto out;
        if (has_neighbour(targets, index, spec)) { /* somebody else's file grows beside it and goes again */
                snprintf(scratch, sizeof scratch, "%.*s.neighbour", PATH_MAX - 16, files[0].path);
                files[n] = (struct growing){.path = scratch, .fd = -1, .end = files[0].end};
                bytes += files[n++].end;
        }
        code = make_files(files, n, spec, bytes, options, err);
        if (code == 0 && scratch[0])
                remove_made(&files[n - 1]);
        for (unsigned i = target->first_file; code == 0 && i < target->first_file + target->geometry.nfiles; i++)
                if (targets->files[i].missing)
                        now_exists(targets, i);
out:
        free(files);
        return code;
}

struct preparing {
        struct filler filler;
        const char *path;
        int fd;
};

static int prepare_piece(void *user, uint64_t offset, uint64_t bytes)
{
        struct preparing *p = user;

        return fill(&p->filler, p->path, p->fd, offset, bytes) ? 1 : 0; /* no errno: the error is filled already */
}

static int prepare_file(const struct dbio_file *io, const char *path, const struct dbio_target_options *options,
                        struct dbio_err *err)
{
        struct preparing p = {.path = path, .fd = open(path, O_RDWR | O_CLOEXEC)};
        struct dbio_extents extents;
        struct stat st;
        char what[300];
        int code;

        if (p.fd < 0 || fstat(p.fd, &st) != 0) {
                code = dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
                goto out;
        }
        code = dbio_extents_walk(p.fd, io->base, io->base + io->size, NULL, NULL, &extents);
        if (code < 0) {
                code = dbio_err_set(err, DBIO_IO, "%s: what is unwritten cannot be asked: %s", path, strerror(-code));
                goto out;
        }
        if (extents.unwritten_bytes == 0)
                goto out;
        snprintf(what, sizeof what, "preparing %.255s", path);
        code = filler_init(&p.filler, options, what, extents.unwritten_bytes, err);
        if (code != 0)
                goto out;
        set_direct(p.fd, options->buffered);
        code = dbio_extents_walk(p.fd, io->base, io->base + io->size, prepare_piece, &p, &extents);
        if (code < 0)
                code = dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(-code));
        if (code == 0 && fsync(p.fd) != 0)
                code = dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
out:
        if (code > 0)
                code = -1;
        free(p.filler.buffer);
        if (p.fd >= 0)
                close(p.fd);
        return code;
}

int dbio_target_prepare(struct dbio_targets *targets, unsigned index, const struct dbio_target_options *options,
                        struct dbio_err *err)
{
        const struct dbio_target *target = &targets->targets[index];

        for (unsigned i = target->first_file; i < target->first_file + target->geometry.nfiles; i++) {
                const struct dbio_target_file *file = &targets->files[i];

                if (file->path && !file->block && !file->missing &&
                    prepare_file(&targets->io_files[i], file->path, options, err) != 0)
                        return -1;
        }
        return 0;
}
