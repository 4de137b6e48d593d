/* Schedule files of traces: behind the header (replay/schedulefile.h) chunks of 32-byte records, each behind {u32 count, u32
 * CRC-32}; then a footer of JSON and the chunks' checksums, and a trailer of 32 bytes that says where the footer is. All
 * little endian. Opened in constant time, read in constant memory. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/sha256.h"
#include "replay/output.h"
#include "replay/schedulefile.h"
#include "replay/session.h"
#include "replay/tracefeed.h"

#define CHUNK_OPS 4096u
#define FOOTER_MAX (256u << 20)

struct record {
        uint64_t t_ns, offset;
        uint32_t length, after;
        uint64_t packed; /* target 16, kind 4, flags 4 (fua, datasync), think 40 bits */
};
struct chunk {
        uint32_t n, crc;
        struct record records[CHUNK_OPS];
};
struct trailer {
        char magic[8];
        uint64_t footer_at;
        uint32_t json_bytes, nchunks, footer_crc, crc;
};
static const char end_magic[8] = {'D', 'B', 'I', 'O', 'T', 'E', 'N', 'D'};

struct dbio_trace_file {
        char *path;
        int fd;
        uint32_t nchunks, chunk, at, *crcs;
        struct chunk *buffer;
        uint64_t footer_at, ops;
};

static uint32_t checksum(uint32_t crc, const void *data, size_t size)
{
        return (uint32_t)crc32(crc, data, (uInt)size);
}

static void pack(const struct dbio_trace_op *op, struct record *record)
{
        uint64_t flags = (op->flags & DBIO_OP_FUA ? 1u : 0) | (op->flags & DBIO_OP_DATASYNC ? 2u : 0);

        record->t_ns = htole64(op->t_ns);
        record->offset = htole64(op->offset);
        record->length = htole32(op->length);
        record->after = htole32(op->after);
        record->packed = htole64(op->target | (uint64_t)op->kind << 16 | flags << 20 | op->think_ns << 24);
}

static void unpack(const struct record *record, struct dbio_trace_op *op)
{
        uint64_t packed = le64toh(record->packed);

        op->t_ns = le64toh(record->t_ns);
        op->offset = le64toh(record->offset);
        op->length = le32toh(record->length);
        op->after = le32toh(record->after);
        op->target = (uint16_t)packed;
        op->kind = packed >> 16 & 15;
        op->flags = (uint8_t)((packed >> 20 & 1 ? DBIO_OP_FUA : 0) | (packed >> 21 & 1 ? DBIO_OP_DATASYNC : 0));
        op->think_ns = packed >> 24;
}

/* --- the footer ---------------------------------------------------------------------------------------------------- */

/* The summary's numbers, in both directions. */
#define NUMBER(field) {#field, offsetof(struct dbio_trace_summary, field)}
static const struct {
        const char *name;
        size_t at;
} numbers[] = {
        NUMBER(first_ns), NUMBER(last_ns), NUMBER(min_offset), NUMBER(max_end), NUMBER(sequential), NUMBER(inversions),
        NUMBER(bad), NUMBER(misaligned[0]), NUMBER(misaligned[1]), NUMBER(rounded), NUMBER(folded), NUMBER(gap_bytes), NUMBER(dropped),
        NUMBER(left_out), NUMBER(spread), NUMBER(spread_seconds), NUMBER(completions), NUMBER(zero_length), NUMBER(preflushes), NUMBER(end_ns),
        NUMBER(ios[0]), NUMBER(ios[1]), NUMBER(ios[2]), NUMBER(ios[3]), NUMBER(bytes[0]), NUMBER(bytes[1]), NUMBER(bytes[2]),
        NUMBER(bytes[3]),
};

/* JSON's integers have a sign; stamps of Windows reach beyond 2^63. */
static json_t *number_json(uint64_t value)
{
        return json_sprintf("%" PRIu64, value);
}

