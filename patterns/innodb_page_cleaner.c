/* InnoDB's page cleaner: once a second so many of the oldest dirty pages as adaptive flushing asks for, through
 * doublewrite.
 *
 * The flush list (dirty pages by their oldest change) is not kept: a second copy of what makes pages dirty draws the
 * same sequence again, behind, and what it comes upon is the oldest. `old` in the dirty map are the pages that got
 * dirty before the place where the copy will have caught up (`turn_at`); those that get dirty meanwhile are `fresh` and
 * wait for the next turn, so a page that was flushed and is dirty again goes to the list's end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/common.h"
#include "patterns/dirtymap.h"
#include "patterns/doublewrite.h"
#include "patterns/flushloop.h"
#include "patterns/logtail.h"

#define SECOND_NS  1000000000u
#define TAKE_IN_NS 20000000u /* how often pages that get dirty are taken in */
#define SLICE      4096u     /* work on the map in one call */
#define SAMPLES    1024u

struct config {
        struct dbio_dblwr_keys dblwr;
        double io_capacity, io_capacity_max, dirty_rate;
        double max_dirty_pages_pct, max_dirty_pages_pct_lwm, adaptive_flushing_lwm;
        uint64_t flush_neighbors, buffer_pool_size;
        bool adaptive_flushing;
        int redo;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"io_capacity", DBIO_FIELD_FACTOR, AT(io_capacity), "10000", 100, 1e9,
         "pages a second that the loop reckons with; 200 before 8.4", "innodb_io_capacity", 0, NULL, NULL},
        {"io_capacity_max", DBIO_FIELD_FACTOR, AT(io_capacity_max), NULL, 100, 1e9,
         "most pages a second; twice io_capacity unless given, before 8.4 at least 2000", "innodb_io_capacity_max", 0,
         NULL, NULL},
        {"max_dirty_pages_pct", DBIO_FIELD_FACTOR, AT(max_dirty_pages_pct), "90", 0, 99.999,
         "percent of the buffer pool that may be dirty; 75 before 8.0", "innodb_max_dirty_pages_pct", 0, NULL, NULL},
        {"max_dirty_pages_pct_lwm", DBIO_FIELD_FACTOR, AT(max_dirty_pages_pct_lwm), "10", 0, 99.999,
         "percent from which dirty pages count; 0 (off) before 8.0", "innodb_max_dirty_pages_pct_lwm", 0, NULL, NULL},
        {"adaptive_flushing", DBIO_FIELD_BOOL, AT(adaptive_flushing), "yes", 0, 0, "whether the redo log's age counts",
         "innodb_adaptive_flushing", 0, NULL, NULL},
        {"adaptive_flushing_lwm", DBIO_FIELD_FACTOR, AT(adaptive_flushing_lwm), "10", 0, 70,
         "percent of the redo log's capacity from which its age counts", "innodb_adaptive_flushing_lwm", 0, NULL, NULL},
        {"flush_neighbors", DBIO_FIELD_COUNT, AT(flush_neighbors), "0", 0, 2,
         "1: dirty pages adjacent to the victim in its 64-page area go along, 2: all dirty ones of the area; 1 before "
         "8.0",
         "innodb_flush_neighbors", 0, NULL, NULL},
        {"buffer_pool_size", DBIO_FIELD_SIZE, AT(buffer_pool_size), NULL, 5242880, 0x1p60,
         "what the share of dirty pages is of; the region unless given",
         "innodb_buffer_pool_size; the default a judgement", 0, NULL, NULL},
        {"dirty_rate", DBIO_FIELD_RATE, AT(dirty_rate), NULL, 0, 0,
         "pages a second that get dirty all the time (one that is dirty already does not count again)",
         "judgement: no default; Innodb_buffer_pool_pages_flushed a second of a steady server",
         DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE, NULL, NULL},
        {"redo", DBIO_FIELD_STREAM, AT(redo), NULL, 0, 0,
         "the innodb.redo_log stream that age and rate come from; without it only the share of dirty pages counts",
         "buf0flu.cc", 0, NULL, NULL},
        DBIO_DBLWR_FIELDS(struct config, dblwr),
        {0},
};

static const struct dbio_preset presets[] = {
        {506, "io_capacity", "200"},
        {804, "io_capacity", "10000"},
        {506, "max_dirty_pages_pct", "75"},
        {800, "max_dirty_pages_pct", "90"},
        {506, "max_dirty_pages_pct_lwm", "0"},
        {800, "max_dirty_pages_pct_lwm", "10"},
        {506, "flush_neighbors", "1"},
        {800, "flush_neighbors", "0"},
        DBIO_DBLWR_PRESETS,
        {0},
};

