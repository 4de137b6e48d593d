#include "patterns/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By name; declared here, as nothing else may know them. */
#define PATTERNS(X) \
        X(innodb_binlog) \
        X(innodb_change_buffer_merge) \
        X(innodb_lru_flush) \
        X(innodb_page_cleaner) \
        X(innodb_page_read) \
        X(innodb_purge) \
        X(innodb_recovery) \
        X(innodb_redo_log) \
        X(innodb_scan) \
        X(io_random) \
        X(io_sequential) \
        X(myisam_insert) \
        X(myisam_scan) \
        X(oltp_transaction) \
        X(oracle_arch) \
        X(oracle_dbwr) \
        X(oracle_lgwr) \
        X(oracle_multiblock_read) \
        X(oracle_sequential_read) \
        X(postgres_bgwriter) \
        X(postgres_checkpoint) \
        X(postgres_seq_scan) \
        X(postgres_wal) \
        X(sqlserver_backup) \
        X(sqlserver_bulk_load) \
        X(sqlserver_checkdb) \
        X(sqlserver_checkpoint) \
        X(sqlserver_columnstore_scan) \
        X(sqlserver_file_init) \
        X(sqlserver_index_build) \
        X(sqlserver_lazy_writer) \
        X(sqlserver_log_read) \
        X(sqlserver_log_write) \
        X(sqlserver_lookup) \
        X(sqlserver_random_read) \
        X(sqlserver_recovery) \
        X(sqlserver_restore) \
        X(sqlserver_scan) \
        X(sqlserver_spill)
#define DECLARE(name) extern const struct dbio_pattern dbio_##name;
#define ENTRY(name)   &dbio_##name,
PATTERNS(DECLARE)

const struct dbio_pattern *const dbio_patterns[] = {PATTERNS(ENTRY) NULL};

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