static uint64_t number_of(const json_t *value)
{
        const char *text = json_string_value(value);

        return text ? strtoull(text, NULL, 10) : 0;
}

static char *footer_text(struct dbio_trace_feed *feed, uint64_t ops)
{
        const struct dbio_trace_summary *summary = dbio_trace_feed_summary(feed);
        json_t *root = json_object(), *targets = json_array(), *sizes = json_array();

        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
                json_object_set_new(root, numbers[i].name, number_json(*(uint64_t *)((char *)summary + numbers[i].at)));
        for (unsigned i = 0; i < sizeof summary->sizes / sizeof *summary->sizes; i++)
                json_array_append_new(sizes, number_json(summary->sizes[i]));
        for (unsigned i = 0; i < dbio_trace_feed_targets(feed); i++) {
                const struct dbio_trace_target *target = dbio_trace_feed_target(feed, i);
                json_array_append_new(targets, json_pack("{s:s, s:b, s:b, s:o, s:o}", "name", target->name, "reads", target->reads,
                                                         "writes", target->writes, "begin", number_json(target->begin),
                                                         "end", number_json(target->end)));
        }
        json_object_set_new(root, "ops", number_json(ops));
        json_object_set_new(root, "sizes", sizes);
        json_object_set_new(root, "targets", targets);
        json_object_set_new(root, "peak_depth", json_integer(summary->peak_depth));
        json_object_set_new(root, "max_length", json_integer(summary->max_length));
        json_object_set_new(root, "fold", json_boolean(feed->options.fold));
        json_object_set_new(root, "untimed", json_boolean(summary->untimed));
        json_object_set_new(root, "first_misaligned", json_string(summary->first_misaligned));
        json_object_set_new(root, "first_bad", json_string(summary->first_bad));
        json_object_set_new(root, "note", json_string(summary->note));
        char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(root);
        return text;
}

static int read_text(const json_t *root, const char *key, char *to, size_t size)
{
        const char *text = json_string_value(json_object_get(root, key));

        snprintf(to, size, "%s", text ? text : "");
        return text ? 0 : -1;
}

static int read_targets(struct dbio_trace_feed *feed, const json_t *targets, struct dbio_err *err)
{
        size_t i;
        json_t *item;

        json_array_foreach(targets, i, item) {
                const char *name = json_string_value(json_object_get(item, "name"));
                if (!name || i >= UINT16_MAX || dbio_trace_target_add(feed, name, err) != (int)i)
                        return -1;
                feed->targets[i].reads = json_is_true(json_object_get(item, "reads"));
                feed->targets[i].writes = json_is_true(json_object_get(item, "writes"));
                feed->targets[i].begin = number_of(json_object_get(item, "begin"));
                feed->targets[i].end = number_of(json_object_get(item, "end"));
        }
        return 0;
}

static int read_footer(struct dbio_trace_feed *feed, const char *text, size_t size)
{
        struct dbio_trace_summary *summary = &feed->summary;
        struct dbio_err ignored;
        json_t *root = json_loadb(text, size, 0, NULL);
        int code = root ? 0 : -1;
        size_t i;
        json_t *item;

        for (i = 0; !code && i < sizeof numbers / sizeof *numbers; i++)
                *(uint64_t *)((char *)summary + numbers[i].at) = number_of(json_object_get(root, numbers[i].name));
        json_array_foreach(json_object_get(root, "sizes"), i, item)
                if (i < sizeof summary->sizes / sizeof *summary->sizes)
                        summary->sizes[i] = number_of(item);
        feed->ops = number_of(json_object_get(root, "ops"));
        summary->peak_depth = (unsigned)json_integer_value(json_object_get(root, "peak_depth"));
        summary->max_length = (uint32_t)json_integer_value(json_object_get(root, "max_length"));
        summary->untimed = json_is_true(json_object_get(root, "untimed"));
        feed->options.fold |= json_is_true(json_object_get(root, "fold"));
        if (!code)
                code = read_text(root, "note", summary->note, sizeof summary->note) |
                       read_text(root, "first_bad", summary->first_bad, sizeof summary->first_bad) |
                       read_text(root, "first_misaligned", summary->first_misaligned, sizeof summary->first_misaligned) |
                       read_targets(feed, json_object_get(root, "targets"), &ignored);
        json_decref(root);
        return code || summary->max_length > DBIO_TRACE_LENGTH_MAX ? -1 : 0;
}