/* Where the log stood when the makers stood at an event. */
struct sample {
        double event, lsn, listed; /* listed: pages put on the flush list so far */
};

struct cleaner {
        struct dbio_source source;
        struct dbio_dblwr dblwr;
        struct dbio_flushloop loop;
        struct dbio_dirty_map own, *map;
        struct dbio_dirty_maker maker, behind;
        const struct dbio_stream *redo;
        double pool_pages, hard_payload;
        unsigned neighbors, area;
        uint64_t turn_at;    /* event up to which the map's old pages were dirtied */
        uint64_t event_page; /* rest of the event that `behind` is at */
        unsigned event_left;
        bool have_victim, more; /* more: fill has stopped at its slice */
        uint64_t victim, run_at, run_end;
        uint64_t taken;                  /* pages taken off the flush list */
        uint64_t seen_taken;             /* of them, those that the loop knows of */
        uint64_t start_ns, taken_in_ns;
        double dirtied_ns;  /* time whose changes have been made: behind where a full redo log holds them up */
        uint64_t logged;    /* position of the redo log at taken_in_ns */
        bool held;
        bool round;     /* a batch is going on */
        unsigned quota; /* pages of it still to be taken */
        uint64_t next_tick_ns;
        bool sync;
        struct sample samples[SAMPLES];
        unsigned nsamples;
};

/* ----- the redo log ----- */

/* Log positions are payload; LSNs count the blocks' headers. */
static double lsn_now(const struct cleaner *self)
{
        return self->redo ? (double)self->redo->position->appended * 512 / 496 : 0;
}

static void add_sample(struct cleaner *self)
{
        struct sample sample = {(double)self->maker.events, lsn_now(self),
                                (double)(self->taken + self->map->nold + self->map->nfresh)};

        if (self->nsamples == SAMPLES) {
                /* First what the flush list has passed, then every other one. */
                unsigned drop = 0;

                while (drop + 2 < SAMPLES && self->samples[drop + 1].event <= (double)self->behind.events)
                        drop++;
                if (drop) {
                        self->nsamples -= drop;
                        memmove(self->samples, self->samples + drop, self->nsamples * sizeof *self->samples);
                } else {
                        for (unsigned i = 0; i < SAMPLES / 2; i++)
                                self->samples[i] = self->samples[2 * i];
                        self->nsamples = SAMPLES / 2;
                }
        }
        self->samples[self->nsamples++] = sample;
}

/* The sample at an event, or (by lsn) at an LSN, between the two around it. */
static struct sample sample_at(const struct cleaner *self, double key, bool by_lsn)
{
        unsigned low = 0, high = self->nsamples - 1;
        const struct sample *a, *b;
        double at, share;

        while (high - low > 1) {
                unsigned middle = (low + high) / 2;

                if ((by_lsn ? self->samples[middle].lsn : self->samples[middle].event) <= key)
                        low = middle;
                else
                        high = middle;
        }
        a = &self->samples[low];
        b = &self->samples[high];
        at = by_lsn ? a->lsn : a->event;
        share = (by_lsn ? b->lsn : b->event) > at ? (key - at) / ((by_lsn ? b->lsn : b->event) - at) : 1;
        share = share < 0 ? 0 : share > 1 ? 1 : share;
        return (struct sample){a->event + share * (b->event - a->event), a->lsn + share * (b->lsn - a->lsn),
                               a->listed + share * (b->listed - a->listed)};
}

static double pages_within(void *user, double lsn_span)
{
        struct cleaner *self = user;
        struct sample oldest, end;
        double dirty = (double)(self->map->nold + self->map->nfresh), n;

        if (dirty == 0 || !self->redo)
                return 0;
        oldest = sample_at(self, (double)self->behind.events, false);
        end = sample_at(self, oldest.lsn + lsn_span, true);
        n = end.listed - oldest.listed;
        return n < dirty ? n : dirty;
}

static double oldest_lsn(const struct cleaner *self)
{
        if (!self->nsamples || self->map->nold + self->map->nfresh == 0)
                return lsn_now(self);
        return sample_at(self, (double)self->behind.events, false).lsn;
}

