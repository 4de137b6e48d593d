/* Changes to a document by dotted paths: `--set`, a phase's `set`, a study's axes and cases. */
#ifndef DBIO_PATTERNS_EDIT_H
#define DBIO_PATTERNS_EDIT_H

#include "patterns/doc.h"

/* Puts value at a dotted path (`phases.*.duration`): through maps by key, through lists by the items' `name` or by
 * index, `*` for all of them; in a phase's `set`, a study's axes and its cases and in `observed` what is left of the path
 * is one key.
 * Keys that are not there are made, but not list items, nor entries of `targets` and `streams` at the root. `at` gives
 * the position of errors and of keys that are made. The value is used as it is (its parent kept where set). */
int dbio_edit_put(struct dbio_arena *arena, struct dbio_node *root, const char *path, struct dbio_node *value,
                  const struct dbio_node *at, struct dbio_err *err);

/* The value at such a path without `*`; NULL where there is none. */
struct dbio_node *dbio_edit_get(struct dbio_node *root, const char *path);
/* Takes a pair out of a map, if it is there. */
void dbio_edit_remove(struct dbio_node *map, const char *key);

/* `over` into `base`: maps merge key by key, all else is replaced. */
void dbio_edit_merge(struct dbio_arena *arena, struct dbio_node *base, struct dbio_node *over);

/* A tree from a value given on the command line, in YAML flow style; every node has `origin` as its file and line 0. */
int dbio_edit_value(struct dbio_arena *arena, const char *origin, const char *text, struct dbio_node **value,
                    struct dbio_err *err);

#endif
