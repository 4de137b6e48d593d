/* How long a workload of 1000 streams and 10 phases takes to load, check and resolve. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "patterns/workload.h"

static double seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
        struct dbio_workload workload;
        struct dbio_err err = {0};
        double best = 1e9;
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        fputs("defaults: {version: 2008}\ntargets:\n  data: {size: 50%}\nstreams:\n", out);
        for (int i = 0; i < 1000; i++)
                fprintf(out,
                        "  stream-%d: {pattern: sqlserver.random_read, target: data, threads: 2, depth: 4,"
                        " skew: {zipf: 0.99}}\n",
                        i);
        fputs("phases:\n", out);
        for (int i = 0; i < 10; i++)
                fprintf(out, "  - {name: phase-%d, duration: 10s}\n", i);
        fclose(out);
        for (int i = 0; i < 5; i++) {
                double begin = seconds(), took;

                if (dbio_workload_load_text(&workload, "bench", text, size, NULL, 0, &err)) {
                        fprintf(stderr, "%s\n", err.message);
                        return 1;
                }
                took = seconds() - begin;
                best = took < best ? took : best;
                dbio_workload_release(&workload);
        }
        printf("load a workload of 1000 streams, 10 phases: %.1f ms\n", best * 1e3);
        free(text);
        return 0;
}
