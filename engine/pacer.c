#include "engine/pacer.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wakes.h"

#define NONE UINT32_MAX
#define AHEAD 8            /* ops that a planned source gives in advance */
#define BUDGET 128         /* ops formed in a turn, so that none is long */
#define UNCAPPED 2048u     /* ops in flight of a stream without a depth */
#define UNCAPPED_MAX 8192u /* of all such on a worker */
#define OPS_MAX 32768u
#define COMMANDS_MAX 16384u
#define CLOSED_DEPTH 1024u /* of a closed loop that names none */
#define RETRY_NS 1000      /* for a source that says "now" and gives nothing */
#define HBA_POLL_NS 20000
#define BURST_NS 2000000   /* by which a worker that was late may catch up under a cap */

enum lane_kind { CLOSED, TIMED, REACTIVE };

/* Sources whose fill and done may change when the others have something. */
struct group {
        uint32_t first, nr; /* reactive lanes, in pacer->members */
        bool touched;
};

struct log {
        struct dbio_log_position *position;
        uint64_t durable; /* last seen */
        uint32_t lane;    /* its first */
        uint32_t waiters; /* list of lanes */
};

/* One source. */
struct lane {
        struct dbio_source *source;
        const struct dbio_stream *stream;
        uint64_t start_ns, stop_ns, think_ns;
        uint64_t room_ns;  /* since when there was room for another op */
        uint64_t barren_ns, seq;
        uint32_t stream_index, depth, outstanding, let_go, barren;
        uint32_t pending_head, pending_tail; /* formed, not let go */
        uint32_t next_listed, next_waiter, next_starved;
        uint32_t group, log, after;
        uint32_t freed_head, nfreed;
        uint64_t *freed;   /* closed loop: when slots became free (think included), a ring of `depth` */
        uint8_t kind, ahead_head, nahead;
        bool listed, waiting, starved, over, finished, finite, barrier, capped;
        struct dbio_op ahead[AHEAD];
};

struct port {
        uint32_t head, tail; /* ops that only the HBA holds back */
        bool claimed;        /* room for one more command is ours */
        bool at_cap;
        uint64_t at_cap_ns, blocked_ns; /* blocked: last refusal + 1 */
        _Atomic uint32_t *own;
};

struct dbio_pacer {
        struct dbio_pacer_config config;
        struct lane *lanes;
        struct group *groups;
        uint32_t *members;
        struct log *logs;
        unsigned nlogs, ngroups;
        struct dbio_slot *slots;
        struct port *ports;
        unsigned *port_turn;  /* per stream */
        struct dbio_wakes wakes; /* of lanes */
        unsigned next_port;
        uint64_t now_ns, turn_ns, close_ns; /* turn: of the last */
        uint64_t *freed;
        uint32_t free_slot, listed_head, listed_tail, starved_head, starved_tail, turn;
        unsigned uncapped, uncapped_max, inflight, begun, queued, left, finite_left;
        double ns_per_op, ns_per_byte;
        uint32_t *touched;   /* groups in which something happened in this turn */
        unsigned ntouched;
        bool closing, closed, capped, limited;
        struct dbio_pacer_figures figures;
};

static void unschedule(struct dbio_pacer *p, const struct lane *lane)
{
        dbio_wakes_remove(&p->wakes, (uint32_t)(lane - p->lanes));
}

static void schedule(struct dbio_pacer *p, const struct lane *lane, uint64_t wake_ns)
{
        if (wake_ns != UINT64_MAX)
                dbio_wakes_add(&p->wakes, (uint32_t)(lane - p->lanes), wake_ns);
}

/* --- small things ------------------------------------------------------------------------------------------------- */

static uint64_t scaled(const struct dbio_pacer *p, uint64_t ns)
{
        if (p->config.scale_time == 1 || ns == UINT64_MAX)
                return ns;
        return (uint64_t)ceil((double)ns * p->config.scale_time);
}

static uint64_t phase_time(const struct dbio_pacer *p, const struct lane *lane, uint64_t stream_ns)
{
        return stream_ns >= UINT64_MAX / 2 ? UINT64_MAX : lane->start_ns + scaled(p, stream_ns);
}

static uint64_t stream_time(const struct dbio_pacer *p, const struct lane *lane, uint64_t phase_ns)
{
        uint64_t ns = phase_ns > lane->start_ns ? phase_ns - lane->start_ns : 0;

        return p->config.scale_time == 1 ? ns : (uint64_t)((double)ns / p->config.scale_time + 1e-3);
}

static void list(struct dbio_pacer *p, struct lane *lane)
{
        uint32_t number = (uint32_t)(lane - p->lanes);

        if (lane->listed || lane->finished)
                return;
        lane->listed = true;
        lane->next_listed = NONE;
        if (p->listed_head == NONE)
                p->listed_head = number;
        else
                p->lanes[p->listed_tail].next_listed = number;
        p->listed_tail = number;
}

