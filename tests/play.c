#include "tests/play.h"

#include <stdlib.h>
#include <string.h>

struct reporter {
        struct dbio_report base;
        struct play *play;
        unsigned stream;
};

struct source_state {
        struct dbio_source *source;
        struct dbio_stream *stream;
        unsigned stream_index, index;
        struct dbio_op buffer[64];
        uint64_t noted[64]; /* appended when the op was formed */
        unsigned at, n;
        unsigned outstanding;
        uint64_t *slots; /* closed loop: when each slot is free; in use = UINT64_MAX */
};

struct flight {
        uint64_t completed_ns, seq;
        struct source_state *state;
        unsigned slot;
        bool barrier;
};

struct machine {
        struct play *play;
        struct source_state *states;
        unsigned nstates;
        struct flight *heap;
        unsigned nheap, heap_capacity;
        unsigned *outstanding, *barriers; /* by stream */
        uint64_t *bytes;
        uint64_t now, seq;
};

static void commit(struct dbio_report *report, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns, uint32_t bytes)
{
        struct reporter *r = (struct reporter *)report;
        struct play *d = r->play;

        if ((d->ncommits & (d->ncommits - 1)) == 0)
                d->commits = realloc(d->commits, (d->ncommits ? d->ncommits * 2 : 1) * sizeof *d->commits);
        d->commits[d->ncommits++] = (struct play_commit){arrived_ns, submitted_ns, durable_ns, bytes, r->stream};
}

static void episode_begin(struct dbio_report *report, uint32_t episode, uint64_t begin_ns)
{
        struct reporter *r = (struct reporter *)report;

        (void)begin_ns;
        r->play->begun[r->stream]++;
        if (r->play->begun[r->stream] != episode)
                abort();
}

static void episode_end(struct dbio_report *report, const struct dbio_episode *episode)
{
        struct reporter *r = (struct reporter *)report;
        struct play *d = r->play;

        d->episodes = realloc(d->episodes, (d->nepisodes + 1) * sizeof *d->episodes);
        d->episode_stream = realloc(d->episode_stream, (d->nepisodes + 1) * sizeof *d->episode_stream);
        d->episode_stream[d->nepisodes] = r->stream;
        d->episodes[d->nepisodes++] = *episode;
}

static void gauge(struct dbio_report *report, const char *name, uint64_t now_ns, double value)
{
        struct play *d = ((struct reporter *)report)->play;

        if (d->ngauges == sizeof d->gauges / sizeof *d->gauges)
                return;
        d->gauges[d->ngauges].name = name;
        d->gauges[d->ngauges].t_ns = now_ns;
        d->gauges[d->ngauges++].value = value;
}

static uint64_t read_bytes_of(struct dbio_report *report, unsigned stream)
{
        return ((struct reporter *)report)->play->read_bytes[stream];
}

static const struct dbio_report_class reporters = {commit, NULL, episode_begin, episode_end, gauge, read_bytes_of};

static bool earlier(const struct flight *a, const struct flight *b)
{
        return a->completed_ns != b->completed_ns ? a->completed_ns < b->completed_ns : a->seq < b->seq;
}

