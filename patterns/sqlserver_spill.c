#include <stdlib.h>

#include "patterns/flow.h"
#include "patterns/sortarea.h"

struct config {
        struct dbio_due_keys due;
        uint64_t run, io, fan_in, passes, concurrent;
};

#define WRITES 8 /* in flight of one spill; judgement */

#define AT(member) offsetof(struct config, member)

static const struct dbio_field fields[] = {
        {"run", DBIO_FIELD_SIZE, AT(run), "500M", 65536, 0, "bytes of a run: the memory grant",
         "Darling: 4,000 MB with a grant of 500 MB are 8 runs", DBIO_FIELD_POSITIVE, NULL, NULL},
        {"io", DBIO_FIELD_SIZE, AT(io), "64K", 8192, 1 << 20, "bytes an I/O", "widely repeated, not confirmed", 0, NULL, NULL},
        {"fan_in", DBIO_FIELD_COUNT, AT(fan_in), "8", 1, 10000, "runs that are written and then merged",
         "Darling: an 8-way merge", 0, NULL, NULL},
        {"passes", DBIO_FIELD_COUNT, AT(passes), "1", 1, 16,
         "times that everything is merged; all but the last write it out again", "judgement", 0, NULL, NULL},
        {"concurrent", DBIO_FIELD_COUNT, AT(concurrent), "1", 1, 1000, "spills at once, each in its part of the region",
         "judgement", 0, NULL, NULL},
        DBIO_DUE_FIELDS(struct config, due, "one"),
        {0},
};

/* One spill: run after run into area 0, then pass after pass from one area into the other. */
struct sorter {
        struct dbio_sort_area areas[2];
        unsigned pass;          /* 0 = writing the runs */
        unsigned reads, writes; /* in flight */
        uint64_t arrived;       /* ios read in this pass */
        bool over;
};

struct spill {
        struct dbio_flow flow;
        const struct config *config;
        struct sorter *sorters;
        uint64_t ios, run_ios, per_sorter;
        struct dbio_stripe stripe;
        unsigned turn;
        uint16_t target;
        uint8_t write_flags;
};

static void restart(struct spill *spill, struct sorter *sorter, unsigned area)
{
        uint64_t base = (uint64_t)(sorter - spill->sorters) * spill->per_sorter + area * spill->ios;
        uint64_t run = sorter->pass ? spill->ios : spill->run_ios; /* a merge makes one run of them all */

        dbio_sort_area_init(&sorter->areas[area], &spill->stripe, base, spill->ios, run);
}

static void begin(struct dbio_flow *flow, uint64_t begin_ns)
{
        struct spill *spill = (struct spill *)flow;

        (void)begin_ns;
        for (unsigned i = 0; i < spill->config->concurrent; i++) {
                spill->sorters[i] = (struct sorter){0};
                restart(spill, &spill->sorters[i], 0);
        }
}

static void give(struct spill *spill, struct sorter *sorter, bool write, uint64_t offset, struct dbio_op *op)
{
        op->kind = write ? DBIO_WRITE : DBIO_READ;
        op->role = DBIO_ROLE_SORT;
        op->target = spill->target;
        op->thread = (uint16_t)(sorter - spill->sorters);
        op->flags = write ? spill->write_flags : 0;
        op->offset = offset;
        op->length = (uint32_t)spill->config->io;
        if (write)
                sorter->writes++;
        else
                sorter->reads++;
}

static bool step(struct spill *spill, struct sorter *sorter, struct dbio_op *op)
{
        const struct config *c = spill->config;
        struct dbio_sort_area *from = &sorter->areas[(sorter->pass + 1) % 2], *to = &sorter->areas[sorter->pass % 2];
        bool writes_out = !sorter->pass || sorter->pass < c->passes;

        if (sorter->over)
                return false;
        if (writes_out && sorter->writes < WRITES && to->written < spill->ios &&
            (!sorter->pass || to->written < sorter->arrived)) {
                give(spill, sorter, true, dbio_sort_area_write(to), op);
                return true;
        }
        if (sorter->pass && from->read < spill->ios && sorter->reads < c->fan_in) {
                give(spill, sorter, false, dbio_sort_area_read(from), op);
                return true;
        }
        if (sorter->reads || sorter->writes || (writes_out && to->written < spill->ios))
                return false;
        if (sorter->pass == c->passes) {
                sorter->over = true;
                return false;
        }
        sorter->pass++;
        sorter->arrived = 0;
        restart(spill, sorter, sorter->pass % 2); /* where this pass writes to; what it reads from keeps its runs */
        return step(spill, sorter, op);
}

