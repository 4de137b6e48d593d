#include "patterns/edit.h"
#include "engine/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_PARTS 16

struct edit {
        struct dbio_arena *arena;
        const struct dbio_node *root, *at;
        struct dbio_node *value;
        const char *parts[PATH_PARTS];
        unsigned nparts;
        struct dbio_err *err;
};

static int split(struct edit *edit, const char *path)
{
        char *copy = dbio_arena_text(edit->arena, path, strlen(path)), *end;

        for (;;) {
                end = strchr(copy, '.');
                if (edit->nparts == PATH_PARTS)
                        return dbio_node_error(edit->at, edit->err, "\"%.100s\" has over %d parts", path, PATH_PARTS);
                if (end)
                        *end = '\0';
                if (!*copy)
                        return dbio_node_error(edit->at, edit->err,
                                               "\"%.100s\" is no key: write a dotted path such as phases.*.duration",
                                               path);
                edit->parts[edit->nparts++] = copy;
                if (!end)
                        return 0;
                copy = end + 1;
        }
}

static int no_entry(struct edit *edit, const struct dbio_node *node, unsigned depth)
{
        const char *names[256] = {NULL}, *near, *what = node->parent ? "entry" : "key";
        char path[200], list[200] = "";
        unsigned n = 0;

        for (unsigned i = 0; i < node->n && n < 256; i++) {
                const struct dbio_node *name = node->keys ? node->keys[i] : dbio_node_get(node->items[i], "name");

                if (name && name->type == DBIO_NODE_SCALAR)
                        names[n++] = name->text;
        }
        near = dbio_near_miss(edit->parts[depth], names, n);
        dbio_node_path(node, path, sizeof path);
        if (near)
                return dbio_node_error(edit->at, edit->err, "no %s \"%.60s\" in %s: did you mean \"%s\"?", what,
                                       edit->parts[depth], path, near);
        for (unsigned i = 0; i < n && strlen(list) < sizeof list - 64; i++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.60s", i ? " " : ": it has ", names[i]);
        return dbio_node_error(edit->at, edit->err, "no %s \"%.60s\" in %s%s", what, edit->parts[depth], path, list);
}

static int put_under(struct edit *edit, struct dbio_node *node, unsigned depth);

/* A value for one place: a copy where it has none yet, so that each place has its own path and later edits. */
static struct dbio_node *value_for(struct edit *edit)
{
        return edit->value->parent ? edit->value : dbio_node_copy(edit->arena, edit->value);
}

static int put_at(struct edit *edit, struct dbio_node *node, unsigned i, unsigned depth)
{
        if (depth + 1 < edit->nparts)
                return put_under(edit, node->items[i], depth + 1);
        node->items[i] = value_for(edit);
        if (!node->items[i]->parent)
                node->items[i]->parent = node;
        return 0;
}

static int put_all(struct edit *edit, struct dbio_node *node, unsigned depth)
{
        if (!node->n) {
                char path[200];

                dbio_node_path(node, path, sizeof path);
                return dbio_node_error(edit->at, edit->err, "\"*\" stands for nothing: %s is empty", path);
        }
        for (unsigned i = 0; i < node->n; i++)
                if (put_at(edit, node, i, depth))
                        return -1;
        return 0;
}

/* Index of a list's item by the item's `name`, else by number; the list's length where there is none. */
static unsigned list_index(const struct dbio_node *list, const char *part)
{
        char *end;
        unsigned long index = strtoul(part, &end, 10);

        for (unsigned i = 0; i < list->n; i++) {
                const struct dbio_node *name = dbio_node_get(list->items[i], "name");

                if (name && name->type == DBIO_NODE_SCALAR && !strcmp(name->text, part))
                        return i;
        }
        return !*end && *part >= '0' && *part <= '9' && index < list->n ? (unsigned)index : list->n;
}

static int put_in_list(struct edit *edit, struct dbio_node *list, unsigned depth)
{
        unsigned i = list_index(list, edit->parts[depth]);

        return i < list->n ? put_at(edit, list, i, depth) : no_entry(edit, list, depth);
}

/* Whether the node is the map of targets or of streams, whose entries are not made by the way. */
static bool is_closed(const struct edit *edit, const struct dbio_node *node)
{
        return node == dbio_node_get(edit->root, "targets") || node == dbio_node_get(edit->root, "streams");
}

/* Whether the map's keys are dotted themselves: a phase's `set`, a study's axes and cases, figures in `observed`. */
static bool has_paths(const struct edit *edit, const struct dbio_node *map)
{
        const struct dbio_node *study = dbio_node_get(edit->root, "study"), *parent = map->parent;

        if (!parent)
                return false;
        if (parent == edit->root)
                return map == dbio_node_get(edit->root, "observed");
        if (parent == study)
                return map == dbio_node_get(study, "axes");
        if (parent == dbio_node_get(study, "cases"))
                return true;
        return parent->parent && parent->parent == dbio_node_get(edit->root, "phases") &&
               map == dbio_node_get(parent, "set");
}

/* What is left of the path is one key. */
static int put_path(struct edit *edit, struct dbio_node *map, unsigned depth)
{
        char path[512] = "";

        for (; depth < edit->nparts; depth++)
                snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", *path ? "." : "", edit->parts[depth]);
        dbio_node_put(edit->arena, map, dbio_node_text(edit->arena, path, edit->at), value_for(edit));
        return 0;
}

static int put_in_map(struct edit *edit, struct dbio_node *map, unsigned depth)
{
        const char *part = edit->parts[depth];
        struct dbio_node *key, *below;

        for (unsigned i = 0; i < map->n; i++)
                if (!strcmp(map->keys[i]->text, part))
                        return put_at(edit, map, i, depth);
        if (is_closed(edit, map))
                return no_entry(edit, map, depth);
        key = dbio_node_text(edit->arena, part, edit->at);
        if (depth + 1 == edit->nparts) {
                dbio_node_append(edit->arena, map, key, value_for(edit));
                return 0;
        }
        below = dbio_node_new(edit->arena, DBIO_NODE_MAP, edit->at);
        dbio_node_append(edit->arena, map, key, below);
        return put_under(edit, below, depth + 1);
}

static int put_under(struct edit *edit, struct dbio_node *node, unsigned depth)
{
        if (node->type == DBIO_NODE_SCALAR) {
                char path[200];

                dbio_node_path(node, path, sizeof path);
                return dbio_node_error(edit->at, edit->err, "%s is \"%.60s\", not a map: set it as a whole", path,
                                       node->text);
        }
        if (has_paths(edit, node))
                return put_path(edit, node, depth);
        if (!strcmp(edit->parts[depth], "*"))
                return put_all(edit, node, depth);
        return node->type == DBIO_NODE_LIST ? put_in_list(edit, node, depth) : put_in_map(edit, node, depth);
}

int dbio_edit_put(struct dbio_arena *arena, struct dbio_node *root, const char *path, struct dbio_node *value,
                  const struct dbio_node *at, struct dbio_err *err)
{
        struct edit edit = {.arena = arena, .root = root, .at = at, .value = value, .err = err};

        return split(&edit, path) ? -1 : put_under(&edit, root, 0);
}

struct dbio_node *dbio_edit_get(struct dbio_node *root, const char *path)
{
        while (root) {
                size_t length = strcspn(path, ".");
                char part[64];

                if (length >= sizeof part)
                        return NULL;
                memcpy(part, path, length);
                part[length] = '\0';
                if (root->type == DBIO_NODE_LIST) {
                        unsigned i = list_index(root, part);

                        root = i < root->n ? root->items[i] : NULL;
                } else {
                        root = dbio_node_get(root, part);
                }
                if (!path[length])
                        return root;
                path += length + 1;
        }
        return NULL;
}

void dbio_edit_remove(struct dbio_node *map, const char *key)
{
        for (unsigned i = 0; i < map->n; i++) {
                if (strcmp(map->keys[i]->text, key))
                        continue;
                map->n--;
                memmove(map->keys + i, map->keys + i + 1, (map->n - i) * sizeof *map->keys);
                memmove(map->items + i, map->items + i + 1, (map->n - i) * sizeof *map->items);
                return;
        }
}

void dbio_edit_merge(struct dbio_arena *arena, struct dbio_node *base, struct dbio_node *over)
{
        for (unsigned i = 0; i < over->n; i++) {
                struct dbio_node *below = dbio_node_get(base, over->keys[i]->text), *value = over->items[i];

                if (below && below->type == DBIO_NODE_MAP && value->type == DBIO_NODE_MAP)
                        dbio_edit_merge(arena, below, value);
                else
                        dbio_node_put(arena, base, over->keys[i], value);
        }
}

static void unplace(struct dbio_node *node, const char *origin)
{
        node->file = origin;
        node->line = node->column = 0;
        for (unsigned i = 0; i < node->n; i++) {
                unplace(node->items[i], origin);
                if (node->keys)
                        unplace(node->keys[i], origin);
        }
}

int dbio_edit_value(struct dbio_arena *arena, const char *origin, const char *text, struct dbio_node **value,
                    struct dbio_err *err)
{
        const char *file = dbio_arena_text(arena, origin, strlen(origin));

        if (!*text) {
                dbio_err_set(err, DBIO_USAGE, "no value");
                return dbio_err_locate(err, origin, 0, 0);
        }
        if (dbio_doc_parse_into(arena, origin, text, strlen(text), value, err))
                return dbio_err_locate(err, origin, 0, 0);
        unplace(*value, file);
        return 0;
}
