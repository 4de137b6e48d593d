#include "patterns/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct dbio_node *dbio_node_get(const struct dbio_node *map, const char *key)
{
        if (!map || map->type != DBIO_NODE_MAP)
                return NULL;
        for (unsigned i = 0; i < map->n; i++)
                if (!strcmp(map->keys[i]->text, key))
                        return map->items[i];
        return NULL;
}

struct dbio_node *dbio_node_new(struct dbio_arena *arena, enum dbio_node_type type, const struct dbio_node *at)
{
        struct dbio_node *node = dbio_arena_alloc(arena, sizeof *node);

        node->type = type;
        node->text = "";
        if (at) {
                node->file = at->file;
                node->line = at->line;
                node->column = at->column;
        }
        return node;
}

struct dbio_node *dbio_node_text(struct dbio_arena *arena, const char *text, const struct dbio_node *at)
{
        struct dbio_node *node = dbio_node_new(arena, DBIO_NODE_SCALAR, at);

        node->text = dbio_arena_text(arena, text, strlen(text));
        return node;
}

static struct dbio_node **grown(struct dbio_arena *arena, struct dbio_node **old, unsigned n)
{
        struct dbio_node **array;

        /* The room is the next power of two, so it is full exactly when n is one (or none). */
        if (n & (n - 1))
                return old;
        array = dbio_arena_alloc(arena, (n ? 2 * (size_t)n : 1) * sizeof *array);
        if (n)
                memcpy(array, old, n * sizeof *array);
        return array;
}

void dbio_node_append(struct dbio_arena *arena, struct dbio_node *node, struct dbio_node *key, struct dbio_node *value)
{
        node->items = grown(arena, node->items, node->n);
        node->items[node->n] = value;
        if (!value->parent)
                value->parent = node;
        if (key) {
                node->keys = grown(arena, node->keys, node->n);
                node->keys[node->n] = key;
                if (!key->parent)
                        key->parent = node;
        }
        node->n++;
}

void dbio_node_put(struct dbio_arena *arena, struct dbio_node *map, struct dbio_node *key, struct dbio_node *value)
{
        for (unsigned i = 0; i < map->n; i++) {
                if (strcmp(map->keys[i]->text, key->text))
                        continue;
                map->keys[i] = key;
                map->items[i] = value;
                if (!key->parent)
                        key->parent = map;
                if (!value->parent)
                        value->parent = map;
                return;
        }
        dbio_node_append(arena, map, key, value);
}

struct dbio_node *dbio_node_copy(struct dbio_arena *arena, const struct dbio_node *node)
{
        struct dbio_node *copy = dbio_node_new(arena, node->type, node);

        copy->text = node->text;
        copy->quoted = node->quoted;
        for (unsigned i = 0; i < node->n; i++)
                dbio_node_append(arena, copy, node->keys ? dbio_node_copy(arena, node->keys[i]) : NULL,
                                 dbio_node_copy(arena, node->items[i]));
        return copy;
}

void dbio_node_path(const struct dbio_node *node, char *path, size_t size)
{
        const struct dbio_node *parent = node->parent;
        size_t used;

        if (size)
                *path = '\0';
        if (!parent)
                return;
        dbio_node_path(parent, path, size);
        used = strlen(path);
        for (unsigned i = 0; i < parent->n; i++) {
                if (parent->items[i] != node && !(parent->keys && parent->keys[i] == node))
                        continue;
                if (parent->keys)
                        snprintf(path + used, size - used, "%s%s", used ? "." : "", parent->keys[i]->text);
                else
                        snprintf(path + used, size - used, "[%u]", i);
                return;
        }
}

int dbio_node_error(const struct dbio_node *node, struct dbio_err *err, const char *format, ...)
{
        va_list args;

        if (!err)
                return -1;
        memset(err, 0, sizeof *err);
        err->code = DBIO_USAGE;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        dbio_err_locate(err, node->file, node->line, node->column);
        dbio_node_path(node, err->path, sizeof err->path);
        return -1;
}
