/* MyISAM: a full scan of a data file through a cache of read_buffer_size. Table locks are not modelled. */
#include "patterns/seqscan.h"

struct config {
        struct dbio_due_keys due;
        uint64_t read_buffer_size, pages;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"read_buffer_size", DBIO_FIELD_SIZE, AT(read_buffer_size), "128K", 8192, 16777216,
         "bytes a read; reads are buffered and follow each other", "read_buffer_size; mysys IO_CACHE", 0, NULL, NULL},
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
                .read_bytes = config->read_buffer_size,
                .read_key = "read_buffer_size",
                .reads = 1,
        };

        return dbio_seqscan_compile(env, keys, &spec, out, err);
}

const struct dbio_pattern dbio_myisam_scan = {
        .name = "myisam.scan",
        .summary = "Full scan of a data file: buffered 128K reads, one after the other; table locks are not modelled",
        .rev = 1,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "read_ahead",
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: myisam.scan, target: data, pages: 100_000}",
        .check = dbio_due_check,
        .compile = compile,
        .ends = dbio_due_ends,
};
