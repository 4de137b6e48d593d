#include "replay/tracelines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/packed.h"

#define LINE_MAX_BYTES (512u << 10)
#define READ_BYTES (256u << 10)
#define ROOM (LINE_MAX_BYTES + 3 * READ_BYTES) /* UTF-16 grows by half at most */
#define AHEAD_BYTES (8u << 20)

static int io_error(const struct dbio_trace_lines *lines, struct dbio_err *err)
{
        dbio_err_set(err, errno == ENOENT || errno == EISDIR ? DBIO_USAGE : DBIO_IO, "cannot read: %s", strerror(errno));
        return dbio_err_locate(err, lines->paths[lines->path], 0, 0);
}

static int open_file(struct dbio_trace_lines *lines, struct dbio_err *err)
{
        lines->fd = open(lines->paths[lines->path], O_RDONLY | O_CLOEXEC);
        if (lines->fd < 0)
                return io_error(lines, err);
        posix_fadvise(lines->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        lines->line = 0;
        lines->at = lines->size = lines->nraw = 0;
        lines->ended = false;
        lines->utf16 = 0;
        return 0;
}

int dbio_trace_lines_open(struct dbio_trace_lines *lines, const char *const *paths, unsigned npaths, struct dbio_err *err)
{
        memset(lines, 0, sizeof *lines);
        lines->paths = paths;
        lines->npaths = npaths;
        lines->fd = -1;
        lines->buffer = malloc(ROOM + 1);
        lines->raw = malloc(READ_BYTES + 4);
        if (!lines->buffer || !lines->raw)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        return open_file(lines, err);
}

static void put_character(struct dbio_trace_lines *lines, uint32_t c)
{
        char *to = lines->buffer + lines->size;

        if (c >= 0xD800 && c < 0xDC00) {
                lines->high = c;
                return;
        }
        if (c >= 0xDC00 && c < 0xE000)
                c = lines->high ? 0x10000 + ((lines->high - 0xD800) << 10) + (c - 0xDC00) : 0xFFFD;
        lines->high = 0;
        if (c < 0x80) {
                to[0] = (char)c;
                lines->size += 1;
        } else if (c < 0x800) {
                to[0] = (char)(0xC0 | c >> 6);
                to[1] = (char)(0x80 | (c & 63));
                lines->size += 2;
        } else if (c < 0x10000) {
                to[0] = (char)(0xE0 | c >> 12);
                to[1] = (char)(0x80 | (c >> 6 & 63));
                to[2] = (char)(0x80 | (c & 63));
                lines->size += 3;
        } else {
                to[0] = (char)(0xF0 | c >> 18);
                to[1] = (char)(0x80 | (c >> 12 & 63));
                to[2] = (char)(0x80 | (c >> 6 & 63));
                to[3] = (char)(0x80 | (c & 63));
                lines->size += 4;
        }
}

static void decode(struct dbio_trace_lines *lines)
{
        unsigned low = lines->utf16 == 1 ? 0 : 1;
        size_t n = lines->nraw & ~(size_t)1;

        for (size_t i = 0; i < n; i += 2)
                put_character(lines, (uint32_t)lines->raw[i + low] | (uint32_t)lines->raw[i + 1 - low] << 8);
        if (n < lines->nraw)
                lines->raw[0] = lines->raw[n];
        lines->nraw -= n;
}

/* The first bytes of a file: drops a mark, or goes over to UTF-16. */
static void look_at_mark(struct dbio_trace_lines *lines, size_t begin)
{
        const unsigned char *mark = (unsigned char *)lines->buffer + begin;
        size_t n = lines->size - begin;

        if (n >= 3 && !memcmp(mark, "\xEF\xBB\xBF", 3)) {
                lines->at += 3;
        } else if (n >= 2 && (!memcmp(mark, "\xFF\xFE", 2) || !memcmp(mark, "\xFE\xFF", 2))) {
                lines->utf16 = mark[0] == 0xFF ? 1 : 2;
                lines->nraw = n - 2;
                memcpy(lines->raw, mark + 2, lines->nraw);
                lines->size = begin;
                lines->high = 0;
                decode(lines);
        }
}

static int read_more(struct dbio_trace_lines *lines, struct dbio_err *err)
{
        bool first = !lines->line && !lines->size;
        ssize_t got;

        memmove(lines->buffer, lines->buffer + lines->at, lines->size - lines->at);
        lines->size -= lines->at;
        lines->at = 0;
        do {
                got = lines->utf16 ? read(lines->fd, lines->raw + lines->nraw, READ_BYTES)
                                   : read(lines->fd, lines->buffer + lines->size, READ_BYTES);
        } while (got < 0 && errno == EINTR);
        if (got < 0)
                return io_error(lines, err);
        lines->ended = got == 0;
        if (lines->utf16) {
                lines->nraw += (size_t)got;
                decode(lines);
        } else {
                lines->size += (size_t)got;
        }
        if (first && !lines->utf16 && dbio_packed_check(lines->paths[lines->path], lines->buffer, lines->size, err)) {
                if (err)
                        err->code = DBIO_REFUSED; /* there is no way on */
                return -1;
        }
        if (first)
                look_at_mark(lines, 0);
        off_t position = lseek(lines->fd, 0, SEEK_CUR);
        if (position > 0) /* so that a run does not wait for the trace's own disk */
                posix_fadvise(lines->fd, position, AHEAD_BYTES, POSIX_FADV_WILLNEED);
        return 0;
}

static int give(struct dbio_trace_lines *lines, size_t end, char **text, size_t *size)
{
        char *begin = lines->buffer + lines->at;
        size_t n = end - lines->at;

        while (n && (begin[n - 1] == '\r' || begin[n - 1] == ' ' || begin[n - 1] == '\t'))
                n--;
        begin[n] = 0;
        lines->at = end + (end < lines->size);
        lines->line++;
        *text = begin;
        *size = n;
        return 1;
}

int dbio_trace_lines_next(struct dbio_trace_lines *lines, char **text, size_t *size, struct dbio_err *err)
{
        size_t seen = 0;

        for (;;) {
                size_t left = lines->size - lines->at - seen;
                char *newline = memchr(lines->buffer + lines->at + seen, '\n', left);
                if (newline)
                        return give(lines, (size_t)(newline - lines->buffer), text, size);
                seen = lines->size - lines->at;
                if (seen > LINE_MAX_BYTES) {
                        lines->line++;
                        lines->at = lines->size;
                        return dbio_trace_lines_bad(lines, 0, err, "a line of more than 512 KiB: no text of this format");
                }
                if (!lines->ended) {
                        if (read_more(lines, err))
                                return -1;
                        if (seen > lines->size - lines->at)
                                seen = 0; /* a mark was dropped */
                        continue;
                }
                if (seen)
                        return give(lines, lines->size, text, size);
                if (lines->path + 1 >= lines->npaths)
                        return 0;
                close(lines->fd);
                lines->path++;
                if (open_file(lines, err))
                        return -1;
        }
}

void dbio_trace_lines_close(struct dbio_trace_lines *lines)
{
        if (lines->paths && lines->fd >= 0)
                close(lines->fd);
        free(lines->buffer);
        free(lines->raw);
        memset(lines, 0, sizeof *lines);
        lines->fd = -1;
}

int dbio_trace_lines_bad(const struct dbio_trace_lines *lines, size_t at, struct dbio_err *err, const char *format, ...)
{
        char text[700];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        dbio_err_set(err, DBIO_USAGE, "%s", text);
        return dbio_err_locate(err, lines->paths[lines->path], (unsigned)lines->line, (unsigned)at + 1);
}

bool dbio_trace_time(const char **text, uint64_t unit_ns, uint64_t *ns, bool *whole)
{
        const char *at = *text;
        uint64_t value, part = 0, scale = 1;

        if (!dbio_trace_number(&at, &value) || __builtin_mul_overflow(value, unit_ns, ns))
                return false;
        *whole = *at != '.';
        if (*at == '.')
                for (at++; (unsigned char)(*at - '0') < 10; at++)
                        if (scale < 1000000000) {
                                part = 10 * part + (unsigned)(*at - '0');
                                scale *= 10;
                        }
        *text = at;
        return !__builtin_add_overflow(*ns, part * unit_ns / scale, ns);
}

static char *end_of_quoted(char *at, char **text)
{
        char *to = at;

        for (*text = at; *at; at++) {
                if (*at == '"' && *++at != '"')
                        break;
                *to++ = *at;
        }
        char *rest = at;
        *to = 0;
        return rest;
}

unsigned dbio_trace_split(char *text, char separator, char **fields, unsigned max)
{
        bool blanks = separator == ' ';
        unsigned n = 0;
        char *at = text;

        while (n < max) {
                while (*at == ' ' || (*at == '\t' && separator != '\t'))
                        at++;
                if (!*at && (blanks || !n))
                        break;
                if (*at == '"') {
                        char *rest = end_of_quoted(at + 1, &fields[n]);
                        at = rest;
                } else {
                        fields[n] = at;
                }
                n++;
                while (*at && *at != separator && !(blanks && *at == '\t'))
                        at++;
                if (!*at)
                        break;
                *at++ = 0;
        }
        return n;
}
