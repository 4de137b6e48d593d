#include "replay/offered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/explain.h"
#include "engine/units.h"
#include "patterns/doc.h"

#define ROWS_MAX 3000000u
#define ROWS_ENDLESS 2000u /* of a closed loop: enough for its sizes */
#define CUT 1

const char *const dbio_offered_names[DBIO_OFFERED_FIGURES] = {
        "data reads/s", "data read size", "data writes/s", "data write size", "log writes/s", "log bytes/s", "commits/s",
        "fsyncs/s", "kept outstanding", "bytes an episode", "busiest second",
};

struct tally {
        struct dbio_offered_stream *stream;
        const struct dbio_schedule *schedule;
        uint64_t ios[DBIO_KINDS], bytes[DBIO_KINDS], rows, in_episodes, last_due_ns;
        uint64_t second, in_second, peak;
        bool timed, log_role, whole; /* whole: the phase has no length of its own, the stream's ops were all listed */
        uint16_t target;
};

static int row(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op)
{
        struct tally *tally = user;

        (void)stream;
        (void)seq;
        if (tally->rows == ROWS_MAX)
                return CUT;
        if (!tally->rows++) {
                tally->target = op->target;
                tally->log_role = op->role == DBIO_ROLE_LOG || op->role == DBIO_ROLE_BINLOG;
        }
        tally->ios[op->kind]++;
        tally->bytes[op->kind] += op->length;
        if (op->episode) {
                tally->in_episodes += op->length;
                if (op->episode > tally->stream->episodes)
                        tally->stream->episodes = op->episode;
        }
        if (op->due_ns == DBIO_NO_DUE)
                return 0;
        tally->timed = true;
        tally->last_due_ns = op->due_ns;
        if (op->due_ns / 1000000000u != tally->second) {
                tally->second = op->due_ns / 1000000000u;
                tally->in_second = 0;
        }
        if ((op->kind == DBIO_READ || op->kind == DBIO_WRITE) && ++tally->in_second > tally->peak)
                tally->peak = tally->in_second;
        return 0;
}

/* A closed loop's own flag, as explain sees it. */
static bool is_closed(const struct dbio_phase *phase, const struct dbio_stream *stream)
{
        return stream->flags & DBIO_STREAM_ENDLESS && !(stream->flags & DBIO_STREAM_TIMED) && phase->ops == UINT64_MAX;
}

/* Lists the stream's ops in a phase of its own; where there are too many, in one of an eighth of the length. */
static int list_ops(struct dbio_schedule *schedule, unsigned index, unsigned number, struct tally *tally, double *seconds,
                    struct dbio_err *err)
{
        struct dbio_offered_stream *out = tally->stream;
        uint64_t duration = 0;
        int code;

        do {
                struct dbio_phase phase = {0};

                memset(tally->ios, 0, sizeof tally->ios);
                memset(tally->bytes, 0, sizeof tally->bytes);
                tally->rows = tally->in_episodes = tally->second = tally->in_second = tally->peak = 0;
                out->episodes = 0;
                if (schedule->phase_open(schedule, index, &phase, err))
                        return -1;
                const struct dbio_stream *stream = &phase.streams[number];
                if (!duration)
                        duration = phase.duration_ns;
                /* What is known to be too much need not be tried. */
                while (duration != UINT64_MAX && stream->load * (double)duration / 1e9 > 2.0 * ROWS_MAX)
                        duration /= 8;
                phase.duration_ns = duration;
                out->closed = is_closed(&phase, stream);
                out->threads = stream->threads;
                out->depth = stream->depth;
                out->think_ns = stream->think_ns;
                snprintf(out->name, sizeof out->name, "%s", stream->name);
                code = dbio_explain_phase(&phase, stream->name, ROWS_ENDLESS, row, tally, err);
                schedule->phase_close(schedule, &phase);
                if (code < 0)
                        return -1;
                if (code == CUT && (tally->timed || duration == UINT64_MAX))
                        break;
                if (code == CUT)
                        duration /= 8;
        } while (code == CUT && duration > 1000000);
        *seconds = duration == UINT64_MAX ? NAN : (double)duration / 1e9;
        if (tally->timed && (code == CUT || duration == UINT64_MAX))
                *seconds = (double)tally->last_due_ns / 1e9;
        tally->whole = tally->timed && code != CUT && duration == UINT64_MAX;
        if (out->closed)
                *seconds = NAN;
        return 0;
}

