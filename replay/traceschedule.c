/* The streams of a trace. All of them share one feed and live on one worker. The hub reads ahead into a window of ops, where
 * each waits until its time (timed), its turn (fast) or the completion that it followed (dependent), and hands them to its
 * target's source. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/tracerun.h"

#define WINDOW DBIO_TRACE_WINDOW
#define NONE UINT32_MAX
#define AHEAD_NS 200000000u  /* timed: read so far ahead, so that a silent stream does not fill the window for the others */
#define AHEAD_OPS 32768u     /* dependent: formed and not issued */
#define FAST_OPS 1024u       /* fast: likewise */
#define BATCH 256u           /* read in one call beyond what is due, so that no turn is long */
#define FULL_NS 1000000u     /* timed: looks again where the window is full */
#define UNKNOWN_DEPTH 32u

enum state { DONE, WAITING, READY, ISSUED }; /* of a place in the window; DONE: free for another */

struct node {
        uint64_t index, due_ns, done_ns, offset, think_ns;
        uint32_t length;
        uint32_t child, sibling;        /* a pairing heap by (due, index), one a source */
        uint32_t waiters, next_waiter;  /* that wait for its completion */
        uint16_t target;
        uint8_t kind, flags, state;
};

struct source {
        struct dbio_source base;
        struct hub *hub;
        uint32_t root;
        uint32_t queued;                /* waiting and ready */
};

struct hub {
        struct dbio_trace *trace;
        struct dbio_trace_feed *feed;
        enum dbio_trace_pace pace;
        struct node *nodes;
        struct source *sources;         /* one a target */
        struct dbio_stream *streams;
        struct dbio_source **pointers;
        uint64_t read, next;            /* ops read; fast: the one whose turn it is */
        uint64_t last_ns, now_ns, end_ns;
        unsigned queued, outstanding, depth;
        bool over, full;
};

/* --- heaps --------------------------------------------------------------------------------------------------------- */

static uint32_t meld(struct hub *hub, uint32_t a, uint32_t b)
{
        struct node *nodes = hub->nodes;

        if (a == NONE)
                return b;
        if (b == NONE)
                return a;
        if (nodes[b].due_ns < nodes[a].due_ns || (nodes[b].due_ns == nodes[a].due_ns && nodes[b].index < nodes[a].index)) {
                uint32_t swap = a;
                a = b;
                b = swap;
        }
        nodes[b].sibling = nodes[a].child;
        nodes[a].child = b;
        return a;
}

/* The children of a root that goes, melded in pairs, then all of them. */
static uint32_t meld_children(struct hub *hub, uint32_t first)
{
        struct node *nodes = hub->nodes;
        uint32_t pairs = NONE, root = NONE;

        while (first != NONE) {
                uint32_t a = first, b = nodes[a].sibling, next = b == NONE ? NONE : nodes[b].sibling;
                nodes[a].sibling = NONE;
                if (b != NONE)
                        nodes[b].sibling = NONE;
                a = meld(hub, a, b);
                nodes[a].sibling = pairs;
                pairs = a;
                first = next;
        }
        while (pairs != NONE) {
                uint32_t next = nodes[pairs].sibling;
                nodes[pairs].sibling = NONE;
                root = meld(hub, root, pairs);
                pairs = next;
        }
        return root;
}

/* --- reading ahead ------------------------------------------------------------------------------------------------- */

static void make_ready(struct hub *hub, struct node *node, uint64_t due_ns)
{
        struct source *source = &hub->sources[node->target];

        node->due_ns = due_ns;
        node->state = READY;
        node->child = node->sibling = NONE;
        source->root = meld(hub, source->root, (uint32_t)(node - hub->nodes));
}

/* An op is over: those that followed it get their time. Dropped ones take none of their own. */
static void settle(struct hub *hub, struct node *node, uint64_t done_ns)
{
        uint32_t list = node->waiters;

        node->state = DONE;
        node->done_ns = done_ns;
        node->waiters = NONE;
        while (list != NONE) {
                struct node *waiter = &hub->nodes[list];

                list = waiter->next_waiter;
                uint64_t due = done_ns + waiter->think_ns;
                if (!(waiter->flags & DBIO_TRACE_DROPPED)) {
                        make_ready(hub, waiter, due);
                        continue;
                }
                waiter->state = DONE;
                waiter->done_ns = due;
                hub->queued--;
                hub->sources[waiter->target].queued--;
                /* its own waiters, with the time between carried over */
                for (uint32_t at = waiter->waiters; at != NONE;) {
                        uint32_t next = hub->nodes[at].next_waiter;
                        hub->nodes[at].think_ns += waiter->think_ns;
                        hub->nodes[at].next_waiter = list;
                        list = at;
                        at = next;
                }
                waiter->waiters = NONE;
        }
}

