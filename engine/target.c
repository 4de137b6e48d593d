#include "engine/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/device.h"
#include "engine/guard.h"

#define FILE_UNIT        ((uint64_t)1 << 20)     /* files of a target are whole MiB, rounded down */
#define UNBOUND_CAPACITY ((uint64_t)100 << 30)   /* what a share is of where nothing is bound */
#define UNBOUND_SECTOR   512u

/* What resolving one target works on. */
struct resolving {
        struct dbio_targets *targets;
        const struct dbio_target_spec *spec;
        const struct dbio_binding *binding; /* NULL where nothing is bound */
        const struct dbio_target_options *options;
        struct dbio_target *target;
        unsigned nfiles;
        bool cut;              /* one device for several files */
        bool missing;          /* one of the files is still to be made */
        uint64_t smallest;     /* usable bytes behind the offset of a path: the least over the paths */
        uint64_t smallest_all; /* the same with what lies before the offset */
};

static int add_file(struct dbio_targets *targets, unsigned target, const char *path, struct dbio_err *err)
{
        unsigned n = targets->nfiles;
        struct dbio_file *io_files = realloc(targets->io_files, (n + 1) * sizeof *io_files);
        struct dbio_target_file *files;

        if (io_files)
                targets->io_files = io_files;
        files = io_files ? realloc(targets->files, (n + 1) * sizeof *files) : NULL;
        if (files)
                targets->files = files;
        if (!io_files || !files || n >= UINT16_MAX)
                return dbio_err_set(err, DBIO_USAGE, "targets have too many files (%u)", n + 1);
        memset(&files[n], 0, sizeof *files);
        io_files[n] = (struct dbio_file){.fd = -1, .target = (uint16_t)target};
        targets->nfiles++;
        if (path && !(files[n].path = strdup(path)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        return 0;
}

/* The folder of a path, `.` where it has none; size PATH_MAX. */
static void folder_of(const char *path, char *folder)
{
        char *slash;

        snprintf(folder, PATH_MAX, "%s", path);
        slash = strrchr(folder, '/');
        if (!slash)
                strcpy(folder, ".");
        else
                slash[slash == folder] = 0;
}

static int resolve_block(struct resolving *r, struct dbio_file *io, struct dbio_target_file *file, dev_t number,
                         struct dbio_err *err)
{
        struct dbio_device device;

        if (dbio_device_read(&device, number, err) != 0)
                return -1;
        if (device.size_bytes == 0)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s holds 0 bytes", r->spec->name, file->path);
        file->block = io->block = true;
        file->device = number;
        file->number = device.disk;
        file->start = device.start_bytes;
        io->size = device.size_bytes;
        io->sector = io->memory_alignment = device.logical_block ? device.logical_block : 512;
        io->checked = device.checks_reads;
        return 0;
}

static int resolve_regular(struct resolving *r, struct dbio_file *io, struct dbio_target_file *file,
                           const struct stat *st, struct dbio_err *err)
{
        struct dbio_file_facts facts;
        struct dbio_device device;
        char folder[PATH_MAX];
        unsigned block;

        folder_of(file->path, folder);
        if (dbio_file_facts_read(&facts, file->missing ? folder : file->path, false, err) != 0)
                return -1;
        file->device = facts.device;
        if (st) {
                file->number = st->st_dev;
                file->inode = st->st_ino;
                io->size = (uint64_t)st->st_size;
        }
        /* Where statx does not tell: the device's logical block; without a device the file system's own. */
        block = facts.block;
        io->checked = facts.checks_reads;
        if (facts.device && dbio_device_read(&device, facts.device, NULL) == 0) {
                block = device.logical_block ? device.logical_block : block;
                io->checked = io->checked || device.checks_reads;
        }
        io->sector = facts.dio_offset_alignment ? facts.dio_offset_alignment : block;
        io->memory_alignment = facts.dio_memory_alignment ? facts.dio_memory_alignment : block;
        if (r->options->buffered)
                io->sector = io->memory_alignment = 512;
        return 0;
}

static int resolve_missing(struct resolving *r, struct dbio_file *io, struct dbio_target_file *file,
                           struct dbio_err *err)
{
        char folder[PATH_MAX];
        struct stat st;

        if (!r->options->create)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s does not exist; --create makes it", r->spec->name,
                                    file->path);
        if (lstat(file->path, &st) == 0)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s is a symbolic link to something that does not exist; "
                                                     "name the file itself to make it", r->spec->name, file->path);
        folder_of(file->path, folder);
        if (access(folder, F_OK) != 0)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s cannot be made: folder %s: %s", r->spec->name,
                                    file->path, folder, strerror(errno));
        if (r->spec->unit != DBIO_SIZE_BYTES)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s is to be made, so its size is needed in bytes "
                                                     "(`size: 10GiB`), not as a share", r->spec->name, file->path);
        file->missing = r->missing = true;
        return resolve_regular(r, io, file, NULL, err);
}

