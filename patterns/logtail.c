#include "patterns/logtail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/region.h"
#include "patterns/rng.h"

const char *const dbio_log_view_names[] = {"device", "syscall", NULL};

enum { COOKIE_WRITE, COOKIE_SYNC };

/* The page cache's unit; what reaches the device is at least this. */
#define PAGE_CACHE 4096u
/* Largest op: what the kernel gathers for a device (max_sectors_kb of common ones), and far above a usual write. */
#define MAX_WRITE (1u << 20)

static uint64_t down(uint64_t x, uint64_t unit)
{
        return x / unit * unit;
}

static uint64_t up(uint64_t x, uint64_t unit)
{
        return (x + unit - 1) / unit * unit;
}

/* ----- write() by write(): what goes into the page cache ----- */

/* One write, as a place in the target. */
struct piece {
        uint64_t from, to;
};

/* InnoDB's rule (log0write.cc, compute_how_much_to_write and prepare_for_write_ahead): never let the page cache read a
 * block of write_ahead bytes back in. in: place in the part, *length: bytes that would be written; gives the bytes of
 * data to write and of the write with its padding. */
static void write_ahead(struct dbio_logtail *self, uint64_t in, uint64_t *length, uint64_t *padded)
{
        uint64_t ahead = self->spec.write_ahead, boundary;

        *padded = *length;
        if (!ahead || in + *length <= self->write_ahead_end)
                return;
        if (in < self->write_ahead_end) {
                *padded = *length = self->write_ahead_end - in;
                return;
        }
        boundary = down(in, ahead) + ahead;
        if (in + *length > boundary) {
                *padded = *length = boundary - in;
                return;
        }
        *padded = boundary - in;
        self->write_ahead_end = boundary;
}

/* The next write up to log position `end`, with complete blocks only where there is one (writer), or with the tail
 * (leader); moves `written` and the ring's cursor past what is complete. */
static struct piece next_write(struct dbio_logtail *self, uint64_t end)
{
        uint64_t payload = self->spec.block - self->spec.header, block = self->spec.block;
        uint64_t first = self->written / payload, complete = end / payload - first;
        uint64_t in = self->ring.cursor - dbio_logring_begin(&self->ring), room = dbio_logring_room(&self->ring);
        bool leader = self->spec.style == DBIO_LOG_LEADER;
        uint64_t length, padded, from = self->ring.cursor;

        length = leader ? (up(end, payload) / payload - first) * block : complete ? complete * block : block;
        if (length > self->max_write)
                length = self->max_write;
        if (length > room)
                length = room;
        if (leader) {
                padded = length;
                if (self->spec.write_ahead && in + length > self->write_ahead_end) {
                        self->write_ahead_end = up(in + length, self->spec.write_ahead);
                        padded = self->write_ahead_end - in;
                }
        } else {
                write_ahead(self, in, &length, &padded);
        }
        if (padded > room)
                padded = room;
        if (complete > length / block)
                complete = length / block;
        if (first + complete == end / payload && length / block > complete)
                self->written = end;
        else if (complete)
                self->written = (first + complete) * payload;
        else
                self->written = end;
        if (complete)
                dbio_logring_place(&self->ring, (uint32_t)(complete * block));
        return (struct piece){from, from + padded};
}

/* Adds a write to what is dirty in the page cache. */
static void add_run(struct dbio_logtail *self, struct piece piece, bool begins_part)
{
        struct dbio_logtail_run *last = self->nruns ? &self->runs[self->nruns - 1] : NULL;

        if (self->spec.view == DBIO_VIEW_DEVICE) {
                piece.from = down(piece.from, self->grain);
                piece.to = up(piece.to, self->grain);
                if (last && piece.from <= last->to && piece.to >= last->from && !begins_part) {
                        if (piece.from < last->from)
                                last->from = piece.from;
                        if (piece.to > last->to)
                                last->to = piece.to;
                        return;
                }
        }
        self->runs[self->nruns++] = (struct dbio_logtail_run){piece.from, piece.to, false};
}

/* Whether the ring has come to a new part whose header block must be written first. */
static bool take_switch(struct dbio_logtail *self, struct piece *piece)
{
        uint64_t begin = dbio_logring_begin(&self->ring);

        if (self->switches == self->ring.switches)
                return false;
        self->switches = self->ring.switches;
        self->write_ahead_end = 0;
        *piece = (struct piece){begin, begin + self->spec.block};
        return self->spec.part_header != 0;
}

