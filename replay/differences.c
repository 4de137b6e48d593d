#include "replay/differences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/doc.h"
#include "patterns/field.h"

/* Keys that the schedule hash leaves out (design, Kept with a run). */
static const char *const not_demand[] = {"name",     "description", "hba",          "study",   "limits",   "payload",
                                         "observed", "layout",      "precondition", "workers", "on_error", "timeout"};

static bool counts(const char *key, bool top)
{
        for (unsigned i = 0; i < sizeof not_demand / sizeof *not_demand; i++)
                /* A phase and a list item have names that do count. */
                if (!strcmp(key, not_demand[i]) && (top || strcmp(key, "name")))
                        return false;
        return true;
}

/* A value on one line, as it is written in flow style. */
static void print_value(FILE *out, const struct dbio_node *node)
{
        if (!node) {
                fputs("(none)", out);
                return;
        }
        if (node->type == DBIO_NODE_SCALAR) {
                fputs(*node->text ? node->text : "''", out);
                return;
        }
        dbio_node_print(out, node);
}

static bool equal(const struct dbio_node *a, const struct dbio_node *b)
{
        char *texts[2] = {NULL, NULL};
        const struct dbio_node *nodes[2] = {a, b};
        size_t size;
        bool same;

        for (int i = 0; i < 2; i++) {
                FILE *out = open_memstream(&texts[i], &size);

                if (out) {
                        print_value(out, nodes[i]);
                        fclose(out);
                }
        }
        same = texts[0] && texts[1] && !strcmp(texts[0], texts[1]);
        free(texts[0]);
        free(texts[1]);
        return same;
}

static void print_line(FILE *out, const char *path, const struct dbio_node *a, const struct dbio_node *b)
{
        fprintf(out, "%-28s  ", path);
        print_value(out, a);
        fputs(" -> ", out);
        print_value(out, b);
        fputc('\n', out);
}

static void walk(FILE *out, const char *path, const struct dbio_node *a, const struct dbio_node *b);

static void walk_key(FILE *out, const char *path, const char *key, const struct dbio_node *a, const struct dbio_node *b)
{
        char deeper[300];

        if (!counts(key, !*path))
                return;
        snprintf(deeper, sizeof deeper, "%.200s%s%.90s", path, *path ? "." : "", key);
        walk(out, deeper, a, b);
}

/* Items are matched by their name where they have one, else by their place. */
static const char *item_name(const struct dbio_node *item)
{
        const struct dbio_node *name = item && item->type == DBIO_NODE_MAP ? dbio_node_get(item, "name") : NULL;

        return name && name->type == DBIO_NODE_SCALAR ? name->text : NULL;
}

static const struct dbio_node *find_item(const struct dbio_node *list, const char *name)
{
        for (unsigned i = 0; i < list->n; i++) {
                const char *own = item_name(list->items[i]);

                if (own && !strcmp(own, name))
                        return list->items[i];
        }
        return NULL;
}

static void walk_lists(FILE *out, const char *path, const struct dbio_node *a, const struct dbio_node *b)
{
        for (unsigned i = 0; i < a->n; i++)
                walk_key(out, path, item_name(a->items[i]), a->items[i], find_item(b, item_name(a->items[i])));
        for (unsigned i = 0; i < b->n; i++)
                if (!find_item(a, item_name(b->items[i])))
                        walk_key(out, path, item_name(b->items[i]), NULL, b->items[i]);
}

static bool has_names(const struct dbio_node *list)
{
        for (unsigned i = 0; i < list->n; i++)
                if (!item_name(list->items[i]))
                        return false;
        return list->n > 0;
}

static void walk(FILE *out, const char *path, const struct dbio_node *a, const struct dbio_node *b)
{
        if (a && b && a->type == DBIO_NODE_MAP && b->type == DBIO_NODE_MAP) {
                for (unsigned i = 0; i < a->n; i++)
                        walk_key(out, path, a->keys[i]->text, a->items[i], dbio_node_get(b, a->keys[i]->text));
                for (unsigned i = 0; i < b->n; i++)
                        if (!dbio_node_get(a, b->keys[i]->text))
                                walk_key(out, path, b->keys[i]->text, NULL, b->items[i]);
        } else if (a && b && a->type == DBIO_NODE_LIST && b->type == DBIO_NODE_LIST && has_names(a) && has_names(b)) {
                walk_lists(out, path, a, b);
        } else if (!a || !b || !equal(a, b)) {
                print_line(out, path, a, b);
        }
}

char *dbio_differences(const char *base, const char *new_)
{
        struct dbio_doc a = {0}, b = {0};
        char *text = NULL;
        size_t size;
        FILE *out;

        if (!base || !new_)
                return NULL;
        if (!dbio_doc_parse(&a, "base", base, strlen(base), NULL) &&
            !dbio_doc_parse(&b, "new", new_, strlen(new_), NULL)) {
                out = open_memstream(&text, &size);
                if (out) {
                        walk(out, "", a.root, b.root);
                        fclose(out);
                }
        }
        dbio_doc_release(&a);
        dbio_doc_release(&b);
        return text;
}
