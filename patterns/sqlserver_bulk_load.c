#include <math.h>
#include <stdlib.h>

#include "patterns/flow.h"

struct config {
        double rate;
        uint64_t io, interleave, batch, log_bytes_per_extent, bytes_per_row;
        int log, from;
};

#define EXTENT 65536u
#define SOURCE_IO (256u * 1024)  /* bytes a read of the source; judgement */
#define SOURCE_AHEAD 2           /* source reads ahead of what is loaded; judgement */
#define LOADER_WRITES 8          /* writes that a loader may have in flight: its ring of dirty pages is not endless; judgement */

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"rate", DBIO_FIELD_BYTE_RATE, AT(rate), NULL, 0, 0,
         "bytes a second of the whole stream; as fast as the writes go unless given", "judgement",
         DBIO_FIELD_POSITIVE | DBIO_FIELD_NONE, NULL, NULL},
        {"io", DBIO_FIELD_SIZE, AT(io), "256K", 8192, 1 << 20, "most bytes in one eager write: 8K, 64K, 128K, 256K or 1M",
         "published tables: 128 KB (2005), 256 KB and 1 MB (2016)", 0, NULL, NULL},
        {"interleave", DBIO_FIELD_SIZE, AT(interleave), "64K", 8192, 1 << 30,
         "bytes that a loader is allocated at once; loaders side by side alternate at this size",
         "Microsoft, Pages and Extents: extents of 64 KB", 0, NULL, NULL},
        {"batch", DBIO_FIELD_SIZE, AT(batch), NULL, 0, 0, "bytes a loader commits at once; no commits unless given",
         "judgement", DBIO_FIELD_POSITIVE | DBIO_FIELD_NONE, NULL, NULL},
        {"log", DBIO_FIELD_TARGET, AT(log), NULL, 0, 0, "target of the log that commits are flushed to", "judgement", 0, NULL,
         NULL},
        {"log_bytes_per_extent", DBIO_FIELD_SIZE, AT(log_bytes_per_extent), "256", 0, 1 << 20,
         "log bytes for each extent allocated: minimal logging", "judgement", 0, NULL, NULL},
        {"from", DBIO_FIELD_TARGET, AT(from), NULL, 0, 0, "target that the rows are read from, ahead of the writes",
         "judgement", 0, NULL, NULL},
        {"bytes_per_row", DBIO_FIELD_SIZE, AT(bytes_per_row), "130", 1, 8060, "for the gauge rows_loaded",
         "the 1 TB load: rows of about 130 bytes", 0, NULL, NULL},
        {0},
};

static int check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct config *c = config;

        (void)keys;
        if (c->batch != DBIO_UNSET && c->log < 0)
                return dbio_key_error(err, "batch", "batch needs log, the target that commits go to");
        if (c->io != 8 << 10 && c->io != 64 << 10 && c->io != 128 << 10 && c->io != 256 << 10 && c->io != 1 << 20)
                return dbio_key_error(err, "io", "8K, 64K, 128K, 256K or 1M is right");
        if (c->interleave % 8192)
                return dbio_key_error(err, "interleave", "must be whole pages of 8K");
        return 0;
}

struct run {
        uint64_t from, to; /* allocated and loaded, not written yet */
};

struct loader {
        struct dbio_log_out log; /* its commit; own writes go by the stream's */
        struct run *runs;        /* by file */
        uint64_t broken_from, broken_to; /* a run that ended before io, to be written next */
        uint64_t loaded, committed;      /* bytes */
        uint64_t source_from, source_to, source_at, asked, read;
        unsigned writes, file;
};

struct load {
        struct dbio_flow flow;
        const struct config *config;
        struct dbio_log_out log;
        struct loader *loaders;
        unsigned nloaders, turn;
        struct dbio_stripe stripe;
        struct dbio_space source;
        uint64_t allocated;      /* units, by all */
        double ns_per_unit;      /* of one loader; 0 = as fast as it goes */
        uint64_t begin_ns;
        uint16_t target;
        uint8_t write_flags;
};

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        ((struct load *)flow)->begin_ns = begin_ns;
}

/* When a loader's next unit of rows is there. */
static uint64_t unit_due(const struct load *load, const struct loader *loader)
{
        uint64_t n = loader->loaded / load->config->interleave + 1;
        double stagger = (double)(loader - load->loaders + 1) / load->nloaders; /* in turn, the last one with its whole unit */

        return load->begin_ns + (uint64_t)(((double)n - 1 + stagger) * load->ns_per_unit);
}

