#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/near.h"
#include "replay/command.h"
#include "replay/derive.h"

static const struct dbio_derive_format *find(const char *name, struct dbio_err *err)
{
        const char *names[32], *near;
        unsigned n = 0;

        for (const struct dbio_derive_format *const *format = dbio_derive_formats; *format; format++) {
                if (!strcmp((*format)->name, name))
                        return *format;
                names[n++] = (*format)->name;
        }
        near = dbio_near_miss(name, names, n);
        dbio_err_set(err, DBIO_USAGE, "no format %s to derive from%s%s; `dbio describe formats` lists them", name,
                     near ? "; did you mean " : "", near ? near : "");
        return NULL;
}

static int write_file(const char *path, const char *text, struct dbio_err *err)
{
        FILE *file = fopen(path, "w");
        bool failed;

        if (!file)
                return dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        failed = fputs(text, file) < 0;
        failed |= fclose(file) != 0;
        return failed ? dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno)) : 0;
}

int dbio_cmd_derive(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const struct dbio_derive_format *format = find(line->arguments[0], err);
        const char *output = dbio_cmdline_value(line, DBIO_OPT_OUTPUT);
        unsigned n = line->narguments - 1;
        struct dbio_derive_file *files;
        char *yaml = NULL, *lost = NULL;
        int code = 0;

        if (!format)
                return -1;
        files = calloc(n, sizeof *files);
        if (!files)
                return dbio_err_set(err, DBIO_IO, "%s", strerror(ENOMEM));
        for (unsigned i = 0; !code && i < n; i++)
                code = dbio_derive_file_read(&files[i], line->arguments[i + 1], err);
        if (!code)
                code = dbio_derive(format, files, n, &yaml, &lost, err);
        for (char *next = lost, *text; !code && next && *next;) {
                text = strsep(&next, "\n");
                fprintf(stderr, "not expressed: %s\n", text);
        }
        if (!code)
                code = output ? write_file(output, yaml, err) : fputs(yaml, stdout) < 0 ? -1 : 0;
        for (unsigned i = 0; i < n; i++)
                dbio_derive_file_release(&files[i]);
        free(files);
        free(yaml);
        free(lost);
        return code;
}
