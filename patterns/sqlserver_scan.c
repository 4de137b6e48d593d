#include <math.h>
#include <stdlib.h>

#include "patterns/dirtymap.h"
#include "patterns/flow.h"

enum mode { IAM, KEY };

struct config {
        struct dbio_due_keys due;
        int mode;
        uint64_t max_pages, window_pages, pages, dop;
        double consume_rate, logical_fragmentation, extent_fragmentation, cached;
};

static const char *const modes[] = {"iam", "key", NULL};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"mode", DBIO_FIELD_ENUM, AT(mode), "iam", 0, 0,
         "iam: in order of place in the file; key: in order of the index, only neighbours in one read",
         "Microsoft, Reading Pages", 0, modes, NULL},
        {"max_pages", DBIO_FIELD_COUNT, AT(max_pages), "64", 1, 2048, "most pages in one read",
         "Microsoft, Reading Pages: 64 contiguous pages", 0, NULL, NULL},
        {"window_pages", DBIO_FIELD_COUNT, AT(window_pages), "500", 1, 65536,
         "pages that a thread reads ahead of its consumer", "Freedman, Sequential Read Ahead: about 500 pages", 0, NULL, NULL},
        {"consume_rate", DBIO_FIELD_BYTE_RATE, AT(consume_rate), NULL, 0, 0,
         "bytes a second that the whole query takes in; none: as fast as they come", "judgement",
         DBIO_FIELD_POSITIVE | DBIO_FIELD_NONE, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12,
         "length of a pass, from a place drawn anew for each; the whole region unless given", "judgement", 0, NULL, NULL},
        DBIO_PASS_FIELDS(struct config, due),
        {"logical_fragmentation", DBIO_FIELD_SHARE, AT(logical_fragmentation), "0%", 0, 1,
         "key: share of pages whose successor lies elsewhere (avg_fragmentation_in_percent)",
         "model: geometric runs, mean 1/f pages", 0, NULL, NULL},
        {"extent_fragmentation", DBIO_FIELD_SHARE, AT(extent_fragmentation), "0%", 0, 1,
         "share of extents that are not followed by the next one of the table (Extent Scan Fragmentation)",
         "model: with iam one extent of another table lies between", 0, NULL, NULL},
        {"cached", DBIO_FIELD_SHARE, AT(cached), "0%", 0, 1,
         "share of pages in memory already: they are cut off a read's ends, those inside are read again",
         "Microsoft, Reading Pages", 0, NULL, NULL},
        {"dop", DBIO_FIELD_COUNT, AT(dop), "1", 1, 1024, "threads, which take the next pages in turn",
         "Microsoft, Reading Pages: parallel scans", 0, NULL, NULL},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (c->mode != KEY && c->logical_fragmentation > 0)
                return dbio_key_error(err, "logical_fragmentation", "logical_fragmentation belongs to mode key");
        return dbio_due_check(keys, config, err);
}

/* Where the next pages are. A pass is cut into parts; a break in the key order goes on in another of them, as after
 * page splits, when half of the keys lie somewhere else. */
#define PARTS 16u

struct walk {
        struct dbio_space space;
        struct dbio_rng rng;
        uint64_t page, extent; /* bytes */
        unsigned nparts, part;
        struct {
                uint64_t at, left; /* byte, pages */
        } parts[PARTS];
        uint64_t run_left; /* key: pages until the next break */
};

struct chunk {
        uint64_t offset; /* of its first page that is read */
        unsigned pages;  /* that the consumer gets */
        unsigned read;   /* of them read, 0 = all cached */
};

struct entry {
        uint32_t pages;
        bool arrived;
};

struct thread {
        struct entry *ring; /* reads in order, those the consumer has not got yet */
        unsigned head, count;
        uint64_t issued, ready; /* pages: asked for; there without a gap */
        double consumed;
        uint64_t last_ns;
};

