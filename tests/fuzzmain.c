/* The main of fuzz targets where libFuzzer gives none: feeds them the files, and the folders' files, that it is given.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
        FILE *file = fopen(path, "rb");
        uint8_t *data = NULL;
        size_t size = 0, room = 0, got;

        if (!file) {
                perror(path);
                return -1;
        }
        do {
                room += 1 << 16;
                data = realloc(data, room);
                if (!data)
                        abort();
                got = fread(data + size, 1, room - size, file);
                size += got;
        } while (got);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
        return 0;
}

static int replay_folder(const char *folder, unsigned *count)
{
        struct dirent *entry;
        DIR *dir = opendir(folder);
        int code = 0;

        if (!dir) {
                ++*count;
                return replay(folder);
        }
        while ((entry = readdir(dir))) {
                char path[4096];

                if (entry->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
                code |= replay_folder(path, count);
        }
        closedir(dir);
        return code;
}

int main(int argc, char **argv)
{
        unsigned count = 0;
        int code = 0;

        for (int i = 1; i < argc; i++)
                code |= replay_folder(argv[i], &count);
        printf("%u inputs\n", count);
        return code || !count;
}
