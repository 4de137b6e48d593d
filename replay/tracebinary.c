#include "replay/tracebinary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/packed.h"

static int io_error(const struct dbio_trace_binary *file, struct dbio_err *err)
{
        dbio_err_set(err, errno == ENOENT || errno == EISDIR ? DBIO_USAGE : DBIO_IO, "cannot read: %s", strerror(errno));
        return dbio_err_locate(err, file->path, 0, 0);
}

int dbio_trace_binary_open(struct dbio_trace_binary *file, const char *path, struct dbio_err *err)
{
        memset(file, 0, sizeof *file);
        file->path = path;
        file->buffer = malloc(DBIO_TRACE_BINARY_BYTES);
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (file->fd < 0)
                return io_error(file, err);
        if (!file->buffer)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return 0;
}

size_t dbio_trace_binary_peek(struct dbio_trace_binary *file, size_t want, const unsigned char **bytes, struct dbio_err *err)
{
        while (file->size - file->at < want && !file->ended && !file->failed) {
                memmove(file->buffer, file->buffer + file->at, file->size - file->at);
                file->size -= file->at;
                file->at = 0;
                ssize_t got = read(file->fd, file->buffer + file->size, DBIO_TRACE_BINARY_BYTES - file->size);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0) {
                        file->failed = true;
                        io_error(file, err);
                        return 0;
                }
                file->ended = got == 0;
                file->size += (size_t)got;
                if (!file->position && dbio_packed_check(file->path, file->buffer, file->size, err)) {
                        file->failed = true;
                        return 0;
                }
                posix_fadvise(file->fd, (off_t)(file->position + file->size), 8 << 20, POSIX_FADV_WILLNEED);
        }
        *bytes = file->buffer + file->at;
        return file->size - file->at < want ? file->size - file->at : want;
}

void dbio_trace_binary_close(struct dbio_trace_binary *file)
{
        if (file->fd >= 0)
                close(file->fd);
        free(file->buffer);
        memset(file, 0, sizeof *file);
        file->fd = -1;
}

int dbio_trace_binary_bad(const struct dbio_trace_binary *file, uint64_t place, struct dbio_err *err, const char *format, ...)
{
        char text[500];
        va_list args;

        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        dbio_err_set(err, DBIO_USAGE, "byte %" PRIu64 ": %s", place, text);
        return dbio_err_locate(err, file->path, 0, 0);
}
