/* A results database with figures made up here, and what a comparison says of them. */
#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "results/compare.h"
#include "results/interference_load.h"
#include "results/steady.h"
#include "tests/made.h"

static struct dbio_comparison *compare(unsigned n, bool turns, const struct dbio_compare_options *options)
{
        struct dbio_comparison *comparison = NULL;
        int64_t base[8], new_[8];
        struct dbio_err err = {0};

        for (unsigned i = 0; i < n; i++) {
                base[i] = turns ? 2 * i + 1 + (i & 1) : i + 1;
                new_[i] = turns ? 2 * i + 2 - (i & 1) : n + i + 1;
        }
        ck_assert_msg(dbio_compare_open(&comparison, store, &(struct dbio_compare_ids){"a", base, n},
                                        &(struct dbio_compare_ids){"b", new_, n}, options, &err) == 0,
                      "%s", err.message);
        return comparison;
}

static char *text_of(const struct dbio_comparison *comparison)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        dbio_compare_text(comparison, out);
        fclose(out);
        if (getenv("DBIO_TEST_PRINT"))
                fprintf(stderr, "%s\n", text);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                ck_assert_msg(strcspn(line, "\n") <= 100, "wider than 100 columns: %.*s", (int)strcspn(line, "\n"),
                              line);
        return text;
}

static json_t *json_of(const struct dbio_comparison *comparison)
{
        struct dbio_err err = {0};
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        json_t *root;

        ck_assert_int_eq(dbio_compare_json(comparison, out, &err), 0);
        fclose(out);
        root = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(root);
        free(text);
        return root;
}

static json_t *row_of(json_t *root, const char *stream, const char *figure, const char *window)
{
        json_t *row;
        size_t i;

        json_array_foreach(json_object_get(root, "rows"), i,
                           row) if (!strcmp(json_string_value(json_object_get(row, "stream")), stream) &&
                                    !strcmp(json_string_value(json_object_get(row, "figure")), figure) &&
                                    !strcmp(json_string_value(json_object_get(row, "window")), window)) return row;
        ck_abort_msg("no row %s %s %s", stream, figure, window);
}

static void has(const char *text, const char *part)
{
        ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in\n%s", part, text);
}

