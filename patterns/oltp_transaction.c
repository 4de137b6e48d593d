#include <math.h>
#include <stdlib.h>

#include "patterns/dist.h"
#include "patterns/flow.h"

struct config {
        uint64_t sessions, think_ns, reads;
        struct dbio_dist bytes_per_commit;
        int log_stream;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"sessions", DBIO_FIELD_COUNT, AT(sessions), "1", 1, 65535, "sessions, each with one transaction at a time", "judgement",
         0, NULL, NULL},
        {"think", DBIO_FIELD_TIME, AT(think_ns), "0s", 0, 0, "commit durable to the session's next transaction", "judgement", 0,
         NULL, NULL},
        {"reads", DBIO_FIELD_COUNT, AT(reads), "4", 0, 1e6, "page reads of a transaction, one after the other", "judgement", 0,
         NULL, NULL},
        {"bytes_per_commit", DBIO_FIELD_DIST, AT(bytes_per_commit), "{lognormal: {median: 400, sigma: 0.8}}", 1, 1 << 20,
         "log bytes of a transaction", "as sqlserver.log_write", 0, NULL, NULL},
        {"log_stream", DBIO_FIELD_STREAM, AT(log_stream), NULL, 0, 0, "the log stream that the transactions commit in",
         "judgement", DBIO_FIELD_REQUIRED, NULL, NULL},
        {0},
};

struct transactions;

struct session {
        struct dbio_log_waiter waiter; /* first: what durable gets */
        struct transactions *all;
        struct dbio_rng rng;
        uint64_t left;                 /* reads of its transaction */
        uint64_t from_ns;              /* when it goes on */
};

/* Sessions in the order in which they go on. */
struct queue {
        uint32_t *session;
        uint32_t head, count;
};

struct transactions {
        struct dbio_flow flow;
        const struct config *config;
        struct session *sessions;
        struct queue ready, thinking; /* ready: after a read; thinking: after a commit, times rising */
        struct dbio_log *log;
        struct dbio_slots slots;
        struct dbio_pick pick;
        uint64_t start_ns;
        uint16_t target;
};

static void put(const struct transactions *all, struct queue *queue, uint32_t session)
{
        queue->session[(queue->head + queue->count++) % all->config->sessions] = session;
}

static uint32_t take(const struct transactions *all, struct queue *queue)
{
        uint32_t session = queue->session[queue->head];

        queue->head = (queue->head + 1) % (uint32_t)all->config->sessions;
        queue->count--;
        return session;
}

static uint64_t next_thinker(const struct transactions *all)
{
        return all->thinking.count ? all->sessions[all->thinking.session[all->thinking.head]].from_ns : UINT64_MAX;
}

/* Durable: the session thinks, then begins its next transaction. */
static void durable(struct dbio_log_waiter *waiter, uint64_t phase_ns)
{
        struct session *session = (struct session *)waiter;
        struct transactions *all = session->all;
        uint64_t at = phase_ns > all->start_ns ? phase_ns - all->start_ns : 0;

        session->left = all->config->reads;
        session->from_ns = at + all->config->think_ns;
        put(all, &all->thinking, (uint32_t)(session - all->sessions));
        dbio_flow_nudge(&all->flow, at);
}

