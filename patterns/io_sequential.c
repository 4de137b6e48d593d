#include <math.h>
#include <stdlib.h>

#include "patterns/io.h"
#include "patterns/pace.h"
#include "patterns/random.h"

struct source {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_pace *paces;  /* one a thread that the source carries */
        struct dbio_rng *arrival; /* likewise, with poisson arrivals of a shared cursor */
        uint64_t *due;
        unsigned threads;
        struct dbio_mix sizes;
        struct dbio_space space;
        double read;
        uint64_t cursor, fsync_every, writes, turn;
        uint64_t fsync_due;
        uint16_t target, fsync_thread;
        uint8_t write_flags;
        bool fsync_next;
};

/* Whose turn it is on a shared cursor: the thread that is due first, in a closed loop each in turn. */
static unsigned next_thread(struct source *source, uint64_t *due_ns)
{
        unsigned best = 0;

        if (source->threads == 1) {
                *due_ns = dbio_pace_next(&source->paces[0], &source->arrival[0]);
                return 0;
        }
        if (source->paces[0].gap_ns == 0) {
                *due_ns = DBIO_NO_DUE;
                return (unsigned)(source->turn++ % source->threads);
        }
        for (unsigned i = 1; i < source->threads; i++)
                if (source->due[i] < source->due[best])
                        best = i;
        *due_ns = source->due[best];
        source->due[best] = dbio_pace_next(&source->paces[best], &source->arrival[best]);
        return best;
}

static void make(struct source *source, struct dbio_op *op)
{
        *op = (struct dbio_op){.target = source->target, .thread = source->base.thread, .role = DBIO_ROLE_IO};
        if (source->fsync_next) {
                source->fsync_next = false;
                op->kind = DBIO_FSYNC;
                op->flags = DBIO_OP_BARRIER;
                op->due_ns = source->fsync_due;
                op->thread = source->fsync_thread;
                return;
        }
        op->thread = (uint16_t)(op->thread + next_thread(source, &op->due_ns));
        if (source->read < 1 && dbio_rng_unit(&source->rng) >= source->read) {
                op->kind = DBIO_WRITE;
                op->flags = source->write_flags;
                if (source->fsync_every != DBIO_UNSET && ++source->writes % source->fsync_every == 0) {
                        source->fsync_next = true;
                        source->fsync_due = op->due_ns;
                        source->fsync_thread = op->thread;
                }
        }
        op->length = (uint32_t)source->sizes.size[dbio_mix_draw(&source->sizes, &source->rng)];
        op->offset = dbio_space_fit(&source->space, source->cursor, op->length);
        source->cursor = op->offset + op->length;
}

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        (void)now_ns;
        for (unsigned i = 0; i < max; i++)
                make((struct source *)base, &ops[i]);
        return max;
}

static void release(struct dbio_source *base)
{
        struct source *source = (struct source *)base;

        free(source->paces);
        free(source->arrival);
        free(source->due);
        free(source);
}

static const struct dbio_source_class class = {.fill = fill, .free = release};

static int set_paces(struct source *source, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                     unsigned first, double rate, struct dbio_err *err)
{
        source->paces = calloc(source->threads, sizeof *source->paces);
        source->arrival = calloc(source->threads, sizeof *source->arrival);
        source->due = calloc(source->threads, sizeof *source->due);
        if (!source->paces || !source->arrival || !source->due)
                return dbio_err_set(err, DBIO_BUG, "no memory for %u threads", source->threads);
        for (unsigned i = 0; i < source->threads; i++) {
                dbio_rng_init(&source->arrival[i], dbio_pattern_seed(env, DBIO_RNG_ARRIVAL + first + i));
                dbio_pace_init(&source->paces[i], rate, keys->arrival == DBIO_UNIFORM, first + i, (unsigned)keys->threads);
                if (source->threads > 1)
                        source->due[i] = dbio_pace_next(&source->paces[i], &source->arrival[i]);
        }
        return 0;
}

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        if (keys->skew.kind != DBIO_SKEW_UNIFORM)
                return dbio_key_error(err, "skew", "io.sequential has no skew");
        return dbio_io_check(keys, config, err);
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct dbio_io_config *c = config;
        unsigned n = c->shared ? 1 : (unsigned)keys->threads;
        struct dbio_mix sizes;
        struct dbio_space space;
        uint64_t align, largest = 0;

        if (dbio_io_sizes(&sizes, c, &env->targets[keys->target], err))
                return -1;
        align = dbio_pattern_align(env, keys->target, sizes.size[0]);
        for (unsigned i = 0; i < sizes.n; i++) {
                if (dbio_space_init(&space, &keys->region, &env->targets[keys->target], align, sizes.size[i], err))
                        return -1;
                if (sizes.size[i] > largest)
                        largest = sizes.size[i];
        }
        uint64_t share = (space.to - space.from) / n / align * align;
        double rate = dbio_mix_rate(&sizes, &keys->rate);

        dbio_stream_set_loop(out, keys, rate);
        if (isnan(rate) || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        out->max_length = (uint32_t)largest;
        if (c->shared)
                out->depth *= (unsigned)keys->threads;
        dbio_stream_add_use(out, keys->target, c->read > 0, c->read < 1, &space);
        if (dbio_stream_add_sources(out, n, sizeof(struct source), &class, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                struct source *source = (struct source *)out->sources[i];

                source->sizes = sizes;
                source->space = space;
                source->space.from += i * share;
                source->space.to = source->space.from + share;
                source->cursor = source->space.from;
                source->read = c->read;
                source->fsync_every = c->fsync_every;
                source->target = (uint16_t)keys->target;
                source->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
                source->threads = c->shared ? (unsigned)keys->threads : 1;
                dbio_rng_init(&source->rng, dbio_pattern_seed(env, i));
                struct dbio_slots slots;
                dbio_slots_init(&slots, &source->space, largest);
                if (!slots.n)
                        return dbio_err_set(err, DBIO_USAGE, "region: too small for %u threads of their own part", n);
                if (set_paces(source, env, keys, i, rate, err))
                        return -1;
        }
        return 0;
}

static const struct dbio_field fields[] = {
        DBIO_IO_FIELDS(struct dbio_io_config),
        {.key = "shared", .type = DBIO_FIELD_BOOL, .offset = offsetof(struct dbio_io_config, shared), .fallback = "no",
         .help = "yes: all threads take turns on one cursor (diskspd -si); no: each goes through its own part of the region",
         .source = "judgement"},
        {0},
};

const struct dbio_pattern dbio_io_sequential = {
        .name = "io.sequential",
        .summary = "Reads and writes one after the other, as fio (rw), diskspd and SQLIO (-fsequential) make them",
        .rev = 1,
        .keys = DBIO_KEYS_READ | DBIO_KEYS_WRITE,
        .role = "io",
        .fields = fields,
        .config_size = sizeof(struct dbio_io_config),
        .example = "{pattern: io.sequential, target: data, size: 64K, read: 0%, depth: 8}",
        .check = check,
        .compile = compile,
        .ends = dbio_never_ends,
};
