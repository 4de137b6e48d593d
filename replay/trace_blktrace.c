/* blktrace's binary files, one a CPU, merged by time. A record has 48 bytes (linux/blktrace_api.h: struct blk_io_trace): u32
 * magic 0x65617407, u32 sequence, u64 ns, u64 sector, u32 bytes, u32 action, u32 pid, u32 device, u32 cpu, u16 error, u16
 * pdu length, then the pdu. In the byte order of the host that wrote it. */
#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace_blk.h"
#include "replay/tracebinary.h"

#define RECORD 48u
#define MAGIC 0x65617400u
#define CATEGORY(bit) ((bit) << 16)
#define CGROUP 0x100u      /* in the action: 8 bytes that tell the cgroup come first in the pdu */
#define CGROUP_BYTES 8u

struct cpu_file {
        struct dbio_trace_binary file;
        uint32_t number;           /* the CPU as the file's name has it (NAME.blktrace.CPU); else UINT32_MAX */
        bool swapped, ended, has;
        struct dbio_blk_step step; /* its next */
        uint32_t sequence;
        uint64_t last_ns;
};

struct blktrace {
        struct dbio_blk *blk;
        struct cpu_file *files;
        unsigned n;
};

static uint32_t get32(const struct cpu_file *cpu, const unsigned char *at)
{
        uint32_t value;

        memcpy(&value, at, sizeof value);
        return cpu->swapped ? bswap_32(value) : value;
}

static uint64_t get64(const struct cpu_file *cpu, const unsigned char *at)
{
        uint64_t value;

        memcpy(&value, at, sizeof value);
        return cpu->swapped ? bswap_64(value) : value;
}

static uint32_t get32_be(const unsigned char *at)
{
        return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* A remap's pdu is in network order: u32 device it came from, u32 device it went to, u64 sector it came from. */
static void take_remap(const unsigned char *pdu, unsigned size, unsigned begin, struct dbio_blk_step *step)
{
        if (size < begin + 16)
                return;
        pdu += begin;
        uint32_t from = get32_be(pdu);

        step->from_major = from >> 20;
        step->from_minor = from & 0xFFFFF;
        step->from_sector = (uint64_t)get32_be(pdu + 8) << 32 | get32_be(pdu + 12);
}

static char letter_of(uint32_t action)
{
        static const char letters[] = "?QMFGSRDCPUTIXBA";
        uint32_t number = action & 0xFFFF & ~CGROUP;

        return number < sizeof letters - 1 ? letters[number] : '?';
}

static void take_record(struct dbio_trace_input *input, const struct cpu_file *cpu, const unsigned char *at,
                        struct dbio_blk_step *step)
{
        uint32_t action = get32(cpu, at + 28), device = get32(cpu, at + 36);

        memset(step, 0, sizeof *step);
        step->t_ns = get64(cpu, at + 8);
        step->sector = get64(cpu, at + 16);
        step->bytes = get32(cpu, at + 24);
        step->major = device >> 20;
        step->minor = device & 0xFFFFF;
        step->action = letter_of(action);
        step->read = action & CATEGORY(1u);
        step->write = action & CATEGORY(2u);
        step->flush = action & CATEGORY(4u);
        step->discard = action & CATEGORY(0x2000u);
        step->fua = action & CATEGORY(0x8000u);
        if (action & CATEGORY(0x400u)) {
                step->action = 'n';
                dbio_trace_skip(input, "notes (names, messages)");
        } else if (action & CATEGORY(0x200u)) {
                step->action = 'p';
                dbio_trace_skip(input, "commands passed through");
        } else if (!strchr("QDCA", step->action)) {
                dbio_trace_skip(input, "events of other steps (G I M P U X ...)");
        }
}

/* The next step of a file that may be I/O into cpu->step: 1, 0, -1. */
static int load(struct dbio_trace_input *input, struct cpu_file *cpu, struct dbio_err *err)
{
        const unsigned char *at;

        for (;;) {
                size_t size = dbio_trace_binary_peek(&cpu->file, RECORD, &at, err);
                uint64_t place = cpu->file.position;
                if (!size) {
                        cpu->ended = true;
                        return cpu->file.failed ? -1 : 0;
                }
                cpu->ended = true; /* unless it turns out to be whole */
                if (size < RECORD)
                        return dbio_trace_binary_bad(&cpu->file, place, err, "the last record is cut off");
                uint32_t magic = get32(cpu, at);
                if ((magic & 0xFFFFFF00u) != MAGIC)
                        return dbio_trace_binary_bad(&cpu->file, place, err, "no record of blktrace: magic %#x", magic);
                if ((magic & 0xFF) != 7)
                        return dbio_trace_binary_bad(&cpu->file, place, err, "version %u of blktrace; 7 is read", magic & 0xFF);
                uint16_t pdu;
                memcpy(&pdu, at + 46, 2);
                pdu = cpu->swapped ? bswap_16(pdu) : pdu;
                if (dbio_trace_binary_peek(&cpu->file, RECORD + pdu, &at, err) < RECORD + (size_t)pdu)
                        return dbio_trace_binary_bad(&cpu->file, place, err, "the last record is cut off");
                cpu->ended = false;
                take_record(input, cpu, at, &cpu->step);
                cpu->step.place = place;
                cpu->step.file = (uint16_t)(cpu - ((struct blktrace *)input->state)->files);
                cpu->sequence = get32(cpu, at + 4);
                if (cpu->step.action == 'A')
                        take_remap(at + RECORD, pdu, get32(cpu, at + 28) & CGROUP ? CGROUP_BYTES : 0, &cpu->step);
                if (cpu->number < UINT32_MAX && get32(cpu, at + 40) != cpu->number)
                        dbio_trace_note(input, "Which CPU: records carry the number of another CPU than the name of their file (blkparse "
                                               "refuses such records).");
                dbio_trace_binary_skip(&cpu->file, RECORD + pdu);
                if (!strchr("QDCA", cpu->step.action))
                        continue;
                if (cpu->step.t_ns < cpu->last_ns)
                        input->inversions++;
                cpu->last_ns = cpu->step.t_ns;
                cpu->has = true;
                return 1;
        }
}

static int step_next(struct dbio_trace_input *input, struct dbio_blk_step *step, struct dbio_err *err)
{
        struct blktrace *trace = input->state;
        struct cpu_file *best = NULL;

        for (unsigned i = 0; i < trace->n; i++) {
                struct cpu_file *cpu = &trace->files[i];
                if (!cpu->has && !cpu->ended && load(input, cpu, err) < 0)
                        return -1;
                if (cpu->has && (!best || cpu->step.t_ns < best->step.t_ns ||
                                 (cpu->step.t_ns == best->step.t_ns && cpu->sequence < best->sequence)))
                        best = cpu;
        }
        if (!best)
                return 0;
        *step = best->step;
        best->has = false;
        return 1;
}

static int next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct blktrace *trace = input->state;

        return dbio_blk_next(trace->blk, input, event, err);
}

