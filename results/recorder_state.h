/* The recorder's inside, shared by its files: recorder.c takes and adds up, recorder_write.c writes rows,
 * recorder_windows.c cuts windows, recorder_devices.c reads the kernel's counters. */
#ifndef DBIO_RESULTS_RECORDER_STATE_H
#define DBIO_RESULTS_RECORDER_STATE_H

#include "engine/device.h"
#include "results/recorder.h"

#define CELL_WORKERS 64

/* An interval of one key that may still grow. */
struct dbio_rec_cell {
        struct dbio_rec_cell *next; /* of the same key, by number; or of the free list */
        uint64_t number;
        uint64_t ios, bytes, errors;
        uint32_t depth[CELL_WORKERS];
        struct dbio_hist service, response;
};

/* A row of `interval` that waits for the next commit. */
struct dbio_rec_row {
        uint64_t number;
        unsigned key;
        uint64_t ios, bytes, errors;
        double service_mean_ns, response_mean_ns;
        uint64_t service_p99_ns, response_p99_ns;
        size_t code, code_size; /* place in dbio_recorder.codes of the service histogram; size 0 = none */
};

/* One (stream, kind, role). */
struct dbio_rec_key {
        unsigned number;
        uint32_t stream;
        uint8_t kind, role;
        bool dirty;
        uint64_t ios, bytes, errors, unissued, failed_ns, splits, hba_waits, hba_wait_ns;
        uint64_t depth_peak;
        uint64_t filled; /* rows of `interval` exist below this number */
        struct dbio_rec_cell *cells;
        struct dbio_hist service, response, wait, lag;
};

/* What one record told of ops that completed while a set of episodes ran; kept in a temporary table. */
struct dbio_rec_part {
        unsigned key;
        uint32_t mask;
        uint64_t number, ios, bytes;
        size_t code, service_size, response_size;
};

struct dbio_rec_episode {
        uint32_t stream;
        bool dirty, ended;
        struct dbio_episode e;
};

struct dbio_rec_gauge {
        uint32_t stream;
        const char *name;
        uint64_t t_ns;
        double value;
};

struct dbio_rec_sample {
        uint64_t number;      /* grid intervals that had passed; UINT64_MAX: the phase's end */
        int64_t at_ns;        /* CLOCK_MONOTONIC */
        struct dbio_device_counters counters;
};

/* Since the first sample. */
struct dbio_rec_load {
        double kernel_ios, kernel_bytes, own_ios, own_bytes, busy_ms, queue_ms;
};

/* How far a device's rows are written. */
struct dbio_rec_course {
        uint64_t next;        /* interval */
        struct dbio_rec_load sum;
        double foreign;       /* ios so far */
        double most;          /* ios in the whole phase, once that is known; INFINITY before */
        size_t near;          /* sample at which to look on */
};

struct dbio_rec_device {
        const struct dbio_recorder_device *device;
        bool broken; /* has no counters */
        struct dbio_rec_sample *samples;
        size_t nsamples, samples_room;
        double *own_ios, *own_bytes; /* an interval */
        size_t own_room;
        struct dbio_rec_course course; /* of the commits while the phase runs */
};

struct dbio_rec_live {
        struct dbio_live figures;
        uint64_t number; /* interval the figures are of, plus 1 */
        uint64_t ios, bytes, commits;
        struct dbio_hist *io, *commit;
};

struct dbio_recorder {
        struct dbio_store *store;
        const struct dbio_phase *phase;
        struct dbio_recorder_options options;
        int64_t phase_id;
        bool windows;             /* episodes are possible, and somebody else is there to feel them */
        int oom;
        struct dbio_rec_key **keys;
        size_t nkeys, keys_room;
        struct dbio_rec_key **index; /* stream, kind, role -> key */
        struct dbio_rec_cell *free_cells;
        uint64_t sealed;          /* intervals below this number do not grow any more */
        uint64_t end;             /* intervals seen: the highest number + 1 */
        struct dbio_rec_row *rows;
        size_t nrows, rows_room;
        struct dbio_rec_part *parts;
        size_t nparts, parts_room;
        unsigned char *codes;     /* encoded histograms of rows and parts */
        size_t ncodes, codes_room;
        struct dbio_rec_episode *episodes;
        size_t nepisodes, episodes_room;
        struct dbio_rec_gauge *gauges;
        size_t ngauges, gauges_room;
        struct dbio_rec_device *devices;
        struct dbio_rec_live *live;
        uint64_t unrecorded_ios, unrecorded_bytes; /* not yet added to the run */
        int64_t committed_ns;     /* CLOCK_MONOTONIC of the last commit */
        int64_t started_ns;       /* likewise, of the phase's start as the ticks tell it: a little late */
        double foreign_share;
        uint64_t median_service_ns;
};

/* Makes room for one more of `size` bytes in an array of n; false, and the recorder's oom, without memory. */
bool dbio_rec_grow(struct dbio_recorder *rec, void *array, size_t *room, size_t n, size_t size);

/* recorder_write.c: all inside one transaction of their own. */
int dbio_rec_begin_phase(struct dbio_recorder *rec, struct dbio_err *err);
int dbio_rec_commit(struct dbio_recorder *rec, struct dbio_err *err);
int dbio_rec_end_phase(struct dbio_recorder *rec, const struct dbio_phase_result *result, struct dbio_err *err);

/* recorder_windows.c, inside end_phase's transaction. */
int dbio_rec_write_windows(struct dbio_recorder *rec, uint64_t duration_ns, uint64_t intervals, struct dbio_err *err);

/* recorder_devices.c */
int dbio_rec_devices_open(struct dbio_recorder *rec);
void dbio_rec_devices_sample(struct dbio_recorder *rec, uint64_t elapsed_ns);
void dbio_rec_devices_add(struct dbio_recorder *rec, const struct dbio_rec_key *key, uint64_t number, uint64_t ios,
                          uint64_t bytes);
/* Rows of the intervals that are closed, so that a killed run keeps them; the phase's end writes all of them anew. */
int dbio_rec_devices_commit(struct dbio_recorder *rec, struct dbio_err *err);
int dbio_rec_devices_write(struct dbio_recorder *rec, uint64_t started_ns, uint64_t intervals, struct dbio_err *err);
void dbio_rec_devices_close(struct dbio_recorder *rec);

/* recorder.c */
bool dbio_rec_is_io(const struct dbio_rec_key *key); /* a read or a write */
int64_t dbio_rec_monotonic_ns(void);
/* The sums and percentiles of a cell as a row. */
void dbio_rec_cell_row(const struct dbio_rec_key *key, const struct dbio_rec_cell *cell, struct dbio_rec_row *row);

#endif
