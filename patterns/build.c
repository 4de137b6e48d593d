#include "patterns/build.h"

#include <inttypes.h>
#include <string.h>

#include "engine/near.h"

#define TARGETS_MAX 1024
#define FIGURES_MAX 1000
#define FILE_MIN    ((uint64_t)1 << 20) /* bytes; engine/target.h: files are whole MiB */

static int need_map(const struct dbio_node *node, const char *what, unsigned most, struct dbio_err *err)
{
        if (node->type != DBIO_NODE_MAP)
                return dbio_node_error(node, err, "a map of %ss by name belongs here", what);
        if (!node->n)
                return dbio_node_error(node, err, "no %s is given", what);
        if (node->n > most)
                return dbio_node_error(node, err, "over %u %ss", most, what);
        return 0;
}

int dbio_build_name(const struct dbio_node *name, const char *what, struct dbio_err *err)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

        if (name->type != DBIO_NODE_SCALAR || !*name->text || name->text[strspn(name->text, letters)])
                return dbio_node_error(name, err, "\"%.60s\" is no name for a %s: letters, digits, _ and - only",
                                       name->text, what);
        if (strlen(name->text) > 63)
                return dbio_node_error(name, err, "\"%.60s…\" is too long for a name: at most 63 characters",
                                       name->text);
        return 0;
}

int dbio_build_find_stream(const struct dbio_build *build, const char *name, size_t length, const struct dbio_node *at,
                           struct dbio_err *err)
{
        const char *const *names = build->scope.streams, *near;
        char wrong[64];

        for (unsigned i = 0; i < build->scope.nstreams; i++)
                if (!strncmp(names[i], name, length) && !names[i][length])
                        return (int)i;
        snprintf(wrong, sizeof wrong, "%.*s", (int)(length < 63 ? length : 63), name);
        near = dbio_near_miss(wrong, names, build->scope.nstreams);
        return dbio_node_error(at, err, "no stream \"%s\"%s%s%s", wrong, near ? ": did you mean \"" : "",
                               near ? near : "", near ? "\"?" : "");
}

static int collect_names(struct dbio_build *build, const struct dbio_node *map, const char *what, unsigned most,
                         const char *const **names, struct dbio_err *err)
{
        const char **list;

        if (need_map(map, what, most, err))
                return -1;
        list = dbio_arena_alloc(build->arena, map->n * sizeof *list);
        for (unsigned i = 0; i < map->n; i++) {
                if (dbio_build_name(map->keys[i], what, err))
                        return -1;
                list[i] = map->keys[i]->text;
        }
        *names = list;
        return 0;
}

enum { SECTOR = 512, CLUSTER = 4096 /* where a layout names none */ };

static int check_layout(const struct dbio_node *node, const struct dbio_layout_keys *keys, struct dbio_err *err)
{
        uint64_t cluster = keys->cluster == DBIO_UNSET ? CLUSTER : keys->cluster;

        if (keys->grow != DBIO_UNSET && keys->aged != DBIO_UNSET)
                return dbio_node_error(dbio_node_get(node, "aged"), err, "grow and aged exclude each other: leave one");
        if (keys->interleave && keys->grow == DBIO_UNSET)
                return dbio_node_error(dbio_node_get(node, "interleave"), err,
                                       "interleave is how files grow: say in steps of what size by grow");
        if (keys->aged != DBIO_UNSET && keys->aged < cluster)
                return dbio_node_error(dbio_node_get(node, "aged"), err,
                                       "an extent holds at least one cluster, of %" PRIu64 " bytes here", cluster);
        if (cluster % SECTOR)
                return dbio_node_error(dbio_node_get(node, "cluster"), err, "a cluster is a multiple of 512 bytes");
        if (keys->partition_offset % SECTOR)
                return dbio_node_error(dbio_node_get(node, "partition_offset"), err,
                                       "a partition begins at a multiple of 512 bytes");
        return 0;
}