static void take_op(struct hub *hub, const struct dbio_trace_op *op)
{
        struct node *node = &hub->nodes[hub->read % WINDOW], *other;
        bool dropped = op->flags & DBIO_TRACE_DROPPED;

        *node = (struct node){.index = hub->read, .offset = op->offset, .think_ns = op->think_ns, .length = op->length,
                              .target = op->target, .kind = op->kind, .flags = op->flags, .waiters = NONE,
                              .next_waiter = NONE};
        hub->last_ns = op->t_ns;
        hub->read++;
        if (dropped && (hub->pace != DBIO_PACE_DEPENDENT || !op->after || op->after >= WINDOW)) {
                node->done_ns = op->t_ns;
                return;
        }
        hub->queued++;
        hub->sources[op->target].queued++;
        if (hub->pace == DBIO_PACE_FAST) {
                make_ready(hub, node, 0);
                return;
        }
        if (hub->pace == DBIO_PACE_TIMED || !op->after || op->after >= WINDOW || op->after > node->index) {
                make_ready(hub, node, op->t_ns);
                return;
        }
        other = &hub->nodes[(node->index - op->after) % WINDOW];
        node->state = WAITING;
        node->next_waiter = other->waiters;
        other->waiters = (uint32_t)(node - hub->nodes);
        if (other->state == DONE)
                settle(hub, other, other->done_ns);
}

/* Whether to read another op for this source, n having been read in this call. */
static bool wants_more(struct hub *hub, const struct source *source, unsigned n)
{
        hub->full = hub->nodes[hub->read % WINDOW].state != DONE;
        if (hub->over || hub->full)
                return false;
        switch (hub->pace) {
        case DBIO_PACE_TIMED:
                return n < BATCH ? hub->last_ns < hub->now_ns + AHEAD_NS
                                 : source->root == NONE && hub->last_ns <= hub->now_ns;
        case DBIO_PACE_FAST:
                return hub->queued < FAST_OPS;
        case DBIO_PACE_DEPENDENT:
                return hub->queued < AHEAD_OPS && n < BATCH;
        }
        return false;
}

static void read_ahead(struct hub *hub, const struct source *source)
{
        struct dbio_trace_op op;

        for (unsigned n = 0; wants_more(hub, source, n); n++) {
                int code = dbio_trace_feed_next(hub->feed, &op, &hub->trace->failure);
                if (code <= 0) {
                        hub->over = true;
                        hub->trace->failed |= code < 0;
                        hub->end_ns = code < 0 ? 0 : dbio_trace_feed_summary(hub->feed)->end_ns;
                        return;
                }
                take_op(hub, &op);
        }
}

/* --- sources ------------------------------------------------------------------------------------------------------- */

static bool may_go(const struct hub *hub, const struct node *node)
{
        if (hub->pace == DBIO_PACE_FAST)
                return node->index == hub->next && hub->outstanding < hub->depth;
        return node->due_ns <= hub->now_ns;
}

/* Ops that were left out have no turn. */
static void skip_dropped(struct hub *hub)
{
        while (hub->next < hub->read && hub->nodes[hub->next % WINDOW].index == hub->next &&
               hub->nodes[hub->next % WINDOW].state == DONE)
                hub->next++;
}

static void issue(struct source *source, struct dbio_op *op)
{
        struct hub *hub = source->hub;
        struct node *node = &hub->nodes[source->root];

        source->root = meld_children(hub, node->child);
        source->queued--;
        hub->queued--;
        hub->outstanding++;
        hub->next++;
        node->state = hub->pace == DBIO_PACE_DEPENDENT ? ISSUED : DONE;
        *op = (struct dbio_op){.offset = node->offset, .length = node->length, .target = node->target, .kind = node->kind,
                               .flags = node->flags, .role = DBIO_ROLE_IO, .cookie = node->index,
                               .due_ns = hub->pace == DBIO_PACE_FAST ? hub->now_ns : node->due_ns};
}

