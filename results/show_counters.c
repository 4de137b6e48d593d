/* The figures of a run under the names of the databases' own counters, so that they can be laid side by side. */
#include <math.h>
#include <string.h>

#include "engine/op.h"
#include "results/number.h"
#include "results/show_state.h"
#include "results/text.h"

enum counter_value { PER_S, PAGES_PER_S, BYTES_PER_S, MEAN_MS, MEAN_S };

/* What a counter is made of. pattern is a prefix; role and kind narrow it. Names: SQL Server's performance counters
 * (Buffer Manager, Databases, PhysicalDisk), InnoDB's status variables, Oracle's wait events. */
static const struct counter {
        const char *pattern, *role, *name;
        int kind;
        enum counter_value value;
} counters[] = {
        {"sqlserver.", "data_read", "Buffer Manager: Page reads/sec", DBIO_READ, PAGES_PER_S},
        {"sqlserver.", "read_ahead", "Buffer Manager: Readahead pages/sec", DBIO_READ, PAGES_PER_S},
        {"sqlserver.", "checkpoint", "Buffer Manager: Checkpoint pages/sec", DBIO_WRITE, PAGES_PER_S},
        {"sqlserver.", "lazy_write", "Buffer Manager: Lazy writes/sec", DBIO_WRITE, PAGES_PER_S},
        {"sqlserver.", "log", "Databases: Log Flushes/sec", DBIO_WRITE, PER_S},
        {"sqlserver.", "log", "Databases: Log Bytes Flushed/sec", DBIO_WRITE, BYTES_PER_S},
        {"sqlserver.", "log", "wait WRITELOG, avg ms", DBIO_COMMIT, MEAN_MS},
        {"innodb.", "data_read", "Innodb_data_reads/s", DBIO_READ, PER_S},
        {"innodb.", "page_flush", "Innodb_buffer_pool_pages_flushed/s", DBIO_WRITE, PER_S},
        {"innodb.", "doublewrite", "Innodb_dblwr_writes/s", DBIO_WRITE, PER_S},
        {"innodb.", "log", "Innodb_os_log_fsyncs/s", DBIO_FSYNC, PER_S},
        {"innodb.", "log", "Innodb_os_log_written, bytes/s", DBIO_WRITE, BYTES_PER_S},
        {"oracle.", "data_read", "db file sequential read, avg ms", DBIO_READ, MEAN_MS},
        {"oracle.", "read_ahead", "db file scattered read, avg ms", DBIO_READ, MEAN_MS},
        {"oracle.", "log", "log file parallel write, avg ms", DBIO_WRITE, MEAN_MS},
        {"oracle.", "log", "log file sync, avg ms", DBIO_COMMIT, MEAN_MS},
        {"", "", "PhysicalDisk: Avg. Disk sec/Read", DBIO_READ, MEAN_S},
        {"", "", "PhysicalDisk: Avg. Disk sec/Write", DBIO_WRITE, MEAN_S},
};

static double value_of(const struct counter *counter, const struct dbio_run_figures *row)
{
        switch (counter->value) {
        case PER_S:
                return row->iops;
        case PAGES_PER_S: /* SQL Server's pages have 8 KiB */
                return row->mib_per_s * 128;
        case BYTES_PER_S:
                return row->mib_per_s * 1048576;
        case MEAN_MS: /* Oracle's write is the device's time, its sync the session's */
                return (counter->kind == DBIO_COMMIT ? row->response.mean : row->service.mean) / 1e6;
        default:
                return row->service.mean / 1e9;
        }
}

void dbio_show_counters(struct dbio_show *show)
{
        char number[DBIO_NUMBER_SIZE];

        dbio_text_line(show->out, "COUNTERS %-17s%-13s%-44s%16s", "phase", "stream", "counter", "value");
        for (unsigned i = 0; i < show->rows.n; i++) {
                const struct dbio_run_figures *row = &show->rows.rows[i];

                for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
                        const struct counter *counter = &counters[c];

                        if (counter->kind != row->kind || strncmp(row->pattern, counter->pattern, strlen(counter->pattern)) ||
                            (*counter->role && strcmp(row->role, counter->role)))
                                continue;
                        double value = value_of(counter, row);
                        dbio_text_line(show->out, "         %-17.16s%-13.12s%-44s%16s", row->phase, row->stream,
                                       counter->name,
                                       counter->value == MEAN_S ? dbio_number_group(number, sizeof number, value, 6)
                                                                : dbio_number_short(number, sizeof number, value));
                }
        }
}
