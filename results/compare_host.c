/* What changed of host and targets between two sets, named. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare_state.h"
#include "results/db.h"

/* Facts that differ from run to run and say nothing of a change. */
static const char *const volatile_keys[] = {"boot_id", "uptime",       "steal",   "load",    "free",
                                            "time",    "temperature",  "extents", "written", "percentage_used",
                                            "base",    "mounted_on_id"};

static bool is_volatile(const char *path)
{
        const char *key = strrchr(path, '.');

        key = key ? key + 1 : path;
        for (unsigned i = 0; i < sizeof volatile_keys / sizeof *volatile_keys; i++)
                if (strstr(key, volatile_keys[i]))
                        return true;
        return false;
}

static char *leaf_text(const json_t *value)
{
        if (!value || json_is_null(value))
                return strdup("not known");
        if (json_is_string(value))
                return strdup(*json_string_value(value) ? json_string_value(value) : "not known");
        return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

static int note(struct dbio_comparison *c, const char *path, const json_t *base, const json_t *new_)
{
        struct dbio_compare_difference *difference;

        if (json_equal(base, new_) || is_volatile(path))
                return 0;
        difference = dbio_db_add(&c->host, &c->nhost, sizeof *difference, NULL, NULL);
        if (!difference)
                return -1;
        snprintf(difference->what, sizeof difference->what, "%s", path);
        difference->base = leaf_text(base);
        difference->new_ = leaf_text(new_);
        return difference->base && difference->new_ ? 0 : -1;
}

/* The path of a member: arrays of named things go by the name. */
static void member_path(char *to, size_t size, const char *path, const char *key)
{
        int written = snprintf(to, size, "%s%s%s", path, *path ? "." : "", key);

        if (written < 0 || (size_t)written >= size)
                snprintf(to, size, "%.40s", key);
}

static int walk(struct dbio_comparison *c, const char *path, json_t *base, json_t *new_, int depth);

static int walk_object(struct dbio_comparison *c, const char *path, json_t *base, json_t *new_, int depth)
{
        const char *key;
        json_t *value;
        char deeper[160];

        json_object_foreach(base, key, value)
        {
                member_path(deeper, sizeof deeper, path, key);
                if (walk(c, deeper, value, json_object_get(new_, key), depth))
                        return -1;
        }
        json_object_foreach(new_, key, value)
        {
                if (json_object_get(base, key))
                        continue;
                member_path(deeper, sizeof deeper, path, key);
                if (walk(c, deeper, NULL, value, depth))
                        return -1;
        }
        return 0;
}

static int walk_array(struct dbio_comparison *c, const char *path, json_t *base, json_t *new_, int depth)
{
        size_t nr = json_array_size(base) > json_array_size(new_) ? json_array_size(base) : json_array_size(new_);
        char deeper[160], number[24];

        for (size_t i = 0; i < nr; i++) {
                json_t *a = json_array_get(base, i), *b = json_array_get(new_, i);
                const char *name = json_string_value(json_object_get(a ? a : b, "name"));

                snprintf(number, sizeof number, "%zu", i + 1);
                if (nr == 1 && !name)
                        snprintf(deeper, sizeof deeper, "%s", path);
                else
                        member_path(deeper, sizeof deeper, path, name ? name : number);
                if (walk(c, deeper, a, b, depth))
                        return -1;
        }
        return 0;
}

static int walk(struct dbio_comparison *c, const char *path, json_t *base, json_t *new_, int depth)
{
        if (depth > 8)
                return 0;
        if (json_is_object(base ? base : new_) && json_is_object(new_ ? new_ : base))
                return walk_object(c, path, base, new_, depth + 1);
        if (json_is_array(base ? base : new_) && json_is_array(new_ ? new_ : base))
                return walk_array(c, path, base, new_, depth + 1);
        return note(c, path, base, new_);
}

static int walk_texts(struct dbio_comparison *c, const char *path, const char *base, const char *new_)
{
        json_t *a = base ? json_loads(base, 0, NULL) : NULL, *b = new_ ? json_loads(new_, 0, NULL) : NULL;
        int rc = a || b ? walk(c, path, a, b, 0) : 0;

        json_decref(a);
        json_decref(b);
        return rc;
}

int dbio_compare_host(struct dbio_comparison *c, struct dbio_err *err)
{
        json_t *engines[2] = {json_string(c->base.engine ? c->base.engine : ""),
                              json_string(c->new_.engine ? c->new_.engine : "")};
        int rc = note(c, "engine", engines[0], engines[1]) ||
                                 (!(c->base.simulated && c->new_.simulated) &&
                                  walk_texts(c, "", c->base.host, c->new_.host)) ||
                                 walk_texts(c, "", c->base.targets, c->new_.targets)
                         ? dbio_err_set(err, DBIO_IO, "out of memory")
                         : 0;

        json_decref(engines[0]);
        json_decref(engines[1]);
        return rc;
}
