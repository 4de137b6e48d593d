#include "patterns/groupcommit.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/dist.h"

/* ----- arrivals ----- */

/* The time at which a process of this ramp has seen `n` commits: where the rate's integral is n. */
static double ramp_time(const struct dbio_ramp *ramp, double n)
{
        double from = ramp->from_per_s, to = ramp->to_per_s, over = (double)ramp->over_ns / 1e9, slope, during;

        if (n <= 0)
                return 0;
        if (from == to || over <= 0)
                return n / to;
        during = (from + to) / 2 * over;
        if (n >= during)
                return over + (n - during) / to;
        /* from·t + slope·t²/2 = n, in the form without cancellation. */
        slope = (to - from) / over;
        return 2 * n / (from + sqrt(from * from + 2 * slope * n));
}

static void draw_next(struct dbio_log *log)
{
        double seconds;

        if (!dbio_is_set(log->plan.rate.to_per_s))
                return;
        if (log->plan.arrival == DBIO_UNIFORM)
                log->cumulative = (double)log->drawn;
        else
                log->cumulative += dbio_dist_exponential(&log->rng, 1);
        log->drawn++;
        seconds = ramp_time(&log->plan.rate, log->cumulative);
        /* A ramp down to 0 ends. */
        log->next_ns = seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : UINT64_MAX;
}

static uint32_t draw_bytes(struct dbio_log *log)
{
        double bytes = dbio_dist_draw(&log->plan.bytes, &log->rng);

        return bytes < 1 ? 1 : bytes > 1 << 30 ? 1u << 30 : (uint32_t)(bytes + 0.5);
}

static uint64_t own_next(const struct dbio_log *log)
{
        if (log->ready)
                return log->ready_count ? log->ready[log->ready_head] : UINT64_MAX;
        return log->next_ns;
}

static void session_idle(struct dbio_log *log, uint64_t done_ns)
{
        uint64_t n = log->plan.sessions;

        assert(log->ready_count < n);
        log->ready[(log->ready_head + log->ready_count++) % n] = done_ns + log->plan.think_ns;
}

/* ----- the ring of commits that are not durable ----- */

static struct dbio_log_entry *entry_at(const struct dbio_log *log, unsigned i)
{
        return &log->entries[(log->head + i) & (log->capacity - 1)];
}

/* Entries of a log that nobody waits for, twice as fine as is needed for some seconds of a busy server. */
#define LAZY_ENTRIES 4096u

/* What may wait here also fits where it goes next. */
static unsigned room(const struct dbio_log *log)
{
        unsigned here = log->plan.lazy && log->count > log->capacity / 2 ? log->capacity / 2 : log->count;
        unsigned used = here + log->reserved + (log->next ? log->next->count : 0);

        if (log->position.appended >= log->hold)
                return 0;
        return used < log->capacity ? log->capacity - used : 0;
}

static void append(struct dbio_log *log, struct dbio_log_entry entry)
{
        log->position.appended += entry.bytes;
        if (entry.arrived_ns < log->appended_ns)
                entry.arrived_ns = log->appended_ns;
        log->appended_ns = entry.arrived_ns;
        entry.end = log->position.appended;
        /* Where nobody waits, entries only say where commits end: half of the room is fine enough. */
        if (log->count == log->capacity || (log->plan.lazy && !entry.waiter && log->count >= log->capacity / 2)) {
                struct dbio_log_entry *newest = entry_at(log, log->count - 1);

                assert(!entry.waiter && !entry.own);
                newest->end = entry.end;
                newest->bytes += entry.bytes;
                return;
        }
        *entry_at(log, log->count++) = entry;
}

