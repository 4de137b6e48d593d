#include "patterns/logring.h"

static uint64_t part_of(const struct dbio_logring *ring, uint64_t offset)
{
        uint64_t part = (offset - ring->from) / ring->segment;

        return part < ring->segments ? part : ring->segments - 1;
}

/* The first cut after `offset`: a part's end or a file's. */
static uint64_t next_cut(const struct dbio_logring *ring, uint64_t offset)
{
        uint64_t part = part_of(ring, offset);
        uint64_t end = part + 1 == ring->segments ? ring->to : ring->from + (part + 1) * ring->segment;
        uint64_t file_end = (offset / ring->file_size + 1) * ring->file_size;

        return file_end < end ? file_end : end;
}

/* The beginning of the part, or of the piece of it that a file's end has cut off, in which offset lies. */
static uint64_t last_cut(const struct dbio_logring *ring, uint64_t offset)
{
        uint64_t begin = ring->from + part_of(ring, offset) * ring->segment;
        uint64_t file_begin = offset / ring->file_size * ring->file_size;

        return file_begin > begin ? file_begin : begin;
}

int dbio_logring_init(struct dbio_logring *ring, const struct dbio_geometry *geometry, uint64_t from, uint64_t to,
                      unsigned segments, uint32_t header, uint32_t unit, uint32_t largest, uint64_t draw,
                      struct dbio_err *err)
{
        uint64_t need;

        *ring = (struct dbio_logring){.segments = segments ? segments : 1, .header = header};
        ring->from = (from + unit - 1) / unit * unit;
        ring->to = to / unit * unit;
        ring->file_size = geometry->file_size;
        if (ring->to > ring->from)
                ring->segment = (ring->to - ring->from) / ring->segments / unit * unit;
        need = (uint64_t)largest + header;
        /* A file's end inside a part leaves two pieces, one of which must do. */
        if (ring->to > ring->from && ring->from / ring->file_size != (ring->to - 1) / ring->file_size)
                need *= 2;
        if (ring->segment < need)
                return dbio_err_set(
                        err, DBIO_USAGE,
                        "a log of %llu bytes in %u parts cannot hold writes of %u bytes: make its region at "
                        "least %llu bytes",
                        (unsigned long long)(to > from ? to - from : 0), ring->segments, largest,
                        (unsigned long long)need * ring->segments);
        ring->cursor = ring->from + draw % ((ring->to - ring->from) / largest) * largest;
        if (ring->cursor - last_cut(ring, ring->cursor) < header)
                ring->cursor = last_cut(ring, ring->cursor) + header;
        return 0;
}

uint64_t dbio_logring_room(const struct dbio_logring *ring)
{
        return next_cut(ring, ring->cursor) - ring->cursor;
}

uint64_t dbio_logring_begin(const struct dbio_logring *ring)
{
        return last_cut(ring, ring->cursor);
}

unsigned dbio_logring_part(const struct dbio_logring *ring, uint64_t offset, uint64_t *from, uint64_t *to)
{
        uint64_t part = part_of(ring, offset);

        *from = ring->from + part * ring->segment;
        *to = part + 1 == ring->segments ? ring->to : *from + ring->segment;
        return (unsigned)part;
}

static void logring_switch(struct dbio_logring *ring)
{
        uint64_t cut = next_cut(ring, ring->cursor);

        if (cut >= ring->to) {
                cut = ring->from;
                ring->laps++;
        }
        ring->cursor = cut + ring->header;
        ring->switches++;
}

uint64_t dbio_logring_place(struct dbio_logring *ring, uint32_t length)
{
        uint64_t offset;

        while (length > dbio_logring_room(ring))
                logring_switch(ring);
        offset = ring->cursor;
        if (length == dbio_logring_room(ring))
                logring_switch(ring);
        else
                ring->cursor += length;
        return offset;
}
