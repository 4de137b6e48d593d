#include "engine/pacer.h"

#include <stdatomic.h>

#include "engine/pacer_inside.h"

#define BUDGET 128      /* ops formed in a turn, so that none is long */
#define RETRY_NS 1000   /* for a source that says "now" and gives nothing */
#define HBA_POLL_NS 20000
#define BURST_NS 2000000 /* by which a worker that was late may catch up under a cap */

void dbio_lane_list(struct dbio_pacer *p, struct dbio_lane *lane)
{
        uint32_t number = (uint32_t)(lane - p->lanes);

        if (lane->listed || lane->finished)
                return;
        lane->listed = true;
        lane->next_listed = DBIO_NONE;
        if (p->listed_head == DBIO_NONE)
                p->listed_head = number;
        else
                p->lanes[p->listed_tail].next_listed = number;
        p->listed_tail = number;
}

static void touch(struct dbio_pacer *p, const struct dbio_lane *lane)
{
        struct dbio_lane_group *group = &p->groups[lane->group];

        if (!group->touched)
                p->touched[p->ntouched++] = lane->group;
        group->touched = true;
}

static void starve(struct dbio_pacer *p, struct dbio_lane *lane)
{
        uint32_t number = (uint32_t)(lane - p->lanes);

        if (lane->starved)
                return;
        lane->starved = true;
        lane->next_starved = DBIO_NONE;
        if (p->starved_head == DBIO_NONE)
                p->starved_head = number;
        else
                p->lanes[p->starved_tail].next_starved = number;
        p->starved_tail = number;
}

static struct dbio_slot *take_slot(struct dbio_pacer *p, struct dbio_lane *lane)
{
        if (p->free_slot == DBIO_NONE || (!lane->capped && p->uncapped >= p->uncapped_max)) {
                starve(p, lane);
                return NULL;
        }
        struct dbio_slot *slot = &p->slots[p->free_slot];

        p->free_slot = slot->next;
        p->uncapped += !lane->capped;
        lane->outstanding++;
        return slot;
}

static void free_slot(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot)
{
        if (slot->buffer)
                dbio_buffers_give(p->config.buffers, slot->buffer, slot->op.length);
        slot->buffer = NULL;
        slot->next = p->free_slot;
        p->free_slot = (uint32_t)(slot - p->slots);
        p->uncapped -= !lane->capped;
        lane->outstanding--;
        if (p->starved_head != DBIO_NONE) {
                struct dbio_lane *hungry = &p->lanes[p->starved_head];

                p->starved_head = hungry->next_starved;
                hungry->starved = false;
                hungry->room_ns = p->now_ns;
                dbio_lane_list(p, hungry);
        }
}

static void check_finished(struct dbio_pacer *p, struct dbio_lane *lane)
{
        if (lane->finished || lane->outstanding || !(lane->over || (lane->source->ended && !lane->nahead)))
                return;
        lane->finished = true;
        dbio_lane_unschedule(p, lane);
        p->left--;
        p->finite_left -= lane->finite;
}

void dbio_lane_drop(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot)
{
        if (lane->kind == DBIO_LANE_TIMED)
                p->figures.unissued[lane->stream_index]++;
        free_slot(p, lane, slot);
}

/* --- letting ops go ----------------------------------------------------------------------------------------------- */

/* Takes the next ns of a cap's time and tells when they begin: who asked first goes first, whichever lane or worker. */
static uint64_t take_cap(_Atomic uint64_t *cap, uint64_t now_ns, uint64_t ns)
{
        uint64_t next = atomic_load_explicit(cap, memory_order_relaxed), begin;

        if (!ns)
                return now_ns;
        do {
                begin = next + BURST_NS < now_ns ? now_ns - BURST_NS : next;
        } while (!atomic_compare_exchange_weak_explicit(cap, &next, begin + ns, memory_order_relaxed,
                                                        memory_order_relaxed));
        return begin;
}

static bool caps_allow(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot)
{
        struct dbio_pace *pace = p->config.pace;

        if (slot->cap_ns == UINT64_MAX) {
                uint64_t op = take_cap(&pace->iops_ns, p->now_ns, (uint64_t)p->ns_per_op);
                uint64_t bytes = take_cap(&pace->bytes_ns, p->now_ns, (uint64_t)(p->ns_per_byte * slot->op.length));

                slot->cap_ns = op > bytes ? op : bytes;
        }
        if (slot->cap_ns <= p->now_ns)
                return true;
        dbio_lane_schedule(p, lane, slot->cap_ns);
        return false;
}

