/* A rotating disk: seek curve, rotation, zones, skew, read-ahead, and a queue of its own.
 *
 * Positioning for a request: overhead, then the longer of seek and head switch, for a write the settling, then the
 * rotation to its first sector, then the transfer at its zone's rate. Two things go without positioning: a read just
 * ahead of the last one, as the drive reads on; and a write that was already queued when the write just before it
 * ended.
 */
#include "engine/sim_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, MAX_ZONES = 64 };

struct disk {
        struct dbio_sim_layer layer;
        struct dbio_sim_actor transferred;
        const struct dbio_sim_disk *keys;
        double turn_ns;
        uint32_t zone_cylinders;
        uint32_t sectors[MAX_ZONES];       /* a track */
        uint64_t zone_start[MAX_ZONES + 1]; /* sectors */
        double a, b, c, e, knee;           /* seek: a + b√d below the knee, c + e·d beyond, ns over cylinders */
        double skew_head, skew_cylinder;   /* turns */

        struct dbio_sim_req *busy, **queue;
        unsigned nqueue, room;
        int32_t cylinder, head;
        uint64_t next_read, next_write;    /* sector after the last read or write; 0 = none */
        int64_t read_time;                 /* when that read ended */
        int64_t idle_since;
};

static double seek_ns(const struct disk *disk, double distance)
{
        if (distance <= 0)
                return 0;
        return distance < disk->knee ? disk->a + disk->b * sqrt(distance) : disk->c + disk->e * distance;
}

/* Mean over all pairs of cylinders: a distance of k/N of the stroke has the weight 1 − k/N. */
static double seek_mean(const struct disk *disk, double cylinders)
{
        double sum = 0, weights = 0;

        for (int k = 1; k < 1000; k++) {
                double weight = 1 - k / 1000.0;

                sum += weight * seek_ns(disk, cylinders * k / 1000.0);
                weights += weight;
        }
        return sum / weights;
}

static void fit_seek(struct disk *disk, double cylinders)
{
        const struct dbio_sim_disk *keys = disk->keys;
        double low = 0, high = 3 * (double)keys->seek_average / sqrt(cylinders / 3);

        disk->a = (double)keys->seek_track;
        disk->knee = cylinders / 3;
        for (int i = 0; i < 60; i++) {
                disk->b = (low + high) / 2;

                double at_knee = disk->a + disk->b * sqrt(disk->knee);

                disk->e = ((double)keys->seek_full - at_knee) / (cylinders - disk->knee);
                disk->c = at_knee - disk->e * disk->knee;
                if (seek_mean(disk, cylinders) < (double)keys->seek_average)
                        low = disk->b;
                else
                        high = disk->b;
        }
}

static void lay_zones(struct disk *disk)
{
        const struct dbio_sim_disk *keys = disk->keys;
        double outer = keys->outer * disk->turn_ns / 1e9 / SECTOR, inner = keys->inner * disk->turn_ns / 1e9 / SECTOR;
        double zones = (double)keys->zones, cylinders;

        cylinders = (double)keys->capacity / SECTOR / ((outer + inner) / 2 * (double)keys->heads);
        disk->zone_cylinders = (uint32_t)ceil(cylinders / zones) + 1;
        for (uint64_t z = 0; z < keys->zones; z++) {
                disk->sectors[z] = (uint32_t)(outer + (inner - outer) * (double)z / (zones > 1 ? zones - 1 : 1));
                disk->zone_start[z + 1] =
                        disk->zone_start[z] + (uint64_t)disk->sectors[z] * keys->heads * disk->zone_cylinders;
        }
        fit_seek(disk, cylinders);
        disk->skew_head = (double)keys->head_switch / disk->turn_ns;
        disk->skew_cylinder =
                ((double)(keys->heads - 1) * (double)keys->head_switch + (double)keys->seek_track) / disk->turn_ns;
}

