/* How fast traces are read through the whole pipeline, on one core, and what memory that takes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "replay/trace.h"

#define LINES 2000000u

static double seconds(clockid_t id)
{
        struct timespec now;

        clock_gettime(id, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void put(unsigned char *to, uint64_t value, unsigned bytes)
{
        memcpy(to, &value, bytes); /* the host's order, as blktrace has it */
}

static void write_csv(FILE *out)
{
        for (unsigned i = 0; i < LINES; i++)
                fprintf(out, "%u,%c,%llu,%u,%llu\n", i % 40, i % 3 ? 'R' : 'W', (unsigned long long)(i * 7919ull % 1000003) * 4096, 8192,
                        1577808144000000ull + i * 10ull);
}

/* Q, D and C of one I/O in turn. */
static void write_blktrace(FILE *out)
{
        static const uint32_t actions[] = {1, 7, 8};
        unsigned char record[48];

        for (unsigned i = 0; i < LINES; i++) {
                unsigned io = i / 3;
                memset(record, 0, sizeof record);
                put(record, 0x65617407, 4);
                put(record + 4, i, 4);
                put(record + 8, 1000ull * i, 8);
                put(record + 16, (io * 7919ull % 1000003) * 16, 8);
                put(record + 24, 8192, 4);
                put(record + 28, actions[i % 3] | 1 << 16, 4);
                put(record + 36, 8 << 20, 4);
                fwrite(record, sizeof record, 1, out);
        }
}

static void write_blkparse(FILE *out)
{
        for (unsigned i = 0; i < LINES; i++)
                fprintf(out, "  8,0    1 %8u   %5u.%09u   276  %c   R %llu + 16 [%s]\n", i, i / 1000000, i % 1000000 * 1000, "QDC"[i % 3],
                        (unsigned long long)(i / 3 * 7919ull % 1000003) * 16, i % 3 == 2 ? "0" : "name");
}

static int measure(const char *format, void (*write)(FILE *out))
{
        struct dbio_trace_options options = {0};
        struct dbio_trace_feed *feed;
        struct dbio_trace_op op;
        struct dbio_err err = {0};
        char path[64];
        const char *const paths[] = {path};
        int fd = memfd_create("bench", 0), code;
        FILE *out = fdopen(dup(fd), "w");

        write(out);
        double bytes = (double)ftell(out);
        fclose(out);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (dbio_trace_feed_open(&feed, format, paths, 1, &options, &err))
                goto fail;
        while ((code = dbio_trace_feed_next(feed, &op, &err)) > 0)
                ;
        if (code)
                goto fail;
        begin = seconds(CLOCK_MONOTONIC) - begin;
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        printf("%-12s %5.2f million lines or records a CPU second, %6.1f MB a CPU second (elapsed %.2f s)\n", format,
               LINES / cpu / 1e6, bytes / cpu / 1e6, begin);
        dbio_trace_feed_close(feed);
        close(fd);
        return 0;
fail:
        fprintf(stderr, "%s: %s\n", format, err.message);
        return 1;
}

int main(void)
{
        struct rusage usage;
        int code = measure("alibaba", write_csv) | measure("blktrace", write_blktrace) | measure("blkparse", write_blkparse);

        getrusage(RUSAGE_SELF, &usage);
        printf("peak RSS: %.1f MiB\n", (double)usage.ru_maxrss / 1024);
        return code;
}