static void touch(struct dbio_pacer *p, const struct lane *lane)
{
        struct group *group = &p->groups[lane->group];

        if (!group->touched)
                p->touched[p->ntouched++] = lane->group;
        group->touched = true;
}

static void starve(struct dbio_pacer *p, struct lane *lane)
{
        uint32_t number = (uint32_t)(lane - p->lanes);

        if (lane->starved)
                return;
        lane->starved = true;
        lane->next_starved = NONE;
        if (p->starved_head == NONE)
                p->starved_head = number;
        else
                p->lanes[p->starved_tail].next_starved = number;
        p->starved_tail = number;
}

static struct dbio_slot *take_slot(struct dbio_pacer *p, struct lane *lane)
{
        if (p->free_slot == NONE || (!lane->capped && p->uncapped >= p->uncapped_max)) {
                starve(p, lane);
                return NULL;
        }
        struct dbio_slot *slot = &p->slots[p->free_slot];

        p->free_slot = slot->next;
        p->uncapped += !lane->capped;
        lane->outstanding++;
        return slot;
}

static void free_slot(struct dbio_pacer *p, struct lane *lane, struct dbio_slot *slot)
{
        if (slot->buffer)
                dbio_buffers_give(p->config.buffers, slot->buffer, slot->op.length);
        slot->buffer = NULL;
        slot->next = p->free_slot;
        p->free_slot = (uint32_t)(slot - p->slots);
        p->uncapped -= !lane->capped;
        lane->outstanding--;
        if (p->starved_head != NONE) {
                struct lane *hungry = &p->lanes[p->starved_head];

                p->starved_head = hungry->next_starved;
                hungry->starved = false;
                hungry->room_ns = p->now_ns;
                list(p, hungry);
        }
}

static void check_finished(struct dbio_pacer *p, struct lane *lane)
{
        if (lane->finished || lane->outstanding || !(lane->over || (lane->source->ended && !lane->nahead)))
                return;
        lane->finished = true;
        unschedule(p, lane);
        p->left--;
        p->finite_left -= lane->finite;
}

static void drop(struct dbio_pacer *p, struct lane *lane, struct dbio_slot *slot)
{
        if (lane->kind == TIMED)
                p->figures.unissued[lane->stream_index]++;
        free_slot(p, lane, slot);
}

/* --- letting ops go ------------------------------------------------------------------------------------------------ */

/* Takes room for ns of a cap's time; else tells when there will be some. */
static bool take_cap(_Atomic uint64_t *cap, uint64_t now_ns, uint64_t ns, uint64_t *when)
{
        uint64_t next = atomic_load_explicit(cap, memory_order_relaxed), base;

        do {
                if (next > now_ns) {
                        *when = next;
                        return false;
                }
                base = now_ns - next > BURST_NS ? now_ns - BURST_NS : next;
        } while (!atomic_compare_exchange_weak_explicit(cap, &next, base + ns, memory_order_relaxed,
                                                        memory_order_relaxed));
        return true;
}

static bool caps_allow(struct dbio_pacer *p, struct lane *lane, const struct dbio_slot *slot)
{
        uint64_t when, ns_op = (uint64_t)p->ns_per_op, ns_bytes = (uint64_t)(p->ns_per_byte * slot->op.length);
        struct dbio_pace *pace = p->config.pace;

        if (ns_op && !take_cap(&pace->iops_ns, p->now_ns, ns_op, &when)) {
                schedule(p, lane, when);
                return false;
        }
        if (ns_bytes && !take_cap(&pace->bytes_ns, p->now_ns, ns_bytes, &when)) {
                atomic_fetch_sub_explicit(&pace->iops_ns, ns_op, memory_order_relaxed);
                schedule(p, lane, when);
                return false;
        }
        return true;
}

static bool log_allows(struct dbio_pacer *p, struct lane *lane, const struct dbio_slot *slot)
{
        struct log *log = &p->logs[lane->after];

        if (log->position->durable >= slot->after)
                return true;
        if (!lane->waiting) {
                lane->waiting = true;
                lane->next_waiter = log->waiters;
                log->waiters = (uint32_t)(lane - p->lanes);
        }
        if (log->position->wanted < slot->after) {
                log->position->wanted = slot->after;
                list(p, &p->lanes[log->lane]);
        }
        return false;
}

static bool may_go(struct dbio_pacer *p, struct lane *lane, const struct dbio_slot *slot)
{
        if (lane->barrier || (slot->op.flags & DBIO_OP_BARRIER && lane->let_go))
                return false;
        if (lane->after != NONE && !log_allows(p, lane, slot))
                return false;
        return !p->capped || caps_allow(p, lane, slot);
}