struct scan {
        struct dbio_flow flow;
        const struct config *config;
        struct walk walk;
        struct dbio_rng place;
        struct thread *threads;
        unsigned turn, capacity;
        struct chunk held; /* found, not given yet; pages 0 = none */
        double pages_per_ns; /* of one consumer; 0 = as they come */
        uint16_t target;
};

static void walk_begin(struct scan *scan)
{
        struct walk *walk = &scan->walk;
        uint64_t pages = scan->config->pages, at = walk->space.from, size = walk->space.to - walk->space.from;
        uint64_t largest = scan->config->max_pages * walk->page;

        if (pages == DBIO_UNSET)
                pages = size / walk->page;
        else if (size > largest)
                at += dbio_rng_below(&scan->place, size / largest) * largest;
        walk->nparts = scan->config->mode == KEY && (scan->config->logical_fragmentation > 0 ||
                                                     scan->config->extent_fragmentation > 0) ? PARTS : 1;
        for (unsigned i = 0; i < walk->nparts; i++) {
                uint64_t from = pages * i / walk->nparts, to = pages * (i + 1) / walk->nparts;

                walk->parts[i].at = walk->space.from + (at - walk->space.from + from * walk->page) % size;
                walk->parts[i].left = to - from;
        }
        walk->part = 0;
        walk->run_left = 0;
}

static uint64_t run_length(struct walk *walk, double fragmentation)
{
        if (fragmentation <= 0)
                return UINT64_MAX;
        if (fragmentation >= 1)
                return 1;
        double length = 1 + floor(log(1 - dbio_rng_unit(&walk->rng)) / log1p(-fragmentation));
        return length < 1e15 ? (uint64_t)length : (uint64_t)1e15;
}

/* Goes on in another part that has pages left; false where none has. */
static bool another_part(struct walk *walk)
{
        unsigned left[PARTS], n = 0;

        for (unsigned i = 0; i < walk->nparts; i++)
                if (walk->parts[i].left && i != walk->part)
                        left[n++] = i;
        if (n)
                walk->part = left[n > 1 ? dbio_rng_below(&walk->rng, n) : 0];
        return walk->parts[walk->part].left > 0;
}

/* Pages from at up to the first extent's end that is a break, at most n. */
static uint64_t to_extent_break(struct walk *walk, uint64_t at, uint64_t n, double fragmentation, bool *broken)
{
        uint64_t end = at + n * walk->page;

        *broken = false;
        if (fragmentation <= 0)
                return n;
        for (uint64_t edge = (at / walk->extent + 1) * walk->extent; edge <= end; edge += walk->extent)
                if (dbio_rng_unit(&walk->rng) < fragmentation) {
                        *broken = true;
                        return (edge - at) / walk->page;
                }
        return n;
}

static bool walk_next(struct scan *scan, struct chunk *chunk)
{
        struct walk *walk = &scan->walk;
        const struct config *config = scan->config;
        bool broken;

        if (config->mode == KEY && !walk->run_left) {
                if (walk->nparts > 1 && !another_part(walk))
                        return false;
                walk->run_left = run_length(walk, config->logical_fragmentation);
        }
        if (!walk->parts[walk->part].left && !another_part(walk))
                return false;
        uint64_t at = walk->parts[walk->part].at, left = walk->parts[walk->part].left;
        uint64_t n = (dbio_space_end(&walk->space, at) - at) / walk->page;

        n = n < config->max_pages ? n : config->max_pages;
        n = n < config->window_pages ? n : config->window_pages;
        n = n < left ? n : left;
        if (config->mode == KEY && n > walk->run_left)
                n = walk->run_left;
        n = to_extent_break(walk, at, n, config->extent_fragmentation, &broken);
        *chunk = (struct chunk){.offset = at, .pages = (unsigned)n, .read = (unsigned)n};
        at += n * walk->page;
        left -= n;
        if (config->mode == KEY) {
                walk->run_left = broken ? 0 : walk->run_left - n;
        } else if (broken) {
                uint64_t gap = walk->extent / walk->page;

                if (config->pages == DBIO_UNSET) /* the other table's extent lies in the region too */
                        left -= gap < left ? gap : left;
                at += walk->extent;
        }
        if (at >= walk->space.to)
                at = walk->space.from + (at - walk->space.to);
        walk->parts[walk->part].at = at;
        walk->parts[walk->part].left = left;
        if (!left)
                walk->run_left = 0;
        return true;
}