static int resolve_path(struct resolving *r, const char *path, uint64_t offset, struct dbio_err *err)
{
        unsigned n = r->targets->nfiles;
        struct dbio_target_file *file;
        struct dbio_file *io;
        struct stat st;
        int code;

        if (add_file(r->targets, (unsigned)(r->target - r->targets->targets), path, err) != 0)
                return -1;
        file = &r->targets->files[n];
        io = &r->targets->io_files[n];
        io->base = offset;
        if (stat(path, &st) != 0)
                return errno == ENOENT ? resolve_missing(r, io, file, err)
                                       : dbio_err_set(err, DBIO_IO, "target %s: %s: %s", r->spec->name, path,
                                                      strerror(errno));
        if (S_ISBLK(st.st_mode))
                code = resolve_block(r, io, file, st.st_rdev, err);
        else if (S_ISREG(st.st_mode))
                code = resolve_regular(r, io, file, &st, err);
        else
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s is %s; a target is a file or a block device",
                                    r->spec->name, path, S_ISDIR(st.st_mode) ? "a folder" : "neither file nor disk");
        if (code != 0)
                return code;
        if (offset % io->sector)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s@%llu: the offset is no multiple of its sector, %u",
                                    r->spec->name, path, (unsigned long long)offset, io->sector);
        if (io->size == 0)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s is empty; --create makes files that are not there yet",
                                    r->spec->name, path);
        if (offset >= io->size)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s@%llu lies behind its end (%llu bytes)",
                                    r->spec->name, path, (unsigned long long)offset, (unsigned long long)io->size);
        if (io->size - offset < r->smallest)
                r->smallest = io->size - offset;
        if (io->size < r->smallest_all)
                r->smallest_all = io->size;
        return 0;
}

static int resolve_paths(struct resolving *r, struct dbio_err *err)
{
        const struct dbio_binding *b = r->binding;
        struct stat st;

        if (b->npaths > 1 && r->nfiles != b->npaths)
                return dbio_err_set(err, DBIO_USAGE, "target %s: `files` is %u, but %u paths are bound: as many, or one",
                                    r->spec->name, r->nfiles, b->npaths);
        r->cut = b->npaths == 1 && r->nfiles > 1 && stat(b->paths[0], &st) == 0 && S_ISBLK(st.st_mode);
        r->target->kind = DBIO_TARGET_FILE;
        for (unsigned i = 0; i < r->nfiles; i++) {
                unsigned from = b->npaths == 1 ? 0 : i;
                char path[PATH_MAX];

                snprintf(path, sizeof path, b->npaths == 1 && r->nfiles > 1 && !r->cut ? "%s.%u" : "%s",
                         b->paths[from], i + 1);
                if (resolve_path(r, path, b->offsets[from], err) != 0)
                        return -1;
                if (r->targets->files[r->target->first_file + i].block)
                        r->target->kind = DBIO_TARGET_BLOCK;
        }
        return 0;
}

static int resolve_unbound(struct resolving *r, uint64_t capacity, unsigned sector, struct dbio_err *err)
{
        for (unsigned i = 0; i < r->nfiles; i++) {
                unsigned n = r->targets->nfiles;

                if (add_file(r->targets, (unsigned)(r->target - r->targets->targets), NULL, err) != 0)
                        return -1;
                r->targets->io_files[n].sector = r->targets->io_files[n].memory_alignment = sector;
                r->targets->io_files[n].size = capacity;
        }
        r->cut = true; /* the files share the capacity */
        r->smallest = r->smallest_all = capacity;
        return 0;
}

/* Bytes of the whole target, before rounding. */
static uint64_t wanted_bytes(const struct resolving *r)
{
        const struct dbio_target_spec *spec = r->spec;
        double share = spec->unit == DBIO_SIZE_SHARE ? spec->size_share : 1;
        uint64_t parts = r->cut ? 1 : r->nfiles;

        if (spec->unit == DBIO_SIZE_BYTES)
                return spec->size_bytes;
        if (share >= 1)
                return r->smallest * parts;
        return (uint64_t)((long double)(r->smallest_all * parts) * share);
}

