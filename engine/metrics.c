#include "engine/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/metrics_inside.h"
#include "engine/varint.h"

#define PAIRS (DBIO_KINDS * DBIO_ROLES)
#define EVENT_RESERVE 16384 /* bytes of the ring that intervals leave to events */

/* An interval in the ring: this, then the four histograms, packed. */
struct packed {
        enum dbio_record_type type;
        uint32_t stream, mask, depth_peak;
        uint8_t kind, role;
        uint64_t t_ns, ios, bytes, errors, unissued, failed_ns, failed_bytes, splits, hba_waits, hba_wait_ns;
};

/* A histogram there: this, then for each bucket from low to high its count as a varint; a 0 is followed by the number
 * of further zeros. */
struct packed_hist {
        uint64_t count, overflow, sum_ns, max_ns;
        double sum_squares;
        uint32_t low, high;
};

static bool has_buckets(const struct dbio_hist *hist)
{
        return hist->count > hist->overflow;
}

/* Of bytes written here, which end. */
static const unsigned char *get_varint(const unsigned char *at, uint64_t *value)
{
        *value = 0;
        for (unsigned shift = 0;; shift += 7) {
                *value |= (uint64_t)(*at & 127) << shift;
                if (!(*at++ & 128))
                        return at;
        }
}

/* Most that pack_hist may take: what a count takes, or two zeros and their number. */
static size_t packed_bound(const struct dbio_hist *hist)
{
        return sizeof(struct packed_hist) + (has_buckets(hist) ? 6 * (size_t)(hist->high - hist->low + 1) : 0);
}

static unsigned char *pack_hist(unsigned char *at, const struct dbio_hist *hist)
{
        struct packed_hist head = {.count = hist->count, .overflow = hist->overflow, .sum_ns = hist->sum_ns,
                                   .max_ns = hist->max_ns, .sum_squares = hist->sum_squares,
                                   .low = hist->low, .high = hist->high};

        memcpy(at, &head, sizeof head);
        at += sizeof head;
        if (!has_buckets(hist))
                return at;
        for (uint32_t i = hist->low; i <= hist->high;) {
                if (hist->counts[i]) {
                        at = dbio_varint_put(at, hist->counts[i++]);
                        continue;
                }
                uint32_t zeros = i;

                /* the highest bucket is not empty */
                while (!hist->counts[i])
                        i++;
                *at++ = 0;
                at = dbio_varint_put(at, i - zeros - 1);
        }
        return at;
}

static const unsigned char *unpack_hist(const unsigned char *at, struct dbio_hist *hist)
{
        struct packed_hist head;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        hist->count = head.count;
        hist->overflow = head.overflow;
        hist->sum_ns = head.sum_ns;
        hist->max_ns = head.max_ns;
        hist->sum_squares = head.sum_squares;
        hist->low = head.low;
        hist->high = head.high;
        if (!has_buckets(hist))
                return at;
        for (uint32_t i = hist->low; i <= hist->high;) {
                uint64_t value;

                at = get_varint(at, &value);
                if (value) {
                        hist->counts[i++] = value;
                } else {
                        at = get_varint(at, &value);
                        i += (uint32_t)value + 1;
                }
        }
        return at;
}

static void *map_zeroed(size_t bytes)
{
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        return memory == MAP_FAILED ? NULL : memory;
}

static void init_reports(struct dbio_metrics *metrics)
{
        const struct dbio_phase *phase = metrics->config.phase;
        unsigned episodic = 0;

        for (unsigned i = 0; i < phase->nstreams; i++) {
                metrics->reports[i].base.class = &dbio_metrics_report_class;
                metrics->reports[i].metrics = metrics;
                metrics->reports[i].stream = i;
                metrics->reports[i].start_ns =
                        (uint64_t)((double)phase->streams[i].start_ns * metrics->config.scale_time);
                if (phase->streams[i].flags & DBIO_STREAM_EPISODES && episodic < DBIO_MAX_EPISODIC)
                        metrics->reports[i].bit = 1u << episodic++;
        }
}

struct dbio_metrics *dbio_metrics_new(const struct dbio_metrics_config *config)
{
        struct dbio_metrics *metrics = aligned_alloc(64, (sizeof *metrics + 63) & ~(size_t)63);
        unsigned n = config->phase->nstreams;

