/* A cloud volume: requests start in the order in which they come, each as soon as every bucket holds its tokens.
 *
 * A bucket counts billionths of a token in integers (a rate of r a second gives r billionths a nanosecond), so the
 * closed forms hold to the nanosecond. A request dearer than a whole bucket starts with a full one and leaves a debt.
 */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>

#define TOKEN INT64_C(1000000000)

struct bucket {
        int64_t rate; /* 0 = none */
        int64_t cap, level, at;
};

struct cloud {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor start, end;
        const struct dbio_sim_cloud *keys;
        struct bucket ops, credits, bytes;
        int64_t last_start;
        struct dbio_sim_servers servers;
        struct dbio_sim_random random;
};

static void bucket_init(struct bucket *bucket, double rate, uint64_t tokens)
{
        bucket->rate = llround(rate);
        bucket->cap = bucket->level = (int64_t)tokens * TOKEN;
}

static void bucket_fill(struct bucket *bucket, int64_t now)
{
        /* Starts are rounded up to whole ns; what flows in meanwhile must not be lost at the brim. */
        int64_t passed = now - bucket->at, brim = bucket->cap + bucket->rate;

        bucket->at = now;
        if (passed > (brim - bucket->level) / bucket->rate)
                bucket->level = brim;
        else
                bucket->level += passed * bucket->rate;
}

static int64_t bucket_when(struct bucket *bucket, int64_t now, int64_t tokens)
{
        int64_t need = tokens * TOKEN;

        if (!bucket->rate)
                return now;
        bucket_fill(bucket, now);
        if (need > bucket->cap)
                need = bucket->cap;
        return bucket->level >= need ? now : now + (need - bucket->level + bucket->rate - 1) / bucket->rate;
}

static void bucket_take(struct bucket *bucket, int64_t now, int64_t tokens)
{
        if (!bucket->rate)
                return;
        bucket_fill(bucket, now);
        bucket->level -= tokens * TOKEN;
}

static int64_t later(int64_t a, int64_t b)
{
        return a > b ? a : b;
}

static void cloud_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct cloud *cloud = (struct cloud *)layer;
        struct dbio_sim *sim = layer->sim;
        int64_t ops = (int64_t)((req->length + cloud->keys->op_bytes - 1) / cloud->keys->op_bytes);
        int64_t bytes = (int64_t)req->length;
        int64_t t = later(sim->now, cloud->last_start);

        t = later(bucket_when(&cloud->ops, t, ops), later(bucket_when(&cloud->credits, t, ops),
                                                          bucket_when(&cloud->bytes, t, bytes)));
        bucket_take(&cloud->ops, t, ops);
        bucket_take(&cloud->credits, t, ops);
        bucket_take(&cloud->bytes, t, bytes);
        cloud->last_start = t;
        dbio_sim_at(sim, t, &cloud->start, req);
}

static void cloud_start(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct cloud *cloud = (struct cloud *)((char *)actor - offsetof(struct cloud, start));
        double ns = (double)cloud->keys->latency * dbio_sim_random_lognormal(&cloud->random, cloud->keys->sigma);

        dbio_sim_at(sim, dbio_sim_servers_enter(&cloud->servers, sim->now, llround(ns)), &cloud->end, req);
}

static void cloud_end(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        (void)actor;
        req->done(sim, req);
}

static void cloud_close(struct dbio_sim_layer *layer)
{
        struct cloud *cloud = (struct cloud *)layer;

        dbio_sim_servers_release(&cloud->servers);
        free(cloud);
}

static struct dbio_sim_layer *cloud_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                         struct dbio_sim_layer *below, uint64_t component)
{
        const struct dbio_sim_cloud *keys = &profile->cloud;
        struct cloud *cloud = calloc(1, sizeof *cloud);

        (void)below;
        if (!cloud)
                return NULL;
        cloud->layer.class = &dbio_sim_cloud_class;
        cloud->layer.sim = sim;
        cloud->layer.groups = 1;
        cloud->start.event = cloud_start;
        cloud->end.event = cloud_end;
        cloud->keys = keys;
        bucket_init(&cloud->ops, keys->ops_rate, 1);
        bucket_init(&cloud->credits, keys->base_rate, keys->credits);
        bucket_init(&cloud->bytes, keys->byte_rate, keys->op_bytes);
        dbio_sim_random_init(&cloud->random, sim->seed, component);
        if (dbio_sim_servers_init(&cloud->servers, (unsigned)keys->parallel)) {
                cloud_close(&cloud->layer);
                return NULL;
        }
        return &cloud->layer;
}

const struct dbio_sim_layer_class dbio_sim_cloud_class = {"cloud", cloud_open, cloud_submit, cloud_close, NULL, NULL};
