/* Facts of files: file system, mount, alignment, extents. */
#include "engine/device.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXTENTS_A_CALL 512

struct walk {
        uint64_t at, end;      /* next byte not yet accounted for */
        uint64_t physical_end; /* of the extent before, 0 = none */
        uint64_t run_bytes;
        int (*unwritten)(void *user, uint64_t offset, uint64_t bytes);
        void *user;
        struct dbio_extents *extents;
};

static int walk_hole(struct walk *walk, uint64_t from, uint64_t to)
{
        if (to <= from)
                return 0;
        walk->extents->unwritten_bytes += to - from;
        return walk->unwritten ? walk->unwritten(walk->user, from, to - from) : 0;
}

static int walk_extent(struct walk *walk, const struct fiemap_extent *extent)
{
        uint64_t from = extent->fe_logical > walk->at ? extent->fe_logical : walk->at;
        uint64_t to = extent->fe_logical + extent->fe_length;
        int code = 0;

        if (to > walk->end)
                to = walk->end;
        if (to <= walk->at)
                return 0;
        if (from > to)
                from = to;
        code = walk_hole(walk, walk->at, from);
        if (code == 0 && extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
                code = walk_hole(walk, from, to);
        if (extent->fe_physical != walk->physical_end || walk->physical_end == 0) {
                walk->extents->extents++;
                walk->run_bytes = 0;
        }
        walk->run_bytes += to - from;
        if (walk->run_bytes > walk->extents->largest_bytes)
                walk->extents->largest_bytes = walk->run_bytes;
        walk->physical_end = extent->fe_physical + extent->fe_length;
        walk->at = to;
        return code;
}

int dbio_extents_walk(int fd, uint64_t start, uint64_t end,
                      int (*unwritten)(void *user, uint64_t offset, uint64_t bytes), void *user,
                      struct dbio_extents *extents)
{
        struct walk walk = {.at = start, .end = end, .unwritten = unwritten, .user = user, .extents = extents};
        struct fiemap *map = calloc(1, sizeof *map + EXTENTS_A_CALL * sizeof *map->fm_extents);
        bool last = false;
        int code = 0;

        memset(extents, 0, sizeof *extents);
        if (!map)
                return -ENOMEM;
        while (!last && walk.at < end && code == 0) {
                map->fm_start = walk.at;
                map->fm_length = end - walk.at;
                map->fm_flags = FIEMAP_FLAG_SYNC;
                map->fm_extent_count = EXTENTS_A_CALL;
                if (ioctl(fd, FS_IOC_FIEMAP, map) != 0) {
                        code = errno == ENOTTY || errno == EINVAL ? -EOPNOTSUPP : -errno;
                        break;
                }
                last = map->fm_mapped_extents == 0;
                for (unsigned i = 0; i < map->fm_mapped_extents && code == 0; i++) {
                        code = walk_extent(&walk, &map->fm_extents[i]);
                        last = last || map->fm_extents[i].fe_flags & FIEMAP_EXTENT_LAST;
                }
        }
        if (code == 0)
                code = walk_hole(&walk, walk.at, end);
        free(map);
        return code;
}

/* The mount that path (absolute, resolved) is under, as libmount sees the kernel's table. */
static void read_mount(struct dbio_file_facts *facts, const char *path)
{
        struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
        char *point = mnt_get_mountpoint(path);
        struct libmnt_fs *fs = table && point ? mnt_table_find_target(table, point, MNT_ITER_BACKWARD) : NULL;

        if (fs) {
                const char *source = mnt_fs_get_srcpath(fs);
                struct stat st;

                snprintf(facts->filesystem, sizeof facts->filesystem, "%s", mnt_fs_get_fstype(fs));
                snprintf(facts->mount_point, sizeof facts->mount_point, "%s", point);
                snprintf(facts->mount_source, sizeof facts->mount_source, "%s", source ? source : "");
                snprintf(facts->mount_options, sizeof facts->mount_options, "%s",
                         mnt_fs_get_options(fs) ? mnt_fs_get_options(fs) : "");
                /* btrfs and overlays give their files a number of no device. */
                if (major(facts->device) == 0)
                        facts->device = source && stat(source, &st) == 0 && S_ISBLK(st.st_mode) ? st.st_rdev : 0;
        }
        free(point);
        mnt_unref_table(table);
}

/* These hold what direct I/O reads against sums in the reader's buffer. */
static bool has_sums(const char *filesystem)
{
        static const char *const names[] = {"btrfs", "bcachefs", "zfs"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(filesystem, names[i]) == 0)
                        return true;
        return false;
}

static void read_alignment(struct dbio_file_facts *facts, const char *path)
{
#ifdef STATX_DIOALIGN
        struct statx stx = {0};

        if (statx(AT_FDCWD, path, 0, STATX_DIOALIGN, &stx) == 0 && stx.stx_mask & STATX_DIOALIGN) {
                facts->dio_memory_alignment = stx.stx_dio_mem_align;
                facts->dio_offset_alignment = stx.stx_dio_offset_align;
        }
#else
        (void)facts;
        (void)path;
#endif
}

int dbio_file_facts_read(struct dbio_file_facts *facts, const char *path, bool extents, struct dbio_err *err)
{
        struct statfs fs;
        struct stat st;
        char real[PATH_MAX];
        int fd, code;

        memset(facts, 0, sizeof *facts);
        if (!realpath(path, real) || stat(real, &st) != 0 || statfs(real, &fs) != 0)
                return dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        facts->device = st.st_dev;
        facts->size_bytes = (uint64_t)st.st_size;
        facts->allocated_bytes = (uint64_t)st.st_blocks * 512;
        facts->block = (unsigned)fs.f_bsize;
        facts->cluster = facts->block;
        facts->free_bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
        facts->filesystem_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
        facts->ram = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
        read_mount(facts, real);
        facts->checks_reads = has_sums(facts->filesystem);
        if (major(facts->device) == 0)
                facts->device = 0;
        read_alignment(facts, real);
        if (!extents || !S_ISREG(st.st_mode))
                return 0;
        fd = open(real, O_RDONLY | O_CLOEXEC | O_NOATIME);
        if (fd < 0)
                fd = open(real, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        code = dbio_extents_walk(fd, 0, facts->size_bytes, NULL, NULL, &facts->extents);
        facts->extents_known = code == 0;
        close(fd);
        if (code < 0 && code != -EOPNOTSUPP)
                return dbio_err_set(err, DBIO_IO, "%s: extents: %s", path, strerror(-code));
        return 0;
}
