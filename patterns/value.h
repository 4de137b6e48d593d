/* The types of fields: how a value is read from a node, printed, unset. For field.c and for what describes fields. */
#ifndef DBIO_PATTERNS_VALUE_H
#define DBIO_PATTERNS_VALUE_H

#include "engine/err.h"
#include "patterns/doc.h"
#include "patterns/field.h"

struct dbio_value_class {
        const char *name; /* what a value is: "size" */
        size_t size;      /* of the C type; 0 for a map */
        int (*parse)(const struct dbio_field *field, const struct dbio_node *node, const struct dbio_field_scope *scope,
                     void *value, struct dbio_err *err);
        void (*print)(FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope,
                      const void *value);
        void (*unset)(void *value);
        bool (*is_set)(const void *value);
        void (*format)(double value, char *text, size_t size); /* of a range's ends; NULL where there is no range */
        const char *example; /* as it may be written; NULL where words or a table tell */
};

/* By enum dbio_field_type; MAP has parse, print, unset and is_set NULL. */
extern const struct dbio_value_class *const dbio_value_classes[DBIO_FIELD_TYPES];
/* Words; value_word.c. */
extern const struct dbio_value_class dbio_value_bool, dbio_value_enum, dbio_value_version, dbio_value_text,
        dbio_value_target, dbio_value_targets, dbio_value_stream, dbio_value_node;
/* Those that are more than a scalar; value_shape.c. */
extern const struct dbio_value_class dbio_value_amount, dbio_value_region, dbio_value_skew, dbio_value_dist,
        dbio_value_mix, dbio_value_ramp;

/* ----- for value.c, value_word.c and value_shape.c ----- */

#define PARSE_ARGS                                                                                                     \
        const struct dbio_field *field, const struct dbio_node *node, const struct dbio_field_scope *scope,            \
                void *value, struct dbio_err *err
#define PRINT_ARGS FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope, const void *value
#define UNUSED(x)  ((void)(x))

/* -1 with an error at the node where it is no scalar, or an empty one: "a count belongs here". */
int dbio_value_scalar_only(const struct dbio_node *node, const char *what, struct dbio_err *err);
/* Puts a unit's error at the node. */
int dbio_value_at_node(const struct dbio_node *node, const struct dbio_err *unit, struct dbio_err *err);
/* Holds a value against its field's range, which the message gives as `format` writes it. */
int dbio_value_in_range(const struct dbio_field *field, const struct dbio_node *node, double value,
                        void (*format)(double value, char *text, size_t size), struct dbio_err *err);
int dbio_value_parse_double(const struct dbio_field *field, const struct dbio_node *node, void *value,
                            int (*parse)(const char *text, double *value, struct dbio_err *err), struct dbio_err *err);
int dbio_value_ops_rate(const char *text, double *value, struct dbio_err *err);
int dbio_value_parse_factor(PARSE_ARGS);
void dbio_value_print(FILE *out, double value, void (*format)(double value, char *text, size_t size));
void dbio_value_format_size(double value, char *text, size_t size);
void dbio_value_format_time(double value, char *text, size_t size);
void dbio_value_format_number(double value, char *text, size_t size);
void dbio_value_format_share(double value, char *text, size_t size);
void dbio_value_format_ops(double value, char *text, size_t size);
void dbio_value_unset_whole(void *value);
bool dbio_value_is_set_whole(const void *value);
bool dbio_value_is_set_always(const void *value);
bool dbio_value_is_set_double(const void *value);

#endif
