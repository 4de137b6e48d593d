/* InnoDB's redo log: 512-byte blocks through the page cache, made durable by fsync. */
#include <math.h>

#include "patterns/common.h"
#include "patterns/logtail.h"

struct config {
        struct dbio_ramp commit_rate;
        struct dbio_commit_keys commits;
        uint64_t flush_log_at_trx_commit, log_write_ahead_size, redo_log_capacity;
        int view;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"commit_rate", DBIO_FIELD_RAMP, AT(commit_rate), NULL, 0, 0,
         "open loop: commits a second, or a ramp {from, to, over}", "judgement: no default", DBIO_FIELD_POSITIVE, NULL,
         NULL},
        DBIO_COMMIT_FIELDS_(struct config, commits, "{lognormal: {median: 600, sigma: 0.8}}",
                            "judgement: 200 bytes to 2 KiB a row changed; measure Innodb_os_log_written / Com_commit"),
        {"flush_log_at_trx_commit", DBIO_FIELD_COUNT, AT(flush_log_at_trx_commit), "1", 0, 2,
         "1: fsync for each commit, shared by those that wait; 0 and 2: once a second, commits do not wait",
         "innodb_flush_log_at_trx_commit", 0, NULL, NULL},
        {"log_write_ahead_size", DBIO_FIELD_SIZE, AT(log_write_ahead_size), "8192", 0, 65536,
         "the first write into each such block is padded to its end, so that nothing is read back; 0 before 5.7",
         "innodb_log_write_ahead_size; log0write.cc", 0, NULL, NULL},
        {"redo_log_capacity", DBIO_FIELD_SIZE, AT(redo_log_capacity), NULL, 4194304, 549755813888.0,
         "bytes of the ring; not given: 96M in 2 files (to 8.0), 100M in 32 files (8.4), or the region where that is "
         "less",
         "innodb_log_file_size × innodb_log_files_in_group, innodb_redo_log_capacity", 0, NULL, NULL},
        {"view", DBIO_FIELD_ENUM, AT(view), "device", 0, 0,
         "device: what fsync writes to the device, in 4K blocks; syscall: each write() of InnoDB",
         "the redo log is never O_DIRECT: os0file.cc", 0, dbio_log_view_names, NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {506, "log_write_ahead_size", "0"},
        {507, "log_write_ahead_size", "8192"},
        {0},
};

static struct dbio_commit_plan plan_of(const struct config *config)
{
        struct dbio_commit_plan plan = dbio_commit_plan_of(&config->commits);

        plan.rate = config->commit_rate;
        plan.lazy = config->flush_log_at_trx_commit != 1;
        return plan;
}

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_commit_plan plan = plan_of(config);

        (void)keys;
        if (dbio_commit_plan_check(&plan, err))
                return -1;
        if (config->log_write_ahead_size & (config->log_write_ahead_size - 1) ||
            (config->log_write_ahead_size && config->log_write_ahead_size < 512))
                return dbio_pattern_fault(err, "log_write_ahead_size", "must be 0 or a power of two from 512");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        bool many_files = keys->version >= 804;
        uint64_t capacity = config->redo_log_capacity;
        struct dbio_logtail_spec spec = {
                .plan = plan_of(config),
                .style = keys->version >= 800 ? DBIO_LOG_WRITER : DBIO_LOG_LEADER,
                .view = (enum dbio_log_view)config->view,
                .role = DBIO_ROLE_LOG,
                .block = 512,
                .header = 16, /* 12 before, 4 after: log0constants.h */
                .write_ahead = (uint32_t)config->log_write_ahead_size,
                .ready = 4096, /* innodb_log_write_max_size */
                .length = capacity != DBIO_UNSET ? capacity
                          : many_files           ? 100u << 20
                                                 : 96u << 20,
                .segments = many_files ? 32 : 2,
                .part_header = 2048,
                /* log0chkp.cc: each second while there is something new; before 8.0 the master thread's 7 seconds, and
                 * always in the first file. */
                .checkpoint_ns = keys->version >= 800 ? 1000000000u : 7000000000u,
                .checkpoint_first = keys->version < 800,
                .lazy_ns = 1000000000u, /* innodb_flush_log_at_timeout */
                .sync_every = 1,
                .datasync = many_files, /* innodb_use_fdatasync */
        };
        struct dbio_space space;

        if (dbio_pattern_space(&space, env, keys->target, &keys->region, 4096, err))
                return -1;
        if (capacity != DBIO_UNSET && capacity > space.to - space.from)
                return dbio_pattern_fault(err, "redo_log_capacity", "is more than its target or region has");
        return dbio_logtail_compile(env, keys, &spec, sizeof(struct dbio_logtail), out, err);
}

const struct dbio_pattern dbio_innodb_redo_log = {
        .name = "innodb.redo_log",
        .summary = "Redo log: 512-byte blocks, tail rewritten, write-ahead padding, group commit by fsync",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_COMMITS,
        .role = "log",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.redo_log, target: redo, sessions: 64, think: 5ms}",
        .check = check,
        .compile = compile,
};
