#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "replay/derive.h"
#include "replay/packed.h"

int dbio_derive_bad(const struct dbio_derive_file *file, unsigned line, struct dbio_err *err, const char *format, ...)
{
        char message[900];
        va_list args;

        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
        dbio_err_set(err, DBIO_USAGE, "%s", message);
        return dbio_err_locate(err, file->path, line, line ? 1 : 0);
}

const char *dbio_derive_base(const struct dbio_derive_file *file)
{
        const char *slash = strrchr(file->path, '/');

        return slash ? slash + 1 : file->path;
}

static char *put_utf8(char *at, uint32_t c)
{
        if (c < 0x80) {
                *at++ = (char)c;
        } else if (c < 0x800) {
                *at++ = (char)(0xc0 | c >> 6);
                *at++ = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
                *at++ = (char)(0xe0 | c >> 12);
                *at++ = (char)(0x80 | (c >> 6 & 0x3f));
                *at++ = (char)(0x80 | (c & 0x3f));
        } else {
                *at++ = (char)(0xf0 | c >> 18);
                *at++ = (char)(0x80 | (c >> 12 & 0x3f));
                *at++ = (char)(0x80 | (c >> 6 & 0x3f));
                *at++ = (char)(0x80 | (c & 0x3f));
        }
        return at;
}