static bool is_finished(const struct source *source)
{
        const struct hub *hub = source->hub;

        return hub->over && !source->queued && (hub->pace != DBIO_PACE_TIMED || hub->now_ns >= hub->end_ns);
}

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct source *source = (struct source *)base;
        struct hub *hub = source->hub;
        unsigned n = 0;

        hub->now_ns = now_ns;
        read_ahead(hub, source);
        if (hub->pace == DBIO_PACE_FAST)
                skip_dropped(hub);
        while (n < max && source->root != NONE && may_go(hub, &hub->nodes[source->root]))
                issue(source, &ops[n++]);
        base->ended = is_finished(source) || (hub->trace->failed && !n);
        return n;
}

static void done(struct dbio_source *base, const struct dbio_op *op, const struct dbio_done *how)
{
        struct hub *hub = ((struct source *)base)->hub;
        struct node *node = &hub->nodes[op->cookie % WINDOW];

        hub->outstanding--;
        if (hub->pace == DBIO_PACE_DEPENDENT)
                settle(hub, node, how->completed_ns);
}

static uint64_t wake(struct dbio_source *base)
{
        struct source *source = (struct source *)base;
        struct hub *hub = source->hub;

        if (base->ended)
                return UINT64_MAX;
        if (hub->trace->failed)
                return 0;
        if (source->root != NONE) {
                const struct node *node = &hub->nodes[source->root];
                if (hub->pace != DBIO_PACE_FAST)
                        return node->due_ns;
                return may_go(hub, node) ? 0 : UINT64_MAX;
        }
        if (hub->over)
                return source->queued ? UINT64_MAX : hub->pace == DBIO_PACE_TIMED ? hub->end_ns : 0;
        if (hub->pace == DBIO_PACE_TIMED)
                return hub->full ? hub->now_ns + FULL_NS : hub->last_ns;
        return hub->full || hub->queued >= (hub->pace == DBIO_PACE_FAST ? FAST_OPS : AHEAD_OPS) ? UINT64_MAX : 0;
}

static void keep_source(struct dbio_source *source)
{
        (void)source; /* it belongs to the hub */
}

static const struct dbio_source_class source_class = {.fill = fill, .done = done, .wake = wake, .free = keep_source};

/* --- the schedule -------------------------------------------------------------------------------------------------- */

struct schedule {
        struct dbio_schedule base;
        struct dbio_trace *trace;
        const char **names;
        uint64_t *bytes;
        unsigned *sectors;
};

static const char *const phase_names[] = {"trace"};

static void phase_close(struct dbio_schedule *base, struct dbio_phase *phase)
{
        struct hub *hub = phase->state;

        (void)base;
        if (!hub)
                return;
        if (hub->feed && !hub->read && !hub->trace->spare)
                hub->trace->spare = hub->feed;
        else
                dbio_trace_feed_close(hub->feed);
        free(hub->nodes);
        free(hub->sources);
        free(hub->streams);
        free(hub->pointers);
        free(hub);
        memset(phase, 0, sizeof *phase);
}

static void make_stream(struct schedule *schedule, struct hub *hub, unsigned i)
{
        const struct dbio_trace *trace = schedule->trace;
        const struct dbio_trace_target *target = &trace->targets[i];
        struct dbio_stream *stream = &hub->streams[i];
        bool all = trace->options.fold || !trace->whole;
        uint64_t span = trace->summary.last_ns - trace->summary.first_ns;

        hub->sources[i] = (struct source){.base = {.class = &source_class}, .hub = hub, .root = NONE};
        hub->pointers[i] = &hub->sources[i].base;
        *stream = (struct dbio_stream){.name = target->name, .pattern = "trace", .threads = 1, .nsources = 1,
                                       .flags = DBIO_STREAM_REACTIVE | (hub->pace == DBIO_PACE_TIMED ? DBIO_STREAM_TIMED : 0),
                                       .sources = &hub->pointers[i], .stop_ns = UINT64_MAX, .group = 1, .nuses = 1};
        stream->load = span ? (double)trace->ops * 1e9 / (double)span / trace->ntargets : 0;
        stream->max_length = trace->whole ? (trace->summary.max_length + 8191) / 4096 * 4096 : 16u << 20;
        stream->uses[0].target = (uint16_t)i;
        stream->uses[0].reads = target->reads || !trace->whole;
        stream->uses[0].writes = (target->writes || !trace->whole) && !trace->options.reads_only;
        stream->uses[0].to = all || target->end > schedule->bytes[i] ? schedule->bytes[i] : target->end;
}

