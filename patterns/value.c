#include "patterns/value.h"

#include <stdlib.h>
#include <string.h>

#include "engine/units.h"

int dbio_value_scalar_only(const struct dbio_node *node, const char *what, struct dbio_err *err)
{
        if (node->type != DBIO_NODE_SCALAR)
                return dbio_node_error(node, err, "a %s where a %s belongs",
                                       node->type == DBIO_NODE_LIST ? "list" : "map", what);
        if (!*node->text && !node->quoted)
                return dbio_node_error(node, err, "no value: a %s belongs here", what);
        return 0;
}

/* Puts a unit's error at the node. */
int dbio_value_at_node(const struct dbio_node *node, const struct dbio_err *unit, struct dbio_err *err)
{
        return dbio_node_error(node, err, "%s", unit->message);
}

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

/* The range of a field, for a value that prints as text by `format`. */
int dbio_value_in_range(const struct dbio_field *field, const struct dbio_node *node, double value,
                        void (*format)(double value, char *text, size_t size), struct dbio_err *err)
{
        char least[64], most[64];

        if (value == 0 && (field->flags & DBIO_FIELD_POSITIVE))
                return dbio_node_error(node, err, "must be more than 0");
        if (field->min == 0 && field->max == 0)
                return 0;
        format(field->min, least, sizeof least);
        format(field->max, most, sizeof most);
        if (field->max == 0 && value < field->min)
                return dbio_node_error(node, err, "\"%.60s\" is out of range: at least %s", node->text, least);
        if (field->max != 0 && (value < field->min || value > field->max))
                return dbio_node_error(node, err, "\"%.60s\" is out of range: %s to %s", node->text, least, most);
        return 0;
}

void dbio_value_format_size(double value, char *text, size_t size)
{
        dbio_format_size((uint64_t)value, text, size);
}

void dbio_value_format_time(double value, char *text, size_t size)
{
        dbio_format_time((uint64_t)value, text, size);
}

void dbio_value_format_number(double value, char *text, size_t size)
{
        dbio_format_factor(value, text, size);
}

void dbio_value_format_share(double value, char *text, size_t size)
{
        dbio_format_share(value, text, size);
}

void dbio_value_format_ops(double value, char *text, size_t size)
{
        dbio_format_rate(value, 0, text, size);
}

static void format_bytes(double value, char *text, size_t size)
{
        dbio_format_rate(value, 1, text, size);
}

static void unset_whole(void *value)
{
        *(uint64_t *)value = DBIO_UNSET;
}

static bool is_set_whole(const void *value)
{
        return *(const uint64_t *)value != DBIO_UNSET;
}

static void unset_double(void *value)
{
        *(double *)value = NAN;
}

bool dbio_value_is_set_double(const void *value)
{
        return dbio_is_set(*(const double *)value);
}

static int parse_whole(const struct dbio_field *field, const struct dbio_node *node, void *value,
                       int (*parse)(const char *, uint64_t *, struct dbio_err *), struct dbio_err *err)
{
        struct dbio_err unit;
        uint64_t whole;

        if (dbio_value_scalar_only(node, dbio_value_classes[field->type]->name, err))
                return -1;
        if ((field->flags & DBIO_FIELD_SECTOR) && !strcmp(node->text, "auto")) {
                *(uint64_t *)value = 0;
                return 0;
        }
        if (parse(node->text, &whole, &unit))
                return dbio_value_at_node(node, &unit, err);
        *(uint64_t *)value = whole;
        return 0;
}

static int parse_size(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_whole(field, node, value, dbio_parse_size, err))
                return -1;
        if ((field->flags & DBIO_FIELD_SECTOR) && !*(uint64_t *)value)
                return 0;
        return dbio_value_in_range(field, node, (double)*(uint64_t *)value, dbio_value_format_size, err);
}

static int parse_time(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_whole(field, node, value, dbio_parse_time, err))
                return -1;
        return dbio_value_in_range(field, node, (double)*(uint64_t *)value, dbio_value_format_time, err);
}

static int parse_count(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_whole(field, node, value, dbio_parse_count, err))
                return -1;
        if ((field->flags & DBIO_FIELD_SECTOR) && !*(uint64_t *)value)
                return 0;
        return dbio_value_in_range(field, node, (double)*(uint64_t *)value, dbio_value_format_number, err);
}

static void print_size(PRINT_ARGS)
{
        char text[64];

        UNUSED(scope);
        if ((field->flags & DBIO_FIELD_SECTOR) && !*(const uint64_t *)value) {
                fputs("auto", out);
                return;
        }
        dbio_format_size(*(const uint64_t *)value, text, sizeof text);
        fputs(text, out);
}

