#include "replay/schedulefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "replay/output.h"

static const char magic[8] = {'D', 'B', 'I', 'O', 'S', 'C', 'H', 'D'};

#define MAX_WORKLOAD (16u << 20)

static uint32_t checksum(const void *data, size_t size)
{
        return (uint32_t)crc32(0, data, (uInt)size);
}

static int damaged(const char *path, const char *what, struct dbio_err *err)
{
        dbio_err_set(err, DBIO_USAGE, "schedule file %s; make it again with `dbio compile` or `dbio import`", what);
        return dbio_err_locate(err, path, 0, 0);
}

static int check_header(const struct dbio_schedule_header *header, const char *path, struct dbio_err *err)
{
        if (header->header_crc != checksum(header, offsetof(struct dbio_schedule_header, header_crc)))
                return damaged(path, "is damaged: header checksum", err);
        if (header->version != DBIO_SCHEDULE_VERSION) {
                dbio_err_set(err, DBIO_USAGE, "schedule file of version %u; this dbio reads version %u", header->version,
                             DBIO_SCHEDULE_VERSION);
                return dbio_err_locate(err, path, 0, 0);
        }
        return 1;
}

int dbio_schedulefile_probe(const char *path, struct dbio_schedule_header *header, struct dbio_err *err)
{
        FILE *file = fopen(path, "rb");

        if (!file)
                return 0;
        memset(header, 0, sizeof *header);
        size_t got = fread(header, 1, sizeof *header, file);
        fclose(file);
        if (got < sizeof magic || memcmp(header->magic, magic, sizeof magic))
                return 0;
        if (got < sizeof *header)
                return damaged(path, "is truncated", err);
        return check_header(header, path, err);
}

int dbio_schedulefile_read_workload(const char *path, char **text, size_t *size, struct dbio_err *err)
{
        struct dbio_schedule_header header;
        int found = dbio_schedulefile_probe(path, &header, err);

        if (found <= 0 || header.kind != DBIO_SCHEDULE_WORKLOAD)
                return found < 0 ? -1 : 0;
        if (header.body_bytes > MAX_WORKLOAD)
                return damaged(path, "is damaged: its length", err);
        FILE *file = fopen(path, "rb");
        *size = (size_t)header.body_bytes;
        *text = malloc(*size + 1);
        size_t got = file && *text && !fseek(file, sizeof header, SEEK_SET) ? fread(*text, 1, *size + 1, file) : 0;
        if (file)
                fclose(file);
        if (got != *size || checksum(*text, *size) != header.body_crc) {
                free(*text);
                *text = NULL;
                return damaged(path, got < *size ? "is truncated" : "is damaged: checksum", err);
        }
        (*text)[*size] = 0;
        return 1;
}

int dbio_schedulefile_write_workload(const char *path, const char *text, size_t size, struct dbio_err *err)
{
        struct dbio_schedule_header header = {.version = DBIO_SCHEDULE_VERSION, .kind = DBIO_SCHEDULE_WORKLOAD,
                                              .body_bytes = size, .body_crc = checksum(text, size)};
        struct dbio_output output;

        memcpy(header.magic, magic, sizeof magic);
        header.header_crc = checksum(&header, offsetof(struct dbio_schedule_header, header_crc));
        if (dbio_output_open(&output, path, err))
                return -1;
        fwrite(&header, sizeof header, 1, output.file);
        fwrite(text, 1, size, output.file);
        return dbio_output_close(&output, true, err);
}