START_TEST(faster)
{
        struct dbio_comparison *c;
        json_t *root, *row;
        char *text;

        open_store();
        make_sets(5, 11.2, true, "9f3c11a7", "9f3c11a7", 0);
        c = compare(5, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "COMPARE  1 raid10  ->  2 ssd");
        has(text, "demand   SAME   schedule 9f3c11a7, seed 1");
        has(text, "data.scheduler raid10 -> ssd");
        has(text, "ssd is FASTER. reads: 4,001 -> 44,817 IOPS (x 11.2).");
        has(text, "checkpoint costs reads 50 % of the rate");
        has(text, "interleaved");
        ck_assert_int_eq(dbio_compare_code(c), DBIO_OK);
        root = json_of(c);
        row = row_of(root, "reads", "IOPS", "quiet");
        ck_assert(json_is_true(json_object_get(row, "headline")));
        ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "faster");
        ck_assert_str_eq(json_string_value(json_object_get(row, "method")), "regression with drift");
        ck_assert_double_eq(json_number_value(json_object_get(row, "df")), 7);
        ck_assert_double_eq_tol(json_number_value(json_object_get(row, "b")), log(11.2), 0.01);
        ck_assert_str_eq(json_string_value(json_object_get(root, "sessions")), "interleaved");
        row = row_of(root, "reads", "avg", "in checkpoint");
        ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "faster");
        row = row_of(root, "log", "avg", "");
        ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")), "same");
        json_decref(root);
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(sets_of_two_days)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(3, 0.8, false, "h1", "h1", 0);
        c = compare(3, false, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "ssd is SLOWER.");
        has(text, "different sessions, 10 hours apart");
        has(text, "not interleaved");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(demand_differs)
{
        const struct dbio_compare_gate gate = {
                .limit = {.text = "reads.iops > -5%",
                          .stream = "reads",
                          .kind = -1,
                          .stat = DBIO_LIMIT_IOPS,
                          .comparison = DBIO_COMPARE_GT,
                          .value = -0.05},
                .relative = true,
        };
        struct dbio_comparison *c;
        json_t *root;
        char *text;

        open_store();
        make_sets(3, 0.8, true, "h1", "h2", 0);
        c = compare(3, true,
                    &(struct dbio_compare_options){
                            .differences = "streams.checkpoint.every      60s -> 10s\n", .ngates = 1, .gates = &gate});
        text = text_of(c);
        has(text, "demand   DIFFERS: no verdict");
        has(text, "VERDICT  none: the demand is NOT the same, so this says nothing about the storage.\n"
                  "  streams.checkpoint.every      60s -> 10s\n");
        ck_assert_ptr_null(strstr(text, "SLOWER"));
        ck_assert_int_eq(dbio_compare_code(c), DBIO_INVALID);
        root = json_of(c);
        ck_assert_str_eq(json_string_value(json_object_get(root, "demand")), "different");
        ck_assert_uint_eq(json_array_size(json_object_get(root, "rows")), 0);
        json_decref(root);
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(one_run_each_claims_nothing)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(1, 0.5, true, "h1", "h1", 0);
        c = compare(1, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "cannot tell.");
        has(text, "one run each; a run like this may differ by itself; use --repeat 5");
        ck_assert_ptr_null(strstr(text, "SLOWER"));
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(simulated_is_exact)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(1, 2.5, true, "h1", "h1", 1);
        c = compare(1, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "ssd is FASTER, exact (simulated).");
        has(text, "x 2.5");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

/* Over a column of eight letters names that begin alike are told apart by their ends. */
START_TEST(columns_tell_the_sides_apart)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(1, 2.5, true, "h1", "h1", 1);
        sql("UPDATE run SET label = 'firmware-12.1' || run_id");
        c = compare(1, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "COMPARE  1 firmware-12.11  ->  2 firmware-12.12");
        has(text, " re-12.11 re-12.12   change");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(invalid_runs_are_left_out_and_named)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(3, 1, true, "h1", "h1", 0);
        sql("UPDATE run SET valid = 0 WHERE run_id = 4");
        sql("UPDATE run SET how = 'io_uring, O_DIRECT + write-through' WHERE label = 'raid10'");
        sql("UPDATE run SET status = 'interrupted' WHERE run_id = 6");
        c = compare(3, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "run 4 is left out: late;");
        has(text, "run 6 is left out: interrupted;");
        has(text, "write-through on raid10 alone\n");
        has(text, "2 + 2 repetitions");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(gates_and_limits)
{
        const struct dbio_compare_gate gates[] = {
                {{.text = "reads.iops > -5%",
                  .stream = "reads",
                  .kind = -1,
                  .stat = DBIO_LIMIT_IOPS,
                  .comparison = DBIO_COMPARE_GT,
                  .value = -0.05},
                 true},
                {{.text = "log.commit.mean < 2ms",
                  .stream = "log",
                  .kind = 4,
                  .stat = DBIO_LIMIT_MEAN,
                  .comparison = DBIO_COMPARE_LT,
                  .value = 2e6},
                 false},
        };
        struct dbio_comparison *c;
        char *text, *xml = NULL;
        size_t size;
        FILE *out;

        open_store();
        make_sets(5, 0.8, true, "h1", "h1", 0);
        c = compare(5, true, &(struct dbio_compare_options){.ngates = 2, .gates = gates});
        ck_assert_int_eq(dbio_compare_code(c), DBIO_GATE_FAILED);
        text = text_of(c);
        has(text, "GATES    FAIL");
        has(text, "gate reads.iops > -5%: FAIL, -2");
        has(text, "gate log.commit.mean < 2ms: PASS");
        out = open_memstream(&xml, &size);
        dbio_compare_junit(&c, 1, out);
        fclose(out);
        has(xml, "tests=\"2\" failures=\"1\" errors=\"0\"");
        has(xml, "name=\"reads.iops &gt; -5%\"");
        free(xml);
        free(text);
        dbio_compare_free(c);
        sql("INSERT INTO figure VALUES (2, 0, 0, 'log.commit.mean < 0.4ms', 'log', 4, 0, %d, %d, 4e5)", DBIO_LIMIT_MEAN,
            DBIO_COMPARE_LT);
        c = compare(5, true, &(struct dbio_compare_options){.gate_limits = true});
        /* Commits take 0.5 ms in every run: no spread, proved to be beyond. */
        ck_assert_int_eq(dbio_compare_code(c), DBIO_GATE_FAILED);
        dbio_compare_free(c);
        close_store();
}
END_TEST

/* Misspelt gates are faults of the command, like misspelt keys, and no inconclusive answers. */
START_TEST(gates_name_what_there_is)
{
        struct dbio_compare_gate gate = {.limit = {.text = "raeds.iops > 5/s", .stream = "raeds", .kind = -1,
                                                   .stat = DBIO_LIMIT_IOPS, .comparison = DBIO_COMPARE_GT, .value = 5}};
        const struct dbio_compare_options options = {.ngates = 1, .gates = &gate};
        const int64_t base = 1, new_ = 2;
        struct dbio_comparison *c = NULL;
        struct dbio_err err = {0};

        open_store();
        make_sets(1, 1, true, "h1", "h1", 0);
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", &base, 1},
                                           &(struct dbio_compare_ids){"b", &new_, 1}, &options, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        has(err.message, "no stream \"raeds\"; the runs have reads ");
        gate.limit.stream = "log";
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", &base, 1},
                                           &(struct dbio_compare_ids){"b", &new_, 1}, &options, &err), -1);
        has(err.message, "log has several kinds; name one, as in log.write");
        close_store();
}
END_TEST

