#include <math.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

struct config {
        struct dbio_due_keys due;
        uint64_t depth, io;
        double snapshot_writes;
        int to;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"depth", DBIO_FIELD_COUNT, AT(depth), "256", 1, 4096, "reads in flight",
         "designed to saturate, queues of hundreds are normal (Randal); the number a judgement", 0, NULL, NULL},
        {"io", DBIO_FIELD_SIZE, AT(io), "64K", 8192, 8 << 20, "bytes a read", "judgement; sizes are not published", 0, NULL,
         NULL},
        {"snapshot_writes", DBIO_FIELD_RATE, AT(snapshot_writes), "0/s", 0, 0,
         "pages a second that users change for the first time meanwhile: each is copied to the snapshot",
         "Microsoft, Database Snapshots: copy on first write", 0, NULL, NULL},
        {"to", DBIO_FIELD_TARGET, AT(to), NULL, 0, 0, "target of the snapshot", "judgement", 0, NULL, NULL},
        DBIO_PASS_FIELDS(struct config, due),
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (c->snapshot_writes > 0 && c->to < 0)
                return dbio_key_error(err, "to", "snapshot_writes need the target of the snapshot");
        return dbio_due_check(keys, config, err);
}

struct checkdb {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space space;
        struct dbio_slots snapshot;
        struct dbio_rng rng;
        uint64_t cursor;
        double copy_ns; /* next copy, INFINITY without any */
        unsigned reads, page;
        uint16_t target;
        uint8_t write_flags;
};

static void next_copy(struct checkdb *c, double from_ns)
{
        c->copy_ns = INFINITY;
        if (c->config->snapshot_writes > 0)
                c->copy_ns = from_ns + dbio_dist_exponential(&c->rng, 1e9 / c->config->snapshot_writes);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct checkdb *c = (struct checkdb *)flow;

        c->cursor = c->space.from;
        next_copy(c, (double)begin_ns);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct checkdb *c = (struct checkdb *)flow;

        if (c->cursor >= c->space.to)
                return DBIO_FLOW_END;
        if (c->copy_ns <= (double)now_ns) {
                op->kind = DBIO_WRITE;
                op->role = DBIO_ROLE_SNAPSHOT;
                op->target = (uint16_t)c->config->to;
                op->flags = c->write_flags;
                op->due_ns = (uint64_t)c->copy_ns;
                op->offset = dbio_slots_offset(&c->snapshot, dbio_rng_below(&c->rng, c->snapshot.n));
                op->length = c->page;
                next_copy(c, c->copy_ns);
                return DBIO_FLOW_OP;
        }
        if (c->reads >= c->config->depth)
                return DBIO_FLOW_WAIT;
        uint64_t room = dbio_space_end(&c->space, c->cursor) - c->cursor;

        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_READ_AHEAD;
        op->target = c->target;
        op->offset = c->cursor;
        op->length = (uint32_t)(room < c->config->io ? room : c->config->io);
        c->cursor += op->length;
        c->reads++;
        flow->episode.pages += op->length / c->page;
        return DBIO_FLOW_OP;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        (void)done;
        ((struct checkdb *)flow)->reads -= op->kind == DBIO_READ;
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct checkdb *c = (struct checkdb *)flow;

        return flow->running && isfinite(c->copy_ns) ? (uint64_t)ceil(c->copy_ns) : UINT64_MAX;
}

static const struct dbio_flow_class class = {begin, next, done, NULL, wake, NULL, NULL};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 0};
        struct dbio_space snapshot;

        if (dbio_flow_new(out, sizeof(struct checkdb), &plan, env, err))
                return -1;
        struct checkdb *d = (struct checkdb *)out->sources[0];
        d->config = c;
        d->target = (uint16_t)keys->target;
        d->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        d->page = dbio_pattern_page(env, keys->target);
        dbio_rng_init(&d->rng, dbio_pattern_seed(env, 0));
        if (dbio_pattern_space(&d->space, env, keys->target, &keys->region, c->io, err))
                return -1;
        dbio_stream_add_use(out, keys->target, true, false, &d->space);
        out->max_length = (uint32_t)c->io;
        if (c->snapshot_writes <= 0)
                return 0;
        if (dbio_pattern_space(&snapshot, env, c->to, NULL, d->page, err))
                return -1;
        dbio_slots_init(&d->snapshot, &snapshot, d->page);
        dbio_stream_add_use(out, c->to, false, true, &snapshot);
        return 0;
}

const struct dbio_pattern dbio_sqlserver_checkdb = {
        .name = "sqlserver.checkdb",
        .summary = "DBCC CHECKDB: everything read in order of allocation, as fast as it goes, from a snapshot",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.checkdb, target: data, snapshot_writes: 200/s, to: tempdb}",
        .write_through = true,
        .check = check,
        .compile = compile,
        .ends = dbio_due_ends,
};