        if (!metrics)
                return NULL;
        memset(metrics, 0, sizeof *metrics);
        metrics->config = *config;
        metrics->nstreams = n;
        metrics->interval_end_ns = config->interval_ns;
        metrics->mapped_bytes = (size_t)n * DBIO_FIGURES * sizeof *metrics->figures;
        metrics->figures = n ? map_zeroed(metrics->mapped_bytes) : NULL;
        metrics->active = calloc((size_t)n * DBIO_FIGURES + 1, sizeof *metrics->active);
        metrics->index = calloc((size_t)n + 1, PAIRS);
        metrics->used = calloc((size_t)n + 1, 1);
        metrics->reports = calloc((size_t)n + 1, sizeof *metrics->reports);
        if ((n && !metrics->figures) || !metrics->active || !metrics->index || !metrics->used || !metrics->reports ||
            dbio_ring_init(&metrics->ring, config->ring_bytes)) {
                dbio_metrics_free(metrics);
                return NULL;
        }
        init_reports(metrics);
        return metrics;
}

void dbio_metrics_free(struct dbio_metrics *metrics)
{
        if (!metrics)
                return;
        if (metrics->figures)
                munmap(metrics->figures, metrics->mapped_bytes);
        free(metrics->active);
        free(metrics->index);
        free(metrics->used);
        free(metrics->reports);
        dbio_ring_release(&metrics->ring);
        free(metrics);
}

struct dbio_report *dbio_metrics_report(struct dbio_metrics *metrics, unsigned stream)
{
        return &metrics->reports[stream].base;
}

uint64_t dbio_metrics_late(const struct dbio_metrics *metrics)
{
        return metrics->late;
}

const struct dbio_hist *dbio_metrics_lag(const struct dbio_metrics *metrics)
{
        return &metrics->lag;
}

struct dbio_figures *dbio_metrics_figures(struct dbio_metrics *metrics, unsigned stream, unsigned kind, unsigned role)
{
        uint8_t *index = &metrics->index[(size_t)stream * PAIRS + kind * DBIO_ROLES + role];
        struct dbio_figures *of_stream = &metrics->figures[(size_t)stream * DBIO_FIGURES];

        if (!*index) {
                /* no pattern has so many pairs; were there one, the last would take the rest */
                if (metrics->used[stream] < DBIO_FIGURES) {
                        struct dbio_figures *figures = &of_stream[metrics->used[stream]++];

                        figures->stream = stream;
                        figures->kind = (uint8_t)kind;
                        figures->role = (uint8_t)role;
                }
                *index = metrics->used[stream];
        }
        return &of_stream[*index - 1];
}

void dbio_figures_touch(struct dbio_metrics *metrics, struct dbio_figures *figures)
{
        if (figures->active) {
                figures->mask |= metrics->mask;
                return;
        }
        figures->active = true;
        figures->mask = metrics->mask;
        metrics->active[metrics->nactive++] = figures;
}

void dbio_metrics_submitted(struct dbio_figures *figures)
{
        if (++figures->inflight > figures->depth_peak)
                figures->depth_peak = figures->inflight;
}

static void count_read(struct dbio_metrics *metrics, const struct dbio_figures *figures, uint32_t length)
{
        _Atomic uint64_t *bytes = metrics->config.beacons[metrics->config.worker].read_bytes;

        if (bytes && figures->kind == DBIO_READ)
                atomic_store_explicit(&bytes[figures->stream],
                                      atomic_load_explicit(&bytes[figures->stream], memory_order_relaxed) + length,
                                      memory_order_relaxed);
}

void dbio_metrics_op(struct dbio_metrics *metrics, struct dbio_figures *figures, const struct dbio_stamps *stamps)
{
        dbio_figures_touch(metrics, figures);
        figures->inflight--;
        figures->bytes += stamps->length;
        figures->splits += stamps->splits;
        if (__builtin_expect(stamps->hba_waited, 0)) {
                figures->hba_waits++;
                figures->hba_wait_ns += stamps->hba_wait_ns;
        }
        dbio_hist_add(&figures->service, stamps->completed_ns - stamps->submitted_ns);
        dbio_hist_add(&figures->response, stamps->completed_ns - stamps->intended_ns);
        dbio_hist_add(&figures->wait, stamps->submitted_ns - stamps->intended_ns);
        dbio_hist_add(&figures->lag, stamps->submitted_ns - stamps->ready_ns);
        count_read(metrics, figures, stamps->length);
}

