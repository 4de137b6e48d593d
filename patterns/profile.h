/* Profiles of simulated devices: YAML to the engine's numbers, and the devices of a run from its bindings.
 *
 * A profile is a map of `summary`, `trust` and sections, one of which is a medium (disk, ssd, cloud, fixed). Every
 * number is written as {value: 3.4ms, status: assumed, source: text}; status is `datasheet`, `fitted` or `assumed`.
 *
 * To add one: a file configs/devices/NAME.yaml; it is compiled in and in every list.
 */
#ifndef DBIO_PATTERNS_PROFILE_H
#define DBIO_PATTERNS_PROFILE_H

#include <stdio.h>

#include "engine/sim.h"
#include "engine/target.h"
#include "patterns/field.h"

/* Loads an installed profile by its name, or a file where the text has a `/` or ends in .yaml. DBIO_USAGE, DBIO_IO.
 * The profile is the caller's to free. */
int dbio_profile_load(const char *name_or_path, struct dbio_sim_profile **out, struct dbio_err *err);
/* The same from memory; file stands for the source in messages. */
int dbio_profile_load_text(const char *name, const char *file, const char *text, size_t size,
                           struct dbio_sim_profile **out, struct dbio_err *err);
void dbio_profile_free(struct dbio_sim_profile *profile); /* accepts NULL */

/* Names of the installed profiles, ended by NULL; static. */
const char *const *dbio_profile_names(void);

/* Sections and their keys, ended by key NULL: for `describe keys`. */
struct dbio_profile_section {
        const char *key, *help;
        const struct dbio_field *fields;
        size_t offset;   /* of its struct in dbio_sim_profile */
        size_t given;    /* of the bool that says it is there; media have none */
        int medium;      /* enum dbio_sim_medium, -1 for the others */
};
extern const struct dbio_profile_section dbio_profile_sections[];

/* One number of a profile and where it comes from. Texts are the profile's. */
struct dbio_profile_number {
        const char *section, *key, *value, *status, *source; /* status and source "" where not given */
};
unsigned dbio_profile_numbers(const struct dbio_sim_profile *profile, const struct dbio_profile_number **numbers);

/* `describe devices`, and `describe sim:PROFILE`: what it is, its numbers with their sources, its curve (8K random
 * reads and 256K sequential writes at depths 1 to 256, computed by driving the device). */
void dbio_profile_list(FILE *out);
int dbio_profile_describe(const char *name_or_path, FILE *out, struct dbio_err *err);

/* The simulated devices of a run. Zero-initialise. */
struct dbio_sim_set {
        struct dbio_sim_spec spec;         /* for dbio_run_options.sim, once placed */
        unsigned nprofiles;
        struct dbio_sim_profile **profiles; /* one a device */
        unsigned nbindings;
        const struct dbio_binding *bindings;
        unsigned *device_of;               /* of each binding */
        char (*note_texts)[160];
        const char **notes;                /* one a target */
};

/* Loads the bindings' profiles (all simulated; they must outlive the set) and makes the devices: one for each #NAME,
 * one for each binding without. Another profile under the same #NAME: DBIO_USAGE. */
int dbio_sim_set_load(struct dbio_sim_set *set, const struct dbio_binding *bindings, unsigned nbindings,
                      struct dbio_err *err);
/* For dbio_target_options.sim_geometry, with the set as its user. */
int dbio_sim_set_geometry(void *set, const struct dbio_binding *binding, uint64_t *bytes, unsigned *sector,
                          struct dbio_err *err);
/* Lays the resolved targets on the devices. DBIO_USAGE where they do not fit. */
int dbio_sim_set_place(struct dbio_sim_set *set, const struct dbio_target_spec *specs,
                       const struct dbio_targets *targets, uint64_t seed, struct dbio_err *err);
/* *hba gets the hba: block of the devices' profiles and stays as it is where none has one. DBIO_USAGE where two differ. */
int dbio_sim_set_hba(const struct dbio_sim_set *set, struct dbio_hba *hba, struct dbio_err *err);
/* After a run: one text a target, "" where there is nothing to say of it: how the layout split its ios
 * (dbio_sim_split_format). The set's own, until the next call. NULL on an empty set. */
const char *const *dbio_sim_set_notes(struct dbio_sim_set *set);
void dbio_sim_set_release(struct dbio_sim_set *set);

#endif
