#include "tests/bed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/doc.h"

static const char *const target_names[] = {"t0", "t1", "t2", "t3"};
static const char *const stream_names[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};

void bed_init(struct bed *bed)
{
        memset(bed, 0, sizeof *bed);
        for (int i = 0; i < 4; i++) {
                bed->targets[i] = (struct dbio_geometry){.file_size = 8ull << 30, .nfiles = 1, .sector = 512};
                bed->pages[i] = 8192;
        }
        bed->duration_ns = UINT64_MAX;
        bed->seed = 20081216;
}

struct dbio_stream_keys bed_keys(void)
{
        return (struct dbio_stream_keys){
                .nmembers = 1,
                .threads = 1,
                .depth = DBIO_UNSET,
                .rate = {NAN, false},
                .stop_ns = DBIO_UNSET,
                .region = {{.share = 0}, {.share = 1}},
                .after = -1,
                .write_through = true,
                .dirty = {.density = NAN, .pages_per_write = NAN, .stride = DBIO_UNSET},
                .version = 2019,
        };
}

static struct dbio_stream *other(const struct dbio_pattern_env *env, int stream)
{
        struct bed *bed = env->state;

        return stream >= 0 && (unsigned)stream < bed->nstreams ? &bed->streams[stream] : NULL;
}

static unsigned other_index(const struct dbio_pattern_env *env, int stream)
{
        (void)env;
        return (unsigned)stream;
}

static struct dbio_stream *log_of(const struct dbio_pattern_env *env, int target)
{
        struct bed *bed = env->state;

        for (unsigned i = 0; i < bed->nstreams; i++)
                if (bed->streams[i].log && bed->streams[i].uses[0].target == target)
                        return &bed->streams[i];
        return NULL;
}

static struct dbio_dirty_map *dirty_map(const struct dbio_pattern_env *env, const char *name)
{
        (void)name;
        return &((struct bed *)env->state)->map;
}

int bed_add(struct bed *bed, const char *name, const char *pattern_name, const struct dbio_stream_keys *keys, const char *yaml)
{
        const struct dbio_pattern *pattern = dbio_pattern_find(pattern_name);
        struct dbio_field_scope scope = {4, BED_STREAMS, target_names, stream_names};
        unsigned i = bed->nstreams;
        struct dbio_pattern_env env = {
                .phase = "phase",
                .stream = name,
                .seed = bed->seed,
                .duration_ns = bed->duration_ns,
                .ntargets = 4,
                .targets = bed->targets,
                .pages = bed->pages,
                .self = i,
                .other = other,
                .other_index = other_index,
                .log_of = log_of,
                .dirty_map = dirty_map,
                .state = bed,
        };

        if (!pattern)
                return dbio_err_set(&bed->err, DBIO_USAGE, "no pattern %s", pattern_name);
        bed->docs[i] = calloc(1, sizeof *bed->docs[i]);
        bed->configs[i] = calloc(1, pattern->config_size);
        if (*yaml && dbio_doc_parse(bed->docs[i], "keys", yaml, strlen(yaml), &bed->err))
                return -1;
        if (dbio_fields_parse(pattern->fields, bed->docs[i]->root, &scope, bed->configs[i], &bed->err))
                return -1;
        if (pattern->check && pattern->check(keys, bed->configs[i], &bed->err))
                return -1;
        bed->streams[i] = (struct dbio_stream){.name = name, .pattern = pattern->name, .flags = pattern->flags, .threads = 1,
                                               .start_ns = keys->start_ns, .stop_ns = keys->stop_ns};
        bed->nstreams++;
        if (pattern->compile(&env, keys, bed->configs[i], &bed->streams[i], &bed->err))
                return -1;
        if (keys->after >= 0)
                bed->streams[i].after = bed->streams[keys->after].position;
        return 0;
}

void bed_play(struct bed *bed, uint64_t until_ns, uint64_t latency_ns)
{
        bed->play.streams = bed->streams;
        bed->play.nstreams = bed->nstreams;
        bed->play.until_ns = until_ns;
        if (latency_ns)
                bed->play.latency_ns = latency_ns;
        play_run(&bed->play);
}

void bed_release(struct bed *bed)
{
        for (unsigned i = 0; i < bed->nstreams; i++) {
                for (unsigned k = 0; k < bed->streams[i].nsources; k++)
                        bed->streams[i].sources[k]->class->free(bed->streams[i].sources[k]);
                free(bed->streams[i].sources);
        }
        for (unsigned i = 0; i < BED_STREAMS; i++) {
                free(bed->configs[i]);
                if (bed->docs[i])
                        dbio_doc_release(bed->docs[i]);
                free(bed->docs[i]);
        }
        dbio_dirty_map_release(&bed->map);
        play_release(&bed->play);
        memset(bed, 0, sizeof *bed);
}
