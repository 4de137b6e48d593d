/* PostgreSQL's write-ahead log: a leader writes what has been inserted and fsyncs it, the others wait and look again.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "patterns/flow.h"
#include "patterns/logtail.h"
#include "patterns/rng.h"

#define BLOCK   8192u
#define SEGMENT (16u << 20)

struct config {
        struct dbio_commit_keys commits;
        bool full_page_writes;
        int checkpoint, view;
        uint64_t pages_per_commit, touched_pages;
};

struct wal {
        struct dbio_logtail tail;
        const struct dbio_stream *checkpoint;
        struct dbio_rng rng;
        uint64_t begun;
        double changes; /* of pages since the checkpoint began */
        uint64_t pages_per_commit;
        double touched_pages;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        DBIO_COMMIT_FIELDS(struct config, commits, "{lognormal: {median: 400, sigma: 0.8}}",
                           "judgement; measure pg_stat_wal wal_bytes less wal_fpi × 8K, by commits"),
        {"full_page_writes", DBIO_FIELD_BOOL, AT(full_page_writes), "yes", 0, 0,
         "the first change of a page after a checkpoint's begin logs its whole image; needs checkpoint",
         "full_page_writes", 0, NULL, NULL},
        {"checkpoint", DBIO_FIELD_STREAM, AT(checkpoint), NULL, 0, 0,
         "the postgres.checkpoint stream after whose begin the images are logged", "xloginsert.c", 0, NULL, NULL},
        {"pages_per_commit", DBIO_FIELD_COUNT, AT(pages_per_commit), "4", 1, 10000, "pages that a commit changes",
         "judgement: a row, its indexes and the visibility map", 0, NULL, NULL},
        {"touched_pages", DBIO_FIELD_COUNT, AT(touched_pages), "100_000", 1, 1e12,
         "pages over which the changes are spread evenly; the images decay as exp(-changes / touched_pages)",
         "judgement: 800 MB; pg_buffercache dirty pages", 0, NULL, NULL},
        {"view", DBIO_FIELD_ENUM, AT(view), "device", 0, 0,
         "device: what fdatasync writes to the device; syscall: each write()", "WAL is buffered: xlog.c", 0,
         dbio_log_view_names, NULL},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *opaque, struct dbio_err *err)
{
        struct dbio_commit_plan plan = dbio_commit_plan_of(&((const struct config *)opaque)->commits);

        (void)keys;
        return dbio_commit_plan_check(&plan, err);
}

/* The images of a commit's pages that it is the first to change since the checkpoint began. */
static uint32_t page_images(struct dbio_log *log, uint64_t arrived_ns)
{
        struct wal *self = (struct wal *)log->source;
        const struct dbio_flow *checkpoint = (const struct dbio_flow *)self->checkpoint->sources[0];
        uint32_t bytes = 0;

        (void)arrived_ns;
        if (checkpoint->begun != self->begun) {
                self->begun = checkpoint->begun;
                self->changes = 0;
        }
        /* Before the first checkpoint of the phase all pages have been changed since the one before. */
        if (!self->begun)
                return 0;
        for (uint64_t i = 0; i < self->pages_per_commit; i++, self->changes++)
                if (dbio_rng_unit(&self->rng) < exp(-self->changes / self->touched_pages))
                        bytes += BLOCK;
        return bytes;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_logtail_spec spec = {
                .plan = dbio_commit_plan_of(&config->commits),
                .style = DBIO_LOG_LEADER,
                .view = (enum dbio_log_view)config->view,
                .role = DBIO_ROLE_LOG,
                .block = BLOCK,
                .header = 24, /* SizeOfXLogShortPHD */
                .length = UINT64_MAX,
                .segments = 1,
                .sync_every = 1,
                .sync_segment = true,
                .datasync = true,
        };
        struct dbio_stream *checkpoint = config->checkpoint >= 0 ? env->other(env, config->checkpoint) : NULL;
        struct dbio_space space;
        struct wal *self;

        if (dbio_pattern_space(&space, env, keys->target, &keys->region, BLOCK, err))
                return -1;
        if (space.to - space.from > SEGMENT) {
                spec.segments = (unsigned)((space.to - space.from) / SEGMENT);
                spec.length = (uint64_t)spec.segments * SEGMENT;
        }
        if (config->checkpoint >= 0 && (!checkpoint || strcmp(checkpoint->pattern, "postgres.checkpoint")))
                return dbio_pattern_fault(err, "checkpoint", "must be a postgres.checkpoint stream of the same phase");
        if (dbio_logtail_compile(env, keys, &spec, sizeof *self, out, err))
                return -1;
        self = (struct wal *)out->sources[0];
        self->checkpoint = checkpoint;
        self->pages_per_commit = config->pages_per_commit;
        self->touched_pages = (double)config->touched_pages;
        dbio_rng_init(&self->rng, dbio_rng_seed(env->seed, env->phase, env->stream, DBIO_RNG_DIRTY));
        if (checkpoint && config->full_page_writes)
                self->tail.log.extra = page_images;
        return 0;
}

const struct dbio_pattern dbio_postgres_wal = {
        .name = "postgres.wal",
        .summary = "WAL: 8K pages, tail rewritten, group commit by fdatasync, full-page images after a checkpoint",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_COMMITS,
        .role = "log",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: postgres.wal, target: wal, sessions: 64, think: 5ms}",
        .check = check,
        .compile = compile,
};
