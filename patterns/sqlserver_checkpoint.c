#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "patterns/flow.h"
#include "patterns/gather.h"
#include "patterns/governor.h"

enum mode { AUTOMATIC, INDIRECT, MANUAL };

struct config {
        int mode, sweep;
        uint64_t first_ns, every_ns, pages, target_recovery_ns, duration_ns;
        double dirty_rate, redo_rate, shrink, grow, throttle;
        uint64_t max_pages_per_write, outstanding_pages, latency_target_ns, poll_ns, databases;
        int log;
};

#define DEFAULT_EVERY_NS (60ull * 1000000000)
#define DEFAULT_RECOVERY_NS (60ull * 1000000000)
#define DEFAULT_REDO_RATE 5000.0
#define RECORD_BYTES 512u         /* begin and end records; judgement, their size is not published */
#define IDLE_NS (20ull * 1000000) /* how often pages that get dirty are taken in between episodes, so that none is a burst */
#define SLICE 4096u               /* work on the map in one call, some 50 us */

static const char *const modes[] = {"automatic", "indirect", "manual", NULL};
static const char *const sweeps[] = {"page_id", "hash", NULL};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"mode", DBIO_FIELD_ENUM, AT(mode), "automatic", 0, 0, "kind of checkpoint", "Microsoft, Database Checkpoints", 0,
         modes, NULL},
        {"first", DBIO_FIELD_TIME, AT(first_ns), NULL, 0, 0,
         "when the first one is due; every unless given, 0s in mode manual", "judgement", 0, NULL, NULL},
        {"every", DBIO_FIELD_TIME, AT(every_ns), NULL, 0, 0, "automatic: time between two due times, 60s unless given",
         "Microsoft, recovery interval: about every minute for active databases", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12, "dirty pages at an episode's begin", "judgement", 0, NULL, NULL},
        {"dirty_rate", DBIO_FIELD_RATE, AT(dirty_rate), NULL, 0, 0,
         "pages a second that get dirty all the time (one that is dirty already does not count again)", "judgement",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {"target_recovery_time", DBIO_FIELD_TIME, AT(target_recovery_ns), NULL, 0, 0,
         "indirect: dirty pages are kept to what redo does in this time, 60s unless given",
         "Microsoft, Database Checkpoints: 60 s for new databases from 2016", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"redo_rate", DBIO_FIELD_RATE, AT(redo_rate), NULL, 0, 0,
         "indirect: pages a second that redo is reckoned to do, 5000/s unless given", "judgement (formula not published)",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {"duration", DBIO_FIELD_TIME, AT(duration_ns), NULL, 0, 0,
         "manual: writes are spread to finish in this time (CHECKPOINT n)", "Microsoft, CHECKPOINT (Transact-SQL)",
         DBIO_FIELD_POSITIVE | DBIO_FIELD_NONE, NULL, NULL},
        {"sweep", DBIO_FIELD_ENUM, AT(sweep), "page_id", 0, 0,
         "order in which dirty pages are come upon; SQL Server goes by its buffers' hash",
         "Microsoft, SQL 2016 It Just Runs Faster: Indirect Checkpoint Default", 0, sweeps, NULL},
        {"max_pages_per_write", DBIO_FIELD_COUNT, AT(max_pages_per_write), "128", 1, 2048,
         "most adjacent pages in one write; 16 in 2000, 32 from 2005, 128 from 2016",
         "Microsoft, Writing Pages; SQL 2016 It Just Runs Faster: Larger Data File Writes", 0, NULL, NULL},
        {"outstanding_pages", DBIO_FIELD_COUNT, AT(outstanding_pages), "1600", 1, 1e7,
         "pages in writes that may be out at once; the governor's target begins here and does not pass it",
         "FlushCache lines of SQL Server 2005: last target outstanding 1600", 0, NULL, NULL},
        {"latency_target", DBIO_FIELD_TIME, AT(latency_target_ns), "50ms", 0, 0,
         "mean write latency over which the target shrinks; 20ms before 2016",
         "Microsoft, Database Checkpoints: 20 ms, 50 ms from 2016", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"poll", DBIO_FIELD_TIME, AT(poll_ns), "5ms", 1e5, 1e10, "how long it waits when there is no room",
         "Dorr, SQL Server Checkpoint (FlushCache) Outstanding I/O Target: 5 ms steps", 0, NULL, NULL},
        {"shrink", DBIO_FIELD_FACTOR, AT(shrink), "0.75", 0.01, 1, "factor of the target at a poll over latency_target",
         "judgement", 0, NULL, NULL},
        {"grow", DBIO_FIELD_FACTOR, AT(grow), "1.1", 1, 100, "factor of the target, plus one page, at any other poll",
         "judgement", 0, NULL, NULL},
        {"throttle", DBIO_FIELD_BYTE_RATE, AT(throttle), NULL, 0, 0, "most bytes a second (start-up option -k)",
         "Microsoft, Database Engine Service startup options", DBIO_FIELD_POSITIVE | DBIO_FIELD_NONE, NULL, NULL},
        {"databases", DBIO_FIELD_COUNT, AT(databases), "1", 1, 1000,
         "databases on the target, each in its part of the region, checkpointed one after the other at each due time",
         "Microsoft, Choosing what tests to run with SQLIO: databases are processed serially", 0, NULL, NULL},
        {"log", DBIO_FIELD_TARGET, AT(log), NULL, 0, 0,
         "target of the begin and end records, which are durable before and follow after the data", "Microsoft, TLOG guide",
         0, NULL, NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {2000, "max_pages_per_write", "16"}, {2005, "max_pages_per_write", "32"}, {2016, "max_pages_per_write", "128"},
        {2000, "latency_target", "20ms"},    {2016, "latency_target", "50ms"},    {0},
};

static int not_in(struct dbio_err *err, const char *key, const struct config *c)
{
        return dbio_key_error(err, key, "%s is no key of mode %s", key, modes[c->mode]);
}

static int check_mode(const struct config *c, struct dbio_err *err)
{
        bool pages = c->pages != DBIO_UNSET, rate = dbio_is_set(c->dirty_rate);

        if (c->mode != INDIRECT && c->target_recovery_ns != DBIO_UNSET)
                return not_in(err, "target_recovery_time", c);
        if (c->mode != INDIRECT && dbio_is_set(c->redo_rate))
                return not_in(err, "redo_rate", c);
        if (c->mode != AUTOMATIC && c->every_ns != DBIO_UNSET)
                return not_in(err, "every", c);
        if (c->mode != MANUAL && c->duration_ns != DBIO_UNSET)
                return not_in(err, "duration", c);
        if (c->mode == INDIRECT) {
                if (c->first_ns != DBIO_UNSET)
                        return not_in(err, "first", c);
                if (pages)
                        return not_in(err, "pages", c);
                if (c->log >= 0)
                        return not_in(err, "log", c);
                return rate ? 0 : dbio_key_error(err, "dirty_rate", "mode indirect needs dirty_rate");
        }
        if (pages == rate)
                return dbio_key_error(err, pages ? "dirty_rate" : "pages", "exactly one of pages and dirty_rate");
        return 0;
}

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (check_mode(c, err))
                return -1;
        if (c->databases > 1 && keys->dirty_map)
                return dbio_key_error(err, "databases", "streams share the dirty map of one database, not of several");
        if (c->mode == MANUAL && dbio_is_set(c->dirty_rate) &&
            (dbio_is_set(keys->dirty.density) || dbio_is_set(keys->dirty.pages_per_write)))
                return dbio_key_error(err, "dirty", "in mode manual a density needs pages");
        return dbio_dirty_keys_check(keys, err);
}

struct database {
        struct dbio_dirty_map *map, own;
        struct dbio_dirty_maker maker;
        uint64_t sweeps; /* done so far, for the seed of the next */
};

struct checkpoint {
        struct dbio_flow flow;
        const struct config *config; /* the workload's */
        struct dbio_governor governor;
        struct dbio_log_out log;
        struct database *databases, *database; /* all; the one whose turn it is */
        unsigned ndatabases;
        double density;              /* of an episode's window; NAN = not given */
        struct dbio_sweep sweep;
        struct dbio_gather held;     /* formed, not given yet; pages 0 = none */
        enum stage { MAKE, LOG_BEGIN, WRITE, LOG_END } stage;
        bool blocked;                /* no room: wait for the next poll */
        bool record_given;
        uint64_t outstanding_pages, next_poll_ns, taken_in_ns;
        double next_issue_ns, ns_per_page; /* throttle, duration */
        uint64_t limit;              /* indirect: dirty pages that may be */
        struct dbio_rng rng;
        uint64_t place_seed;
        uint16_t target;
        uint8_t write_flags;
};

static bool by_rate(const struct checkpoint *c)
{
        return dbio_is_set(c->config->dirty_rate);
}

static bool has_room(const struct checkpoint *c)
{
        return !c->outstanding_pages || (double)(c->outstanding_pages + c->held.pages) <= c->governor.target;
}

/* The polls up to now: each moves the governor, and lets a write that found no room try again. */
static void poll(struct checkpoint *c, uint64_t now_ns)
{
        while (c->next_poll_ns <= now_ns) {
                dbio_governor_poll(&c->governor);
                if (c->blocked && has_room(c)) {
                        c->blocked = false;
                        c->flow.called_ns = c->next_poll_ns;
                } else if (c->blocked) {
                        c->flow.episode.stalls++;
                }
                if (c->config->mode == INDIRECT && !c->held.pages)
                        c->flow.called_ns = c->next_poll_ns;
                dbio_report_gauge(c->flow.base.report, "outstanding_target", c->next_poll_ns, floor(c->governor.target));
                c->next_poll_ns += c->config->poll_ns;
        }
}

static bool take_in(struct checkpoint *c, uint64_t now_ns)
{
        bool all = true;

        for (unsigned i = 0; i < c->ndatabases; i++)
                all &= dbio_dirty_maker_advance(&c->databases[i].maker, now_ns, SLICE);
        if (all && now_ns > c->taken_in_ns)
                c->taken_in_ns = now_ns;
        return all;
}

static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        struct checkpoint *c = (struct checkpoint *)flow;

        if (by_rate(c) && !take_in(c, now_ns))
                dbio_flow_nudge(flow, 0);
        if (flow->running)
                poll(c, now_ns);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct checkpoint *c = (struct checkpoint *)flow;

        c->next_poll_ns = begin_ns + c->config->poll_ns;
        c->next_issue_ns = (double)begin_ns;
        c->blocked = c->record_given = false;
        c->stage = MAKE;
        c->database = &c->databases[flow->episode.episode ? (flow->episode.episode - 1) % c->ndatabases : 0];
        if (c->config->mode == INDIRECT) {
                c->stage = WRITE;
                return;
        }
        if (by_rate(c)) {
                while (!take_in(c, begin_ns))
                        ;
                dbio_dirty_map_age(c->database->map);
                dbio_dirty_maker_move(&c->database->maker);
        } else {
                if (c->database->sweeps)
                        dbio_dirty_maker_move(&c->database->maker);
                dbio_dirty_maker_begin(&c->database->maker, c->config->pages);
        }
}

