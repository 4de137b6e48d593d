/* SQL Server's log writer: commits that wait for one flush share a log block. */
#include "patterns/logblocks.h"

struct config {
        struct dbio_commit_keys commits;
        uint64_t sector, max_block, max_outstanding, writers, vlfs;
        bool delayed_durability;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        DBIO_COMMIT_FIELDS(struct config, commits, "{lognormal: {median: 400, sigma: 0.8}}",
                           "ProcMon captures of production: almost all log writes under 1 KB; sigma a judgement"),
        {"sector", DBIO_FIELD_SIZE, AT(sector), "auto", 512, 4096,
         "unit of a log block's size and place: 512 or 4096; auto = the target's",
         "SQL Server I/O Basics; trace flag 1800 for 4096 on 512", DBIO_FIELD_SECTOR, NULL, NULL},
        {"max_block", DBIO_FIELD_SIZE, AT(max_block), "60K", 512, 65536, "largest log block",
         "Trimming the Transaction Log Fat (Randal): 60 KB", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"max_outstanding", DBIO_FIELD_COUNT, AT(max_outstanding), "112", 1, 1024,
         "log writes in flight of one database; 32 before 2012",
         "Trimming the Transaction Log Fat (Randal): 32 up to 2008 R2, 112 from 2012", 0, NULL, NULL},
        {"writers", DBIO_FIELD_COUNT, AT(writers), "1", 1, 8,
         "log writer threads: commits that wait at one time are spread over up to so many blocks",
         "1 up to 2014, up to 4 (8) later with NUMA; the spreading a judgement", 0, NULL, NULL},
        {"delayed_durability", DBIO_FIELD_BOOL, AT(delayed_durability), "no", 0, 0,
         "commits return at once; a block is written when full, when a data page needs it, or after 100 ms",
         "Control Transaction Durability; the time a judgement", 0, NULL, NULL},
        {"vlfs", DBIO_FIELD_COUNT, AT(vlfs), "8", 1, 10000,
         "virtual log files, equal parts of the log that no block crosses", "judgement", 0, NULL, NULL},
        {0},
};

static const struct dbio_preset presets[] = {
        {2000, "max_outstanding", "32"},
        {2012, "max_outstanding", "112"},
        {0},
};

static struct dbio_commit_plan plan_of(const struct config *config)
{
        struct dbio_commit_plan plan = dbio_commit_plan_of(&config->commits);

        plan.lazy = config->delayed_durability;
        return plan;
}

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_commit_plan plan = plan_of(config);

        (void)keys;
        if (dbio_commit_plan_check(&plan, err))
                return -1;
        if (config->sector && config->sector != 512 && config->sector != 4096)
                return dbio_pattern_fault(err, "sector", "must be auto, 512 or 4096");
        if (config->max_block % (config->sector ? config->sector : 512))
                return dbio_pattern_fault(err, "max_block", "must be a multiple of the sector");
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_logblocks_spec spec = {
                .plan = plan_of(config),
                .sector = (uint32_t)config->sector,
                .max_block = (uint32_t)config->max_block,
                .max_outstanding = (unsigned)config->max_outstanding,
                .writers = (unsigned)config->writers,
                .segments = (unsigned)config->vlfs,
                .length = UINT64_MAX,
        };

        return dbio_logblocks_compile(env, keys, &spec, out, err);
}

const struct dbio_pattern dbio_sqlserver_log_write = {
        .name = "sqlserver.log_write",
        .summary = "Log writer: blocks of 512 bytes to 60K, group commit, a ring of VLFs",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_COMMITS,
        .role = "log",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.log_write, target: log, commit_rate: 2000/s,\n"
                   " bytes_per_commit: {lognormal: {median: 400, sigma: 0.8}}}",
        .write_through = true,
        .check = check,
        .compile = compile,
};
