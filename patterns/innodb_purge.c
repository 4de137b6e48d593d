/* InnoDB's purge: undo pages in the order of their log, and for each the pages of the rows that it deletes for good. */
#include <math.h>

#include "patterns/dist.h"
#include "patterns/pace.h"
#include "patterns/random.h"

struct config {
        uint64_t page, purge_threads, purge_batch_size;
        double rate, leaf_reads;
};

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"page", DBIO_FIELD_SIZE, AT(page), "16K", 4096, 65536, "bytes of a page", "innodb_page_size",
         DBIO_FIELD_POWER_OF_TWO, NULL, NULL},
        {"purge_threads", DBIO_FIELD_COUNT, AT(purge_threads), "4", 1, 32,
         "threads that purge; 1 in 5.6, and in 8.4 on up to 16 CPUs", "innodb_purge_threads", 0, NULL, NULL},
        {"purge_batch_size", DBIO_FIELD_COUNT, AT(purge_batch_size), "300", 1, 5000, "undo pages of a batch",
         "innodb_purge_batch_size", 0, NULL, NULL},
        {"rate", DBIO_FIELD_RATE, AT(rate), NULL, 0, 0,
         "undo pages a second, a batch at a time; without it the threads purge without pause", "judgement",
         DBIO_FIELD_POSITIVE, NULL, NULL},
        {"leaf_reads", DBIO_FIELD_FACTOR, AT(leaf_reads), "2", 0, 1000,
         "pages of secondary and clustered indexes that an undo page's records miss, on average", "judgement", 0, NULL,
         NULL},
        {0},
};

static const struct dbio_preset presets[] = {{506, "purge_threads", "1"}, {507, "purge_threads", "4"}, {0}};

struct purger {
        struct dbio_source base;
        struct dbio_rng rng;
        struct dbio_slots slots;
        uint64_t undo;       /* slot of the next undo page */
        uint64_t pages;      /* undo pages read so far */
        uint64_t batch;      /* of this thread */
        double batch_gap_ns; /* 0 = no pause */
        double leaf_reads, owed;
        uint64_t due_ns;
        uint16_t target;
};

static unsigned fill(struct dbio_source *base, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct purger *self = (struct purger *)base;

        (void)now_ns;
        for (unsigned n = 0; n < max; n++) {
                uint64_t slot;

                if (self->owed >= 1) {
                        self->owed -= 1;
                        slot = dbio_rng_below(&self->rng, self->slots.n);
                } else {
                        if (self->batch_gap_ns > 0 && self->pages % self->batch == 0)
                                self->due_ns = (uint64_t)((double)(self->pages / self->batch) * self->batch_gap_ns);
                        self->pages++;
                        self->owed += self->leaf_reads;
                        slot = self->undo;
                        self->undo = (self->undo + 1) % self->slots.n;
                }
                ops[n] = (struct dbio_op){
                        .offset = dbio_slots_offset(&self->slots, slot),
                        .due_ns = self->due_ns,
                        .length = (uint32_t)self->slots.size,
                        .target = self->target,
                        .thread = base->thread,
                        .kind = DBIO_READ,
                        .role = DBIO_ROLE_PURGE,
                };
        }
        return max;
}

static const struct dbio_source_class class = {.fill = fill, .free = dbio_source_free};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *opaque,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *config = opaque;
        unsigned n = (unsigned)config->purge_threads;
        bool paced = dbio_is_set(config->rate);
        struct dbio_space space;

        if (dbio_space_init(&space, &keys->region, &env->targets[keys->target], config->page, config->page, err) ||
            dbio_stream_add_sources(out, n, sizeof(struct purger), &class, err))
                return -1;
        out->threads = n;
        out->depth = 1; /* a purge thread reads one page at a time */
        out->max_length = (uint32_t)config->page;
        out->load = paced ? config->rate * (1 + config->leaf_reads) : 0;
        if (paced)
                out->flags |= DBIO_STREAM_TIMED;
        if (!paced || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        dbio_stream_add_use(out, keys->target, true, false, &space);
        for (unsigned i = 0; i < n; i++) {
                struct purger *self = (struct purger *)out->sources[i];

                dbio_slots_init(&self->slots, &space, config->page);
                dbio_rng_init(&self->rng, dbio_pattern_seed(env, i));
                self->undo = dbio_rng_below(&self->rng, self->slots.n);
                self->target = (uint16_t)keys->target;
                self->leaf_reads = config->leaf_reads;
                self->batch = (config->purge_batch_size + n - 1) / n;
                self->batch_gap_ns = paced ? (double)(self->batch * n) / config->rate * 1e9 : 0;
                self->due_ns = paced ? 0 : DBIO_NO_DUE;
        }
        return 0;
}

const struct dbio_pattern dbio_innodb_purge = {
        .name = "innodb.purge",
        .summary = "Purge: undo pages in order, and random index pages for their records",
        .rev = 1,
        .keys = DBIO_KEYS_VERSION,
        .role = "purge",
        .versions = dbio_innodb_versions,
        .fields = fields,
        .presets = presets,
        .config_size = sizeof(struct config),
        .example = "{pattern: innodb.purge, target: data, rate: 300/s}",
        .compile = compile,
};
