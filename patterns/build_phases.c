#include "patterns/build.h"

#include <string.h>

#include "patterns/edit.h"

#define PHASES_MAX      1000
#define STREAM_RUNS_MAX 200000u

static int choose_streams(const struct dbio_build *build, struct dbio_build_phase *phase, struct dbio_err *err)
{
        const struct dbio_node *list = phase->keys.streams;

        if (!list) {
                memset(phase->runs, 1, build->scope.nstreams * sizeof *phase->runs);
                return 0;
        }
        if (list->type != DBIO_NODE_LIST)
                return dbio_node_error(list, err, "a list of streams belongs here: [%.60s]",
                                       *list->text ? list->text : build->scope.streams[0]);
        if (!list->n)
                return dbio_node_error(list, err, "an empty list: name a stream, or leave the key out for all");
        for (unsigned i = 0; i < list->n; i++) {
                const struct dbio_node *name = list->items[i];
                int index = dbio_build_find_stream(build, name->text, strlen(name->text), name, err);

                if (index < 0)
                        return -1;
                if (phase->runs[index])
                        return dbio_node_error(name, err, "stream \"%s\" is named twice", name->text);
                phase->runs[index] = true;
        }
        return 0;
}

/* One key of a phase's `set`: its stream's map is copied at the first, and the value put into the copy. */
static int set_key(struct dbio_build *build, struct dbio_build_phase *phase, struct dbio_node **copies, unsigned i,
                   struct dbio_err *err)
{
        const struct dbio_node *key = phase->keys.set->keys[i];
        const char *name = key->text, *rest;
        int index;

        if (strncmp(name, "streams.", 8) || !(rest = strchr(name + 8, '.')) || rest == name + 8 || !rest[1])
                return dbio_node_error(key, err, "\"%.100s\" is no key of a stream: write streams.NAME.KEY", name);
        name += 8;
        index = dbio_build_find_stream(build, name, (size_t)(rest - name), key, err);
        if (index < 0)
                return -1;
        if (!phase->runs[index])
                return dbio_node_error(key, err, "stream \"%s\" does not run in this phase",
                                       build->scope.streams[index]);
        if (!strcmp(rest + 1, "pattern"))
                return dbio_node_error(key, err, "another pattern is another stream: give it a name of its own");
        if (!copies[index]) {
                copies[index] = dbio_node_copy(build->arena, build->streams[index].node);
                copies[index]->parent = build->streams[index].node;
        }
        return dbio_edit_put(build->arena, copies[index], rest + 1, phase->keys.set->items[i], key, err);
}

static int apply_set(struct dbio_build *build, struct dbio_build_phase *phase, struct dbio_err *err)
{
        const struct dbio_node *set = phase->keys.set;
        struct dbio_node **copies;

        if (!set)
                return 0;
        if (set->type != DBIO_NODE_MAP)
                return dbio_node_error(set, err, "a map such as {streams.log.commit_rate: 4000/s} belongs here");
        copies = dbio_arena_alloc(build->arena, build->scope.nstreams * sizeof *copies);
        for (unsigned i = 0; i < set->n; i++)
                if (set_key(build, phase, copies, i, err))
                        return -1;
        for (unsigned i = 0; i < build->scope.nstreams; i++) {
                if (!copies[i])
                        continue;
                phase->streams[i] = dbio_arena_alloc(build->arena, sizeof **phase->streams);
                if (dbio_build_stream(build, i, copies[i], phase->streams[i], err))
                        return -1;
        }
        return 0;
}

static const struct dbio_build_stream *stream_in(const struct dbio_build *build, const struct dbio_build_phase *phase,
                                                 unsigned i)
{
        return phase->streams[i] ? phase->streams[i] : &build->streams[i];
}

static int same_phase(const struct dbio_build *build, const struct dbio_build_phase *phase, unsigned i,
                      const struct dbio_field *field, const void *config, struct dbio_err *err)
{
        int other = -1;

        if (field->type == DBIO_FIELD_STREAM)
                memcpy(&other, (const char *)config + field->offset, sizeof other);
        if (other < 0 || phase->runs[other])
                return 0;
        return dbio_node_error(phase->keys.streams ? phase->keys.streams : phase->node, err,
                               "\"%s\" runs here without \"%s\", which its key \"%s\" names: add it to the phase",
                               build->scope.streams[i], build->scope.streams[other], field->key);
}