static int check_fit(const struct schedule *schedule, struct dbio_err *err)
{
        const struct dbio_trace *trace = schedule->trace;

        for (unsigned i = 0; i < trace->ntargets; i++) {
                unsigned large = schedule->sectors[i] > 512;
                if (trace->whole && !trace->options.fold && trace->targets[i].end > schedule->bytes[i])
                        return dbio_err_set(err, DBIO_USAGE, "target %s has %" PRIu64 " bytes, the trace reaches to %" PRIu64
                                                             ": --fold takes what lies beyond inside", trace->targets[i].name,
                                            schedule->bytes[i], trace->targets[i].end);
                if (trace->whole && trace->options.misaligned == DBIO_MISALIGNED_REFUSE && trace->summary.misaligned[large])
                        return dbio_err_set(err, DBIO_USAGE, "%" PRIu64 " ops do not begin and end on sectors of %u bytes%s%s; "
                                                             "--misaligned round widens them, pass issues them as they are",
                                            trace->summary.misaligned[large], schedule->sectors[i],
                                            trace->summary.first_misaligned[0] ? ", first " : "",
                                            trace->summary.first_misaligned);
        }
        return 0;
}

static int phase_open(struct dbio_schedule *base, unsigned number, struct dbio_phase *phase, struct dbio_err *err)
{
        struct schedule *schedule = (struct schedule *)base;
        struct dbio_trace *trace = schedule->trace;
        struct hub *hub = calloc(1, sizeof *hub);

        (void)number;
        memset(phase, 0, sizeof *phase);
        phase->state = hub;
        if (hub) {
                hub->trace = trace;
                hub->pace = trace->pace;
                hub->depth = trace->summary.peak_depth ? trace->summary.peak_depth : UNKNOWN_DEPTH;
                hub->nodes = calloc(WINDOW, sizeof *hub->nodes);
                hub->sources = calloc(trace->ntargets, sizeof *hub->sources);
                hub->streams = calloc(trace->ntargets, sizeof *hub->streams);
                hub->pointers = calloc(trace->ntargets, sizeof(struct dbio_source *));
        }
        if (!hub || !hub->nodes || !hub->sources || !hub->streams || !hub->pointers) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto fail;
        }
        if (check_fit(schedule, err) || dbio_trace_feed_take(trace, &hub->feed, err))
                goto fail;
        dbio_trace_feed_fit(hub->feed, schedule->names, schedule->bytes, schedule->sectors, trace->ntargets);
        for (unsigned i = 0; i < trace->ntargets; i++)
                make_stream(schedule, hub, i);
        *phase = (struct dbio_phase){.name = phase_names[0], .duration_ns = trace->duration_ns, .ops = UINT64_MAX, .record = true,
                                     .nstreams = trace->ntargets, .streams = hub->streams, .state = hub};
        return 0;
fail:
        phase_close(base, phase);
        return -1;
}

static void free_schedule(struct dbio_schedule *base)
{
        struct schedule *schedule = (struct schedule *)base;

        free(schedule->names);
        free(schedule->bytes);
        free(schedule->sectors);
        free(schedule);
}

int dbio_trace_compile(struct dbio_trace *trace, const struct dbio_geometry *geometry, struct dbio_schedule **out,
                       struct dbio_err *err)
{
        struct schedule *schedule = calloc(1, sizeof *schedule);
        unsigned n = trace->ntargets;

        *out = NULL;
        if (schedule) {
                schedule->names = calloc(n, sizeof *schedule->names);
                schedule->bytes = calloc(n, sizeof *schedule->bytes);
                schedule->sectors = calloc(n, sizeof *schedule->sectors);
        }
        if (!schedule || !schedule->names || !schedule->bytes || !schedule->sectors) {
                if (schedule)
                        free_schedule(&schedule->base);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        for (unsigned i = 0; i < n; i++) {
                schedule->names[i] = trace->targets[i].name;
                schedule->bytes[i] = geometry[i].file_size * geometry[i].nfiles;
                schedule->sectors[i] = geometry[i].sector;
        }
        schedule->trace = trace;
        schedule->base = (struct dbio_schedule){.ntargets = n, .nphases = 1, .target_names = schedule->names,
                                                .phase_names = phase_names, .phase_open = phase_open,
                                                .phase_close = phase_close, .free = free_schedule};
        memcpy(schedule->base.hash, trace->hash, sizeof schedule->base.hash);
        *out = &schedule->base;
        return 0;
}
