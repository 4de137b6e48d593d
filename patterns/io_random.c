#include "patterns/io.h"
#include "patterns/random.h"

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct dbio_io_config *c = config;
        struct dbio_random_plan plan = {
                .read = c->read,
                .ops = UINT64_MAX,
                .fsync_every = c->fsync_every,
                .role = DBIO_ROLE_IO,
                .write_flags = keys->write_through ? DBIO_OP_DSYNC : 0,
        };

        if (dbio_io_sizes(&plan.sizes, c, &env->targets[keys->target], err))
                return -1;
        return dbio_random_compile(env, keys, &plan, out, err);
}

static const struct dbio_field fields[] = {DBIO_IO_FIELDS(struct dbio_io_config), {0}};

const struct dbio_pattern dbio_io_random = {
        .name = "io.random",
        .summary = "Reads and writes at random places, as fio (randrw), diskspd (-r) and SQLIO (-frandom) make them",
        .rev = 1,
        .keys = DBIO_KEYS_READ | DBIO_KEYS_WRITE,
        .role = "io",
        .fields = fields,
        .config_size = sizeof(struct dbio_io_config),
        .example = "{pattern: io.random, target: data, size: 8K, read: 70%, threads: 8, depth: 4}",
        .check = dbio_io_check,
        .compile = compile,
        .ends = dbio_never_ends,
};
