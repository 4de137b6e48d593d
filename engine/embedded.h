/* Files compiled in: configs/ and the report's assets, by their path in the source tree. */
#ifndef DBIO_ENGINE_EMBEDDED_H
#define DBIO_ENGINE_EMBEDDED_H

#include <stddef.h>

struct dbio_embedded {
        const char *path; /* configs/sqlserver/oltp.yaml */
        const char *text; /* terminated; size does not count that */
        size_t size;
};

extern const struct dbio_embedded dbio_embedded[]; /* ended by path NULL */

/* NULL where there is none. */
const struct dbio_embedded *dbio_embedded_find(const char *path);

#endif
