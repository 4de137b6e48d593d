#include "patterns/flow.h"
#include "patterns/sortarea.h"

struct config {
        uint64_t pages, run, dop, max_pages_per_write, first_ns;
        int sort, log;
};

#define READ_PAGES 64u            /* Microsoft, Reading Pages */
#define SORT_IO 65536u            /* as sqlserver.spill */
#define DEPTH 8u                  /* ios in flight a thread: 500 pages ahead are about 8 reads of 64 */
#define LOG_BYTES_PER_EXTENT 256u /* as sqlserver.bulk_load */
#define LOG_BLOCK (60u * 1024)

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12,
         "pages scanned from the region's first half, and written to its second; as many as fit unless given", "judgement", 0,
         NULL, NULL},
        {"sort", DBIO_FIELD_TARGET, AT(sort), NULL, 0, 0, "target of the sort runs; sorted in memory unless given",
         "Microsoft, SORT_IN_TEMPDB", 0, NULL, NULL},
        {"run", DBIO_FIELD_SIZE, AT(run), "500M", 65536, 0, "bytes of a sort run: the memory grant",
         "Darling: 4,000 MB with a grant of 500 MB are 8 runs", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"dop", DBIO_FIELD_COUNT, AT(dop), "1", 1, 1024, "threads", "judgement", 0, NULL, NULL},
        {"log", DBIO_FIELD_TARGET, AT(log), NULL, 0, 0, "target of the log: allocations only (minimal logging)", "judgement", 0,
         NULL, NULL},
        {"max_pages_per_write", DBIO_FIELD_COUNT, AT(max_pages_per_write), "128", 1, 2048,
         "pages an eager write; 16 in 2000, 32 from 2005, 128 from 2016",
         "Microsoft, Writing Pages; SQL 2016 It Just Runs Faster: Larger Data File Writes", 0, NULL, NULL},
        {"first", DBIO_FIELD_TIME, AT(first_ns), "0s", 0, 0, "when it begins", "judgement", 0, NULL, NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {2000, "max_pages_per_write", "16"},
        {2005, "max_pages_per_write", "32"},
        {2016, "max_pages_per_write", "128"},
        {0},
};

struct build {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_log_out log;
        struct dbio_space in;
        struct dbio_stripe out;
        struct dbio_sort_area sort;
        uint64_t pages, page;
        uint64_t cursor, asked, scanned; /* pages asked for, and there */
        uint64_t sorted, merged;         /* ios of sort runs on the device; read back */
        uint64_t written;                /* pages given to eager writes */
        uint64_t log_bytes;
        uint64_t turn;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct build *b = (struct build *)flow;
        uint64_t ios = (b->pages * b->page + SORT_IO - 1) / SORT_IO;

        (void)begin_ns;
        b->cursor = b->in.from;
        b->asked = b->scanned = b->sorted = b->merged = b->written = b->log_bytes = 0;
        if (b->config->sort >= 0)
                dbio_sort_area_init(&b->sort, &b->sort.stripe, 0, ios, (b->config->run + SORT_IO - 1) / SORT_IO);
}

static void give(struct build *b, struct dbio_op *op, uint8_t kind, uint8_t role, int target)
{
        op->kind = kind;
        op->role = role;
        op->target = (uint16_t)target;
        op->thread = (uint16_t)(b->turn++ % b->config->dop);
        op->flags = kind == DBIO_WRITE ? b->write_flags : 0;
}

static void scan(struct build *b, struct dbio_op *op)
{
        uint64_t n = (dbio_space_end(&b->in, b->cursor) - b->cursor) / b->page;

        n = n < READ_PAGES ? n : READ_PAGES;
        n = n < b->pages - b->asked ? n : b->pages - b->asked;
        give(b, op, DBIO_READ, DBIO_ROLE_READ_AHEAD, b->target);
        op->offset = b->cursor;
        op->length = (uint32_t)(n * b->page);
        b->cursor += op->length;
        b->asked += n;
}

/* Sort runs that are complete in memory, as ios. */
static uint64_t run_ready(const struct build *b)
{
        if (b->scanned == b->pages)
                return b->sort.ios;
        return b->scanned * b->page / b->config->run * b->sort.run;
}

/* Pages of the new index whose keys are known. */
static uint64_t index_ready(const struct build *b)
{
        if (b->config->sort < 0)
                return b->scanned == b->pages ? b->pages : 0;
        return b->merged == b->sort.ios ? b->pages : b->merged * SORT_IO / b->page;
}

