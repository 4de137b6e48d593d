/* Page-mapped flash translation with greedy garbage collection: how many pages must be moved and blocks erased for a
 * page to be written. Time is the device's matter (engine/sim_ssd.c). */
#include "engine/sim_core.h"

#include <stdlib.h>

enum { SPARE_BLOCKS = 4 }; /* collection keeps as many free */
#define NOWHERE UINT32_MAX

struct dbio_ftl {
        uint32_t user_pages, block_pages, blocks;
        uint32_t *place;    /* of a logical page */
        uint32_t *content;  /* of a physical page: its logical one */
        uint32_t *valid;    /* pages of a block */
        uint32_t *next, *prev; /* full blocks in lists by valid pages */
        uint32_t *with;     /* heads of these lists */
        uint32_t *free_blocks, nfree;
        uint32_t open, used; /* the block that is being written, and its pages so far */
        uint32_t least;     /* no list below this one has a block */
        struct dbio_sim_random random;
};

static void list_add(struct dbio_ftl *ftl, uint32_t block)
{
        uint32_t *head = &ftl->with[ftl->valid[block]];

        ftl->prev[block] = NOWHERE;
        ftl->next[block] = *head;
        if (*head != NOWHERE)
                ftl->prev[*head] = block;
        *head = block;
        if (ftl->valid[block] < ftl->least)
                ftl->least = ftl->valid[block];
}

static void list_remove(struct dbio_ftl *ftl, uint32_t block)
{
        if (ftl->prev[block] != NOWHERE)
                ftl->next[ftl->prev[block]] = ftl->next[block];
        else
                ftl->with[ftl->valid[block]] = ftl->next[block];
        if (ftl->next[block] != NOWHERE)
                ftl->prev[ftl->next[block]] = ftl->prev[block];
}

static void drop(struct dbio_ftl *ftl, uint32_t physical)
{
        uint32_t block = physical / ftl->block_pages;

        ftl->content[physical] = NOWHERE;
        if (block == ftl->open) {
                ftl->valid[block]--;
                return;
        }
        list_remove(ftl, block);
        ftl->valid[block]--;
        list_add(ftl, block);
}

static void put(struct dbio_ftl *ftl, uint32_t page)
{
        if (ftl->used == ftl->block_pages) {
                uint32_t full = ftl->open;

                ftl->open = ftl->free_blocks[--ftl->nfree];
                ftl->used = 0;
                list_add(ftl, full);
        }
        if (ftl->place[page] != NOWHERE)
                drop(ftl, ftl->place[page]);

        uint32_t physical = ftl->open * ftl->block_pages + ftl->used++;

        ftl->content[physical] = page;
        ftl->place[page] = physical;
        ftl->valid[ftl->open]++;
}

static uint32_t collect(struct dbio_ftl *ftl)
{
        while (ftl->with[ftl->least] == NOWHERE)
                ftl->least++;

        uint32_t victim = ftl->with[ftl->least], moved = 0;

        list_remove(ftl, victim);
        for (uint32_t i = 0; i < ftl->block_pages; i++) {
                uint32_t physical = victim * ftl->block_pages + i, page = ftl->content[physical];

                if (page == NOWHERE)
                        continue;
                ftl->content[physical] = NOWHERE;
                ftl->place[page] = NOWHERE;
                put(ftl, page);
                moved++;
        }
        ftl->valid[victim] = 0;
        ftl->free_blocks[ftl->nfree++] = victim;
        return moved;
}

struct dbio_ftl_cost dbio_ftl_write(struct dbio_ftl *ftl, uint64_t page)
{
        struct dbio_ftl_cost cost = {0, 0};

        put(ftl, (uint32_t)(page % ftl->user_pages));
        while (ftl->nfree < SPARE_BLOCKS) {
                cost.moved += collect(ftl);
                cost.erased++;
        }
        return cost;
}

struct dbio_ftl *dbio_ftl_new(const struct dbio_sim_ftl *keys, uint64_t seed)
{
        struct dbio_ftl *ftl = calloc(1, sizeof *ftl);

        if (!ftl)
                return NULL;
        ftl->user_pages = (uint32_t)keys->map_pages;
        ftl->block_pages = (uint32_t)keys->block_pages;
        ftl->blocks = (uint32_t)((double)keys->map_pages * (1 + keys->over_provision) / (double)keys->block_pages) + 1 +
                      SPARE_BLOCKS;
        ftl->random.state = seed;

        uint32_t pages = ftl->blocks * ftl->block_pages;

        ftl->place = malloc(ftl->user_pages * sizeof *ftl->place);
        ftl->content = malloc(pages * sizeof *ftl->content);
        ftl->valid = calloc(ftl->blocks, sizeof *ftl->valid);
        ftl->next = calloc(ftl->blocks, sizeof *ftl->next);
        ftl->prev = calloc(ftl->blocks, sizeof *ftl->prev);
        ftl->with = malloc((ftl->block_pages + 1) * sizeof *ftl->with);
        ftl->free_blocks = malloc(ftl->blocks * sizeof *ftl->free_blocks);
        if (!ftl->place || !ftl->content || !ftl->valid || !ftl->next || !ftl->prev || !ftl->with || !ftl->free_blocks) {
                dbio_ftl_free(ftl);
                return NULL;
        }
        for (uint32_t i = 0; i < ftl->user_pages; i++)
                ftl->place[i] = NOWHERE;
        for (uint32_t i = 0; i < pages; i++)
                ftl->content[i] = NOWHERE;
        for (uint32_t i = 0; i <= ftl->block_pages; i++)
                ftl->with[i] = NOWHERE;
        for (uint32_t i = ftl->blocks; i-- > 1;)
                ftl->free_blocks[ftl->nfree++] = i;
        ftl->least = ftl->block_pages;
        if (!keys->steady)
                return ftl;
        for (uint32_t i = 0; i < ftl->user_pages; i++)
                dbio_ftl_write(ftl, i);
        for (uint64_t i = 0; i < 4 * (uint64_t)ftl->user_pages; i++)
                dbio_ftl_write(ftl, dbio_sim_random_next(&ftl->random) % ftl->user_pages);
        return ftl;
}

void dbio_ftl_free(struct dbio_ftl *ftl)
{
        if (!ftl)
                return;
        free(ftl->place);
        free(ftl->content);
        free(ftl->valid);
        free(ftl->next);
        free(ftl->prev);
        free(ftl->with);
        free(ftl->free_blocks);
        free(ftl);
}

bool dbio_ftl_check(const struct dbio_ftl *ftl)
{
        uint32_t mapped = 0, valid = 0, filled = 0;

        for (uint32_t page = 0; page < ftl->user_pages; page++) {
                if (ftl->place[page] == NOWHERE)
                        continue;
                mapped++;
                if (ftl->content[ftl->place[page]] != page)
                        return false;
        }
        for (uint32_t block = 0; block < ftl->blocks; block++)
                valid += ftl->valid[block];
        for (uint32_t i = 0; i < ftl->blocks * ftl->block_pages; i++)
                filled += ftl->content[i] != NOWHERE;
        return mapped == valid && mapped == filled;
}
