#include "engine/sim.h"

#include <stdio.h>

enum { ALIGN = 1 << 20 };

int dbio_sim_spec_place(struct dbio_sim_spec *spec, const char *const *target_names, struct dbio_err *err)
{
        for (unsigned d = 0; d < spec->ndevices; d++) {
                const struct dbio_sim_profile *profile = spec->devices[d].profile;
                uint64_t at = 0, capacity = dbio_sim_capacity(profile);

                for (unsigned t = 0; t < spec->ntargets; t++) {
                        struct dbio_sim_place *place = &spec->targets[t];

                        if (place->device != d)
                                continue;
                        place->base = at;
                        at += dbio_sim_place_bytes(&place->layout, place->file_size, place->nfiles);
                        if (at > capacity)
                                return dbio_err_set(err, DBIO_USAGE,
                                                    "target %s: ends at byte %llu of the simulated device sim:%s, which "
                                                    "has %llu%s", target_names[t], (unsigned long long)at, profile->name,
                                                    (unsigned long long)capacity,
                                                    place->layout.interleave && place->nfiles == 1
                                                            ? "; a file interleaved with another takes twice its size"
                                                            : "");
                        at = (at + ALIGN - 1) / ALIGN * ALIGN;
                }
        }
        return 0;
}

void dbio_sim_split_format(const struct dbio_layout *layout, const struct dbio_sim_split *split, char *text, size_t size)
{
        if (split->split)
                snprintf(text, size, "%llu of %llu I/Os split by the layout (%.3f pieces an I/O)",
                         (unsigned long long)split->split, (unsigned long long)split->ios,
                         (double)split->pieces / (double)split->ios);
        else if (layout->cluster && split->ios)
                snprintf(text, size, "cluster size changed nothing: 0 split I/Os");
        else
                snprintf(text, size, "%s", "");
}