/* A stream's key in the resolved text, a phase's `set` first; NULL = not given. */
static const char *stream_key(const struct dbio_workload *workload, const char *phase, const char *stream, const char *key)
{
        const struct dbio_node *phases = dbio_node_get(workload->doc->root, "phases");
        const struct dbio_node *streams = dbio_node_get(workload->doc->root, "streams");
        char dotted[200];

        snprintf(dotted, sizeof dotted, "streams.%s.%s", stream, key);
        for (unsigned i = 0; phases && i < phases->n; i++) {
                const struct dbio_node *name = dbio_node_get(phases->items[i], "name");
                const struct dbio_node *set = dbio_node_get(phases->items[i], "set"), *value;

                if (name && !strcmp(name->text, phase) && set && (value = dbio_node_get(set, dotted)) &&
                    value->type == DBIO_NODE_SCALAR)
                        return value->text;
        }
        const struct dbio_node *node = streams ? dbio_node_get(streams, stream) : NULL;
        node = node ? dbio_node_get(node, key) : NULL;
        return node && node->type == DBIO_NODE_SCALAR ? node->text : NULL;
}

static void find_commits(struct dbio_offered_stream *out, const struct dbio_workload *workload, const char *phase)
{
        const char *rate = stream_key(workload, phase, out->name, "commit_rate");
        const char *sessions = stream_key(workload, phase, out->name, "sessions");
        struct dbio_err ignored = {0};
        double bytes;

        if (rate && dbio_parse_rate(rate, &out->commits_per_s, &bytes, &ignored))
                out->commits_per_s = NAN;
        if (sessions && dbio_parse_count(sessions, &out->sessions, &ignored))
                out->sessions = 0;
}

static bool is_log_name(const char *name)
{
        return strcasestr(name, "log") || strcasestr(name, "redo") || strcasestr(name, "wal");
}

static void fill_rates(struct dbio_offered_stream *out, const struct tally *tally, double seconds)
{
        const uint64_t *ios = tally->ios;

        if (!(seconds > 0))
                seconds = NAN;
        snprintf(out->target, sizeof out->target, "%s", tally->rows ? tally->schedule->target_names[tally->target] : "");
        out->log = tally->log_role || (ios[DBIO_WRITE] && is_log_name(out->target));
        out->reads_per_s = (double)ios[DBIO_READ] / seconds;
        out->writes_per_s = (double)ios[DBIO_WRITE] / seconds;
        out->fsyncs_per_s = (double)ios[DBIO_FSYNC] / seconds;
        out->read_bytes = ios[DBIO_READ] ? (double)tally->bytes[DBIO_READ] / (double)ios[DBIO_READ] : NAN;
        out->write_bytes = ios[DBIO_WRITE] ? (double)tally->bytes[DBIO_WRITE] / (double)ios[DBIO_WRITE] : NAN;
        out->episode_bytes = out->episodes ? (double)tally->in_episodes / out->episodes : NAN;
        out->peak_per_s = tally->timed ? (double)tally->peak : NAN;
        out->commits_per_s = NAN;
}

static int measure_phase(struct dbio_offered_phase *out, struct dbio_schedule *schedule, unsigned index, unsigned nstreams,
                         const struct dbio_workload *workload, struct dbio_err *err)
{
        out->streams = calloc(nstreams + 1, sizeof *out->streams);
        if (!out->streams)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        out->nstreams = nstreams;
        struct tally *tallies = calloc(nstreams + 1, sizeof *tallies);
        double *seconds = calloc(nstreams + 1, sizeof *seconds), longest = 0;
        int code = tallies && seconds ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");

        for (unsigned i = 0; !code && i < nstreams; i++) {
                tallies[i] = (struct tally){.stream = &out->streams[i], .schedule = schedule};
                code = list_ops(schedule, index, i, &tallies[i], &seconds[i], err);
                if (tallies[i].whole)
                        longest = fmax(longest, seconds[i]);
        }
        for (unsigned i = 0; !code && i < nstreams; i++) {
                /* A trace's streams all last as long as the trace. */
                fill_rates(&out->streams[i], &tallies[i], tallies[i].whole ? longest : seconds[i]);
                if (workload)
                        find_commits(&out->streams[i], workload, out->name);
        }
        free(tallies);
        free(seconds);
        return code;
}

