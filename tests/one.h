/* Compiles one stream of a pattern from its own keys as YAML, without a workload around it. */
#ifndef DBIO_TESTS_ONE_H
#define DBIO_TESTS_ONE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/doc.h"
#include "patterns/field.h"
#include "patterns/pattern.h"

#define ONE_STREAMS 4

/* Streams that know each other by index; all on targets[]. */
struct one {
        struct dbio_geometry targets[4];
        unsigned pages[4];
        unsigned nstreams;
        struct dbio_stream streams[ONE_STREAMS];
        void *configs[ONE_STREAMS]; /* sources may refer to them */
        struct dbio_err err;
};

static struct dbio_stream *one_other(const struct dbio_pattern_env *env, int stream)
{
        struct one *one = env->state;

        return stream >= 0 && (unsigned)stream < one->nstreams ? &one->streams[stream] : NULL;
}

static unsigned one_other_index(const struct dbio_pattern_env *env, int stream)
{
        (void)env;
        return (unsigned)stream;
}

static struct dbio_stream *one_log_of(const struct dbio_pattern_env *env, int target)
{
        struct one *one = env->state;

        for (unsigned i = 0; i < one->nstreams; i++)
                if (one->streams[i].log && one->streams[i].uses[0].target == target)
                        return &one->streams[i];
        return NULL;
}

static inline struct dbio_stream_keys one_keys(const struct dbio_pattern *pattern, int target)
{
        return (struct dbio_stream_keys){
                .target = target,
                .nmembers = 1,
                .members = {target},
                .threads = 1,
                .depth = DBIO_UNSET,
                .rate = {NAN, false},
                .stop_ns = DBIO_UNSET,
                .region = {.from = {.share = 0}, .to = {.share = 1}},
                .after = -1,
                .write_through = pattern->write_through,
                .dirty = {.density = NAN, .pages_per_write = NAN, .stride = DBIO_UNSET},
                .version = 804,
        };
}

static inline void one_release_from(struct one *one, unsigned first, bool sources)
{
        for (unsigned i = first; i < one->nstreams; i++) {
                for (unsigned k = 0; sources && k < one->streams[i].nsources; k++)
                        one->streams[i].sources[k]->class->free(one->streams[i].sources[k]);
                free(one->streams[i].sources);
                free(one->configs[i]);
        }
        one->nstreams = first;
}

/* Streams are called s0, s1, … and targets t0, t1, …. Returns 0 or -1 with one->err. keys NULL: one_keys. */
static inline int one_add(struct one *one, const char *name, const struct dbio_stream_keys *keys, const char *yaml,
                          uint64_t duration_ns)
{
        static const char *const names[] = {"s0", "s1", "s2", "s3"}, *const targets[] = {"t0", "t1", "t2", "t3"};
        const struct dbio_pattern *pattern = dbio_pattern_find(name);
        struct dbio_field_scope scope = {4, ONE_STREAMS, targets, names};
        struct dbio_field fields[32] = {0};
        struct dbio_stream_keys defaults;
        struct dbio_doc doc;
        void *config;
        int result;
        struct dbio_pattern_env env = {
                .phase = "phase",
                .stream = names[one->nstreams],
                .seed = 1,
                .duration_ns = duration_ns,
                .ntargets = 4,
                .targets = one->targets,
                .pages = one->pages,
                .self = one->nstreams,
                .other = one_other,
                .other_index = one_other_index,
                .log_of = one_log_of,
                .state = one,
        };

        ck_assert_msg(pattern != NULL, "no pattern %s", name);
        defaults = one_keys(pattern, 0);
        if (!keys)
                keys = &defaults;
        for (unsigned i = 0; pattern->fields[i].key; i++) {
                fields[i] = pattern->fields[i];
                for (const struct dbio_preset *preset = pattern->presets; preset && preset->key; preset++)
                        if (preset->version <= keys->version && !strcmp(preset->key, fields[i].key))
                                fields[i].fallback = preset->text;
        }
        config = calloc(1, pattern->config_size);
        memset(&one->err, 0, sizeof one->err);
        ck_assert_msg(dbio_doc_parse(&doc, "test", yaml, strlen(yaml), &one->err) == 0, "%s", one->err.message);
        result = dbio_fields_parse(fields, doc.root, &scope, config, &one->err);
        if (!result && pattern->check)
                result = pattern->check(keys, config, &one->err);
        if (!result) {
                one->streams[one->nstreams] = (struct dbio_stream){.name = names[one->nstreams],
                                                                   .pattern = pattern->name,
                                                                   .flags = pattern->flags,
                                                                   .start_ns = keys->start_ns,
                                                                   .stop_ns = UINT64_MAX};
                result = pattern->compile(&env, keys, config, &one->streams[one->nstreams], &one->err);
                one->configs[one->nstreams++] = config;
                if (result)
                        one_release_from(one, one->nstreams - 1, true);
        } else {
                free(config);
        }
        dbio_doc_release(&doc);
        return result;
}

static inline void one_init(struct one *one, uint64_t bytes, unsigned sector, unsigned page)
{
        memset(one, 0, sizeof *one);
        for (unsigned i = 0; i < 4; i++) {
                one->targets[i] = (struct dbio_geometry){.file_size = bytes, .nfiles = 1, .sector = sector};
                one->pages[i] = page;
        }
        (void)one_other;
        (void)one_other_index;
        (void)one_log_of;
}

#define one_must(one, ...) ck_assert_msg(one_add(one, __VA_ARGS__) == 0, "%s", (one)->err.message)

/* Frees the streams' arrays; the sources too unless a drive has them. */
static inline void one_release(struct one *one, bool sources)
{
        one_release_from(one, 0, sources);
}

#endif
