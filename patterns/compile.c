#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/dirtymap.h"
#include "patterns/groupcommit.h"
#include "patterns/workload.h"

struct compiled {
        struct dbio_schedule schedule; /* first: the two are one */
        const struct dbio_workload *workload;
        struct dbio_geometry *targets;
        unsigned *pages;
        const char **target_names, **phase_names;
};

struct shared_map {
        struct shared_map *next;
        const char *name;
        int target;
        struct dbio_dirty_map map;
};

enum stage { WAITING, COMPILING, COMPILED };

/* One open phase. */
struct open_phase {
        const struct compiled *compiled;
        const struct dbio_workload_phase *phase;
        struct dbio_stream *streams;
        unsigned *joined; /* union-find: streams that have to share a worker */
        unsigned char *stage;
        struct shared_map *maps;
};

static unsigned root_of(const struct open_phase *open, unsigned i)
{
        while (open->joined[i] != i)
                i = open->joined[i];
        return i;
}

static void join(struct open_phase *open, unsigned a, unsigned b)
{
        a = root_of(open, a);
        b = root_of(open, b);
        open->joined[a > b ? a : b] = a < b ? a : b;
}

/* Index in the phase of a stream of the workload, -1 where the phase does not run it. */
static int index_in(const struct open_phase *open, int stream)
{
        for (unsigned i = 0; i < open->phase->nstreams; i++)
                if (stream >= 0 && open->phase->streams[i] == (unsigned)stream)
                        return (int)i;
        return -1;
}

static struct dbio_stream *env_other(const struct dbio_pattern_env *env, int stream)
{
        struct open_phase *open = env->state;
        int i = index_in(open, stream);

        return i < 0 ? NULL : &open->streams[i];
}

static unsigned env_other_index(const struct dbio_pattern_env *env, int stream)
{
        return (unsigned)index_in(env->state, stream);
}

static struct dbio_stream *env_log_of(const struct dbio_pattern_env *env, int target)
{
        struct open_phase *open = env->state;

        for (unsigned i = 0; i < open->phase->nstreams; i++) {
                const struct dbio_workload_stream *stream = &open->phase->resolved[i];
                bool member = stream->keys.target == target;

                if (!(stream->pattern->flags & DBIO_STREAM_COMMITS))
                        continue;
                for (unsigned m = 0; m < stream->keys.nmembers; m++)
                        member |= stream->keys.members[m] == target;
                if (member && open->streams[i].log) {
                        join(open, env->self, i);
                        return &open->streams[i];
                }
        }
        return NULL;
}

static struct dbio_dirty_map *env_dirty_map(const struct dbio_pattern_env *env, const char *name)
{
        struct open_phase *open = env->state;
        int target = open->phase->resolved[env->self].keys.target;
        struct shared_map *shared;

        for (shared = open->maps; shared; shared = shared->next)
                if (shared->target == target && !strcmp(shared->name, name))
                        return &shared->map;
        shared = calloc(1, sizeof *shared);
        if (!shared)
                return NULL;
        *shared = (struct shared_map){.next = open->maps, .name = name, .target = target};
        open->maps = shared;
        return &shared->map;
}

/* The key at fault: as the pattern says, or the word before the colon of its message. */
static const struct dbio_node *node_at_fault(const struct dbio_workload_stream *stream, const struct dbio_err *err)
{
        const char *text = err->path[0] ? err->path : err->message;
        const struct dbio_node *node = stream->node;
        char key[64];

        while (node && node->type == DBIO_NODE_MAP) {
                size_t n = strcspn(text, err->path[0] ? "." : ":");
                const struct dbio_node *inner;

                if (n >= sizeof key)
                        break;
                memcpy(key, text, n);
                key[n] = 0;
                inner = dbio_node_get(node, key);
                if (!inner)
                        break;
                node = inner;
                if (!text[n] || text[n] == ':')
                        break;
                text += n + 1;
        }
        return node;
}

