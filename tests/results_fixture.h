/* A results database with hand-made records, for the tests of results/. */
#ifndef DBIO_TESTS_RESULTS_FIXTURE_H
#define DBIO_TESTS_RESULTS_FIXTURE_H

#include "results/recorder.h"
#include "results/store.h"

#define FIXTURE_STREAMS 8
#define MS 1000000ull
#define S 1000000000ull

struct fixture {
        char path[64];
        struct dbio_store *store;
        struct dbio_stream streams[FIXTURE_STREAMS];
        struct dbio_phase phase;
        struct dbio_phase_result result;
        uint64_t due[FIXTURE_STREAMS], unissued[FIXTURE_STREAMS];
        struct dbio_recorder *rec;
        int64_t run_id;
        struct dbio_err err;
};

/* A fresh database in a temporary file and a phase without streams. Asserts. */
void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f); /* and removes the file */

unsigned fixture_stream(struct fixture *f, const char *name, const char *pattern, unsigned flags);
void fixture_begin(struct fixture *f, const struct dbio_run_info *info); /* a run; NULL: a plain one */
void fixture_phase(struct fixture *f, const char *name, uint64_t interval_ns, bool full);
/* ios ops of `bytes` in an interval, all with these times. */
void fixture_ops(struct fixture *f, unsigned stream, int kind, int role, uint32_t mask, uint64_t t_ns, unsigned ios,
                 unsigned bytes, uint64_t service_ns, uint64_t wait_ns);
void fixture_episode(struct fixture *f, unsigned stream, const struct dbio_episode *episode);
void fixture_tick(struct fixture *f, uint64_t elapsed_ns);
void fixture_finish(struct fixture *f, uint64_t duration_ns); /* of the phase */
void fixture_end(struct fixture *f); /* of the run: complete, valid, 3 s */

/* A run in small: label raid10, 60 s, reads of 20 ms at 400/s, a checkpoint of 0.9 s at 20 s and 40 s,
 * under which reads fall to 200/s of 40 ms until 5 s after it began; a log with commits. */
void fixture_example(struct fixture *f, const char *label, double speed);

/* The first column of the first row, as text ("NULL" for none), from the `sqlite3` a user has; the caller frees. */
char *fixture_sql(struct fixture *f, const char *sql);
/* Changes the database behind the store's back: to fix what a clock or a random number gave. */
void fixture_exec(struct fixture *f, const char *sql);
#define assert_sql(f, expected, sql)                       \
        do {                                               \
                char *got_ = fixture_sql(f, sql);          \
                ck_assert_msg(!strcmp(got_, expected), "%s\n  gives %s\n  not   %s", sql, got_, expected); \
                free(got_);                                \
        } while (0)

#endif
