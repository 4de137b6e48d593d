/* InnoDB: pages that are not in the buffer pool, read one at a time; through a secondary index two, the second after
 * the first. */
#include <math.h>
#include <stdlib.h>

#include "patterns/dist.h"
#include "patterns/pace.h"
#include "patterns/random.h"

struct config {
        uint64_t page, pages_per_lookup;
};

static const struct dbio_field fields[] = {
        {"page", DBIO_FIELD_SIZE, offsetof(struct config, page), "16K", 4096, 65536, "bytes of a page",
         "innodb_page_size", DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"pages_per_lookup", DBIO_FIELD_COUNT, offsetof(struct config, pages_per_lookup), "1", 1, 2,
         "2: a leaf of a secondary index, then the row's page, which depends on it; rate and depth are of lookups",
         "buf0rea.cc buf_read_page; the pair a judgement", 0, NULL, NULL},
        {0},
};

enum { FIRST, SECOND };

/* A thread of pairs. What is in flight is told apart by cookies, so their number needs no memory; times are kept for
 * the slots of a closed loop and, up to NOTED of them, for second pages. */
#define NOTED 64u

struct pairs {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_pace pace;
        struct dbio_slots slots;
        struct dbio_pick pick;
        uint64_t next_ns; /* open loop: next arrival */
        uint64_t think_ns;
        uint64_t depth, running; /* lookups; depth UINT64_MAX = no cap */
        uint64_t *free_ns;       /* closed loop: ring of the times at which free slots look up again */
        uint64_t free_head, free_count;
        uint64_t second_ns[NOTED]; /* ring: when first pages were done */
        unsigned second_head, seconds;
        uint16_t target;
};

static bool closed(const struct pairs *self)
{
        return self->free_ns != NULL;
}

static uint64_t first_due(const struct pairs *self)
{
        if (closed(self))
                return self->free_count ? self->free_ns[self->free_head] : UINT64_MAX;
        return self->running < self->depth ? self->next_ns : UINT64_MAX;
}

static void take_first(struct pairs *self)
{
        self->running++;
        if (!closed(self)) {
                self->next_ns = dbio_pace_next(&self->pace, &self->rng);
                return;
        }
        self->free_head = (self->free_head + 1) % self->depth;
        self->free_count--;
}

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct pairs *self = (struct pairs *)base;
        unsigned n = 0;

        while (n < max) {
                uint64_t due;
                unsigned cookie = SECOND;

                if (self->seconds) {
                        due = self->second_ns[self->second_head % NOTED];
                        self->second_head++;
                        self->seconds--;
                } else {
                        due = first_due(self);
                        if (due > now_ns)
                                break;
                        take_first(self);
                        cookie = FIRST;
                }
                ops[n++] = (struct dbio_op){
                        .offset = dbio_slots_offset(&self->slots, dbio_pick_next(&self->pick, &self->rng)),
                        .due_ns = due,
                        .cookie = cookie,
                        .length = (uint32_t)self->slots.size,
                        .target = self->target,
                        .thread = base->thread,
                        .kind = DBIO_READ,
                        .role = DBIO_ROLE_DATA_READ,
                };
        }
        return n;
}

static void done(struct dbio_source *base, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct pairs *self = (struct pairs *)base;

        if (op->cookie == FIRST) {
                self->second_ns[(self->second_head + self->seconds++) % NOTED] = done_op->completed_ns;
                return;
        }
        self->running--;
        if (closed(self))
                self->free_ns[(self->free_head + self->free_count++) % self->depth] =
                        done_op->completed_ns + self->think_ns;
}

static uint64_t wake(struct dbio_source *base)
{
        const struct pairs *self = (const struct pairs *)base;

        return self->seconds ? 0 : first_due(self);
}

static void free_source(struct dbio_source *base)
{
        free(((struct pairs *)base)->free_ns);
        free(base);
}

static const struct dbio_source_class class = {.fill = fill, .done = done, .wake = wake, .free = free_source};

static int init(struct pairs *self, unsigned thread, const struct dbio_pattern_env *env,
                const struct dbio_stream_keys *keys, const struct dbio_space *space, uint64_t page, double rate,
                struct dbio_err *err)
{
        self->target = (uint16_t)keys->target;
        self->think_ns = keys->think_ns;
        dbio_slots_init(&self->slots, space, page);
        dbio_pick_init(&self->pick, &keys->skew, self->slots.n, dbio_pattern_hot_seed(env));
        dbio_rng_init(&self->rng, dbio_pattern_seed(env, thread));
        dbio_pace_init(&self->pace, rate, keys->arrival == DBIO_UNIFORM, thread, (unsigned)keys->threads);
        self->next_ns = dbio_pace_next(&self->pace, &self->rng);
        self->depth = keys->depth;
        if (!isnan(rate))
                return 0;
        if (self->depth == DBIO_UNSET)
                self->depth = 1;
        self->free_ns = calloc(self->depth, sizeof *self->free_ns);
        if (!self->free_ns)
                return dbio_err_set(err, DBIO_BUG, "no memory for a depth of %llu", (unsigned long long)self->depth);
        self->free_count = self->depth;
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_random_plan plan = {
                .sizes = dbio_mix_of(config->page),
                .align = config->page,
                .read = 1,
                .ops = UINT64_MAX,
                .fsync_every = DBIO_UNSET,
                .role = DBIO_ROLE_DATA_READ,
        };
        double rate = dbio_mix_rate(&plan.sizes, &keys->rate);
        struct dbio_space space;

        if (config->pages_per_lookup == 1)
                return dbio_random_compile(env, keys, &plan, out, err);
        if (dbio_space_init(&space, &keys->region, &env->targets[keys->target], config->page, config->page, err) ||
            dbio_stream_add_sources(out, (unsigned)keys->threads, sizeof(struct pairs), &class, err))
                return -1;
        out->threads = (unsigned)keys->threads;
        out->flags |= DBIO_STREAM_REACTIVE | (isnan(rate) ? 0 : DBIO_STREAM_TIMED);
        out->load = 2 * (isnan(rate) ? 0 : rate);
        out->max_length = (uint32_t)config->page;
        dbio_stream_add_use(out, keys->target, true, false, &space);
        if (isnan(rate) || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        for (unsigned i = 0; i < keys->threads; i++)
                if (init((struct pairs *)out->sources[i], i, env, keys, &space, config->page, rate, err))
                        return -1;
        return 0;
}

const struct dbio_pattern dbio_innodb_page_read = {
        .name = "innodb.page_read",
        .summary = "Single-page reads of what the buffer pool misses",
        .rev = 1,
        .keys = DBIO_KEYS_READ | DBIO_KEYS_VERSION,
        .role = "data_read",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.page_read, target: data, threads: 32, think: 5ms, skew: {zipf: 0.9}}",
        .check = dbio_read_keys_check,
        .compile = compile,
};
