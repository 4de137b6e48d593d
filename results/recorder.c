#include "results/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/histcode.h"
#include "results/recorder_state.h"

/* Intervals that stay open behind the newest: a worker that is late to close one still finds it. */
#define OPEN_INTERVALS 2
#define COMMIT_EVERY_NS 950000000ll /* a tick a second, come a little early or late, commits each time */

bool dbio_rec_grow(struct dbio_recorder *rec, void *array, size_t *room, size_t n, size_t size)
{
        void **at = array;

        if (n < *room)
                return true;
        size_t more = *room ? *room * 2 : 64;
        void *grown = realloc(*at, more * size);
        if (!grown) {
                rec->oom = 1;
                return false;
        }
        *at = grown;
        *room = more;
        return true;
}

static unsigned char *rec_code_room(struct dbio_recorder *rec, size_t size)
{
        if (rec->ncodes + size > rec->codes_room) {
                size_t more = 2 * rec->codes_room + size;
                unsigned char *grown = realloc(rec->codes, more);

                if (!grown) {
                        rec->oom = 1;
                        return NULL;
                }
                rec->codes = grown;
                rec->codes_room = more;
        }
        return rec->codes + rec->ncodes;
}

int64_t dbio_rec_monotonic_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000000000ll + t.tv_nsec;
}

bool dbio_rec_is_io(const struct dbio_rec_key *key)
{
        return key->kind == DBIO_READ || key->kind == DBIO_WRITE;
}

static struct dbio_rec_key *get_key(struct dbio_recorder *rec, uint32_t stream, uint8_t kind, uint8_t role)
{
        struct dbio_rec_key **slot = &rec->index[((size_t)stream * DBIO_KINDS + kind) * DBIO_ROLES + role];

        if (*slot)
                return *slot;
        if (!dbio_rec_grow(rec, &rec->keys, &rec->keys_room, rec->nkeys, sizeof *rec->keys))
                return NULL;
        struct dbio_rec_key *key = calloc(1, sizeof *key);
        if (!key) {
                rec->oom = 1;
                return NULL;
        }
        key->number = (unsigned)rec->nkeys;
        key->stream = stream;
        key->kind = kind;
        key->role = role;
        rec->keys[rec->nkeys++] = *slot = key;
        return key;
}

static struct dbio_rec_cell *get_cell(struct dbio_recorder *rec, struct dbio_rec_key *key, uint64_t number)
{
        struct dbio_rec_cell **at = &key->cells, *cell;

        while (*at && (*at)->number < number)
                at = &(*at)->next;
        if (*at && (*at)->number == number)
                return *at;
        cell = rec->free_cells;
        if (cell) {
                rec->free_cells = cell->next;
        } else {
                cell = calloc(1, sizeof *cell);
                if (!cell) {
                        rec->oom = 1;
                        return NULL;
                }
        }
        cell->number = number;
        cell->ios = cell->bytes = cell->errors = 0;
        memset(cell->depth, 0, sizeof cell->depth);
        dbio_hist_reset(&cell->service);
        dbio_hist_reset(&cell->response);
        cell->next = *at;
        *at = cell;
        return cell;
}

static void keep_part(struct dbio_recorder *rec, const struct dbio_rec_key *key, const struct dbio_record *r,
                      uint64_t number)
{
        if (!r->interval.ios ||
            !dbio_rec_grow(rec, &rec->parts, &rec->parts_room, rec->nparts, sizeof *rec->parts))
                return;
        unsigned char *code = rec_code_room(rec, 2 * DBIO_HIST_CODE_MAX);
        if (!code)
                return;
        struct dbio_rec_part *part = &rec->parts[rec->nparts++];
        *part = (struct dbio_rec_part){.key = key->number, .mask = r->interval.mask, .number = number,
                                       .ios = r->interval.ios, .bytes = r->interval.bytes, .code = rec->ncodes};
        part->service_size = dbio_hist_encode(r->interval.service, code);
        part->response_size = dbio_hist_encode(r->interval.response, code + part->service_size);
        rec->ncodes += part->service_size + part->response_size;
}