/* Writes up to log position `end` into the page cache, as far as runs can be kept. */
static void write_cached(struct dbio_logtail *self, uint64_t end)
{
        while (self->written < end && self->nruns + 2 <= DBIO_LOGTAIL_RUNS) {
                bool begins = self->switches != self->ring.switches;
                uint64_t stop = end;
                struct piece piece;

                if (begins && self->spec.sync_segment && self->nruns)
                        self->runs[self->nruns - 1].sync = true;
                if (take_switch(self, &piece)) {
                        add_run(self, piece, true);
                        begins = false;
                }
                if (self->spec.style == DBIO_LOG_WRITER)
                        stop = dbio_log_end_at(&self->log, self->written + self->spec.ready);
                add_run(self, next_write(self, stop < end ? stop : end), begins);
        }
}

/* The block of a file's header that the next checkpoint goes to: 512 and 1536 in turn. */
static bool checkpoint_is_due(const struct dbio_logtail *self, uint64_t now_ns)
{
        return self->spec.checkpoint_ns && now_ns >= self->checkpoint_due_ns && self->written > self->checkpointed;
}

static struct piece take_checkpoint(struct dbio_logtail *self, uint64_t now_ns)
{
        uint64_t begin = self->spec.checkpoint_first ? self->ring.from : dbio_logring_begin(&self->ring);

        begin += self->checkpoints++ % 2 ? 1536 : 512;
        self->checkpointed = self->written;
        self->checkpoint_due_ns = now_ns + self->spec.checkpoint_ns;
        return (struct piece){begin, begin + 512};
}

/* ----- flushes ----- */

/* Whether this flush is followed by an fsync (sync_binlog). */
static bool sync_due(const struct dbio_logtail *self)
{
        return self->spec.sync_every && (self->flushes + 1) % self->spec.sync_every == 0;
}

/* When the next flush is called for: 0 = now, UINT64_MAX = not yet known. */
static uint64_t flush_due(const struct dbio_logtail *self)
{
        const struct dbio_log_position *position = &self->log.position;
        uint64_t flushed = self->spec.style == DBIO_LOG_WRITER && self->spec.view == DBIO_VIEW_SYSCALL
                                   ? self->settled
                                   : position->appended;

        if (self->unsynced)
                return 0;
        if (flushed <= position->durable && !self->nruns)
                return UINT64_MAX;
        if (position->wanted > position->durable || self->nruns + 2 > DBIO_LOGTAIL_RUNS)
                return 0;
        if (self->log.plan.lazy || !self->spec.sync_every)
                return self->synced_ns + self->spec.lazy_ns;
        return flushed > position->durable ? 0 : UINT64_MAX;
}

/* Commits whose flush is not followed by an fsync are done once they are in the page cache. */
static void pass_unsynced(struct dbio_logtail *self, uint64_t now_ns)
{
        const struct dbio_log_position *position = &self->log.position;

        while (position->appended > position->durable && self->spec.sync_every != 1 && !self->flushing &&
               !sync_due(self)) {
                uint64_t end = position->appended;

                write_cached(self, end);
                if (self->written < end)
                        return;
                if (self->spec.sync_every)
                        self->flushes++;
                dbio_log_harden(&self->log, end, &(struct dbio_log_flush){now_ns, now_ns, now_ns, false});
        }
}

static void begin_flush(struct dbio_logtail *self, uint64_t now_ns)
{
        uint64_t arrived = dbio_log_arrival_at(&self->log, self->log.position.durable);

        write_cached(self, self->log.position.appended);
        if (self->nruns < DBIO_LOGTAIL_RUNS && checkpoint_is_due(self, now_ns))
                add_run(self, take_checkpoint(self, now_ns), true);
        self->flushing = true;
        self->sync = self->spec.sync_every != 0;
        self->sync_run = false;
        self->nout = self->nruns;
        self->out = 0;
        memcpy(self->outs, self->runs, self->nruns * sizeof self->runs[0]);
        self->nruns = 0;
        self->end = self->written;
        self->submitted_ns = UINT64_MAX;
        self->formed_ns = now_ns;
        self->failed = false;
        self->due_ns = self->log.plan.lazy || arrived > now_ns ? now_ns
                       : arrived > self->idle_ns               ? arrived
                                                               : self->idle_ns;
        self->flushes++;
}

static struct dbio_op sync_op(const struct dbio_logtail *self, uint64_t due_ns, uint8_t flags)
{
        return (struct dbio_op){
                .due_ns = due_ns,
                .cookie = COOKIE_SYNC,
                .target = self->target,
                .kind = DBIO_FSYNC,
                .role = self->spec.role,
                .flags = (uint8_t)(flags | (self->spec.datasync ? DBIO_OP_DATASYNC : 0)),
        };
}