/* --- writing ------------------------------------------------------------------------------------------------------- */

struct writer {
        FILE *out;
        struct chunk *chunk;
        uint32_t *crcs;
        uint32_t nchunks, room;
        uint64_t at, ops;
};

static int write_chunk(struct writer *w)
{
        struct chunk *chunk = w->chunk;
        size_t size = chunk->n * sizeof(struct record);
        uint32_t n = chunk->n;

        if (w->nchunks == w->room) {
                uint32_t room = w->room ? 2 * w->room : 1024;
                uint32_t *grown = realloc(w->crcs, room * sizeof *grown);
                if (!grown)
                        return -1;
                w->crcs = grown;
                w->room = room;
        }
        uint32_t crc = checksum(0, chunk->records, size);
        w->crcs[w->nchunks++] = htole32(crc);
        chunk->n = htole32(n);
        chunk->crc = htole32(crc);
        if (fwrite(chunk, 8 + size, 1, w->out) != 1)
                return -1;
        w->at += 8 + size;
        chunk->n = 0;
        return 0;
}

static int write_footer(struct writer *w, struct dbio_trace_feed *feed)
{
        char *text = footer_text(feed, w->ops);
        size_t size = text ? strlen(text) : 0, ncrcs = w->nchunks * sizeof *w->crcs;
        uint32_t crc = checksum(checksum(0, text, size), w->crcs, ncrcs);
        struct trailer trailer = {.footer_at = htole64(w->at), .json_bytes = htole32((uint32_t)size),
                                  .nchunks = htole32(w->nchunks), .footer_crc = htole32(crc)};
        int ok = text && fwrite(text, size, 1, w->out) == 1 && (!ncrcs || fwrite(w->crcs, ncrcs, 1, w->out) == 1);

        memcpy(trailer.magic, end_magic, sizeof end_magic);
        trailer.crc = htole32(checksum(0, &trailer, offsetof(struct trailer, crc)));
        ok = ok && fwrite(&trailer, sizeof trailer, 1, w->out) == 1;
        free(text);
        return ok ? 0 : -1;
}

/* 0, -1 with errno, or 1 where err has been filled. */
static int write_all(struct writer *w, struct dbio_trace_feed *feed, struct dbio_err *err)
{
        struct dbio_schedule_header header = {.version = htole32(DBIO_SCHEDULE_VERSION), .kind = htole32(DBIO_SCHEDULE_TRACE)};
        struct dbio_trace_op op;
        int code;

        memcpy(header.magic, "DBIOSCHD", 8);
        header.header_crc = htole32(checksum(0, &header, offsetof(struct dbio_schedule_header, header_crc)));
        if (fwrite(&header, sizeof header, 1, w->out) != 1)
                return -1;
        w->at = sizeof header;
        while ((code = dbio_trace_feed_next(feed, &op, err)) > 0) {
                if (dbio_interrupt_flag) {
                        dbio_err_set(err, DBIO_IO, "interrupted");
                        return 1;
                }
                pack(&op, &w->chunk->records[w->chunk->n++]);
                w->ops++;
                if (w->chunk->n == CHUNK_OPS && write_chunk(w))
                        return -1;
        }
        if (code < 0)
                return 1;
        if (!w->ops) {
                dbio_err_set(err, DBIO_USAGE, "there is no I/O in it");
                dbio_err_locate(err, feed->input.paths[0], 0, 0);
                return 1;
        }
        if (feed->options.misaligned == DBIO_MISALIGNED_REFUSE && feed->summary.misaligned[0]) {
                dbio_err_set(err, DBIO_USAGE, "%" PRIu64 " ops do not begin and end on 512 bytes, first %s; --misaligned round "
                                              "widens them, pass leaves them as they are", feed->summary.misaligned[0],
                             feed->summary.first_misaligned);
                return 1;
        }
        if (!w->ops) {
                dbio_err_set(err, DBIO_USAGE, "there is no I/O in it");
                dbio_err_locate(err, feed->input.paths[0], 0, 0);
                return 1;
        }
        return (w->chunk->n && write_chunk(w)) || write_footer(w, feed) ? -1 : 0;
}

