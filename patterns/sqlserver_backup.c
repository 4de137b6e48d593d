#include "patterns/backup.h"

struct config {
        struct dbio_due_keys due;
        int other; /* to, or from */
        uint64_t maxtransfersize, buffercount;
        double changed, compression_ratio;
};

#define AT(member) offsetof(struct config, member)

#define SHARED_FIELDS                                                                                                    \
        {"buffercount", DBIO_FIELD_COUNT, AT(buffercount), "6", 1, 1000, "buffers between reader and writer",            \
         "psssql, trace of a backup: 6 buffers of 1,024 KB", 0, NULL, NULL},                                             \
        {"compression_ratio", DBIO_FIELD_FACTOR, AT(compression_ratio), "1", 1, 1000,                                    \
         "bytes of the database for each byte of the backup", "judgement", 0, NULL, NULL},                               \
        DBIO_DUE_FIELDS(struct config, due, "one")

static const struct dbio_field backup_fields[] = {
        {"to", DBIO_FIELD_TARGET, AT(other), NULL, 0, 0, "target that the backup is written to", "judgement",
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"maxtransfersize", DBIO_FIELD_SIZE, AT(maxtransfersize), "1M", 65536, 4 << 20, "bytes a transfer, multiples of 64K",
         "psssql: 1 MB to disk", 0, NULL, NULL},
        {"changed", DBIO_FIELD_SHARE, AT(changed), "100%", 0, 1,
         "share of extents that have changed, for a differential backup", "Microsoft, Pages and Extents: differential map", 0,
         NULL, NULL},
        SHARED_FIELDS,
        {0},
};

static const struct dbio_field restore_fields[] = {
        {"from", DBIO_FIELD_TARGET, AT(other), NULL, 0, 0, "target that the backup is read from", "judgement",
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"maxtransfersize", DBIO_FIELD_SIZE, AT(maxtransfersize), "64K", 65536, 4 << 20, "bytes a transfer, multiples of 64K",
         "psssql: 64 KB at restore unless given", 0, NULL, NULL},
        SHARED_FIELDS,
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        if (c->maxtransfersize % 65536)
                return dbio_key_error(err, "maxtransfersize", "maxtransfersize must be a multiple of 64K");
        if (c->other == keys->target)
                return dbio_key_error(err, "target", "a backup cannot lie on the target itself");
        return 0;
}

static int compile_backup(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                          struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_copy_plan plan = {
                .from = keys->target,
                .to = c->other,
                .from_region = &keys->region,
                .io = c->maxtransfersize,
                .buffers = (unsigned)c->buffercount,
                .changed = c->changed,
                .compression = c->compression_ratio,
                .role = DBIO_ROLE_BACKUP,
                .due = c->due,
        };

        return dbio_copy_compile(env, keys, &plan, out, err);
}

static int compile_restore(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                           struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_copy_plan plan = {
                .from = c->other,
                .to = keys->target,
                .to_region = &keys->region,
                .io = c->maxtransfersize,
                .buffers = (unsigned)c->buffercount,
                .changed = 1,
                .compression = 1 / c->compression_ratio,
                .role = DBIO_ROLE_RESTORE,
                .due = c->due,
        };

        return dbio_copy_compile(env, keys, &plan, out, err);
}

const struct dbio_pattern dbio_sqlserver_backup = {
        .name = "sqlserver.backup",
        .summary = "Backup: the database read through, written to another target by a set of buffers",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "backup",
        .versions = dbio_sqlserver_versions,
        .fields = backup_fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.backup, target: data, to: backup}",
        .write_through = true,
        .check = check,
        .compile = compile_backup,
        .ends = dbio_due_ends,
};

const struct dbio_pattern dbio_sqlserver_restore = {
        .name = "sqlserver.restore",
        .summary = "Restore: a backup read through, written to the database by a set of buffers",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "restore",
        .versions = dbio_sqlserver_versions,
        .fields = restore_fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.restore, target: data, from: backup}",
        .write_through = true,
        .check = check,
        .compile = compile_restore,
        .ends = dbio_due_ends,
};