/* All but the HBA lets it go. */
static void let_go(struct dbio_pacer *p, struct lane *lane, struct dbio_slot *slot)
{
        uint64_t limit = p->config.phase->ops;

        if (limit != UINT64_MAX && slot->op.kind <= DBIO_WRITE &&
            atomic_fetch_add_explicit(&p->config.pace->ops, 1, memory_order_relaxed) >= limit) {
                drop(p, lane, slot);
                return;
        }
        lane->let_go++;
        lane->barrier = slot->op.flags & DBIO_OP_BARRIER;
        slot->queued_ns = p->now_ns;
        if (slot->turn != p->turn && slot->ready_ns < p->now_ns)
                slot->ready_ns = p->now_ns;
        if (p->config.hba.ports > 1)
                slot->port = (uint16_t)(p->port_turn[lane->stream_index]++ % p->config.hba.ports);
        struct port *port = &p->ports[slot->port];
        uint32_t number = (uint32_t)(slot - p->slots);

        slot->next = NONE;
        if (port->head == NONE)
                port->head = number;
        else
                p->slots[port->tail].next = number;
        port->tail = number;
        p->queued++;
}

static void release_pending(struct dbio_pacer *p, struct lane *lane)
{
        while (lane->pending_head != NONE) {
                struct dbio_slot *slot = &p->slots[lane->pending_head];

                if (!may_go(p, lane, slot))
                        return;
                lane->pending_head = slot->next;
                let_go(p, lane, slot);
        }
}

static unsigned commands_of(const struct dbio_pacer_config *config, const struct dbio_op *op)
{
        uint64_t max = config->hba.max_transfer;

        if (op->kind == DBIO_FSYNC)
                return config->files ? config->files[op->target] : 1;
        return max && op->kind != DBIO_TRIM && op->length > max ? (unsigned)((op->length + max - 1) / max) : 1;
}

static void form(struct dbio_pacer *p, struct lane *lane, struct dbio_slot *slot, const struct dbio_op *op,
                 uint64_t intended_ns)
{
        slot->op = *op;
        slot->intended_ns = intended_ns;
        slot->ready_ns = lane->room_ns > intended_ns ? lane->room_ns : intended_ns;
        slot->after = lane->after == NONE ? 0 : p->logs[lane->after].position->appended;
        slot->seq = lane->seq++;
        slot->hba_wait_ns = 0;
        slot->hba_waited = false;
        slot->result = 0;
        slot->lane = (uint32_t)(lane - p->lanes);
        slot->stream = lane->stream_index;
        slot->turn = p->turn;
        slot->commands = (uint16_t)commands_of(&p->config, op);
        slot->issued = slot->returned = 0;
        if (lane->pending_head == NONE && may_go(p, lane, slot)) {
                let_go(p, lane, slot);
                return;
        }
        uint32_t number = (uint32_t)(slot - p->slots);

        slot->next = NONE;
        if (lane->pending_head == NONE)
                lane->pending_head = number;
        else
                p->slots[lane->pending_tail].next = number;
        lane->pending_tail = number;
}

/* --- lanes --------------------------------------------------------------------------------------------------------- */

static const struct dbio_op *look_ahead(struct dbio_pacer *p, struct lane *lane)
{
        if (!lane->nahead) {
                if (lane->source->ended)
                        return NULL;
                lane->ahead_head = 0;
                lane->nahead = (uint8_t)lane->source->class->fill(lane->source, stream_time(p, lane, p->now_ns),
                                                                  lane->ahead, AHEAD);
                if (!lane->nahead)
                        return NULL;
        }
        return &lane->ahead[lane->ahead_head];
}

static void run_timed(struct dbio_pacer *p, struct lane *lane, unsigned *budget)
{
        const struct dbio_op *op;

        while ((op = look_ahead(p, lane))) {
                uint64_t due = op->due_ns == DBIO_NO_DUE ? p->now_ns : phase_time(p, lane, op->due_ns);

                if (due >= lane->stop_ns || due >= p->config.end_ns) {
                        lane->over = true;
                        return;
                }
                if (due > p->now_ns) {
                        schedule(p, lane, due);
                        return;
                }
                if (lane->depth && lane->outstanding >= lane->depth)
                        return;
                if (!*budget) {
                        list(p, lane);
                        return;
                }
                struct dbio_slot *slot = take_slot(p, lane);

                if (!slot)
                        return;
                lane->ahead_head++;
                lane->nahead--;
                --*budget;
                form(p, lane, slot, op, due);
        }
}

static void run_closed(struct dbio_pacer *p, struct lane *lane, unsigned *budget)
{
        const struct dbio_op *op;

        if (p->now_ns >= lane->stop_ns) {
                lane->over = true;
                return;
        }
        while (lane->nfreed && (op = look_ahead(p, lane))) {
                uint64_t free_ns = lane->freed[lane->freed_head];

                if (free_ns > p->now_ns) {
                        schedule(p, lane, free_ns < lane->stop_ns ? free_ns : lane->stop_ns);
                        return;
                }
                if (!*budget) {
                        list(p, lane);
                        return;
                }
                struct dbio_slot *slot = take_slot(p, lane);

                if (!slot)
                        return;
                if (++lane->freed_head == lane->depth)
                        lane->freed_head = 0;
                lane->nfreed--;
                lane->ahead_head++;
                lane->nahead--;
                --*budget;
                form(p, lane, slot, op, free_ns);
        }
}

