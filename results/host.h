/* Facts of the host and of what the targets lie on, kept with a run so that a change of them can be named. */
#ifndef DBIO_RESULTS_HOST_H
#define DBIO_RESULTS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/err.h"
#include "engine/target.h"
#include "results/recorder.h"

/* A JSON object: host, kernel, cpu, cpus, governor, memory_bytes, hypervisor (what is not known is null). At the run's
 * end the store adds steal_ns, the CPU time that a hypervisor took from this machine meanwhile. The caller frees; NULL
 * without memory. */
char *dbio_host_json(void);

/* Stolen CPU time since boot, over all CPUs; 0 where the kernel does not say. */
uint64_t dbio_host_steal_ns(void);

/* A JSON array, an object a target: name, binding, kind (`block`, `file`, `sim`, `none`), size_bytes, sector, and files,
 * each with path and, where known, device (name, model, serial_hash, wwn_hash, firmware, size_bytes, scheduler,
 * nr_requests, max_sectors_kb, write_cache, logical_block, physical_block, rotational) and file_system (type, block,
 * cluster, options, extents). bindings: the text of each target as the user gave it, NULL entries allowed. The caller
 * frees; NULL without memory. */
char *dbio_host_targets_json(const struct dbio_targets *targets, const char *const *bindings);

/* serial_hash and wwn_hash: names a device again without telling its serial (FNV-1a). */
#define DBIO_HOST_HASH_SIZE 17
void dbio_host_hash(const char *text, char hex[DBIO_HOST_HASH_SIZE]);

/* The block devices under the targets, for dbio_recorder_options. */
struct dbio_host_devices {
        unsigned n;
        struct dbio_recorder_device *devices;
        bool foreign_counts; /* every target is a block device: see struct dbio_validity */
        void *memory;
};
int dbio_host_devices_init(struct dbio_host_devices *devices, const struct dbio_targets *targets, struct dbio_err *err);
void dbio_host_devices_release(struct dbio_host_devices *devices);

#endif
