#include "patterns/reference.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "patterns/keys.h"

/* What a scalar looks like as text; the whole of it must match. */
#define NUMBER "[0-9][0-9_]*(\\.[0-9]+)?"
#define BYTES  NUMBER "([KMGTP](iB)?|[kMGTP]B)?"
#define UNITS  NUMBER "([KMGTP](iB)?|[kMGTP]B)"
#define NAME   "[A-Za-z0-9_-]+"
#define STAT                                                                                                           \
        NAME "(\\.(read|write|fsync|trim|commit))?(\\.(wait|service|response))?"                                       \
             "\\.(iops|mib_per_s|mean|p50|p95|p99|p999|max|errors)"

static const struct {
        const char *pattern; /* NULL = no scalar, or one with a rule of its own */
        bool number;         /* a YAML number also fits */
} scalars[DBIO_FIELD_TYPES] = {
        [DBIO_FIELD_SIZE] = {BYTES, true},
        [DBIO_FIELD_TIME] = {NUMBER "(ns|us|ms|s|m|h)", false},
        [DBIO_FIELD_COUNT] = {"[0-9][0-9_]*", true},
        [DBIO_FIELD_RATE] = {NUMBER "/s", false},
        [DBIO_FIELD_BYTE_RATE] = {UNITS "/s", false},
        [DBIO_FIELD_ANY_RATE] = {BYTES "/s", false},
        [DBIO_FIELD_SHARE] = {NUMBER "%", false},
        [DBIO_FIELD_FACTOR] = {NUMBER, true},
        [DBIO_FIELD_TEXT] = {".*", true},
        [DBIO_FIELD_TARGET] = {NAME, true},
        [DBIO_FIELD_STREAM] = {NAME, true},
        [DBIO_FIELD_AMOUNT] = {"all|" NUMBER "%|" BYTES, true},
        [DBIO_FIELD_DIST] = {BYTES, true},
        [DBIO_FIELD_RAMP] = {NUMBER "/s", false},
        [DBIO_FIELD_TARGETS] = {NAME, true},
};

static json_t *fields_schema(const struct dbio_field *fields);

static json_t *text_schema(const char *pattern)
{
        char whole[512];

        snprintf(whole, sizeof whole, "^(%s)$", pattern);
        return json_pack("{s:s, s:s}", "type", "string", "pattern", whole);
}

static json_t *type_schema(const char *type)
{
        return json_pack("{s:s}", "type", type);
}

static json_t *ref(const char *definition)
{
        char path[128];

        snprintf(path, sizeof path, "#/definitions/%s", definition);
        return json_pack("{s:s}", "$ref", path);
}

static json_t *list_of(json_t *items)
{
        return json_pack("{s:s, s:o, s:i}", "type", "array", "items", items, "minItems", 1);
}

/* A map with these keys and no others. */
static json_t *closed(json_t *properties)
{
        return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

/* A map of entries by keys of this pattern. */
static json_t *entries(const char *pattern, json_t *entry)
{
        char whole[512];

        snprintf(whole, sizeof whole, "^(%s)$", pattern);
        return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties", whole, entry,
                         "additionalProperties", 0);
}

/* Words; those that a YAML reader may take for numbers also as such. */
static json_t *words_schema(const char *const *words)
{
        json_t *list = json_array();

        for (unsigned i = 0; words[i]; i++) {
                char *end;
                double number = strtod(words[i], &end);

                json_array_append_new(list, json_string(words[i]));
                if (!*end && number == (double)(long)number)
                        json_array_append_new(list, json_integer((long)number));
                else if (!*end)
                        json_array_append_new(list, json_real(number));
        }
        return json_pack("{s:o}", "enum", list);
}

static json_t *scalar_schema(enum dbio_field_type type)
{
        return scalars[type].number
                       ? json_pack("{s:[o, o]}", "anyOf", text_schema(scalars[type].pattern), type_schema("number"))
                       : text_schema(scalars[type].pattern);
}

/* What a value may be besides a scalar. */
static json_t *composite(const struct dbio_field *field)
{
        switch (field->type) {
        case DBIO_FIELD_BOOL:
                return json_pack("{s:[s, s, b, b]}", "enum", "yes", "no", 1, 0);
        case DBIO_FIELD_ENUM:
        case DBIO_FIELD_VERSION:
                return field->names ? words_schema(field->names) : json_object();
        case DBIO_FIELD_REGION:
                return closed(json_pack("{s:o, s:o}", "from", scalar_schema(DBIO_FIELD_AMOUNT), "to",
                                        scalar_schema(DBIO_FIELD_AMOUNT)));
        case DBIO_FIELD_SKEW:
                return json_pack(
                        "{s:[o, o]}", "anyOf", json_pack("{s:s}", "const", "uniform"),
                        closed(json_pack("{s:o, s:o}", "zipf", scalar_schema(DBIO_FIELD_FACTOR), "hot",
                                         closed(json_pack("{s:o, s:o}", "space", scalar_schema(DBIO_FIELD_SHARE), "ops",
                                                          scalar_schema(DBIO_FIELD_SHARE))))));
        case DBIO_FIELD_DIST:
                return closed(json_pack("{s:o}", "lognormal",
                                        closed(json_pack("{s:o, s:o}", "median", scalar_schema(DBIO_FIELD_SIZE),
                                                         "sigma", scalar_schema(DBIO_FIELD_FACTOR)))));
        case DBIO_FIELD_MIX:
                return entries(BYTES, scalar_schema(DBIO_FIELD_SHARE));
        case DBIO_FIELD_RAMP:
                return closed(json_pack("{s:o, s:o, s:o}", "from", scalar_schema(DBIO_FIELD_RATE), "to",
                                        scalar_schema(DBIO_FIELD_RATE), "over", scalar_schema(DBIO_FIELD_TIME)));
        case DBIO_FIELD_TARGETS:
                return list_of(scalar_schema(DBIO_FIELD_TARGET));
        case DBIO_FIELD_MAP:
                return fields_schema(field->sub);
        default:
                return NULL;
        }
}

