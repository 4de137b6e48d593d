/* Bindings, and the files and devices that targets become by them. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/device.h"
#include "tests/folder.h"
#include "tests/targetkit.h"

/* One target bound to text: resolves, or fails with code and a message that holds `says`. */
static void expect_error(struct dbio_target_spec spec, const char *text, bool create, enum dbio_code code,
                         const char *says)
{
        struct set *set = set_of(&spec, &text, 1);

        set->options.create = create;
        ck_assert_int_eq(resolve(set), -1);
        ck_assert_msg(set->err.code == code && strstr(set->err.message, says), "%s: code %d, %s", text, set->err.code,
                      set->err.message);
        release(set);
}

START_TEST(bindings_are_parsed)
{
        struct dbio_binding b;

        ck_assert_int_eq(dbio_binding_parse(&b, "data=/dev/sdb,/dev/sdc@1GiB", NULL), 0);
        ck_assert_str_eq(b.target, "data");
        ck_assert_str_eq(b.text, "/dev/sdb,/dev/sdc@1GiB");
        ck_assert_uint_eq(b.npaths, 2);
        ck_assert_str_eq(b.paths[0], "/dev/sdb");
        ck_assert_str_eq(b.paths[1], "/dev/sdc");
        ck_assert_uint_eq(b.offsets[0], 0);
        ck_assert_uint_eq(b.offsets[1], GIB);
        ck_assert_int_eq(b.simulated, 0);
        dbio_binding_release(&b);

        ck_assert_int_eq(dbio_binding_parse(&b, "log=sim:raid10-sas-10#array", NULL), 0);
        ck_assert_int_eq(b.simulated, 1);
        ck_assert_str_eq(b.profile, "raid10-sas-10");
        ck_assert_str_eq(b.share, "array");
        dbio_binding_release(&b);

        ck_assert_int_eq(dbio_binding_parse(&b, "log=sim:./my.yaml", NULL), 0);
        ck_assert_str_eq(b.profile, "./my.yaml");
        ck_assert_ptr_null(b.share);
        dbio_binding_release(&b);

        ck_assert_int_eq(dbio_binding_parse(&b, "log=/srv/a@b/file=1", NULL), 0);
        ck_assert_str_eq(b.paths[0], "/srv/a@b/file=1");
        dbio_binding_release(&b);
        dbio_binding_release(&b);
}
END_TEST

START_TEST(bad_bindings_are_refused)
{
        static const char *const bad[] = {"", "data", "=x", "data=", "da ta=x", "data=a,,b", "data=a@2x", "data=a@1k",
                                          "data=@1M", "data=sim:", "data=sim:#x", "data=sim:x#", "data=sim:x#a b"};

        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct dbio_binding b;
                struct dbio_err err = {0};

                ck_assert_msg(dbio_binding_parse(&b, bad[i], &err) == -1, "%s", bad[i]);
                ck_assert_int_eq(err.code, DBIO_USAGE);
                ck_assert_uint_gt(strlen(err.message), 0);
        }
}
END_TEST

/* Contract: each file is `size / files` rounded down to 1 MiB. */
START_TEST(sizes_follow_the_contract)
{
        const char *one = "data=a", *two = "data=a,b";
        struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_DEFAULT};
        struct set *set;

        folder_enter();
        make_file("a", 10 * MIB + 4096);
        make_file("b", 7 * MIB);
        set = set_of(&spec, &one, 1);
        ck_assert_msg(resolve(set) == 0, "%s", set->err.message);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 10 * MIB);
        ck_assert_uint_eq(set->targets.targets[0].geometry.nfiles, 1);
        ck_assert_int_eq(set->targets.targets[0].kind, DBIO_TARGET_FILE);
        ck_assert_uint_eq(set->targets.io_files[0].size, 10 * MIB);
        release(set);

        spec.unit = DBIO_SIZE_SHARE;
        spec.size_share = 0.35;
        set = set_of(&spec, &one, 1);
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 3 * MIB); /* 3.5 MiB rounded down */
        release(set);

        spec.size_share = 1;
        set = set_of(&spec, &two, 1);
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 7 * MIB); /* the smaller of the two */
        ck_assert_uint_eq(set->targets.targets[0].geometry.nfiles, 2);
        release(set);

        spec = (struct dbio_target_spec){.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 9 * MIB};
        set = set_of(&spec, &two, 1);
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 4 * MIB); /* 4.5 MiB rounded down */
        release(set);
        expect_error((struct dbio_target_spec){.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 16 * MIB}, two,
                     false, DBIO_USAGE, "do not fit");
        expect_error((struct dbio_target_spec){.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = MIB}, two, false,
                     DBIO_USAGE, "at least 1 MiB");
        folder_leave();
}
END_TEST

