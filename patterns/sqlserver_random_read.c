#include "patterns/dirtymap.h"
#include "patterns/random.h"

struct config {
        uint64_t size;
        bool ramp_up_extent_reads;
};

static const struct dbio_field fields[] = {
        {.key = "size", .type = DBIO_FIELD_SIZE, .offset = offsetof(struct config, size), .fallback = "8K", .min = 512,
         .max = 16 << 20, .help = "bytes a read", .source = "Microsoft, Reading Pages: exactly 8 KB"},
        {.key = "ramp_up_extent_reads", .type = DBIO_FIELD_BOOL, .offset = offsetof(struct config, ramp_up_extent_reads),
         .fallback = "no", .help = "each read becomes the aligned 64K extent around it, as until the buffer pool is full",
         .source = "Microsoft, Memory Management Architecture Guide"},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (c->ramp_up_extent_reads && c->size > DBIO_EXTENT_BYTES)
                return dbio_key_error(err, "size", "a read of more than an extent cannot become one (ramp_up_extent_reads)");
        return dbio_read_keys_check(keys, config, err);
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_random_plan plan = {
                .sizes = dbio_mix_of(c->ramp_up_extent_reads ? DBIO_EXTENT_BYTES : c->size),
                .align = c->ramp_up_extent_reads ? DBIO_EXTENT_BYTES : 0,
                .read = 1,
                .ops = UINT64_MAX,
                .fsync_every = DBIO_UNSET,
                .role = DBIO_ROLE_DATA_READ,
        };

        return dbio_random_compile(env, keys, &plan, out, err);
}

const struct dbio_pattern dbio_sqlserver_random_read = {
        .name = "sqlserver.random_read",
        .summary = "Single-page reads at random places: index seeks, key lookups",
        .rev = 1,
        .keys = DBIO_KEYS_READ | DBIO_KEYS_VERSION,
        .role = "data_read",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.random_read, target: data, threads: 24, depth: 4}",
        .check = check,
        .compile = compile,
        .ends = dbio_never_ends,
};
