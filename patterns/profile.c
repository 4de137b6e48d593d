#include "patterns/profile.h"

#include <stdlib.h>
#include <string.h>

#include "engine/embedded.h"
#include "engine/near.h"
#include "engine/sha256.h"
#include "patterns/arena.h"
#include "patterns/doc.h"

#define FOLDER "configs/devices/"
enum { MAX_NUMBERS = 128, MAX_PROFILES = 64, SECTOR = 512 };

struct loaded {
        struct dbio_sim_profile profile; /* first: what the caller has */
        struct dbio_arena *arena;
        unsigned nnumbers;
        struct dbio_profile_number numbers[MAX_NUMBERS];
};

struct top {
        const char *summary, *trust;
        uint64_t flush, submit_cpu, complete_cpu;
        struct hba {
                uint64_t ports, max_outstanding, max_transfer;
        } hba;
};

static const struct dbio_field hba_fields[] = {
        {"ports", DBIO_FIELD_COUNT, offsetof(struct hba, ports), "1", 1, 64, "ports, each with the limits", NULL, 0, NULL, NULL},
        {"max_outstanding", DBIO_FIELD_COUNT, offsetof(struct hba, max_outstanding), "0", 0, 1 << 20,
         "commands a port; 0 = no limit", NULL, 0, NULL, NULL},
        {"max_transfer", DBIO_FIELD_SIZE, offsetof(struct hba, max_transfer), "0", 0, 0, "bytes a command; 0 = no limit", NULL,
         0, NULL, NULL},
        {0},
};

static const struct dbio_field top_fields[] = {
        {"summary", DBIO_FIELD_TEXT, offsetof(struct top, summary), NULL, 0, 0, "what it is, in one line", NULL,
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"trust", DBIO_FIELD_TEXT, offsetof(struct top, trust), NULL, 0, 0, "how far its figures can be trusted", NULL,
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"flush", DBIO_FIELD_TIME, offsetof(struct top, flush), "0ns", 0, 60e9, "of an fsync or trim", NULL, 0, NULL, NULL},
        {"submit_cpu", DBIO_FIELD_TIME, offsetof(struct top, submit_cpu), "0ns", 0, 1e9, "host's CPU time to submit an io", NULL,
         0, NULL, NULL},
        {"complete_cpu", DBIO_FIELD_TIME, offsetof(struct top, complete_cpu), "0ns", 0, 1e9, "host's CPU time to reap one", NULL,
         0, NULL, NULL},
        {"hba", DBIO_FIELD_MAP, offsetof(struct top, hba), NULL, 0, 0, "limits of the host's adapter", NULL, 0, NULL, hba_fields},
        {0},
};

static const char *const statuses[] = {"datasheet", "fitted", "assumed"};

/* --- provenance --- */

static int check_status(const struct dbio_node *node, struct dbio_err *err)
{
        for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
                if (!strcmp(node->text, statuses[i]))
                        return 0;
        return dbio_node_error(node, err, "\"%.60s\" is no status: datasheet, fitted or assumed", node->text);
}

/* Takes {value, status, source} apart, so that the field tables see values only. */
static int unwrap(struct loaded *loaded, const char *section, const char *key, struct dbio_node **item, struct dbio_err *err)
{
        struct dbio_node *node = *item, *value = node, *status = NULL, *source = NULL;

        if (node->type == DBIO_NODE_LIST)
                return dbio_node_error(node, err, "a list where {value, status, source} belongs");
        if (node->type == DBIO_NODE_MAP) {
                value = dbio_node_get(node, "value");
                status = dbio_node_get(node, "status");
                source = dbio_node_get(node, "source");
                if (!value || !status || !source || node->n != 3 || value->type != DBIO_NODE_SCALAR ||
                    status->type != DBIO_NODE_SCALAR || source->type != DBIO_NODE_SCALAR)
                        return dbio_node_error(node, err, "a number is written as {value: …, status: …, source: …}");
                if (check_status(status, err))
                        return -1;
        }
        if (loaded->nnumbers == MAX_NUMBERS)
                return dbio_node_error(node, err, "more than %d numbers", MAX_NUMBERS);
        value->parent = node->parent; /* in whose place it stands from now on, in the paths of messages too */
        loaded->numbers[loaded->nnumbers++] = (struct dbio_profile_number){
                section, key, value->text, status ? status->text : "", source ? source->text : ""};
        *item = value;
        return 0;
}

