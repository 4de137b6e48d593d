/* InnoDB: buffered changes of secondary indexes are merged in the background, up to 8 pages of an aligned window of 8
 * at a time, within a budget a second. */
#include <math.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

#define AREA      8u /* IBUF_MERGE_AREA */
#define SECOND_NS 1000000000u

struct config {
        uint64_t page;
        double io_capacity, share;
};

static const struct dbio_field fields[] = {
        {"page", DBIO_FIELD_SIZE, offsetof(struct config, page), "16K", 4096, 65536, "bytes of a page",
         "innodb_page_size", DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"io_capacity", DBIO_FIELD_FACTOR, offsetof(struct config, io_capacity), "10000", 100, 1e9,
         "pages a second that the budget is a share of; 200 before 8.4", "innodb_io_capacity", 0, NULL, NULL},
        {"budget", DBIO_FIELD_SHARE, offsetof(struct config, share), "5%", 0, 1,
         "share of io_capacity; up to 100% for a full buffer, an idle server or a slow shutdown",
         "ibuf_merge_in_background", DBIO_FIELD_POSITIVE, NULL, NULL},
        {0},
};

static const struct dbio_preset presets[] = {{506, "io_capacity", "200"}, {804, "io_capacity", "10000"}, {0}};

struct merge {
        struct dbio_flow flow;
        struct dbio_space space;
        struct dbio_rng rng;
        uint64_t page, areas;
        uint64_t next_tick_ns, area;
        double a_second, budget; /* pages */
        unsigned bits;           /* pages of the area still to be read */
        uint16_t target;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        ((struct merge *)flow)->next_tick_ns = begin_ns;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct merge *self = (struct merge *)flow;
        unsigned page;

        if (!self->bits) {
                /* The last read of a batch is waited for, and with it the others. */
                if (flow->outstanding)
                        return DBIO_FLOW_WAIT;
                if (now_ns >= self->next_tick_ns) {
                        flow->called_ns = self->next_tick_ns;
                        self->budget += self->a_second;
                        self->next_tick_ns += SECOND_NS;
                }
                if (self->budget < 1)
                        return DBIO_FLOW_WAIT;
                self->area = dbio_rng_below(&self->rng, self->areas);
                while (!self->bits)
                        self->bits = (unsigned)dbio_rng_below(&self->rng, 1u << AREA);
                self->budget -= __builtin_popcount(self->bits);
                op->due_ns = flow->called_ns;
        }
        page = (unsigned)__builtin_ctz(self->bits);
        self->bits &= self->bits - 1;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_MERGE;
        op->target = self->target;
        op->offset = self->space.from + (self->area * AREA + page) * self->page;
        op->length = (uint32_t)self->page;
        return DBIO_FLOW_OP;
}

static uint64_t wake(struct dbio_flow *flow)
{
        const struct merge *self = (const struct merge *)flow;

        if (!flow->running || flow->outstanding)
                return flow->running ? UINT64_MAX : 0;
        return self->bits || self->budget >= 1 ? 0 : self->next_tick_ns;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next, .wake = wake};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE};
        struct merge *self;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct merge *)out->sources[0];
        self->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], AREA * config->page,
                            AREA * config->page, err))
                return -1;
        self->page = config->page;
        self->areas = (self->space.to - self->space.from) / (AREA * config->page);
        self->a_second = config->io_capacity * config->share;
        self->target = (uint16_t)keys->target;
        dbio_rng_init(&self->rng, dbio_pattern_seed(env, 0));
        out->max_length = (uint32_t)config->page;
        out->load = self->a_second;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        return 0;
}

const struct dbio_pattern dbio_innodb_change_buffer_merge = {
        .name = "innodb.change_buffer_merge",
        .summary = "Change buffer merge: bursts of up to 8 page reads inside 128K, within a budget a second",
        .rev = 1,
        .keys = DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "change_buffer_merge",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.change_buffer_merge, target: data, version: 5.7}",
        .compile = compile,
};
