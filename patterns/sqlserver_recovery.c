#include "patterns/flow.h"
#include "patterns/gather.h"

struct config {
        uint64_t log_bytes, redo_threads, log_bytes_per_page, first_ns;
        int log;
};

#define LOG_IO (120u * 1024) /* as sqlserver.log_read */
#define LOG_DEPTH 2u
#define PREFETCH 32u         /* pages read ahead a redo thread; judgement, as sqlserver.lookup */
#define WRITES 64u           /* in flight; judgement */
#define CAP 32u              /* pages a write */

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"log", DBIO_FIELD_TARGET, AT(log), NULL, 0, 0, "target of the log", "judgement", DBIO_FIELD_REQUIRED, NULL, NULL},
        {"log_bytes", DBIO_FIELD_SIZE, AT(log_bytes), "256M", 65536, 0, "log since the last checkpoint: read twice, to analyse "
         "and to redo", "phases of recovery (ialonso)", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"redo_threads", DBIO_FIELD_COUNT, AT(redo_threads), "1", 1, 1024, "threads of redo",
         "dba.stackexchange 22025: one for 4 cores in Enterprise", 0, NULL, NULL},
        {"log_bytes_per_page", DBIO_FIELD_SIZE, AT(log_bytes_per_page), "4K", 1, 1 << 30,
         "log for each page that it names; a page that is in memory is not read again", "judgement", 0, NULL, NULL},
        {"first", DBIO_FIELD_TIME, AT(first_ns), "0s", 0, 0, "when it begins", "judgement", 0, NULL, NULL},
        {0},
};

struct recovery {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space log;
        struct dbio_dirty_map map; /* pages redone: in memory, and to be written */
        struct dbio_sweep sweep;
        struct dbio_rng rng;
        uint64_t start, asked, read; /* of the log: where it begins; bytes asked for and read in this stage */
        uint64_t redone;             /* pages named by the log so far */
        unsigned log_reads, page_reads;
        enum { ANALYSIS, REDO, WRITE_OUT } stage;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct recovery *r = (struct recovery *)flow;

        (void)begin_ns;
        r->stage = ANALYSIS;
        r->asked = r->read = r->redone = 0;
}

static bool read_log(struct recovery *r, struct dbio_op *op)
{
        uint64_t size = r->log.to - r->log.from, left = r->config->log_bytes - r->asked;

        if (!left || r->log_reads >= LOG_DEPTH)
                return false;
        uint64_t at = r->log.from + (r->start + r->asked) % size, room = dbio_space_end(&r->log, at) - at;

        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_LOG_READ;
        op->target = (uint16_t)r->config->log;
        op->offset = at;
        op->length = left < LOG_IO ? (uint32_t)left : LOG_IO;
        if (op->length > room)
                op->length = (uint32_t)room;
        r->asked += op->length;
        r->log_reads++;
        return true;
}

/* Reads the next page that the log names and that is not in memory yet. */
static bool read_page(struct recovery *r, struct dbio_op *op)
{
        while (r->redone < r->read / r->config->log_bytes_per_page &&
               r->page_reads < PREFETCH * r->config->redo_threads) {
                uint64_t page = dbio_rng_below(&r->rng, r->map.npages);

                r->redone++;
                if (!dbio_dirty_map_set_old(&r->map, page))
                        continue;
                op->kind = DBIO_READ;
                op->role = DBIO_ROLE_RECOVERY;
                op->target = r->target;
                op->thread = (uint16_t)(r->redone % r->config->redo_threads);
                op->offset = dbio_dirty_map_offset(&r->map, page);
                op->length = r->map.page;
                r->page_reads++;
                return true;
        }
        return false;
}

static enum dbio_flow_step write_out(struct recovery *r, struct dbio_op *op)
{
        uint64_t page;
        int more;

        if (r->flow.outstanding >= WRITES)
                return DBIO_FLOW_WAIT;
        more = dbio_sweep_next(&r->sweep, 65536, &page);
        if (more < 0)
                dbio_flow_nudge(&r->flow, 0);
        if (more <= 0)
                return more ? DBIO_FLOW_WAIT : DBIO_FLOW_END;
        struct dbio_gather run = dbio_gather_take(&r->map, page, CAP);

        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_RECOVERY;
        op->target = r->target;
        op->flags = r->write_flags;
        op->offset = dbio_dirty_map_offset(&r->map, run.page);
        op->length = run.pages * r->map.page;
        return DBIO_FLOW_OP;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct recovery *r = (struct recovery *)flow;
        const struct config *c = r->config;

        (void)now_ns;
        if (r->stage == ANALYSIS) {
                if (read_log(r, op))
                        return DBIO_FLOW_OP;
                if (r->read < c->log_bytes)
                        return DBIO_FLOW_WAIT;
                r->stage = REDO;
                r->asked = r->read = 0;
        }
        if (r->stage == REDO) {
                if (read_page(r, op) || read_log(r, op))
                        return DBIO_FLOW_OP;
                if (r->read < c->log_bytes || r->page_reads || r->redone < r->read / c->log_bytes_per_page)
                        return DBIO_FLOW_WAIT;
                r->stage = WRITE_OUT;
                dbio_sweep_begin(&r->sweep, &r->map, false, 0);
        }
        return write_out(r, op);
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct recovery *r = (struct recovery *)flow;

        (void)done;
        if (op->role == DBIO_ROLE_LOG_READ) {
                r->log_reads--;
                r->read += op->length;
        } else if (op->kind == DBIO_READ) {
                r->page_reads--;
        }
}

static void release(struct dbio_flow *flow)
{
        dbio_dirty_map_release(&((struct recovery *)flow)->map);
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, {c->first_ns, DBIO_UNSET, false}, 0};
        struct dbio_rng place;

        if (dbio_flow_new(out, sizeof(struct recovery), &plan, env, err))
                return -1;
        struct recovery *r = (struct recovery *)out->sources[0];
        r->config = c;
        r->target = (uint16_t)keys->target;
        r->flow.page_bytes = dbio_pattern_page(env, keys->target);
        r->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        dbio_rng_init(&r->rng, dbio_pattern_seed(env, 0));
        dbio_rng_init(&place, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        if (dbio_dirty_map_join(&r->map, &keys->region, &env->targets[keys->target], dbio_pattern_page(env, keys->target),
                                err) ||
            dbio_pattern_space(&r->log, env, c->log, NULL, LOG_IO, err))
                return -1;
        uint64_t size = r->log.to - r->log.from, sector = env->targets[c->log].sector;

        if (c->log_bytes > size || c->log_bytes % sector)
                return dbio_err_set(err, DBIO_USAGE, "log_bytes: at most the log target's size, in whole sectors");
        r->start = dbio_rng_below(&place, size / LOG_IO) * LOG_IO;
        dbio_stream_add_use(out, keys->target, true, true, &r->map.space);
        dbio_stream_add_use(out, c->log, true, false, &r->log);
        out->threads = (unsigned)c->redo_threads;
        out->max_length = CAP * r->map.page > LOG_IO ? CAP * r->map.page : LOG_IO;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_recovery = {
        .name = "sqlserver.recovery",
        .summary = "Crash recovery: the log read, pages read at random and redone, then written",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "recovery",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.recovery, target: data, log: log, log_bytes: 64M, redo_threads: 2}",
        .write_through = true,
        .compile = compile,
};
