/* Who else uses a device or file. */
#include "engine/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <limits.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/device.h"

static dev_t number_of(const char *path)
{
        struct stat st;

        if (!path || stat(path, &st) != 0)
                return 0;
        return S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

static bool mounted_in(const char *table_path, dev_t device, char *why, size_t size)
{
        struct libmnt_table *table = mnt_new_table_from_file(table_path);
        struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
        struct libmnt_fs *fs;
        bool found = false;

        while (table && iter && !found && mnt_table_next_fs(table, iter, &fs) == 0) {
                dev_t number = mnt_fs_get_devno(fs);

                if (major(number) == 0) /* btrfs: the device is the source */
                        number = number_of(mnt_fs_get_srcpath(fs));
                if (!number || !dbio_device_reaches(number, device))
                        continue;
                snprintf(why, size, "it is mounted on %s%s%s%s", mnt_fs_get_target(fs),
                         number == device ? "" : " (through ", number == device ? "" : mnt_fs_get_source(fs),
                         number == device ? "" : ")");
                found = true;
        }
        mnt_free_iter(iter);
        mnt_unref_table(table);
        return found;
}

static bool swapped_on(dev_t device, char *why, size_t size)
{
        struct libmnt_table *table = mnt_new_table();
        struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
        struct libmnt_fs *fs;
        bool found = false;

        if (table && iter && mnt_table_parse_swaps(table, NULL) == 0)
                while (!found && mnt_table_next_fs(table, iter, &fs) == 0) {
                        dev_t number = number_of(mnt_fs_get_source(fs));

                        found = number && dbio_device_reaches(number, device);
                        if (found)
                                snprintf(why, size, "it is swap (%s)", mnt_fs_get_source(fs));
                }
        mnt_free_iter(iter);
        mnt_unref_table(table);
        return found;
}

/* Any name in the folder holders of a device's or partition's sysfs folder. */
static bool first_holder(const char *folder, char *why, size_t size)
{
        char path[PATH_MAX + 16];
        struct dirent *entry;
        bool found = false;
        DIR *dir;

        snprintf(path, sizeof path, "%s/holders", folder);
        dir = opendir(path);
        while (dir && !found && (entry = readdir(dir))) {
                if (entry->d_name[0] == '.')
                        continue;
                snprintf(why, size, "%s is built on it", entry->d_name);
                found = true;
        }
        if (dir)
                closedir(dir);
        return found;
}

static bool held(dev_t device, char *why, size_t size)
{
        char link[64], self[PATH_MAX];
        struct dirent *entry;
        bool found;
        DIR *dir;

        snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
        if (!realpath(link, self))
                return false;
        found = first_holder(self, why, size);
        dir = found ? NULL : opendir(self);
        while (dir && !found && (entry = readdir(dir))) { /* partitions */
                char part[PATH_MAX + 300], mark[PATH_MAX + 320];

                snprintf(part, sizeof part, "%s/%s", self, entry->d_name);
                snprintf(mark, sizeof mark, "%s/partition", part);
                found = entry->d_name[0] != '.' && access(mark, F_OK) == 0 && first_holder(part, why, size);
        }
        if (dir)
                closedir(dir);
        return found;
}

bool dbio_guard_in_use(dev_t device, const char *path, char *why, size_t size)
{
        int fd;

        /* The first process's mounts too: a container sees only its own. */
        if (mounted_in("/proc/self/mountinfo", device, why, size) ||
            (access("/proc/1/mountinfo", R_OK) == 0 && mounted_in("/proc/1/mountinfo", device, why, size)) ||
            swapped_on(device, why, size) || held(device, why, size))
                return true;
        fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
        if (fd < 0 && errno == EBUSY) {
                snprintf(why, size, "it is in use (exclusive open: %s)", strerror(EBUSY));
                return true;
        }
        if (fd >= 0)
                close(fd);
        return false;
}

int dbio_guard_open_elsewhere(const char *path, char *why, size_t size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC), answer;

        if (fd < 0)
                return -1;
        /* Who opens the file while the lease stands makes the kernel send a signal: one that does nothing by default. */
        fcntl(fd, F_SETSIG, SIGURG);
        /* The kernel lets go of an io_uring's files some time after the process that had it has ended. */
        for (int tries = 0; (answer = fcntl(fd, F_SETLEASE, F_WRLCK)) && (errno == EAGAIN || errno == EBUSY) && tries < 20;
             tries++)
                usleep(50000);
        if (answer == 0) {
                fcntl(fd, F_SETLEASE, F_UNLCK);
                answer = 0;
        } else if (errno == EAGAIN || errno == EBUSY) {
                snprintf(why, size, "another process, or the kernel (loop, swap), has it open");
                answer = 1;
        } else {
                int error = errno;

                snprintf(why, size, "whether others have it open cannot be asked: %s", strerror(error));
                close(fd);
                errno = error;
                return -1;
        }
        close(fd);
        return answer;
}

/* SPC-5, 6.16: PERSISTENT RESERVE IN, service action READ RESERVATION. Eight bytes of header, then the holder's key. */
static int scsi_reservation(int fd, char *why, size_t size)
{
        unsigned char command[10] = {0x5e, 1, 0, 0, 0, 0, 0, 0, 32}, data[32] = {0}, sense[32];
        struct sg_io_hdr io = {.interface_id = 'S', .dxfer_direction = SG_DXFER_FROM_DEV, .cmd_len = sizeof command,
                               .cmdp = command, .dxferp = data, .dxfer_len = sizeof data, .sbp = sense,
                               .mx_sb_len = sizeof sense, .timeout = 5000};

        if (ioctl(fd, SG_IO, &io) != 0)
                return errno == EPERM || errno == EACCES ? -1 : 0; /* else: no SCSI device */
        if (io.status || io.host_status || io.driver_status || !(data[7] | data[6] | data[5] | data[4]))
                return 0;
        snprintf(why, size, "it is under a persistent reservation (key %02x%02x%02x%02x%02x%02x%02x%02x, type %u)", data[8],
                 data[9], data[10], data[11], data[12], data[13], data[14], data[15], data[21] & 15u);
        return 1;
}

/* NVM Express base specification, Reservation Report (opcode 0x0e): reservation type in byte 4, 0 = none. */
static int nvme_reservation(int fd, char *why, size_t size)
{
        unsigned char data[64] = {0};
        int nsid = ioctl(fd, NVME_IOCTL_ID);
        struct nvme_passthru_cmd command = {.opcode = 0x0e, .nsid = (unsigned)nsid, .addr = (uintptr_t)data,
                                            .data_len = sizeof data, .cdw10 = sizeof data / 4 - 1};
        int code;

        if (nsid <= 0)
                return 0;
        code = ioctl(fd, NVME_IOCTL_IO_CMD, &command);
        if (code < 0 && (errno == EPERM || errno == EACCES))
                return -1;
        if (code != 0 || data[4] == 0)
                return 0;
        snprintf(why, size, "it is under a persistent reservation (type %u)", data[4]);
        return 1;
}

int dbio_guard_reserved(const char *path, char *why, size_t size)
{
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), answer;

        if (fd < 0)
                return -1;
        answer = scsi_reservation(fd, why, size);
        if (answer == 0)
                answer = nvme_reservation(fd, why, size);
        close(fd);
        return answer;
}