static unsigned zone_of(const struct disk *disk, uint64_t sector)
{
        unsigned low = 0, high = (unsigned)disk->keys->zones;

        while (high - low > 1) {
                unsigned middle = (low + high) / 2;

                if (disk->zone_start[middle] <= sector)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

static void locate(const struct disk *disk, struct dbio_sim_req *req)
{
        uint64_t sector = req->offset / SECTOR, count = (req->length + SECTOR - 1) / SECTOR;
        unsigned zone = zone_of(disk, sector);
        uint64_t track_sectors = disk->sectors[zone], within = sector - disk->zone_start[zone];
        uint64_t track = within / track_sectors, on_track = within % track_sectors;
        uint64_t switches = (on_track + count) / track_sectors;
        double angle;

        req->at.cylinder = (int32_t)(zone * disk->zone_cylinders + track / disk->keys->heads);
        req->at.head = (int32_t)(track % disk->keys->heads);
        angle = (double)on_track / (double)track_sectors + req->at.head * disk->skew_head +
                req->at.cylinder * disk->skew_cylinder;
        req->at.angle = angle - floor(angle);
        req->at.transfer = (double)count / (double)track_sectors * disk->turn_ns +
                           (double)switches * (double)disk->keys->head_switch;
}

/* ns a sector where the drive goes on reading or writing, head switches shared out. */
static double streaming_ns(const struct disk *disk, uint64_t sector)
{
        return disk->turn_ns / disk->sectors[zone_of(disk, sector)] *
               (1 + (double)disk->keys->head_switch / disk->turn_ns);
}

static bool read_on(const struct disk *disk, const struct dbio_sim_req *req, int64_t now, double *ns)
{
        uint64_t sector = req->offset / SECTOR, count = (req->length + SECTOR - 1) / SECTOR;

        if (req->kind != DBIO_READ || !disk->next_read || sector < disk->next_read ||
            sector - disk->next_read > disk->keys->read_ahead / SECTOR)
                return false;

        double read = (double)(disk->read_time - now) +
                      (double)(sector + count - disk->next_read) * streaming_ns(disk, sector);
        double bus = 20000 + (double)req->length * 1e9 / disk->keys->bus; /* 20 us: a command served from memory */

        *ns = read > bus ? read : bus;
        return true;
}

static double position_and_transfer(const struct disk *disk, const struct dbio_sim_req *req, int64_t now)
{
        const struct dbio_sim_disk *keys = disk->keys;
        double ns, seek = 0, ready, turns, wait;

        if (read_on(disk, req, now, &ns))
                return ns;
        if (req->kind == DBIO_WRITE && disk->next_write && req->offset / SECTOR == disk->next_write &&
            disk->idle_since == now && req->arrived < now)
                return (double)((req->length + SECTOR - 1) / SECTOR) * streaming_ns(disk, disk->next_write);
        if (req->at.cylinder != disk->cylinder)
                seek = seek_ns(disk, abs(req->at.cylinder - disk->cylinder));
        else if (req->at.head != disk->head)
                seek = (double)keys->head_switch;
        if (req->kind == DBIO_WRITE)
                seek += (double)keys->write_settle;
        ready = (double)keys->overhead + seek;
        turns = ((double)now + ready) / disk->turn_ns;
        wait = req->at.angle - (turns - floor(turns));
        if (wait < 0)
                wait += 1;
        return ready + wait * disk->turn_ns + req->at.transfer;
}

static void dispatch(struct disk *disk)
{
        struct dbio_sim *sim = disk->layer.sim;
        unsigned seen = disk->nqueue < disk->keys->tags ? disk->nqueue : (unsigned)disk->keys->tags, best = 0;
        double best_key = INFINITY, best_ns = 0;

        if (disk->busy || !disk->nqueue)
                return;
        if (disk->keys->scheduler == DBIO_SIM_FIFO)
                seen = 1;
        for (unsigned i = 0; i < seen; i++) {
                const struct dbio_sim_req *req = disk->queue[i];
                double ns = position_and_transfer(disk, req, sim->now);
                double key = ns - disk->keys->ageing * (double)(sim->now - req->arrived);

                if (key >= best_key)
                        continue;
                best_key = key;
                best_ns = ns;
                best = i;
        }
        disk->busy = disk->queue[best];
        disk->nqueue--;
        memmove(&disk->queue[best], &disk->queue[best + 1], (disk->nqueue - best) * sizeof *disk->queue);
        dbio_sim_at(sim, sim->now + llround(best_ns), &disk->transferred, disk->busy);
}

static void transferred(struct dbio_sim *sim, struct dbio_sim_actor *actor, struct dbio_sim_req *req)
{
        struct disk *disk = (struct disk *)((char *)actor - offsetof(struct disk, transferred));
        uint64_t next = (req->offset + req->length + SECTOR - 1) / SECTOR;

        disk->busy = NULL;
        disk->cylinder = req->at.cylinder;
        disk->head = req->at.head;
        disk->next_read = req->kind == DBIO_READ ? next : 0;
        disk->next_write = req->kind == DBIO_WRITE ? next : 0;
        disk->read_time = disk->idle_since = sim->now;
        dispatch(disk);
        req->done(sim, req);
}

static void disk_submit(struct dbio_sim_layer *layer, struct dbio_sim_req *req)
{
        struct disk *disk = (struct disk *)layer;

        if (disk->nqueue == disk->room) {
                unsigned room = disk->room ? 2 * disk->room : 64;
                struct dbio_sim_req **queue = realloc(disk->queue, room * sizeof *queue);

                if (!queue) {
                        layer->sim->failed = true;
                        return;
                }
                disk->queue = queue;
                disk->room = room;
        }
        locate(disk, req);
        req->arrived = layer->sim->now;
        disk->queue[disk->nqueue++] = req;
        dispatch(disk);
}

static void disk_close(struct dbio_sim_layer *layer)
{
        struct disk *disk = (struct disk *)layer;

        free(disk->queue);
        free(disk);
}

static struct dbio_sim_layer *disk_open(struct dbio_sim *sim, const struct dbio_sim_profile *profile,
                                        struct dbio_sim_layer *below, uint64_t component)
{
        struct disk *disk = calloc(1, sizeof *disk);
        struct dbio_sim_random random;

        (void)below;
        if (!disk)
                return NULL;
        disk->layer.class = &dbio_sim_disk_class;
        disk->layer.sim = sim;
        disk->layer.groups = 1;
        disk->transferred.event = transferred;
        disk->keys = &profile->disk;
        disk->turn_ns = 60e9 / (double)profile->disk.rpm;
        lay_zones(disk);
        dbio_sim_random_init(&random, sim->seed, component);
        disk->cylinder = (int32_t)(dbio_sim_random_unit(&random) * disk->zone_cylinders * (double)profile->disk.zones);
        disk->idle_since = -1;
        return &disk->layer;
}

const struct dbio_sim_layer_class dbio_sim_disk_class = {"disk", disk_open, disk_submit, disk_close, NULL, NULL};
