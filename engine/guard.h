/* Safety: what may be written and read at all. Asked after targets are resolved and before any is
 * opened for writing; changes nothing. Signatures are libblkid's, mounts and swap libmount's. */
#ifndef DBIO_ENGINE_GUARD_H
#define DBIO_ENGINE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/err.h"
#include "engine/target.h"

struct dbio_guard_options {
        bool allow_write, allow_busy, prepare;
        const char *const *destroy; /* what --destroy said: ndestroy serials, WWNs, paths */
        unsigned ndestroy;
        const char *database;       /* results database, also one that is not there yet; NULL = none */
        void (*warn)(void *user, const char *text); /* one line without line end; may be NULL */
        void *user;
        bool capped;                /* result: something in use is read, so the caps of --max-iops and --max-mibs hold */
};

/* Refuses what must not be: DBIO_REFUSED with the reason and what would allow it (or that nothing does). Also
 * DBIO_USAGE where --destroy names nothing that is bound, DBIO_IO where something cannot be looked at. */
int dbio_guard_check(const struct dbio_targets *targets, const struct dbio_target_spec *specs,
                     struct dbio_guard_options *options, struct dbio_err *err);

/* What a run may write, one line a file or part of a device: bytes, model, size, serial; more than one: their sum.
 * With prepare, also what is filled in files that are only read. */
void dbio_guard_describe(const struct dbio_targets *targets, const struct dbio_target_spec *specs, bool prepare,
                         void (*line)(void *user, const char *text), void *user);

/* The parts; each fills why (size bytes) with the reason in words. */

/* Whether a block device is in use, so that it is never written: mounted or swapped on, itself, its partitions or what
 * is built on it; held by dm or md; opened exclusively. */
bool dbio_guard_in_use(dev_t device, const char *path, char *why, size_t size);

/* Whether another process has the file open, or the kernel (loop, swap). -1 and errno where it cannot be asked: EACCES
 * where only its owner may (fcntl(2), F_SETLEASE), EINVAL where the file system does not tell. */
int dbio_guard_open_elsewhere(const char *path, char *why, size_t size);

/* Whether the device holds a persistent reservation (SCSI, NVMe). -1 where it cannot be asked. */
int dbio_guard_reserved(const char *path, char *why, size_t size);

/* Whether the device or file carries a signature: file system, RAID, LVM, swap, partition table, ASM, database file.
 * -1 where it cannot be read. */
int dbio_guard_signature(int fd, char *why, size_t size);

/* Whether one of 256 blocks, spread evenly from the first to the last, holds a byte that is not 0; -1 where it cannot
 * be read. */
int dbio_guard_not_blank(int fd, uint64_t bytes, char *why, size_t size);

#endif
