#include "patterns/backup.h"

#include <math.h>

#include "patterns/dirtymap.h"

struct copy {
        struct dbio_flow flow;
        struct dbio_copy_plan plan;
        struct dbio_space from, to;
        uint64_t seed;           /* of what has changed, for each episode anew */
        uint64_t cursor, end;    /* of reading */
        uint64_t to_cursor;
        double filled;           /* bytes read that wait to be written, as they will be written */
        double used;             /* bytes of the buffers that hold something */
        unsigned reads, unit;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct copy *c = (struct copy *)flow;

        (void)begin_ns;
        c->cursor = c->from.from;
        c->to_cursor = c->to.from;
        c->filled = c->used = 0;
}

static bool has_changed(const struct copy *c, uint64_t at)
{
        uint64_t hash = dbio_rng_mix(c->seed + c->flow.episode.episode * 0x9e3779b97f4a7c15u + at / DBIO_EXTENT_BYTES);

        return c->plan.changed >= 1 || (double)(hash >> 11) * 0x1p-53 < c->plan.changed;
}

/* Bytes of the run of changed extents at the cursor, which goes over those that have not changed; 0 at the end. */
static uint64_t find_run(struct copy *c)
{
        while (c->cursor < c->end && !has_changed(c, c->cursor))
                c->cursor = (c->cursor / DBIO_EXTENT_BYTES + 1) * DBIO_EXTENT_BYTES;
        if (c->cursor >= c->end)
                return 0;
        uint64_t end = dbio_space_end(&c->from, c->cursor), at = c->cursor;

        end = end < c->end ? end : c->end;
        end = end - at < c->plan.io ? end : at + c->plan.io;
        while (at < end && has_changed(c, at))
                at = (at / DBIO_EXTENT_BYTES + 1) * DBIO_EXTENT_BYTES;
        return (at < end ? at : end) - c->cursor;
}

static void give_write(struct copy *c, struct dbio_op *op)
{
        double bytes = c->filled < (double)c->plan.io ? c->filled : (double)c->plan.io;

        op->kind = DBIO_WRITE;
        op->role = c->plan.role;
        op->target = (uint16_t)c->plan.to;
        op->flags = c->write_flags;
        op->length = ((uint32_t)ceil(bytes) + c->unit - 1) / c->unit * c->unit;
        c->to_cursor = dbio_space_fit(&c->to, c->to_cursor, op->length);
        op->offset = c->to_cursor;
        c->to_cursor += op->length;
        c->filled -= bytes;
        c->used += op->length - bytes;
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct copy *c = (struct copy *)flow;
        uint64_t run;

        (void)now_ns;
        if (c->filled >= (double)c->plan.io) {
                give_write(c, op);
                return DBIO_FLOW_OP;
        }
        run = find_run(c);
        if (run && c->used + (double)run <= (double)c->plan.io * c->plan.buffers) {
                op->kind = DBIO_READ;
                op->role = c->plan.role;
                op->target = (uint16_t)c->plan.from;
                op->offset = c->cursor;
                op->length = (uint32_t)run;
                c->cursor += run;
                c->used += (double)run;
                c->reads++;
                return DBIO_FLOW_OP;
        }
        if (flow->outstanding)
                return run || c->reads ? DBIO_FLOW_WAIT : c->filled >= 1 ? (give_write(c, op), DBIO_FLOW_OP) : DBIO_FLOW_END;
        if (c->filled < 1)
                return DBIO_FLOW_END;
        give_write(c, op);
        return DBIO_FLOW_OP;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct copy *c = (struct copy *)flow;

        (void)done;
        c->used -= op->length;
        if (op->kind != DBIO_READ)
                return;
        c->reads--;
        c->filled += op->length / c->plan.compression;
        c->used += op->length / c->plan.compression;
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, NULL};

int dbio_copy_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                      const struct dbio_copy_plan *plan, struct dbio_stream *out, struct dbio_err *err)
{
        struct dbio_flow_plan flow = {&class, plan->due, 0};

        if (dbio_flow_new(out, sizeof(struct copy), &flow, env, err))
                return -1;
        struct copy *c = (struct copy *)out->sources[0];
        c->plan = *plan;
        c->seed = dbio_pattern_seed(env, DBIO_RNG_SHAPE);
        c->flow.page_bytes = dbio_pattern_page(env, keys->target);
        c->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        c->unit = env->targets[plan->to].sector > 4096 ? env->targets[plan->to].sector : 4096;
        if (dbio_pattern_space(&c->from, env, plan->from, plan->from_region, plan->io, err) ||
            dbio_pattern_space(&c->to, env, plan->to, plan->to_region, plan->io, err))
                return -1;
        if (plan->to == keys->target) /* the stream's own target first */
                dbio_stream_add_use(out, plan->to, false, true, &c->to);
        dbio_stream_add_use(out, plan->from, true, false, &c->from);
        dbio_stream_add_use(out, plan->to, false, true, &c->to);
        uint64_t size = c->from.to - c->from.from, room = c->to.to - c->to.from;
        bool restore = plan->to == keys->target;

        c->end = c->from.to;
        if (restore && (double)size / plan->compression > (double)room) /* the rest of the media holds other backups */
                c->end = c->from.from + (uint64_t)((double)room * plan->compression) / plan->io * plan->io;
        else if (!restore && (double)size * plan->changed / plan->compression > (double)room)
                return dbio_err_set(err, DBIO_USAGE, "to: the backup of %.1f GiB does not fit into %.1f GiB",
                                    (double)size * plan->changed / plan->compression / (1 << 30), (double)room / (1 << 30));
        out->max_length = (uint32_t)plan->io;
        return 0;
}
