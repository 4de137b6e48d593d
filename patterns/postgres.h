/* What PostgreSQL's patterns know of each other. */
#ifndef DBIO_PATTERNS_POSTGRES_H
#define DBIO_PATTERNS_POSTGRES_H

#include <stdint.h>

#include "engine/stream.h"

/* Begins the source of a postgres.checkpoint stream; read by the WAL of its group. */
struct dbio_postgres_checkpoint {
        struct dbio_source source;
        uint32_t episode; /* the one that runs or ran last, 0 = none yet */
};

#endif