/* A compile error concerns a stream of a phase: says which, and where it stands. */
static int explain(struct dbio_err *err, const struct open_phase *open, unsigned i)
{
        const struct dbio_workload_stream *stream = &open->phase->resolved[i];
        char message[sizeof err->message], path[sizeof err->path];

        if (!err)
                return -1;
        const struct dbio_node *node = node_at_fault(stream, err);

        memcpy(message, err->message, sizeof message);
        memcpy(path, err->path, sizeof path);
        snprintf(err->message, sizeof err->message, "%.64s in phase %.64s: %.800s", stream->name, open->phase->name, message);
        snprintf(err->path, sizeof err->path, "streams.%.100s", stream->name);
        if (node && node != stream->node)
                for (unsigned k = 0; k < stream->node->n; k++)
                        if (stream->node->items[k] == node)
                                snprintf(err->path, sizeof err->path, "streams.%.100s.%.100s", stream->name,
                                         stream->node->keys[k]->text);
        if (node && node != stream->node && path[0])
                snprintf(err->path, sizeof err->path, "streams.%.100s.%.100s", stream->name, path);
        return node ? dbio_err_locate(err, node->file, node->line, node->column) : -1;
}

static int compile_stream(struct open_phase *open, unsigned i, struct dbio_err *err);

static bool does_read(const struct dbio_stream *stream)
{
        for (unsigned i = 0; i < stream->nuses; i++)
                if (stream->uses[i].reads)
                        return true;
        return false;
}

/* Streams that this one names are compiled before it; of two that name each other either may be the first. */
static int compile_named(struct open_phase *open, unsigned i, struct dbio_err *err)
{
        const struct dbio_workload_stream *stream = &open->phase->resolved[i];

        for (const struct dbio_field *field = stream->pattern->fields; field && field->key; field++) {
                if (field->type != DBIO_FIELD_STREAM)
                        continue;
                int named = *(const int *)((const char *)stream->config + field->offset);
                int other = index_in(open, named);

                if (named < 0)
                        continue;
                if (other < 0 || (unsigned)other == i) {
                        dbio_err_set(err, DBIO_USAGE, "%s names %s, which %s", field->key,
                                     open->compiled->workload->streams[named].name,
                                     other < 0 ? "this phase does not run" : "is the stream itself");
                        return explain(err, open, i);
                }
                if (strcmp(field->key, "paired_with"))
                        join(open, i, (unsigned)other);
                if (open->stage[other] == WAITING && compile_stream(open, (unsigned)other, err))
                        return -1;
                if (!strcmp(field->key, "paired_with") && !does_read(&open->streams[other])) {
                        dbio_err_set(err, DBIO_USAGE, "paired_with names %s, which reads nothing",
                                     open->compiled->workload->streams[named].name);
                        return explain(err, open, i);
                }
        }
        return 0;
}

static int compile_stream(struct open_phase *open, unsigned i, struct dbio_err *err)
{
        const struct dbio_workload_stream *stream = &open->phase->resolved[i];
        const struct compiled *compiled = open->compiled;
        struct dbio_stream *out = &open->streams[i];
        uint64_t stop = out->stop_ns < open->phase->duration_ns ? out->stop_ns : open->phase->duration_ns;
        struct dbio_pattern_env env = {
                .phase = open->phase->name,
                .stream = stream->name,
                .seed = compiled->workload->seed,
                .duration_ns = stop == UINT64_MAX ? UINT64_MAX : stop > out->start_ns ? stop - out->start_ns : 0,
                .ntargets = compiled->schedule.ntargets,
                .targets = compiled->targets,
                .pages = compiled->pages,
                .self = i,
                .other = env_other,
                .other_index = env_other_index,
                .log_of = env_log_of,
                .dirty_map = env_dirty_map,
                .state = open,
        };

        open->stage[i] = COMPILING;
        if (compile_named(open, i, err))
                return -1;
        if (stream->pattern->compile(&env, &stream->keys, stream->config, out, err))
                return explain(err, open, i);
        open->stage[i] = COMPILED;
        if (stream->pattern->keys & DBIO_KEYS_DIRTY && out->nuses) {
                /* Two bits a page (dirtymap.h). */
                out->memory_bytes = (out->uses[0].to - out->uses[0].from) / env.pages[out->uses[0].target] / 4;
        }
        return 0;
}