static void commit(struct transactions *all, struct session *session, uint64_t at_ns)
{
        double bytes = dbio_dist_draw(&all->config->bytes_per_commit, &session->rng);

        dbio_log_commit(all->log, all->start_ns + at_ns, bytes < 1 ? 1 : bytes > 1 << 20 ? 1 << 20 : (uint32_t)bytes,
                        &session->waiter);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct transactions *all = (struct transactions *)flow;
        uint64_t n = all->config->sessions;

        for (uint32_t i = 0; i < n; i++) {
                all->sessions[i].left = all->config->reads;
                all->sessions[i].from_ns = begin_ns + (uint64_t)((double)all->config->think_ns * i / (double)n);
                put(all, &all->thinking, i);
        }
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct transactions *all = (struct transactions *)flow;

        for (;;) {
                struct queue *queue = all->ready.count ? &all->ready : &all->thinking;

                if (!queue->count || (queue == &all->thinking && next_thinker(all) > now_ns))
                        return DBIO_FLOW_WAIT;
                uint32_t i = take(all, queue);
                struct session *session = &all->sessions[i];

                if (!session->left) { /* a transaction without reads */
                        commit(all, session, session->from_ns);
                        continue;
                }
                op->kind = DBIO_READ;
                op->role = DBIO_ROLE_DATA_READ;
                op->target = all->target;
                op->thread = (uint16_t)i;
                op->due_ns = session->from_ns;
                op->offset = dbio_slots_offset(&all->slots, dbio_pick_next(&all->pick, &session->rng));
                op->length = (uint32_t)all->slots.size;
                session->left--;
                return DBIO_FLOW_OP;
        }
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct transactions *all = (struct transactions *)flow;
        struct session *session = &all->sessions[op->thread];

        session->from_ns = done->completed_ns;
        if (session->left)
                put(all, &all->ready, op->thread);
        else
                commit(all, session, done->completed_ns);
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct transactions *all = (struct transactions *)flow;

        if (!flow->running)
                return UINT64_MAX;
        return all->ready.count ? 0 : next_thinker(all);
}

static void release(struct dbio_flow *flow)
{
        struct transactions *all = (struct transactions *)flow;

        free(all->sessions);
        free(all->ready.session);
        free(all->thinking.session);
}

static const struct dbio_flow_class class = {begin, next, done, NULL, wake, NULL, release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, DBIO_DUE_ONCE, 0};
        struct dbio_stream *log = env->other(env, c->log_stream);
        unsigned page = dbio_pattern_page(env, keys->target);
        struct dbio_space space;

        if (!log || !log->log)
                return dbio_err_set(err, DBIO_USAGE, "log_stream: no log stream of this phase");
        if (dbio_flow_new(out, sizeof(struct transactions), &plan, env, err))
                return -1;
        struct transactions *all = (struct transactions *)out->sources[0];
        all->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        out->flags |= DBIO_STREAM_ENDLESS;
        out->threads = (unsigned)c->sessions;
        all->config = c;
        all->log = log->log;
        all->start_ns = out->start_ns;
        all->target = (uint16_t)keys->target;
        all->sessions = calloc(c->sessions, sizeof *all->sessions);
        all->ready.session = calloc(c->sessions, sizeof *all->ready.session);
        all->thinking.session = calloc(c->sessions, sizeof *all->thinking.session);
        if (!all->sessions || !all->ready.session || !all->thinking.session)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        for (unsigned i = 0; i < c->sessions; i++) {
                all->sessions[i].waiter.durable = durable;
                all->sessions[i].all = all;
                dbio_rng_init(&all->sessions[i].rng, dbio_pattern_seed(env, i));
        }
        if (dbio_log_reserve(all->log, (unsigned)c->sessions, err) ||
            dbio_pattern_space(&space, env, keys->target, &keys->region, page, err))
                return -1;
        dbio_slots_init(&all->slots, &space, page);
        dbio_pick_init(&all->pick, &keys->skew, all->slots.n, dbio_pattern_hot_seed(env));
        dbio_stream_add_use(out, keys->target, true, false, &space);
        out->max_length = page;
        return 0;
}

const struct dbio_pattern dbio_oltp_transaction = {
        .name = "oltp.transaction",
        .summary = "Sessions that read some pages, commit, and wait for their commit",
        .rev = 1,
        .keys = DBIO_KEYS_SKEW,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "data_read",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: oltp.transaction, target: data, sessions: 100, think: 10ms, reads: 4, log_stream: log}",
        .compile = compile,
        .ends = dbio_never_ends,
};
