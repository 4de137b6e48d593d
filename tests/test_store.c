/* The store and the recorder. Expected values are sums and percentiles made by hand from the records fed in, or the
 * promised names of views and columns. */
#include "tests/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "results/histcode.h"
#include "tests/loopdev.h"
#include "tests/results_fixture.h"

#define READ DBIO_READ, DBIO_ROLE_DATA_READ

/* The views that stay; {same} and the like written out. */
static const struct {
        const char *view, *columns;
} views[] = {
        {"v_run", "run_id,run_uuid,set_id,repetition,rank,label,workload,schedule_hash,seed,engine,simulated,status,"
                  "valid,invalid_why,started_at,wall_ns,cpu_user_ns,cpu_sys_ns,unrecorded_ios,unrecorded_bytes,"
                  "tool_version,host_json,targets_json"},
        {"v_phase", "run_id,phase,stream,kind,role,ios,bytes,errors,due,unissued,duration_ns,iops,mib_per_s,depth_mean,"
                    "depth_peak,splits,hba_waits,hba_wait_ns,service_mean_ns,service_p50_ns,service_p90_ns,"
                    "service_p95_ns,service_p99_ns,service_p999_ns,service_max_ns,service_stddev_ns,response_mean_ns,"
                    "response_p50_ns,response_p90_ns,response_p95_ns,response_p99_ns,response_p999_ns,response_max_ns,"
                    "response_stddev_ns,wait_mean_ns,wait_p99_ns,lag_p99_ns,lag_max_ns"},
        {"v_series", "run_id,phase,stream,kind,role,t_ns,interval_ns,ios,bytes,errors,service_mean_ns,service_p99_ns,"
                     "response_mean_ns,response_p99_ns"},
        {"v_episode", "run_id,phase,stream,episode,begin_ns,end_ns,pages,writes,bytes,mib_per_s,avoided,stalls,"
                      "outstanding_target,write_mean_ns"},
        {"v_interference", "run_id,phase,stream,kind,role,other_stream,window,ios,bytes,duration_ns,iops,mib_per_s,"
                           "service_mean_ns,service_p50_ns,service_p99_ns,response_mean_ns,response_p99_ns"},
        {"v_recovery", "run_id,phase,stream,other_stream,episode,begin_ns,end_ns,recovered_ns,iops_quiet,"
                       "iops_affected"},
        {"v_limit", "run_id,phase,limit_name,cap,peak,hits,wait_ns,at_cap_ns"},
        {"v_device", "run_id,phase,device,t_ns,own_ios,foreign_ios,util,queue_mean"},
        {"v_gauge", "run_id,phase,stream,name,t_ns,value"},
};

START_TEST(views_are_as_the_contract_has_them)
{
        struct fixture f;
        char sql[128];

        fixture_open(&f);
        for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
                snprintf(sql, sizeof sql, "SELECT group_concat(name) FROM pragma_table_info('%s')", views[i].view);
                assert_sql(&f, views[i].columns, sql);
        }
        assert_sql(&f, "wal", "PRAGMA journal_mode");
        fixture_close(&f);
}
END_TEST

