/* What `describe` says of simulated devices. */
#include "patterns/profile.h"

#include <string.h>

#include "engine/units.h"

static void print_size(FILE *out, uint64_t bytes)
{
        if (bytes >= (UINT64_C(1) << 40))
                fprintf(out, "%6.2f TiB", (double)bytes / (double)(UINT64_C(1) << 40));
        else
                fprintf(out, "%6.1f GiB", (double)bytes / (double)(1 << 30));
}

void dbio_profile_list(FILE *out)
{
        fprintf(out, "%-22s %10s  %s\n", "PROFILE", "CAPACITY", "WHAT IT IS");
        for (const char *const *name = dbio_profile_names(); *name; name++) {
                struct dbio_sim_profile *profile;
                struct dbio_err err = {0};

                if (dbio_profile_load(*name, &profile, &err)) {
                        fprintf(out, "%-22s %10s  %s\n", *name, "-", err.message);
                        continue;
                }
                fprintf(out, "%-22s ", *name);
                print_size(out, dbio_sim_capacity(profile));
                fprintf(out, "  %s\n", profile->summary);
                dbio_profile_free(profile);
        }
        fputs("\nBind one with --target NAME=sim:PROFILE; `dbio describe sim:PROFILE` shows its numbers, where they come from,\n"
              "and its curve.\n", out);
}

static void print_numbers(const struct dbio_sim_profile *profile, FILE *out)
{
        const struct dbio_profile_number *numbers;
        unsigned n = dbio_profile_numbers(profile, &numbers);
        const char *section = NULL;

        for (unsigned i = 0; i < n; i++) {
                if (!section || strcmp(section, numbers[i].section))
                        fprintf(out, "\n%s\n", *numbers[i].section ? numbers[i].section : "host");
                section = numbers[i].section;
                fprintf(out, "  %-15s %-12s %-10s %s\n", numbers[i].key, numbers[i].value,
                        *numbers[i].status ? numbers[i].status : "assumed", *numbers[i].source ? numbers[i].source : "-");
        }
}

/* Long enough for some ten thousand ios of the medium, short enough for nine depths in a second. */
static uint64_t probe_time(const struct dbio_sim_profile *profile)
{
        return profile->medium == DBIO_SIM_DISK ? 20000000000u : profile->medium == DBIO_SIM_SSD ? 500000000u : 4000000000u;
}

static int print_curve(const struct dbio_sim_profile *profile, FILE *out, struct dbio_err *err)
{
        uint64_t span = dbio_sim_capacity(profile), time = probe_time(profile);
        const struct dbio_sim_ssd *ssd = &profile->ssd;

        fputs("\n        8K random read            256K sequential write\n"
              "depth         IOPS    mean ms            MiB/s\n", out);
        for (unsigned depth = 1; depth <= 256; depth *= 2) {
                struct dbio_sim_probe reads = {.seed = 1, .duration_ns = time, .warmup_ns = time / 10, .span = span,
                                               .length = 8192, .depth = depth};
                /* A write cache is full before it counts. */
                struct dbio_sim_probe writes = {.seed = 1, .duration_ns = profile->has_cache ? 4000000000u : 500000000u,
                                                .warmup_ns = profile->has_cache ? 4000000000u : 100000000u, .span = span,
                                                .length = 262144, .depth = depth, .write = true, .sequential = true};

                if (dbio_sim_probe(profile, &reads, err) || dbio_sim_probe(profile, &writes, err))
                        return -1;
                fprintf(out, "%5u %12.0f %10.3f %16.1f\n", depth, reads.iops, reads.mean_ns / 1e6, writes.iops / 4);
        }
        if (profile->has_ftl && profile->ftl.steady)
                fprintf(out, "The device begins as after long random overwriting. Its units could program %.0f MiB/s if nothing\n"
                             "had to be moved, which long sequential writing comes near to.\n",
                        (double)(ssd->units * ssd->page) / ((double)ssd->program / 1e9 + (double)ssd->page / ssd->channel) /
                                (1 << 20));
        if (profile->medium == DBIO_SIM_CLOUD && profile->cloud.credits && profile->cloud.ops_rate > 0)
                fprintf(out, "With full credits. %llu of them last %.0f s at the ceiling; then %.0f ops/s are left.\n",
                        (unsigned long long)profile->cloud.credits,
                        (double)profile->cloud.credits / (profile->cloud.ops_rate - profile->cloud.base_rate),
                        profile->cloud.base_rate);
        return 0;
}

int dbio_profile_describe(const char *name_or_path, FILE *out, struct dbio_err *err)
{
        struct dbio_sim_profile *profile;
        int rc;

        if (dbio_profile_load(name_or_path, &profile, err))
                return -1;
        fprintf(out, "sim:%s  ", profile->name);
        print_size(out, dbio_sim_capacity(profile));
        fprintf(out, "\n%s\n\nSIMULATED. %s\n", profile->summary, profile->trust);
        print_numbers(profile, out);
        rc = print_curve(profile, out, err);
        fprintf(out, "\nsha256 of the profile: %s\n", profile->sha256);
        dbio_profile_free(profile);
        return rc;
}
