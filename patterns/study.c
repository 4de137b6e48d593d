#include "engine/near.h"
#include "patterns/build.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "patterns/edit.h"

#define TRIALS_MAX 1000

struct study {
        const struct dbio_build *build;
        const struct dbio_node *pristine;
        struct dbio_study_keys keys;
        unsigned trials;
        struct dbio_err *err;
};

static bool is_binding(const char *key)
{
        return !strncmp(key, "target.", 7);
}

bool dbio_study_next_key(const char **rest, char key[DBIO_STUDY_KEY_SIZE])
{
        const char *from = *rest + strspn(*rest, ", ");
        size_t size = strcspn(from, ", ");

        snprintf(key, DBIO_STUDY_KEY_SIZE, "%.*s", (int)size, from);
        *rest = from + size;
        return size;
}

static int check_binding(const struct study *study, const struct dbio_node *key, const char *name,
                         const struct dbio_node *value)
{
        const struct dbio_field_scope *scope = &study->build->scope;
        const char *near;

        if (value->type != DBIO_NODE_SCALAR || !*value->text)
                return dbio_node_error(value, study->err, "a binding belongs here: a path, or sim:PROFILE");
        for (unsigned i = 0; i < scope->ntargets; i++)
                if (!strcmp(scope->targets[i], name))
                        return 0;
        near = dbio_near_miss(name, scope->targets, scope->ntargets);
        return dbio_node_error(key, study->err, "no target \"%.60s\"%s%s%s", name, near ? ": did you mean \"" : "",
                               near ? near : "", near ? "\"?" : "");
}

/* One combination, built afresh from the pristine document. */
struct trial {
        struct dbio_arena *arena;
        struct dbio_node *root;
};

static int put(const struct study *study, struct trial *trial, const struct dbio_node *keys,
               const struct dbio_node *value)
{
        const char *rest = keys->text;
        char key[DBIO_STUDY_KEY_SIZE];

        while (dbio_study_next_key(&rest, key)) {
                if (is_binding(key) ? check_binding(study, keys, key + 7, value)
                                    : dbio_edit_put(trial->arena, trial->root, key, dbio_node_copy(trial->arena, value),
                                                    keys, study->err))
                        return -1;
        }
        return 0;
}

static int run(const struct study *study, struct trial *trial, const struct dbio_node *at)
{
        struct dbio_workload workload = {0};
        struct dbio_err fault = {0};
        struct dbio_build build = {
                .arena = trial->arena, .workload = &workload, .root = trial->root, .file = study->build->file};

        if (!dbio_build_workload(&build, &fault))
                return 0;
        /* The fault is the study's, even where it shows at another key. */
        return dbio_node_error(at, study->err, "with this the workload is wrong: %s%s%s%s", fault.message,
                               fault.path[0] ? " (at " : "", fault.path, fault.path[0] ? ")" : "");
}

static int trial_begin(struct study *study, struct trial *trial, const struct dbio_node *at)
{
        if (++study->trials > TRIALS_MAX)
                return dbio_node_error(at, study->err, "over %d values in a study", TRIALS_MAX);
        trial->arena = dbio_arena_new();
        trial->root = dbio_node_copy(trial->arena, study->pristine);
        return 0;
}

/* A value of one axis is tried with the first value of each other one. */
static int try_value(struct study *study, unsigned axis, unsigned item)
{
        const struct dbio_node *axes = study->keys.axes, *at = axes->items[axis]->items[item];
        struct trial trial = {0};
        int code;

        code = trial_begin(study, &trial, at);
        if (code)
                return code;
        for (unsigned i = 0; i < axes->n && !code; i++)
                code = put(study, &trial, axes->keys[i], axes->items[i]->items[i == axis ? item : 0]);
        if (!code)
                code = run(study, &trial, at);
        dbio_arena_free(trial.arena);
        return code;
}