START_TEST(not_steady_gives_no_verdict)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        for (int i = 0; i < 6; i++) {
                struct made m = {.id = i + 1,
                                 .set = 1 + i % 2,
                                 .label = i % 2 ? "new" : "base",
                                 .hash = "h",
                                 .seed = 1,
                                 .valid = 1,
                                 .minute = 3 * i,
                                 .commit_ms = 0.5,
                                 .ramp = i % 2 ? 40 + i : 0};

                m.iops = 4000 * wobble[i % 5];
                m.mean_ms = 76e3 / m.iops;
                make_run(&m);
        }
        c = NULL;
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", (int64_t[]){1, 3, 5}, 3},
                                           &(struct dbio_compare_ids){"b", (int64_t[]){2, 4, 6}, 3},
                                           &(struct dbio_compare_options){0}, NULL),
                         0);
        text = text_of(c);
        /* The last third is below the first; a third of 40 s holds no whole period of 60 s. */
        ck_assert_ptr_null(strstr(text, "not steady"));
        free(text);
        dbio_compare_free(c);
        sql("UPDATE episode SET begin_ns = begin_ns / 3, end_ns = end_ns / 3");
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", (int64_t[]){1, 3, 5}, 3},
                                           &(struct dbio_compare_ids){"b", (int64_t[]){2, 4, 6}, 3},
                                           &(struct dbio_compare_options){0}, NULL),
                         0);
        text = text_of(c);
        has(text, "mixed is not steady");
        has(text, "cannot tell");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

/* Five earlier runs of the same kind stand in for repetitions. */
/* A gate rests on the same noise as the verdict. */
static const struct dbio_compare_gate rate_gate = {
        {.text = "reads.iops > -5%",
         .stream = "reads",
         .kind = -1,
         .stat = DBIO_LIMIT_IOPS,
         .comparison = DBIO_COMPARE_GT,
         .value = -0.05},
        true};

START_TEST(history_tells_the_noise)
{
        struct dbio_comparison *c = NULL;
        char *text;

        open_store();
        for (int i = 0; i < 7; i++) {
                struct made m = {.id = i + 1,
                                 .set = i < 5 ? 1 : i + 1,
                                 .label = "raid10",
                                 .hash = "h",
                                 .seed = 1,
                                 .valid = 1,
                                 .minute = 3 * i,
                                 .commit_ms = 0.5};

                m.iops = i < 6 ? 4000 * wobble[i % 5] : 3000;
                m.mean_ms = 76e3 / m.iops;
                make_run(&m);
        }
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", (int64_t[]){6}, 1},
                                           &(struct dbio_compare_ids){"b", (int64_t[]){7}, 1},
                                           &(struct dbio_compare_options){.ngates = 1, .gates = &rate_gate}, NULL),
                         0);
        text = text_of(c);
        has(text, "raid10 #7 is SLOWER.");
        ck_assert_int_eq(dbio_compare_code(c), DBIO_GATE_FAILED);
        has(text, "noise from 5 earlier runs");
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

