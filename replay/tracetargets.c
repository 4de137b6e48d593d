/* From a trace's devices to targets, and what makes an op fit its target. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/tracedevices.h"
#include "replay/tracefeed.h"

#define NAME_MAX_BYTES 64
#define NOT_SEEN (-3)
#define LEFT_OUT (-2)

/* Behind the last slash of either kind. */
static const char *base_name(const char *name)
{
        const char *base = name;

        for (const char *at = name; *at; at++)
                if ((*at == '/' || *at == '\\') && at[1])
                        base = at + 1;
        return base;
}

/* A device's or file's name in the letters that a target's may have; of a path its last part. */
static void make_name(const char *device, char *name)
{
        unsigned n = 0;

        for (const char *at = base_name(device); *at && n < NAME_MAX_BYTES - 1; at++) {
                bool fine = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '-';
                name[n++] = fine ? *at : '_';
        }
        name[n] = 0;
        if (!n)
                strcpy(name, "trace");
}

static int find_target(const struct dbio_trace_feed *feed, const char *name)
{
        for (unsigned i = 0; i < feed->ntargets; i++)
                if (!strcmp(feed->targets[i].name, name))
                        return (int)i;
        return -1;
}

int dbio_trace_target_add(struct dbio_trace_feed *feed, const char *name, struct dbio_err *err)
{
        int found = find_target(feed, name);

        if (found >= 0)
                return found;
        if (feed->fitted)
                return dbio_err_set(err, DBIO_USAGE, "target %s is met here for the first time, and has no binding: make a "
                                                     "schedule of the trace by `dbio import`", name);
        if (feed->ntargets == feed->room) {
                unsigned room = feed->room ? 2 * feed->room : 8;
                struct dbio_trace_target *grown = realloc(feed->targets, room * sizeof *grown);
                if (!grown)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                feed->targets = grown;
                feed->room = room;
        }
        feed->targets[feed->ntargets] = (struct dbio_trace_target){.name = strdup(name)};
        if (!feed->targets[feed->ntargets].name)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        return (int)feed->ntargets++;
}

/* FROM[@BASE]=TO[@OFFSET] */
struct map {
        char from[256], to[256];
        uint64_t base, offset;
};

static int parse_part(char *text, uint64_t *bytes, const char *map, struct dbio_err *err)
{
        char *at = strrchr(text, '@');
        struct dbio_err why = {0};

        *bytes = 0;
        if (!at)
                return 0;
        *at = 0;
        if (dbio_parse_size(at + 1, bytes, &why))
                return dbio_err_set(err, DBIO_USAGE, "--map %s: %s", map, why.message);
        return 0;
}

