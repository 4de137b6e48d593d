#include "tests/results_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/db.h"
#include "tests/unit.h"

static struct dbio_hist service, response, wait_hist, lag;

void fixture_open(struct fixture *f)
{
        memset(f, 0, sizeof *f);
        strcpy(f->path, "/tmp/dbio-test-XXXXXX");
        int fd = mkstemp(f->path);
        ck_assert_int_ge(fd, 0);
        close(fd);
        ck_assert_msg(!dbio_store_open(&f->store, f->path, DBIO_STORE_CREATE, &f->err), "%s", f->err.message);
        f->phase.streams = f->streams;
        f->phase.record = true;
        f->result.due = f->due;
        f->result.unissued = f->unissued;
}

void fixture_close(struct fixture *f)
{
        char path[80];

        dbio_recorder_close(f->rec);
        dbio_store_close(f->store);
        for (int i = 0; i < 3; i++) {
                snprintf(path, sizeof path, "%s%s", f->path, (const char *[]){"", "-wal", "-shm"}[i]);
                unlink(path);
        }
}

unsigned fixture_stream(struct fixture *f, const char *name, const char *pattern, unsigned flags)
{
        f->streams[f->phase.nstreams] = (struct dbio_stream){.name = name, .pattern = pattern, .flags = flags,
                                                             .threads = 1, .depth = 1, .nuses = 1,
                                                             .uses = {{.reads = true, .writes = true}}};
        return f->phase.nstreams++;
}

void fixture_begin(struct fixture *f, const struct dbio_run_info *info)
{
        static const struct dbio_run_info plain = {.label = "raid10", .workload = "sqlserver/read-plus-checkpoint",
                                                   .schedule_hash = "9f3c11a7", .seed = 20081216, .engine = "null",
                                                   .tool_version = "1.0", .host_json = "{}", .targets_json = "[]"};

        ck_assert_msg(!dbio_store_run_begin(f->store, info ? info : &plain, &f->run_id, NULL, &f->err), "%s",
                      f->err.message);
}

void fixture_phase(struct fixture *f, const char *name, uint64_t interval_ns, bool full)
{
        static unsigned position;
        struct dbio_recorder_options options = {.run_id = f->run_id, .position = position++,
                                                .interval_ns = interval_ns, .full_intervals = full};

        f->phase.name = name;
        ck_assert_msg(!dbio_recorder_open(&f->rec, f->store, &f->phase, &options, &f->err), "%s", f->err.message);
}

void fixture_ops(struct fixture *f, unsigned stream, int kind, int role, uint32_t mask, uint64_t t_ns, unsigned ios,
                 unsigned bytes, uint64_t service_ns, uint64_t wait_ns)
{
        struct dbio_record r = {.type = DBIO_RECORD_INTERVAL, .stream = stream};

        dbio_hist_reset(&service);
        dbio_hist_reset(&response);
        dbio_hist_reset(&wait_hist);
        dbio_hist_reset(&lag);
        for (unsigned i = 0; i < ios; i++) {
                dbio_hist_add(&service, service_ns);
                dbio_hist_add(&response, service_ns + wait_ns);
                dbio_hist_add(&wait_hist, wait_ns);
                dbio_hist_add(&lag, 5000);
        }
        r.interval.kind = (uint8_t)kind;
        r.interval.role = (uint8_t)role;
        r.interval.mask = mask;
        r.interval.t_ns = t_ns;
        r.interval.ios = ios;
        r.interval.bytes = (uint64_t)ios * bytes;
        r.interval.depth_peak = 4;
        r.interval.service = &service;
        r.interval.response = &response;
        r.interval.wait = &wait_hist;
        r.interval.lag = &lag;
        f->due[stream] += kind == DBIO_COMMIT ? 0 : ios;
        dbio_recorder_take(f->rec, &r);
}

void fixture_episode(struct fixture *f, unsigned stream, const struct dbio_episode *episode)
{
        struct dbio_record r = {.type = DBIO_RECORD_EPISODE_BEGIN, .stream = stream};

        r.begin.episode = episode->episode;
        r.begin.begin_ns = episode->begin_ns;
        dbio_recorder_take(f->rec, &r);
        r.type = DBIO_RECORD_EPISODE;
        r.episode = *episode;
        dbio_recorder_take(f->rec, &r);
}

void fixture_tick(struct fixture *f, uint64_t elapsed_ns)
{
        ck_assert_msg(!dbio_recorder_tick(f->rec, elapsed_ns, &f->err), "%s", f->err.message);
}

void fixture_finish(struct fixture *f, uint64_t duration_ns)
{
        f->result.duration_ns = duration_ns;
        ck_assert_msg(!dbio_recorder_finish(f->rec, &f->result, &f->err), "%s", f->err.message);
        dbio_recorder_close(f->rec);
        f->rec = NULL;
        memset(f->due, 0, sizeof f->due);
}

void fixture_end(struct fixture *f)
{
        struct dbio_run_outcome outcome = {.status = "complete", .valid = true, .wall_ns = 3 * S,
                                           .cpu_user_ns = 100 * MS, .cpu_sys_ns = 50 * MS};

        ck_assert_msg(!dbio_store_run_end(f->store, f->run_id, &outcome, &f->err), "%s", f->err.message);
}