static int set_after(struct open_phase *open, unsigned i, struct dbio_err *err)
{
        int named = open->phase->resolved[i].keys.after, other = index_in(open, named);
        unsigned steps = 0;

        if (!(open->phase->resolved[i].pattern->keys & DBIO_KEYS_WRITE) || named < 0)
                return 0;
        if (other < 0 || !open->streams[other].position) {
                dbio_err_set(err, DBIO_USAGE, "after names %s, which is no log stream of this phase",
                             open->compiled->workload->streams[named].name);
                return explain(err, open, i);
        }
        for (int at = other; at >= 0 && open->phase->resolved[at].pattern->keys & DBIO_KEYS_WRITE;
             at = index_in(open, open->phase->resolved[at].keys.after))
                if ((unsigned)at == i || steps++ > open->phase->nstreams) {
                        dbio_err_set(err, DBIO_USAGE, "after goes round in a circle");
                        return explain(err, open, i);
                }
        open->streams[i].after = open->streams[other].position;
        join(open, i, (unsigned)other);
        return 0;
}

static const char *map_of(const struct dbio_workload_stream *stream)
{
        return stream->pattern->keys & DBIO_KEYS_DIRTY ? stream->keys.dirty_map : NULL;
}

static void join_maps(struct open_phase *open)
{
        const struct dbio_workload_stream *streams = open->phase->resolved;

        for (unsigned i = 0; i < open->phase->nstreams; i++)
                for (unsigned k = 0; k < i; k++)
                        if (map_of(&streams[i]) && map_of(&streams[k]) && streams[i].keys.target == streams[k].keys.target &&
                            !strcmp(map_of(&streams[i]), map_of(&streams[k])))
                                join(open, i, k);
}

static void number_groups(struct open_phase *open)
{
        unsigned n = open->phase->nstreams;

        for (unsigned i = 0; i < n; i++) {
                unsigned members = 0, root = root_of(open, i);

                for (unsigned k = 0; k < n; k++)
                        members += root_of(open, k) == root;
                open->streams[i].group = members > 1 ? root + 1 : 0;
        }
}

static int compile_all(struct open_phase *open, struct dbio_err *err)
{
        unsigned n = open->phase->nstreams;
        bool ends = open->phase->duration_ns != UINT64_MAX || open->phase->ops != UINT64_MAX;

        for (unsigned i = 0; i < n; i++)
                if (open->phase->resolved[i].pattern->flags & DBIO_STREAM_COMMITS && open->stage[i] == WAITING &&
                    compile_stream(open, i, err))
                        return -1;
        for (unsigned takes = 0; takes < 2; takes++)
                for (unsigned i = 0; i < n; i++)
                        if (open->stage[i] == WAITING && open->phase->resolved[i].pattern->takes_dirt == takes &&
                            compile_stream(open, i, err))
                                return -1;
        for (unsigned i = 0; i < n; i++) {
                if (set_after(open, i, err))
                        return -1;
                ends |= !(open->streams[i].flags & DBIO_STREAM_ENDLESS);
        }
        join_maps(open);
        number_groups(open);
        if (ends)
                return 0;
        if (open->phase->node)
                return dbio_node_error(open->phase->node, err, "this phase has no end: give it a duration, or ops, or a"
                                                               " stream that ends by itself");
        return dbio_err_set(err, DBIO_USAGE, "phase %s has no end", open->phase->name);
}

static void phase_close(struct dbio_schedule *schedule, struct dbio_phase *phase)
{
        struct open_phase *open = phase->state;

        (void)schedule;
        for (unsigned i = 0; open && open->streams && i < open->phase->nstreams; i++) {
                struct dbio_stream *stream = &open->streams[i];

                for (unsigned k = 0; k < stream->nsources; k++)
                        stream->sources[k]->class->free(stream->sources[k]);
                free(stream->sources);
        }
        while (open && open->maps) {
                struct shared_map *shared = open->maps;

                open->maps = shared->next;
                dbio_dirty_map_release(&shared->map);
                free(shared);
        }
        if (open) {
                free(open->streams);
                free(open->joined);
                free(open->stage);
        }
        free(open);
        memset(phase, 0, sizeof *phase);
}

