#include "patterns/field.h"

#include <stdlib.h>
#include <string.h>

#include "engine/near.h"
#include "patterns/value.h"

static void *place(const struct dbio_field *field, void *config)
{
        return (char *)config + field->offset;
}

static const void *place_const(const struct dbio_field *field, const void *config)
{
        return (const char *)config + field->offset;
}

static bool takes_none(const struct dbio_field *field)
{
        return (field->flags & DBIO_FIELD_NONE) || (!field->fallback && !(field->flags & DBIO_FIELD_REQUIRED) &&
                                                    field->type != DBIO_FIELD_MAP && field->type != DBIO_FIELD_TEXT);
}

/* All of a map's struct to zero, key by key: its size is not known. */
static void zero_map(const struct dbio_field *fields, void *config)
{
        for (const struct dbio_field *field = fields; field->key; field++) {
                if (field->type == DBIO_FIELD_MAP)
                        zero_map(field->sub, place(field, config));
                else
                        memset(place(field, config), 0, dbio_value_classes[field->type]->size);
        }
}

static int set_value(const struct dbio_field *field, const struct dbio_node *node, const struct dbio_field_scope *scope,
                     void *config, struct dbio_err *err)
{
        void *value = place(field, config);

        if (node->type == DBIO_NODE_SCALAR && takes_none(field) && !strcmp(node->text, "none")) {
                if (field->type == DBIO_FIELD_MAP)
                        dbio_fields_default(field->sub, value);
                else
                        dbio_value_classes[field->type]->unset(value);
                return 0;
        }
        if (node->type == DBIO_NODE_SCALAR && (field->flags & DBIO_FIELD_SCALAR_OFF) && !strcmp(node->text, "no")) {
                if (field->type == DBIO_FIELD_MAP)
                        zero_map(field->sub, value);
                else
                        memset(value, 0, dbio_value_classes[field->type]->size);
                return 0;
        }
        if (field->type == DBIO_FIELD_MAP)
                return dbio_fields_parse(field->sub, node, scope, value, err);
        return dbio_value_classes[field->type]->parse(field, node, scope, value, err);
}

int dbio_field_set_text(const struct dbio_field *field, const char *text, const struct dbio_field_scope *scope,
                        void *config, struct dbio_err *err)
{
        struct dbio_node scalar = {.type = DBIO_NODE_SCALAR, .text = text, .file = "default"};
        struct dbio_doc doc;
        int code;

        if (!strchr(text, '{') && !strchr(text, '['))
                return set_value(field, &scalar, scope, config, err);
        if (dbio_doc_parse(&doc, "default", text, strlen(text), err))
                return -1;
        code = set_value(field, doc.root, scope, config, err);
        dbio_doc_release(&doc);
        return code;
}

void dbio_fields_default(const struct dbio_field *fields, void *config)
{
        for (const struct dbio_field *field = fields; field && field->key; field++) {
                if (field->type == DBIO_FIELD_MAP)
                        dbio_fields_default(field->sub, place(field, config));
                else
                        dbio_value_classes[field->type]->unset(place(field, config));
                /* A fallback that does not parse is a fault of the table: a test walks all of them. */
                if (field->fallback)
                        dbio_field_set_text(field, field->fallback, NULL, config, NULL);
        }
}

const struct dbio_field *dbio_field_find(const struct dbio_field *fields, const char *key)
{
        for (const struct dbio_field *field = fields; field && field->key; field++)
                if (!strcmp(field->key, key))
                        return field;
        return NULL;
}

static int unknown_key(const struct dbio_field_table *tables, unsigned ntables, const struct dbio_node *key,
                       struct dbio_err *err)
{
        const char *names[128] = {NULL}, *near;
        char list[700] = "";
        unsigned n = 0;

        for (unsigned i = 0; i < ntables; i++)
                for (const struct dbio_field *field = tables[i].fields; field && field->key && n < 128; field++)
                        names[n++] = field->key;
        near = dbio_near_miss(key->text, names, n);
        if (near)
                return dbio_node_error(key, err, "unknown key \"%.60s\": did you mean \"%s\"?", key->text, near);
        for (unsigned i = 0; i < n; i++)
                snprintf(list + strlen(list), sizeof list - strlen(list), " %s", names[i]);
        return dbio_node_error(key, err, "unknown key \"%.60s\": the keys here are%s", key->text, list);
}