static void print_time(PRINT_ARGS)
{
        char text[64];

        UNUSED(scope);
        UNUSED(field);
        dbio_format_time(*(const uint64_t *)value, text, sizeof text);
        fputs(text, out);
}

static void print_count(PRINT_ARGS)
{
        UNUSED(scope);
        if ((field->flags & DBIO_FIELD_SECTOR) && !*(const uint64_t *)value)
                fputs("auto", out);
        else
                fprintf(out, "%llu", *(const unsigned long long *)value);
}

int dbio_value_parse_double(const struct dbio_field *field, const struct dbio_node *node, void *value,
                            int (*parse)(const char *text, double *value, struct dbio_err *err), struct dbio_err *err)
{
        struct dbio_err unit;

        if (dbio_value_scalar_only(node, dbio_value_classes[field->type]->name, err))
                return -1;
        if (parse(node->text, value, &unit))
                return dbio_value_at_node(node, &unit, err);
        return 0;
}

int dbio_value_ops_rate(const char *text, double *value, struct dbio_err *err)
{
        return dbio_parse_rate(text, value, NULL, err);
}

static int byte_rate(const char *text, double *value, struct dbio_err *err)
{
        return dbio_parse_rate(text, NULL, value, err);
}

static int parse_rate(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_parse_double(field, node, value, dbio_value_ops_rate, err))
                return -1;
        return dbio_value_in_range(field, node, *(double *)value, dbio_value_format_ops, err);
}

static int parse_byte_rate(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_parse_double(field, node, value, byte_rate, err))
                return -1;
        return dbio_value_in_range(field, node, *(double *)value, format_bytes, err);
}

static int parse_share(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_parse_double(field, node, value, dbio_parse_share, err))
                return -1;
        return dbio_value_in_range(field, node, *(double *)value, dbio_value_format_share, err);
}

int dbio_value_parse_factor(PARSE_ARGS)
{
        UNUSED(scope);
        if (dbio_value_parse_double(field, node, value, dbio_parse_factor, err))
                return -1;
        return dbio_value_in_range(field, node, *(double *)value, dbio_value_format_number, err);
}

void dbio_value_print(FILE *out, double value, void (*format)(double, char *, size_t))
{
        char text[64];

        format(value, text, sizeof text);
        fputs(text, out);
}

static void print_rate(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_value_print(out, *(const double *)value, dbio_value_format_ops);
}

static void print_byte_rate(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_value_print(out, *(const double *)value, format_bytes);
}

static void print_share(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_value_print(out, *(const double *)value, dbio_value_format_share);
}

static void print_factor(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        dbio_value_print(out, *(const double *)value, dbio_value_format_number);
}

static int parse_any_rate(PARSE_ARGS)
{
        struct dbio_rate *rate = value;
        struct dbio_err unit;
        double ops, bytes;

        UNUSED(scope);
        if (dbio_value_scalar_only(node, dbio_value_classes[field->type]->name, err))
                return -1;
        if (dbio_parse_rate(node->text, &ops, &bytes, &unit))
                return dbio_value_at_node(node, &unit, err);
        rate->bytes = isnan(ops);
        rate->per_s = rate->bytes ? bytes : ops;
        return dbio_value_in_range(field, node, rate->per_s, rate->bytes ? format_bytes : dbio_value_format_ops, err);
}

static void print_any_rate(PRINT_ARGS)
{
        const struct dbio_rate *rate = value;

        UNUSED(scope);
        UNUSED(field);
        dbio_value_print(out, rate->per_s, rate->bytes ? format_bytes : dbio_value_format_ops);
}

static void unset_any_rate(void *value)
{
        *(struct dbio_rate *)value = (struct dbio_rate){.per_s = NAN};
}

