#include "patterns/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By name; declared here, as nothing else may know them. */
extern const struct dbio_pattern dbio_innodb_binlog;
extern const struct dbio_pattern dbio_innodb_change_buffer_merge;
extern const struct dbio_pattern dbio_innodb_lru_flush;
extern const struct dbio_pattern dbio_innodb_page_cleaner;
extern const struct dbio_pattern dbio_innodb_page_read;
extern const struct dbio_pattern dbio_innodb_purge;
extern const struct dbio_pattern dbio_innodb_recovery;
extern const struct dbio_pattern dbio_innodb_redo_log;
extern const struct dbio_pattern dbio_innodb_scan;
extern const struct dbio_pattern dbio_io_random;
extern const struct dbio_pattern dbio_io_sequential;
extern const struct dbio_pattern dbio_myisam_insert;
extern const struct dbio_pattern dbio_myisam_scan;
extern const struct dbio_pattern dbio_oltp_transaction;
extern const struct dbio_pattern dbio_oracle_arch;
extern const struct dbio_pattern dbio_oracle_dbwr;
extern const struct dbio_pattern dbio_oracle_lgwr;
extern const struct dbio_pattern dbio_oracle_multiblock_read;
extern const struct dbio_pattern dbio_oracle_sequential_read;
extern const struct dbio_pattern dbio_postgres_bgwriter;
extern const struct dbio_pattern dbio_postgres_checkpoint;
extern const struct dbio_pattern dbio_postgres_seq_scan;
extern const struct dbio_pattern dbio_postgres_wal;
extern const struct dbio_pattern dbio_sqlserver_backup;
extern const struct dbio_pattern dbio_sqlserver_bulk_load;
extern const struct dbio_pattern dbio_sqlserver_checkdb;
extern const struct dbio_pattern dbio_sqlserver_checkpoint;
extern const struct dbio_pattern dbio_sqlserver_columnstore_scan;
extern const struct dbio_pattern dbio_sqlserver_file_init;
extern const struct dbio_pattern dbio_sqlserver_index_build;
extern const struct dbio_pattern dbio_sqlserver_lazy_writer;
extern const struct dbio_pattern dbio_sqlserver_log_read;
extern const struct dbio_pattern dbio_sqlserver_log_write;
extern const struct dbio_pattern dbio_sqlserver_lookup;
extern const struct dbio_pattern dbio_sqlserver_random_read;
extern const struct dbio_pattern dbio_sqlserver_recovery;
extern const struct dbio_pattern dbio_sqlserver_restore;
extern const struct dbio_pattern dbio_sqlserver_scan;
extern const struct dbio_pattern dbio_sqlserver_spill;

const struct dbio_pattern *const dbio_patterns[] = {
        &dbio_innodb_binlog,
        &dbio_innodb_change_buffer_merge,
        &dbio_innodb_lru_flush,
        &dbio_innodb_page_cleaner,
        &dbio_innodb_page_read,
        &dbio_innodb_purge,
        &dbio_innodb_recovery,
        &dbio_innodb_redo_log,
        &dbio_innodb_scan,
        &dbio_io_random,
        &dbio_io_sequential,
        &dbio_myisam_insert,
        &dbio_myisam_scan,
        &dbio_oltp_transaction,
        &dbio_oracle_arch,
        &dbio_oracle_dbwr,
        &dbio_oracle_lgwr,
        &dbio_oracle_multiblock_read,
        &dbio_oracle_sequential_read,
        &dbio_postgres_bgwriter,
        &dbio_postgres_checkpoint,
        &dbio_postgres_seq_scan,
        &dbio_postgres_wal,
        &dbio_sqlserver_backup,
        &dbio_sqlserver_bulk_load,
        &dbio_sqlserver_checkdb,
        &dbio_sqlserver_checkpoint,
        &dbio_sqlserver_columnstore_scan,
        &dbio_sqlserver_file_init,
        &dbio_sqlserver_index_build,
        &dbio_sqlserver_lazy_writer,
        &dbio_sqlserver_log_read,
        &dbio_sqlserver_log_write,
        &dbio_sqlserver_lookup,
        &dbio_sqlserver_random_read,
        &dbio_sqlserver_recovery,
        &dbio_sqlserver_restore,
        &dbio_sqlserver_scan,
        &dbio_sqlserver_spill,
        NULL,
};

const struct dbio_pattern *dbio_pattern_find(const char *name)
{
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++)
                if (!strcmp((*pattern)->name, name))
                        return *pattern;
        return NULL;
}

const char *const dbio_sqlserver_versions[] = {"2019", "2000", "2005", "2008", "2012", "2016", "2022", NULL};
const char *const dbio_innodb_versions[] = {"8.4", "5.6", "5.7", "8.0", NULL};

int dbio_pattern_fault(struct dbio_err *err, const char *key, const char *what)
{
        dbio_err_set(err, DBIO_USAGE, "%s: %s", key, what);
        if (err)
                snprintf(err->path, sizeof err->path, "%s", key);
        return -1;
}

int dbio_stream_one_source(struct dbio_stream *out, struct dbio_source *source, struct dbio_err *err)
{
        out->sources = malloc(sizeof *out->sources);
        if (!out->sources)
                return dbio_err_set(err, DBIO_IO, "no memory: %s", strerror(ENOMEM));
        out->sources[0] = source;
        out->nsources = out->threads = 1;
        out->depth = 0;
        return 0;
}

bool dbio_never_ends(const struct dbio_stream_keys *keys, const void *config)
{
        (void)keys;
        (void)config;
        return false;
}