static int too_small(const struct resolving *r, uint64_t file_size, struct dbio_err *err)
{
        const char *what = r->binding ? r->binding->text : "the device";

        return dbio_err_set(err, DBIO_USAGE, "target %s: %u x %llu bytes do not fit: %s has room for %llu%s",
                            r->spec->name, r->nfiles, (unsigned long long)file_size, what,
                            (unsigned long long)r->smallest,
                            r->cut || r->nfiles == 1 ? "" : " in the smallest of its files");
}

static int lay_out(struct resolving *r, struct dbio_err *err)
{
        struct dbio_geometry *geometry = &r->target->geometry;
        uint64_t file_size = wanted_bytes(r) / r->nfiles / FILE_UNIT * FILE_UNIT;

        if (file_size == 0)
                return dbio_err_set(err, DBIO_USAGE, "target %s: each of its files needs at least 1 MiB (%llu bytes over "
                                                     "%u files)", r->spec->name, (unsigned long long)wanted_bytes(r),
                                    r->nfiles);
        if (file_size > r->smallest / (r->cut ? r->nfiles : 1))
                return too_small(r, file_size, err);
        geometry->file_size = file_size;
        geometry->nfiles = r->nfiles;
        geometry->sector = 1;
        for (unsigned i = 0; i < r->nfiles; i++) {
                struct dbio_file *io = &r->targets->io_files[r->target->first_file + i];

                if (r->cut && r->target->kind == DBIO_TARGET_BLOCK)
                        io->base += i * file_size;
                io->size = file_size;
                if (io->sector > geometry->sector)
                        geometry->sector = io->sector;
        }
        if (r->spec->page % geometry->sector)
                return dbio_err_set(err, DBIO_USAGE, "target %s: pages of %u bytes are no multiple of the sector of %s, "
                                                     "%u bytes", r->spec->name, r->spec->page,
                                    r->binding ? r->binding->text : "the device", geometry->sector);
        return 0;
}

static int resolve_target(struct resolving *r, struct dbio_err *err)
{
        uint64_t capacity = UNBOUND_CAPACITY;
        unsigned sector = UNBOUND_SECTOR;
        int code;

        if (!r->binding && r->spec->unit == DBIO_SIZE_BYTES && r->spec->size_bytes > capacity)
                capacity = r->spec->size_bytes; /* there is nothing that it could be too large for */
        r->target->name = r->spec->name;
        r->target->first_file = r->targets->nfiles;
        r->nfiles = r->spec->nfiles ? r->spec->nfiles : r->binding && r->binding->npaths ? r->binding->npaths : 1;
        r->smallest = r->smallest_all = UINT64_MAX;
        if (r->binding && r->binding->simulated) {
                r->target->kind = DBIO_TARGET_SIM;
                if (!r->options->sim_geometry)
                        return dbio_err_set(err, DBIO_USAGE, "target %s: no simulated devices here", r->spec->name);
                if (r->options->sim_geometry(r->options->sim_user, r->binding, &capacity, &sector, err) != 0)
                        return -1;
        }
        code = r->binding && !r->binding->simulated ? resolve_paths(r, err) : resolve_unbound(r, capacity, sector, err);
        return code ? code : lay_out(r, err);
}

static const struct dbio_binding *find_binding(const char *target, const struct dbio_binding *bindings, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                if (strcmp(bindings[i].target, target) == 0)
                        return &bindings[i];
        return NULL;
}

