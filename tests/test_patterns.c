/* The contract that every pattern keeps, on the example of its own table entry. A new pattern needs nothing here, unless
 * its example names a target or stream that the world below lacks. */
#include "tests/unit.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

#include "patterns/workload.h"
#include "tests/play.h"

#define S 1000000000ull
#define FILES 2u
#define FILE_SIZE (2ull << 30) /* of every target */

static const char *const targets[] = {"data", "log", "tempdb", "backup", "binlog", "redo",
                                      "redo-a", "redo-b", "wal", "archive", "doublewrite", "other"};
#define TARGETS (sizeof targets / sizeof *targets)

/* Streams that examples name; each is there only where it is named. */
static const struct {
        const char *name, *yaml;
} named[] = {
        {"log", "{pattern: sqlserver.log_write, target: log, commit_rate: 200/s}"},
        {"redo", "{pattern: innodb.redo_log, target: redo, commit_rate: 200/s}"},
        {"wal", "{pattern: postgres.wal, target: wal, commit_rate: 200/s}"},
        {"lgwr", "{pattern: oracle.lgwr, target: [redo-a, redo-b], commit_rate: 200/s, redo_log_size: 2M}"},
        {"reads", "{pattern: sqlserver.random_read, target: data, rate: 1000/s}"},
        {"checkpoint", "{pattern: postgres.checkpoint, target: data, checkpoint_timeout: 30s, pages: 1000}"},
};
static const char *const references[] = {"after", "log_stream", "commits_of", "redo", "paired_with", "after_switch_of",
                                         "checkpoint"};

static bool names(const char *example, const char *stream)
{
        char text[128];

        for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
                const char *at;

                snprintf(text, sizeof text, "%s: %s", references[i], stream);
                at = strstr(example, text);
                if (at && strchr(",}\n", at[strlen(text)]) && at != example && strchr(" {,", at[-1]))
                        return true;
        }
        return false;
}

struct world {
        struct dbio_workload workload;
        struct dbio_geometry geometry[TARGETS];
        struct dbio_schedule *schedule;
        struct dbio_phase phase;
        unsigned self; /* index of the pattern's own stream in the phase */
        struct play play;
};

/* keys go before those of the example; extra adds a stream that has nothing to do with it. */
static void world_open(struct world *world, const struct dbio_pattern *pattern, const char *keys, bool extra)
{
        char text[8192], *at = text, *end = text + sizeof text;
        struct dbio_err err = {0};
        const char *rest = strstr(pattern->example, pattern->name);

        memset(world, 0, sizeof *world);
        expect_msg(rest, "%s: its example is of another pattern", pattern->name);
        rest += strlen(pattern->name);
        at += snprintf(at, (size_t)(end - at), "name: world\nseed: 20081216\ntargets:\n");
        for (size_t i = 0; i < TARGETS; i++)
                at += snprintf(at, (size_t)(end - at), "  %s: {size: 4GiB, files: %u}\n", targets[i], FILES);
        at += snprintf(at, (size_t)(end - at), "streams:\n  self: {pattern: %s%s%s\n", pattern->name, keys, rest);
        for (size_t i = 0; i < sizeof named / sizeof *named; i++)
                if (names(pattern->example, named[i].name))
                        at += snprintf(at, (size_t)(end - at), "  %s: %s\n", named[i].name, named[i].yaml);
        if (extra)
                at += snprintf(at, (size_t)(end - at), "  extra: {pattern: io.random, target: other, rate: 100/s}\n");
        snprintf(at, (size_t)(end - at), "phases:\n  - {name: only, duration: 130s}\n");
        if (dbio_workload_load_text(&world->workload, pattern->name, text, strlen(text), NULL, 0, &err))
                ck_abort_msg("%s: %s (line %u)\n%s", pattern->name, err.message, err.line, text);
        for (size_t i = 0; i < TARGETS; i++)
                world->geometry[i] = (struct dbio_geometry){.file_size = FILE_SIZE, .nfiles = FILES, .sector = 512};
        if (dbio_workload_compile(&world->workload, world->geometry, &world->schedule, &err) ||
            world->schedule->phase_open(world->schedule, 0, &world->phase, &err))
                ck_abort_msg("%s: %s", pattern->name, err.message);
        ck_assert_str_eq(world->phase.streams[0].name, "self");
}

