#include "patterns/flow.h"

#include <stdlib.h>

/* When the next episode is due, UINT64_MAX = never. */
static uint64_t next_due(const struct dbio_flow *flow)
{
        uint64_t round = flow->begun / flow->per_due, due = flow->first_ns;

        if (flow->continuous)
                return flow->begun ? UINT64_MAX : 0;
        if (round && flow->every_ns == UINT64_MAX)
                due = flow->repeat ? flow->ended_ns : UINT64_MAX;
        else if (round)
                due = round > UINT64_MAX / 2 / flow->every_ns ? UINT64_MAX : due + round * flow->every_ns;
        return due < flow->duration_ns ? due : UINT64_MAX;
}

static bool begin(struct dbio_flow *flow, uint64_t now_ns)
{
        uint64_t due = next_due(flow), at = due > flow->ended_ns ? due : flow->ended_ns;

        if (due == UINT64_MAX) {
                flow->base.ended = !flow->continuous && !flow->lives_on;
                return false;
        }
        if (due > now_ns)
                return false;
        flow->begun++;
        flow->running = true;
        flow->ending = false;
        flow->called_ns = flow->last_ns = at;
        flow->ops = 0;
        flow->read_bytes = 0;
        flow->service_ns = 0;
        flow->episode = (struct dbio_episode){.episode = flow->continuous ? 0 : (uint32_t)flow->begun, .begin_ns = at};
        if (!flow->continuous)
                dbio_report_episode_begin(flow->base.report, flow->episode.episode, at);
        flow->class->begin(flow, at);
        return true;
}

static void report(struct dbio_flow *flow, uint64_t end_ns)
{
        flow->running = false;
        flow->episode.end_ns = end_ns;
        if (flow->episode.writes)
                flow->episode.write_mean_ns = (uint64_t)(flow->service_ns / (double)flow->episode.writes);
        else
                flow->episode.bytes = flow->read_bytes;
        if (flow->class->end)
                flow->class->end(flow, &flow->episode);
        if (!flow->continuous)
                dbio_report_episode_end(flow->base.report, &flow->episode);
}

static void end(struct dbio_flow *flow)
{
        flow->ended_ns = flow->last_ns;
        report(flow, flow->last_ns);
        if (!flow->ops && flow->repeat) /* nothing to do, over and over */
                flow->repeat = false;
}

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct dbio_flow *flow = (struct dbio_flow *)base;
        unsigned n = 0;

        flow->nudged = false;
        if (flow->class->tick)
                flow->class->tick(flow, now_ns);
        while (n < max) {
                if (!flow->running && !begin(flow, now_ns))
                        break;
                if (flow->ending || (flow->depth && flow->outstanding >= flow->depth))
                        break;
                ops[n] = (struct dbio_op){.due_ns = flow->called_ns, .episode = flow->episode.episode};
                enum dbio_flow_step step = flow->class->next(flow, now_ns, &ops[n]);

                if (step == DBIO_FLOW_WAIT)
                        break;
                if (step == DBIO_FLOW_OP) {
                        flow->outstanding++;
                        flow->ops++;
                        n++;
                        continue;
                }
                flow->ending = true;
                if (!flow->outstanding)
                        end(flow);
        }
        flow->more = n == max;
        if (flow->ending && next_due(flow) == UINT64_MAX && !flow->lives_on &&
            !(flow->repeat && flow->every_ns == UINT64_MAX))
                base->ended = true;
        return n;
}

/* Records and copies to a snapshot go along with the episode, but are not what it is about. */
static void count(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        if (op->role == DBIO_ROLE_LOG || op->role == DBIO_ROLE_SNAPSHOT)
                return;
        if (op->kind == DBIO_READ)
                flow->read_bytes += op->length;
        if (op->kind != DBIO_WRITE)
                return;
        flow->episode.writes++;
        flow->episode.pages += flow->page_bytes ? op->length / flow->page_bytes : 0;
        flow->episode.bytes += op->length;
        flow->service_ns += (double)done->service_ns;
}

static void done(struct dbio_source *base, const struct dbio_op *op, const struct dbio_done *done)
{
        struct dbio_flow *flow = (struct dbio_flow *)base;

        flow->outstanding--;
        if (done->completed_ns > flow->last_ns)
                flow->last_ns = done->completed_ns;
        if (done->result >= 0)
                count(flow, op, done);
        if (flow->class->done)
                flow->class->done(flow, op, done);
        if (done->completed_ns > flow->called_ns)
                flow->called_ns = done->completed_ns;
        if (flow->running && flow->ending && !flow->outstanding)
                end(flow);
}

static uint64_t wake(struct dbio_source *base)
{
        struct dbio_flow *flow = (struct dbio_flow *)base;
        uint64_t at = flow->class->wake ? flow->class->wake(flow) : UINT64_MAX, due;

        if (base->ended)
                return UINT64_MAX;
        if (flow->nudged || (flow->running && flow->more))
                return 0;
        if (flow->running)
                return at;
        due = next_due(flow);
        if (due == UINT64_MAX)
                return flow->continuous || flow->lives_on ? at : 0; /* fill then sets ended */
        return due < at ? due : at;
}