static uint32_t number_of(const char *path)
{
        const char *at = strstr(path, ".blktrace.");
        char *end;

        if (!at || at[10] < '0' || at[10] > '9')
                return UINT32_MAX;
        unsigned long number = strtoul(at + 10, &end, 10);
        return *end || number >= UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static int open_cpu(struct cpu_file *cpu, const char *path, struct dbio_err *err)
{
        const unsigned char *at;
        uint32_t magic;

        cpu->number = number_of(path);
        if (dbio_trace_binary_open(&cpu->file, path, err))
                return -1;
        if (dbio_trace_binary_peek(&cpu->file, 4, &at, err) < 4) {
                if (cpu->file.failed)
                        return -1;
                cpu->ended = cpu->file.size == 0; /* a CPU that saw nothing */
                return cpu->ended ? 0 : dbio_trace_binary_bad(&cpu->file, 0, err, "no record of blktrace");
        }
        memcpy(&magic, at, sizeof magic);
        cpu->swapped = (magic & 0xFFFFFF00u) != MAGIC;
        if (cpu->swapped && (bswap_32(magic) & 0xFFFFFF00u) != MAGIC)
                return dbio_trace_binary_bad(&cpu->file, 0, err, "no record of blktrace: magic %#x", magic);
        return 0;
}

static int open_trace(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct blktrace *trace = input->state = calloc(1, sizeof *trace);

        if (trace)
                trace->files = calloc(input->npaths, sizeof *trace->files);
        if (!trace || !trace->files || !(trace->blk = dbio_blk_new(step_next)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (; trace->n < input->npaths; trace->n++) {
                trace->files[trace->n].file.fd = -1;
                if (open_cpu(&trace->files[trace->n], input->paths[trace->n], err)) {
                        trace->n++;
                        return -1;
                }
        }
        return 0;
}

static void close_trace(struct dbio_trace_input *input)
{
        struct blktrace *trace = input->state;

        if (!trace)
                return;
        for (unsigned i = 0; i < trace->n; i++)
                dbio_trace_binary_close(&trace->files[i].file);
        free(trace->files);
        dbio_blk_free(trace->blk);
        free(trace);
        input->state = NULL;
}

static int probe(const char *path, const char *head, size_t size)
{
        uint32_t magic;

        (void)path;
        if (size < 4)
                return 0;
        memcpy(&magic, head, sizeof magic);
        return (magic & 0xFFFFFF00u) == MAGIC || (bswap_32(magic) & 0xFFFFFF00u) == MAGIC ? 100 : 0;
}

const struct dbio_trace_format dbio_trace_blktrace = {
        .name = "blktrace",
        .summary = "blktrace's binary files, one a CPU, all of them together",
        .binary = true,
        .probe = probe,
        .open = open_trace,
        .next = next,
        .close = close_trace,
};
