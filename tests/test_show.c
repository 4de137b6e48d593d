/* show as text, JSON and CSV, and which runs a word names. The golden text is that of fixture_example; its figures by
 * hand: reads (50 x 400 + 10 x 200) / 60 s = 366.7/s of (20,000 x 20 + 2,000 x 40) / 22,000 = 21.8 ms; 8 KiB each, 2.86
 * MiB/s; quiet 400/s of 20 ms, affected 200/s of 40 ms, recovered 5 s after each checkpoint began; 1,600 pages of 8 KiB in
 * 100 writes and 0.9 s are 12.5 MiB / 0.9 s = 13.89 "MB/sec" (the unit of SQL Server's error log). */
#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "results/show.h"
#include "tests/results_fixture.h"

static struct dbio_runs find(struct fixture *f, const char *name)
{
        struct dbio_runs runs;

        ck_assert_msg(!dbio_runs_find(f->store, name, &runs, &f->err), "%s", f->err.message);
        return runs;
}

enum form { TEXT, ALL, JSON, CSV };

static char *show(struct fixture *f, const char *name, enum form form)
{
        struct dbio_show_options options = {.counters = form == ALL, .plot = form == ALL, .utf8 = true};
        struct dbio_runs runs = find(f, name);
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        int code = form == JSON  ? dbio_show_json(f->store, &runs, out, &f->err)
                   : form == CSV ? dbio_show_csv(f->store, &runs, out, &f->err)
                                 : dbio_show_text(f->store, &runs, &options, out, &f->err);

        fclose(out);
        ck_assert_msg(!code, "%s", f->err.message);
        dbio_runs_release(&runs);
        return text;
}

static char *read_file(const char *path)
{
        static char text[65536];
        FILE *file = fopen(path, "r");

        ck_assert_ptr_nonnull(file);
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        return text;
}

START_TEST(text_is_as_agreed)
{
        struct fixture f;

        setenv("TZ", "UTC", 1);
        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_exec(&f, "UPDATE run SET started_at = '2026-11-30T20:31:07Z', wall_ns = 60100000000");
        char *text = show(&f, "raid10", ALL);
        ck_assert_str_eq(text, read_file("tests/data/show.txt"));
        free(text);
        fixture_close(&f);
}
END_TEST

static void assert_width(const char *text)
{
        while (*text) {
                unsigned columns = 0;

                for (; *text && *text != '\n'; text++)
                        columns += ((unsigned char)*text & 0xc0) != 0x80;
                ck_assert_uint_le(columns, 100);
                text += *text == '\n';
        }
}

/* Names as long as the workload allows, large and small figures: still 100 columns. */
START_TEST(never_wider_than_100_columns)
{
        struct fixture f;
        const char *name = "a-stream-with-a-name-that-is-as-long-as-anybody-would-make-it-x";

        fixture_open(&f);
        fixture_stream(&f, name, "sqlserver.random_read", 0);
        fixture_stream(&f, "b-stream-with-a-name-that-is-as-long-as-anybody-would-make-it-x", "sqlserver.checkpoint",
                       DBIO_STREAM_EPISODES);
        fixture_begin(&f, &(struct dbio_run_info){.label = name, .workload = name, .engine = "null", .how = name,
                                                  .simulated = true, .trust = name, .targets_json = "[{\"name\": \"data\","
                                                  " \"binding\": \"/dev/disk/by-id/wwn-0x600508b1001c4d2e-and-much-more"
                                                  "-than-fits-into-a-line-of-a-hundred-columns-of-text\"}]"});
        fixture_phase(&f, name, 100 * MS, false);
        for (unsigned i = 0; i < 50; i++)
                fixture_ops(&f, 0, DBIO_READ, DBIO_ROLE_DATA_READ, 0, i * 100 * MS, 300000, 1 << 20,
                            i % 2 ? 1 : 3600 * S, 3600 * S);
        fixture_episode(&f, 1, &(struct dbio_episode){.episode = 1, .begin_ns = 1 * S, .end_ns = 2 * S,
                                                      .pages = 1000000000, .writes = 999999999, .bytes = 1ull << 50,
                                                      .stalls = 4000000000, .outstanding_target = 640000});
        f.unissued[0] = 123456789;
        fixture_finish(&f, 5 * S);
        char *text = show(&f, name, ALL);
        assert_width(text);
        ck_assert_ptr_nonnull(strstr(text, "OVERLOADED: 123,456,789 of the"));
        ck_assert_ptr_nonnull(strstr(text, "\nSIMULATED  a-stream"));
        free(text);
        fixture_close(&f);
}
END_TEST

