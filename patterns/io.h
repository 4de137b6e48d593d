/* Keys that io.random and io.sequential share. */
#ifndef DBIO_PATTERNS_IO_H
#define DBIO_PATTERNS_IO_H

#include <stddef.h>

#include "patterns/common.h"

struct dbio_io_config {
        uint64_t size; /* DBIO_UNSET with sizes */
        struct dbio_mix sizes;
        double read;
        uint64_t sector;      /* 0 = auto */
        uint64_t fsync_every; /* writes of a thread, DBIO_UNSET = never */
        bool shared;          /* io.sequential */
};

#define DBIO_IO_FIELDS(config)                                                                                              \
        {.key = "size", .type = DBIO_FIELD_SIZE, .offset = offsetof(config, size), .min = 512, .max = 64 << 20,             \
         .help = "bytes an I/O, 8K unless sizes is given (fio bs, diskspd -b, SQLIO -b)", .source = "judgement"},           \
        {.key = "sizes", .type = DBIO_FIELD_MIX, .offset = offsetof(config, sizes),                                         \
         .help = "mix of sizes with their shares (fio bssplit)", .source = "judgement"},                                    \
        {.key = "read", .type = DBIO_FIELD_SHARE, .offset = offsetof(config, read), .fallback = "100%", .min = 0, .max = 1, \
         .help = "share of reads, the rest are writes (fio rwmixread, diskspd -w gives the writes, SQLIO -k)",              \
         .source = "judgement"},                                                                                            \
        {.key = "sector", .type = DBIO_FIELD_SIZE, .offset = offsetof(config, sector), .fallback = "auto", .min = 512,      \
         .max = 65536, .flags = DBIO_FIELD_SECTOR,                                                                          \
         .help = "sizes are rounded up to multiples of it; auto refuses what is no multiple of the target's",               \
         .source = "judgement"},                                                                                            \
        {.key = "fsync_every", .type = DBIO_FIELD_COUNT, .offset = offsetof(config, fsync_every), .min = 1, .max = 1e9,     \
         .flags = DBIO_FIELD_NONE, .help = "writes of a thread between two fsyncs (fio fsync)", .source = "judgement"}

/* "size or sizes, not both", and what dbio_read_keys_check says. */
int dbio_io_check(const struct dbio_stream_keys *keys, const void *config, struct dbio_err *err);
/* The sizes as they are on this target. DBIO_USAGE where the sector is smaller than the target's, or sizes do not fit. */
int dbio_io_sizes(struct dbio_mix *sizes, const struct dbio_io_config *config, const struct dbio_geometry *geometry,
                  struct dbio_err *err);

#endif
