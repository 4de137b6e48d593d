#include "patterns/io.h"

#include <inttypes.h>

#include "patterns/random.h"

int dbio_io_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err)
{
        const struct dbio_io_config *c = config;

        if (c->size != DBIO_UNSET && c->sizes.n)
                return dbio_key_error(err, "sizes", "size and sizes exclude each other");
        if (c->fsync_every != DBIO_UNSET && c->read >= 1)
                return dbio_key_error(err, "fsync_every", "fsync_every needs writes (read below 100%%)");
        return dbio_read_keys_check(keys, config, err);
}

int dbio_io_sizes(struct dbio_mix *sizes, const struct dbio_io_config *config, const struct dbio_geometry *geometry,
                  struct dbio_err *err)
{
        *sizes = config->sizes.n ? config->sizes : dbio_mix_of(config->size == DBIO_UNSET ? 8192 : config->size);
        if (!config->sector)
                return 0;
        if (config->sector % geometry->sector)
                return dbio_err_set(err, DBIO_USAGE, "sector: %" PRIu64 " is no multiple of the target's sector of %u",
                                    config->sector, geometry->sector);
        for (unsigned i = 0; i < sizes->n; i++)
                sizes->size[i] = (sizes->size[i] + config->sector - 1) / config->sector * config->sector;
        return 0;
}