static uint64_t wake_of(const struct dbio_pacer *p, const struct lane *lane)
{
        if (!lane->source->class->wake || lane->source->ended)
                return UINT64_MAX;
        return phase_time(p, lane, lane->source->class->wake(lane->source));
}

static unsigned room_for(const struct dbio_pacer *p, const struct lane *lane, unsigned budget)
{
        unsigned room = budget < 16 ? budget : 16;

        if (lane->depth && lane->depth - lane->outstanding < room)
                room = lane->depth - lane->outstanding;
        if (!lane->capped && p->uncapped_max - p->uncapped < room)
                room = p->uncapped_max - p->uncapped;
        return room;
}

static void run_reactive(struct dbio_pacer *p, struct lane *lane, unsigned *budget)
{
        struct dbio_op ops[16];

        if (p->now_ns >= lane->stop_ns) {
                lane->over = true;
                return;
        }
        while (!lane->source->ended) {
                unsigned room = room_for(p, lane, *budget);

                if (!room || p->free_slot == NONE) {
                        if (!*budget)
                                list(p, lane);
                        else if (!lane->depth || lane->outstanding < lane->depth)
                                starve(p, lane);
                        break;
                }
                unsigned n = lane->source->class->fill(lane->source, stream_time(p, lane, p->now_ns), ops, room);

                touch(p, lane);
                if (!n) {
                        lane->barren = lane->barren_ns == p->now_ns ? lane->barren + 1 : 1;
                        lane->barren_ns = p->now_ns;
                        break;
                }
                *budget -= n;
                for (unsigned i = 0; i < n; i++) {
                        struct dbio_slot *slot = take_slot(p, lane);
                        uint64_t due = ops[i].due_ns == DBIO_NO_DUE ? p->now_ns : phase_time(p, lane, ops[i].due_ns);

                        if (!slot)
                                return; /* cannot be: a capped lane has its slots, others were counted */
                        form(p, lane, slot, &ops[i], due < p->now_ns ? due : p->now_ns);
                }
        }
        schedule(p, lane, lane->stop_ns);
}

static void run_lane(struct dbio_pacer *p, struct lane *lane, unsigned *budget)
{
        if (lane->finished)
                return;
        unschedule(p, lane);
        if (p->now_ns < lane->start_ns) {
                schedule(p, lane, lane->start_ns);
                return;
        }
        release_pending(p, lane);
        if (!p->closed && !lane->over) {
                if (lane->kind == TIMED)
                        run_timed(p, lane, budget);
                else if (p->closing)
                        return;
                else if (lane->kind == CLOSED)
                        run_closed(p, lane, budget);
                else
                        run_reactive(p, lane, budget);
        }
        check_finished(p, lane);
}

/* Lets lanes go on whose log has become durable, and asks the sources of groups in which something happened again. */
static void settle(struct dbio_pacer *p)
{
        for (unsigned i = 0; i < p->nlogs; i++) {
                struct log *log = &p->logs[i];

                if (log->durable == log->position->durable)
                        continue;
                log->durable = log->position->durable;
                while (log->waiters != NONE) {
                        struct lane *lane = &p->lanes[log->waiters];

                        log->waiters = lane->next_waiter;
                        lane->waiting = false;
                        list(p, lane);
                }
        }
        while (p->ntouched) {
                struct group *group = &p->groups[p->touched[--p->ntouched]];

                group->touched = false;
                for (unsigned k = 0; k < group->nr; k++) {
                        struct lane *lane = &p->lanes[p->members[group->first + k]];
                        uint64_t wake = lane->listed || lane->finished ? UINT64_MAX : wake_of(p, lane);

                        if (wake < lane->start_ns)
                                wake = lane->start_ns;
                        if (wake > p->now_ns)
                                schedule(p, lane, wake);
                        else if (lane->barren_ns == p->now_ns && lane->barren > 4)
                                schedule(p, lane, p->now_ns + RETRY_NS);
                        else if (!lane->depth || lane->outstanding < lane->depth)
                                list(p, lane);
                }
        }
}

void dbio_pacer_turn(struct dbio_pacer *p, uint64_t now_ns)
{
        unsigned budget = BUDGET;

        p->now_ns = p->turn_ns = now_ns;
        p->turn++;
        while (dbio_wakes_first(&p->wakes) <= now_ns) {
                struct lane *lane = &p->lanes[p->wakes.heap[0]];

                unschedule(p, lane);
                list(p, lane);
        }
        for (;;) {
                while (p->listed_head != NONE && budget) {
                        struct lane *lane = &p->lanes[p->listed_head];

                        p->listed_head = lane->next_listed;
                        lane->listed = false;
                        run_lane(p, lane, &budget);
                }
                if (!p->ntouched)
                        break;
                settle(p);
        }
}