static struct dbio_op write_op(const struct dbio_logtail *self, uint64_t offset, uint64_t length, uint64_t due_ns)
{
        return (struct dbio_op){
                .offset = offset,
                .due_ns = due_ns,
                .cookie = COOKIE_WRITE,
                .length = (uint32_t)length,
                .target = self->target,
                .kind = DBIO_WRITE,
                .role = self->spec.role,
                .flags = self->flags,
        };
}

/* The next op of the flush; false once all are given. */
static bool next_op(struct dbio_logtail *self, struct dbio_op *op)
{
        if (self->sync_run) {
                self->sync_run = false;
                *op = sync_op(self, self->due_ns, DBIO_OP_BARRIER);
                return true;
        }
        if (self->out < self->nout) {
                struct dbio_logtail_run *run = &self->outs[self->out];
                uint64_t length = run->to - run->from;

                if (length > self->max_write)
                        length = self->max_write;
                *op = write_op(self, run->from, length, self->due_ns);
                run->from += length;
                if (run->from == run->to) {
                        self->out++;
                        self->sync_run = run->sync;
                }
                return true;
        }
        if (self->sync) {
                self->sync = false;
                *op = sync_op(self, self->due_ns, DBIO_OP_BARRIER);
                return true;
        }
        return false;
}

static bool more_ops(const struct dbio_logtail *self)
{
        return self->flushing && (self->sync_run || self->out < self->nout || self->sync);
}

static unsigned fill_flushes(struct dbio_logtail *self, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        unsigned n = 0;

        if (self->spec.sync_every != 1)
                pass_unsynced(self, now_ns);
        if (self->spec.style == DBIO_LOG_WRITER)
                write_cached(self, self->log.position.appended);
        while (n < max) {
                if (!self->flushing) {
                        if (flush_due(self) > now_ns)
                                break;
                        begin_flush(self, now_ns);
                }
                if (!next_op(self, &ops[n]))
                        break;
                n++;
                self->open++;
        }
        return n;
}

static void done_flush(struct dbio_logtail *self, const struct dbio_done *done)
{
        if (done->submitted_ns < self->submitted_ns)
                self->submitted_ns = done->submitted_ns;
        self->failed |= done->result < 0;
        if (--self->open || more_ops(self))
                return;
        self->flushing = false;
        self->idle_ns = self->synced_ns = done->completed_ns;
        dbio_log_harden(&self->log, self->end, &(struct dbio_log_flush){self->formed_ns, self->submitted_ns,
                                                                        done->completed_ns, self->failed});
}

/* ----- syscall view of a writer: its writes and the flusher's fsyncs go on side by side ----- */

static uint64_t write_due(const struct dbio_logtail *self)
{
        return self->writing || self->written == self->log.position.appended ? UINT64_MAX : 0;
}

static unsigned fill_syscalls(struct dbio_logtail *self, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        unsigned n = 0;

        if (n < max && !self->writing && checkpoint_is_due(self, now_ns)) {
                struct piece piece = take_checkpoint(self, now_ns);

                self->writing = self->unsynced = true;
                self->write_end = self->written;
                ops[n++] = write_op(self, piece.from, piece.to - piece.from, now_ns);
        }
        if (n < max && write_due(self) == 0) {
                uint64_t arrived = dbio_log_arrival_at(&self->log, self->written), due, end;
                struct piece piece;

                due = arrived > self->idle_ns ? arrived : self->idle_ns;
                if (!take_switch(self, &piece)) {
                        end = dbio_log_end_at(&self->log, self->written + self->spec.ready);
                        piece = next_write(self, end);
                }
                self->writing = true;
                self->write_end = self->written;
                self->write_formed_ns = now_ns;
                ops[n++] = write_op(self, piece.from, piece.to - piece.from, due < now_ns ? due : now_ns);
        }
        if (n < max && !self->syncing && !(self->unsynced && self->writing) && flush_due(self) <= now_ns) {
                self->syncing = true;
                self->unsynced = false;
                self->sync_end = self->settled;
                self->formed_ns = self->settled_ns;
                self->failed = self->write_failed;
                self->write_failed = false;
                ops[n++] = sync_op(self, now_ns, 0);
        }
        return n;
}

static void done_syscall(struct dbio_logtail *self, const struct dbio_op *op, const struct dbio_done *done)
{
        if (op->cookie == COOKIE_WRITE) {
                self->writing = false;
                self->settled = self->write_end;
                self->settled_ns = self->write_formed_ns;
                self->write_failed |= done->result < 0;
                self->idle_ns = done->completed_ns;
                return;
        }
        self->syncing = false;
        self->synced_ns = done->completed_ns;
        dbio_log_harden(&self->log, self->sync_end,
                        &(struct dbio_log_flush){self->formed_ns, done->submitted_ns, done->completed_ns,
                                                 self->failed || done->result < 0});
}

