#include "engine/buffers.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static unsigned order_of(uint32_t length)
{
        uint32_t blocks = length <= DBIO_BUFFERS_BLOCK ? 1 : (length - 1) / DBIO_BUFFERS_BLOCK + 1;

        return blocks == 1 ? 0 : 32 - (unsigned)__builtin_clz(blocks - 1);
}

static void push(struct dbio_buffers *buffers, uint32_t block, unsigned order)
{
        uint32_t first = buffers->free[order];

        buffers->state[block] = (unsigned char)(order + 1);
        buffers->next[block] = first;
        buffers->previous[block] = NONE;
        if (first != NONE)
                buffers->previous[first] = block;
        buffers->free[order] = block;
}

static void drop(struct dbio_buffers *buffers, uint32_t block, unsigned order)
{
        if (buffers->next[block] != NONE)
                buffers->previous[buffers->next[block]] = buffers->previous[block];
        if (buffers->previous[block] != NONE)
                buffers->next[buffers->previous[block]] = buffers->next[block];
        else
                buffers->free[order] = buffers->next[block];
        buffers->state[block] = 0;
}

int dbio_buffers_init(struct dbio_buffers *buffers, void *memory, size_t bytes)
{
        *buffers = (struct dbio_buffers){.memory = memory, .nblocks = (uint32_t)(bytes / DBIO_BUFFERS_BLOCK)};
        for (unsigned i = 0; i < DBIO_BUFFERS_ORDERS; i++)
                buffers->free[i] = NONE;
        buffers->state = calloc((size_t)buffers->nblocks + 1, 1);
        buffers->next = calloc((size_t)buffers->nblocks + 1, sizeof *buffers->next);
        buffers->previous = calloc((size_t)buffers->nblocks + 1, sizeof *buffers->previous);
        if (!buffers->state || !buffers->next || !buffers->previous) {
                dbio_buffers_release(buffers);
                return -1;
        }
        for (uint32_t block = 0; block < buffers->nblocks;) {
                unsigned order = 0;

                while (order + 1 < DBIO_BUFFERS_ORDERS && !(block & ((2u << order) - 1)) &&
                       block + (2u << order) <= buffers->nblocks)
                        order++;
                push(buffers, block, order);
                block += 1u << order;
        }
        return 0;
}

void dbio_buffers_release(struct dbio_buffers *buffers)
{
        free(buffers->state);
        free(buffers->next);
        free(buffers->previous);
        memset(buffers, 0, sizeof *buffers);
}

void *dbio_buffers_take(struct dbio_buffers *buffers, uint32_t length)
{
        unsigned want = order_of(length), order = want;

        while (order < DBIO_BUFFERS_ORDERS && buffers->free[order] == NONE)
                order++;
        if (order >= DBIO_BUFFERS_ORDERS)
                return NULL;
        uint32_t block = buffers->free[order];

        drop(buffers, block, order);
        while (order > want) {
                order--;
                push(buffers, block + (1u << order), order);
        }
        return buffers->memory + (size_t)block * DBIO_BUFFERS_BLOCK;
}

void dbio_buffers_give(struct dbio_buffers *buffers, void *buffer, uint32_t length)
{
        uint32_t block = (uint32_t)((size_t)((unsigned char *)buffer - buffers->memory) / DBIO_BUFFERS_BLOCK);
        unsigned order = order_of(length);

        for (; order + 1 < DBIO_BUFFERS_ORDERS; order++) {
                uint32_t buddy = block ^ (1u << order);

                if (buddy + (1u << order) > buffers->nblocks || buffers->state[buddy] != order + 1)
                        break;
                drop(buffers, buddy, order);
                block &= ~(1u << order);
        }
        push(buffers, block, order);
}