/* Every array of the JSON is the view, row for row and name for name. */
START_TEST(json_is_the_views)
{
        static const char *const names[] = {"run", "phase", "series", "episode", "interference", "recovery", "limit",
                                            "device", "gauge"};
        struct fixture f;
        char sql[256], count[24];

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_example(&f, "a \"quoted\"\nlabel\x01\xff", 2);
        char *text = show(&f, "2", JSON);
        json_error_t error;
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(root != NULL, "%s, line %d", error.text, error.line);
        ck_assert_uint_ge(json_object_size(root), 9);
        for (int i = 0; i < 9; i++) {
                json_t *rows = json_object_get(root, names[i]), *row;
                size_t n;

                ck_assert(json_is_array(rows));
                snprintf(sql, sizeof sql, "SELECT count(*) FROM v_%s WHERE run_id = 2", names[i]);
                snprintf(count, sizeof count, "%zu", json_array_size(rows));
                assert_sql(&f, count, sql);
                json_array_foreach(rows, n, row) {
                        char *columns;

                        snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('v_%s')", names[i]);
                        columns = fixture_sql(&f, sql);
                        ck_assert_uint_eq(json_object_size(row), strtoul(columns, NULL, 10));
                        free(columns);
                        if (n == 2)
                                break;
                }
        }
        json_t *first = json_array_get(json_object_get(root, "phase"), 0);
        ck_assert_str_eq(json_string_value(json_object_get(first, "stream")), "user-reads");
        ck_assert_int_eq(json_integer_value(json_object_get(first, "ios")), 2 * 22000);
        /* twice the speed: 20 ms become 10 */
        ck_assert_double_eq_tol(json_number_value(json_object_get(first, "service_mean_ns")), 480e6 / 44, 1e-3);
        ck_assert(json_is_null(json_object_get(json_array_get(json_object_get(root, "episode"), 2), "end_ns")));
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(root, "run"), 0), "label")),
                         "a \"quoted\"\nlabel\x01?");
        json_decref(root);
        free(text);
        fixture_close(&f);
}
END_TEST

START_TEST(csv_has_a_header)
{
        struct fixture f;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        char *text = show(&f, "raid10", CSV);
        ck_assert_int_eq(strncmp(text, "run_id,phase,stream,kind,role,ios,bytes,errors,", 47), 0);
        ck_assert_ptr_nonnull(strstr(text, "\n1,reads-and-checkpoint,user-reads,read,data_read,22000,180224000,0,"));
        free(text);
        fixture_close(&f);
}
END_TEST

static void begin(struct fixture *f, const char *label, int64_t set)
{
        fixture_begin(f, &(struct dbio_run_info){.label = label, .set_id = set, .engine = "null"});
        fixture_end(f);
}

