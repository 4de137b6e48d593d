#include "engine/precondition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "engine/device.h"

#define DEPTH      32u
#define FILL_BYTES (1u << 20)

/* One target being written, 32 at a time. */
struct conditioning {
        const struct dbio_target *target;
        const struct dbio_precondition_options *options;
        struct dbio_clock clock;
        void *state;
        unsigned char *arena;
        struct dbio_io ios[DEPTH];
        unsigned free[DEPTH], nfree;
        uint64_t random;
        uint64_t done, all;
        char what[160];
        struct dbio_err *err;
};

bool dbio_precondition_asked(const struct dbio_precondition *p)
{
        return p->fill > 0 || p->overwrite > 0 || p->until_steady;
}

void dbio_precondition_format(const struct dbio_precondition *p, char *text, size_t size)
{
        snprintf(text, size, "fill %u, overwrite %u%s", p->fill, p->overwrite, p->until_steady ? ", until steady" : "");
}

void dbio_precondition_name(const struct dbio_targets *targets, unsigned target, char *name, size_t size)
{
        const struct dbio_geometry *geometry = &targets->targets[target].geometry;
        size_t length = 0;

        name[0] = 0;
        for (unsigned i = 0; i < geometry->nfiles && length < size; i++) {
                unsigned n = targets->targets[target].first_file + i;
                const struct dbio_target_file *file = &targets->files[n];
                struct dbio_device device;
                char id[400];

                if (file->block && dbio_device_read(&device, file->device, NULL) == 0)
                        dbio_device_id(&device, id, sizeof id);
                else
                        snprintf(id, sizeof id, "file %" PRIu64 ":%" PRIu64, (uint64_t)file->number, (uint64_t)file->inode);
                length += (size_t)snprintf(name + length, size - length, "%s%s %" PRIu64 "+%" PRIu64, i ? "; " : "", id,
                                           file->start + targets->io_files[n].base, geometry->file_size);
        }
}

static uint64_t draw(struct conditioning *c)
{
        uint64_t z = (c->random += 0x9e3779b97f4a7c15); /* SplitMix64 */

        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
}

static int collect(struct conditioning *c, unsigned min)
{
        struct dbio_io *done[DEPTH];
        int nr = c->options->backend->reap(c->state, done, min, DEPTH, min ? UINT64_MAX : 0);

        for (int i = 0; i < nr; i++) {
                c->free[c->nfree++] = done[i]->slot;
                if (done[i]->result != (int64_t)done[i]->length)
                        return dbio_err_set(c->err, DBIO_IO, "%s: writing at %" PRIu64 ": %s", c->what, done[i]->offset,
                                            done[i]->result < 0 ? strerror((int)-done[i]->result) : "short");
                c->done += done[i]->length;
        }
        return nr < 0 ? dbio_err_set(c->err, DBIO_IO, "%s: %s", c->what, strerror(-nr)) : 0;
}

static int send_one(struct conditioning *c, uint64_t offset, uint32_t length)
{
        struct dbio_io *io = &c->ios[c->free[--c->nfree]];
        uint64_t *words = io->buffer;
        int code;

        io->file = (uint16_t)dbio_target_map(c->target, offset, &io->offset);
        io->kind = DBIO_WRITE;
        io->length = length;
        for (uint32_t i = 0; i < length / 8; i++)
                words[i] = draw(c);
        do {
                code = c->options->backend->submit(c->state, &io, 1);
                if (code == 0 && collect(c, 1) != 0)
                        return -1;
        } while (code == 0);
        return code < 0 ? dbio_err_set(c->err, DBIO_IO, "%s: %s", c->what, strerror(-code)) : 0;
}

static int pass(struct conditioning *c, uint64_t nr, uint32_t length, bool at_random)
{
        uint64_t places = c->target->geometry.file_size / length * c->target->geometry.nfiles;

        for (uint64_t i = 0; i < nr; i++) {
                if (c->options->stop && *c->options->stop)
                        return dbio_err_set(c->err, DBIO_IO, "%s: interrupted", c->what);
                if (collect(c, c->nfree == 0) != 0 ||
                    send_one(c, (at_random ? draw(c) % places : i % places) * length, length) != 0)
                        return -1;
                if (c->options->progress && i % 64 == 0)
                        c->options->progress(c->options->user, c->what, c->done, c->all);
        }
        while (c->nfree < DEPTH)
                if (collect(c, 1) != 0)
                        return -1;
        return 0;
}

