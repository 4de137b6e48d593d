#include "patterns/workload.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/embedded.h"
#include "engine/near.h"
#include "engine/sha256.h"
#include "patterns/build.h"
#include "patterns/edit.h"

#define EXTENDS_MAX 16

/* Where a workload's text comes from: a file, an installed config, or memory. */
struct source {
        const char *name; /* as in messages, and for what its `extends` is relative to */
        const char *text;
        size_t size;
        bool installed;
};

static const struct dbio_embedded *installed_find(const char *name)
{
        char path[256];

        snprintf(path, sizeof path, "configs/%s.yaml", name);
        return dbio_embedded_find(path);
}

static int no_workload(const char *name, const struct dbio_err *missing, struct dbio_err *err)
{
        char names[256][64], plain[64];
        const char *list[256], *near;
        size_t folder = strncmp(name, "configs/", 8) ? 0 : 8;
        unsigned n = 0;

        for (const struct dbio_embedded *file = dbio_embedded; file->path && n < 256; file++) {
                size_t length = strlen(file->path);

                if (strncmp(file->path, "configs/", 8) || length < 14 || length - 13 >= sizeof *names ||
                    strcmp(file->path + length - 5, ".yaml"))
                        continue;
                snprintf(names[n], sizeof *names, "%.*s", (int)(length - 13), file->path + 8);
                list[n] = names[n];
                n++;
        }
        /* An installed one has neither folder nor ending. */
        snprintf(plain, sizeof plain, "%s", name + folder);
        if (strlen(plain) > 5 && !strcmp(plain + strlen(plain) - 5, ".yaml"))
                plain[strlen(plain) - 5] = 0;
        near = dbio_near_miss(plain, list, n);
        if (near)
                dbio_err_set(err, DBIO_USAGE, "%s, nor an installed workload: did you mean \"%s\"?", missing->message,
                             near);
        else
                dbio_err_set(err, DBIO_USAGE, "%s, nor an installed workload of that name (dbio describe workloads)",
                             missing->message);
        return dbio_err_locate(err, name, 0, 0);
}

static int source_open(struct dbio_arena *arena, const char *name, struct source *source, struct dbio_err *err)
{
        const struct dbio_embedded *installed = access(name, F_OK) ? installed_find(name) : NULL;
        struct dbio_err fault = {0};
        char *text;
        size_t size;

        if (installed) {
                *source = (struct source){installed->path, installed->text, installed->size, true};
                return 0;
        }
        if (dbio_file_read(name, &text, &size, &fault)) {
                if (fault.code == DBIO_USAGE && access(name, F_OK))
                        return no_workload(name, &fault, err);
                if (err)
                        *err = fault;
                return -1;
        }
        *source = (struct source){dbio_arena_text(arena, name, strlen(name)), dbio_arena_text(arena, text, size), size,
                                  false};
        free(text);
        return 0;
}

/* The source that `extends` names, relative to the file that says so; an installed one by its name too. */
static int source_extends(struct dbio_arena *arena, const struct source *from, const struct dbio_node *extends,
                          struct source *source, struct dbio_err *err)
{
        struct dbio_err fault = {0};
        char *folder, *path;

        if (extends->type != DBIO_NODE_SCALAR || !*extends->text)
                return dbio_node_error(extends, err, "the path of a workload file belongs here");
        folder = dirname(dbio_arena_text(arena, from->name, strlen(from->name)));
        path = *extends->text == '/' ? dbio_arena_format(arena, "%s", extends->text)
                                     : dbio_arena_format(arena, "%s/%s", folder, extends->text);
        if (from->installed) {
                const struct dbio_embedded *file = dbio_embedded_find(path);

                if (file) {
                        *source = (struct source){file->path, file->text, file->size, true};
                        return 0;
                }
        }
        if (!from->installed && !access(path, F_OK)) {
                if (!source_open(arena, path, source, &fault))
                        return 0;
                dbio_node_error(extends, err, "%s: %s", path, fault.message);
                if (err)
                        err->code = fault.code;
                return -1;
        }
        if (installed_find(extends->text))
                return source_open(arena, extends->text, source, err);
        return dbio_node_error(extends, err, "no file %s, nor an installed workload \"%.100s\"", path, extends->text);
}

static const char *identity(struct dbio_arena *arena, const struct source *source)
{
        char *real = source->installed ? NULL : realpath(source->name, NULL);
        const char *copy = real ? dbio_arena_text(arena, real, strlen(real)) : source->name;

        free(real);
        return copy;
}

static int set_value(struct dbio_arena *arena, const struct dbio_set *set, struct dbio_node *at, struct dbio_node **value,
                     struct dbio_err *err)
{
        const char *origin = dbio_arena_format(arena, "--set %s=%s", set->key, set->value);

        *at = (struct dbio_node){.type = DBIO_NODE_SCALAR, .text = "", .file = origin};
        return dbio_edit_value(arena, origin, set->value, value, err);
}

/* `--set extends=FILE` stands for the file's own key: it counts before anything is merged. */
static int set_extends(struct dbio_arena *arena, struct dbio_node *root, const struct dbio_set *sets, unsigned nsets,
                       struct dbio_err *err)
{
        for (unsigned i = 0; i < nsets; i++) {
                struct dbio_node at, *value;

                if (root->type != DBIO_NODE_MAP || strcmp(sets[i].key, "extends"))
                        continue;
                if (set_value(arena, &sets[i], &at, &value, err))
                        return -1;
                dbio_node_put(arena, root, dbio_node_text(arena, "extends", &at), value);
        }
        return 0;
}

