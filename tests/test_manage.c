/* list, label, rm, merge. Expected rows are counted by SQL over the tables, or by hand. */
#include "tests/unit.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/manage.h"
#include "tests/results_fixture.h"

static char *list(struct fixture *f, const struct dbio_list_filter *filter)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        ck_assert_msg(!dbio_runs_list(f->store, filter, out, &f->err), "%s", f->err.message);
        fclose(out);
        return text;
}

static unsigned lines(const char *text)
{
        unsigned n = 0;

        for (; *text; text++)
                n += *text == '\n';
        return n;
}

START_TEST(list_filters)
{
        struct fixture f;
        char *text;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_example(&f, "ssd", 2);
        fixture_exec(&f, "UPDATE run SET started_at = '2026-11-0' || run_id || 'T10:00:00Z', "
                         "targets_json = replace(targets_json, 'PERC', iif(run_id = 2, 'NVMe', 'PERC'))");
        const struct {
                struct dbio_list_filter filter;
                unsigned lines; /* the header's, too */
        } cases[] = {
                {{.label = NULL}, 3},          {{.label = "RAID"}, 2},          {{.label = "no"}, 1},
                {{.workload = "read-plus"}, 3}, {{.device = "NVMe"}, 2},         {{.since = "2026-11-02"}, 2},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                text = list(&f, &cases[i].filter);
                ck_assert_msg(lines(text) == cases[i].lines, "case %zu:\n%s", i, text);
                free(text);
        }
        text = list(&f, &(struct dbio_list_filter){.json = true, .label = "ssd"});
        ck_assert_ptr_nonnull(strstr(text, "\"label\": \"ssd\""));
        ck_assert_ptr_null(strstr(text, "raid10"));
        free(text);
        fixture_close(&f);
}
END_TEST

/* A label, which one types, is whole; a simulated run's time is its own, as show has it, not the machine's. */
START_TEST(list_rows)
{
        struct fixture f;
        char *text;

        fixture_open(&f);
        fixture_example(&f, "firmware-12.10-write-back-off", 1);
        fixture_exec(&f, "UPDATE run SET simulated = 1, wall_ns = 1000000000");
        text = list(&f, &(struct dbio_list_filter){0});
        ck_assert_ptr_nonnull(strstr(text, "firmware-12.10-write-back-off\n"));
        ck_assert_ptr_nonnull(strstr(text, "  1m00s  simulated valid   complete"));
        free(text);
        fixture_close(&f);
}
END_TEST

