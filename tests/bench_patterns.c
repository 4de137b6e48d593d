/* What generating ops costs, on one core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "patterns/gather.h"
#include "patterns/workload.h"

static double seconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void random_reads(const char *label, struct dbio_skew skew, double rate)
{
        const struct dbio_pattern *pattern = dbio_pattern_find("sqlserver.random_read");
        struct dbio_geometry geometry = {1ull << 40, 1, 512};
        unsigned page = 8192;
        struct dbio_pattern_env env = {.phase = "p", .stream = "s", .seed = 1, .duration_ns = UINT64_MAX, .ntargets = 1,
                                       .targets = &geometry, .pages = &page};
        struct dbio_stream_keys keys = {.threads = 1, .depth = DBIO_UNSET, .rate = {rate, false}, .after = -1,
                                        .region = {{.share = 0}, {.share = 1}}, .skew = skew, .stop_ns = DBIO_UNSET};
        struct dbio_stream out = {0};
        struct dbio_err err = {0};
        struct dbio_op ops[64];
        uint64_t n = 0, sum = 0;
        void *config = calloc(1, pattern->config_size);

        dbio_fields_parse(pattern->fields, NULL, NULL, config, &err);
        if (pattern->compile(&env, &keys, config, &out, &err)) {
                fprintf(stderr, "%s\n", err.message);
                exit(1);
        }
        double start = seconds();
        while (n < 10000000) {
                n += out.sources[0]->class->fill(out.sources[0], 0, ops, 64);
                sum += ops[0].offset;
        }
        double took = seconds() - start;
        printf("%-44s %6.1f million ops/s%s\n", label, (double)n / took / 1e6, sum ? "" : " ");
        out.sources[0]->class->free(out.sources[0]);
        free(out.sources);
        free(config);
}

static void checkpoint(const char *label, int kind, bool hash)
{
        struct dbio_space space = {0, 1ull << 40, 1ull << 40};
        struct dbio_dirty_keys keys = {.map = kind, .density = NAN, .pages_per_write = NAN, .stride = 2};
        struct dbio_skew skew = {0};
        uint64_t pages = space.to / 8192 / 10, writes = 0, page;
        struct dbio_dirty_plan plan = {&keys, &skew, pages, 0, NAN, 1, 2, 3};
        struct dbio_dirty_map map = {0};
        struct dbio_dirty_maker maker;
        struct dbio_sweep sweep;
        struct dbio_err err = {0};
        int more;

        dbio_dirty_map_init(&map, &space, 8192, &err);
        dbio_dirty_maker_init(&maker, &map, &plan, &err);
        double start = seconds();
        dbio_dirty_maker_begin(&maker, pages);
        while (!dbio_dirty_maker_step(&maker, 4096))
                ;
        double made = seconds();
        dbio_sweep_begin(&sweep, &map, hash, 1);
        while ((more = dbio_sweep_next(&sweep, 65536, &page)))
                if (more > 0) {
                        dbio_gather_take(&map, page, 32);
                        writes++;
                }
        double took = seconds() - made;
        printf("%-44s %6.1f million ops/s, %.1f with making the map (%.0f ms), mean %.2f pages\n", label,
               (double)writes / took / 1e6, (double)writes / (took + made - start) / 1e6, (made - start) * 1e3,
               (double)pages / (double)writes);
        dbio_dirty_map_release(&map);
}

/* The whole pattern: map, sweep, governor, completions. Time as it is asked for: no write takes any. */
static void whole_checkpoint(const char *label)
{
        static const char text[] = "name: b\ntargets: {data: {size: 1TiB}}\n"
                                   "streams: {c: {pattern: sqlserver.checkpoint, target: data, version: 2008, every: 1s,\n"
                                   " pages: 13_421_772, dirty: {map: extents}}}\n"
                                   "phases: [{name: p, duration: 1h}]\n";
        struct dbio_geometry geometry = {1ull << 40, 1, 512};
        struct dbio_workload workload;
        struct dbio_schedule *schedule;
        struct dbio_phase phase;
        struct dbio_err err = {0};
        struct dbio_op ops[64];
        uint64_t now = 1000000000, n = 0;

        if (dbio_workload_load_text(&workload, "bench", text, sizeof text - 1, NULL, 0, &err) ||
            dbio_workload_compile(&workload, &geometry, &schedule, &err) || schedule->phase_open(schedule, 0, &phase, &err)) {
                fprintf(stderr, "%s\n", err.message);
                exit(1);
        }
        struct dbio_source *source = phase.streams[0].sources[0];
        source->report = &dbio_report_none;
        double start = seconds();
        while (n < 4000000) {
                unsigned got = source->class->fill(source, now, ops, 64);
                struct dbio_done done = {now, now, now, 0, 0};

                for (unsigned i = 0; i < got; i++)
                        source->class->done(source, &ops[i], &done);
                n += got;
                if (!got && source->class->wake(source) > now)
                        now = source->class->wake(source);
        }
        double took = seconds() - start;
        printf("%-44s %6.1f million ops/s\n", label, (double)n / took / 1e6);
        schedule->phase_close(schedule, &phase);
        schedule->free(schedule);
        dbio_workload_release(&workload);
}

int main(void)
{
        random_reads("random reads, uniform, closed loop", (struct dbio_skew){DBIO_SKEW_UNIFORM, 0, 0, 0}, NAN);
        random_reads("random reads, uniform, poisson", (struct dbio_skew){DBIO_SKEW_UNIFORM, 0, 0, 0}, 1000);
        random_reads("random reads, zipf 0.99, closed loop", (struct dbio_skew){DBIO_SKEW_ZIPF, 0.99, 0, 0}, NAN);
        checkpoint("checkpoint, 1 TiB, 10 % dirty, extents", DBIO_DIRTY_EXTENTS, false);
        checkpoint("checkpoint, 1 TiB, 10 % dirty, pages", DBIO_DIRTY_PAGES, false);
        checkpoint("checkpoint, 1 TiB, 10 % dirty, extents, hash", DBIO_DIRTY_EXTENTS, true);
        whole_checkpoint("checkpoint, 1 TiB, 10 % dirty, whole pattern");
        return 0;
}
