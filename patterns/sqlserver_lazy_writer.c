#include <math.h>

#include "patterns/flow.h"
#include "patterns/gather.h"

struct config {
        uint64_t wake_ns, batch_buffers, max_pages_per_write;
        double victim_dirty;
        int paired_with;
};

/* How often the reads of the other stream are looked at: a worker that has read looks at a batch of buffers itself when
 * the free list is short, so it must not take until the next wake. */
#define LOOK_NS (10ull * 1000000)

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"wake", DBIO_FIELD_TIME, AT(wake_ns), "1s", 1e6, 0, "longest time between two looks for victims",
         "widely repeated, not confirmed", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"batch_buffers", DBIO_FIELD_COUNT, AT(batch_buffers), "64", 1, 4096,
         "buffers looked at in one go, and writes in flight at most",
         "Inside SQL Server: a worker examines 64 buffers; the limit of writes a judgement", 0, NULL, NULL},
        {"victim_dirty", DBIO_FIELD_SHARE, AT(victim_dirty), "30%", 0, 1,
         "share of victims that are dirty: pages written for each page read", "judgement", 0, NULL, NULL},
        {"paired_with", DBIO_FIELD_STREAM, AT(paired_with), NULL, 0, 0, "the stream whose pages need free buffers",
         "each physical read needs a free buffer", DBIO_FIELD_REQUIRED, NULL, NULL},
        {"max_pages_per_write", DBIO_FIELD_COUNT, AT(max_pages_per_write), "128", 1, 2048,
         "most adjacent pages in one write; 16 in 2000, 32 from 2005, 128 from 2016",
         "Microsoft, Writing Pages; SQL 2016 It Just Runs Faster: Larger Data File Writes", 0, NULL, NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {2000, "max_pages_per_write", "16"},
        {2005, "max_pages_per_write", "32"},
        {2016, "max_pages_per_write", "128"},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        (void)config;
        return dbio_dirty_keys_check(keys, err);
}

struct lazy {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_dirty_map *map, own;
        struct dbio_dirty_maker maker; /* where no other stream makes dirt: pages written are replaced by others */
        struct dbio_rng rng;
        double owed;          /* pages */
        uint64_t reads;       /* pages that the other stream has read, seen so far */
        uint64_t look_ns, batch_ns; /* next look; when the last batch was taken */
        unsigned other;
        uint16_t target;
        uint8_t write_flags;
};

static uint64_t pages_read(const struct lazy *lazy)
{
        return dbio_report_read_bytes_of(lazy->flow.base.report, lazy->other) / lazy->map->page;
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct lazy *lazy = (struct lazy *)flow;

        lazy->look_ns = lazy->batch_ns = begin_ns;
        lazy->reads = pages_read(lazy);
}

static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        struct lazy *lazy = (struct lazy *)flow;
        const struct config *c = lazy->config;

        if (!flow->running || now_ns < lazy->look_ns)
                return;
        uint64_t reads = pages_read(lazy) - lazy->reads;
        bool woken = now_ns - lazy->batch_ns >= c->wake_ns;

        if (reads && (woken || reads >= c->batch_buffers)) {
                uint64_t victims = woken ? reads : reads / c->batch_buffers * c->batch_buffers;

                lazy->owed += (double)victims * c->victim_dirty;
                lazy->reads += victims;
                flow->called_ns = now_ns;
        }
        if (woken || reads >= c->batch_buffers)
                lazy->batch_ns = now_ns;
        lazy->look_ns = now_ns + (LOOK_NS < c->wake_ns ? LOOK_NS : c->wake_ns);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct lazy *lazy = (struct lazy *)flow;
        uint64_t page;

        (void)now_ns;
        if (lazy->owed < 1)
                return DBIO_FLOW_WAIT;
        if (!dbio_dirty_map_find(lazy->map, dbio_rng_below(&lazy->rng, lazy->map->npages), &page)) {
                lazy->owed = 0; /* every victim is clean */
                return DBIO_FLOW_WAIT;
        }
        struct dbio_gather run = dbio_gather_take(lazy->map, page, (unsigned)lazy->config->max_pages_per_write);

        lazy->owed -= run.pages;
        if (lazy->maker.map)
                for (unsigned n = 0, tries = 0; n < run.pages && tries < 4096; tries++)
                        n += dbio_dirty_maker_one(&lazy->maker);
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_LAZY_WRITE;
        op->target = lazy->target;
        op->flags = lazy->write_flags;
        op->offset = dbio_dirty_map_offset(lazy->map, run.page);
        op->length = run.pages * lazy->map->page;
        return DBIO_FLOW_OP;
}

