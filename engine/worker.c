#include "engine/worker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 64u     /* most ios in a call */
#define BATCH_MIN 4u
#define IDLE_NS 50000000u /* longest wait: so soon is a stop noticed */
#define GRACE_NS 2000000000u /* for the others after one op timed out */

int dbio_worker_open(struct dbio_worker *w, const struct dbio_backend_env *env, struct dbio_err *err)
{
        unsigned n = w->ncommands;

        w->ios = calloc(n, sizeof *w->ios);
        w->slots = calloc(n, sizeof(struct dbio_slot *));
        w->since_ns = calloc(n, sizeof *w->since_ns);
        w->free_ios = calloc(n, sizeof *w->free_ios);
        if (!w->ios || !w->slots || !w->since_ns || !w->free_ios)
                return dbio_err_set(err, DBIO_IO, "out of memory for %u commands in flight", n);
        for (unsigned i = 0; i < n; i++) {
                w->free_ios[i] = n - 1 - i;
                w->ios[i].slot = i;
        }
        w->nfree = n;
        return w->backend->open(&w->state, env, err);
}

void dbio_worker_close(struct dbio_worker *w)
{
        if (w->state)
                w->backend->close(w->state);
        w->state = NULL;
        free(w->ios);
        free(w->slots);
        free(w->since_ns);
        free(w->free_ios);
        w->ios = NULL;
        w->slots = NULL;
        w->since_ns = NULL;
        w->free_ios = NULL;
        dbio_payload_release(&w->payload);
        dbio_buffers_release(&w->buffers);
        dbio_verify_reads_release(&w->verify_reads);
}

static uint64_t now(struct dbio_worker *w)
{
        return dbio_clock_now(w->clock) - w->start_ns;
}

static void stop_all(struct dbio_worker *w, enum dbio_stop why)
{
        int not_yet = DBIO_STOP_NOT;

        atomic_compare_exchange_strong(&w->crew->stop, &not_yet, (int)why);
}

/* --- submitting --------------------------------------------------------------------------------------------------- */

/* Where the ios of a batch begin and end, hashed to bits: two that touch must not go in one call, or the kernel makes
 * one of them. Most ios find neither bit set and need not be compared with the rest of the batch. */
struct edges {
        uint64_t begins[16], ends[16];
};

/* A byte's place among all that ios may touch: the same for two files on one descriptor. */
static uint64_t place_of(const struct dbio_worker *w, unsigned file, uint64_t offset)
{
        const struct dbio_file *at = &w->targets->io_files[file];

        return at->base + offset + ((uint64_t)(unsigned)(at->fd >= 0 ? at->fd : (int)file) << 48);
}

static unsigned bit_of(uint64_t place)
{
        return (unsigned)((place / 512 * 0x9E3779B97F4A7C15u) >> 54);
}

static bool touches_one(const struct dbio_worker *w, unsigned nr, uint64_t begin, uint64_t end)
{
        for (unsigned i = 0; i < nr; i++) {
                const struct dbio_io *io = w->batch[i];
                uint64_t other = place_of(w, io->file, io->offset);

                if (io->length && (other == end || other + io->length == begin))
                        return true;
        }
        return false;
}

static bool touches(struct edges *edges, const struct dbio_worker *w, unsigned nr, const struct dbio_io *io)
{
        uint64_t begin = place_of(w, io->file, io->offset), end = begin + io->length;
        unsigned b = bit_of(begin), e = bit_of(end);

        if ((edges->ends[b / 64] >> b % 64 & 1 || edges->begins[e / 64] >> e % 64 & 1) &&
            touches_one(w, nr, begin, end))
                return true;
        edges->begins[b / 64] |= 1ull << b % 64;
        edges->ends[e / 64] |= 1ull << e % 64;
        return false;
}

/* Where a write with a fill has its bytes from, NULL where it carries a payload; --verify tells writes apart by
 * theirs. */
