#include "results/host.h"

#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/device.h"

static json_t *text_or_null(const char *text)
{
        json_t *value = text && *text ? json_string(text) : NULL;

        return value ? value : json_null();
}

static json_t *number_or_null(uint64_t value)
{
        return value ? json_integer((json_int_t)value) : json_null();
}

/* The value behind the first "KEY : value" of a file in /proc. */
static void find_line(const char *path, const char *key, char *value, size_t size)
{
        char line[4096];
        FILE *file = fopen(path, "re");

        value[0] = 0;
        while (file && !value[0] && fgets(line, sizeof line, file)) {
                char *colon = strchr(line, ':');

                if (!colon || strncmp(line, key, strlen(key)))
                        continue;
                line[strcspn(line, "\n")] = 0;
                snprintf(value, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
        }
        if (file)
                fclose(file);
}

static void read_text(const char *path, char *text, size_t size)
{
        FILE *file = fopen(path, "re");

        text[0] = 0;
        if (file && fgets(text, (int)size, file))
                text[strcspn(text, "\n")] = 0;
        if (file)
                fclose(file);
}

char *dbio_host_json(void)
{
        struct utsname name = {0};
        struct sysinfo info = {0};
        char cpu[256], flags[4096], governor[64];
        cpu_set_t set;

        uname(&name);
        sysinfo(&info);
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof set, &set);
        find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
        find_line("/proc/cpuinfo", "flags", flags, sizeof flags);
        read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
        json_t *host = json_pack("{s:s, s:s, s:s, s:o, s:i, s:i, s:o, s:I, s:b}", "host", name.nodename, "kernel",
                                 name.release, "machine", name.machine, "cpu", text_or_null(cpu), "cpus",
                                 (int)sysconf(_SC_NPROCESSORS_ONLN), "cpus_allowed", CPU_COUNT(&set), "governor",
                                 text_or_null(governor), "memory_bytes", (json_int_t)info.totalram * info.mem_unit,
                                 "hypervisor", strstr(flags, " hypervisor") != NULL);
        char *text = host ? json_dumps(host, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
        json_decref(host);
        return text;
}

/* The eighth number of /proc/stat's first line, in USER_HZ (proc(5)). */
uint64_t dbio_host_steal_ns(void)
{
        char line[512];
        uint64_t steal = 0;

        read_text("/proc/stat", line, sizeof line);
        if (sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steal) != 1)
                return 0;
        return steal * 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
}

void dbio_host_hash(const char *text, char hex[DBIO_HOST_HASH_SIZE])
{
        uint64_t hash = 0xcbf29ce484222325ull;

        for (; *text; text++)
                hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
        snprintf(hex, DBIO_HOST_HASH_SIZE, "%016" PRIx64, hash);
}

static json_t *hash_of(const char *text)
{
        char hex[DBIO_HOST_HASH_SIZE];

        if (!*text)
                return json_null();
        dbio_host_hash(text, hex);
        return json_string(hex);
}

static json_t *device_facts(dev_t number)
{
        struct dbio_device d;

        if (!number || dbio_device_read(&d, number, NULL))
                return json_null();
        return json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:i, s:i, s:b}", "name", d.name, "model",
                         text_or_null(d.model), "serial_hash", hash_of(d.serial), "wwn_hash", hash_of(d.wwn), "firmware",
                         text_or_null(d.firmware), "size_bytes", (json_int_t)d.size_bytes, "scheduler",
                         text_or_null(d.scheduler), "nr_requests", number_or_null(d.nr_requests), "max_sectors_kb",
                         number_or_null(d.max_sectors_kb), "write_cache", text_or_null(d.write_cache), "logical_block",
                         (int)d.logical_block, "physical_block", (int)d.physical_block, "rotational", d.rotational);
}

static json_t *file_system_facts(const char *path)
{
        struct dbio_file_facts f;

        if (!path || dbio_file_facts_read(&f, path, true, NULL))
                return json_null();
        return json_pack("{s:o, s:i, s:i, s:o, s:o}", "type", text_or_null(f.filesystem), "block", (int)f.block, "cluster",
                         (int)f.cluster, "options", text_or_null(f.mount_options), "extents",
                         f.extents_known ? json_integer((json_int_t)f.extents.extents) : json_null());
}

static json_t *target_facts(const struct dbio_targets *targets, const struct dbio_target *target, const char *binding)
{
        static const char *const kinds[] = {"none", "file", "block", "sim"};
        json_t *files = json_array();

        for (unsigned i = 0; i < target->geometry.nfiles && target->first_file + i < targets->nfiles; i++) {
                const struct dbio_target_file *file = &targets->files[target->first_file + i];

                if (!file->path)
                        continue;
                json_array_append_new(files, json_pack("{s:s, s:o, s:o}", "path", file->path, "device",
                                                       device_facts(file->device), "file_system",
                                                       file->block ? json_null() : file_system_facts(file->path)));
        }
        return json_pack("{s:s, s:o, s:s, s:I, s:i, s:o}", "name", target->name, "binding", text_or_null(binding), "kind",
                         kinds[target->kind], "size_bytes",
                         (json_int_t)(target->geometry.file_size * target->geometry.nfiles), "sector",
                         (int)target->geometry.sector, "files", files);
}

char *dbio_host_targets_json(const struct dbio_targets *targets, const char *const *bindings)
{
        json_t *all = json_array();

        for (unsigned i = 0; i < targets->n; i++)
                json_array_append_new(all, target_facts(targets, &targets->targets[i], bindings ? bindings[i] : NULL));
        char *text = json_dumps(all, JSON_COMPACT | JSON_PRESERVE_ORDER);
        json_decref(all);
        return text;
}

/* The place of a device in the list, made where it is new. */
static unsigned place_of(struct dbio_host_devices *devices, dev_t dev)
{
        struct dbio_device facts;
        unsigned i = 0;

        while (i < devices->n && devices->devices[i].dev != dev)
                i++;
        if (i < devices->n)
                return i;
        devices->devices[i].dev = dev;
        devices->devices[i].name = strdup(dbio_device_read(&facts, dev, NULL) ? "?" : facts.name);
        devices->n++;
        return i;
}

int dbio_host_devices_init(struct dbio_host_devices *devices, const struct dbio_targets *targets, struct dbio_err *err)
{
        size_t room = targets->nfiles + 1;
        double *shares = calloc(room * (targets->n + 1), sizeof *shares);

        *devices = (struct dbio_host_devices){.foreign_counts = targets->n > 0, .memory = shares};
        devices->devices = calloc(room, sizeof *devices->devices);
        if (!devices->devices || !shares) {
                dbio_host_devices_release(devices);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        for (unsigned d = 0; d < room; d++)
                devices->devices[d].shares = shares + d * targets->n;
        for (unsigned t = 0; t < targets->n; t++) {
                const struct dbio_target *target = &targets->targets[t];

                devices->foreign_counts &= target->kind == DBIO_TARGET_BLOCK;
                for (unsigned i = 0; i < target->geometry.nfiles && target->first_file + i < targets->nfiles; i++) {
                        const struct dbio_target_file *file = &targets->files[target->first_file + i];

                        if (file->path && file->device)
                                shares[place_of(devices, file->device) * targets->n + t] += 1.0 / target->geometry.nfiles;
                }
        }
        return 0;
}

void dbio_host_devices_release(struct dbio_host_devices *devices)
{
        for (unsigned d = 0; d < devices->n; d++)
                free((char *)devices->devices[d].name);
        free(devices->devices);
        free(devices->memory);
        *devices = (struct dbio_host_devices){0};
}
