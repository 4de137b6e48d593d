/* Field tables: one table of a YAML map's keys gives parse, default, range, help, reference and JSON Schema. */
#ifndef DBIO_PATTERNS_FIELD_H
#define DBIO_PATTERNS_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How a key's value is written and which C type it has in the config struct. */
enum dbio_field_type {
        DBIO_FIELD_SIZE,     /* 8K, 1.5GiB, 8kB: uint64_t bytes */
        DBIO_FIELD_TIME,     /* 20ms: uint64_t ns */
        DBIO_FIELD_COUNT,    /* 10_000: uint64_t */
        DBIO_FIELD_RATE,     /* 500/s: double ops (or pages, as the help says) a second */
        DBIO_FIELD_BYTE_RATE, /* 100MiB/s: double bytes a second */
        DBIO_FIELD_ANY_RATE, /* either: struct dbio_rate */
        DBIO_FIELD_SHARE,    /* 30%: double, 0 … 1 */
        DBIO_FIELD_FACTOR,   /* 0.75: double */
        DBIO_FIELD_BOOL,     /* yes no true false: bool */
        DBIO_FIELD_ENUM,     /* one of names[]: int, index into names */
        DBIO_FIELD_TEXT,     /* const char *, owned by the workload */
        DBIO_FIELD_TARGET,   /* a target's name: int index into the workload's targets, -1 = not given */
        DBIO_FIELD_STREAM,   /* a stream's name: int index into the workload's streams, -1 = not given */
        DBIO_FIELD_REGION,   /* {from: 0%, to: 50%}: struct dbio_region */
        DBIO_FIELD_SKEW,     /* uniform | {zipf: 0.99} | {hot: {space: 10%, ops: 90%}}: struct dbio_skew */
        DBIO_FIELD_DIST,     /* 400 | {lognormal: {median: 400, sigma: 0.8}}: struct dbio_dist */
        DBIO_FIELD_MIX,      /* {8K: 70%, 64K: 30%}: struct dbio_mix */
        DBIO_FIELD_RAMP,     /* 2000/s | {from: 100/s, to: 5000/s, over: 60s}: struct dbio_ramp */
        DBIO_FIELD_MAP,      /* a nested map with its own fields (sub), its struct at offset */
        DBIO_FIELD_AMOUNT,   /* 4G | 50% | all: struct dbio_amount */
        DBIO_FIELD_TARGETS,  /* a target's name or a list of names: struct dbio_target_list */
        DBIO_FIELD_VERSION,  /* one of names[], 2008 or 8.0: uint64_t, 2008 or 800 */
        DBIO_FIELD_NODE,     /* checked by other code: const struct dbio_node *, NULL when not given */
        DBIO_FIELD_TYPES
};

/* Not given, where a field has no default. */
#define DBIO_UNSET UINT64_MAX           /* size, time, count */
#define dbio_is_set(x) (!isnan(x))      /* rate, share, factor are NAN when not given */
#define DBIO_ENUM_UNSET (-1)

struct dbio_rate {
        double per_s; /* NAN when not given */
        bool bytes;
};
/* A place in a target: bytes, or a share of it (share NAN when bytes are given). */
struct dbio_amount {
        uint64_t bytes;
        double share;
};
#define DBIO_TARGET_LIST_MAX 8
struct dbio_target_list {
        unsigned n; /* 0 = not given */
        int targets[DBIO_TARGET_LIST_MAX]; /* indexes into the workload's targets, all different */
};
struct dbio_region {
        struct dbio_amount from, to; /* default 0% … 100% */
};
struct dbio_skew {
        enum { DBIO_SKEW_UNIFORM, DBIO_SKEW_ZIPF, DBIO_SKEW_HOT } kind;
        double theta;      /* zipf */
        double space, ops; /* hot: shares of 1 */
};
struct dbio_dist {
        enum { DBIO_DIST_UNSET, DBIO_DIST_FIXED, DBIO_DIST_LOGNORMAL } kind;
        double value; /* bytes; fixed: the value; lognormal: the median */
        double sigma;
};
#define DBIO_MIX_MAX 16
struct dbio_mix {
        unsigned n; /* 0 = not given */
        uint64_t size[DBIO_MIX_MAX];
        double share[DBIO_MIX_MAX]; /* of 1, add to 1 */
};
struct dbio_ramp {
        double from_per_s, to_per_s; /* equal without a ramp; NAN when not given */
        uint64_t over_ns;
};

enum dbio_field_flag {
        DBIO_FIELD_REQUIRED = 1,
        DBIO_FIELD_POSITIVE = 2, /* zero is an error */
        DBIO_FIELD_SECTOR = 4,   /* also the word `auto`, = 0 */
        DBIO_FIELD_NONE = 8,     /* also the word `none`, = not given; holds without the flag where there is no
                                  * fallback and the key is not required */
        DBIO_FIELD_SCALAR_OFF = 16, /* also `no`, = zeroed */
        DBIO_FIELD_POWER_OF_TWO = 32, /* SIZE */
};

/* A table ends with an entry whose key is NULL. */
struct dbio_field {
        const char *key;
        enum dbio_field_type type;
        size_t offset;            /* in the config struct */
        const char *fallback;     /* the default as it would be written in YAML (flow style); NULL = none */
        double min, max;          /* of the parsed value, inclusive; both 0 = no range, max 0 = no upper end */
        const char *help;         /* one line, no full stop */
        const char *source;       /* where default and meaning come from: a document, or "judgement" */
        unsigned flags;
        const char *const *names; /* ENUM: NULL-terminated */
        const struct dbio_field *sub; /* MAP */
};

struct dbio_node;
struct dbio_err;

/* Names that TARGET and STREAM fields may refer to. */
struct dbio_field_scope {
        unsigned ntargets, nstreams;
        const char *const *targets, *const *streams;
};

/* Sets config to the table's defaults, then to what the map node says (NULL = empty map). Unknown keys ("did you
 * mean"), wrong types and units, values out of range and, where a map is given, missing required keys are errors with
 * position and path.
 * Texts point into the document. `scope` may be NULL where no field refers to a name. */
int dbio_fields_parse(const struct dbio_field *fields, const struct dbio_node *map,
                      const struct dbio_field_scope *scope, void *config, struct dbio_err *err);

/* The same in steps, and for a map whose keys come from several tables (an earlier table's key wins). */
struct dbio_field_table {
        const struct dbio_field *fields;
        void *config;
};
void dbio_fields_default(const struct dbio_field *fields, void *config);
int dbio_tables_apply(const struct dbio_field_table *tables, unsigned ntables, const struct dbio_node *map,
                      const struct dbio_field_scope *scope, struct dbio_err *err);
/* Sets one field from text in YAML flow style, as `fallback` is written. */
int dbio_field_set_text(const struct dbio_field *field, const char *text, const struct dbio_field_scope *scope,
                        void *config, struct dbio_err *err);

/* NULL where the table has no such key. */
const struct dbio_field *dbio_field_find(const struct dbio_field *fields, const char *key);
bool dbio_field_is_set(const struct dbio_field *field, const void *config);
/* Writes the value in canonical YAML flow style; `none` where it is not set. A NODE is written as it stands. */
void dbio_field_print(FILE *out, const struct dbio_field *field, const struct dbio_field_scope *scope,
                      const void *config);
/* Writes text as a YAML scalar, quoted where it must be. */
void dbio_text_print(FILE *out, const char *text);
/* Writes a node on one line, in flow style, its scalars as dbio_text_print does. */
void dbio_node_print(FILE *out, const struct dbio_node *node);

#endif
