#include "patterns/value.h"

#include <string.h>

#include "engine/units.h"

/* Sigma of a lognormal that gives none: that of commit sizes (judgement). */
#define SIGMA_DEFAULT 0.8

static int parse_amount(PARSE_ARGS)
{
        struct dbio_amount *amount = value;
        struct dbio_err unit;
        size_t length;

        UNUSED(scope);
        if (dbio_value_scalar_only(node, dbio_value_classes[DBIO_FIELD_AMOUNT]->name, err))
                return -1;
        length = strlen(node->text);
        *amount = (struct dbio_amount){.share = NAN};
        if (!strcmp(node->text, "all")) {
                amount->share = 1;
        } else if (length && node->text[length - 1] == '%') {
                if (dbio_parse_share(node->text, &amount->share, &unit))
                        return dbio_value_at_node(node, &unit, err);
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
                dbio_value_print(out, (double)amount->bytes, dbio_value_format_size);
        else if (amount->share == 1)
                fputs("100%", out);
        else
                dbio_value_print(out, amount->share, dbio_value_format_share);
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
                        return dbio_value_parse_factor(&theta_field, inner, scope, &skew->theta, err);
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
                dbio_value_print(out, skew->theta, dbio_value_format_number);
                fputc('}', out);
        } else {
                fputs("{hot: {space: ", out);
                dbio_value_print(out, skew->space, dbio_value_format_share);
                fputs(", ops: ", out);
                dbio_value_print(out, skew->ops, dbio_value_format_share);
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
                return dbio_value_in_range(field, dbio_node_get(inner, "median"), dist->value, dbio_value_format_size,
                                           err);
        }
        if (node->type != DBIO_NODE_SCALAR || (!*node->text && !node->quoted))
                return dbio_node_error(node, err,
                                       "no distribution: write a size, or {lognormal: {median: 400, sigma: 0.8}}");
        if (dbio_parse_size(node->text, &fixed, &unit))
                return dbio_value_at_node(node, &unit, err);
        *dist = (struct dbio_dist){DBIO_DIST_FIXED, (double)fixed, 0};
        return dbio_value_in_range(field, node, dist->value, dbio_value_format_size, err);
}

static void print_dist(PRINT_ARGS)
{
        const struct dbio_dist *dist = value;

        UNUSED(scope);
        UNUSED(field);
        if (dist->kind == DBIO_DIST_LOGNORMAL)
                fputs("{lognormal: {median: ", out);
        dbio_value_print(out, dist->value, dbio_value_format_size);
        if (dist->kind == DBIO_DIST_LOGNORMAL) {
                fputs(", sigma: ", out);
                dbio_value_print(out, dist->sigma, dbio_value_format_number);
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
                        return dbio_value_at_node(node->keys[i], &unit, err);
                if (dbio_value_in_range(field, node->keys[i], (double)mix->size[i], dbio_value_format_size, err))
                        return -1;
                for (unsigned j = 0; j < i; j++)
                        if (mix->size[j] == mix->size[i])
                                return dbio_node_error(node->keys[i], err, "%.40s is given twice", node->keys[i]->text);
                if (dbio_value_scalar_only(node->items[i], "share", err))
                        return -1;
                if (dbio_parse_share(node->items[i]->text, &mix->share[i], &unit))
                        return dbio_value_at_node(node->items[i], &unit, err);
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
                dbio_value_print(out, (double)mix->size[i], dbio_value_format_size);
                fputs(": ", out);
                dbio_value_print(out, mix->share[i], dbio_value_format_share);
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
        if (dbio_value_parse_double(field, node, &ramp->from_per_s, dbio_value_ops_rate, err))
                return -1;
        ramp->to_per_s = ramp->from_per_s;
        ramp->over_ns = 0;
        return dbio_value_in_range(field, node, ramp->from_per_s, dbio_value_format_ops, err);
}

static void print_ramp(PRINT_ARGS)
{
        const struct dbio_ramp *ramp = value;

        UNUSED(scope);
        UNUSED(field);
        if (!ramp->over_ns) {
                dbio_value_print(out, ramp->from_per_s, dbio_value_format_ops);
                return;
        }
        fputs("{from: ", out);
        dbio_value_print(out, ramp->from_per_s, dbio_value_format_ops);
        fputs(", to: ", out);
        dbio_value_print(out, ramp->to_per_s, dbio_value_format_ops);
        fputs(", over: ", out);
        dbio_value_print(out, (double)ramp->over_ns, dbio_value_format_time);
        fputc('}', out);
}

static void unset_ramp(void *value)
{
        *(struct dbio_ramp *)value = (struct dbio_ramp){.from_per_s = NAN, .to_per_s = NAN};
}

const struct dbio_value_class dbio_value_region = {
        "region",     sizeof(struct dbio_region), parse_region, print_region,
        unset_region, dbio_value_is_set_always,   NULL,         "{from: 0%, to: 50%}"};
const struct dbio_value_class dbio_value_skew = {
        "skew",     sizeof(struct dbio_skew), parse_skew, print_skew,
        unset_skew, dbio_value_is_set_always, NULL,       "uniform, {zipf: 0.99} or {hot: {space: 10%, ops: 90%}}"};
const struct dbio_value_class dbio_value_dist = {"size or distribution",
                                                 sizeof(struct dbio_dist),
                                                 parse_dist,
                                                 print_dist,
                                                 unset_dist,
                                                 is_set_dist,
                                                 dbio_value_format_size,
                                                 "400 or {lognormal: {median: 400, sigma: 0.8}}"};
const struct dbio_value_class dbio_value_mix = {
        "sizes with shares",    sizeof(struct dbio_mix), parse_mix, print_mix, unset_mix, is_set_mix,
        dbio_value_format_size, "{8K: 70%, 64K: 30%}"};
const struct dbio_value_class dbio_value_ramp = {"rate or ramp",
                                                 sizeof(struct dbio_ramp),
                                                 parse_ramp,
                                                 print_ramp,
                                                 unset_ramp,
                                                 dbio_value_is_set_double,
                                                 dbio_value_format_ops,
                                                 "2000/s or {from: 100/s, to: 5000/s, over: 60s}"};
const struct dbio_value_class dbio_value_amount = {
        "size or share", sizeof(struct dbio_amount), parse_amount, print_amount, unset_amount, is_set_amount, NULL,
        "4G, 50% or all"};