/* Two workers, two episodes' masks, zero intervals between: every sum from hand. */
START_TEST(totals_are_the_sums_of_intervals)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "sqlserver.random_read", 0);
        unsigned log = fixture_stream(&f, "log", "sqlserver.log_write", DBIO_STREAM_COMMITS);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", 100 * MS, false);
        fixture_ops(&f, user, READ, 0, 0, 90, 8192, 2 * MS, 0);
        fixture_ops(&f, user, READ, 1, 0, 10, 8192, 4 * MS, 1 * MS);
        fixture_tick(&f, 250 * MS);
        fixture_tick(&f, 610 * MS);
        fixture_ops(&f, user, READ, 0, 700 * MS, 100, 8192, 6 * MS, 0);
        fixture_ops(&f, log, DBIO_WRITE, DBIO_ROLE_LOG, 0, 700 * MS, 5, 512, 1 * MS, 0);
        fixture_ops(&f, log, DBIO_COMMIT, DBIO_ROLE_LOG, 0, 700 * MS, 50, 100, 1 * MS, 3 * MS);
        fixture_tick(&f, 800 * MS);
        fixture_finish(&f, 750 * MS);
        fixture_end(&f);

        assert_sql(&f, "200", "SELECT ios FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "1638400", "SELECT bytes FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "750000000", "SELECT duration_ns FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "266.67", "SELECT printf('%.2f', iops) FROM v_phase WHERE stream = 'user'"); /* 200 / 0.75 */
        /* (90 x 2 + 10 x 4 + 100 x 6) / 200 = 4.1 ms; response 10 ops more by 1 ms: 4.15 ms */
        assert_sql(&f, "4100000.0", "SELECT service_mean_ns FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "4150000.0", "SELECT response_mean_ns FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "50000.0", "SELECT wait_mean_ns FROM v_phase WHERE stream = 'user'");
        /* Little: 200 x 4.1 ms / 750 ms */
        assert_sql(&f, "1.0933", "SELECT printf('%.4f', depth_mean) FROM v_phase WHERE stream = 'user'");
        /* p50 is the 100th of 200: 4 ms, in a bucket narrower than 1/128; p90 6 ms, never above the maximum. */
        assert_sql(&f, "1", "SELECT service_p50_ns BETWEEN 4000000 AND 4000000 * 129 / 128 FROM v_phase "
                            "WHERE stream = 'user'");
        assert_sql(&f, "6000000", "SELECT service_p90_ns FROM v_phase WHERE stream = 'user'");
        assert_sql(&f, "6000000", "SELECT service_max_ns FROM v_phase WHERE stream = 'user'");
        /* E(x^2) = (90 x 4 + 10 x 16 + 100 x 36) / 200 = 20.6; sqrt(20.6 - 16.81) = 1.94679 */
        assert_sql(&f, "1946792", "SELECT printf('%d', service_stddev_ns) FROM v_phase WHERE stream = 'user'");
        /* intervals 0 to 7 for each of the three rows, zero rows too */
        assert_sql(&f, "24", "SELECT count(*) FROM v_series");
        assert_sql(&f, "8", "SELECT count(*) FROM v_series WHERE stream = 'log' AND kind = 'commit'");
        assert_sql(&f, "0", "SELECT sum(p.ios <> s.ios OR p.bytes <> s.bytes) FROM v_phase p JOIN "
                            "(SELECT stream, kind, sum(ios) ios, sum(bytes) bytes FROM v_series GROUP BY 1, 2) s "
                            "USING (stream, kind)");
        assert_sql(&f, "NULL", "SELECT service_p99_ns FROM v_series WHERE t_ns = 100000000");
        assert_sql(&f, "2200000.0", "SELECT service_mean_ns FROM v_series WHERE t_ns = 0 AND stream = 'user'");
        assert_sql(&f, "NULL", "SELECT depth_mean FROM v_phase WHERE kind = 'commit'");
        assert_sql(&f, "NULL", "SELECT depth_peak FROM v_phase WHERE kind = 'commit'");
        assert_sql(&f, "integer", "SELECT typeof(depth_peak) FROM v_phase WHERE kind = 'read'");
        assert_sql(&f, "complete|1|0", "SELECT status || '|' || valid || '|' || unrecorded_ios FROM v_run");
        fixture_close(&f);
}
END_TEST

START_TEST(percentiles_are_null_without_ops)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "io.random", 0);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", 100 * MS, false);
        struct dbio_record r = {.type = DBIO_RECORD_INTERVAL, .stream = user};
        struct dbio_hist *empty = calloc(1, sizeof *empty);
        r.interval.errors = 3;
        r.interval.service = r.interval.response = r.interval.wait = r.interval.lag = empty;
        dbio_recorder_take(f.rec, &r);
        f.due[user] = 10;
        f.unissued[user] = 7;
        fixture_finish(&f, 100 * MS);
        assert_sql(&f, "0|3|10|7", "SELECT ios || '|' || errors || '|' || due || '|' || unissued FROM v_phase");
        assert_sql(&f, "1", "SELECT service_mean_ns IS NULL AND service_p50_ns IS NULL AND response_p99_ns IS NULL AND "
                            "wait_p99_ns IS NULL AND lag_max_ns IS NULL FROM v_phase");
        free(empty);
        fixture_close(&f);
}
END_TEST