static void cut_cached(struct scan *scan, struct chunk *chunk)
{
        struct dbio_rng *rng = &scan->walk.rng;
        double cached = scan->config->cached;

        if (cached <= 0)
                return;
        while (chunk->read && dbio_rng_unit(rng) < cached) {
                chunk->offset += scan->walk.page;
                chunk->read--;
        }
        while (chunk->read > 1 && dbio_rng_unit(rng) < cached)
                chunk->read--;
}

static void consume(struct scan *scan, struct thread *thread, uint64_t now_ns)
{
        double ready = (double)thread->ready;

        if (scan->pages_per_ns <= 0) {
                thread->consumed = ready;
        } else if (now_ns > thread->last_ns) {
                thread->consumed += (double)(now_ns - thread->last_ns) * scan->pages_per_ns;
                if (thread->consumed > ready)
                        thread->consumed = ready;
        }
        if (now_ns > thread->last_ns)
                thread->last_ns = now_ns;
}

/* Pages that have to be consumed before the held chunk fits into the thread's window. */
static double missing(const struct scan *scan, const struct thread *thread)
{
        double missing = (double)thread->issued - thread->consumed + scan->held.pages - (double)scan->config->window_pages;

        return missing > 1e-6 ? missing : 0;
}

static void arrive(struct thread *thread, unsigned place, unsigned capacity)
{
        thread->ring[place].arrived = true;
        while (thread->count && thread->ring[thread->head].arrived) {
                thread->ready += thread->ring[thread->head].pages;
                thread->head = (thread->head + 1) % capacity;
                thread->count--;
        }
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *scan = (struct scan *)flow;

        walk_begin(scan);
        scan->held.pages = 0;
        for (unsigned i = 0; i < scan->config->dop; i++) {
                struct thread *thread = &scan->threads[i];

                *thread = (struct thread){.ring = thread->ring, .last_ns = begin_ns};
        }
}

static void window_gauge(struct scan *scan, uint64_t now_ns)
{
        double ahead = 0;

        for (unsigned i = 0; i < scan->config->dop; i++)
                ahead += (double)scan->threads[i].issued - scan->threads[i].consumed;
        dbio_report_gauge(scan->flow.base.report, "window_pages", now_ns, ahead);
}

/* Gives the held chunk to a thread with room for it. */
static bool give(struct scan *scan, uint64_t now_ns, struct dbio_op *op)
{
        for (unsigned i = 0; i < scan->config->dop; i++) {
                unsigned t = (scan->turn + i) % (unsigned)scan->config->dop;
                struct thread *thread = &scan->threads[t];

                consume(scan, thread, now_ns);
                if (missing(scan, thread) > 0 || thread->count == scan->capacity)
                        continue;
                unsigned place = (thread->head + thread->count++) % scan->capacity;

                thread->ring[place] = (struct entry){scan->held.pages, false};
                thread->issued += scan->held.pages;
                scan->flow.episode.pages += scan->held.pages;
                scan->turn = t + 1;
                if (scan->held.read) {
                        op->kind = DBIO_READ;
                        op->role = DBIO_ROLE_READ_AHEAD;
                        op->target = scan->target;
                        op->thread = (uint16_t)t;
                        op->offset = scan->held.offset;
                        op->length = (uint32_t)(scan->held.read * scan->walk.page);
                        op->cookie = place;
                } else {
                        arrive(thread, place, scan->capacity);
                }
                return true;
        }
        return false;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *scan = (struct scan *)flow;

        for (;;) {
                if (!scan->held.pages) {
                        if (!walk_next(scan, &scan->held))
                                return DBIO_FLOW_END;
                        cut_cached(scan, &scan->held);
                }
                bool read = scan->held.read > 0;

                if (!give(scan, now_ns, op)) {
                        window_gauge(scan, now_ns);
                        return DBIO_FLOW_WAIT;
                }
                scan->held.pages = 0;
                if (read)
                        return DBIO_FLOW_OP;
        }
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct scan *scan = (struct scan *)flow;
        struct thread *thread = &scan->threads[op->thread];

        consume(scan, thread, done->completed_ns);
        arrive(thread, (unsigned)op->cookie, scan->capacity);
}

