#include "replay/tracefeed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/tracedevices.h"
#include "replay/traceinput.h"
#include "replay/traceregions.h"

#define PENDING_MAX 65536u
#define THINK_MAX ((1ull << 40) - 1) /* what a schedule file can hold: 18 minutes */

static void describe_place(const struct dbio_trace_feed *feed, const struct dbio_trace_event *event, char *text, size_t size)
{
        const char *path = feed->input.paths[event->file < feed->input.npaths ? event->file : 0];

        if (feed->input.format->binary)
                snprintf(text, size, "%.200s, byte %" PRIu64, path, event->place);
        else
                snprintf(text, size, "%.200s:%" PRIu64, path, event->place);
}

static int bad_event(const struct dbio_trace_feed *feed, const struct dbio_trace_event *event, struct dbio_err *err,
                     const char *text)
{
        const char *path = feed->input.paths[event->file < feed->input.npaths ? event->file : 0];

        if (feed->input.format->binary)
                dbio_err_set(err, DBIO_USAGE, "byte %" PRIu64 ": %s", event->place, text);
        else
                dbio_err_set(err, DBIO_USAGE, "%s", text);
        return dbio_err_locate(err, path, feed->input.format->binary ? 0 : (unsigned)event->place, 1);
}

/* --- events that can be replayed ----------------------------------------------------------------------------------- */

static int check_event(const struct dbio_trace_feed *feed, const struct dbio_trace_event *event, struct dbio_err *err)
{
        char text[200];
        uint64_t end;

        if (event->kind == DBIO_FSYNC)
                return 0;
        if (__builtin_add_overflow(event->offset, event->length, &end) || end > INT64_MAX) {
                snprintf(text, sizeof text, "offset %" PRIu64 " and length %" PRIu64 " are beyond 2^63 bytes", event->offset,
                         event->length);
                return bad_event(feed, event, err, text);
        }
        if (event->length > (event->kind == DBIO_TRIM ? UINT32_MAX : DBIO_TRACE_LENGTH_MAX)) {
                snprintf(text, sizeof text, "%s of %" PRIu64 " bytes: at most %s is taken", dbio_kind_name(event->kind),
                         event->length, event->kind == DBIO_TRIM ? "4 GiB - 1" : "64 MiB");
                return bad_event(feed, event, err, text);
        }
        return 0;
}

static int forgive(struct dbio_trace_feed *feed, struct dbio_err *err)
{
        if (err->code == DBIO_REFUSED) {
                err->code = DBIO_USAGE;
                return -1;
        }
        if (err->code == DBIO_IO || feed->summary.bad >= feed->options.skip_bad)
                return -1;
        if (!feed->summary.bad++) {
                dbio_err_format(err, feed->summary.first_bad, sizeof feed->summary.first_bad);
                feed->summary.first_bad[strcspn(feed->summary.first_bad, "\n")] = 0;
        }
        return 0;
}

/* An event with its target in `device` from here on. */
static int read_event(struct dbio_trace_feed *feed, struct dbio_trace_event *event, struct dbio_err *err)
{
        uint16_t target = 0;

        for (;;) {
                struct dbio_err why = {0};
                int code = dbio_trace_input_next(&feed->input, event, &why);
                if (code > 0) {
                        if (event->kind != DBIO_FSYNC && !event->length) {
                                feed->summary.zero_length++;
                                continue;
                        }
                        code = check_event(feed, event, &why) ? -1 : 1;
                }
                if (code < 0 && forgive(feed, &why)) {
                        if (err)
                                *err = why;
                        return -1;
                }
                if (code < 0)
                        continue;
                if (!code)
                        return 0;
                code = dbio_trace_map(feed, event, &target, &why);
                if (code < 0) {
                        bad_event(feed, event, err, why.message);
                        return -1;
                }
                if (!code) {
                        feed->summary.left_out++;
                        continue;
                }
                if (feed->options.reads_only && event->kind != DBIO_READ) {
                        feed->summary.dropped++;
                        continue;
                }
                event->device = target;
                return 1;
        }
}

/* --- order --------------------------------------------------------------------------------------------------------- */

static bool before(uint64_t t, uint64_t number, uint64_t other_t, uint64_t other_number)
{
        return t < other_t || (t == other_t && number < other_number);
}

