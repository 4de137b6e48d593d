/* The simulated devices of a run, from its bindings. */
#include "patterns/profile.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

static int same_device(const struct dbio_sim_set *set, unsigned binding, unsigned *device, struct dbio_err *err)
{
        const struct dbio_binding *bindings = set->bindings;

        for (unsigned i = 0; i < binding; i++) {
                if (!bindings[binding].share || !bindings[i].share || strcmp(bindings[i].share, bindings[binding].share))
                        continue;
                if (strcmp(bindings[i].profile, bindings[binding].profile))
                        return dbio_err_set(err, DBIO_USAGE,
                                            "targets %s and %s: #%s is one simulated device, but sim:%s and sim:%s are two "
                                            "profiles", bindings[i].target, bindings[binding].target, bindings[i].share,
                                            bindings[i].profile, bindings[binding].profile);
                *device = set->device_of[i];
                return 1;
        }
        return 0;
}

int dbio_sim_set_load(struct dbio_sim_set *set, const struct dbio_binding *bindings, unsigned nbindings,
                      struct dbio_err *err)
{
        memset(set, 0, sizeof *set);
        set->bindings = bindings;
        set->nbindings = nbindings;
        set->profiles = calloc(nbindings + 1, sizeof *set->profiles);
        set->device_of = calloc(nbindings + 1, sizeof *set->device_of);
        set->spec.devices = calloc(nbindings + 1, sizeof *set->spec.devices);
        if (!set->profiles || !set->device_of || !set->spec.devices) {
                dbio_err_set(err, DBIO_IO, "out of memory for simulated devices");
                goto fail;
        }
        for (unsigned i = 0; i < nbindings; i++) {
                int same;

                if (!bindings[i].simulated) {
                        dbio_err_set(err, DBIO_USAGE, "targets %s and %s: all targets of a run are simulated or none",
                                     bindings[0].target, bindings[i].target);
                        goto fail;
                }
                same = same_device(set, i, &set->device_of[i], err);
                if (same < 0)
                        goto fail;
                if (same)
                        continue;
                if (dbio_profile_load(bindings[i].profile, &set->profiles[set->nprofiles], err)) {
                        if (err && !err->file[0] && bindings[i].file)
                                dbio_err_locate(err, bindings[i].file, bindings[i].line, bindings[i].column);
                        goto fail;
                }
                set->spec.devices[set->nprofiles] = (struct dbio_sim_device){
                        bindings[i].share ? bindings[i].share : bindings[i].target, set->profiles[set->nprofiles]};
                set->device_of[i] = set->nprofiles;
                set->spec.ndevices = ++set->nprofiles;
        }
        return 0;
fail:
        dbio_sim_set_release(set);
        return -1;
}

int dbio_sim_set_geometry(void *user, const struct dbio_binding *binding, uint64_t *bytes, unsigned *sector,
                          struct dbio_err *err)
{
        const struct dbio_sim_set *set = user;

        for (unsigned i = 0; i < set->nbindings; i++) {
                if (strcmp(set->bindings[i].target, binding->target))
                        continue;
                *bytes = dbio_sim_capacity(set->profiles[set->device_of[i]]);
                *sector = SECTOR;
                return 0;
        }
        return dbio_err_set(err, DBIO_BUG, "target %s has no simulated device", binding->target);
}

static const struct dbio_binding *binding_of(const struct dbio_sim_set *set, const char *target)
{
        for (unsigned i = 0; i < set->nbindings; i++)
                if (!strcmp(set->bindings[i].target, target))
                        return &set->bindings[i];
        return NULL;
}

int dbio_sim_set_place(struct dbio_sim_set *set, const struct dbio_target_spec *specs,
                       const struct dbio_targets *targets, uint64_t seed, struct dbio_err *err)
{
        const char **names = calloc(targets->n + 1, sizeof *names);
        int rc = -1;

        free(set->spec.targets);
        free(set->spec.split);
        set->spec.seed = seed;
        set->spec.ntargets = targets->n;
        set->spec.targets = calloc(targets->n + 1, sizeof *set->spec.targets);
        set->spec.split = calloc(targets->n + 1, sizeof *set->spec.split);
        if (!names || !set->spec.targets || !set->spec.split) {
                dbio_err_set(err, DBIO_IO, "out of memory for simulated devices");
                goto out;
        }
        for (unsigned t = 0; t < targets->n; t++) {
                const struct dbio_target *target = &targets->targets[t];
                const struct dbio_binding *binding = binding_of(set, target->name);

                names[t] = target->name;
                if (!binding) {
                        dbio_err_set(err, DBIO_BUG, "target %s has no simulated device", target->name);
                        goto out;
                }
                set->spec.targets[t] = (struct dbio_sim_place){
                        .device = set->device_of[binding - set->bindings],
                        .file_size = target->geometry.file_size,
                        .nfiles = target->geometry.nfiles,
                        .layout = specs[t].layout,
                };
        }
        rc = dbio_sim_spec_place(&set->spec, names, err);
out:
        free(names);
        return rc;
}

static bool same_hba(const struct dbio_hba *a, const struct dbio_hba *b)
{
        return a->ports == b->ports && a->max_outstanding == b->max_outstanding && a->max_transfer == b->max_transfer;
}

int dbio_sim_set_hba(const struct dbio_sim_set *set, struct dbio_hba *hba, struct dbio_err *err)
{
        const struct dbio_sim_profile *first = NULL;

        for (unsigned i = 0; i < set->nprofiles; i++) {
                const struct dbio_sim_profile *profile = set->profiles[i];

                if (!profile->has_hba)
                        continue;
                if (first && !same_hba(&first->hba, &profile->hba))
                        return dbio_err_set(err, DBIO_USAGE,
                                            "sim:%s and sim:%s have different hba: limits, and a run has one adapter: give "
                                            "`hba` in the workload", first->name, profile->name);
                first = first ? first : profile;
                *hba = profile->hba;
        }
        return 0;
}

const char *const *dbio_sim_set_notes(struct dbio_sim_set *set)
{
        unsigned n = set->spec.ntargets;

        if (!n)
                return NULL;
        if (!set->notes) {
                set->notes = calloc(n, sizeof *set->notes);
                set->note_texts = calloc(n, sizeof *set->note_texts);
        }
        if (!set->notes || !set->note_texts)
                return NULL;
        for (unsigned t = 0; t < n; t++) {
                dbio_sim_split_format(&set->spec.targets[t].layout, &set->spec.split[t], set->note_texts[t],
                                      sizeof set->note_texts[t]);
                set->notes[t] = set->note_texts[t];
        }
        return set->notes;
}

void dbio_sim_set_release(struct dbio_sim_set *set)
{
        for (unsigned i = 0; set->profiles && i < set->nprofiles; i++)
                dbio_profile_free(set->profiles[i]);
        free(set->profiles);
        free(set->device_of);
        free(set->spec.devices);
        free(set->spec.targets);
        free(set->spec.split);
        free(set->notes);
        free(set->note_texts);
        memset(set, 0, sizeof *set);
}