/* When the first consumer has made room, where that takes no completion. */
static uint64_t wake(struct dbio_flow *flow)
{
        struct scan *scan = (struct scan *)flow;
        uint64_t at = UINT64_MAX;

        if (!flow->running || !scan->held.pages || scan->pages_per_ns <= 0)
                return UINT64_MAX;
        for (unsigned i = 0; i < scan->config->dop; i++) {
                struct thread *thread = &scan->threads[i];
                double need = missing(scan, thread);
                uint64_t room = thread->last_ns + (uint64_t)ceil(need / scan->pages_per_ns);

                if (thread->consumed + need <= (double)thread->ready + 1e-6 && room < at)
                        at = room;
        }
        return at;
}

/* What next gives once a consumer has made room was called for at that time. */
static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        uint64_t at = wake(flow);

        if (at <= now_ns && at > flow->called_ns)
                flow->called_ns = at;
}

static void release(struct dbio_flow *flow)
{
        struct scan *scan = (struct scan *)flow;

        for (unsigned i = 0; scan->threads && i < scan->config->dop; i++)
                free(scan->threads[i].ring);
        free(scan->threads);
}

static const struct dbio_flow_class class = {begin, next, done, tick, wake, NULL, release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 0};
        unsigned page = dbio_pattern_page(env, keys->target);

        if (dbio_flow_new(out, sizeof(struct scan), &plan, env, err))
                return -1;
        struct scan *scan = (struct scan *)out->sources[0];
        scan->config = c;
        scan->target = (uint16_t)keys->target;
        scan->capacity = (unsigned)c->window_pages + 1;
        scan->walk.page = page;
        scan->walk.extent = page < DBIO_EXTENT_BYTES ? DBIO_EXTENT_BYTES : page;
        dbio_rng_init(&scan->walk.rng, dbio_pattern_seed(env, DBIO_RNG_SHAPE));
        dbio_rng_init(&scan->place, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        scan->threads = calloc(c->dop, sizeof *scan->threads);
        for (unsigned i = 0; scan->threads && i < c->dop; i++) {
                scan->threads[i].ring = calloc(scan->capacity, sizeof(struct entry));
                if (!scan->threads[i].ring)
                        return dbio_err_set(err, DBIO_BUG, "no memory");
        }
        if (!scan->threads)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        if (dbio_pattern_space(&scan->walk.space, env, keys->target, &keys->region, page, err))
                return -1;
        uint64_t pages = (scan->walk.space.to - scan->walk.space.from) / page;
        if (c->pages != DBIO_UNSET && c->pages > pages)
                return dbio_err_set(err, DBIO_USAGE, "pages: %llu are more than the region's %llu",
                                    (unsigned long long)c->pages, (unsigned long long)pages);
        if (dbio_is_set(c->consume_rate))
                scan->pages_per_ns = c->consume_rate / page / 1e9 / (double)c->dop;
        dbio_stream_add_use(out, keys->target, true, false, &scan->walk.space);
        out->threads = (unsigned)c->dop;
        out->max_length = (uint32_t)c->max_pages * page;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_scan = {
        .name = "sqlserver.scan",
        .summary = "Table and index scans: read-ahead of up to 512K, held ahead of the query",
        .rev = 1,
        .keys = DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.scan, target: data, dop: 8, repeat: yes}",
        .check = check,
        .compile = compile,
        .ends = dbio_due_ends,
};