static int unwrap_all(struct loaded *loaded, const char *section, struct dbio_node *map, struct dbio_err *err)
{
        if (map->type != DBIO_NODE_MAP)
                return dbio_node_error(map, err, "a map of keys belongs here");
        for (unsigned i = 0; i < map->n; i++)
                if (unwrap(loaded, section, map->keys[i]->text, &map->items[i], err))
                        return -1;
        return 0;
}

/* --- sections --- */

static bool is_top_number(const char *key)
{
        return !strcmp(key, "flush") || !strcmp(key, "submit_cpu") || !strcmp(key, "complete_cpu");
}

static int unknown_key(const struct dbio_node *key, struct dbio_err *err)
{
        const char *names[32], *near;
        char list[400] = "";
        unsigned n = 0;

        for (const struct dbio_field *field = top_fields; field->key; field++)
                names[n++] = field->key;
        for (const struct dbio_profile_section *section = dbio_profile_sections; section->key; section++)
                names[n++] = section->key;
        near = dbio_near_miss(key->text, names, n);
        if (near)
                return dbio_node_error(key, err, "unknown key \"%.60s\": did you mean \"%s\"?", key->text, near);
        for (unsigned i = 0; i < n; i++)
                snprintf(list + strlen(list), sizeof list - strlen(list), " %s", names[i]);
        return dbio_node_error(key, err, "unknown key \"%.60s\": the keys here are%s", key->text, list);
}

static int load_top(struct loaded *loaded, struct dbio_node *root, struct dbio_err *err)
{
        struct dbio_sim_profile *profile = &loaded->profile;
        struct dbio_node *rest = dbio_node_new(loaded->arena, DBIO_NODE_MAP, root);
        struct top top;

        for (unsigned i = 0; i < root->n; i++) {
                const char *key = root->keys[i]->text;
                bool section = false;

                for (const struct dbio_profile_section *s = dbio_profile_sections; s->key; s++)
                        section |= !strcmp(key, s->key);
                if (section)
                        continue;
                if (!dbio_field_find(top_fields, key))
                        return unknown_key(root->keys[i], err);
                if (!strcmp(key, "hba") && unwrap_all(loaded, "hba", root->items[i], err))
                        return -1;
                if (is_top_number(key) && unwrap(loaded, "", key, &root->items[i], err))
                        return -1;
                dbio_node_append(loaded->arena, rest, root->keys[i], root->items[i]);
        }
        if (dbio_fields_parse(top_fields, rest, NULL, &top, err))
                return -1;
        profile->summary = top.summary;
        profile->trust = top.trust;
        profile->flush = top.flush;
        profile->submit_cpu = top.submit_cpu;
        profile->complete_cpu = top.complete_cpu;
        profile->has_hba = dbio_node_get(root, "hba") != NULL;
        if (top.hba.max_transfer % 512)
                return dbio_node_error(dbio_node_get(root, "hba"), err, "max_transfer must be a multiple of 512, as sectors are");
        profile->hba = (struct dbio_hba){(unsigned)top.hba.ports, (unsigned)top.hba.max_outstanding, top.hba.max_transfer};
        return 0;
}

static int load_sections(struct loaded *loaded, struct dbio_node *root, struct dbio_err *err)
{
        const char *medium = NULL;

        for (const struct dbio_profile_section *section = dbio_profile_sections; section->key; section++) {
                struct dbio_node *map = dbio_node_get(root, section->key);
                char *base = (char *)&loaded->profile;

                if (!map)
                        continue;
                if (unwrap_all(loaded, section->key, map, err) ||
                    dbio_fields_parse(section->fields, map, NULL, base + section->offset, err))
                        return -1;
                if (section->medium < 0) {
                        *(bool *)(base + section->given) = true;
                        continue;
                }
                if (medium)
                        return dbio_node_error(map, err, "a device has one medium, and there is %s already", medium);
                medium = section->key;
                loaded->profile.medium = (enum dbio_sim_medium)section->medium;
        }
        if (!medium)
                return dbio_node_error(root, err, "a medium is missing: one of disk, ssd, cloud, fixed");
        return 0;
}

