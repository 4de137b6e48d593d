#include "engine/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int dbio_err_set(struct dbio_err *err, enum dbio_code code, const char *format, ...)
{
        va_list args;

        if (!err)
                return -1;
        memset(err, 0, sizeof *err);
        err->code = code;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        return -1;
}

int dbio_err_locate(struct dbio_err *err, const char *file, unsigned line, unsigned column)
{
        if (!err)
                return -1;
        if (file)
                snprintf(err->file, sizeof err->file, "%s", file);
        err->line = line;
        err->column = column;
        return -1;
}

void dbio_err_format(const struct dbio_err *err, char *text, unsigned long size)
{
        int used;

        if (!err->file[0])
                used = snprintf(text, size, "dbio: error: %s\n", err->message);
        else if (!err->line)
                used = snprintf(text, size, "%s: error: %s\n", err->file, err->message);
        else
                used = snprintf(text, size, "%s:%u:%u: error: %s\n", err->file, err->line, err->column, err->message);
        if (err->path[0] && used > 0 && (unsigned long)used < size)
                snprintf(text + used, size - (unsigned long)used, "    at %s\n", err->path);
}
