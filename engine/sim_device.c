/* Puts a profile's layers together. */
#include "engine/sim_core.h"

static const struct {
        const struct dbio_sim_layer_class *class;
        size_t capacity; /* where its keys keep it */
} media[DBIO_SIM_MEDIA] = {
        [DBIO_SIM_DISK] = {&dbio_sim_disk_class, offsetof(struct dbio_sim_profile, disk.capacity)},
        [DBIO_SIM_SSD] = {&dbio_sim_ssd_class, offsetof(struct dbio_sim_profile, ssd.capacity)},
        [DBIO_SIM_CLOUD] = {&dbio_sim_cloud_class, offsetof(struct dbio_sim_profile, cloud.capacity)},
        [DBIO_SIM_FIXED] = {&dbio_sim_fixed_class, offsetof(struct dbio_sim_profile, fixed.capacity)},
};

static uint64_t medium_capacity(const struct dbio_sim_profile *profile)
{
        return *(const uint64_t *)((const char *)profile + media[profile->medium].capacity);
}

uint64_t dbio_sim_capacity(const struct dbio_sim_profile *profile)
{
        const struct dbio_sim_array *array = &profile->array;
        uint64_t member = medium_capacity(profile);

        if (!profile->has_array)
                return member;
        member -= member % array->strip;
        switch (array->level) {
        case 0:
                return member * array->members;
        case 5:
                return member * (array->members - 1);
        default:
                return member * (array->members / 2);
        }
}

struct dbio_sim_layer *dbio_sim_medium_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                            uint64_t component)
{
        return media[profile->medium].class->open(sim, profile, NULL, component);
}

struct dbio_sim_layer *dbio_sim_device_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                            uint64_t component)
{
        const struct {
                bool wanted;
                const struct dbio_sim_layer_class *class;
        } above[] = {
                {profile->has_cache, &dbio_sim_cache_class},
                {profile->has_link, &dbio_sim_link_class},
        };
        struct dbio_sim_layer *layer = profile->has_array
                                               ? dbio_sim_array_class.open(sim, profile, NULL, component + 10)
                                               : dbio_sim_medium_open(sim, profile, component + 10);

        for (unsigned i = 0; layer && i < sizeof above / sizeof *above; i++) {
                if (!above[i].wanted)
                        continue;

                struct dbio_sim_layer *top = above[i].class->open(sim, profile, layer, component + i);

                if (!top)
                        dbio_sim_layer_close(layer);
                layer = top;
        }
        return layer;
}