/* Every binding has a target, none has two, and all or none are simulated. */
static int check_bindings(const struct dbio_target_spec *specs, unsigned nspecs, const struct dbio_binding *bindings,
                          unsigned nbindings, struct dbio_err *err)
{
        for (unsigned i = 0; i < nbindings; i++) {
                unsigned s = 0;

                while (s < nspecs && strcmp(specs[s].name, bindings[i].target) != 0)
                        s++;
                if (s == nspecs) {
                        char names[512] = "";

                        for (s = 0; s < nspecs; s++)
                                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", s ? ", " : "",
                                         specs[s].name);
                        if (!bindings[i].file)
                                return dbio_err_set(err, DBIO_USAGE, "--target %s=%s: the workload has no target of that "
                                                                     "name; it has %s", bindings[i].target,
                                                    bindings[i].text, names);
                        dbio_err_set(err, DBIO_USAGE, "the workload has no target %s; it has %s", bindings[i].target, names);
                        return dbio_err_locate(err, bindings[i].file, bindings[i].line, bindings[i].column);
                }
                if (find_binding(bindings[i].target, bindings, i))
                        return dbio_err_set(err, DBIO_USAGE, "target %s is bound twice: one binding, its paths joined by "
                                                             "commas", bindings[i].target);
                if (bindings[i].simulated != bindings[0].simulated)
                        return dbio_err_set(err, DBIO_USAGE, "targets %s and %s: all targets of a run are simulated or "
                                                             "none", bindings[0].target, bindings[i].target);
        }
        return 0;
}

bool dbio_target_file_same(const struct dbio_target_file *a, const struct dbio_target_file *b)
{
        char one[PATH_MAX], two[PATH_MAX], folder[PATH_MAX];

        if (!a->path || !b->path || a->missing != b->missing)
                return false;
        if (!a->missing)
                return a->block == b->block && a->number == b->number && a->inode == b->inode;
        folder_of(a->path, folder);
        if (strcmp(basename(a->path), basename(b->path)) != 0 || !realpath(folder, one))
                return false;
        folder_of(b->path, folder);
        return realpath(folder, two) && strcmp(one, two) == 0;
}

static int check_overlaps(const struct dbio_targets *targets, struct dbio_err *err)
{
        for (unsigned i = 0; i < targets->nfiles; i++)
                for (unsigned k = 0; k < i; k++) {
                        const struct dbio_file *a = &targets->io_files[k], *b = &targets->io_files[i];
                        uint64_t from_a = targets->files[k].start + a->base, from_b = targets->files[i].start + b->base;

                        if (!dbio_target_file_same(&targets->files[k], &targets->files[i]) || from_a >= from_b + b->size ||
                            from_b >= from_a + a->size)
                                continue;
                        return dbio_err_set(err, DBIO_USAGE,
                                            "targets %s and %s overlap on %s: bytes %llu to %llu and %llu to %llu",
                                            targets->targets[a->target].name, targets->targets[b->target].name,
                                            targets->files[i].path, (unsigned long long)from_a,
                                            (unsigned long long)(from_a + a->size), (unsigned long long)from_b,
                                            (unsigned long long)(from_b + b->size));
                }
        return 0;
}

int dbio_targets_resolve(struct dbio_targets *targets, const struct dbio_target_spec *specs, unsigned nspecs,
                         const struct dbio_binding *bindings, unsigned nbindings,
                         const struct dbio_target_options *options, struct dbio_err *err)
{
        memset(targets, 0, sizeof *targets);
        if (options->null_engine)
                nbindings = 0;
        if (check_bindings(specs, nspecs, bindings, nbindings, err) != 0)
                return -1;
        targets->targets = calloc(nspecs + 1, sizeof *targets->targets);
        if (!targets->targets)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        targets->n = nspecs;
        for (unsigned i = 0; i < nspecs; i++) {
                struct resolving r = {.targets = targets, .spec = &specs[i], .options = options,
                                      .binding = find_binding(specs[i].name, bindings, nbindings),
                                      .target = &targets->targets[i]};

                if (!r.binding && !options->null_engine)
                        return dbio_err_set(err, DBIO_USAGE, "target %s is not bound: --target %s=PATH", specs[i].name,
                                            specs[i].name);
                if (resolve_target(&r, err) != 0)
                        return -1;
        }
        return check_overlaps(targets, err);
}