int dbio_trace_file_write(struct dbio_trace_feed *feed, const char *path, struct dbio_err *err)
{
        struct dbio_output output;
        struct writer w = {.chunk = calloc(1, sizeof *w.chunk)};

        if (!w.chunk)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (dbio_output_open(&output, path, err)) {
                free(w.chunk);
                return -1;
        }
        dbio_interrupt_watch(); /* what was begun is to go */
        w.out = output.file;
        int code = write_all(&w, feed, err);
        if (code < 0) {
                dbio_err_set(err, DBIO_IO, "cannot write: %s", strerror(errno));
                dbio_err_locate(err, path, 0, 0);
        }
        if (dbio_output_close(&output, !code, err))
                code = -1;
        free(w.chunk);
        free(w.crcs);
        return code ? -1 : 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------- */

static int damaged(const struct dbio_trace_file *file, const char *what, struct dbio_err *err)
{
        dbio_err_set(err, DBIO_USAGE, "schedule file %s; make it again with `dbio import`", what);
        return dbio_err_locate(err, file->path, 0, 0);
}

static int read_at(const struct dbio_trace_file *file, void *to, size_t size, uint64_t at, struct dbio_err *err)
{
        ssize_t got = pread(file->fd, to, size, (off_t)at);

        if (got < 0) {
                dbio_err_set(err, DBIO_IO, "cannot read: %s", strerror(errno));
                return dbio_err_locate(err, file->path, 0, 0);
        }
        return (size_t)got == size ? 0 : damaged(file, "is truncated", err);
}

static int load_footer(struct dbio_trace_feed *feed, struct dbio_trace_file *file, struct dbio_err *err)
{
        struct trailer trailer;
        off_t end = lseek(file->fd, 0, SEEK_END);
        int code = -1;

        if (end < (off_t)(sizeof trailer + sizeof(struct dbio_schedule_header)))
                return damaged(file, "is truncated", err);
        if (read_at(file, &trailer, sizeof trailer, (uint64_t)end - sizeof trailer, err))
                return -1;
        if (memcmp(trailer.magic, end_magic, sizeof end_magic))
                return damaged(file, "is truncated", err);
        uint64_t at = le64toh(trailer.footer_at), json_bytes = le32toh(trailer.json_bytes), ncrcs = le32toh(trailer.nchunks);
        if (le32toh(trailer.crc) != checksum(0, &trailer, offsetof(struct trailer, crc)) ||
            at > (uint64_t)end || json_bytes + 4 * ncrcs > FOOTER_MAX ||
            at + json_bytes + 4 * ncrcs + sizeof trailer != (uint64_t)end)
                return damaged(file, "is damaged: trailer", err);
        size_t size = json_bytes + 4 * ncrcs;
        char *text = malloc(size + 1);
        file->crcs = malloc(4 * ncrcs + 1);
        if (!text || !file->crcs) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto out;
        }
        if (read_at(file, text, size, at, err))
                goto out;
        if (checksum(0, text, size) != le32toh(trailer.footer_crc) || read_footer(feed, text, json_bytes)) {
                damaged(file, "is damaged: footer", err);
                goto out;
        }
        memcpy(file->crcs, text + json_bytes, 4 * ncrcs);
        file->nchunks = (uint32_t)ncrcs;
        file->footer_at = at;
        dbio_sha256_hex(text, size, feed->hash);
        code = 0;
out:
        free(text);
        return code;
}

