#include "engine/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/device.h"

#define CHAIN_MAX 64u
#define WHY_BYTES 512

/* What SQLite keeps beside a database, under the name that symbolic links lead to. */
static const char *const database_suffixes[] = {"", "-wal", "-shm", "-journal"};
#define DATABASE_FILES (sizeof database_suffixes / sizeof *database_suffixes)

struct guarding {
        const struct dbio_targets *targets;
        const struct dbio_target_spec *specs;
        struct dbio_guard_options *options;
        struct dbio_target_file database[DATABASE_FILES]; /* paths NULL without one */
        char database_names[DATABASE_FILES][PATH_MAX];
        dev_t database_device;
        struct dbio_err *err;
};

static __attribute__((format(printf, 2, 3))) void warn(const struct guarding *g, const char *format, ...)
{
        char text[1024];
        va_list args;

        if (!g->options->warn)
                return;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        g->options->warn(g->options->user, text);
}

static int refuse(const struct guarding *g, const struct dbio_target_spec *spec, const char *path, const char *why,
                  const char *remedy)
{
        return dbio_err_set(g->err, DBIO_REFUSED, "target %s: %s: %s; %s", spec->name, path, why, remedy);
}

static bool writes(const struct guarding *g, unsigned n)
{
        return g->specs[g->targets->io_files[n].target].writes ||
               (g->options->prepare && !g->targets->files[n].block && !g->targets->files[n].missing);
}

static bool file_goes_by(const struct dbio_target_file *file, const char *id)
{
        struct dbio_device device;
        struct stat st;

        if (file->block)
                return dbio_device_read(&device, file->device, NULL) == 0 && dbio_device_goes_by(&device, id);
        if (strcmp(file->path, id) == 0)
                return true;
        return !file->missing && stat(id, &st) == 0 && st.st_dev == file->number && st.st_ino == file->inode;
}

static bool may_destroy(const struct guarding *g, const struct dbio_target_file *file)
{
        for (unsigned i = 0; i < g->options->ndestroy; i++)
                if (file_goes_by(file, g->options->destroy[i]))
                        return true;
        return false;
}