/* The next dirty page: of the episode's, or for an indirect checkpoint the next one round the map, once there are more
 * than the limit allows. As dbio_sweep_next. */
static int next_page(struct checkpoint *c, uint64_t *page)
{
        struct dbio_dirty_map *map = c->database->map;

        if (c->config->mode != INDIRECT)
                return dbio_sweep_next(&c->sweep, SLICE, page);
        for (unsigned i = 0; i < c->ndatabases; i++) {
                map = c->database->map;
                if (map->nold + map->nfresh > c->limit / c->ndatabases) {
                        uint64_t from = c->config->sweep ? dbio_rng_below(&c->rng, map->npages) : c->sweep.at;

                        dbio_dirty_map_find(map, from < map->npages ? from : 0, page);
                        return 1;
                }
                c->sweep.at = 0;
                c->database = c->database + 1 < c->databases + c->ndatabases ? c->database + 1 : c->databases;
        }
        return 0;
}

static enum dbio_flow_step next_write(struct checkpoint *c, uint64_t now_ns, struct dbio_op *op)
{
        uint64_t page;

        if (!c->held.pages) {
                int more = next_page(c, &page);

                if (more < 0)
                        dbio_flow_nudge(&c->flow, 0);
                if (more < 0 || (!more && c->config->mode == INDIRECT))
                        return DBIO_FLOW_WAIT;
                if (!more)
                        return DBIO_FLOW_END;
                c->held = dbio_gather_take(c->database->map, page, (unsigned)c->config->max_pages_per_write);
                c->sweep.at = c->config->mode == INDIRECT ? c->held.page + c->held.pages : c->sweep.at;
        }
        if (c->next_issue_ns > (double)now_ns || c->blocked)
                return DBIO_FLOW_WAIT;
        if (!has_room(c)) {
                c->blocked = true;
                return DBIO_FLOW_WAIT;
        }
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_CHECKPOINT;
        op->target = c->target;
        op->flags = c->write_flags;
        op->offset = dbio_dirty_map_offset(c->database->map, c->held.page);
        op->length = c->held.pages * c->database->map->page;
        if (c->ns_per_page > 0) {
                if (c->next_issue_ns < (double)op->due_ns)
                        c->next_issue_ns = (double)op->due_ns;
                op->due_ns = (uint64_t)c->next_issue_ns;
                c->next_issue_ns += c->ns_per_page * c->held.pages;
        }
        c->outstanding_pages += c->held.pages;
        c->flow.episode.avoided += c->config->mode == INDIRECT ? 0 : c->held.avoided;
        c->held.pages = 0;
        return DBIO_FLOW_OP;
}

