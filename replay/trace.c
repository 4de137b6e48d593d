#include "replay/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/near.h"
#include "replay/packed.h"
#include "replay/tracedevices.h"

#define FORMATS(X)                                                                                                     \
        X(blktrace) X(blkparse) X(iolog) X(csv) X(msr) X(spc) X(alibaba) X(tencent) X(systor) X(k5) X(fiu)             \
        X(cloudphysics) X(cloudphysics_csv) X(biosnoop) X(strace) X(procmon)
#define DECLARE(name) extern const struct dbio_trace_format dbio_trace_##name;
#define ENTRY(name) &dbio_trace_##name,
FORMATS(DECLARE)

const struct dbio_trace_format *const dbio_trace_formats[] = {FORMATS(ENTRY) NULL};

#define HEAD_BYTES 65536
#define DEVICES_MAX 65535u

/* A file's first bytes, terminated and malloced. */
static int read_head(const char *path, char **head, size_t *size, struct dbio_err *err)
{
        struct stat facts;
        FILE *file;
        int code = 0;

        *head = calloc(1, HEAD_BYTES + 1);
        if (!*head)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        file = fopen(path, "rb");
        if (!file) {
                dbio_err_set(err, errno != ENOENT ? DBIO_IO : DBIO_USAGE, "cannot read: %s", strerror(errno));
                return dbio_err_locate(err, path, 0, 0);
        }
        if (!fstat(fileno(file), &facts) && S_ISDIR(facts.st_mode)) {
                dbio_err_set(err, DBIO_USAGE, "cannot read: %s", strerror(EISDIR));
                code = dbio_err_locate(err, path, 0, 0);
        } else if (!S_ISREG(facts.st_mode)) {
                dbio_err_set(err, DBIO_USAGE, "no regular file, so that it cannot be read twice to recognise it: name the format, as in "
                                              "`dbio import blkparse FILE`");
                code = dbio_err_locate(err, path, 0, 0);
        } else {
                *size = fread(*head, 1, HEAD_BYTES, file);
                code = dbio_packed_check(path, *head, *size, err);
        }
        fclose(file);
        return code;
}

/* Drops a mark; of UTF-16 so much is made as knows the words. */
static char *decode(char *head, size_t *size)
{
        unsigned char *bytes = (unsigned char *)head;
        bool big = bytes[0] == 0xFE && bytes[1] == 0xFF;

        if (!memcmp(head, "\xEF\xBB\xBF", 3)) {
                *size -= 3;
                return head + 3;
        }
        if (*size < 2 || (!big && (bytes[0] != 0xFF || bytes[1] != 0xFE)))
                return head;
        for (size_t i = 2; i + 1 < *size; i += 2)
                head[(i - 2) / 2] = bytes[i + !big] ? '?' : head[i + big];
        *size = (*size - 2) / 2;
        head[*size] = 0;
        return head;
}

static const struct dbio_trace_format *recognise(const char *path, struct dbio_err *err)
{
        const struct dbio_trace_format *best = NULL;
        char *head;
        size_t size = 0;
        int sure = 0;

        if (read_head(path, &head, &size, err)) {
                free(head);
                return NULL;
        }
        char *begin = decode(head, &size);
        for (const struct dbio_trace_format *const *format = dbio_trace_formats; *format; format++) {
                int now = (*format)->probe ? (*format)->probe(path, begin, size) : 0;
                if (now > sure) {
                        sure = now;
                        best = *format;
                }
        }
        free(head);
        if (!best) {
                dbio_err_set(err, DBIO_USAGE, "the format is not recognised; name it, as in `dbio import blkparse FILE`; "
                                              "`dbio describe formats` lists them");
                dbio_err_locate(err, path, 0, 0);
        }
        return best;
}

const struct dbio_trace_format *dbio_trace_format_find(const char *name, const char *path, struct dbio_err *err)
{
        const char *names[64];
        size_t size = strcspn(name, ":");
        unsigned n = 0;

        for (const struct dbio_trace_format *const *format = dbio_trace_formats; *format; format++) {
                if (!strncmp((*format)->name, name, size) && !(*format)->name[size] && (!name[size] || (*format)->takes_spec))
                        return *format;
                names[n++] = (*format)->name;
        }
        if (!strcmp(name, "auto"))
                return recognise(path, err);
        const char *near = dbio_near_miss(name, names, n);
        dbio_err_set(err, DBIO_USAGE, "no trace format %s%s%s; `dbio describe formats` lists them", name,
                     near ? "; did you mean " : "", near ? near : "");
        return NULL;
}

