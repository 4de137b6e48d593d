#include "replay/cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "patterns/doc.h"
#include "patterns/field.h"

#define CELLS_MAX 10000u

/* A scalar alone is its text: quotes matter inside of lists and maps only. */
static char *flow_text(const struct dbio_node *node)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        if (node->type == DBIO_NODE_SCALAR)
                fputs(node->text, out);
        else
                dbio_node_print(out, node);
        fclose(out);
        return text;
}

static void add_key(struct dbio_cell *cell, const char *key, const struct dbio_node *value)
{
        char *text = flow_text(value);

        if (!strncmp(key, "target.", 7)) {
                cell->bindings = realloc(cell->bindings, (cell->nbindings + 1) * sizeof *cell->bindings);
                if (asprintf(&cell->bindings[cell->nbindings++], "%s=%s", key + 7, text) < 0)
                        abort();
                free(text);
                return;
        }
        cell->sets = realloc(cell->sets, (cell->nsets + 1) * sizeof *cell->sets);
        cell->sets[cell->nsets++] = (struct dbio_set){strdup(key), text};
}

static void add_value(struct dbio_cell *cell, const char *keys, const struct dbio_node *value)
{
        char key[DBIO_STUDY_KEY_SIZE];

        while (dbio_study_next_key(&keys, key))
                add_key(cell, key, value);
}

/* The last part of a dotted key, the first of several, is enough for a name. */
static const char *short_key(const char *keys, char key[DBIO_STUDY_KEY_SIZE])
{
        dbio_study_next_key(&keys, key);

        const char *dot = strrchr(key, '.');

        return dot ? dot + 1 : key;
}

static void name_cell(struct dbio_cell *cell, char *const *axes, unsigned naxes)
{
        char key[DBIO_STUDY_KEY_SIZE];
        size_t size;
        FILE *name;

        free(cell->name);
        name = open_memstream(&cell->name, &size);
        for (unsigned a = 0; a < naxes; a++)
                fprintf(name, "%s%s=%s", a ? "," : "", short_key(axes[a], key), cell->values[a]);
        fclose(name);
}

static int read_axes(struct dbio_plan *plan, const struct dbio_node *axes, struct dbio_err *err)
{
        unsigned long total = 1;

        plan->naxes = axes->n;
        plan->axes = calloc(axes->n + 1, sizeof *plan->axes);
        for (unsigned a = 0; a < axes->n; a++) {
                plan->axes[a] = strdup(axes->keys[a]->text);
                total *= axes->items[a]->n;
                if (total > CELLS_MAX)
                        return dbio_node_error(axes, err, "a study of over %u runs", CELLS_MAX);
        }
        plan->ncells = (unsigned)total;
        plan->cells = calloc(total, sizeof *plan->cells);
        for (unsigned i = 0; i < plan->ncells; i++) {
                struct dbio_cell *cell = &plan->cells[i];
                unsigned rest = i;
                cell->nvalues = axes->n;
                cell->values = calloc(axes->n, sizeof *cell->values);
                for (unsigned a = axes->n; a-- > 0;) {
                        const struct dbio_node *value = axes->items[a]->items[rest % axes->items[a]->n];
                        rest /= axes->items[a]->n;
                        add_value(cell, axes->keys[a]->text, value);
                        cell->values[a] = flow_text(value);
                }
                name_cell(cell, plan->axes, plan->naxes);
        }
        return 0;
}

static void read_cases(struct dbio_plan *plan, const struct dbio_node *cases)
{
        plan->ncells = cases->n;
        plan->cells = calloc(cases->n, sizeof *plan->cells);
        for (unsigned i = 0; i < cases->n; i++) {
                struct dbio_cell *cell = &plan->cells[i];
                cell->name = strdup(cases->keys[i]->text);
                cell->nvalues = 1;
                cell->values = calloc(1, sizeof *cell->values);
                cell->values[0] = strdup(cell->name);
                for (unsigned k = 0; k < cases->items[i]->n; k++)
                        add_value(cell, cases->items[i]->keys[k]->text, cases->items[i]->items[k]);
        }
}

/* A dotted path without `*`, as `find` names it. */
static const struct dbio_node *lookup(const struct dbio_node *root, const char *path)
{
        char part[128];

        for (const struct dbio_node *node = root; node;) {
                size_t size = strcspn(path, ".");
                const struct dbio_node *next = NULL;
                snprintf(part, sizeof part, "%.*s", (int)size, path);
                if (node->type == DBIO_NODE_MAP)
                        next = dbio_node_get(node, part);
                for (unsigned i = 0; node->type == DBIO_NODE_LIST && i < node->n; i++) {
                        const struct dbio_node *name = dbio_node_get(node->items[i], "name");
                        if (name && !strcmp(name->text, part))
                                next = node->items[i];
                }
                if (!path[size])
                        return next;
                node = next;
                path += size + 1;
        }
        return NULL;
}

static int read_find(struct dbio_plan *plan, const struct dbio_workload *workload, const struct dbio_node *find,
                     struct dbio_err *err)
{
        const struct dbio_node *key = dbio_node_get(find, "key"), *own = lookup(workload->doc->root, key->text);