/* ----- the source ----- */

static bool by_syscall(const struct dbio_logtail *self)
{
        return self->spec.style == DBIO_LOG_WRITER && self->spec.view == DBIO_VIEW_SYSCALL;
}

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct dbio_logtail *self = (struct dbio_logtail *)source;

        dbio_log_advance(&self->log, now_ns);
        return by_syscall(self) ? fill_syscalls(self, now_ns, ops, max) : fill_flushes(self, now_ns, ops, max);
}

static void done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct dbio_logtail *self = (struct dbio_logtail *)source;

        if (by_syscall(self))
                done_syscall(self, op, done_op);
        else
                done_flush(self, done_op);
}

static uint64_t wake(struct dbio_source *source)
{
        struct dbio_logtail *self = (struct dbio_logtail *)source;
        uint64_t next = dbio_log_next(&self->log), due = UINT64_MAX;

        if (more_ops(self))
                return 0;
        if (by_syscall(self)) {
                if (!self->syncing && !(self->unsynced && self->writing))
                        due = flush_due(self);
                if (write_due(self) < due)
                        due = write_due(self);
        } else if (!self->flushing) {
                due = flush_due(self);
                /* Commits that are done without an fsync wait for nothing but a call of fill. */
                if (self->spec.sync_every != 1 && self->log.position.appended > self->log.position.durable &&
                    !sync_due(self))
                        due = 0;
        }
        return due < next ? due : next;
}

static void finish(struct dbio_source *source, uint64_t now_ns)
{
        (void)now_ns;
        dbio_log_finish(&((struct dbio_logtail *)source)->log);
}

static void free_source(struct dbio_source *source)
{
        dbio_log_release(&((struct dbio_logtail *)source)->log);
        free(source);
}

static const struct dbio_source_class class = {
        .fill = fill,
        .done = done,
        .wake = wake,
        .finish = finish,
        .free = free_source,
};

static int place_ring(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                      struct dbio_logtail *self, struct dbio_err *err)
{
        const struct dbio_geometry *geometry = &env->targets[keys->target];
        uint32_t unit;
        struct dbio_space space;
        uint64_t part;

        if (self->spec.view == DBIO_VIEW_SYSCALL && self->spec.block % geometry->sector)
                return dbio_err_set(
                        err, DBIO_USAGE,
                        "view: syscall writes blocks of %u bytes, but the target's sector is %u: say view: device",
                        self->spec.block, geometry->sector);
        self->grain = geometry->sector > PAGE_CACHE ? geometry->sector : PAGE_CACHE;
        unit = self->grain > self->spec.block ? self->grain : self->spec.block;
        if (dbio_space_init(&space, &keys->region, geometry, unit, unit, err))
                return -1;
        if (self->spec.length < space.to - space.from)
                space.to = space.from + down(self->spec.length, unit);
        part = (space.to - space.from) / self->spec.segments;
        self->max_write = MAX_WRITE;
        while (self->max_write > unit && self->max_write > part / 4)
                self->max_write /= 2;
        return dbio_logring_init(&self->ring, geometry, space.from, space.to, self->spec.segments,
                                 self->spec.part_header, unit, self->max_write,
                                 dbio_rng_seed(env->seed, env->phase, env->stream, DBIO_RNG_PLACE), err);
}

int dbio_logtail_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                         const struct dbio_logtail_spec *spec, size_t size, struct dbio_stream *out,
                         struct dbio_err *err)
{
        struct dbio_logtail *self = calloc(1, size);

        if (!self)
                return dbio_err_set(err, DBIO_IO, "no memory: %s", strerror(ENOMEM));
        self->source.class = &class;
        self->spec = *spec;
        self->target = (uint16_t)keys->target;
        self->flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        self->checkpoint_due_ns = spec->checkpoint_ns;
        if (place_ring(env, keys, self, err) ||
            dbio_log_init(&self->log, &spec->plan, &self->source, keys->start_ns,
                          dbio_rng_seed(env->seed, env->phase, env->stream, 0), err) ||
            dbio_stream_one_source(out, &self->source, err)) {
                free_source(&self->source);
                return -1;
        }
        dbio_log_set_stream(&self->log, out, env);
        out->load = 2 * dbio_commit_plan_load(&spec->plan);
        out->max_length = self->max_write;
        out->nuses = 1;
        out->uses[0] = (struct dbio_stream_use){
                .target = self->target, .writes = true, .from = self->ring.from, .to = self->ring.to};
        return 0;
}