uint64_t dbio_pacer_wake(const struct dbio_pacer *p, uint64_t now_ns)
{
        if (p->listed_head != NONE)
                return 0;
        uint64_t wake = p->closed ? UINT64_MAX : dbio_wakes_first(&p->wakes);

        /* where other workers hold what the HBA allows, nothing of our own tells when that changes */
        if (p->queued && p->limited && p->config.nworkers > 1 && wake > now_ns + HBA_POLL_NS)
                wake = now_ns + HBA_POLL_NS;
        return wake;
}

/* --- commands ------------------------------------------------------------------------------------------------------ */

static uint32_t outstanding(const struct dbio_pacer *p, const struct port *port)
{
        unsigned n = p->config.hba.ports, number = (unsigned)(port - p->ports);
        uint32_t sum = 0;

        for (unsigned i = 0; i < p->config.nworkers; i++)
                sum += atomic_load(&p->config.pace->ports[i * n + number].outstanding);
        return sum;
}

/* One more command on the port; ours is raised before the sum is taken, so that two workers never both take the last
 * place (sequentially consistent; at worst both step back). */
static bool claim(struct dbio_pacer *p, struct port *port)
{
        uint64_t cap = p->config.hba.max_outstanding;
        uint32_t own = atomic_load_explicit(port->own, memory_order_relaxed), sum;
        struct dbio_limit_use *use = &p->figures.outstanding;

        atomic_store(port->own, own + 1);
        sum = outstanding(p, port);
        if (sum >= cap && !port->at_cap) {
                port->at_cap = true;
                port->at_cap_ns = p->now_ns;
        }
        if (sum > cap) {
                atomic_store(port->own, own);
                port->blocked_ns = p->now_ns + 1;
                return false;
        }
        if (sum > use->peak)
                use->peak = sum;
        port->claimed = true;
        return true;
}

static void give_back(struct dbio_pacer *p, struct port *port, uint64_t now_ns)
{
        atomic_store(port->own, atomic_load_explicit(port->own, memory_order_relaxed) - 1);
        if (port->at_cap) {
                p->figures.outstanding.at_cap_ns += now_ns - port->at_cap_ns;
                port->at_cap = false;
        }
}

static bool has_buffer(struct dbio_pacer *p, struct dbio_slot *slot)
{
        if (slot->buffer || !p->config.buffers ||
            !(slot->op.kind == DBIO_WRITE || (slot->op.kind == DBIO_READ && p->config.buffer_reads)))
                return true;
        slot->buffer = dbio_buffers_take(p->config.buffers, slot->op.length);
        return slot->buffer;
}

bool dbio_pacer_peek(struct dbio_pacer *p, struct dbio_command *command)
{
        if (!p->queued)
                return false;
        for (unsigned i = 0; i < p->config.hba.ports; i++) {
                struct port *port = &p->ports[(p->next_port + i) % p->config.hba.ports];

                if (port->head == NONE)
                        continue;
                struct dbio_slot *slot = &p->slots[port->head];
                uint64_t max = p->config.hba.max_transfer, done = slot->issued * max;

                if (!has_buffer(p, slot) || (p->limited && !port->claimed && !claim(p, port)))
                        continue;
                command->slot = slot;
                command->number = slot->issued;
                command->offset = slot->op.offset;
                command->length = slot->op.length;
                if (slot->commands > 1 && slot->op.kind != DBIO_FSYNC) {
                        command->offset += done;
                        command->length = (uint32_t)(slot->op.length - done < max ? slot->op.length - done : max);
                }
                return true;
        }
        return false;
}

/* The op's first command goes: what had it waited for at the HBA? */
static void begin(struct dbio_pacer *p, struct dbio_slot *slot, const struct port *port)
{
        struct dbio_limit_use *use = &p->figures.outstanding;

        p->begun++;
        p->figures.issued[slot->stream]++;
        p->figures.transfer.hits += slot->commands > 1 && slot->op.kind != DBIO_FSYNC;
        if (port->blocked_ns <= slot->queued_ns || p->now_ns <= slot->queued_ns)
                return;
        slot->hba_waited = true;
        slot->hba_wait_ns = p->now_ns - slot->queued_ns;
        slot->ready_ns = p->now_ns;
        use->hits++;
        use->wait_ns += slot->hba_wait_ns;
}

void dbio_pacer_commit(struct dbio_pacer *p, const struct dbio_command *command)
{
        struct dbio_slot *slot = command->slot;
        struct port *port = &p->ports[slot->port];

        if (!slot->issued)
                begin(p, slot, port);
        if (command->length > p->figures.transfer.peak)
                p->figures.transfer.peak = command->length;
        port->claimed = false;
        p->inflight++;
        if (++slot->issued == slot->commands) {
                port->head = slot->next;
                p->queued--;
        }
        if (p->config.hba.ports > 1)
                p->next_port = (slot->port + 1u) % p->config.hba.ports;
}

