/* Oracle's reads into the buffer cache, by the names of their wait events. */
#include <math.h>

#include "patterns/dist.h"
#include "patterns/pace.h"
#include "patterns/random.h"

struct single_config {
        uint64_t block;
};

static const struct dbio_field single_fields[] = {
        {"db_block_size", DBIO_FIELD_SIZE, offsetof(struct single_config, block), "8K", 2048, 32768, "bytes of a block",
         "Database Reference, DB_BLOCK_SIZE", DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {0},
};

static int single_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                          struct dbio_stream *out, struct dbio_err *err)
{
        uint64_t block = ((const struct single_config *)config)->block;
        struct dbio_random_plan plan = {
                .sizes = dbio_mix_of(block),
                .align = block,
                .read = 1,
                .ops = UINT64_MAX,
                .fsync_every = DBIO_UNSET,
                .role = DBIO_ROLE_DATA_READ,
        };

        return dbio_random_compile(env, keys, &plan, out, err);
}

const struct dbio_pattern dbio_oracle_sequential_read = {
        .name = "oracle.sequential_read",
        .summary = "db file sequential read: one block at a random place",
        .rev = 1,
        .keys = DBIO_KEYS_READ,
        .role = "data_read",
        .fields = single_fields,
        .config_size = sizeof(struct single_config),
        .example = "{pattern: oracle.sequential_read, target: data, threads: 64, think: 10ms}",
        .check = dbio_read_keys_check,
        .compile = single_compile,
};

struct multi_config {
        uint64_t block, count, segment;
};

static const struct dbio_field multi_fields[] = {
        {"db_file_multiblock_read_count", DBIO_FIELD_COUNT, offsetof(struct multi_config, count), "128", 1, 1024,
         "most blocks in one read; 8 before 10.2", "Database Reference, DB_FILE_MULTIBLOCK_READ_COUNT: 1 MB of blocks",
         0, NULL, NULL},
        {"db_block_size", DBIO_FIELD_SIZE, offsetof(struct multi_config, block), "8K", 2048, 32768, "bytes of a block",
         "Database Reference, DB_BLOCK_SIZE", DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"segment", DBIO_FIELD_SIZE, offsetof(struct multi_config, segment), "64M", 2048, 0x1p50,
         "bytes that are scanned one after the other before the next table is picked; the last read may be shorter",
         "judgement", 0, NULL, NULL},
        {0},
};

struct scanner {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_pace pace;
        struct dbio_slots slots; /* segments */
        struct dbio_pick pick;
        uint64_t at, end;
        uint32_t read;
        uint16_t target;
};

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct scanner *self = (struct scanner *)base;

        (void)now_ns;
        for (unsigned n = 0; n < max; n++) {
                if (self->at == self->end) {
                        self->at = dbio_slots_offset(&self->slots, dbio_pick_next(&self->pick, &self->rng));
                        self->end = self->at + self->slots.size;
                }
                ops[n] = (struct dbio_op){
                        .offset = self->at,
                        .due_ns = dbio_pace_next(&self->pace, &self->rng),
                        .length = self->end - self->at < self->read ? (uint32_t)(self->end - self->at) : self->read,
                        .target = self->target,
                        .thread = base->thread,
                        .kind = DBIO_READ,
                        .role = DBIO_ROLE_READ_AHEAD,
                };
                self->at += ops[n].length;
        }
        return max;
}

static const struct dbio_source_class scanner_class = {.fill = fill, .free = dbio_source_free};

static int multi_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                         struct dbio_stream *out, struct dbio_err *err)
{
        const struct multi_config *config = opaque;
        uint64_t read = config->count * config->block, segment = config->segment / config->block * config->block;
        struct dbio_mix sizes = dbio_mix_of(read);
        double rate = dbio_mix_rate(&sizes, &keys->rate);
        unsigned n = (unsigned)keys->threads;
        struct dbio_space space;

        if (dbio_space_init(&space, &keys->region, &env->targets[keys->target], config->block, config->block, err))
                return -1;
        /* A region smaller than a segment is one. */
        if (segment > space.to - space.from)
                segment = space.to - space.from;
        if (segment > space.file_size)
                segment = space.file_size / config->block * config->block;
        if (segment < config->block)
                segment = config->block;
        if (read > segment)
                read = segment;
        dbio_stream_set_loop(out, keys, rate);
        if (isnan(rate) || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        out->max_length = (uint32_t)read;
        dbio_stream_add_use(out, keys->target, true, false, &space);
        if (dbio_stream_add_sources(out, n, sizeof(struct scanner), &scanner_class, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                struct scanner *self = (struct scanner *)out->sources[i];

                self->target = (uint16_t)keys->target;
                self->read = (uint32_t)read;
                dbio_slots_init(&self->slots, &space, segment);
                if (!self->slots.n)
                        return dbio_key_error(err, "segment", "no file of the region can hold one");
                dbio_pick_init(&self->pick, &keys->skew, self->slots.n, dbio_pattern_hot_seed(env));
                dbio_rng_init(&self->rng, dbio_pattern_seed(env, i));
                dbio_pace_init(&self->pace, rate, keys->arrival == DBIO_UNIFORM, i, n);
        }
        return 0;
}

const struct dbio_pattern dbio_oracle_multiblock_read = {
        .name = "oracle.multiblock_read",
        .summary = "db file scattered read: blocks of a full scan, up to 1M at a time",
        .rev = 1,
        .keys = DBIO_KEYS_READ,
        .role = "read_ahead",
        .fields = multi_fields,
        .config_size = sizeof(struct multi_config),
        .example = "{pattern: oracle.multiblock_read, target: data, threads: 2}",
        .check = dbio_read_keys_check,
        .compile = multi_compile,
};
