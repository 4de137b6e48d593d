#include "results/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/show.h"
#include "results/steady.h"

/* Length of the UTF-8 sequence at text, 0 where it is none (RFC 3629). */
static unsigned sequence(const unsigned char *t)
{
        if (t[0] < 0x80)
                return 1;
        if (t[0] >= 0xc2 && t[0] < 0xe0)
                return (t[1] & 0xc0) == 0x80 ? 2 : 0;
        if ((t[0] & 0xf0) == 0xe0 && (t[1] & 0xc0) == 0x80 && (t[2] & 0xc0) == 0x80)
                return (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] >= 0xa0) ? 0 : 3;
        if (t[0] >= 0xf0 && t[0] < 0xf5 && (t[1] & 0xc0) == 0x80 && (t[2] & 0xc0) == 0x80 && (t[3] & 0xc0) == 0x80)
                return (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] >= 0x90) ? 0 : 4;
        return 0;
}

void dbio_json_string(FILE *out, const char *text)
{
        if (!text) {
                fputs("null", out);
                return;
        }
        fputc('"', out);
        for (const unsigned char *t = (const unsigned char *)text; *t;) {
                unsigned n = sequence(t);

                if (*t == '"' || *t == '\\')
                        fprintf(out, "\\%c", *t);
                else if (*t == '\n')
                        fputs("\\n", out);
                else if (*t < 0x20)
                        fprintf(out, "\\u%04x", *t);
                else if (n)
                        fwrite(t, 1, n, out);
                else
                        fputc('?', out);
                t += n ? n : 1;
        }
        fputc('"', out);
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void number(FILE *out, double value)
{
        char text[40];

        if (!isfinite(value)) {
                fputs("null", out);
                return;
        }
        for (int digits = 15; digits <= 17; digits++) {
                snprintf(text, sizeof text, "%.*g", digits, value);
                if (strtod(text, NULL) == value)
                        break;
        }
        fputs(text, out);
}

static void json_column(FILE *out, sqlite3_stmt *stmt, int column)
{
        switch (sqlite3_column_type(stmt, column)) {
        case SQLITE_INTEGER:
                fprintf(out, "%lld", (long long)sqlite3_column_int64(stmt, column));
                break;
        case SQLITE_FLOAT:
                number(out, sqlite3_column_double(stmt, column));
                break;
        case SQLITE_NULL:
                fputs("null", out);
                break;
        default:
                dbio_json_string(out, dbio_db_text(stmt, column));
        }
}

void dbio_json_row(FILE *out, sqlite3_stmt *stmt)
{
        for (int c = 0; c < sqlite3_column_count(stmt); c++) {
                fputs(c ? ", " : "{", out);
                dbio_json_string(out, sqlite3_column_name(stmt, c));
                fputs(": ", out);
                json_column(out, stmt, c);
        }
        fputc('}', out);
}

/* Views are few and known; their statements are not kept. */
static int each_row(struct dbio_store *store, const char *view, int64_t run, void (*row)(FILE *, sqlite3_stmt *, bool),
                    FILE *out, bool *first, struct dbio_err *err)
{
        char sql[96];
        sqlite3_stmt *stmt = NULL;
        int code;

        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE run_id = ?", view);
        if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
                return dbio_db_fail(store, err);
        sqlite3_bind_int64(stmt, 1, run);
        while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
                row(out, stmt, *first);
                *first = false;
        }
        if (code != SQLITE_DONE)
                dbio_db_fail(store, err);
        sqlite3_finalize(stmt);
        return code == SQLITE_DONE ? 0 : -1;
}

static void array_row(FILE *out, sqlite3_stmt *stmt, bool first)
{
        fputs(first ? "\n    " : ",\n    ", out);
        dbio_json_row(out, stmt);
}

static int json_view(struct dbio_store *store, const char *view, const int64_t *runs, unsigned n, FILE *out,
                     struct dbio_err *err)
{
        bool first = true;

        fputc('[', out);
        for (unsigned i = 0; i < n; i++)
                if (each_row(store, view, runs[i], array_row, out, &first, err))
                        return -1;
        fputs(first ? "]" : "\n  ]", out);
        return 0;
}

int dbio_show_json(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        static const char *const names[] = {"run",      "phase", "series", "episode", "interference",
                                            "recovery", "limit", "device", "gauge"};
        char view[32];

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                fprintf(out, "%s\"%s\": ", i ? ",\n  " : "{\n  ", names[i]);
                snprintf(view, sizeof view, "v_%s", names[i]);
                if (json_view(store, view, runs->ids, runs->n, out, err))
                        return -1;
        }
        fputs(",\n  \"steady\": ", out);
        if (dbio_steady_json(store, runs->ids, runs->n, out, err))
                return -1;
        fputs("\n}\n", out);
        return ferror(out) ? dbio_err_set(err, DBIO_IO, "cannot write the result") : 0;
}

static void csv_field(FILE *out, const char *text)
{
        if (!text[strcspn(text, ",\"\r\n")]) {
                fputs(text, out);
                return;
        }
        fputc('"', out);
        for (; *text; text++) {
                if (*text == '"')
                        fputc('"', out);
                fputc(*text, out);
        }
        fputc('"', out);
}

static void csv_row(FILE *out, sqlite3_stmt *stmt, bool first)
{
        int n = sqlite3_column_count(stmt);

        for (int c = 0; first && c < n; c++)
                fprintf(out, "%s%s", c ? "," : "", sqlite3_column_name(stmt, c));
        if (first)
                fputc('\n', out);
        for (int c = 0; c < n; c++) {
                if (c)
                        fputc(',', out);
                if (sqlite3_column_type(stmt, c) == SQLITE_FLOAT)
                        number(out, sqlite3_column_double(stmt, c));
                else
                        csv_field(out, dbio_db_text(stmt, c));
        }
        fputc('\n', out);
}

int dbio_csv_view(struct dbio_store *store, const char *view, const int64_t *runs, unsigned n, FILE *out,
                  struct dbio_err *err)
{
        bool first = true;

        for (unsigned i = 0; i < n; i++)
                if (each_row(store, view, runs[i], csv_row, out, &first, err))
                        return -1;
        return ferror(out) ? dbio_err_set(err, DBIO_IO, "cannot write the result") : 0;
}

int dbio_show_csv(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        return dbio_csv_view(store, "v_phase", runs->ids, runs->n, out, err);
}