static unsigned char *fill_of(const struct dbio_worker *w, const struct dbio_op *op)
{
        if (op->kind != DBIO_WRITE || w->verify || !(op->flags & (DBIO_OP_ZEROES | DBIO_OP_C0)))
                return NULL;
        return op->flags & DBIO_OP_ZEROES ? w->zeroes : w->c0;
}

static struct dbio_io *make_io(struct dbio_worker *w, const struct dbio_command *command)
{
        const struct dbio_op *op = &command->slot->op;
        const struct dbio_target *target = &w->targets->targets[op->target];
        struct dbio_io *io = &w->ios[w->free_ios[w->nfree - 1]];

        io->kind = op->kind;
        io->flags = op->flags & (DBIO_OP_DSYNC | DBIO_OP_FUA | DBIO_OP_DATASYNC);
        io->length = command->length;
        io->result = 0;
        if (op->kind == DBIO_FSYNC) {
                io->file = (uint16_t)(target->first_file + command->number);
                io->offset = 0;
                io->buffer = NULL;
                return io;
        }
        io->file = (uint16_t)dbio_target_map(target, command->offset, &io->offset);
        if (op->kind == DBIO_TRIM)
                io->buffer = NULL;
        else if (fill_of(w, op))
                io->buffer = fill_of(w, op) + (command->offset - op->offset);
        else if (command->slot->buffer)
                io->buffer = (unsigned char *)command->slot->buffer + (command->offset - op->offset);
        else
                io->buffer = w->scratch;
        return io;
}

static void begin_verified(struct dbio_worker *w, struct dbio_slot *slot)
{
        const struct dbio_op *op = &slot->op;

        slot->verify = 0;
        if (op->kind == DBIO_WRITE || op->kind == DBIO_TRIM)
                dbio_verify_begin(w->verify, op->target, op->offset, op->length,
                                  op->kind == DBIO_WRITE ? slot->buffer : NULL);
        else if (op->kind == DBIO_READ && (slot->verify = dbio_verify_reads_take(&w->verify_reads)))
                dbio_verify_read_begin(w->verify, op->target, op->offset, op->length,
                                       dbio_verify_reads_at(&w->verify_reads, slot->verify));
}

static void begin_op(struct dbio_worker *w, struct dbio_slot *slot)
{
        slot->submitted_ns = UINT64_MAX; /* not yet */
        slot->figures = dbio_metrics_figures(w->metrics, slot->stream, slot->op.kind, slot->op.role);
        dbio_metrics_submitted(slot->figures);
        if (slot->op.kind == DBIO_WRITE && slot->buffer && w->mixes)
                dbio_payload_stamp(&w->payload, slot->buffer, slot->op.length, w->mixes[slot->stream]);
        else if (slot->op.kind == DBIO_READ && slot->buffer && w->mixes)
                dbio_payload_spoil(&w->payload, slot->buffer, slot->op.length);
        if (w->verify)
                begin_verified(w, slot);
}

static void break_off(struct dbio_worker *w, int error)
{
        w->broken = error ? error : EIO;
        stop_all(w, DBIO_STOP_BROKEN);
}

/* A quarter of what is in flight: were all of it taken back and sent out in one call, the device would stand idle
 * meanwhile (8K reads at depth 32 on a virtio disk: 57,000 a second in calls of 32, 70,000 in calls of 8). */
static unsigned batch_limit(const struct dbio_worker *w)
{
        unsigned limit = dbio_pacer_commands(w->pacer) / 4;

        return limit < BATCH_MIN ? BATCH_MIN : limit < BATCH ? limit : BATCH;
}

