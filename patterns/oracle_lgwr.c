/* Oracle's log writer: all redo that waits goes out in one write, to all members of the group at once. */
#include "patterns/common.h"
#include "patterns/logblocks.h"

struct config {
        struct dbio_commit_keys commits;
        uint64_t redo_log_size;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        DBIO_COMMIT_FIELDS(struct config, commits, "{lognormal: {median: 600, sigma: 0.8}}",
                           "judgement; measure redo size / user commits"),
        {"redo_log_size", DBIO_FIELD_SIZE, AT(redo_log_size), NULL, 1048576, 1099511627776.0,
         "size of one redo log file; at its end comes a log switch; not given: half of the region, or a quarter from "
         "4G on",
         "Database Administrator's Guide: at least two groups", 0, NULL, NULL},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        struct dbio_commit_plan plan = dbio_commit_plan_of(&((const struct config *)opaque)->commits);

        (void)keys;
        return dbio_commit_plan_check(&plan, err);
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        uint64_t all, size = config->redo_log_size;
        struct dbio_space space;
        struct dbio_logblocks_spec spec = {
                .plan = dbio_commit_plan_of(&config->commits),
                .header = 16,          /* of each block: Steve Adams, redo write size */
                .max_block = 1u << 20, /* _log_io_size: 1 MB pending */
                .max_outstanding = 1,
                .writers = 1,
                .length = UINT64_MAX,
        };

        if (dbio_pattern_space(&space, env, keys->target, &keys->region, 4096, err))
                return -1;
        all = space.to - space.from;
        if (size == DBIO_UNSET)
                size = all / (all >= (uint64_t)4 << 30 ? 4 : 2);
        if (size > all / 2)
                return dbio_pattern_fault(err, "redo_log_size", "its target or region must hold at least two of them");
        spec.segments = (unsigned)(all / size);
        spec.length = spec.segments * size;
        while (spec.max_block > size / 4)
                spec.max_block /= 2;
        return dbio_logblocks_compile(env, keys, &spec, out, err);
}

const struct dbio_pattern dbio_oracle_lgwr = {
        .name = "oracle.lgwr",
        .summary = "Log writer: log file parallel write (its writes' service), log file sync (its commits' response)",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_MEMBERS,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_COMMITS,
        .role = "log",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: oracle.lgwr, target: [redo-a, redo-b], sessions: 200, think: 50ms}",
        .write_through = true,
        .check = check,
        .compile = compile,
};
