/* Rings and figures of one worker. Expected values are sums over the values put in. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "engine/metrics.h"
#include "engine/ring.h"

#define SECOND 1000000000u

START_TEST(ring_gives_back_what_was_put_in)
{
        struct dbio_ring ring;
        uint32_t written = 0, read = 0, x = 1;

        ck_assert_int_eq(dbio_ring_init(&ring, 4096), 0);
        while (read < 20000) {
                x = x * 1664525 + 1013904223;
                size_t size = 4 + (x >> 20) % 900;
                unsigned char *at = x & 0x80000000 ? dbio_ring_reserve(&ring, size, 64) : NULL;

                if (at) {
                        memset(at, (int)(written & 255), size);
                        memcpy(at, &written, 4);
                        written++;
                        dbio_ring_commit(&ring, size);
                }
                const unsigned char *got = x & 0x40000000 ? dbio_ring_oldest(&ring, &size) : NULL;

                if (got) {
                        uint32_t number;

                        memcpy(&number, got, 4);
                        ck_assert_uint_eq(number, read);
                        for (size_t i = 4; i < size; i++)
                                ck_assert_uint_eq(got[i], read & 255);
                        read++;
                        dbio_ring_release_oldest(&ring);
                }
        }
        ck_assert_uint_ge(written, read);
        while (dbio_ring_reserve(&ring, 64, 0))
                dbio_ring_commit(&ring, 64);
        ck_assert_ptr_null(dbio_ring_reserve(&ring, 64, 0));
        dbio_ring_release(&ring);
}
END_TEST

struct sums {
        uint64_t ios, bytes, errors, service_ns, response_ns, wait_ns, lag_ns, records, counts, commits;
        uint64_t by_mask[4], last_t_ns, begins, ends, gauges;
        double gauge;
};

static void add_up(void *user, const struct dbio_record *record)
{
        struct sums *sums = user;

        if (record->type == DBIO_RECORD_EPISODE_BEGIN)
                sums->begins++;
        if (record->type == DBIO_RECORD_EPISODE)
                sums->ends++;
        if (record->type == DBIO_RECORD_GAUGE) {
                sums->gauges++;
                sums->gauge = record->gauge.value;
        }
        if (record->type != DBIO_RECORD_INTERVAL)
                return;
        sums->records++;
        sums->last_t_ns = record->interval.t_ns;
        if (record->interval.kind == DBIO_COMMIT) {
                sums->commits += record->interval.ios;
                return;
        }
        sums->ios += record->interval.ios;
        sums->bytes += record->interval.bytes;
        sums->errors += record->interval.errors;
        sums->service_ns += record->interval.service->sum_ns;
        sums->response_ns += record->interval.response->sum_ns;
        sums->wait_ns += record->interval.wait->sum_ns;
        sums->lag_ns += record->interval.lag->sum_ns;
        sums->by_mask[record->interval.mask & 3] += record->interval.ios;
        for (unsigned i = 0; i < DBIO_HIST_COUNTS; i++)
                sums->counts += record->interval.service->counts[i];
}

static struct dbio_stream streams[2];
static struct dbio_phase phase = {.nstreams = 2, .streams = streams};
static struct dbio_beacon beacons[2];
static _Atomic uint64_t read_bytes[2][8];

static struct dbio_metrics *make(size_t ring_bytes)
{
        beacons[0].read_bytes = read_bytes[0];
        beacons[1].read_bytes = read_bytes[1];
        streams[1].flags = DBIO_STREAM_EPISODES;
        return dbio_metrics_new(&(struct dbio_metrics_config){
                .phase = &phase, .beacons = beacons, .nworkers = 2, .worker = 0, .interval_ns = SECOND,
                .ring_bytes = ring_bytes, .scale_time = 1});
}

static void op(struct dbio_metrics *metrics, uint64_t completed, uint64_t service)
{
        struct dbio_figures *figures = dbio_metrics_figures(metrics, 0, DBIO_READ, DBIO_ROLE_IO);

        dbio_metrics_submitted(figures);
        dbio_metrics_op(metrics, figures, &(struct dbio_stamps){
                .intended_ns = completed - service - 30, .ready_ns = completed - service - 10,
                .submitted_ns = completed - service, .completed_ns = completed, .length = 8192});
}

START_TEST(sums_over_the_series_are_the_totals)
{
        struct dbio_metrics *metrics = make(1 << 20);
        struct sums sums = {0};
        uint64_t service_ns = 0, x = 1, t = SECOND;

        for (unsigned i = 0; i < 100000; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                t += x >> 44;
                uint64_t service = 1000 + (x >> 20) % 900000;

                service_ns += service;
                if (dbio_metrics_advance(metrics, t))
                        dbio_metrics_drain(metrics, add_up, &sums);
                op(metrics, t, service);
        }
        dbio_metrics_finish(metrics);
        dbio_metrics_drain(metrics, add_up, &sums);
        ck_assert_uint_eq(sums.ios, 100000);
        ck_assert_uint_eq(sums.counts, 100000);
        ck_assert_uint_eq(sums.bytes, 100000ull * 8192);
        ck_assert_uint_eq(sums.service_ns, service_ns);
        ck_assert_uint_eq(sums.response_ns, service_ns + 3000000);
        ck_assert_uint_eq(sums.wait_ns, 3000000);
        ck_assert_uint_eq(sums.lag_ns, 1000000);
        ck_assert_uint_eq(sums.last_t_ns, t - t % SECOND);
        ck_assert_uint_eq(dbio_metrics_lag(metrics)->count, 100000);
        ck_assert_uint_eq(dbio_metrics_late(metrics), 0);
        ck_assert_uint_eq(dbio_report_read_bytes_of(dbio_metrics_report(metrics, 1), 0), 100000ull * 8192);
        dbio_metrics_free(metrics);
}
END_TEST

START_TEST(a_full_ring_loses_nothing)
{
        struct dbio_metrics *metrics = make(1 << 15);
        struct sums sums = {0};

        for (unsigned i = 0; i < 1000; i++) {
                dbio_metrics_advance(metrics, (i + 1) * (uint64_t)SECOND);
                for (unsigned k = 0; k < 50; k++)
                        op(metrics, (i + 1) * (uint64_t)SECOND, 1000 + k * 200);
        }
        ck_assert_uint_gt(dbio_metrics_late(metrics), 0);
        dbio_metrics_drain(metrics, add_up, &sums);
        ck_assert_uint_lt(sums.ios, 50000);
        dbio_metrics_finish(metrics);
        dbio_metrics_drain(metrics, add_up, &sums);
        ck_assert_uint_eq(sums.ios, 50000);
        ck_assert_uint_eq(sums.counts, 50000);
        dbio_metrics_free(metrics);
}
END_TEST

START_TEST(episodes_cut_records)
{
        struct dbio_metrics *metrics = make(1 << 20);
        struct dbio_report *report = dbio_metrics_report(metrics, 1);
        struct sums sums = {0};

        op(metrics, 5000, 100);
        dbio_report_episode_begin(report, 1, 6000);
        op(metrics, 7000, 100);
        op(metrics, 7000, 100);
        dbio_report_episode_end(report, &(struct dbio_episode){.episode = 1, .begin_ns = 6000, .end_ns = 7000});
        op(metrics, 8000, 100);
        dbio_report_gauge(report, "target", 8000, 1);
        dbio_report_gauge(report, "target", 9000, 2);
        dbio_report_commit(report, 100, 200, 300, 10);
        /* another worker's episode */
        beacons[1].episodes = 2;
        dbio_metrics_advance(metrics, 9000);
        op(metrics, 9000, 100);
        dbio_metrics_finish(metrics);
        dbio_metrics_drain(metrics, add_up, &sums);
        ck_assert_uint_eq(sums.by_mask[0], 2);
        ck_assert_uint_eq(sums.by_mask[1], 2);
        ck_assert_uint_eq(sums.by_mask[2], 1);
        ck_assert_uint_eq(sums.begins, 1);
        ck_assert_uint_eq(sums.ends, 1);
        ck_assert_uint_eq(sums.gauges, 1);
        ck_assert_double_eq(sums.gauge, 2);
        ck_assert_uint_eq(sums.commits, 1);
        dbio_metrics_free(metrics);
}
END_TEST

TEST_MAIN("metrics", ring_gives_back_what_was_put_in, sums_over_the_series_are_the_totals, a_full_ring_loses_nothing,
          episodes_cut_records)
