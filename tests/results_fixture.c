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