void dbio_metrics_error(struct dbio_metrics *metrics, struct dbio_figures *figures, uint64_t in_flight_ns,
                        uint32_t length)
{
        dbio_figures_touch(metrics, figures);
        figures->inflight--;
        figures->errors++;
        figures->failed_ns += in_flight_ns;
        figures->failed_bytes += length;
}

static void *reserve(struct dbio_metrics *metrics, size_t size, size_t keep)
{
        void *at = dbio_ring_reserve(&metrics->ring, size, keep);

        if (!at && metrics->config.make_room) {
                metrics->config.make_room(metrics->config.user);
                at = dbio_ring_reserve(&metrics->ring, size, keep);
        }
        return at;
}

static bool write_figures(struct dbio_metrics *metrics, struct dbio_figures *figures)
{
        struct packed head = {
                .type = DBIO_RECORD_INTERVAL, .stream = figures->stream, .mask = figures->mask,
                .depth_peak = figures->depth_peak, .kind = figures->kind, .role = figures->role,
                .t_ns = metrics->interval_start_ns, .ios = figures->service.count, .bytes = figures->bytes,
                .errors = figures->errors, .unissued = figures->unissued, .failed_ns = figures->failed_ns,
                .failed_bytes = figures->failed_bytes, .splits = figures->splits, .hba_waits = figures->hba_waits,
                .hba_wait_ns = figures->hba_wait_ns,
        };
        unsigned char *start = reserve(metrics, sizeof head + packed_bound(&figures->service) +
                                       packed_bound(&figures->response) + packed_bound(&figures->wait) +
                                       packed_bound(&figures->lag), EVENT_RESERVE);

        if (!start)
                return false;
        unsigned char *at = start + sizeof head;

        memcpy(start, &head, sizeof head);
        at = pack_hist(at, &figures->service);
        at = pack_hist(at, &figures->response);
        at = pack_hist(at, &figures->wait);
        at = pack_hist(at, &figures->lag);
        dbio_ring_commit(&metrics->ring, (size_t)(at - start));
        return true;
}

static void reset_figures(struct dbio_metrics *metrics, struct dbio_figures *figures)
{
        dbio_hist_merge(&metrics->lag, &figures->lag);
        figures->active = false;
        figures->depth_peak = figures->inflight;
        figures->bytes = figures->errors = figures->unissued = figures->failed_ns =
                figures->failed_bytes = 0;
        figures->splits = figures->hba_waits = figures->hba_wait_ns = 0;
        dbio_hist_reset(&figures->service);
        dbio_hist_reset(&figures->response);
        dbio_hist_reset(&figures->wait);
        dbio_hist_reset(&figures->lag);
}

static bool write_event(struct dbio_metrics *metrics, const struct dbio_record *record)
{
        void *at = reserve(metrics, sizeof *record, 0);

        if (!at)
                return false;
        memcpy(at, record, sizeof *record);
        dbio_ring_commit(&metrics->ring, sizeof *record);
        return true;
}

static void flush_backlog(struct dbio_metrics *metrics)
{
        unsigned n = 0;

        while (n < metrics->nbacklog && write_event(metrics, &metrics->backlog[n]))
                n++;
        metrics->nbacklog -= n;
        memmove(metrics->backlog, metrics->backlog + n, metrics->nbacklog * sizeof *metrics->backlog);
}

void dbio_metrics_event(struct dbio_metrics *metrics, const struct dbio_record *record)
{
        flush_backlog(metrics);
        if (!metrics->nbacklog && write_event(metrics, record))
                return;
        if (metrics->nbacklog < DBIO_BACKLOG)
                metrics->backlog[metrics->nbacklog++] = *record;
        else
                metrics->late++;
}

static void close_records(struct dbio_metrics *metrics)
{
        unsigned kept = 0;

        for (unsigned i = 0; i < metrics->nactive; i++) {
                struct dbio_figures *figures = metrics->active[i];

                if (write_figures(metrics, figures))
                        reset_figures(metrics, figures);
                else
                        metrics->active[kept++] = figures;
        }
        metrics->nactive = kept;
        if (kept)
                metrics->late++;
}