START_TEST(unrecorded_phases_count_in_the_run)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "io.random", 0);
        fixture_begin(&f, NULL);
        f.phase.record = false;
        fixture_phase(&f, "warm-up", 1 * S, false);
        fixture_ops(&f, user, READ, 0, 0, 10, 8192, 1 * MS, 0);
        fixture_ops(&f, user, DBIO_COMMIT, DBIO_ROLE_LOG, 0, 0, 7, 100, 1 * MS, 0);
        fixture_finish(&f, 1 * S);
        assert_sql(&f, "10|81920", "SELECT unrecorded_ios || '|' || unrecorded_bytes FROM v_run");
        assert_sql(&f, "0", "SELECT count(*) FROM v_phase");
        assert_sql(&f, "0", "SELECT count(*) FROM v_series");
        fixture_close(&f);
}
END_TEST

/* A stream's due ops are split over its rows so that they add up again. */
START_TEST(due_adds_up_over_rows)
{
        struct fixture f;

        fixture_open(&f);
        unsigned mixed = fixture_stream(&f, "mixed", "io.random", DBIO_STREAM_TIMED);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", 1 * S, false);
        fixture_ops(&f, mixed, DBIO_READ, DBIO_ROLE_IO, 0, 0, 70, 8192, 1 * MS, 0);
        fixture_ops(&f, mixed, DBIO_WRITE, DBIO_ROLE_IO, 0, 0, 30, 8192, 1 * MS, 0);
        f.due[mixed] = 120;
        f.unissued[mixed] = 20;
        fixture_finish(&f, 1 * S);
        assert_sql(&f, "120|20", "SELECT sum(due) || '|' || sum(unissued) FROM v_phase");
        assert_sql(&f, "30|0", "SELECT due || '|' || unissued FROM v_phase WHERE kind = 'write'");
        fixture_close(&f);
}
END_TEST

/* Records that come after their interval was closed are counted all the same. */
START_TEST(late_records_are_kept)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "io.random", 0);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", 100 * MS, true);
        fixture_ops(&f, user, READ, 0, 0, 1, 8192, 1 * MS, 0);
        fixture_tick(&f, 1000 * MS); /* intervals below 8 are closed */
        fixture_ops(&f, user, READ, 0, 200 * MS, 5, 8192, 1 * MS, 0);
        fixture_finish(&f, 1000 * MS);
        assert_sql(&f, "6", "SELECT sum(ios) FROM v_series");
        assert_sql(&f, "5", "SELECT ios FROM v_series WHERE t_ns = 800000000");
        assert_sql(&f, "10", "SELECT count(*) FROM v_series");
        assert_sql(&f, "2", "SELECT count(*) FROM interval_hist");
        fixture_close(&f);
}
END_TEST

START_TEST(episodes_limits_and_gauges_are_kept)
{
        struct fixture f;

        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "sqlserver.random_read", 0);
        unsigned ckpt = fixture_stream(&f, "checkpoint", "sqlserver.checkpoint", DBIO_STREAM_EPISODES);
        fixture_begin(&f, NULL);
        fixture_phase(&f, "p", 1 * S, false);
        fixture_ops(&f, user, READ, 0, 0, 10, 8192, 1 * MS, 0);
        fixture_episode(&f, ckpt, &(struct dbio_episode){.episode = 1, .begin_ns = 1 * S, .end_ns = 3 * S, .pages = 2560,
                                                          .writes = 100, .bytes = 20 << 20, .outstanding_target = 1600,
                                                          .write_mean_ns = 700});
        fixture_episode(&f, ckpt, &(struct dbio_episode){.episode = 2, .begin_ns = 4 * S, .end_ns = UINT64_MAX});
        struct dbio_record r = {.type = DBIO_RECORD_GAUGE, .stream = ckpt};
        r.gauge.name = "outstanding_target";
        r.gauge.t_ns = 2 * S;
        r.gauge.value = 1200;
        dbio_recorder_take(f.rec, &r);
        f.result.outstanding.cap = 1024;
        f.result.outstanding.peak = 1000;
        f.result.outstanding.hits = 3;
        fixture_finish(&f, 5 * S);
        /* 20 MiB in 2 s */
        assert_sql(&f, "10.0", "SELECT mib_per_s FROM v_episode WHERE episode = 1");
        assert_sql(&f, "1", "SELECT end_ns IS NULL AND mib_per_s IS NULL FROM v_episode WHERE episode = 2");
        assert_sql(&f, "hba.max_outstanding|1024|1000|3", "SELECT limit_name || '|' || cap || '|' || peak || '|' || hits "
                                                          "FROM v_limit");
        assert_sql(&f, "1200.0", "SELECT value FROM v_gauge WHERE name = 'outstanding_target'");
        assert_sql(&f, "checkpoint", "SELECT other_stream FROM v_recovery");
        fixture_close(&f);
}
END_TEST