static void take_interval(struct dbio_recorder *rec, const struct dbio_record *r)
{
        struct dbio_rec_key *key = get_key(rec, r->stream, r->interval.kind, r->interval.role);
        uint64_t number = r->interval.t_ns / rec->options.interval_ns;
        struct dbio_rec_cell *cell;

        if (number < rec->sealed)
                number = rec->sealed;
        if (!key || !(cell = get_cell(rec, key, number)))
                return;
        if (number >= rec->end)
                rec->end = number + 1;
        cell->ios += r->interval.ios;
        cell->bytes += r->interval.bytes;
        cell->errors += r->interval.errors;
        uint32_t *depth = &cell->depth[r->worker % CELL_WORKERS];
        if (r->interval.depth_peak > *depth)
                *depth = r->interval.depth_peak;
        dbio_hist_merge(&cell->service, r->interval.service);
        dbio_hist_merge(&cell->response, r->interval.response);
        key->ios += r->interval.ios;
        key->bytes += r->interval.bytes;
        key->errors += r->interval.errors;
        key->unissued += r->interval.unissued;
        key->failed_ns += r->interval.failed_ns;
        key->splits += r->interval.splits;
        key->hba_waits += r->interval.hba_waits;
        key->hba_wait_ns += r->interval.hba_wait_ns;
        dbio_hist_merge(&key->service, r->interval.service);
        dbio_hist_merge(&key->response, r->interval.response);
        dbio_hist_merge(&key->wait, r->interval.wait);
        dbio_hist_merge(&key->lag, r->interval.lag);
        key->dirty = true;
        /* What failed was the device's work, too. */
        dbio_rec_devices_add(rec, key, number, r->interval.ios + r->interval.splits + r->interval.errors,
                             r->interval.bytes + r->interval.failed_bytes);
        if (rec->windows)
                keep_part(rec, key, r, number);
        struct dbio_live *live = &rec->live[r->stream].figures;
        if (key->kind == DBIO_COMMIT)
                return;
        live->all_ios += r->interval.ios;
        live->all_bytes += r->interval.bytes;
        live->all_errors += r->interval.errors;
        if (!rec->phase->record) {
                rec->unrecorded_ios += r->interval.ios;
                rec->unrecorded_bytes += r->interval.bytes;
        }
}

static void take_episode(struct dbio_recorder *rec, uint32_t stream, const struct dbio_episode *episode, bool ended)
{
        struct dbio_rec_live *live = &rec->live[stream];
        size_t i = rec->nepisodes;

        while (i > 0 && !(rec->episodes[i - 1].stream == stream && rec->episodes[i - 1].e.episode == episode->episode))
                i--;
        if (i > 0) {
                i--;
        } else {
                if (!dbio_rec_grow(rec, &rec->episodes, &rec->episodes_room, rec->nepisodes, sizeof *rec->episodes))
                        return;
                i = rec->nepisodes++;
        }
        rec->episodes[i] = (struct dbio_rec_episode){.stream = stream, .dirty = true, .ended = ended, .e = *episode};
        live->figures.episode = ended ? 0 : episode->episode;
        if (ended && episode->writes && episode->pages && episode->end_ns != UINT64_MAX)
                live->figures.last_pages_per_write = (double)episode->pages / (double)episode->writes;
}

void dbio_recorder_take(void *recorder, const struct dbio_record *r)
{
        struct dbio_recorder *rec = recorder;

        if (r->stream >= rec->phase->nstreams)
                return;
        switch (r->type) {
        case DBIO_RECORD_INTERVAL:
                if (r->interval.kind < DBIO_KINDS && r->interval.role < DBIO_ROLES)
                        take_interval(rec, r);
                break;
        case DBIO_RECORD_EPISODE_BEGIN:
                take_episode(rec, r->stream,
                             &(struct dbio_episode){.episode = r->begin.episode, .begin_ns = r->begin.begin_ns,
                                                    .end_ns = UINT64_MAX}, false);
                break;
        case DBIO_RECORD_EPISODE:
                take_episode(rec, r->stream, &r->episode, true);
                break;
        case DBIO_RECORD_GAUGE:
                if (!rec->phase->record ||
                    !dbio_rec_grow(rec, &rec->gauges, &rec->gauges_room, rec->ngauges, sizeof *rec->gauges))
                        break;
                rec->gauges[rec->ngauges++] = (struct dbio_rec_gauge){r->stream, r->gauge.name, r->gauge.t_ns,
                                                                      r->gauge.value};
                break;
        }
}

void dbio_rec_cell_row(const struct dbio_rec_key *key, const struct dbio_rec_cell *cell, struct dbio_rec_row *row)
{
        const struct dbio_hist *s = &cell->service, *r = &cell->response;

        *row = (struct dbio_rec_row){.number = cell->number, .key = key->number, .ios = cell->ios,
                                     .bytes = cell->bytes, .errors = cell->errors};
        row->service_mean_ns = s->count ? (double)s->sum_ns / (double)s->count : NAN;
        row->response_mean_ns = r->count ? (double)r->sum_ns / (double)r->count : NAN;
        row->service_p99_ns = dbio_hist_percentile(s, 0.99);
        row->response_p99_ns = dbio_hist_percentile(r, 0.99);
}