START_TEST(words_name_sets)
{
        struct fixture f;
        struct dbio_runs runs;
        struct dbio_err err = {0};

        fixture_open(&f);
        begin(&f, "raid10", 0);
        begin(&f, "raid10", 1);
        begin(&f, "ssd", 0);
        begin(&f, "raid10", 0);
        begin(&f, "raid10", 4);
        begin(&f, "77", 0);
        const struct {
                const char *name, *ids;
        } cases[] = {{"1", "1"}, {"raid10", "4 5"}, {"ssd", "3"}, {"latest", "6"}, {"previous", "4 5"}, {"77", "6"}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char ids[64] = "";

                runs = find(&f, cases[i].name);
                for (unsigned k = 0; k < runs.n; k++)
                        sprintf(ids + strlen(ids), "%s%d", k ? " " : "", (int)runs.ids[k]);
                ck_assert_str_eq(ids, cases[i].ids);
                dbio_runs_release(&runs);
        }
        ck_assert_int_eq(dbio_runs_find(f.store, "raid11", &runs, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_ptr_nonnull(strstr(err.message, "did you mean `raid10`"));
        ck_assert_int_eq(dbio_runs_find(f.store, "99", &runs, &err), -1);
        fixture_close(&f);
}
END_TEST

/* The default is response; over all roles; KIND may be left out where the stream has one. */
START_TEST(limits_take_the_runs_own_figure)
{
        struct fixture f;
        struct dbio_figure_rows rows;
        struct dbio_limit limit = {.stream = "log", .kind = DBIO_COMMIT, .stat = DBIO_LIMIT_MEAN,
                                   .comparison = DBIO_COMPARE_LT, .value = 500000};
        const char *phase = "reads-and-checkpoint";

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        ck_assert_int_eq(dbio_figures_load(f.store, 1, &rows, &f.err), 0);
        ck_assert_double_eq_tol(dbio_limit_of(&rows, phase, &limit), 500000, 1e-6);
        ck_assert(!dbio_limit_holds(&limit, 500000));
        limit.comparison = DBIO_COMPARE_LE;
        ck_assert(dbio_limit_holds(&limit, 500000));
        ck_assert(!dbio_limit_holds(&limit, NAN));
        limit.part = DBIO_PART_SERVICE;
        ck_assert_double_eq_tol(dbio_limit_of(&rows, phase, &limit), 300000, 1e-6);
        limit.part = DBIO_PART_WAIT;
        limit.stat = DBIO_LIMIT_P95;
        ck_assert_double_eq_tol(dbio_limit_of(&rows, phase, &limit), 200000, 1e-6);
        limit.kind = -1;
        ck_assert(isnan(dbio_limit_of(&rows, phase, &limit))); /* the log has two kinds */
        limit.stream = "user-reads";
        limit.stat = DBIO_LIMIT_IOPS;
        ck_assert_double_eq_tol(dbio_limit_of(&rows, phase, &limit), 22000 / 60.0, 1e-9);
        limit.stat = DBIO_LIMIT_MIB_PER_S; /* in bytes a second, as its value is parsed */
        ck_assert_double_eq_tol(dbio_limit_of(&rows, phase, &limit), 22000 * 8192 / 60.0, 1e-6);
        ck_assert(isnan(dbio_limit_of(&rows, "other", &limit)));
        dbio_figures_release(&rows);
        fixture_close(&f);
}
END_TEST

START_TEST(observed_gives_a_conclusion)
{
        struct dbio_limit seen = {.stat = DBIO_LIMIT_MEAN, .value = 20e6};

        ck_assert_str_eq(dbio_observed_conclusion(&seen, 5e6, true), "the array can carry it; look above the array");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 19e6, true), "the storage explains it");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 40e6, true), "the storage explains it");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 17e6, true), "cannot tell");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 5e6, false), "cannot tell");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, NAN, true), "cannot tell");
        seen.stat = DBIO_LIMIT_IOPS;
        seen.value = 1000;
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 2000, true), "the array can carry it; look above the array");
        ck_assert_str_eq(dbio_observed_conclusion(&seen, 800, true), "the storage explains it");
}
END_TEST

/* A table of three repetitions, one of which is not valid, says which is which. */
START_TEST(sets_leave_invalid_runs_out)
{
        struct fixture f;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_example(&f, "raid10", 1.02);
        fixture_exec(&f, "UPDATE run SET set_id = 1; UPDATE run SET valid = 0, invalid_why = 'lag' WHERE run_id = 2");
        char *text = show(&f, "raid10", TEXT);
        ck_assert_ptr_nonnull(strstr(text, "RUNS 1-2 (2 repetitions)  raid10"));
        ck_assert_ptr_nonnull(strstr(text, "\n  run 2 is left out: lag\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n  the tables are of run 1, the answer is over all\n"));
        free(text);
        fixture_close(&f);
}
END_TEST