bool dbio_trace_source(const char *source, char *format, size_t size, const char **path)
{
        const char *colon = strchr(source, ':');
        struct dbio_err err;

        if (!colon || (size_t)(colon - source) >= size)
                return false;
        snprintf(format, size, "%.*s", (int)(colon - source), source);
        if (strcmp(format, "auto") && !dbio_trace_format_find(format, colon + 1, &err))
                return false;
        if (!strcmp(format, "csv") || (!strcmp(format, "blkparse") && strchr(source, '%') && strrchr(source, ':') > strchr(source, '%'))) {
                /* the spec may have colons of its own: it ends before the last */
                colon = strrchr(source, ':');
                if ((size_t)(colon - source) >= size)
                        return false;
                snprintf(format, size, "%.*s", (int)(colon - source), source);
        }
        *path = colon + 1;
        return true;
}

int dbio_trace_source_check(const char *source, struct dbio_err *err)
{
        size_t size = strcspn(source, ":");
        char format[64];

        if (!source[size] || size >= sizeof format || size != strspn(source, "abcdefghijklmnopqrstuvwxyz0123456789-") ||
            !access(source, F_OK))
                return 0;
        snprintf(format, sizeof format, "%.*s", (int)size, source);
        return dbio_trace_format_find(format, source + size + 1, err) ? 0 : -1;
}

void dbio_trace_formats_print(FILE *out)
{
        fprintf(out, "TRACES, for `dbio run FORMAT:FILE` and `dbio import FORMAT FILE...`; `auto` recognises them\n");
        for (const struct dbio_trace_format *const *format = dbio_trace_formats; *format; format++) {
                fprintf(out, "%-16s %s\n", (*format)->name, (*format)->summary);
                if ((*format)->spec)
                        fprintf(out, "%-16s = csv:%s\n", "", (*format)->spec);
        }
        fputs("\nAny other table: csv:SPEC, with a comma between the parts of SPEC\n"
              "time=COL:UNIT      when it was issued; s ms us ns 100ns; COL is a number from 1, or a name of the first line, or\n"
              "                   NUMBER|NAME: the name where the first line has it\n"
              "end=COL:UNIT       when it was completed, instead (needs latency)\n"
              "offset=COL:UNIT    bytes, sectors (512 bytes) or a number of bytes\n"
              "length=COL:UNIT    likewise\n"
              "op=COL[:R/W/T/F]   words of reads, writes, trims and flushes; several joined by |; without them by first letter\n"
              "device=COL[+COL]   one target each value, joined by a dot\n"
              "latency=COL:UNIT   from issue to completion\n"
              "separator=comma|semicolon|tab|blank    header=LINES (left out)\n"
              "\nblkparse -f LAYOUT, or -F: blkparse:LAYOUT, as in blkparse:'%T.%t %D %a %d %S %n\\n'\n"
              "Needed are %T.%t time, %d RWBS, %S sector, %n sectors or %N bytes; %D (or %M and %m) tells devices apart, %a the\n"
              "steps of an I/O: without %a each line is an I/O. Lines in blkparse's own layout may stand between.\n", out);
}

uint32_t dbio_trace_device(struct dbio_trace_input *input, const char *name, size_t size)
{
        uint32_t device = dbio_trace_devices_find(input->devices, name, size);

        return device < DEVICES_MAX ? device : UINT32_MAX;
}

void dbio_trace_skip(struct dbio_trace_input *input, const char *why)
{
        dbio_trace_skip_more(input, why, 1);
}

void dbio_trace_skip_more(struct dbio_trace_input *input, const char *why, uint64_t n)
{
        unsigned room = sizeof input->skipped / sizeof *input->skipped;

        for (unsigned i = 0; i < input->nskipped; i++)
                if (input->skipped[i].why == why || i + 1 == room) {
                        input->skipped[i].n += n;
                        return;
                }
        input->skipped[input->nskipped].why = why;
        input->skipped[input->nskipped++].n = n;
}

void dbio_trace_note(struct dbio_trace_input *input, const char *text)
{
        size_t used = strlen(input->note);

        if (!strstr(input->note, text))
                snprintf(input->note + used, sizeof input->note - used, "%s%s", used ? " " : "", text);
}
