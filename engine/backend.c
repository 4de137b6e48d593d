#include "engine/backend.h"

#include <string.h>

extern const struct dbio_backend dbio_backend_io_uring, dbio_backend_libaio, dbio_backend_null, dbio_backend_sim,
        dbio_backend_sync;

const struct dbio_backend *const dbio_backends[] = {
        &dbio_backend_io_uring,
        &dbio_backend_libaio,
        &dbio_backend_sync,
        &dbio_backend_null,
        &dbio_backend_sim,
        NULL,
};

const struct dbio_backend *dbio_backend_find(const char *name)
{
        for (unsigned i = 0; dbio_backends[i]; i++)
                if (!strcmp(dbio_backends[i]->name, name))
                        return dbio_backends[i];
        return NULL;
}
