/* The end of a phase, and what a worker asks on the way there. */
#include "engine/pacer_inside.h"

#include <stdatomic.h>

static void drop_pending(struct dbio_pacer *p, struct dbio_lane *lane)
{
        while (lane->pending_head != DBIO_NONE) {
                struct dbio_slot *slot = &p->slots[lane->pending_head];

                lane->pending_head = slot->next;
                dbio_lane_drop(p, lane, slot);
        }
}

static void drop_queued(struct dbio_pacer *p, struct dbio_port *port)
{
        uint32_t number = port->head, keep = DBIO_NONE;

        while (number != DBIO_NONE) {
                struct dbio_slot *slot = &p->slots[number];

                number = slot->next;
                if (slot->issued) {
                        keep = (uint32_t)(slot - p->slots); /* begun: its other commands follow */
                        slot->next = DBIO_NONE;
                        continue;
                }
                p->queued--;
                p->lanes[slot->lane].let_go--;
                dbio_lane_drop(p, &p->lanes[slot->lane], slot);
        }
        port->head = port->tail = keep;
        if (port->claimed && keep == DBIO_NONE) {
                port->claimed = false;
                dbio_port_give_back(p, port, p->now_ns);
        }
}

/* Its next op fell due since the last turn: it is not behind. */
static bool fell_due(struct dbio_pacer *p, struct dbio_lane *lane)
{
        const struct dbio_op *op = lane->kind == DBIO_LANE_TIMED ? dbio_lane_look_ahead(p, lane) : NULL;

        return op && op->due_ns != DBIO_NO_DUE && dbio_lane_phase_time(p, lane, op->due_ns) > p->turn_ns;
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
                struct dbio_lane *lane = &p->lanes[p->wakes.heap[0]];
                unsigned budget = UINT32_MAX;

                dbio_lane_unschedule(p, lane);
                if (fell_due(p, lane))
                        dbio_lane_run(p, lane, &budget);
                drop_pending(p, lane);
        }
        p->closed = true;
}

static void count_unissued(struct dbio_pacer *p, struct dbio_lane *lane)
{
        uint64_t limit = lane->stop_ns < p->close_ns ? lane->stop_ns : p->close_ns;
        const struct dbio_op *op;

        while ((op = dbio_lane_look_ahead(p, lane)) && op->due_ns != DBIO_NO_DUE &&
               dbio_lane_phase_time(p, lane, op->due_ns) < limit) {
                p->figures.unissued[lane->stream_index]++;
                lane->ahead_head++;
                lane->nahead--;
        }
}

void dbio_pacer_finish(struct dbio_pacer *p, uint64_t now_ns)
{
        p->now_ns = now_ns;
        for (unsigned i = 0; i < p->config.hba.ports; i++)
                dbio_port_finish(p, &p->ports[i], now_ns);
        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct dbio_lane *lane = &p->lanes[i];

                if (lane->kind == DBIO_LANE_TIMED)
                        count_unissued(p, lane);
                if (lane->source->class->finish)
                        lane->source->class->finish(lane->source, dbio_lane_stream_time(p, lane, now_ns));
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
