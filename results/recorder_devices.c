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
        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                rec->devices[d].device = &rec->options.devices[d];
                rec->devices[d].course.most = INFINITY;
        }
        dbio_rec_devices_sample(rec, 0);
        return rec->oom ? -1 : 0;
}

/* One sample when the grid has moved on; elapsed UINT64_MAX is the phase's end. */
void dbio_rec_devices_sample(struct dbio_recorder *rec, uint64_t elapsed_ns)
{
        uint64_t number = elapsed_ns == UINT64_MAX ? UINT64_MAX : elapsed_ns / rec->options.interval_ns;

        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                struct dbio_rec_device *device = &rec->devices[d];
                struct dbio_rec_sample sample = {.number = number};

                if (device->broken || (device->nsamples && number <= device->samples[device->nsamples - 1].number))
                        continue;
                sample.at_ns = dbio_rec_monotonic_ns();
                if (dbio_device_counters_read(&sample.counters, device->device->dev, NULL)) {
                        device->broken = true;
                        continue;
                }
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

/* Requests as they were handed to the device: those merged into others count, too. */
static struct dbio_rec_load kernel_load(const struct dbio_rec_device *device, const struct dbio_rec_sample *sample)
{
        const struct dbio_device_counters *a = &device->samples[0].counters, *b = &sample->counters;

        return (struct dbio_rec_load){
                .kernel_ios = (double)(b->read_ios - a->read_ios + b->read_merges - a->read_merges + b->write_ios -
                                       a->write_ios + b->write_merges - a->write_merges),
                .kernel_bytes = 512.0 * (double)(b->read_sectors - a->read_sectors + b->write_sectors - a->write_sectors),
                .busy_ms = (double)(b->io_ms - a->io_ms),
                .queue_ms = (double)(b->queue_ms - a->queue_ms),
        };
}

static double between(double a, double b, double share)
{
        return a + (b - a) * share;
}

/* The counters at a moment: samples come a little after the grid's times, at different distances. *near is where to
 * begin to look, and is moved on. */
static struct dbio_rec_load load_at(const struct dbio_rec_device *device, int64_t at_ns, size_t *near)
{
        const struct dbio_rec_sample *s = device->samples;

        while (*near + 2 < device->nsamples && s[*near + 1].at_ns < at_ns)
                ++*near;
        const struct dbio_rec_sample *a = &s[*near], *b = &s[*near + 1];
        struct dbio_rec_load x = kernel_load(device, a), y = kernel_load(device, b);
        double share = b->at_ns > a->at_ns ? (double)(at_ns - a->at_ns) / (double)(b->at_ns - a->at_ns) : 1;

        share = share < 0 ? 0 : share > 1 ? 1 : share;
        return (struct dbio_rec_load){
                .kernel_ios = between(x.kernel_ios, y.kernel_ios, share),
                .kernel_bytes = between(x.kernel_bytes, y.kernel_bytes, share),
                .busy_ms = between(x.busy_ms, y.busy_ms, share),
                .queue_ms = between(x.queue_ms, y.queue_ms, share),
        };
}

/* Others' requests. The kernel counts an op of ours that it had to split several times, but its sectors once: a
 * foreign request has a sector at least. */
static double foreign_ios(const struct dbio_rec_load *load)
{
        double ios = load->kernel_ios - load->own_ios, sectors = (load->kernel_bytes - load->own_bytes) / 512;

        ios = ios < sectors ? ios : sectors;
        return ios > 0 ? ios : 0;
}

static double foreign_share(const struct dbio_rec_load *load)
{
        double bytes = load->kernel_bytes > 0 ? 1 - load->own_bytes / load->kernel_bytes : 0;
        double ios = load->kernel_ios > 0 ? foreign_ios(load) / load->kernel_ios : 0;
        double share = bytes > ios ? bytes : ios;

        return share > 0 ? share : 0;
}

/* The rows from the course's next interval on, below `until`. */
static int write_rows(struct dbio_recorder *rec, const struct dbio_rec_device *device, struct dbio_rec_course *course,
                      int64_t started_ns, uint64_t until, struct dbio_err *err)
{
        int64_t interval = (int64_t)rec->options.interval_ns;

        for (; course->next < until; course->next++) {
                uint64_t i = course->next;
                double own = i < device->own_room ? device->own_ios[i] : 0;
                struct dbio_rec_load from = load_at(device, started_ns + (int64_t)i * interval, &course->near);
                struct dbio_rec_load to = load_at(device, started_ns + (int64_t)(i + 1) * interval, &course->near);
                struct dbio_rec_load *sum = &course->sum;

                sum->own_ios += own;
                sum->own_bytes += i < device->own_room ? device->own_bytes[i] : 0;
                sum->kernel_ios = to.kernel_ios;
                sum->kernel_bytes = to.kernel_bytes;
                /* Sums never fall, nor rise over the phase's: what looks foreign only because of the samples' moments. */
                double others = fmin(fmax(foreign_ios(sum), course->foreign), course->most);
                if (dbio_db_run(rec->store, err, "INSERT OR REPLACE INTO device VALUES (?, ?, ?, ?, ?, ?, ?)", "isuiidd",
                                rec->phase_id, device->device->name, i * rec->options.interval_ns,
                                (int64_t)llround(own), (int64_t)llround(others - course->foreign),
                                fmin(1.0, (to.busy_ms - from.busy_ms) * 1e6 / (double)interval),
                                (to.queue_ms - from.queue_ms) * 1e6 / (double)interval))
                        return -1;
                course->foreign = others;
        }
        return 0;
}

int dbio_rec_devices_commit(struct dbio_recorder *rec, struct dbio_err *err)
{
        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                struct dbio_rec_device *device = &rec->devices[d];
                uint64_t until = device->nsamples > 1 ? device->samples[device->nsamples - 1].number : 0;

                if (until > rec->sealed)
                        until = rec->sealed;
                if (until > rec->end) /* the grid ends with the last op, which may have been */
                        until = rec->end;
                if (write_rows(rec, device, &device->course, rec->started_ns, until, err))
                        return -1;
        }
        return 0;
}

int dbio_rec_devices_write(struct dbio_recorder *rec, uint64_t started_ns, uint64_t intervals, struct dbio_err *err)
{
        for (unsigned d = 0; d < rec->options.ndevices; d++) {
                const struct dbio_rec_device *device = &rec->devices[d];

                if (device->nsamples < 2)
                        continue;
                struct dbio_rec_load all = kernel_load(device, &device->samples[device->nsamples - 1]);
                for (size_t i = 0; i < device->own_room; i++) {
                        all.own_ios += device->own_ios[i];
                        all.own_bytes += device->own_bytes[i];
                }
                if (foreign_share(&all) > rec->foreign_share)
                        rec->foreign_share = foreign_share(&all);
                /* Again, now that the phase's start is known exactly. */
                struct dbio_rec_course course = {.most = foreign_ios(&all)};
                if (rec->phase->record && write_rows(rec, device, &course, (int64_t)started_ns, intervals, err))
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
