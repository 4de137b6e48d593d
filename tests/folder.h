/* A folder of a test's own, under $DBIO_BUILD or /tmp, with all that it makes. */
#ifndef DBIO_TESTS_FOLDER_H
#define DBIO_TESTS_FOLDER_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[4000]; /* its path */

/* Makes it and goes there. */
static inline void folder_enter(void)
{
        snprintf(folder, sizeof folder, "%s/dbio-test.XXXXXX", getenv("DBIO_BUILD") ? getenv("DBIO_BUILD") : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(chdir(folder), 0);
}

static inline void folder_leave(void)
{
        char command[4200];

        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        ck_assert_int_eq(chdir("/"), 0);
        ck_assert_int_eq(system(command), 0);
}

#endif