/* A record, then until it is durable. True: give op or wait, as step says; false: durable. */
static bool record(struct checkpoint *c, uint64_t now_ns, struct dbio_op *op, enum dbio_flow_step *step)
{
        *step = DBIO_FLOW_WAIT;
        if (c->log.used && !c->record_given) {
                c->record_given = true;
                if (dbio_log_out_put(&c->log, now_ns, RECORD_BYTES, op))
                        *step = DBIO_FLOW_OP;
        }
        if (c->log.waiting)
                return true;
        c->record_given = false;
        return false;
}

static void start_writing(struct checkpoint *c)
{
        const struct config *config = c->config;
        double page = c->database->map->page;

        dbio_sweep_begin(&c->sweep, c->database->map, config->sweep, c->place_seed + ++c->database->sweeps);
        c->ns_per_page = dbio_is_set(config->throttle) ? page / config->throttle * 1e9 : 0;
        if (config->duration_ns != DBIO_UNSET && c->database->map->nold) {
                double pace = (double)config->duration_ns / (double)c->database->map->nold;

                c->ns_per_page = pace > c->ns_per_page ? pace : c->ns_per_page;
        }
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct checkpoint *c = (struct checkpoint *)flow;
        enum dbio_flow_step step;

        if (c->stage == MAKE) {
                if (!by_rate(c) && !dbio_dirty_maker_step(&c->database->maker, SLICE)) {
                        dbio_flow_nudge(flow, 0);
                        return DBIO_FLOW_WAIT;
                }
                start_writing(c);
                c->stage = LOG_BEGIN;
        }
        if (c->stage == LOG_BEGIN) {
                if (record(c, now_ns, op, &step))
                        return step;
                c->stage = WRITE;
        }
        if (c->stage == WRITE) {
                step = next_write(c, now_ns, op);
                if (step != DBIO_FLOW_END)
                        return step;
                if (c->outstanding_pages && c->log.used)
                        return DBIO_FLOW_WAIT;
                c->stage = LOG_END;
        }
        return record(c, now_ns, op, &step) ? step : DBIO_FLOW_END;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct checkpoint *c = (struct checkpoint *)flow;

        if (flow->running)
                poll(c, done->completed_ns);
        if (dbio_log_out_done(&c->log, op))
                return;
        c->outstanding_pages -= op->length / c->database->map->page;
        dbio_governor_done(&c->governor, done->service_ns, flow->outstanding + 1);
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct checkpoint *c = (struct checkpoint *)flow;
        uint64_t at = UINT64_MAX;

        if (!flow->running)
                return by_rate(c) ? c->taken_in_ns + IDLE_NS : UINT64_MAX;
        if (c->blocked || (c->config->mode == INDIRECT && !c->held.pages))
                at = c->next_poll_ns;
        else if (c->held.pages && c->next_issue_ns > 0)
                at = (uint64_t)ceil(c->next_issue_ns);
        if (by_rate(c) && c->taken_in_ns + IDLE_NS < at)
                at = c->taken_in_ns + IDLE_NS;
        return at;
}

