/* InnoDB after a crash: the redo log is scanned in 64K reads; what it has changes for is read in windows of 32 pages.
 */
#include <math.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

#define SCAN_PAGES 4u   /* RECV_SCAN_SIZE */
#define WINDOW     32u  /* RECV_READ_AHEAD_AREA */
#define IN_FLIGHT  256u /* slots of one read thread */

struct config {
        uint64_t page, log_bytes, pages;
        int log;
        double density;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"page", DBIO_FIELD_SIZE, AT(page), "16K", 4096, 65536, "bytes of a page", "innodb_page_size",
         DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"log", DBIO_FIELD_TARGET, AT(log), NULL, 0, 0, "target that the redo log is read from", "log0recv.cc",
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"log_bytes", DBIO_FIELD_SIZE, AT(log_bytes), "64M", 65536, 0x1p40, "bytes of redo since the last checkpoint",
         "judgement; innodb_redo_log_capacity at most", 0, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12,
         "pages that have redo; one for each 2K of log_bytes unless given, but no more than the region holds",
         "judgement", 0, NULL, NULL},
        {"density", DBIO_FIELD_SHARE, AT(density), "25%", 0.01, 1, "share of a window's 32 pages that have redo",
         "judgement", DBIO_FIELD_POSITIVE, NULL, NULL},
        {0},
};

struct recovery {
        struct dbio_flow flow;
        struct dbio_space space, log_space;
        struct dbio_rng rng;
        struct dbio_scatter order; /* of the windows: each comes once */
        uint64_t page, windows, turn, log_at, log_left, pages_left, window;
        uint32_t bits;
        double density;
        uint16_t target, log;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        (void)flow;
        (void)begin_ns;
}

static enum dbio_flow_step next_log(struct recovery *self, struct dbio_op *op)
{
        uint64_t length = SCAN_PAGES * self->page;

        if (self->flow.outstanding)
                return DBIO_FLOW_WAIT;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_LOG_READ;
        op->target = self->log;
        op->offset = self->log_at = dbio_space_fit(&self->log_space, self->log_at, length);
        op->length = (uint32_t)length;
        self->log_at += length;
        self->log_left -= length < self->log_left ? length : self->log_left;
        return DBIO_FLOW_OP;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct recovery *self = (struct recovery *)flow;

        (void)now_ns;
        if (self->log_left)
                return next_log(self, op);
        if (!self->pages_left && !self->bits)
                return DBIO_FLOW_END;
        if (!self->bits) {
                self->window = dbio_scatter_at(&self->order, self->turn++ % self->windows);
                for (unsigned i = 0; i < WINDOW; i++)
                        if (dbio_rng_unit(&self->rng) < self->density)
                                self->bits |= 1u << i;
                if (!self->bits)
                        self->bits = 1u << dbio_rng_below(&self->rng, WINDOW);
                while ((uint64_t)__builtin_popcount(self->bits) > self->pages_left)
                        self->bits &= self->bits - 1;
                self->pages_left -= (unsigned)__builtin_popcount(self->bits);
        }
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_RECOVERY;
        op->target = self->target;
        op->offset = self->space.from + (self->window * WINDOW + (unsigned)__builtin_ctz(self->bits)) * self->page;
        op->length = (uint32_t)self->page;
        self->bits &= self->bits - 1;
        flow->episode.pages++;
        return DBIO_FLOW_OP;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE, .depth = IN_FLIGHT};
        struct recovery *self;
        uint64_t most;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct recovery *)out->sources[0];
        self->page = config->page;
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], WINDOW * config->page,
                            WINDOW * config->page, err) ||
            dbio_pattern_space(&self->log_space, env, config->log, NULL, SCAN_PAGES * config->page, err))
                return -1;
        self->windows = (self->space.to - self->space.from) / (WINDOW * config->page);
        self->log_left = config->log_bytes;
        self->density = config->density;
        self->pages_left = config->pages != DBIO_UNSET ? config->pages : config->log_bytes / 2048;
        most = (uint64_t)((double)(self->windows * WINDOW) * config->density);
        if (config->pages != DBIO_UNSET && self->pages_left > most)
                return dbio_err_set(err, DBIO_USAGE, "pages: the region's windows of 32 hold %llu at this density",
                                    (unsigned long long)most);
        if (self->pages_left > most)
                self->pages_left = most;
        self->target = (uint16_t)keys->target;
        self->log = (uint16_t)config->log;
        dbio_rng_init(&self->rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        dbio_scatter_init(&self->order, self->windows, dbio_pattern_seed(env, DBIO_RNG_DIRTY));
        self->log_at = self->log_space.from + dbio_rng_below(&self->rng, (self->log_space.to - self->log_space.from) /
                                                                                 (SCAN_PAGES * config->page)) *
                                                      SCAN_PAGES * config->page;
        out->max_length = SCAN_PAGES * (uint32_t)config->page;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        dbio_stream_add_use(out, config->log, true, false, &self->log_space);
        return 0;
}

static bool ends(const struct dbio_stream_keys *keys, const void *config)
{
        (void)keys;
        (void)config;
        return true;
}

const struct dbio_pattern dbio_innodb_recovery = {
        .name = "innodb.recovery",
        .summary = "Crash recovery: redo scan in 64K reads, then the changed pages in windows of 32",
        .rev = 2,
        .keys = DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "recovery",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.recovery, target: data, log: redo, log_bytes: 64M}",
        .compile = compile,
        .ends = ends,
};
