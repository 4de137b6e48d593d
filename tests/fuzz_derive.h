/* Fuzz targets of derive and of past results: any bytes give a workload that loads, runs that are whole, or an error. */
#ifndef DBIO_TESTS_FUZZ_DERIVE_H
#define DBIO_TESTS_FUZZ_DERIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive.h"
#include "replay/oldresults.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error has a message, and the code of what is wrong with an input. */
static inline void fuzz_derive_error(const struct dbio_err *err)
{
        if (!*err->message || err->code != DBIO_USAGE)
                abort();
}

/* Two files where a 0xff stands alone: formats that take pairs. */
static inline int fuzz_derive(const char *name, const uint8_t *data, size_t size)
{
        struct dbio_derive_file files[2] = {{0}};
        const uint8_t *second = memchr(data ? data : (const uint8_t *)"", 0xff, size);
        size_t first = second && second > data ? (size_t)(second - data) : size;
        unsigned n = first < size ? 2 : 1;
        struct dbio_err err = {0};
        char *yaml, *lost;
        int code = dbio_derive_file_parse(&files[0], "a", (const char *)data, first, &err);

        if (!code && n == 2)
                code = dbio_derive_file_parse(&files[1], "b", (const char *)data + first + 1, size - first - 1, &err);
        for (const struct dbio_derive_format *const *format = dbio_derive_formats; !code && *format; format++) {
                if (strcmp((*format)->name, name))
                        continue;
                code = dbio_derive(*format, files, n, &yaml, &lost, &err);
                free(yaml);
                free(lost);
        }
        if (code)
                fuzz_derive_error(&err);
        dbio_derive_file_release(&files[0]);
        dbio_derive_file_release(&files[1]);
        return 0;
}

static inline int fuzz_old(const char *name, const uint8_t *data, size_t size)
{
        struct dbio_derive_file file = {0};
        struct dbio_old_results old = {0};
        struct dbio_err err = {0};
        int code = dbio_derive_file_parse(&file, "a", (const char *)data, size, &err);

        if (!code)
                code = dbio_old_format_find(name)->read(&file, &old, &err);
        if (code)
                fuzz_derive_error(&err);
        else if (!old.n)
                abort();
        dbio_old_results_release(&old);
        dbio_derive_file_release(&file);
        return 0;
}

#endif
