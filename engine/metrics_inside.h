/* What metrics.c and metrics_report.c share; nobody else includes it. */
#ifndef DBIO_ENGINE_METRICS_INSIDE_H
#define DBIO_ENGINE_METRICS_INSIDE_H

#include "engine/metrics.h"
#include "engine/ring.h"

#define DBIO_GAUGES 8   /* names of gauges a stream may report */
#define DBIO_FIGURES 16 /* pairs of kind and role a stream may have */
#define DBIO_BACKLOG 64 /* events that may wait for room in the ring */

struct dbio_figures {
        uint32_t stream, mask;
        uint8_t kind, role;
        bool active; /* has something in the running interval */
        uint32_t inflight, depth_peak;
        uint64_t bytes, errors, unissued, failed_ns, failed_bytes, splits, hba_waits, hba_wait_ns;
        struct dbio_hist service, response, wait, lag;
};

struct dbio_gauge {
        const char *name;
        uint64_t t_ns;
        double value;
        bool is_set;
};

/* A source's line to the outside, one a stream and worker. */
struct dbio_metrics_report {
        struct dbio_report base;
        struct dbio_metrics *metrics;
        unsigned stream;
        uint64_t start_ns; /* the stream's, from the phase's */
        uint32_t bit;      /* of the mask; 0 where it has no episodes */
        unsigned running;  /* episodes */
        struct dbio_gauge gauges[DBIO_GAUGES];
};

struct dbio_metrics {
        struct dbio_metrics_config config;
        unsigned nstreams;
        uint64_t interval_start_ns, interval_end_ns;
        uint32_t mask;
        unsigned nactive, nbacklog;
        struct dbio_figures **active;
        struct dbio_figures *figures;  /* DBIO_FIGURES a stream */
        uint8_t *index;                /* [stream][kind][role]: 1 + number of its figures, 0 = none yet */
        uint8_t *used;                 /* per stream */
        struct dbio_metrics_report *reports; /* per stream */
        uint64_t late;
        struct dbio_hist lag;
        struct dbio_ring ring;
        struct dbio_record backlog[DBIO_BACKLOG];
        struct dbio_hist scratch[4];   /* the reader's */
        size_t mapped_bytes;
};

extern const struct dbio_report_class dbio_metrics_report_class;

/* Puts an event (not an interval) into the ring. */
void dbio_metrics_event(struct dbio_metrics *metrics, const struct dbio_record *record);
/* Closes the running records where the mask of running episodes is another one. */
void dbio_metrics_look_at_episodes(struct dbio_metrics *metrics);
void dbio_figures_touch(struct dbio_metrics *metrics, struct dbio_figures *figures);

#endif