/* A process that dies in the middle of a phase leaves its run listed, with sums of all but the last intervals. */
START_TEST(kill_leaves_figures)
{
        struct fixture f;
        int status, gate[2];
        char byte;

        fixture_open(&f);
        ck_assert_int_eq(pipe(gate), 0);
        dbio_store_close(f.store);
        f.store = NULL;
        pid_t child = fork();
        if (child == 0) {
                if (dbio_store_open(&f.store, f.path, DBIO_STORE_CREATE, &f.err))
                        _exit(1);
                unsigned user = fixture_stream(&f, "user", "io.random", 0);
                fixture_begin(&f, NULL);
                fixture_phase(&f, "p", 1 * S, false);
                for (unsigned i = 0; i < 10; i++)
                        fixture_ops(&f, user, READ, 0, i * S, 100, 8192, (i + 1) * MS, 0);
                usleep(1000000); /* a commit is due once a second */
                fixture_tick(&f, 10 * S + 1);
                fixture_ops(&f, user, READ, 0, 10 * S, 100, 8192, 1 * MS, 0); /* lost */
                if (write(gate[1], "x", 1) == 1)
                        pause();
                _exit(1);
        }
        ck_assert_int_eq(read(gate[0], &byte, 1), 1);
        assert_sql(&f, "running", "SELECT status FROM v_run");
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        ck_assert_int_eq(dbio_store_open(&f.store, f.path, DBIO_STORE_READ, &f.err), 0);
        assert_sql(&f, "interrupted", "SELECT status FROM v_run");
        assert_sql(&f, "1000", "SELECT ios FROM v_phase");
        assert_sql(&f, "10000000000", "SELECT duration_ns FROM v_phase");
        assert_sql(&f, "5500000.0", "SELECT service_mean_ns FROM v_phase"); /* mean of 1 … 10 ms */
        assert_sql(&f, "10000000", "SELECT service_p99_ns FROM v_phase");
        assert_sql(&f, "1000", "SELECT sum(ios) FROM v_series");
        fixture_close(&f);
}
END_TEST

/* Two processes on one database: both get all of their rows in. */
START_TEST(two_writers_share_a_database)
{
        struct fixture f;
        int status;

        fixture_open(&f);
        dbio_store_close(f.store);
        f.store = NULL;
        for (int p = 0; p < 2; p++) {
                if (fork())
                        continue;
                if (dbio_store_open(&f.store, f.path, DBIO_STORE_CREATE, &f.err))
                        _exit(1);
                unsigned user = fixture_stream(&f, "user", "io.random", 0);
                for (int i = 0; i < 20; i++) {
                        fixture_begin(&f, NULL);
                        fixture_phase(&f, "p", 10 * MS, false);
                        for (unsigned k = 0; k < 50; k++)
                                fixture_ops(&f, user, READ, 0, k * 10 * MS, 2, 8192, 1 * MS, 0);
                        fixture_finish(&f, 500 * MS);
                        fixture_end(&f);
                }
                _exit(0);
        }
        for (int p = 0; p < 2; p++) {
                ck_assert_int_gt(wait(&status), 0);
                ck_assert_int_eq(status, 0);
        }
        assert_sql(&f, "40|40", "SELECT count(*) || '|' || count(DISTINCT set_id) FROM v_run WHERE status = 'complete'");
        assert_sql(&f, "4000", "SELECT sum(ios) FROM v_series");
        fixture_close(&f);
}
END_TEST

