/* The figures of a run under the names of the databases' own counters, so that they can be laid side by side. */
#include <stdbool.h>
#include <string.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/text.h"

enum counter_value { PER_S, PAGES_PER_S, BYTES_PER_S, KB_PER_S, MEAN_MS, MEAN_S };

/* What a counter is made of. pattern is a prefix; role and kind narrow it. Names: SQL Server's performance counters
 * (Buffer Manager, Databases, PhysicalDisk), InnoDB's status variables, columns of PostgreSQL's statistics views, Oracle's
 * wait events and statistics. */
static const struct counter {
        const char *pattern, *role, *name;
        int kind;
        enum counter_value value;
} counters[] = {
        {"sqlserver.", "data_read", "Buffer Manager: Page reads/sec", DBIO_READ, PAGES_PER_S},
        {"sqlserver.", "read_ahead", "Buffer Manager: Readahead pages/sec", DBIO_READ, PAGES_PER_S},
        {"sqlserver.", "checkpoint", "Buffer Manager: Checkpoint pages/sec", DBIO_WRITE, PAGES_PER_S},
        {"sqlserver.", "lazy_write", "Buffer Manager: Lazy writes/sec", DBIO_WRITE, PAGES_PER_S},
        {"sqlserver.", "eager_write", "Databases: Bulk Copy Throughput/sec, KB", DBIO_WRITE, KB_PER_S},
        {"sqlserver.", "log", "Databases: Log Flushes/sec", DBIO_WRITE, PER_S},
        {"sqlserver.", "log", "Databases: Log Bytes Flushed/sec", DBIO_WRITE, BYTES_PER_S},
        {"sqlserver.", "log", "wait WRITELOG, avg ms", DBIO_COMMIT, MEAN_MS},
        {"innodb.", "data_read", "Innodb_buffer_pool_reads/s", DBIO_READ, PER_S},
        {"innodb.", "read_ahead", "Innodb_buffer_pool_read_ahead/s", DBIO_READ, PER_S},
        {"innodb.", "page_flush", "Innodb_buffer_pool_pages_flushed/s", DBIO_WRITE, PER_S},
        {"innodb.", "lazy_write", "Innodb_buffer_pool_pages_flushed/s, LRU", DBIO_WRITE, PER_S},
        {"innodb.", "page_flush", "Innodb_data_fsyncs/s", DBIO_FSYNC, PER_S},
        {"innodb.", "doublewrite", "Innodb_dblwr_writes/s", DBIO_WRITE, PER_S},
        {"innodb.", "log", "Innodb_os_log_fsyncs/s", DBIO_FSYNC, PER_S},
        {"innodb.", "log", "Innodb_os_log_written, bytes/s", DBIO_WRITE, BYTES_PER_S},
        {"innodb.redo_log", "log", "Com_commit/s", DBIO_COMMIT, PER_S},
        {"postgres.", "checkpoint", "pg_stat_checkpointer.buffers_written/s", DBIO_WRITE, PAGES_PER_S},
        {"postgres.", "writeback", "pg_stat_bgwriter.buffers_clean/s", DBIO_WRITE, PAGES_PER_S},
        {"postgres.", "log", "pg_stat_wal.wal_write/s", DBIO_WRITE, PER_S},
        {"postgres.", "log", "pg_stat_wal.wal_sync/s", DBIO_FSYNC, PER_S},
        {"postgres.", "log", "pg_stat_database.xact_commit/s", DBIO_COMMIT, PER_S},
        {"oracle.", "data_read", "db file sequential read, avg ms", DBIO_READ, MEAN_MS},
        {"oracle.", "read_ahead", "db file scattered read, avg ms", DBIO_READ, MEAN_MS},
        {"oracle.", "page_flush", "db file parallel write, avg ms", DBIO_WRITE, MEAN_MS},
        {"oracle.", "log", "log file parallel write, avg ms", DBIO_WRITE, MEAN_MS},
        {"oracle.", "log", "log file sync, avg ms", DBIO_COMMIT, MEAN_MS},
        {"oracle.", "log", "redo writes/s", DBIO_WRITE, PER_S},
        {"oracle.", "log", "user commits/s", DBIO_COMMIT, PER_S},
        {"", "", "PhysicalDisk: Avg. Disk sec/Read", DBIO_READ, MEAN_S},
        {"", "", "PhysicalDisk: Avg. Disk sec/Write", DBIO_WRITE, MEAN_S},
};

/* By role, which the tables of show add up: a page cleaner's doublewrite is not its page flushes. */
static const char sql[] =
        "SELECT p.name, s.name, s.pattern, t.kind, t.role, t.ios * 1e9 / p.duration_ns, t.bytes * 1e9 / p.duration_ns,"
        " t.service_mean_ns, t.response_mean_ns"
        " FROM phase p JOIN total t USING (phase_id) JOIN stream s USING (phase_id, stream_no)"
        " WHERE p.run_id = ? AND p.duration_ns > 0 ORDER BY p.position, t.stream_no, t.kind, t.role";
enum { PHASE, STREAM, PATTERN, KIND, ROLE, IOPS, BYTES, SERVICE, RESPONSE };

static double value_of(const struct counter *counter, sqlite3_stmt *row)
{
        double bytes = dbio_db_double(row, BYTES);

        switch (counter->value) {
        case PER_S:
                return dbio_db_double(row, IOPS);
        case PAGES_PER_S: /* SQL Server's and PostgreSQL's pages have 8 KiB */
                return bytes / 8192;
        case BYTES_PER_S:
                return bytes;
        case KB_PER_S:
                return bytes / 1024;
        case MEAN_MS: /* Oracle's write is the device's time, its sync the session's */
                return dbio_db_double(row, counter->kind == DBIO_COMMIT ? RESPONSE : SERVICE) / 1e6;
        default:
                return dbio_db_double(row, SERVICE) / 1e9;
        }
}

static bool applies(const struct counter *counter, sqlite3_stmt *row)
{
        const char *role = dbio_role_name((unsigned)sqlite3_column_int(row, ROLE));

        return counter->kind == sqlite3_column_int(row, KIND) &&
               !strncmp(dbio_db_text(row, PATTERN), counter->pattern, strlen(counter->pattern)) &&
               (!*counter->role || (role && !strcmp(role, counter->role)));
}

int dbio_show_counters(struct dbio_show *show, struct dbio_err *err)
{
        sqlite3_stmt *row = dbio_db_query(show->store, err, sql, "i", show->run_id);
        char number[DBIO_NUMBER_SIZE];
        int more;

        if (!row)
                return -1;
        dbio_text_line(show->out, "COUNTERS %-21s%-13s%-41s%15s", "phase", "stream", "counter", "value");
        while ((more = dbio_db_step(show->store, row, err)) > 0)
                for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
                        const struct counter *counter = &counters[c];
                        double value;

                        if (!applies(counter, row))
                                continue;
                        value = value_of(counter, row);
                        dbio_text_line(show->out, "         %-21.20s%-13.12s%-41s%15s", dbio_db_text(row, PHASE),
                                       dbio_db_text(row, STREAM), counter->name,
                                       counter->value == MEAN_S ? dbio_number_group(number, sizeof number, value, 6)
                                                                : dbio_number_short(number, sizeof number, value));
                }
        sqlite3_reset(row);
        return more < 0 ? -1 : 0;
}
