/* Backends: what carries ios out. One instance a worker, all calls on that worker's thread.
 *
 * To add one: a file engine/backend_NAME.c with a const struct dbio_backend, a line in the table of backend.c; the
 * suite tests/test_backend.c runs over every entry.
 */
#ifndef DBIO_ENGINE_BACKEND_H
#define DBIO_ENGINE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/err.h"
#include "engine/op.h"

/* One command on its way: an op, or a piece of one where the HBA's max_transfer split it. */
struct dbio_io {
        uint64_t offset;  /* bytes in the file; backends add its base */
        void *buffer;     /* length bytes inside the arena; NULL for fsync and trim */
        int64_t result;   /* set by reap: bytes moved, or -errno */
        uint32_t length;
        uint32_t slot;    /* unique among the ios in flight on this worker, < env.max_inflight */
        uint16_t file;    /* index into env.files */
        uint8_t kind;     /* enum dbio_kind, not DBIO_COMMIT */
        uint8_t flags;    /* enum dbio_op_flag: DSYNC, FUA, DATASYNC */
};

/* One file or device as the backend sees it. */
struct dbio_file {
        int fd;            /* opened as the target says; -1 under null and on simulated devices. Several files may
                            * share one: a device cut into parts, several targets on a device */
        uint64_t base;     /* where its byte 0 lies on fd: PATH@OFFSET, or the part's place */
        uint64_t size;     /* bytes usable */
        unsigned sector;   /* bytes: alignment of offset and length */
        unsigned memory_alignment;
        uint16_t target;   /* index of its target */
        bool block;        /* a block device: trims are discards; of files they are holes */
        bool checked;      /* what is read is held against sums, in the buffer: reads that share one would fail */
};

struct dbio_sim_spec; /* engine/sim.h: profiles and bindings of the simulated devices */

struct dbio_backend_env {
        struct dbio_clock *clock;
        const struct dbio_file *files;
        unsigned nfiles;
        void *arena;          /* fixed for the run, page aligned; open may register it */
        size_t arena_bytes;
        unsigned max_inflight;
        const struct dbio_sim_spec *sim; /* only for the simulated device */
};

struct dbio_backend {
        const char *name, *summary;
        /* Errors: DBIO_IO with errno where the kernel does not offer it. */
        int (*open)(void **state, const struct dbio_backend_env *env, struct dbio_err *err);
        /* Takes ios in order; returns the number accepted (the caller keeps the rest), 0 = full, < 0 = -errno: the
         * backend is broken. An io stays the backend's until reap returns it. */
        int (*submit)(void *state, struct dbio_io *const *ios, unsigned nr);
        /* The only place where a worker waits. Returns up to max finished ios, as soon as min are there or the clock
         * has reached until_ns (absolute; 0 = do not wait; UINT64_MAX = no limit), also with nothing in flight.
         * An io's own failure is in its result; a negative return means that the backend is broken. */
        int (*reap)(void *state, struct dbio_io **done, unsigned min, unsigned max, uint64_t until_ns);
        void (*close)(void *state);
};

/* All backends, ended by NULL; the simulated device is among them under the name `sim`. */
extern const struct dbio_backend *const dbio_backends[];

/* NULL where there is none of that name. */
const struct dbio_backend *dbio_backend_find(const char *name);

/* What `auto` means for these files on this kernel: io_uring where it is offered and the files do not make it punt to
 * kernel worker threads (known of open files only), else libaio, else sync. why (size bytes) gets the reason in words. */
const struct dbio_backend *dbio_backend_choose(const struct dbio_file *files, unsigned nfiles, char *why, size_t size);

#endif
