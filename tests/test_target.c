#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/device.h"
#include "engine/target.h"
#include "tests/loopdev.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static char folder[4000];

static void enter(void)
{
        snprintf(folder, sizeof folder, "%s/dbio-target.XXXXXX", getenv("DBIO_BUILD") ? getenv("DBIO_BUILD") : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(chdir(folder), 0);
}

/* Everything that the tests make lies in one folder. */
static void leave(void)
{
        char command[4200];

        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        ck_assert_int_eq(chdir("/"), 0);
        ck_assert_int_eq(system(command), 0);
}

static void make_file(const char *path, uint64_t bytes)
{
        static char block[1 << 16];
        int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

        ck_assert_int_ge(fd, 0);
        memset(block, 0x77, sizeof block);
        for (uint64_t done = 0; done < bytes; done += sizeof block)
                ck_assert_int_eq(write(fd, block, sizeof block), sizeof block);
        ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
        close(fd);
}

struct set {
        struct dbio_target_spec specs[3];
        struct dbio_binding bindings[3];
        unsigned n;
        struct dbio_target_options options;
        struct dbio_targets targets;
        struct dbio_err err;
};

static struct set *set_of(const struct dbio_target_spec *specs, const char *const *bindings, unsigned n)
{
        static struct set set;

        memset(&set, 0, sizeof set);
        set.n = n;
        set.options.buffered = true;
        for (unsigned i = 0; i < n; i++) {
                set.specs[i] = specs[i];
                if (!specs[i].size_bytes && specs[i].unit == DBIO_SIZE_BYTES)
                        set.specs[i].unit = DBIO_SIZE_DEFAULT;
                if (!set.specs[i].page)
                        set.specs[i].page = 8192;
                ck_assert_msg(dbio_binding_parse(&set.bindings[i], bindings[i], &set.err) == 0, "%s", set.err.message);
        }
        return &set;
}

static int resolve(struct set *set)
{
        return dbio_targets_resolve(&set->targets, set->specs, set->n, set->bindings, set->n, &set->options, &set->err);
}

static void release(struct set *set)
{
        dbio_targets_close(&set->targets);
        for (unsigned i = 0; i < set->n; i++)
                dbio_binding_release(&set->bindings[i]);
}

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

        enter();
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
        leave();
}
END_TEST

START_TEST(what_cannot_be_a_target_is_said)
{
        const struct dbio_target_spec all = {.name = "data"}, bytes = {.name = "data", .unit = DBIO_SIZE_BYTES,
                                                                       .size_bytes = 2 * MIB};

        enter();
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
        leave();
}
END_TEST

START_TEST(bindings_and_targets_belong_together)
{
        const struct dbio_target_spec specs[] = {{.name = "data"}, {.name = "log"}};
        struct set *set;

        enter();
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
        leave();
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

        enter();
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
        leave();
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

        enter();
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
        leave();
}
END_TEST

START_TEST(one_file_grows_beside_a_neighbour_that_goes)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 3 * MIB,
                                              .layout = {.interleave = true}};
        struct set *set;

        enter();
        set = set_of(&spec, (const char *const[]){"data=made"}, 1);
        set->options.create = true;
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_msg(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err) == 0, "%s",
                      set->err.message);
        ck_assert_int_eq(access("made", F_OK), 0);
        ck_assert_int_ne(access("made.neighbour", F_OK), 0);
        release(set);
        leave();
}
END_TEST

START_TEST(two_targets_share_a_new_file)
{
        const struct dbio_target_spec specs[] = {
                {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 4 * MIB, .writes = true},
                {.name = "log", .unit = DBIO_SIZE_BYTES, .size_bytes = 2 * MIB}};
        struct set *set;
        struct stat st;

        enter();
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
        leave();
}
END_TEST

START_TEST(an_interrupted_create_leaves_nothing)
{
        const struct dbio_target_spec spec = {.name = "data", .unit = DBIO_SIZE_BYTES, .size_bytes = 6 * MIB,
                                              .nfiles = 2};
        atomic_int stop = 1;
        struct set *set;

        enter();
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
        leave();
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
        enter();
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
        leave();
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

        enter();
        ck_assert_int_eq(dbio_file_facts_read(&facts, ".", false, NULL), 0);
        reserve = dbio_target_reserve(facts.filesystem_bytes);
        if (facts.free_bytes < reserve + 4 * GIB) {
                leave();
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
        leave();
}
END_TEST

START_TEST(what_was_resolved_is_what_is_opened)
{
        const struct dbio_target_spec spec = {.name = "data", .writes = true};
        struct set *set;

        enter();
        make_file("a", 2 * MIB);
        make_file("b", 2 * MIB);
        set = set_of(&spec, (const char *const[]){"data=a"}, 1);
        ck_assert_int_eq(resolve(set), 0);
        ck_assert_int_eq(rename("b", "a"), 0);
        ck_assert_int_eq(dbio_targets_open(&set->targets, set->specs, &set->options, &set->err), -1);
        ck_assert_msg(strstr(set->err.message, "another file"), "%s", set->err.message);
        release(set);
        leave();
}
END_TEST

START_TEST(prepare_fills_what_is_unwritten_only)
{
        const struct dbio_target_spec spec = {.name = "data"};
        struct dbio_extents extents;
        struct set *set;
        char *text;
        int fd, code;

        enter();
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
        leave();
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

TEST_MAIN("target", bindings_are_parsed, bad_bindings_are_refused, sizes_follow_the_contract,
          what_cannot_be_a_target_is_said, bindings_and_targets_belong_together, overlaps_are_errors, null_binds_nothing,
          simulated_devices_give_their_geometry, create_writes_every_byte,
          one_file_grows_beside_a_neighbour_that_goes, two_targets_share_a_new_file,
          an_interrupted_create_leaves_nothing, create_leaves_room,
          create_leaves_room_for_all_targets_at_once, what_was_resolved_is_what_is_opened, prepare_fills_what_is_unwritten_only,
          a_device_is_cut_into_files)
