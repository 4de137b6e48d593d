/* MyISAM: inserts append rows to the data file and dirty blocks of the index file, all in the page cache, never synced.
 * What reaches the device is the kernel's write-back: every 5 s whatever has been dirty for 30 s, in ascending runs.
 * Table locks are not modelled.
 */
#include <math.h>

#include "patterns/dist.h"
#include "patterns/flow.h"
#include "patterns/gather.h"

#define PAGE         4096u         /* of the page cache */
#define WRITEBACK_NS 5000000000u   /* vm.dirty_writeback_centisecs */
#define EXPIRE_NS    30000000000u  /* vm.dirty_expire_centisecs */
#define MAX_RUN      (512u * 1024) /* judgement: max_sectors_kb of common devices */
#define IN_FLIGHT    128u          /* nr_requests; judgement */
#define SLICE        4096u

struct config {
        double insert_rate, index_share;
        uint64_t bytes_per_row, index_blocks;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"insert_rate", DBIO_FIELD_RATE, AT(insert_rate), NULL, 0, 0, "rows a second", "judgement: no default",
         DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE, NULL, NULL},
        {"bytes_per_row", DBIO_FIELD_SIZE, AT(bytes_per_row), "200", 1, 65536,
         "bytes that a row appends to the data file", "judgement", 0, NULL, NULL},
        {"index_blocks", DBIO_FIELD_COUNT, AT(index_blocks), "1", 0, 64,
         "blocks of the index file that a row changes, at random", "judgement: one a secondary index", 0, NULL, NULL},
        {"index_share", DBIO_FIELD_SHARE, AT(index_share), "20%", 0, 0.9,
         "share of the region, at its end, that is the index file", "judgement", 0, NULL, NULL},
        {0},
};

/* What has been inserted up to a time; two of them: now, and 30 s ago. */
struct cursor {
        uint64_t rows;
        double appended; /* bytes */
        struct dbio_rng rng;
};

struct insert {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_dirty_map map;
        struct dbio_sweep sweep;
        struct cursor now, expired;
        uint64_t data_pages, index_from, index_pages, start;
        uint64_t next_ns, begun_ns;
        bool round;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct insert *self = (struct insert *)flow;

        self->begun_ns = begin_ns;
        self->next_ns = begin_ns + WRITEBACK_NS;
}

static void get_dirty(struct dbio_dirty_map *map, uint64_t page)
{
        dbio_dirty_map_set_fresh(map, page);
}

/* From fresh to old: it is to be written. What has been written since is clean. */
static void expire(struct dbio_dirty_map *map, uint64_t page)
{
        if (dbio_dirty_map_is_dirty(map, page) && dbio_dirty_map_clear(map, page))
                dbio_dirty_map_set_old(map, page);
}

/* Moves a cursor on to what has been inserted by then; false where there is more than a slice of it. */
static bool move(struct insert *self, struct cursor *cursor, uint64_t until_ns,
                 void (*touch)(struct dbio_dirty_map *, uint64_t))
{
        uint64_t due = (uint64_t)((double)until_ns / 1e9 * self->config->insert_rate);

        for (unsigned i = 0; cursor->rows < due; i++, cursor->rows++) {
                uint64_t from, to;

                if (i == SLICE)
                        return false;
                from = (uint64_t)cursor->appended / PAGE;
                cursor->appended += (double)self->config->bytes_per_row;
                to = ((uint64_t)cursor->appended - 1) / PAGE;
                for (uint64_t page = from; page <= to; page++)
                        touch(&self->map, (self->start + page) % self->data_pages);
                for (uint64_t k = 0; self->index_pages && k < self->config->index_blocks; k++)
                        touch(&self->map, self->index_from + dbio_rng_below(&cursor->rng, self->index_pages));
        }
        return true;
}

static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        struct insert *self = (struct insert *)flow;

        /* Never past the next write-back, so that what it finds does not depend on when it is asked. */
        if (now_ns > self->next_ns)
                now_ns = self->next_ns;
        if (flow->running && !self->round && !move(self, &self->now, now_ns - self->begun_ns, get_dirty))
                dbio_flow_nudge(flow, 0);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct insert *self = (struct insert *)flow;
        struct dbio_gather run;
        uint64_t page, tick_ns = self->next_ns - self->begun_ns;

        if (!self->round) {
                if (now_ns < self->next_ns || flow->nudged)
                        return DBIO_FLOW_WAIT;
                if (tick_ns > EXPIRE_NS && !move(self, &self->expired, tick_ns - EXPIRE_NS, expire)) {
                        dbio_flow_nudge(flow, 0);
                        return DBIO_FLOW_WAIT;
                }
                flow->called_ns = op->due_ns = self->next_ns;
                self->next_ns += WRITEBACK_NS;
                self->round = true;
                dbio_sweep_begin(&self->sweep, &self->map, false, 0);
        }
        if (dbio_sweep_next(&self->sweep, UINT32_MAX, &page) <= 0) {
                self->round = false;
                return DBIO_FLOW_WAIT;
        }
        run = dbio_gather_take(&self->map, page, MAX_RUN / PAGE);
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_INSERT;
        op->target = self->target;
        op->flags = self->write_flags;
        op->offset = dbio_dirty_map_offset(&self->map, run.page);
        op->length = run.pages * PAGE;
        return DBIO_FLOW_OP;
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct insert *self = (struct insert *)flow;

        return flow->running && !self->round ? self->next_ns : UINT64_MAX;
}

static void release(struct dbio_flow *flow)
{
        dbio_dirty_map_release(&((struct insert *)flow)->map);
}

static const struct dbio_flow_class class = {
        .begin = begin, .next = next, .tick = tick, .wake = wake, .release = release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE, .depth = IN_FLIGHT};
        struct dbio_rng place;
        struct insert *self;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct insert *)out->sources[0];
        self->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        self->config = config;
        self->target = (uint16_t)keys->target;
        self->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dbio_dirty_map_join(&self->map, &keys->region, &env->targets[keys->target], PAGE, err))
                return -1;
        self->index_pages = (uint64_t)((double)self->map.npages * config->index_share);
        self->index_from = self->data_pages = self->map.npages - self->index_pages;
        dbio_rng_init(&place, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        self->start = dbio_rng_below(&place, self->data_pages);
        dbio_rng_init(&self->now.rng, dbio_pattern_seed(env, DBIO_RNG_DIRTY));
        self->expired = self->now;
        out->max_length = MAX_RUN;
        out->load = config->insert_rate * (double)config->index_blocks;
        dbio_stream_add_use(out, keys->target, false, true, &self->map.space);
        return 0;
}

const struct dbio_pattern dbio_myisam_insert = {
        .name = "myisam.insert",
        .summary = "Inserts into data and index files: buffered, no fsync, the kernel's write-back; table locks are "
                   "not modelled",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "insert",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: myisam.insert, target: data, insert_rate: 2000/s}",
        .compile = compile,
};
