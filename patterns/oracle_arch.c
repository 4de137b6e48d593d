/* Oracle's archiver: at each log switch the log that is full is read from its beginning and copied. */
#include <string.h>

#include "patterns/flow.h"
#include "patterns/logblocks.h"

#define IO      (1u << 20) /* judgement: reads and writes of 1 MB */
#define BUFFERS 2u         /* judgement: the next piece is read while one is written */

struct config {
        int after_switch_of, to;
};

static const struct dbio_field fields[] = {
        {"after_switch_of", DBIO_FIELD_STREAM, offsetof(struct config, after_switch_of), NULL, 0, 0,
         "the oracle.lgwr stream whose logs are archived", "Database Concepts, ARCn", DBIO_FIELD_REQUIRED, NULL, NULL},
        {"to", DBIO_FIELD_TARGET, offsetof(struct config, to), NULL, 0, 0, "target of the archived logs",
         "LOG_ARCHIVE_DEST_n", DBIO_FIELD_REQUIRED, NULL, NULL},
        {0},
};

struct arch {
        struct dbio_flow flow;
        const struct dbio_stream *lgwr;
        struct dbio_space to, log_space;
        uint64_t archived; /* logs */
        bool running;
        uint64_t from, end, read_at;      /* of the log that is being copied */
        uint64_t write_at;                /* in the archive */
        uint32_t pieces[BUFFERS];         /* lengths of what has been read and not given to be written, in order */
        unsigned first, npieces, buffers; /* buffers in use */
        uint16_t log, target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        (void)flow;
        (void)begin_ns;
}

/* Part `number` of the ring, counted from the one that was current at the phase's start. */
static void start_log(struct arch *self, const struct dbio_logblocks *blocks)
{
        uint64_t first = blocks->part + blocks->ring.segments - blocks->full % blocks->ring.segments;
        uint64_t part = (first + self->archived) % blocks->ring.segments;

        dbio_logring_part(&blocks->ring, blocks->ring.from + part * blocks->ring.segment, &self->from, &self->end);
        /* A region of its own keeps it to that part of the logs. */
        if (self->from < self->log_space.from)
                self->from = self->log_space.from;
        if (self->end > self->log_space.to)
                self->end = self->log_space.to;
        if (self->from > self->end)
                self->from = self->end;
        self->read_at = self->from;
        self->running = true;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct arch *self = (struct arch *)flow;
        const struct dbio_logblocks *blocks = (const struct dbio_logblocks *)self->lgwr->sources[0];

        if (!self->running) {
                if (self->archived == blocks->full)
                        return DBIO_FLOW_WAIT;
                start_log(self, blocks);
                flow->called_ns = now_ns;
                op->due_ns = now_ns;
        }
        if (self->npieces) {
                op->kind = DBIO_WRITE;
                op->role = DBIO_ROLE_ARCHIVE;
                op->target = self->target;
                op->flags = self->write_flags;
                op->length = self->pieces[self->first];
                op->offset = self->write_at = dbio_space_fit(&self->to, self->write_at, op->length);
                self->write_at += op->length;
                self->first = (self->first + 1) % BUFFERS;
                self->npieces--;
                return DBIO_FLOW_OP;
        }
        if (self->read_at < self->end && self->buffers < BUFFERS) {
                uint64_t file_end = (self->read_at / blocks->ring.file_size + 1) * blocks->ring.file_size;
                uint64_t end = file_end < self->end ? file_end : self->end;

                op->kind = DBIO_READ;
                op->role = DBIO_ROLE_LOG_READ;
                op->target = self->log;
                op->offset = self->read_at;
                op->length = end - self->read_at < IO ? (uint32_t)(end - self->read_at) : IO;
                self->read_at += op->length;
                self->buffers++;
                return DBIO_FLOW_OP;
        }
        if (self->read_at == self->end && !self->buffers) {
                self->running = false;
                self->archived++;
                dbio_flow_nudge(flow, now_ns);
        }
        return DBIO_FLOW_WAIT;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct arch *self = (struct arch *)flow;

        (void)done_op;
        if (op->kind == DBIO_READ)
                self->pieces[(self->first + self->npieces++) % BUFFERS] = op->length;
        else
                self->buffers--;
}

static uint64_t wake(struct dbio_flow *flow)
{
        const struct arch *self = (const struct arch *)flow;

        if (!flow->running || !self->lgwr)
                return UINT64_MAX;
        if (!self->running)
                return ((const struct dbio_logblocks *)self->lgwr->sources[0])->full > self->archived ? 0 : UINT64_MAX;
        return flow->outstanding ? UINT64_MAX : 0;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next, .done = done, .wake = wake};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_flow_plan plan = {.class = &class, .due = DBIO_DUE_ONCE};
        const struct dbio_logblocks *blocks;
        struct arch *self;
        struct dbio_rng rng;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct arch *)out->sources[0];
        self->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        self->lgwr = env->other(env, config->after_switch_of);
        if (!self->lgwr || strcmp(self->lgwr->pattern, "oracle.lgwr"))
                return dbio_key_error(err, "after_switch_of", "must be an oracle.lgwr stream of the same phase");
        blocks = (const struct dbio_logblocks *)self->lgwr->sources[0];
        self->log = (uint16_t)keys->target;
        if (self->log != self->lgwr->uses[0].target)
                return dbio_key_error(err, "target", "the archiver reads the log that %s writes to first",
                                      self->lgwr->name);
        self->target = (uint16_t)config->to;
        self->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dbio_pattern_space(&self->to, env, config->to, NULL, IO, err))
                return -1;
        dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        self->write_at = self->to.from + dbio_rng_below(&rng, (self->to.to - self->to.from) / IO) * IO;
        out->max_length = IO;
        if (dbio_space_init(&self->log_space, &keys->region, &env->targets[keys->target], blocks->sector,
                            blocks->sector, err))
                return -1;
        dbio_stream_add_use(out, keys->target, true, false, &self->log_space);
        dbio_stream_add_use(out, config->to, false, true, &self->to);
        return 0;
}

const struct dbio_pattern dbio_oracle_arch = {
        .name = "oracle.arch",
        .summary = "Archiver: copies each full log to the archive",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "archive",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: oracle.arch, target: redo-a, after_switch_of: lgwr, to: archive}",
        .compile = compile,
};