static void update_live(struct dbio_recorder *rec, const struct dbio_rec_key *key, const struct dbio_rec_cell *cell)
{
        struct dbio_rec_live *live = &rec->live[key->stream];

        if (live->number < cell->number + 1) {
                live->number = cell->number + 1;
                live->ios = live->bytes = live->commits = 0;
                dbio_hist_reset(live->io);
                dbio_hist_reset(live->commit);
        }
        if (live->number != cell->number + 1)
                return;
        if (key->kind == DBIO_COMMIT) {
                live->commits += cell->ios;
                dbio_hist_merge(live->commit, &cell->response);
        } else if (dbio_rec_is_io(key)) {
                live->ios += cell->ios;
                live->bytes += cell->bytes;
                dbio_hist_merge(live->io, &cell->response);
        }
}

static void seal_cell(struct dbio_recorder *rec, struct dbio_rec_key *key, struct dbio_rec_cell *cell)
{
        struct dbio_rec_row row;
        uint64_t depth = 0;

        for (unsigned w = 0; w < CELL_WORKERS; w++)
                depth += cell->depth[w];
        if (depth > key->depth_peak)
                key->depth_peak = depth;
        update_live(rec, key, cell);
        if (!rec->phase->record ||
            !dbio_rec_grow(rec, &rec->rows, &rec->rows_room, rec->nrows, sizeof *rec->rows))
                return;
        dbio_rec_cell_row(key, cell, &row);
        if (rec->options.full_intervals && cell->service.count) {
                unsigned char *code = rec_code_room(rec, DBIO_HIST_CODE_MAX);

                if (!code)
                        return;
                row.code = rec->ncodes;
                row.code_size = dbio_hist_encode(&cell->service, code);
                rec->ncodes += row.code_size;
        }
        rec->rows[rec->nrows++] = row;
}

/* Closes the intervals below a number: they become rows. */
static void seal(struct dbio_recorder *rec, uint64_t below)
{
        for (size_t k = 0; k < rec->nkeys; k++) {
                struct dbio_rec_key *key = rec->keys[k];
                struct dbio_rec_cell *cell;

                while ((cell = key->cells) && cell->number < below) {
                        seal_cell(rec, key, cell);
                        key->cells = cell->next;
                        cell->next = rec->free_cells;
                        rec->free_cells = cell;
                }
        }
        for (unsigned s = 0; s < rec->phase->nstreams; s++) {
                struct dbio_rec_live *live = &rec->live[s];
                bool current = live->number == below;
                double per_s = 1e9 / (double)rec->options.interval_ns;

                live->figures.iops = current ? (double)live->ios * per_s : 0;
                live->figures.mib_per_s = current ? (double)live->bytes * per_s / 1048576 : 0;
                live->figures.commits_per_s = current ? (double)live->commits * per_s : 0;
                live->figures.p50_ns = current ? dbio_hist_percentile(live->io, 0.50) : 0;
                live->figures.p99_ns = current ? dbio_hist_percentile(live->io, 0.99) : 0;
                live->figures.commit_p50_ns = current ? dbio_hist_percentile(live->commit, 0.50) : 0;
                live->figures.commit_p99_ns = current ? dbio_hist_percentile(live->commit, 0.99) : 0;
        }
        if (below > rec->sealed)
                rec->sealed = below;
}

int dbio_recorder_tick(struct dbio_recorder *rec, uint64_t elapsed_ns, struct dbio_err *err)
{
        uint64_t passed = elapsed_ns / rec->options.interval_ns;
        int64_t now = dbio_rec_monotonic_ns();

        if (rec->oom)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        if (!rec->started_ns || now - (int64_t)elapsed_ns < rec->started_ns)
                rec->started_ns = now - (int64_t)elapsed_ns;
        dbio_rec_devices_sample(rec, elapsed_ns);
        if (passed > OPEN_INTERVALS && passed - OPEN_INTERVALS > rec->sealed)
                seal(rec, passed - OPEN_INTERVALS);
        if (now - rec->committed_ns < COMMIT_EVERY_NS)
                return 0;
        rec->committed_ns = now;
        return dbio_rec_commit(rec, err);
}