static int build_layout(const struct dbio_node *node, struct dbio_layout_keys *keys, struct dbio_layout *out,
                        struct dbio_err *err)
{
        dbio_fields_default(dbio_layout_fields, keys);
        *out = (struct dbio_layout){.contiguous = true};
        if (!node || (node->type == DBIO_NODE_SCALAR && !strcmp(node->text, "contiguous")))
                return 0;
        if (node->type != DBIO_NODE_MAP || !node->n)
                return dbio_node_error(node, err, "no layout: write contiguous or {cluster: 4K, grow: 1MiB}");
        if (dbio_fields_parse(dbio_layout_fields, node, NULL, keys, err) || check_layout(node, keys, err))
                return -1;
        *out = (struct dbio_layout){
                .cluster = keys->cluster == DBIO_UNSET ? 0 : (uint32_t)keys->cluster,
                .grow = keys->grow == DBIO_UNSET ? 0 : keys->grow,
                .aged = keys->aged == DBIO_UNSET ? 0 : keys->aged,
                .interleave = keys->interleave,
                .partition_offset = keys->partition_offset,
        };
        return 0;
}

static int build_target(struct dbio_build *build, unsigned i, struct dbio_err *err)
{
        const struct dbio_node *node = build->keys.targets->items[i];
        struct dbio_target_keys *keys = &build->targets[i];
        struct dbio_target_spec *out = &build->workload->targets[i];
        const struct dbio_node empty = {.type = DBIO_NODE_MAP};
        bool blank = node->type == DBIO_NODE_SCALAR && !*node->text; /* `data:` with nothing behind: all defaults */

        if (dbio_fields_parse(dbio_target_fields, blank ? &empty : node, NULL, keys, err))
                return -1;
        out->name = build->scope.targets[i];
        if (isnan(keys->size.share)) {
                out->unit = DBIO_SIZE_BYTES;
                out->size_bytes = keys->size.bytes;
        } else {
                out->unit = DBIO_SIZE_SHARE;
                out->size_share = keys->size.share;
        }
        out->page = (unsigned)keys->page;
        out->nfiles = keys->files == DBIO_UNSET ? 0 : (unsigned)keys->files;
        if (out->unit == DBIO_SIZE_BYTES && out->size_bytes / (out->nfiles ? out->nfiles : 1) < FILE_MIN)
                return dbio_node_error(dbio_node_get(node, "size"), err, "a file of a target is at least 1 MiB, as its size is "
                                                                        "rounded down to MiB");
        out->precondition = (struct dbio_precondition){.fill = (unsigned)keys->precondition.fill,
                                                       .overwrite = (unsigned)keys->precondition.overwrite,
                                                       .until_steady = keys->precondition.until == 0};
        return build_layout(keys->layout, &build->layouts[i], &out->layout, err);
}

static int build_targets(struct dbio_build *build, struct dbio_err *err)
{
        unsigned n = build->scope.ntargets;

        build->targets = dbio_arena_alloc(build->arena, n * sizeof *build->targets);
        build->layouts = dbio_arena_alloc(build->arena, n * sizeof *build->layouts);
        build->workload->targets = dbio_arena_alloc(build->arena, n * sizeof *build->workload->targets);
        build->workload->ntargets = n;
        for (unsigned i = 0; i < n; i++)
                if (build_target(build, i, err))
                        return -1;
        return 0;
}

int dbio_build_figure(const struct dbio_build *build, const struct dbio_node *text, const struct dbio_node *value,
                      struct dbio_figure *out, struct dbio_err *err)
{
        struct dbio_err fault = {0};

        if (text->type != DBIO_NODE_SCALAR)
                return dbio_node_error(text, err, "a figure such as 'log.commit.mean < 2ms' belongs here, in quotes");
        if (value && value->type != DBIO_NODE_SCALAR)
                return dbio_node_error(value, err, "one value belongs here, such as 18.4ms");
        if (value ? dbio_figure_observed(out, text->text, value->text, &fault)
                  : dbio_figure_parse(out, text->text, &fault))
                return dbio_node_error(text, err, "%s", fault.message);
        if (out->relative)
                return dbio_node_error(text, err, "\"%.100s\" compares two runs: a limit needs a value such as 2ms",
                                       text->text);
        out->node = text;
        if (!value && out->comparison == DBIO_OP_NONE)
                return dbio_node_error(text, err, "\"%.100s\" has no bound: write it with < <= > or >= and a value",
                                       text->text);
        return dbio_build_find_stream(build, out->stream, strlen(out->stream), text, err) < 0 ? -1 : 0;
}