bool dbio_precondition_is_steady(const double *rates, unsigned n)
{
        const double *last = rates + n - DBIO_STEADY_WINDOW;
        double sum = 0, least, most, slope = 0;
        const double middle = (DBIO_STEADY_WINDOW - 1) / 2.0;

        if (n < DBIO_STEADY_WINDOW)
                return false;
        least = most = last[0];
        for (int i = 0; i < DBIO_STEADY_WINDOW; i++) {
                sum += last[i];
                least = last[i] < least ? last[i] : least;
                most = last[i] > most ? last[i] : most;
                slope += (i - middle) * last[i];
        }
        slope /= DBIO_STEADY_WINDOW * (DBIO_STEADY_WINDOW * DBIO_STEADY_WINDOW - 1) / 12.0;
        sum /= DBIO_STEADY_WINDOW;
        return most - least <= 0.2 * sum && (slope < 0 ? -slope : slope) * (DBIO_STEADY_WINDOW - 1) <= 0.1 * sum;
}

/* Rounds of a tenth of the target. */
static int until_steady(struct conditioning *c, uint64_t bytes, unsigned *rounds, bool *steady)
{
        double rates[DBIO_STEADY_ROUNDS];
        uint64_t nr = bytes / c->options->page / 10 + 1;

        c->done = 0;
        c->all = nr * c->options->page * DBIO_STEADY_ROUNDS;
        snprintf(c->what, sizeof c->what, "preconditioning %.128s, at most", c->target->name);
        if (c->options->progress)
                c->options->progress(c->options->user, c->what, 0, c->all);
        for (*rounds = 0; *rounds < DBIO_STEADY_ROUNDS && !*steady;) {
                uint64_t began = dbio_clock_now(&c->clock), took;

                if (pass(c, nr, c->options->page, true) != 0)
                        return -1;
                took = dbio_clock_now(&c->clock) - began;
                rates[(*rounds)++] = (double)nr / (double)(took ? took : 1);
                *steady = dbio_precondition_is_steady(rates, *rounds);
        }
        return 0;
}

static int open_all(struct conditioning *c, const struct dbio_targets *targets)
{
        size_t each = c->options->page > FILL_BYTES ? c->options->page : FILL_BYTES;
        struct dbio_backend_env env = {.clock = &c->clock, .files = targets->io_files, .nfiles = targets->nfiles,
                                       .arena_bytes = DEPTH * each, .max_inflight = DEPTH};

        dbio_clock_init_real(&c->clock);
        if (getrandom(&c->random, sizeof c->random, 0) != sizeof c->random)
                c->random = dbio_clock_now(&c->clock);
        env.arena = c->arena = aligned_alloc(65536, env.arena_bytes);
        if (!c->arena)
                return dbio_err_set(c->err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < DEPTH; i++) {
                c->ios[i] = (struct dbio_io){.slot = i, .buffer = c->arena + i * each};
                c->free[c->nfree++] = i;
        }
        return c->options->backend->open(&c->state, &env, c->err);
}

int dbio_precondition_run(const struct dbio_targets *targets, unsigned index,
                          const struct dbio_precondition *precondition,
                          const struct dbio_precondition_options *options, unsigned *rounds, bool *steady,
                          struct dbio_err *err)
{
        const struct dbio_target *target = &targets->targets[index];
        struct conditioning *c = calloc(1, sizeof *c);
        uint64_t bytes = target->geometry.file_size * target->geometry.nfiles;
        int code = -1;

        *rounds = 0;
        *steady = false;
        if (!c)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        c->target = target;
        c->options = options;
        c->err = err;
        c->all = bytes * (precondition->fill + precondition->overwrite);
        snprintf(c->what, sizeof c->what, "preconditioning %.128s", target->name);
        if (open_all(c, targets) != 0)
                goto out;
        if (options->progress)
                options->progress(options->user, c->what, 0, c->all);
        code = pass(c, bytes / FILL_BYTES * precondition->fill, FILL_BYTES, false);
        if (code == 0)
                code = pass(c, bytes / options->page * precondition->overwrite, options->page, true);
        if (options->progress && c->all && code == 0)
                options->progress(options->user, c->what, c->all, c->all);
        if (code == 0 && precondition->until_steady)
                code = until_steady(c, bytes, rounds, steady);
out:
        if (c->state)
                options->backend->close(c->state);
        free(c->arena);
        free(c);
        return code;
}