static void heap_push(struct dbio_trace_sorter *s, const struct dbio_trace_event *event, uint64_t number)
{
        unsigned at = s->nheap++;

        while (at) {
                unsigned up = (at - 1) / 2;
                if (!before(event->t_ns, number, s->heap[up].t_ns, s->heap_numbers[up]))
                        break;
                s->heap[at] = s->heap[up];
                s->heap_numbers[at] = s->heap_numbers[up];
                at = up;
        }
        s->heap[at] = *event;
        s->heap_numbers[at] = number;
}

static void heap_pop(struct dbio_trace_sorter *s)
{
        unsigned n = --s->nheap, at = 0;
        struct dbio_trace_event last = s->heap[n];
        uint64_t number = s->heap_numbers[n];

        for (unsigned down; (down = 2 * at + 1) < n; at = down) {
                if (down + 1 < n && before(s->heap[down + 1].t_ns, s->heap_numbers[down + 1], s->heap[down].t_ns,
                                           s->heap_numbers[down]))
                        down++;
                if (!before(s->heap[down].t_ns, s->heap_numbers[down], last.t_ns, number))
                        break;
                s->heap[at] = s->heap[down];
                s->heap_numbers[at] = s->heap_numbers[down];
        }
        s->heap[at] = last;
        s->heap_numbers[at] = number;
}

static int fill_window(struct dbio_trace_feed *feed, struct dbio_err *err)
{
        struct dbio_trace_sorter *s = &feed->sorter;
        const unsigned mask = DBIO_TRACE_WINDOW - 1;

        while (!s->ended && s->nring + s->nheap < DBIO_TRACE_WINDOW) {
                unsigned at = (s->head + s->nring) & mask;
                struct dbio_trace_event *event = &s->ring[at];
                int code = read_event(feed, event, err);
                if (code < 0)
                        return -1;
                if (!code) {
                        s->ended = true;
                        break;
                }
                if (event->t_ns < s->last_ns) {
                        char text[160];
                        snprintf(text, sizeof text, "time goes back by %" PRIu64 " ns, further than a window of %u events sorts",
                                 s->last_ns - event->t_ns, DBIO_TRACE_WINDOW);
                        return bad_event(feed, event, err, text);
                }
                s->numbers[at] = s->number;
                if (s->nring && event->t_ns < s->ring[(at - 1) & mask].t_ns)
                        heap_push(s, event, s->number);
                else
                        s->nring++;
                s->number++;
        }
        return 0;
}

int dbio_trace_sorted_next(struct dbio_trace_feed *feed, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct dbio_trace_sorter *s = &feed->sorter;

        if (fill_window(feed, err))
                return -1;
        if (s->nring && (!s->nheap || before(s->ring[s->head].t_ns, s->numbers[s->head], s->heap[0].t_ns, s->heap_numbers[0]))) {
                *event = s->ring[s->head];
                s->head = (s->head + 1) & (DBIO_TRACE_WINDOW - 1);
                s->nring--;
        } else if (s->nheap) {
                *event = s->heap[0];
                heap_pop(s);
        } else {
                return 0;
        }
        s->last_ns = event->t_ns;
        return 1;
}

/* --- dependencies -------------------------------------------------------------------------------------------------- */

static void pending_pop(struct dbio_trace_pending *p)
{
        unsigned n = --p->n, at = 0;
        uint64_t time = p->heap[n][0], number = p->heap[n][1];

        for (unsigned down; (down = 2 * at + 1) < n; at = down) {
                down += down + 1 < n && p->heap[down + 1][0] < p->heap[down][0];
                if (p->heap[down][0] >= time)
                        break;
                memcpy(p->heap[at], p->heap[down], sizeof p->heap[at]);
        }
        p->heap[at][0] = time;
        p->heap[at][1] = number;
}

static void pending_push(struct dbio_trace_pending *p, uint64_t time, uint64_t number)
{
        unsigned at;

        if (p->n == PENDING_MAX) /* nothing that anyone waits for: the trace lost its completions */
                return;
        for (at = p->n++; at && p->heap[(at - 1) / 2][0] > time; at = (at - 1) / 2)
                memcpy(p->heap[at], p->heap[(at - 1) / 2], sizeof p->heap[at]);
        p->heap[at][0] = time;
        p->heap[at][1] = number;
}

