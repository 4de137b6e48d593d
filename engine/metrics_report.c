/* What sources tell a worker besides their ops: commits, episodes, gauges. Their times are the stream's and become the
 * phase's here. */
#include "engine/metrics_inside.h"

#include <math.h>
#include <stdatomic.h>

static uint64_t phase_time(const struct dbio_metrics_report *report, uint64_t stream_ns)
{
        double scale = report->metrics->config.scale_time;

        return report->start_ns + (scale == 1 ? stream_ns : (uint64_t)ceil((double)stream_ns * scale)); /* as the pacer has it */
}

static void take_commit(struct dbio_report *base, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns,
                        uint32_t bytes)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        struct dbio_metrics *metrics = report->metrics;
        struct dbio_figures *figures = dbio_metrics_figures(metrics, report->stream, DBIO_COMMIT, DBIO_ROLE_LOG);
        uint64_t arrived = phase_time(report, arrived_ns), submitted = phase_time(report, submitted_ns),
                 durable = phase_time(report, durable_ns);

        dbio_figures_touch(metrics, figures);
        figures->bytes += bytes;
        dbio_hist_add(&figures->service, durable > submitted ? durable - submitted : 0);
        dbio_hist_add(&figures->response, durable > arrived ? durable - arrived : 0);
        dbio_hist_add(&figures->wait, submitted > arrived ? submitted - arrived : 0);
}

static void take_commits_lost(struct dbio_report *base, uint64_t failed, uint64_t left)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        struct dbio_figures *figures = dbio_metrics_figures(report->metrics, report->stream, DBIO_COMMIT, DBIO_ROLE_LOG);

        dbio_figures_touch(report->metrics, figures);
        figures->errors += failed;
        figures->unissued += left;
}

static void set_running(struct dbio_metrics_report *report)
{
        struct dbio_metrics *metrics = report->metrics;
        _Atomic uint32_t *episodes = &metrics->config.beacons[metrics->config.worker].episodes;
        uint32_t mask = atomic_load_explicit(episodes, memory_order_relaxed);

        mask = report->running ? mask | report->bit : mask & ~report->bit;
        atomic_store_explicit(episodes, mask, memory_order_relaxed);
        dbio_metrics_look_at_episodes(metrics);
}

static void take_episode_begin(struct dbio_report *base, uint32_t episode, uint64_t begin_ns)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        struct dbio_record record = {.type = DBIO_RECORD_EPISODE_BEGIN, .stream = report->stream};

        record.begin.episode = episode;
        record.begin.begin_ns = phase_time(report, begin_ns);
        dbio_metrics_event(report->metrics, &record);
        report->running++;
        set_running(report);
}

static void take_episode_end(struct dbio_report *base, const struct dbio_episode *episode)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        struct dbio_record record = {.type = DBIO_RECORD_EPISODE, .stream = report->stream, .episode = *episode};

        record.episode.begin_ns = phase_time(report, episode->begin_ns);
        if (episode->end_ns != UINT64_MAX)
                record.episode.end_ns = phase_time(report, episode->end_ns);
        dbio_metrics_event(report->metrics, &record);
        if (report->running)
                report->running--;
        set_running(report);
}

static void take_gauge(struct dbio_report *base, const char *name, uint64_t now_ns, double value)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        for (unsigned i = 0; i < DBIO_GAUGES; i++) {
                struct dbio_gauge *gauge = &report->gauges[i];

                if (gauge->name && gauge->name != name)
                        continue;
                *gauge = (struct dbio_gauge){name, phase_time(report, now_ns), value, true};
                return;
        }
}

static uint64_t take_read_bytes_of(struct dbio_report *base, unsigned stream)
{
        struct dbio_metrics_report *report = (struct dbio_metrics_report *)base;
        struct dbio_metrics *metrics = report->metrics;
        uint64_t bytes = 0;

        for (unsigned i = 0; i < metrics->config.nworkers; i++)
                if (metrics->config.beacons[i].read_bytes)
                        bytes += atomic_load_explicit(&metrics->config.beacons[i].read_bytes[stream], memory_order_relaxed);
        return bytes;
}

const struct dbio_report_class dbio_metrics_report_class = {
        .commit = take_commit,
        .commits_lost = take_commits_lost,
        .episode_begin = take_episode_begin,
        .episode_end = take_episode_end,
        .gauge = take_gauge,
        .read_bytes_of = take_read_bytes_of,
};
