/* What --create and --prepare make, and what must stay free. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/device.h"
#include "tests/folder.h"
#include "tests/loopdev.h"
#include "tests/targetkit.h"

static void watch(void *user, const char *what, uint64_t done, uint64_t all)
{
        uint64_t *seen = user;

        ck_assert_ptr_nonnull(strstr(what, "data"));
        ck_assert(done > seen[0] || (done == 0 && seen[1] == 0));
        ck_assert_uint_le(done, all);
        seen[0] = done;
        seen[1] = all;
}

static char *slurp(const char *path, uint64_t bytes)
{
        char *text = malloc(bytes);
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(read(fd, text, bytes), (ssize_t)bytes);
        close(fd);
        return text;
}

static int by_bytes(const void *a, const void *b)
{
        return memcmp(a, b, 4096);
}

/* Payload: incompressible and without two equal blocks (contract: Safety). */
static void check_payload(const char *path, uint64_t bytes)
{
        char *text = slurp(path, bytes);
        uLongf packed = compressBound(bytes);
        Bytef *out = malloc(packed);

        ck_assert_int_eq(compress2(out, &packed, (Bytef *)text, bytes, 1), Z_OK);
        ck_assert_uint_ge(packed, bytes);
        qsort(text, bytes / 4096, 4096, by_bytes);
        for (uint64_t i = 1; i < bytes / 4096; i++)
                ck_assert_int_ne(memcmp(text + (i - 1) * 4096, text + i * 4096, 4096), 0);
        free(out);
        free(text);
}

START_TEST(create_writes_every_byte)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 6 * MIB,
                                              .nfiles = 2, .layout = {.grow = 512 * 1024, .interleave = true}};
        uint64_t seen[2] = {0};
        struct set *set;

        folder_enter();
        set = set_of(&spec, (const char *const[]){"data=made"}, 1);
        set->options.create = true;
        set->options.progress = watch;
        set->options.user = seen;
        ck_assert_msg(resolve(set) == 0, "%s", set->err.message);
        ck_assert_str_eq(set->targets.files[0].path, "made.1");
        ck_assert_str_eq(set->targets.files[1].path, "made.2");
        ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                      set->err.message);
        ck_assert_uint_eq(seen[0], 6 * MIB);
        ck_assert_uint_eq(seen[1], 6 * MIB);
        for (unsigned i = 0; i < 2; i++) {
                struct dbio_file_facts facts;

                ck_assert_int_eq(dbio_file_facts_read(&facts, set->targets.files[i].path, true, &set->err), 0);
                ck_assert_uint_eq(facts.size_bytes, 3 * MIB);
                ck_assert_uint_ge(facts.allocated_bytes, 3 * MIB);
                ck_assert_uint_eq(facts.extents.unwritten_bytes, 0);
                ck_assert_int_eq(dbio_file_is_own(set->targets.files[i].path), 1);
                ck_assert_int_ge(set->targets.io_files[i].fd, 0);
                check_payload(set->targets.files[i].path, 3 * MIB);
        }
        release(set);
        make_file("foreign", MIB);
        ck_assert_int_eq(dbio_file_is_own("foreign"), 0);
        make_file("foreign.dbio", 0);
        ck_assert_int_eq(dbio_file_is_own("foreign"), 1);
        folder_leave();
}
END_TEST

START_TEST(one_file_grows_beside_a_neighbour_that_goes)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 3 * MIB,
                                              .layout = {.interleave = true}};
        struct set *set;

        folder_enter();
        set = set_of(&spec, (const char *const[]){"data=made"}, 1);
        set->options.create = true;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                      set->err.message);
        ck_assert_int_eq(access("made", F_OK), 0);
        ck_assert_int_ne(access("made.neighbour", F_OK), 0);
        release(set);
        folder_leave();
}
END_TEST

START_TEST(two_targets_share_a_new_file)
{
        const struct dbio_target_spec specs[] = {
                {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 4 * MIB, .writes = true},
                {.name = "log", .unit = DBIO_SIZE_BYTES, .size_bytes = 2 * MIB}};
        struct set *set;
        struct stat st;

        folder_enter();
        set = set_of(specs, (const char *const[]){"data=new", "log=new@4MiB"}, 2);
        set->options.create = true;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                      set->err.message);
        ck_assert_int_eq(stat("new", &st), 0);
        ck_assert_int_eq(st.st_size, 6 * MIB);
        ck_assert_int_eq(set->targets.io_files[0].fd, set->targets.io_files[1].fd);
        ck_assert_uint_eq(set->targets.io_files[1].base, 4 * MIB);
        ck_assert_int_eq(fcntl(set->targets.io_files[1].fd, F_GETFL) & O_ACCMODE, O_RDWR);
        release(set);
        folder_leave();
}
END_TEST

