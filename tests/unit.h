/* What every test program shares: a main over its suite, and skipping with a reason. */
#ifndef DBIO_TESTS_UNIT_H
#define DBIO_TESTS_UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the test as skipped; the summary of `make check` counts and shows it. */
#define skip_test(...)                                            \
        do {                                                      \
                FILE *skips = fopen(getenv("DBIO_SKIPS") ? getenv("DBIO_SKIPS") : "/dev/stderr", "a"); \
                if (skips) {                                      \
                        fprintf(skips, "%s: ", __func__);         \
                        fprintf(skips, __VA_ARGS__);              \
                        fputc('\n', skips);                       \
                        fclose(skips);                            \
                }                                                 \
                return;                                           \
        } while (0)

/* As ck_assert, which notes its place in a file each time it is passed: for loops over many ops. */
#define expect(condition)                                         \
        do {                                                      \
                if (!(condition))                                 \
                        ck_abort_msg("%s", #condition);           \
        } while (0)
#define expect_msg(condition, ...)                                \
        do {                                                      \
                if (!(condition))                                 \
                        ck_abort_msg(__VA_ARGS__);                \
        } while (0)

/* Seconds that a test may take. Sanitizers make everything slower by an order. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TEST_SECONDS 300
#else
#define TEST_SECONDS 60
#endif

/* The program's main: one test case of the listed tests. */
#define TEST_MAIN(suite_name, ...)                                \
        int main(void)                                            \
        {                                                         \
                const TTest *const tests[] = {__VA_ARGS__};       \
                Suite *suite = suite_create(suite_name);          \
                TCase *tcase = tcase_create(suite_name);          \
                tcase_set_timeout(tcase, TEST_SECONDS);           \
                for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) \
                        tcase_add_test(tcase, tests[i]);          \
                suite_add_tcase(suite, tcase);                    \
                SRunner *runner = srunner_create(suite);          \
                srunner_run_all(runner, CK_ENV);                  \
                int failed = srunner_ntests_failed(runner);       \
                srunner_free(runner);                             \
                return failed != 0;                               \
        }

#endif
