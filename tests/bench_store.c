/* An hour of 8 streams, a record a second each, with a histogram of service times each second: what the store takes in
 * time and on disk, and how long show takes. Times are log-normal, sigma 0.6 about 5 ms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/recorder.h"
#include "results/show.h"

#define SECONDS 3600u
#define STREAMS 8u
#define OPS 1000u
#define EPISODE_EVERY 60u
#define EPISODE_S 10u

static struct dbio_hist hists[4];

static double now_s(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* xorshift64*; the sum of 12 uniform values less 6 is close enough to normal. */
static double normal(void)
{
        static uint64_t x = 88172645463325252ull;
        double sum = 0;

        for (int i = 0; i < 12; i++) {
                x ^= x >> 12;
                x ^= x << 25;
                x ^= x >> 27;
                sum += (double)((x * 2685821657736338717ull) >> 11) / 9007199254740992.0;
        }
        return sum - 6;
}

static void feed(struct dbio_recorder *rec, unsigned stream, unsigned second)
{
        struct dbio_record r = {.type = DBIO_RECORD_INTERVAL, .stream = stream};

        for (int h = 0; h < 4; h++)
                dbio_hist_reset(&hists[h]);
        for (unsigned i = 0; i < OPS; i++) {
                uint64_t service = (uint64_t)(5e6 * exp(0.6 * normal()));

                dbio_hist_add(&hists[0], service);
                dbio_hist_add(&hists[1], service + 1000);
                dbio_hist_add(&hists[2], 1000);
                dbio_hist_add(&hists[3], 1000);
        }
        r.interval.kind = DBIO_READ;
        r.interval.role = DBIO_ROLE_DATA_READ;
        r.interval.mask = second % EPISODE_EVERY < EPISODE_S;
        r.interval.t_ns = second * 1000000000ull;
        r.interval.ios = OPS;
        r.interval.bytes = OPS * 8192ull;
        r.interval.service = &hists[0];
        r.interval.response = &hists[1];
        r.interval.wait = &hists[2];
        r.interval.lag = &hists[3];
        dbio_recorder_take(rec, &r);
}

static double record_hour(struct dbio_store *store, struct dbio_err *err)
{
        static const char *const names[STREAMS] = {"checkpoint", "a", "b", "c", "d", "e", "f", "g"};
        struct dbio_stream streams[STREAMS];
        struct dbio_phase phase = {.name = "hour", .record = true, .nstreams = STREAMS, .streams = streams};
        uint64_t zeros[STREAMS] = {0};
        static struct dbio_phase_result result;
        struct dbio_recorder_options options = {.interval_ns = 1000000000, .full_intervals = true};
        struct dbio_recorder *rec = NULL;
        double spent = 0;

        for (unsigned s = 0; s < STREAMS; s++)
                streams[s] = (struct dbio_stream){.name = names[s], .pattern = s ? "io.random" : "sqlserver.checkpoint",
                                                  .flags = s ? 0 : DBIO_STREAM_EPISODES};
        result.due = result.unissued = zeros;
        result.duration_ns = SECONDS * 1000000000ull;
        if (dbio_store_run_begin(store, &(struct dbio_run_info){.label = "bench", .engine = "null"}, &options.run_id, NULL,
                                 err) ||
            dbio_recorder_open(&rec, store, &phase, &options, err))
                return -1;
        for (unsigned second = 0; second < SECONDS; second++) {
                for (unsigned s = 0; s < STREAMS; s++)
                        feed(rec, s, second);
                if (second % EPISODE_EVERY == EPISODE_S) {
                        struct dbio_record r = {.type = DBIO_RECORD_EPISODE};

                        r.episode = (struct dbio_episode){.episode = second / EPISODE_EVERY + 1,
                                                          .begin_ns = (second - EPISODE_S) * 1000000000ull,
                                                          .end_ns = second * 1000000000ull, .pages = 1, .writes = 1};
                        dbio_recorder_take(rec, &r);
                }
                double before = now_s();
                if (dbio_recorder_tick(rec, (second + 1) * 1000000000ull, err))
                        return -1;
                spent += now_s() - before;
        }
        double before = now_s();
        if (dbio_recorder_finish(rec, &result, err))
                return -1;
        spent += now_s() - before;
        dbio_recorder_close(rec);
        return spent;
}

int main(void)
{
        char path[] = "/tmp/dbio-bench-XXXXXX", side[64];
        struct dbio_store *store = NULL;
        struct dbio_err err = {0};
        struct dbio_runs runs = {0};
        struct dbio_show_options options = {0};
        struct stat st;
        FILE *null = fopen("/dev/null", "w");
        int fd = mkstemp(path), code = 1;

        close(fd);
        if (!null || dbio_store_open(&store, path, DBIO_STORE_CREATE, &err))
                goto out;
        double spent = record_hour(store, &err);
        if (spent < 0 || dbio_runs_find(store, "bench", &runs, &err))
                goto out;
        double before = now_s();
        if (dbio_show_text(store, &runs, &options, null, &err))
                goto out;
        double shown = now_s() - before;
        dbio_store_close(store); /* the last to close folds the journal in */
        store = NULL;
        stat(path, &st);
        printf("store: an hour of %u streams with histograms: %.2f s of writing, %.1f MiB (aim 40), show %.3f s (aim 0.2)\n",
               STREAMS, spent, (double)st.st_size / 1048576, shown);
        code = 0;
out:
        if (code)
                fprintf(stderr, "%s\n", err.message);
        dbio_runs_release(&runs);
        dbio_store_close(store);
        unlink(path);
        snprintf(side, sizeof side, "%s-wal", path);
        unlink(side);
        snprintf(side, sizeof side, "%s-shm", path);
        unlink(side);
        return code;
}
