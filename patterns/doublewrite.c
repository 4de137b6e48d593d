#include "patterns/doublewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "patterns/common.h"
#include "patterns/region.h"

const char *const dbio_dblwr_mode_names[] = {"on", "off", "detect_only", NULL};
const char *const dbio_flush_method_names[] = {"o_direct", "o_direct_no_fsync", "fsync", NULL};

/* REDUCED_BATCH_PAGE_SIZE in buf0dblwr.h */
#define DETECT_BYTES 8192u
/* Pages in flight without doublewrite: 4 write threads of 256 slots. */
#define ASYNC_PAGES 1024u

/* The instance by page number: 64 pages stay together (buf0buf.ic). */
static struct dbio_dblwr_instance *instance_of(const struct dbio_dblwr *dblwr, uint64_t page)
{
        return &dblwr->instances[(page >> 6) % dblwr->ninstances];
}

static int place_area(struct dbio_dblwr *dblwr, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                      const struct dbio_dblwr_keys *own, bool lru, struct dbio_stream *out, struct dbio_err *err)
{
        uint64_t unit = (uint64_t)dblwr->batch * dblwr->page,
                 instances = own->instances * 2 < 4 ? 4 : own->instances * 2;
        struct dbio_space space;
        char need[32];

        if (dbio_pattern_space(&space, env, dblwr->area, own->to >= 0 ? NULL : &keys->region, dblwr->page, err))
                return -1;
        if (dblwr->old) {
                /* The second and third extent of ibdata1, 64 pages each. */
                dblwr->segments = 1;
                dblwr->area_from = space.from + 64 * (uint64_t)dblwr->page;
                unit = 128 * (uint64_t)dblwr->page;
        } else {
                dblwr->segments = (unsigned)(keys->version >= 804 ? instances / 2 : instances / 2 + 1);
                dblwr->area_from = space.from + (lru ? dblwr->segments * unit : 0);
        }
        space.from = dblwr->area_from;
        if (space.from + dblwr->segments * unit > space.to ||
            space.from / space.file_size != (space.from + dblwr->segments * unit - 1) / space.file_size) {
                dbio_format_size(space.from + dblwr->segments * unit, need, sizeof need);
                return dbio_err_set(err, DBIO_USAGE, "the doublewrite area does not fit its target: it reaches to %s",
                                    need);
        }
        space.to = space.from + dblwr->segments * unit;
        dbio_stream_add_use(out, dblwr->area, false, true, &space);
        if (out->max_length < unit)
                out->max_length = (uint32_t)(dblwr->old ? unit / 2 : unit);
        return 0;
}

int dbio_dblwr_init(struct dbio_dblwr *dblwr, const struct dbio_pattern_env *env, const struct dbio_stream_keys *keys,
                    const struct dbio_dblwr_keys *own, bool lru, struct dbio_stream *out, struct dbio_err *err)
{
        *dblwr = (struct dbio_dblwr){
                .mode = (enum dbio_dblwr_mode)own->mode,
                .old = keys->version < 800 && own->mode != DBIO_DBLWR_OFF,
                .fsync_data = own->flush_method != DBIO_FLUSH_O_DIRECT_NO_FSYNC,
                .role = lru ? DBIO_ROLE_LAZY_WRITE : DBIO_ROLE_PAGE_FLUSH,
                .data = (uint16_t)keys->target,
                .area = (uint16_t)(own->to >= 0 ? own->to : keys->target),
                .page = (uint32_t)own->page,
                .batch = (unsigned)own->pages,
        };
        if (dblwr->mode == DBIO_DBLWR_DETECT_ONLY && keys->version < 804)
                return dbio_pattern_fault(err, "doublewrite", "detect_only is of 8.0.30 and later: say version: 8.4");
        dblwr->ninstances = dblwr->old ? 1 : (unsigned)own->instances;
        if (dblwr->mode == DBIO_DBLWR_OFF)
                dblwr->batch = ASYNC_PAGES / dblwr->ninstances;
        else if (dblwr->old && dblwr->batch > 128)
                return dbio_pattern_fault(err, "doublewrite_pages",
                                          "two blocks of 64 pages hold at most 128 before 8.0.20");
        dblwr->fsync_area = dblwr->mode != DBIO_DBLWR_OFF && (dblwr->old || own->flush_method == DBIO_FLUSH_FSYNC);
        dblwr->barriers = dblwr->ninstances == 1;
        dblwr->write_flags = keys->write_through ? DBIO_OP_DSYNC : 0;
        if (dblwr->mode != DBIO_DBLWR_OFF && place_area(dblwr, env, keys, own, lru, out, err))
                return -1;
        if (out->max_length < dblwr->page)
                out->max_length = dblwr->page;
        dblwr->instances = calloc(dblwr->ninstances, sizeof *dblwr->instances);
        for (unsigned i = 0; dblwr->instances && i < dblwr->ninstances; i++) {
                struct dbio_dblwr_instance *instance = &dblwr->instances[i];

                instance->collect.offsets = calloc(dblwr->batch, sizeof(uint64_t));
                instance->flight.offsets = calloc(dblwr->batch, sizeof(uint64_t));
                if (!instance->collect.offsets || !instance->flight.offsets)
                        return dbio_err_set(err, DBIO_BUG, "no memory for doublewrite batches");
        }
        return dblwr->instances ? 0 : dbio_err_set(err, DBIO_BUG, "no memory for doublewrite batches");
}

