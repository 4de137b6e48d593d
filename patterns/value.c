#include "patterns/value.h"

#include <stdlib.h>
#include <string.h>

#include "engine/units.h"

/* Sigma of a lognormal that gives none: that of commit sizes, facts of the log (judgement). */
#define SIGMA_DEFAULT 0.8

#define PARSE_ARGS                                                                                                     \
        const struct dbio_field *field, const struct dbio_node *node, const struct dbio_field_scope *scope,            \
                void *value, struct dbio_err *err
#define PRINT_ARGS FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope, const void *value
#define UNUSED(x)  ((void)(x))

typedef int parse_number(const char *text, double *value, struct dbio_err *err);

static int scalar_only(const struct dbio_node *node, const char *what, struct dbio_err *err)
{
        if (node->type != DBIO_NODE_SCALAR)
                return dbio_node_error(node, err, "a %s where a %s belongs",
                                       node->type == DBIO_NODE_LIST ? "list" : "map", what);
        if (!*node->text && !node->quoted)
                return dbio_node_error(node, err, "no value: a %s belongs here", what);
        return 0;
}

/* Puts a unit's error at the node. */
static int at_node(const struct dbio_node *node, const struct dbio_err *unit, struct dbio_err *err)
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
static int in_range(const struct dbio_field *field, const struct dbio_node *node, double value,
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

static void format_size(double value, char *text, size_t size)
{
        dbio_format_size((uint64_t)value, text, size);
}

static void format_time(double value, char *text, size_t size)
{
        dbio_format_time((uint64_t)value, text, size);
}

static void format_number(double value, char *text, size_t size)
{
        dbio_format_factor(value, text, size);
}

static void format_share(double value, char *text, size_t size)
{
        dbio_format_share(value, text, size);
}

static void format_ops(double value, char *text, size_t size)
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

static bool is_set_double(const void *value)
{
        return dbio_is_set(*(const double *)value);
}

static int parse_whole(const struct dbio_field *field, const struct dbio_node *node, void *value,
                       int (*parse)(const char *, uint64_t *, struct dbio_err *), struct dbio_err *err)
{
        struct dbio_err unit;
        uint64_t whole;

        if (scalar_only(node, dbio_value_classes[field->type].name, err))
                return -1;
        if ((field->flags & DBIO_FIELD_SECTOR) && !strcmp(node->text, "auto")) {
                *(uint64_t *)value = 0;
                return 0;
        }
        if (parse(node->text, &whole, &unit))
                return at_node(node, &unit, err);
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
        return in_range(field, node, (double)*(uint64_t *)value, format_size, err);
}

static int parse_time(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_whole(field, node, value, dbio_parse_time, err))
                return -1;
        return in_range(field, node, (double)*(uint64_t *)value, format_time, err);
}

static int parse_count(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_whole(field, node, value, dbio_parse_count, err))
                return -1;
        if ((field->flags & DBIO_FIELD_SECTOR) && !*(uint64_t *)value)
                return 0;
        return in_range(field, node, (double)*(uint64_t *)value, format_number, err);
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

static int parse_double(const struct dbio_field *field, const struct dbio_node *node, void *value, parse_number *parse,
                        struct dbio_err *err)
{
        struct dbio_err unit;

        if (scalar_only(node, dbio_value_classes[field->type].name, err))
                return -1;
        if (parse(node->text, value, &unit))
                return at_node(node, &unit, err);
        return 0;
}

static int ops_rate(const char *text, double *value, struct dbio_err *err)
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
        if (parse_double(field, node, value, ops_rate, err))
                return -1;
        return in_range(field, node, *(double *)value, format_ops, err);
}

static int parse_byte_rate(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_double(field, node, value, byte_rate, err))
                return -1;
        return in_range(field, node, *(double *)value, format_bytes, err);
}

static int parse_share(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_double(field, node, value, dbio_parse_share, err))
                return -1;
        return in_range(field, node, *(double *)value, format_share, err);
}

static int parse_factor(PARSE_ARGS)
{
        UNUSED(scope);
        if (parse_double(field, node, value, dbio_parse_factor, err))
                return -1;
        return in_range(field, node, *(double *)value, format_number, err);
}

static void print_with(FILE *out, double value, void (*format)(double, char *, size_t))
{
        char text[64];

        format(value, text, sizeof text);
        fputs(text, out);
}

static void print_rate(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        print_with(out, *(const double *)value, format_ops);
}

static void print_byte_rate(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        print_with(out, *(const double *)value, format_bytes);
}