int dbio_trace_feed_open_file(struct dbio_trace_feed **out, const char *path, const struct dbio_trace_options *options,
                              struct dbio_err *err)
{
        struct dbio_schedule_header header;
        int found = dbio_schedulefile_probe(path, &header, err);

        *out = NULL;
        if (found <= 0 || header.kind != DBIO_SCHEDULE_TRACE)
                return found < 0 ? -1 : 0;
        struct dbio_trace_feed *feed = calloc(1, sizeof *feed);
        struct dbio_trace_file *file = calloc(1, sizeof *file);
        if (!feed || !file) {
                free(feed);
                free(file);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        feed->options = *options;
        feed->file = file;
        file->path = strdup(path);
        file->buffer = malloc(sizeof *file->buffer);
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (!file->buffer || !file->path || file->fd < 0) {
                dbio_err_set(err, DBIO_IO, "cannot read %s: %s", path, strerror(errno));
                dbio_trace_feed_close(feed);
                return -1;
        }
        if (load_footer(feed, file, err)) {
                dbio_trace_feed_close(feed);
                return -1;
        }
        *out = feed;
        return 1;
}

static int load_chunk(struct dbio_trace_file *file, struct dbio_err *err)
{
        uint64_t at = sizeof(struct dbio_schedule_header) + (uint64_t)file->chunk * sizeof *file->buffer;
        uint64_t left = at < file->footer_at ? file->footer_at - at : 0;
        size_t size = left < sizeof *file->buffer ? (size_t)left : sizeof *file->buffer;

        if (size < 8)
                return damaged(file, "is damaged: its length", err);
        if (read_at(file, file->buffer, size, at, err))
                return -1;
        uint32_t n = le32toh(file->buffer->n), crc = le32toh(file->buffer->crc);
        if (!n || n > CHUNK_OPS || 8 + n * sizeof(struct record) != size || crc != le32toh(file->crcs[file->chunk]) ||
            checksum(0, file->buffer->records, n * sizeof(struct record)) != crc)
                return damaged(file, "is damaged: checksum", err);
        posix_fadvise(file->fd, (off_t)(at + size), 8 << 20, POSIX_FADV_WILLNEED);
        file->buffer->n = n;
        return 0;
}

int dbio_trace_file_next(struct dbio_trace_feed *feed, struct dbio_trace_op *op, struct dbio_err *err)
{
        struct dbio_trace_file *file = feed->file;
        char place[64];

        if (file->chunk == file->nchunks) {
                feed->over = true;
                return 0;
        }
        if (!file->at && load_chunk(file, err))
                return -1;
        unpack(&file->buffer->records[file->at], op);
        if (op->target >= feed->ntargets || op->kind > DBIO_TRIM ||
            (op->kind <= DBIO_WRITE && op->length > DBIO_TRACE_LENGTH_MAX) || op->offset > (uint64_t)INT64_MAX - op->length)
                return damaged(file, "is damaged: an op", err);
        if (++file->at == file->buffer->n) {
                file->at = 0;
                file->chunk++;
        }
        if (feed->options.reads_only && op->kind != DBIO_READ) {
                op->flags |= DBIO_TRACE_DROPPED;
                feed->summary.dropped++;
        } else if (feed->fitted) {
                snprintf(place, sizeof place, "op %" PRIu64, file->ops + 1);
                if (dbio_trace_fit(feed, op, place, err))
                        return -1;
        }
        file->ops++;
        return 1;
}

void dbio_trace_file_close(struct dbio_trace_file *file)
{
        if (!file)
                return;
        if (file->fd >= 0)
                close(file->fd);
        free(file->path);
        free(file->crcs);
        free(file->buffer);
        free(file);
}
