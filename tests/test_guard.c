/* The refusals of the contract (Safety), each with a hash before and after: no refusal may change a byte. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <limits.h>
#include <linux/fs.h>
#include <sched.h>
#include <string.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/device.h"
#include "engine/guard.h"
#include "tests/folder.h"
#include "tests/loopdev.h"

#define MIB   ((uint64_t)1 << 20)
#define BYTES (4 * MIB)

/* A file of 4 MiB, all 0x77, with `header` at offset `at`. */
static void make_file(const char *path, const void *header, size_t bytes, uint64_t at)
{
        char *block = malloc(BYTES);
        int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

        ck_assert_int_ge(fd, 0);
        memset(block, 0x77, BYTES);
        if (bytes)
                memcpy(block + at, header, bytes);
        ck_assert_int_eq(write(fd, block, BYTES), (ssize_t)BYTES);
        close(fd);
        free(block);
}

/* FNV-1a over everything that is there. */
static uint64_t hash_of(const char *path)
{
        static unsigned char block[1 << 16];
        uint64_t hash = 0xcbf29ce484222325;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        ck_assert_int_ge(fd, 0);
        while ((n = read(fd, block, sizeof block)) > 0)
                for (ssize_t i = 0; i < n; i++)
                        hash = (hash ^ block[i]) * 0x100000001b3;
        close(fd);
        return hash;
}

struct outcome {
        int code; /* 0, or the error's */
        bool capped;
        char message[1024], warnings[4096];
};

static void keep_warning(void *user, const char *text)
{
        struct outcome *o = user;

        snprintf(o->warnings + strlen(o->warnings), sizeof o->warnings - strlen(o->warnings), "%s\n", text);
}

struct ask {
        const char *path;
        bool reads, writes, allow_write, allow_busy, prepare, create;
        const char *destroy, *database;
};

static struct outcome guard(struct ask ask)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = ask.create ? DBIO_SIZE_BYTES : DBIO_SIZE_DEFAULT,
                                              .size_bytes = BYTES, .page = 8192, .reads = ask.reads, .writes = ask.writes};
        const struct dbio_target_options resolving = {.buffered = true, .prepare = ask.prepare, .create = ask.create};
        struct outcome o = {0};
        struct dbio_guard_options options = {.allow_write = ask.allow_write, .allow_busy = ask.allow_busy,
                                             .prepare = ask.prepare, .destroy = &ask.destroy,
                                             .ndestroy = ask.destroy != NULL, .database = ask.database,
                                             .warn = keep_warning, .user = &o};
        struct dbio_targets targets;
        struct dbio_binding binding;
        struct dbio_err err = {0};
        struct stat st;
        bool there = stat(ask.path, &st) == 0;
        uint64_t before = there ? hash_of(ask.path) : 0;
        char text[4200];

        snprintf(text, sizeof text, "data=%s", ask.path);
        ck_assert_int_eq(dbio_binding_parse(&binding, text, &err), 0);
        ck_assert_msg(dbio_targets_resolve(&targets, &spec, 1, &binding, 1, &resolving, &err) == 0, "%s", err.message);
        o.code = dbio_guard_check(&targets, &spec, &options, &err) == 0 ? 0 : (int)err.code;
        o.capped = options.capped;
        snprintf(o.message, sizeof o.message, "%s", err.message);
        dbio_targets_close(&targets);
        dbio_binding_release(&binding);
        if (there)
                ck_assert_uint_eq(hash_of(ask.path), before);
        return o;
}

#define ALLOWED(...)                                                             \
        do {                                                                     \
                struct outcome o_ = guard((struct ask){__VA_ARGS__});            \
                ck_assert_msg(o_.code == 0, "code %d: %s", o_.code, o_.message); \
        } while (0)