void dbio_metrics_look_at_episodes(struct dbio_metrics *metrics)
{
        uint32_t mask = 0;

        for (unsigned i = 0; i < metrics->config.nworkers; i++)
                mask |= atomic_load_explicit(&metrics->config.beacons[i].episodes, memory_order_relaxed);
        if (__builtin_expect(mask == metrics->mask, 1))
                return;
        close_records(metrics);
        metrics->mask = mask;
}

static void flush_gauges(struct dbio_metrics *metrics)
{
        for (unsigned i = 0; i < metrics->nstreams; i++) {
                struct dbio_gauge *gauges = metrics->reports[i].gauges;

                for (unsigned k = 0; k < DBIO_GAUGES && gauges[k].name; k++) {
                        if (!gauges[k].is_set)
                                continue;
                        struct dbio_record record = {.type = DBIO_RECORD_GAUGE, .stream = i};

                        record.gauge.name = gauges[k].name;
                        record.gauge.t_ns = gauges[k].t_ns;
                        record.gauge.value = gauges[k].value;
                        gauges[k].is_set = false;
                        dbio_metrics_event(metrics, &record);
                }
        }
}

bool dbio_metrics_advance(struct dbio_metrics *metrics, uint64_t now_ns)
{
        bool closed = false;

        if (__builtin_expect(now_ns >= metrics->interval_end_ns, 0)) {
                flush_backlog(metrics);
                close_records(metrics);
                flush_gauges(metrics);
                metrics->interval_start_ns = now_ns - now_ns % metrics->config.interval_ns;
                metrics->interval_end_ns = metrics->interval_start_ns + metrics->config.interval_ns;
                closed = true;
        }
        dbio_metrics_look_at_episodes(metrics);
        return closed;
}

void dbio_metrics_finish(struct dbio_metrics *metrics)
{
        close_records(metrics);
        flush_gauges(metrics);
        flush_backlog(metrics);
}

static void take_interval(struct dbio_metrics *metrics, const unsigned char *at,
                          void (*take)(void *user, const struct dbio_record *record), void *user)
{
        struct dbio_hist *hists = metrics->scratch;
        struct packed head;

        memcpy(&head, at, sizeof head);
        at += sizeof head;
        for (unsigned i = 0; i < 4; i++)
                at = unpack_hist(at, &hists[i]);
        struct dbio_record record = {.type = DBIO_RECORD_INTERVAL, .worker = metrics->config.worker,
                                     .stream = head.stream};

        record.interval.kind = head.kind;
        record.interval.role = head.role;
        record.interval.mask = head.mask;
        record.interval.t_ns = head.t_ns;
        record.interval.ios = head.ios;
        record.interval.bytes = head.bytes;
        record.interval.errors = head.errors;
        record.interval.unissued = head.unissued;
        record.interval.failed_ns = head.failed_ns;
        record.interval.failed_bytes = head.failed_bytes;
        record.interval.splits = head.splits;
        record.interval.hba_waits = head.hba_waits;
        record.interval.hba_wait_ns = head.hba_wait_ns;
        record.interval.depth_peak = head.depth_peak;
        record.interval.service = &hists[0];
        record.interval.response = &hists[1];
        record.interval.wait = &hists[2];
        record.interval.lag = &hists[3];
        take(user, &record);
        for (unsigned i = 0; i < 4; i++)
                dbio_hist_reset(&hists[i]);
}

unsigned dbio_metrics_drain(struct dbio_metrics *metrics,
                            void (*take)(void *user, const struct dbio_record *record), void *user)
{
        const void *at;
        size_t size;
        unsigned n = 0;

        for (; (at = dbio_ring_oldest(&metrics->ring, &size)); n++) {
                enum dbio_record_type type;

                memcpy(&type, at, sizeof type);
                if (type == DBIO_RECORD_INTERVAL) {
                        take_interval(metrics, at, take, user);
                } else {
                        struct dbio_record record;

                        memcpy(&record, at, sizeof record);
                        record.worker = metrics->config.worker;
                        take(user, &record);
                }
                dbio_ring_release_oldest(&metrics->ring);
        }
        return n;
}