START_TEST(an_interrupted_create_leaves_nothing)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 6 * MIB,
                                              .nfiles = 2};
        atomic_int stop = 1;
        struct set *set;

        folder_enter();
        make_file("made.1.dbio", 512); /* where the file system has no attributes this would be its mark */
        set = set_of(&spec, (const char *const[]){"data=made"}, 1);
        set->options.create = true;
        set->options.stop = &stop;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_int_ne(access("made.1", F_OK), 0);
        ck_assert_int_ne(access("made.2", F_OK), 0);
        ck_assert_int_eq(access("made.1.dbio", F_OK), 0); /* somebody else's stays */
        release(set);
        folder_leave();
}
END_TEST

/* Contract: 5 % or 10 GiB of the file system stay free. */
START_TEST(create_leaves_room)
{
        struct dbio_file_facts facts;
        struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES};
        struct set *set;

        ck_assert_uint_eq(dbio_target_reserve(100 * GIB), 5 * GIB);
        ck_assert_uint_eq(dbio_target_reserve(1000 * GIB), 10 * GIB);
        folder_enter();
        ck_assert_int_eq(dbio_file_facts_read(&facts, ".", false, NULL), 0);
        spec.size_bytes = facts.free_bytes; /* would leave nothing */
        set = set_of(&spec, (const char *const[]){"data=huge"}, 1);
        set->options.create = true;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_int_eq(set->err.code, DBIO_REFUSED);
        ck_assert_ptr_nonnull(strstr(set->err.message, "must stay free"));
        ck_assert_int_ne(access("huge", F_OK), 0);
        release(set);
        folder_leave();
}
END_TEST

/* Each fits alone; a refusal changes nothing, so the first is not made either. */
START_TEST(create_leaves_room_for_all_targets_at_once)
{
        struct dbio_target_spec specs[] = {{.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 2 * GIB},
                                           {.name = "log", .unit = DBIO_SIZE_BYTES}};
        struct dbio_file_facts facts;
        atomic_int stop = 1; /* should it begin, it ends at once */
        uint64_t reserve;
        struct set *set;

        folder_enter();
        ck_assert_int_eq(dbio_file_facts_read(&facts, ".", false, NULL), 0);
        reserve = dbio_target_reserve(facts.filesystem_bytes);
        if (facts.free_bytes < reserve + 4 * GIB) {
                folder_leave();
                skip_test("less than 4 GiB are free here");
        }
        specs[1].size_bytes = facts.free_bytes - reserve - GIB; /* 1 GiB to either side, for what others write meanwhile */
        set = set_of(specs, (const char *const[]){"data=first", "log=second"}, 2);
        set->options.create = true;
        set->options.stop = &stop;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_int_eq(set->err.code, DBIO_REFUSED);
        ck_assert_int_ne(access("first", F_OK), 0);
        release(set);
        folder_leave();
}
END_TEST

