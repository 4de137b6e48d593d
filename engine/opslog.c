#include "engine/opslog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/varint.h"

#define RING_BYTES (4u << 20)
#define OP_BYTES 128u          /* more than any op takes */
#define BLOCK_MAX (1u << 24)   /* of a reader: no block is longer */
#define NAMES_MAX 65536u

enum block_type { PHASE = 1, OPS = 2 };

struct dbio_opslog {
        FILE *file;
        int error;
};

/* --- numbers ------------------------------------------------------------------------------------------------------ */

static int64_t unzigzag(uint64_t value)
{
        return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void put32(unsigned char *at, uint32_t value)
{
        for (unsigned i = 0; i < 4; i++)
                at[i] = (unsigned char)(value >> 8 * i);
}

static uint32_t get32(const unsigned char *at)
{
        return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* --- workers ------------------------------------------------------------------------------------------------------ */

int dbio_opslog_buffer_init(struct dbio_opslog_buffer *buffer)
{
        memset(buffer, 0, sizeof *buffer);
        buffer->used = 4;
        return dbio_ring_init(&buffer->ring, RING_BYTES);
}

void dbio_opslog_buffer_release(struct dbio_opslog_buffer *buffer)
{
        dbio_ring_release(&buffer->ring);
}

void dbio_opslog_flush(struct dbio_opslog_buffer *buffer)
{
        void *at = buffer->nr ? dbio_ring_reserve(&buffer->ring, buffer->used, 0) : NULL;

        if (!at && buffer->nr && buffer->make_room) {
                buffer->make_room(buffer->user);
                at = dbio_ring_reserve(&buffer->ring, buffer->used, 0);
        }
        if (at) {
                put32(buffer->block, buffer->nr);
                memcpy(at, buffer->block, buffer->used);
                dbio_ring_commit(&buffer->ring, buffer->used);
                buffer->logged += buffer->nr;
        } else {
                buffer->lost += buffer->nr;
        }
        buffer->nr = 0;
        buffer->used = 4;
        buffer->last_ns = 0;
}

void dbio_opslog_add(struct dbio_opslog_buffer *buffer, const struct dbio_opslog_op *op)
{
        if (buffer->used + OP_BYTES > DBIO_OPSLOG_BLOCK)
                dbio_opslog_flush(buffer);
        unsigned char *at = buffer->block + buffer->used;

        *at++ = (unsigned char)(op->op.kind | (op->error ? 128 : 0));
        *at++ = op->op.role;
        *at++ = op->op.flags;
        at = dbio_varint_put(at, op->stream);
        at = dbio_varint_put(at, op->op.thread);
        at = dbio_varint_put(at, op->seq);
        at = dbio_varint_put(at, op->op.target);
        at = dbio_varint_put(at, op->op.offset);
        at = dbio_varint_put(at, op->op.length);
        at = dbio_varint_put(at, op->op.episode);
        at = dbio_varint_put(at, dbio_zigzag((int64_t)(op->completed_ns - buffer->last_ns)));
        at = dbio_varint_put(at, op->completed_ns - op->submitted_ns);
        at = dbio_varint_put(at, op->submitted_ns - op->intended_ns);
        if (op->error)
                at = dbio_varint_put(at, (unsigned)op->error);
        buffer->last_ns = op->completed_ns;
        buffer->used = (uint32_t)(at - buffer->block);
        buffer->nr++;
}

/* --- the writer --------------------------------------------------------------------------------------------------- */

int dbio_opslog_open(struct dbio_opslog **out, const char *path, struct dbio_err *err)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        struct dbio_opslog *log = calloc(1, sizeof *log);

        if (fd < 0 || !log || !(log->file = fdopen(fd, "w"))) {
                dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
                if (fd >= 0)
                        close(fd);
                free(log);
                return -1;
        }
        if (fwrite(DBIO_OPSLOG_MAGIC, 8, 1, log->file) != 1)
                log->error = errno;
        *out = log;
        return 0;
}

static void write_block(struct dbio_opslog *log, enum block_type type, const void *payload, size_t bytes)
{
        unsigned char head[12];

        if (log->error)
                return;
        put32(head, type);
        put32(head + 4, (uint32_t)bytes);
        put32(head + 8, (uint32_t)crc32(0, payload, (unsigned)bytes));
        if (fwrite(head, sizeof head, 1, log->file) != 1 || fwrite(payload, bytes, 1, log->file) != 1)
                log->error = errno ? errno : EIO;
}

static unsigned char *put_name(unsigned char *at, const char *name)
{
        size_t size = strlen(name) + 1;

        memcpy(at, name, size);
        return at + size;
}

void dbio_opslog_phase(struct dbio_opslog *log, const struct dbio_schedule *schedule, const struct dbio_phase *phase)
{
        size_t bytes = strlen(phase->name) + 32;

        for (unsigned i = 0; i < phase->nstreams; i++)
                bytes += strlen(phase->streams[i].name) + 1;
        for (unsigned i = 0; i < schedule->ntargets; i++)
                bytes += strlen(schedule->target_names[i]) + 1;
        unsigned char *payload = malloc(bytes), *at = payload;

        if (!payload) {
                log->error = ENOMEM;
                return;
        }
        at = dbio_varint_put(at, phase->nstreams);
        at = dbio_varint_put(at, schedule->ntargets);
        at = put_name(at, phase->name);
        for (unsigned i = 0; i < phase->nstreams; i++)
                at = put_name(at, phase->streams[i].name);
        for (unsigned i = 0; i < schedule->ntargets; i++)
                at = put_name(at, schedule->target_names[i]);
        write_block(log, PHASE, payload, (size_t)(at - payload));
        free(payload);
}

void dbio_opslog_drain(struct dbio_opslog *log, struct dbio_opslog_buffer *buffer)
{
        const void *at;
        size_t size;

        while ((at = dbio_ring_oldest(&buffer->ring, &size))) {
                write_block(log, OPS, at, size);
                dbio_ring_release_oldest(&buffer->ring);
        }
}

int dbio_opslog_close(struct dbio_opslog *log, struct dbio_err *err)
{
        int error;

        if (!log)
                return 0;
        error = log->error;
        if (fclose(log->file) && !error)
                error = errno;
        free(log);
        return error ? dbio_err_set(err, DBIO_IO, "the ops log is not complete: %s", strerror(error)) : 0;
}

/* --- the reader --------------------------------------------------------------------------------------------------- */

struct reader {
        FILE *file;
        unsigned char *block, *phase; /* payloads; names point into phase's */
        const char **names;
        struct dbio_opslog_names view;
        int (*row)(void *user, const struct dbio_opslog_names *names, const struct dbio_opslog_op *op);
        void *user;
};

bool dbio_opslog_is(const char *path)
{
        FILE *file = fopen(path, "re");
        char magic[8];
        bool is = file && fread(magic, 8, 1, file) == 1 && !memcmp(magic, DBIO_OPSLOG_MAGIC, 8);

        if (file)
                fclose(file);
        return is;
}

/* 1 = a block, 0 = the end, -1 = not whole. */
static int read_block(struct reader *reader, uint32_t *type, uint32_t *bytes)
{
        unsigned char head[12];
        size_t got = fread(head, 1, sizeof head, reader->file);

        if (!got)
                return 0;
        *type = get32(head);
        *bytes = get32(head + 4);
        if (got != sizeof head || !*bytes || *bytes > BLOCK_MAX)
                return -1;
        free(reader->block);
        reader->block = malloc(*bytes);
        if (!reader->block || fread(reader->block, *bytes, 1, reader->file) != 1 ||
            crc32(0, reader->block, *bytes) != get32(head + 8))
                return -1;
        return 1;
}

static int take_phase(struct reader *reader, uint32_t bytes)
{
        const unsigned char *end = reader->block + bytes, *at = reader->block;
        uint64_t nstreams, ntargets;

        at = dbio_varint_get(dbio_varint_get(at, end, &nstreams), end, &ntargets);
        if (!at || nstreams > NAMES_MAX || ntargets > NAMES_MAX)
                return -1;
        free(reader->names);
        reader->names = calloc(1 + nstreams + ntargets, sizeof *reader->names);
        if (!reader->names)
                return -1;
        for (uint64_t i = 0; i < 1 + nstreams + ntargets; i++) {
                const unsigned char *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

                if (!nul)
                        return -1;
                reader->names[i] = (const char *)at;
                at = nul + 1;
        }
        free(reader->phase);
        reader->phase = reader->block;
        reader->block = NULL;
        reader->view = (struct dbio_opslog_names){reader->names[0], (unsigned)nstreams, (unsigned)ntargets,
                                                  reader->names + 1, reader->names + 1 + nstreams};
        return 0;
}

static const unsigned char *unpack(const unsigned char *at, const unsigned char *end, uint64_t *last_ns,
                                   struct dbio_opslog_op *op)
{
        uint64_t stream, thread, target, length, episode, completed, service, wait, error = 0;
        bool failed;

        if (end - at < 3)
                return NULL;
        memset(op, 0, sizeof *op);
        failed = *at & 128;
        op->op.kind = *at++ & 127;
        op->op.role = *at++;
        op->op.flags = *at++;
        op->op.due_ns = DBIO_NO_DUE;
        at = dbio_varint_get(dbio_varint_get(dbio_varint_get(dbio_varint_get(at, end, &stream), end, &thread), end, &op->seq), end, &target);
        at = dbio_varint_get(dbio_varint_get(dbio_varint_get(at, end, &op->op.offset), end, &length), end, &episode);
        at = dbio_varint_get(dbio_varint_get(dbio_varint_get(at, end, &completed), end, &service), end, &wait);
        if (failed)
                at = dbio_varint_get(at, end, &error);
        if (!at || op->op.kind >= DBIO_COMMIT || op->op.role >= DBIO_ROLES || thread > UINT16_MAX)
                return NULL;
        op->stream = (uint32_t)stream;
        op->op.thread = (uint16_t)thread;
        op->op.target = (uint16_t)target;
        op->op.length = (uint32_t)length;
        op->op.episode = (uint32_t)episode;
        op->completed_ns = *last_ns = *last_ns + (uint64_t)unzigzag(completed);
        op->submitted_ns = op->completed_ns - service;
        op->intended_ns = op->submitted_ns - wait;
        op->error = (int)error;
        return at;
}

/* -1 = damaged, else 0 or what row said. */
static int take_ops(struct reader *reader, uint32_t bytes, bool *damaged)
{
        const unsigned char *at = reader->block + 4, *end = reader->block + bytes;
        uint32_t nr = bytes >= 4 ? get32(reader->block) : 0;
        uint64_t last_ns = 0;

        for (uint32_t i = 0; i < nr; i++) {
                struct dbio_opslog_op op;
                int result;

                at = unpack(at, end, &last_ns, &op);
                if (!at || op.stream >= reader->view.nstreams || op.op.target >= reader->view.ntargets) {
                        *damaged = true;
                        return 0;
                }
                result = reader->row(reader->user, &reader->view, &op);
                if (result)
                        return result;
        }
        return 0;
}

int dbio_opslog_read(const char *path,
                     int (*row)(void *user, const struct dbio_opslog_names *names, const struct dbio_opslog_op *op),
                     void *user, struct dbio_err *err)
{
        struct reader reader = {.file = fopen(path, "re"), .row = row, .user = user};
        bool damaged = false;
        uint32_t type, bytes;
        char magic[8];
        int result = 0, more = 0;

        if (!reader.file)
                return dbio_err_set(err, errno == ENOENT ? DBIO_USAGE : DBIO_IO, "%s: %s", path, strerror(errno));
        if (fread(magic, 8, 1, reader.file) != 1 || memcmp(magic, DBIO_OPSLOG_MAGIC, 8))
                damaged = true;
        while (!damaged && !result && (more = read_block(&reader, &type, &bytes)) > 0) {
                if (type == PHASE)
                        damaged = take_phase(&reader, bytes);
                else if (type == OPS)
                        result = take_ops(&reader, bytes, &damaged);
                else
                        damaged = true;
        }
        if (damaged || more < 0)
                result = dbio_err_set(err, DBIO_USAGE, "%s: no whole ops log: damaged or cut short", path);
        fclose(reader.file);
        free(reader.block);
        free(reader.phase);
        free(reader.names);
        return result;
}
