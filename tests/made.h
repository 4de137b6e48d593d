/* A results database with figures made up here: for the tests of what is said about runs. */
#ifndef DBIO_TESTS_MADE_H
#define DBIO_TESTS_MADE_H

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "engine/hist.h"
#include "results/db.h"
#include "results/histcode.h"
#include "results/store.h"
#include "tests/unit.h"

static char path[64];
static struct dbio_store *store;

static inline void sql(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void sql(const char *format, ...)
{
        struct dbio_err err = {0};
        char text[2000];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        ck_assert_msg(dbio_db_exec(store, text, &err) == 0, "%s: %s", text, err.message);
}

static inline void open_store(void)
{
        struct dbio_err err = {0};

        strcpy(path, "/tmp/dbio-compare.XXXXXX");
        ck_assert_int_ge(mkstemp(path), 0);
        unlink(path);
        ck_assert_msg(dbio_store_open(&store, path, DBIO_STORE_CREATE, &err) == 0, "%s", err.message);
}

static inline void close_store(void)
{
        char name[80];

        dbio_store_close(store);
        unlink(path);
        snprintf(name, sizeof name, "%s-wal", path);
        unlink(name);
        snprintf(name, sizeof name, "%s-shm", path);
        unlink(name);
}

struct made {
        int64_t id, set;
        const char *label, *hash;
        int seed, simulated, valid;
        int minute; /* of the day */
        double iops, mean_ms, commit_ms;
        int ramp; /* percent lost from the first second to the last */
};

/* Response times of a key: 900 of 1,000 at the mean, the rest at four times that. */
static inline void make_histogram(int64_t phase, int64_t key, double mean_ns)
{
        struct dbio_hist *hist = calloc(1, sizeof *hist);
        unsigned char *code = malloc(DBIO_HIST_CODE_MAX);
        struct dbio_err err = {0};

        for (int i = 0; i < 1000; i++)
                dbio_hist_add(hist, (uint64_t)(mean_ns * (i < 900 ? 1 : 4)));
        ck_assert_int_eq(dbio_db_run(store, &err,
                                     "UPDATE total SET response_hist = ? WHERE phase_id = ? AND key_no = ?", "bii",
                                     (const void *)code, dbio_hist_encode(hist, code), phase, key),
                         0);
        free(hist);
        free(code);
}

/* 120 s: reads at `iops` (half of that while a checkpoint works: 10 s from 30 s and 90 s on), a checkpoint, a log. */
static inline void make_run(const struct made *m)
{
        int64_t phase = m->id;
        double quiet = m->iops, reads = quiet * 100 + quiet / 2 * 20;

        sql("INSERT INTO run (run_id, run_uuid, set_id, repetition, label, workload, schedule_hash, seed, engine, "
            "simulated, status, valid, invalid_why, started_at, wall_ns, tool_version, host_json, targets_json) VALUES "
            "(%lld, 'u%lld', %lld, 1, '%s', 'w', %s%s%s, %d, 'io_uring', %d, 'complete', %d, 'late', "
            "'2026-11-30T%02d:%02d:00Z', 120000000000, '1.0', '{\"kernel\": \"6.1\", \"uptime\": %lld}', "
            "'[{\"name\": \"data\", \"scheduler\": \"%s\"}]')",
            (long long)m->id, (long long)m->id, (long long)m->set, m->label, m->hash ? "'" : "",
            m->hash ? m->hash : "NULL", m->hash ? "'" : "", m->seed, m->simulated, m->valid, m->minute / 60,
            m->minute % 60, (long long)m->id, m->label);
        sql("INSERT INTO phase (phase_id, run_id, position, name, interval_ns, duration_ns, ended, foreign_share) "
            "VALUES "
            "(%lld, %lld, 0, 'mixed', 1000000000, 120000000000, 1, 0.002)",
            (long long)phase, (long long)m->id);
        sql("INSERT INTO stream (phase_id, stream_no, name, pattern, threads, flags) VALUES (%lld, 0, 'reads', 'p', 1, "
            "8), (%lld, 1, 'checkpoint', 'c', 1, 5), (%lld, 2, 'log', 'l', 1, 17)",
            (long long)phase, (long long)phase, (long long)phase);
        sql("INSERT INTO total (phase_id, key_no, stream_no, kind, role, ios, bytes, errors, service_mean_ns, "
            "response_mean_ns, response_p99_ns, response_p999_ns) VALUES "
            "(%lld, 0, 0, 0, 1, %.0f, 1, 0, %.0f, %.0f, %.0f, %.0f), "
            "(%lld, 1, 1, 1, 3, 1000, 1, 0, 1e6, 1e6, 3e6, 4e6), "
            "(%lld, 2, 2, 1, 8, 5000, 1, 0, 1e6, 1e6, 3e6, 4e6), "
            "(%lld, 3, 2, 4, 8, 5000, 1, 0, %.0f, %.0f, %.0f, %.0f)",
            (long long)phase, reads, m->mean_ms * 1e6, m->mean_ms * 1e6, m->mean_ms * 4e6, m->mean_ms * 9e6,
            (long long)phase, (long long)phase, (long long)phase, m->commit_ms * 1e6, m->commit_ms * 1e6,
            m->commit_ms * 3e6, m->commit_ms * 5e6);
        sql("INSERT INTO interference (phase_id, key_no, other_no, window, ios, bytes, duration_ns, response_mean_ns, "
            "response_p99_ns) VALUES (%lld, 0, 1, 2, %.0f, 1, 100000000000, %.0f, %.0f), "
            "(%lld, 0, 1, 3, %.0f, 1, 20000000000, %.0f, %.0f)",
            (long long)phase, quiet * 100, m->mean_ms * 1e6, m->mean_ms * 4e6, (long long)phase, quiet / 2 * 20,
            m->mean_ms * 2e6, m->mean_ms * 8e6);
        make_histogram(phase, 0, m->mean_ms * 1e6);
        for (int e = 0; e < 2; e++) {
                sql("INSERT INTO episode (phase_id, stream_no, episode, begin_ns, end_ns) VALUES (%lld, 1, %d, "
                    "%d000000000, "
                    "%d000000000)",
                    (long long)phase, e + 1, 30 + 60 * e, 31 + 60 * e);
                sql("INSERT INTO recovery VALUES (%lld, 0, 1, %d, %d000000000, %d000000000, %d000000000, %f, %f)",
                    (long long)phase, e + 1, 30 + 60 * e, 31 + 60 * e, 40 + 60 * e, quiet, quiet * (0.5 + 0.01 * e));
        }
        for (int t = 0; t < 120; t++) {
                double now = quiet * (t % 60 >= 30 && t % 60 < 40 ? 0.5 : 1) * (1 - m->ramp * t / 12000.0);

                sql("INSERT INTO interval (phase_id, number, key_no, ios, bytes, errors, service_mean_ns, "
                    "response_mean_ns) VALUES (%lld, %d, 0, %.0f, 1, 0, 1e6, 1e6)",
                    (long long)phase, t, now);
        }
}

static const double wobble[] = {0.995, 1.005, 1.0, 1.012, 0.99};

/* Two sets of n runs; base and new take turns where asked. */
static inline void make_sets(unsigned n, double factor, bool turns, const char *hash, const char *other_hash,
                             int simulated)
{
        for (unsigned i = 0; i < n; i++) {
                struct made m = {.set = 1,
                                 .label = "raid10",
                                 .hash = hash,
                                 .seed = 1,
                                 .simulated = simulated,
                                 .valid = 1,
                                 .commit_ms = 0.5};

                m.id = turns ? 2 * i + 1 + (i & 1) : i + 1;
                m.minute = 3 * (int)m.id;
                m.iops = simulated ? 4000 : 4000 * wobble[i % 5];
                m.mean_ms = 76e3 / m.iops;
                make_run(&m);
                m.label = "ssd";
                m.hash = other_hash;
                m.id = turns ? 2 * i + 2 - (i & 1) : n + i + 1;
                m.minute = 3 * (int)m.id + (turns ? 0 : 600);
                m.set = turns ? 2 : n + 1;
                m.iops = simulated ? 4000 * factor : 4000 * factor * wobble[(i + 2) % 5];
                m.mean_ms = 76e3 / m.iops;
                make_run(&m);
        }
}

#endif
