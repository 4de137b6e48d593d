/* Drives sources on a virtual clock against a device that is a function of the op: for tests of patterns.
 *
 * Keeps what the pacer keeps: due times, barriers, depth. Every op completes latency(op) after it was issued;
 * completions are told in the order of time, ties in the order of issue.
 */
#ifndef DBIO_TESTS_DRIVE_H
#define DBIO_TESTS_DRIVE_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/stream.h"

#define DRIVE_SOURCES 4
#define DRIVE_QUEUE   4096

struct drive_op {
        struct dbio_op op;
        unsigned source;
        uint64_t submitted_ns, completed_ns;
};
struct drive_commit {
        uint64_t arrived_ns, submitted_ns, durable_ns;
        uint32_t bytes;
        unsigned source;
};
struct drive_gauge {
        const char *name;
        uint64_t now_ns;
        double value;
};
struct drive;
struct drive_report {
        struct dbio_report report;
        struct drive *drive;
        unsigned source;
};
struct drive {
        unsigned nsources;
        struct dbio_source *sources[DRIVE_SOURCES];
        const struct dbio_log_position *after[DRIVE_SOURCES];
        struct drive_report reports[DRIVE_SOURCES];
        uint64_t (*latency)(void *user, const struct dbio_op *op);
        void *user;
        uint64_t now_ns, limit_ns;
        unsigned limit_ops;

        struct dbio_op queue[DRIVE_SOURCES][DRIVE_QUEUE];
        unsigned head[DRIVE_SOURCES], tail[DRIVE_SOURCES], in_flight[DRIVE_SOURCES], peak[DRIVE_SOURCES];
        bool barrier[DRIVE_SOURCES]; /* one is in flight */

        struct drive_op *ops; /* all that were issued, in the order of issue */
        unsigned nops, space_ops;
        bool *completed;
        unsigned first_open;
        struct drive_commit *commits;
        unsigned ncommits, space_commits;
        struct drive_gauge *gauges;
        unsigned ngauges, space_gauges;
        struct dbio_episode episodes[256];
        unsigned nepisodes, nbegun;
        uint64_t read_bytes_of;
};

static void drive_commit(struct dbio_report *report, uint64_t arrived_ns, uint64_t submitted_ns, uint64_t durable_ns,
                         uint32_t bytes)
{
        struct drive_report *self = (struct drive_report *)report;
        struct drive *drive = self->drive;

        if (drive->ncommits == drive->space_commits)
                drive->commits = realloc(drive->commits, (drive->space_commits += 4096) * sizeof *drive->commits);
        drive->commits[drive->ncommits++] =
                (struct drive_commit){arrived_ns, submitted_ns, durable_ns, bytes, self->source};
}

static void drive_episode_begin(struct dbio_report *report, uint32_t episode, uint64_t begin_ns)
{
        (void)episode;
        (void)begin_ns;
        ((struct drive_report *)report)->drive->nbegun++;
}

static void drive_episode_end(struct dbio_report *report, const struct dbio_episode *episode)
{
        struct drive *drive = ((struct drive_report *)report)->drive;

        if (drive->nepisodes < 256)
                drive->episodes[drive->nepisodes++] = *episode;
}

static void drive_gauge(struct dbio_report *report, const char *name, uint64_t now_ns, double value)
{
        struct drive *drive = ((struct drive_report *)report)->drive;

        if (drive->ngauges == drive->space_gauges)
                drive->gauges = realloc(drive->gauges, (drive->space_gauges += 4096) * sizeof *drive->gauges);
        drive->gauges[drive->ngauges++] = (struct drive_gauge){name, now_ns, value};
}

static uint64_t drive_read_bytes_of(struct dbio_report *report, unsigned stream)
{
        (void)stream;
        return ((struct drive_report *)report)->drive->read_bytes_of;
}

static const struct dbio_report_class drive_class = {
        drive_commit, NULL, drive_episode_begin, drive_episode_end, drive_gauge, drive_read_bytes_of,
};

/* Adds a source (the caller frees it); returns its number in the drive. */
static inline unsigned drive_add(struct drive *drive, struct dbio_source *source)
{
        unsigned i = drive->nsources++;

        drive->sources[i] = source;
        drive->reports[i] = (struct drive_report){{&drive_class}, drive, i};
        source->report = &drive->reports[i].report;
        return i;
}

static inline struct drive *drive_new(uint64_t (*latency)(void *user, const struct dbio_op *op), void *user)
{
        struct drive *drive = calloc(1, sizeof *drive);

        drive->latency = latency;
        drive->user = user;
        return drive;
}

static inline void drive_free(struct drive *drive)
{
        for (unsigned i = 0; i < drive->nsources; i++)
                drive->sources[i]->class->free(drive->sources[i]);
        free(drive->ops);
        free(drive->completed);
        free(drive->commits);
        free(drive->gauges);
        free(drive);
}

