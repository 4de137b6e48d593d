#include "engine/near.h"
#include "patterns/build.h"

#include <stdlib.h>
#include <string.h>

/* Says that the stream has no pattern, or which of its keys was meant to give it. */
static void tell_no_pattern(const struct dbio_node *node, struct dbio_err *err)
{
        static const char *const wanted[] = {"pattern"};

        for (unsigned i = 0; i < node->n; i++)
                if (dbio_near_miss(node->keys[i]->text, wanted, 1)) {
                        dbio_node_error(node->keys[i], err, "unknown key \"%.60s\": did you mean \"pattern\"?",
                                        node->keys[i]->text);
                        return;
                }
        dbio_node_error(node, err, "key \"pattern\" is missing: what the stream does (dbio describe patterns)");
}

static const struct dbio_pattern *find_pattern(const struct dbio_node *node, struct dbio_err *err)
{
        const struct dbio_node *name = dbio_node_get(node, "pattern");
        const struct dbio_pattern *pattern;
        const char *names[256], *near;
        unsigned n = 0;

        if (node->type != DBIO_NODE_MAP) {
                dbio_node_error(node, err, "a map of keys with pattern and target belongs here");
                return NULL;
        }
        if (!name) {
                tell_no_pattern(node, err);
                return NULL;
        }
        pattern = name->type == DBIO_NODE_SCALAR ? dbio_pattern_find(name->text) : NULL;
        if (pattern)
                return pattern;
        for (; dbio_patterns[n] && n < 256; n++)
                names[n] = dbio_patterns[n]->name;
        near = dbio_near_miss(name->text, names, n);
        dbio_node_error(name, err, "no pattern \"%.60s\"%s%s%s", name->text,
                        near ? ": did you mean \"" : ": dbio describe patterns lists them", near ? near : "",
                        near ? "\"?" : "");
        return NULL;
}

static bool knows(const struct dbio_pattern *pattern, const struct dbio_field *shared, const char *key)
{
        return dbio_field_find(pattern->fields, key) || dbio_field_find(shared, key);
}

/* Every key of `defaults` must be one that some pattern knows, whether or not a stream of it is there. */
static int check_defaults(const struct dbio_node *defaults, struct dbio_err *err)
{
        const char *names[1024], *near;
        unsigned n = 0, keys;

        if (defaults->type != DBIO_NODE_MAP)
                return dbio_node_error(defaults, err, "a map of keys such as {version: 2008} belongs here");
        for (const struct dbio_field *field; (field = dbio_stream_field_all(n, &keys)); n++)
                names[n] = field->key;
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++)
                for (const struct dbio_field *field = (*pattern)->fields; field && field->key && n < 1024; field++)
                        names[n++] = field->key;
        for (unsigned i = 0; i < defaults->n; i++) {
                const char *key = defaults->keys[i]->text;
                bool known = false;

                for (unsigned j = 0; j < n && !known; j++)
                        known = !strcmp(names[j], key);
                if (!strcmp(key, "pattern") || !strcmp(key, "target"))
                        return dbio_node_error(defaults->keys[i], err, "each stream names its own %s", key);
                if (known)
                        continue;
                near = dbio_near_miss(key, names, n);
                return dbio_node_error(defaults->keys[i], err, "unknown key \"%.60s\"%s%s%s", key,
                                       near ? ": did you mean \"" : ": no pattern has it", near ? near : "",
                                       near ? "\"?" : "");
        }
        return 0;
}

static void fill_defaults(struct dbio_build *build, const struct dbio_node *defaults, struct dbio_build_stream *stream)
{
        for (unsigned i = 0; i < defaults->n; i++) {
                const char *key = defaults->keys[i]->text;

                if (knows(stream->pattern, stream->shared, key) && !dbio_node_get(stream->node, key))
                        dbio_node_append(build->arena, stream->node, defaults->keys[i], defaults->items[i]);
        }
}

static void fill_blank(struct dbio_stream_entry *entry)
{
        const struct dbio_field *field;
        unsigned keys;

        for (unsigned i = 0; (field = dbio_stream_field_all(i, &keys)); i++) {
                const struct dbio_field only[] = {*field, {.key = NULL}};

                dbio_fields_default(only, entry);
        }
}

static int read_version(const struct dbio_build *build, const struct dbio_build_stream *stream,
                        struct dbio_stream_entry *entry, struct dbio_err *err)
{
        const struct dbio_field *version = dbio_field_find(stream->shared, "version");
        struct dbio_node *given = dbio_node_get(stream->node, "version"), *map;

        if (!version)
                return 0;
        if (!given)
                return dbio_field_set_text(version, version->fallback, NULL, entry, err);
        map = dbio_node_new(build->arena, DBIO_NODE_MAP, given);
        dbio_node_append(build->arena, map, dbio_node_text(build->arena, "version", given), given);
        return dbio_tables_apply(&(struct dbio_field_table){(struct dbio_field[]){*version, {.key = NULL}}, entry}, 1,
                                 map, NULL, err);
}