static void give_write(struct load *load, struct loader *loader, uint64_t from, uint64_t to, struct dbio_op *op)
{
        op->kind = DBIO_WRITE;
        op->role = DBIO_ROLE_EAGER_WRITE;
        op->target = load->target;
        op->thread = (uint16_t)(loader - load->loaders);
        op->flags = load->write_flags;
        op->offset = from;
        op->length = (uint32_t)(to - from);
        loader->writes++;
}

/* Allocates the loader's next unit and adds it to the run of its file. */
static void allocate(struct load *load, struct loader *loader)
{
        uint64_t at = dbio_stripe_offset(&load->stripe, load->allocated++), end = at + load->config->interleave;

        loader->file = (unsigned)(at / load->stripe.space.file_size - load->stripe.first_file);
        struct run *run = &loader->runs[loader->file];
        if (run->to != at) {
                loader->broken_from = run->from;
                loader->broken_to = run->to;
                run->from = at;
        }
        run->to = end;
        loader->loaded += load->config->interleave;
        dbio_report_gauge(load->flow.base.report, "rows_loaded", load->flow.called_ns,
                          floor((double)load->allocated * (double)load->config->interleave /
                                (double)load->config->bytes_per_row));
}

/* A write that is due now, of a broken run or of one that has io bytes. */
static bool write_ready(struct load *load, struct loader *loader, struct dbio_op *op)
{
        struct run *run = &loader->runs[loader->file];

        if (loader->broken_from < loader->broken_to) {
                give_write(load, loader, loader->broken_from, loader->broken_to, op);
                loader->broken_from = loader->broken_to;
                return true;
        }
        if (run->to - run->from < load->config->io)
                return false;
        give_write(load, loader, run->from, run->from + load->config->io, op);
        run->from += load->config->io;
        return true;
}

static bool read_source(struct load *load, struct loader *loader, struct dbio_op *op)
{
        if (load->config->from < 0 || loader->asked >= loader->loaded + (uint64_t)SOURCE_AHEAD * SOURCE_IO)
                return false;
        if (loader->source_at + SOURCE_IO > loader->source_to)
                loader->source_at = loader->source_from;
        op->kind = DBIO_READ;
        op->role = DBIO_ROLE_SOURCE;
        op->target = (uint16_t)load->config->from;
        op->thread = (uint16_t)(loader - load->loaders);
        op->offset = dbio_space_fit(&load->source, loader->source_at, SOURCE_IO);
        op->length = SOURCE_IO;
        loader->source_at = op->offset + SOURCE_IO;
        loader->asked += SOURCE_IO;
        return true;
}

static bool put_commit(struct load *load, struct loader *loader, uint64_t now_ns, struct dbio_op *op)
{
        uint64_t extents = (loader->loaded - loader->committed + EXTENT - 1) / EXTENT;
        uint64_t bytes = extents * load->config->log_bytes_per_extent;

        bytes = bytes < 1 ? 1 : bytes > 60 << 10 ? 60 << 10 : bytes;
        loader->committed = loader->loaded;
        if (load->log.log)
                return dbio_log_out_put(&loader->log, now_ns, (uint32_t)bytes, op);
        loader->log.waiting++;
        dbio_log_out_put(&load->log, now_ns, (uint32_t)bytes, op);
        op->thread = (uint16_t)(loader - load->loaders);
        return true;
}

/* What a loader does next; false where it has to wait. */
static bool step(struct load *load, struct loader *loader, uint64_t now_ns, struct dbio_op *op)
{
        const struct config *c = load->config;

        if (read_source(load, loader, op))
                return true;
        for (;;) {
                if (loader->writes < LOADER_WRITES && write_ready(load, loader, op))
                        return true;
                if (loader->log.waiting || loader->writes >= LOADER_WRITES)
                        return false;
                if (c->batch != DBIO_UNSET && loader->loaded - loader->committed >= c->batch) {
                        if (put_commit(load, loader, now_ns, op))
                                return true;
                        return false;
                }
                if (c->from >= 0 && loader->read < loader->loaded + c->interleave)
                        return false;
                if (load->ns_per_unit > 0) {
                        uint64_t due = unit_due(load, loader);

                        if (due > now_ns)
                                return false;
                        if (due > load->flow.called_ns)
                                op->due_ns = load->flow.called_ns = due;
                }
                allocate(load, loader);
        }
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct load *load = (struct load *)flow;

        for (unsigned i = 0; i < load->nloaders; i++) {
                struct loader *loader = &load->loaders[load->turn];

                load->turn = load->turn + 1 < load->nloaders ? load->turn + 1 : 0;
                if (step(load, loader, now_ns, op))
                        return DBIO_FLOW_OP;
        }
        return DBIO_FLOW_WAIT;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct load *load = (struct load *)flow;
        struct loader *loader = &load->loaders[op->thread];

        (void)done;
        if (op->role == DBIO_ROLE_LOG)
                loader->log.waiting--;
        else if (op->role == DBIO_ROLE_SOURCE)
                loader->read += op->length;
        else
                loader->writes--;
}