static int parse_map(const char *text, struct map *map, struct dbio_err *err)
{
        const char *equal = strrchr(text, '=');

        if (!equal || equal == text || !equal[1] || (size_t)(equal - text) >= sizeof map->from || strlen(equal) >= sizeof map->to)
                return dbio_err_set(err, DBIO_USAGE, "--map %s: FROM=TO is right", text);
        snprintf(map->from, sizeof map->from, "%.*s", (int)(equal - text), text);
        snprintf(map->to, sizeof map->to, "%s", equal + 1);
        if (parse_part(map->from, &map->base, text, err) || parse_part(map->to, &map->offset, text, err))
                return -1;
        if (strcmp(map->to, "-") && map->to[strspn(map->to, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")])
                return dbio_err_set(err, DBIO_USAGE, "--map %s: a target's name has letters, digits, _ and -", text);
        return 0;
}

int dbio_trace_maps_check(const struct dbio_trace_options *options, struct dbio_err *err)
{
        struct map map;

        for (unsigned i = 0; i < options->nmaps; i++)
                if (parse_map(options->maps[i], &map, err))
                        return -1;
        return 0;
}

/* 1 = found */
static int find_map(const struct dbio_trace_feed *feed, const char *device, struct map *map, struct dbio_err *err)
{
        struct map other = {0};
        bool any = false;

        for (unsigned i = 0; i < feed->options.nmaps; i++) {
                if (parse_map(feed->options.maps[i], map, err))
                        return -1;
                if (!strcmp(map->from, device) || !strcmp(map->from, base_name(device)))
                        return 1;
                if (!strcmp(map->from, "*")) {
                        other = *map;
                        any = true;
                }
        }
        *map = other;
        return any;
}

static int map_by_name(struct dbio_trace_feed *feed, const char *device, struct dbio_err *err)
{
        char name[NAME_MAX_BYTES + 16], first[NAME_MAX_BYTES];
        int found;

        if (feed->options.only_target) {
                if (feed->ndevices > 1)
                        return dbio_err_set(err, DBIO_USAGE, "%s is a second device or file of the trace, and there is one target: "
                                                             "say what goes where, as in --map '%s=%s' or --map '*=%s'",
                                            device, device, feed->options.only_target, feed->options.only_target);
                return dbio_trace_target_add(feed, feed->options.only_target, err);
        }
        make_name(device, first);
        snprintf(name, sizeof name, "%s", first);
        for (unsigned i = 2; (found = find_target(feed, name)) >= 0 && feed->targets[found].taken; i++)
                snprintf(name, sizeof name, "%s-%u", first, i);
        return dbio_trace_target_add(feed, name, err);
}

static int first_use(struct dbio_trace_feed *feed, uint32_t device, struct dbio_err *err)
{
        const char *name = dbio_trace_devices_name(feed->input.devices, device);
        struct map map = {0};
        struct last *last = &feed->devices[device];
        int target;

        feed->ndevices++;
        if (!feed->options.nmaps) {
                target = map_by_name(feed, name, err);
        } else {
                int code = find_map(feed, name, &map, err);
                if (code < 0)
                        return -1;
                if (!code)
                        return dbio_err_set(err, DBIO_USAGE, "no --map names %s; --map '*=TARGET' takes all others, "
                                                             "--map '*=-' leaves them out", name);
                last->base = map.base;
                last->offset = map.offset;
                target = strcmp(map.to, "-") ? dbio_trace_target_add(feed, map.to, err) : LEFT_OUT;
        }
        if (target == -1)
                return -1;
        last->target = target;
        if (target >= 0)
                feed->targets[target].taken = true;
        return 0;
}

int dbio_trace_map(struct dbio_trace_feed *feed, struct dbio_trace_event *event, uint16_t *target, struct dbio_err *err)
{
        uint32_t device = event->device;

        if (device >= feed->device_room) {
                unsigned room = device + device / 2 + 16;
                struct last *grown = realloc(feed->devices, room * sizeof *grown);
                if (!grown)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                for (unsigned i = feed->device_room; i < room; i++)
                        grown[i] = (struct last){.target = NOT_SEEN, .end = {UINT64_MAX, UINT64_MAX}};
                feed->devices = grown;
                feed->device_room = room;
        }
        struct last *last = &feed->devices[device];
        if (last->target == NOT_SEEN && first_use(feed, device, err))
                return -1;
        if (last->target == LEFT_OUT)
                return 0;
        *target = (uint16_t)last->target;
        if (event->kind <= DBIO_WRITE) {
                feed->summary.sequential += event->offset == last->end[event->kind];
                last->end[event->kind] = event->offset + event->length;
        }
        if (event->kind == DBIO_FSYNC)
                return 1;
        if (event->offset < last->base || __builtin_add_overflow(event->offset - last->base, last->offset, &event->offset) ||
            event->offset > (uint64_t)INT64_MAX - event->length)
                return dbio_err_set(err, DBIO_USAGE, "offset %" PRIu64 " lies outside of the region that --map takes",
                                    event->offset);
        return 1;
}

/* --- fitting ------------------------------------------------------------------------------------------------------- */

void dbio_trace_feed_fit(struct dbio_trace_feed *feed, const char *const *names, const uint64_t *bytes, const unsigned *sectors,
                         unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                int target = dbio_trace_target_add(feed, names[i], NULL);
                if (target < 0)
                        continue;
                feed->targets[target].fit_bytes = bytes[i];
                feed->targets[target].fit_sector = sectors[i];
        }
        feed->fitted = true;
}

void dbio_trace_count_misaligned(struct dbio_trace_summary *summary, const struct dbio_trace_op *op, const char *place)
{
        uint64_t low = op->offset | op->length;

        summary->misaligned[1] += (low & 4095) != 0;
        if (!(low & 511))
                return;
        if (!summary->misaligned[0]++)
                snprintf(summary->first_misaligned, sizeof summary->first_misaligned,
                         "%s: %s of %u bytes at %" PRIu64, place, dbio_kind_name(op->kind), op->length, op->offset);
}

void dbio_trace_round(struct dbio_trace_summary *summary, struct dbio_trace_op *op, uint64_t sector)
{
        uint64_t end = (op->offset + op->length + sector - 1) / sector * sector;

        if (!((op->offset | op->length) % sector))
                return;
        op->offset = op->offset / sector * sector;
        op->length = (uint32_t)(end - op->offset);
        summary->rounded++;
}

static int refuse(const struct dbio_trace_target *target, const struct dbio_trace_op *op, const char *place, const char *what,
                  struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_USAGE, "%s: %s of %u bytes at %" PRIu64 " on target %s of %" PRIu64 " bytes: %s", place,
                            dbio_kind_name(op->kind), op->length, op->offset, target->name, target->fit_bytes, what);
}

int dbio_trace_fit(struct dbio_trace_feed *feed, struct dbio_trace_op *op, const char *place, struct dbio_err *err)
{
        const struct dbio_trace_target *target = &feed->targets[op->target];
        uint64_t sector = target->fit_sector ? target->fit_sector : 512;

        if (op->kind == DBIO_FSYNC)
                return 0;
        if (!target->fit_bytes)
                return refuse(target, op, place, "it has no binding", err);
        if (op->length > target->fit_bytes)
                return refuse(target, op, place, "one I/O is larger than the target", err);
        if (op->offset + op->length > target->fit_bytes) {
                if (!feed->options.fold)
                        return refuse(target, op, place, "it lies beyond the end; --fold takes it inside", err);
                op->offset %= target->fit_bytes;
                if (op->offset + op->length > target->fit_bytes)
                        op->offset = (target->fit_bytes - op->length) / sector * sector;
                feed->summary.folded++;
        }
        if (!((op->offset | op->length) % sector) || feed->options.misaligned == DBIO_MISALIGNED_PASS)
                return 0;
        if (feed->options.misaligned == DBIO_MISALIGNED_REFUSE)
                return refuse(target, op, place, "it does not begin and end on sectors; --misaligned round widens such ops, "
                                                 "pass issues them as they are", err);
        dbio_trace_round(&feed->summary, op, sector);
        return 0;
}