static int phase_open(struct dbio_schedule *schedule, unsigned index, struct dbio_phase *out, struct dbio_err *err)
{
        const struct compiled *compiled = (struct compiled *)schedule;
        const struct dbio_workload_phase *phase = &compiled->workload->phases[index];
        struct open_phase *open = calloc(1, sizeof *open);

        *out = (struct dbio_phase){.state = open};
        if (!open)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        open->compiled = compiled;
        open->phase = phase;
        open->streams = calloc(phase->nstreams, sizeof *open->streams);
        open->joined = calloc(phase->nstreams, sizeof *open->joined);
        open->stage = calloc(phase->nstreams, 1);
        if (!open->streams || !open->joined || !open->stage) {
                dbio_err_set(err, DBIO_BUG, "no memory");
                goto fail;
        }
        for (unsigned i = 0; i < phase->nstreams; i++) {
                const struct dbio_workload_stream *stream = &phase->resolved[i];

                open->joined[i] = i;
                open->streams[i] = (struct dbio_stream){
                        .name = stream->name,
                        .pattern = stream->pattern->name,
                        .flags = stream->pattern->flags,
                        .threads = 1,
                        .start_ns = stream->keys.start_ns,
                        .stop_ns = stream->keys.stop_ns,
                        .compressible = stream->compressible,
                        .dedup = stream->dedup,
                };
        }
        if (compile_all(open, err))
                goto fail;
        *out = (struct dbio_phase){
                .name = phase->name,
                .duration_ns = phase->duration_ns,
                .ops = phase->ops,
                .record = phase->record,
                .nstreams = phase->nstreams,
                .streams = open->streams,
                .state = open,
        };
        return 0;
fail:
        phase_close(schedule, out);
        return -1;
}

static void schedule_free(struct dbio_schedule *schedule)
{
        struct compiled *compiled = (struct compiled *)schedule;

        if (!compiled)
                return;
        free(compiled->targets);
        free(compiled->pages);
        free(compiled->target_names);
        free(compiled->phase_names);
        free(compiled);
}

int dbio_workload_compile(const struct dbio_workload *workload, const struct dbio_geometry *geometry,
                          struct dbio_schedule **out, struct dbio_err *err)
{
        struct compiled *compiled = calloc(1, sizeof *compiled);
        unsigned n = workload->ntargets;

        *out = NULL;
        if (!compiled)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        compiled->workload = workload;
        compiled->targets = calloc(n + 1, sizeof *compiled->targets);
        compiled->pages = calloc(n + 1, sizeof *compiled->pages);
        compiled->target_names = calloc(n + 1, sizeof *compiled->target_names);
        compiled->phase_names = calloc(workload->nphases + 1, sizeof *compiled->phase_names);
        if (!compiled->targets || !compiled->pages || !compiled->target_names || !compiled->phase_names) {
                schedule_free(&compiled->schedule);
                return dbio_err_set(err, DBIO_BUG, "no memory");
        }
        for (unsigned i = 0; i < n; i++) {
                compiled->targets[i] = geometry[i];
                compiled->pages[i] = workload->targets[i].page;
                compiled->target_names[i] = workload->targets[i].name;
        }
        for (unsigned i = 0; i < workload->nphases; i++)
                compiled->phase_names[i] = workload->phases[i].name;
        compiled->schedule = (struct dbio_schedule){
                .ntargets = n,
                .nphases = workload->nphases,
                .target_names = compiled->target_names,
                .phase_names = compiled->phase_names,
                .seed = workload->seed,
                .hba = workload->hba,
                .phase_open = phase_open,
                .phase_close = phase_close,
                .free = schedule_free,
        };
        memcpy(compiled->schedule.hash, workload->hash, sizeof compiled->schedule.hash);
        *out = &compiled->schedule;
        return 0;
}
