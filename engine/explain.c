#include "engine/explain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wakes.h"

#define AHEAD 8
#define PENDING 64u       /* ops of a source that wait for their log: more are not asked for */
#define AT_ONCE 100000u   /* ops of a source at one time: more are asked for when time has moved */
#define AT_ONCE_CUT 16u   /* of one that is driven on for others only */
#define UNLISTED 1000u    /* ops of an endless stream that is not listed, before it is driven as one that is cut */
#define RETRY_NS 1000     /* for a source that says "now" and gives nothing */
#define RETRY_CUT_NS 1000000

/* PLANNED: no due times, no rule: needs no clock. */
enum lane_kind { PLANNED, TIMED, REACTIVE };

struct lane {
        struct dbio_source *source;
        unsigned stream;
        enum lane_kind kind;
        uint64_t start_ns, stop_ns;
        unsigned nahead, head;
        struct dbio_op ahead[AHEAD];
        struct { /* formed, their log not yet durable */
                struct dbio_op op;
                uint64_t after;
        } *pending;
        unsigned first_pending, npending;
        uint64_t at_ns;
        unsigned at_once;
        bool over;
};

struct view { /* of a stream */
        bool listed, endless, driven; /* driven: on until its end or limit, also where it is only counted */
        uint64_t rows;
        uint64_t *seq; /* per thread */
        FILE *spill;   /* ops of driven streams without due times */
        uint64_t read_bytes;
        unsigned first_lane;
        unsigned running; /* driven lanes not at their end */
};

struct explain {
        struct dbio_report report; /* first: the sources' */
        struct dbio_phase *phase;
        uint64_t limit, now_ns, end_ns, ops_left, ops_kept; /* of the phase's ops: the clock's, and kept for closed loops */
        struct lane *lanes;
        unsigned nlanes, nreactive;
        uint32_t *reactive; /* numbers of the reactive lanes */
        unsigned needed;    /* lanes of streams that are driven, not at their end */
        struct dbio_wakes wakes;
        struct view *views;
        int (*row)(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op);
        void *user;
        int stopped; /* row's value */
        int error;   /* errno of a spill */
};

struct spilled {
        uint64_t seq;
        struct dbio_op op;
};

static const struct dbio_stream *stream_of(const struct explain *e, const struct lane *lane)
{
        return &e->phase->streams[lane->stream];
}

static enum lane_kind kind_of(const struct dbio_stream *stream)
{
        if (stream->flags & DBIO_STREAM_REACTIVE)
                return REACTIVE;
        return stream->flags & DBIO_STREAM_TIMED ? TIMED : PLANNED;
}

static bool is_endless(const struct dbio_phase *phase, const struct dbio_stream *stream)
{
        if (!(stream->flags & DBIO_STREAM_ENDLESS) || phase->ops != UINT64_MAX)
                return false;
        return kind_of(stream) != TIMED || (phase->duration_ns == UINT64_MAX && stream->stop_ns == UINT64_MAX);
}

/* Of a closed loop none: it has no clock here. */
static uint64_t read_bytes_of(struct dbio_report *report, unsigned number)
{
        return ((struct explain *)report)->views[number].read_bytes;
}

static const struct dbio_report_class report_class = {.read_bytes_of = read_bytes_of};

static bool is_cut(const struct explain *e, const struct lane *lane)
{
        const struct view *view = &e->views[lane->stream];

        /* without a limit the endless ones are not listed, only driven along */
        return view->endless && view->rows >= (e->limit ? e->limit : UNLISTED);
}

