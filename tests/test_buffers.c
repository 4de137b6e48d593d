/* Buffers and payload. Expected: no two buffers overlap; zlib and sorting judge the payload. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "engine/buffers.h"
#include "engine/payload.h"

#define BLOCKS 1000u

static unsigned char *memory;

static void make_memory(void)
{
        memory = aligned_alloc(4096, BLOCKS * 4096);
        memset(memory, 0, BLOCKS * 4096);
}

START_TEST(buffers_never_overlap_and_all_comes_back)
{
        struct dbio_buffers buffers;
        struct {
                unsigned char *at;
                uint32_t length;
        } held[200] = {0};
        static unsigned owner[BLOCKS];
        uint32_t x = 7;

        make_memory();
        ck_assert_int_eq(dbio_buffers_init(&buffers, memory, BLOCKS * 4096 + 100), 0);
        for (unsigned i = 0; i < 20000; i++) {
                x = x * 1664525 + 1013904223;
                unsigned k = (x >> 8) % 200;
                uint32_t length = held[k].at ? held[k].length : 512u << (x >> 16) % 10;
                unsigned char *at = held[k].at ? held[k].at : dbio_buffers_take(&buffers, length);
                size_t first = at ? (size_t)(at - memory) / 4096 : 0;

                if (!at)
                        continue;
                ck_assert(!((size_t)(at - memory) % 4096) && at + length <= memory + BLOCKS * 4096);
                for (size_t b = first; b < first + (length + 4095) / 4096; b++) {
                        ck_assert_uint_eq(owner[b], held[k].at ? k + 1 : 0);
                        owner[b] = held[k].at ? 0 : k + 1;
                }
                if (held[k].at)
                        dbio_buffers_give(&buffers, at, length);
                held[k].at = held[k].at ? NULL : at;
                held[k].length = length;
        }
        for (unsigned k = 0; k < 200; k++)
                if (held[k].at)
                        dbio_buffers_give(&buffers, held[k].at, held[k].length);
        /* 1000 blocks = 512 + 256 + 128 + 64 + 32 + 8 */
        ck_assert_ptr_nonnull(dbio_buffers_take(&buffers, 512 * 4096));
        ck_assert_ptr_nonnull(dbio_buffers_take(&buffers, 256 * 4096));
        ck_assert_ptr_null(dbio_buffers_take(&buffers, 256 * 4096));
        dbio_buffers_release(&buffers);
        free(memory);
}
END_TEST

/* Bytes that zlib makes of all memory. */
static unsigned long deflated(void)
{
        unsigned long size = compressBound(BLOCKS * 4096);
        unsigned char *out = malloc(size);

        ck_assert_int_eq(compress2(out, &size, memory, BLOCKS * 4096, 1), Z_OK);
        free(out);
        return size;
}

static int by_content(const void *a, const void *b)
{
        return memcmp(memory + 4096 * *(const unsigned *)a, memory + 4096 * *(const unsigned *)b, 4096);
}

static unsigned distinct(void)
{
        static unsigned order[BLOCKS];
        unsigned n = 1;

        for (unsigned i = 0; i < BLOCKS; i++)
                order[i] = i;
        qsort(order, BLOCKS, sizeof *order, by_content);
        for (unsigned i = 1; i < BLOCKS; i++)
                n += by_content(&order[i - 1], &order[i]) != 0;
        return n;
}

START_TEST(payload_is_incompressible_and_unique)
{
        struct dbio_payload payload;
        static unsigned char before[4096];

        make_memory();
        ck_assert_int_eq(dbio_payload_init(&payload, memory, BLOCKS * 4096, 1, 0, 0), 0);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        ck_assert_uint_ge(deflated(), BLOCKS * 4096);
        ck_assert_uint_eq(distinct(), BLOCKS);
        /* the same buffer, written again, carries something else */
        memcpy(before, memory, 4096);
        dbio_payload_stamp(&payload, memory, 512, 0);
        ck_assert_int_ne(memcmp(before, memory, 512), 0);
        /* what was read into it is not written */
        memset(memory, 0, BLOCKS * 4096);
        dbio_payload_spoil(&payload, memory, BLOCKS * 4096);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        ck_assert_uint_ge(deflated(), BLOCKS * 4096);
        dbio_payload_release(&payload);
        free(memory);
}
END_TEST

START_TEST(payload_shares_are_kept)
{
        struct dbio_payload payload;

        make_memory();
        ck_assert_int_eq(dbio_payload_init(&payload, memory, BLOCKS * 4096, 1, 0.5, 0), 0);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        ck_assert_double_eq_tol((double)deflated() / (BLOCKS * 4096), 0.5, 0.03);
        dbio_payload_release(&payload);
        ck_assert_int_eq(dbio_payload_init(&payload, memory, BLOCKS * 4096, 1, 0, 0.3), 0);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        /* 300 of 1000 are one; sigma of the binomial is 14.5 */
        ck_assert_double_eq_tol(distinct(), 701, 60);
        /* a stream of another mix in the same buffers, and the first one again */
        int half = dbio_payload_mix(&payload, 0.5, 0);
        ck_assert_int_eq(half, 1);
        ck_assert_int_eq(dbio_payload_mix(&payload, 0.5, 0), 1);
        ck_assert_int_eq(dbio_payload_mix(&payload, 0, 0.3), 0);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 1);
        ck_assert_double_eq_tol((double)deflated() / (BLOCKS * 4096), 0.5, 0.03);
        ck_assert_uint_eq(distinct(), BLOCKS);
        dbio_payload_stamp(&payload, memory, BLOCKS * 4096, 0);
        ck_assert_double_eq_tol(distinct(), 701, 60);
        ck_assert_uint_ge(deflated(), 600 * 4096);
        dbio_payload_release(&payload);
        free(memory);
}
END_TEST

TEST_MAIN("buffers", buffers_never_overlap_and_all_comes_back, payload_is_incompressible_and_unique,
          payload_shares_are_kept)
