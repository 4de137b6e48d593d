/* Device profiles: the shipped ones, what is refused, and the devices that bindings make. */
#include "tests/unit.h"

#include <string.h>
#include <unistd.h>

#include "engine/sha256.h"
#include "patterns/profile.h"

static struct dbio_sim_profile *load(const char *name)
{
        struct dbio_sim_profile *profile = NULL;
        struct dbio_err err = {0};

        if (dbio_profile_load(name, &profile, &err))
                ck_abort_msg("%s: %s", name, err.message);
        return profile;
}

START_TEST(every_number_of_a_shipped_profile_has_status_and_source)
{
        unsigned profiles = 0;

        for (const char *const *name = dbio_profile_names(); *name; name++, profiles++) {
                struct dbio_sim_profile *profile = load(*name);
                const struct dbio_profile_number *numbers;
                unsigned n = dbio_profile_numbers(profile, &numbers);
                char hex[65];

                ck_assert_uint_gt(n, 3);
                for (unsigned i = 0; i < n; i++)
                        if (!*numbers[i].status || strlen(numbers[i].source) < 4)
                                ck_abort_msg("%s: %s.%s has no source", *name, numbers[i].section, numbers[i].key);
                ck_assert_uint_gt(strlen(profile->trust), 40);
                dbio_sha256_hex(profile->text, strlen(profile->text), hex);
                ck_assert_str_eq(profile->sha256, hex);
                ck_assert_uint_gt(dbio_sim_capacity(profile), UINT64_C(10) << 30);
                dbio_profile_free(profile);
        }
        ck_assert_uint_ge(profiles, 15);
}
END_TEST

START_TEST(capacity_follows_the_level)
{
        struct dbio_sim_profile *disk = load("hdd-15k-sas"), *ten = load("raid10-15k-sas"), *five = load("raid5-15k-sas");
        uint64_t member = dbio_sim_capacity(disk) / 65536 * 65536;

        ck_assert_uint_eq(dbio_sim_capacity(ten), 5 * member);
        ck_assert_uint_eq(dbio_sim_capacity(five), 4 * member);
        dbio_profile_free(disk);
        dbio_profile_free(ten);
        dbio_profile_free(five);
}
END_TEST

/* Writes text to a file and loads it; returns the message, "" where it loads. */
static const char *message_of(const char *text, struct dbio_err *err)
{
        char path[] = "/tmp/dbio-profile-XXXXXX.yaml";
        int fd = mkstemps(path, 5);
        struct dbio_sim_profile *profile = NULL;

        memset(err, 0, sizeof *err);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq((int)write(fd, text, strlen(text)), (int)strlen(text));
        close(fd);
        if (!dbio_profile_load(path, &profile, err))
                dbio_profile_free(profile);
        unlink(path);
        return err->message;
}

#define TOP "summary: a\ntrust: b\n"
#define DISK(average)                                                                                                  \
        TOP "disk: {capacity: 1GiB, rpm: 15000, heads: 8, zones: 16, outer: 171MB/s, inner: 112MB/s, seek_track: 200us, " \
            "seek_average: " #average ", seek_full: 3500us, head_switch: 400us, write_settle: 500us, overhead: 100us, "  \
            "read_ahead: 1MiB, bus: 300MB/s, tags: 64, scheduler: sptf, ageing: 0.02}\n"

START_TEST(a_file_of_ones_own)
{
        struct dbio_err err;

        /* Numbers may come without a source, and are then assumed. */
        ck_assert_str_eq(message_of(TOP "fixed: {capacity: 1GiB, read: 1ms, write: {value: 2ms, status: fitted, source: x}, "
                                        "servers: 0}\n", &err), "");
        ck_assert_str_eq(message_of(DISK(1700us), &err), "");
        /* A number with a source has the path of its key. */
        ck_assert_str_ne(message_of(TOP "fixed: {capacity: 1GiB, read: 1ms, write: {value: 2, status: fitted, source: x}, "
                                        "servers: 0}\n", &err), "");
        ck_assert_str_eq(err.path, "fixed.write");
}
END_TEST