static void end(struct dbio_flow *flow, struct dbio_episode *episode)
{
        episode->outstanding_target = (uint64_t)((struct checkpoint *)flow)->governor.target;
}

static void release(struct dbio_flow *flow)
{
        struct checkpoint *c = (struct checkpoint *)flow;

        for (unsigned i = 0; c->databases && i < c->ndatabases; i++)
                dbio_dirty_map_release(&c->databases[i].own);
        free(c->databases);
}

static const struct dbio_flow_class class = {begin, next, done, tick, wake, end, release};

static uint64_t dirty_limit(const struct config *c)
{
        double rate = dbio_is_set(c->redo_rate) ? c->redo_rate : DEFAULT_REDO_RATE;
        uint64_t time = c->target_recovery_ns != DBIO_UNSET ? c->target_recovery_ns : DEFAULT_RECOVERY_NS;

        return (uint64_t)(rate * (double)time / 1e9);
}

/* Window of an episode's pages: pages / density, where pages that come by rate are those of one interval. */
static uint64_t window_of(const struct config *c, double density, unsigned databases)
{
        double pages = 0;

        /* One page a write is a density of 0: the pages may lie anywhere in the region. */
        if (!dbio_is_set(density) || density <= 0)
                return 0;
        if (c->pages != DBIO_UNSET)
                pages = (double)c->pages;
        else if (c->mode == INDIRECT)
                pages = (double)dirty_limit(c) / databases;
        else if (c->mode == AUTOMATIC)
                pages = c->dirty_rate * (double)(c->every_ns != DBIO_UNSET ? c->every_ns : DEFAULT_EVERY_NS) / 1e9 / databases;
        return (uint64_t)fmin(ceil(pages / density), 1e18); /* more than any target holds, which is said elsewhere */
}

