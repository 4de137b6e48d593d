#include "engine/backend_faulty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The slots of a backend have no place for a plan, and faults are for tests: one for the process. */
static struct dbio_fault_plan *current_plan;

struct held {
        struct dbio_io *io;
        uint64_t due_ns; /* UINT64_MAX = never */
};

/* An io on its way, by slot. */
struct passage {
        struct dbio_io copy;      /* what the inner backend gets */
        struct dbio_io *original;
        const struct dbio_fault *fault;
        uint64_t flipped_bit;     /* within the buffer, of a write */
};

struct faulty_state {
        const struct dbio_backend *inner;
        void *inner_state;
        struct dbio_fault_plan *plan;
        const struct dbio_backend_env *env;
        struct dbio_backend_env own_env;
        uint64_t opened_ns;
        uint64_t seen[DBIO_FAULTS_MAX]; /* ios for which a fault held but for `every` */
        uint64_t random;
        unsigned inner_inflight, nheld;
        struct held *held;              /* done or never to be, not told yet */
        struct passage *passages;       /* by slot */
        struct dbio_io **reaped, **batch;
};

static const unsigned hits_kinds[DBIO_FAULT_TYPES] = {
        [DBIO_FAULT_ERROR] = ~0u,
        [DBIO_FAULT_SHORT] = 1u << DBIO_READ | 1u << DBIO_WRITE,
        [DBIO_FAULT_DELAY] = ~0u,
        [DBIO_FAULT_HANG] = ~0u,
        [DBIO_FAULT_TORN] = 1u << DBIO_WRITE,
        [DBIO_FAULT_LOST] = 1u << DBIO_WRITE | 1u << DBIO_FSYNC | 1u << DBIO_TRIM,
        [DBIO_FAULT_MISDIRECTED] = 1u << DBIO_READ | 1u << DBIO_WRITE,
        [DBIO_FAULT_FLIP] = 1u << DBIO_READ | 1u << DBIO_WRITE,
};

static void faulty_close(void *state)
{
        struct faulty_state *s = state;

        if (!s)
                return;
        if (s->inner_state)
                s->inner->close(s->inner_state);
        free(s->held);
        free(s->passages);
        free(s->reaped);
        free(s->batch);
        free(s);
}

static int faulty_open(void **out, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct faulty_state *s = calloc(1, sizeof *s);

        if (s) {
                s->held = calloc(env->max_inflight, sizeof *s->held);
                s->passages = calloc(env->max_inflight, sizeof *s->passages);
                s->reaped = calloc(env->max_inflight, sizeof *s->reaped);
                s->batch = calloc(env->max_inflight, sizeof *s->batch);
        }
        if (!s || !s->held || !s->passages || !s->reaped || !s->batch) {
                faulty_close(s);
                return dbio_err_set(err, DBIO_IO, "out of memory for %u ios in flight", env->max_inflight);
        }
        s->plan = current_plan;
        s->inner = s->plan->inner;
        s->own_env = *env;
        s->env = &s->own_env;
        s->random = 0x9e3779b97f4a7c15;
        s->opened_ns = dbio_clock_now(env->clock);
        if (s->inner->open(&s->inner_state, env, err) != 0) {
                s->inner_state = NULL;
                faulty_close(s);
                return -1;
        }
        *out = s;
        return 0;
}

static uint64_t next_random(struct faulty_state *s)
{
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        return s->random;
}

static uint32_t half(const struct faulty_state *s, const struct dbio_io *io)
{
        unsigned sector = s->env->files[io->file].sector ? s->env->files[io->file].sector : 512;

        return io->length / 2 / sector * sector;
}

static bool holds(struct faulty_state *s, const struct dbio_fault *fault, const struct dbio_io *io, uint64_t age_ns)
{
        unsigned kinds = hits_kinds[fault->type] & (fault->kinds ? fault->kinds : ~0u);

        if (!(kinds & 1u << io->kind) || (fault->file && fault->file - 1 != io->file) || age_ns < fault->from_ns ||
            (fault->to_ns && age_ns >= fault->to_ns))
                return false;
        if ((fault->from_bytes || fault->to_bytes) &&
            (io->kind == DBIO_FSYNC || io->offset + io->length <= fault->from_bytes ||
             (fault->to_bytes && io->offset >= fault->to_bytes)))
                return false;
        return (fault->type != DBIO_FAULT_TORN && fault->type != DBIO_FAULT_SHORT) || half(s, io) > 0;
}

