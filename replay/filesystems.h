/* File systems of several cluster sizes, made in turn on a scratch device or image (study --make-filesystems).
 *
 * The mounts are in a mount namespace of the process' own: whatever ends it, they end, and the loop device with them.
 */
#ifndef DBIO_REPLAY_FILESYSTEMS_H
#define DBIO_REPLAY_FILESYSTEMS_H

#include <stdbool.h>

#include "replay/command.h"

#define DBIO_FILESYSTEMS 5u
extern const char *const dbio_filesystem_names[DBIO_FILESYSTEMS]; /* "ext4-4K" … "xfs-64K" */

struct dbio_filesystems {
        char device[4096]; /* that is formatted; of an image its loop device */
        char mount[64];    /* where; made by open, removed by close */
        int loop;          /* fd, -1 = none; the kernel detaches it when it is closed */
        bool mounted, made; /* made: the device has been formatted */
};

/* Asks the guards whether the device or image may be overwritten, says what will be written, and, but for --dry-run, gets
 * ready, which needs root. DBIO_REFUSED, DBIO_USAGE, DBIO_IO. After a failure nothing is left. */
int dbio_filesystems_open(struct dbio_filesystems *filesystems, const struct dbio_cmdline *line, struct dbio_err *err);
/* Makes and mounts one in place of the one before. 1; 0 where this kernel does not mount it, which is said on stderr.
 */
int dbio_filesystems_make(struct dbio_filesystems *filesystems, unsigned which, struct dbio_err *err);
/* Accepts what open left after a failure, and a zeroed one that was never opened. Says it of a device that it now holds
 * dbio's data. */
void dbio_filesystems_close(struct dbio_filesystems *filesystems);

#endif