START_TEST(label_and_rm)
{
        struct fixture f;
        struct dbio_runs runs;
        struct stat before, after;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_example(&f, "ssd", 2);
        ck_assert_int_eq(dbio_runs_find(f.store, "ssd", &runs, &f.err), 0);
        ck_assert_int_eq(dbio_runs_label(f.store, &runs, "nvme", &f.err), 0);
        assert_sql(&f, "raid10,nvme", "SELECT group_concat(label) FROM v_run");
        ck_assert_int_eq(dbio_runs_label(f.store, &runs, "", &f.err), 0);
        assert_sql(&f, "NULL", "SELECT label FROM v_run WHERE run_id = 2");
        fixture_exec(&f, "UPDATE run SET status = 'running' WHERE run_id = 2");
        ck_assert_int_eq(dbio_runs_remove(f.store, &runs, &f.err), -1);
        ck_assert_int_eq(f.err.code, DBIO_USAGE);
        fixture_exec(&f, "UPDATE run SET status = 'complete' WHERE run_id = 2");
        fixture_exec(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
        stat(f.path, &before);
        ck_assert_msg(!dbio_runs_remove(f.store, &runs, &f.err), "%s", f.err.message);
        fixture_exec(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
        stat(f.path, &after);
        ck_assert_int_lt(after.st_size, before.st_size);
        assert_sql(&f, "1", "SELECT count(*) FROM v_run");
        /* nothing of it is left in any table */
        assert_sql(&f, "0", "SELECT count(*) FROM phase WHERE run_id = 2");
        assert_sql(&f, "1", "SELECT count(DISTINCT phase_id) FROM interval");
        assert_sql(&f, "1", "SELECT count(DISTINCT phase_id) FROM interference");
        assert_sql(&f, "1", "SELECT count(DISTINCT run_id) FROM figure");
        dbio_runs_release(&runs);
        /* ids are never used again */
        fixture_example(&f, "third", 1);
        assert_sql(&f, "3", "SELECT max(run_id) FROM v_run");
        fixture_close(&f);
}
END_TEST

/* All views of the copied runs, less the ids, are those of the other database. */
static void assert_same_views(struct fixture *a, struct fixture *b)
{
        static const char *const sums[] = {
                "SELECT count(*) || ' ' || sum(ios) || ' ' || sum(response_p99_ns) || ' ' || sum(depth_peak) FROM v_phase",
                "SELECT count(*) || ' ' || sum(ios * (t_ns / interval_ns)) FROM v_series",
                "SELECT count(*) || ' ' || sum(pages) || ' ' || sum(begin_ns) FROM v_episode",
                "SELECT count(*) || ' ' || sum(ios) || ' ' || sum(service_p50_ns) FROM v_interference",
                "SELECT count(*) || ' ' || sum(recovered_ns) FROM v_recovery",
                "SELECT count(*) || ' ' || sum(peak) FROM v_limit",
                "SELECT count(*) || ' ' || count(DISTINCT set_id) || ' ' || sum(repetition) FROM v_run",
                "SELECT sum(length(service_hist)) || ' ' || sum(length(wait_hist)) FROM total",
                "SELECT count(*) || ' ' || sum(value) FROM figure",
        };

        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
                char *expected = fixture_sql(b, sums[i]);

                assert_sql(a, expected, sums[i]);
                free(expected);
        }
}

START_TEST(merge_takes_what_is_new)
{
        struct fixture a, b;
        unsigned merged, known;

        fixture_open(&a);
        fixture_open(&b);
        fixture_example(&b, "raid10", 1);
        fixture_example(&b, "raid10", 1.01);
        fixture_example(&b, "ssd", 2);
        fixture_exec(&b, "UPDATE run SET set_id = 1, repetition = 2 WHERE run_id = 2");
        ck_assert_msg(!dbio_runs_merge(a.store, b.path, &merged, &known, &a.err), "%s", a.err.message);
        ck_assert_uint_eq(merged, 3);
        ck_assert_uint_eq(known, 0);
        assert_same_views(&a, &b);
        /* again: nothing new; and the database can still be used */
        ck_assert_msg(!dbio_runs_merge(a.store, b.path, &merged, &known, &a.err), "%s", a.err.message);
        ck_assert_uint_eq(merged, 0);
        ck_assert_uint_eq(known, 3);
        assert_same_views(&a, &b);
        /* a brother that comes later joins its set */
        fixture_example(&b, "raid10", 1);
        fixture_exec(&b, "UPDATE run SET set_id = 1, repetition = 3 WHERE run_id = 4");
        fixture_example(&a, "local", 1);
        ck_assert_int_eq(dbio_runs_merge(a.store, b.path, &merged, &known, &a.err), 0);
        ck_assert_uint_eq(merged, 1);
        assert_sql(&a, "1,1,1", "SELECT group_concat(set_id) FROM v_run WHERE label = 'raid10'");
        assert_sql(&a, "4", "SELECT set_id FROM v_run WHERE label = 'local'");
        ck_assert_int_eq(dbio_runs_merge(a.store, "/tmp/dbio-no-such-file.db", &merged, &known, &a.err), -1);
        ck_assert_int_eq(a.err.code, DBIO_USAGE);
        fixture_close(&a);
        fixture_close(&b);
}
END_TEST

/* A database of the first version is brought up to date and keeps its runs. */
START_TEST(old_databases_are_migrated)
{
        struct fixture f;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        dbio_store_close(f.store);
        fixture_exec(&f, "ALTER TABLE phase DROP COLUMN begun_ns; PRAGMA user_version = 1; DROP VIEW v_gauge;"
                         "DROP TABLE study_value; DROP TABLE study_cell; DROP TABLE study_axis; DROP TABLE study;"
                         "DROP TABLE remembered");
        ck_assert_msg(!dbio_store_open(&f.store, f.path, DBIO_STORE_READ, &f.err), "%s", f.err.message);
        assert_sql(&f, "4", "PRAGMA user_version");
        assert_sql(&f, "NULL", "SELECT begun_ns FROM phase");
        assert_sql(&f, "0", "SELECT count(*) FROM v_gauge");
        assert_sql(&f, "22000", "SELECT ios FROM v_phase WHERE stream = 'user-reads'");
        dbio_store_close(f.store);
        f.store = NULL;
        fixture_exec(&f, "PRAGMA user_version = 99");
        ck_assert_int_eq(dbio_store_open(&f.store, f.path, DBIO_STORE_READ, &f.err), -1);
        ck_assert_int_eq(f.err.code, DBIO_USAGE);
        fixture_close(&f);
}
END_TEST

TEST_MAIN("manage", list_filters, list_rows, label_and_rm, merge_takes_what_is_new, old_databases_are_migrated)
