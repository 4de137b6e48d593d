#include "tests/enginekit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backend_faulty.h"

struct kit_backend kit_backend;
struct kit_issue kit_issues[KIT_LOG];
unsigned kit_nissues, kit_peak;

/* --- sources --- */

static unsigned planned_fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct kit_source *source = (struct kit_source *)base;
        unsigned n = 0;

        (void)now_ns;
        for (; n < max && source->next < source->nr; n++, source->next++) {
                if (source->ops) {
                        ops[n] = source->ops[source->next];
                        continue;
                }
                ops[n] = (struct dbio_op){
                        .offset = source->kind == DBIO_FSYNC ? 0
                                                             : (source->first_offset + source->next * source->stride) %
                                                                       (1ull << 30),
                        .length = source->length,
                        .kind = source->kind,
                        .flags = source->flags,
                        .due_ns = source->gap_ns ? source->next * source->gap_ns : DBIO_NO_DUE,
                };
        }
        if (source->next == source->nr)
                base->ended = true;
        return n;
}

static void planned_finish(struct dbio_source *base, uint64_t now_ns)
{
        (void)now_ns;
        ((struct kit_source *)base)->finished = true;
}

const struct dbio_source_class kit_planned = {.fill = planned_fill, .finish = planned_finish};

/* --- backend --- */

struct state {
        struct dbio_clock *clock;
        const unsigned char *arena;
        unsigned head, nr;
        uint64_t number, reaps;
        unsigned call;
        struct {
                struct dbio_io *io;
                uint64_t at_ns;
                int64_t result;
        } ring[65536];
};

static int fixed_open(void **out, const struct dbio_backend_env *env, struct dbio_err *err)
{
        struct state *state = calloc(1, sizeof *state);

        (void)err;
        state->clock = env->clock;
        state->arena = env->arena;
        *out = state;
        return 0;
}

static bool every(uint64_t number, uint64_t n)
{
        return n && number % n == n - 1;
}

static int fixed_submit(void *opaque, struct dbio_io *const *ios, unsigned nr)
{
        struct state *state = opaque;
        uint64_t now_ns = dbio_clock_now(state->clock);
        unsigned i;

        state->call++;
        for (i = 0; i < nr && !(kit_backend.room && state->nr >= kit_backend.room); i++) {
                uint64_t number = state->number++;
                unsigned at = (state->head + state->nr) % 65536;
                int64_t result = ios[i]->length;

                if (every(number, kit_backend.fail_every))
                        result = -kit_backend.error;
                else if (every(number, kit_backend.short_every))
                        result = ios[i]->length / 2;
                state->nr++;
                state->ring[at].io = every(number, kit_backend.lose_every) ? NULL : ios[i];
                state->ring[at].at_ns = now_ns + kit_backend.latency_ns;
                state->ring[at].result = result;
                if (state->nr > kit_peak)
                        kit_peak = state->nr;
                if (kit_nissues < KIT_LOG)
                        kit_issues[kit_nissues++] =
                                (struct kit_issue){now_ns, ios[i]->offset, ios[i]->length, state->call, ios[i]->kind,
                                                   state->nr,
                                                   ios[i]->buffer ? (unsigned char *)ios[i]->buffer - state->arena : -1};
        }
        return (int)i;
}

static int fixed_reap(void *opaque, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns)
{
        struct state *state = opaque;
        unsigned n = 0;

        if (kit_backend.broken_after && ++state->reaps >= (unsigned)kit_backend.broken_after)
                return -EBADF;
        while (n < max) {
                while (n < max && state->nr && state->ring[state->head].at_ns <= dbio_clock_now(state->clock)) {
                        if (state->ring[state->head].io) {
                                done[n] = state->ring[state->head].io;
                                done[n++]->result = state->ring[state->head].result;
                        }
                        state->head = (state->head + 1) % 65536;
                        state->nr--;
                }
                uint64_t next = state->nr ? state->ring[state->head].at_ns : UINT64_MAX;

                if (next > until_ns)
                        next = until_ns;
                if (n >= min || next == UINT64_MAX || next <= dbio_clock_now(state->clock))
                        break;
                dbio_clock_sleep_until(state->clock, next);
        }
        return (int)n;
}

static void fixed_close(void *state)
{
        free(state);
}

const struct dbio_backend kit_backend_class = {
        .name = "kit", .summary = "tests: a fixed latency", .open = fixed_open, .submit = fixed_submit,
        .reap = fixed_reap, .close = fixed_close,
};

/* --- a run --- */

void kit_init(struct kit *kit)
{
        memset(kit, 0, sizeof *kit);
        memset(&kit_backend, 0, sizeof kit_backend);
        kit_nissues = kit_peak = 0;
        dbio_clock_init_virtual(&kit->clock);
        kit->nfiles = 1;
        kit->phase = (struct dbio_phase){.name = "test", .duration_ns = UINT64_MAX, .ops = UINT64_MAX, .record = true,
                                         .streams = kit->streams};
        kit->options = (struct dbio_run_options){
                .backend = &kit_backend_class, .interval_ns = 1000000000u, .timeout_ns = 30000000000u,
                .max_errors = UINT64_MAX, .scale_time = 1, .null_payload = true,
        };
}

