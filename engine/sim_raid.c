/* Arrays: level 0, 1, 10 and 5 over equal members.
 *
 * A group is what a strip's address leads to: a mirror pair (1, 10), a disk (0), the array as a whole (5). A read of a
 * pair goes to the side with less to do, at a tie to either; a long one takes the sides in turn, so that both stream.
 * Level 5 (left-symmetric): a write of a whole row writes the row and its parity; less reads old data and old parity
 * first, with the row locked from then to the end.
 */
#include "engine/sim_core.h"

#include <stdlib.h>

enum { ROW_LOCKS = 256 };

/* stages of a part of a level-5 write */
enum { READ_OLD, WRITE_NEW };

struct array {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor decided; /* the controller's own time is over */
        const struct dbio_sim_array *keys;
        struct dbio_sim_layer **members;
        unsigned *load;                /* commands at a member */
        struct dbio_sim_random random;
        struct dbio_sim_req *rows[ROW_LOCKS]; /* locked, by row: the head of each list holds it, the others wait */
};

static bool mirrored(const struct array *array)
{
        return array->keys->level == 1 || array->keys->level == 10;
}

static void part_done(struct dbio_sim *sim, struct dbio_sim_req *part)
{
        struct dbio_sim_req *whole = part->parent;
        struct array *array = part->owner;

        array->load[part->unit]--;
        dbio_sim_req_free(sim, part);
        if (!--whole->left)
                whole->done(sim, whole);
}

/* Callers hold whole->left above 0 until all parts are on their way. */
static void send(struct array *array, struct dbio_sim_req *whole, unsigned member, uint64_t offset, uint64_t length,
                 uint8_t kind)
{
        struct dbio_sim_req *part = dbio_sim_req_new(array->layer.sim);

        part->parent = whole;
        part->owner = array;
        part->done = part_done;
        part->unit = member;
        part->offset = offset;
        part->length = length;
        part->kind = kind;
        whole->left++;
        array->load[member]++;
        array->members[member]->class->submit(array->members[member], part);
}

static void let_go(struct array *array, struct dbio_sim_req *whole)
{
        if (!--whole->left)
                whole->done(array->layer.sim, whole);
}

static unsigned side_of(struct array *array, unsigned pair, uint64_t address, bool stream)
{
        unsigned one = array->load[2 * pair], other = array->load[2 * pair + 1];

        if (stream)
                return (unsigned)(address / array->keys->strip / array->keys->side_strips % 2);
        if (one != other)
                return one > other;
        return (unsigned)(dbio_sim_random_next(&array->random) >> 63);
}

static unsigned array_locate(struct dbio_sim_layer *layer, uint64_t offset, uint64_t *address, uint64_t *run)
{
        struct array *array = (struct array *)layer;
        uint64_t strip = array->keys->strip, number = offset / strip;

        *address = number / layer->groups * strip + offset % strip;
        *run = strip - offset % strip;
        return (unsigned)(number % layer->groups);
}

/* A run of one group's addresses. */
static void group_io(struct array *array, struct dbio_sim_req *whole, unsigned group, uint64_t address, uint64_t length,
                     bool stream)
{
        if (!mirrored(array)) {
                send(array, whole, group, address, length, whole->kind);
        } else if (whole->kind == DBIO_WRITE) {
                send(array, whole, 2 * group, address, length, DBIO_WRITE);
                send(array, whole, 2 * group + 1, address, length, DBIO_WRITE);
        } else {
                send(array, whole, 2 * group + side_of(array, group, address, stream), address, length, DBIO_READ);
        }
}

/* --- level 5 --- */

static unsigned row_lock(uint64_t row)
{
        return (unsigned)(row * 0x9e3779b97f4a7c15u >> 32) % ROW_LOCKS;
}

static unsigned data_member(const struct array *array, uint64_t row, uint64_t index)
{
        uint64_t n = array->keys->members, parity = n - 1 - row % n;

        return (unsigned)((parity + 1 + index) % n);
}

static void row_done(struct dbio_sim *sim, struct dbio_sim_req *part);

/* Sends one stage of a row's write. part: offset = first byte in the row, length, cookie = row. */
static void row_stage(struct array *array, struct dbio_sim_req *part)
{
        uint64_t strip = array->keys->strip, row = part->cookie, n = array->keys->members;
        uint64_t from = part->offset, end = part->offset + part->length, low = strip, high = 0;
        uint8_t kind = part->stage == READ_OLD ? DBIO_READ : DBIO_WRITE;

        part->left = 1;
        while (from < end) {
                uint64_t in_strip = from % strip, run = strip - in_strip < end - from ? strip - in_strip : end - from;

                send(array, part, data_member(array, row, from / strip), row * strip + in_strip, run, kind);
                low = in_strip < low ? in_strip : low;
                high = in_strip + run > high ? in_strip + run : high;
                from += run;
        }
        send(array, part, (unsigned)(n - 1 - row % n), row * strip + low, high - low, kind);
        let_go(array, part);
}

static void row_begin(struct array *array, struct dbio_sim_req *part)
{
        bool whole_row = part->length == (array->keys->members - 1) * array->keys->strip;

        part->stage = whole_row ? WRITE_NEW : READ_OLD;
        row_stage(array, part);
}

