/* PostgreSQL's background writer: ahead of the clock hand it writes the dirty ones of the buffers that will soon be
 * wanted, in the order of the buffers, which on the device is none. */
#include <math.h>
#include <stdlib.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

#define MAX_PENDING 256u

struct config {
        uint64_t bgwriter_delay_ns, bgwriter_lru_maxpages, bgwriter_flush_after;
        double bgwriter_lru_multiplier, alloc_rate, dirty;
        int paired_with;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"bgwriter_delay", DBIO_FIELD_TIME, AT(bgwriter_delay_ns), "200ms", 1e7, 1e10, "time between two rounds",
         "bgwriter_delay", 0, NULL, NULL},
        {"bgwriter_lru_maxpages", DBIO_FIELD_COUNT, AT(bgwriter_lru_maxpages), "100", 1, 1073741823,
         "most buffers a round", "bgwriter_lru_maxpages", 0, NULL, NULL},
        {"bgwriter_lru_multiplier", DBIO_FIELD_FACTOR, AT(bgwriter_lru_multiplier), "2.0", 0, 10,
         "of the smoothed number of buffers taken a round, how many are made ready", "bgwriter_lru_multiplier", 0, NULL,
         NULL},
        {"bgwriter_flush_after", DBIO_FIELD_SIZE, AT(bgwriter_flush_after), "512K", 8192, 2097152,
         "written buffers after which the kernel is told to write back", "bgwriter_flush_after", 0, NULL, NULL},
        {"alloc_rate", DBIO_FIELD_RATE, AT(alloc_rate), NULL, 0, 0, "buffers taken a second (buffers_alloc)",
         "judgement: no default", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"paired_with", DBIO_FIELD_STREAM, AT(paired_with), NULL, 0, 0,
         "a read stream: each page that it reads takes a buffer; instead of alloc_rate", "judgement", 0, NULL, NULL},
        {"dirty_share", DBIO_FIELD_SHARE, AT(dirty), "30%", 0, 1, "share of those buffers that are dirty", "judgement",
         0, NULL, NULL},
        {0},
};

struct writer {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_slots slots;
        struct dbio_rng rng;
        uint64_t next_ns;
        double smoothed, owed;
        uint64_t reads; /* pages that the paired stream has read, seen so far */
        unsigned paired;
        unsigned most, npending, out; /* out < npending: being given */
        bool flushing;
        uint64_t pending[MAX_PENDING];
        uint16_t target;
        uint8_t write_flags;
};

static uint64_t pages_read(const struct writer *self)
{
        return dbio_report_read_bytes_of(self->flow.base.report, self->paired) / self->slots.size;
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct writer *self = (struct writer *)flow;

        self->next_ns = begin_ns + self->config->bgwriter_delay_ns;
        if (self->config->paired_with >= 0)
                self->reads = pages_read(self);
}

/* Fast attack, slow decline (BgBufferSync). */
static void round_begins(struct writer *self)
{
        double taken = self->config->alloc_rate * (double)self->config->bgwriter_delay_ns / 1e9, n;

        if (self->config->paired_with >= 0) {
                uint64_t reads = pages_read(self);

                taken = (double)(reads - self->reads);
                self->reads = reads;
        }
        if (taken > self->smoothed)
                self->smoothed = taken;
        else
                self->smoothed += (taken - self->smoothed) / 16;
        /* Made ready: so many that `multiplier` rounds' worth is there; in the long run no more than are taken. */
        n = fmin(self->smoothed * self->config->bgwriter_lru_multiplier, taken) * self->config->dirty;
        self->owed = fmin(self->owed + n, (double)self->config->bgwriter_lru_maxpages);
        self->flow.called_ns = self->next_ns;
        self->next_ns += self->config->bgwriter_delay_ns;
}

static int by_offset(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct writer *self = (struct writer *)flow;

        while (!self->flushing) {
                if (self->owed >= 1) {
                        self->owed -= 1;
                        self->pending[self->npending++] =
                                dbio_slots_offset(&self->slots, dbio_rng_below(&self->rng, self->slots.n));
                        if (self->npending == self->most) {
                                qsort(self->pending, self->npending, sizeof self->pending[0], by_offset);
                                self->flushing = true;
                                self->out = 0;
                        }
                        continue;
                }
                if (now_ns < self->next_ns)
                        return DBIO_FLOW_WAIT;
                round_begins(self);
        }
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_WRITEBACK;
        op->target = self->target;
        op->flags = self->write_flags;
        op->due_ns = flow->called_ns;
        op->offset = self->pending[self->out++];
        op->length = (uint32_t)self->slots.size;
        if (self->out == self->npending) {
                self->flushing = false;
                self->npending = 0;
        }
        return DBIO_FLOW_OP;
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct writer *self = (struct writer *)flow;

        return !flow->running || self->flushing ? 0 : self->next_ns;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next, .wake = wake};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;

        (void)keys;
        if (dbio_is_set(config->alloc_rate) == (config->paired_with >= 0))
                return dbio_key_error(err, "alloc_rate", "exactly one of alloc_rate and paired_with");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE, .depth = MAX_PENDING};
        uint64_t page = dbio_pattern_page(env, keys->target);
        struct dbio_space space;
        struct writer *self;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err) ||
            dbio_space_init(&space, &keys->region, &env->targets[keys->target], page, page, err))
                return -1;
        self = (struct writer *)out->sources[0];
        self->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        self->config = config;
        if (config->paired_with >= 0)
                self->paired = env->other_index(env, config->paired_with);
        self->most = (unsigned)(config->bgwriter_flush_after / page);
        if (self->most < 1 || self->most > MAX_PENDING)
                return dbio_key_error(err, "bgwriter_flush_after", "must be from 1 to 256 pages of the target");
        dbio_slots_init(&self->slots, &space, page);
        dbio_rng_init(&self->rng, dbio_pattern_seed(env, 0));
        self->target = (uint16_t)keys->target;
        self->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        out->max_length = (uint32_t)page;
        out->load = dbio_is_set(config->alloc_rate) ? config->alloc_rate * config->dirty : 0;
        dbio_stream_add_use(out, keys->target, false, true, &space);
        return 0;
}

const struct dbio_pattern dbio_postgres_bgwriter = {
        .name = "postgres.bgwriter",
        .summary = "Background writer: up to 100 random pages each 200 ms, written back 512K at a time",
        .rev = 2,
        .keys = DBIO_KEYS_WRITE,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "writeback",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: postgres.bgwriter, target: data, alloc_rate: 500/s}",
        .check = check,
        .compile = compile,
};
