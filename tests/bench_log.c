/* What a commit costs, on one core: arrival, packing, flush, durable. The device takes 1 ms and no time of ours. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "patterns/logblocks.h"
#include "patterns/logtail.h"

static double seconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Ten virtual seconds, a call of fill each millisecond, whose ops are done at the next. */
static void drive(const char *label, struct dbio_stream *out, double rate)
{
        struct dbio_source *source = out->sources[0];
        struct dbio_op ops[256];
        uint64_t flushes = 0;
        double start = seconds(), took;

        source->report = &dbio_report_none;
        for (uint64_t now = 0; now < 10000000000u; now += 1000000) {
                unsigned n = source->class->fill(source, now, ops, 256);

                for (unsigned i = 0; i < n; i++) {
                        struct dbio_done done = {now, now, now + 1000000, ops[i].length, 1000000};

                        source->class->done(source, &ops[i], &done);
                }
                flushes += n;
        }
        took = seconds() - start;
        printf("%-44s %6.1f million commits/s, %.0f commits an op\n", label, rate * 10 / took / 1e6,
               rate * 10 / (double)flushes);
        source->class->free(source);
        free(out->sources);
}

int main(void)
{
        const double rates[] = {10000, 1000000};
        struct dbio_geometry geometry = {1ull << 33, 1, 512};
        struct dbio_pattern_env env = {
                .phase = "p", .stream = "s", .seed = 1, .duration_ns = UINT64_MAX, .ntargets = 1, .targets = &geometry};
        struct dbio_stream_keys keys = {.nmembers = 1, .region = {{.share = 0}, {.share = 1}}, .after = -1};
        struct dbio_err err = {0};

        for (unsigned i = 0; i < 2; i++) {
                struct dbio_commit_plan plan = {.rate = {rates[i], rates[i], 0},
                                                .bytes = {DBIO_DIST_LOGNORMAL, 400, 0.8}};
                struct dbio_logblocks_spec blocks = {.plan = plan,
                                                     .max_block = 61440,
                                                     .max_outstanding = 112,
                                                     .writers = 1,
                                                     .segments = 8,
                                                     .length = UINT64_MAX};
                struct dbio_logtail_spec tail = {.plan = plan,
                                                 .style = DBIO_LOG_WRITER,
                                                 .role = DBIO_ROLE_LOG,
                                                 .block = 512,
                                                 .header = 16,
                                                 .write_ahead = 8192,
                                                 .ready = 4096,
                                                 .length = UINT64_MAX,
                                                 .segments = 32,
                                                 .part_header = 2048,
                                                 .sync_every = 1};
                struct dbio_stream out = {0};
                char label[64];

                if (dbio_logblocks_compile(&env, &keys, &blocks, &out, &err))
                        return 1;
                snprintf(label, sizeof label, "log blocks, %.0f commits/s", rates[i]);
                drive(label, &out, rates[i]);
                out = (struct dbio_stream){0};
                if (dbio_logtail_compile(&env, &keys, &tail, sizeof(struct dbio_logtail), &out, &err))
                        return 1;
                snprintf(label, sizeof label, "redo log, device view, %.0f commits/s", rates[i]);
                drive(label, &out, rates[i]);
        }
        return 0;
}