START_TEST(what_cannot_be_a_target_is_said)
{
        const struct dbio_target_spec all = {.name = "data"}, bytes = {.name = "data", .unit = DBIO_SIZE_BYTES,
                                                                       .size_bytes = 2 * MIB};

        folder_enter();
        make_file("a", 2 * MIB);
        make_file("empty", 0);
        expect_error(all, "data=none", false, DBIO_USAGE, "--create");
        expect_error(all, "data=none", true, DBIO_USAGE, "in bytes");
        expect_error(bytes, "data=no/such/folder", true, DBIO_USAGE, "folder no/such");
        expect_error(all, "data=.", false, DBIO_USAGE, "a folder");
        expect_error(all, "data=/dev/null", false, DBIO_USAGE, "neither file nor disk");
        expect_error(all, "data=a/b", false, DBIO_IO, strerror(ENOTDIR));
        expect_error(all, "data=empty", false, DBIO_USAGE, "is empty");
        expect_error(all, "data=a@3MiB", false, DBIO_USAGE, "lies behind its end");
        ck_assert_int_eq(symlink("nothing", "dangling"), 0);
        expect_error(all, "data=dangling", true, DBIO_USAGE, "a symbolic link to something that does not exist");
        expect_error(all, "data=a@100", false, DBIO_USAGE, "multiple of its sector");
        expect_error(all, "other=a", false, DBIO_USAGE, "has data");
        expect_error(all, "data=sim:x", false, DBIO_USAGE, "simulated");
        expect_error((struct dbio_target_spec){.name = "data", .nfiles = 3}, "data=a,b", false, DBIO_USAGE,
                     "`files` is 3, but 2 paths");
        expect_error((struct dbio_target_spec){.name = "data", .page = 700}, "data=a", false, DBIO_USAGE, "pages of 700");
        folder_leave();
}
END_TEST

START_TEST(bindings_and_targets_belong_together)
{
        const struct dbio_target_spec specs[] = {{.name = "data"}, {.name = "log"}};
        struct set *set;

        folder_enter();
        make_file("a", 2 * MIB);
        make_file("b", 2 * MIB);
        set = set_of(specs, (const char *const[]){"data=a", "data=b"}, 2);
        ck_assert_int_eq(resolve(set), -1);
        ck_assert_ptr_nonnull(strstr(set->err.message, "bound twice"));
        release(set);
        set = set_of(specs, (const char *const[]){"data=a", "log=sim:x"}, 2);
        ck_assert_int_eq(resolve(set), -1);
        ck_assert_ptr_nonnull(strstr(set->err.message, "simulated or none"));
        release(set);
        set = set_of(specs, (const char *const[]){"data=a", "log=b"}, 2);
        ck_assert_int_eq(dbio_targets_resolve(&set->targets, set->specs, 2, set->bindings, 1, &set->options, &set->err),
                         -1);
        ck_assert_ptr_nonnull(strstr(set->err.message, "target log is not bound"));
        release(set);
        folder_leave();
}
END_TEST