/* Rows that share a lock wait in one list; the first of each row in it is the holder. */
static void row_enter(struct array *array, struct dbio_sim_req *part)
{
        struct dbio_sim_req **at = &array->rows[row_lock(part->cookie)];
        bool held = false;

        for (; *at; at = &(*at)->next)
                held |= (*at)->cookie == part->cookie;
        *at = part;
        part->next = NULL;
        if (!held)
                row_begin(array, part);
}

static void row_leave(struct array *array, struct dbio_sim_req *part)
{
        struct dbio_sim_req **at = &array->rows[row_lock(part->cookie)], *next;

        while (*at != part)
                at = &(*at)->next;
        *at = part->next;
        for (next = *at; next && next->cookie != part->cookie; next = next->next)
                continue;
        if (next)
                row_begin(array, next);
}

static void row_done(struct dbio_sim *sim, struct dbio_sim_req *part)
{
        struct array *array = part->owner;
        struct dbio_sim_req *whole = part->parent;

        if (part->stage == READ_OLD) {
                part->stage = WRITE_NEW;
                row_stage(array, part);
                return;
        }
        row_leave(array, part);
        dbio_sim_req_free(sim, part);
        if (!--whole->left)
                whole->done(sim, whole);
}

static void parity_write(struct array *array, struct dbio_sim_req *whole)
{
        uint64_t row_bytes = (array->keys->members - 1) * array->keys->strip;
        uint64_t offset = whole->offset, end = offset + whole->length;

        while (offset < end) {
                struct dbio_sim_req *part = dbio_sim_req_new(array->layer.sim);

                part->parent = whole;
                part->owner = array;
                part->done = row_done;
                part->kind = DBIO_WRITE;
                part->cookie = offset / row_bytes;
                part->offset = offset % row_bytes;
                part->length = row_bytes - part->offset < end - offset ? row_bytes - part->offset : end - offset;
                offset += part->length;
                whole->left++;
                row_enter(array, part);
        }
}

static void parity_read(struct array *array, struct dbio_sim_req *whole)
{
        uint64_t strip = array->keys->strip, data = array->keys->members - 1;
        uint64_t offset = whole->offset, end = offset + whole->length;

        while (offset < end) {
                uint64_t number = offset / strip, row = number / data, in_strip = offset % strip;
                uint64_t run = strip - in_strip < end - offset ? strip - in_strip : end - offset;

                send(array, whole, data_member(array, row, number % data), row * strip + in_strip, run, DBIO_READ);
                offset += run;
        }
}

/* --- any level --- */

static void carry_out(struct array *array, struct dbio_sim_req *whole)
{
        uint64_t offset = whole->offset, end = offset + whole->length;
        bool stream = whole->length > array->keys->strip;

        whole->left = 1;
        if (array->keys->level == 5) {
                if (whole->kind == DBIO_WRITE)
                        parity_write(array, whole);
                else
                        parity_read(array, whole);
                let_go(array, whole);
                return;
        }
        while (offset < end) {
                uint64_t address, run;
                unsigned group = array_locate(&array->layer, offset, &address, &run);

                if (run > end - offset)
                        run = end - offset;
                group_io(array, whole, group, address, run, stream);
                offset += run;
        }
        let_go(array, whole);
}

static void decided(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        (void)sim;
        carry_out((struct array *)((char *)actor - offsetof(struct array, decided)), req);
}

static void array_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct array *array = (struct array *)layer;

        if (array->keys->overhead)
                dbio_sim_at(layer->sim, layer->sim->now + (int64_t)array->keys->overhead, &array->decided, req);
        else
                carry_out(array, req);
}

static void array_submit_group(struct dbio_sim_layer *layer, struct dbio_sim_req *req, unsigned group)
{
        struct array *array = (struct array *)layer;

        if (array->keys->level == 5) {
                carry_out(array, req);
                return;
        }
        req->left = 1;
        group_io(array, req, group, req->offset, req->length, false);
        let_go(array, req);
}

static void array_close(struct dbio_sim_layer *layer)
{
        struct array *array = (struct array *)layer;

        for (uint64_t i = 0; array->members && i < array->keys->members; i++)
                dbio_sim_layer_close(array->members[i]);
        free(array->members);
        free(array->load);
        free(array);
}

static struct dbio_sim_layer *array_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                         struct dbio_sim_layer *below, uint64_t component)
{
        const struct dbio_sim_array *keys = &profile->array;
        struct array *array = calloc(1, sizeof *array);

        (void)below;
        if (!array)
                return NULL;
        array->layer.class = &dbio_sim_array_class;
        array->layer.sim = sim;
        array->layer.groups = keys->level == 5 ? 1 : keys->level == 0 ? (unsigned)keys->members : (unsigned)keys->members / 2;
        array->decided.event = decided;
        array->keys = keys;
        dbio_sim_random_init(&array->random, sim->seed, component);
        array->members = calloc(keys->members, sizeof *array->members);
        array->load = calloc(keys->members, sizeof *array->load);
        if (!array->members || !array->load)
                goto fail;
        for (uint64_t i = 0; i < keys->members; i++) {
                array->members[i] = dbio_sim_medium_open(sim, profile, component + 1 + i);
                if (!array->members[i])
                        goto fail;
        }
        return &array->layer;
fail:
        array_close(&array->layer);
        return NULL;
}

const struct dbio_sim_layer_class dbio_sim_array_class = {
        "array", array_open, array_submit, array_close, array_locate, array_submit_group,
};