static bool log_allows(struct dbio_pacer *p, struct dbio_lane *lane, const struct dbio_slot *slot)
{
        struct dbio_lane_log *log = &p->logs[lane->after];

        if (log->position->durable >= slot->after)
                return true;
        if (!lane->waiting) {
                lane->waiting = true;
                lane->next_waiter = log->waiters;
                log->waiters = (uint32_t)(lane - p->lanes);
        }
        if (log->position->wanted < slot->after) {
                log->position->wanted = slot->after;
                dbio_lane_list(p, &p->lanes[log->lane]);
        }
        return false;
}

static bool may_go(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot)
{
        if (lane->barrier || (slot->op.flags & DBIO_OP_BARRIER && lane->let_go))
                return false;
        if (lane->after != DBIO_NONE && !log_allows(p, lane, slot))
                return false;
        return !p->capped || caps_allow(p, lane, slot);
}

/* All but the HBA lets it go. */
static void let_go(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot)
{
        uint64_t limit = p->config.phase->ops;

        if (limit != UINT64_MAX && slot->op.kind <= DBIO_WRITE &&
            atomic_fetch_add_explicit(&p->config.pace->ops, 1, memory_order_relaxed) >= limit) {
                dbio_lane_drop(p, lane, slot);
                return;
        }
        lane->let_go++;
        lane->barrier = slot->op.flags & DBIO_OP_BARRIER;
        slot->queued_ns = p->now_ns;
        if (slot->turn != p->turn && slot->ready_ns < p->now_ns)
                slot->ready_ns = p->now_ns;
        if (p->config.hba.ports > 1)
                slot->port = (uint16_t)(p->port_turn[lane->stream_index]++ % p->config.hba.ports);
        struct dbio_port *port = &p->ports[slot->port];
        uint32_t number = (uint32_t)(slot - p->slots);

        slot->next = DBIO_NONE;
        if (port->head == DBIO_NONE)
                port->head = number;
        else
                p->slots[port->tail].next = number;
        port->tail = number;
        p->queued++;
}