/* Parts of the region for each database, whole extents. */
static int make_maps(struct checkpoint *c, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                     struct dbio_err *err)
{
        unsigned page = dbio_pattern_page(env, keys->target), n = c->ndatabases;
        struct dbio_dirty_map *shared = &c->databases[0].own;

        if (keys->dirty_map)
                shared = env->dirty_map(env, keys->dirty_map);
        if (!shared)
                return dbio_err_set(err, DBIO_BUG, "no memory for dirty map %s", keys->dirty_map);
        if (dbio_dirty_map_join(shared, &keys->region, &env->targets[keys->target], page, err))
                return -1;
        c->databases[0].map = shared;
        if (n == 1)
                return 0;
        struct dbio_space whole = shared->space;
        uint64_t extent = (uint64_t)shared->extent * page, part = (whole.to - whole.from) / n / extent * extent;

        dbio_dirty_map_release(shared);
        if (!part)
                return dbio_err_set(err, DBIO_USAGE, "region: too small for %u databases", n);
        for (unsigned i = 0; i < n; i++) {
                struct dbio_space space = {whole.from + i * part, whole.from + (i + 1) * part, whole.file_size};

                c->databases[i].map = &c->databases[i].own;
                if (dbio_dirty_map_init(&c->databases[i].own, &space, page, err))
                        return -1;
        }
        return 0;
}

