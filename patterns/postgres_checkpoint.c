/* PostgreSQL's checkpoint: the buffers that are dirty at its begin, sorted, spread over most of the time to the next
 * one; the kernel is told to write back a little at a time, and at the end every file is fsynced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/flow.h"
#include "patterns/gather.h"

#define NAP_NS       100000000u /* CheckpointWriteDelay */
#define TAKE_IN_NS   20000000u
#define SLICE        4096u
#define SEGMENT      (1u << 30) /* RELSEG_SIZE */
#define MAX_RUN      (1u << 20) /* largest write of the kernel at fsync; judgement: max_sectors_kb of common devices */
#define IN_FLIGHT    128u       /* nr_requests of a block device; judgement */
#define RECORD_BYTES 114u       /* XLOG_CHECKPOINT_ONLINE: header and struct CheckPoint */
#define MAX_PENDING  256u       /* WRITEBACK_MAX_PENDING_FLUSHES */

struct config {
        uint64_t checkpoint_timeout_ns, first_ns, pages, checkpoint_flush_after;
        double checkpoint_completion_target, dirty_rate;
        int wal;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"checkpoint_timeout", DBIO_FIELD_TIME, AT(checkpoint_timeout_ns), "5m", 1e9, 86400e9,
         "time between checkpoints", "checkpoint_timeout", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"checkpoint_completion_target", DBIO_FIELD_FACTOR, AT(checkpoint_completion_target), "0.9", 0, 1,
         "share of that time over which the writes are spread; 0 = at once", "checkpoint_completion_target", 0, NULL,
         NULL},
        {"first", DBIO_FIELD_TIME, AT(first_ns), NULL, 0, 0,
         "when the first one begins; checkpoint_timeout unless given", "judgement", 0, NULL, NULL},
        {"pages", DBIO_FIELD_COUNT, AT(pages), NULL, 1, 1e12, "buffers that are dirty at its begin", "judgement", 0,
         NULL, NULL},
        {"dirty_rate", DBIO_FIELD_RATE, AT(dirty_rate), NULL, 0, 0,
         "buffers a second that get dirty all the time (one that is dirty already does not count again)", "judgement",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {"checkpoint_flush_after", DBIO_FIELD_SIZE, AT(checkpoint_flush_after), "256K", 0, 2097152,
         "written buffers after which the kernel is told to write back; 0 = never, all is left to the fsyncs",
         "checkpoint_flush_after", 0, NULL, NULL},
        {"wal", DBIO_FIELD_STREAM, AT(wal), NULL, 0, 0,
         "the log stream that gets the checkpoint's record after the fsyncs; then pg_control is written and fsynced",
         "CreateCheckPoint in xlog.c", 0, NULL, NULL},
        {0},
};

struct run {
        uint64_t page;
        unsigned pages;
};

struct checkpoint {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_dirty_map *map, own;
        struct dbio_dirty_maker maker;
        struct dbio_sweep sweep;
        enum { MAKE, WRITE, REST, SYNC, RECORD, CONTROL, LAST_SYNC, END } stage;
        const struct dbio_stream *wal; /* its log may come to be after this stream: used from the first record on */
        uint64_t record;               /* position of the record in it */
        uint64_t start_ns;
        uint64_t total, written; /* buffers */
        uint64_t nap_end_ns, taken_in_ns;
        bool napping;
        struct run pending[MAX_PENDING];
        unsigned npending, pending_pages, out; /* out: runs of pending that have been given; npending while it fills */
        bool flushing;
        uint64_t segments, segment; /* files touched, fsyncs still to come; the last one seen */
        uint16_t target;
        uint8_t write_flags;
};

static bool by_rate(const struct checkpoint *self)
{
        return dbio_is_set(self->config->dirty_rate);
}

static bool take_in(struct checkpoint *self, uint64_t now_ns)
{
        bool all = dbio_dirty_maker_advance(&self->maker, now_ns, SLICE);

        if (all && now_ns > self->taken_in_ns)
                self->taken_in_ns = now_ns;
        return all;
}

static void tick(struct dbio_flow *flow, uint64_t now_ns)
{
        struct checkpoint *self = (struct checkpoint *)flow;

        if (by_rate(self) && !take_in(self, now_ns))
                dbio_flow_nudge(flow, 0);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct checkpoint *self = (struct checkpoint *)flow;

        if (by_rate(self)) {
                while (!take_in(self, begin_ns))
                        ;
                dbio_dirty_map_age(self->map);
        } else {
                if (flow->begun > 1)
                        dbio_dirty_maker_move(&self->maker);
                dbio_dirty_maker_begin(&self->maker, self->config->pages);
        }
        self->stage = MAKE;
        self->written = self->segments = 0;
        self->segment = UINT64_MAX;
        self->npending = self->pending_pages = self->out = 0;
        self->flushing = self->napping = false;
        self->nap_end_ns = begin_ns;
}