static uint64_t wake(struct dbio_flow *flow)
{
        struct load *load = (struct load *)flow;
        uint64_t at = UINT64_MAX;

        if (!flow->running || load->ns_per_unit <= 0)
                return UINT64_MAX;
        for (unsigned i = 0; i < load->nloaders; i++) {
                struct loader *loader = &load->loaders[i];

                if (loader->writes < LOADER_WRITES && !loader->log.waiting && unit_due(load, loader) < at &&
                    (load->config->from < 0 || loader->read >= loader->loaded + load->config->interleave))
                        at = unit_due(load, loader);
        }
        return at;
}

static void release(struct dbio_flow *flow)
{
        struct load *load = (struct load *)flow;

        for (unsigned i = 0; load->loaders && i < load->nloaders; i++)
                free(load->loaders[i].runs);
        free(load->loaders);
}

static const struct dbio_flow_class class = {begin, next, done, NULL, wake, NULL, release};

static int make_loaders(struct load *load, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                        struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = load->config;
        uint64_t part = 0;

        load->nloaders = (unsigned)keys->threads;
        load->loaders = calloc(load->nloaders, sizeof *load->loaders);
        if (!load->loaders)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        if (c->from >= 0) {
                if (dbio_pattern_space(&load->source, env, c->from, NULL, SOURCE_IO, err))
                        return -1;
                part = (load->source.to - load->source.from) / load->nloaders / SOURCE_IO * SOURCE_IO;
                if (!part)
                        return dbio_err_set(err, DBIO_USAGE, "from: the target is too small for %u loaders", load->nloaders);
                dbio_stream_add_use(out, c->from, true, false, &load->source);
        }
        for (unsigned i = 0; i < load->nloaders; i++) {
                struct loader *loader = &load->loaders[i];

                loader->runs = calloc(load->stripe.files, sizeof *loader->runs);
                if (!loader->runs)
                        return dbio_err_set(err, DBIO_BUG, "no memory");
                loader->source_from = loader->source_at = load->source.from + i * part;
                loader->source_to = loader->source_from + part;
                loader->log = load->log;
        }
        return 0;
}

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, DBIO_DUE_ONCE, 0};
        struct dbio_space space;

        if (dbio_flow_new(out, sizeof(struct load), &plan, env, err))
                return -1;
        struct load *load = (struct load *)out->sources[0];
        load->flow.continuous = true;
        out->flags &= ~(unsigned)DBIO_STREAM_EPISODES;
        if (!dbio_is_set(c->rate) || env->duration_ns == UINT64_MAX)
                out->flags |= DBIO_STREAM_ENDLESS;
        load->config = c;
        load->target = (uint16_t)keys->target;
        load->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dbio_is_set(c->rate))
                load->ns_per_unit = (double)c->interleave * (double)keys->threads / c->rate * 1e9;
        if (dbio_pattern_space(&space, env, keys->target, &keys->region, c->interleave, err))
                return -1;
        dbio_stripe_init(&load->stripe, &space, c->interleave);
        dbio_stream_add_use(out, keys->target, false, true, &space);
        out->max_length = (uint32_t)c->io > SOURCE_IO ? (uint32_t)c->io : SOURCE_IO;
        if (dbio_log_out_init(&load->log, &load->flow, env, out, c->log, (unsigned)keys->threads, 60 << 10, err) ||
            make_loaders(load, env, keys, out, err))
                return -1;
        out->threads = load->nloaders;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_bulk_load = {
        .name = "sqlserver.bulk_load",
        .summary = "Bulk load: eager writes of new extents by parallel loaders, a log flush a batch",
        .rev = 2,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION | DBIO_KEYS_THREADS,
        .flags = DBIO_STREAM_REACTIVE,
        .role = "eager_write",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.bulk_load, target: data, threads: 8, rate: 200MiB/s, batch: 1M, log: log}",
        .write_through = true,
        .check = check,
        .compile = compile,
        .ends = dbio_never_ends,
};
