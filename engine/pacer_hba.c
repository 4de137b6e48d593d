/* Commands: what the adapter lets through, and its figures. */
#include "engine/pacer_inside.h"

#include <stdatomic.h>

static uint32_t outstanding(const struct dbio_pacer *p, const struct dbio_port *port)
{
        unsigned n = p->config.hba.ports, number = (unsigned)(port - p->ports);
        uint32_t sum = 0;

        for (unsigned i = 0; i < p->config.nworkers; i++)
                sum += atomic_load(&p->config.pace->ports[i * n + number].outstanding);
        return sum;
}

/* The time at the cap is that in which a port or more was at it: ports never add up to more than the phase. */
static void mark_at_cap(struct dbio_pacer *p, struct dbio_port *port, bool at_cap, uint64_t now_ns)
{
        if (port->at_cap == at_cap)
                return;
        port->at_cap = at_cap;
        if (at_cap && !p->ports_at_cap++)
                p->at_cap_ns = now_ns;
        if (!at_cap && !--p->ports_at_cap)
                p->figures.outstanding.at_cap_ns += now_ns - p->at_cap_ns;
}

/* One more command on the port; ours is raised before the sum is taken, so that two workers never both take the last
 * place (sequentially consistent; at worst both step back). */
static bool claim(struct dbio_pacer *p, struct dbio_port *port)
{
        uint64_t cap = p->config.hba.max_outstanding;
        uint32_t own = atomic_load_explicit(port->own, memory_order_relaxed), sum;
        struct dbio_limit_use *use = &p->figures.outstanding;

        atomic_store(port->own, own + 1);
        sum = outstanding(p, port);
        mark_at_cap(p, port, sum >= cap, p->now_ns);
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

void dbio_port_give_back(struct dbio_pacer *p, struct dbio_port *port, uint64_t now_ns)
{
        atomic_store(port->own, atomic_load_explicit(port->own, memory_order_relaxed) - 1);
        mark_at_cap(p, port, false, now_ns);
}

void dbio_port_finish(struct dbio_pacer *p, struct dbio_port *port, uint64_t now_ns)
{
        mark_at_cap(p, port, false, now_ns);
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
                struct dbio_port *port = &p->ports[(p->next_port + i) % p->config.hba.ports];

                if (port->head == DBIO_NONE)
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
static void begin(struct dbio_pacer *p, struct dbio_slot *slot, const struct dbio_port *port)
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
        struct dbio_port *port = &p->ports[slot->port];

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
                dbio_port_give_back(p, &p->ports[slot->port], now_ns);
        if (slot->result >= 0)
                slot->result = result < 0 ? result : slot->result + result;
        return ++slot->returned == slot->commands;
}