/* What the target asks of its fd once it is there; it may have changed since it was resolved. */
static int check_opened(const struct dbio_targets *targets, unsigned n, bool buffered, struct dbio_err *err)
{
        const struct dbio_target_file *file = &targets->files[n];
        struct dbio_file *io = &targets->io_files[n];
        const struct dbio_target *target = &targets->targets[io->target];
        uint64_t size = 0;
        int sector = 0;
        struct stat st;

        if (fstat(io->fd, &st) != 0)
                return dbio_err_set(err, DBIO_IO, "%s: %s", file->path, strerror(errno));
        if (file->block && (!S_ISBLK(st.st_mode) || ioctl(io->fd, BLKGETSIZE64, &size) != 0 ||
                            ioctl(io->fd, BLKSSZGET, &sector) != 0))
                return dbio_err_set(err, DBIO_IO, "%s is no block device any more", file->path);
        /* The guards looked at what was there when it was resolved. */
        if (file->block ? st.st_rdev != file->device : st.st_dev != file->number || st.st_ino != file->inode)
                return dbio_err_set(err, DBIO_IO, "%s has become another file or device meanwhile", file->path);
        if (!file->block) {
                struct dbio_file_facts facts;

                size = (uint64_t)st.st_size;
                if (dbio_file_facts_read(&facts, file->path, false, err) != 0)
                        return -1;
                if (!buffered && facts.dio_offset_alignment) {
                        sector = (int)facts.dio_offset_alignment;
                        io->memory_alignment = facts.dio_memory_alignment;
                }
        }
        if (size < io->base + io->size)
                return dbio_err_set(err, DBIO_USAGE, "%s has become smaller: %llu bytes", file->path,
                                    (unsigned long long)size);
        if ((unsigned)sector > target->geometry.sector)
                return dbio_err_set(err, DBIO_USAGE, "%s: direct I/O needs multiples of %d bytes, not %u", file->path,
                                    sector, target->geometry.sector);
        return 0;
}

static int open_file(struct dbio_targets *targets, const struct dbio_target_spec *specs, unsigned n, bool buffered,
                     struct dbio_err *err)
{
        struct dbio_target_file *file = &targets->files[n];
        bool writes = specs[targets->io_files[n].target].writes;
        char why[256] = "";
        int flags;

        for (unsigned k = 0; k < n; k++)
                if (dbio_target_file_same(&targets->files[k], file) && targets->files[k].device == file->device) {
                        targets->io_files[n].fd = targets->io_files[k].fd;
                        file->shares_fd = true;
                        return 0;
                }
        for (unsigned k = n + 1; k < targets->nfiles; k++)
                writes = writes || (dbio_target_file_same(&targets->files[k], file) &&
                                    specs[targets->io_files[k].target].writes);
        /* Once more: making and filling the others may have taken hours. */
        if (writes && !file->block && dbio_guard_open_elsewhere(file->path, why, sizeof why) > 0)
                return dbio_err_set(err, DBIO_REFUSED, "%s: %s; such a file is never written, with any flag; take another",
                                    file->path, why);
        flags = (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | (buffered ? 0 : O_DIRECT);
        if (file->block && writes)
                flags |= O_EXCL;
        targets->io_files[n].fd = open(file->path, flags);
        if (targets->io_files[n].fd >= 0)
                return check_opened(targets, n, buffered, err);
        if (errno == EINVAL && !buffered)
                return dbio_err_set(err, DBIO_IO, "%s: its file system does not offer direct I/O (O_DIRECT)", file->path);
        if (errno == EBUSY && file->block)
                return dbio_err_set(err, DBIO_REFUSED, "%s is in use (exclusive open: %s), by another process or as a part "
                                                       "of another target's disk; free it or take another", file->path,
                                    strerror(errno));
        return dbio_err_set(err, DBIO_IO, "%s: %s%s", file->path, strerror(errno),
                            file->block && (errno == EACCES || errno == EPERM) ? " (devices need root)" : "");
}

int dbio_targets_open(struct dbio_targets *targets, const struct dbio_target_spec *specs,
                      const struct dbio_target_options *options, struct dbio_err *err)
{
        if (dbio_targets_check_room(targets, specs, options, err) != 0)
                return -1;
        for (unsigned i = 0; i < targets->n; i++) {
                if (options->create && dbio_target_create(targets, i, &specs[i], options, err) != 0)
                        return -1;
                if (options->prepare && dbio_target_prepare(targets, i, options, err) != 0)
                        return -1;
        }
        for (unsigned i = 0; i < targets->nfiles; i++)
                if (targets->files[i].path && open_file(targets, specs, i, options->buffered, err) != 0)
                        return -1;
        return 0;
}

void dbio_targets_close(struct dbio_targets *targets)
{
        for (unsigned i = 0; i < targets->nfiles; i++) {
                if (targets->io_files[i].fd >= 0 && !targets->files[i].shares_fd)
                        close(targets->io_files[i].fd);
                free(targets->files[i].path);
        }
        free(targets->io_files);
        free(targets->files);
        free(targets->targets);
        memset(targets, 0, sizeof *targets);
}
