/* HdrHistogram's interchange format. Source: HdrHistogram's published encoding, "V2 encoding with LEB128-64b9B and
 * ZigZag" and its log format 1.3; our buckets are its own for two significant digits, so counts go over one to one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "engine/op.h"
#include "engine/varint.h"
#include "results/db.h"
#include "results/export.h"
#include "results/histcode.h"

#define COOKIE_V2 0x1c849313u            /* 0x1c849303 with the size of a word, 1, in bits 4 to 7 */
#define COOKIE_V2_COMPRESSED 0x1c849314u
#define HEAD_BYTES 40

static unsigned char *put_be(unsigned char *at, uint64_t value, int bytes)
{
        while (bytes-- > 0)
                *at++ = (unsigned char)(value >> (8 * bytes));
        return at;
}

/* ZigZag, seven bits a byte, the lowest first; counts here never need the ninth byte's eight bits. */
static unsigned char *put_number(unsigned char *at, int64_t number)
{
        return dbio_varint_put(at, dbio_zigzag(number));
}

static size_t encode_plain(const struct dbio_hist *hist, unsigned char *code)
{
        unsigned char *at = code + HEAD_BYTES, *head = code;
        const double ratio = 1;
        uint64_t bits;
        int64_t zeros = 0;

        for (uint32_t i = 0; hist->count > hist->overflow && i <= hist->high; i++) {
                if (!hist->counts[i]) {
                        zeros++;
                        continue;
                }
                if (zeros)
                        at = put_number(at, -zeros);
                zeros = 0;
                at = put_number(at, hist->counts[i]);
        }
        memcpy(&bits, &ratio, sizeof bits);
        head = put_be(head, COOKIE_V2, 4);
        head = put_be(head, (uint64_t)(at - code) - HEAD_BYTES, 4);
        head = put_be(head, 0, 4);                /* normalizing index offset */
        head = put_be(head, 2, 4);                /* significant digits */
        head = put_be(head, 1, 8);                /* lowest value told apart */
        head = put_be(head, DBIO_HIST_MAX_NS, 8); /* highest trackable value */
        put_be(head, bits, 8);                    /* integer to double ratio */
        return (size_t)(at - code);
}

static char *base64(const unsigned char *data, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        char *text = malloc((n + 2) / 3 * 4 + 1), *at = text;

        for (size_t i = 0; text && i < n; i += 3) {
                uint32_t bits = (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) |
                                (i + 2 < n ? data[i + 2] : 0);

                *at++ = digits[bits >> 18];
                *at++ = digits[bits >> 12 & 63];
                *at++ = i + 1 < n ? digits[bits >> 6 & 63] : '=';
                *at++ = i + 2 < n ? digits[bits & 63] : '=';
        }
        if (text)
                *at = 0;
        return text;
}

char *dbio_hdr_encode(const struct dbio_hist *hist)
{
        unsigned char *plain = malloc(HEAD_BYTES + DBIO_HIST_CODE_MAX), *packed = NULL;
        uLongf room = compressBound(HEAD_BYTES + DBIO_HIST_CODE_MAX);
        char *text = NULL;

        packed = malloc(8 + room);
        if (plain && packed && compress2(packed + 8, &room, plain, encode_plain(hist, plain), 9) == Z_OK) {
                put_be(put_be(packed, COOKIE_V2_COMPRESSED, 4), room, 4);
                text = base64(packed, 8 + room);
        }
        free(plain);
        free(packed);
        return text;
}

/* One line of the log; times in seconds from the run's begin, the maximum in ms as the format has it. */
static int log_line(FILE *out, sqlite3_stmt *stmt, int column, const char *what, double from_s, double length_s,
                    struct dbio_hist *hist, struct dbio_err *err)
{
        const void *code = sqlite3_column_blob(stmt, column);

        dbio_hist_reset(hist);
        if (!code)
                return 0;
        if (dbio_hist_decode(hist, code, (size_t)sqlite3_column_bytes(stmt, column)))
                return dbio_err_set(err, DBIO_IO, "results: a histogram cannot be read");
        char *text = dbio_hdr_encode(hist);
        if (!text)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        fprintf(out, "Tag=%s/%s/%s/%s/%s,%.3f,%.3f,%.3f,%s\n", dbio_db_text(stmt, 0), dbio_db_text(stmt, 1),
                dbio_db_text(stmt, 2), dbio_db_text(stmt, 3), what, from_s, length_s,
                (double)(hist->max_ns > DBIO_HIST_MAX_NS ? DBIO_HIST_MAX_NS : hist->max_ns) / 1e6, text);
        free(text);
        return 0;
}

static const char totals_sql[] =
        "SELECT p.name, s.name, k.name, o.name, coalesce(p.begun_ns, 0), p.duration_ns, t.service_hist, t.response_hist"
        " FROM phase p JOIN total t USING (phase_id) JOIN stream s USING (phase_id, stream_no) JOIN kind_name k USING (kind)"
        " JOIN role_name o USING (role) WHERE p.run_id = ? ORDER BY p.position, t.stream_no, t.kind, t.role";

static const char intervals_sql[] =
        "SELECT p.name, s.name, k.name, o.name, coalesce(p.begun_ns, 0) + h.number * p.interval_ns, p.interval_ns,"
        " h.service_hist FROM phase p JOIN interval_hist h USING (phase_id) JOIN total t USING (phase_id, key_no)"
        " JOIN stream s USING (phase_id, stream_no) JOIN kind_name k USING (kind) JOIN role_name o USING (role)"
        " WHERE p.run_id = ? ORDER BY p.position, h.number, h.key_no";

static int log_rows(struct dbio_store *store, int64_t run_id, bool intervals, FILE *out, struct dbio_hist *hist,
                    struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, intervals ? intervals_sql : totals_sql, "i", run_id);
        int more;

        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                double from = sqlite3_column_double(stmt, 4) / 1e9, length = sqlite3_column_double(stmt, 5) / 1e9;

                if (log_line(out, stmt, 6, intervals ? "interval" : "service", from, length, hist, err) ||
                    (!intervals && log_line(out, stmt, 7, "response", from, length, hist, err))) {
                        sqlite3_reset(stmt);
                        return -1;
                }
        }
        return more;
}

static int log_head(struct dbio_store *store, int64_t run_id, FILE *out, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, "SELECT coalesce(label, ''), workload, started_at, "
                                           "CAST(strftime('%s', started_at) AS INTEGER) FROM run WHERE run_id = ?", "i",
                                           run_id);
        int found = stmt ? dbio_db_step(store, stmt, err) : -1;

        if (found <= 0)
                return found;
        fprintf(out, "#[dbio run %lld, %s, %s; values in ns]\n#[Histogram log format version 1.3]\n",
                (long long)run_id, dbio_db_text(stmt, 0), dbio_db_text(stmt, 1));
        fprintf(out, "#[StartTime: %lld.000 (seconds since epoch), %s]\n", (long long)sqlite3_column_int64(stmt, 3),
                dbio_db_text(stmt, 2));
        fputs("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n", out);
        sqlite3_reset(stmt);
        return 0;
}

int dbio_export_hdr(struct dbio_store *store, const struct dbio_runs *runs, FILE *out, struct dbio_err *err)
{
        struct dbio_hist *hist = calloc(1, sizeof *hist);
        int code = hist ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");

        for (unsigned r = 0; r < runs->n && !code; r++)
                code = log_head(store, runs->ids[r], out, err) ||
                                       log_rows(store, runs->ids[r], false, out, hist, err) ||
                                       log_rows(store, runs->ids[r], true, out, hist, err)
                               ? -1
                               : 0;
        free(hist);
        return code;
}
