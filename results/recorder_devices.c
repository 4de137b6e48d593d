/* The kernel's counters of the devices, less our own I/O: what others did meanwhile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/db.h"
#include "results/recorder_state.h"

int dbio_rec_devices_open(struct dbio_recorder *rec)
{
        rec->devices = calloc(rec->options.ndevices + 1, sizeof *rec->devices);
        if (!rec->devices)
                return -1;
        for (unsigned d = 0; d < rec->options.ndevices; d++)
                rec->devices[d].device = &rec->options.devices[d];
        dbio_rec_devices_sample(rec, 0);
        return rec->oom ? -1 : 0;
}

/* One sample when the grid has moved on; elapsed UINT64_MAX is the phase's end. */
void dbio_rec_devices_sample(struct dbio_recorder *rec, uint64_t elapsed_ns)
{
        bool last = elapsed_ns == UINT64_MAX;
        uint64_t number = last ? rec->end : elapsed_ns / rec->options.interval_ns;

        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                struct dbio_rec_device *device = &rec->devices[d];
                struct dbio_rec_sample *before = device->nsamples ? &device->samples[device->nsamples - 1] : NULL;
                struct dbio_rec_sample sample = {.number = number, .elapsed_ns = elapsed_ns};

                if (device->broken || (before && !last && number <= before->number))
                        continue;
                if (dbio_device_counters_read(&sample.counters, device->device->dev, NULL)) {
                        device->broken = true;
                        continue;
                }
                if (last && before)
                        sample.elapsed_ns = before->elapsed_ns + rec->options.interval_ns;
                if (dbio_rec_grow(rec, &device->samples, &device->samples_room, device->nsamples,
                                  sizeof *device->samples))
                        device->samples[device->nsamples++] = sample;
        }
}

/* The share of a stream's ops of a kind that goes to a device: its targets take equal parts. */
static double share_of(const struct dbio_stream *stream, uint8_t kind, const double *shares)
{
        double sum = 0;
        unsigned n = 0;

        for (unsigned u = 0; u < stream->nuses; u++)
                if (kind == DBIO_READ ? stream->uses[u].reads : stream->uses[u].writes) {
                        sum += shares[stream->uses[u].target];
                        n++;
                }
        return n ? sum / n : 0;
}

static bool grow_own(struct dbio_recorder *rec, struct dbio_rec_device *device, uint64_t number)
{
        size_t room = device->own_room ? device->own_room : 64;

        if (number < device->own_room)
                return true;
        while (room <= number)
                room *= 2;
        double *ios = realloc(device->own_ios, room * sizeof *ios);
        if (ios)
                device->own_ios = ios;
        double *bytes = realloc(device->own_bytes, room * sizeof *bytes);
        if (bytes)
                device->own_bytes = bytes;
        if (!ios || !bytes) {
                rec->oom = 1;
                return false;
        }
        memset(ios + device->own_room, 0, (room - device->own_room) * sizeof *ios);
        memset(bytes + device->own_room, 0, (room - device->own_room) * sizeof *bytes);
        device->own_room = room;
        return true;
}

void dbio_rec_devices_add(struct dbio_recorder *rec, const struct dbio_rec_key *key, uint64_t number, uint64_t ios,
                          uint64_t bytes)
{
        for (unsigned d = 0; dbio_rec_is_io(key) && d < rec->options.ndevices; d++) {
                struct dbio_rec_device *device = &rec->devices[d];
                double share = share_of(&rec->phase->streams[key->stream], key->kind, device->device->shares);

                if (device->broken || share <= 0 || !grow_own(rec, device, number))
                        continue;
                device->own_ios[number] += share * (double)ios;
                device->own_bytes[number] += share * (double)bytes;
        }
}

struct load {
        double kernel_ios, kernel_bytes, own_ios, own_bytes;
};

/* Requests as they were handed to the device: those merged into others count, too. */
static struct load load_until(const struct dbio_rec_device *device, const struct dbio_rec_sample *sample)
{
        const struct dbio_device_counters *a = &device->samples[0].counters, *b = &sample->counters;
        struct load load = {0, 0, 0, 0};

        load.kernel_ios = (double)(b->read_ios - a->read_ios + b->read_merges - a->read_merges + b->write_ios -
                                   a->write_ios + b->write_merges - a->write_merges);
        load.kernel_bytes = 512.0 * (double)(b->read_sectors - a->read_sectors + b->write_sectors - a->write_sectors);
        for (uint64_t i = 0; i < sample->number && i < device->own_room; i++) {
                load.own_ios += device->own_ios[i];
                load.own_bytes += device->own_bytes[i];
        }
        return load;
}

/* Others' requests. The kernel counts an op of ours that it had to split several times, but its sectors once: a
 * foreign request has a sector at least. */
static double foreign_ios(const struct load *load)
{
        double ios = load->kernel_ios - load->own_ios, sectors = (load->kernel_bytes - load->own_bytes) / 512;

        ios = ios < sectors ? ios : sectors;
        return ios > 0 ? ios : 0;
}

static double foreign_share(const struct load *load)
{
        double bytes = load->kernel_bytes > 0 ? 1 - load->own_bytes / load->kernel_bytes : 0;
        double ios = load->kernel_ios > 0 ? foreign_ios(load) / load->kernel_ios : 0;
        double share = bytes > ios ? bytes : ios;

        return share > 0 ? share : 0;
}

static int write_device(struct dbio_recorder *rec, const struct dbio_rec_device *device, struct dbio_err *err)
{
        double foreign = 0, own = 0;

        for (size_t i = 1; i < device->nsamples; i++) {
                const struct dbio_rec_sample *a = &device->samples[i - 1], *b = &device->samples[i];
                struct load load = load_until(device, b);
                double others = foreign_ios(&load), ns = (double)(b->elapsed_ns - a->elapsed_ns);

                /* Sums never fall: what looks foreign because a record came late is taken back by the next. */
                if (others < foreign)
                        others = foreign;
                if (b->number > a->number &&
                    dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO device VALUES (?, ?, ?, ?, ?, ?, ?)",
                                "isuiidd", rec->phase_id, device->device->name, a->number * rec->options.interval_ns,
                                (int64_t)llround(load.own_ios - own), (int64_t)llround(others - foreign),
                                fmin(1.0, (double)(b->counters.io_ms - a->counters.io_ms) * 1e6 / ns),
                                (double)(b->counters.queue_ms - a->counters.queue_ms) * 1e6 / ns))
                        return -1;
                if (b->number > a->number) {
                        foreign = others;
                        own = load.own_ios;
                }
        }
        return 0;
}

int dbio_rec_devices_write(struct dbio_recorder *rec, struct dbio_err *err)
{
        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                const struct dbio_rec_device *device = &rec->devices[d];

                if (device->nsamples < 2)
                        continue;
                struct load all = load_until(device, &device->samples[device->nsamples - 1]);
                if (foreign_share(&all) > rec->foreign_share)
                        rec->foreign_share = foreign_share(&all);
                if (rec->phase->record && write_device(rec, device, err))
                        return -1;
        }
        return 0;
}

void dbio_rec_devices_close(struct dbio_recorder *rec)
{
        for (unsigned d = 0; rec->devices && d < rec->options.ndevices; d++) {
                free(rec->devices[d].samples);
                free(rec->devices[d].own_ios);
                free(rec->devices[d].own_bytes);
        }
        free(rec->devices);
}