/* Finds what the op followed, and remembers its own completion. */
static void depend(struct dbio_trace_feed *feed, const struct dbio_trace_event *event, struct dbio_trace_op *op)
{
        struct dbio_trace_pending *p = &feed->pending;
        uint64_t end;

        while (p->n && p->heap[0][0] <= event->t_ns) {
                p->last_ns = p->heap[0][0];
                p->last_op = p->heap[0][1] + 1;
                pending_pop(p);
        }
        op->after = 0;
        op->think_ns = 0;
        if (p->last_op && feed->ops - (p->last_op - 1) < DBIO_TRACE_WINDOW && event->t_ns - p->last_ns <= THINK_MAX) {
                op->after = (uint32_t)(feed->ops - (p->last_op - 1));
                op->think_ns = event->t_ns - p->last_ns;
        }
        if (event->latency_ns == DBIO_TRACE_UNKNOWN || __builtin_add_overflow(event->t_ns, event->latency_ns, &end))
                return;
        pending_push(p, end, feed->ops);
        feed->summary.completions++;
        if (p->n > feed->summary.peak_depth)
                feed->summary.peak_depth = p->n;
}

/* --- the whole ----------------------------------------------------------------------------------------------------- */

static void count_op(struct dbio_trace_feed *feed, const struct dbio_trace_event *event, const struct dbio_trace_op *op)
{
        struct dbio_trace_summary *summary = &feed->summary;
        struct dbio_trace_target *target = &feed->targets[op->target];
        uint64_t end = op->offset + op->length;
        unsigned size = 0;

        *(event->flags & DBIO_TRACE_PREFLUSH ? &summary->preflushes : &summary->ios[op->kind]) += 1;
        summary->bytes[op->kind] += op->length;
        if (!feed->ops)
                summary->first_ns = event->t_ns;
        summary->last_ns = event->t_ns;
        target->reads |= op->kind == DBIO_READ;
        target->writes |= op->kind != DBIO_READ;
        if (op->kind == DBIO_FSYNC)
                return;
        if (!summary->max_end || op->offset < summary->min_offset)
                summary->min_offset = op->offset;
        if (end > summary->max_end)
                summary->max_end = end;
        if (!target->end || op->offset < target->begin)
                target->begin = op->offset;
        if (end > target->end)
                target->end = end;
        if (op->kind > DBIO_WRITE)
                return;
        while (op->length > 1ull << size)
                size++;
        summary->sizes[size]++;
        if (op->length > summary->max_length)
                summary->max_length = op->length;
}

static int make_op(struct dbio_trace_feed *feed, const struct dbio_trace_event *event, struct dbio_trace_op *op,
                   struct dbio_err *err)
{
        char place[300];

        *op = (struct dbio_trace_op){.offset = event->offset, .length = (uint32_t)event->length, .kind = event->kind,
                                     .target = (uint16_t)event->device,
                                     .flags = event->flags & (DBIO_OP_FUA | DBIO_OP_DATASYNC)};
        if (event->kind == DBIO_FSYNC) {
                op->offset = 0;
                op->length = 0;
        } else if (feed->regions) {
                op->offset = dbio_trace_regions_place(feed->regions, op->target, op->offset);
        }
        depend(feed, event, op);
        count_op(feed, event, op);
        op->t_ns = event->t_ns - feed->summary.first_ns;
        if (!feed->fitted && feed->options.misaligned == DBIO_MISALIGNED_ROUND)
                dbio_trace_round(&feed->summary, op, 512);
        if ((op->offset | op->length) & 4095 || feed->fitted) {
                describe_place(feed, event, place, sizeof place);
                dbio_trace_count_misaligned(&feed->summary, op, place);
                if (feed->fitted && dbio_trace_fit(feed, op, place, err))
                        return -1;
        }
        feed->ops++;
        return 1;
}

int dbio_trace_feed_prime(struct dbio_trace_feed *feed, struct dbio_err *err)
{
        return feed->file || feed->sorter.nring ? 0 : fill_window(feed, err);
}

static void end_feed(struct dbio_trace_feed *feed)
{
        struct dbio_trace_summary *summary = &feed->summary;
        uint64_t end = feed->input.end_ns > summary->last_ns ? feed->input.end_ns : summary->last_ns;

        feed->over = true;
        summary->end_ns = feed->ops ? end - summary->first_ns : 0;
        summary->gap_bytes = feed->regions ? dbio_trace_regions_gaps(feed->regions) : 0;
        summary->inversions = feed->input.inversions;
        summary->untimed = feed->input.untimed;
        snprintf(summary->note, sizeof summary->note, "%s", feed->input.note);
}

