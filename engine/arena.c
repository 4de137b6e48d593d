#include "engine/arena.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static unsigned order_of(uint32_t length)
{
        uint32_t blocks = length <= DBIO_ARENA_BLOCK ? 1 : (length - 1) / DBIO_ARENA_BLOCK + 1;

        return blocks == 1 ? 0 : 32 - (unsigned)__builtin_clz(blocks - 1);
}

static void push(struct dbio_arena *arena, uint32_t block, unsigned order)
{
        uint32_t first = arena->free[order];

        arena->state[block] = (unsigned char)(order + 1);
        arena->next[block] = first;
        arena->previous[block] = NONE;
        if (first != NONE)
                arena->previous[first] = block;
        arena->free[order] = block;
}

static void drop(struct dbio_arena *arena, uint32_t block, unsigned order)
{
        if (arena->next[block] != NONE)
                arena->previous[arena->next[block]] = arena->previous[block];
        if (arena->previous[block] != NONE)
                arena->next[arena->previous[block]] = arena->next[block];
        else
                arena->free[order] = arena->next[block];
        arena->state[block] = 0;
}

int dbio_arena_init(struct dbio_arena *arena, void *memory, size_t bytes)
{
        *arena = (struct dbio_arena){.memory = memory, .nblocks = (uint32_t)(bytes / DBIO_ARENA_BLOCK)};
        for (unsigned i = 0; i < DBIO_ARENA_ORDERS; i++)
                arena->free[i] = NONE;
        arena->state = calloc((size_t)arena->nblocks + 1, 1);
        arena->next = calloc((size_t)arena->nblocks + 1, sizeof *arena->next);
        arena->previous = calloc((size_t)arena->nblocks + 1, sizeof *arena->previous);
        if (!arena->state || !arena->next || !arena->previous) {
                dbio_arena_release(arena);
                return -1;
        }
        for (uint32_t block = 0; block < arena->nblocks;) {
                unsigned order = 0;

                while (order + 1 < DBIO_ARENA_ORDERS && !(block & ((2u << order) - 1)) &&
                       block + (2u << order) <= arena->nblocks)
                        order++;
                push(arena, block, order);
                block += 1u << order;
        }
        return 0;
}

void dbio_arena_release(struct dbio_arena *arena)
{
        free(arena->state);
        free(arena->next);
        free(arena->previous);
        memset(arena, 0, sizeof *arena);
}

void *dbio_arena_take(struct dbio_arena *arena, uint32_t length)
{
        unsigned want = order_of(length), order = want;

        while (order < DBIO_ARENA_ORDERS && arena->free[order] == NONE)
                order++;
        if (order >= DBIO_ARENA_ORDERS)
                return NULL;
        uint32_t block = arena->free[order];

        drop(arena, block, order);
        while (order > want) {
                order--;
                push(arena, block + (1u << order), order);
        }
        return arena->memory + (size_t)block * DBIO_ARENA_BLOCK;
}

void dbio_arena_give(struct dbio_arena *arena, void *buffer, uint32_t length)
{
        uint32_t block = (uint32_t)((size_t)((unsigned char *)buffer - arena->memory) / DBIO_ARENA_BLOCK);
        unsigned order = order_of(length);

        for (; order + 1 < DBIO_ARENA_ORDERS; order++) {
                uint32_t buddy = block ^ (1u << order);

                if (buddy + (1u << order) > arena->nblocks || arena->state[buddy] != order + 1)
                        break;
                drop(arena, buddy, order);
                block &= ~(1u << order);
        }
        push(arena, block, order);
}