/* Nothing is logged beyond the ring's capacity past the oldest dirty page. */
static void set_hold(struct cleaner *self)
{
        if (self->redo)
                self->redo->log->hold = (uint64_t)(oldest_lsn(self) * 496 / 512 + self->hard_payload);
}

/* ----- the flush list ----- */

static bool is_old(const struct dbio_dirty_map *map, uint64_t page)
{
        return (map->old[page / 64] >> page % 64) & 1;
}

/* Finds the page with the oldest change; false where none is dirty, or where the slice is used up. */
static bool find_victim(struct cleaner *self)
{
        struct dbio_dirty_map *map = self->map;

        if (self->have_victim && is_old(map, self->victim))
                return true;
        for (unsigned i = 0; i < SLICE; i++) {
                if (self->event_left) {
                        self->victim = self->event_page++;
                        self->event_left--;
                        self->have_victim = true;
                        if (is_old(map, self->victim))
                                return true;
                        continue;
                }
                if (self->behind.events < self->turn_at) {
                        self->event_page = dbio_dirty_maker_next(&self->behind, &self->event_left);
                        self->behind.events++;
                        continue;
                }
                if (map->nold) { /* dirtied by another stream of the map */
                        self->victim = map->old_from;
                        while (!is_old(map, self->victim))
                                self->victim +=
                                        map->old[self->victim / 64] >> self->victim % 64 ? 1 : 64 - self->victim % 64;
                        self->have_victim = true;
                        return true;
                }
                if (!map->nfresh)
                        return false;
                dbio_dirty_map_age(map);
                self->turn_at = self->maker.events;
        }
        self->more = true;
        return false;
}

/* What goes along with the victim: run_at up to run_end, the victim among it (buf_flush_try_neighbors). */
static void set_run(struct cleaner *self)
{
        const struct dbio_dirty_map *map = self->map;
        uint64_t number = dbio_dirty_map_offset(map, self->victim) % map->space.file_size / map->page;
        uint64_t before = number % self->area, low, high;

        /* The aligned area, as far as file and map have it. */
        low = before < self->victim ? self->victim - before : 0;
        high = number - before + self->area > map->file_pages ? self->victim + map->file_pages - number
                                                              : self->victim + self->area - before;
        if (high > map->npages)
                high = map->npages;
        self->run_at = self->victim;
        self->run_end = self->victim + 1;
        if (!self->neighbors)
                return;
        while (self->run_at > low && (self->neighbors == 2 || dbio_dirty_map_is_dirty(map, self->run_at - 1)))
                self->run_at--;
        while (self->run_end < high && (self->neighbors == 2 || dbio_dirty_map_is_dirty(map, self->run_end)))
                self->run_end++;
}

/* Flushes the run in ascending order; false where there is no room for more of it now. The victim goes whatever the
 * quota, its neighbours up to it. */
static bool flush_run(struct cleaner *self, uint64_t now_ns)
{
        for (; self->run_at < self->run_end; self->run_at++) {
                uint64_t page = self->run_at, offset = dbio_dirty_map_offset(self->map, page);

                if (!dbio_dirty_map_is_dirty(self->map, page) ||
                    (page != self->victim && self->quota <= (page < self->victim)))
                        continue;
                if (!dbio_dblwr_has_room(&self->dblwr, offset / self->map->page, 1))
                        return false;
                dbio_dirty_map_clear(self->map, page);
                dbio_dblwr_add(&self->dblwr, offset / self->map->page, offset, now_ns);
                self->taken++;
                if (self->quota)
                        self->quota--;
        }
        return true;
}

/* ----- the loop ----- */

/* While the redo log is full, pages get dirty with the changes that it takes in: up to the arrival of the first commit
 * that waits, which comes to pass later; of sessions, which wait instead, by the log's growth. */
static double dirtied_until(const struct cleaner *self, uint64_t now_ns)
{
        const struct dbio_log *log = self->redo ? self->redo->log : NULL;
        double step = (double)(now_ns - self->taken_in_ns);

        if (log && log->next_ns != UINT64_MAX) {
                double arrival = (double)(log->next_ns + log->start_ns) - (double)self->start_ns;

                return self->held ? fmin(arrival, (double)now_ns) : (double)now_ns;
        }
        if (self->held && self->logged)
                step = fmin(step, (double)(log->position.appended - self->logged) * self->dirtied_ns / (double)self->logged);
        return self->dirtied_ns + step;
}