int dbio_offered_measure(struct dbio_offered *offered, struct dbio_schedule *schedule, const struct dbio_workload *workload,
                         struct dbio_err *err)
{
        *offered = (struct dbio_offered){.phases = calloc(schedule->nphases + 1, sizeof *offered->phases)};
        if (!offered->phases)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_offered_phase *out = &offered->phases[offered->nphases];
                struct dbio_phase phase = {0};

                if (schedule->phase_open(schedule, i, &phase, err))
                        return -1;
                bool record = phase.record;
                unsigned nstreams = phase.nstreams;
                out->duration_ns = phase.duration_ns;
                snprintf(out->name, sizeof out->name, "%s", schedule->phase_names[i]);
                schedule->phase_close(schedule, &phase);
                if (!record)
                        continue;
                offered->nphases++;
                if (measure_phase(out, schedule, i, nstreams, workload, err))
                        return -1;
        }
        return 0;
}

void dbio_offered_release(struct dbio_offered *offered)
{
        for (unsigned i = 0; i < offered->nphases; i++)
                free(offered->phases[i].streams);
        free(offered->phases);
        *offered = (struct dbio_offered){0};
}

/* Adds what is known; a figure that a stream does not have is left as it is. */
static void add(double *sum, double value)
{
        if (!isnan(value) && value > 0)
                *sum = isnan(*sum) ? value : *sum + value;
}

void dbio_offered_sum(const struct dbio_offered_phase *phase, double figures[DBIO_OFFERED_FIGURES])
{
        double bytes[2] = {0, 0}, weights[2] = {0, 0};

        for (int i = 0; i < DBIO_OFFERED_FIGURES; i++)
                figures[i] = NAN;
        for (unsigned i = 0; i < phase->nstreams; i++) {
                const struct dbio_offered_stream *s = &phase->streams[i];
                /* A closed loop has sizes, but no rate that could weigh them: each counts by what it keeps outstanding. */
                double weight = s->closed ? s->threads * fmax(1, s->depth) : 0;

                add(&figures[DBIO_OFFERED_READS], s->reads_per_s);
                add(&figures[s->log ? DBIO_OFFERED_LOG_WRITES : DBIO_OFFERED_WRITES], s->writes_per_s);
                if (s->log)
                        add(&figures[DBIO_OFFERED_LOG_BYTES], s->writes_per_s * s->write_bytes);
                add(&figures[DBIO_OFFERED_COMMITS], s->commits_per_s);
                add(&figures[DBIO_OFFERED_FSYNCS], s->fsyncs_per_s);
                add(&figures[DBIO_OFFERED_EPISODE_BYTES], s->episode_bytes);
                add(&figures[DBIO_OFFERED_PEAK], s->peak_per_s);
                if (s->closed)
                        add(&figures[DBIO_OFFERED_DEPTH], s->sessions ? (double)s->sessions : weight);
                for (int k = 0; k < 2; k++) {
                        double size = k ? s->write_bytes : s->read_bytes, w = s->closed ? weight : k ? s->writes_per_s : s->reads_per_s;

                        if (isnan(size) || isnan(w) || (k && s->log))
                                continue;
                        bytes[k] += w * size;
                        weights[k] += w;
                }
        }
        if (weights[0] > 0)
                figures[DBIO_OFFERED_READ_SIZE] = bytes[0] / weights[0];
        if (weights[1] > 0)
                figures[DBIO_OFFERED_WRITE_SIZE] = bytes[1] / weights[1];
}
