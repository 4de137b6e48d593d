#include "patterns/seqscan.h"

#include "patterns/dist.h"

struct scan {
        struct dbio_flow flow;
        struct dbio_space space;
        uint64_t start, bytes, at, left; /* bytes */
        uint32_t read;
        unsigned reads, most;            /* that may be in flight */
        uint16_t target;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct scan *self = (struct scan *)flow;

        (void)begin_ns;
        self->at = self->start;
        self->left = self->bytes;
        self->reads = 1;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct scan *self = (struct scan *)flow;
        uint64_t room;

        (void)now_ns;
        if (!self->left)
                return DBIO_FLOW_END;
        if (flow->outstanding >= self->reads)
                return DBIO_FLOW_WAIT;
        room = dbio_space_end(&self->space, self->at) - self->at;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_READ_AHEAD;
        op->target = self->target;
        op->offset = self->at;
        op->length = self->read < room ? self->read : (uint32_t)room;
        if (op->length > self->left)
                op->length = (uint32_t)self->left;
        self->left -= op->length;
        self->at += op->length;
        if (self->at == self->space.to)
                self->at = self->space.from;
        return DBIO_FLOW_OP;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done_op)
{
        struct scan *self = (struct scan *)flow;

        (void)op;
        (void)done_op;
        self->reads = self->reads * 2 < self->most ? self->reads * 2 : self->most;
}

static const struct dbio_flow_class class = {.begin = begin, .next = next, .done = done};

int dbio_seqscan_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                         const struct dbio_seqscan_spec *spec, struct dbio_stream *out, struct dbio_err *err)
{
        struct dbio_flow_plan plan = {.class = &class, .due = spec->due};
        uint64_t page = dbio_pattern_page(env, keys->target), all;
        struct scan *self;
        struct dbio_rng rng;

        if (dbio_flow_new(out, sizeof *self, &plan, env, err))
                return -1;
        self = (struct scan *)out->sources[0];
        self->target = (uint16_t)keys->target;
        self->read = (uint32_t)(spec->read_bytes / page * page);
        if (!self->read)
                return dbio_key_error(err, spec->read_key, "less than a page of the target");
        self->most = spec->reads;
        if (dbio_space_init(&self->space, &keys->region, &env->targets[keys->target], page, page, err))
                return -1;
        all = self->space.to - self->space.from;
        self->start = self->space.from;
        self->bytes = spec->pages == DBIO_UNSET ? all : spec->pages * page;
        if (self->bytes > all)
                return dbio_key_error(err, "pages", "more than the region's %llu", (unsigned long long)(all / page));
        if (spec->pages != DBIO_UNSET) {
                dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
                self->start += dbio_rng_below(&rng, all / self->read ? all / self->read : 1) * self->read;
        }
        out->max_length = self->read;
        dbio_stream_add_use(out, keys->target, true, false, &self->space);
        return 0;
}
