#include "tests/loopdev.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int loop_attach(uint64_t bytes, unsigned sector, int partscan, char *path)
{
        char image[4096];
        int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), backing, device = -1;

        snprintf(image, sizeof image, "%s/dbio-loop.XXXXXX", getenv("DBIO_BUILD") ? getenv("DBIO_BUILD") : "/tmp");
        backing = mkstemp(image);
        if (control < 0 || backing < 0 || ftruncate(backing, (off_t)bytes) != 0)
                goto out;
        for (int attempt = 0; attempt < 20 && device < 0; attempt++) { /* another process may take it first */
                struct loop_config config = {.fd = (unsigned)backing, .block_size = sector,
                                             .info.lo_flags = LO_FLAGS_AUTOCLEAR | (partscan ? LO_FLAGS_PARTSCAN : 0)};
                int number = ioctl(control, LOOP_CTL_GET_FREE);

                snprintf(path, 64, "/dev/loop%d", number);
                device = number < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
                if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config) != 0) {
                        close(device);
                        device = -1;
                }
        }
out:
        if (backing >= 0) {
                unlink(image);
                close(backing);
        }
        if (control >= 0)
                close(control);
        return device;
}
