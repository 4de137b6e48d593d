#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/device.h"

#define MIB (1024 * 1024)

static int scratch(char *path, size_t size)
{
        int fd;

        snprintf(path, size, "%s/dbio-device.XXXXXX", getenv("DBIO_BUILD") ? getenv("DBIO_BUILD") : "/tmp");
        fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        return fd;
}

static int note(void *user, uint64_t offset, uint64_t bytes)
{
        uint64_t(*seen)[3][2] = user;
        unsigned i = 0;

        while (i < 2 && (*seen)[i][1])
                i++;
        if (i > 0 && (*seen)[i - 1][0] + (*seen)[i - 1][1] == offset) {
                (*seen)[i - 1][1] += bytes;
                return 0;
        }
        (*seen)[i][0] = offset;
        (*seen)[i][1] = bytes;
        return 0;
}

/* A hole of 2 MiB, data of 1, an unwritten MiB, data of 1, a hole of 3: the file is made so. */
START_TEST(holes_and_unwritten_extents_are_found)
{
        static char block[MIB];
        struct dbio_extents extents;
        struct dbio_file_facts facts;
        uint64_t seen[3][2] = {0};
        char path[4096];
        int fd = scratch(path, sizeof path), code;

        memset(block, 1, sizeof block);
        ck_assert_int_eq(ftruncate(fd, 8 * MIB), 0);
        ck_assert_int_eq(pwrite(fd, block, MIB, 2 * MIB), MIB);
        ck_assert_int_eq(pwrite(fd, block, MIB, 4 * MIB), MIB);
        code = fallocate(fd, 0, 3 * MIB, MIB);
        if (code == 0)
                code = dbio_extents_walk(fd, 0, 8 * MIB, note, &seen, &extents);
        ck_assert_int_eq(dbio_file_facts_read(&facts, path, true, NULL), 0);
        if (code != 0) {
                close(fd);
                unlink(path);
                skip_test("the file system of the build folder has no unwritten extents or does not tell them");
        }
        ck_assert_uint_eq(extents.unwritten_bytes, 6 * MIB);
        ck_assert_uint_eq(seen[0][0], 0);
        ck_assert_uint_eq(seen[0][1], 2 * MIB);
        ck_assert_uint_eq(seen[1][0], 3 * MIB);
        ck_assert_uint_eq(seen[1][1], MIB);
        ck_assert_uint_eq(seen[2][0], 5 * MIB);
        ck_assert_uint_eq(seen[2][1], 3 * MIB);
        ck_assert_uint_eq(facts.extents.unwritten_bytes, 6 * MIB);
        ck_assert_int_eq(dbio_extents_walk(fd, 2 * MIB, 3 * MIB, NULL, NULL, &extents), 0);
        ck_assert_uint_eq(extents.unwritten_bytes, 0);
        ck_assert_uint_ge(extents.extents, 1);
        close(fd);
        unlink(path);
}
END_TEST

START_TEST(a_file_knows_its_file_system)
{
        struct dbio_file_facts facts;
        struct dbio_err err = {0};
        struct stat st;
        char path[4096];
        int fd = scratch(path, sizeof path);

        ck_assert_int_eq(dbio_file_facts_read(&facts, path, false, &err), 0);
        ck_assert_int_eq(fstat(fd, &st), 0);
        if (major(st.st_dev) != 0)
                ck_assert_uint_eq(facts.device, st.st_dev);
        ck_assert_uint_gt(facts.block, 0);
        ck_assert_uint_gt(strlen(facts.filesystem), 0);
        ck_assert_uint_gt(strlen(facts.mount_point), 0);
        close(fd);
        unlink(path);
        ck_assert_int_eq(dbio_file_facts_read(&facts, path, false, &err), -1);
        ck_assert_int_eq(err.code, DBIO_IO);
        ck_assert_ptr_nonnull(strstr(err.message, strerror(ENOENT)));
}
END_TEST

/* The first disk that /sys/block shows, against what stands in its files. */
START_TEST(a_device_is_what_sysfs_says)
{
        struct dbio_device device;
        struct dbio_device_counters counters;
        struct dbio_err err = {0};
        dev_t chain[8];
        char id[300];
        unsigned maj, min;
        unsigned long long sectors;
        FILE *file = popen("for d in /sys/block/*; do [ $(cat $d/size) -gt 0 ] && echo $(cat $d/dev | tr : ' ') "
                           "$(cat $d/size) && break; done", "r");
        int n = file ? fscanf(file, "%u %u %llu", &maj, &min, &sectors) : 0;

        if (file)
                pclose(file);
        if (n != 3)
                skip_test("no block device here");
        ck_assert_msg(dbio_device_read(&device, makedev(maj, min), &err) == 0, "%s", err.message);
        ck_assert_uint_eq(device.size_bytes, sectors * 512);
        ck_assert_uint_ge(device.logical_block, 512);
        ck_assert_int_eq(device.partition, 0);
        ck_assert_str_eq(device.name, device.whole);
        ck_assert_int_eq(dbio_device_counters_read(&counters, makedev(maj, min), &err), 0);
        ck_assert_uint_ge(dbio_device_chain(makedev(maj, min), chain, 8), 1);
        ck_assert_uint_eq(chain[0], makedev(maj, min));
        dbio_device_id(&device, id, sizeof id);
        ck_assert_int_eq(dbio_device_goes_by(&device, id), 1);
        ck_assert_int_eq(dbio_device_goes_by(&device, ""), 0);
        ck_assert_int_eq(dbio_device_goes_by(&device, "no such"), 0);
        ck_assert_int_eq(dbio_device_read(&device, makedev(4000, 1), &err), -1);
        ck_assert_int_eq(err.code, DBIO_IO);
}
END_TEST

TEST_MAIN("device", holes_and_unwritten_extents_are_found, a_file_knows_its_file_system, a_device_is_what_sysfs_says)
