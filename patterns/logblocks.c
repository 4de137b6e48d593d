#include "patterns/logblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/dist.h"
#include "patterns/region.h"
#include "patterns/rng.h"

static struct dbio_logblock *block_at(struct dbio_logblocks *self, uint64_t number)
{
        return &self->blocks[number % self->capacity];
}

static bool has_room(const struct dbio_logblocks *self)
{
        return self->in_flight < self->max_outstanding && self->tail - self->head < self->capacity;
}

/* Payload of the largest block. */
static uint64_t max_payload(const struct dbio_logblocks *self)
{
        return (uint64_t)self->max_block / self->sector * (self->sector - self->header);
}

/* When what waits must be written: 0 = at once, UINT64_MAX = nothing waits. */
static uint64_t flush_due(const struct dbio_logblocks *self)
{
        const struct dbio_log_position *position = &self->log.position;

        if (self->packed == position->appended)
                return UINT64_MAX;
        if (!self->log.plan.lazy || position->wanted > self->packed ||
            position->appended - self->packed >= max_payload(self))
                return 0;
        return dbio_log_arrival_at(&self->log, self->packed) + DBIO_LOG_LAZY_NS;
}

static void form(struct dbio_logblocks *self, uint64_t now_ns, unsigned parts)
{
        struct dbio_logblock *block = block_at(self, self->tail++);
        uint64_t pending = self->log.position.appended - self->packed, arrived;
        uint64_t bytes = pending > max_payload(self) ? max_payload(self) : pending;
        uint32_t payload = self->sector - self->header;

        if (parts > 1) {
                uint64_t share = pending / parts ? pending / parts : 1;
                uint64_t end = dbio_log_end_at(&self->log, self->packed + share);

                if (end - self->packed < bytes)
                        bytes = end - self->packed;
        }
        arrived = dbio_log_arrival_at(&self->log, self->packed);
        block->due_ns = self->log.plan.lazy ? now_ns : arrived > self->freed_ns ? arrived : self->freed_ns;
        self->packed += bytes;
        block->end = self->packed;
        block->length = (uint32_t)((bytes + payload - 1) / payload * self->sector);
        block->offset = dbio_logring_place(&self->ring, block->length);
        block->formed_ns = now_ns;
        block->submitted_ns = UINT64_MAX;
        block->failed = false;
        block->members_left = self->nmembers;
        self->in_flight++;
        self->member = 0;
}

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct dbio_logblocks *self = (struct dbio_logblocks *)source;
        unsigned n = 0, parts = self->writers;

        dbio_log_advance(&self->log, now_ns);
        while (n < max) {
                const struct dbio_logblock *block;

                if (self->member == self->nmembers) {
                        if (!has_room(self) || flush_due(self) > now_ns)
                                break;
                        if (parts > self->max_outstanding - self->in_flight)
                                parts = self->max_outstanding - self->in_flight;
                        form(self, now_ns, parts);
                        if (parts > 1)
                                parts--;
                }
                block = block_at(self, self->tail - 1);
                ops[n++] = (struct dbio_op){
                        .offset = block->offset,
                        .due_ns = block->due_ns,
                        .cookie = self->tail - 1,
                        .length = block->length,
                        .target = self->members[self->member++],
                        .kind = DBIO_WRITE,
                        .role = DBIO_ROLE_LOG,
                        .flags = self->flags,
                };
        }
        return n;
}

static void done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct dbio_logblocks *self = (struct dbio_logblocks *)source;
        struct dbio_logblock *block = block_at(self, op->cookie);

        if (done_op->submitted_ns < block->submitted_ns)
                block->submitted_ns = done_op->submitted_ns;
        block->failed |= done_op->result < 0;
        if (--block->members_left)
                return;
        if (!has_room(self))
                self->freed_ns = done_op->completed_ns;
        self->in_flight--;
        while (self->head < self->tail && block_at(self, self->head)->members_left == 0) {
                unsigned part;

                block = block_at(self, self->head++);
                part = dbio_logring_part(&self->ring, block->offset, &(uint64_t){0}, &(uint64_t){0});
                self->full += part != self->part;
                self->part = part;
                dbio_log_harden(&self->log, block->end,
                                &(struct dbio_log_flush){block->formed_ns, block->submitted_ns, done_op->completed_ns,
                                                         block->failed});
        }
}

