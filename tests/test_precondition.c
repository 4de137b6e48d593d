#include "tests/unit.h"

#include <string.h>
#include <unistd.h>

#include "engine/precondition.h"

#define MIB ((uint64_t)1 << 20)

/* SNIA PTS: range at most 20 % of the mean, excursion of the fitted line at most 10 % of it, over five rounds. */
START_TEST(steady_is_what_snia_says)
{
        static const struct {
                double rates[6];
                unsigned n;
                bool steady;
        } cases[] = {
                {{100, 100, 100, 100}, 4, false},          /* fewer than five */
                {{100, 100, 100, 100, 100}, 5, true},
                {{90, 110, 100, 110, 90}, 5, true},        /* range 20 of 100, no slope */
                {{89, 111, 100, 111, 89}, 5, false},       /* range 22 */
                {{95, 97.5, 100, 102.5, 105}, 5, true},    /* slope 2.5: 10 over the window */
                {{94, 97, 100, 103, 106}, 5, false},       /* slope 3: 12 over the window */
                {{106, 103, 100, 97, 94}, 5, false},
                {{900, 100, 100, 100, 100, 100}, 6, true}, /* the last five count */
        };

        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                ck_assert_msg(dbio_precondition_is_steady(cases[i].rates, cases[i].n) == cases[i].steady, "case %zu", i);
}
END_TEST

static uint64_t written, furthest;

static void watch(void *user, const char *what, uint64_t done, uint64_t all)
{
        (void)user;
        ck_assert_ptr_nonnull(strstr(what, "data"));
        ck_assert_uint_le(done, all);
        written = done;
        if (all > furthest)
                furthest = all;
}

START_TEST(fill_leaves_no_byte_as_it_was)
{
        FILE *one = tmpfile(), *two = tmpfile();
        struct dbio_file files[2] = {{.fd = fileno(one), .size = 2 * MIB, .sector = 512, .base = 4096},
                                     {.fd = fileno(two), .size = 2 * MIB, .sector = 512}};
        struct dbio_target target = {.name = "data", .kind = DBIO_TARGET_FILE,
                                     .geometry = {.file_size = 2 * MIB, .nfiles = 2, .sector = 512}};
        struct dbio_targets targets = {.n = 1, .targets = &target, .nfiles = 2, .io_files = files};
        struct dbio_precondition wanted = {.fill = 1, .overwrite = 2};
        struct dbio_precondition_options options = {.page = 8192, .progress = watch};
        unsigned char *bytes = malloc(2 * MIB);
        unsigned rounds;
        bool steady;

        for (const struct dbio_backend *const *each = dbio_backends; *each; each++) {
                if (strcmp((*each)->name, "sync") && strcmp((*each)->name, "libaio"))
                        continue;
                options.backend = *each;
                for (int i = 0; i < 2; i++) {
                        ck_assert_int_eq(ftruncate(files[i].fd, 0), 0);
                        ck_assert_int_eq(ftruncate(files[i].fd, 3 * MIB), 0);
                }
                written = furthest = 0;
                ck_assert_int_eq(dbio_precondition_run(&targets, 0, &wanted, &options, &rounds, &steady, NULL), 0);
                ck_assert_uint_eq(written, 12 * MIB); /* 4 MiB three times */
                ck_assert_uint_eq(furthest, 12 * MIB);
                ck_assert_uint_eq(rounds, 0);
                for (int i = 0; i < 2; i++) {
                        unsigned zeros = 0;

                        ck_assert_int_eq(pread(files[i].fd, bytes, 2 * MIB, (off_t)files[i].base), 2 * MIB);
                        for (uint64_t k = 0; k < 2 * MIB; k += 8)
                                zeros += !memcmp(bytes + k, "\0\0\0\0\0\0\0\0", 8);
                        ck_assert_uint_eq(zeros, 0);
                        /* not a byte outside */
                        ck_assert_int_eq(pread(files[i].fd, bytes, 1, (off_t)(files[i].base + 2 * MIB)), 1);
                        ck_assert_int_eq(bytes[0], 0);
                }
                ck_assert_int_eq(pread(files[0].fd, bytes, 1, 4095), 1);
                ck_assert_int_eq(bytes[0], 0);
        }
        free(bytes);
        fclose(one);
        fclose(two);
}
END_TEST

START_TEST(asked_and_named)
{
        struct dbio_precondition none = {0}, all = {.fill = 2, .overwrite = 1, .until_steady = true};
        char text[128];

        ck_assert_int_eq(dbio_precondition_asked(&none), 0);
        ck_assert_int_eq(dbio_precondition_asked(&all), 1);
        dbio_precondition_format(&all, text, sizeof text);
        ck_assert_str_eq(text, "fill 2, overwrite 1, until steady");
}
END_TEST

TEST_MAIN("precondition", steady_is_what_snia_says, fill_leaves_no_byte_as_it_was, asked_and_named)
