/* What a phase would issue. Expected orders and counts are worked out by hand. */
#include "tests/unit.h"

#include <string.h>

#include "engine/explain.h"
#include "tests/enginekit.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define ENDLESS UINT64_MAX

static struct {
        unsigned stream;
        uint64_t seq;
        struct dbio_op op;
} rows[100000];
static unsigned nrows, stop_at;

static int row(void *user, unsigned stream, uint64_t seq, const struct dbio_op *op)
{
        (void)user;
        rows[nrows].stream = stream;
        rows[nrows].seq = seq;
        rows[nrows++].op = *op;
        return nrows == stop_at ? 7 : 0;
}

static struct kit *new_kit(void)
{
        struct kit *kit = malloc(sizeof *kit);

        kit_init(kit);
        nrows = stop_at = 0;
        return kit;
}

static int explain(struct kit *kit, const char *only, uint64_t limit)
{
        return dbio_explain_phase(&kit->phase, only, limit, row, NULL, &kit->err);
}

/* Gives the stream a second thread like the first. */
static void second_thread(struct kit *kit, struct dbio_stream *stream, struct kit_source *second)
{
        unsigned n = (unsigned)(stream - kit->streams);

        *second = kit->planned[n];
        second->source.thread = 1;
        stream->threads = stream->nsources = 2;
        kit->sources[n][1] = &second->source;
}

START_TEST(timed_ops_come_first_in_due_order)
{
        struct kit *kit = new_kit();

        kit_add(kit, "closed", (struct kit_source){.nr = 5});
        kit_add(kit, "slow", (struct kit_source){.nr = ENDLESS, .gap_ns = 20 * MS});
        kit_add(kit, "fast", (struct kit_source){.nr = ENDLESS, .gap_ns = 10 * MS})->start_ns = 5 * MS;
        kit_add(kit, "even", (struct kit_source){.nr = ENDLESS, .gap_ns = 10 * MS});
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(explain(kit, NULL, 10), 0);
        /* streams with a rate have the phase's length and are not cut */
        ck_assert_uint_eq(nrows, 50 + 100 + 100 + 5);
        for (unsigned i = 1; i < 250; i++) {
                ck_assert_uint_ge(rows[i].op.due_ns, rows[i - 1].op.due_ns);
                if (rows[i].op.due_ns == rows[i - 1].op.due_ns)
                        ck_assert_uint_gt(rows[i].stream, rows[i - 1].stream);
        }
        ck_assert_uint_eq(rows[2].stream, 2);
        ck_assert_uint_eq(rows[2].op.due_ns, 5 * MS);
        for (unsigned i = 250; i < 255; i++) {
                ck_assert_uint_eq(rows[i].stream, 0);
                ck_assert_uint_eq(rows[i].seq, i - 250);
                ck_assert_uint_eq(rows[i].op.due_ns, DBIO_NO_DUE);
        }
        kit_release(kit);
}
END_TEST

START_TEST(endless_streams_are_cut_and_threads_take_turns)
{
        struct kit *kit = new_kit();
        static struct kit_source second;

        second_thread(kit, kit_add(kit, "closed", (struct kit_source){.nr = ENDLESS}), &second);
        kit_add(kit, "finite", (struct kit_source){.nr = 300});
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(explain(kit, NULL, 100), 0);
        ck_assert_uint_eq(nrows, 400);
        for (unsigned i = 0; i < 100; i++) {
                ck_assert_uint_eq(rows[i].stream, 0);
                ck_assert_uint_eq(rows[i].op.offset, i / 2 * 65536);
        }
        kit_release(kit);

        kit = new_kit();
        kit_add(kit, "closed", (struct kit_source){.nr = ENDLESS});
        kit_add(kit, "finite", (struct kit_source){.nr = 300});
        ck_assert_int_eq(explain(kit, NULL, 0), -1);
        ck_assert_int_eq(kit->err.code, DBIO_USAGE);
        ck_assert_int_eq(explain(kit, "finite", 0), 0);
        ck_assert_uint_eq(nrows, 300);
        kit_release(kit);

        /* a rate without a duration is endless */
        kit = new_kit();
        kit_add(kit, "rate", (struct kit_source){.nr = ENDLESS, .gap_ns = MS});
        ck_assert_int_eq(explain(kit, NULL, 50), 0);
        ck_assert_uint_eq(nrows, 50);
        kit_release(kit);
}
END_TEST

START_TEST(ops_of_the_phase_are_shared)
{
        struct kit *kit = new_kit();
        unsigned count[2] = {0};

        kit_add(kit, "one", (struct kit_source){.nr = ENDLESS})->depth = 1;
        kit_add(kit, "three", (struct kit_source){.nr = ENDLESS})->depth = 3;
        kit->phase.ops = 1002;
        ck_assert_int_eq(explain(kit, NULL, 0), 0);
        ck_assert_uint_eq(nrows, 1002);
        for (unsigned i = 0; i < nrows; i++)
                count[rows[i].stream]++;
        ck_assert_uint_eq(count[0], 251);
        ck_assert_uint_eq(count[1], 751);
        kit_release(kit);
}
END_TEST

START_TEST(a_row_may_end_it)
{
        struct kit *kit = new_kit();

        stop_at = 17;
        kit_add(kit, "rate", (struct kit_source){.nr = ENDLESS, .gap_ns = MS});
        kit->phase.duration_ns = SECOND;
        ck_assert_int_eq(explain(kit, NULL, 0), 7);
        ck_assert_uint_eq(nrows, 17);
        kit_release(kit);
}
END_TEST

/* A log that appends 100 bytes every 10 ms and flushes only when asked to (wanted), or each second; and a reactive
 * writer that makes an op every 7 ms and counts how many are out. */
