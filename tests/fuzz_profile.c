/* Device profiles from any text; one that loads must also run. */
#include <stdint.h>
#include <stdlib.h>

#include "patterns/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct dbio_sim_profile *profile;
        struct dbio_err err = {0};

        if (dbio_profile_load_text("fuzz", "fuzz.yaml", (const char *)data, size, &profile, &err))
                return 0;
        for (int write = 0; write <= 1; write++) {
                struct dbio_sim_probe probe = {.seed = 1, .duration_ns = 20000, .length = 65536, .depth = 4, .write = write};

                if (dbio_sim_probe(profile, &probe, &err))
                        abort();
        }
        dbio_profile_free(profile);
        return 0;
}