static int check_array(struct dbio_sim_profile *profile, const struct dbio_node *node, struct dbio_err *err)
{
        static const int levels[] = {0, 1, 5, 10}; /* as the names in profile_keys.c */
        struct dbio_sim_array *array = &profile->array;

        array->level = levels[array->level];
        if (array->level == 1 && array->members != 2)
                return dbio_node_error(node, err, "level 1 has 2 members; more are level 10");
        if (array->level == 10 && array->members % 2)
                return dbio_node_error(node, err, "level 10 has an even number of members");
        if (array->level == 5 && array->members < 3)
                return dbio_node_error(node, err, "level 5 has at least 3 members");
        if (array->strip % SECTOR)
                return dbio_node_error(node, err, "the strip is a multiple of 512 bytes");
        if (profile->has_cache && array->strip % profile->cache.line)
                return dbio_node_error(node, err, "the strip is a multiple of the cache's line");
        return 0;
}

static int check_disk(const struct dbio_sim_disk *disk, const struct dbio_node *node, struct dbio_err *err)
{
        double track = disk->inner * 60 / (double)disk->rpm / SECTOR;

        if (disk->inner > disk->outer)
                return dbio_node_error(node, err, "the inner rate is at most the outer");
        if (track < 8)
                return dbio_node_error(node, err, "at this rate and speed a track has not even 8 sectors");
        if ((double)disk->capacity / SECTOR / track / (double)disk->heads > 1e8)
                return dbio_node_error(node, err, "this capacity needs more than 100,000,000 cylinders at these rates");
        if (disk->seek_track > disk->seek_average || disk->seek_average > disk->seek_full)
                return dbio_node_error(node, err, "seek times rise: `seek_track`, `seek_average`, `seek_full`");
        /* With a + b√d up to a third of the stroke and a line beyond, the mean over all pairs of cylinders lies so. */
        double way = (double)(disk->seek_full - disk->seek_track);
        double average = (double)(disk->seek_average - disk->seek_track);
        if (average < 0.15 * way || average > 0.8 * way)
                return dbio_node_error(node, err, "`seek_average` lies 15 to 80 %% of the way from `seek_track` to `seek_full`: "
                                       "no rising seek curve has another mean");
        return 0;
}

/* The simulated device is its run's clock, which would stand still. */
static int check_fixed(const struct dbio_sim_fixed *fixed, const struct dbio_node *node, struct dbio_err *err)
{
        double least = (double)(fixed->read < fixed->write ? fixed->read : fixed->write);

        if (fixed->rate > 0 && fixed->rate < 1e5)
                return dbio_node_error(node, err, "a rate is 0 or at least 100kB/s");
        if (fixed->rate > 0)
                least += 512 * 1e9 / fixed->rate;
        if (least < 100)
                return dbio_node_error(node, err, "a command of 512 bytes takes at least 100ns; for a device without delay, "
                                                  "run with --engine null");
        return 0;
}

static int check(struct dbio_sim_profile *profile, const struct dbio_node *root, struct dbio_err *err)
{
        const struct dbio_sim_cache *cache = &profile->cache;
        const struct dbio_sim_ftl *ftl = &profile->ftl;

        if (profile->has_array && check_array(profile, dbio_node_get(root, "array"), err))
                return -1;
        if (profile->medium == DBIO_SIM_DISK && check_disk(&profile->disk, dbio_node_get(root, "disk"), err))
                return -1;
        if (dbio_sim_capacity(profile) < 1 << 20)
                return dbio_node_error(root, err, "a device holds at least 1 MiB");
        if (profile->medium == DBIO_SIM_FIXED && check_fixed(&profile->fixed, dbio_node_get(root, "fixed"), err))
                return -1;
        if (profile->has_cache && (cache->size / cache->line < 16 || cache->size / cache->line > (1 << 22)))
                return dbio_node_error(dbio_node_get(root, "cache"), err, "a cache has 16 to 4,194,304 lines");
        if (profile->has_cache && (cache->coalesce < cache->line || cache->coalesce % cache->line))
                return dbio_node_error(dbio_node_get(root, "cache"), err, "`coalesce` is a multiple of `line`");
        if (profile->has_cache && cache->low > cache->high)
                return dbio_node_error(dbio_node_get(root, "cache"), err, "`low` is at most `high`");
        if (profile->has_ftl && profile->medium != DBIO_SIM_SSD)
                return dbio_node_error(dbio_node_get(root, "ftl"), err, "an ftl belongs to an ssd");
        if (profile->has_ftl && ftl->map_pages / ftl->block_pages < 16)
                return dbio_node_error(dbio_node_get(root, "ftl"), err, "`map_pages` is at least 16 times `block_pages`");
        if (profile->medium == DBIO_SIM_CLOUD && profile->cloud.ops_rate > 0 &&
            profile->cloud.ops_rate <= profile->cloud.base_rate)
                return dbio_node_error(dbio_node_get(root, "cloud"), err,
                                       "`ops_rate` is over `base_rate`, or no credit would ever be spent");
        if (profile->medium == DBIO_SIM_CLOUD && (profile->cloud.base_rate > 0) != (profile->cloud.credits > 0))
                return dbio_node_error(dbio_node_get(root, "cloud"), err, "`base_rate` and `credits` go together");
        return 0;
}

