#include "replay/filesystems.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/guard.h"
#include "replay/sessioninfo.h"

/* Tables and journal are made at once: done later in the background, they would be in the figures. */
#define EXT4 "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"

const char *const dbio_filesystem_names[DBIO_FILESYSTEMS] = {"ext4-4K", "ext4-8K", "ext4-64K", "xfs-4K", "xfs-64K"};

static const struct {
        const char *type;
        const char *make[12]; /* the device comes last */
} kinds[DBIO_FILESYSTEMS] = {
        {"ext4", {EXT4, "-b", "4096"}},
        {"ext4", {EXT4, "-O", "bigalloc", "-C", "8192"}},
        {"ext4", {EXT4, "-O", "bigalloc", "-C", "65536"}},
        {"xfs", {"mkfs.xfs", "-q", "-f", "-b", "size=4096"}},
        {"xfs", {"mkfs.xfs", "-q", "-f", "-b", "size=65536"}},
};

static void warn(void *user, const char *text)
{
        (void)user;
        fprintf(stderr, "warning: %s\n", text);
}

static void tell(void *user, const char *text)
{
        (void)user;
        fprintf(stderr, "%s\n", text);
}

/* As a target of a run that writes all of it. */
static int guard(const struct dbio_cmdline *line, const char *path, struct dbio_err *err)
{
        const struct dbio_target_spec spec = {.name = "scratch",
                                              .unit = DBIO_SIZE_SHARE,
                                              .size_share = 1,
                                              .page = 4096,
                                              .layout = {.contiguous = true},
                                              .writes = true};
        const struct dbio_target_options resolve = {0};
        struct dbio_guard_options options = {
                .allow_write = dbio_cmdline_has(line, DBIO_OPT_ALLOW_WRITE),
                .destroy = line->options[DBIO_OPT_DESTROY].values,
                .ndestroy = line->options[DBIO_OPT_DESTROY].n,
                .database = dbio_database_path(line),
                .warn = warn,
        };
        struct dbio_binding binding = {0};
        struct dbio_targets targets = {0};
        char text[4200];
        int code = -1;

        snprintf(text, sizeof text, "scratch=%s", path);
        if (dbio_binding_parse(&binding, text, err))
                return -1;
        if (binding.simulated || binding.npaths != 1 || binding.offsets[0])
                dbio_err_set(err, DBIO_USAGE, "--make-filesystems %s: one device or image is right", path);
        else if (!dbio_targets_resolve(&targets, &spec, 1, &binding, 1, &resolve, err) &&
                 !dbio_guard_check(&targets, &spec, &options, err)) {
                dbio_guard_describe(&targets, &spec, false, tell, NULL);
                code = 0;
        }
        dbio_targets_close(&targets);
        dbio_binding_release(&binding);
        return code;
}

static int attach(struct dbio_filesystems *filesystems, const char *image, struct dbio_err *err)
{
        int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), backing = open(image, O_RDWR | O_CLOEXEC);

        for (int attempt = 0; attempt < 20 && control >= 0 && backing >= 0; attempt++) { /* another may take it first */
                struct loop_config config = {.fd = (unsigned)backing,
                                             .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO};
                int number = ioctl(control, LOOP_CTL_GET_FREE);

                snprintf(filesystems->device, sizeof filesystems->device, "/dev/loop%d", number);
                filesystems->loop = number < 0 ? -1 : open(filesystems->device, O_RDWR | O_CLOEXEC);
                if (filesystems->loop >= 0 && !ioctl(filesystems->loop, LOOP_CONFIGURE, &config))
                        break;
                if (filesystems->loop >= 0)
                        close(filesystems->loop);
                filesystems->loop = -1;
        }
        if (filesystems->loop < 0)
                dbio_err_set(err, DBIO_IO, "%s: no loop device over it: %s", image, strerror(errno));
        if (control >= 0)
                close(control);
        if (backing >= 0)
                close(backing);
        return filesystems->loop < 0 ? -1 : 0;
}

