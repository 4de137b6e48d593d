#include "engine/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* First bytes of dir/name into text; trailing blanks and line ends go. Returns the length, 0 where there is nothing. */
static size_t read_text(const char *dir, const char *name, char *text, size_t size)
{
        char path[PATH_MAX + 300];
        ssize_t n;
        int fd;

        text[0] = 0;
        snprintf(path, sizeof path, "%s/%s", dir, name);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return 0;
        n = read(fd, text, size - 1);
        close(fd);
        if (n < 0)
                n = 0;
        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ' || text[n - 1] == 0))
                n--;
        text[n] = 0;
        return (size_t)n;
}

static uint64_t read_number(const char *dir, const char *name)
{
        char text[64];

        return read_text(dir, name, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static dev_t read_dev(const char *dir, const char *name)
{
        char text[64];
        unsigned maj, min;

        if (!read_text(dir, name, text, sizeof text) || sscanf(text, "%u:%u", &maj, &min) != 2)
                return 0;
        return makedev(maj, min);
}

static bool has(const char *dir, const char *name)
{
        char path[PATH_MAX + 300];

        snprintf(path, sizeof path, "%s/%s", dir, name);
        return access(path, F_OK) == 0;
}

static const char *base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* `none [mq-deadline] kyber`: the one in brackets. */
static void active_choice(char *text)
{
        char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

        if (!close)
                return;
        *close = 0;
        memmove(text, open + 1, (size_t)(close - open));
}

/* SCSI unit serial number page (SPC-5, 7.7.19): four bytes of header, then text. */
static void read_vpd_serial(const char *dir, char *text, size_t size)
{
        char path[PATH_MAX + 300];
        unsigned char page[256];
        ssize_t n;
        size_t out = 0;
        int fd;

        snprintf(path, sizeof path, "%s/device/vpd_pg80", dir);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return;
        n = read(fd, page, sizeof page);
        close(fd);
        for (ssize_t i = 4; i < n && out + 1 < size; i++)
                if (page[i] > ' ' && page[i] < 127)
                        text[out++] = (char)page[i];
        text[out] = 0;
}

/* What udev found out by asking the device, for those whose driver tells sysfs nothing. */
static void read_udev(struct dbio_device *device)
{
        const struct {
                const char *key;
                char *text;
                size_t size;
        } wanted[] = {
                {"E:ID_SERIAL_SHORT=", device->serial, sizeof device->serial},
                {"E:ID_WWN=", device->wwn, sizeof device->wwn},
                {"E:ID_MODEL=", device->model, sizeof device->model},
                {"E:ID_REVISION=", device->firmware, sizeof device->firmware},
        };
        bool missing[sizeof wanted / sizeof *wanted];
        char path[64], line[512];
        FILE *file;

        snprintf(path, sizeof path, "/run/udev/data/b%u:%u", major(device->number), minor(device->number));
        file = fopen(path, "re");
        if (!file)
                return;
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                missing[i] = wanted[i].text[0] == 0;
        while (fgets(line, sizeof line, file)) {
                line[strcspn(line, "\n")] = 0;
                for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
                        if (missing[i] && strncmp(line, wanted[i].key, strlen(wanted[i].key)) == 0)
                                snprintf(wanted[i].text, wanted[i].size, "%s", line + strlen(wanted[i].key));
        }
        fclose(file);
}

static void read_identity(struct dbio_device *device, const char *whole)
{
        read_text(whole, "device/model", device->model, sizeof device->model);
        if (!read_text(whole, "device/serial", device->serial, sizeof device->serial) &&
            !read_text(whole, "serial", device->serial, sizeof device->serial))
                read_vpd_serial(whole, device->serial, sizeof device->serial);
        if (!read_text(whole, "wwid", device->wwn, sizeof device->wwn) &&
            !read_text(whole, "device/wwid", device->wwn, sizeof device->wwn))
                read_text(whole, "dm/uuid", device->wwn, sizeof device->wwn);
        if (!read_text(whole, "device/firmware_rev", device->firmware, sizeof device->firmware))
                read_text(whole, "device/rev", device->firmware, sizeof device->firmware);
        read_text(whole, "loop/backing_file", device->backing_file, sizeof device->backing_file);
        read_udev(device);
}

static void read_queue(struct dbio_device *device, const char *whole)
{
        char format[64];

        device->logical_block = (unsigned)read_number(whole, "queue/logical_block_size");
        device->physical_block = (unsigned)read_number(whole, "queue/physical_block_size");
        device->nr_requests = (unsigned)read_number(whole, "queue/nr_requests");
        device->max_sectors_kb = (unsigned)read_number(whole, "queue/max_sectors_kb");
        device->rotational = read_number(whole, "queue/rotational") != 0;
        read_text(whole, "queue/write_cache", device->write_cache, sizeof device->write_cache);
        read_text(whole, "queue/scheduler", device->scheduler, sizeof device->scheduler);
        active_choice(device->scheduler);
        device->bio_based = !has(whole, "mq");
        device->checks_reads = read_number(whole, "integrity/read_verify") != 0 &&
                               read_text(whole, "integrity/format", format, sizeof format) && strcmp(format, "none") != 0;
        device->ram = strncmp(device->whole, "zram", 4) == 0 || strncmp(device->whole, "ram", 3) == 0;
        if (device->bio_based) { /* what stands there is not used by such a device */
                device->scheduler[0] = 0;
                device->nr_requests = 0;
        }
}

/* The sysfs folder of a device, and of the whole disk that it is or is part of. */
static int find_folders(dev_t number, char *self, char *whole)
{
        char link[64];

        snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(number), minor(number));
        if (!realpath(link, self))
                return -errno;
        strcpy(whole, self);
        if (has(self, "partition"))
                *strrchr(whole, '/') = 0;
        return 0;
}

int dbio_device_read(struct dbio_device *device, dev_t number, struct dbio_err *err)
{
        char self[PATH_MAX], whole[PATH_MAX];
        int code = find_folders(number, self, whole);

        if (code < 0)
                return dbio_err_set(err, DBIO_IO, "block device %u:%u: %s", major(number), minor(number),
                                    strerror(-code));
        memset(device, 0, sizeof *device);
        device->number = number;
        device->disk = read_dev(whole, "dev");
        device->partition = strcmp(self, whole) != 0;
        snprintf(device->name, sizeof device->name, "%.63s", base_name(self));
        snprintf(device->whole, sizeof device->whole, "%.63s", base_name(whole));
        snprintf(device->path, sizeof device->path, "/dev/%s", device->name);
        for (char *c = device->path; *c; c++) /* sysfs writes cciss/c0d0 so */
                if (*c == '!')
                        *c = '/';
        device->size_bytes = read_number(self, "size") * 512;
        device->start_bytes = read_number(self, "start") * 512;
        device->read_only = read_number(self, "ro") != 0;
        read_queue(device, whole);
        read_identity(device, whole);
        return 0;
}

int dbio_device_counters_read(struct dbio_device_counters *counters, dev_t number, struct dbio_err *err)
{
        uint64_t *const fields[] = {
                &counters->read_ios, &counters->read_merges, &counters->read_sectors, &counters->read_ms,
                &counters->write_ios, &counters->write_merges, &counters->write_sectors, &counters->write_ms,
                &counters->in_flight, &counters->io_ms, &counters->queue_ms,
                &counters->discard_ios, &counters->discard_merges, &counters->discard_sectors, &counters->discard_ms,
                &counters->flush_ios, &counters->flush_ms,
        };
        char dir[64], text[512], *at = text;
        size_t n;

        memset(counters, 0, sizeof *counters);
        snprintf(dir, sizeof dir, "/sys/dev/block/%u:%u", major(number), minor(number));
        if (!read_text(dir, "stat", text, sizeof text))
                return dbio_err_set(err, DBIO_IO, "%s/stat: no counters", dir);
        for (n = 0; n < sizeof fields / sizeof *fields; n++) {
                char *end;

                *fields[n] = strtoull(at, &end, 10);
                if (end == at)
                        break;
                at = end;
        }
        return n >= 11 ? 0 : dbio_err_set(err, DBIO_IO, "%s/stat has %zu fields instead of 11 or more", dir, n);
}

static unsigned add(dev_t number, dev_t *chain, unsigned n, unsigned max)
{
        for (unsigned i = 0; i < n; i++)
                if (chain[i] == number)
                        return n;
        if (n < max)
                chain[n++] = number;
        return n;
}

unsigned dbio_device_chain(dev_t number, dev_t *chain, unsigned max)
{
        unsigned n = add(number, chain, 0, max);

        for (unsigned i = 0; i < n; i++) {
                char self[PATH_MAX], whole[PATH_MAX], slaves[PATH_MAX + 8];
                struct dirent *entry;
                DIR *dir;

                if (find_folders(chain[i], self, whole) != 0)
                        continue;
                n = add(read_dev(whole, "dev"), chain, n, max);
                snprintf(slaves, sizeof slaves, "%s/slaves", whole);
                dir = opendir(slaves);
                while (dir && (entry = readdir(dir))) {
                        char name[300];
                        dev_t below;

                        if (entry->d_name[0] == '.')
                                continue;
                        snprintf(name, sizeof name, "%s/dev", entry->d_name);
                        below = read_dev(slaves, name);
                        if (below)
                                n = add(below, chain, n, max);
                }
                if (dir)
                        closedir(dir);
        }
        return n;
}

bool dbio_device_reaches(dev_t other, dev_t device)
{
        dev_t chain[64];
        struct dbio_device facts;
        unsigned n = dbio_device_chain(other, chain, 64);

        for (unsigned i = 0; i < n; i++)
                if (chain[i] == device)
                        return true;
        return dbio_device_read(&facts, device, NULL) == 0 && other == facts.disk;
}

void dbio_device_id(const struct dbio_device *device, char *id, size_t size)
{
        snprintf(id, size, "%s",
                 device->serial[0] ? device->serial : device->wwn[0] ? device->wwn : device->path);
}

bool dbio_device_goes_by(const struct dbio_device *device, const char *id)
{
        struct stat st;

        if (!id[0])
                return false;
        if (device->serial[0] || device->wwn[0])
                return strcmp(id, device->serial) == 0 || strcmp(id, device->wwn) == 0;
        return strcmp(id, device->path) == 0 ||
               (id[0] == '/' && stat(id, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == device->number);
}
