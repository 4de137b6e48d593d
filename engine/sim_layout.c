/* How a target's files lie on a device: the only thing through which a file system's cluster size can act here.
 *
 * Files grown alone are contiguous, whatever the step. Grown in turn with each other (one file alone: with a file that
 * is not ours), their steps alternate. Aged, they are made of extents whose ends fall on every cluster boundary with
 * the same chance, strewn over the target's place.
 */
#include "engine/sim_core.h"

#include <stdlib.h>

enum { CLUSTER = 4096, MAX_EXTENTS = 1 << 22 };

struct dbio_extents {
        uint64_t base, file_size, step, cluster;
        unsigned ways;        /* files that grow in turn; 0 = contiguous */
        uint32_t *from, *to;  /* aged: cluster numbers, over all files end to end, and on the device from base on */
        uint32_t n;
        uint64_t file_clusters;
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
        return (n + to - 1) / to * to;
}

static uint64_t cluster_of(const struct dbio_layout *layout)
{
        return layout->cluster ? layout->cluster : CLUSTER;
}

uint64_t dbio_sim_place_bytes(const struct dbio_layout *layout, uint64_t file_size, unsigned nfiles)
{
        uint64_t cluster = cluster_of(layout);

        if (layout->grow && layout->interleave)
                file_size = round_up(file_size, round_up(layout->grow, cluster)) * (nfiles == 1 ? 2 : 1);
        else if (layout->aged)
                file_size = round_up(file_size, cluster);
        return nfiles * file_size + layout->partition_offset;
}

/* Puts the extents one after the other in a random order. */
static int strew(struct dbio_extents *extents, struct dbio_sim_random *random, uint32_t end)
{
        uint32_t *order = malloc(extents->n * sizeof *order), at = 0;

        extents->to = malloc(extents->n * sizeof *extents->to);
        if (!order || !extents->to) {
                free(order);
                return -1;
        }
        for (uint32_t i = 0; i < extents->n; i++)
                order[i] = i;
        for (uint32_t i = extents->n; i > 1; i--) {
                uint32_t j = (uint32_t)(dbio_sim_random_next(random) % i), kept = order[i - 1];

                order[i - 1] = order[j];
                order[j] = kept;
        }
        for (uint32_t i = 0; i < extents->n; i++) {
                uint32_t extent = order[i];

                extents->to[extent] = at;
                at += (extent + 1 < extents->n ? extents->from[extent + 1] : end) - extents->from[extent];
        }
        free(order);
        return 0;
}

static int age(struct dbio_extents *extents, const struct dbio_sim_place *place, uint64_t seed, struct dbio_err *err)
{
        uint64_t clusters = place->nfiles * extents->file_clusters;
        double chance = (double)extents->cluster / (double)place->layout.aged;
        struct dbio_sim_random random;

        if (clusters > UINT32_MAX || (double)clusters * chance > 0.9 * MAX_EXTENTS)
                return dbio_err_set(err, DBIO_USAGE,
                                    "layout: extents of this mean length would be more than %d; use a larger `aged` or a "
                                    "smaller target", MAX_EXTENTS * 9 / 10);
        extents->from = malloc(MAX_EXTENTS * sizeof *extents->from);
        if (!extents->from)
                return dbio_err_set(err, DBIO_IO, "out of memory for the extents of a layout");
        dbio_sim_random_init(&random, seed, 0);
        for (uint32_t c = 0; c < clusters && extents->n < MAX_EXTENTS; c++)
                if (c % extents->file_clusters == 0 || dbio_sim_random_unit(&random) < chance)
                        extents->from[extents->n++] = c;

        uint32_t *smaller = realloc(extents->from, extents->n * sizeof *smaller);

        if (smaller)
                extents->from = smaller;
        if (strew(extents, &random, (uint32_t)clusters))
                return dbio_err_set(err, DBIO_IO, "out of memory for the extents of a layout");
        return 0;
}

int dbio_extents_new(struct dbio_extents **out, const struct dbio_sim_place *place, uint64_t seed, struct dbio_err *err)
{
        const struct dbio_layout *layout = &place->layout;
        struct dbio_extents *extents = calloc(1, sizeof *extents);

        if (!extents)
                return dbio_err_set(err, DBIO_IO, "out of memory for a layout");
        extents->cluster = cluster_of(layout);
        extents->base = place->base + layout->partition_offset;
        extents->file_size = place->file_size;
        extents->file_clusters = (place->file_size + extents->cluster - 1) / extents->cluster;
        if (layout->grow && layout->interleave) {
                extents->step = round_up(layout->grow, extents->cluster);
                extents->ways = place->nfiles == 1 ? 2 : place->nfiles;
        } else if (layout->aged && age(extents, place, seed, err)) {
                dbio_extents_free(extents);
                return -1;
        }
        *out = extents;
        return 0;
}

void dbio_extents_free(struct dbio_extents *extents)
{
        if (!extents)
                return;
        free(extents->from);
        free(extents->to);
        free(extents);
}

static uint64_t find_aged(const struct dbio_extents *extents, unsigned file, uint64_t offset, uint64_t *run)
{
        uint32_t cluster = (uint32_t)(file * extents->file_clusters + offset / extents->cluster);
        uint32_t low = 0, high = extents->n;

        while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                if (extents->from[middle] <= cluster)
                        low = middle;
                else
                        high = middle;
        }

        uint64_t within = (cluster - extents->from[low]) * extents->cluster + offset % extents->cluster;
        uint64_t end = low + 1 < extents->n ? extents->from[low + 1] : UINT32_MAX;

        *run = (end - extents->from[low]) * extents->cluster - within;
        return extents->base + extents->to[low] * extents->cluster + within;
}

uint64_t dbio_extents_find(const struct dbio_extents *extents, unsigned file, uint64_t offset, uint64_t *run)
{
        if (extents->from)
                return find_aged(extents, file, offset, run);
        if (!extents->ways) {
                *run = extents->file_size - offset;
                return extents->base + file * extents->file_size + offset;
        }
        *run = extents->step - offset % extents->step;
        return extents->base + (offset / extents->step * extents->ways + file) * extents->step + offset % extents->step;
}