        if (!own || own->type != DBIO_NODE_SCALAR)
                return dbio_node_error(key, err, "find needs a key that the workload gives a value to start from");
        plan->find_key = strdup(key->text);
        plan->find_own = strdup(own->text);
        plan->nconditions = workload->nconditions;
        plan->conditions = workload->conditions;
        return 0;
}

int dbio_plan_read(struct dbio_plan *plan, const struct dbio_workload *workload, struct dbio_err *err)
{
        const struct dbio_node *root = workload->doc->root, *study = dbio_node_get(root, "study");
        const struct dbio_node *axes, *cases, *find, *pause;

        memset(plan, 0, sizeof *plan);
        if (!study)
                return dbio_err_set(err, DBIO_USAGE, "workload %s has no `study`", workload->name);
        axes = dbio_node_get(study, "axes");
        cases = dbio_node_get(study, "cases");
        find = dbio_node_get(study, "find");
        pause = dbio_node_get(study, "pause");
        if (pause && dbio_parse_time(pause->text, &plan->pause_ns, err))
                return -1;
        if (find)
                return read_find(plan, workload, find, err);
        if (axes)
                return read_axes(plan, axes, err);
        read_cases(plan, cases);
        return 0;
}

static void release_cell(struct dbio_cell *cell)
{
        for (unsigned k = 0; k < cell->nvalues; k++)
                free(cell->values[k]);
        for (unsigned k = 0; k < cell->nsets; k++) {
                free((char *)cell->sets[k].key);
                free((char *)cell->sets[k].value);
        }
        for (unsigned k = 0; k < cell->nbindings; k++)
                free(cell->bindings[k]);
        free(cell->values);
        free(cell->sets);
        free(cell->bindings);
        free(cell->name);
}

/* Of an axis over clusters only the first value's cells are kept, and not the axis. */
static void drop_clusters(struct dbio_plan *plan)
{
        unsigned axis = 0, kept = 0;

        while (axis < plan->naxes && !strstr(plan->axes[axis], ".layout.cluster"))
                axis++;
        if (axis == plan->naxes)
                return;
        char *first = strdup(plan->cells[0].values[axis]);
        for (unsigned i = 0; i < plan->ncells; i++) {
                struct dbio_cell cell = plan->cells[i];
                if (strcmp(cell.values[axis], first)) {
                        release_cell(&cell);
                        continue;
                }
                free(cell.values[axis]);
                memmove(&cell.values[axis], &cell.values[axis + 1], (--cell.nvalues - axis) * sizeof *cell.values);
                plan->cells[kept++] = cell;
        }
        plan->ncells = kept;
        free(first);
        free(plan->axes[axis]);
        memmove(&plan->axes[axis], &plan->axes[axis + 1], (--plan->naxes - axis) * sizeof *plan->axes);
}

static struct dbio_cell on_filesystem(const struct dbio_cell *from, const struct dbio_workload *workload,
                                      const char *name, const char *folder)
{
        struct dbio_cell cell = {.nvalues = from->nvalues + 1, .nsets = from->nsets, .nbindings = workload->ntargets};

        cell.values = calloc(cell.nvalues, sizeof *cell.values);
        cell.sets = calloc(cell.nsets + 1, sizeof *cell.sets);
        cell.bindings = calloc(cell.nbindings + 1, sizeof *cell.bindings);
        for (unsigned k = 0; k < from->nvalues; k++)
                cell.values[k] = strdup(from->values[k]);
        cell.values[from->nvalues] = strdup(name);
        for (unsigned k = 0; k < from->nsets; k++)
                cell.sets[k] = (struct dbio_set){strdup(from->sets[k].key), strdup(from->sets[k].value)};
        for (unsigned k = 0; k < workload->ntargets; k++)
                if (asprintf(&cell.bindings[k], "%s=%s/%s", workload->targets[k].name, folder,
                             workload->targets[k].name) < 0)
                        abort();
        return cell;
}

int dbio_plan_over_filesystems(struct dbio_plan *plan, const struct dbio_workload *workload, const char *const *names,
                               unsigned n, const char *folder, struct dbio_err *err)
{
        if (!plan->naxes)
                return dbio_err_set(err, DBIO_USAGE,
                                    "--make-filesystems goes with a study of axes, not with cases or find");
        drop_clusters(plan);
        struct dbio_cell *cells = calloc((size_t)plan->ncells * n + 1, sizeof *cells);
        plan->axes = realloc(plan->axes, (plan->naxes + 2) * sizeof *plan->axes);
        plan->axes[plan->naxes++] = strdup("filesystem");
        for (unsigned i = 0; i < plan->ncells; i++) {
                for (unsigned k = 0; k < n; k++) {
                        cells[i * n + k] = on_filesystem(&plan->cells[i], workload, names[k], folder);
                        name_cell(&cells[i * n + k], plan->axes, plan->naxes);
                }
                release_cell(&plan->cells[i]);
        }
        free(plan->cells);
        plan->cells = cells;
        plan->ncells *= n;
        return 0;
}

void dbio_plan_release(struct dbio_plan *plan)
{
        for (unsigned i = 0; i < plan->ncells; i++)
                release_cell(&plan->cells[i]);
        for (unsigned a = 0; a < plan->naxes; a++)
                free(plan->axes[a]);
        free(plan->axes);
        free(plan->cells);
        free(plan->find_key);
        free(plan->find_own);
        memset(plan, 0, sizeof *plan);
}