START_TEST(what_is_wrong_is_said_with_its_place)
{
        static const struct {
                const char *text, *says;
                unsigned line;
        } cases[] = {
                {"trust: b\nfixed: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0}\n", "summary", 1},
                {TOP, "medium", 1},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0, speed: 3}\n", "unknown key \"speed\"", 3},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 1, servers: 0}\n", "1", 3},
                {TOP "fixed: {capacity: 1GiB, read: {value: 1ms, status: guess, source: x}, write: 1ms, servers: 0}\n",
                 "no status", 3},
                {TOP "fixed: {capacity: 1GiB, read: {value: 1ms, status: fitted}, write: 1ms, servers: 0}\n", "source", 3},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0}\n"
                     "cloud: {capacity: 1GiB, byte_rate: 1MiB/s, op_bytes: 256K, latency: 1ms}\n", "one medium", 3},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0}\n"
                     "array: {level: 10, members: 3, strip: 64K}\n", "even", 4},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0}\n"
                     "ftl: {over_provision: 0.1, map_pages: 65536, block_pages: 64, erase: 1ms, steady: no}\n", "ssd", 4},
                {TOP "fixd: {capacity: 1GiB, read: 1ms, write: 1ms, servers: 0}\n", "did you mean \"fixed\"?", 3},
                {TOP "tape: {capacity: 1GiB}\n", "link cache array disk ssd cloud fixed ftl", 3},
                {TOP "cloud: {capacity: 1GiB, byte_rate: 1MiB/s, op_bytes: 256K, latency: 1ms, ops_rate: 100/s, "
                     "base_rate: 100/s, credits: 1000}\n", "`ops_rate` is over `base_rate`", 3},
                {TOP "fixed: {capacity: 1GiB, read: 1ms, write: 0ns, servers: 0}\n", "at least 100ns", 3},
                {DISK(3ms), "`seek_average` lies 15 to 80 %", 3}, /* of 0.2 to 3.5 ms: up to 0.8 x 3.3 + 0.2 = 2.84 */
                {DISK(600us), "`seek_average` lies 15 to 80 %", 3},
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct dbio_err err;
                const char *message = message_of(cases[i].text, &err);

                if (!strstr(message, cases[i].says) || err.code != DBIO_USAGE || err.line != cases[i].line)
                        ck_abort_msg("case %zu: line %u: %s", i, err.line, message);
        }
}
END_TEST