/* 100 reads of 8K that the run says are its own, 50 of 64K that it does not know of: 3.2 of 4 MB are foreign. */
START_TEST(foreign_io_is_what_the_kernel_counts_beyond_ours)
{
        struct fixture f;
        struct stat st;
        char path[64];
        void *buffer;
        const double share = 1;
        struct timespec now;

        int fd = loop_attach(8 << 20, 512, 0, path);
        if (fd < 0)
                skip_test("no loop device");
        int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
        ck_assert_int_ge(direct, 0);
        ck_assert_int_eq(fstat(direct, &st), 0);
        ck_assert_int_eq(posix_memalign(&buffer, 4096, 65536), 0);
        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "io.random", 0);
        fixture_begin(&f, NULL);
        f.phase.name = "p";
        struct dbio_recorder_device device = {.name = "loop", .dev = st.st_rdev, .shares = &share};
        struct dbio_recorder_options options = {.run_id = f.run_id, .interval_ns = 100 * S, .ndevices = 1, .devices = &device};
        ck_assert_int_eq(dbio_recorder_open(&f.rec, f.store, &f.phase, &options, &f.err), 0);
        clock_gettime(CLOCK_MONOTONIC, &now);
        f.result.started_ns = (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
        for (int i = 0; i < 150; i++)
                ck_assert_int_gt(pread(direct, buffer, i < 100 ? 8192 : 65536, (i % 100) * 65536), 0);
        fixture_ops(&f, user, READ, 0, 0, 100, 8192, 1 * MS, 0);
        /* Commits come once a second and keep what is closed by then: were the run killed now, it would be there. */
        usleep(1000000);
        fixture_tick(&f, 400 * S);
        assert_sql(&f, "100 of 1", "SELECT sum(own_ios) || ' of ' || count(*) FROM v_device");
        assert_sql(&f, "1", "SELECT count(*) FROM v_series"); /* the grid goes on until the last op, not with the clock */
        f.result.duration_ns = S;
        ck_assert_int_eq(dbio_recorder_finish(f.rec, &f.result, &f.err), 0);
        ck_assert_double_eq_tol(dbio_recorder_foreign_share(f.rec), 0.8, 1e-9);
        assert_sql(&f, "100", "SELECT own_ios FROM v_device");
        assert_sql(&f, "50", "SELECT foreign_ios FROM v_device");
        free(buffer);
        close(direct);
        close(fd);
        fixture_close(&f);
}
END_TEST