static bool is_done(const struct explain *e)
{
        return e->stopped || e->error || !e->ops_left;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void give_row(struct explain *e, unsigned stream, uint64_t seq, const struct dbio_op *op)
{
        e->stopped = e->row(e->user, stream, seq, op);
}

static void spill_row(struct explain *e, struct view *view, uint64_t seq, const struct dbio_op *op)
{
        struct spilled spilled = {seq, *op};

        if (!view->spill)
                view->spill = tmpfile();
        if (!view->spill || fwrite(&spilled, sizeof spilled, 1, view->spill) != 1)
                e->error = errno ? errno : EIO;
}

/* Counts an op, and shows it where it is to be listed. */
static void take_op(struct explain *e, const struct lane *lane, const struct dbio_op *op)
{
        const struct dbio_stream *stream = stream_of(e, lane);
        struct view *view = &e->views[lane->stream];
        uint64_t seq = view->seq[op->thread]++;
        struct dbio_op shown = *op;

        if (op->kind == DBIO_READ)
                view->read_bytes += op->length;
        if (op->kind <= DBIO_WRITE && e->ops_left != UINT64_MAX)
                e->ops_left--;
        if (is_cut(e, lane))
                return;
        view->rows++;
        if (is_cut(e, lane) && view->driven && lane->kind != PLANNED)
                e->needed -= view->running;
        if (!view->listed)
                return;
        if (!(stream->flags & DBIO_STREAM_TIMED))
                shown.due_ns = DBIO_NO_DUE;
        else if (op->due_ns != DBIO_NO_DUE)
                shown.due_ns = lane->start_ns + op->due_ns;
        if (lane->kind == REACTIVE && !(stream->flags & DBIO_STREAM_TIMED))
                spill_row(e, view, seq, &shown);
        else
                give_row(e, lane->stream, seq, &shown);
}

static const struct dbio_op *look_ahead(struct explain *e, struct lane *lane)
{
        if (!lane->nahead && !lane->source->ended) {
                uint64_t now_ns = e->now_ns > lane->start_ns ? e->now_ns - lane->start_ns : 0;

                lane->head = 0;
                lane->nahead = lane->source->class->fill(lane->source, now_ns, lane->ahead, AHEAD);
        }
        return lane->nahead ? &lane->ahead[lane->head] : NULL;
}

static void step(struct lane *lane)
{
        lane->head++;
        lane->nahead--;
}

/* --- the clock's streams ------------------------------------------------------------------------------------------ */

static const struct dbio_log_position *log_of(const struct explain *e, const struct lane *lane)
{
        return stream_of(e, lane)->after;
}

static bool want(const struct explain *e, const struct lane *lane, uint64_t position)
{
        const struct dbio_log_position *after = log_of(e, lane);

        for (unsigned i = 0; i < e->phase->nstreams; i++) {
                struct dbio_log_position *log = e->phase->streams[i].position;

                if (log && log == after && log->wanted < position) {
                        log->wanted = position;
                        return true;
                }
        }
        return false;
}

static void complete(struct explain *e, struct lane *lane, const struct dbio_op *op)
{
        uint64_t now_ns = e->now_ns - lane->start_ns;
        struct dbio_done done = {
                .intended_ns = op->due_ns < now_ns ? op->due_ns : now_ns,
                .submitted_ns = now_ns,
                .completed_ns = now_ns,
                .result = op->length,
        };

        if (lane->source->class->done)
                lane->source->class->done(lane->source, op, &done);
}

static bool complete_pending(struct explain *e, struct lane *lane)
{
        bool any = false;

        while (lane->npending && log_of(e, lane)->durable >= lane->pending[lane->first_pending].after) {
                struct dbio_op op = lane->pending[lane->first_pending].op;

                lane->first_pending = (lane->first_pending + 1) % PENDING;
                lane->npending--;
                complete(e, lane, &op);
                any = true;
        }
        return any;
}

static uint64_t wake_of(const struct lane *lane)
{
        uint64_t wake = lane->source->class->wake ? lane->source->class->wake(lane->source) : UINT64_MAX;

        return wake >= UINT64_MAX / 2 ? UINT64_MAX : lane->start_ns + wake;
}

static bool may_fill(const struct explain *e, struct lane *lane)
{
        if (lane->at_ns != e->now_ns) {
                lane->at_ns = e->now_ns;
                lane->at_once = 0;
        }
        return !lane->source->ended && !lane->over && lane->npending + 16 <= PENDING &&
               lane->at_once < (is_cut(e, lane) ? AT_ONCE_CUT : AT_ONCE) && !is_done(e);
}

/* Takes what a reactive source has at this time, at most so many ops; true where that may have changed something for
 * others. */
static bool run_reactive(struct explain *e, struct lane *lane, unsigned most)
{
        const struct dbio_log_position *after = log_of(e, lane);
        struct dbio_op ops[16];
        bool any = complete_pending(e, lane);

        while (most && may_fill(e, lane)) {
                unsigned n = lane->source->class->fill(lane->source, e->now_ns - lane->start_ns, ops, most < 16 ? most : 16);

                if (!n)
                        break;
                any = true;
                most -= n;
                lane->at_once += n;
                for (unsigned i = 0; i < n && !is_done(e); i++) {
                        take_op(e, lane, &ops[i]);
                        if (!lane->npending && (!after || after->durable >= after->appended)) {
                                complete(e, lane, &ops[i]);
                                continue;
                        }
                        unsigned at = (lane->first_pending + lane->npending++) % PENDING;

                        lane->pending[at].op = ops[i];
                        lane->pending[at].after = after ? after->appended : 0;
                        want(e, lane, lane->pending[at].after);
                }
        }
        return any;
}

/* It gave something at this time, waits for its log, or wanted to be asked by now. */
static bool is_awake(const struct explain *e, const struct lane *lane)
{
        uint32_t number = (uint32_t)(lane - e->lanes);

        return (lane->at_once && lane->at_ns == e->now_ns) || lane->npending || wake_of(lane) <= e->now_ns ||
               (e->wakes.place[number] && e->wakes.time_ns[number] <= e->now_ns);
}

/* All that the sources of the lane's stream have at this time, by turns. */
static bool run_stream(struct explain *e, struct lane *lane)
{
        const struct dbio_stream *stream = stream_of(e, lane);
        struct lane *first = &e->lanes[e->views[lane->stream].first_lane];
        bool any = false, again = stream->nsources > 1;

        if (!again)
                return run_reactive(e, lane, UINT_MAX);
        while (again && !is_done(e)) {
                again = false;
                for (struct lane *one = first; one < first + stream->nsources; one++)
                        if (!one->over && (one == lane || is_awake(e, one)))
                                again |= run_reactive(e, one, 1);
                any |= again;
        }
        return any;
}

static bool run_timed(struct explain *e, struct lane *lane, uint64_t *next_ns)
{
        const struct dbio_op *op;
        bool any = false;

        *next_ns = UINT64_MAX;
        while ((op = look_ahead(e, lane)) && !is_done(e)) {
                uint64_t due = op->due_ns == DBIO_NO_DUE ? e->now_ns : lane->start_ns + op->due_ns;

                if (due > e->now_ns) {
                        *next_ns = due;
                        return any;
                }
                take_op(e, lane, op);
                any |= log_of(e, lane) && want(e, lane, log_of(e, lane)->appended);
                step(lane);
        }
        return any;
}

static void end_lane(struct explain *e, struct lane *lane)
{
        struct view *view = &e->views[lane->stream];

        lane->over = true;
        view->running--;
        if (view->driven && !is_cut(e, lane))
                e->needed--;
}

static void wake_at(struct explain *e, struct lane *lane, uint64_t wake_ns)
{
        if (lane->over)
                return;
        if (wake_ns <= e->now_ns)
                wake_ns = e->now_ns + (is_cut(e, lane) ? RETRY_CUT_NS : RETRY_NS);
        if (wake_ns >= lane->stop_ns || wake_ns >= e->end_ns) {
                /* a reactive source may still be called by another of its group */
                if (lane->kind == TIMED || wake_ns != UINT64_MAX || (lane->source->ended && !lane->npending))
                        end_lane(e, lane);
                return;
        }
        dbio_wakes_add(&e->wakes, (uint32_t)(lane - e->lanes), wake_ns);
}

/* Asks the reactive sources of the group again until none has anything more at this time. */
static void settle(struct explain *e, unsigned group)
{
        bool again = true;

        for (unsigned rounds = 0; again && rounds < 1000; rounds++) {
                again = false;
                for (unsigned i = 0; i < e->nreactive; i++) {
                        struct lane *lane = &e->lanes[e->reactive[i]];

                        if (lane->over || stream_of(e, lane)->group != group || e->now_ns < lane->start_ns)
                                continue;
                        if (lane->npending || wake_of(lane) <= e->now_ns)
                                again |= run_stream(e, lane);
                        wake_at(e, lane, wake_of(lane));
                }
        }
}

static void run_lane(struct explain *e, struct lane *lane)
{
        unsigned group = stream_of(e, lane)->group;
        uint64_t next_ns;
        bool changed;

        if (lane->kind == TIMED) {
                changed = run_timed(e, lane, &next_ns);
        } else {
                changed = run_stream(e, lane);
                next_ns = wake_of(lane);
        }
        if (next_ns != UINT64_MAX || lane->source->ended || lane->kind == TIMED)
                wake_at(e, lane, next_ns);
        if (group && (changed || lane->kind == REACTIVE))
                settle(e, group);
}

/* Until nothing that is to be listed needs the clock; streams that have been cut are driven along. */
static void drive(struct explain *e)
{
        while (!is_done(e) && e->needed && e->wakes.nr) {
                struct lane *lane = &e->lanes[e->wakes.heap[0]];

                e->now_ns = dbio_wakes_first(&e->wakes);
                dbio_wakes_remove(&e->wakes, (uint32_t)(lane - e->lanes));
                run_lane(e, lane);
        }
}

/* --- streams without a clock -------------------------------------------------------------------------------------- */

static unsigned depth_of(const struct explain *e, unsigned lane)
{
        unsigned depth = stream_of(e, &e->lanes[lane])->depth;

        return depth ? depth : 1;
}

static bool is_planned(const struct explain *e, unsigned lane)
{
        return e->lanes[lane].kind == PLANNED && !e->lanes[lane].over;
}

/* A phase's ops are shared as they would be where all complete at once: in turn, a closed loop by its depth, any other
 * as one. What the others leave goes to the closed loops. */
static void split_ops(struct explain *e)
{
        uint64_t closed = 0, all = e->nlanes;

        for (unsigned i = 0; i < e->nlanes; i++) {
                closed += is_planned(e, i) ? depth_of(e, i) : 0;
                all -= e->lanes[i].kind == PLANNED || e->lanes[i].over;
        }
        all += closed;
        if (e->phase->ops == UINT64_MAX || !closed || closed == all)
                return;
        e->ops_kept = (uint64_t)((double)e->phase->ops * (double)closed / (double)all);
        e->ops_left -= e->ops_kept;
        for (unsigned i = 0; i < e->phase->nstreams; i++) {
                e->needed += e->views[i].driven ? 0 : e->views[i].running;
                e->views[i].driven = true;
        }
}

static void share_ops(const struct explain *e, uint64_t left, uint64_t *shares)
{
        uint64_t round = 0;

        for (unsigned i = 0; i < e->nlanes; i++)
                round += is_planned(e, i) ? depth_of(e, i) : 0;
        for (unsigned i = 0; i < e->nlanes; i++)
                shares[i] = !is_planned(e, i) ? 0 : left == UINT64_MAX ? left : left / round * depth_of(e, i);
        left = left == UINT64_MAX || !round ? 0 : left % round;
        for (unsigned i = 0; i < e->nlanes && left; i++) {
                uint64_t depth = depth_of(e, i), more = depth < left ? depth : left;

                if (!is_planned(e, i))
                        continue;
                shares[i] += more;
                left -= more;
        }
}

/* A stream's threads in turn. */
static void list_planned(struct explain *e, unsigned stream, uint64_t *shares)
{
        bool more = true;

        while (more && !e->stopped) {
                more = false;
                for (unsigned k = 0; k < e->phase->streams[stream].nsources && !e->stopped; k++) {
                        unsigned i = e->views[stream].first_lane + k;
                        struct lane *lane = &e->lanes[i];
                        const struct dbio_op *op;

                        if (!shares[i] || is_cut(e, lane) || !(op = look_ahead(e, lane)))
                                continue;
                        more = true;
                        if (op->kind <= DBIO_WRITE && shares[i] != UINT64_MAX)
                                shares[i]--;
                        take_op(e, lane, op);
                        step(lane);
                }
        }
}

static void list_spilled(struct explain *e, unsigned stream)
{
        struct view *view = &e->views[stream];
        struct spilled spilled;

        if (!view->spill)
                return;
        rewind(view->spill);
        while (!e->stopped && fread(&spilled, sizeof spilled, 1, view->spill) == 1)
                give_row(e, stream, spilled.seq, &spilled.op);
        if (ferror(view->spill))
                e->error = EIO;
}

static void list_untimed(struct explain *e, uint64_t *shares)
{
        share_ops(e, e->phase->ops == UINT64_MAX ? UINT64_MAX : e->ops_kept + e->ops_left, shares);
        e->ops_left = UINT64_MAX; /* closed loops have their shares */
        for (unsigned i = 0; i < e->phase->nstreams && !e->stopped && !e->error; i++) {
                if (!e->views[i].listed)
                        continue;
                if (kind_of(&e->phase->streams[i]) == PLANNED)
                        list_planned(e, i, shares);
                else
                        list_spilled(e, i);
        }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static int prepare_views(struct explain *e, const char *only_stream, struct dbio_err *err)
{
        for (unsigned i = 0; i < e->phase->nstreams; i++) {
                const struct dbio_stream *stream = &e->phase->streams[i];
                struct view *view = &e->views[i];

                view->listed = view->driven = !only_stream || !strcmp(only_stream, stream->name);
                view->endless = is_endless(e->phase, stream);
                if (view->listed && view->endless && !e->limit)
                        return dbio_err_set(err, DBIO_USAGE, "stream %s is endless: give --limit", stream->name);
                view->seq = calloc(UINT16_MAX + 1, sizeof *view->seq);
                if (!view->seq)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        return 0;
}

static int prepare_lanes(struct explain *e, struct dbio_err *err)
{
        struct lane *lane = e->lanes;

        if (dbio_wakes_init(&e->wakes, e->nlanes))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < e->phase->nstreams; i++) {
                const struct dbio_stream *stream = &e->phase->streams[i];

                e->views[i].first_lane = (unsigned)(lane - e->lanes);

                for (unsigned k = 0; k < stream->nsources; k++, lane++) {
                        *lane = (struct lane){.source = stream->sources[k], .stream = i, .kind = kind_of(stream),
                                              .start_ns = stream->start_ns, .stop_ns = stream->stop_ns};
                        lane->source->report = &e->report;
                        lane->over = lane->start_ns >= e->end_ns;
                        if (lane->kind == PLANNED || lane->over)
                                continue;
                        e->views[i].running++;
                        e->needed += e->views[i].driven;
                        dbio_wakes_add(&e->wakes, (uint32_t)(lane - e->lanes), stream->start_ns);
                        if (lane->kind != REACTIVE)
                                continue;
                        e->reactive[e->nreactive++] = (uint32_t)(lane - e->lanes);
                        lane->pending = calloc(PENDING, sizeof *lane->pending);
                        if (!lane->pending)
                                return dbio_err_set(err, DBIO_IO, "out of memory");
                }
        }
        return 0;
}

static void release(struct explain *e)
{
        for (unsigned i = 0; e->views && i < e->phase->nstreams; i++) {
                free(e->views[i].seq);
                if (e->views[i].spill)
                        fclose(e->views[i].spill);
        }
        for (unsigned i = 0; e->lanes && i < e->nlanes; i++)
                free(e->lanes[i].pending);
        dbio_wakes_release(&e->wakes);
        free(e->reactive);
        free(e->views);
        free(e->lanes);
}

int dbio_explain_phase(struct dbio_phase *phase, const char *only_stream, uint64_t limit,
                       int (*row)(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op), void *user,
                       struct dbio_err *err)
{
        struct explain e = {.report = {.class = &report_class}, .phase = phase, .limit = limit,
                            .end_ns = phase->duration_ns, .ops_left = phase->ops, .row = row, .user = user};
        uint64_t *shares = NULL;
        int result = -1;

        for (unsigned i = 0; i < phase->nstreams; i++)
                e.nlanes += phase->streams[i].nsources;
        e.lanes = calloc(e.nlanes + 1, sizeof *e.lanes);
        e.views = calloc(phase->nstreams + 1, sizeof *e.views);
        e.reactive = calloc(e.nlanes + 1, sizeof *e.reactive);
        shares = calloc(e.nlanes + 1, sizeof *shares);
        if (!e.lanes || !e.views || !e.reactive || !shares) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        if (prepare_views(&e, only_stream, err) || prepare_lanes(&e, err))
                goto out;
        split_ops(&e);
        drive(&e);
        if (!e.stopped && !e.error)
                list_untimed(&e, shares);
        if (e.error)
                dbio_err_set(err, DBIO_IO, "temporary file: %s", strerror(e.error));
        result = e.error ? -1 : e.stopped;
out:
        release(&e);
        free(shares);
        return result;
}
