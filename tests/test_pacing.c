/* Invariants of the pacer over phases drawn at random, on a virtual clock and a device of fixed latency. */
#include "tests/unit.h"

#include <string.h>

#include "tests/enginekit.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define LATENCY (3 * MS)

static uint64_t state;

static uint64_t draw(uint64_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % n;
}

/* A stream's ops are known by their offsets: each has a GiB of its own. */
static void draw_stream(struct kit *kit, unsigned i)
{
        struct kit_source source = {.nr = draw(3) ? UINT64_MAX : 1 + draw(400), .first_offset = i * 4096,
                                    .stride = 16 * 4096, .length = (uint32_t)(1 + draw(8)) * 512,
                                    .kind = draw(2) ? DBIO_READ : DBIO_WRITE,
                                    .flags = draw(8) ? 0 : DBIO_OP_BARRIER,
                                    .gap_ns = draw(2) ? (1 + draw(20000)) * 1000 : 0};
        struct dbio_stream *stream = kit_add(kit, "drawn", source);

        stream->depth = source.gap_ns ? (unsigned)draw(20) : 1 + (unsigned)draw(20);
        stream->think_ns = source.gap_ns || draw(2) ? 0 : draw(10 * MS);
        if (!draw(4))
                stream->start_ns = draw(SECOND / 2);
        if (!draw(4))
                stream->stop_ns = SECOND / 2 + draw(SECOND);
}

static struct kit *draw_kit(uint64_t seed)
{
        struct kit *kit = malloc(sizeof *kit);
        unsigned n;

        state = seed * 0x9E3779B97F4A7C15u + 1;
        kit_init(kit);
        kit_backend.latency_ns = LATENCY;
        kit->phase.duration_ns = SECOND;
        if (!draw(4))
                kit->phase.ops = 1 + draw(1000);
        if (draw(2))
                kit->hba = (struct dbio_hba){.ports = 1 + (unsigned)draw(3), .max_outstanding = 1 + (unsigned)draw(16),
                                             .max_transfer = draw(2) ? 0 : 512 * (1 + draw(8))};
        if (!draw(4))
                kit_backend.room = 1 + (unsigned)draw(8);
        if (!draw(6))
                kit->options.max_iops = 100 + (double)draw(2000);
        n = 1 + (unsigned)draw(5);
        for (unsigned i = 0; i < n; i++)
                draw_stream(kit, i);
        return kit;
}

static const char *kit_text(const struct kit *kit, unsigned i)
{
        static char text[400];
        const struct kit_source *source = &kit->planned[i];
        const struct dbio_stream *stream = &kit->streams[i];

        snprintf(text, sizeof text,
                 "stream %u of %u: gap %llu nr %lld depth %u think %llu start %llu stop %lld flags %u; hba %u x %u, "
                 "%llu; "
                 "room %u, max_iops %g, ops %lld",
                 i, kit->phase.nstreams, (unsigned long long)source->gap_ns, (long long)source->nr, stream->depth,
                 (unsigned long long)stream->think_ns, (unsigned long long)stream->start_ns, (long long)stream->stop_ns,
                 source->flags, kit->hba.ports, kit->hba.max_outstanding, (unsigned long long)kit->hba.max_transfer,
                 kit_backend.room, kit->options.max_iops, (long long)kit->phase.ops);
        return text;
}

static unsigned stream_of(const struct kit_issue *issue)
{
        return (unsigned)(issue->offset / 4096 % 16);
}

static void check_issues(const struct kit *kit)
{
        unsigned cap = kit->hba.max_outstanding * kit->hba.ports;
        uint64_t per_op = kit->hba.max_transfer ? kit->hba.max_transfer : UINT32_MAX, last_ns = 0;

        for (unsigned i = 0; i < kit_nissues; i++) {
                const struct kit_issue *issue = &kit_issues[i];

                ck_assert_uint_ge(issue->t_ns, last_ns);
                last_ns = issue->t_ns;
                ck_assert_uint_lt(issue->t_ns, SECOND + 1000 * LATENCY);
                if (cap)
                        ck_assert_uint_le(issue->inflight, cap);
                ck_assert_uint_le(issue->length, per_op);
                for (unsigned k = i; k-- > 0 && kit_issues[k].call == issue->call;)
                        ck_assert(kit_issues[k].offset + kit_issues[k].length != issue->offset &&
                                  issue->offset + issue->length != kit_issues[k].offset);
        }
}