struct dbio_stream *kit_add_source(struct kit *kit, const char *name, unsigned flags, struct dbio_source *source)
{
        unsigned n = kit->phase.nstreams++;
        struct dbio_stream *stream = &kit->streams[n];

        kit->sources[n][0] = source;
        *stream = (struct dbio_stream){.name = name, .pattern = "test", .flags = flags, .threads = 1, .nsources = 1,
                                       .sources = kit->sources[n], .stop_ns = UINT64_MAX, .max_length = 65536,
                                       .nuses = 1};
        stream->uses[0].reads = stream->uses[0].writes = true;
        return stream;
}

struct dbio_stream *kit_add(struct kit *kit, const char *name, struct kit_source source)
{
        struct kit_source *own = &kit->planned[kit->phase.nstreams];
        bool timed = source.gap_ns || (source.ops && source.ops[0].due_ns != DBIO_NO_DUE);
        struct dbio_stream *stream =
                kit_add_source(kit, name, (timed ? DBIO_STREAM_TIMED : 0u) |
                               (source.nr == UINT64_MAX ? DBIO_STREAM_ENDLESS : 0u), &own->source);

        *own = source;
        own->source.class = &kit_planned;
        if (!own->length && own->kind != DBIO_FSYNC)
                own->length = 8192;
        if (!own->stride)
                own->stride = 8 * 8192;
        if (own->length > stream->max_length)
                stream->max_length = own->length;
        if (!timed)
                stream->depth = 1;
        return stream;
}

static int phase_open(struct dbio_schedule *schedule, unsigned number, struct dbio_phase *out, struct dbio_err *err)
{
        struct kit **kit = (struct kit **)(schedule + 1);

        (void)number;
        (void)err;
        *out = (*kit)->phase;
        return 0;
}

static void phase_close(struct dbio_schedule *schedule, struct dbio_phase *phase)
{
        (void)schedule;
        (void)phase;
}

static void take(void *user, const struct dbio_record *record)
{
        struct kit *kit = user;
        struct kit_figures *figures = &kit->figures[record->stream];

        if (record->type == DBIO_RECORD_EPISODE_BEGIN)
                kit->begins++;
        if (record->type == DBIO_RECORD_EPISODE) {
                kit->ends++;
                kit->last_episode = record->episode;
        }
        if (record->type != DBIO_RECORD_INTERVAL)
                return;
        figures->records++;
        kit->last_t_ns = record->interval.t_ns;
        if (record->interval.kind == DBIO_COMMIT) {
                figures->commits += record->interval.ios;
                return;
        }
        figures->ios += record->interval.ios;
        figures->bytes += record->interval.bytes;
        figures->errors += record->interval.errors;
        figures->splits += record->interval.splits;
        figures->hba_waits += record->interval.hba_waits;
        figures->hba_wait_ns += record->interval.hba_wait_ns;
        dbio_hist_merge(&figures->service, record->interval.service);
        dbio_hist_merge(&figures->response, record->interval.response);
        dbio_hist_merge(&figures->wait, record->interval.wait);
        dbio_hist_merge(&figures->lag, record->interval.lag);
}

static void tick(void *user, struct dbio_metrics *const *metrics, unsigned nr, uint64_t elapsed_ns)
{
        (void)elapsed_ns;
        ((struct kit *)user)->ticks++;
        for (unsigned i = 0; i < nr; i++)
                dbio_metrics_drain(metrics[i], take, user);
}

int kit_run(struct kit *kit)
{
        static const char *const names[] = {"data"};
        struct {
                struct dbio_schedule schedule;
                struct kit *kit;
        } own = {.schedule = {.ntargets = 1,
                              .nphases = 1,
                              .seed = 1,
                              .hba = kit->hba,
                              .target_names = names,
                              .phase_open = phase_open,
                              .phase_close = phase_close},
                 .kit = kit};
        struct dbio_file files[4] = {{.fd = -1, .sector = 512}, {.fd = -1, .sector = 512}, {.fd = -1, .sector = 512},
                                     {.fd = -1, .sector = 512}};
        struct dbio_target target = {.name = "data",
                                     .geometry = {.file_size = 1ull << 40, .nfiles = kit->nfiles, .sector = 512}};
        struct dbio_targets targets = {.n = 1, .targets = &target, .nfiles = kit->nfiles, .io_files = files};
        struct dbio_run *run = NULL;
        int result;

        files[0].checked = kit->checked;
        if (!kit->real)
                kit->options.clock = &kit->clock;
        if (getenv("DBIO_KIT_WRAPPED") &&
            strcmp(kit->options.backend->name, "faulty") !=
                    0) { /* the whole suite through the fault-injecting backend, without a fault */
                static struct dbio_fault_plan plan;

                plan = (struct dbio_fault_plan){.inner = kit->options.backend};
                kit->options.backend = dbio_backend_faulty(&plan);
        }
        result = dbio_run_open(&run, &own.schedule, kit->targets ? kit->targets : &targets, &kit->options, &kit->err);
        if (!result)
                result = dbio_run_phase(run, &kit->phase, tick, kit, &kit->result, &kit->err);
        if (!result && kit->options.verify)
                result = dbio_run_verify(run, NULL, NULL, &kit->verified, &kit->err);
        dbio_run_close(run);
        return result;
}

void kit_release(struct kit *kit)
{
        dbio_phase_result_release(&kit->result);
        free(kit);
}
