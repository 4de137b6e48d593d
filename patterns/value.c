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

int dbio_value_at_node(const struct dbio_node *node, const struct dbio_err *unit, struct dbio_err *err)
{
        return dbio_node_error(node, err, "%s", unit->message);
}

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

void dbio_value_unset_whole(void *value)
{
        *(uint64_t *)value = DBIO_UNSET;
}

bool dbio_value_is_set_whole(const void *value)
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
        if ((field->flags & DBIO_FIELD_SECTOR) && !strcmp(node->text, "auto"))
                return 0;
        if (dbio_value_in_range(field, node, (double)*(uint64_t *)value, dbio_value_format_size, err))
                return -1;
        if ((field->flags & DBIO_FIELD_POWER_OF_TWO) && *(uint64_t *)value & (*(uint64_t *)value - 1))
                return dbio_node_error(node, err, "\"%.60s\" is no power of two", node->text);
        return 0;
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
        if ((field->flags & DBIO_FIELD_SECTOR) && !strcmp(node->text, "auto"))
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

bool dbio_value_is_set_always(const void *value)
{
        UNUSED(value);
        return true;
}

static const struct dbio_value_class class_size = {
        "size", sizeof(uint64_t), parse_size, print_size, dbio_value_unset_whole, dbio_value_is_set_whole,
        dbio_value_format_size, "8K"};
static const struct dbio_value_class class_time = {
        "time", sizeof(uint64_t), parse_time, print_time, dbio_value_unset_whole, dbio_value_is_set_whole,
        dbio_value_format_time, "20ms"};
static const struct dbio_value_class class_count = {
        "count", sizeof(uint64_t), parse_count, print_count, dbio_value_unset_whole, dbio_value_is_set_whole,
        dbio_value_format_number, "10_000"};
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
static const struct dbio_value_class class_map = {"map", 0, NULL, NULL, NULL, NULL, NULL, NULL};

const struct dbio_value_class *const dbio_value_classes[DBIO_FIELD_TYPES] = {
        [DBIO_FIELD_SIZE] = &class_size,
        [DBIO_FIELD_TIME] = &class_time,
        [DBIO_FIELD_COUNT] = &class_count,
        [DBIO_FIELD_RATE] = &class_rate,
        [DBIO_FIELD_BYTE_RATE] = &class_byte_rate,
        [DBIO_FIELD_ANY_RATE] = &class_any_rate,
        [DBIO_FIELD_SHARE] = &class_share,
        [DBIO_FIELD_FACTOR] = &class_factor,
        [DBIO_FIELD_BOOL] = &dbio_value_bool,
        [DBIO_FIELD_ENUM] = &dbio_value_enum,
        [DBIO_FIELD_TEXT] = &dbio_value_text,
        [DBIO_FIELD_TARGET] = &dbio_value_target,
        [DBIO_FIELD_STREAM] = &dbio_value_stream,
        [DBIO_FIELD_REGION] = &dbio_value_region,
        [DBIO_FIELD_SKEW] = &dbio_value_skew,
        [DBIO_FIELD_DIST] = &dbio_value_dist,
        [DBIO_FIELD_MIX] = &dbio_value_mix,
        [DBIO_FIELD_RAMP] = &dbio_value_ramp,
        [DBIO_FIELD_MAP] = &class_map,
        [DBIO_FIELD_AMOUNT] = &dbio_value_amount,
        [DBIO_FIELD_TARGETS] = &dbio_value_targets,
        [DBIO_FIELD_VERSION] = &dbio_value_version,
        [DBIO_FIELD_NODE] = &dbio_value_node,
};