void dbio_dblwr_release(struct dbio_dblwr *dblwr)
{
        for (unsigned i = 0; dblwr->instances && i < dblwr->ninstances; i++) {
                free(dblwr->instances[i].collect.offsets);
                free(dblwr->instances[i].flight.offsets);
        }
        free(dblwr->instances);
        dblwr->instances = NULL;
}

/* ----- batches ----- */

/* Sends a full or forced batch off where the instance has none in flight. */
static void launch(struct dbio_dblwr *dblwr, struct dbio_dblwr_instance *instance, uint64_t now_ns)
{
        struct dbio_dblwr_batch batch = instance->collect;

        if (instance->step != DBIO_DBLWR_IDLE || !batch.n || (batch.n < dblwr->batch && !instance->forced))
                return;
        instance->collect = instance->flight;
        instance->collect.n = 0;
        instance->flight = batch;
        instance->forced = false;
        instance->step = dblwr->mode == DBIO_DBLWR_OFF ? DBIO_DBLWR_PAGES : DBIO_DBLWR_W1;
        instance->given = false;
        instance->next = 0;
        instance->due_ns = now_ns;
        if (dblwr->mode == DBIO_DBLWR_OFF)
                return;
        instance->segment = dblwr->next_segment;
        dblwr->next_segment = (dblwr->next_segment + 1) % dblwr->segments;
        dblwr->batches++;
        dblwr->batch_pages += batch.n;
}

bool dbio_dblwr_has_room(const struct dbio_dblwr *dblwr, uint64_t page, unsigned n)
{
        const struct dbio_dblwr_instance *instance = instance_of(dblwr, page);

        return instance->collect.n + n <= dblwr->batch || (instance->step == DBIO_DBLWR_IDLE && n <= dblwr->batch);
}

void dbio_dblwr_add(struct dbio_dblwr *dblwr, uint64_t page, uint64_t offset, uint64_t now_ns)
{
        struct dbio_dblwr_instance *instance = instance_of(dblwr, page);

        instance->collect.offsets[instance->collect.n++] = offset;
        launch(dblwr, instance, now_ns);
}

void dbio_dblwr_force(struct dbio_dblwr *dblwr, uint64_t now_ns)
{
        for (unsigned i = 0; i < dblwr->ninstances; i++) {
                dblwr->instances[i].forced = dblwr->instances[i].collect.n > 0;
                launch(dblwr, &dblwr->instances[i], now_ns);
        }
}

bool dbio_dblwr_is_idle(const struct dbio_dblwr *dblwr)
{
        for (unsigned i = 0; i < dblwr->ninstances; i++)
                if (dblwr->instances[i].step != DBIO_DBLWR_IDLE || dblwr->instances[i].collect.n)
                        return false;
        return true;
}

bool dbio_dblwr_is_ready(const struct dbio_dblwr *dblwr)
{
        for (unsigned i = 0; i < dblwr->ninstances; i++)
                if (dblwr->instances[i].step != DBIO_DBLWR_IDLE && !dblwr->instances[i].given)
                        return true;
        return false;
}

