/* The types of fields: how a value is read from a node, printed, unset. For field.c,
 * and for what describes fields. */
#ifndef DBIO_PATTERNS_VALUE_H
#define DBIO_PATTERNS_VALUE_H

#include "engine/err.h"
#include "patterns/doc.h"
#include "patterns/field.h"

struct dbio_value_class {
        const char *name; /* "size, such as 8K" */
        size_t size;      /* of the C type; 0 for a map */
        int (*parse)(const struct dbio_field *field, const struct dbio_node *node,
                     const struct dbio_field_scope *scope, void *value, struct dbio_err *err);
        void (*print)(FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope,
                      const void *value);
        void (*unset)(void *value);
        bool (*is_set)(const void *value);
        void (*format)(double value, char *text, size_t size); /* of a range's ends; NULL where there is no range */
        const char *example;
};

/* By enum dbio_field_type; MAP has parse, print, unset and is_set NULL. */
extern const struct dbio_value_class dbio_value_classes[DBIO_FIELD_TYPES];

#endif