/* Index of the first entry whose end is at or past `at`; count where there is none. */
static unsigned find(const struct dbio_log *log, uint64_t at)
{
        unsigned low = 0, high = log->count;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                if (entry_at(log, middle)->end >= at)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

static int set_capacity(struct dbio_log *log, unsigned wanted, struct dbio_err *err)
{
        unsigned capacity = 64;
        struct dbio_log_entry *entries;

        while (capacity < wanted)
                capacity *= 2;
        if (capacity <= log->capacity)
                return 0;
        assert(log->count == 0);
        entries = realloc(log->entries, capacity * sizeof *entries);
        if (!entries)
                return dbio_err_set(err, DBIO_IO, "no memory for %u commits: %s", capacity, strerror(ENOMEM));
        log->entries = entries;
        log->capacity = capacity;
        return 0;
}

/* ----- where commits go ----- */

/* A commit's way ends here: who waits for it goes on. */
static void release_waiting(struct dbio_log *log, const struct dbio_log_entry *entry, uint64_t durable_ns)
{
        struct dbio_log *first = log;
        uint64_t phase_ns = durable_ns + log->start_ns;

        if (entry->waiter)
                entry->waiter->durable(entry->waiter, phase_ns);
        while (first->previous)
                first = first->previous;
        if (entry->own && first->ready)
                session_idle(first, phase_ns > first->start_ns ? phase_ns - first->start_ns : 0);
}

static void pass_on(struct dbio_log *log, const struct dbio_log_entry *entry)
{
        struct dbio_log *next = log->next;
        struct dbio_log_entry passed = *entry;
        uint64_t phase_ns = entry->arrived_ns + log->start_ns;

        passed.arrived_ns = phase_ns > next->start_ns ? phase_ns - next->start_ns : 0;
        if (next->plan.bytes.kind != DBIO_DIST_UNSET)
                passed.bytes = draw_bytes(next);
        append(next, passed);
}

/* A commit arrives. With lazy flushing it is done at once, or goes on to the next log at once; what stays here are its
 * bytes, and who needs these to be durable. */
static void take(struct dbio_log *log, struct dbio_log_entry entry)
{
        uint64_t at = entry.arrived_ns;

        if (log->plan.lazy && (entry.own || log->next)) {
                dbio_report_commit(log->source->report, at, at, at, entry.bytes);
                if (log->next)
                        pass_on(log, &entry);
                else if (log->ready)
                        session_idle(log, at);
                entry.own = false;
                entry.waiter = log->next ? NULL : entry.waiter;
        }
        append(log, entry);
        if (log->plan.lazy && entry.waiter)
                log->position.wanted = log->position.appended;
}

/* ----- for patterns that log through another stream ----- */

int dbio_log_reserve(struct dbio_log *log, unsigned commits, struct dbio_err *err)
{
        log->reserved += commits;
        if (set_capacity(log, log->needed + log->reserved, err))
                return -1;
        return log->next ? dbio_log_reserve(log->next, commits, err) : 0;
}

uint64_t dbio_log_commit(struct dbio_log *log, uint64_t phase_ns, uint32_t bytes, struct dbio_log_waiter *waiter)
{
        uint64_t now_ns = phase_ns > log->start_ns ? phase_ns - log->start_ns : 0;

        dbio_log_advance(log, now_ns);
        take(log, (struct dbio_log_entry){.arrived_ns = now_ns, .bytes = bytes ? bytes : 1, .waiter = waiter});
        return log->position.appended;
}

/* ----- for log patterns ----- */

const char *const dbio_arrival_names[] = {"poisson", "uniform", NULL};

struct dbio_commit_plan dbio_commit_plan_of(const struct dbio_commit_keys *keys)
{
        return (struct dbio_commit_plan){
                .rate = {.from_per_s = keys->commit_rate, .to_per_s = keys->commit_rate},
                .arrival = keys->arrival,
                .sessions = keys->sessions,
                .think_ns = keys->think_ns,
                .bytes = keys->bytes,
        };
}

int dbio_commit_plan_check(const struct dbio_commit_plan *plan, struct dbio_err *err)
{
        bool rate = dbio_is_set(plan->rate.to_per_s), sessions = plan->sessions && plan->sessions != DBIO_UNSET;
        const char *path = NULL;

        if (rate == sessions) {
                path = rate ? "commit_rate" : "";
                dbio_err_set(err, DBIO_USAGE,
                             rate ? "commit_rate and sessions exclude each other: give one of them"
                                  : "give commit_rate (open loop) or sessions (closed loop)");
        } else if (rate && plan->think_ns) {
                path = "think";
                dbio_err_set(err, DBIO_USAGE, "think is a key of sessions, not of commit_rate");
        } else if (sessions && plan->arrival != DBIO_POISSON) {
                path = "arrival";
                dbio_err_set(err, DBIO_USAGE, "arrival is a key of commit_rate, not of sessions");
        } else if (sessions && plan->lazy && !plan->think_ns) {
                path = "think";
                dbio_err_set(err, DBIO_USAGE, "sessions that do not wait for their commits need a think time over 0");
        }
        if (path && err)
                strcpy(err->path, path);
        return path ? -1 : 0;
}

double dbio_commit_plan_load(const struct dbio_commit_plan *plan)
{
        if (dbio_is_set(plan->rate.to_per_s))
                return fmax(plan->rate.from_per_s, plan->rate.to_per_s);
        return plan->think_ns && plan->sessions != DBIO_UNSET ? (double)plan->sessions * 1e9 / (double)plan->think_ns
                                                              : 0;
}

int dbio_log_init(struct dbio_log *log, const struct dbio_commit_plan *plan, struct dbio_source *source,
                  uint64_t start_ns, uint64_t seed, struct dbio_err *err)
{
        bool rate = dbio_is_set(plan->rate.to_per_s), sessions = plan->sessions && plan->sessions != DBIO_UNSET;

        *log = (struct dbio_log){
                .plan = *plan, .source = source, .start_ns = start_ns, .hold = UINT64_MAX, .next_ns = UINT64_MAX};
        dbio_rng_init(&log->rng, seed);
        log->needed = sessions ? (unsigned)plan->sessions : rate ? DBIO_LOG_CAPACITY / 2 : 64;
        if (plan->lazy && log->needed < LAZY_ENTRIES)
                log->needed = LAZY_ENTRIES;
        if (set_capacity(log, rate ? DBIO_LOG_CAPACITY : log->needed, err))
                return -1;
        if (sessions) {
                log->ready = calloc(plan->sessions, sizeof *log->ready);
                if (!log->ready) {
                        dbio_log_release(log);
                        return dbio_err_set(err, DBIO_IO, "no memory for sessions: %s", strerror(ENOMEM));
                }
                for (uint64_t i = 0; i < plan->sessions; i++)
                        log->ready[i] = (uint64_t)((double)plan->think_ns * (double)i / (double)plan->sessions);
                log->ready_count = plan->sessions;
        }
        draw_next(log);
        return 0;
}

void dbio_log_release(struct dbio_log *log)
{
        free(log->entries);
        free(log->ready);
        log->entries = NULL;
        log->ready = NULL;
}

void dbio_log_set_stream(struct dbio_log *log, struct dbio_stream *out, const struct dbio_pattern_env *env)
{
        out->position = &log->position;
        out->log = log;
        if (log->ready || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
}

int dbio_log_chain(struct dbio_log *log, struct dbio_log *next, struct dbio_err *err)
{
        if (log->next)
                return dbio_err_set(err, DBIO_USAGE, "its commits already go on to another stream");
        if (set_capacity(next, log->capacity, err))
                return -1;
        log->next = next;
        next->previous = log;
        return 0;
}

void dbio_log_advance(struct dbio_log *log, uint64_t now_ns)
{
        uint64_t at;

        while ((at = own_next(log)) <= now_ns && room(log)) {
                uint32_t bytes = draw_bytes(log);

                if (log->ready) {
                        log->ready_head = (log->ready_head + 1) % log->plan.sessions;
                        log->ready_count--;
                } else {
                        draw_next(log);
                }
                if (log->extra)
                        bytes += log->extra(log, at);
                take(log, (struct dbio_log_entry){.arrived_ns = at, .bytes = bytes, .own = true});
        }
}

uint64_t dbio_log_next(const struct dbio_log *log)
{
        return room(log) ? own_next(log) : UINT64_MAX;
}

uint64_t dbio_log_end_at(const struct dbio_log *log, uint64_t at)
{
        unsigned i = find(log, at);

        return i < log->count ? entry_at(log, i)->end : log->position.appended;
}

uint64_t dbio_log_arrival_at(const struct dbio_log *log, uint64_t position)
{
        unsigned i = find(log, position + 1);

        return i < log->count ? entry_at(log, i)->arrived_ns : UINT64_MAX;
}

void dbio_log_harden(struct dbio_log *log, uint64_t position, const struct dbio_log_flush *flush)
{
        if (position <= log->position.durable)
                return;
        log->formed_ns = flush->formed_ns;
        log->position.durable = position;
        while (log->count && entry_at(log, 0)->end <= position) {
                struct dbio_log_entry entry = *entry_at(log, 0);

                log->head = (log->head + 1) & (log->capacity - 1);
                log->count--;
                if (flush->failed && (!log->plan.lazy || entry.waiter))
                        dbio_report_commits_lost(log->source->report, 1, 0);
                else if (!log->plan.lazy || entry.waiter)
                        dbio_report_commit(log->source->report, entry.arrived_ns,
                                           flush->submitted_ns > entry.arrived_ns ? flush->submitted_ns : entry.arrived_ns,
                                           flush->durable_ns, entry.bytes);
                if (log->next && !log->plan.lazy)
                        pass_on(log, &entry);
                else
                        release_waiting(log, &entry, flush->durable_ns);
        }
}

void dbio_log_finish(struct dbio_log *log)
{
        const struct dbio_log *first = log;
        uint64_t left = 0;

        while (first->previous)
                first = first->previous;
        if (first->ready || log->plan.lazy)
                return;
        for (unsigned i = 0; i < log->count && entry_at(log, i)->arrived_ns <= log->formed_ns; i++)
                left += entry_at(log, i)->own;
        for (; log->next_ns <= log->formed_ns; left++)
                draw_next(log);
        if (left)
                dbio_report_commits_lost(log->source->report, 0, left);
}
