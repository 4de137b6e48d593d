#include <stdlib.h>

#include "patterns/dist.h"
#include "patterns/random.h"

enum order { UNORDERED, ORDERED };

struct config {
        uint64_t prefetch_depth, rows;
        int order;
};

static const char *const orders[] = {"unordered", "ordered", NULL};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"prefetch_depth", DBIO_FIELD_COUNT, AT(prefetch_depth), "32", 1, 4096,
         "reads in flight a thread, in a closed loop; depth where that is given",
         "Microsoft, Reading Pages: not configurable, the number a judgement", 0, NULL, NULL},
        {"order", DBIO_FIELD_ENUM, AT(order), "unordered", 0, 0,
         "ordered: rows are needed in the order of their keys, so that the oldest read holds up the next ones",
         "Freedman, Random Prefetching", 0, orders, NULL},
        {"rows", DBIO_FIELD_COUNT, AT(rows), NULL, 1, 1e15, "rows of the whole stream, one read each; endless unless given",
         "judgement", 0, NULL, NULL},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (c->order == ORDERED && (dbio_is_set(keys->rate.per_s) || keys->think_ns))
                return dbio_key_error(err, "order", "ordered prefetch is a closed loop: neither rate nor think");
        return dbio_read_keys_check(keys, config, err);
}

/* One thread with ordered prefetch: up to depth reads ahead of the oldest that has not come. */
struct source {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_slots slots;
        struct dbio_pick pick;
        uint64_t left, first, next; /* rows: still to come; number of the oldest in flight; number of the next */
        uint64_t freed_ns;
        unsigned depth;
        uint16_t target;
        bool arrived[]; /* by number modulo depth */
};

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct source *source = (struct source *)base;
        unsigned n = 0;

        (void)now_ns;
        for (; n < max && source->left && source->next < source->first + source->depth; n++) {
                ops[n] = (struct dbio_op){
                        .offset = dbio_slots_offset(&source->slots, dbio_pick_next(&source->pick, &source->rng)),
                        .due_ns = source->freed_ns,
                        .cookie = source->next,
                        .length = (uint32_t)source->slots.size,
                        .target = source->target,
                        .thread = base->thread,
                        .kind = DBIO_READ,
                        .role = DBIO_ROLE_DATA_READ,
                };
                source->arrived[source->next++ % source->depth] = false;
                source->left -= source->left != UINT64_MAX;
        }
        base->ended = !source->left;
        return n;
}

static void done(struct dbio_source *base, const struct dbio_op *op, const struct dbio_done *done)
{
        struct source *source = (struct source *)base;

        source->arrived[op->cookie % source->depth] = true;
        while (source->first < source->next && source->arrived[source->first % source->depth]) {
                source->first++;
                source->freed_ns = done->completed_ns;
        }
}

static const struct dbio_source_class class = {.fill = fill, .done = done, .free = dbio_source_free};

static int compile_ordered(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const struct config *c,
                           unsigned depth, struct dbio_stream *out, struct dbio_err *err)
{
        unsigned n = (unsigned)keys->threads, page = dbio_pattern_page(env, keys->target);
        struct dbio_space space;

        if (dbio_pattern_space(&space, env, keys->target, &keys->region, page, err) ||
            dbio_stream_add_sources(out, n, sizeof(struct source) + depth, &class, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                struct source *source = (struct source *)out->sources[i];

                source->depth = depth;
                source->target = (uint16_t)keys->target;
                source->left = c->rows == DBIO_UNSET ? UINT64_MAX : c->rows / n + (i < c->rows % n);
                dbio_rng_init(&source->rng, dbio_pattern_seed(env, i));
                dbio_slots_init(&source->slots, &space, page);
                dbio_pick_init(&source->pick, &keys->skew, source->slots.n, dbio_pattern_hot_seed(env));
        }
        out->threads = n;
        out->flags |= DBIO_STREAM_REACTIVE | (c->rows == DBIO_UNSET ? DBIO_STREAM_ENDLESS : 0);
        out->max_length = page;
        dbio_stream_add_use(out, keys->target, true, false, &space);
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_stream_keys own = *keys;
        struct dbio_random_plan plan = {
                .sizes = dbio_mix_of(dbio_pattern_page(env, keys->target)),
                .read = 1,
                .ops = c->rows == DBIO_UNSET ? UINT64_MAX : c->rows,
                .fsync_every = DBIO_UNSET,
                .role = DBIO_ROLE_DATA_READ,
        };

        if (own.depth == DBIO_UNSET && !dbio_is_set(keys->rate.per_s))
                own.depth = c->prefetch_depth;
        if (c->order == ORDERED)
                return compile_ordered(env, keys, c, (unsigned)own.depth, out, err);
        return dbio_random_compile(env, &own, &plan, out, err);
}

static bool ends(const struct dbio_stream_keys *keys, const void *config)
{
        const struct config *c = config;

        (void)keys;
        return c->rows != DBIO_UNSET;
}

const struct dbio_pattern dbio_sqlserver_lookup = {
        .name = "sqlserver.lookup",
        .summary = "Lookups of a nested-loops join: single-page reads prefetched many at a time",
        .rev = 1,
        .keys = DBIO_KEYS_READ | DBIO_KEYS_VERSION,
        .role = "data_read",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.lookup, target: data, prefetch_depth: 32, rows: 1_000_000}",
        .check = check,
        .compile = compile,
        .ends = ends,
};
