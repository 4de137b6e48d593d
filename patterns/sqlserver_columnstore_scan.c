#include <stdlib.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

struct config {
        struct dbio_due_keys due;
        struct dbio_dist segment;
        uint64_t max_io, dop;
};

/* Drawn segments lie between these; judgement. */
#define SEGMENT_MIN (256.0 * 1024)
#define SEGMENT_MAX (16.0 * 1024 * 1024)

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"segment", DBIO_FIELD_DIST, AT(segment), "{lognormal: {median: 3M, sigma: 0.5}}", 8192, 1 << 30,
         "bytes of a compressed segment; drawn ones lie between 256K and 16M, in whole pages",
         "sqlskills: a segment of 1,048,576 bigints took 2.7 MiB; the spread a judgement", 0, NULL, NULL},
        {"max_io", DBIO_FIELD_SIZE, AT(max_io), "8M", 8192, 64 << 20, "most bytes in one read",
         "Rahulare, SQL Server I/O sizes: columnstore read-ahead of 8 MB", 0, NULL, NULL},
        {"dop", DBIO_FIELD_COUNT, AT(dop), "1", 1, 1024, "threads, each with one segment at a time", "judgement", 0, NULL, NULL},
        DBIO_PASS_FIELDS(struct config, due),
        {0},
};

struct thread {
        uint64_t at, end; /* what is left to read of its segment */
        unsigned reads;   /* of it, in flight */
};

struct scan {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space space;
        struct dbio_rng rng;
        struct thread *threads;
        uint64_t cursor, page;
        uint16_t target;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *scan = (struct scan *)flow;

        (void)begin_ns;
        scan->cursor = scan->space.from;
        for (unsigned i = 0; i < scan->config->dop; i++)
                scan->threads[i] = (struct thread){0};
}

/* The next segment, wholly in one file; false where the region has no room for it any more. */
static bool take_segment(struct scan *scan, struct thread *thread)
{
        double bytes = dbio_dist_draw(&scan->config->segment, &scan->rng);

        if (scan->config->segment.kind == DBIO_DIST_LOGNORMAL)
                bytes = bytes < SEGMENT_MIN ? SEGMENT_MIN : bytes > SEGMENT_MAX ? SEGMENT_MAX : bytes;
        uint64_t length = ((uint64_t)bytes + scan->page - 1) / scan->page * scan->page, at = scan->cursor;

        while (at < scan->space.to && at + length > dbio_space_end(&scan->space, at))
                at = dbio_space_end(&scan->space, at);
        scan->cursor = at < scan->space.to ? at + length : at;
        thread->at = at;
        thread->end = scan->cursor;
        return at < scan->space.to;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *scan = (struct scan *)flow;
        bool waiting = false;

        (void)now_ns;
        for (unsigned i = 0; i < scan->config->dop; i++) {
                struct thread *thread = &scan->threads[i];

                waiting |= thread->reads > 0;
                if (thread->at == thread->end && (thread->reads || scan->cursor >= scan->space.to ||
                                                  !take_segment(scan, thread)))
                        continue;
                op->kind = DBIO_READ;
                op->role = DBIO_ROLE_READ_AHEAD;
                op->target = scan->target;
                op->thread = (uint16_t)i;
                op->offset = thread->at;
                op->length = (uint32_t)(thread->end - thread->at < scan->config->max_io ? thread->end - thread->at :
                                                                                         scan->config->max_io);
                thread->at += op->length;
                thread->reads++;
                flow->episode.pages += op->length / scan->page;
                return DBIO_FLOW_OP;
        }
        return waiting ? DBIO_FLOW_WAIT : DBIO_FLOW_END;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        (void)done;
        ((struct scan *)flow)->threads[op->thread].reads--;
}

static void release(struct dbio_flow *flow)
{
        free(((struct scan *)flow)->threads);
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 0};
        unsigned page = dbio_pattern_page(env, keys->target);
        uint64_t largest = c->segment.kind == DBIO_DIST_LOGNORMAL ? (uint64_t)SEGMENT_MAX : (uint64_t)c->segment.value;

        if (c->max_io % page)
                return dbio_err_set(err, DBIO_USAGE, "max_io: no multiple of the target's page of %u", page);
        if (dbio_flow_new(out, sizeof(struct scan), &plan, env, err))
                return -1;
        struct scan *scan = (struct scan *)out->sources[0];
        scan->config = c;
        scan->page = page;
        scan->target = (uint16_t)keys->target;
        scan->threads = calloc(c->dop, sizeof *scan->threads);
        if (!scan->threads)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        dbio_rng_init(&scan->rng, dbio_pattern_seed(env, DBIO_RNG_SHAPE));
        if (dbio_pattern_space(&scan->space, env, keys->target, &keys->region, (largest + page - 1) / page * page, err))
                return -1;
        dbio_stream_add_use(out, keys->target, true, false, &scan->space);
        out->threads = (unsigned)c->dop;
        out->max_length = (uint32_t)c->max_io;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_columnstore_scan = {
        .name = "sqlserver.columnstore_scan",
        .summary = "Columnstore scan: whole segments, read in pieces of up to 8M",
        .rev = 1,
        .keys = DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.columnstore_scan, target: data, dop: 8, repeat: yes}",
        .check = dbio_due_check,
        .compile = compile,
        .ends = dbio_due_ends,
};