/* Ops in flight of a stream at any time: those submitted in the last LATENCY. */
static void check_depth(const struct kit *kit, unsigned number)
{
        const struct dbio_stream *stream = &kit->streams[number];
        unsigned oldest = 0, out = 0;

        if (kit->hba.max_transfer || !stream->depth)
                return;
        for (unsigned i = 0; i < kit_nissues; i++) {
                if (stream_of(&kit_issues[i]) != number)
                        continue;
                out++;
                for (; kit_issues[oldest].t_ns + LATENCY <= kit_issues[i].t_ns; oldest++)
                        out -= stream_of(&kit_issues[oldest]) == number;
                ck_assert_uint_le(out, kit->planned[number].flags & DBIO_OP_BARRIER ? 1 : stream->depth);
        }
}

static void check_stream(struct kit *kit, unsigned i)
{
        const struct kit_figures *figures = &kit->figures[i];
        const struct kit_source *source = &kit->planned[i];
        uint64_t limit = kit->streams[i].stop_ns < SECOND ? kit->streams[i].stop_ns : SECOND;

        ck_assert_uint_eq(figures->errors, 0);
        ck_assert_uint_eq(figures->bytes, figures->ios * source->length);
        ck_assert_uint_eq(figures->service.count, figures->ios);
        ck_assert_uint_eq(figures->ios + kit->result.unissued[i], kit->result.due[i]);
        ck_assert_uint_eq(figures->wait.sum_ns + figures->service.sum_ns, figures->response.sum_ns);
        ck_assert_uint_ge(figures->wait.sum_ns, figures->hba_wait_ns);
        if (!kit->hba.max_transfer)
                ck_assert_uint_eq(figures->service.sum_ns, figures->ios * LATENCY);
        /* on this clock the generator itself is never late, unless the backend was full */
        if (!kit_backend.room)
                ck_assert_msg(!figures->lag.max_ns, "lag %llu of %s", (unsigned long long)figures->lag.max_ns,
                              kit_text(kit, i));
        ck_assert(source->finished);
        if (source->gap_ns && source->nr == UINT64_MAX && kit->phase.ops == UINT64_MAX) {
                uint64_t span = limit > kit->streams[i].start_ns ? limit - kit->streams[i].start_ns : 0;

                ck_assert_uint_eq(kit->result.due[i], (span + source->gap_ns - 1) / source->gap_ns);
        }
        check_depth(kit, i);
}

START_TEST(invariants_hold)
{
        for (uint64_t seed = 1; seed <= 300; seed++) {
                struct kit *kit = draw_kit(seed);
                uint64_t ios = 0, commands = 0;

                ck_assert_msg(!kit_run(kit), "seed %u: %s", (unsigned)seed, kit->err.message);
                check_issues(kit);
                for (unsigned i = 0; i < kit->phase.nstreams; i++) {
                        check_stream(kit, i);
                        ios += kit->figures[i].ios;
                        commands += kit->figures[i].ios + kit->figures[i].splits;
                }
                ck_assert_uint_eq(commands, kit_nissues);
                if (kit->phase.ops != UINT64_MAX)
                        ck_assert_uint_le(ios, kit->phase.ops);
                if (kit->hba.max_outstanding)
                        ck_assert_uint_le(kit->result.outstanding.peak, kit->hba.max_outstanding);
                if (kit->options.max_iops > 0)
                        ck_assert_double_le((double)ios, kit->options.max_iops * 1.003 + 2);
                kit_release(kit);
        }
}
END_TEST

START_TEST(twice_the_same_is_the_same)
{
        static struct kit_issue first[KIT_LOG];

        for (uint64_t seed = 1; seed <= 30; seed++) {
                struct kit *kit = draw_kit(seed);
                unsigned n;

                kit_run(kit);
                n = kit_nissues;
                memcpy(first, kit_issues, n * sizeof *first);
                kit_release(kit);
                kit = draw_kit(seed);
                kit_run(kit);
                ck_assert_uint_eq(kit_nissues, n);
                ck_assert_int_eq(memcmp(first, kit_issues, n * sizeof *first), 0);
                kit_release(kit);
        }
}
END_TEST

TEST_MAIN("pacing", invariants_hold, twice_the_same_is_the_same)