static int check_contents(const struct guarding *g, const struct dbio_target_spec *spec,
                          const struct dbio_target_file *file)
{
        char why[WHY_BYTES] = "", id[300], remedy[400];
        struct dbio_device device = {0};
        int fd, found;

        if (may_destroy(g, file))
                return 0;
        if (file->block && dbio_device_read(&device, file->device, g->err) != 0)
                return -1;
        fd = open(file->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return dbio_err_set(g->err, DBIO_IO, "target %s: %s: %s%s", spec->name, file->path, strerror(errno),
                                    file->block && (errno == EACCES || errno == EPERM) ? " (devices need root)" : "");
        found = dbio_guard_signature(fd, why, sizeof why);
        if (found == 0 && file->block)
                found = dbio_guard_not_blank(fd, device.size_bytes, why, sizeof why);
        close(fd);
        if (found == 0)
                return 0;
        if (found < 0)
                return dbio_err_set(g->err, DBIO_IO, "target %s: %s: what it holds cannot be read: %s", spec->name,
                                    file->path, strerror(errno));
        if (file->block)
                dbio_device_id(&device, id, sizeof id);
        else
                snprintf(id, sizeof id, "%.299s", file->path);
        snprintf(remedy, sizeof remedy, "--destroy %s allows its destruction", id);
        return refuse(g, spec, file->path, why, remedy);
}

/* What no flag allows. */
static int check_block_never(const struct guarding *g, const struct dbio_target_spec *spec,
                             const struct dbio_target_file *file)
{
        static const char never[] = "such a device is never written, with any flag; free it or take another";
        char why[WHY_BYTES] = "";
        int reserved;

        if (dbio_guard_in_use(file->device, file->path, why, sizeof why))
                return refuse(g, spec, file->path, why, never);
        if (g->database_device && dbio_device_reaches(g->database_device, file->device))
                return refuse(g, spec, file->path, "the results database lies on it", never);
        reserved = dbio_guard_reserved(file->path, why, sizeof why);
        if (reserved > 0)
                return refuse(g, spec, file->path, why, never);
        if (reserved < 0)
                warn(g, "target %s: %s: persistent reservations cannot be asked without more privileges", spec->name,
                     file->path);
        return 0;
}

static int check_block(struct guarding *g, const struct dbio_target_spec *spec, const struct dbio_target_file *file)
{
        char why[WHY_BYTES] = "";
        struct dbio_device device;

        if (spec->writes) {
                if (check_block_never(g, spec, file) != 0 || dbio_device_read(&device, file->device, g->err) != 0)
                        return -1;
                if (device.read_only)
                        return dbio_err_set(g->err, DBIO_IO, "target %s: %s is read-only, and the workload writes to it; "
                                                             "`blockdev --setrw` where the device allows it",
                                            spec->name, file->path);
                if (!g->options->allow_write)
                        return refuse(g, spec, file->path, "the workload writes to this block device",
                                      "--allow-write allows it");
                return check_contents(g, spec, file);
        }
        if (!dbio_guard_in_use(file->device, file->path, why, sizeof why))
                return 0;
        if (!g->options->allow_busy)
                return refuse(g, spec, file->path, why, "--allow-busy allows reading it, capped");
        g->options->capped = true;
        return 0;
}

static int check_extents(const struct guarding *g, const struct dbio_target_spec *spec, unsigned n)
{
        const struct dbio_file *io = &g->targets->io_files[n];
        const char *path = g->targets->files[n].path;
        struct dbio_extents extents;
        char why[WHY_BYTES];
        int fd = open(path, O_RDONLY | O_CLOEXEC), code;

        if (fd < 0)
                return dbio_err_set(g->err, DBIO_IO, "target %s: %s: %s", spec->name, path, strerror(errno));
        code = dbio_extents_walk(fd, io->base, io->base + io->size, NULL, NULL, &extents);
        close(fd);
        if (code < 0) {
                warn(g, "target %s: %s: whether parts of it are unwritten cannot be asked (%s); reads of such parts "
                        "would not reach the device", spec->name, path, strerror(-code));
                return 0;
        }
        if (extents.unwritten_bytes == 0)
                return 0;
        snprintf(why, sizeof why, "%" PRIu64 " of the %" PRIu64 " bytes to be read are sparse or unwritten, so that "
                 "reads would not reach the device", extents.unwritten_bytes, io->size);
        return refuse(g, spec, path, why, "--prepare writes them");
}

static bool is_of_database(const struct guarding *g, const struct dbio_target_file *file)
{
        for (size_t i = 0; i < DATABASE_FILES; i++)
                if (dbio_target_file_same(&g->database[i], file))
                        return true;
        return false;
}

static int check_file(struct guarding *g, const struct dbio_target_spec *spec, unsigned n)
{
        static const char never[] = "such a file is never written, with any flag; take another";
        const struct dbio_target_file *file = &g->targets->files[n];
        char why[WHY_BYTES] = "";
        int others;

        if ((writes(g, n) || file->missing) && is_of_database(g, file))
                return refuse(g, spec, file->path, "it is the results database, or belongs to it", never);
        if (file->missing)
                return 0;
        if (access(file->path, R_OK) != 0)
                return dbio_err_set(g->err, DBIO_IO, "target %s: %s: %s", spec->name, file->path, strerror(errno));
        others = dbio_guard_open_elsewhere(file->path, why, sizeof why);
        if (others < 0 && errno == EACCES && writes(g, n))
                return refuse(g, spec, file->path, why, "only its owner or root may write it here");
        if (others < 0)
                warn(g, "target %s: %s: %s", spec->name, file->path, why);
        if (writes(g, n)) {
                if (others > 0)
                        return refuse(g, spec, file->path, why, never);
                if (!g->options->allow_write && !dbio_file_is_own(file->path))
                        return refuse(g, spec, file->path, "the workload writes to this file, which dbio did not make",
                                      "--allow-write allows it");
                if (check_contents(g, spec, file) != 0)
                        return -1;
        } else if (others > 0) {
                if (!g->options->allow_busy)
                        return refuse(g, spec, file->path, why, "--allow-busy allows reading it, capped");
                g->options->capped = true;
        }
        return spec->reads && !g->options->prepare ? check_extents(g, spec, n) : 0;
}

/* Two names of one disk, dm and md looked through; fills the name of the first that both stand on. */
static bool share_device(dev_t a, dev_t b, struct dbio_device *common)
{
        dev_t below_a[CHAIN_MAX], below_b[CHAIN_MAX];
        unsigned na = a ? dbio_device_chain(a, below_a, CHAIN_MAX) : 0;
        unsigned nb = b ? dbio_device_chain(b, below_b, CHAIN_MAX) : 0;

        for (unsigned i = 0; i < na; i++)
                for (unsigned k = 0; k < nb; k++)
                        if (below_a[i] == below_b[k] && dbio_device_read(common, below_a[i], NULL) == 0)
                                return true;
        return false;
}

/* On RAM itself, or on a loop device over a file there. */
static bool lies_in_ram(const struct dbio_file_facts *facts, const struct dbio_device *device)
{
        struct dbio_file_facts backing;

        return facts->ram || device->ram ||
               (device->backing_file[0] && dbio_file_facts_read(&backing, device->backing_file, false, NULL) == 0 &&
                backing.ram);
}

static void warn_of_surroundings(const struct guarding *g, unsigned target)
{
        unsigned first = g->targets->targets[target].first_file;
        const struct dbio_target_file *file = &g->targets->files[first];
        char folder[PATH_MAX];
        struct dbio_file_facts facts = {0};
        struct dbio_device device = {0};

        if (!file->path)
                return;
        if (share_device(file->device, g->database_device, &device))
                warn(g, "target %s and the results database share %s: the database's writes are in the figures",
                     g->specs[target].name, device.path);
        snprintf(folder, sizeof folder, "%s", file->path);
        if (file->missing) {
                char *slash = strrchr(folder, '/');

                strcpy(slash ? slash + 1 : folder, ".");
        }
        if (!file->block)
                dbio_file_facts_read(&facts, folder, false, NULL);
        memset(&device, 0, sizeof device);
        if (file->device)
                dbio_device_read(&device, file->device, NULL);
        if (lies_in_ram(&facts, &device))
                warn(g, "target %s lies in RAM (%s): its figures are not a disk's", g->specs[target].name,
                     facts.ram ? facts.filesystem : device.path);
}

static int check_destroy_ids(const struct guarding *g)
{
        for (unsigned i = 0; i < g->options->ndestroy; i++) {
                bool known = false;

                for (unsigned n = 0; n < g->targets->nfiles && !known; n++)
                        known = g->targets->files[n].path &&
                                file_goes_by(&g->targets->files[n], g->options->destroy[i]);
                if (!known)
                        return dbio_err_set(g->err, DBIO_USAGE, "--destroy %s: nothing that is bound goes by this serial, "
                                                                "WWN or (where it has neither) path",
                                            g->options->destroy[i]);
        }
        return 0;
}

/* Where the results database and what belongs to it are or will be. */
static void find_database(struct guarding *g)
{
        struct dbio_file_facts facts;
        char path[PATH_MAX], *slash;
        struct stat st;

        if (!g->options->database)
                return;
        if (!realpath(g->options->database, path))
                snprintf(path, sizeof path, "%s", g->options->database);
        for (size_t i = 0; i < DATABASE_FILES; i++) {
                char *name = g->database_names[i];

                snprintf(name, PATH_MAX, "%.*s%s", PATH_MAX - 16, path, database_suffixes[i]);
                g->database[i] = (struct dbio_target_file){.path = name, .missing = stat(name, &st) != 0};
                if (g->database[i].missing)
                        continue;
                g->database[i].number = st.st_dev;
                g->database[i].inode = st.st_ino;
        }
        if (g->database[0].missing) {
                slash = strrchr(path, '/');
                strcpy(slash ? slash + 1 : path, ".");
        }
        if (dbio_file_facts_read(&facts, path, false, NULL) == 0)
                g->database_device = facts.device;
}

int dbio_guard_check(const struct dbio_targets *targets, const struct dbio_target_spec *specs,
                     struct dbio_guard_options *options, struct dbio_err *err)
{
        struct guarding g = {.targets = targets, .specs = specs, .options = options, .err = err};

        options->capped = false;
        find_database(&g);
        if (check_destroy_ids(&g) != 0)
                return -1;
        for (unsigned i = 0; i < targets->nfiles; i++) {
                const struct dbio_target_spec *spec = &specs[targets->io_files[i].target];
                int code = 0;

                if (targets->files[i].path)
                        code = targets->files[i].block ? check_block(&g, spec, &targets->files[i])
                                                       : check_file(&g, spec, i);
                if (code != 0)
                        return -1;
        }
        for (unsigned i = 0; i < targets->n; i++)
                warn_of_surroundings(&g, i);
        return 0;
}

static void format_bytes(uint64_t bytes, char *text, size_t size)
{
        static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
        double value = (double)bytes;
        unsigned unit = 0;

        for (; value >= 1024 && unit < 5; unit++)
                value /= 1024;
        snprintf(text, size, unit && value != (uint64_t)value ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* What a run puts into one file: all of its range, or what is unwritten there. */
static uint64_t bytes_to_write(const struct dbio_targets *targets, unsigned n, const struct dbio_target_spec *spec,
                               bool prepare)
{
        const struct dbio_target_file *file = &targets->files[n];
        const struct dbio_file *io = &targets->io_files[n];
        struct dbio_extents extents = {0};
        int fd;

        if (!file->path || spec->writes || file->missing)
                return file->path ? io->size : 0;
        if (!prepare || file->block || (fd = open(file->path, O_RDONLY | O_CLOEXEC)) < 0)
                return 0;
        if (dbio_extents_walk(fd, io->base, io->base + io->size, NULL, NULL, &extents) != 0)
                extents.unwritten_bytes = 0;
        close(fd);
        return extents.unwritten_bytes;
}

static void describe_file(const struct dbio_targets *targets, unsigned n, const char *name, uint64_t bytes, char *text,
                          size_t size)
{
        const struct dbio_target_file *file = &targets->files[n];
        const struct dbio_file *io = &targets->io_files[n];
        struct dbio_device device = {0};
        char span[32], capacity[32] = "size unknown";

        format_bytes(bytes, span, sizeof span);
        if (file->device && dbio_device_read(&device, file->device, NULL) == 0)
                format_bytes(device.size_bytes, capacity, sizeof capacity);
        snprintf(text, size, "target %s: writes to %sbytes %" PRIu64 " to %" PRIu64 " (%s) of %s%s; %s%s, model %s, %s, "
                 "serial %s", name, bytes < io->size ? "what is unwritten in " : "", io->base, io->base + io->size, span,
                 file->path, file->missing ? " (to be made)" : "", file->block ? "" : "on ",
                 device.path[0] ? device.path : "no device", device.model[0] ? device.model : "unknown", capacity,
                 device.serial[0] ? device.serial : "unknown");
}

void dbio_guard_describe(const struct dbio_targets *targets, const struct dbio_target_spec *specs, bool prepare,
                         void (*line)(void *user, const char *text), void *user)
{
        char text[1024], span[32];
        uint64_t sum = 0;
        unsigned nr = 0;

        for (unsigned i = 0; i < targets->nfiles; i++) {
                const struct dbio_target_spec *spec = &specs[targets->io_files[i].target];
                uint64_t bytes = bytes_to_write(targets, i, spec, prepare);

                if (bytes == 0)
                        continue;
                sum += bytes;
                nr++;
                describe_file(targets, i, spec->name, bytes, text, sizeof text);
                line(user, text);
        }
        format_bytes(sum, span, sizeof span);
        snprintf(text, sizeof text, "in all %" PRIu64 " bytes (%s) may be written", sum, span);
        if (nr > 1)
                line(user, text);
}
