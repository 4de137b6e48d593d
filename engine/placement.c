#include "engine/placement.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_DEPTH 16  /* of a stream that names no depth */
#define UNKNOWN_IOPS 1000 /* per outstanding op, where a stream's load is not known */

/* What moves as one: a group, or a source of a stream that is in none. */
struct unit {
        unsigned group; /* 0 = none */
        unsigned order, worker;
        double load;
};

static double load_of(const struct dbio_stream *stream)
{
        if (stream->load > 0)
                return stream->load / stream->nsources;
        return (double)UNKNOWN_IOPS * (stream->depth ? stream->depth : UNKNOWN_DEPTH);
}

/* Fills units and, per source of the phase in order, the number of its unit. Returns the number of units. */
static unsigned make_units(const struct dbio_phase *phase, struct unit *units, unsigned *unit_of)
{
        unsigned n = 0, lane = 0;

        for (unsigned i = 0; i < phase->nstreams; i++) {
                const struct dbio_stream *stream = &phase->streams[i];

                for (unsigned k = 0; k < stream->nsources; k++, lane++) {
                        unsigned unit = stream->group ? 0 : n;

                        while (unit < n && units[unit].group != stream->group)
                                unit++;
                        if (unit == n)
                                units[n++] = (struct unit){.group = stream->group, .order = unit};
                        units[unit].load += load_of(stream);
                        unit_of[lane] = unit;
                }
        }
        return n;
}

static int by_load(const void *a, const void *b)
{
        const struct unit *l = *(struct unit *const *)a, *r = *(struct unit *const *)b;

        if (l->load != r->load)
                return l->load > r->load ? -1 : 1;
        return l->order < r->order ? -1 : l->order > r->order;
}

/* The largest first, each to the worker that has least. */
static void spread(struct unit **sorted, unsigned n, unsigned nworkers, double *loads)
{
        qsort(sorted, n, sizeof *sorted, by_load);
        for (unsigned i = 0; i < n; i++) {
                unsigned least = 0;

                for (unsigned w = 1; w < nworkers; w++)
                        if (loads[w] < loads[least])
                                least = w;
                sorted[i]->worker = least;
                loads[least] += sorted[i]->load;
        }
}

static void list_lanes(struct dbio_placement *placement, const struct dbio_phase *phase, const struct unit *units,
                       const unsigned *unit_of)
{
        unsigned n = 0;

        for (unsigned w = 0; w < placement->nworkers; w++) {
                unsigned lane = 0;

                placement->first[w] = n;
                for (unsigned i = 0; i < phase->nstreams; i++)
                        for (unsigned k = 0; k < phase->streams[i].nsources; k++)
                                if (units[unit_of[lane++]].worker == w)
                                        placement->lanes[n++] = (struct dbio_lane_spec){i, k};
        }
        placement->first[placement->nworkers] = n;
}

int dbio_placement_init(struct dbio_placement *placement, const struct dbio_phase *phase, unsigned max_workers)
{
        unsigned nlanes = 0;
        int result = -1;

        for (unsigned i = 0; i < phase->nstreams; i++)
                nlanes += phase->streams[i].nsources;
        memset(placement, 0, sizeof *placement);
        struct unit *units = calloc(nlanes + 1, sizeof *units);
        struct unit **sorted = calloc(nlanes + 1, sizeof *sorted);
        unsigned *unit_of = calloc(nlanes + 1, sizeof *unit_of);
        double *loads = calloc(max_workers + 1, sizeof *loads);

        placement->lanes = calloc(nlanes + 1, sizeof *placement->lanes);
        placement->first = calloc(max_workers + 2, sizeof *placement->first);
        if (!units || !sorted || !unit_of || !loads || !placement->lanes || !placement->first) {
                dbio_placement_release(placement);
                goto out;
        }
        unsigned n = make_units(phase, units, unit_of);

        for (unsigned i = 0; i < n; i++)
                sorted[i] = &units[i];
        placement->nworkers = n && n < max_workers ? n : max_workers;
        if (!n)
                placement->nworkers = 1;
        spread(sorted, n, placement->nworkers, loads);
        list_lanes(placement, phase, units, unit_of);
        result = 0;
out:
        free(units);
        free(sorted);
        free(unit_of);
        free(loads);
        return result;
}

void dbio_placement_release(struct dbio_placement *placement)
{
        free(placement->lanes);
        free(placement->first);
        memset(placement, 0, sizeof *placement);
}