/* What the stream is before its own keys: defaults, and what the version makes of them. */
static int fill_plain(const struct dbio_build *build, struct dbio_build_stream *stream, struct dbio_err *err)
{
        const struct dbio_pattern *pattern = stream->pattern;

        stream->plain_entry = build->blank;
        stream->plain_entry.payload = build->keys.payload;
        stream->plain_entry.keys.write_through = pattern->write_through;
        dbio_fields_default(pattern->fields, stream->plain_config);
        if (read_version(build, stream, &stream->plain_entry, err))
                return -1;
        for (const struct dbio_preset *preset = pattern->presets; preset && preset->key; preset++) {
                const struct dbio_field *own = dbio_field_find(pattern->fields, preset->key);
                const struct dbio_field *field = own ? own : dbio_field_find(stream->shared, preset->key);

                if (field && preset->version <= stream->plain_entry.keys.version)
                        dbio_field_set_text(field, preset->text, NULL,
                                            own ? stream->plain_config : (void *)&stream->plain_entry, NULL);
        }
        return 0;
}

/* Where the stream keeps a key's value, own or shared; NULL where it does not know the key. */
static const struct dbio_field *field_of(struct dbio_build_stream *stream, const char *key, void **config)
{
        const struct dbio_field *own = dbio_field_find(stream->pattern->fields, key);

        *config = own ? stream->config : (void *)&stream->entry;
        return own ? own : dbio_field_find(stream->shared, key);
}

static bool gives(struct dbio_build_stream *stream, const char *key)
{
        void *config;
        const struct dbio_field *field = field_of(stream, key, &config);

        return field && dbio_field_is_set(field, config);
}

/* Takes a key back to its own default where `defaults` gave it and not the stream itself. */
static void drop_default(const struct dbio_build *build, struct dbio_build_stream *stream, const char *key)
{
        const struct dbio_node *value = dbio_node_get(stream->node, key);
        const struct dbio_node *all = build->keys.defaults ? dbio_node_get(build->keys.defaults, key) : NULL;
        void *config;

        if (value && all && value->file == all->file && value->line == all->line && value->column == all->column) {
                const struct dbio_field *field = field_of(stream, key, &config);

                dbio_field_set_text(field, field->fallback, NULL, config, NULL);
        }
}

/* `think` is of closed loops, `arrival` of open ones, and a dirty map has a `skew` if it is hot: from `defaults`, which
 * speak to all streams, each is left out where it does not apply; from the stream itself it is an error. */
static void drop_defaults(const struct dbio_build *build, struct dbio_build_stream *stream)
{
        drop_default(build, stream, gives(stream, "rate") || gives(stream, "commit_rate") ? "think" : "arrival");
        if ((stream->pattern->keys & DBIO_KEYS_DIRTY) && stream->entry.keys.dirty.map != DBIO_DIRTY_HOT)
                drop_default(build, stream, "skew");
}

static const struct dbio_node *at_key(const struct dbio_node *map, const char *key)
{
        const struct dbio_node *node = dbio_node_get(map, key);

        return node ? node : map;
}

/* What no field by itself can tell. */
static int check_stream(const struct dbio_build_stream *stream, struct dbio_err *err)
{
        const struct dbio_stream_keys *keys = &stream->entry.keys;
        const struct dbio_node *node = stream->node, *dirty = dbio_node_get(node, "dirty");
        const struct dbio_pattern *pattern = stream->pattern;
        struct dbio_err fault = {0};
        const char *message;

        if (keys->nmembers > 1 && !(pattern->keys & DBIO_KEYS_MEMBERS))
                return dbio_node_error(dbio_node_get(node, "target"), err, "%s has one target", pattern->name);
        if (keys->stop_ns != DBIO_UNSET && keys->stop_ns <= keys->start_ns)
                return dbio_node_error(at_key(node, "stop"), err, "stop must lie behind start");
        if ((pattern->keys & DBIO_KEYS_READ) && dbio_is_set(keys->rate.per_s) && keys->think_ns)
                return dbio_node_error(at_key(node, "think"), err,
                                       "think belongs to a closed loop, and rate makes this one open: leave one");
        if ((pattern->keys & DBIO_KEYS_READ) && !dbio_is_set(keys->rate.per_s) && keys->arrival != DBIO_POISSON)
                return dbio_node_error(at_key(node, "arrival"), err,
                                       "arrival belongs to an open loop, and without rate this one is closed: leave it");
        if ((pattern->keys & DBIO_KEYS_DIRTY) && dbio_node_get(node, "dirty_map") &&
            dbio_build_name(dbio_node_get(node, "dirty_map"), "dirty map", err))
                return -1;
        if ((pattern->keys & DBIO_KEYS_DIRTY) && dirty) {
                if (dbio_is_set(keys->dirty.density) && dbio_is_set(keys->dirty.pages_per_write))
                        return dbio_node_error(at_key(dirty, "pages_per_write"), err,
                                               "density and pages_per_write say the same: leave one");
                if ((keys->dirty.map == DBIO_DIRTY_STRIDE) != (keys->dirty.stride != DBIO_UNSET))
                        return dbio_node_error(at_key(dirty, "stride"), err,
                                               "stride belongs to map: stride, and map: stride needs it");
        }
        if (!pattern->check || !pattern->check(keys, stream->config, &fault))
                return 0;
        message = fault.message;
        /* The key is in the path, so the message need not begin with it. */
        if (fault.path[0] && !strncmp(message, fault.path, strlen(fault.path)) && message[strlen(fault.path)] == ':')
                message += strlen(fault.path) + 2;
        dbio_node_error(at_key(node, fault.path), err, "%s", message);
        if (fault.path[0] && !dbio_node_get(node, fault.path) && err) {
                size_t used = strlen(err->path);

                snprintf(err->path + used, sizeof err->path - used, ".%.100s", fault.path);
        }
        return -1;
}