/* Buffers that have to be written by the end of the last nap (IsCheckpointOnSchedule). */
static uint64_t scheduled(const struct checkpoint *self)
{
        double span = self->config->checkpoint_completion_target * (double)self->config->checkpoint_timeout_ns;
        double elapsed = (double)(self->nap_end_ns - self->flow.episode.begin_ns);
        double due = span > 0 ? ceil((double)self->total * elapsed / span) : (double)self->total;

        return due < 1 ? 1 : due > (double)self->total ? self->total : (uint64_t)due;
}

static void note_file(struct checkpoint *self, uint64_t page)
{
        uint64_t segment = dbio_dirty_map_offset(self->map, page) / SEGMENT;

        if (segment == self->segment)
                return;
        self->segment = segment;
        self->segments++;
}

static void give(const struct checkpoint *self, struct dbio_op *op, const struct run *run)
{
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_CHECKPOINT;
        op->target = self->target;
        op->flags = self->write_flags;
        op->offset = dbio_dirty_map_offset(self->map, run->page);
        op->length = run->pages * self->map->page;
}

/* Writes buffers until the schedule is met: 1 = runs are to be written back, 0 = a nap, -1 = all buffers are written.
 */
static int write_buffers(struct checkpoint *self)
{
        unsigned most = (unsigned)(self->config->checkpoint_flush_after / self->map->page);

        while (self->written < scheduled(self)) {
                uint64_t page;
                int more = dbio_sweep_next(&self->sweep, UINT32_MAX, &page);

                if (more <= 0)
                        return -1;
                self->written++;
                if (!most)
                        continue;
                dbio_dirty_map_clear(self->map, page);
                note_file(self, page);
                struct run *last = self->npending ? &self->pending[self->npending - 1] : NULL;

                if (last && last->page + last->pages == page && page % self->map->file_pages)
                        last->pages++;
                else
                        self->pending[self->npending++] = (struct run){page, 1};
                if (++self->pending_pages == most)
                        return 1;
        }
        return self->written == self->total ? -1 : 0;
}

static enum dbio_flow_step next_write(struct checkpoint *self, uint64_t now_ns, struct dbio_op *op)
{
        if (!self->flushing) {
                int step;

                if (self->napping && now_ns < self->nap_end_ns)
                        return DBIO_FLOW_WAIT;
                self->napping = false;
                step = write_buffers(self);
                if (step == 0) {
                        self->napping = true;
                        self->nap_end_ns += NAP_NS;
                        return DBIO_FLOW_WAIT;
                }
                if (step < 0 && !self->npending) {
                        self->stage = self->config->checkpoint_flush_after ? SYNC : REST;
                        return DBIO_FLOW_WAIT;
                }
                self->flushing = true;
                self->out = 0;
        }
        op->due_ns = self->nap_end_ns;
        give(self, op, &self->pending[self->out++]);
        if (self->out == self->npending) {
                self->flushing = false;
                self->npending = self->pending_pages = 0;
        }
        return DBIO_FLOW_OP;
}

/* Without write-back hints everything reaches the device at the fsyncs. */
static bool next_rest(struct checkpoint *self, struct dbio_op *op)
{
        struct run run;
        uint64_t page;
        unsigned most = MAX_RUN / self->map->page;

        if (dbio_sweep_next(&self->sweep, UINT32_MAX, &page) <= 0)
                return false;
        for (run = (struct run){page, 0}; run.pages < most; run.pages++) {
                uint64_t at = page + run.pages;

                if (at >= self->map->npages || (run.pages && at % self->map->file_pages == 0) ||
                    !((self->map->old[at / 64] >> at % 64) & 1))
                        break;
                dbio_dirty_map_clear(self->map, at);
                note_file(self, at);
        }
        give(self, op, &run);
        return true;
}

static bool waits_for_record(const struct checkpoint *self)
{
        return self->stage == CONTROL && self->wal->position->durable < self->record;
}

/* One after the other: the files, the record, pg_control. */
static enum dbio_flow_step next_sync(struct checkpoint *self, uint64_t now_ns, struct dbio_op *op)
{
        const struct run control = {0, 1};

        if (self->stage == SYNC && !self->segments)
                self->stage = self->wal ? RECORD : END;
        if (self->stage == END)
                return DBIO_FLOW_END;
        if (self->stage == RECORD) {
                self->stage = CONTROL;
                self->record = dbio_log_commit(self->wal->log, now_ns + self->start_ns, RECORD_BYTES, NULL);
                if (self->wal->position->wanted < self->record)
                        self->wal->position->wanted = self->record;
                return DBIO_FLOW_WAIT;
        }
        if (self->stage == CONTROL) {
                self->stage = LAST_SYNC;
                give(self, op, &control);
                return DBIO_FLOW_OP;
        }
        if (self->stage == SYNC)
                self->segments--;
        else
                self->stage = END;
        op->kind = DBIO_FSYNC;
        op->role = DBIO_ROLE_CHECKPOINT;
        op->target = self->target;
        op->flags = DBIO_OP_BARRIER;
        return DBIO_FLOW_OP;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct checkpoint *self = (struct checkpoint *)flow;

