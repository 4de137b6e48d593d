/* PostgreSQL's sequential scan: adjacent blocks in one read, more and more of them ahead. */
#include "patterns/dist.h"
#include "patterns/flow.h"

struct config {
        uint64_t io_combine_limit, effective_io_concurrency, pages, first_ns, every_ns;
        bool repeat;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"io_combine_limit", DBIO_FIELD_SIZE, AT(io_combine_limit), "128K", 8192, 1048576, "largest read",
         "io_combine_limit", 0, NULL, NULL},
        {"effective_io_concurrency", DBIO_FIELD_COUNT, AT(effective_io_concurrency), "16", 1, 1000,
         "most reads in flight; 1 before 18. The distance doubles with each read, so it takes as many to get there",
         "effective_io_concurrency; read_stream.c", 0, NULL, NULL},
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
        uint64_t start, bytes, at, left; /* bytes */
        uint32_t combine;
        unsigned reads, most; /* that may be in flight */
        uint16_t target;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *self = (struct scan *)flow;

        (void)begin_ns;
        self->at = self->start;
        self->left = self->bytes;
        self->reads = 1;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *self = (struct scan *)flow;
        uint64_t room;

        (void)now_ns;
        if (!self->left)
                return DBIO_FLOW_END;
        if (flow->outstanding >= self->reads)
                return DBIO_FLOW_WAIT;
        room = dbio_space_end(&self->space, self->at) - self->at;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_READ_AHEAD;
        op->target = self->target;
        op->offset = self->at;
        op->length = self->combine < room ? self->combine : (uint32_t)room;
        if (op->length > self->left)
                op->length = (uint32_t)self->left;
        self->left -= op->length;
        self->at += op->length;
        if (self->at == self->space.to)
                self->at = self->space.from;
        /* The distance in blocks doubles after each read (read_stream_start_pending_read). */
        self->reads = self->reads * 2 < self->most ? self->reads * 2 : self->most;
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
        struct dbio_flow_plan plan = {
                .class = &class, .first_ns = config->first_ns, .every_ns = config->every_ns, .repeat = config->repeat};
        uint64_t page = dbio_pattern_page(env, keys->target), all;
        struct scan *self;
        struct dbio_rng rng;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct scan *)out->sources[0];
        self->target = (uint16_t)keys->target;
        self->combine = (uint32_t)(config->io_combine_limit / page * page);
        if (!self->combine)
                return dbio_key_error(err, "io_combine_limit", "less than a page of the target");
        self->most = (unsigned)config->effective_io_concurrency;
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], page, page, err))
                return -1;
        all = self->space.to - self->space.from;
        self->start = self->space.from;
        self->bytes = config->pages == DBIO_UNSET ? all : config->pages * page;
        if (self->bytes > all)
                return dbio_key_error(err, "pages", "more than the region's %llu", (unsigned long long)(all / page));
        if (config->pages != DBIO_UNSET) {
                dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
                self->start += dbio_rng_below(&rng, all / self->combine ? all / self->combine : 1) * self->combine;
        }
        out->max_length = self->combine;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        return 0;
}

static bool ends(const struct dbio_stream_keys *keys, const void *opaque)
{
        const struct config *config = opaque;

        (void)keys;
        return !config->repeat && config->every_ns == DBIO_UNSET;
}

const struct dbio_pattern dbio_postgres_seq_scan = {
        .name = "postgres.seq_scan",
        .summary = "Sequential scan: 128K reads, up to 16 ahead",
        .rev = 1,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: postgres.seq_scan, target: data, pages: 100_000}",
        .check = check,
        .compile = compile,
        .ends = ends,
};
