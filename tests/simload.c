#include "tests/simload.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backend.h"
#include "engine/sim_core.h"
#include "patterns/profile.h"

struct slot {
        struct dbio_io io;
        unsigned stream;
        uint64_t submitted_ns;
};

struct driver {
        struct simload *load;
        struct dbio_clock clock;
        struct dbio_sim_random random[SIMLOAD_STREAMS];
        struct slot *slots;
        struct dbio_io **list;
        uint64_t file_size;
        const struct dbio_backend *backend;
        void *state;
};

struct dbio_sim_profile *simload_profile(const char *name)
{
        static struct dbio_sim_profile *kept[1024];
        static unsigned n;
        struct dbio_err err = {0};

        if (n == sizeof kept / sizeof *kept || dbio_profile_load(name, &kept[n], &err))
                ck_abort_msg("%s: %s", name, err.message);
        return kept[n++];
}

static bool aim(struct driver *driver, struct slot *slot)
{
        struct simload_stream *stream = &driver->load->streams[slot->stream];
        uint64_t span = stream->span ? stream->span : driver->file_size, places = span / stream->length;

        if (stream->count && stream->issued == stream->count)
                return false;
        slot->io.offset = (stream->sequential ? stream->issued % places
                                              : dbio_sim_random_next(&driver->random[slot->stream]) % places) *
                          stream->length;
        slot->io.length = stream->length;
        slot->io.kind = stream->write ? DBIO_WRITE : DBIO_READ;
        slot->io.file = (uint16_t)stream->file;
        slot->submitted_ns = driver->clock.virtual_ns;
        stream->issued++;
        driver->load->inflight++;
        return true;
}

static void send(struct driver *driver, unsigned n)
{
        if (n && driver->backend->submit(driver->state, driver->list, n) != (int)n)
                ck_abort_msg("the backend did not take %u ios", n);
}

static void begin_stream(struct driver *driver, unsigned which, unsigned first_slot)
{
        unsigned n = 0;

        for (unsigned i = 0; i < driver->load->streams[which].depth; i++) {
                struct slot *slot = &driver->slots[first_slot + i];

                slot->io.slot = first_slot + i;
                slot->stream = which;
                if (aim(driver, slot))
                        driver->list[n++] = &slot->io;
        }
        send(driver, n);
}

static void count(struct driver *driver, const struct slot *slot)
{
        struct simload *load = driver->load;
        struct simload_stream *stream = &load->streams[slot->stream];
        uint64_t now = driver->clock.virtual_ns, took = now - slot->submitted_ns, bin = load->bin_ns ? now / load->bin_ns : 0;

        if (now < slot->submitted_ns || slot->io.result != (int64_t)slot->io.length)
                ck_abort_msg("an io came back before its time or with %lld bytes", (long long)slot->io.result);
        if (!stream->ios++)
                stream->first_ns = now;
        stream->total_ns += (double)took;
        stream->last_ns = now;
        stream->max_ns = took > stream->max_ns ? took : stream->max_ns;
        stream->slow += stream->slow_ns && took > stream->slow_ns;
        if (load->bin_ns && bin < SIMLOAD_BINS)
                stream->bins[bin]++;
        load->inflight--;
        load->digest = (load->digest ^ (now + slot->io.offset * 31 + slot->stream)) * 0x100000001b3u;
}

/* The next start of a stream that has not begun, or the run's end. */
static uint64_t next_start(const struct simload *load, const bool *begun, uint64_t end)
{
        for (unsigned i = 0; i < load->nstreams; i++)
                if (!begun[i] && load->streams[i].start_ns < end)
                        end = load->streams[i].start_ns;
        return end;
}

static bool all_counted_done(const struct simload *load)
{
        for (unsigned i = 0; i < load->nstreams; i++)
                if (load->streams[i].count && load->streams[i].ios < load->streams[i].count)
                        return false;
        return true;
}

static void drive(struct driver *driver, unsigned slots)
{
        struct simload *load = driver->load;
        struct dbio_io **done = calloc(slots, sizeof *done);
        bool begun[SIMLOAD_STREAMS] = {false};
        uint64_t end = load->end_ns ? load->end_ns : UINT64_MAX, before = 0;

        while (driver->clock.virtual_ns < end && (load->end_ns || !all_counted_done(load))) {
                unsigned first = 0, n = 0;
                int got;

                for (unsigned i = 0; i < load->nstreams; first += load->streams[i++].depth) {
                        if (begun[i] || load->streams[i].start_ns > driver->clock.virtual_ns)
                                continue;
                        begin_stream(driver, i, first);
                        begun[i] = true;
                }
                got = driver->backend->reap(driver->state, done, 1, slots, next_start(load, begun, end));
                if (got < 0 || driver->clock.virtual_ns < before)
                        ck_abort_msg("reap gave %d", got);
                before = driver->clock.virtual_ns;
                for (int i = 0; i < got; i++) {
                        struct slot *slot = &driver->slots[done[i]->slot];

                        count(driver, slot);
                        if (aim(driver, slot))
                                driver->list[n++] = done[i];
                }
                send(driver, n);
        }
        load->now_ns = driver->clock.virtual_ns;
        free(done);
}

void simload_run(struct simload *load)
{
        unsigned nfiles = load->nfiles ? load->nfiles : 1, slots = 0;
        uint64_t capacity = dbio_sim_capacity(load->profile);
        uint64_t file_size = load->file_size ? load->file_size : capacity / nfiles >> 20 << 20;
        struct dbio_sim_device device = {load->profile->name, load->profile};
        struct dbio_sim_place place = {.file_size = file_size, .nfiles = nfiles, .layout = load->layout};
        struct dbio_sim_spec spec = {load->seed, 1, 1, &device, &place, &load->split};
        struct dbio_file files[8] = {{0}};
        struct driver driver = {.load = load, .file_size = file_size, .backend = dbio_backend_find("sim")};
        struct dbio_backend_env env = {.clock = &driver.clock, .files = files, .nfiles = nfiles, .sim = &spec};
        const char *names[] = {"data"};
        struct dbio_err err = {0};

        for (unsigned i = 0; i < load->nstreams; i++) {
                slots += load->streams[i].depth;
                dbio_sim_random_init(&driver.random[i], load->seed, 100 + i);
        }
        for (unsigned i = 0; i < nfiles; i++)
                files[i] = (struct dbio_file){.fd = -1, .size = file_size, .sector = 512};
        env.max_inflight = slots;
        dbio_clock_init_virtual(&driver.clock);
        driver.slots = calloc(slots, sizeof *driver.slots);
        driver.list = calloc(slots, sizeof *driver.list);
        ck_assert_msg(dbio_sim_spec_place(&spec, names, &err) == 0, "%s", err.message);
        ck_assert_msg(driver.backend->open(&driver.state, &env, &err) == 0, "%s", err.message);
        drive(&driver, slots);
        driver.backend->close(driver.state);
        free(driver.slots);
        free(driver.list);
}