int dbio_profile_load_text(const char *name, const char *file, const char *text, size_t size,
                           struct dbio_sim_profile **out, struct dbio_err *err)
{
        struct loaded *loaded = calloc(1, sizeof *loaded);
        struct dbio_node *root;

        if (!loaded)
                return dbio_err_set(err, DBIO_IO, "out of memory for a device profile");
        loaded->arena = dbio_arena_new();
        loaded->profile.name = dbio_arena_text(loaded->arena, name, strlen(name));
        loaded->profile.text = dbio_arena_text(loaded->arena, text, size);
        dbio_sha256_hex(text, size, loaded->profile.sha256);
        if (dbio_doc_parse_into(loaded->arena, file, loaded->profile.text, size, &root, err))
                goto fail;
        if (root->type != DBIO_NODE_MAP) {
                dbio_node_error(root, err, "a device profile is a map of keys");
                goto fail;
        }
        if (load_top(loaded, root, err) || load_sections(loaded, root, err) || check(&loaded->profile, root, err))
                goto fail;
        *out = &loaded->profile;
        return 0;
fail:
        dbio_profile_free(&loaded->profile);
        return -1;
}

void dbio_profile_free(struct dbio_sim_profile *profile)
{
        struct loaded *loaded = (struct loaded *)profile;

        if (!loaded)
                return;
        dbio_arena_free(loaded->arena);
        free(loaded);
}

unsigned dbio_profile_numbers(const struct dbio_sim_profile *profile, const struct dbio_profile_number **numbers)
{
        const struct loaded *loaded = (const struct loaded *)profile;

        *numbers = loaded->numbers;
        return loaded->nnumbers;
}

/* --- names --- */

const char *const *dbio_profile_names(void)
{
        static char names[MAX_PROFILES][64];
        static const char *list[MAX_PROFILES + 1];
        unsigned n = 0;

        if (list[0])
                return list;
        for (const struct dbio_embedded *file = dbio_embedded; file->path && n < MAX_PROFILES; file++) {
                if (strncmp(file->path, FOLDER, strlen(FOLDER)))
                        continue;
                snprintf(names[n], sizeof names[n], "%.*s", (int)(strlen(file->path) - strlen(FOLDER) - strlen(".yaml")),
                         file->path + strlen(FOLDER));
                list[n] = names[n];
                n++;
        }
        return list;
}

static bool is_path(const char *text)
{
        size_t length = strlen(text);

        return strchr(text, '/') || (length > 5 && !strcmp(text + length - 5, ".yaml"));
}

static int unknown(const char *name, struct dbio_err *err)
{
        const char *const *names = dbio_profile_names(), *near;
        char list[800] = "";
        unsigned n = 0;

        for (; names[n]; n++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n ? ", " : "", names[n]);
        near = dbio_near_miss(name, names, n);
        if (near)
                return dbio_err_set(err, DBIO_USAGE, "there is no device profile \"%.60s\": did you mean \"%s\"?", name, near);
        return dbio_err_set(err, DBIO_USAGE, "there is no device profile \"%.60s\": a path with `/`, or one of %s", name, list);
}

int dbio_profile_load(const char *name_or_path, struct dbio_sim_profile **out, struct dbio_err *err)
{
        const struct dbio_embedded *file;
        char path[256], *text;
        size_t size;
        int rc;

        if (is_path(name_or_path)) {
                if (dbio_file_read(name_or_path, &text, &size, err))
                        return -1;
                rc = dbio_profile_load_text(name_or_path, name_or_path, text, size, out, err);
                free(text);
                return rc;
        }
        snprintf(path, sizeof path, FOLDER "%.200s.yaml", name_or_path);
        file = dbio_embedded_find(path);
        if (!file)
                return unknown(name_or_path, err);
        return dbio_profile_load_text(name_or_path, path, file->text, file->size, out, err);
}