static int make_dirt(struct checkpoint *c, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                     struct dbio_err *err)
{
        const struct config *config = c->config;

        if (dbio_dirty_keys_density(&keys->dirty, (unsigned)config->max_pages_per_write, c->databases[0].map->extent,
                                    &c->density, err))
                return -1;
        for (unsigned i = 0; i < c->ndatabases; i++) {
                struct database *database = &c->databases[i];
                struct dbio_dirty_plan plan = {
                        .keys = &keys->dirty,
                        .skew = &keys->skew,
                        .pages = config->pages == DBIO_UNSET ? 0 : config->pages,
                        .window_pages = window_of(config, c->density, c->ndatabases),
                        .rate_per_s = config->dirty_rate / c->ndatabases,
                        .place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE) + i,
                        .dirty_seed = dbio_pattern_seed(env, DBIO_RNG_DIRTY) + i,
                        .hot_seed = dbio_pattern_hot_seed(env) + i,
                };

                if (dbio_dirty_maker_init(&database->maker, database->map, &plan, err))
                        return -1;
                /* An indirect checkpoint of a server that has run for a while stands at its limit; without this the
                 * first target_recovery_time of each phase would have no writes. */
                uint64_t most = c->limit / c->ndatabases, tries = 0, can = database->maker.window_pages;
                if (keys->dirty.map == DBIO_DIRTY_STRIDE)
                        can /= database->maker.stride;
                if (config->mode == INDIRECT && most >= can)
                        return dbio_err_set(err, DBIO_USAGE,
                                            "redo_rate: %llu pages may be dirty (target_recovery_time x redo_rate) and only "
                                            "%llu can be: nothing would ever be written",
                                            (unsigned long long)most, (unsigned long long)can);
                while (config->mode == INDIRECT && database->map->nfresh < most && tries++ < 4 * most)
                        dbio_dirty_maker_one(&database->maker);
        }
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *cfg = config;
        uint64_t every = cfg->every_ns != DBIO_UNSET ? cfg->every_ns : DEFAULT_EVERY_NS;
        struct dbio_flow_plan plan = {
                .class = &class,
                .due = {cfg->first_ns, cfg->mode == AUTOMATIC ? every : DBIO_UNSET, false},
        };

        if (dbio_flow_new(out, sizeof(struct checkpoint), &plan, env, err))
                return -1;
        struct checkpoint *c = (struct checkpoint *)out->sources[0];
        c->config = cfg;
        c->ndatabases = (unsigned)cfg->databases;
        c->flow.per_due = c->ndatabases;
        c->flow.continuous = cfg->mode == INDIRECT;
        c->flow.lives_on = by_rate(c) && keys->dirty_map && env->duration_ns != UINT64_MAX;
        if (c->flow.continuous)
                out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (c->flow.continuous && env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        c->limit = dirty_limit(cfg);
        c->target = (uint16_t)keys->target;
        c->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        c->place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE);
        dbio_rng_init(&c->rng, dbio_pattern_seed(env, 0));
        dbio_governor_init(&c->governor, cfg->outstanding_pages, cfg->latency_target_ns, cfg->shrink, cfg->grow);
        c->databases = calloc(c->ndatabases, sizeof *c->databases);
        if (!c->databases)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        if (make_maps(c, env, keys, err) || make_dirt(c, env, keys, err))
                return -1;
        c->database = c->databases;
        c->flow.page_bytes = c->database->map->page;
        struct dbio_space space = {c->databases[0].map->space.from, c->databases[c->ndatabases - 1].map->space.to,
                                   c->databases[0].map->space.file_size};
        dbio_stream_add_use(out, keys->target, false, true, &space);
        out->max_length = (uint32_t)cfg->max_pages_per_write * c->databases[0].map->page;
        if (dbio_is_set(keys->dirty.pages_per_write))
                snprintf(out->note, sizeof out->note, "%g pages a write: density %.2f %%", keys->dirty.pages_per_write,
                         100 * c->density);
        out->load = (by_rate(c) ? cfg->dirty_rate : (double)cfg->pages / (double)every * 1e9) / 8;
        return dbio_log_out_init(&c->log, &c->flow, env, out, cfg->log, 1, RECORD_BYTES, err);
}

static bool ends(const struct dbio_stream_keys *keys, const void *config)
{
        const struct config *c = config;

        (void)keys;
        return c->mode == MANUAL;
}

const struct dbio_pattern dbio_sqlserver_checkpoint = {
        .name = "sqlserver.checkpoint",
        .summary = "Checkpoint: dirty pages written in runs, as many at once as write latency allows (FlushCache)",
        .rev = 2,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION | DBIO_KEYS_DIRTY | DBIO_KEYS_SKEW,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "checkpoint",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.checkpoint, target: data, version: 2008, every: 60s, pages: 10_000,\n"
                   " dirty: {map: extents, pages_per_write: 16.07}, after: log}",
        .write_through = true,
        .check = check,
        .compile = compile,
        .ends = ends,
};
