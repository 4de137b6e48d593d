#include "replay/trace_blk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPEN 16384u      /* I/Os that wait for their completion */
#define BUCKETS 32768u
#define NONE UINT32_MAX
#define AGE 24576u       /* steps after which an I/O is given without one: well inside of the sort window */
#define REMAPS 64u
#define FLUSH_SECTOR ((uint64_t)INT64_MAX / 512 + 1) /* that flushes wait under: beyond all others */
#define LOOK 65536u      /* steps among which events of one kind have to be */
#define DEVICES 65536u   /* more than dbio_trace_device gives */
#define MERGED 128u      /* that were merged into one request, whose completion is theirs */

struct open_io {
        struct dbio_trace_event event;
        uint64_t number;
        uint32_t next;
        bool live;
};

struct dbio_blk {
        int (*read)(struct dbio_trace_input *input, struct dbio_blk_step *step, struct dbio_err *err);
        bool issued;
        bool decided, seen_queued, completed; /* completed: there are completions */
        struct dbio_blk_step *held; /* those of the beginning */
        unsigned nheld, at_held, room;
        struct open_io *ios;     /* a ring, by number */
        uint32_t *buckets;
        uint64_t first, number;  /* ring: [first, number) */
        uint64_t steps, *ages;   /* step at which it was opened */
        bool queued[DEVICES];    /* devices whose Q were taken */
        struct remap {
                uint64_t sector, bytes;
                uint32_t device;
                bool live;
        } remaps[REMAPS];        /* of which the I/O itself was taken above */
        unsigned nremaps;
        bool ended;
        struct dbio_trace_event ready[MERGED];
        unsigned nready, at_ready;
};

void dbio_blk_flags(const char *letters, size_t size, struct dbio_blk_step *step)
{
        bool letter = false;

        for (size_t i = 0; i < size; i++)
                switch (letters[i]) {
                case 'F':
                        *(letter ? &step->fua : &step->flush) = true;
                        break;
                case 'D':
                case 'W':
                case 'R':
                case 'N':
                        step->discard |= letters[i] == 'D';
                        step->write |= letters[i] == 'W';
                        step->read |= letters[i] == 'R';
                        letter = true;
                        break;
                }
}

struct dbio_blk *dbio_blk_new(int (*read)(struct dbio_trace_input *input, struct dbio_blk_step *step, struct dbio_err *err))
{
        struct dbio_blk *blk = calloc(1, sizeof *blk);

        if (!blk)
                return NULL;
        blk->read = read;
        blk->ios = malloc(OPEN * sizeof *blk->ios);
        blk->ages = malloc(OPEN * sizeof *blk->ages);
        blk->buckets = malloc(BUCKETS * sizeof *blk->buckets);
        if (!blk->ios || !blk->ages || !blk->buckets) {
                dbio_blk_free(blk);
                return NULL;
        }
        for (unsigned i = 0; i < BUCKETS; i++)
                blk->buckets[i] = NONE;
        return blk;
}

void dbio_blk_free(struct dbio_blk *blk)
{
        if (!blk)
                return;
        free(blk->held);
        free(blk->ios);
        free(blk->ages);
        free(blk->buckets);
        free(blk);
}

/* Whether what has been seen is enough to know which events to take. */
static bool decide(struct dbio_blk *blk, struct dbio_trace_input *input, bool all)
{
        if (!all && !(input->issue_events ? blk->completed : blk->seen_queued))
                return false;
        blk->issued = input->issue_events || !blk->seen_queued;
        blk->decided = true;
        if (!blk->seen_queued && !input->issue_events)
                dbio_trace_note(input, "What was queued: the trace holds no Q events, so D events, as the device got them after "
                                       "merging, are taken.");
        return true;
}

static int hold(struct dbio_blk *blk, const struct dbio_blk_step *step, struct dbio_err *err)
{
        if (blk->nheld == blk->room) {
                unsigned room = blk->room ? 2 * blk->room : 1024;
                struct dbio_blk_step *grown = realloc(blk->held, room * sizeof *grown);
                if (!grown)
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                blk->held = grown;
                blk->room = room;
        }
        blk->held[blk->nheld++] = *step;
        blk->seen_queued |= step->action == 'Q';
        blk->completed |= step->action == 'C';
        return 0;
}

/* The next step; at first so many are held as tell which events to take. */
static int next_step(struct dbio_blk *blk, struct dbio_trace_input *input, struct dbio_blk_step *now, struct dbio_err *err)
{
        while (!blk->decided && !decide(blk, input, blk->nheld == LOOK)) {
                int code = blk->read(input, now, err);
                if (code < 0 || (code && hold(blk, now, err)))
                        return -1;
                if (!code)
                        decide(blk, input, true);
        }
        if (blk->at_held == blk->nheld) {
                free(blk->held);
                blk->held = NULL;
                blk->at_held = blk->nheld = blk->room = 0;
                return blk->read(input, now, err);
        }
        *now = blk->held[blk->at_held++];
        return 1;
}

