/* CloudPhysics' binary vscsi traces. Version 1: 32 bytes, u32 serial, u32 bytes, u32 segments, u16 SCSI command, u16 version
 * (0x0100), u64 block of 512 bytes, u64 us. Version 2: 40 bytes, u16 command, u16 version (0x0200), u32 serial, u32 bytes, u32
 * segments, u64 block, u64 us, u64 response in us. Little endian (layout: libCacheSim's vscsi reader). */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"
#include "replay/tracebinary.h"

struct vscsi {
        struct dbio_trace_binary file;
        unsigned version;
};

static uint64_t get(const unsigned char *at, unsigned bytes)
{
        uint64_t value = 0;

        memcpy(&value, at, bytes);
        return le64toh(value);
}

/* The version's high byte stands at different places: it must be right in several records. */
static unsigned version_of(const unsigned char *head, size_t size)
{
        static const struct {
                unsigned bytes, at;
        } versions[] = {{32, 14}, {40, 2}};

        for (unsigned v = 0; v < 2; v++) {
                unsigned n = (unsigned)(size / versions[v].bytes), i;
                for (i = 0; i < n && i < 8; i++)
                        if (get(head + i * versions[v].bytes + versions[v].at, 2) >> 8 != v + 1)
                                break;
                if (n && i == (n < 8 ? n : 8))
                        return v + 1;
        }
        return 0;
}

static int probe(const char *path, const char *head, size_t size)
{
        (void)path;
        return version_of((const unsigned char *)head, size) ? 80 : 0;
}

static int open_vscsi(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct vscsi *vscsi = input->state = calloc(1, sizeof *vscsi);
        const unsigned char *head;

        if (!vscsi)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        vscsi->file.fd = -1;
        if (input->npaths > 1)
                return dbio_err_set(err, DBIO_USAGE, "one file of vscsi records at a time");
        if (dbio_trace_binary_open(&vscsi->file, input->paths[0], err))
                return -1;
        size_t size = dbio_trace_binary_peek(&vscsi->file, 320, &head, err);
        if (vscsi->file.failed)
                return -1;
        vscsi->version = version_of(head, size);
        if (vscsi->version)
                return 0;
        dbio_err_set(err, DBIO_USAGE, "no vscsi record of version 1 or 2 at byte 0; the same trace as CSV is format "
                                      "cloudphysics-csv");
        return dbio_err_locate(err, input->paths[0], 0, 0);
}

static void close_vscsi(struct dbio_trace_input *input)
{
        struct vscsi *vscsi = input->state;

        if (!vscsi)
                return;
        dbio_trace_binary_close(&vscsi->file);
        free(vscsi);
        input->state = NULL;
}

static int kind_of(unsigned command)
{
        switch (command) {
        case 0x08:
        case 0x28:
        case 0x88:
        case 0xA8:
                return DBIO_READ;
        case 0x0A:
        case 0x2A:
        case 0x8A:
        case 0xAA:
                return DBIO_WRITE;
        case 0x42:
                return DBIO_TRIM;
        case 0x35:
        case 0x91:
                return DBIO_FSYNC;
        }
        return -1;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct vscsi *vscsi = input->state;
        unsigned bytes = vscsi->version == 1 ? 32 : 40;
        const unsigned char *at;
        uint64_t block, us, response = 0;

        for (;;) {
                size_t size = dbio_trace_binary_peek(&vscsi->file, bytes, &at, err);
                event->place = vscsi->file.position;
                if (!size)
                        return vscsi->file.failed ? -1 : 0;
                if (size < bytes) {
                        vscsi->file.at += size;
                        return dbio_trace_binary_bad(&vscsi->file, event->place, err, "the last record is cut off");
                }
                dbio_trace_binary_skip(&vscsi->file, bytes);
                unsigned command = (unsigned)get(at + (vscsi->version == 1 ? 12 : 0), 2);
                if (get(at + (vscsi->version == 1 ? 14 : 2), 2) >> 8 != vscsi->version)
                        return dbio_trace_binary_bad(&vscsi->file, event->place, err, "no record of version %u", vscsi->version);
                event->length = get(at + (vscsi->version == 1 ? 4 : 8), 4);
                block = get(at + 16, 8);
                us = get(at + 24, 8);
                if (vscsi->version == 2)
                        response = get(at + 32, 8);
                int kind = kind_of(command);
                if (kind < 0) {
                        dbio_trace_skip(input, "SCSI commands that are no I/O");
                        continue;
                }
                if (block > UINT64_MAX / 512 || us > UINT64_MAX / 1000 || response > UINT64_MAX / 1000)
                        return dbio_trace_binary_bad(&vscsi->file, event->place, err, "block %" PRIu64 " or time %" PRIu64
                                                                                      " us is beyond 64 bits", block, us);
                event->offset = block * 512;
                event->t_ns = us * 1000;
                event->latency_ns = vscsi->version == 2 ? response * 1000 : DBIO_TRACE_UNKNOWN;
                event->kind = (uint8_t)kind;
                event->flags = 0;
                event->file = 0;
                event->device = dbio_trace_device(input, "trace", 5);
                dbio_trace_stamp(input, event->t_ns);
                return 1;
        }
}

const struct dbio_trace_format dbio_trace_cloudphysics = {
        .name = "cloudphysics",
        .summary = "CloudPhysics vscsi, binary, versions 1 and 2",
        .binary = true,
        .probe = probe,
        .open = open_vscsi,
        .next = next,
        .close = close_vscsi,
};