static void print_share(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        print_with(out, *(const double *)value, format_share);
}

static void print_factor(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        print_with(out, *(const double *)value, format_number);
}

static int parse_any_rate(PARSE_ARGS)
{
        struct dbio_rate *rate = value;
        struct dbio_err unit;
        double ops, bytes;

        UNUSED(scope);
        if (scalar_only(node, dbio_value_classes[field->type].name, err))
                return -1;
        if (dbio_parse_rate(node->text, &ops, &bytes, &unit))
                return at_node(node, &unit, err);
        rate->bytes = isnan(ops);
        rate->per_s = rate->bytes ? bytes : ops;
        return in_range(field, node, rate->per_s, rate->bytes ? format_bytes : format_ops, err);
}

static void print_any_rate(PRINT_ARGS)
{
        const struct dbio_rate *rate = value;

        UNUSED(scope);
        UNUSED(field);
        print_with(out, rate->per_s, rate->bytes ? format_bytes : format_ops);
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
        if (scalar_only(node, "yes or no", err))
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

static bool is_set_always(const void *value)
{
        UNUSED(value);
        return true;
}

static int parse_enum(PARSE_ARGS)
{
        UNUSED(scope);
        if (scalar_only(node, "word", err))
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
        if (scalar_only(node, "version", err))
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
        if (scalar_only(node, dbio_value_classes[field->type].name, err))
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

        if (scalar_only(node, what, err))
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

static int parse_amount(PARSE_ARGS)
{
        struct dbio_amount *amount = value;
        struct dbio_err unit;
        size_t length;

        UNUSED(scope);
        if (scalar_only(node, dbio_value_classes[DBIO_FIELD_AMOUNT].name, err))
                return -1;
        length = strlen(node->text);
        *amount = (struct dbio_amount){.share = NAN};
        if (!strcmp(node->text, "all")) {
                amount->share = 1;
        } else if (length && node->text[length - 1] == '%') {
                if (dbio_parse_share(node->text, &amount->share, &unit))
                        return at_node(node, &unit, err);
        } else if (dbio_parse_size(node->text, &amount->bytes, &unit)) {
                return dbio_node_error(node, err, "%s; a share is written 50%%", unit.message);
        }
        if ((field->flags & DBIO_FIELD_POSITIVE) && (isnan(amount->share) ? !amount->bytes : amount->share == 0))
                return dbio_node_error(node, err, "must be more than 0");
        return 0;
}

static void amount_print(FILE *out, const struct dbio_amount *amount)
{
        if (isnan(amount->share))
                print_with(out, (double)amount->bytes, format_size);
        else if (amount->share == 1)
                fputs("100%", out);
        else
                print_with(out, amount->share, format_share);
}

static void print_amount(PRINT_ARGS)
{
        UNUSED(scope);
        UNUSED(field);
        amount_print(out, value);
}

static void unset_amount(void *value)
{
        *(struct dbio_amount *)value = (struct dbio_amount){.bytes = DBIO_UNSET, .share = NAN};
}

static bool is_set_amount(const void *value)
{
        const struct dbio_amount *amount = value;

        return amount->bytes != DBIO_UNSET || !isnan(amount->share);
}

static const struct dbio_field region_fields[] = {
        {.key = "from", .type = DBIO_FIELD_AMOUNT, .offset = offsetof(struct dbio_region, from), .fallback = "0%"},
        {.key = "to", .type = DBIO_FIELD_AMOUNT, .offset = offsetof(struct dbio_region, to), .fallback = "100%"},
        {.key = NULL},
};

static int parse_region(PARSE_ARGS)
{
        struct dbio_region *region = value;
        const struct dbio_amount *from = &region->from, *to = &region->to;

        UNUSED(field);
        if (dbio_fields_parse(region_fields, node, scope, region, err))
                return -1;
        if (isnan(from->share) == isnan(to->share) &&
            (isnan(from->share) ? from->bytes >= to->bytes : from->share >= to->share))
                return dbio_node_error(node, err, "the region is empty: \"to\" must lie behind \"from\"");
        return 0;
}

static void print_region(PRINT_ARGS)
{
        const struct dbio_region *region = value;

        UNUSED(scope);
        UNUSED(field);
        fputs("{from: ", out);
        amount_print(out, &region->from);
        fputs(", to: ", out);
        amount_print(out, &region->to);
        fputc('}', out);
}

static void unset_region(void *value)
{
        struct dbio_region *region = value;

        region->from = (struct dbio_amount){.share = 0};
        region->to = (struct dbio_amount){.share = 1};
}

static const struct dbio_field hot_fields[] = {
        {.key = "space",
         .type = DBIO_FIELD_SHARE,
         .offset = offsetof(struct dbio_skew, space),
         .flags = DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE},
        {.key = "ops",
         .type = DBIO_FIELD_SHARE,
         .offset = offsetof(struct dbio_skew, ops),
         .flags = DBIO_FIELD_REQUIRED},
        {.key = NULL},
};
static const struct dbio_field theta_field = {
        .key = "zipf", .type = DBIO_FIELD_FACTOR, .offset = offsetof(struct dbio_skew, theta), .min = 0.01, .max = 5};

static int parse_skew(PARSE_ARGS)
{
        struct dbio_skew *skew = value;
        const struct dbio_node *inner;

        UNUSED(field);
        memset(skew, 0, sizeof *skew);
        if (node->type == DBIO_NODE_SCALAR && !strcmp(node->text, "uniform"))
                return 0;
        if (node->type == DBIO_NODE_MAP && node->n == 1) {
                inner = dbio_node_get(node, "zipf");
                if (inner) {
                        skew->kind = DBIO_SKEW_ZIPF;
                        return parse_factor(&theta_field, inner, scope, &skew->theta, err);
                }
                inner = dbio_node_get(node, "hot");
                if (inner) {
                        skew->kind = DBIO_SKEW_HOT;
                        return dbio_tables_apply(&(struct dbio_field_table){hot_fields, skew}, 1, inner, scope, err);
                }
        }
        return dbio_node_error(node, err, "no skew: write uniform, {zipf: 0.99} or {hot: {space: 10%%, ops: 90%%}}");
}

static void print_skew(PRINT_ARGS)
{
        const struct dbio_skew *skew = value;

        UNUSED(scope);
        UNUSED(field);
        if (skew->kind == DBIO_SKEW_UNIFORM) {
                fputs("uniform", out);
        } else if (skew->kind == DBIO_SKEW_ZIPF) {
                fputs("{zipf: ", out);
                print_with(out, skew->theta, format_number);
                fputc('}', out);
        } else {
                fputs("{hot: {space: ", out);
                print_with(out, skew->space, format_share);
                fputs(", ops: ", out);
                print_with(out, skew->ops, format_share);
                fputs("}}", out);
        }
}

static void unset_skew(void *value)
{
        memset(value, 0, sizeof(struct dbio_skew));
}

struct lognormal {
        uint64_t median;
        double sigma;
};
static const struct dbio_field lognormal_fields[] = {
        {.key = "median",
         .type = DBIO_FIELD_SIZE,
         .offset = offsetof(struct lognormal, median),
         .flags = DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE},
        {.key = "sigma", .type = DBIO_FIELD_FACTOR, .offset = offsetof(struct lognormal, sigma), .min = 0, .max = 4},
        {.key = NULL},
};

static int parse_dist(PARSE_ARGS)
{
        struct dbio_dist *dist = value;
        struct lognormal lognormal = {.sigma = SIGMA_DEFAULT};
        const struct dbio_node *inner = dbio_node_get(node, "lognormal");
        struct dbio_err unit;
        uint64_t fixed;

        if (inner && node->n == 1) {
                if (dbio_tables_apply(&(struct dbio_field_table){lognormal_fields, &lognormal}, 1, inner, scope, err))
                        return -1;
                *dist = (struct dbio_dist){DBIO_DIST_LOGNORMAL, (double)lognormal.median, lognormal.sigma};
                return in_range(field, dbio_node_get(inner, "median"), dist->value, format_size, err);
        }
        if (node->type != DBIO_NODE_SCALAR || (!*node->text && !node->quoted))
                return dbio_node_error(node, err,
                                       "no distribution: write a size, or {lognormal: {median: 400, sigma: 0.8}}");
        if (dbio_parse_size(node->text, &fixed, &unit))
                return at_node(node, &unit, err);
        *dist = (struct dbio_dist){DBIO_DIST_FIXED, (double)fixed, 0};
        return in_range(field, node, dist->value, format_size, err);
}

static void print_dist(PRINT_ARGS)
{
        const struct dbio_dist *dist = value;

        UNUSED(scope);
        UNUSED(field);
        if (dist->kind == DBIO_DIST_LOGNORMAL)
                fputs("{lognormal: {median: ", out);
        print_with(out, dist->value, format_size);
        if (dist->kind == DBIO_DIST_LOGNORMAL) {
                fputs(", sigma: ", out);
                print_with(out, dist->sigma, format_number);
                fputs("}}", out);
        }
}

static void unset_dist(void *value)
{
        memset(value, 0, sizeof(struct dbio_dist));
}

static bool is_set_dist(const void *value)
{
        return ((const struct dbio_dist *)value)->kind != DBIO_DIST_UNSET;
}

static int parse_mix(PARSE_ARGS)
{
        struct dbio_mix *mix = value;
        struct dbio_err unit;
        double sum = 0;

        UNUSED(scope);
        memset(mix, 0, sizeof *mix);
        if (node->type != DBIO_NODE_MAP || !node->n)
                return dbio_node_error(node, err, "no mix: write sizes with their shares, {8K: 70%%, 64K: 30%%}");
        if (node->n > DBIO_MIX_MAX)
                return dbio_node_error(node, err, "over %d sizes", DBIO_MIX_MAX);
        for (unsigned i = 0; i < node->n; i++) {
                if (dbio_parse_size(node->keys[i]->text, &mix->size[i], &unit))
                        return at_node(node->keys[i], &unit, err);
                if (in_range(field, node->keys[i], (double)mix->size[i], format_size, err))
                        return -1;
                for (unsigned j = 0; j < i; j++)
                        if (mix->size[j] == mix->size[i])
                                return dbio_node_error(node->keys[i], err, "%.40s is given twice", node->keys[i]->text);
                if (scalar_only(node->items[i], "share", err))
                        return -1;
                if (dbio_parse_share(node->items[i]->text, &mix->share[i], &unit))
                        return at_node(node->items[i], &unit, err);
                sum += mix->share[i];
        }
        mix->n = node->n;
        if (fabs(sum - 1) > 1e-9) {
                char text[64];

                snprintf(text, sizeof text, "%.10g", sum * 100);
                return dbio_node_error(node, err, "the shares add to %s%%: they must add to 100%%", text);
        }
        return 0;
}

static void print_mix(PRINT_ARGS)
{
        const struct dbio_mix *mix = value;

        UNUSED(scope);
        UNUSED(field);
        for (unsigned i = 0; i < mix->n; i++) {
                fputs(i ? ", " : "{", out);
                print_with(out, (double)mix->size[i], format_size);
                fputs(": ", out);
                print_with(out, mix->share[i], format_share);
        }
        fputc('}', out);
}

static void unset_mix(void *value)
{
        memset(value, 0, sizeof(struct dbio_mix));
}

static bool is_set_mix(const void *value)
{
        return ((const struct dbio_mix *)value)->n > 0;
}

static const struct dbio_field ramp_fields[] = {
        {.key = "from",
         .type = DBIO_FIELD_RATE,
         .offset = offsetof(struct dbio_ramp, from_per_s),
         .flags = DBIO_FIELD_REQUIRED},
        {.key = "to",
         .type = DBIO_FIELD_RATE,
         .offset = offsetof(struct dbio_ramp, to_per_s),
         .flags = DBIO_FIELD_REQUIRED},
        {.key = "over",
         .type = DBIO_FIELD_TIME,
         .offset = offsetof(struct dbio_ramp, over_ns),
         .flags = DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE},
        {.key = NULL},
};

static int parse_ramp(PARSE_ARGS)
{
        struct dbio_ramp *ramp = value;

        if (node->type == DBIO_NODE_MAP) {
                if (dbio_tables_apply(&(struct dbio_field_table){ramp_fields, ramp}, 1, node, scope, err))
                        return -1;
                if (ramp->from_per_s == 0 && ramp->to_per_s == 0)
                        return dbio_node_error(node, err, "must be more than 0 at one end");
                return 0;
        }
        if (parse_double(field, node, &ramp->from_per_s, ops_rate, err))
                return -1;
        ramp->to_per_s = ramp->from_per_s;
        ramp->over_ns = 0;
        return in_range(field, node, ramp->from_per_s, format_ops, err);
}

static void print_ramp(PRINT_ARGS)
{
        const struct dbio_ramp *ramp = value;

        UNUSED(scope);
        UNUSED(field);
        if (!ramp->over_ns) {
                print_with(out, ramp->from_per_s, format_ops);
                return;
        }
        fputs("{from: ", out);
        print_with(out, ramp->from_per_s, format_ops);
        fputs(", to: ", out);
        print_with(out, ramp->to_per_s, format_ops);
        fputs(", over: ", out);
        print_with(out, (double)ramp->over_ns, format_time);
        fputc('}', out);
}

static void unset_ramp(void *value)
{
        *(struct dbio_ramp *)value = (struct dbio_ramp){.from_per_s = NAN, .to_per_s = NAN};
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

const struct dbio_value_class dbio_value_classes[DBIO_FIELD_TYPES] = {
        [DBIO_FIELD_SIZE] = {"size", sizeof(uint64_t), parse_size, print_size, unset_whole, is_set_whole, format_size,
                             "8K"},
        [DBIO_FIELD_TIME] = {"time", sizeof(uint64_t), parse_time, print_time, unset_whole, is_set_whole, format_time,
                             "20ms"},
        [DBIO_FIELD_COUNT] = {"count", sizeof(uint64_t), parse_count, print_count, unset_whole, is_set_whole,
                              format_number, "10_000"},
        [DBIO_FIELD_RATE] = {"rate", sizeof(double), parse_rate, print_rate, unset_double, is_set_double, format_ops,
                             "500/s"},
        [DBIO_FIELD_BYTE_RATE] = {"rate in bytes", sizeof(double), parse_byte_rate, print_byte_rate, unset_double,
                                  is_set_double, format_bytes, "100MiB/s"},
        [DBIO_FIELD_ANY_RATE] = {"rate, of ops or bytes", sizeof(struct dbio_rate), parse_any_rate, print_any_rate,
                                 unset_any_rate, is_set_any_rate, format_ops, "500/s or 100MiB/s"},
        [DBIO_FIELD_SHARE] = {"share", sizeof(double), parse_share, print_share, unset_double, is_set_double,
                              format_share, "30%"},
        [DBIO_FIELD_FACTOR] = {"number", sizeof(double), parse_factor, print_factor, unset_double, is_set_double,
                               format_number, "0.75"},
        [DBIO_FIELD_BOOL] = {"yes or no", sizeof(bool), parse_bool, print_bool, unset_bool, is_set_always, NULL, "yes"},
        [DBIO_FIELD_ENUM] = {"word", sizeof(int), parse_enum, print_enum, unset_index, is_set_index, NULL, NULL},
        [DBIO_FIELD_TEXT] = {"text", sizeof(char *), parse_text, print_text, unset_pointer, is_set_pointer, NULL, NULL},
        [DBIO_FIELD_TARGET] = {"target", sizeof(int), parse_target, print_target, unset_index, is_set_index, NULL,
                               "data"},
        [DBIO_FIELD_STREAM] = {"stream", sizeof(int), parse_stream, print_stream, unset_index, is_set_index, NULL,
                               "log"},
        [DBIO_FIELD_REGION] = {"region", sizeof(struct dbio_region), parse_region, print_region, unset_region,
                               is_set_always, NULL, "{from: 0%, to: 50%}"},
        [DBIO_FIELD_SKEW] = {"skew", sizeof(struct dbio_skew), parse_skew, print_skew, unset_skew, is_set_always, NULL,
                             "uniform, {zipf: 0.99} or {hot: {space: 10%, ops: 90%}}"},
        [DBIO_FIELD_DIST] = {"size or distribution", sizeof(struct dbio_dist), parse_dist, print_dist, unset_dist,
                             is_set_dist, format_size, "400 or {lognormal: {median: 400, sigma: 0.8}}"},
        [DBIO_FIELD_MIX] = {"sizes with shares", sizeof(struct dbio_mix), parse_mix, print_mix, unset_mix, is_set_mix,
                            format_size, "{8K: 70%, 64K: 30%}"},
        [DBIO_FIELD_RAMP] = {"rate or ramp", sizeof(struct dbio_ramp), parse_ramp, print_ramp, unset_ramp,
                             is_set_double, format_ops, "2000/s or {from: 100/s, to: 5000/s, over: 60s}"},
        [DBIO_FIELD_MAP] = {"map", 0, NULL, NULL, NULL, NULL, NULL, NULL},
        [DBIO_FIELD_AMOUNT] = {"size or share", sizeof(struct dbio_amount), parse_amount, print_amount, unset_amount,
                               is_set_amount, NULL, "4G, 50% or all"},
        [DBIO_FIELD_TARGETS] = {"target, or list of targets", sizeof(struct dbio_target_list), parse_targets,
                                print_targets, unset_targets, is_set_targets, NULL, "log"},
        [DBIO_FIELD_VERSION] = {"version", sizeof(uint64_t), parse_version, print_version, unset_whole, is_set_whole,
                                NULL, NULL},
        [DBIO_FIELD_NODE] = {"as described", sizeof(struct dbio_node *), parse_node, print_node, unset_pointer, is_set_pointer,
                             NULL, NULL},
};