static bool write_index(struct build *b, struct dbio_op *op)
{
        uint64_t cap = b->config->max_pages_per_write, left = b->pages - b->written, n = left < cap ? left : cap;

        if (!n || index_ready(b) < b->written + n)
                return false;
        give(b, op, DBIO_WRITE, DBIO_ROLE_EAGER_WRITE, b->target);
        op->offset = dbio_stripe_offset(&b->out, b->written / cap);
        op->length = (uint32_t)(n * b->page);
        b->written += n;
        b->log_bytes += (op->length + 65535) / 65536 * LOG_BYTES_PER_EXTENT;
        return true;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct build *b = (struct build *)flow;
        bool sorts = b->config->sort >= 0, last = b->written == b->pages;

        if (b->log.used && (b->log_bytes >= LOG_BLOCK || (last && b->log_bytes))) {
                uint32_t bytes = b->log_bytes < LOG_BLOCK ? (uint32_t)b->log_bytes : LOG_BLOCK;

                b->log_bytes -= bytes;
                if (dbio_log_out_put(&b->log, now_ns, bytes, op))
                        return DBIO_FLOW_OP;
        }
        if (last)
                return b->log.waiting ? DBIO_FLOW_WAIT : DBIO_FLOW_END;
        if (flow->outstanding >= DEPTH * b->config->dop)
                return DBIO_FLOW_WAIT;
        if (write_index(b, op))
                return DBIO_FLOW_OP;
        if (sorts && b->sort.written < b->sort.ios && b->sort.written < run_ready(b)) {
                give(b, op, DBIO_WRITE, DBIO_ROLE_SORT, b->config->sort);
                op->offset = dbio_sort_area_write(&b->sort);
                op->length = SORT_IO;
                return DBIO_FLOW_OP;
        }
        if (b->asked < b->pages) {
                scan(b, op);
                return DBIO_FLOW_OP;
        }
        if (sorts && b->sorted == b->sort.ios && b->sort.read < b->sort.ios) {
                give(b, op, DBIO_READ, DBIO_ROLE_SORT, b->config->sort);
                op->offset = dbio_sort_area_read(&b->sort);
                op->length = SORT_IO;
                return DBIO_FLOW_OP;
        }
        return DBIO_FLOW_WAIT;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct build *b = (struct build *)flow;

        (void)done;
        if (dbio_log_out_done(&b->log, op))
                return;
        if (op->role == DBIO_ROLE_READ_AHEAD)
                b->scanned += op->length / b->page;
        else if (op->role == DBIO_ROLE_SORT && op->kind == DBIO_WRITE)
                b->sorted++;
        else if (op->role == DBIO_ROLE_SORT)
                b->merged++;
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, NULL};

static int set_places(struct build *b, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                      struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = b->config;
        struct dbio_space space, half, sort;
        uint64_t write = c->max_pages_per_write * b->page;

        if (dbio_pattern_space(&space, env, keys->target, &keys->region, write, err))
                return -1;
        dbio_stream_add_use(out, keys->target, true, true, &space);
        b->in = half = space;
        b->in.to = half.from = space.from + (space.to - space.from) / 2 / b->page * b->page;
        dbio_stripe_init(&b->out, &half, write);
        uint64_t most = (b->in.to - b->in.from) / b->page, holds = b->out.n * c->max_pages_per_write;

        most = most < holds ? most : holds;
        b->pages = c->pages == DBIO_UNSET ? most : c->pages;
        if (!most || b->pages > most)
                return dbio_err_set(err, DBIO_USAGE, "pages: half of the region holds %llu", (unsigned long long)most);
        if (c->sort < 0)
                return 0;
        if (dbio_pattern_space(&sort, env, c->sort, NULL, SORT_IO, err))
                return -1;
        dbio_stream_add_use(out, c->sort, true, true, &sort);
        dbio_stripe_init(&b->sort.stripe, &sort, SORT_IO);
        if ((b->pages * b->page + SORT_IO - 1) / SORT_IO > b->sort.stripe.n)
                return dbio_err_set(err, DBIO_USAGE, "sort: the runs do not fit into the target");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, {c->first_ns, DBIO_UNSET, false}, 0};

        if (dbio_flow_new(out, sizeof(struct build), &plan, env, err))
                return -1;
        struct build *b = (struct build *)out->sources[0];
        b->config = c;
        b->page = b->flow.page_bytes = dbio_pattern_page(env, keys->target);
        b->target = (uint16_t)keys->target;
        b->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (set_places(b, env, keys, out, err))
                return -1;
        uint64_t largest = c->max_pages_per_write > READ_PAGES ? c->max_pages_per_write : READ_PAGES;

        out->threads = (unsigned)c->dop;
        out->max_length = (uint32_t)(largest * b->page > SORT_IO ? largest * b->page : SORT_IO);
        return dbio_log_out_init(&b->log, &b->flow, env, out, c->log, 64, LOG_BLOCK, err);
}

const struct dbio_pattern dbio_sqlserver_index_build = {
        .name = "sqlserver.index_build",
        .summary = "CREATE INDEX: scan, sort runs out and merged, the index written eagerly",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "eager_write",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.index_build, target: data, pages: 50_000, sort: tempdb, run: 100M, dop: 4, log: log}",
        .write_through = true,
        .compile = compile,
};