static int build_figures(struct dbio_build *build, const struct dbio_node *node, bool observed, struct dbio_err *err)
{
        struct dbio_figure *figures;

        if (!node)
                return 0;
        if (node->type != (observed ? DBIO_NODE_MAP : DBIO_NODE_LIST))
                return dbio_node_error(node, err, "a %s belongs here",
                                       observed ? "map such as {user-reads.read.mean: 18.4ms}"
                                                : "list such as ['log.commit.mean < 2ms']");
        if (node->n > FIGURES_MAX)
                return dbio_node_error(node, err, "over %d figures", FIGURES_MAX);
        figures = dbio_arena_alloc(build->arena, (node->n + 1) * sizeof *figures);
        for (unsigned i = 0; i < node->n; i++)
                if (dbio_build_figure(build, observed ? node->keys[i] : node->items[i],
                                      observed ? node->items[i] : NULL, &figures[i], err))
                        return -1;
        if (observed) {
                build->workload->observed = figures;
                build->workload->nobserved = node->n;
        } else {
                build->workload->limits = figures;
                build->workload->nlimits = node->n;
        }
        return 0;
}

static int build_on_error(const struct dbio_node *node, uint64_t *max_errors, struct dbio_err *err)
{
        static const struct dbio_field count = {.type = DBIO_FIELD_COUNT};
        const char *text;

        *max_errors = DBIO_UNSET - 1;
        if (!node)
                return 0;
        text = node->type == DBIO_NODE_SCALAR ? node->text : "";
        if (!strcmp(text, "stop"))
                *max_errors = 0;
        else if (!strcmp(text, "continue"))
                *max_errors = UINT64_MAX;
        else if (!*text || dbio_field_set_text(&count, text, NULL, max_errors, NULL) || *max_errors > DBIO_UNSET / 2)
                return dbio_node_error(node, err, "\"%.60s\" is none of stop, continue, or a count", text);
        return 0;
}

static const char *base_name(struct dbio_arena *arena, const char *file)
{
        const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');

        return dbio_arena_text(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int build_top(struct dbio_build *build, struct dbio_err *err)
{
        struct dbio_workload *w = build->workload;
        struct dbio_workload_keys *keys = &build->keys;

        if (build->root->type != DBIO_NODE_MAP)
                return dbio_node_error(build->root, err,
                                       "this is no workload: a map with targets, streams and phases"
                                       " belongs here (a trace is FORMAT:FILE)");
        if (dbio_fields_parse(dbio_workload_fields, build->root, NULL, keys, err))
                return -1;
        w->name = keys->name ? keys->name : base_name(build->arena, build->file);
        if (!*w->name)
                w->name = "workload";
        keys->name = w->name;
        w->description = keys->description ? keys->description : "";
        w->seed = keys->seed;
        w->hba_given = dbio_node_get(build->root, "hba") != NULL;
        w->hba = (struct dbio_hba){
                .ports = (unsigned)keys->hba.ports,
                .max_outstanding = keys->hba.max_outstanding == DBIO_UNSET ? 0 : (unsigned)keys->hba.max_outstanding,
                .max_transfer = keys->hba.max_transfer == DBIO_UNSET ? 0 : keys->hba.max_transfer,
        };
        if (w->hba.max_transfer % 512)
                return dbio_node_error(dbio_node_get(dbio_node_get(build->root, "hba"), "max_transfer"), err,
                                       "must be a multiple of 512, as sectors are");
        w->timeout_ns = keys->timeout_ns;
        w->workers = keys->workers;
        w->compressible = keys->payload.compressible;
        w->dedup = keys->payload.dedup;
        return build_on_error(keys->on_error, &w->max_errors, err);
}

int dbio_build_workload(struct dbio_build *build, struct dbio_err *err)
{
        if (build_top(build, err))
                return -1;
        if (collect_names(build, build->keys.targets, "target", TARGETS_MAX, &build->scope.targets, err) ||
            collect_names(build, build->keys.streams, "stream", DBIO_STREAMS_MAX, &build->scope.streams, err))
                return -1;
        build->scope.ntargets = build->keys.targets->n;
        build->scope.nstreams = build->keys.streams->n;
        if (build_targets(build, err) || dbio_build_streams(build, err) || dbio_build_phases(build, err))
                return -1;
        return build_figures(build, build->keys.limits, false, err) ||
                               build_figures(build, build->keys.observed, true, err)
                       ? -1
                       : 0;
}