static void push(struct machine *m, struct flight flight)
{
        if (m->nheap == m->heap_capacity)
                m->heap = realloc(m->heap, (m->heap_capacity = m->heap_capacity ? m->heap_capacity * 2 : 64) * sizeof *m->heap);
        unsigned i = m->nheap++;
        for (; i && earlier(&flight, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
                m->heap[i] = m->heap[(i - 1) / 2];
        m->heap[i] = flight;
}

static struct flight pop(struct machine *m)
{
        struct flight top = m->heap[0], last = m->heap[--m->nheap];
        unsigned i = 0;

        for (;;) {
                unsigned child = 2 * i + 1;

                if (child >= m->nheap)
                        break;
                if (child + 1 < m->nheap && earlier(&m->heap[child + 1], &m->heap[child]))
                        child++;
                if (!earlier(&m->heap[child], &last))
                        break;
                m->heap[i] = m->heap[child];
                i = child;
        }
        m->heap[i] = last;
        return top;
}

static uint64_t local(const struct machine *m, const struct source_state *state)
{
        return m->now > state->stream->start_ns ? m->now - state->stream->start_ns : 0;
}

static bool running(const struct machine *m, const struct source_state *state)
{
        const struct play *d = m->play;

        return m->now < d->until_ns && m->now >= state->stream->start_ns && m->now < state->stream->stop_ns &&
               (!d->max_ops || d->nops < d->max_ops);
}

static bool fetch(struct machine *m, struct source_state *state)
{
        unsigned batch = m->play->batch ? m->play->batch : 64;

        if (state->at < state->n)
                return true;
        if (state->source->ended || !running(m, state))
                return false;
        state->at = 0;
        state->n = state->source->class->fill(state->source, local(m, state), state->buffer, batch);
        for (unsigned i = 0; i < state->n; i++)
                state->noted[i] = state->stream->after ? state->stream->after->appended : 0;
        return state->n > 0;
}

/* A free slot; -1 where none is free at this time. */
static int free_slot(const struct machine *m, const struct source_state *state)
{
        for (unsigned i = 0; i < state->stream->depth; i++)
                if (state->slots[i] <= m->now)
                        return (int)i;
        return -1;
}

static bool may_issue(const struct machine *m, const struct source_state *state, const struct dbio_op *op, int *slot)
{
        unsigned stream = state->stream_index;
        bool planned = !state->source->class->done;

        *slot = 0;
        if (planned && op->due_ns != DBIO_NO_DUE && op->due_ns + state->stream->start_ns > m->now)
                return false;
        if (state->stream->depth && (*slot = free_slot(m, state)) < 0)
                return false;
        if (m->barriers[stream] || (op->flags & DBIO_OP_BARRIER && m->outstanding[stream]))
                return false;
        if (state->stream->after) {
                struct dbio_log_position *position = (struct dbio_log_position *)state->stream->after;

                if (position->wanted < state->noted[state->at])
                        position->wanted = state->noted[state->at];
                return position->durable >= state->noted[state->at];
        }
        return true;
}

static bool issue(struct machine *m, struct source_state *state)
{
        struct play *d = m->play;
        bool any = false;
        int slot;

        while (fetch(m, state) && running(m, state)) {
                const struct dbio_op *op = &state->buffer[state->at];

                if (!may_issue(m, state, op, &slot))
                        break;
                if (d->nops == d->capacity)
                        d->ops = realloc(d->ops, (d->capacity = d->capacity ? d->capacity * 2 : 1024) * sizeof *d->ops);
                uint64_t latency = d->latency ? d->latency(d->user, op, m->now) : d->latency_ns;
                struct play_op *out = &d->ops[d->nops];
                uint64_t intended = op->due_ns != DBIO_NO_DUE ? op->due_ns + state->stream->start_ns : m->now;

                m->bytes[state->stream_index] += op->length;
                *out = (struct play_op){
                        .op = *op,
                        .done = {intended, m->now, m->now + latency, op->length, latency},
                        .stream = state->stream_index,
                        .source = state->index,
                        .outstanding = ++m->outstanding[state->stream_index],
                        .outstanding_bytes = m->bytes[state->stream_index],
                };
                if (op->flags & DBIO_OP_BARRIER)
                        m->barriers[state->stream_index]++;
                if (state->stream->depth)
                        state->slots[slot] = UINT64_MAX;
                push(m, (struct flight){m->now + latency, d->nops, state, (unsigned)slot, op->flags & DBIO_OP_BARRIER});
                d->nops++;
                state->at++;
                any = true;
        }
        return any;
}

static void complete(struct machine *m, struct flight flight)
{
        struct source_state *state = flight.state;
        struct play_op *op = &m->play->ops[flight.seq];
        uint64_t start = state->stream->start_ns;
        struct dbio_done done = {op->done.intended_ns - start, op->done.submitted_ns - start, op->done.completed_ns - start,
                                 op->done.result, op->done.completed_ns - op->done.submitted_ns};

        m->outstanding[state->stream_index]--;
        m->bytes[state->stream_index] -= op->op.length;
        m->barriers[state->stream_index] -= flight.barrier;
        m->play->read_bytes[state->stream_index] += op->op.kind == DBIO_READ ? op->op.length : 0;
        if (state->stream->depth)
                state->slots[flight.slot] = m->now + state->stream->think_ns;
        if (state->source->class->done)
                state->source->class->done(state->source, &op->op, &done);
}

static uint64_t next_time(const struct machine *m)
{
        uint64_t next = m->nheap ? m->heap[0].completed_ns : UINT64_MAX;

        if (m->play->max_ops && m->play->nops >= m->play->max_ops)
                return next;
        for (unsigned i = 0; i < m->nstates; i++) {
                const struct source_state *state = &m->states[i];
                uint64_t start = state->stream->start_ns, at = UINT64_MAX;

                if (m->now < start) {
                        at = start;
                } else if (state->at < state->n) {
                        const struct dbio_op *op = &state->buffer[state->at];

                        if (!state->source->class->done && op->due_ns != DBIO_NO_DUE && op->due_ns + start > m->now)
                                at = op->due_ns + start;
                        for (unsigned k = 0; k < state->stream->depth; k++)
                                if (state->slots[k] > m->now && state->slots[k] < at)
                                        at = state->slots[k];
                } else if (!state->source->ended && state->source->class->wake) {
                        at = state->source->class->wake(state->source);
                        at = at == UINT64_MAX ? at : at + start;
                        if (at < m->now)
                                at = m->now;
                }
                if (at < next && at >= m->now && at < m->play->until_ns)
                        next = at;
        }
        return next;
}

static void set_up(struct machine *m)
{
        struct play *d = m->play;

        for (unsigned i = 0; i < d->nstreams; i++)
                m->nstates += d->streams[i].nsources;
        m->states = calloc(m->nstates, sizeof *m->states);
        m->outstanding = calloc(d->nstreams, sizeof *m->outstanding);
        m->barriers = calloc(d->nstreams, sizeof *m->barriers);
        m->bytes = calloc(d->nstreams, sizeof *m->bytes);
        d->read_bytes = calloc(d->nstreams, sizeof *d->read_bytes);
        d->begun = calloc(d->nstreams, sizeof *d->begun);
        struct source_state *state = m->states;
        for (unsigned i = 0; i < d->nstreams; i++)
                for (unsigned k = 0; k < d->streams[i].nsources; k++, state++) {
                        struct reporter *reporter = calloc(1, sizeof *reporter);

                        *reporter = (struct reporter){{&reporters}, d, i};
                        *state = (struct source_state){.source = d->streams[i].sources[k], .stream = &d->streams[i],
                                                       .stream_index = i, .index = k};
                        state->source->report = &reporter->base;
                        state->slots = calloc(d->streams[i].depth + 1, sizeof *state->slots);
                }
}

void play_run(struct play *d)
{
        struct machine m = {.play = d};
        uint64_t idle = 0;

        set_up(&m);
        for (;;) {
                bool any;

                do {
                        any = false;
                        for (unsigned i = 0; i < m.nstates; i++)
                                any |= issue(&m, &m.states[i]);
                } while (any);
                uint64_t next = next_time(&m);
                if (next == UINT64_MAX || (d->max_ops && d->nops >= d->max_ops && !m.nheap))
                        break;
                idle = next == m.now ? idle + 1 : 0;
                if (idle > 10000000) /* a source that is always about to have something */
                        abort();
                m.now = next;
                while (m.nheap && m.heap[0].completed_ns <= m.now)
                        complete(&m, pop(&m));
        }
        d->end_ns = m.now;
        for (unsigned i = 0; i < m.nstates; i++) {
                struct source_state *state = &m.states[i];

                if (state->source->class->finish)
                        state->source->class->finish(state->source, local(&m, state));
                free(state->source->report);
                state->source->report = NULL;
                free(state->slots);
        }
        free(m.states);
        free(m.heap);
        free(m.outstanding);
        free(m.barriers);
        free(m.bytes);
}

void play_release(struct play *d)
{
        free(d->ops);
        free(d->episodes);
        free(d->episode_stream);
        free(d->begun);
        free(d->commits);
        free(d->read_bytes);
        d->ops = NULL;
}
