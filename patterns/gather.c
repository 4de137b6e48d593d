#include "patterns/gather.h"

static uint64_t both(const struct dbio_dirty_map *map, uint64_t word)
{
        return map->old[word] | map->fresh[word];
}

/* Dirty pages in a row from `page` on, at most max. */
static unsigned forward(const struct dbio_dirty_map *map, uint64_t page, unsigned max)
{
        unsigned n = 0;

        while (n < max) {
                uint64_t clean = ~both(map, page / 64) >> page % 64;
                unsigned here = 64 - page % 64, run = clean ? (unsigned)__builtin_ctzll(clean) : 64;

                if (run < here)
                        return n + run < max ? n + run : max;
                n += here;
                page += here;
        }
        return max;
}

/* Dirty pages in a row that end just before `page`, at most max. */
static unsigned backward(const struct dbio_dirty_map *map, uint64_t page, unsigned max)
{
        unsigned n = 0;

        while (n < max && dbio_dirty_map_is_dirty(map, page - n - 1))
                n++;
        return n;
}

struct dbio_gather dbio_gather_take(struct dbio_dirty_map *map, uint64_t page, unsigned cap)
{
        uint64_t in_file = (page + map->lead_pages) % map->file_pages;
        uint64_t before = in_file < page ? in_file : page, after = map->file_pages - in_file;
        struct dbio_gather run = {.page = page};

        if (after > map->npages - page)
                after = map->npages - page;
        run.pages = forward(map, page, after < cap ? (unsigned)after : cap);
        if (run.pages < cap) {
                unsigned room = cap - run.pages;
                unsigned back = backward(map, page, before < room ? (unsigned)before : room);

                run.page -= back;
                run.pages += back;
        }
        for (uint64_t at = run.page, end = run.page + run.pages; at < end;) {
                uint64_t word = at / 64, n = 64 - at % 64;

                if (n > end - at)
                        n = end - at;
                uint64_t bits = (n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1) << at % 64;
                unsigned taken = (unsigned)__builtin_popcountll(map->fresh[word] & bits);

                run.avoided += taken;
                map->nfresh -= taken;
                map->nold -= n - taken;
                map->old[word] &= ~bits;
                map->fresh[word] &= ~bits;
                at += n;
        }
        return run;
}

/* A random place of a large map is not in the cache; asked for together, 16 of them take hardly longer than one. */
static void look_ahead(struct dbio_sweep *sweep, uint64_t n)
{
        for (unsigned i = 0; i < 16 && sweep->at + i < n; i++) {
                sweep->ahead[i] = sweep->from + dbio_scatter_at(&sweep->scatter, sweep->at + i);
                __builtin_prefetch(&sweep->map->old[sweep->ahead[i] / 64]);
        }
}

void dbio_sweep_begin(struct dbio_sweep *sweep, struct dbio_dirty_map *map, bool hash, uint64_t seed)
{
        *sweep = (struct dbio_sweep){.map = map, .hash = hash, .from = map->old_from, .to = map->old_to};
        if (hash && sweep->to > sweep->from)
                dbio_scatter_init(&sweep->scatter, sweep->to - sweep->from, seed);
        else
                sweep->at = sweep->from;
}

int dbio_sweep_next(struct dbio_sweep *sweep, unsigned budget, uint64_t *page)
{
        const struct dbio_dirty_map *map = sweep->map;

        if (!map->nold)
                return 0;
        if (sweep->hash) {
                uint64_t n = sweep->to - sweep->from;

                for (; sweep->at < n; sweep->at++) {
                        if (sweep->at % 16 == 0)
                                look_ahead(sweep, n);
                        uint64_t p = sweep->ahead[sweep->at % 16];

                        if (map->old[p / 64] >> p % 64 & 1) {
                                *page = p;
                                return 1;
                        }
                        if (!budget--)
                                return -1;
                }
                return 0;
        }
        while (sweep->at < sweep->to) {
                uint64_t bits = map->old[sweep->at / 64] >> sweep->at % 64;

                if (bits) {
                        sweep->at += (unsigned)__builtin_ctzll(bits);
                        *page = sweep->at;
                        return 1;
                }
                sweep->at = (sweep->at / 64 + 1) * 64;
                if (!budget--)
                        return -1;
        }
        return 0;
}