static void finish(struct dbio_source *base, uint64_t now_ns)
{
        struct dbio_flow *flow = (struct dbio_flow *)base;

        (void)now_ns;
        if (flow->running)
                report(flow, UINT64_MAX);
}

static void release(struct dbio_source *base)
{
        struct dbio_flow *flow = (struct dbio_flow *)base;

        if (flow->class && flow->class->release)
                flow->class->release(flow);
        free(flow);
}

static const struct dbio_source_class source_class = {fill, done, wake, finish, release};

int dbio_flow_new(struct dbio_stream *out, size_t size, const struct dbio_flow_plan *plan,
                  const struct dbio_pattern_env *env, struct dbio_err *err)
{
        struct dbio_flow *flow;

        if (dbio_stream_add_sources(out, 1, size, &source_class, err))
                return -1;
        flow = (struct dbio_flow *)out->sources[0];
        flow->class = plan->class;
        flow->every_ns = plan->due.every_ns == DBIO_UNSET ? UINT64_MAX : plan->due.every_ns;
        flow->first_ns = plan->due.first_ns != DBIO_UNSET ? plan->due.first_ns : flow->every_ns == UINT64_MAX ? 0 : flow->every_ns;
        flow->duration_ns = env->duration_ns;
        flow->per_due = 1;
        flow->depth = plan->depth;
        flow->repeat = plan->due.repeat;
        out->threads = 1;
        out->depth = 0;
        out->flags |= DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES;
        /* A repeated pass is a closed loop; an episode every so often ends with the phase's duration. */
        if (plan->due.repeat || (flow->every_ns != UINT64_MAX && env->duration_ns == UINT64_MAX))
                out->flags |= DBIO_STREAM_ENDLESS;
        return 0;
}

int dbio_due_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct dbio_due_keys *due = config;

        (void)keys;
        if (due->repeat && due->every_ns != DBIO_UNSET)
                return dbio_key_error(err, "repeat", "repeat and every exclude each other");
        return 0;
}

bool dbio_due_ends(const struct dbio_stream_keys *keys, const void *config)
{
        const struct dbio_due_keys *due = config;

        (void)keys;
        return !due->repeat && due->every_ns == DBIO_UNSET;
}

void dbio_flow_nudge(struct dbio_flow *flow, uint64_t at_ns)
{
        flow->nudged = true;
        if (at_ns > flow->called_ns)
                flow->called_ns = at_ns;
}

static void log_durable(struct dbio_log_waiter *waiter, uint64_t phase_ns)
{
        struct dbio_log_out *out = (struct dbio_log_out *)waiter;

        uint64_t at_ns = phase_ns > out->start_ns ? phase_ns - out->start_ns : 0;

        out->waiting--;
        if (out->flow->running && at_ns > out->flow->last_ns)
                out->flow->last_ns = at_ns;
        dbio_flow_nudge(out->flow, at_ns);
}

int dbio_log_out_init(struct dbio_log_out *out, struct dbio_flow *flow, const struct dbio_pattern_env *env,
                      struct dbio_stream *stream, int target, unsigned records, uint32_t largest, struct dbio_err *err)
{
        struct dbio_stream *log;
        struct dbio_space space;
        struct dbio_rng rng;

        *out = (struct dbio_log_out){.waiter = {log_durable}, .flow = flow, .start_ns = stream->start_ns};
        if (target < 0)
                return 0;
        out->used = true;
        out->target = (uint16_t)target;
        out->sector = env->targets[target].sector ? env->targets[target].sector : 512;
        log = env->log_of ? env->log_of(env, target) : NULL;
        if (log) {
                out->log = log->log;
                return dbio_log_reserve(out->log, records, err);
        }
        largest = (largest + out->sector - 1) / out->sector * out->sector;
        if (dbio_pattern_space(&space, env, target, NULL, largest, err))
                return -1;
        dbio_rng_init(&rng, dbio_pattern_seed(env, DBIO_RNG_PLACE));
        dbio_stream_add_use(stream, target, false, true, &space);
        if (largest > stream->max_length)
                stream->max_length = largest;
        return dbio_logring_init(&out->ring, &env->targets[target], space.from, space.to, 1, 0, out->sector, largest,
                                 dbio_rng_next(&rng), err);
}

bool dbio_log_out_put(struct dbio_log_out *out, uint64_t now_ns, uint32_t bytes, struct dbio_op *op)
{
        if (!out->used)
                return false;
        out->waiting++;
        if (out->log) {
                dbio_log_commit(out->log, now_ns + out->start_ns, bytes, &out->waiter);
                return false;
        }
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_LOG;
        op->target = out->target;
        op->flags = DBIO_OP_DSYNC;
        op->length = (bytes + out->sector - 1) / out->sector * out->sector;
        op->offset = dbio_logring_place(&out->ring, op->length);
        return true;
}

bool dbio_log_out_done(struct dbio_log_out *out, const struct dbio_op *op)
{
        if (op->role != DBIO_ROLE_LOG)
                return false;
        out->waiting--;
        return true;
}
