#include "engine/embedded.h"

#include <string.h>

const struct dbio_embedded *dbio_embedded_find(const char *path)
{
        for (const struct dbio_embedded *file = dbio_embedded; file->path; file++)
                if (!strcmp(file->path, path))
                        return file;
        return NULL;
}
