/* MyISAM: a full scan of a data file through a cache of read_buffer_size. Table locks are not modelled. */
#include "patterns/dist.h"
#include "patterns/flow.h"

struct config {
        uint64_t read_buffer_size, pages, first_ns, every_ns;
        bool repeat;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"read_buffer_size", DBIO_FIELD_SIZE, AT(read_buffer_size), "128K", 8192, 16777216,
         "bytes a read; reads are buffered and follow each other", "read_buffer_size; mysys IO_CACHE", 0, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12,
         "length of a pass in pages of the target, from a place of its own; all of the region from its beginning "
         "unless given",
         "judgement", 0, NULL, NULL},
        {"repeat", DBIO_FIELD_BOOL, AT(repeat), "no", 0, 0, "again and again", "judgement", 0, NULL, NULL},
        {"first", DBIO_FIELD_TIME, AT(first_ns), NULL, 0, 0, "when the first pass is due; every unless given, else 0s",
         "judgement", 0, NULL, NULL},
        {"every", DBIO_FIELD_TIME, AT(every_ns), NULL, 0, 0, "time between the due times of two passes", "judgement",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {0},
};

struct scan {
        struct dbio_flow flow;
        struct dbio_space space;
        uint64_t start, bytes, at, left, read;
        uint16_t target;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *self = (struct scan *)flow;

        (void)begin_ns;
        self->at = self->start;
        self->left = self->bytes;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *self = (struct scan *)flow;
        uint64_t length = self->read;

        (void)now_ns;
        if (!self->left)
                return DBIO_FLOW_END;
        if (length > self->left)
                length = self->left;
        if (length > dbio_space_end(&self->space, self->at) - self->at)
                length = dbio_space_end(&self->space, self->at) - self->at;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_READ_AHEAD;
        op->target = self->target;
        op->offset = self->at;
        op->length = (uint32_t)length;
        self->left -= length;
        self->at = self->at + length == self->space.to ? self->space.from : self->at + length;
        return DBIO_FLOW_OP;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;

        (void)keys;
        if (config->repeat && config->every_ns != DBIO_UNSET)
                return dbio_key_error(err, "repeat", "repeat and every exclude each other");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class,
                                      .first_ns = config->first_ns,
                                      .every_ns = config->every_ns,
                                      .repeat = config->repeat,
                                      .depth = 1};
        uint64_t page = dbio_pattern_page(env, keys->target), all;
        struct scan *self;
        struct dbio_rng rng;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct scan *)out->sources[0];
        self->target = (uint16_t)keys->target;
        self->read = config->read_buffer_size / page * page;
        if (!self->read)
                return dbio_key_error(err, "read_buffer_size", "less than a page of the target");
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], page, page, err))
                return -1;
        all = self->space.to - self->space.from;
        self->start = self->space.from;
        self->bytes = config->pages == DBIO_UNSET ? all : config->pages * page;
        if (self->bytes > all)
                return dbio_key_error(err, "pages", "more than the region's %llu", (unsigned long long)(all / page));
        if (config->pages != DBIO_UNSET) {
                dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
                self->start += dbio_rng_below(&rng, all / self->read ? all / self->read : 1) * self->read;
        }
        out->max_length = (uint32_t)self->read;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        return 0;
}

static bool ends(const struct dbio_stream_keys *keys, const void *opaque)
{
        const struct config *config = opaque;

        (void)keys;
        return !config->repeat && config->every_ns == DBIO_UNSET;
}

const struct dbio_pattern dbio_myisam_scan = {
        .name = "myisam.scan",
        .summary = "Full scan of a data file: buffered 128K reads, one after the other; table locks are not modelled",
        .rev = 1,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: myisam.scan, target: data, pages: 100_000}",
        .check = check,
        .compile = compile,
        .ends = ends,
};
