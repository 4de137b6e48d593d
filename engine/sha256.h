/* SHA-256 (FIPS 180-4), for hashes of schedules and profiles; not for secrets. */
#ifndef DBIO_ENGINE_SHA256_H
#define DBIO_ENGINE_SHA256_H

#include <stddef.h>

/* Lower-case hex of the hash of size bytes, terminated. */
void dbio_sha256_hex(const void *data, size_t size, char hex[65]);

#endif
