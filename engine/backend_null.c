/* null: every io succeeds at the next reap; shows what dbio itself costs. */
#include "engine/backend.h"

#include <stdlib.h>

struct null_state {
        struct dbio_clock *clock;
        unsigned head, nr, mask; /* a ring of a power of two */
        struct dbio_io *ring[];
};

static int null_open(void **state, const struct dbio_backend_env *env, struct dbio_err *err)
{
        unsigned size = 1;

        while (size < env->max_inflight)
                size *= 2;
        struct null_state *null = calloc(1, sizeof *null + size * sizeof(struct dbio_io *));

        if (!null)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        null->clock = env->clock;
        null->mask = size - 1;
        *state = null;
        return 0;
}

static int null_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct null_state *null = state;
        unsigned room = null->mask + 1 - null->nr;

        if (nr > room)
                nr = room;
        for (unsigned i = 0; i < nr; i++)
                null->ring[(null->head + null->nr++) & null->mask] = ios[i];
        return (int)nr;
}

static int null_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct null_state *null = state;
        unsigned n = null->nr < max ? null->nr : max;

        for (unsigned i = 0; i < n; i++) {
                done[i] = null->ring[null->head++ & null->mask];
                done[i]->result = done[i]->length;
        }
        null->nr -= n;
        if (n < min && until_ns && until_ns != UINT64_MAX)
                dbio_clock_sleep_until(null->clock, until_ns);
        return (int)n;
}

static void null_close(void *state)
{
        free(state);
}

const struct dbio_backend dbio_backend_null = {
        .name = "null",
        .summary = "no I/O: every op succeeds at once",
        .open = null_open,
        .submit = null_submit,
        .reap = null_reap,
        .close = null_close,
};