static inline bool drive_issue(struct drive *drive, unsigned s)
{
        const struct dbio_op *op = &drive->queue[s][drive->head[s] % DRIVE_QUEUE];
        struct drive_op *entry;

        if (drive->head[s] == drive->tail[s] || drive->barrier[s] || drive->nops >= drive->limit_ops)
                return false;
        if (op->due_ns != DBIO_NO_DUE && op->due_ns > drive->now_ns)
                return false;
        if ((op->flags & DBIO_OP_BARRIER) && drive->in_flight[s])
                return false;
        if (drive->nops == drive->space_ops) {
                drive->space_ops += 4096;
                drive->ops = realloc(drive->ops, drive->space_ops * sizeof *drive->ops);
                drive->completed = realloc(drive->completed, drive->space_ops * sizeof *drive->completed);
        }
        entry = &drive->ops[drive->nops];
        drive->completed[drive->nops++] = false;
        *entry = (struct drive_op){*op, s, drive->now_ns, drive->now_ns + drive->latency(drive->user, op)};
        drive->head[s]++;
        if (++drive->in_flight[s] > drive->peak[s])
                drive->peak[s] = drive->in_flight[s];
        drive->barrier[s] = op->flags & DBIO_OP_BARRIER;
        return true;
}

/* Asks every source for what it has now until none has more. */
static inline void drive_pull(struct drive *drive)
{
        for (bool any = true; any && drive->nops < drive->limit_ops;) {
                any = false;
                for (unsigned s = 0; s < drive->nsources; s++) {
                        struct dbio_op ops[64];
                        unsigned used = drive->tail[s] - drive->head[s];
                        unsigned n = 0;

                        if (used + 64 <= DRIVE_QUEUE && !drive->sources[s]->ended &&
                            (drive->sources[s]->class->done || used == 0))
                                n = drive->sources[s]->class->fill(drive->sources[s], drive->now_ns, ops, 64);
                        for (unsigned i = 0; i < n; i++)
                                drive->queue[s][drive->tail[s]++ % DRIVE_QUEUE] = ops[i];
                        any |= n > 0;
                        while (drive_issue(drive, s))
                                any = true;
                }
        }
}

/* The open op that completes first; nops where none is in flight. */
static inline unsigned drive_first(struct drive *drive)
{
        unsigned best = drive->nops;

        while (drive->first_open < drive->nops && drive->completed[drive->first_open])
                drive->first_open++;
        for (unsigned i = drive->first_open; i < drive->nops; i++)
                if (!drive->completed[i] &&
                    (best == drive->nops || drive->ops[i].completed_ns < drive->ops[best].completed_ns))
                        best = i;
        return best;
}

static inline void drive_complete(struct drive *drive, unsigned i)
{
        const struct drive_op *entry = &drive->ops[i];
        struct dbio_source *source = drive->sources[entry->source];
        struct dbio_done done = {
                .intended_ns = entry->op.due_ns == DBIO_NO_DUE ? entry->submitted_ns : entry->op.due_ns,
                .submitted_ns = entry->submitted_ns,
                .completed_ns = entry->completed_ns,
                .result = entry->op.length,
                .service_ns = entry->completed_ns - entry->submitted_ns,
        };

        drive->completed[i] = true;
        drive->in_flight[entry->source]--;
        if (entry->op.flags & DBIO_OP_BARRIER)
                drive->barrier[entry->source] = false;
        if (source->class->done)
                source->class->done(source, &entry->op, &done);
}

/* Runs until limit_ns, or until limit_ops ops were issued, or nothing more can happen; then drains. */
static inline void drive_run(struct drive *drive, uint64_t limit_ns, unsigned limit_ops)
{
        unsigned idle = 0;

        drive->limit_ns = limit_ns;
        drive->limit_ops = limit_ops;
        for (;;) {
                uint64_t next = UINT64_MAX;
                unsigned first;

                drive_pull(drive);
                first = drive_first(drive);
                if (first < drive->nops)
                        next = drive->ops[first].completed_ns;
                if (drive->nops >= drive->limit_ops)
                        break;
                for (unsigned s = 0; s < drive->nsources; s++) {
                        struct dbio_source *source = drive->sources[s];
                        uint64_t wake =
                                source->class->wake && !source->ended ? source->class->wake(source) : UINT64_MAX;

                        if (drive->head[s] != drive->tail[s]) {
                                const struct dbio_op *op = &drive->queue[s][drive->head[s] % DRIVE_QUEUE];

                                wake = op->due_ns != DBIO_NO_DUE && op->due_ns > drive->now_ns ? op->due_ns
                                                                                               : UINT64_MAX;
                        }
                        if (wake < next)
                                next = wake;
                }
                if (next == UINT64_MAX || next > limit_ns)
                        break;
                /* A source whose time has come but gives nothing would turn for ever. */
                idle = next <= drive->now_ns ? idle + 1 : 0;
                ck_assert_msg(idle < 100000, "a source is awake but gives nothing");
                if (next > drive->now_ns)
                        drive->now_ns = next;
                if (first < drive->nops && drive->ops[first].completed_ns <= drive->now_ns)
                        drive_complete(drive, first);
        }
        for (unsigned first; (first = drive_first(drive)) < drive->nops;) {
                if (drive->ops[first].completed_ns > drive->now_ns)
                        drive->now_ns = drive->ops[first].completed_ns;
                drive_complete(drive, first);
        }
        for (unsigned s = 0; s < drive->nsources; s++)
                if (drive->sources[s]->class->finish)
                        drive->sources[s]->class->finish(drive->sources[s], drive->now_ns);
}

/* A latency that user points to. */
static inline uint64_t drive_constant(void *user, const struct dbio_op *op)
{
        (void)op;
        return *(const uint64_t *)user;
}

#endif