static uint64_t wake(struct dbio_flow *flow)
{
        return flow->running ? ((struct lazy *)flow)->look_ns : UINT64_MAX;
}

static void release(struct dbio_flow *flow)
{
        dbio_dirty_map_release(&((struct lazy *)flow)->own);
}

static const struct dbio_flow_class class = {begin, next, NULL, tick, wake, NULL, release};

/* A map that no other stream makes dirty holds victim_dirty of the region's pages, unless `dirty` gives another
 * density. */
static int make_dirt(struct lazy *lazy, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                     struct dbio_err *err)
{
        const struct config *c = lazy->config;
        double density;

        if (dbio_dirty_keys_density(&keys->dirty, (unsigned)c->max_pages_per_write, lazy->map->extent, &density, err))
                return -1;
        struct dbio_dirty_plan plan = {
                .keys = &keys->dirty,
                .skew = &keys->skew,
                .window_pages = lazy->map->npages,
                .rate_per_s = NAN,
                .place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE),
                .dirty_seed = dbio_pattern_seed(env, DBIO_RNG_DIRTY),
                .hot_seed = dbio_pattern_hot_seed(env),
        };
        uint64_t pages = (uint64_t)((dbio_is_set(density) ? density : c->victim_dirty) * (double)lazy->map->npages);

        if (dbio_dirty_maker_init(&lazy->maker, lazy->map, &plan, err))
                return -1;
        if (keys->dirty.map == DBIO_DIRTY_STRIDE && pages > lazy->map->npages / lazy->maker.stride)
                pages = lazy->map->npages / lazy->maker.stride;
        dbio_dirty_maker_begin(&lazy->maker, pages ? pages : 1);
        while (!dbio_dirty_maker_step(&lazy->maker, UINT32_MAX))
                ;
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, DBIO_DUE_ONCE, (unsigned)c->batch_buffers};

        if (dbio_flow_new(out, sizeof(struct lazy), &plan, env, err))
                return -1;
        struct lazy *lazy = (struct lazy *)out->sources[0];
        lazy->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        lazy->config = c;
        lazy->target = (uint16_t)keys->target;
        lazy->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        lazy->other = env->other_index(env, c->paired_with);
        dbio_rng_init(&lazy->rng, dbio_pattern_seed(env, 0));
        lazy->map = keys->dirty_map ? env->dirty_map(env, keys->dirty_map) : &lazy->own;
        if (!lazy->map)
                return dbio_err_set(err, DBIO_BUG, "no memory for dirty map %s", keys->dirty_map);
        if (dbio_dirty_map_join(lazy->map, &keys->region, &env->targets[keys->target],
                                dbio_pattern_page(env, keys->target), err) ||
            (!lazy->map->made && make_dirt(lazy, env, keys, err)))
                return -1;
        dbio_stream_add_use(out, keys->target, false, true, &lazy->map->space);
        out->max_length = (uint32_t)c->max_pages_per_write * lazy->map->page;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_lazy_writer = {
        .name = "sqlserver.lazy_writer",
        .summary = "Lazy writer: dirty victims written as reads need their buffers",
        .rev = 2,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION | DBIO_KEYS_DIRTY | DBIO_KEYS_SKEW,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "lazy_write",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.lazy_writer, target: data, paired_with: reads, dirty: {map: pages}}",
        .write_through = true,
        .takes_dirt = true,
        .check = check,
        .compile = compile,
        .ends = dbio_never_ends,
};