int dbio_trace_feed_next(struct dbio_trace_feed *feed, struct dbio_trace_op *op, struct dbio_err *err)
{
        struct dbio_trace_event event;

        if (feed->over)
                return 0;
        if (feed->file)
                return dbio_trace_file_next(feed, op, err);
        int code = dbio_trace_spread_next(feed, &event, err);
        if (code > 0)
                return make_op(feed, &event, op, err);
        if (!code)
                end_feed(feed);
        return code;
}

static int open_input(struct dbio_trace_feed *feed, const char *format_name, struct dbio_err *err)
{
        struct dbio_trace_sorter *s = &feed->sorter;

        if (dbio_trace_maps_check(&feed->options, err))
                return -1;
        feed->input.format = dbio_trace_format_find(format_name, feed->input.paths[0], err);
        if (!feed->input.format)
                return -1;
        if (feed->input.format->takes_spec && strchr(format_name, ':'))
                feed->spec = strdup(strchr(format_name, ':') + 1);
        feed->input.spec = feed->spec ? feed->spec : feed->input.format->spec;
        feed->input.issue_events = feed->options.issue_events;
        feed->input.devices = dbio_trace_devices_new();
        s->ring = malloc(DBIO_TRACE_WINDOW * sizeof *s->ring);
        s->heap = malloc((DBIO_TRACE_WINDOW + 1) * sizeof *s->heap);
        s->numbers = malloc(DBIO_TRACE_WINDOW * sizeof *s->numbers);
        s->heap_numbers = malloc((DBIO_TRACE_WINDOW + 1) * sizeof *s->heap_numbers);
        feed->pending.heap = malloc(PENDING_MAX * sizeof *feed->pending.heap);
        if (!feed->input.devices || !s->ring || !s->heap || !s->numbers || !s->heap_numbers || !feed->pending.heap)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (!dbio_trace_input_open(&feed->input, err))
                return 0;
        if (err && err->code == DBIO_REFUSED)
                err->code = DBIO_USAGE;
        return -1;
}

int dbio_trace_feed_open(struct dbio_trace_feed **out, const char *format_name, const char *const *paths, unsigned npaths,
                         const struct dbio_trace_options *options, struct dbio_err *err)
{
        struct dbio_trace_feed *feed = *out = calloc(1, sizeof *feed);
        struct dbio_err why = {0};

        if (!feed)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        feed->options = *options;
        feed->input.paths = paths;
        feed->input.npaths = npaths;
        if (!(options->compact && dbio_trace_regions_find(&feed->regions, format_name, paths, npaths, options, &why)) &&
            !open_input(feed, format_name, &why))
                return 0;
        if (err)
                *err = why;
        dbio_trace_feed_close(feed);
        *out = NULL;
        return -1;
}

void dbio_trace_feed_close(struct dbio_trace_feed *feed)
{
        if (!feed)
                return;
        if (feed->input.format)
                dbio_trace_input_close(&feed->input);
        dbio_trace_devices_free(feed->input.devices);
        dbio_trace_file_close(feed->file);
        dbio_trace_regions_free(feed->regions);
        free(feed->sorter.ring);
        free(feed->sorter.heap);
        free(feed->sorter.numbers);
        free(feed->sorter.heap_numbers);
        dbio_trace_spreader_release(&feed->spreader);
        free(feed->pending.heap);
        for (unsigned i = 0; i < feed->ntargets; i++)
                free(feed->targets[i].name);
        free(feed->targets);
        free(feed->devices);
        free(feed->spec);
        free(feed);
}

unsigned dbio_trace_feed_targets(const struct dbio_trace_feed *feed)
{
        return feed->ntargets;
}

const struct dbio_trace_target *dbio_trace_feed_target(const struct dbio_trace_feed *feed, unsigned target)
{
        return &feed->targets[target];
}

const struct dbio_trace_summary *dbio_trace_feed_summary(struct dbio_trace_feed *feed)
{
        return &feed->summary;
}

const struct dbio_trace_input *dbio_trace_feed_input(const struct dbio_trace_feed *feed)
{
        return feed->file ? NULL : &feed->input;
}

uint64_t dbio_trace_feed_ops(const struct dbio_trace_feed *feed)
{
        return feed->ops;
}

const char *dbio_trace_feed_hash(const struct dbio_trace_feed *feed)
{
        return feed->hash;
}

bool dbio_trace_feed_folds(const struct dbio_trace_feed *feed)
{
        return feed->options.fold;
}