int dbio_tables_apply(const struct dbio_field_table *tables, unsigned ntables, const struct dbio_node *map,
                      const struct dbio_field_scope *scope, struct dbio_err *err)
{
        if (map && map->type != DBIO_NODE_MAP)
                return dbio_node_error(map, err, "a %s where a map of keys belongs",
                                       map->type == DBIO_NODE_LIST ? "list" : "single value");
        for (unsigned i = 0; map && i < map->n; i++) {
                const struct dbio_field *field = NULL;
                unsigned t;

                for (t = 0; t < ntables; t++) {
                        field = dbio_field_find(tables[t].fields, map->keys[i]->text);
                        if (field)
                                break;
                }
                if (!field)
                        return unknown_key(tables, ntables, map->keys[i], err);
                if (set_value(field, map->items[i], scope, tables[t].config, err))
                        return -1;
        }
        for (unsigned t = 0; map && t < ntables; t++)
                for (const struct dbio_field *field = tables[t].fields; field && field->key; field++)
                        if ((field->flags & DBIO_FIELD_REQUIRED) && !dbio_node_get(map, field->key))
                                return dbio_node_error(map, err, "key \"%s\" is missing: %s", field->key,
                                                       field->help ? field->help : "it has no default");
        return 0;
}

int dbio_fields_parse(const struct dbio_field *fields, const struct dbio_node *map,
                      const struct dbio_field_scope *scope, void *config, struct dbio_err *err)
{
        struct dbio_field_table table = {fields, config};

        dbio_fields_default(fields, config);
        return dbio_tables_apply(&table, 1, map, scope, err);
}

bool dbio_field_is_set(const struct dbio_field *field, const void *config)
{
        const void *value = place_const(field, config);

        if (field->type != DBIO_FIELD_MAP)
                return dbio_value_classes[field->type]->is_set(value);
        for (const struct dbio_field *sub = field->sub; sub->key; sub++)
                if (dbio_field_is_set(sub, value))
                        return true;
        return false;
}

static bool is_zero(const struct dbio_field *field, const void *config)
{
        const unsigned char *value = place_const(field, config);

        if (field->type == DBIO_FIELD_MAP) {
                for (const struct dbio_field *sub = field->sub; sub->key; sub++)
                        if (!is_zero(sub, value))
                                return false;
                return true;
        }
        for (size_t i = 0; i < dbio_value_classes[field->type]->size; i++)
                if (value[i])
                        return false;
        return true;
}

void dbio_field_print(FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope,
                      const void *config)
{
        const void *value = place_const(field, config);
        bool first = true;

        if ((field->flags & DBIO_FIELD_SCALAR_OFF) && is_zero(field, config)) {
                fputs("no", out);
                return;
        }
        if (!dbio_field_is_set(field, config)) {
                fputs("none", out);
                return;
        }
        if (field->type != DBIO_FIELD_MAP) {
                dbio_value_classes[field->type]->print(out, field, scope, value);
                return;
        }
        fputc('{', out);
        for (const struct dbio_field *sub = field->sub; sub->key; sub++) {
                /* `none` stands only where leaving the key out would bring its fallback back. */
                if (!dbio_field_is_set(sub, value) && !sub->fallback)
                        continue;
                fputs(first ? "" : ", ", out);
                first = false;
                fprintf(out, "%s: ", sub->key);
                dbio_field_print(out, sub, scope, value);
        }
        fputc('}', out);
}

/* One character of UTF-8 at text, its length in *size; 0xfffd where it is none. */
static unsigned long decode(const char *text, unsigned *size)
{
        const unsigned char *c = (const unsigned char *)text;
        unsigned n = *c < 0x80 ? 1 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : 2;
        unsigned long code = n == 1 ? *c : *c & (0xffu >> (n + 1));

        *size = 1;
        for (unsigned i = 1; i < n; i++) {
                if ((c[i] & 0xc0) != 0x80)
                        return 0xfffd;
                code = code << 6 | (c[i] & 0x3f);
        }
        *size = n;
        return code;
}

/* Characters that YAML 1.1 takes as they are, inside single quotes, on one line. */
static bool is_printable(unsigned long code)
{
        return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code != 0x2028 && code != 0x2029 && code != 0xfeff &&
                                                 code != 0xfffe && code != 0xffff && (code < 0xd800 || code > 0xdfff));
}

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool is_plain(const char *text)
{
        return *text && strchr(ALNUM, *text) && !text[strspn(text, ALNUM "_-./%")];
}

void dbio_text_print(FILE *out, const char *text)
{
        bool printable = true;
        unsigned size;

        if (is_plain(text)) {
                fputs(text, out);
                return;
        }
        for (const char *c = text; *c; c += size)
                printable &= is_printable(decode(c, &size));
        fputc(printable ? '\'' : '"', out);
        for (const char *c = text; *c; c += size) {
                unsigned long code = decode(c, &size);

                if (printable)
                        fprintf(out, "%s%.*s", *c == '\'' ? "'" : "", (int)size, c);
                else if (!is_printable(code))
                        fprintf(out, code > 0xffff ? "\\U%08lx" : "\\u%04lx", code);
                else
                        fprintf(out, "%s%.*s", *c == '"' || *c == '\\' ? "\\" : "", (int)size, c);
        }
        fputc(printable ? '\'' : '"', out);
}

void dbio_node_print(FILE *out, const struct dbio_node *node)
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
                dbio_node_print(out, node->items[i]);
        }
        fputc(node->type == DBIO_NODE_LIST ? ']' : '}', out);
}