/* ----- ops ----- */

/* The bytes of W1 and W2: the old layout has two blocks of 64 pages. */
static unsigned area_pages(const struct dbio_dblwr *dblwr, const struct dbio_dblwr_instance *instance,
                           enum dbio_dblwr_step step)
{
        unsigned n = instance->flight.n;

        if (!dblwr->old)
                return step == DBIO_DBLWR_W1 ? n : 0;
        if (step == DBIO_DBLWR_W1)
                return n < 64 ? n : 64;
        return n > 64 ? n - 64 : 0;
}

static struct dbio_op step_op(struct dbio_dblwr *dblwr, unsigned i)
{
        struct dbio_dblwr_instance *instance = &dblwr->instances[i];
        struct dbio_op op = {
                .due_ns = instance->due_ns,
                .cookie = i,
                .kind = DBIO_WRITE,
                .target = dblwr->area,
                .role = DBIO_ROLE_DOUBLEWRITE,
                .flags = dblwr->barriers ? DBIO_OP_BARRIER : 0,
        };

        instance->given = true;
        switch (instance->step) {
        case DBIO_DBLWR_W1:
        case DBIO_DBLWR_W2:
                op.flags |= dblwr->write_flags;
                op.offset = dblwr->area_from + instance->segment * dblwr->batch * dblwr->page +
                            (instance->step == DBIO_DBLWR_W2 ? 64 * (uint64_t)dblwr->page : 0);
                op.length = dblwr->mode == DBIO_DBLWR_DETECT_ONLY
                                    ? DETECT_BYTES
                                    : area_pages(dblwr, instance, instance->step) * dblwr->page;
                break;
        case DBIO_DBLWR_F1:
                op.kind = DBIO_FSYNC;
                break;
        case DBIO_DBLWR_PAGES:
                op.flags = dblwr->write_flags;
                op.role = dblwr->role;
                op.target = dblwr->data;
                op.offset = instance->flight.offsets[instance->next++];
                op.length = dblwr->page;
                instance->given = instance->next == instance->flight.n;
                break;
        default:
                op.kind = DBIO_FSYNC;
                op.role = dblwr->role;
                op.target = dblwr->data;
        }
        instance->open++;
        return op;
}

/* The step after the one that is done. */
static enum dbio_dblwr_step step_after(const struct dbio_dblwr *dblwr, const struct dbio_dblwr_instance *instance)
{
        switch (instance->step) {
        case DBIO_DBLWR_W1:
                if (area_pages(dblwr, instance, DBIO_DBLWR_W2))
                        return DBIO_DBLWR_W2;
                return dblwr->fsync_area ? DBIO_DBLWR_F1 : DBIO_DBLWR_PAGES;
        case DBIO_DBLWR_W2:
                return dblwr->fsync_area ? DBIO_DBLWR_F1 : DBIO_DBLWR_PAGES;
        case DBIO_DBLWR_F1:
                return DBIO_DBLWR_PAGES;
        case DBIO_DBLWR_PAGES:
                return dblwr->fsync_data ? DBIO_DBLWR_F2 : DBIO_DBLWR_IDLE;
        default:
                return DBIO_DBLWR_IDLE;
        }
}

unsigned dbio_dblwr_fill(struct dbio_dblwr *dblwr, struct dbio_op *ops, unsigned max)
{
        unsigned n = 0;

        for (unsigned i = 0; i < dblwr->ninstances && n < max; i++)
                while (n < max && dblwr->instances[i].step != DBIO_DBLWR_IDLE && !dblwr->instances[i].given)
                        ops[n++] = step_op(dblwr, i);
        return n;
}

void dbio_dblwr_done(struct dbio_dblwr *dblwr, const struct dbio_op *op, const struct dbio_done *done)
{
        struct dbio_dblwr_instance *instance = &dblwr->instances[op->cookie];

        if (instance->step == DBIO_DBLWR_PAGES)
                dblwr->flushed++;
        if (--instance->open || !instance->given)
                return;
        instance->step = step_after(dblwr, instance);
        instance->given = false;
        instance->due_ns = done->completed_ns;
        if (instance->step == DBIO_DBLWR_IDLE) {
                instance->flight.n = 0;
                launch(dblwr, instance, done->completed_ns);
        }
}
