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

enum { LOT = 8, LATER_LOT = 64, AHEAD = sizeof((struct dbio_sweep *)0)->ahead / sizeof(uint64_t) };

static uint64_t old_of_lot(const struct dbio_sweep *sweep, uint64_t lot)
{
        uint64_t page = lot * sweep->lot;

        return sweep->map->old[page / 64] >> page % 64 & UINT64_MAX >> (64 - sweep->lot);
}

/* A lot's words are asked for long before it is visited: first what is old, which says whether the rest is needed. */
static void look_ahead(struct dbio_sweep *sweep, uint64_t i)
{
        const struct dbio_dirty_map *map = sweep->map;
        uint64_t lot = sweep->first + dbio_scatter_at(&sweep->scatter, i < sweep->nlots ? i : 0);

        sweep->ahead[i % AHEAD] = lot;
        __builtin_prefetch(&map->old[lot * sweep->lot / 64]);
        lot = sweep->ahead[(i + AHEAD / 2) % AHEAD];
        if (old_of_lot(sweep, lot))
                __builtin_prefetch(&map->fresh[lot * sweep->lot / 64]);
}

static void begin_round(struct dbio_sweep *sweep)
{
        sweep->lot = sweep->rounds++ ? LATER_LOT : LOT;
        sweep->first = sweep->from / sweep->lot;
        sweep->nlots = (sweep->to - 1) / sweep->lot - sweep->first + 1;
        sweep->at = 0;
        dbio_scatter_init(&sweep->scatter, sweep->nlots, dbio_rng_next(&sweep->rng));
        for (unsigned i = 0; i < AHEAD; i++)
                sweep->ahead[i] = sweep->first;
        for (unsigned i = 0; i < AHEAD; i++)
                look_ahead(sweep, i);
}

void dbio_sweep_begin(struct dbio_sweep *sweep, struct dbio_dirty_map *map, bool hash, uint64_t seed)
{
        *sweep = (struct dbio_sweep){
                .map = map, .at = map->old_from, .from = map->old_from, .to = map->old_to, .hash = hash};
        dbio_rng_init(&sweep->rng, seed);
        if (hash && sweep->from < sweep->to)
                begin_round(sweep);
}

static int next_by_hash(struct dbio_sweep *sweep, unsigned budget, uint64_t *page)
{
        for (;;) {
                if (sweep->at == sweep->nlots) {
                        if (sweep->rounds == 1 + LATER_LOT) /* each has given a page of every lot that had any */
                                return 0;
                        begin_round(sweep);
                }

                uint64_t lot = sweep->ahead[sweep->at % AHEAD], bits = old_of_lot(sweep, lot);

                look_ahead(sweep, sweep->at++ + AHEAD);
                if (bits) {
                        uint64_t skip = dbio_rng_below(&sweep->rng, (unsigned)__builtin_popcountll(bits));

                        while (skip--)
                                bits &= bits - 1;
                        *page = lot * sweep->lot + (unsigned)__builtin_ctzll(bits);
                        return 1;
                }
                if (!budget--)
                        return -1;
        }
}

int dbio_sweep_next(struct dbio_sweep *sweep, unsigned budget, uint64_t *page)
{
        const struct dbio_dirty_map *map = sweep->map;

        if (!map->nold)
                return 0;
        if (sweep->hash)
                return next_by_hash(sweep, budget, page);
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