bool dbio_pacer_returned(struct dbio_pacer *p, struct dbio_slot *slot, int64_t result, uint64_t now_ns)
{
        p->inflight--;
        if (p->limited)
                give_back(p, &p->ports[slot->port], now_ns);
        if (slot->result >= 0)
                slot->result = result < 0 ? result : slot->result + result;
        return ++slot->returned == slot->commands;
}

static void tell(struct dbio_pacer *p, struct lane *lane, const struct dbio_slot *slot, uint64_t completed_ns)
{
        struct dbio_done done = {
                .intended_ns = stream_time(p, lane, slot->intended_ns),
                .submitted_ns = stream_time(p, lane, slot->submitted_ns),
                .completed_ns = stream_time(p, lane, completed_ns),
                .result = slot->result,
        };

        lane->source->class->done(lane->source, &slot->op, &done);
        touch(p, lane);
}

void dbio_pacer_done(struct dbio_pacer *p, struct dbio_slot *slot, uint64_t completed_ns)
{
        struct lane *lane = &p->lanes[slot->lane];
        bool was_full = lane->depth && lane->outstanding >= lane->depth;

        p->now_ns = completed_ns;
        p->begun--;
        lane->let_go--;
        if (slot->op.flags & DBIO_OP_BARRIER)
                lane->barrier = false;
        if (lane->source->class->done)
                tell(p, lane, slot, completed_ns);
        free_slot(p, lane, slot);
        if (lane->kind == CLOSED) {
                uint32_t at = lane->freed_head + lane->nfreed;

                lane->freed[at >= lane->depth ? at - lane->depth : at] = completed_ns + lane->think_ns;
                lane->nfreed++;
        } else if (was_full) {
                lane->room_ns = completed_ns;
        }
        /* an open loop has nothing to do with completions, unless it waits for one or for its end */
        if (lane->kind != TIMED || was_full || lane->pending_head != NONE || !lane->outstanding)
                list(p, lane);
}

/* --- end ----------------------------------------------------------------------------------------------------------- */

static void drop_pending(struct dbio_pacer *p, struct lane *lane)
{
        while (lane->pending_head != NONE) {
                struct dbio_slot *slot = &p->slots[lane->pending_head];

                lane->pending_head = slot->next;
                drop(p, lane, slot);
        }
}

static void drop_queued(struct dbio_pacer *p, struct port *port)
{
        uint32_t number = port->head, keep = NONE;

        while (number != NONE) {
                struct dbio_slot *slot = &p->slots[number];

                number = slot->next;
                if (slot->issued) {
                        keep = (uint32_t)(slot - p->slots); /* begun: its other commands follow */
                        slot->next = NONE;
                        continue;
                }
                p->queued--;
                p->lanes[slot->lane].let_go--;
                drop(p, &p->lanes[slot->lane], slot);
        }
        port->head = port->tail = keep;
        if (port->claimed && keep == NONE) {
                port->claimed = false;
                give_back(p, port, p->now_ns);
        }
}

/* Its next op fell due since the last turn: it is not behind. */
static bool fell_due(struct dbio_pacer *p, struct lane *lane)
{
        const struct dbio_op *op = lane->kind == TIMED ? look_ahead(p, lane) : NULL;

        return op && op->due_ns != DBIO_NO_DUE && phase_time(p, lane, op->due_ns) > p->turn_ns;
}

void dbio_pacer_close(struct dbio_pacer *p, uint64_t now_ns, bool keep_queued)
{
        if (p->closed)
                return;
        p->now_ns = now_ns;
        p->close_ns = now_ns < p->config.end_ns ? now_ns : p->config.end_ns;
        p->closing = true;
        p->turn++;
        for (unsigned i = 0; i < p->config.nlanes; i++)
                drop_pending(p, &p->lanes[i]);
        for (unsigned i = 0; !keep_queued && i < p->config.hba.ports; i++)
                drop_queued(p, &p->ports[i]);
        while (now_ns >= p->config.end_ns && !keep_queued && dbio_wakes_first(&p->wakes) <= now_ns) {
                struct lane *lane = &p->lanes[p->wakes.heap[0]];
                unsigned budget = UINT32_MAX;

                unschedule(p, lane);
                if (fell_due(p, lane))
                        run_lane(p, lane, &budget);
                drop_pending(p, lane);
        }
        p->closed = true;
}

static void count_unissued(struct dbio_pacer *p, struct lane *lane)
{
        uint64_t limit = lane->stop_ns < p->close_ns ? lane->stop_ns : p->close_ns;
        const struct dbio_op *op;

        while ((op = look_ahead(p, lane)) && op->due_ns != DBIO_NO_DUE && phase_time(p, lane, op->due_ns) < limit) {
                p->figures.unissued[lane->stream_index]++;
                lane->ahead_head++;
                lane->nahead--;
        }
}

