#include "engine/backend.h"

#include <string.h>

#define BACKENDS(X) \
        X(io_uring) \
        X(libaio) \
        X(sync) \
        X(null) \
        X(sim)
#define DECLARE(name) extern const struct dbio_backend dbio_backend_##name;
#define ENTRY(name)   &dbio_backend_##name,
BACKENDS(DECLARE)

const struct dbio_backend *const dbio_backends[] = {BACKENDS(ENTRY) NULL};

const struct dbio_backend *dbio_backend_find(const char *name)
{
        for (unsigned i = 0; dbio_backends[i]; i++)
                if (!strcmp(dbio_backends[i]->name, name))
                        return dbio_backends[i];
        return NULL;
}