        if (self->stage == MAKE) {
                if (!by_rate(self) && !dbio_dirty_maker_step(&self->maker, SLICE)) {
                        dbio_flow_nudge(flow, 0);
                        return DBIO_FLOW_WAIT;
                }
                self->total = self->map->nold;
                flow->episode.pages = self->total;
                dbio_sweep_begin(&self->sweep, self->map, false, 0);
                self->stage = WRITE;
        }
        if (self->stage == WRITE) {
                enum dbio_flow_step step = next_write(self, now_ns, op);

                if (self->stage == WRITE)
                        return step;
                if (self->stage == REST)
                        dbio_sweep_begin(&self->sweep, self->map, false, 0);
        }
        if (self->stage == REST) {
                if (next_rest(self, op))
                        return DBIO_FLOW_OP;
                self->stage = SYNC;
        }
        if (flow->outstanding || waits_for_record(self))
                return DBIO_FLOW_WAIT;
        return next_sync(self, now_ns, op);
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct checkpoint *self = (struct checkpoint *)flow;
        uint64_t at = by_rate(self) ? self->taken_in_ns + TAKE_IN_NS : UINT64_MAX;

        if (flow->running && self->stage == WRITE && self->napping && self->nap_end_ns < at)
                at = self->nap_end_ns;
        if (flow->running && self->stage == CONTROL && !waits_for_record(self))
                at = 0;
        return at;
}

static void release(struct dbio_flow *flow)
{
        dbio_dirty_map_release(&((struct checkpoint *)flow)->own);
}

static const struct dbio_flow_class class = {
        .begin = begin, .next = next, .tick = tick, .wake = wake, .release = release};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;

        if ((config->pages != DBIO_UNSET) == dbio_is_set(config->dirty_rate))
                return dbio_key_error(err, config->pages != DBIO_UNSET ? "dirty_rate" : "pages",
                                      "exactly one of pages and dirty_rate");
        if (dbio_is_set(keys->dirty.pages_per_write))
                return dbio_key_error(err, "dirty", "pages_per_write is SQL Server's: say density");
        return dbio_dirty_keys_check(keys, err);
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class,
                                      .due = {config->first_ns, config->checkpoint_timeout_ns, false},
                                      .depth = IN_FLIGHT};
        double share = dbio_is_set(keys->dirty.density) ? keys->dirty.density : 0;
        double pages = config->pages != DBIO_UNSET ? (double)config->pages
                                                   : config->dirty_rate * (double)config->checkpoint_timeout_ns / 1e9;
        struct dbio_dirty_plan dirt = {
                .keys = &keys->dirty,
                .skew = &keys->skew,
                .pages = config->pages == DBIO_UNSET ? 0 : config->pages,
                .window_pages = share > 0 ? (uint64_t)ceil(pages / share) : 0,
                .rate_per_s = config->dirty_rate,
                .place_seed = dbio_pattern_seed(env, DBIO_RNG_PLACE),
                .dirty_seed = dbio_pattern_seed(env, DBIO_RNG_DIRTY),
                .hot_seed = dbio_pattern_hot_seed(env),
        };
        struct checkpoint *self;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct checkpoint *)out->sources[0];
        self->config = config;
        self->target = (uint16_t)keys->target;
        self->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        self->flow.lives_on = by_rate(self) && keys->dirty_map && env->duration_ns != UINT64_MAX;
        self->map = keys->dirty_map ? env->dirty_map(env, keys->dirty_map) : &self->own;
        if (!self->map)
                return dbio_err_set(err, DBIO_BUG, "no memory for dirty map %s", keys->dirty_map);
        if (dbio_dirty_map_join(self->map, &keys->region, &env->targets[keys->target],
                                dbio_pattern_page(env, keys->target), err) ||
            dbio_dirty_maker_init(&self->maker, self->map, &dirt, err))
                return -1;
        if (config->checkpoint_flush_after / self->map->page > MAX_PENDING)
                return dbio_key_error(err, "checkpoint_flush_after", "at most 256 buffers");
        out->max_length = config->checkpoint_flush_after ? (uint32_t)config->checkpoint_flush_after : MAX_RUN;
        out->load = pages / ((double)config->checkpoint_timeout_ns / 1e9);
        dbio_stream_add_use(out, keys->target, false, true, &self->map->space);
        self->start_ns = keys->start_ns;
        self->wal = config->wal >= 0 ? env->other(env, config->wal) : NULL;
        if (config->wal >= 0 && (!self->wal || strcmp(self->wal->pattern, "postgres.wal")))
                return dbio_key_error(err, "wal", "must be a postgres.wal stream of the same phase");
        return 0;
}

const struct dbio_pattern dbio_postgres_checkpoint = {
        .name = "postgres.checkpoint",
        .summary = "Checkpoint: sorted buffers, spread in time, written back 256K at a time, then an fsync a file",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_DIRTY | DBIO_KEYS_SKEW,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "checkpoint",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: postgres.checkpoint, target: data, checkpoint_timeout: 1m, dirty_rate: 500/s,\n"
                   " dirty: {map: pages}}",
        .check = check,
        .compile = compile,
};
