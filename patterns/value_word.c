/* Values that are words: choices, texts, names of targets and streams. */
#include "engine/near.h"
#include "patterns/value.h"

#include <stdlib.h>
#include <string.h>

static int words_error(const struct dbio_node *node, const char *const *words, struct dbio_err *err)
{
        char list[512] = "";
        const char *near;
        unsigned n = 0;

        for (; words[n]; n++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n ? ", " : "", words[n]);
        /* Between numbers the nearest by letters means nothing. */
        near = *node->text >= '0' && *node->text <= '9' ? NULL : dbio_near_miss(node->text, words, n);
        if (near)
                return dbio_node_error(node, err, "\"%.60s\" is none of %s: did you mean \"%s\"?", node->text, list,
                                       near);
        return dbio_node_error(node, err, "\"%.60s\" is none of %s", node->text, list);
}

static int parse_bool(PARSE_ARGS)
{
        static const char *const words[] = {"yes", "no", "true", "false", NULL};

        UNUSED(scope);
        UNUSED(field);
        if (dbio_value_scalar_only(node, "yes or no", err))
                return -1;
        for (unsigned i = 0; words[i]; i++) {
                if (strcmp(words[i], node->text))
                        continue;
                *(bool *)value = !(i & 1);
                return 0;
        }
        return words_error(node, words, err);
}

static void print_bool(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        fputs(*(const bool *)value ? "yes" : "no", out);
}

static void unset_bool(void *value)
{
        *(bool *)value = false;
}

static int parse_enum(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_scalar_only(node, "word", err))
                return -1;
        for (int i = 0; field->names[i]; i++) {
                if (strcmp(field->names[i], node->text))
                        continue;
                *(int *)value = i;
                return 0;
        }
        return words_error(node, field->names, err);
}

static void print_enum(PRINT_ARGS)
{
        UNUSED(scope);
        dbio_text_print(out, field->names[*(const int *)value]);
}

static void unset_index(void *value)
{
        *(int *)value = -1;
}

static bool is_set_index(const void *value)
{
        return *(const int *)value >= 0;
}

static int parse_version(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_scalar_only(node, "version", err))
                return -1;
        for (int i = 0; field->names[i]; i++) {
                const char *point = strchr(node->text, '.');

                if (strcmp(field->names[i], node->text))
                        continue;
                *(uint64_t *)value = strtoull(node->text, NULL, 10) * (point ? 100 : 1) +
                                     (point ? strtoull(point + 1, NULL, 10) : 0);
                return 0;
        }
        return words_error(node, field->names, err);
}

static void print_version(PRINT_ARGS)
{
        unsigned long long version = *(const unsigned long long *)value;

        UNUSED(scope);
        if (strchr(field->names[0], '.'))
                fprintf(out, "%llu.%llu", version / 100, version % 100);
        else
                fprintf(out, "%llu", version);
}

static int parse_text(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_scalar_only(node, dbio_value_classes[field->type]->name, err))
                return -1;
        *(const char **)value = node->text;
        return 0;
}

static void print_text(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_text_print(out, *(const char *const *)value);
}

static void unset_pointer(void *value)
{
        *(const void **)value = NULL;
}

static bool is_set_pointer(const void *value)
{
        return *(const void *const *)value != NULL;
}

static int find_name(const struct dbio_node *node, const char *what, const char *const *names, unsigned n, int *index,
                     struct dbio_err *err)
{
        char list[400] = "";
        const char *near;

