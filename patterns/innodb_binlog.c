/* MySQL's binary log: the group that the redo log has made durable is appended and fsynced, so that a commit pays two
 * fsyncs one after the other. */
#include <math.h>

#include "patterns/logtail.h"

struct config {
        uint64_t sync_binlog;
        int commits_of;
        struct dbio_dist bytes;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"sync_binlog", DBIO_FIELD_COUNT, AT(sync_binlog), "1", 0, 4294967295.0,
         "fsync after so many groups; 0 = never, the kernel writes it back", "sync_binlog; 0 in 5.6, 1 from 5.7", 0,
         NULL, NULL},
        {"commits_of", DBIO_FIELD_STREAM, AT(commits_of), NULL, 0, 0,
         "the innodb.redo_log stream whose commits go on to this log", "ordered_commit in sql/binlog.cc",
         DBIO_FIELD_REQUIRED, NULL, NULL},
        {"bytes_per_commit", DBIO_FIELD_DIST, AT(bytes), NULL, 1, 1 << 30,
         "bytes a commit adds to the binlog; not given: as many as it added to the redo log", "judgement", 0, NULL,
         NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {506, "sync_binlog", "0"},
        {507, "sync_binlog", "1"},
        {0},
};

#define MAX_BINLOG_SIZE (1u << 30)

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        const struct dbio_geometry *target = &env->targets[keys->target];
        struct dbio_stream *redo = env->other(env, config->commits_of);
        struct dbio_logtail_spec spec = {
                .plan = {.rate = {NAN, NAN, 0}, .sessions = DBIO_UNSET, .bytes = config->bytes},
                .style = DBIO_LOG_LEADER,
                .view = DBIO_VIEW_DEVICE,
                .role = DBIO_ROLE_BINLOG,
                .block = 4096, /* IO_SIZE, and the page cache's */
                .length = UINT64_MAX,
                .segments = (unsigned)(target->file_size * target->nfiles / MAX_BINLOG_SIZE) + 1,
                .lazy_ns = 5000000000u, /* vm.dirty_writeback_centisecs */
                .sync_every = config->sync_binlog > UINT32_MAX ? UINT32_MAX : (unsigned)config->sync_binlog,
        };

        if (!redo || !redo->log)
                return dbio_pattern_fault(err, "commits_of", "must be a log stream that runs in the same phase");
        if (dbio_logtail_compile(env, keys, &spec, sizeof(struct dbio_logtail), out, err))
                return -1;
        return dbio_log_chain(redo->log, out->log, err);
}

const struct dbio_pattern dbio_innodb_binlog = {
        .name = "innodb.binlog",
        .summary = "Binary log: an append and an fsync for each group that the redo log has made durable",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_COMMITS,
        .role = "binlog",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.binlog, target: binlog, commits_of: redo}",
        .compile = compile,
};
