/* Names of a trace's devices, numbered in the order of their first use. */
#ifndef DBIO_REPLAY_TRACEDEVICES_H
#define DBIO_REPLAY_TRACEDEVICES_H

#include <stddef.h>
#include <stdint.h>

struct dbio_trace_devices;

struct dbio_trace_devices *dbio_trace_devices_new(void); /* NULL without memory */
void dbio_trace_devices_free(struct dbio_trace_devices *devices); /* accepts NULL */
/* UINT32_MAX without memory. */
uint32_t dbio_trace_devices_find(struct dbio_trace_devices *devices, const char *name, size_t size);
const char *dbio_trace_devices_name(const struct dbio_trace_devices *devices, uint32_t device);
unsigned dbio_trace_devices_count(const struct dbio_trace_devices *devices);

#endif