/* The tree of a source, merged into what it extends. */
static int tree(struct dbio_arena *arena, const struct source *source, const struct dbio_set *sets, unsigned nsets,
                struct dbio_node **root, struct dbio_err *err)
{
        struct dbio_node *trees[EXTENDS_MAX];
        const char *seen[EXTENDS_MAX];
        struct source at = *source;
        unsigned n = 0;

        for (;;) {
                const struct dbio_node *extends;

                seen[n] = identity(arena, &at);
                if (dbio_doc_parse_into(arena, at.name, at.text, at.size, &trees[n], err) ||
                    (n == 0 && set_extends(arena, trees[0], sets, nsets, err)))
                        return -1;
                extends = dbio_node_get(trees[n++], "extends");
                if (!extends)
                        break;
                if (n == EXTENDS_MAX)
                        return dbio_node_error(extends, err, "over %d files that extend each other", EXTENDS_MAX);
                if (source_extends(arena, &at, extends, &at, err))
                        return -1;
                for (unsigned i = 0; i < n; i++)
                        if (!strcmp(seen[i], identity(arena, &at)))
                                return dbio_node_error(extends, err, "extends goes round in a circle: \"%s\" again",
                                                       extends->text);
        }
        while (n > 1) {
                struct dbio_node *base = trees[n - 1], *over = trees[n - 2];

                if (base->type != DBIO_NODE_MAP)
                        return dbio_node_error(base, err, "this is no workload, and is extended by another");
                dbio_edit_remove(over, "extends");
                dbio_edit_merge(arena, base, over);
                trees[--n - 1] = base;
        }
        *root = trees[0];
        return 0;
}

static int apply_sets(struct dbio_arena *arena, struct dbio_node *root, const struct dbio_set *sets, unsigned nsets,
                      struct dbio_err *err)
{
        for (unsigned i = 0; i < nsets; i++) {
                struct dbio_node at, *value;

                if (!strcmp(sets[i].key, "extends"))
                        continue;
                if (set_value(arena, &sets[i], &at, &value, err) ||
                    dbio_edit_put(arena, root, sets[i].key, value, &at, err))
                        return -1;
        }
        return 0;
}

/* Canonical text, its document, and the hash. */
static int resolve(struct dbio_workload *workload, const struct dbio_build *build, struct dbio_err *err)
{
        char *text = dbio_canonical_text(build, false), *demand = dbio_canonical_text(build, true);
        struct dbio_doc *doc = dbio_arena_alloc(workload->arena, sizeof *doc);
        int code = -1;

        if (!text || !demand) {
                dbio_err_set(err, DBIO_BUG, "out of memory");
                goto out;
        }
        workload->resolved = dbio_arena_text(workload->arena, text, strlen(text));
        workload->doc = doc;
        dbio_sha256_hex(demand, strlen(demand), workload->hash);
        code = dbio_doc_parse_into(workload->arena, "resolved text", text, strlen(text), &doc->root, err);
out:
        free(text);
        free(demand);
        return code;
}

static int load(struct dbio_workload *workload, const struct source *source, const struct dbio_set *sets,
                unsigned nsets, struct dbio_err *err)
{
        struct dbio_build build = {.arena = workload->arena, .workload = workload, .file = source->name};
        const struct dbio_node *pristine = NULL;

        workload->file = source->name;
        workload->text = source->text;
        if (tree(workload->arena, source, sets, nsets, &build.root, err) ||
            apply_sets(workload->arena, build.root, sets, nsets, err))
                return -1;
        if (dbio_node_get(build.root, "study"))
                pristine = dbio_node_copy(workload->arena, build.root);
        if (dbio_build_workload(&build, err) || resolve(workload, &build, err))
                return -1;
        return pristine ? dbio_study_check(&build, pristine, err) : 0;
}

int dbio_workload_load(struct dbio_workload *workload, const char *path_or_name, const struct dbio_set *sets,
                       unsigned nsets, struct dbio_err *err)
{
        struct source source;

        memset(workload, 0, sizeof *workload);
        workload->arena = dbio_arena_new();
        if (!source_open(workload->arena, path_or_name, &source, err) && !load(workload, &source, sets, nsets, err))
                return 0;
        dbio_workload_release(workload);
        return -1;
}

int dbio_workload_load_text(struct dbio_workload *workload, const char *name, const char *text, size_t size,
                            const struct dbio_set *sets, unsigned nsets, struct dbio_err *err)
{
        struct source source;

        memset(workload, 0, sizeof *workload);
        workload->arena = dbio_arena_new();
        source = (struct source){dbio_arena_text(workload->arena, name, strlen(name)),
                                 dbio_arena_text(workload->arena, text, size), size, false};
        if (!load(workload, &source, sets, nsets, err))
                return 0;
        dbio_workload_release(workload);
        return -1;
}

void dbio_workload_release(struct dbio_workload *workload)
{
        dbio_arena_free(workload->arena);
        memset(workload, 0, sizeof *workload);
}