static void release_pending(struct dbio_pacer *p, struct dbio_lane *lane)
{
        while (lane->pending_head != DBIO_NONE) {
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

static void form(struct dbio_pacer *p, struct dbio_lane *lane, struct dbio_slot *slot, const struct dbio_op *op,
                 uint64_t intended_ns)
{
        slot->op = *op;
        slot->intended_ns = intended_ns;
        slot->ready_ns = lane->room_ns > intended_ns ? lane->room_ns : intended_ns;
        slot->after = lane->after == DBIO_NONE ? 0 : p->logs[lane->after].position->appended;
        slot->seq = lane->seq++;
        slot->hba_wait_ns = 0;
        slot->hba_waited = false;
        slot->cap_ns = UINT64_MAX;
        slot->result = 0;
        slot->lane = (uint32_t)(lane - p->lanes);
        slot->stream = lane->stream_index;
        slot->turn = p->turn;
        slot->commands = (uint16_t)commands_of(&p->config, op);
        slot->issued = slot->returned = 0;
        if (lane->pending_head == DBIO_NONE && may_go(p, lane, slot)) {
                let_go(p, lane, slot);
                return;
        }
        uint32_t number = (uint32_t)(slot - p->slots);

        slot->next = DBIO_NONE;
        if (lane->pending_head == DBIO_NONE)
                lane->pending_head = number;
        else
                p->slots[lane->pending_tail].next = number;
        lane->pending_tail = number;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

const struct dbio_op *dbio_lane_look_ahead(struct dbio_pacer *p, struct dbio_lane *lane)
{
        if (!lane->nahead) {
                if (lane->source->ended)
                        return NULL;
                lane->ahead_head = 0;
                lane->nahead = (uint8_t)lane->source->class->fill(
                        lane->source, dbio_lane_stream_time(p, lane, p->now_ns), lane->ahead, DBIO_LANE_AHEAD);
                if (!lane->nahead)
                        return NULL;
        }
        return &lane->ahead[lane->ahead_head];
}

static void run_timed(struct dbio_pacer *p, struct dbio_lane *lane, unsigned *budget)
{
        const struct dbio_op *op;

        while ((op = dbio_lane_look_ahead(p, lane))) {
                uint64_t due = op->due_ns == DBIO_NO_DUE ? p->now_ns : dbio_lane_phase_time(p, lane, op->due_ns);

                /* At its stop no op that was late goes any more, as at the phase's end. */
                if (due >= lane->stop_ns || due >= p->config.end_ns || (lane->behind && p->now_ns >= lane->stop_ns)) {
                        lane->over = true;
                        return;
                }
                if (due > p->now_ns) {
                        lane->behind = false;
                        dbio_lane_schedule(p, lane, due);
                        return;
                }
                if (lane->depth && lane->outstanding >= lane->depth) {
                        lane->behind = true;
                        return;
                }
                if (!*budget) {
                        dbio_lane_list(p, lane);
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

static void run_closed(struct dbio_pacer *p, struct dbio_lane *lane, unsigned *budget)
{
        const struct dbio_op *op;

        if (p->now_ns >= lane->stop_ns) {
                lane->over = true;
                return;
        }
        while (lane->nfreed && (op = dbio_lane_look_ahead(p, lane))) {
                uint64_t free_ns = lane->freed[lane->freed_head];

                if (free_ns > p->now_ns) {
                        dbio_lane_schedule(p, lane, free_ns < lane->stop_ns ? free_ns : lane->stop_ns);
                        return;
                }
                if (!*budget) {
                        dbio_lane_list(p, lane);
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

static uint64_t wake_of(const struct dbio_pacer *p, const struct dbio_lane *lane)
{
        if (!lane->source->class->wake || lane->source->ended)
                return UINT64_MAX;
        return dbio_lane_phase_time(p, lane, lane->source->class->wake(lane->source));
}

static unsigned room_for(const struct dbio_pacer *p, const struct dbio_lane *lane, unsigned budget)
{
        unsigned room = budget < 16 ? budget : 16;

        if (lane->depth && lane->depth - lane->outstanding < room)
                room = lane->depth - lane->outstanding;
        if (!lane->capped && p->uncapped_max - p->uncapped < room)
                room = p->uncapped_max - p->uncapped;
        return room;
}

static void run_reactive(struct dbio_pacer *p, struct dbio_lane *lane, unsigned *budget)
{
        struct dbio_op ops[16];

        if (p->now_ns >= lane->stop_ns) {
                lane->over = true;
                return;
        }
        while (!lane->source->ended) {
                unsigned room = room_for(p, lane, *budget);

                if (!room || p->free_slot == DBIO_NONE) {
                        if (!*budget)
                                dbio_lane_list(p, lane);
                        else if (!lane->depth || lane->outstanding < lane->depth)
                                starve(p, lane);
                        break;
                }
                unsigned n =
                        lane->source->class->fill(lane->source, dbio_lane_stream_time(p, lane, p->now_ns), ops, room);

                touch(p, lane);
                if (!n) {
                        lane->barren = lane->barren_ns == p->now_ns ? lane->barren + 1 : 1;
                        lane->barren_ns = p->now_ns;
                        break;
                }
                *budget -= n;
                for (unsigned i = 0; i < n; i++) {
                        struct dbio_slot *slot = take_slot(p, lane);
                        uint64_t due =
                                ops[i].due_ns == DBIO_NO_DUE ? p->now_ns : dbio_lane_phase_time(p, lane, ops[i].due_ns);

                        if (!slot)
                                return; /* cannot be: a capped lane has its slots, others were counted */
                        form(p, lane, slot, &ops[i], due < p->now_ns ? due : p->now_ns);
                }
        }
        dbio_lane_schedule(p, lane, lane->stop_ns);
}

void dbio_lane_run(struct dbio_pacer *p, struct dbio_lane *lane, unsigned *budget)
{
        if (lane->finished)
                return;
        dbio_lane_unschedule(p, lane);
        if (p->now_ns < lane->start_ns) {
                dbio_lane_schedule(p, lane, lane->start_ns);
                return;
        }
        release_pending(p, lane);
        if (!p->closed && !lane->over) {
                if (lane->kind == DBIO_LANE_TIMED)
                        run_timed(p, lane, budget);
                else if (p->closing)
                        return;
                else if (lane->kind == DBIO_LANE_CLOSED)
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
                struct dbio_lane_log *log = &p->logs[i];

                if (log->durable == log->position->durable)
                        continue;
                log->durable = log->position->durable;
                while (log->waiters != DBIO_NONE) {
                        struct dbio_lane *lane = &p->lanes[log->waiters];

                        log->waiters = lane->next_waiter;
                        lane->waiting = false;
                        dbio_lane_list(p, lane);
                }
        }
        while (p->ntouched) {
                struct dbio_lane_group *group = &p->groups[p->touched[--p->ntouched]];

                group->touched = false;
                for (unsigned k = 0; k < group->nr; k++) {
                        struct dbio_lane *lane = &p->lanes[p->members[group->first + k]];
                        uint64_t wake = lane->listed || lane->finished ? UINT64_MAX : wake_of(p, lane);

                        if (wake < lane->start_ns)
                                wake = lane->start_ns;
                        if (wake > p->now_ns)
                                dbio_lane_schedule(p, lane, wake);
                        else if (lane->barren_ns == p->now_ns && lane->barren > 4)
                                dbio_lane_schedule(p, lane, p->now_ns + RETRY_NS);
                        else if (!lane->depth || lane->outstanding < lane->depth)
                                dbio_lane_list(p, lane);
                }
        }
}

void dbio_pacer_turn(struct dbio_pacer *p, uint64_t now_ns)
{
        unsigned budget = BUDGET;

        p->now_ns = p->turn_ns = now_ns;
        p->turn++;
        while (dbio_wakes_first(&p->wakes) <= now_ns) {
                struct dbio_lane *lane = &p->lanes[p->wakes.heap[0]];

                dbio_lane_unschedule(p, lane);
                dbio_lane_list(p, lane);
        }
        for (;;) {
                while (p->listed_head != DBIO_NONE && budget) {
                        struct dbio_lane *lane = &p->lanes[p->listed_head];

                        p->listed_head = lane->next_listed;
                        lane->listed = false;
                        dbio_lane_run(p, lane, &budget);
                }
                if (!p->ntouched)
                        break;
                settle(p);
        }
}

uint64_t dbio_pacer_wake(const struct dbio_pacer *p, uint64_t now_ns)
{
        if (p->listed_head != DBIO_NONE)
                return 0;
        uint64_t wake = p->closed ? UINT64_MAX : dbio_wakes_first(&p->wakes);

        /* where other workers hold what the HBA allows, nothing of our own tells when that changes */
        if (p->queued && p->limited && p->config.nworkers > 1 && wake > now_ns + HBA_POLL_NS)
                wake = now_ns + HBA_POLL_NS;
        return wake;
}

static void tell(struct dbio_pacer *p, struct dbio_lane *lane, const struct dbio_slot *slot, uint64_t completed_ns)
{
        struct dbio_done done = {
                .intended_ns = dbio_lane_stream_time(p, lane, slot->intended_ns),
                .submitted_ns = dbio_lane_stream_time(p, lane, slot->submitted_ns),
                .completed_ns = dbio_lane_stream_time(p, lane, completed_ns),
                .result = slot->result,
                .service_ns = completed_ns - slot->submitted_ns,
        };

        lane->source->class->done(lane->source, &slot->op, &done);
        touch(p, lane);
}

void dbio_pacer_done(struct dbio_pacer *p, struct dbio_slot *slot, uint64_t completed_ns)
{
        struct dbio_lane *lane = &p->lanes[slot->lane];
        bool was_full = lane->depth && lane->outstanding >= lane->depth;

        p->now_ns = completed_ns;
        p->begun--;
        lane->let_go--;
        if (slot->op.flags & DBIO_OP_BARRIER)
                lane->barrier = false;
        if (lane->source->class->done)
                tell(p, lane, slot, completed_ns);
        free_slot(p, lane, slot);
        if (lane->kind == DBIO_LANE_CLOSED) {
                uint32_t at = lane->freed_head + lane->nfreed;

                lane->freed[at >= lane->depth ? at - lane->depth : at] = completed_ns + lane->think_ns;
                lane->nfreed++;
        } else if (was_full) {
                lane->room_ns = completed_ns;
        }
        /* an open loop has nothing to do with completions, unless it waits for one or for its end */
        if (lane->kind != DBIO_LANE_TIMED || was_full || lane->pending_head != DBIO_NONE || !lane->outstanding)
                dbio_lane_list(p, lane);
}