/* What has got dirty by the last multiple of TAKE_IN_NS: a grid, so that it does not depend on when fill is called. */
static void take_in(struct cleaner *self, uint64_t now_ns)
{
        now_ns = now_ns / TAKE_IN_NS * TAKE_IN_NS;
        if (now_ns > self->taken_in_ns) {
                bool held = self->redo && self->redo->position->appended >= self->redo->log->hold;

                self->held |= held;
                self->dirtied_ns = fmax(self->dirtied_ns, dirtied_until(self, now_ns));
                self->held = held;
                self->logged = self->redo ? self->redo->position->appended : 0;
                self->taken_in_ns = now_ns;
        }
        if (!dbio_dirty_maker_advance(&self->maker, (uint64_t)self->dirtied_ns, SLICE))
                self->more = true;
}

static void begin_round(struct cleaner *self, uint64_t now_ns)
{
        struct dbio_flush_input input = {.now_ns = now_ns, .pages_within = pages_within, .user = self};
        struct dbio_report *report = self->source.report;
        struct dbio_flush_target target;

        add_sample(self);
        input.lsn = lsn_now(self);
        input.age = input.lsn - oldest_lsn(self);
        input.dirty_pct = 100 * (double)(self->map->nold + self->map->nfresh) / self->pool_pages;
        input.pages_flushed = (double)(self->taken - self->seen_taken);
        target = dbio_flushloop_turn(&self->loop, &input);
        dbio_report_gauge(report, "checkpoint_age", now_ns, input.age);
        dbio_report_gauge(report, "pages_flushed", now_ns, input.pages_flushed);
        dbio_report_gauge(report, "pages_requested", now_ns, target.pages);
        self->seen_taken = self->taken;
        self->quota = target.pages;
        self->sync = target.sync;
        self->round = true;
        self->next_tick_ns = now_ns + SECOND_NS;
}

/* Takes pages while there is room for them; ends the round once all are on the device. */
static void work(struct cleaner *self, uint64_t now_ns)
{
        while (self->quota) {
                if (self->run_at == self->run_end) {
                        if (!find_victim(self)) {
                                if (self->more)
                                        return;
                                self->quota = 0;
                                break;
                        }
                        set_run(self);
                }
                if (!flush_run(self, now_ns))
                        return;
                self->have_victim = false;
        }
        self->run_at = self->run_end;
        dbio_dblwr_force(&self->dblwr, now_ns);
        if (!dbio_dblwr_is_idle(&self->dblwr))
                return;
        self->round = false;
        if (self->sync)
                self->next_tick_ns = now_ns;
}

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct cleaner *self = (struct cleaner *)source;

        self->more = false;
        take_in(self, now_ns);
        if (!self->round && now_ns >= self->next_tick_ns && !self->more) {
                if (!self->have_victim)
                        find_victim(self);
                if (!self->more)
                        begin_round(self, now_ns);
        }
        if (self->round)
                work(self, now_ns);
        set_hold(self);
        return dbio_dblwr_fill(&self->dblwr, ops, max);
}

static void done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct cleaner *self = (struct cleaner *)source;

        dbio_dblwr_done(&self->dblwr, op, done_op);
        /* fill goes on with the round. */
        if (self->round && (self->quota || dbio_dblwr_is_idle(&self->dblwr)))
                self->more = true;
}

static uint64_t wake(struct dbio_source *source)
{
        struct cleaner *self = (struct cleaner *)source;
        uint64_t at = self->taken_in_ns + TAKE_IN_NS;

        if (self->more || dbio_dblwr_is_ready(&self->dblwr))
                return 0;
        return !self->round && self->next_tick_ns < at ? self->next_tick_ns : at;
}

static void free_source(struct dbio_source *source)
{
        struct cleaner *self = (struct cleaner *)source;

        dbio_dblwr_release(&self->dblwr);
        dbio_dirty_map_release(&self->own);
        free(self);
}

static const struct dbio_source_class class = {
        .fill = fill,
        .done = done,
        .wake = wake,
        .free = free_source,
};

/* ----- compile ----- */

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;

        if (dbio_is_set(keys->dirty.density) || dbio_is_set(keys->dirty.pages_per_write))
                return dbio_pattern_fault(err, "dirty",
                                          "density and pages_per_write belong to checkpoints, not to dirty_rate");
        if (dbio_is_set(config->io_capacity_max) && config->io_capacity_max < config->io_capacity)
                return dbio_pattern_fault(err, "io_capacity_max", "must not be below io_capacity");
        return dbio_dirty_keys_check(keys, err);
}