static enum dbio_flow_step next(struct dbio_flow *flow, uint64_t now_ns, struct dbio_op *op)
{
        struct spill *spill = (struct spill *)flow;
        bool over = true;

        (void)now_ns;
        for (unsigned i = 0; i < spill->config->concurrent; i++) {
                struct sorter *sorter = &spill->sorters[spill->turn];

                spill->turn = spill->turn + 1 < spill->config->concurrent ? spill->turn + 1 : 0;
                if (step(spill, sorter, op))
                        return DBIO_FLOW_OP;
                over &= sorter->over;
        }
        return over ? DBIO_FLOW_END : DBIO_FLOW_WAIT;
}

static void done(struct dbio_flow *flow, const struct dbio_op *op, const struct dbio_done *done)
{
        struct sorter *sorter = &((struct spill *)flow)->sorters[op->thread];

        (void)done;
        if (op->kind == DBIO_WRITE) {
                sorter->writes--;
                return;
        }
        sorter->reads--;
        sorter->arrived++;
}

static void release(struct dbio_flow *flow)
{
        free(((struct spill *)flow)->sorters);
}

static const struct dbio_flow_class class = {begin, next, done, NULL, NULL, NULL, release};

static int compile(const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys, const void *config,
                   struct dbio_stream *out, struct dbio_err *err)
{
        const struct config *c = config;
        struct dbio_flow_plan plan = {&class, c->due, 0};
        struct dbio_space space;

        if (dbio_flow_new(out, sizeof(struct spill), &plan, env, err))
                return -1;
        struct spill *spill = (struct spill *)out->sources[0];
        spill->config = c;
        spill->target = (uint16_t)keys->target;
        spill->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        spill->flow.page_bytes = dbio_pattern_page(env, keys->target);
        spill->sorters = calloc(c->concurrent, sizeof *spill->sorters);
        if (!spill->sorters)
                return dbio_err_set(err, DBIO_BUG, "no memory");
        if (dbio_pattern_space(&space, env, keys->target, &keys->region, c->io, err))
                return -1;
        dbio_stripe_init(&spill->stripe, &space, c->io);
        spill->run_ios = (c->run + c->io - 1) / c->io;
        spill->ios = spill->run_ios * c->fan_in;
        spill->per_sorter = spill->ios * (c->passes > 1 ? 2 : 1);
        if (spill->per_sorter * c->concurrent > spill->stripe.n)
                return dbio_err_set(err, DBIO_USAGE, "run: %.1f GiB of runs do not fit into the region's %.1f GiB",
                                    (double)(spill->per_sorter * c->concurrent * c->io) / (1 << 30),
                                    (double)(space.to - space.from) / (1 << 30));
        dbio_stream_add_use(out, keys->target, true, true, &space);
        out->threads = (unsigned)c->concurrent;
        out->max_length = (uint32_t)c->io;
        return 0;
}

const struct dbio_pattern dbio_sqlserver_spill = {
        .name = "sqlserver.spill",
        .summary = "Sort or hash spill to tempdb: runs written, then merged",
        .rev = 1,
        .keys = DBIO_KEYS_WRITE | DBIO_KEYS_VERSION,
        .flags = DBIO_STREAM_REACTIVE | DBIO_STREAM_EPISODES,
        .role = "sort",
        .versions = dbio_sqlserver_versions,
        .fields = fields,
        .config_size = sizeof(struct config),
        .example = "{pattern: sqlserver.spill, target: tempdb, run: 50M, every: 30s}",
        .write_through = true,
        .compile = compile,
        .ends = dbio_due_ends,
};