static struct dbio_fault *choose_fault(struct faulty_state *s, const struct dbio_io *io)
{
        uint64_t age_ns = dbio_clock_now(s->env->clock) - s->opened_ns;

        for (unsigned i = 0; i < s->plan->nfaults; i++) {
                struct dbio_fault *fault = &s->plan->faults[i];

                if (!holds(s, fault, io, age_ns))
                        continue;
                if (fault->every > 1 && ++s->seen[i] % fault->every != 0)
                        continue;
                if (__atomic_fetch_add(&fault->hits, 1, __ATOMIC_RELAXED) < fault->times || fault->times == 0)
                        return fault;
                __atomic_fetch_sub(&fault->hits, 1, __ATOMIC_RELAXED);
        }
        return NULL;
}

static void hold(struct faulty_state *s, struct dbio_io *io, int64_t result, uint64_t due_ns)
{
        io->result = result;
        s->held[s->nheld++] = (struct held){.io = io, .due_ns = due_ns};
}

static void flip(struct dbio_io *io, uint64_t bit)
{
        ((unsigned char *)io->buffer)[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static uint64_t misdirect(const struct faulty_state *s, const struct dbio_io *io, uint64_t distance)
{
        uint64_t by = distance ? distance : io->length;

        if (io->offset + by + io->length <= s->env->files[io->file].size)
                return io->offset + by;
        return io->offset >= by ? io->offset - by : 0;
}

/* Changes the copy as the fault asks; true where the inner backend is not to see it at all. */
static bool bend(struct faulty_state *s, struct passage *p)
{
        struct dbio_io *io = p->original;

        switch (p->fault->type) {
        case DBIO_FAULT_ERROR:
                hold(s, io, -(p->fault->error ? p->fault->error : EIO), 0);
                return true;
        case DBIO_FAULT_HANG:
                hold(s, io, 0, UINT64_MAX);
                return true;
        case DBIO_FAULT_LOST:
                hold(s, io, io->kind == DBIO_WRITE ? (int64_t)io->length : 0, 0);
                return true;
        case DBIO_FAULT_SHORT:
        case DBIO_FAULT_TORN:
                p->copy.length = half(s, io);
                return false;
        case DBIO_FAULT_MISDIRECTED:
                p->copy.offset = misdirect(s, io, p->fault->distance);
                return false;
        case DBIO_FAULT_FLIP:
                p->flipped_bit = next_random(s) % (8ull * io->length);
                if (io->kind == DBIO_WRITE)
                        flip(io, p->flipped_bit);
                return false;
        default:
                return false;
        }
}

static void straighten(struct faulty_state *s, struct passage *p)
{
        struct dbio_io *io = p->original;
        int64_t result = p->copy.result;
        uint64_t due_ns = 0;

        if (p->fault && p->fault->type == DBIO_FAULT_TORN && result == (int64_t)p->copy.length)
                result = io->length;
        if (p->fault && p->fault->type == DBIO_FAULT_FLIP && (io->kind == DBIO_WRITE || result == (int64_t)io->length))
                flip(io, p->flipped_bit);
        if (p->fault && p->fault->type == DBIO_FAULT_DELAY)
                due_ns = dbio_clock_now(s->env->clock) + p->fault->delay_ns;
        hold(s, io, result, due_ns);
}

/* 1 taken, 0 full, or -errno. */
static int submit_one(struct faulty_state *s, struct dbio_io *io)
{
        struct passage *p = &s->passages[io->slot];
        struct dbio_io *copy = &p->copy;
        uint64_t seen[DBIO_FAULTS_MAX];
        struct dbio_fault *fault;
        int code;

        if (s->inner_inflight + s->nheld == s->env->max_inflight)
                return 0;
        memcpy(seen, s->seen, sizeof seen);
        fault = choose_fault(s, io);
        *p = (struct passage){.copy = *io, .original = io, .fault = fault};
        if (fault && bend(s, p))
                return 1;
        code = s->inner->submit(s->inner_state, &copy, 1);
        if (code == 1) {
                s->inner_inflight++;
                return 1;
        }
        /* Not taken: it will come again, and be counted then. */
        memcpy(s->seen, seen, sizeof seen);
        if (fault) {
                __atomic_fetch_sub(&fault->hits, 1, __ATOMIC_RELAXED);
                if (fault->type == DBIO_FAULT_FLIP && io->kind == DBIO_WRITE)
                        flip(io, p->flipped_bit);
        }
        return code;
}

/* Without faults a batch stays one. */
static int submit_all(struct faulty_state *s, struct dbio_io *const *ios, unsigned nr)
{
        unsigned room = s->env->max_inflight - s->inner_inflight - s->nheld;
        int taken;

        if (nr > room)
                nr = room;
        for (unsigned i = 0; i < nr; i++) {
                struct passage *p = &s->passages[ios[i]->slot];

                *p = (struct passage){.copy = *ios[i], .original = ios[i]};
                s->batch[i] = &p->copy;
        }
        taken = nr ? s->inner->submit(s->inner_state, s->batch, nr) : 0;
        if (taken > 0)
                s->inner_inflight += (unsigned)taken;
        return taken;
}

static int faulty_submit(void *state, struct dbio_io *const *ios, unsigned nr)
{
        struct faulty_state *s = state;
        unsigned taken = 0;

        if (s->plan->nfaults == 0)
                return submit_all(s, ios, nr);

        while (taken < nr) {
                int code = submit_one(s, ios[taken]);

                if (code < 0)
                        return code;
                if (code == 0)
                        break;
                taken++;
        }
        return (int)taken;
}

/* Moves what is due from held to done, in the order in which it came; next gets when more will be. */
static unsigned tell(struct faulty_state *s, struct dbio_io **done, unsigned max, uint64_t *next_ns)
{
        uint64_t now = dbio_clock_now(s->env->clock);
        unsigned nr = 0, kept = 0;

        *next_ns = UINT64_MAX;
        for (unsigned i = 0; i < s->nheld; i++) {
                if (nr < max && s->held[i].due_ns <= now) {
                        done[nr++] = s->held[i].io;
                        continue;
                }
                if (s->held[i].due_ns < *next_ns)
                        *next_ns = s->held[i].due_ns;
                s->held[kept++] = s->held[i];
        }
        s->nheld = kept;
        return nr;
}

static int collect(struct faulty_state *s, unsigned min, uint64_t until_ns)
{
        int code = s->inner->reap(s->inner_state, s->reaped, min, s->env->max_inflight - s->nheld, until_ns);

        for (int i = 0; i < code; i++) {
                struct passage *p = &s->passages[s->reaped[i]->slot];

                s->inner_inflight--;
                straighten(s, p);
        }
        return code;
}

static int faulty_reap(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct faulty_state *s = state;
        unsigned nr = 0;
        uint64_t next_ns;
        int code = 0;

        if (min > max)
                min = max;
        /* Where the wait below will ask the inner backend anyhow, once is enough. */
        if (s->inner_inflight > 0 && (s->nheld > 0 || min == 0 || until_ns == 0))
                code = collect(s, 0, 0);
        for (;;) {
                uint64_t until = until_ns;
                unsigned want;

                if (code < 0)
                        return code;
                nr += tell(s, done + nr, max - nr, &next_ns);
                if (nr >= min || until_ns == 0 ||
                    (until_ns != UINT64_MAX && dbio_clock_now(s->env->clock) >= until_ns))
                        return (int)nr;
                if (next_ns < until)
                        until = next_ns;
                /* Nothing can come any more, and no time is given to wait for. */
                if (until == UINT64_MAX && s->inner_inflight == 0)
                        return (int)nr;
                want = min - nr < s->inner_inflight ? min - nr : s->inner_inflight;
                if (s->inner_inflight > 0)
                        code = collect(s, want, until);
                else
                        dbio_clock_sleep_until(s->env->clock, until);
        }
}

static const struct dbio_backend backend_faulty = {
        .name = "faulty",
        .summary = "another backend with faults",
        .open = faulty_open,
        .submit = faulty_submit,
        .reap = faulty_reap,
        .close = faulty_close,
};

const struct dbio_backend *dbio_backend_faulty(struct dbio_fault_plan *plan)
{
        current_plan = plan;
        return &backend_faulty;
}