/* Streams that a stream names are streams of the same phase, and the phase comes to an end. */
static int check_phase(const struct dbio_build *build, const struct dbio_build_phase *phase, struct dbio_err *err)
{
        bool ends = phase->keys.duration_ns != DBIO_UNSET || phase->keys.ops != DBIO_UNSET;

        for (unsigned i = 0; i < build->scope.nstreams; i++) {
                const struct dbio_build_stream *stream = stream_in(build, phase, i);
                const struct dbio_pattern *pattern = stream->pattern;

                if (!phase->runs[i])
                        continue;
                for (const struct dbio_field *field = stream->shared; field->key; field++)
                        if (same_phase(build, phase, i, field, &stream->entry, err))
                                return -1;
                for (const struct dbio_field *field = pattern->fields; field && field->key; field++)
                        if (same_phase(build, phase, i, field, stream->config, err))
                                return -1;
                ends |= stream->entry.keys.stop_ns != DBIO_UNSET;
                ends |= pattern->ends ? pattern->ends(&stream->entry.keys, stream->config)
                                      : !(pattern->flags & DBIO_STREAM_ENDLESS);
        }
        if (ends)
                return 0;
        return dbio_node_error(phase->node, err,
                               "this phase has no end: give it a duration, or ops, or a stream that ends by itself");
}

static int fill_phase(struct dbio_build *build, const struct dbio_build_phase *phase, struct dbio_workload_phase *out)
{
        unsigned n = 0;

        *out = (struct dbio_workload_phase){
                .name = phase->keys.name,
                .duration_ns = phase->keys.duration_ns,
                .ops = phase->keys.ops,
                .record = phase->keys.record,
                .node = phase->node,
        };
        for (unsigned i = 0; i < build->scope.nstreams; i++)
                out->nstreams += phase->runs[i];
        out->streams = dbio_arena_alloc(build->arena, out->nstreams * sizeof *out->streams);
        out->resolved = dbio_arena_alloc(build->arena, out->nstreams * sizeof *out->resolved);
        for (unsigned i = 0; i < build->scope.nstreams; i++) {
                if (!phase->runs[i])
                        continue;
                out->streams[n] = i;
                out->resolved[n++] = dbio_build_result(build, i, stream_in(build, phase, i));
        }
        return 0;
}

static int build_phase(struct dbio_build *build, unsigned p, struct dbio_err *err)
{
        struct dbio_build_phase *phase = &build->phases[p];

        phase->node = build->keys.phases->items[p];
        if (dbio_fields_parse(dbio_phase_fields, phase->node, NULL, &phase->keys, err) ||
            dbio_build_name(dbio_node_get(phase->node, "name"), "phase", err))
                return -1;
        for (unsigned i = 0; i < p; i++)
                if (!strcmp(build->phases[i].keys.name, phase->keys.name))
                        return dbio_node_error(dbio_node_get(phase->node, "name"), err,
                                               "a second phase \"%s\": each needs a name of its own", phase->keys.name);
        phase->runs = dbio_arena_alloc(build->arena, build->scope.nstreams * sizeof *phase->runs);
        phase->streams = dbio_arena_alloc(build->arena, build->scope.nstreams * sizeof *phase->streams);
        if (choose_streams(build, phase, err) || apply_set(build, phase, err) || check_phase(build, phase, err))
                return -1;
        return fill_phase(build, phase, &build->workload->phases[p]);
}

int dbio_build_phases(struct dbio_build *build, struct dbio_err *err)
{
        const struct dbio_node *list = build->keys.phases;

        if (list->type != DBIO_NODE_LIST)
                return dbio_node_error(list, err, "a list of phases belongs here: - {name: main, duration: 1m}");
        if (!list->n)
                return dbio_node_error(list, err, "no phase is given");
        if (list->n > PHASES_MAX || list->n * build->scope.nstreams > STREAM_RUNS_MAX)
                return dbio_node_error(list, err, "over %d phases, or over %u streams over all of them", PHASES_MAX,
                                       STREAM_RUNS_MAX);
        build->phases = dbio_arena_alloc(build->arena, list->n * sizeof *build->phases);
        build->workload->phases = dbio_arena_alloc(build->arena, list->n * sizeof *build->workload->phases);
        build->workload->nphases = list->n;
        for (unsigned p = 0; p < list->n; p++)
                if (build_phase(build, p, err))
                        return -1;
        return 0;
}