/* Fills the batch from the pacer; true where more is to come in another call. */
static bool make_batch(struct dbio_worker *w, unsigned *nr)
{
        struct edges edges = {0};
        struct dbio_command command;

        w->limit = batch_limit(w);
        while (w->nfree && dbio_pacer_peek(w->pacer, &command)) {
                if (*nr == BATCH || (*nr >= w->limit && !(command.slot->op.flags & DBIO_OP_ADJACENT)))
                        return true;
                if (__builtin_expect(command.slot->op.length > w->scratch_bytes && command.slot->op.kind <= DBIO_WRITE,
                                     0)) {
                        break_off(w, EMSGSIZE); /* a source that breaks its stream's max_length */
                        return false;
                }
                struct dbio_io *io = make_io(w, &command);

                if (io->length && !(command.slot->op.flags & DBIO_OP_ADJACENT) && touches(&edges, w, *nr, io))
                        return true;
                dbio_pacer_commit(w->pacer, &command);
                if (!command.number)
                        begin_op(w, command.slot);
                w->nfree--;
                w->slots[io->slot] = command.slot;
                w->batch[(*nr)++] = io;
        }
        return false;
}

static void stamp(struct dbio_worker *w, unsigned nr)
{
        uint64_t submitted_ns = now(w);

        for (unsigned i = 0; i < nr; i++) {
                struct dbio_slot *slot = w->slots[w->batch[i]->slot];

                w->since_ns[w->batch[i]->slot] = submitted_ns + 1;
                /* of a split op the first command counts; one carried over from a full backend is stamped again */
                if (slot->commands == 1 || slot->submitted_ns == UINT64_MAX)
                        slot->submitted_ns = submitted_ns;
        }
}

/* Returns the number of ios that went out. */
static unsigned submit(struct dbio_worker *w)
{
        unsigned sum = 0;
        bool more;

        do {
                unsigned nr = w->ncarried;

                more = nr ? true : make_batch(w, &nr);
                if (!nr)
                        break;
                stamp(w, nr);
                int taken = w->backend->submit(w->state, w->batch, nr);

                if (taken < 0) {
                        break_off(w, -taken);
                        break;
                }
                sum += (unsigned)taken;
                w->ncarried = nr - (unsigned)taken;
                if (w->ncarried) {
                        memmove(w->batch, w->batch + taken, w->ncarried * sizeof *w->batch);
                        more = taken > 0;
                }
        } while (more);
        return sum;
}

/* --- completions -------------------------------------------------------------------------------------------------- */

static void note_error(struct dbio_worker *w, const struct dbio_slot *slot, bool is_short)
{
        int error = (int)-slot->result;

        for (unsigned i = 0; i < DBIO_WORKER_ERRORS; i++) {
                struct dbio_io_error *entry = &w->errors[i];

                if (!entry->error)
                        *entry = (struct dbio_io_error){.stream = slot->stream, .error = error,
                                                        .first_offset = slot->op.offset, .target = slot->op.target,
                                                        .kind = slot->op.kind, .is_short = is_short};
                if (entry->stream == slot->stream && entry->error == error && entry->is_short == is_short) {
                        entry->count++;
                        break;
                }
        }
        if (atomic_fetch_add(&w->crew->errors, 1) + 1 > w->max_errors)
                stop_all(w, DBIO_STOP_ERRORS);
}

static void end_verified(struct dbio_worker *w, struct dbio_slot *slot)
{
        const struct dbio_op *op = &slot->op;

        if (op->kind == DBIO_WRITE || op->kind == DBIO_TRIM)
                dbio_verify_end(w->verify, op->target, op->offset, op->length,
                                op->kind == DBIO_WRITE && slot->result >= 0);
        if (!slot->verify)
                return;
        if (slot->result >= 0)
                dbio_verify_read_end(w->verify, op->target, op->offset, op->length, slot->buffer,
                                     dbio_verify_reads_at(&w->verify_reads, slot->verify));
        dbio_verify_reads_give(&w->verify_reads, slot->verify);
}

static void log_op(struct dbio_worker *w, const struct dbio_slot *slot)
{
        struct dbio_opslog_op op = {
                .op = slot->op,
                .stream = slot->stream,
                .seq = slot->seq,
                .intended_ns = slot->intended_ns,
                .submitted_ns = slot->submitted_ns,
                .completed_ns = w->now_ns,
                .error = slot->result < 0 ? (int)-slot->result : 0,
        };

        dbio_opslog_add(w->opslog, &op);
}