static int check_axes(struct study *study)
{
        const struct dbio_node *axes = study->keys.axes;

        if (axes->type != DBIO_NODE_MAP || !axes->n)
                return dbio_node_error(axes, study->err,
                                       "a map of lists belongs here: {streams.user-reads.depth: [1, 2, 4]}");
        for (unsigned i = 0; i < axes->n; i++)
                if (axes->items[i]->type != DBIO_NODE_LIST || !axes->items[i]->n)
                        return dbio_node_error(axes->items[i], study->err, "a list of values belongs here: [1, 2, 4]");
        for (unsigned i = 0; i < axes->n; i++)
                for (unsigned j = i ? 1 : 0; j < axes->items[i]->n; j++)
                        if (try_value(study, i, j))
                                return -1;
        return 0;
}

static int check_case(struct study *study, const struct dbio_node *name, const struct dbio_node *map)
{
        struct trial trial = {0};
        int code = 0;

        if (dbio_build_name(name, "case", study->err))
                return -1;
        if (map->type != DBIO_NODE_MAP)
                return dbio_node_error(map, study->err, "a map of keys belongs here: {hba.max_outstanding: 1024}");
        if (trial_begin(study, &trial, name))
                return -1;
        for (unsigned i = 0; i < map->n && !code; i++)
                code = put(study, &trial, map->keys[i], map->items[i]);
        if (!code)
                code = run(study, &trial, name);
        dbio_arena_free(trial.arena);
        return code;
}

static int check_cases(struct study *study)
{
        const struct dbio_node *cases = study->keys.cases;

        if (cases->type != DBIO_NODE_MAP || !cases->n)
                return dbio_node_error(cases, study->err, "a map of cases by name belongs here");
        for (unsigned i = 0; i < cases->n; i++)
                if (check_case(study, cases->keys[i], cases->items[i]))
                        return -1;
        return 0;
}

/* The search begins at the key's value in the workload, so that must be a number. */
static int check_find(struct study *study)
{
        struct dbio_find_keys find;
        struct dbio_workload *workload = study->build->workload;
        const struct dbio_node *node, *key;

        if (dbio_fields_parse(dbio_find_fields, study->keys.find, NULL, &find, study->err))
                return -1;
        key = dbio_node_get(study->keys.find, "key");
        node = dbio_edit_get(workload->doc->root, find.key);
        if (!node)
                return dbio_node_error(key, study->err, "\"%.100s\" is not given in this workload", find.key);
        if (node->type != DBIO_NODE_SCALAR || !isdigit((unsigned char)*node->text))
                return dbio_node_error(key, study->err, "\"%.100s\" is no number to begin with", find.key);
        if (find.condition->type != DBIO_NODE_LIST || !find.condition->n)
                return dbio_node_error(find.condition, study->err,
                                       "a list such as ['log.commit.mean < 2ms'] belongs here");
        workload->conditions = dbio_arena_alloc(workload->arena, find.condition->n * sizeof *workload->conditions);
        for (; workload->nconditions < find.condition->n; workload->nconditions++)
                if (dbio_build_figure(study->build, find.condition->items[workload->nconditions], NULL,
                                      &workload->conditions[workload->nconditions], study->err))
                        return -1;
        return 0;
}

int dbio_study_check(const struct dbio_build *build, const struct dbio_node *pristine, struct dbio_err *err)
{
        struct study study = {.build = build, .pristine = pristine, .err = err};
        const struct dbio_node *node = build->keys.study;

        if (!node)
                return 0;
        if (dbio_fields_parse(dbio_study_fields, node, NULL, &study.keys, err))
                return -1;
        if (study.keys.axes && study.keys.cases)
                return dbio_node_error(dbio_node_get(node, "cases"), err,
                                       "axes and cases exclude each other: leave one");
        if (!study.keys.axes && !study.keys.cases && !study.keys.find)
                return dbio_node_error(node, err, "a study needs axes, cases or find");
        if (study.keys.axes && check_axes(&study))
                return -1;
        if (study.keys.cases && check_cases(&study))
                return -1;
        return study.keys.find ? check_find(&study) : 0;
}
