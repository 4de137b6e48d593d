/* Loop devices for tests; each is detached by the kernel when its fd is closed, so a test that dies leaves none. */
#ifndef DBIO_TESTS_LOOPDEV_H
#define DBIO_TESTS_LOOPDEV_H

#include <stdint.h>

/* A loop device over a new, removed file of that size in the build folder, its bytes zero. Returns its fd and writes
 * its path (64 bytes), -1 where this process may not have one. sector 0 = 512. partscan: with partitions. */
int loop_attach(uint64_t bytes, unsigned sector, int partscan, char *path);

#endif