static void finish_op(struct dbio_worker *w, struct dbio_slot *slot)
{
        bool moves = slot->op.kind == DBIO_READ || slot->op.kind == DBIO_WRITE;
        bool is_short = moves && slot->result >= 0 && slot->result != slot->op.length;

        if (is_short)
                slot->result = -EIO;
        if (w->verify)
                end_verified(w, slot);
        w->last_ns = w->now_ns;
        if (__builtin_expect(slot->result < 0, 0)) {
                dbio_metrics_error(w->metrics, slot->figures, w->now_ns - slot->submitted_ns, slot->op.length);
                note_error(w, slot, is_short);
        } else {
                struct dbio_stamps stamps = {
                        .intended_ns = slot->intended_ns,
                        .ready_ns = slot->ready_ns,
                        .submitted_ns = slot->submitted_ns,
                        .completed_ns = w->now_ns,
                        .hba_wait_ns = slot->hba_wait_ns,
                        .length = slot->op.length,
                        .splits = slot->op.kind == DBIO_FSYNC ? 0 : slot->commands - 1u,
                        .hba_waited = slot->hba_waited,
                };
                dbio_metrics_op(w->metrics, slot->figures, &stamps);
        }
        if (w->opslog)
                log_op(w, slot);
        dbio_pacer_done(w->pacer, slot, w->now_ns);
}

static void take_back(struct dbio_worker *w, struct dbio_io *const *done, unsigned nr)
{
        for (unsigned i = 0; i < nr; i++) {
                struct dbio_slot *slot = w->slots[done[i]->slot];

                w->since_ns[done[i]->slot] = 0;
                w->free_ios[w->nfree++] = done[i]->slot;
                if (dbio_pacer_returned(w->pacer, slot, done[i]->result, w->now_ns))
                        finish_op(w, slot);
        }
}

/* --- the phase's end ---------------------------------------------------------------------------------------------- */

static void publish_left(struct dbio_worker *w)
{
        unsigned left = dbio_pacer_left(w->pacer, false), finite = dbio_pacer_left(w->pacer, true);

        if (left == w->left)
                return;
        if (atomic_fetch_sub(&w->crew->finite_left, w->finite_left - finite) == w->finite_left - finite &&
            w->crew->ends_with_finite)
                stop_all(w, DBIO_STOP_ENDED);
        w->left = left;
        w->finite_left = finite;
}

/* Closes the pacer where the phase is over; also looks for ops that never come back. */
static void look_around(struct dbio_worker *w)
{
        bool spent = dbio_pacer_spent(w->pacer);

        publish_left(w);
        if (w->stop && *w->stop)
                stop_all(w, DBIO_STOP_ASKED);
        if (!w->closed && (w->now_ns >= w->end_ns || spent || !w->left ||
                           atomic_load_explicit(&w->crew->stop, memory_order_relaxed) != DBIO_STOP_NOT)) {
                dbio_pacer_close(w->pacer, w->now_ns, spent);
                w->closed = true;
        }
}

static void look_for_lost(struct dbio_worker *w)
{
        w->check_ns = w->now_ns + w->timeout_ns / 4;
        for (unsigned i = 0; i < w->ncommands && !w->lost_ns; i++) {
                if (!w->since_ns[i] || w->now_ns - (w->since_ns[i] - 1) <= w->timeout_ns)
                        continue;
                w->lost_ns = w->now_ns;
                stop_all(w, DBIO_STOP_TIMED_OUT);
        }
}

