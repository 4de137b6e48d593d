#include "patterns/flow.h"

struct config {
        struct dbio_due_keys due;
        uint64_t io, bytes;
        int to;
};

#define DEPTH 2 /* reads in flight; judgement: one is read while the one before is written out */

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"io", DBIO_FIELD_SIZE, AT(io), "120K", 512, 8 << 20, "bytes a read",
         "TechEd 2006, SQL Server's I/O characteristics: up to 120 KB", 0, NULL, NULL},
        {"bytes", DBIO_FIELD_SIZE, AT(bytes), NULL, 0, 0,
         "log read in a pass, which goes on where the one before ended; the whole region unless given", "judgement",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {"to", DBIO_FIELD_TARGET, AT(to), NULL, 0, 0, "target that what is read is written to (log backup)", "judgement", 0,
         NULL, NULL},
        DBIO_DUE_FIELDS(struct config, due, "pass"),
        {0},
};

struct log_read {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space space, to;
        uint64_t cursor, left, to_cursor;
        uint64_t read;    /* bytes read and not yet written out */
        unsigned pending; /* reads in flight */
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct log_read *r = (struct log_read *)flow;

        (void)begin_ns;
        r->left = r->config->bytes;
        if (r->left == DBIO_UNSET) {
                r->left = r->space.to - r->space.from;
                r->cursor = r->space.from;
        }
        r->read = 0;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct log_read *r = (struct log_read *)flow;
        uint64_t io = r->config->io;

        (void)now_ns;
        if (r->config->to >= 0 && r->read && (r->read >= io || (!r->left && !r->pending))) {
                op->kind = DBIO_WRITE;
                op->role = DBIO_ROLE_BACKUP;
                op->target = (uint16_t)r->config->to;
                op->flags = r->write_flags;
                op->length = (uint32_t)(r->read < io ? r->read : io);
                op->offset = dbio_space_fit(&r->to, r->to_cursor, op->length);
                r->to_cursor = op->offset + op->length;
                r->read -= op->length;
                return DBIO_FLOW_OP;
        }
        if (!r->left)
                return r->config->to >= 0 && r->pending ? DBIO_FLOW_WAIT : DBIO_FLOW_END;
        if (flow->outstanding >= DEPTH)
                return DBIO_FLOW_WAIT;
        if (r->cursor >= r->space.to)
                r->cursor = r->space.from;
        uint64_t room = dbio_space_end(&r->space, r->cursor) - r->cursor;

        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_LOG_READ;
        op->target = r->target;
        op->offset = r->cursor;
        op->length = (uint32_t)(r->left < io ? r->left : io);
        if (op->length > room)
                op->length = (uint32_t)room;
        r->cursor += op->length;
        r->left -= op->length;
        r->pending++;
        return DBIO_FLOW_OP;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct log_read *r = (struct log_read *)flow;

        (void)done;
        if (op->kind != DBIO_READ)
                return;
        r->pending--;
        r->read += op->length;
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, NULL};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 0};
        struct dbio_rng place;

        if (dbio_flow_new(out, sizeof(struct log_read), &plan, env, err))
                return -1;
        struct log_read *r = (struct log_read *)out->sources[0];
        r->config = c;
        r->target = (uint16_t)keys->target;
        r->flow.page_bytes = c->to >= 0 ? dbio_pattern_page(env, keys->target) : 0;
        r->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dbio_pattern_space(&r->space, env, keys->target, &keys->region, c->io, err))
                return -1;
        if (c->bytes != DBIO_UNSET && c->bytes % env->targets[keys->target].sector)
                return dbio_err_set(err, DBIO_USAGE, "bytes: no multiple of the target's sector");
        if (c->bytes != DBIO_UNSET && c->bytes > r->space.to - r->space.from)
                return dbio_err_set(err, DBIO_USAGE, "bytes: more than the region has");
        dbio_stream_add_use(out, keys->target, true, false, &r->space);
        out->max_length = (uint32_t)c->io;
        dbio_rng_init(&place, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        r->cursor = r->space.from + dbio_rng_below(&place, (r->space.to - r->space.from) / c->io) * c->io;
        if (c->to < 0)
                return 0;
        if (dbio_pattern_space(&r->to, env, c->to, NULL, c->io, err))
                return -1;
        r->to_cursor = r->to.from;
        dbio_stream_add_use(out, c->to, false, true, &r->to);
        return 0;
}

const struct dbio_pattern dbio_sqlserver_log_read = {
        .name = "sqlserver.log_read",
        .summary = "Log read by a log backup, replication or an availability group: sequential",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "log_read",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.log_read, target: log, every: 60s, bytes: 512M, to: backup}",
        .write_through = true,
        .compile = compile,
        .ends = dbio_due_ends,
};