/* Refused, with a message that holds both texts: the reason, and what would allow it. */
#define REFUSED(reason, remedy, ...)                                                               \
        do {                                                                                       \
                struct outcome o_ = guard((struct ask){__VA_ARGS__});                              \
                ck_assert_int_eq(o_.code, DBIO_REFUSED);                                           \
                ck_assert_msg(strstr(o_.message, reason) && strstr(o_.message, remedy), "%s", o_.message); \
        } while (0)

START_TEST(a_foreign_file_needs_allow_write)
{
        folder_enter();
        make_file("foreign", "", 0, 0);
        REFUSED("did not make", "--allow-write", .path = "foreign", .writes = true);
        REFUSED("did not make", "--allow-write", .path = "foreign", .writes = true, .destroy = "foreign");
        REFUSED("did not make", "--allow-write", .path = "foreign", .reads = true, .prepare = true);
        ALLOWED(.path = "foreign", .writes = true, .allow_write = true);
        ALLOWED(.path = "foreign", .reads = true);
        make_file("foreign.dbio", "", 0, 0); /* the mark of a file that dbio made */
        ALLOWED(.path = "foreign", .writes = true);
        folder_leave();
}
END_TEST

/* Headers as their formats say; sources beside each in engine/guard_signature.c. */
START_TEST(database_files_need_destroy)
{
        static const unsigned char sql_server[38] = {1, 15, [36] = 1}, asm_disk[] = "ORCLDISKDATA",
                                   innodb[42] = {[24] = 0, [25] = 8, [37] = 7, [41] = 7},
                                   postgres[20] = {[12] = 28, [14] = 0, [15] = 0x1f, [16] = 0, [17] = 0x20, [18] = 4,
                                                   [19] = 0x20},
                                   wal[40] = {0x16, 0xd1, 2, [35] = 1, [37] = 0x20};
        static const struct {
                const void *header;
                size_t bytes;
                uint64_t at;
                const char *says;
        } cases[] = {
                {"SQLite format 3", 16, 0, "SQLite"},
                {sql_server, sizeof sql_server, 0, "SQL Server"},
                {asm_disk, 8, 32, "asm"},
                {"}|{z", 4, 28, "Oracle"},
                {innodb, sizeof innodb, 0, "InnoDB tablespace"},
                {"MySQL 8.0.36", 12, 16, "InnoDB redo"},
                {postgres, sizeof postgres, 0, "PostgreSQL relation"},
                {wal, sizeof wal, 0, "PostgreSQL WAL"},
        };

        folder_enter();
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct outcome o;

                make_file("db", cases[i].header, cases[i].bytes, cases[i].at);
                o = guard((struct ask){.path = "db", .writes = true, .allow_write = true});
                ck_assert_int_eq(o.code, DBIO_REFUSED);
                ck_assert_msg(strcasestr(o.message, cases[i].says) && strstr(o.message, "--destroy db"), "%s", o.message);
                ALLOWED(.path = "db", .writes = true, .allow_write = true, .destroy = "db");
                REFUSED("did not make", "--allow-write", .path = "db", .writes = true, .destroy = "db");
                ALLOWED(.path = "db", .reads = true);
        }
        folder_leave();
}
END_TEST

START_TEST(file_systems_and_partition_tables_need_destroy)
{
        static unsigned char mbr[512] = {[446] = 0x80, [450] = 0x83, [454] = 0x00, [455] = 0x08, [459] = 0x08,
                                         [510] = 0x55, [511] = 0xaa};
        bool tools = access("/usr/sbin/mkfs.ext4", X_OK) == 0 || access("/sbin/mkfs.ext4", X_OK) == 0;

        folder_enter();
        make_file("disk", mbr, sizeof mbr, 0);
        REFUSED("partition table", "--destroy disk", .path = "disk", .writes = true, .allow_write = true);
        if (tools) {
                ck_assert_int_eq(system("PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F disk"), 0);
                REFUSED("ext4", "--destroy disk", .path = "disk", .writes = true, .allow_write = true);
                ALLOWED(.path = "disk", .writes = true, .allow_write = true, .destroy = "disk");
                make_file("disk", "", 0, 0);
                ck_assert_int_eq(system("PATH=$PATH:/sbin:/usr/sbin mkswap disk > out 2>&1"), 0);
                REFUSED("swap", "--destroy disk", .path = "disk", .writes = true, .allow_write = true);
        }
        folder_leave();
        if (!tools)
                skip_test("no mkfs.ext4 here: only the partition table was looked at");
}
END_TEST