/* A percentile over all I/O, of lag or of service; UINT64_MAX where there was none. */
static uint64_t percentile_of_all(const struct dbio_recorder *rec, bool lag, double share)
{
        struct dbio_hist *all = calloc(1, sizeof *all);
        uint64_t value;

        if (!all)
                return UINT64_MAX;
        for (size_t k = 0; k < rec->nkeys; k++)
                if (rec->keys[k]->kind != DBIO_COMMIT)
                        dbio_hist_merge(all, lag ? &rec->keys[k]->lag : &rec->keys[k]->service);
        value = all->count ? dbio_hist_percentile(all, share) : UINT64_MAX;
        free(all);
        return value;
}

uint64_t dbio_recorder_lag_p99_ns(const struct dbio_recorder *rec)
{
        return percentile_of_all(rec, true, 0.99);
}

int dbio_recorder_finish(struct dbio_recorder *rec, const struct dbio_phase_result *result, struct dbio_err *err)
{
        if (rec->oom)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        dbio_rec_devices_sample(rec, UINT64_MAX);
        seal(rec, rec->end);
        uint64_t median_ns = percentile_of_all(rec, false, 0.50);
        rec->median_service_ns = median_ns == UINT64_MAX ? 0 : median_ns;
        return dbio_rec_end_phase(rec, result, err);
}

void dbio_recorder_live(const struct dbio_recorder *rec, unsigned stream, struct dbio_live *live)
{
        *live = stream < rec->phase->nstreams ? rec->live[stream].figures : (struct dbio_live){0};
}

double dbio_recorder_foreign_share(const struct dbio_recorder *rec)
{
        return rec->foreign_share;
}

uint64_t dbio_recorder_median_service_ns(const struct dbio_recorder *rec)
{
        return rec->median_service_ns;
}

static bool has_windows(const struct dbio_phase *phase)
{
        for (unsigned s = 0; phase->record && s < phase->nstreams; s++)
                if (phase->streams[s].flags & DBIO_STREAM_EPISODES)
                        return phase->nstreams > 1;
        return false;
}

int dbio_recorder_open(struct dbio_recorder **out, struct dbio_store *store, const struct dbio_phase *phase,
                       const struct dbio_recorder_options *options, struct dbio_err *err)
{
        struct dbio_recorder *rec = calloc(1, sizeof *rec);
        bool ok;

        if (!rec)
                return dbio_err_set(err, DBIO_IO, "results: out of memory");
        rec->store = store;
        rec->phase = phase;
        rec->options = *options;
        rec->windows = has_windows(phase);
        rec->committed_ns = dbio_rec_monotonic_ns();
        rec->index = calloc((size_t)phase->nstreams * DBIO_KINDS * DBIO_ROLES + 1, sizeof *rec->index);
        rec->live = calloc(phase->nstreams + 1, sizeof *rec->live);
        ok = rec->index && rec->live && dbio_rec_devices_open(rec) == 0;
        for (unsigned s = 0; ok && s < phase->nstreams; s++) {
                rec->live[s].figures.iops = rec->live[s].figures.mib_per_s = NAN;
                rec->live[s].io = calloc(1, sizeof *rec->live[s].io);
                rec->live[s].commit = calloc(1, sizeof *rec->live[s].commit);
                ok = rec->live[s].io && rec->live[s].commit;
        }
        if (!ok) {
                dbio_err_set(err, DBIO_IO, "results: out of memory");
                goto fail;
        }
        if (phase->record && dbio_rec_begin_phase(rec, err))
                goto fail;
        *out = rec;
        return 0;
fail:
        dbio_recorder_close(rec);
        return -1;
}

static void free_cells(struct dbio_rec_cell *cell)
{
        while (cell) {
                struct dbio_rec_cell *next = cell->next;

                free(cell);
                cell = next;
        }
}

void dbio_recorder_close(struct dbio_recorder *rec)
{
        if (!rec)
                return;
        for (size_t k = 0; k < rec->nkeys; k++) {
                free_cells(rec->keys[k]->cells);
                free(rec->keys[k]);
        }
        free_cells(rec->free_cells);
        for (unsigned s = 0; rec->live && s < rec->phase->nstreams; s++) {
                free(rec->live[s].io);
                free(rec->live[s].commit);
        }
        dbio_rec_devices_close(rec);
        free(rec->keys);
        free(rec->index);
        free(rec->live);
        free(rec->rows);
        free(rec->parts);
        free(rec->codes);
        free(rec->episodes);
        free(rec->gauges);
        free(rec);
}
