/* Streams compiled one by one and driven against a device whose time depends on the kind of op. */
#ifndef DBIO_TESTS_ONEDRIVE_H
#define DBIO_TESTS_ONEDRIVE_H

#include "tests/drive.h"
#include "tests/one.h"

/* Writes take user[0] ns, fsyncs user[1], reads user[2]. */
static inline uint64_t by_kind(void *user, const struct dbio_op *op)
{
        const uint64_t *latency = user;

        return latency[op->kind == DBIO_WRITE ? 0 : op->kind == DBIO_FSYNC ? 1 : 2];
}

static inline struct drive *drive_one(struct one *one, uint64_t *latency)
{
        struct drive *drive = drive_new(by_kind, latency);

        for (unsigned i = 0; i < one->nstreams; i++)
                drive_add(drive, one->streams[i].sources[0]);
        return drive;
}

#endif