        if (dbio_value_scalar_only(node, what, err))
                return -1;
        for (unsigned i = 0; i < n; i++) {
                if (strcmp(names[i], node->text))
                        continue;
                *index = (int)i;
                return 0;
        }
        near = dbio_near_miss(node->text, names, n);
        if (near)
                return dbio_node_error(node, err, "no %s \"%.60s\": did you mean \"%s\"?", what, node->text, near);
        for (unsigned i = 0; i < n && i < 8; i++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.40s", i ? ", " : "", names[i]);
        return dbio_node_error(node, err, "no %s \"%.60s\": there %s %s%s", what, node->text, n == 1 ? "is" : "are",
                               n ? list : "none", n > 8 ? " …" : "");
}

static int parse_target(PARSE_ARGS)
{
        UNUSED(field);
        return find_name(node, "target", scope ? scope->targets : NULL, scope ? scope->ntargets : 0, value, err);
}

static int parse_stream(PARSE_ARGS)
{
        UNUSED(field);
        return find_name(node, "stream", scope ? scope->streams : NULL, scope ? scope->nstreams : 0, value, err);
}

static void print_target(PRINT_ARGS)
{
        UNUSED(field);
        dbio_text_print(out, scope->targets[*(const int *)value]);
}

static void print_stream(PRINT_ARGS)
{
        UNUSED(field);
        dbio_text_print(out, scope->streams[*(const int *)value]);
}

static int parse_targets(PARSE_ARGS)
{
        struct dbio_target_list *list = value;

        memset(list, 0, sizeof *list);
        if (node->type != DBIO_NODE_LIST) {
                list->n = 1;
                return parse_target(field, node, scope, &list->targets[0], err);
        }
        if (!node->n)
                return dbio_node_error(node, err, "an empty list: name a target");
        if (node->n > DBIO_TARGET_LIST_MAX)
                return dbio_node_error(node, err, "over %d targets", DBIO_TARGET_LIST_MAX);
        for (; list->n < node->n; list->n++) {
                if (parse_target(field, node->items[list->n], scope, &list->targets[list->n], err))
                        return -1;
                for (unsigned i = 0; i < list->n; i++)
                        if (list->targets[i] == list->targets[list->n])
                                return dbio_node_error(node->items[list->n], err, "target \"%s\" is named twice",
                                                       node->items[list->n]->text);
        }
        return 0;
}

static void print_targets(PRINT_ARGS)
{
        const struct dbio_target_list *list = value;

        UNUSED(field);
        if (list->n > 1)
                fputc('[', out);
        for (unsigned i = 0; i < list->n; i++) {
                fputs(i ? ", " : "", out);
                dbio_text_print(out, scope->targets[list->targets[i]]);
        }
        if (list->n > 1)
                fputc(']', out);
}

static void unset_targets(void *value)
{
        memset(value, 0, sizeof(struct dbio_target_list));
}

static bool is_set_targets(const void *value)
{
        return ((const struct dbio_target_list *)value)->n > 0;
}

static int parse_node(PARSE_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        UNUSED(err);
        *(const struct dbio_node **)value = node;
        return 0;
}

static void print_node(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_node_print(out, *(const struct dbio_node *const *)value);
}

const struct dbio_value_class dbio_value_bool = {
        "yes or no", sizeof(bool), parse_bool, print_bool, unset_bool, dbio_value_is_set_always, NULL, "yes"};
const struct dbio_value_class dbio_value_enum = {"word",      sizeof(int),  parse_enum, print_enum,
                                                 unset_index, is_set_index, NULL,       NULL};
const struct dbio_value_class dbio_value_text = {"text",        sizeof(char *), parse_text, print_text,
                                                 unset_pointer, is_set_pointer, NULL,       NULL};
const struct dbio_value_class dbio_value_target = {"target",    sizeof(int),  parse_target, print_target,
                                                   unset_index, is_set_index, NULL,         "data"};
const struct dbio_value_class dbio_value_stream = {"stream",    sizeof(int),  parse_stream, print_stream,
                                                   unset_index, is_set_index, NULL,         "log"};
const struct dbio_value_class dbio_value_targets = {"target, or list of targets",
                                                    sizeof(struct dbio_target_list),
                                                    parse_targets,
                                                    print_targets,
                                                    unset_targets,
                                                    is_set_targets,
                                                    NULL,
                                                    "log"};
const struct dbio_value_class dbio_value_version = {"version",
                                                    sizeof(uint64_t),
                                                    parse_version,
                                                    print_version,
                                                    dbio_value_unset_whole,
                                                    dbio_value_is_set_whole,
                                                    NULL,
                                                    NULL};
const struct dbio_value_class dbio_value_node = {
        "as described", sizeof(struct dbio_node *), parse_node, print_node, unset_pointer, is_set_pointer, NULL, NULL};
