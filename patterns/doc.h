/* A YAML document as a tree with positions; the only reader of YAML. */
#ifndef DBIO_PATTERNS_DOC_H
#define DBIO_PATTERNS_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/err.h"
#include "patterns/arena.h"

enum dbio_node_type { DBIO_NODE_SCALAR, DBIO_NODE_LIST, DBIO_NODE_MAP };

/* Owned by its document. line and column count from 1 and are where the value begins. */
struct dbio_node {
        enum dbio_node_type type;
        bool quoted;              /* scalar written with quotes */
        const char *text;         /* scalar: terminated; "" when empty */
        const char *file;         /* as in messages */
        unsigned line, column;    /* line 0: it comes from no file (`--set`) */
        unsigned n;               /* items of a list, pairs of a map */
        struct dbio_node **items; /* list items, or the map's values */
        struct dbio_node **keys;  /* map: the keys, as scalars with positions */
        struct dbio_node *parent; /* NULL at the root */
};

struct dbio_doc {
        struct dbio_node *root;
        struct dbio_arena *arena; /* owns the nodes */
};

/* Parses one document: anchors, aliases and merge keys resolved; duplicate keys, more than one document, tabs as
 * indentation, over 64 levels, over 4 MiB of text, and aliases that expand to over 100,000 nodes are errors with a
 * position. An empty file is an error. Code DBIO_USAGE. */
int dbio_doc_parse(struct dbio_doc *doc, const char *name, const char *text, size_t size, struct dbio_err *err);
/* The same from a file; DBIO_IO with errno text where it cannot be read for lack of permission, DBIO_USAGE where it is
 * missing or no regular file. *text (malloced, may be NULL) gets the file's text. */
int dbio_doc_read(struct dbio_doc *doc, const char *path, char **text, struct dbio_err *err);
void dbio_doc_release(struct dbio_doc *doc);
/* As dbio_doc_parse, into an arena of the caller's. */
int dbio_doc_parse_into(struct dbio_arena *arena, const char *name, const char *text, size_t size,
                        struct dbio_node **root, struct dbio_err *err);
/* Reads a regular file of at most 4 MiB whole; errors as dbio_doc_read. *text is malloced and terminated. */
int dbio_file_read(const char *path, char **text, size_t *size, struct dbio_err *err);

/* Value of a key, NULL where the node is no map or has no such key. */
struct dbio_node *dbio_node_get(const struct dbio_node *map, const char *key);

/* The next ones change trees; what they make is owned by the arena. */
struct dbio_node *dbio_node_new(struct dbio_arena *arena, enum dbio_node_type type, const struct dbio_node *at);
struct dbio_node *dbio_node_text(struct dbio_arena *arena, const char *text, const struct dbio_node *at);
/* Deep copy, positions kept, without a parent. */
struct dbio_node *dbio_node_copy(struct dbio_arena *arena, const struct dbio_node *node);
/* Appends a pair, or an item (key NULL). Parents are left as they are where already set, so that a value that is
 * used at a second place is reported at its first. The key must not be there yet. */
void dbio_node_append(struct dbio_arena *arena, struct dbio_node *node, struct dbio_node *key, struct dbio_node *value);
/* The same, in place of the value that the key has, if any. */
void dbio_node_put(struct dbio_arena *arena, struct dbio_node *map, struct dbio_node *key, struct dbio_node *value);

/* Writes the path of a value or key in its document (`phases[1].streams[0]`; empty for the root). */
void dbio_node_path(const struct dbio_node *node, char *path, size_t size);

/* Fills err with the message, the node's position and its path in the document (`phases[1].streams[0]`); code
 * DBIO_USAGE. Returns -1. */
int dbio_node_error(const struct dbio_node *node, struct dbio_err *err, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

#endif