static void world_play(struct world *world, uint64_t max_ops, unsigned batch)
{
        world->play.streams = world->phase.streams;
        world->play.nstreams = world->phase.nstreams;
        world->play.until_ns = 130 * S;
        world->play.max_ops = max_ops;
        world->play.latency_ns = 1000000;
        world->play.batch = batch;
        play_run(&world->play);
}

static void world_close(struct world *world)
{
        play_release(&world->play);
        world->schedule->phase_close(world->schedule, &world->phase);
        world->schedule->free(world->schedule);
        dbio_workload_release(&world->workload);
}

static bool same(const struct dbio_op *a, const struct dbio_op *b)
{
        return a->offset == b->offset && a->due_ns == b->due_ns && a->length == b->length && a->episode == b->episode &&
               a->target == b->target && a->thread == b->thread && a->kind == b->kind && a->role == b->role &&
               a->flags == b->flags;
}

/* The next op of the pattern's own stream from i on (of one thread, unless that is -1), NULL at the end. */
static const struct dbio_op *own(const struct play *play, uint64_t *i, int source)
{
        while (*i < play->nops) {
                const struct play_op *op = &play->ops[(*i)++];

                if (op->stream == 0 && (source < 0 || op->source == (unsigned)source))
                        return &op->op;
        }
        return NULL;
}

static uint64_t compare(const struct dbio_pattern *pattern, const struct world *a, const struct world *b, int source)
{
        uint64_t i = 0, k = 0, n = 0;

        for (;; n++) {
                const struct dbio_op *x = own(&a->play, &i, source), *y = own(&b->play, &k, source);

                if (!x || !y)
                        return n;
                expect_msg(same(x, y), "%s: op %llu differs: offset %llu and %llu, due %llu and %llu", pattern->name,
                              (unsigned long long)n, (unsigned long long)x->offset, (unsigned long long)y->offset,
                              (unsigned long long)x->due_ns, (unsigned long long)y->due_ns);
        }
}

START_TEST(same_seed_same_ops)
{
        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                struct world a, b;

                world_open(&a, *p, "", false);
                world_open(&b, *p, "", false);
                world_play(&a, 20000, 0);
                world_play(&b, 20000, 0);
                ck_assert_uint_eq(a.play.nops, b.play.nops);
                expect_msg(compare(*p, &a, &b, -1) > 10, "%s: hardly any ops", (*p)->name);
                world_close(&a);
                world_close(&b);
        }
}
END_TEST

START_TEST(another_stream_changes_nothing)
{
        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                struct world a, b;

                world_open(&a, *p, "", false);
                world_open(&b, *p, "", true);
                ck_assert_uint_eq(b.phase.nstreams, a.phase.nstreams + 1);
                world_play(&a, 20000, 0);
                world_play(&b, 20000, 0);
                expect_msg(compare(*p, &a, &b, -1) > 10, "%s: hardly any ops", (*p)->name);
                world_close(&a);
                world_close(&b);
        }
}
END_TEST

static const struct dbio_stream_use *use_of(const struct dbio_stream *stream, unsigned target)
{
        for (unsigned i = 0; i < stream->nuses; i++)
                if (stream->uses[i].target == target)
                        return &stream->uses[i];
        return NULL;
}