int dbio_filesystems_open(struct dbio_filesystems *filesystems, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *path = dbio_cmdline_value(line, DBIO_OPT_MAKE_FILESYSTEMS);
        struct stat info;

        *filesystems = (struct dbio_filesystems){.loop = -1};
        if (stat(path, &info))
                return dbio_err_set(err, DBIO_USAGE, "--make-filesystems %s: %s", path, strerror(errno));
        if (guard(line, path, err))
                return -1;
        if (dbio_cmdline_has(line, DBIO_OPT_DRY_RUN))
                return 0;
        if (geteuid())
                return dbio_err_set(err, DBIO_USAGE, "--make-filesystems makes and mounts file systems: it needs root");
        if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
                return dbio_err_set(err, DBIO_IO, "no mount namespace of our own: %s", strerror(errno));
        if (S_ISBLK(info.st_mode))
                snprintf(filesystems->device, sizeof filesystems->device, "%s", path);
        else if (attach(filesystems, path, err))
                return -1;
        snprintf(filesystems->mount, sizeof filesystems->mount, "/tmp/dbio-filesystem.XXXXXX");
        if (!mkdtemp(filesystems->mount)) {
                filesystems->mount[0] = 0;
                dbio_err_set(err, DBIO_IO, "/tmp: %s", strerror(errno));
                dbio_filesystems_close(filesystems);
                return -1;
        }
        return 0;
}

static void unmount(struct dbio_filesystems *filesystems)
{
        if (filesystems->mounted && umount2(filesystems->mount, 0))
                umount2(filesystems->mount, MNT_DETACH);
        filesystems->mounted = false;
}

static int make(const struct dbio_filesystems *filesystems, unsigned which, struct dbio_err *err)
{
        const char *command[14] = {NULL};
        unsigned n = 0;
        int status = -1;
        pid_t child;

        for (; kinds[which].make[n]; n++)
                command[n] = kinds[which].make[n];
        command[n] = filesystems->device;
        setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1); /* a user's, kept by su, lacks the sbin folders */
        int code = posix_spawnp(&child, command[0], NULL, NULL, (char *const *)command, environ);
        if (code)
                return dbio_err_set(err, DBIO_USAGE, "%s: %s: install %s", command[0], strerror(code),
                                    which < 3 ? "e2fsprogs" : "xfsprogs");
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        if (!WIFEXITED(status) || WEXITSTATUS(status))
                return dbio_err_set(err, DBIO_IO, "%s on %s failed", command[0], filesystems->device);
        return 0;
}

int dbio_filesystems_make(struct dbio_filesystems *filesystems, unsigned which, struct dbio_err *err)
{
        unmount(filesystems);
        filesystems->made = true;
        if (make(filesystems, which, err))
                return -1;
        if (!mount(filesystems->device, filesystems->mount, kinds[which].type, MS_NOATIME, NULL)) {
                filesystems->mounted = true;
                fprintf(stderr, "file system: %s\n", dbio_filesystem_names[which]);
                return 1;
        }
        if (errno != EINVAL && errno != ENOSYS && errno != ENODEV && errno != EOPNOTSUPP)
                return dbio_err_set(err, DBIO_IO, "mount of %s: %s", dbio_filesystem_names[which], strerror(errno));
        fprintf(stderr, "file system: %s is left out: this kernel does not mount it\n", dbio_filesystem_names[which]);
        return 0;
}

void dbio_filesystems_close(struct dbio_filesystems *filesystems)
{
        unmount(filesystems);
        if (filesystems->mount[0])
                rmdir(filesystems->mount);
        if (filesystems->made && filesystems->loop < 0)
                fprintf(stderr, "%s now holds dbio data\n", filesystems->device);
        if (filesystems->device[0] && filesystems->loop >= 0)
                close(filesystems->loop);
        *filesystems = (struct dbio_filesystems){.loop = -1};
}
