/* Oracle's database writers: every few seconds what got dirty, block by block, a batch a writer at a time, ascending.
 */
#include <math.h>

#include "patterns/flow.h"
#include "patterns/gather.h"

#define SLICE      4096u
#define TAKE_IN_NS 20000000u

struct config {
        uint64_t block, writers, batch, every_ns;
        double dirty_rate;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"db_block_size", DBIO_FIELD_SIZE, AT(block), "8K", 2048, 32768, "bytes of a block",
         "Database Reference, DB_BLOCK_SIZE", DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"writers", DBIO_FIELD_COUNT, AT(writers), "1", 1, 100, "DBWn processes, each with a batch of its own",
         "Database Reference, DB_WRITER_PROCESSES", 0, NULL, NULL},
        {"batch", DBIO_FIELD_COUNT, AT(batch), "300", 1, 8192, "blocks that a writer submits at once and waits for",
         "Closson, 2006: often over 100 in one io_submit; the default a judgement", 0, NULL, NULL},
        {"every", DBIO_FIELD_TIME, AT(every_ns), "3s", 1e7, 3600e9, "time between two rounds",
         "Database Administrator's Guide: DBWn wakes every 3 seconds", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"dirty_rate", DBIO_FIELD_RATE, AT(dirty_rate), NULL, 0, 0,
         "blocks a second that get dirty all the time (one that is dirty already does not count again)",
         "judgement: no default; physical writes a second", DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE, NULL, NULL},
        {0},
};

struct dbwr {
        struct dbio_flow flow;
        struct dbio_dirty_map map;
        struct dbio_dirty_maker maker;
        struct dbio_sweep sweep;
        uint64_t every_ns, next_ns, taken_in_ns;
        unsigned batch, given; /* of all writers together; given of the running one */
        bool round;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct dbwr *self = (struct dbwr *)flow;

        self->next_ns = begin_ns + self->every_ns;
}

static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        struct dbwr *self = (struct dbwr *)flow;

        /* Never past the next round's begin, so that what it finds does not depend on when it is asked. */
        if (!self->round && flow->running && now_ns > self->next_ns)
                now_ns = self->next_ns;
        if (dbio_dirty_maker_advance(&self->maker, now_ns, SLICE))
                self->taken_in_ns = now_ns;
        else
                dbio_flow_nudge(flow, 0);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct dbwr *self = (struct dbwr *)flow;
        uint64_t page;

        if (!self->round) {
                if (now_ns < self->next_ns || flow->outstanding || flow->nudged)
                        return DBIO_FLOW_WAIT;
                flow->called_ns = self->next_ns;
                self->next_ns = self->next_ns + self->every_ns > now_ns ? self->next_ns + self->every_ns : now_ns;
                dbio_dirty_map_age(&self->map);
                dbio_sweep_begin(&self->sweep, &self->map, false, 0);
                self->round = true;
                self->given = 0;
                op->due_ns = flow->called_ns;
        }
        if (self->given == self->batch) {
                if (flow->outstanding)
                        return DBIO_FLOW_WAIT;
                self->given = 0;
        }
        if (dbio_sweep_next(&self->sweep, UINT32_MAX, &page) <= 0) {
                self->round = false;
                return DBIO_FLOW_WAIT;
        }
        dbio_dirty_map_clear(&self->map, page);
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_PAGE_FLUSH;
        op->target = self->target;
        op->flags = self->write_flags;
        op->offset = dbio_dirty_map_offset(&self->map, page);
        op->length = self->map.page;
        self->given++;
        return DBIO_FLOW_OP;
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct dbwr *self = (struct dbwr *)flow;
        uint64_t at = self->taken_in_ns + TAKE_IN_NS;

        return flow->running && !self->round && !flow->outstanding && self->next_ns < at ? self->next_ns : at;
}

static void release(struct dbio_flow *flow)
{
        dbio_dirty_map_release(&((struct dbwr *)flow)->map);
}

static const struct dbio_flow_class class = {
        .begin = begin, .next = next, .tick = tick, .wake = wake, .release = release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        const struct dbio_dirty_keys anywhere = {
                .map = DBIO_DIRTY_PAGES, .density = NAN, .pages_per_write = NAN, .stride = DBIO_UNSET};
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE};
        struct dbio_dirty_plan dirt = {
                .keys = &anywhere,
                .skew = &keys->skew,
                .rate_per_s = config->dirty_rate,
                .place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE),
                .dirty_seed = dbio_pattern_seed(env, DBIO_RNG_DIRTY),
        };
        struct dbwr *self;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct dbwr *)out->sources[0];
        self->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        self->every_ns = config->every_ns;
        self->batch = (unsigned)(config->batch * config->writers);
        self->target = (uint16_t)keys->target;
        self->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dbio_dirty_map_join(&self->map, &keys->region, &env->targets[keys->target], (unsigned)config->block, err) ||
            dbio_dirty_maker_init(&self->maker, &self->map, &dirt, err))
                return -1;
        out->max_length = (uint32_t)config->block;
        out->load = config->dirty_rate;
        out->depth = self->batch; /* so that there is room for a whole batch at once */
        dbio_stream_add_use(out, keys->target, false, true, &self->map.space);
        return 0;
}

const struct dbio_pattern dbio_oracle_dbwr = {
        .name = "oracle.dbwr",
        .summary = "Database writers: a batch of scattered 8K writes every 3 seconds",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "page_flush",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: oracle.dbwr, target: data, dirty_rate: 500/s, after: lgwr}",
        .write_through = true,
        .compile = compile,
};