/* Characters that a YAML comment may not hold, or that would end its line. */
static uint32_t allowed(uint32_t c)
{
        if (c == '\n' || c == '\t')
                return c;
        if (c == '\r' || c < 0x20)
                return ' ';
        if ((c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
                return '?';
        return c;
}

/* One character of UTF-8; `?` for a byte that begins none. */
static uint32_t take_utf8(const unsigned char **at, const unsigned char *end)
{
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        uint32_t c = *(*at)++;
        unsigned more = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc0 && c < 0xe0 ? 1 : 0;

        if (c < 0x80)
                return c;
        if (!more || (size_t)(end - *at) < more)
                return '?';
        c &= 0x3fu >> more;
        for (unsigned i = 0; i < more; i++) {
                if (((*at)[i] & 0xc0) != 0x80)
                        return '?';
                c = c << 6 | ((*at)[i] & 0x3f);
        }
        if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                return '?';
        *at += more;
        return c;
}

static uint32_t take_utf16(const unsigned char **at, const unsigned char *end, bool big)
{
        uint32_t c = '?', low;

        if (end - *at < 2) {
                *at = end;
                return c;
        }
        c = big ? (uint32_t)(*at)[0] << 8 | (*at)[1] : (uint32_t)(*at)[1] << 8 | (*at)[0];
        *at += 2;
        if (c < 0xd800 || c >= 0xe000)
                return c;
        if (c >= 0xdc00 || end - *at < 2)
                return '?';
        low = big ? (uint32_t)(*at)[0] << 8 | (*at)[1] : (uint32_t)(*at)[1] << 8 | (*at)[0];
        if (low < 0xdc00 || low >= 0xe000)
                return '?';
        *at += 2;
        return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Cuts file->text in place. */
static int cut(struct dbio_derive_file *file)
{
        unsigned n = 0;
        char *at = file->text;

        for (const char *c = file->text; *c; c++)
                n += *c == '\n';
        file->lines = calloc(n + 2, sizeof *file->lines);
        if (!file->lines)
                return -1;
        while (*at) {
                char *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;

                while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
                        end--;
                file->lines[file->nlines++] = at;
                *end = 0;
                at = next;
        }
        return 0;
}

int dbio_derive_file_parse(struct dbio_derive_file *file, const char *path, const char *bytes, size_t size,
                           struct dbio_err *err)
{
        const unsigned char *at = (const unsigned char *)bytes, *end = at + size;
        int utf16 = size >= 2 && at[0] == 0xff && at[1] == 0xfe ? 1 : size >= 2 && at[0] == 0xfe && at[1] == 0xff ? 2 : 0;
        unsigned line = 1;
        char *to;

        *file = (struct dbio_derive_file){.path = path};
        if (dbio_packed_check(path, bytes, size, err))
                return -1;
        if (utf16)
                at += 2;
        else if (size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
                at += 3;
        to = file->text = malloc(2 * size + 8);
        if (!to)
                return dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(ENOMEM));
        while (at < end) {
                uint32_t c = utf16 ? take_utf16(&at, end, utf16 == 2) : take_utf8(&at, end);

                if (!c) {
                        dbio_derive_bad(file, line, err, "a NUL byte: this is no text file");
                        dbio_derive_file_release(file);
                        return -1;
                }
                line += c == '\n';
                to = put_utf8(to, allowed(c));
        }
        *to = 0;
        if (cut(file)) {
                dbio_derive_file_release(file);
                return dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(ENOMEM));
        }
        return 0;
}

int dbio_derive_file_read(struct dbio_derive_file *file, const char *path, struct dbio_err *err)
{
        FILE *in = fopen(path, "rb");
        struct stat info;
        char *bytes = NULL;
        size_t size = 0, room = 0, got;
        int code = -1;

        *file = (struct dbio_derive_file){.path = path};
        if (!in)
                return dbio_err_set(err, errno == EACCES ? DBIO_IO : DBIO_USAGE, "%s: %s", path, strerror(errno));
        if (fstat(fileno(in), &info) || S_ISDIR(info.st_mode) || S_ISBLK(info.st_mode)) {
                dbio_err_set(err, DBIO_USAGE, "%s: a %s: no file with text", path, S_ISDIR(info.st_mode) ? "directory" : "device");
                goto out;
        }
        do {
                if (size > DBIO_DERIVE_BYTES_MAX) {
                        dbio_err_set(err, DBIO_USAGE, "%s: over %u MiB; give the part that counts", path,
                                     DBIO_DERIVE_BYTES_MAX >> 20);
                        goto out;
                }
                room += room ? room : 1 << 16;
                char *more = realloc(bytes, room);
                if (!more) {
                        dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(ENOMEM));
                        goto out;
                }
                bytes = more;
                got = fread(bytes + size, 1, room - size, in);
                size += got;
        } while (got);
        if (ferror(in))
                dbio_err_set(err, DBIO_IO, "%s: %s", path, strerror(errno));
        else
                code = dbio_derive_file_parse(file, path, bytes, size, err);
out:
        free(bytes);
        fclose(in);
        return code;
}

void dbio_derive_file_release(struct dbio_derive_file *file)
{
        free(file->text);
        free(file->lines);
        *file = (struct dbio_derive_file){.path = file->path};
}

unsigned dbio_derive_words(char *line, char **words, unsigned max)
{
        unsigned n = 0;
        char *at = line;

        for (;;) {
                char *to, quote = 0;

                at += strspn(at, " \t");
                if (!*at || n == max)
                        return n;
                words[n++] = to = at;
                for (; *at && (quote || (*at != ' ' && *at != '\t')); at++) {
                        if (*at == '"')
                                quote = !quote;
                        else
                                *to++ = *at;
                }
                if (*at)
                        at++;
                *to = 0;
        }
}

const struct dbio_derive_file *dbio_derive_find(const struct dbio_derive_file *files, unsigned n, const char *name)
{
        for (const char *c = name; *c; c++)
                if (*c == '/' || *c == '\\')
                        name = c + 1;
        for (unsigned i = 0; i < n; i++)
                if (!strcasecmp(dbio_derive_base(&files[i]), name))
                        return &files[i];
        return NULL;
}

bool dbio_derive_count(const char *text, uint64_t most, uint64_t *value)
{
        size_t digits = strspn(text, "0123456789");

        if (!digits || digits > 18 || text[digits])
                return false;
        *value = strtoull(text, NULL, 10);
        return *value <= most;
}