/* Seven days, three runs a day; days differ by more than runs of a day do. */
START_TEST(sessions_tell_what_days_differ_by)
{
        static const double days[] = {1, 1.04, 0.97, 1.02, 0.98, 1.0, 0.93};
        struct dbio_comparison *c = NULL;
        char *text;
        json_t *root, *row;
        double logs[5], mean = 0, squares = 0;

        open_store();
        for (int i = 0; i < 21; i++) {
                struct made m = {.id = i + 1,
                                 .set = i / 3 * 3 + 1,
                                 .label = "raid10",
                                 .hash = "h",
                                 .seed = 1,
                                 .valid = 1,
                                 .minute = i / 3 * 180 + 3 * (i % 3),
                                 .commit_ms = 0.5};

                m.iops = 4000 * days[i / 3] * (1 + 0.001 * (i % 3 - 1));
                m.mean_ms = 76e3 / m.iops;
                make_run(&m);
        }
        ck_assert_int_eq(dbio_compare_open(&c, store, &(struct dbio_compare_ids){"a", (int64_t[]){16, 17, 18}, 3},
                                           &(struct dbio_compare_ids){"b", (int64_t[]){19, 20, 21}, 3},
                                           &(struct dbio_compare_options){.ngates = 1, .gates = &rate_gate}, NULL),
                         0);
        text = text_of(c);
        has(text, "what sessions differ by is known from");
        has(text, "one session each shows");
        ck_assert_ptr_null(strstr(text, "--repeat"));
        has(text, "cannot tell");
        ck_assert_ptr_null(strstr(text, "SLOWER"));
        ck_assert_int_eq(dbio_compare_code(c), DBIO_INVALID);
        root = json_of(c);
        row = row_of(root, "reads", "IOPS", "quiet");
        for (int i = 0; i < 5; i++) {
                logs[i] = log(days[i]);
                mean += logs[i] / 5;
        }
        for (int i = 0; i < 5; i++)
                squares += (logs[i] - mean) * (logs[i] - mean);
        ck_assert_double_eq(json_number_value(json_object_get(row, "df")), 4);
        ck_assert_double_eq_tol(json_number_value(json_object_get(row, "b")), log(0.93), 1e-6);
        ck_assert_double_eq_tol(json_number_value(json_object_get(row, "se")), sqrt(squares / 4 * 2), 1e-4);
        json_decref(root);
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(old_results_have_no_verdict)
{
        struct dbio_comparison *c;
        char *text;

        open_store();
        make_sets(3, 2, true, NULL, NULL, 0);
        c = compare(3, true, &(struct dbio_compare_options){0});
        text = text_of(c);
        has(text, "demand   NOT KNOWN: no verdict");
        has(text, "x 2.0");
        ck_assert_ptr_null(strstr(text, "FASTER"));
        ck_assert_ptr_null(strstr(text, "faster"));
        free(text);
        dbio_compare_free(c);
        close_store();
}
END_TEST

START_TEST(interference_of_a_set)
{
        struct dbio_interference_list list;
        struct dbio_steady steady;
        char text[400];

        open_store();
        make_sets(3, 1, true, "h1", "h1", 0);
        ck_assert_int_eq(dbio_interference_load(store, (int64_t[]){1, 4, 5}, 3, &list, NULL), 0);
        ck_assert_uint_eq(list.nr, 1);
        ck_assert_str_eq(list.entries[0].stream, "reads");
        ck_assert_str_eq(list.entries[0].other, "checkpoint");
        ck_assert_uint_eq(list.entries[0].figures.effect.episodes, 6);
        ck_assert_uint_eq(list.entries[0].figures.effect.runs, 3);
        ck_assert_double_eq_tol(list.entries[0].figures.effect.change, sqrt(0.5 * 0.51) - 1, 1e-9);
        ck_assert_double_eq_tol(list.entries[0].figures.affected_ns, 10e9, 1);
        ck_assert_double_eq_tol(list.entries[0].figures.period_ns, 60e9, 1);
        ck_assert_double_eq_tol(list.entries[0].figures.effect.recovery_ns, 10e9, 1);
        dbio_interference_sentence(text, sizeof text, &list.entries[0].figures);
        has(text, "While checkpoint works, reads falls from 4,000 to 2,000 IOPS (-49");
        has(text, "for 10 s in every 60 s");
        dbio_interference_release(&list);
        ck_assert_int_eq(dbio_steady_load(store, 1, "mixed", &steady, NULL), 0);
        ck_assert_str_eq(steady.stream, "reads");
        ck_assert_uint_eq(steady.period, 60);
        ck_assert(!steady.trend_checked);
        dbio_steady_line(text, sizeof text, &steady);
        has(text, "not checked: a fifth of the phase holds no whole period");
        /* A ramp of 80 % from 5 to 1, without episodes: never settled. */
        sql("DELETE FROM episode");
        sql("UPDATE interval SET ios = 5000 - 33 * number WHERE phase_id = 1");
        ck_assert_int_eq(dbio_steady_load(store, 1, "mixed", &steady, NULL), 0);
        dbio_steady_line(text, sizeof text, &steady);
        has(text, "of mean over 5 rounds: not steady by SNIA's rule; not settled by half of the phase");
        /* 20 s at half the rate, then level: rounds of 24 s. */
        sql("UPDATE interval SET ios = CASE WHEN number < 20 THEN 2000 ELSE 4000 END WHERE phase_id = 1");
        ck_assert_int_eq(dbio_steady_load(store, 1, "mixed", &steady, NULL), 0);
        dbio_steady_line(text, sizeof text, &steady);
        has(text, "a warm-up of 20 s more would take it out");
        close_store();
}
END_TEST

/* While a checkpoint works, a log writes half as often, with as many commits: these keep their rate, and are slower. A
 * last interval of a tenth of a second has a tenth of the commits. */
START_TEST(commits_have_rates_of_their_own)
{
        struct dbio_interference_list list;
        char text[400];

        open_store();
        make_sets(1, 1, true, "h1", "h1", 0);
        sql("UPDATE phase SET duration_ns = 120100000000");
        for (int t = 0; t <= 120; t++)
                sql("INSERT INTO interval (phase_id, number, key_no, ios, bytes, errors, response_mean_ns) VALUES "
                    "(1, %d, 3, %d, 1, 0, 1e6)", t, t == 120 ? 200 : 2000 + t % 3);
        for (int e = 0; e < 2; e++)
                sql("INSERT INTO recovery VALUES (1, 2, 1, %d, %d000000000, %d000000000, %d000000000, 2000, 1000)", e + 1,
                    30 + 60 * e, 31 + 60 * e, 40 + 60 * e);
        sql("INSERT INTO interference (phase_id, key_no, other_no, window, ios, bytes, duration_ns, response_mean_ns) VALUES "
            "(1, 3, 1, 2, 200000, 1, 100000000000, 1e6), (1, 3, 1, 3, 40000, 1, 20000000000, 2e6)");
        ck_assert_int_eq(dbio_interference_load(store, (int64_t[]){1}, 1, &list, NULL), 0);
        ck_assert_uint_eq(list.nr, 2);
        ck_assert_str_eq(list.entries[1].op, "commit");
        ck_assert_double_eq_tol(list.entries[1].figures.effect.change, 0, 0.001);
        dbio_interference_sentence(text, sizeof text, &list.entries[1].figures);
        has(text, "log keeps its rate, but the average commit rises from 1.00 to 2.00 ms");
        dbio_interference_release(&list);
        close_store();
}
END_TEST

TEST_MAIN("compare", faster, sets_of_two_days, demand_differs, one_run_each_claims_nothing, simulated_is_exact,
          columns_tell_the_sides_apart, invalid_runs_are_left_out_and_named, gates_and_limits,
          gates_name_what_there_is, not_steady_gives_no_verdict, history_tells_the_noise,
          sessions_tell_what_days_differ_by, old_results_have_no_verdict, interference_of_a_set,
          commits_have_rates_of_their_own)