int dbio_build_stream(const struct dbio_build *build, unsigned i, struct dbio_node *node, struct dbio_build_stream *out,
                      struct dbio_err *err)
{
        const struct dbio_build_stream *base = &build->streams[i];
        struct dbio_stream_keys *keys = &out->entry.keys;
        size_t size = base->pattern->config_size;
        struct dbio_field_table tables[2];

        *out = *base;
        out->node = node;
        out->config = dbio_arena_alloc(build->arena, size + 1);
        out->plain_config = dbio_arena_alloc(build->arena, size + 1);
        if (fill_plain(build, out, err))
                return -1;
        out->entry = out->plain_entry;
        memcpy(out->config, out->plain_config, size);
        tables[0] = (struct dbio_field_table){base->pattern->fields, out->config};
        tables[1] = (struct dbio_field_table){base->shared, &out->entry};
        if (dbio_tables_apply(tables, 2, node, &build->scope, err))
                return -1;
        keys->nmembers = out->entry.target.n;
        if (keys->nmembers > DBIO_MEMBERS_MAX)
                return dbio_node_error(dbio_node_get(node, "target"), err, "over %d targets", DBIO_MEMBERS_MAX);
        memcpy(keys->members, out->entry.target.targets, keys->nmembers * sizeof *keys->members);
        keys->target = keys->nmembers ? keys->members[0] : -1;
        drop_defaults(build, out);
        return check_stream(out, err);
}

/* `after` names a log, and no stream comes round to itself. */
static int check_after(const struct dbio_build *build, unsigned i, struct dbio_err *err)
{
        const struct dbio_build_stream *stream = &build->streams[i];
        int at = (int)i;

        if (!(stream->pattern->keys & DBIO_KEYS_WRITE) || stream->entry.keys.after < 0)
                return 0;
        if (!(build->streams[stream->entry.keys.after].pattern->flags & DBIO_STREAM_COMMITS))
                return dbio_node_error(dbio_node_get(stream->node, "after"), err,
                                       "\"%s\" is no log: after names a stream that commits, %s does not",
                                       build->scope.streams[stream->entry.keys.after],
                                       build->streams[stream->entry.keys.after].pattern->name);
        for (unsigned steps = 0; steps <= build->scope.nstreams; steps++) {
                const struct dbio_build_stream *next = &build->streams[at];

                at = next->pattern->keys & DBIO_KEYS_WRITE ? next->entry.keys.after : -1;
                if (at < 0)
                        return 0;
                if (at == (int)i)
                        return dbio_node_error(dbio_node_get(stream->node, "after"), err,
                                               "after goes round in a circle back to \"%s\"", build->scope.streams[i]);
        }
        return 0;
}

struct dbio_workload_stream dbio_build_result(const struct dbio_build *build, unsigned i,
                                              const struct dbio_build_stream *stream)
{
        return (struct dbio_workload_stream){
                .name = build->scope.streams[i],
                .pattern = stream->pattern,
                .keys = stream->entry.keys,
                .config = stream->config,
                .compressible = stream->entry.payload.compressible,
                .dedup = stream->entry.payload.dedup,
                .node = stream->node,
        };
}

int dbio_build_streams(struct dbio_build *build, struct dbio_err *err)
{
        const struct dbio_node *defaults = build->keys.defaults;
        unsigned n = build->scope.nstreams;

        build->streams = dbio_arena_alloc(build->arena, n * sizeof *build->streams);
        build->workload->streams = dbio_arena_alloc(build->arena, n * sizeof *build->workload->streams);
        build->workload->nstreams = n;
        fill_blank(&build->blank);
        if (defaults && check_defaults(defaults, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                struct dbio_build_stream *stream = &build->streams[i];
                struct dbio_field *shared;

                stream->node = build->keys.streams->items[i];
                stream->pattern = find_pattern(stream->node, err);
                if (!stream->pattern)
                        return -1;
                shared = dbio_arena_alloc(build->arena, DBIO_STREAM_FIELDS_MAX * sizeof *shared);
                dbio_stream_fields(stream->pattern, shared);
                stream->shared = shared;
                if (defaults)
                        fill_defaults(build, defaults, stream);
                if (dbio_build_stream(build, i, stream->node, stream, err))
                        return -1;
                build->workload->streams[i] = dbio_build_result(build, i, stream);
        }
        for (unsigned i = 0; i < n; i++)
                if (check_after(build, i, err))
                        return -1;
        return 0;
}