START_TEST(an_unknown_name_names_the_near_one)
{
        struct dbio_sim_profile *profile;
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_profile_load("raid10-15k-sa", &profile, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "did you mean \"raid10-15k-sas\""));
        ck_assert_int_eq(dbio_profile_load("./none.yaml", &profile, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
}
END_TEST

static void bind(struct dbio_binding *bindings, const char *const *texts, unsigned n)
{
        struct dbio_err err = {0};

        for (unsigned i = 0; i < n; i++)
                if (dbio_binding_parse(&bindings[i], texts[i], &err))
                        ck_abort_msg("%s: %s", texts[i], err.message);
}

static int place(const char *const *texts, unsigned n, double share, struct dbio_sim_set *set, struct dbio_targets *targets,
                 struct dbio_binding *bindings, struct dbio_err *err)
{
        struct dbio_target_spec specs[4] = {{0}};
        struct dbio_target_options options = {.sim_geometry = dbio_sim_set_geometry, .sim_user = set};

        bind(bindings, texts, n);
        for (unsigned i = 0; i < n; i++)
                specs[i] = (struct dbio_target_spec){.name = bindings[i].target, .unit = DBIO_SIZE_SHARE, .size_share = share,
                                                     .page = 8192, .layout = {.contiguous = true}, .reads = true};
        if (dbio_sim_set_load(set, bindings, n, err))
                return -1;
        if (dbio_targets_resolve(targets, specs, n, bindings, n, &options, err))
                return -1;
        return dbio_sim_set_place(set, specs, targets, 7, err);
}

static void clear(struct dbio_sim_set *set, struct dbio_targets *targets, struct dbio_binding *bindings, unsigned n)
{
        dbio_sim_set_release(set);
        dbio_targets_close(targets);
        for (unsigned i = 0; i < n; i++)
                dbio_binding_release(&bindings[i]);
}

START_TEST(a_shared_name_is_one_device_with_targets_in_a_row)
{
        static const char *const texts[] = {"data=sim:raid10-15k-sas#a", "log=sim:raid10-15k-sas#a", "temp=sim:raid10-15k-sas"};
        struct dbio_sim_set set = {0};
        struct dbio_targets targets = {0};
        struct dbio_binding bindings[3] = {{0}};
        struct dbio_err err = {0};

        ck_assert_msg(place(texts, 3, 0.25, &set, &targets, bindings, &err) == 0, "%s", err.message);
        ck_assert_uint_eq(set.spec.ndevices, 2);
        ck_assert_uint_eq(set.spec.targets[0].base, 0);
        ck_assert_uint_eq(set.spec.targets[1].base % (1 << 20), 0);
        ck_assert_uint_ge(set.spec.targets[1].base, set.spec.targets[0].file_size);
        ck_assert_uint_lt(set.spec.targets[1].base, set.spec.targets[0].file_size + (1 << 20));
        ck_assert_uint_eq(set.spec.targets[2].base, 0);
        ck_assert_uint_ne(set.spec.targets[2].device, set.spec.targets[0].device);
        /* A quarter of the device, each file's size rounded down to 1 MiB. */
        ck_assert_uint_eq(set.spec.targets[2].file_size, dbio_sim_capacity(set.profiles[0]) / 4 >> 20 << 20);
        clear(&set, &targets, bindings, 3);
}
END_TEST

START_TEST(too_much_on_one_device_is_an_error)
{
        static const char *const texts[] = {"data=sim:pcie-ssd-iodrive80#a", "log=sim:pcie-ssd-iodrive80#a"};
        struct dbio_sim_set set = {0};
        struct dbio_targets targets = {0};
        struct dbio_binding bindings[2] = {{0}};
        struct dbio_err err = {0};

        ck_assert_int_eq(place(texts, 2, 0.6, &set, &targets, bindings, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "log"));
        clear(&set, &targets, bindings, 2);
}
END_TEST

START_TEST(another_profile_under_one_name_is_an_error)
{
        static const char *const texts[] = {"data=sim:pcie-ssd-iodrive80#a", "log=sim:raid10-15k-sas#a"};
        struct dbio_sim_set set = {0};
        struct dbio_targets targets = {0};
        struct dbio_binding bindings[2] = {{0}};
        struct dbio_err err = {0};

        ck_assert_int_eq(place(texts, 2, 0.1, &set, &targets, bindings, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "#a"));
        clear(&set, &targets, bindings, 2);
}
END_TEST

START_TEST(describe_shows_numbers_sources_and_curve)
{
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_profile_describe("pcie-ssd-iodrive80", out, &err), 0);
        dbio_profile_list(out);
        fclose(out);
        ck_assert_ptr_nonnull(strstr(text, "SIMULATED"));
        ck_assert_ptr_nonnull(strstr(text, "58300ns"));
        ck_assert_ptr_nonnull(strstr(text, "\n  256 "));
        for (const char *const *name = dbio_profile_names(); *name; name++)
                ck_assert_ptr_nonnull(strstr(text, *name));
        free(text);
}
END_TEST

TEST_MAIN("profile", every_number_of_a_shipped_profile_has_status_and_source, capacity_follows_the_level, a_file_of_ones_own,
          what_is_wrong_is_said_with_its_place, an_unknown_name_names_the_near_one,
          a_shared_name_is_one_device_with_targets_in_a_row, too_much_on_one_device_is_an_error,
          another_profile_under_one_name_is_an_error, describe_shows_numbers_sources_and_curve)