struct lazy_log {
        struct dbio_source source;
        struct dbio_log_position position;
        uint64_t flushed_to, flushes;
};

static void lazy_advance(struct lazy_log *log, uint64_t now_ns)
{
        log->position.appended = now_ns / (10 * MS) * 100;
}

static unsigned lazy_fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct lazy_log *log = (struct lazy_log *)source;

        (void)max;
        lazy_advance(log, now_ns);
        if (log->position.wanted <= log->flushed_to || log->flushed_to == log->position.appended)
                return 0;
        ops[0] = (struct dbio_op){.offset = log->flushes++ * 512, .length = 512, .kind = DBIO_WRITE,
                                  .role = DBIO_ROLE_LOG, .due_ns = now_ns, .cookie = log->position.appended};
        log->flushed_to = log->position.appended;
        return 1;
}

static void lazy_done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done)
{
        (void)done;
        ((struct lazy_log *)source)->position.durable = op->cookie;
}

static uint64_t lazy_wake(struct dbio_source *source)
{
        struct lazy_log *log = (struct lazy_log *)source;

        return log->position.wanted > log->flushed_to ? 0 : (log->position.appended / 100 + 1) * 10 * MS;
}

static const struct dbio_source_class lazy_class = {.fill = lazy_fill, .done = lazy_done, .wake = lazy_wake};

struct writer {
        struct dbio_source source;
        uint64_t next, out, most;
};

static unsigned writer_fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct writer *writer = (struct writer *)source;

        (void)max;
        if (now_ns < writer->next * 7 * MS)
                return 0;
        ops[0] = (struct dbio_op){.offset = writer->next * 8192, .length = 8192, .kind = DBIO_WRITE,
                                  .role = DBIO_ROLE_CHECKPOINT, .due_ns = writer->next * 7 * MS, .episode = 1};
        writer->next++;
        if (++writer->out > writer->most)
                writer->most = writer->out;
        return 1;
}

static void writer_done(struct dbio_source *source, const struct dbio_op *op, const struct dbio_done *done)
{
        (void)op;
        (void)done;
        ((struct writer *)source)->out--;
}

static uint64_t writer_wake(struct dbio_source *source)
{
        return ((struct writer *)source)->next * 7 * MS;
}

static const struct dbio_source_class writer_class = {.fill = writer_fill, .done = writer_done, .wake = writer_wake};

static struct lazy_log log_source;
static struct writer writer_source;

static struct kit *new_log_kit(void)
{
        struct kit *kit = new_kit();
        struct dbio_stream *log, *writer;

        log_source = (struct lazy_log){.source.class = &lazy_class};
        writer_source = (struct writer){.source.class = &writer_class};
        log = kit_add_source(kit, "log", DBIO_STREAM_REACTIVE, &log_source.source);
        writer = kit_add_source(kit, "writer", DBIO_STREAM_REACTIVE, &writer_source.source);
        log->position = &log_source.position;
        writer->after = &log_source.position;
        log->group = writer->group = 1;
        kit->phase.duration_ns = SECOND;
        return kit;
}

START_TEST(reactive_streams_are_driven_with_their_log)
{
        struct kit *kit = new_log_kit();
        unsigned count[2] = {0};

        ck_assert_int_eq(explain(kit, NULL, 10), 0);
        /* the writer's 143 ops (0, 7, … 994 ms); the log flushes only for those that find something appended */
        for (unsigned i = 0; i < nrows; i++) {
                ck_assert_uint_eq(rows[i].stream, i < nrows - 143 ? 0 : 1);
                ck_assert_uint_eq(rows[i].seq, count[rows[i].stream]++);
                ck_assert_uint_eq(rows[i].op.due_ns, DBIO_NO_DUE);
        }
        ck_assert_uint_eq(count[1], 143);
        ck_assert_uint_ge(count[0], 70);
        ck_assert_uint_le(count[0], 100);
        /* flushed at once, so never more than one waits */
        ck_assert_uint_eq(writer_source.most, 1);
        ck_assert_uint_eq(rows[nrows - 1].op.offset, 142 * 8192);
        kit_release(kit);
}
END_TEST

/* The same two on the engine: no data write before its log. */
START_TEST(after_holds_on_the_engine)
{
        struct kit *kit = new_log_kit();
        uint64_t flushed_ns = 0;
        unsigned writes = 0;

        kit_backend.latency_ns = 3 * MS;
        ck_assert_int_eq(kit_run(kit), 0);
        ck_assert_uint_eq(kit->figures[1].ios + kit->figures[1].errors, 143);
        ck_assert_uint_gt(kit->figures[0].ios, 60);
        for (unsigned i = 0; i < kit_nissues; i++) {
                if (kit_issues[i].length == 512) {
                        flushed_ns = kit_issues[i].t_ns + 3 * MS;
                        continue;
                }
                /* op k is formed at 7k ms; from 10 ms on there is log before it */
                if (writes * 7 >= 10)
                        ck_assert(flushed_ns && kit_issues[i].t_ns >= flushed_ns);
                ck_assert_uint_ge(kit_issues[i].t_ns, writes * 7 * MS);
                ck_assert_uint_le(kit_issues[i].t_ns, writes * 7 * MS + 6 * MS);
                writes++;
        }
        /* waiting for the log is no fault of ours */
        ck_assert_uint_eq(kit->figures[1].lag.max_ns, 0);
        ck_assert_uint_ge(kit->figures[1].wait.max_ns, 3 * MS);
        kit_release(kit);
}
END_TEST

TEST_MAIN("explain", timed_ops_come_first_in_due_order, endless_streams_are_cut_and_threads_take_turns,
          ops_of_the_phase_are_shared, a_row_may_end_it, reactive_streams_are_driven_with_their_log,
          after_holds_on_the_engine)
