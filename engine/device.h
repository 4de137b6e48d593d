/* What the kernel says of a block device and of a file: facts for the report, for safety and for the counters that a
 * run is compared with. Reads /sys, /proc and ioctls only; opens nothing for writing. Any thread. */
#ifndef DBIO_ENGINE_DEVICE_H
#define DBIO_ENGINE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/err.h"

/* A whole disk or a partition. Texts are empty and numbers 0 where the kernel does not say (bio-based devices have
 * neither scheduler nor queue). Model, serial, firmware and queue are those of the whole disk. */
struct dbio_device {
        dev_t number;
        dev_t disk;            /* the whole disk's number; same as number where it is one */
        char name[64];         /* kernel name: sda1, nvme0n1, dm-0 */
        char path[128];        /* /dev/NAME */
        char whole[64];        /* kernel name of the whole disk: sda; same as name where it is one */
        char model[128], serial[128], wwn[128], firmware[64];
        char scheduler[32];    /* the active one */
        char write_cache[32];  /* `write back` or `write through` */
        char backing_file[256]; /* of a loop device */
        uint64_t size_bytes;
        uint64_t start_bytes;  /* of a partition in its disk */
        unsigned logical_block, physical_block;
        unsigned nr_requests, max_sectors_kb;
        bool rotational, read_only;
        bool ram;              /* zram, brd */
        bool bio_based;        /* no blk-mq: io_uring may punt */
        bool checks_reads;     /* holds what is read against its protection information (sysfs-block, read_verify) */
        bool partition;
};

/* What a walk over a file's map found. */
struct dbio_extents {
        uint64_t extents;         /* pieces apart on the device */
        uint64_t largest_bytes;
        uint64_t unwritten_bytes; /* holes and unwritten extents */
};

/* Of a file on a file system. */
struct dbio_file_facts {
        char filesystem[32];   /* ext4, xfs, tmpfs */
        bool checks_reads;     /* a file system that holds what is read against sums */
        char mount_point[256], mount_source[256], mount_options[512];
        uint64_t size_bytes, allocated_bytes;
        uint64_t free_bytes, filesystem_bytes; /* of the file system; free for an ordinary user */
        unsigned block;        /* file-system block, bytes */
        unsigned cluster;      /* allocation unit where it differs (bigalloc, ntfs): else = block */
        unsigned dio_memory_alignment, dio_offset_alignment; /* statx STATX_DIOALIGN; 0 = not told */
        bool extents_known;    /* asked for, and the file system answers */
        struct dbio_extents extents; /* below size_bytes */
        bool ram;              /* tmpfs, ramfs */
        dev_t device;          /* the block device that it lies on; 0 where there is none */
};

/* /sys/block/DEV/stat (Documentation/admin-guide/iostats.rst); sectors are 512 bytes. */
struct dbio_device_counters {
        uint64_t read_ios, read_merges, read_sectors, read_ms;
        uint64_t write_ios, write_merges, write_sectors, write_ms;
        uint64_t in_flight, io_ms, queue_ms;
        uint64_t discard_ios, discard_merges, discard_sectors, discard_ms;
        uint64_t flush_ios, flush_ms;
};

/* DBIO_IO where there is no such device. */
int dbio_device_read(struct dbio_device *device, dev_t number, struct dbio_err *err);

/* Facts of an existing file or directory. With `extents`, the file's map is read too (once, in pieces). DBIO_IO. */
int dbio_file_facts_read(struct dbio_file_facts *facts, const char *path, bool extents, struct dbio_err *err);

/* Walks the map of bytes [start, end) of an open file (FIEMAP), calling unwritten (may be NULL) for each piece whose
 * reads never reach the device: holes and unwritten extents, in rising order. A callback's value other than 0 ends the
 * walk and is returned. -EOPNOTSUPP where the file system cannot be asked, -errno. */
int dbio_extents_walk(int fd, uint64_t start, uint64_t end,
                      int (*unwritten)(void *user, uint64_t offset, uint64_t bytes), void *user,
                      struct dbio_extents *extents);

/* Counters of a device or partition; -1 where it has none. */
int dbio_device_counters_read(struct dbio_device_counters *counters, dev_t number, struct dbio_err *err);

/* The devices below a device (partition -> disk, dm, md -> members, all the way down; not through loop), itself first.
 * Returns their number, at most max. */
unsigned dbio_device_chain(dev_t number, dev_t *chain, unsigned max);

/* Whether writing to device would change what other stands on: other is it, is built on it or on a partition of it, or
 * is the whole disk that device is a part of. */
bool dbio_device_reaches(dev_t other, dev_t device);

/* What --destroy wants to hear: the device's serial, else its WWN, else its path; and whether id is one that it goes
 * by (serial or WWN, or any path of it where it has neither). */
void dbio_device_id(const struct dbio_device *device, char *id, size_t size);
bool dbio_device_goes_by(const struct dbio_device *device, const char *id);

#endif