/* What is longer than a line goes on in the next: nothing that was to be read is cut off. */
START_TEST(long_texts_go_on)
{
        static const char workload[] = "a-workload-with-a-name-that-is-much-longer-than-a-line-has-room-for-it";
        struct fixture f;

        fixture_open(&f);
        fixture_example(&f, "raid10", 1);
        fixture_example(&f, "raid10", 1.02);
        fixture_exec(&f, "UPDATE run SET set_id = 1, workload = 'a-workload-with-a-name-that-is-much-longer-than-a-line-"
                         "has-room-for-it'; UPDATE run SET valid = 0, invalid_why = 'the generator was late: lag p99 "
                         "17826 us against a median service of 950 us; and others used the device' WHERE run_id = 2");
        char *text = show(&f, "raid10", TEXT);
        assert_width(text);
        ck_assert_ptr_nonnull(strstr(text, workload));
        ck_assert_ptr_nonnull(strstr(text, "\n  run 2 is left out: the generator was late: lag p99 17826 us against a "
                                           "median service of 950 us;\n      and others used the device\n"));
        free(text);
        fixture_close(&f);
}
END_TEST

/* The commands at the end can be pasted: a label names the set that is shown, else the run's number stands for it; a
 * database that was named is named again. */
START_TEST(next_commands_can_be_pasted)
{
        struct fixture f;
        struct dbio_show_options options = {.db = "my runs.db"};
        char *text, *more = NULL;
        size_t size;

        fixture_open(&f);
        fixture_example(&f, "firmware-12.10", 1);
        fixture_example(&f, "hba/as was", 1);
        fixture_example(&f, "firmware-12.10", 1);
        text = show(&f, "firmware-12.10", TEXT);
        ck_assert_ptr_nonnull(strstr(text, "\nNEXT     dbio compare firmware-12.10 OTHER\n"
                                           "         dbio report firmware-12.10 -o firmware-12.10.html\n"
                                           "         dbio show firmware-12.10 --plot\n"));
        free(text);
        text = show(&f, "1", TEXT);
        ck_assert_ptr_nonnull(strstr(text, "\nNEXT     dbio compare 1 OTHER | dbio report 1 -o 1.html | dbio show 1 --plot\n"));
        free(text);
        struct dbio_runs runs = find(&f, "hba/as was");
        FILE *out = open_memstream(&more, &size);
        ck_assert_int_eq(dbio_show_text(f.store, &runs, &options, out, &f.err), 0);
        fclose(out);
        ck_assert_ptr_nonnull(strstr(more, "\nNEXT     dbio compare 'hba/as was' OTHER --db 'my runs.db'\n"
                                           "         dbio report 'hba/as was' -o report.html --db 'my runs.db'\n"));
        dbio_runs_release(&runs);
        free(more);
        fixture_close(&f);
}
END_TEST

/* A phase too short for its checkpoint says so, unless it was stopped before its time. */
START_TEST(idle_episodes_are_told)
{
        struct fixture f;

        fixture_open(&f);
        fixture_stream(&f, "reads", "sqlserver.random_read", 0);
        fixture_stream(&f, "checkpoint", "sqlserver.checkpoint", DBIO_STREAM_EPISODES);
        fixture_begin(&f, &(struct dbio_run_info){.label = "short", .workload = "w", .engine = "null"});
        fixture_phase(&f, "main", 1000 * MS, false);
        fixture_ops(&f, 0, DBIO_READ, DBIO_ROLE_DATA_READ, 0, 0, 100, 8192, MS, MS);
        fixture_finish(&f, 5 * S);
        fixture_end(&f);
        char *text = show(&f, "short", TEXT);
        ck_assert_ptr_nonnull(strstr(text, "\n  checkpoint did nothing: no episode was due in this phase\n"));
        free(text);
        fixture_exec(&f, "UPDATE phase SET stopped = 1");
        text = show(&f, "short", TEXT);
        ck_assert_ptr_null(strstr(text, "did nothing"));
        free(text);
        fixture_close(&f);
}
END_TEST

TEST_MAIN("show", text_is_as_agreed, never_wider_than_100_columns, json_is_the_views, csv_has_a_header, words_name_sets,
          limits_take_the_runs_own_figure, observed_gives_a_conclusion, sets_leave_invalid_runs_out,
          long_texts_go_on, next_commands_can_be_pasted, idle_episodes_are_told)