static void check_op(const struct dbio_pattern *pattern, const struct dbio_stream *stream, const struct dbio_op *op,
                     unsigned page)
{
        const struct dbio_stream_use *use = use_of(stream, op->target);
        uint64_t end = op->offset + op->length;

        expect_msg(op->kind < DBIO_KINDS && op->kind != DBIO_COMMIT && op->role < DBIO_ROLES, "%s", pattern->name);
        expect_msg(op->thread < stream->threads, "%s: thread %u of %u", pattern->name, op->thread, stream->threads);
        if (op->kind == DBIO_FSYNC) {
                expect_msg(!op->length && !op->offset, "%s: fsync with a place", pattern->name);
                return;
        }
        expect_msg(use, "%s: touches target %u without saying so", pattern->name, op->target);
        expect_msg(op->kind == DBIO_READ ? use->reads : use->writes, "%s: says nothing of %s on target %u", pattern->name,
                      dbio_kind_name(op->kind), op->target);
        expect_msg(op->length && op->length <= stream->max_length, "%s: %u bytes, at most %u", pattern->name, op->length,
                      stream->max_length);
        expect_msg(op->offset % 512 == 0 && op->length % 512 == 0, "%s: not aligned", pattern->name);
        if (op->length % page == 0 && op->role != DBIO_ROLE_LOG && op->role != DBIO_ROLE_LOG_READ &&
            op->role != DBIO_ROLE_BACKUP && op->role != DBIO_ROLE_BINLOG && op->role != DBIO_ROLE_ARCHIVE &&
            op->role != DBIO_ROLE_INSERT)
                expect_msg(op->offset % page == 0, "%s: %u bytes at %llu, off its page", pattern->name, op->length,
                              (unsigned long long)op->offset);
        expect_msg(op->offset >= use->from && end <= use->to, "%s: %llu … %llu outside", pattern->name,
                      (unsigned long long)op->offset, (unsigned long long)end);
        expect_msg(op->offset / FILE_SIZE == (end - 1) / FILE_SIZE, "%s: crosses a file's end at %llu", pattern->name,
                      (unsigned long long)op->offset);
}

/* A region that begins and ends inside files and off every round place. */
START_TEST(ops_stay_where_they_may)
{
        const uint64_t from = (uint64_t)(0.2371 * 4 * (1u << 30)), to = (uint64_t)(0.9113 * 4 * (1u << 30));

        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                struct world world;

                world_open(&world, *p, ", region: {from: 23.71%, to: 91.13%}", false);
                const struct dbio_stream *stream = &world.phase.streams[0];
                unsigned main = stream->uses[0].target, page = world.workload.targets[main].page;

                expect_msg(stream->uses[0].from >= from && stream->uses[0].to <= to, "%s: does not keep to its region",
                              (*p)->name);
                world_play(&world, 100000, 0);
                for (uint64_t i = 0; i < world.play.nops; i++)
                        if (world.play.ops[i].stream == 0)
                                check_op(*p, stream, &world.play.ops[i].op, page);
                world_close(&world);
        }
}
END_TEST

/* Contract: a choice of every pattern that writes; its records in a log of another go as that log's do. */
START_TEST(write_through_is_a_choice)
{
        static const char *const choices[] = {", write_through: no", ", write_through: yes"};

        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++)
                for (unsigned yes = 0; yes < 2 && (*p)->keys & DBIO_KEYS_WRITE; yes++) {
                        struct world world;
                        uint64_t writes = 0;

                        world_open(&world, *p, choices[yes], false);
                        world_play(&world, 100000, 0);
                        for (uint64_t i = 0; i < world.play.nops; i++) {
                                const struct play_op *op = &world.play.ops[i];
                                bool record = op->op.role == DBIO_ROLE_LOG && !((*p)->flags & DBIO_STREAM_COMMITS);

                                if (op->stream || op->op.kind != DBIO_WRITE || record)
                                        continue;
                                writes++;
                                expect_msg(!(op->op.flags & DBIO_OP_DSYNC) == !yes, "%s%s: flags %u", (*p)->name,
                                           choices[yes], op->op.flags);
                        }
                        expect_msg(writes, "%s: no write", (*p)->name);
                        world_close(&world);
                }
}
END_TEST

/* 100,000 ops at a fixed seed: within 1 %. */
START_TEST(rates_are_kept)
{
        static const char *const arrivals[] = {"poisson", "uniform"};

        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++)
                for (int a = 0; a < 2 && (*p)->keys & DBIO_KEYS_READ; a++) {
                        struct world world;
                        char yaml[256];
                        struct dbio_pattern open = **p;
                        uint64_t last = 0, n = 0;

                        snprintf(yaml, sizeof yaml, "{pattern: %s, target: data, threads: 4, rate: 10_000/s, arrival: %s}",
                                 (*p)->name, arrivals[a]);
                        open.example = yaml;
                        world_open(&world, &open, "", false);
                        expect_msg(world.phase.streams[0].flags & DBIO_STREAM_TIMED, "%s: not timed", open.name);
                        world_play(&world, 100000, 0);
                        for (uint64_t i = 0; i < world.play.nops; i++) {
                                const struct play_op *op = &world.play.ops[i];

                                ck_assert_uint_eq(op->op.due_ns, op->done.submitted_ns);
                                last = op->op.due_ns;
                                n++;
                        }
                        expect_msg(fabs((double)n / ((double)last / 1e9) - 10000) < 100, "%s: %f/s", open.name,
                                      (double)n / ((double)last / 1e9));
                        world_close(&world);
                }
}
END_TEST