void dbio_pacer_finish(struct dbio_pacer *p, uint64_t now_ns)
{
        p->now_ns = now_ns;
        for (unsigned i = 0; i < p->config.hba.ports; i++)
                if (p->ports[i].at_cap)
                        p->figures.outstanding.at_cap_ns += now_ns - p->ports[i].at_cap_ns;
        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct lane *lane = &p->lanes[i];

                if (lane->kind == TIMED)
                        count_unissued(p, lane);
                if (lane->source->class->finish)
                        lane->source->class->finish(lane->source, stream_time(p, lane, now_ns));
        }
}

unsigned dbio_pacer_inflight(const struct dbio_pacer *p)
{
        return p->inflight;
}

unsigned dbio_pacer_commands(const struct dbio_pacer *p)
{
        return p->inflight + p->queued;
}

bool dbio_pacer_busy(const struct dbio_pacer *p)
{
        return p->begun || p->queued;
}

unsigned dbio_pacer_left(const struct dbio_pacer *p, bool finite)
{
        return finite ? p->finite_left : p->left;
}

bool dbio_pacer_spent(const struct dbio_pacer *p)
{
        return p->config.phase->ops != UINT64_MAX &&
               atomic_load_explicit(&p->config.pace->ops, memory_order_relaxed) >= p->config.phase->ops;
}

const struct dbio_pacer_figures *dbio_pacer_figures(const struct dbio_pacer *p)
{
        return &p->figures;
}

/* --- making --------------------------------------------------------------------------------------------------------- */

static enum lane_kind kind_of(const struct dbio_stream *stream)
{
        if (stream->flags & DBIO_STREAM_REACTIVE)
                return REACTIVE;
        return stream->flags & DBIO_STREAM_TIMED ? TIMED : CLOSED;
}

static unsigned depth_of(const struct dbio_stream *stream)
{
        return stream->depth || kind_of(stream) != CLOSED ? stream->depth : CLOSED_DEPTH;
}

static unsigned uncapped_of(const struct dbio_pacer_config *config)
{
        unsigned sum = 0, last = NONE;

        for (unsigned i = 0; i < config->nlanes; i++) {
                if (depth_of(&config->phase->streams[config->lanes[i].stream]) || config->lanes[i].stream == last)
                        continue;
                last = config->lanes[i].stream;
                sum += UNCAPPED;
        }
        return sum < UNCAPPED_MAX ? sum : UNCAPPED_MAX;
}

void dbio_pacer_room(const struct dbio_pacer_config *config, unsigned *ops, unsigned *commands)
{
        uint64_t sum = uncapped_of(config), each = 1, max = config->hba.max_transfer;

        for (unsigned i = 0; i < config->nlanes; i++) {
                const struct dbio_stream *stream = &config->phase->streams[config->lanes[i].stream];

                sum += depth_of(stream);
                if (max && (stream->max_length + max - 1) / max > each)
                        each = (stream->max_length + max - 1) / max;
                for (unsigned k = 0; config->files && k < stream->nuses; k++)
                        if (config->files[stream->uses[k].target] > each)
                                each = config->files[stream->uses[k].target];
        }
        *ops = (unsigned)(sum < OPS_MAX ? sum : OPS_MAX);
        sum = *ops * each;
        max = (uint64_t)config->hba.ports * config->hba.max_outstanding;
        /* one more than may go, so that it is always the HBA that refuses, and is said to have */
        if (max && sum > max + 1)
                sum = max + 1;
        *commands = (unsigned)(sum < COMMANDS_MAX ? sum : COMMANDS_MAX);
}

static uint32_t find_log(struct dbio_pacer *p, const struct dbio_log_position *position)
{
        for (unsigned i = 0; position && i < p->nlogs; i++)
                if (p->logs[i].position == position)
                        return i;
        return NONE;
}

static void init_lane(struct dbio_pacer *p, struct lane *lane, const struct dbio_lane_spec *spec)
{
        const struct dbio_stream *stream = &p->config.phase->streams[spec->stream];

        lane->source = stream->sources[spec->source];
        lane->source->report = p->config.report(p->config.user, spec->stream);
        lane->stream = stream;
        lane->stream_index = spec->stream;
        lane->start_ns = scaled(p, stream->start_ns);
        lane->stop_ns = scaled(p, stream->stop_ns);
        lane->think_ns = scaled(p, stream->think_ns);
        lane->kind = (uint8_t)kind_of(stream);
        lane->depth = depth_of(stream);
        lane->capped = lane->depth;
        lane->finite = !(stream->flags & DBIO_STREAM_ENDLESS) || stream->stop_ns != UINT64_MAX;
        lane->pending_head = NONE;
        lane->log = NONE;
        lane->barren_ns = UINT64_MAX;
        if (stream->position) {
                lane->log = p->nlogs;
                p->logs[p->nlogs++] = (struct log){.position = stream->position, .durable = stream->position->durable,
                                                   .lane = (uint32_t)(lane - p->lanes), .waiters = NONE};
        }
        p->left++;
        p->finite_left += lane->finite;
        if (lane->start_ns)
                schedule(p, lane, lane->start_ns);
        else
                list(p, lane);
}

