#include "engine/stream.h"

static const struct dbio_report_class none_class;

struct dbio_report dbio_report_none = {.class = &none_class};

void dbio_report_commit(struct dbio_report *report, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns,
                        uint32_t bytes)
{
        if (report->class->commit)
                report->class->commit(report, arrived_ns, submitted_ns, durable_ns, bytes);
}

void dbio_report_commits_lost(struct dbio_report *report, uint64_t failed, uint64_t left)
{
        if (report->class->commits_lost)
                report->class->commits_lost(report, failed, left);
}

void dbio_report_episode_begin(struct dbio_report *report, uint32_t episode, uint64_t begin_ns)
{
        if (report->class->episode_begin)
                report->class->episode_begin(report, episode, begin_ns);
}

void dbio_report_episode_end(struct dbio_report *report, const struct dbio_episode *episode)
{
        if (report->class->episode_end)
                report->class->episode_end(report, episode);
}

void dbio_report_gauge(struct dbio_report *report, const char *name, uint64_t now_ns, double value)
{
        if (report->class->gauge)
                report->class->gauge(report, name, now_ns, value);
}

uint64_t dbio_report_read_bytes_of(struct dbio_report *report, unsigned stream)
{
        return report->class->read_bytes_of ? report->class->read_bytes_of(report, stream) : 0;
}
