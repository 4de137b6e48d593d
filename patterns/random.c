#include "patterns/random.h"

#include <math.h>

#include "patterns/dist.h"
#include "patterns/pace.h"

struct place {
        struct dbio_slots slots;
        struct dbio_pick pick;
};

struct source {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_pace pace;
        struct dbio_mix sizes;
        double read;
        uint64_t left, fsync_every, writes;
        uint16_t target;
        uint8_t role, write_flags;
        bool fsync_next;
        uint64_t fsync_due;
        struct place places[];
};

static void make(struct source *source, struct dbio_op *op)
{
        *op = (struct dbio_op){.target = source->target, .thread = source->base.thread, .role = source->role};
        if (source->fsync_next) {
                source->fsync_next = false;
                op->kind = DBIO_FSYNC;
                op->flags = DBIO_OP_BARRIER;
                op->due_ns = source->fsync_due;
                return;
        }
        op->due_ns = dbio_pace_next(&source->pace, &source->rng);
        if (source->read < 1 && dbio_rng_unit(&source->rng) >= source->read) {
                op->kind = DBIO_WRITE;
                op->flags = source->write_flags;
                if (source->fsync_every != DBIO_UNSET && ++source->writes % source->fsync_every == 0) {
                        source->fsync_next = true;
                        source->fsync_due = op->due_ns;
                }
        }
        unsigned size = dbio_mix_draw(&source->sizes, &source->rng);
        struct place *place = &source->places[size];

        op->offset = dbio_slots_offset(&place->slots, dbio_pick_next(&place->pick, &source->rng));
        op->length = (uint32_t)place->slots.size;
        source->left -= source->left != UINT64_MAX;
}

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct source *source = (struct source *)base;
        unsigned n = 0;

        (void)now_ns;
        while (n < max && (source->left || source->fsync_next))
                make(source, &ops[n++]);
        base->ended = !source->left && !source->fsync_next;
        return n;
}

static const struct dbio_source_class class = {.fill = fill, .free = dbio_source_free};

static int places(struct source *source, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                  const struct dbio_random_plan *plan, struct dbio_stream *out, struct dbio_err *err)
{
        const struct dbio_geometry *geometry = &env->targets[keys->target];

        for (unsigned i = 0; i < plan->sizes.n; i++) {
                uint64_t size = plan->sizes.size[i];
                uint64_t align = plan->align ? plan->align : dbio_pattern_align(env, keys->target, size);
                struct place *place = &source->places[i];
                struct dbio_space space;

                if (dbio_space_init(&space, &keys->region, geometry, align, size, err))
                        return -1;
                dbio_slots_init(&place->slots, &space, size);
                dbio_pick_init(&place->pick, &keys->skew, place->slots.n, dbio_pattern_hot_seed(env));
                dbio_stream_add_use(out, keys->target, plan->read > 0, plan->read < 1, &space);
                if (size > out->max_length)
                        out->max_length = (uint32_t)size;
        }
        return 0;
}

int dbio_random_compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                        const struct dbio_random_plan *plan, struct dbio_stream *out, struct dbio_err *err)
{
        double rate = dbio_mix_rate(&plan->sizes, &keys->rate);
        unsigned n = (unsigned)keys->threads;

        dbio_stream_set_loop(out, keys, rate);
        if (plan->ops == UINT64_MAX && (isnan(rate) || env->duration_ns == UINT64_MAX))
                out->flags |= DBIO_STREAM_ENDLESS;
        if (dbio_stream_add_sources(out, n, sizeof(struct source) + plan->sizes.n * sizeof(struct place), &class, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                struct source *source = (struct source *)out->sources[i];

                source->sizes = plan->sizes;
                source->read = plan->read;
                source->fsync_every = plan->fsync_every;
                source->target = (uint16_t)keys->target;
                source->role = plan->role;
                source->write_flags = plan->write_flags;
                source->left = plan->ops == UINT64_MAX ? UINT64_MAX : plan->ops / n + (i < plan->ops % n);
                dbio_rng_init(&source->rng, dbio_pattern_seed(env, i));
                dbio_pace_init(&source->pace, rate, keys->arrival == DBIO_UNIFORM, i, n);
                if (places(source, env, keys, plan, out, err))
                        return -1;
        }
        return 0;
}

static double mix_mean(const struct dbio_mix *sizes)
{
        double mean = 0;

        for (unsigned i = 0; i < sizes->n; i++)
                mean += (double)sizes->size[i] * sizes->share[i];
        return mean;
}

double dbio_mix_rate(const struct dbio_mix *sizes, const struct dbio_rate *rate)
{
        return rate->bytes ? rate->per_s / mix_mean(sizes) : rate->per_s;
}

struct dbio_mix dbio_mix_of(uint64_t size)
{
        return (struct dbio_mix){.n = 1, .size = {size}, .share = {1}};
}
