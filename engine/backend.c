#include "engine/backend.h"

#include <stdio.h>
#include <string.h>

extern const struct dbio_backend dbio_backend_null;

const struct dbio_backend *const dbio_backends[] = {
        &dbio_backend_null,
        NULL,
};

const struct dbio_backend *dbio_backend_find(const char *name)
{
        for (unsigned i = 0; dbio_backends[i]; i++)
                if (!strcmp(dbio_backends[i]->name, name))
                        return dbio_backends[i];
        return NULL;
}

const struct dbio_backend *dbio_backend_choose(const struct dbio_file *files, unsigned nfiles, char *why, size_t size)
{
        static const char *const order[] = {"io_uring", "libaio", "sync", "null"};

        (void)files;
        (void)nfiles;
        for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
                const struct dbio_backend *backend = dbio_backend_find(order[i]);

                if (backend) {
                        snprintf(why, size, "the first of io_uring, libaio, sync, null that is built in");
                        return backend;
                }
        }
        return NULL;
}