START_TEST(overlaps_are_errors)
{
        const struct dbio_target_spec specs[] = {{.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 4 * MIB},
                                                 {.name = "log", .unit = DBIO_SIZE_BYTES, .size_bytes = 2 * MIB}};
        static const struct {
                const char *data, *log;
                bool overlap;
        } cases[] = {
                {"data=a", "log=a@4MiB", false},   {"data=a", "log=a@3MiB", true}, {"data=a@2MiB", "log=a", false},
                {"data=a@1MiB", "log=./a", true},  {"data=a", "log=link", true},   {"data=new", "log=./new@2MiB", true},
                {"data=new", "log=new@4MiB", false},
        };

        folder_enter();
        make_file("a", 8 * MIB);
        ck_assert_int_eq(symlink("a", "link"), 0);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct set *set = set_of(specs, (const char *const[]){cases[i].data, cases[i].log}, 2);

                set->options.create = true;
                ck_assert_msg(resolve(set) == (cases[i].overlap ? -1 : 0), "%s %s: %s", cases[i].data, cases[i].log,
                              set->err.message);
                if (cases[i].overlap)
                        ck_assert_ptr_nonnull(strstr(set->err.message, "overlap"));
                release(set);
        }
        folder_leave();
}
END_TEST

/* Contract: without any binding a share is of 100 GiB and the sector 512. */
START_TEST(null_binds_nothing)
{
        const struct dbio_target_spec specs[] = {
                {.name = "data", .unit = DBIO_SIZE_SHARE, .size_share = 0.5, .nfiles = 2},
                {.name = "log", .unit = DBIO_SIZE_BYTES, .size_bytes = GIB}};
        struct set *set = set_of(specs, (const char *const[]){"data=x", "log=y"}, 2);
        uint64_t in_file;

        set->options.null_engine = true;
        ck_assert_msg(resolve(set) == 0, "%s", set->err.message);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 25 * GIB);
        ck_assert_uint_eq(set->targets.targets[0].geometry.nfiles, 2);
        ck_assert_uint_eq(set->targets.targets[0].geometry.sector, 512);
        ck_assert_uint_eq(set->targets.targets[1].geometry.file_size, GIB);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), 0);
        ck_assert_int_eq(set->targets.io_files[0].fd, -1);
        ck_assert_uint_eq(dbio_target_map(&set->targets.targets[0], 25 * GIB + 8192, &in_file), 1);
        ck_assert_uint_eq(in_file, 8192);
        ck_assert_uint_eq(dbio_target_map(&set->targets.targets[1], 512, &in_file), 2);
        ck_assert_uint_eq(set->targets.io_files[2].target, 1);
        release(set);
}
END_TEST

static int tiny_device(void *user, const struct dbio_binding *binding, uint64_t *bytes, unsigned *sector,
                       struct dbio_err *err)
{
        (void)user;
        (void)err;
        ck_assert_str_eq(binding->profile, "tiny");
        *bytes = 10 * MIB;
        *sector = 4096;
        return 0;
}

START_TEST(simulated_devices_give_their_geometry)
{
        const struct dbio_target_spec spec = {.name = "data", .nfiles = 3};
        struct set *set = set_of(&spec, (const char *const[]){"data=sim:tiny"}, 1);

        set->options.sim_geometry = tiny_device;
        ck_assert_msg(resolve(set) == 0, "%s", set->err.message);
        ck_assert_int_eq(set->targets.targets[0].kind, DBIO_TARGET_SIM);
        ck_assert_uint_eq(set->targets.targets[0].geometry.file_size, 3 * MIB);
        ck_assert_uint_eq(set->targets.targets[0].geometry.sector, 4096);
        ck_assert_int_eq(set->targets.io_files[2].fd, -1);
        ck_assert_uint_eq(set->targets.io_files[2].base, 0);
        release(set);
}
END_TEST

TEST_MAIN("target", bindings_are_parsed, bad_bindings_are_refused, sizes_follow_the_contract,
          what_cannot_be_a_target_is_said, bindings_and_targets_belong_together, overlaps_are_errors,
          null_binds_nothing, simulated_devices_give_their_geometry)