static uint32_t bucket_of(uint32_t device, uint64_t sector)
{
        return (uint32_t)((sector * 0x9E3779B97F4A7C15u + device * 0x85EBCA6Bu) >> 49) % BUCKETS;
}

static uint32_t find(const struct dbio_blk *blk, uint32_t device, uint64_t sector)
{
        uint32_t at = blk->buckets[bucket_of(device, sector)];

        while (at != NONE && (blk->ios[at].event.device != device || blk->ios[at].event.offset != sector * 512))
                at = blk->ios[at].next;
        return at;
}

static void unlink_io(struct dbio_blk *blk, uint32_t at)
{
        const struct dbio_trace_event *event = &blk->ios[at].event;
        uint32_t *link = &blk->buckets[bucket_of(event->device, event->offset / 512)];

        while (*link != at)
                link = &blk->ios[*link].next;
        *link = blk->ios[at].next;
        blk->ios[at].live = false;
}

/* Newest first: of two that are alike the completion belongs to either. */
static void link_io(struct dbio_blk *blk, const struct dbio_trace_event *event)
{
        uint32_t at = (uint32_t)(blk->number % OPEN), *bucket = &blk->buckets[bucket_of(event->device, event->offset / 512)];

        blk->ios[at] = (struct open_io){.event = *event, .number = blk->number, .next = *bucket, .live = true};
        blk->ages[at] = blk->steps;
        *bucket = at;
        blk->number++;
}

/* The oldest is given without a completion where it is too old, or there is no room. */
static bool give_oldest(struct dbio_blk *blk, struct dbio_trace_event *event)
{
        while (blk->first < blk->number) {
                uint32_t at = (uint32_t)(blk->first % OPEN);
                if (!blk->ios[at].live) {
                        blk->first++;
                        continue;
                }
                if (!blk->ended && blk->number - blk->first < OPEN && blk->steps - blk->ages[at] < AGE)
                        return false;
                *event = blk->ios[at].event;
                unlink_io(blk, at);
                blk->first++;
                return true;
        }
        return false;
}

static uint32_t device_of(struct dbio_trace_input *input, uint32_t major, uint32_t minor)
{
        char name[32];
        int size = snprintf(name, sizeof name, "%u,%u", major, minor);

        if (major == DBIO_BLK_NO_DEVICE)
                return dbio_trace_device(input, "trace", 5);
        return dbio_trace_device(input, name, (size_t)size);
}

static void make_event(const struct dbio_blk_step *step, uint32_t device, struct dbio_trace_event *event)
{
        *event = (struct dbio_trace_event){.t_ns = step->t_ns, .latency_ns = DBIO_TRACE_UNKNOWN, .place = step->place,
                                           .file = step->file, .device = device};
        if (step->flush && !step->bytes) {
                event->kind = DBIO_FSYNC;
                event->offset = FLUSH_SECTOR * 512;
                return;
        }
        event->kind = step->discard ? DBIO_TRIM : step->write ? DBIO_WRITE : DBIO_READ;
        event->offset = step->sector * 512;
        event->length = step->bytes;
        event->flags = step->fua && event->kind == DBIO_WRITE ? DBIO_OP_FUA : 0;
}

/* Whether a remap has brought this from a device above, whose own Q was taken. */
static bool is_remapped(struct dbio_blk *blk, uint32_t device, uint64_t sector, uint64_t bytes)
{
        for (unsigned i = 0; i < REMAPS; i++) {
                struct remap *remap = &blk->remaps[i];
                if (remap->live && remap->device == device && remap->sector == sector && remap->bytes == bytes) {
                        remap->live = false;
                        return true;
                }
        }
        return false;
}

/* All of a device that is traced itself has its Q there, however the device cut it before it sent it down; a volume on a
 * partition is remapped twice before its Q on the disk. */
static void take_remap(struct dbio_blk *blk, const struct dbio_blk_step *step, uint32_t above, uint32_t device)
{
        if (blk->issued || above == device || (!blk->queued[above] && !is_remapped(blk, above, step->from_sector, step->bytes)))
                return;
        blk->remaps[blk->nremaps++ % REMAPS] = (struct remap){.sector = step->sector, .bytes = step->bytes, .device = device, .live = true};
}

static void give_completed(struct dbio_blk *blk, const struct dbio_blk_step *step, uint32_t at)
{
        struct dbio_trace_event *event = &blk->ready[blk->nready++];

        *event = blk->ios[at].event;
        if (step->t_ns >= event->t_ns)
                event->latency_ns = step->t_ns - event->t_ns;
        unlink_io(blk, at);
}