/* Groups of the reactive lanes: by the streams' number, or each on its own. */
static void init_groups(struct dbio_pacer *p)
{
        uint32_t nmembers = 0;

        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct lane *lane = &p->lanes[i];

                for (unsigned k = 0; lane->stream->group && k < i; k++)
                        if (p->lanes[k].stream->group == lane->stream->group) {
                                lane->group = p->lanes[k].group;
                                goto next;
                        }
                lane->group = p->ngroups++;
                p->groups[lane->group].first = nmembers;
                for (unsigned k = i; k < p->config.nlanes; k++) {
                        if (k != i && (!lane->stream->group || p->lanes[k].stream->group != lane->stream->group))
                                continue;
                        if (p->lanes[k].kind != REACTIVE) {
                                if (!lane->stream->group)
                                        break;
                                continue;
                        }
                        p->members[nmembers++] = k;
                        p->groups[lane->group].nr++;
                        if (!lane->stream->group)
                                break;
                }
next:;
        }
}

static void init_freed(struct dbio_pacer *p)
{
        uint64_t *at = p->freed;

        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct lane *lane = &p->lanes[i];

                if (lane->kind != CLOSED)
                        continue;
                lane->freed = at;
                lane->nfreed = lane->depth;
                for (unsigned k = 0; k < lane->depth; k++)
                        *at++ = lane->start_ns;
        }
}

static bool allocate(struct dbio_pacer *p, unsigned nslots)
{
        unsigned n = p->config.nlanes + 1, nstreams = p->config.phase->nstreams + 1;
        uint64_t freed = 1;

        for (unsigned i = 0; i < p->config.nlanes; i++)
                freed += depth_of(&p->config.phase->streams[p->config.lanes[i].stream]);
        p->lanes = calloc(n, sizeof *p->lanes);
        p->groups = calloc(n, sizeof *p->groups);
        p->members = calloc(n, sizeof *p->members);
        p->touched = calloc(n, sizeof *p->touched);
        p->logs = calloc(n, sizeof *p->logs);
        p->slots = calloc(nslots + 1, sizeof *p->slots);
        p->ports = calloc(p->config.hba.ports, sizeof *p->ports);
        p->port_turn = calloc(nstreams, sizeof *p->port_turn);
        p->freed = calloc(freed, sizeof *p->freed);
        p->figures.issued = calloc(nstreams, sizeof *p->figures.issued);
        p->figures.unissued = calloc(nstreams, sizeof *p->figures.unissued);
        return !dbio_wakes_init(&p->wakes, n) && p->lanes && p->groups && p->members && p->touched && p->logs && p->slots && p->ports && p->port_turn &&
               p->freed && p->figures.issued && p->figures.unissued;
}

struct dbio_pacer *dbio_pacer_new(const struct dbio_pacer_config *config)
{
        struct dbio_pacer *p = calloc(1, sizeof *p);
        unsigned nslots, ncommands;

        if (!p)
                return NULL;
        p->config = *config;
        dbio_pacer_room(config, &nslots, &ncommands);
        if (!allocate(p, nslots)) {
                dbio_pacer_free(p);
                return NULL;
        }
        p->listed_head = p->starved_head = p->free_slot = NONE;
        for (unsigned i = nslots; i-- > 0; p->free_slot = i)
                p->slots[i].next = p->free_slot;
        p->uncapped_max = uncapped_of(config);
        p->limited = config->hba.max_outstanding;
        p->figures.outstanding.cap = config->hba.max_outstanding;
        p->figures.transfer.cap = config->hba.max_transfer;
        p->ns_per_op = config->max_iops > 0 ? 1e9 / config->max_iops : 0;
        p->ns_per_byte = config->max_bytes_per_s > 0 ? 1e9 / config->max_bytes_per_s : 0;
        p->capped = p->ns_per_op > 0 || p->ns_per_byte > 0;
        for (unsigned i = 0; i < config->hba.ports; i++) {
                p->ports[i].head = p->ports[i].tail = NONE;
                p->ports[i].own = &config->pace->ports[config->worker * config->hba.ports + i].outstanding;
        }
        for (unsigned i = 0; i < config->nlanes; i++)
                init_lane(p, &p->lanes[i], &config->lanes[i]);
        for (unsigned i = 0; i < config->nlanes; i++)
                p->lanes[i].after = find_log(p, p->lanes[i].stream->after);
        init_groups(p);
        init_freed(p);
        return p;
}

void dbio_pacer_free(struct dbio_pacer *p)
{
        if (!p)
                return;
        free(p->lanes);
        free(p->groups);
        free(p->members);
        free(p->touched);
        free(p->logs);
        dbio_wakes_release(&p->wakes);
        free(p->slots);
        free(p->ports);
        free(p->port_turn);
        free(p->freed);
        free(p->figures.issued);
        free(p->figures.unissued);
        free(p);
}
