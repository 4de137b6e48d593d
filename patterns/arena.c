#include "patterns/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct block {
        struct block *next;
        size_t used, size;
        _Alignas(max_align_t) char bytes[];
};

struct dbio_arena {
        struct block *blocks; /* the first one is filled */
};

static void *must(void *memory)
{
        if (!memory)
                abort();
        return memory;
}

struct dbio_arena *dbio_arena_new(void)
{
        return must(calloc(1, sizeof(struct dbio_arena)));
}

void dbio_arena_free(struct dbio_arena *arena)
{
        if (!arena)
                return;
        for (struct block *block = arena->blocks, *next; block; block = next) {
                next = block->next;
                free(block);
        }
        free(arena);
}

static struct block *block_new(size_t size)
{
        struct block *block = must(calloc(1, sizeof *block + size));

        block->size = size;
        return block;
}

void *dbio_arena_alloc(struct dbio_arena *arena, size_t size)
{
        struct block *block = arena->blocks;
        size_t need = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

        if (need > BLOCK / 4) { /* a block of its own, behind the one that is filled */
                struct block *own = block_new(need);

                own->used = need;
                if (block) {
                        own->next = block->next;
                        block->next = own;
                } else {
                        arena->blocks = own;
                }
                return own->bytes;
        }
        if (!block || block->size - block->used < need) {
                block = block_new(BLOCK);
                block->next = arena->blocks;
                arena->blocks = block;
        }
        block->used += need;
        return block->bytes + block->used - need;
}

char *dbio_arena_text(struct dbio_arena *arena, const char *text, size_t size)
{
        char *copy = dbio_arena_alloc(arena, size + 1);

        memcpy(copy, text, size);
        return copy;
}

char *dbio_arena_format(struct dbio_arena *arena, const char *format, ...)
{
        va_list args;
        char *text;
        int size;

        va_start(args, format);
        size = vsnprintf(NULL, 0, format, args);
        va_end(args);
        text = dbio_arena_alloc(arena, (size_t)size + 1);
        va_start(args, format);
        vsnprintf(text, (size_t)size + 1, format, args);
        va_end(args);
        return text;
}
