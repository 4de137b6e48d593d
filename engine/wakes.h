/* A heap of wake times: at most one a number; of equal times the lower number comes first. */
#ifndef DBIO_ENGINE_WAKES_H
#define DBIO_ENGINE_WAKES_H

#include <stdint.h>
#include <stdlib.h>

struct dbio_wakes {
        unsigned nr;
        uint64_t *time_ns; /* per number, valid while it is in the heap */
        uint32_t *place;   /* per number: place in the heap + 1; 0 = not in it */
        uint32_t *heap;
};

static inline int dbio_wakes_init(struct dbio_wakes *wakes, unsigned numbers)
{
        wakes->nr = 0;
        wakes->time_ns = (uint64_t *)calloc(numbers + 1, sizeof *wakes->time_ns);
        wakes->place = (uint32_t *)calloc(numbers + 1, sizeof *wakes->place);
        wakes->heap = (uint32_t *)calloc(numbers + 1, sizeof *wakes->heap);
        return wakes->time_ns && wakes->place && wakes->heap ? 0 : -1;
}

static inline void dbio_wakes_release(struct dbio_wakes *wakes)
{
        free(wakes->time_ns);
        free(wakes->place);
        free(wakes->heap);
        wakes->time_ns = NULL;
        wakes->place = wakes->heap = NULL;
}

static inline int dbio_wakes_earlier_(const struct dbio_wakes *wakes, uint32_t a, uint32_t b)
{
        return wakes->time_ns[a] < wakes->time_ns[b] || (wakes->time_ns[a] == wakes->time_ns[b] && a < b);
}

static inline void dbio_wakes_put_(struct dbio_wakes *wakes, unsigned at, uint32_t number)
{
        wakes->heap[at] = number;
        wakes->place[number] = at + 1;
}

static inline void dbio_wakes_up_(struct dbio_wakes *wakes, unsigned at, uint32_t number)
{
        for (; at && dbio_wakes_earlier_(wakes, number, wakes->heap[(at - 1) / 2]); at = (at - 1) / 2)
                dbio_wakes_put_(wakes, at, wakes->heap[(at - 1) / 2]);
        dbio_wakes_put_(wakes, at, number);
}

static inline void dbio_wakes_down_(struct dbio_wakes *wakes, unsigned at, uint32_t number)
{
        for (unsigned child; (child = 2 * at + 1) < wakes->nr; at = child) {
                if (child + 1 < wakes->nr && dbio_wakes_earlier_(wakes, wakes->heap[child + 1], wakes->heap[child]))
                        child++;
                if (!dbio_wakes_earlier_(wakes, wakes->heap[child], number))
                        break;
                dbio_wakes_put_(wakes, at, wakes->heap[child]);
        }
        dbio_wakes_put_(wakes, at, number);
}

static inline void dbio_wakes_remove(struct dbio_wakes *wakes, uint32_t number)
{
        if (!wakes->place[number])
                return;
        unsigned at = wakes->place[number] - 1;
        uint32_t last = wakes->heap[--wakes->nr];

        wakes->place[number] = 0;
        if (at == wakes->nr)
                return;
        if (at && dbio_wakes_earlier_(wakes, last, wakes->heap[(at - 1) / 2]))
                dbio_wakes_up_(wakes, at, last);
        else
                dbio_wakes_down_(wakes, at, last);
}

/* Adds it, or brings it forward; a later time than the one it has changes nothing. */
static inline void dbio_wakes_add(struct dbio_wakes *wakes, uint32_t number, uint64_t time_ns)
{
        if (wakes->place[number] && wakes->time_ns[number] <= time_ns)
                return;
        unsigned at = wakes->place[number] ? wakes->place[number] - 1 : wakes->nr++;

        wakes->time_ns[number] = time_ns;
        dbio_wakes_up_(wakes, at, number);
}

/* UINT64_MAX when empty. */
static inline uint64_t dbio_wakes_first(const struct dbio_wakes *wakes)
{
        return wakes->nr ? wakes->time_ns[wakes->heap[0]] : UINT64_MAX;
}

#endif
