#include "replay/tracedevices.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct dbio_trace_devices {
        unsigned n, room;
        char **names;
        void *tree;      /* of struct named, by name */
        struct named {
                char *name;
                uint32_t number;
        } *last;         /* most lines name the same device as the line before */
};

static int by_name(const void *a, const void *b)
{
        return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

struct dbio_trace_devices *dbio_trace_devices_new(void)
{
        return calloc(1, sizeof(struct dbio_trace_devices));
}

static void free_entry(void *entry)
{
        free(((struct named *)entry)->name);
        free(entry);
}

void dbio_trace_devices_free(struct dbio_trace_devices *devices)
{
        if (!devices)
                return;
        tdestroy(devices->tree, free_entry);
        free(devices->names);
        free(devices);
}

static struct named *add(struct dbio_trace_devices *devices, const char *name, size_t size)
{
        struct named *entry = malloc(sizeof *entry);

        if (devices->n == devices->room) {
                unsigned room = devices->room ? 2 * devices->room : 16;
                char **grown = realloc(devices->names, room * sizeof *grown);
                if (!grown) {
                        free(entry);
                        return NULL;
                }
                devices->names = grown;
                devices->room = room;
        }
        if (!entry)
                return NULL;
        entry->name = strndup(name, size);
        entry->number = devices->n;
        if (!entry->name || !tsearch(entry, &devices->tree, by_name)) {
                free_entry(entry);
                return NULL;
        }
        devices->names[devices->n++] = entry->name;
        return entry;
}

uint32_t dbio_trace_devices_find(struct dbio_trace_devices *devices, const char *name, size_t size)
{
        struct named *last = devices->last, key;
        char text[256];
        void *found;

        if (last && !strncmp(last->name, name, size) && !last->name[size])
                return last->number;
        if (size >= sizeof text)
                size = sizeof text - 1;
        memcpy(text, name, size);
        text[size] = 0;
        key.name = text;
        found = tfind(&key, &devices->tree, by_name);
        last = found ? *(struct named **)found : add(devices, text, size);
        if (!last)
                return UINT32_MAX;
        devices->last = last;
        return last->number;
}

const char *dbio_trace_devices_name(const struct dbio_trace_devices *devices, uint32_t device)
{
        return devices->names[device];
}

unsigned dbio_trace_devices_count(const struct dbio_trace_devices *devices)
{
        return devices->n;
}