/* A flush ends twice, without bytes at sector 0: the device's own command (`FN`), and then what had asked for it (`WS`). The
 * oldest is meant, as the device may serve several by one command. */
static void complete_flush(struct dbio_blk *blk, const struct dbio_blk_step *step, uint32_t device)
{
        uint32_t oldest = NONE;

        if (step->sector || step->flush != blk->issued)
                return;
        for (uint32_t at = find(blk, device, FLUSH_SECTOR); at != NONE; at = blk->ios[at].next)
                if (blk->ios[at].event.device == device && blk->ios[at].event.kind == DBIO_FSYNC)
                        oldest = at;
        if (oldest != NONE)
                give_completed(blk, step, oldest);
}

/* The I/O at this place, and those behind it that went with it in one request. */
static void complete(struct dbio_blk *blk, const struct dbio_blk_step *step, uint32_t device)
{
        uint64_t sector = step->sector, left = step->bytes;
        uint32_t at;

        if (!step->bytes)
                complete_flush(blk, step, device);
        while (left && blk->nready < MERGED && (at = find(blk, device, sector)) != NONE && blk->ios[at].event.length <= left) {
                uint64_t length = blk->ios[at].event.length;
                give_completed(blk, step, at);
                left -= length;
                sector += length / 512;
        }
}

static void take_queued(struct dbio_blk *blk, struct dbio_trace_input *input, const struct dbio_blk_step *step, uint32_t device)
{
        struct dbio_trace_event event;

        if (is_remapped(blk, device, step->sector, step->bytes)) {
                dbio_trace_skip(input, "queued again on the device below (remapped)");
                return;
        }
        blk->queued[device] = true;
        make_event(step, device, &event);
        if (step->flush && event.kind != DBIO_FSYNC) { /* a write before which the device is flushed */
                struct dbio_trace_event *flush = &blk->ready[blk->nready++];
                *flush = event;
                flush->kind = DBIO_FSYNC;
                flush->flags = DBIO_TRACE_PREFLUSH;
        }
        link_io(blk, &event);
}

static void take_issued(struct dbio_blk *blk, struct dbio_trace_input *input, const struct dbio_blk_step *step, uint32_t device)
{
        uint32_t at = blk->completed ? find(blk, device, step->sector) : NONE;
        struct dbio_trace_event event;

        make_event(step, device, &event);
        if (event.kind != DBIO_FSYNC && at != NONE && blk->ios[at].event.length == event.length && blk->ios[at].event.kind == event.kind)
                dbio_trace_skip(input, "issued again without a completion (requeued)");
        else
                link_io(blk, &event);
}

static int take_step(struct dbio_blk *blk, struct dbio_trace_input *input, const struct dbio_blk_step *step)
{
        uint32_t device = device_of(input, step->major, step->minor), above = device;

        blk->steps++;
        if (step->action == 'A')
                above = device_of(input, step->from_major, step->from_minor);
        if (device == UINT32_MAX || above == UINT32_MAX)
                return -1;
        if (step->action == 'A')
                take_remap(blk, step, above, device);
        else if (step->action == 'C')
                complete(blk, step, device);
        else if (step->action != (blk->issued ? 'D' : 'Q'))
                return 0;
        else if (!step->bytes && !step->flush)
                dbio_trace_skip(input, "events of no bytes");
        else if (blk->issued)
                take_issued(blk, input, step, device);
        else
                take_queued(blk, input, step, device);
        return 0;
}

static int bad_step(const struct dbio_trace_input *input, const struct dbio_blk_step *step, struct dbio_err *err, const char *what)
{
        bool binary = input->format->binary;

        dbio_err_set(err, DBIO_USAGE, "%s %" PRIu64 ": %s", binary ? "byte" : "line", step->place, what);
        return dbio_err_locate(err, input->paths[step->file < input->npaths ? step->file : 0],
                               binary ? 0 : (unsigned)step->place, 1);
}

int dbio_blk_next(struct dbio_blk *blk, struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct dbio_blk_step now;

        for (;;) {
                if (blk->at_ready < blk->nready) {
                        *event = blk->ready[blk->at_ready++];
                        return 1;
                }
                blk->at_ready = blk->nready = 0;
                if (give_oldest(blk, event))
                        return 1;
                if (blk->ended)
                        return 0;
                int code = next_step(blk, input, &now, err);
                if (code < 0)
                        return -1;
                if (!code) {
                        blk->ended = true;
                        continue;
                }
                if (now.sector > INT64_MAX / 512) {
                        char text[64];
                        snprintf(text, sizeof text, "sector %" PRIu64 " is beyond 2^63 bytes", now.sector);
                        return bad_step(input, &now, err, text);
                }
                if (take_step(blk, input, &now))
                        return bad_step(input, &now, err, "more than 65,535 devices");
        }
}