/* After a timeout the others get a time to come back, then all is left as it is. */
static bool given_up(struct dbio_worker *w)
{
        uint64_t grace = w->timeout_ns < GRACE_NS ? w->timeout_ns : GRACE_NS;

        return w->broken || (w->lost_ns && w->now_ns > w->lost_ns + grace);
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Spinning needs one of the crew's permits: never all CPUs at once. */
static bool may_spin(struct dbio_worker *w, bool wanted)
{
        if (wanted == w->spinning)
                return wanted;
        w->spinning = wanted && atomic_fetch_add(&w->crew->spinning, 1) < w->crew->max_spinning;
        if (!w->spinning)
                atomic_fetch_sub(&w->crew->spinning, 1); /* a permit that was held, or asked for in vain */
        return w->spinning;
}

/* Until when to wait, absolute; 0 = not at all. */
static uint64_t wait_until(struct dbio_worker *w, uint64_t here_ns)
{
        uint64_t wake = dbio_pacer_wake(w->pacer, here_ns), until;

        if (wake <= here_ns)
                return 0;
        if (w->guard_ns) {
                if (may_spin(w, wake - here_ns <= w->guard_ns))
                        return 0;
                if (wake != UINT64_MAX && wake - here_ns > w->guard_ns)
                        wake -= w->guard_ns;
        }
        until = wake;
        if (!w->closed && w->end_ns < until)
                until = w->end_ns;
        if (w->check_ns < until && dbio_pacer_inflight(w->pacer))
                until = w->check_ns;
        if (!w->clock->is_virtual && until > here_ns + IDLE_NS)
                until = here_ns + IDLE_NS;
        return until == UINT64_MAX ? until : w->start_ns + (until > here_ns ? until : here_ns + 1);
}

static void await_start(struct dbio_worker *w)
{
        if (!w->clock->is_virtual)
                dbio_clock_sleep_until(w->clock, w->start_ns - w->guard_ns);
        while (dbio_clock_now(w->clock) < w->start_ns)
                dbio_clock_sleep_until(w->clock, w->guard_ns ? 0 : w->start_ns);
        w->now_ns = now(w);
}

static void prepare(struct dbio_worker *w)
{
        w->last_ns = w->lost_ns = 0;
        w->closed = w->abandoned = false;
        w->broken = 0;
        w->ncarried = 0;
        w->limit = BATCH_MIN;
        w->left = dbio_pacer_left(w->pacer, false);
        w->finite_left = dbio_pacer_left(w->pacer, true);
        w->check_ns = w->timeout_ns / 4;
        memset(w->errors, 0, sizeof w->errors);
        memset(&w->turn, 0, sizeof w->turn);
}

static void loop(struct dbio_worker *w)
{
        struct dbio_io *done[BATCH];
        bool worked = false;

        for (;;) {
                look_around(w);
                dbio_pacer_turn(w->pacer, w->now_ns);
                worked |= submit(w) > 0;
                if ((w->closed && !dbio_pacer_busy(w->pacer) && !w->ncarried) || given_up(w))
                        break;
                uint64_t here_ns = now(w), until = wait_until(w, here_ns);

                if (worked)
                        dbio_hist_add(&w->turn, here_ns - w->now_ns);
                if (until == UINT64_MAX && !dbio_pacer_inflight(w->pacer)) {
                        stop_all(w, DBIO_STOP_ENDED); /* nothing can ever happen again */
                        continue;
                }
                int nr = w->backend->reap(w->state, done, 1, w->limit, until);

                w->now_ns = now(w);
                if (nr < 0) {
                        break_off(w, -nr);
                        nr = 0;
                }
                worked = nr > 0;
                if (dbio_metrics_advance(w->metrics, w->now_ns) && w->tick)
                        w->tick(w, w->now_ns);
                take_back(w, done, (unsigned)nr);
                if (w->now_ns >= w->check_ns)
                        look_for_lost(w);
        }
}

void dbio_worker_run(struct dbio_worker *w)
{
        prepare(w);
        await_start(w);
        loop(w);
        w->abandoned = dbio_pacer_inflight(w->pacer) > 0;
        may_spin(w, false);
        publish_left(w);
        dbio_pacer_finish(w->pacer, w->now_ns);
        dbio_metrics_finish(w->metrics);
        if (w->opslog)
                dbio_opslog_flush(w->opslog);
}