static uint64_t wake(struct dbio_source *source)
{
        struct dbio_logblocks *self = (struct dbio_logblocks *)source;
        uint64_t next = dbio_log_next(&self->log), due;

        if (self->member < self->nmembers)
                return 0;
        due = has_room(self) ? flush_due(self) : UINT64_MAX;
        return due < next ? due : next;
}

static void finish(struct dbio_source *source, uint64_t now_ns)
{
        (void)now_ns;
        dbio_log_finish(&((struct dbio_logblocks *)source)->log);
}

static void free_source(struct dbio_source *source)
{
        struct dbio_logblocks *self = (struct dbio_logblocks *)source;

        dbio_log_release(&self->log);
        free(self->blocks);
        free(self);
}

static const struct dbio_source_class class = {
        .fill = fill,
        .done = done,
        .wake = wake,
        .finish = finish,
        .free = free_source,
};

/* Every member has the same shape as far as the log reaches: the smallest one's. */
static int shape(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, struct dbio_logblocks *self,
                 const struct dbio_logblocks_spec *spec, struct dbio_geometry *geometry, struct dbio_err *err)
{
        self->nmembers = keys->nmembers > 1 ? keys->nmembers : 1;
        self->members[0] = (uint16_t)keys->target;
        *geometry = env->targets[keys->target];
        for (unsigned i = 1; i < self->nmembers; i++) {
                const struct dbio_geometry *other = &env->targets[keys->members[i]];

                self->members[i] = (uint16_t)keys->members[i];
                if (other->file_size * other->nfiles < geometry->file_size * geometry->nfiles)
                        *geometry = (struct dbio_geometry){other->file_size, other->nfiles, geometry->sector};
                if (other->sector > geometry->sector)
                        geometry->sector = other->sector;
        }
        self->sector = spec->sector ? spec->sector : geometry->sector;
        if (self->sector % geometry->sector)
                return dbio_err_set(
                        err, DBIO_USAGE,
                        "sector %u is below the target's, which is %u: say sector: auto, or bind a target with "
                        "%u-byte sectors",
                        self->sector, geometry->sector, self->sector);
        return 0;
}

int dbio_logblocks_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                           const struct dbio_logblocks_spec *spec, struct dbio_stream *out, struct dbio_err *err)
{
        struct dbio_logblocks *self = calloc(1, sizeof *self);
        struct dbio_geometry geometry;
        struct dbio_space space;

        if (!self)
                return dbio_err_set(err, DBIO_IO, "no memory: %s", strerror(ENOMEM));
        self->source.class = &class;
        if (shape(env, keys, self, spec, &geometry, err))
                goto fail;
        self->header = spec->header;
        self->max_block = spec->max_block / self->sector * self->sector;
        if (self->max_block == 0)
                self->max_block = self->sector;
        self->max_outstanding = spec->max_outstanding;
        self->writers = spec->writers;
        self->flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        self->member = self->nmembers;
        self->capacity = 8 * self->max_outstanding;
        if (dbio_space_init(&space, &keys->region, &geometry, self->sector, self->max_block, err))
                goto fail;
        if (spec->length < space.to - space.from)
                space.to = space.from + spec->length;
        if (dbio_logring_init(&self->ring, &geometry, space.from, space.to, spec->segments, 0, self->sector,
                              self->max_block, dbio_rng_seed(env->seed, env->phase, env->stream, DBIO_RNG_PLACE), err))
                goto fail;
        self->part = dbio_logring_part(&self->ring, self->ring.cursor, &(uint64_t){0}, &(uint64_t){0});
        self->blocks = calloc(self->capacity, sizeof *self->blocks);
        if (!self->blocks) {
                dbio_err_set(err, DBIO_IO, "no memory: %s", strerror(ENOMEM));
                goto fail;
        }
        if (dbio_log_init(&self->log, &spec->plan, &self->source, keys->start_ns,
                          dbio_rng_seed(env->seed, env->phase, env->stream, 0), err) ||
            dbio_stream_one_source(out, &self->source, err))
                goto fail;
        dbio_log_set_stream(&self->log, out, env);
        out->load = dbio_commit_plan_load(&spec->plan);
        out->max_length = self->max_block;
        out->nuses = self->nmembers;
        for (unsigned i = 0; i < self->nmembers; i++)
                out->uses[i] = (struct dbio_stream_use){
                        .target = self->members[i], .writes = true, .from = self->ring.from, .to = self->ring.to};
        return 0;
fail:
        free_source(&self->source);
        return -1;
}
