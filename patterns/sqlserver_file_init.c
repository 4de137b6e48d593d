#include "patterns/flow.h"

enum fill { ZERO, C0, RANDOM };

struct config {
        struct dbio_due_keys due;
        uint64_t grow, io;
        int fill;
};

static const char *const fills[] = {"zero", "c0", "random", NULL};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"grow", DBIO_FIELD_SIZE, AT(grow), "64M", 8192, 0, "bytes a growth",
         "Microsoft, Instant File Initialization: growth of new databases", 0, NULL, NULL},
        {"io", DBIO_FIELD_SIZE, AT(io), "8M", 8192, 64 << 20, "bytes a write", "Rahulare, SQL Server I/O sizes: 8 MB", 0, NULL,
         NULL},
        {"fill", DBIO_FIELD_ENUM, AT(fill), "zero", 0, 0,
         "what is written; devices that find zeroes or 0xC0 may do no work for them",
         "data files 0x00; log files 0xC0 from 2016 (psssql)", 0, fills, NULL},
        DBIO_DUE_FIELDS(struct config, due, "growth"),
        {0},
};

struct init {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space space;
        uint64_t cursor, left;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct init *init = (struct init *)flow;

        (void)begin_ns;
        init->left = init->config->grow;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct init *init = (struct init *)flow;

        (void)now_ns;
        if (!init->left)
                return DBIO_FLOW_END;
        if (init->cursor >= init->space.to)
                init->cursor = init->space.from;
        uint64_t length = init->left < init->config->io ? init->left : init->config->io;
        uint64_t room = dbio_space_end(&init->space, init->cursor) - init->cursor;

        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_FILE_INIT;
        op->target = init->target;
        op->flags = init->write_flags;
        op->offset = init->cursor;
        op->length = (uint32_t)(length < room ? length : room);
        init->cursor += op->length;
        init->left -= op->length;
        return DBIO_FLOW_OP;
}

static const struct dbio_flow_class class = {begin, next, NULL, NULL, NULL, NULL, NULL};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 1};
        unsigned page = dbio_pattern_page(env, keys->target);

        if (dbio_flow_new(out, sizeof(struct init), &plan, env, err))
                return -1;
        struct init *init = (struct init *)out->sources[0];
        init->config = c;
        init->target = (uint16_t)keys->target;
        init->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        init->flow.page_bytes = page;
        if (c->io % page || c->grow % page)
                return dbio_err_set(err, DBIO_USAGE, "%s: must be whole pages of %u bytes", c->io % page ? "io" : "grow",
                                    page);
        if (dbio_pattern_space(&init->space, env, keys->target, &keys->region, page, err))
                return -1;
        if (c->grow > init->space.to - init->space.from)
                return dbio_err_set(err, DBIO_USAGE, "grow: more than the region has");
        init->cursor = init->space.from;
        dbio_stream_add_use(out, keys->target, false, true, &init->space);
        out->max_length = (uint32_t)c->io;
        out->fills = c->fill != RANDOM;
        init->write_flags |= c->fill == ZERO ? DBIO_OP_ZEROES : c->fill == C0 ? DBIO_OP_C0 : 0;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_file_init = {
        .name = "sqlserver.file_init",
        .summary = "Growth of a file without instant initialisation: new space is written, one write after the other",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "file_init",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.file_init, target: log, every: 30s, fill: c0}",
        .write_through = true,
        .compile = compile,
        .ends = dbio_due_ends,
};