static void example_second(struct fixture *f, unsigned i, double speed)
{
        bool slow = (i >= 20 && i < 25) || (i >= 40 && i < 45), hit = i == 20 || i == 40;
        unsigned ios = (unsigned)((slow ? 200 : 400) * speed);
        uint64_t ns = (uint64_t)((slow ? 40 : 20) * (double)MS / speed);
        unsigned in = hit ? ios * 9 / 10 : 0;

        if (in) {
                fixture_ops(f, 0, DBIO_READ, DBIO_ROLE_DATA_READ, 1, i * S, in, 8192, ns, 0);
                fixture_ops(f, 1, DBIO_WRITE, DBIO_ROLE_CHECKPOINT, 1, i * S, 100, 131072, 100000, 1 * MS);
        }
        fixture_ops(f, 0, DBIO_READ, DBIO_ROLE_DATA_READ, 0, i * S, ios - in, 8192, ns, 0);
        fixture_ops(f, 2, DBIO_WRITE, DBIO_ROLE_LOG, hit, i * S, 100, 1024, 300000, 0);
        fixture_ops(f, 2, DBIO_COMMIT, DBIO_ROLE_LOG, hit, i * S, 200, 400, 300000, 200000);
}

void fixture_example(struct fixture *f, const char *label, double speed)
{
        static const struct dbio_limit limit = {"log.commit.mean < 2ms", "log", DBIO_COMMIT, DBIO_PART_RESPONSE,
                                                DBIO_LIMIT_MEAN, DBIO_COMPARE_LT, 2e6};
        static const struct dbio_limit observed = {"user-reads.read.mean: 18.4ms", "user-reads", DBIO_READ,
                                                   DBIO_PART_RESPONSE, DBIO_LIMIT_MEAN, DBIO_COMPARE_NONE, 18.4e6};
        struct dbio_run_info info = {.label = label, .workload = "sqlserver/read-plus-checkpoint",
                                     .schedule_hash = "9f3c11a7", .seed = 20081216, .engine = "io_uring",
                                     .tool_version = "1.0", .host_json = "{\"kernel\": \"6.1.0\"}",
                                     .how = "io_uring, O_DIRECT + write-through, depth 8 kept",
                                     .targets_json = "[{\"name\": \"data\", \"files\": [{\"path\": \"/dev/sdb\", "
                                     "\"device\": {\"name\": \"sdb\", \"model\": \"PERC H700\", \"firmware\": \"12.10\", "
                                     "\"size_bytes\": 1495334780108, \"write_cache\": \"write back\"}}]}, "
                                     "{\"name\": \"log\", \"files\": [{\"path\": \"/data/log.ldf\", \"device\": {\"name\": "
                                     "\"sdb\", \"model\": \"PERC H700\", \"firmware\": \"12.10\", \"size_bytes\": "
                                     "1495334780108, \"write_cache\": \"write back\"}}]}]",
                                     .nlimits = 1, .limits = &limit, .nobserved = 1, .observed = &observed};

        f->phase.nstreams = 0;
        fixture_stream(f, "user-reads", "sqlserver.random_read", 0);
        fixture_stream(f, "checkpoint", "sqlserver.checkpoint", DBIO_STREAM_EPISODES);
        fixture_stream(f, "log", "sqlserver.log_write", DBIO_STREAM_COMMITS);
        fixture_begin(f, &info);
        fixture_phase(f, "reads-and-checkpoint", S, false);
        for (unsigned i = 0; i < 60; i++)
                example_second(f, i, speed);
        for (unsigned e = 1; e <= 3; e++)
                fixture_episode(f, 1, &(struct dbio_episode){.episode = e, .begin_ns = e * 20 * S - (e == 3) * MS,
                                                             .end_ns = e < 3 ? e * 20 * S + 900 * MS : UINT64_MAX,
                                                             .pages = e < 3 ? 1600 : 0, .writes = e < 3 ? 100 : 0,
                                                             .bytes = e < 3 ? 100 * 131072 : 0, .avoided = e,
                                                             .stalls = 41, .outstanding_target = 1600,
                                                             .write_mean_ns = 100000});
        f->result.outstanding.cap = 1024;
        f->result.outstanding.peak = 900;
        dbio_hist_add(&f->result.lag, 11000);
        fixture_finish(f, 60 * S);
        fixture_end(f);
}

char *fixture_sql(struct fixture *f, const char *sql)
{
        sqlite3 *db = NULL;
        sqlite3_stmt *stmt = NULL;
        char *text = NULL;

        ck_assert_int_eq(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
        if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
                text = strdup((const char *)sqlite3_column_text(stmt, 0));
        sqlite3_finalize(stmt);
        sqlite3_close(db);
        return text ? text : strdup("NULL");
}

void fixture_exec(struct fixture *f, const char *sql)
{
        sqlite3 *db = NULL;

        ck_assert_int_eq(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
        ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
        sqlite3_close(db);
}
