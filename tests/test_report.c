/* The HTML report: whole, self-contained, and in a real browser without an error and with the database's figures. */
#include "results/report.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/made.h"

static char *read_all(FILE *in)
{
        char *text = NULL, chunk[65536];
        size_t size, n;
        FILE *out = open_memstream(&text, &size);

        while ((n = fread(chunk, 1, sizeof chunk, in)))
                fwrite(chunk, 1, n, out);
        fclose(out);
        return text;
}

static char *page_of(unsigned nr, bool turns)
{
        struct dbio_report_set sets[2];
        struct dbio_runs runs[2];
        int64_t ids[2][3];
        struct dbio_err err = {0};
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        for (unsigned i = 0; i < 3; i++) {
                ids[0][i] = turns ? 2 * i + 1 + (i & 1) : i + 1;
                ids[1][i] = turns ? 2 * i + 2 - (i & 1) : i + 4;
        }
        for (unsigned s = 0; s < 2; s++) {
                runs[s] = (struct dbio_runs){3, ids[s]};
                sets[s] = (struct dbio_report_set){s ? "new & <shiny>" : "raid10", &runs[s]};
        }
        ck_assert_msg(dbio_report_write(store, sets, nr, "1.0", out, &err) == 0, "%s", err.message);
        fclose(out);
        return text;
}

static void has(const char *text, const char *part)
{
        ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in the page", part);
}

START_TEST(page_is_self_contained)
{
        char *text;

        open_store();
        make_sets(3, 2.5, true, "h1", "h1", 0);
        text = page_of(2, true);
        has(text, "<span class=\"badge real\">REAL</span>");
        has(text, "new &amp; &lt;shiny&gt;");
        has(text, "ssd is FASTER. reads: 4,0");
        has(text, "SELECT * FROM v_phase WHERE run_id IN (1, 2);");
        has(text, "Chart.js v");
        has(text, "<td class=\"t\">checkpoint</td><td>1</td>"); /* the number of an episode */
        has(text, ".scroll { overflow: visible; }");            /* on paper nothing scrolls */
        /* No address to fetch anything from: the one that Chart.js names in its comment is text. */
        ck_assert_ptr_null(strstr(text, "src="));
        ck_assert_ptr_null(strstr(text, "@import"));
        ck_assert_ptr_null(strstr(text, "url("));
        ck_assert_uint_le(strlen(text), 3000000);
        free(text);
        text = page_of(1, true);
        has(text, "While checkpoint works, reads falls from 4,000 to 2,000 IOPS");
        free(text);
        close_store();
}
END_TEST

START_TEST(simulated_is_said)
{
        char *text;

        open_store();
        make_sets(3, 1, true, "h1", "h1", 1);
        sql("UPDATE run SET trust = 'raid10-15k-sas: means within 10 percent'");
        text = page_of(2, true);
        has(text, "<span class=\"badge simulated\">SIMULATED</span>");
        has(text, "<p class=\"trust\">SIMULATED raid10: raid10-15k-sas: means within 10 percent</p>");
        free(text);
        close_store();
}
END_TEST

START_TEST(other_demand_gives_no_verdict)
{
        char *text;

        open_store();
        make_sets(3, 3, true, "h1", "h2", 0);
        text = page_of(2, true);
        has(text, "The demand is not the same, so this says nothing about the storage.");
        ck_assert_ptr_null(strstr(text, "FASTER"));
        free(text);
        close_store();
}
END_TEST

/* As show: an invalid run says nothing, and is not ranked among others. */
START_TEST(invalid_runs_give_no_answer)
{
        char *text;

        open_store();
        make_sets(3, 2.5, true, "h1", "h1", 0);
        sql("UPDATE run SET valid = 0");
        text = page_of(1, true);
        has(text, "<h1>None: no run is valid, so they say nothing about the storage.</h1>");
        ck_assert_ptr_null(strstr(text, "While checkpoint works, "));
        free(text);
        close_store();
}
END_TEST

/* Every figure of v_phase that the table shows, as the browser's DOM has it. */
static void check_figures(const char *dom)
{
        struct dbio_err err = {0};
        sqlite3_stmt *stmt = dbio_db_query(store, &err,
                                           "SELECT run_id, phase, stream, kind, iops, response_mean_ns, "
                                           "response_p99_ns FROM v_phase WHERE run_id IN (1, 2)",
                                           "");
        static const char *const names[] = {"iops", "response_mean_ns", "response_p99_ns"};
        unsigned rows = 0;

        ck_assert_ptr_nonnull(stmt);
        while (dbio_db_step(store, stmt, &err) > 0) {
                char row[256], cell[128];
                const char *at, *end;

                snprintf(row, sizeof row, "data-run=\"%d\" data-phase=\"%s\" data-stream=\"%s\" data-kind=\"%s\"",
                         sqlite3_column_int(stmt, 0), dbio_db_text(stmt, 1), dbio_db_text(stmt, 2),
                         dbio_db_text(stmt, 3));
                at = strstr(dom, row);
                ck_assert_msg(at != NULL, "no row %s", row);
                end = strstr(at, "</tr>");
                for (int i = 0; i < 3; i++) {
                        const char *found;

                        snprintf(cell, sizeof cell, "data-n=\"%s\" data-v=\"%.9g\"", names[i],
                                 sqlite3_column_double(stmt, 4 + i));
                        found = strstr(at, cell);
                        ck_assert_msg(found && found < end, "%s: no %s", row, cell);
                }
                rows++;
        }
        ck_assert_uint_eq(rows, 8);
}

START_TEST(browser_shows_what_the_database_has)
{
        char folder[] = "/tmp/dbio-report.XXXXXX", name[64], command[400], *text, *dom, *log;
        FILE *file;

        if (system("command -v chromium >/dev/null 2>&1"))
                skip_test("no chromium");
        open_store();
        make_sets(3, 2.5, true, "h1", "h1", 0);
        text = page_of(2, true);
        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(name, sizeof name, "%s/report.html", folder);
        file = fopen(name, "w");
        fputs(text, file);
        /* The last chart's figures instead of its lines, as its button shows them. */
        fputs("<script>[...document.querySelectorAll('.chart:has(canvas[data-drawn]) button.table')].pop().click()"
              "</script>", file);
        fclose(file);
        snprintf(command, sizeof command,
                 "HOME=%s timeout 50 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                 "--user-data-dir=%s/profile --enable-logging=stderr --dump-dom file://%s 2>%s/log",
                 folder, folder, name, folder);
        file = popen(command, "r");
        dom = read_all(file);
        ck_assert_int_eq(pclose(file), 0);
        snprintf(name, sizeof name, "%s/log", folder);
        file = fopen(name, "r");
        log = read_all(file);
        fclose(file);
        snprintf(command, sizeof command, "rm -rf %s", folder);
        ck_assert_int_eq(system(command), 0);
        ck_assert_msg(strstr(log, "CONSOLE") == NULL, "%s", strstr(log, "CONSOLE"));
        has(dom, "data-errors=\"\"");
        has(dom, "data-drawn=\"4\"");
        has(dom, "<div class=\"scroll points\"><table><tbody><tr><th></th><th>raid10, %</th><th>new &amp; &lt;shiny&gt;, %</th>");
        check_figures(dom);
        free(dom);
        free(log);
        free(text);
        close_store();
}
END_TEST

TEST_MAIN("report", page_is_self_contained, simulated_is_said, other_demand_gives_no_verdict, invalid_runs_give_no_answer,
          browser_shows_what_the_database_has)
