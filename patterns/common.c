#include "patterns/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "patterns/rng.h"

int dbio_stream_add_sources(struct dbio_stream *out, unsigned n, size_t size, const struct dbio_source_class *class,
                            struct dbio_err *err)
{
        out->sources = calloc(n, sizeof(struct dbio_source *));
        if (!out->sources)
                return dbio_err_set(err, DBIO_BUG, "no memory for %u threads", n);
        for (; out->nsources < n; out->nsources++) {
                struct dbio_source *source = calloc(1, size);

                if (!source)
                        return dbio_err_set(err, DBIO_BUG, "no memory for %u threads", n);
                source->class = class;
                source->thread = (uint16_t)out->nsources;
                out->sources[out->nsources] = source;
        }
        return 0;
}

void dbio_source_free(struct dbio_source *source)
{
        free(source);
}

void dbio_stream_add_use(struct dbio_stream *out, int target, bool reads, bool writes, const struct dbio_space *space)
{
        struct dbio_stream_use *use = out->uses, *end = out->uses + out->nuses;

        while (use < end && use->target != target)
                use++;
        if (use == end) {
                if (out->nuses == sizeof out->uses / sizeof *out->uses)
                        abort();
                out->nuses++;
                *use = (struct dbio_stream_use){(uint16_t)target, reads, writes, space->from, space->to};
                return;
        }
        use->reads |= reads;
        use->writes |= writes;
        if (space->from < use->from)
                use->from = space->from;
        if (space->to > use->to)
                use->to = space->to;
}

unsigned dbio_pattern_page(const struct dbio_pattern_env *env, int target)
{
        return env->pages[target];
}

uint64_t dbio_pattern_align(const struct dbio_pattern_env *env, int target, uint64_t bytes)
{
        unsigned page = env->pages[target], sector = env->targets[target].sector;

        return page && bytes % page == 0 ? page : sector ? sector : 512;
}

int dbio_pattern_space(struct dbio_space *space, const struct dbio_pattern_env *env, int target,
                       const struct dbio_region *region, uint64_t op_bytes, struct dbio_err *err)
{
        static const struct dbio_region whole = {.from = {.share = 0}, .to = {.share = 1}};

        return dbio_space_init(space, region ? region : &whole, &env->targets[target],
                               dbio_pattern_align(env, target, op_bytes), op_bytes, err);
}

uint64_t dbio_pattern_seed(const struct dbio_pattern_env *env, unsigned thread)
{
        return dbio_rng_seed(env->seed, env->phase, env->stream, thread);
}

uint64_t dbio_pattern_hot_seed(const struct dbio_pattern_env *env)
{
        return dbio_rng_seed(env->seed, "", env->stream, DBIO_RNG_HOT);
}

int dbio_read_keys_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        (void)config;
        if (dbio_is_set(keys->rate.per_s) && keys->think_ns)
                return dbio_key_error(err, "think", "think belongs to a closed loop; a stream with rate has none");
        return 0;
}

void dbio_stream_set_loop(struct dbio_stream *out, const struct dbio_stream_keys *keys, double rate)
{
        bool open = dbio_is_set(rate);

        out->threads = (unsigned)keys->threads;
        out->depth = keys->depth != DBIO_UNSET ? (unsigned)keys->depth : open ? 0 : 1;
        out->think_ns = open ? 0 : keys->think_ns;
        out->load = open ? rate : 0;
        if (open)
                out->flags |= DBIO_STREAM_TIMED;
}

int dbio_key_error(struct dbio_err *err, const char *key, const char *format, ...)
{
        char text[512];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        dbio_err_set(err, DBIO_USAGE, "%s", text);
        if (err)
                snprintf(err->path, sizeof err->path, "%s", key);
        return -1;
}