/* Planned threads do not see how many ops are asked for at once, nor in which order threads are asked: so no number of
 * workers changes them. */
START_TEST(planned_ops_do_not_depend_on_who_asks)
{
        unsigned planned = 0;

        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                struct world a, b;

                world_open(&a, *p, "", false);
                if (a.phase.streams[0].sources[0]->class->done) {
                        world_close(&a);
                        continue;
                }
                planned++;
                world_open(&b, *p, "", false);
                unsigned n = a.phase.streams[0].nsources;
                struct dbio_op *one = calloc(640 * n, sizeof *one), many[64];

                for (int i = 0; i < 640; i++) /* thread by thread, one op at a time */
                        for (unsigned s = 0; s < n; s++) {
                                struct dbio_source *x = a.phase.streams[0].sources[s];

                                ck_assert_uint_eq(x->class->fill(x, 0, &one[s * 640 + (unsigned)i], 1), 1);
                        }
                for (unsigned s = n; s-- > 0;)
                        for (unsigned i = 0; i < 640; i += 64) {
                                struct dbio_source *y = b.phase.streams[0].sources[s];

                                ck_assert_uint_eq(y->class->fill(y, 0, many, 64), 64);
                                for (unsigned k = 0; k < 64; k++)
                                        expect_msg(same(&one[s * 640 + i + k], &many[k]), "%s: thread %u", (*p)->name, s);
                        }
                free(one);
                world_close(&a);
                world_close(&b);
        }
        ck_assert_uint_ge(planned, 4);
}
END_TEST

/* Nothing allocates once a phase is open: 100,000 ops leave the heap as it was. */
START_TEST(memory_does_not_grow)
{
        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                struct world world;
                struct dbio_op ops[64];
                uint64_t now = 0, n = 0;

                world_open(&world, *p, "", false);
                for (unsigned i = 0; i < world.phase.nstreams; i++)
                        for (unsigned s = 0; s < world.phase.streams[i].nsources; s++)
                                world.phase.streams[i].sources[s]->report = &dbio_report_none;
                size_t before = mallinfo2().uordblks;
                for (int turn = 0; turn < 20000 && n < 100000; turn++, now += 5000000)
                        for (unsigned i = 0; i < world.phase.nstreams; i++)
                                for (unsigned s = 0; s < world.phase.streams[i].nsources; s++) {
                                        struct dbio_source *source = world.phase.streams[i].sources[s];
                                        unsigned got = source->ended ? 0 : source->class->fill(source, now, ops, 64);
                                        struct dbio_done done = {now, now, now, 0, 0};

                                        for (unsigned k = 0; k < got && source->class->done; k++)
                                                source->class->done(source, &ops[k], &done);
                                        n += got;
                                }
                size_t after = mallinfo2().uordblks;
                expect_msg(after <= before, "%s: %zu bytes more after %llu ops", (*p)->name, after - before,
                              (unsigned long long)n);
                world_close(&world);
        }
}
END_TEST

START_TEST(entries_are_complete)
{
        for (const struct dbio_pattern *const *p = dbio_patterns; *p; p++) {
                expect_msg((*p)->summary && (*p)->rev && (*p)->role && (*p)->fields && (*p)->example, "%s", (*p)->name);
                expect_msg(dbio_role_find((*p)->role) >= 0, "%s: role %s", (*p)->name, (*p)->role);
                expect_msg(!((*p)->keys & DBIO_KEYS_VERSION) == !(*p)->versions, "%s: versions", (*p)->name);
                for (const struct dbio_field *field = (*p)->fields; field->key; field++)
                        expect_msg(field->help && field->source, "%s: %s has no help or source", (*p)->name, field->key);
                if (p[1])
                        ck_assert_int_lt(strcmp((*p)->name, p[1]->name), 0);
        }
}
END_TEST

TEST_MAIN("patterns", same_seed_same_ops, another_stream_changes_nothing, ops_stay_where_they_may,
          write_through_is_a_choice, rates_are_kept,
          planned_ops_do_not_depend_on_who_asks, memory_does_not_grow, entries_are_complete)