START_TEST(a_file_that_is_opened_meanwhile_is_not_written)
{
        const struct dbio_target_spec spec = {.name = "data", .writes = true};
        struct set *set;
        int others;

        folder_enter();
        make_file("a", 2 * MIB);
        set = set_of(&spec, (const char *const[]){"data=a"}, 1);
        ck_assert_int_eq(resolve(set), 0);
        others = open("a", O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(others, 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_int_eq(set->err.code, DBIO_REFUSED);
        ck_assert_msg(strstr(set->err.message, "has it open"), "%s", set->err.message);
        close(others);
        release(set);
        folder_leave();
}
END_TEST

START_TEST(what_was_resolved_is_what_is_opened)
{
        const struct dbio_target_spec spec = {.name = "data", .writes = true};
        struct set *set;

        folder_enter();
        make_file("a", 2 * MIB);
        make_file("b", 2 * MIB);
        set = set_of(&spec, (const char *const[]){"data=a"}, 1);
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_int_eq(rename("b", "a"), 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_msg(strstr(set->err.message, "another file"), "%s", set->err.message);
        release(set);
        folder_leave();
}
END_TEST

START_TEST(prepare_fills_what_is_unwritten_only)
{
        const struct dbio_target_spec spec = {.name = "data"};
        struct dbio_extents extents;
        struct set *set;
        char *text;
        int fd, code;

        folder_enter();
        make_file("sparse", 2 * MIB);
        ck_assert_int_eq(truncate("sparse", 6 * MIB), 0);
        fd = open("sparse", O_RDONLY | O_CLOEXEC);
        code = dbio_extents_walk(fd, 0, 6 * MIB, NULL, NULL, &extents);
        close(fd);
        if (code == 0) {
                ck_assert_uint_eq(extents.unwritten_bytes, 4 * MIB);
                set = set_of(&spec, (const char *const[]){"data=sparse"}, 1);
                set->options.prepare = true;
                ck_assert_int_eq(resolve(set), 0);
                ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                              set->err.message);
                ck_assert_int_eq(dbio_extents_walk(set->targets.io_files[0].fd, 0, 6 * MIB, NULL, NULL, &extents), 0);
                ck_assert_uint_eq(extents.unwritten_bytes, 0);
                text = slurp("sparse", 6 * MIB);
                for (uint64_t i = 0; i < 2 * MIB; i++)
                        ck_assert_int_eq(text[i], 0x77);
                ck_assert_int_ne(memcmp(text + 2 * MIB, text + 3 * MIB, MIB), 0);
                free(text);
                release(set);
        }
        folder_leave();
        if (code != 0)
                skip_test("the file system of the build folder does not tell what is unwritten");
}
END_TEST

START_TEST(a_device_is_cut_into_files)
{
        const struct dbio_target_spec specs[] = {
                {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 8 * MIB, .nfiles = 2, .writes = true},
                {.name = "log", .unit = DBIO_SIZE_DEFAULT}};
        char path[64], data[128], log[128];
        int fd = loop_attach(16 * MIB, 4096, 0, path);
        struct dbio_target_spec small;
        struct set *set;

        if (fd < 0)
                skip_test("no loop device for this user");
        snprintf(data, sizeof data, "data=%s@1MiB", path);
        snprintf(log, sizeof log, "log=%s@10MiB", path);
        set = set_of(specs, (const char *const[]){data, log}, 2);
        set->options.buffered = false;
        ck_assert_msg(resolve(set) == 0, "%s", set->err.message);
        ck_assert_int_eq(set->targets.targets[0].kind, DBIO_TARGET_BLOCK);
        ck_assert_uint_eq(set->targets.targets[0].geometry.sector, 4096);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 4 * MIB);
        ck_assert_uint_eq(set->targets.io_files[0].base, 1 * MIB);
        ck_assert_uint_eq(set->targets.io_files[1].base, 5 * MIB);
        ck_assert_uint_eq(set->targets.targets[1].geometry.file_size, 6 * MIB); /* all that is left behind @ */
        close(fd);
        fd = -1;
        ck_assert_int_eq(access(path, F_OK), 0);
        release(set);

        /* 512-byte pages do not fit 4096-byte sectors. */
        fd = loop_attach(16 * MIB, 4096, 0, path);
        ck_assert_int_ge(fd, 0);
        snprintf(data, sizeof data, "data=%s", path);
        small = (struct dbio_target_spec){.name = "data", .page = 512};
        set = set_of(&small, (const char *const[]){data}, 1);
        ck_assert_int_eq(resolve(set), -1);
        ck_assert_int_eq(set->err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(set->err.message, "4096"));
        release(set);

        /* Opened for writing, its fd is shared and exclusive. */
        snprintf(data, sizeof data, "data=%s@1MiB", path);
        snprintf(log, sizeof log, "log=%s@10MiB", path);
        set = set_of(specs, (const char *const[]){data, log}, 2);
        set->options.buffered = false;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                      set->err.message);
        ck_assert_int_eq(set->targets.io_files[0].fd, set->targets.io_files[2].fd);
        ck_assert_int_lt(open(path, O_RDWR | O_EXCL), 0);
        release(set);
        close(fd);
}
END_TEST

TEST_MAIN("target_make", create_writes_every_byte, one_file_grows_beside_a_neighbour_that_goes,
          two_targets_share_a_new_file, an_interrupted_create_leaves_nothing, create_leaves_room,
          create_leaves_room_for_all_targets_at_once, a_file_that_is_opened_meanwhile_is_not_written,
          what_was_resolved_is_what_is_opened,
          prepare_fills_what_is_unwritten_only, a_device_is_cut_into_files)
