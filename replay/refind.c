#include "replay/refind.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/device.h"
#include "results/host.h"

/* What the run kept of a device. */
struct kept {
        const char *serial_hash, *wwn_hash, *name; /* NULL = not known */
        uint64_t size_bytes;
};

static bool hash_fits(const char *kept, const char *text)
{
        char hex[DBIO_HOST_HASH_SIZE];

        dbio_host_hash(text, hex);
        return !kept || !strcmp(kept, hex);
}

/* sda2, nvme0n1p2: of partitions of one disk the number tells which. */
static const char *number_of(const char *name)
{
        const char *end = name + strlen(name);

        while (end > name && isdigit((unsigned char)end[-1]))
                end--;
        return end;
}

static bool is_it(const struct kept *kept, const struct dbio_device *device)
{
        return hash_fits(kept->serial_hash, device->serial) && hash_fits(kept->wwn_hash, device->wwn) &&
               device->size_bytes == kept->size_bytes &&
               (!device->partition || !strcmp(number_of(device->name), number_of(kept->name)));
}

/* The facts kept of a path of the target; false where it was no device, or one without serial and WWN. */
static bool find_kept(json_t *targets, const char *target, const char *path, struct kept *kept)
{
        size_t t, f;
        json_t *entry, *file;

        json_array_foreach(targets, t, entry) {
                const char *name = json_string_value(json_object_get(entry, "name"));
                if (!name || strcmp(name, target))
                        continue;
                json_array_foreach(json_object_get(entry, "files"), f, file) {
                        json_t *device = json_object_get(file, "device");
                        const char *of = json_string_value(json_object_get(file, "path"));
                        if (!of || strcmp(of, path) || !json_is_null(json_object_get(file, "file_system")))
                                continue;
                        *kept = (struct kept){
                                .serial_hash = json_string_value(json_object_get(device, "serial_hash")),
                                .wwn_hash = json_string_value(json_object_get(device, "wwn_hash")),
                                .name = json_string_value(json_object_get(device, "name")),
                                .size_bytes = (uint64_t)json_integer_value(json_object_get(device, "size_bytes")),
                        };
                        return kept->name && (kept->serial_hash || kept->wwn_hash);
                }
        }
        return false;
}

static bool is_still_there(const struct kept *kept, const char *path)
{
        struct dbio_device device;
        struct stat st;

        return !stat(path, &st) && S_ISBLK(st.st_mode) && !dbio_device_read(&device, st.st_rdev, NULL) && is_it(kept, &device);
}

/* How many devices are it; path is that of the last. */
static unsigned search(const struct kept *kept, char path[128])
{
        DIR *all = opendir("/sys/class/block");
        unsigned n = 0;

        for (struct dirent *entry; all && (entry = readdir(all));) {
                struct dbio_device device;
                struct stat st;
                char node[300];
                snprintf(node, sizeof node, "/dev/%s", entry->d_name);
                for (char *c = node; *c; c++) /* sysfs writes cciss/c0d0 so */
                        if (*c == '!')
                                *c = '/';
                if (entry->d_name[0] == '.' || stat(node, &st) || !S_ISBLK(st.st_mode) ||
                    dbio_device_read(&device, st.st_rdev, NULL) || !is_it(kept, &device))
                        continue;
                snprintf(path, 128, "%s", device.path);
                n++;
        }
        if (all)
                closedir(all);
        return n;
}

static int refind_path(struct dbio_binding *binding, unsigned i, const struct kept *kept, struct dbio_err *err)
{
        char now[128];
        unsigned n = search(kept, now);

        if (n != 1)
                return dbio_err_set(err, DBIO_USAGE, "target %s: %s is not the device that the run had, and %s its serial and "
                                                     "WWN: --target %s=PATH", binding->target, binding->paths[i],
                                    n ? "several have" : "none here has", binding->target);
        fprintf(stderr, "target %s: what was %s is %s now, by its serial or WWN\n", binding->target, binding->paths[i], now);
        free(binding->paths[i]);
        binding->paths[i] = strdup(now);
        return 0;
}

static void rewrite_text(struct dbio_binding *binding)
{
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        if (!out)
                return;
        for (unsigned i = 0; i < binding->npaths; i++) {
                fprintf(out, "%s%s", i ? "," : "", binding->paths[i]);
                if (binding->offsets[i])
                        fprintf(out, "@%" PRIu64, binding->offsets[i]);
        }
        fclose(out);
        free(binding->text);
        binding->text = text;
}

int dbio_binding_refind(struct dbio_binding *binding, const char *targets_json, struct dbio_err *err)
{
        json_t *targets = targets_json ? json_loads(targets_json, 0, NULL) : NULL;
        struct kept kept;
        bool changed = false;
        int code = 0;

        for (unsigned i = 0; !code && i < binding->npaths; i++) {
                if (!find_kept(targets, binding->target, binding->paths[i], &kept) || is_still_there(&kept, binding->paths[i]))
                        continue;
                code = refind_path(binding, i, &kept, err);
                changed = true;
        }
        if (!code && changed)
                rewrite_text(binding);
        json_decref(targets);
        return code;
}
