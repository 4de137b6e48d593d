/* Which worker carries what. Expected: the rules of design (groups stay together, the largest load first to the worker
 * that has least), by hand. */
#include "tests/unit.h"

#include "engine/placement.h"

static struct dbio_stream streams[4];
static struct dbio_phase phase = {.streams = streams};

static unsigned worker_of(const struct dbio_placement *placement, unsigned stream, unsigned source)
{
        unsigned found = UINT32_MAX, n = 0;

        for (unsigned w = 0; w < placement->nworkers; w++)
                for (unsigned i = placement->first[w]; i < placement->first[w + 1]; i++)
                        if (placement->lanes[i].stream == stream && placement->lanes[i].source == source) {
                                found = w;
                                n++;
                        }
        ck_assert_uint_eq(n, 1);
        return found;
}

static void stream(unsigned number, unsigned nsources, unsigned group, double load)
{
        streams[number] = (struct dbio_stream){.nsources = nsources, .group = group, .load = load, .depth = 1};
        phase.nstreams = number + 1;
}

START_TEST(free_sources_spread_and_groups_stay_together)
{
        struct dbio_placement placement;
        unsigned count[3] = {0}, group;

        stream(0, 12, 0, 1200);
        stream(1, 3, 7, 300);
        stream(2, 1, 7, 500);
        ck_assert_int_eq(dbio_placement_init(&placement, &phase, 3), 0);
        ck_assert_uint_eq(placement.nworkers, 3);
        group = worker_of(&placement, 2, 0);
        for (unsigned i = 0; i < 3; i++)
                ck_assert_uint_eq(worker_of(&placement, 1, i), group);
        for (unsigned i = 0; i < 12; i++)
                count[worker_of(&placement, 0, i)]++;
        /* 800 of the group and 12 x 100: 666 each cannot be had; the group is alone, the others halve the rest */
        ck_assert_uint_eq(group, 0);
        ck_assert_uint_eq(count[0], 0);
        ck_assert_uint_eq(count[1], 6);
        ck_assert_uint_eq(count[2], 6);
        dbio_placement_release(&placement);
}
END_TEST

START_TEST(never_more_workers_than_units)
{
        struct dbio_placement placement;

        stream(0, 5, 1, 0);
        stream(1, 2, 0, 0);
        ck_assert_int_eq(dbio_placement_init(&placement, &phase, 8), 0);
        ck_assert_uint_eq(placement.nworkers, 3);
        dbio_placement_release(&placement);
        phase.nstreams = 0;
        ck_assert_int_eq(dbio_placement_init(&placement, &phase, 8), 0);
        ck_assert_uint_eq(placement.nworkers, 1);
        ck_assert_uint_eq(placement.first[1], 0);
        dbio_placement_release(&placement);
}
END_TEST

START_TEST(the_same_each_time)
{
        struct dbio_placement one, two;

        stream(0, 40, 0, 0);
        stream(1, 3, 2, 50);
        stream(2, 24, 0, 2400);
        ck_assert_int_eq(dbio_placement_init(&one, &phase, 4), 0);
        ck_assert_int_eq(dbio_placement_init(&two, &phase, 4), 0);
        for (unsigned i = 0; i < 67; i++) {
                ck_assert_uint_eq(one.lanes[i].stream, two.lanes[i].stream);
                ck_assert_uint_eq(one.lanes[i].source, two.lanes[i].source);
        }
        for (unsigned w = 0; w < 4; w++)
                ck_assert_uint_gt(one.first[w + 1], one.first[w]);
        dbio_placement_release(&one);
        dbio_placement_release(&two);
}
END_TEST

TEST_MAIN("placement", free_sources_spread_and_groups_stay_together, never_more_workers_than_units, the_same_each_time)