/* 100 reads that the device has counted before the run's own figures have them: nobody else's. */
START_TEST(what_the_device_counted_early_is_not_foreign)
{
        struct fixture f;
        struct stat st;
        char path[64];
        void *buffer;
        const double share = 1;
        struct timespec now;

        int fd = loop_attach(8 << 20, 512, 0, path);
        if (fd < 0)
                skip_test("no loop device");
        int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
        ck_assert_int_ge(direct, 0);
        ck_assert_int_eq(fstat(direct, &st), 0);
        ck_assert_int_eq(posix_memalign(&buffer, 4096, 8192), 0);
        fixture_open(&f);
        unsigned user = fixture_stream(&f, "user", "io.random", 0);
        fixture_begin(&f, NULL);
        f.phase.name = "p";
        struct dbio_recorder_device device = {.name = "loop", .dev = st.st_rdev, .shares = &share};
        struct dbio_recorder_options options = {.run_id = f.run_id, .interval_ns = S, .ndevices = 1, .devices = &device};
        ck_assert_int_eq(dbio_recorder_open(&f.rec, f.store, &f.phase, &options, &f.err), 0);
        clock_gettime(CLOCK_MONOTONIC, &now);
        f.result.started_ns = (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
        for (int i = 0; i < 100; i++)
                ck_assert_int_gt(pread(direct, buffer, 8192, i * 8192), 0);
        fixture_ops(&f, user, READ, 0, S, 100, 8192, 1 * MS, 0);
        f.result.duration_ns = 2 * S;
        ck_assert_int_eq(dbio_recorder_finish(f.rec, &f.result, &f.err), 0);
        assert_sql(&f, "2 of 100, 0", "SELECT count(*) || ' of ' || sum(own_ios) || ', ' || sum(foreign_ios) FROM v_device");
        free(buffer);
        close(direct);
        close(fd);
        fixture_close(&f);
}
END_TEST

START_TEST(other_files_are_refused)
{
        struct dbio_store *store = NULL;
        struct dbio_err err = {0};
        struct fixture f;
        char path[96];

        ck_assert_int_eq(dbio_store_open(&store, "/tmp/dbio-no-such-file.db", DBIO_STORE_READ, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_int_eq(dbio_store_open(&store, "/proc/no/where.db", DBIO_STORE_CREATE, &err), -1);
        ck_assert_int_eq(err.code, DBIO_IO);
        pid_t child = fork();
        if (child == 0) { /* whoever may not write there hears it, not that there is no such file */
                if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
                        _exit(0);
                _exit(dbio_store_open(&store, "/where.db", DBIO_STORE_CREATE, &err) != -1 ||
                      !strstr(err.message, "Permission denied"));
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        fixture_open(&f);
        snprintf(path, sizeof path, "%s-other", f.path);
        FILE *file = fopen(path, "w");
        for (int i = 0; i < 1000; i++)
                fputs("this is no database\n", file);
        fclose(file);
        ck_assert_int_eq(dbio_store_open(&store, path, DBIO_STORE_CREATE, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        unlink(path);
        free(fixture_sql(&f, "SELECT 1"));
        fixture_close(&f);
}
END_TEST

/* Bytes 18 and 19 of a database are 2 in WAL mode, else 1 (sqlite.org/fileformat2.html, 1.3.3). */
START_TEST(another_programs_database_is_not_touched)
{
        struct dbio_store *store = NULL;
        struct dbio_err err = {0};
        char path[] = "/tmp/dbio-others.XXXXXX", command[128], header[20];
        int fd = mkstemp(path);

        ck_assert_int_ge(fd, 0);
        snprintf(command, sizeof command, "sqlite3 %s 'CREATE TABLE t (a)'", path);
        if (system(command) != 0) {
                unlink(path);
                skip_test("no sqlite3 here");
        }
        ck_assert_int_eq(dbio_store_open(&store, path, DBIO_STORE_CREATE, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_int_eq(pread(fd, header, sizeof header, 0), sizeof header);
        ck_assert_int_eq(header[18], 1);
        ck_assert_int_eq(header[19], 1);
        close(fd);
        unlink(path);
}
END_TEST

START_TEST(histograms_come_back)
{
        struct dbio_hist *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
        unsigned char *code = malloc(DBIO_HIST_CODE_MAX);
        uint64_t value = 3;

        for (int i = 0; i < 300; i++, value = value * 7 % 1000003)
                dbio_hist_add(a, value * value);
        dbio_hist_add(a, DBIO_HIST_MAX_NS + 1);
        size_t size = dbio_hist_encode(a, code);
        ck_assert_uint_lt(size, 1200);
        ck_assert_int_eq(dbio_hist_decode(b, code, size), 0);
        ck_assert_mem_eq(a, b, sizeof *a);
        for (size_t cut = 1; cut < size; cut++) /* never reads past the end */
                dbio_hist_decode(b, code, cut);
        ck_assert_int_eq(dbio_hist_decode(b, (const unsigned char *)"\x01\x00", 2), -1);
        free(a);
        free(b);
        free(code);
}
END_TEST

TEST_MAIN("store", views_are_as_the_contract_has_them, totals_are_the_sums_of_intervals, percentiles_are_null_without_ops,
          unrecorded_phases_count_in_the_run, due_adds_up_over_rows, late_records_are_kept,
          episodes_limits_and_gauges_are_kept, kill_leaves_figures, two_writers_share_a_database,
          foreign_io_is_what_the_kernel_counts_beyond_ours, what_the_device_counted_early_is_not_foreign,
          other_files_are_refused,
          another_programs_database_is_not_touched, histograms_come_back)