static json_t *layout(void)
{
        return json_pack("{s:[o, o]}", "anyOf", json_pack("{s:s}", "const", "contiguous"),
                         fields_schema(dbio_layout_fields));
}

static json_t *bounds(void)
{
        return list_of(text_schema(STAT " *(<|<=|>|>=) *[^ ]+"));
}

/* Nodes: read by code of their own, so each has a schema of its own. */
static json_t *node_schema(const struct dbio_field *field)
{
        static const struct {
                const char *key;
                const struct dbio_field *fields;
        } nested[] = {{"targets", dbio_target_fields}, {"phases", dbio_phase_fields}, {"study", dbio_study_fields}};
        const char *key = field->key;

        if (!strcmp(key, "layout"))
                return layout();
        if (!strcmp(key, "find"))
                return fields_schema(dbio_find_fields);
        if (!strcmp(key, "limits") || !strcmp(key, "while"))
                return bounds();
        if (!strcmp(key, "observed"))
                return entries(STAT, type_schema("string"));
        if (!strcmp(key, "on_error"))
                return json_pack("{s:[o, o]}", "anyOf", text_schema("stop|continue|[0-9_]+"), type_schema("integer"));
        if (!strcmp(key, "axes"))
                return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", list_of(json_object()));
        if (!strcmp(key, "cases"))
                return entries(NAME, type_schema("object"));
        if (!strcmp(key, "streams")) /* of the workload, or of a phase */
                return field->flags & DBIO_FIELD_REQUIRED ? entries(NAME, ref("stream"))
                                                          : list_of(scalar_schema(DBIO_FIELD_STREAM));
        for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
                if (strcmp(key, nested[i].key))
                        continue;
                if (!strcmp(key, "phases"))
                        return list_of(fields_schema(nested[i].fields));
                return !strcmp(key, "study") ? fields_schema(nested[i].fields)
                                             : entries(NAME, fields_schema(nested[i].fields));
        }
        return type_schema("object");
}

static json_t *field_schema(const struct dbio_field *field)
{
        json_t *any = json_array(), *schema;
        char text[1024];

        if (field->type == DBIO_FIELD_NODE)
                json_array_append_new(any, node_schema(field));
        if (scalars[field->type].pattern)
                json_array_append_new(any, scalar_schema(field->type));
        schema = composite(field);
        if (schema)
                json_array_append_new(any, schema);
        if (field->flags & DBIO_FIELD_SECTOR)
                json_array_append_new(any, json_pack("{s:s}", "const", "auto"));
        if ((field->flags & DBIO_FIELD_NONE) || !(field->fallback || (field->flags & DBIO_FIELD_REQUIRED)))
                json_array_append_new(any, json_pack("{s:s}", "const", "none"));
        if (field->flags & DBIO_FIELD_SCALAR_OFF)
                json_array_append_new(any, json_pack("{s:[s, b]}", "enum", "no", 0));
        snprintf(text, sizeof text, "%s%s%s", field->help ? field->help : field->key,
                 field->fallback ? "; default " : "", field->fallback ? field->fallback : "");
        return json_pack("{s:s, s:o}", "description", text, "anyOf", any);
}

static void add_fields(json_t *properties, const struct dbio_field *fields)
{
        for (const struct dbio_field *field = fields; field && field->key; field++)
                json_object_set_new(properties, field->key, field_schema(field));
}

static json_t *fields_schema(const struct dbio_field *fields)
{
        json_t *properties = json_object();

        add_fields(properties, fields);
        return closed(properties);
}

/* A stream: which keys it has follows from its pattern. */
static json_t *stream_schema(json_t *definitions)
{
        json_t *names = json_array(), *branches = json_array();

        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                struct dbio_field shared[DBIO_STREAM_FIELDS_MAX];
                json_t *properties = json_object();

                dbio_stream_fields(*pattern, shared);
                add_fields(properties, shared);
                add_fields(properties, (*pattern)->fields);
                json_object_set_new(
                        properties, "pattern",
                        json_pack("{s:s, s:s}", "const", (*pattern)->name, "description", (*pattern)->summary));
                json_object_set_new(definitions, (*pattern)->name, closed(properties));
                json_array_append_new(names, json_string((*pattern)->name));
                json_array_append_new(branches, json_pack("{s:{s:{s:{s:s}}}, s:o}", "if", "properties", "pattern",
                                                          "const", (*pattern)->name, "then", ref((*pattern)->name)));
        }
        return json_pack("{s:s, s:{s:{s:o}}, s:o}", "type", "object", "properties", "pattern", "enum", names, "allOf",
                         branches);
}

int dbio_reference_schema(FILE *out)
{
        json_t *definitions = json_object(), *root = fields_schema(dbio_workload_fields);
        int code;

        json_object_set_new(definitions, "stream", stream_schema(definitions));
        json_object_set_new(root, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
        json_object_set_new(root, "title", json_string("dbio workload"));
        json_object_set_new(root, "definitions", definitions);
        code = json_dumpf(root, out, JSON_INDENT(1));
        fputc('\n', out);
        json_decref(root);
        return code;
}
