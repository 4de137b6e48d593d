/* Schedule files: what `compile` and `import` write and `run`, `explain` and `diff` read.
 *
 * A header of 32 bytes, little endian: the magic `DBIOSCHD`, u32 version (1), u32 kind, u64 body bytes, u32 CRC-32 of
 * the body, u32 CRC-32 of the header's first 28 bytes. Kind 1: the body is a resolved workload's text. Kind 2: a trace (replay/trace.h), whose chunks carry checksums of their own, so
 * that a schedule of any length starts at once; body bytes and CRC are 0.
 */
#ifndef DBIO_REPLAY_SCHEDULEFILE_H
#define DBIO_REPLAY_SCHEDULEFILE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/err.h"

#define DBIO_SCHEDULE_VERSION 1u
enum dbio_schedule_kind { DBIO_SCHEDULE_WORKLOAD = 1, DBIO_SCHEDULE_TRACE = 2 };

struct dbio_schedule_header {
        char magic[8];
        uint32_t version, kind;
        uint64_t body_bytes;
        uint32_t body_crc, header_crc;
};

/* Reads a header: 0 where the file does not begin with the magic (or cannot be opened: the caller's other readers say
 * why), 1 where it does and is whole, -1 (DBIO_USAGE) where it is damaged or of another version. */
int dbio_schedulefile_probe(const char *path, struct dbio_schedule_header *header, struct dbio_err *err);

/* The workload text of a kind-1 file (malloced): 1 and the text, 0 where the file is no such file, -1 where it is
 * damaged, truncated or of another version. */
int dbio_schedulefile_read_workload(const char *path, char **text, size_t *size, struct dbio_err *err);

/* Writes a kind-1 file, whole or not at all. DBIO_IO, DBIO_USAGE. */
int dbio_schedulefile_write_workload(const char *path, const char *text, size_t size, struct dbio_err *err);

#endif
