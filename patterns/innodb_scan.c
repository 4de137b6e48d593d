/* InnoDB: a full scan with linear read-ahead. The first area is read page by page; the access to the last page of an
 * area starts a burst of single-page reads for all of the next one, and nothing is read further ahead. */
#include <math.h>
#include <string.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

#define AREA 64u /* pages: BUF_READ_AHEAD_PAGES */
/* BUF_READ_AHEAD_RANDOM_THRESHOLD: 5 + AREA / 8 */
#define RANDOM_THRESHOLD 13u

struct config {
        struct dbio_due_keys due;
        uint64_t page, read_ahead_threshold, pages, cpu_per_page_ns;
        bool random_read_ahead;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"page", DBIO_FIELD_SIZE, AT(page), "16K", 4096, 65536, "bytes of a page", "innodb_page_size",
         DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"read_ahead_threshold", DBIO_FIELD_COUNT, AT(read_ahead_threshold), "56", 0, 64,
         "pages of an area that must have been read in order; a scan reads all so, so only 0 (off) makes a difference",
         "innodb_read_ahead_threshold; buf0rea.cc", 0, NULL, NULL},
        {"random_read_ahead", DBIO_FIELD_BOOL, AT(random_read_ahead), "no", 0, 0,
         "a miss with 13 pages of its area in the pool reads all the rest of the area", "innodb_random_read_ahead", 0,
         NULL, NULL},
        {"cpu_per_page", DBIO_FIELD_TIME, AT(cpu_per_page_ns), "0s", 0, 0,
         "what the scan does with a page before the next", "judgement", 0, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12,
         "length of a pass, from a place of its own; all of the region from its beginning unless given", "judgement", 0,
         NULL, NULL},
        DBIO_PASS_FIELDS(struct config, due),
        {0},
};

struct scan {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_space space;
        uint64_t start, length; /* of a pass, pages from the region's beginning; length pages, round its end */
        uint64_t at;            /* page of the pass that is wanted next */
        uint64_t issued, burst; /* pages read or being read; up to burst they are called for */
        uint64_t called_ns;     /* when the burst was called for */
        uint64_t ready_ns;      /* the scan is done with the page before */
        uint64_t here;          /* pages of the area of `at` that are in: a bit each */
        uint64_t there;         /* the same of the area after it */
        uint16_t target;
};

static uint64_t area_end(const struct scan *self, uint64_t at)
{
        /* Areas are aligned in the file; a pass may begin inside one. */
        uint64_t end = (self->start + at) / AREA * AREA + AREA - self->start;

        return end < self->length ? end : self->length;
}

static unsigned bit_of(const struct scan *self, uint64_t page)
{
        return (unsigned)((self->start + page) % AREA);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *self = (struct scan *)flow;

        self->at = self->issued = self->burst = 0;
        self->here = self->there = 0;
        self->ready_ns = begin_ns;
}

/* The scan takes what is in; at the end of an area it calls for the next. */
static void consume(struct scan *self, uint64_t now_ns)
{
        while (self->at < self->length && (self->here >> bit_of(self, self->at) & 1) && self->ready_ns <= now_ns) {
                uint64_t end = area_end(self, self->at);

                if (self->at + 1 == end) {
                        if (self->config->read_ahead_threshold && end < self->length && self->burst <= end) {
                                self->burst = area_end(self, end);
                                self->called_ns = self->ready_ns;
                        }
                        self->here = self->there;
                        self->there = 0;
                }
                self->at++;
                self->ready_ns += self->config->cpu_per_page_ns;
        }
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *self = (struct scan *)flow;
        uint64_t pages = (self->space.to - self->space.from) / self->config->page;

        consume(self, now_ns);
        if (self->at == self->length)
                return DBIO_FLOW_END;
        if (self->issued == self->burst) {
                /* A miss: the page itself, and with random read-ahead the rest of its area. */
                if (self->issued > self->at || self->ready_ns > now_ns)
                        return DBIO_FLOW_WAIT;
                self->burst = self->at + 1;
                if (self->config->random_read_ahead && __builtin_popcountll(self->here) >= (int)RANDOM_THRESHOLD)
                        self->burst = area_end(self, self->at);
                self->called_ns = self->ready_ns;
        }
        op->kind = DBIO_READ;
        op->role = self->burst - self->at == 1 && self->issued == self->at ? DBIO_ROLE_DATA_READ : DBIO_ROLE_READ_AHEAD;
        op->target = self->target;
        op->offset = self->space.from + (self->start + self->issued) % pages * self->config->page;
        op->length = (uint32_t)self->config->page;
        op->due_ns = self->called_ns;
        op->cookie = self->issued++;
        flow->episode.pages++;
        return DBIO_FLOW_OP;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct scan *self = (struct scan *)flow;
        uint64_t bit = (uint64_t)1 << bit_of(self, op->cookie);

        if (op->cookie < area_end(self, self->at))
                self->here |= bit;
        else
                self->there |= bit;
        if (op->cookie == self->at && self->ready_ns < done_op->completed_ns)
                self->ready_ns = done_op->completed_ns;
        consume(self, done_op->completed_ns);
        if (self->burst > self->issued)
                dbio_flow_nudge(flow, done_op->completed_ns);
}

static uint64_t wake(struct dbio_flow *flow)
{
        const struct scan *self = (const struct scan *)flow;

        if (!flow->running || self->at == self->length)
                return flow->running ? 0 : UINT64_MAX;
        /* In the pool, or not called for: the scan gets to it when it is done with the page before. */
        return self->here >> bit_of(self, self->at) & 1 || self->issued <= self->at ? self->ready_ns : UINT64_MAX;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next, .done = done, .wake = wake};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = config->due};
        struct scan *self;
        struct dbio_rng rng;
        uint64_t pages;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct scan *)out->sources[0];
        self->config = config;
        self->target = (uint16_t)keys->target;
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], AREA * config->page, config->page,
                            err))
                return -1;
        pages = (self->space.to - self->space.from) / config->page;
        self->length = config->pages == DBIO_UNSET ? pages : config->pages;
        if (self->length > pages)
                return dbio_key_error(err, "pages", "more than the region's %llu", (unsigned long long)pages);
        if (config->pages != DBIO_UNSET) {
                dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
                self->start = dbio_rng_below(&rng, pages / AREA) * AREA;
        }
        out->max_length = (uint32_t)config->page;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        return 0;
}

const struct dbio_pattern dbio_innodb_scan = {
        .name = "innodb.scan",
        .summary = "Full scan: linear read-ahead in bursts of 64 single-page reads",
        .rev = 1,
        .keys = DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.scan, target: data, pages: 100_000}",
        .check = dbio_due_check,
        .compile = compile,
        .ends = dbio_due_ends,
};
