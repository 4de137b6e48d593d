/* What dbio itself costs and how punctual it is: 8K random reads on the null engine, everything recorded.
 *
 * ns per op at depth 1 and 32 (aims: 150 and 100; fio 3.33's null engine takes 180 and 268 on the machine of the
 * project's measurements), then lag and CPU at fixed rates by pacing, and how far the end is from the schedule's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/run.h"

struct reads {
        struct dbio_source source;
        uint64_t state, next, gap_ns;
};

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct reads *reads = (struct reads *)source;

        (void)now_ns;
        for (unsigned i = 0; i < max; i++) {
                reads->state ^= reads->state << 13;
                reads->state ^= reads->state >> 7;
                reads->state ^= reads->state << 17;
                ops[i] = (struct dbio_op){.offset = reads->state % (1u << 23) * 8192, .length = 8192,
                                          .kind = DBIO_READ, .role = DBIO_ROLE_DATA_READ,
                                          .due_ns = reads->gap_ns ? reads->next++ * reads->gap_ns : DBIO_NO_DUE};
        }
        return max;
}

static const struct dbio_source_class class = {.fill = fill};

static struct dbio_phase phase;

static int open_phase(struct dbio_schedule *schedule, unsigned number, struct dbio_phase *out, struct dbio_err *err)
{
        (void)schedule;
        (void)number;
        (void)err;
        *out = phase;
        return 0;
}

static void close_phase(struct dbio_schedule *schedule, struct dbio_phase *open)
{
        (void)schedule;
        (void)open;
}

static uint64_t ios;

static void take(void *user, const struct dbio_record *record)
{
        (void)user;
        if (record->type == DBIO_RECORD_INTERVAL)
                ios += record->interval.ios;
}

static void tick(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns)
{
        (void)elapsed_ns;
        for (unsigned i = 0; i < nr; i++)
                dbio_metrics_drain(metrics[i], take, user);
}

static double cpu_s(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One stream; gap 0 = closed loop. Returns the CPU seconds of the phase. */
static double run(unsigned depth, uint64_t gap_ns, enum dbio_pacing pacing, uint64_t duration_ns,
                  struct dbio_phase_result *result)
{
        struct reads reads = {.source.class = &class, .state = 88172645463325252u, .gap_ns = gap_ns};
        struct dbio_source *sources[] = {&reads.source};
        struct dbio_stream stream = {.name = "reads", .pattern = "bench", .threads = 1, .nsources = 1,
                                     .sources = sources, .depth = depth, .stop_ns = UINT64_MAX, .max_length = 8192,
                                     .flags = DBIO_STREAM_ENDLESS | (gap_ns ? DBIO_STREAM_TIMED : 0u), .nuses = 1,
                                     .uses = {{.reads = true}}};
        struct dbio_schedule schedule = {.ntargets = 1, .nphases = 1, .phase_open = open_phase,
                                         .phase_close = close_phase};
        struct dbio_file file = {.fd = -1, .sector = 512};
        struct dbio_target target = {.name = "data", .geometry = {1ull << 40, 1, 512}};
        struct dbio_targets targets = {.n = 1, .targets = &target, .nfiles = 1, .io_files = &file};
        struct dbio_run_options options = {.backend = dbio_backend_find("null"), .workers = 1, .pacing = pacing,
                                           .interval_ns = 1000000000u, .timeout_ns = 30000000000u, .scale_time = 1,
                                           .null_payload = true};
        struct dbio_run *open = NULL;
        struct dbio_err err = {0};

        phase = (struct dbio_phase){.name = "bench", .duration_ns = duration_ns, .ops = UINT64_MAX, .nstreams = 1,
                                    .streams = &stream};
        ios = 0;
        if (dbio_run_open(&open, &schedule, &targets, &options, &err)) {
                fprintf(stderr, "%s\n", err.message);
                exit(1);
        }
        double before = cpu_s();

        if (dbio_run_phase(open, &phase, tick, NULL, result, &err)) {
                fprintf(stderr, "%s\n", err.message);
                exit(1);
        }
        double used = cpu_s() - before;

        dbio_run_close(open);
        return used;
}

static void cost(unsigned depth)
{
        struct dbio_phase_result result;
        double best = 1e9;

        for (unsigned i = 0; i < 3; i++) {
                double ns = run(depth, 0, DBIO_PACING_PRECISE, 400000000u, &result) * 1e9 / (double)ios;

                best = ns < best ? ns : best;
                dbio_phase_result_release(&result);
        }
        printf("null, depth %-3u                 %6.1f ns CPU per op, all figures recorded\n", depth, best);
}

static void punctuality(uint64_t rate, enum dbio_pacing pacing, const char *name)
{
        struct dbio_phase_result result;
        const uint64_t duration_ns = 1000000000u;
        double cpu = run(0, 1000000000u / rate, pacing, duration_ns, &result);
        double span = (double)duration_ns - 1e9 / (double)rate;

        printf("null, %6llu/s, %-9s        lag p50 %5.1f  p99 %6.1f  max %7.1f us, %3.0f %% of a core, end %+.4f %%\n",
               (unsigned long long)rate, name, (double)dbio_hist_percentile(&result.lag, 0.5) / 1e3,
               (double)dbio_hist_percentile(&result.lag, 0.99) / 1e3, (double)result.lag.max_ns / 1e3,
               cpu / (double)duration_ns * 1e11, ((double)result.duration_ns - span) / span * 100);
        dbio_phase_result_release(&result);
}

int main(void)
{
        static const char *const names[] = {"precise", "balanced", "frugal"};
        static const uint64_t rates[] = {1000, 10000, 50000, 100000};

        cost(1);
        cost(32);
        for (unsigned i = 0; i < 4; i++)
                for (int pacing = DBIO_PACING_PRECISE; pacing <= DBIO_PACING_FRUGAL; pacing++)
                        punctuality(rates[i], (enum dbio_pacing)pacing, names[pacing]);
        return 0;
}
