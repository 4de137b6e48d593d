/* Up to three targets, from their specs and bindings to open ones. */
#ifndef DBIO_TESTS_TARGETKIT_H
#define DBIO_TESTS_TARGETKIT_H

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/target.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Of bytes 0x77. */
static inline void make_file(const char *path, uint64_t bytes)
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

static inline struct set *set_of(const struct dbio_target_spec *specs, const char *const *bindings, unsigned n)
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

static inline int resolve(struct set *set)
{
        return dbio_targets_resolve(&set->targets, set->specs, set->n, set->bindings, set->n, &set->options, &set->err);
}

static inline void release(struct set *set)
{
        dbio_targets_close(&set->targets);
        for (unsigned i = 0; i < set->n; i++)
                dbio_binding_release(&set->bindings[i]);
}

#endif