static bool is_set_any_rate(const void *value)
{
        return dbio_is_set(((const struct dbio_rate *)value)->per_s);
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

bool dbio_value_is_set_always(const void *value)
{
        UNUSED(value);
        return true;
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

static void node_print(FILE *out, const struct dbio_node *node)
{
        if (node->type == DBIO_NODE_SCALAR) {
                dbio_text_print(out, node->text);
                return;
        }
        fputc(node->type == DBIO_NODE_LIST ? '[' : '{', out);
        for (unsigned i = 0; i < node->n; i++) {
                fputs(i ? ", " : "", out);
                if (node->keys) {
                        dbio_text_print(out, node->keys[i]->text);
                        fputs(": ", out);
                }
                node_print(out, node->items[i]);
        }
        fputc(node->type == DBIO_NODE_LIST ? ']' : '}', out);
}

static void print_node(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        node_print(out, *(const struct dbio_node *const *)value);
}

static const struct dbio_value_class class_size = {
        "size", sizeof(uint64_t), parse_size, print_size, unset_whole, is_set_whole, dbio_value_format_size, "8K"};
static const struct dbio_value_class class_time = {
        "time", sizeof(uint64_t), parse_time, print_time, unset_whole, is_set_whole, dbio_value_format_time, "20ms"};
static const struct dbio_value_class class_count = {
        "count",      sizeof(uint64_t),         parse_count, print_count, unset_whole,
        is_set_whole, dbio_value_format_number, "10_000"};
static const struct dbio_value_class class_rate = {
        "rate", sizeof(double), parse_rate, print_rate, unset_double, dbio_value_is_set_double, dbio_value_format_ops,
        "500/s"};
static const struct dbio_value_class class_byte_rate = {"rate in bytes", sizeof(double), parse_byte_rate,
                                                        print_byte_rate, unset_double,   dbio_value_is_set_double,
                                                        format_bytes,    "100MiB/s"};
static const struct dbio_value_class class_any_rate = {
        "rate, of ops or bytes", sizeof(struct dbio_rate), parse_any_rate,        print_any_rate,
        unset_any_rate,          is_set_any_rate,          dbio_value_format_ops, "500/s or 100MiB/s"};
static const struct dbio_value_class class_share = {"share",
                                                    sizeof(double),
                                                    parse_share,
                                                    print_share,
                                                    unset_double,
                                                    dbio_value_is_set_double,
                                                    dbio_value_format_share,
                                                    "30%"};
static const struct dbio_value_class class_factor = {
        "number",     sizeof(double),           dbio_value_parse_factor,  print_factor,
        unset_double, dbio_value_is_set_double, dbio_value_format_number, "0.75"};
static const struct dbio_value_class class_bool = {
        "yes or no", sizeof(bool), parse_bool, print_bool, unset_bool, dbio_value_is_set_always, NULL, "yes"};
static const struct dbio_value_class class_enum = {"word",      sizeof(int),  parse_enum, print_enum,
                                                   unset_index, is_set_index, NULL,       NULL};
static const struct dbio_value_class class_text = {"text",        sizeof(char *), parse_text, print_text,
                                                   unset_pointer, is_set_pointer, NULL,       NULL};
static const struct dbio_value_class class_target = {"target",    sizeof(int),  parse_target, print_target,
                                                     unset_index, is_set_index, NULL,         "data"};
static const struct dbio_value_class class_stream = {"stream",    sizeof(int),  parse_stream, print_stream,
                                                     unset_index, is_set_index, NULL,         "log"};
static const struct dbio_value_class class_map = {"map", 0, NULL, NULL, NULL, NULL, NULL, NULL};
static const struct dbio_value_class class_targets = {"target, or list of targets",
                                                      sizeof(struct dbio_target_list),
                                                      parse_targets,
                                                      print_targets,
                                                      unset_targets,
                                                      is_set_targets,
                                                      NULL,
                                                      "log"};
static const struct dbio_value_class class_version = {"version",   sizeof(uint64_t), parse_version, print_version,
                                                      unset_whole, is_set_whole,     NULL,          NULL};
static const struct dbio_value_class class_node = {
        "as described", sizeof(struct dbio_node *), parse_node, print_node, unset_pointer, is_set_pointer, NULL, NULL};

const struct dbio_value_class *const dbio_value_classes[DBIO_FIELD_TYPES] = {
        [DBIO_FIELD_SIZE] = &class_size,
        [DBIO_FIELD_TIME] = &class_time,
        [DBIO_FIELD_COUNT] = &class_count,
        [DBIO_FIELD_RATE] = &class_rate,
        [DBIO_FIELD_BYTE_RATE] = &class_byte_rate,
        [DBIO_FIELD_ANY_RATE] = &class_any_rate,
        [DBIO_FIELD_SHARE] = &class_share,
        [DBIO_FIELD_FACTOR] = &class_factor,
        [DBIO_FIELD_BOOL] = &class_bool,
        [DBIO_FIELD_ENUM] = &class_enum,
        [DBIO_FIELD_TEXT] = &class_text,
        [DBIO_FIELD_TARGET] = &class_target,
        [DBIO_FIELD_STREAM] = &class_stream,
        [DBIO_FIELD_REGION] = &dbio_value_region,
        [DBIO_FIELD_SKEW] = &dbio_value_skew,
        [DBIO_FIELD_DIST] = &dbio_value_dist,
        [DBIO_FIELD_MIX] = &dbio_value_mix,
        [DBIO_FIELD_RAMP] = &dbio_value_ramp,
        [DBIO_FIELD_MAP] = &class_map,
        [DBIO_FIELD_AMOUNT] = &dbio_value_amount,
        [DBIO_FIELD_TARGETS] = &class_targets,
        [DBIO_FIELD_VERSION] = &class_version,
        [DBIO_FIELD_NODE] = &class_node,
};
