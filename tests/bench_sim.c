/* Simulated ios a second of CPU time, and peak memory: driving the backend alone, 8K random reads at depth 64. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "patterns/profile.h"

static double cpu_s(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
        static const struct {
                const char *name;
                double span;
                uint64_t duration_ns;
                double gate;
        } cases[] = {{"pcie-ssd-iodrive80", 1, 50000000000u, 1e6}, {"raid10-15k-sas", 0.5, 500000000000u, 0.5e6}};
        struct rusage usage;
        int failed = 0;

        for (int i = 0; i < 2; i++) {
                struct dbio_sim_profile *profile;
                struct dbio_err err = {0};

                if (dbio_profile_load(cases[i].name, &profile, &err))
                        return 1;

                struct dbio_sim_probe probe = {.seed = 1, .duration_ns = cases[i].duration_ns, .length = 8192, .depth = 64,
                                               .span = (uint64_t)((double)dbio_sim_capacity(profile) * cases[i].span)};
                double begin = cpu_s(), rate;

                if (dbio_sim_probe(profile, &probe, &err))
                        return 1;
                rate = (double)probe.ios / (cpu_s() - begin);
                printf("sim %-20s %6.2f million ios/s  (gate %.1f)  %.0f IOPS simulated\n", cases[i].name, rate / 1e6,
                       cases[i].gate / 1e6, probe.iops);
                failed |= rate < cases[i].gate;
                dbio_profile_free(profile);
        }
        getrusage(RUSAGE_SELF, &usage);
        printf("sim peak memory %.1f MiB  (gate 64)\n", (double)usage.ru_maxrss / 1024);
        return failed || usage.ru_maxrss > 64 * 1024;
}
