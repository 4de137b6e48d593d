#include "replay/packed.h"

#include <string.h>

static const struct {
        const char *name, *command, *magic;
        size_t size;
} packers[] = {
        {"gzip", "zcat", "\x1F\x8B\x08", 3},         /* RFC 1952 */
        {"xz", "xzcat", "\xFD" "7zXZ\0", 6},         /* the .xz file format, 2.1.1.1 */
        {"zstd", "zstdcat", "\x28\xB5\x2F\xFD", 4},  /* RFC 8878 */
        {"bzip2", "bzcat", "BZh", 3},
        {"zip", "unzip -p", "PK\3\4", 4},
};

int dbio_packed_check(const char *path, const void *head, size_t size, struct dbio_err *err)
{
        for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
                if (size >= packers[i].size && !memcmp(head, packers[i].magic, packers[i].size)) {
                        dbio_err_set(err, DBIO_USAGE, "packed by %s: unpack it first, or give what `%s FILE |` writes as /dev/stdin",
                                     packers[i].name, packers[i].command);
                        return dbio_err_locate(err, path, 0, 0);
                }
        return 0;
}
