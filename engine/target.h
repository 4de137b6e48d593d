/* Targets: bindings, opening, geometry, making files. Safety's refusals are in engine/guard.h. */
#ifndef DBIO_ENGINE_TARGET_H
#define DBIO_ENGINE_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/backend.h"
#include "engine/err.h"
#include "engine/schedule.h"

/* A binding as the user wrote it: PATH[,PATH…], PATH@OFFSET, sim:PROFILE[#NAME], sim:./file.yaml. */
struct dbio_binding {
        char *target;          /* name */
        char *text;            /* the whole, as written */
        unsigned npaths;
        char **paths;          /* without @OFFSET */
        uint64_t *offsets;     /* bytes, 0 where none was given */
        bool simulated;
        char *profile, *share; /* sim only; share NULL without #NAME */
        char *file;            /* it stands in, at line and column; NULL = on the command line */
        unsigned line, column;
};

/* Parses `NAME=BINDING`; offsets take the units of engine/units.h. DBIO_USAGE. */
int dbio_binding_parse(struct dbio_binding *binding, const char *text, struct dbio_err *err);
void dbio_binding_release(struct dbio_binding *binding);

enum dbio_size_unit { DBIO_SIZE_BYTES, DBIO_SIZE_SHARE, DBIO_SIZE_DEFAULT };

/* What a workload says of a target. */
struct dbio_target_spec {
        const char *name;
        enum dbio_size_unit unit;
        uint64_t size_bytes;   /* DBIO_SIZE_BYTES */
        double size_share;     /* DBIO_SIZE_SHARE: of the bound device or existing file, 1 = all; also the default */
        unsigned page;         /* bytes */
        unsigned nfiles;       /* 0 = number of paths */
        struct dbio_layout {
                bool contiguous;
                uint32_t cluster;          /* bytes, 0 = not given */
                uint64_t grow, aged;       /* bytes, 0 = none; they exclude each other */
                bool interleave;
                uint64_t partition_offset; /* bytes */
        } layout;
        struct dbio_precondition {
                unsigned fill, overwrite; /* times it is written whole, in sequence and at random */
                bool until_steady;
        } precondition;
        bool reads, writes;    /* what streams do with it, over all phases; writes includes trims */
};

enum dbio_target_kind { DBIO_TARGET_NONE, DBIO_TARGET_FILE, DBIO_TARGET_BLOCK, DBIO_TARGET_SIM };

struct dbio_target {
        const char *name;
        enum dbio_target_kind kind;
        struct dbio_geometry geometry;
        unsigned first_file;   /* its files are files[first_file … + geometry.nfiles) of dbio_targets */
};

/* What stands behind one io file (same index); where it begins in that is io_files' base. */
struct dbio_target_file {
        char *path;            /* NULL under null and on simulated devices */
        dev_t device;          /* the block device it is or lies on; 0 = none or not known */
        bool block;
        bool missing;          /* to be made by dbio_targets_open; then false */
        bool shares_fd;        /* an earlier file's fd: not closed twice */
        dev_t number;          /* which file or device it is, however it is called: a block device's number, else … */
        ino_t inode;           /* … st_dev and st_ino; both 0 while it is missing */
        uint64_t start;        /* of a partition in its disk (then number is the disk's): byte 0 of the path */
};

struct dbio_targets {
        unsigned n;
        struct dbio_target *targets;   /* in workload order */
        unsigned nfiles;
        struct dbio_file *io_files;    /* what backends get; one a file of a target */
        struct dbio_target_file *files;
};

struct dbio_target_options {
        bool create;           /* make missing files */
        bool prepare;          /* write what is unwritten */
        bool buffered;         /* no O_DIRECT (tests on file systems without it) */
        bool null_engine;      /* bind nothing: sizes are shares of 100 GiB, sector 512 */
        /* may be NULL; done_bytes is 0 where something begins */
        void (*progress)(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes);
        void *user;
        atomic_int *stop; /* set from outside: making a file ends, what was made goes; may be NULL */
        /* Capacity and sector of a simulated binding's device; without it simulated bindings are an error. */
        int (*sim_geometry)(void *user, const struct dbio_binding *binding, uint64_t *bytes, unsigned *sector,
                            struct dbio_err *err);
        void *sim_user;
};

/* Resolves sizes and files without opening any, so that guards can look first: fills paths, sizes and geometry.
 * A size's share is of the bound device (`all`: what is left behind @OFFSET) or existing file; several paths count as
 * so many of the smallest. Each file's size is rounded down to 1 MiB. A binding without target or target without
 * binding, overlapping bindings, a count of paths that does not match `files`, a page that is no multiple of the
 * sector, a share of a file that does not exist, a missing file without create, one that is too small: DBIO_USAGE;
 * errno on a path: DBIO_IO. Accepts a target list that failed in dbio_targets_close. */
int dbio_targets_resolve(struct dbio_targets *targets, const struct dbio_target_spec *specs, unsigned nspecs,
                         const struct dbio_binding *bindings, unsigned nbindings,
                         const struct dbio_target_options *options, struct dbio_err *err);

/* Creates, prepares and opens what was resolved; only after the guards have agreed. Files that it made are marked as
 * dbio's (dbio_file_is_own); half-made ones go again where it fails. Block devices that are written are opened with
 * O_EXCL; where that fails, or where another process has come to a file to be written: DBIO_REFUSED. */
int dbio_targets_open(struct dbio_targets *targets, const struct dbio_target_spec *specs,
                      const struct dbio_target_options *options, struct dbio_err *err);
void dbio_targets_close(struct dbio_targets *targets);

/* Whether both are one file, or lie on one disk, however they are called; also where it is still to be made. */
bool dbio_target_file_same(const struct dbio_target_file *a, const struct dbio_target_file *b);

/* Whether dbio made this file: extended attribute user.dbio, else a sidecar FILE.dbio. */
bool dbio_file_is_own(const char *path);

/* For dbio_targets_open (target_make.c): DBIO_REFUSED where all that it is to make and to fill would leave less than 5 %
 * or 10 GiB (the smaller of the two) of a file system free; asked before the first byte is written. */
int dbio_targets_check_room(const struct dbio_targets *targets, const struct dbio_target_spec *specs,
                            const struct dbio_target_options *options, struct dbio_err *err);
/* Writes every byte of a target's missing files, in the order of its layout (`grow`, `interleave`), and every unwritten
 * byte of its existing ones. DBIO_IO. */
int dbio_target_create(struct dbio_targets *targets, unsigned target, const struct dbio_target_spec *spec,
                       const struct dbio_target_options *options, struct dbio_err *err);
int dbio_target_prepare(struct dbio_targets *targets, unsigned target, const struct dbio_target_options *options,
                        struct dbio_err *err);
/* Bytes that must stay free on a file system of this size. */
uint64_t dbio_target_reserve(uint64_t filesystem_bytes);

/* The io file (index into io_files) and the offset in it of a byte of a target's address space. */
static inline unsigned dbio_target_map(const struct dbio_target *target, uint64_t offset, uint64_t *in_file)
{
        unsigned k = target->geometry.nfiles == 1 ? 0 : (unsigned)(offset / target->geometry.file_size);

        *in_file = offset - k * target->geometry.file_size;
        return target->first_file + k;
}

#endif
