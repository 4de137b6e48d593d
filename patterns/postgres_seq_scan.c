/* PostgreSQL's sequential scan: adjacent blocks in one read, more and more of them ahead. */
#include "patterns/seqscan.h"

struct config {
        struct dbio_due_keys due;
        uint64_t io_combine_limit, effective_io_concurrency, pages;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"io_combine_limit", DBIO_FIELD_SIZE, AT(io_combine_limit), "128K", 8192, 1048576, "largest read",
         "io_combine_limit", 0, NULL, NULL},
        {"effective_io_concurrency", DBIO_FIELD_COUNT, AT(effective_io_concurrency), "16", 1, 1000,
         "most reads in flight; 1 before 18. It begins at 1 and doubles with each read",
         "effective_io_concurrency; read_stream.c", 0, NULL, NULL},
        DBIO_SEQSCAN_PAGES(AT(pages)),
        DBIO_PASS_FIELDS(struct config, due),
        {0},
};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        struct dbio_seqscan_spec spec = {
                .due = config->due,
                .pages = config->pages,
                .read_bytes = config->io_combine_limit,
                .read_key = "io_combine_limit",
                .reads = (unsigned)config->effective_io_concurrency, /* doubling: read_stream_next_buffer */
        };

        return dbio_seqscan_compile(env, keys, &spec, out, err);
}

const struct dbio_pattern dbio_postgres_seq_scan = {
        .name = "postgres.seq_scan",
        .summary = "Sequential scan: 128K reads, up to 16 ahead",
        .rev = 1,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: postgres.seq_scan, target: data, pages: 100_000}",
        .check = dbio_due_check,
        .compile = compile,
        .ends = dbio_due_ends,
};
