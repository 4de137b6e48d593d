#include "patterns/region.h"

#include <inttypes.h>
#include <math.h>

#include "engine/units.h"

static uint64_t place(const struct dbio_amount *amount, uint64_t all)
{
        if (isnan(amount->share))
                return amount->bytes;
        if (amount->share >= 1)
                return all;
        return (uint64_t)(amount->share * (double)all);
}

int dbio_space_init(struct dbio_space *space, const struct dbio_region *region, const struct dbio_geometry *geometry,
                    uint64_t align, uint64_t op_bytes, struct dbio_err *err)
{
        uint64_t all = geometry->file_size * geometry->nfiles;
        uint64_t from = place(&region->from, all), to = place(&region->to, all);
        char op[32], room[32];

        if (to > all) {
                dbio_format_size(to, op, sizeof op);
                dbio_format_size(all, room, sizeof room);
                return dbio_err_set(err, DBIO_USAGE, "region: ends at %s, but the target has %s", op, room);
        }
        if (geometry->sector && op_bytes % geometry->sector)
                return dbio_err_set(err, DBIO_USAGE, "an I/O of %" PRIu64 " bytes is no multiple of the target's sector of %u",
                                    op_bytes, geometry->sector);
        space->file_size = geometry->file_size;
        space->from = (from + align - 1) / align * align;
        space->to = to / align * align;
        if (space->from < space->to) {
                struct dbio_slots slots;

                dbio_slots_init(&slots, space, op_bytes);
                if (slots.n)
                        return 0;
        }
        dbio_format_size(op_bytes, op, sizeof op);
        dbio_format_size(to > from ? to - from : 0, room, sizeof room);
        return dbio_err_set(err, DBIO_USAGE, "region: no room for an I/O of %s in %s", op, room);
}

uint64_t dbio_space_fit(const struct dbio_space *space, uint64_t offset, uint64_t bytes)
{
        if (offset < space->from || offset >= space->to)
                offset = space->from;
        for (;;) {
                uint64_t end = dbio_space_end(space, offset);

                if (offset + bytes <= end)
                        return offset;
                offset = end >= space->to ? space->from : end;
        }
}

void dbio_slots_init(struct dbio_slots *slots, const struct dbio_space *space, uint64_t size)
{
        uint64_t end = dbio_space_end(space, space->from);

        slots->size = size;
        slots->from = space->from;
        slots->file_size = space->file_size;
        slots->first = (end - space->from) / size;
        slots->middle = space->file_size / size;
        slots->next = end;
        slots->n = slots->first;
        if (space->to > end) {
                uint64_t rest = space->to - end;

                slots->n += rest / space->file_size * slots->middle + rest % space->file_size / size;
        }
        if (!slots->middle)
                slots->middle = 1; /* the region lies in one file then, or holds nothing */
}

static uint64_t file_base(const struct dbio_stripe *stripe, uint64_t file)
{
        uint64_t base = file * stripe->space.file_size;

        return base > stripe->space.from ? base : stripe->space.from;
}

void dbio_stripe_init(struct dbio_stripe *stripe, const struct dbio_space *space, uint64_t size)
{
        *stripe = (struct dbio_stripe){.space = *space, .size = size, .per_file = UINT64_MAX};
        stripe->first_file = space->from / space->file_size;
        for (uint64_t file = stripe->first_file; file * space->file_size < space->to; file++) {
                uint64_t base = file_base(stripe, file), room = (dbio_space_end(space, base) - base) / size;

                if (!room && stripe->per_file == UINT64_MAX) {
                        stripe->first_file = file + 1; /* the region begins too near a file's end */
                        continue;
                }
                if (!room)
                        break;
                stripe->files++;
                stripe->per_file = room < stripe->per_file ? room : stripe->per_file;
        }
        stripe->n = stripe->files * stripe->per_file;
}

uint64_t dbio_stripe_offset(const struct dbio_stripe *stripe, uint64_t i)
{
        i %= stripe->n;
        return file_base(stripe, stripe->first_file + i % stripe->files) + i / stripe->files * stripe->size;
}
