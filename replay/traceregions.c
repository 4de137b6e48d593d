#include "replay/traceregions.h"

#include <stdlib.h>
#include <sys/stat.h>

#define FIRST_ROOM 1024u

struct extent {
        uint64_t from, to;     /* regions, to not included */
        uint64_t place;        /* of the first, counted without the gaps below */
};

struct extents {
        struct extent *list;   /* ascending and apart once merge() was called */
        size_t n, room;
};

struct dbio_trace_regions {
        struct extents *targets;
        unsigned n;
};

static int by_begin(const void *a, const void *b)
{
        const struct extent *x = a, *y = b;

        return x->from < y->from ? -1 : x->from > y->from;
}

static void merge(struct extents *set)
{
        size_t n = 0;

        if (!set->n)
                return;
        qsort(set->list, set->n, sizeof *set->list, by_begin);
        for (size_t i = 1; i < set->n; i++) {
                if (set->list[i].from > set->list[n].to)
                        set->list[++n] = set->list[i];
                else if (set->list[i].to > set->list[n].to)
                        set->list[n].to = set->list[i].to;
        }
        set->n = n + 1;
}

/* A full list is merged, and grows where that leaves more than half of it, so that its size follows the number of gaps. */
static int make_room(struct extents *set)
{
        size_t room = set->room ? 2 * set->room : FIRST_ROOM;
        struct extent *grown;

        merge(set);
        if (set->room && set->n <= set->room / 2)
                return 0;
        grown = realloc(set->list, room * sizeof *grown);
        if (!grown)
                return -1;
        set->list = grown;
        set->room = room;
        return 0;
}

static int add(struct extents *set, uint64_t from, uint64_t to)
{
        struct extent *last = set->n ? &set->list[set->n - 1] : NULL;

        if (last && from >= last->from && from <= last->to) {
                last->to = to > last->to ? to : last->to;
                return 0;
        }
        if (set->n == set->room && make_room(set))
                return -1;
        set->list[set->n++] = (struct extent){.from = from, .to = to};
        return 0;
}

static int add_op(struct dbio_trace_regions *regions, const struct dbio_trace_op *op)
{
        if (op->target >= regions->n) {
                struct extents *grown = realloc(regions->targets, (op->target + 1u) * sizeof *grown);
                if (!grown)
                        return -1;
                regions->targets = grown;
                while (regions->n <= op->target)
                        regions->targets[regions->n++] = (struct extents){0};
        }
        if (op->kind == DBIO_FSYNC)
                return 0;
        return add(&regions->targets[op->target], op->offset / DBIO_TRACE_REGION_BYTES,
                   (op->offset + op->length - 1) / DBIO_TRACE_REGION_BYTES + 1);
}

static void find_places(struct dbio_trace_regions *regions)
{
        for (unsigned i = 0; i < regions->n; i++) {
                struct extents *set = &regions->targets[i];
                uint64_t place = 0;
                merge(set);
                for (size_t k = 0; k < set->n; k++) {
                        set->list[k].place = place;
                        place += set->list[k].to - set->list[k].from;
                }
        }
}

static int check_paths(const char *const *paths, unsigned npaths, struct dbio_err *err)
{
        struct stat facts;

        for (unsigned i = 0; i < npaths; i++)
                if (!stat(paths[i], &facts) && !S_ISREG(facts.st_mode)) {
                        dbio_err_set(err, DBIO_USAGE, "--compact reads a trace twice, and this is no regular file");
                        return dbio_err_locate(err, paths[i], 0, 0);
                }
        return 0;
}

int dbio_trace_regions_find(struct dbio_trace_regions **out, const char *format_name, const char *const *paths, unsigned npaths,
                            const struct dbio_trace_options *options, struct dbio_err *err)
{
        struct dbio_trace_regions *regions = NULL;
        struct dbio_trace_options plain = *options;
        struct dbio_trace_feed *feed = NULL;
        struct dbio_trace_op op;
        int code = -1;

        plain.compact = false;
        if (check_paths(paths, npaths, err) || dbio_trace_feed_open(&feed, format_name, paths, npaths, &plain, err))
                return -1;
        regions = calloc(1, sizeof *regions);
        while (regions && (code = dbio_trace_feed_next(feed, &op, err)) > 0)
                if (add_op(regions, &op)) {
                        code = dbio_err_set(err, DBIO_IO, "out of memory");
                        break;
                }
        dbio_trace_feed_close(feed);
        if (!regions)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (code) {
                dbio_trace_regions_free(regions);
                return -1;
        }
        find_places(regions);
        *out = regions;
        return 0;
}

uint64_t dbio_trace_regions_place(const struct dbio_trace_regions *regions, unsigned target, uint64_t offset)
{
        const struct extents *set = &regions->targets[target];
        uint64_t region = offset / DBIO_TRACE_REGION_BYTES;
        size_t low = 0, high = set->n;

        while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                if (set->list[middle].from <= region)
                        low = middle;
                else
                        high = middle;
        }
        return (set->list[low].place + region - set->list[low].from) * DBIO_TRACE_REGION_BYTES + offset % DBIO_TRACE_REGION_BYTES;
}

uint64_t dbio_trace_regions_gaps(const struct dbio_trace_regions *regions)
{
        uint64_t gaps = 0;

        for (unsigned i = 0; i < regions->n; i++) {
                const struct extents *set = &regions->targets[i];
                gaps += set->n ? set->list[set->n - 1].from - set->list[set->n - 1].place : 0;
        }
        return gaps * DBIO_TRACE_REGION_BYTES;
}

void dbio_trace_regions_free(struct dbio_trace_regions *regions)
{
        if (!regions)
                return;
        for (unsigned i = 0; i < regions->n; i++)
                free(regions->targets[i].list);
        free(regions->targets);
        free(regions);
}