START_TEST(destroy_must_name_something_bound)
{
        struct outcome o;

        folder_enter();
        make_file("a", "", 0, 0);
        o = guard((struct ask){.path = "a", .writes = true, .allow_write = true, .destroy = "WD-1234"});
        ck_assert_int_eq(o.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(o.message, "WD-1234"));
        folder_leave();
}
END_TEST

START_TEST(a_file_open_elsewhere_is_never_written)
{
        int ready[2];
        pid_t child;
        char byte;
        struct outcome o;

        folder_enter();
        make_file("shared", "", 0, 0);
        ck_assert_int_eq(pipe(ready), 0);
        child = fork();
        if (child == 0) {
                int fd = open("shared", O_RDWR);

                if (fd < 0 || write(ready[1], "x", 1) != 1)
                        _exit(1);
                pause();
                _exit(0);
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        REFUSED("has it open", "never", .path = "shared", .writes = true, .allow_write = true, .allow_busy = true,
                .destroy = "shared");
        REFUSED("has it open", "--allow-busy", .path = "shared", .reads = true);
        o = guard((struct ask){.path = "shared", .reads = true, .allow_busy = true});
        ck_assert_int_eq(o.code, 0);
        ck_assert_int_eq(o.capped, 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        o = guard((struct ask){.path = "shared", .reads = true});
        ck_assert_int_eq(o.code, 0);
        ck_assert_int_eq(o.capped, 0);
        ALLOWED(.path = "shared", .writes = true, .allow_write = true);
        folder_leave();
}
END_TEST

/* fcntl(2), F_SETLEASE: only its owner, or who has CAP_LEASE, may ask; a file of another's is not written on trust. */
START_TEST(a_file_that_cannot_be_asked_about_is_not_written)
{
        pid_t child;
        int status;

        if (geteuid() != 0)
                skip_test("needs root, to become somebody else");
        folder_enter();
        make_file("roots", "", 0, 0);
        ck_assert_int_eq(chmod("roots", 0666), 0);
        ck_assert_int_eq(chmod(folder, 0755), 0);
        child = fork();
        if (child == 0) {
                char here[PATH_MAX];

                if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0 || !realpath(".", here))
                        _exit(77);
                struct outcome w = guard((struct ask){.path = "roots", .writes = true, .allow_write = true});
                struct outcome r = guard((struct ask){.path = "roots", .reads = true});
                _exit(w.code == DBIO_REFUSED && strstr(w.message, "its owner or root") && r.code == 0 &&
                                      strstr(r.warnings, "cannot be asked")
                              ? 0 : 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        folder_leave();
        ck_assert(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                skip_test("the build folder is closed to others");
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(sparse_files_are_not_read)
{
        struct outcome o;

        folder_enter();
        make_file("sparse", "", 0, 0);
        ck_assert_int_eq(truncate("sparse", 8 * MIB), 0);
        o = guard((struct ask){.path = "sparse", .reads = true});
        if (o.code == 0) {
                ck_assert_ptr_nonnull(strstr(o.warnings, "cannot be asked"));
        } else {
                REFUSED("sparse or unwritten", "--prepare", .path = "sparse", .reads = true);
                ALLOWED(.path = "sparse", .writes = true, .allow_write = true);
                ALLOWED(.path = "sparse", .reads = true, .allow_write = true, .prepare = true);
        }
        folder_leave();
}
END_TEST

START_TEST(the_results_database_is_no_target)
{
        struct outcome o;

        folder_enter();
        make_file("dbio.db", "", 0, 0);
        REFUSED("results database", "never", .path = "dbio.db", .writes = true, .allow_write = true,
                .destroy = "dbio.db", .database = "./dbio.db");
        /* What SQLite keeps beside it (sqlite.org/tempfiles.html), there or not, and named as symbolic links lead. */
        make_file("dbio.db-wal", "", 0, 0);
        ck_assert_int_eq(symlink("dbio.db", "link.db"), 0);
        REFUSED("results database", "never", .path = "dbio.db-wal", .writes = true, .allow_write = true,
                .database = "link.db");
        REFUSED("results database", "never", .path = "dbio.db-journal", .writes = true, .create = true,
                .database = "dbio.db");
        REFUSED("results database", "never", .path = "new.db-shm", .reads = true, .create = true, .database = "new.db");
        /* Beside it on the same device: a warning, where the file system has one. */
        make_file("data", "", 0, 0);
        o = guard((struct ask){.path = "data", .writes = true, .allow_write = true, .database = "new.db"});
        ck_assert_int_eq(o.code, 0);
        struct dbio_file_facts facts;
        ck_assert_int_eq(dbio_file_facts_read(&facts, ".", false, NULL), 0);
        if (facts.device)
                ck_assert_ptr_nonnull(strstr(o.warnings, "results database share"));
        folder_leave();
}
END_TEST

START_TEST(targets_in_memory_are_told)
{
        char path[] = "/dev/shm/dbio-guard.XXXXXX";
        int fd = mkstemp(path);
        struct outcome o;

        if (fd < 0)
                skip_test("no /dev/shm here");
        close(fd);
        make_file(path, "", 0, 0);
        o = guard((struct ask){.path = path, .writes = true, .allow_write = true});
        unlink(path);
        ck_assert_int_eq(o.code, 0);
        ck_assert_ptr_nonnull(strstr(o.warnings, "lies in RAM"));
}
END_TEST

static void fill_device(int fd, uint64_t at, unsigned char byte)
{
        ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
        ck_assert_int_eq(fsync(fd), 0);
}

START_TEST(devices_need_allow_write_and_blankness)
{
        char path[64];
        int fd = loop_attach(BYTES, 512, 0, path);

        if (fd < 0)
                skip_test("no loop device for this user");
        REFUSED("block device", "--allow-write", .path = path, .writes = true);
        REFUSED("block device", "--allow-write", .path = path, .writes = true, .destroy = path);
        ALLOWED(.path = path, .writes = true, .allow_write = true);
        ALLOWED(.path = path, .reads = true);
        fill_device(fd, BYTES - 1, 1); /* in the last of the 256 samples */
        REFUSED("not blank", "--destroy /dev/loop", .path = path, .writes = true, .allow_write = true);
        ALLOWED(.path = path, .writes = true, .allow_write = true, .destroy = path);
        fill_device(fd, BYTES - 1, 0);
        fill_device(fd, 0, 1);
        REFUSED("not blank", "--destroy /dev/loop", .path = path, .writes = true, .allow_write = true);
        close(fd);
}
END_TEST

START_TEST(a_device_opened_exclusively_is_never_written)
{
        char path[64];
        int fd = loop_attach(BYTES, 512, 0, path), holder;
        struct outcome o;

        if (fd < 0)
                skip_test("no loop device for this user");
        holder = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        ck_assert_int_ge(holder, 0);
        REFUSED("in use", "never", .path = path, .writes = true, .allow_write = true, .allow_busy = true,
                .destroy = path);
        REFUSED("in use", "--allow-busy", .path = path, .reads = true);
        o = guard((struct ask){.path = path, .reads = true, .allow_busy = true});
        ck_assert_int_eq(o.code, 0);
        ck_assert_int_eq(o.capped, 1);
        close(holder);
        close(fd);
}
END_TEST

/* In a mount namespace of its own, so that nothing stays mounted. */
START_TEST(mounted_devices_are_never_written)
{
        char path[64], command[256], db[300];
        int fd = loop_attach(8 * MIB, 512, 0, path);

        if (fd < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
                skip_test("no loop device or no mounts for this user");
        folder_enter();
        ck_assert_int_eq(mkdir("mnt", 0755), 0);
        snprintf(command, sizeof command, "PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F %s", path);
        if (system(command) != 0 || mount(path, "mnt", "ext4", 0, NULL) != 0) {
                folder_leave();
                close(fd);
                skip_test("no ext4 here");
        }
        REFUSED("mounted on", "never", .path = path, .writes = true, .allow_write = true, .allow_busy = true,
                .destroy = path);
        REFUSED("mounted on", "--allow-busy", .path = path, .reads = true);
        snprintf(db, sizeof db, "mnt/dbio.db");
        REFUSED("mounted on", "never", .path = path, .writes = true, .allow_write = true, .destroy = path, .database = db);
        ck_assert_int_eq(umount("mnt"), 0);
        REFUSED("ext4", "--destroy", .path = path, .writes = true, .allow_write = true);
        ALLOWED(.path = path, .writes = true, .allow_write = true, .destroy = path);
        folder_leave();
        close(fd);
}
END_TEST

START_TEST(a_disk_is_in_use_through_its_partitions)
{
        /* One partition of 6 MiB from 1 MiB on (sectors 2048 and 12288). */
        static const unsigned char mbr[512] = {[450] = 0x83, [455] = 0x08, [459] = 0x30, [510] = 0x55, [511] = 0xaa};
        struct blkpg_partition one = {.start = MIB, .length = 6 * MIB, .pno = 1};
        struct blkpg_ioctl_arg add = {.op = BLKPG_ADD_PARTITION, .datalen = sizeof one, .data = &one};
        char path[64], sysfs[128];
        int fd = loop_attach(8 * MIB, 512, 1, path), partition;
        unsigned maj, min;
        FILE *file;

        if (fd < 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
                skip_test("no loop device or no mounts for this user");
        ck_assert_int_eq(pwrite(fd, mbr, sizeof mbr, 0), sizeof mbr);
        ck_assert_int_eq(fsync(fd), 0);
        /* Told to the kernel, as not every kernel reads partition tables. */
        if (ioctl(fd, BLKPG, &add) != 0) {
                close(fd);
                skip_test("no partitions on loop devices here");
        }
        /* A node of our own: nobody may make them in /dev. */
        folder_enter();
        snprintf(sysfs, sizeof sysfs, "/sys/class/block/%sp1/dev", path + strlen("/dev/"));
        file = fopen(sysfs, "re");
        if (!file || fscanf(file, "%u:%u", &maj, &min) != 2 || mknod("part", S_IFBLK | 0600, makedev(maj, min)) != 0 ||
            (partition = open("part", O_RDONLY | O_EXCL | O_CLOEXEC)) < 0) {
                folder_leave();
                close(fd);
                skip_test("partitions of loop devices cannot be reached here");
        }
        fclose(file);
        ck_assert_int_eq(mkdir("mnt", 0755), 0);
        REFUSED("in use", "never", .path = path, .writes = true, .allow_write = true, .destroy = path);
        close(partition);
        REFUSED("partition table", "--destroy", .path = path, .writes = true, .allow_write = true);
        if (system("PATH=$PATH:/sbin:/usr/sbin mkfs.ext4 -q -F part") == 0 && mount("part", "mnt", "ext4", 0, NULL) == 0) {
                REFUSED("mounted on", "never", .path = path, .writes = true, .allow_write = true, .destroy = path);
                ck_assert_int_eq(umount("mnt"), 0);
        }
        folder_leave();
        close(fd);
}
END_TEST

START_TEST(a_device_that_cannot_be_written_is_not_tried)
{
        char path[64];
        struct outcome o;
        int fd = loop_attach(8 * MIB, 512, 0, path), on = 1, off = 0;

        if (fd < 0)
                skip_test("no loop device for this user");
        ck_assert_int_eq(ioctl(fd, BLKROSET, &on), 0);
        o = guard((struct ask){.path = path, .writes = true, .allow_write = true});
        ck_assert_int_eq(ioctl(fd, BLKROSET, &off), 0); /* it would outlive the file */
        close(fd);
        ck_assert_int_eq(o.code, DBIO_IO);
        ck_assert_msg(strstr(o.message, "read-only"), "%s", o.message);
}
END_TEST

static void keep_line(void *user, const char *text)
{
        snprintf(user, 1024, "%s", text);
}

START_TEST(what_will_be_written_is_described)
{
        const struct dbio_target_spec spec = {.name = "log", .unit = DBIO_SIZE_BYTES, .size_bytes = 2 * MIB,
                                              .page = 8192, .writes = true};
        const struct dbio_target_options resolving = {.buffered = true};
        struct dbio_targets targets;
        struct dbio_binding binding;
        char line[1024] = "";

        folder_enter();
        make_file("a", "", 0, 0);
        ck_assert_int_eq(dbio_binding_parse(&binding, "log=a@1MiB", NULL), 0);
        ck_assert_int_eq(dbio_targets_resolve(&targets, &spec, 1, &binding, 1, &resolving, NULL), 0);
        dbio_guard_describe(&targets, &spec, false, keep_line, line);
        ck_assert_msg(strstr(line, "target log") && strstr(line, "bytes 1048576 to 3145728 (2 MiB) of a"), "%s", line);
        ck_assert_ptr_nonnull(strstr(line, "serial"));
        dbio_targets_close(&targets);
        dbio_binding_release(&binding);
        folder_leave();
}
END_TEST

START_TEST(what_will_be_prepared_is_described)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_DEFAULT, .page = 8192, .reads = true};
        const struct dbio_target_options resolving = {.buffered = true, .prepare = true};
        struct dbio_targets targets;
        struct dbio_binding binding;
        struct dbio_extents extents;
        char line[1024] = "";
        int fd;

        folder_enter();
        make_file("a", "", 0, 0);
        fd = open("a", O_RDWR | O_CLOEXEC);
        if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MIB, MIB) != 0 ||
            dbio_extents_walk(fd, 0, BYTES, NULL, NULL, &extents) != 0) {
                folder_leave();
                skip_test("holes cannot be made or asked for here");
        }
        close(fd);
        ck_assert_int_eq(dbio_binding_parse(&binding, "data=a", NULL), 0);
        ck_assert_int_eq(dbio_targets_resolve(&targets, &spec, 1, &binding, 1, &resolving, NULL), 0);
        dbio_guard_describe(&targets, &spec, false, keep_line, line);
        ck_assert_str_eq(line, "");
        dbio_guard_describe(&targets, &spec, true, keep_line, line);
        ck_assert_msg(strstr(line, "what is unwritten in bytes 0 to 4194304 (1 MiB) of a"), "%s", line);
        dbio_targets_close(&targets);
        dbio_binding_release(&binding);
        folder_leave();
}
END_TEST

TEST_MAIN("guard", a_foreign_file_needs_allow_write, database_files_need_destroy,
          file_systems_and_partition_tables_need_destroy, destroy_must_name_something_bound,
          a_file_open_elsewhere_is_never_written, a_file_that_cannot_be_asked_about_is_not_written,
          sparse_files_are_not_read, the_results_database_is_no_target, a_device_that_cannot_be_written_is_not_tried,
          targets_in_memory_are_told, devices_need_allow_write_and_blankness,
          a_device_opened_exclusively_is_never_written, mounted_devices_are_never_written,
          a_disk_is_in_use_through_its_partitions, what_will_be_written_is_described,
          what_will_be_prepared_is_described)