static void set_loop(struct cleaner *self, const struct dbio_stream_keys *keys, const struct config *config)
{
        double most = config->io_capacity_max;

        if (!dbio_is_set(most)) {
                most = 2 * config->io_capacity;
                if (keys->version < 804 && most < 2000)
                        most = 2000;
        }
        self->loop = (struct dbio_flushloop){
                .version = keys->version,
                .io_capacity = config->io_capacity,
                .io_capacity_max = most,
                .max_dirty_pct = config->max_dirty_pages_pct,
                .max_dirty_pct_lwm = config->max_dirty_pages_pct_lwm,
                .adaptive_lwm = config->adaptive_flushing_lwm,
                .adaptive = config->adaptive_flushing,
                .avg_loops = 30,
                /* The averages begin at what the workload says, as on a server that has run for a while: from 0 the
                 * first minutes of each phase would have next to no writes. Judgement. */
                .page_avg_rate = config->dirty_rate,
        };
        if (self->redo) {
                const struct dbio_logtail *tail = (const struct dbio_logtail *)self->redo->sources[0];

                const struct dbio_commit_plan *plan = &tail->log.plan;
                double rate = dbio_is_set(plan->rate.from_per_s) ? plan->rate.from_per_s : dbio_commit_plan_load(plan);

                self->loop.lsn_avg_rate = rate * dbio_dist_mean(&plan->bytes) * 512 / 496;
                self->loop.limits =
                        dbio_redo_limits(keys->version, tail->ring.to - tail->ring.from, config->dblwr.page);
                self->hard_payload = self->loop.limits.hard * 496 / 512;
        }
}

static int make_map(struct cleaner *self, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                    const struct config *config, struct dbio_err *err)
{
        struct dbio_dirty_plan plan = {
                .keys = &keys->dirty,
                .skew = &keys->skew,
                .rate_per_s = config->dirty_rate,
                .place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE),
                .dirty_seed = dbio_pattern_seed(env, DBIO_RNG_DIRTY),
                .hot_seed = dbio_pattern_hot_seed(env),
        };

        self->map = keys->dirty_map ? env->dirty_map(env, keys->dirty_map) : &self->own;
        if (!self->map)
                return dbio_err_set(err, DBIO_BUG, "no memory for dirty map %s", keys->dirty_map);
        if (dbio_dirty_map_join(self->map, &keys->region, &env->targets[keys->target], (unsigned)config->dblwr.page,
                                err) ||
            dbio_dirty_maker_init(&self->maker, self->map, &plan, err))
                return -1;
        self->behind = self->maker;
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct cleaner *self;
        uint64_t area;

        if (dbio_stream_add_sources(out, 1, sizeof *self, &class, err))
                return -1;
        self = (struct cleaner *)out->sources[0];
        if (config->redo >= 0) {
                self->redo = env->other(env, config->redo);
                if (!self->redo || strcmp(self->redo->pattern, "innodb.redo_log"))
                        return dbio_pattern_fault(err, "redo", "must be an innodb.redo_log stream of the same phase");
        }
        if (make_map(self, env, keys, config, err))
                return -1;
        dbio_stream_add_use(out, keys->target, false, true, &self->map->space);
        if (dbio_dblwr_init(&self->dblwr, env, keys, &config->dblwr, false, out, err))
                return -1;
        set_loop(self, keys, config);
        self->pool_pages = config->buffer_pool_size != DBIO_UNSET
                                   ? (double)config->buffer_pool_size / (double)config->dblwr.page
                                   : (double)self->map->npages;
        self->neighbors = (unsigned)config->flush_neighbors;
        area = (uint64_t)self->pool_pages / 16;
        self->area = area < 1 ? 1 : area > 64 ? 64 : (unsigned)area;
        self->next_tick_ns = SECOND_NS;
        self->start_ns = keys->start_ns;
        out->threads = 1;
        out->load = config->dirty_rate;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        return 0;
}

const struct dbio_pattern dbio_innodb_page_cleaner = {
        .name = "innodb.page_cleaner",
        .summary = "Page cleaner: adaptive flushing once a second, neighbours, doublewrite",
        .rev = 2,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION | DBIO_KEYS_DIRTY | DBIO_KEYS_SKEW,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "page_flush",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.page_cleaner, target: data, dirty_rate: 2000/s, dirty: {map: pages}, redo: redo}",
        .check = check,
        .compile = compile,
};
