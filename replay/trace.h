/* Traces: readers of formats behind one table, and the pipeline that sorts, maps and counts what they give.
 *
 * To add a format: a file replay/trace_NAME.c with its struct dbio_trace_format, a line in the table of trace.c, an input
 * and its figures in tests/test_trace.c, a fuzz target tests/fuzz_trace_NAME.c with a corpus.
 */
#ifndef DBIO_REPLAY_TRACE_H
#define DBIO_REPLAY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"
#include "engine/op.h"

#define DBIO_TRACE_UNKNOWN UINT64_MAX
#define DBIO_TRACE_COARSE 128u       /* flag of an event: its stamp is a whole second without digits behind it */
#define DBIO_TRACE_PREFLUSH 64u      /* flag of an event: a flush that a write brought along */
#define DBIO_TRACE_DROPPED 128u      /* flag of an op: not to be issued, only counted (--reads-only) */
#define DBIO_TRACE_WINDOW 65536u     /* events within which a trace may be out of order */
#define DBIO_TRACE_LENGTH_MAX (64u << 20) /* of one read or write */

/* One I/O as a format's reader gives it. */
struct dbio_trace_event {
        uint64_t t_ns;        /* when it was issued, on the trace's own clock */
        uint64_t latency_ns;  /* to its completion; DBIO_TRACE_UNKNOWN where the trace does not say */
        uint64_t offset, length; /* bytes; 0 for flushes */
        uint64_t place;       /* line from 1, or byte offset of a binary file: for messages */
        uint32_t device;      /* from dbio_trace_device */
        uint16_t file;        /* index of its path */
        uint8_t kind;         /* DBIO_READ, WRITE, FSYNC, TRIM */
        uint8_t flags;        /* DBIO_OP_FUA, DBIO_OP_DATASYNC, DBIO_TRACE_COARSE, DBIO_TRACE_PREFLUSH */
};

struct dbio_trace_format;
struct dbio_trace_devices;

/* What a reader works with while it reads one trace (of one or several files). */
struct dbio_trace_input {
        const struct dbio_trace_format *format;
        const char *spec;           /* behind `NAME:`, or a preset; else NULL */
        const char *const *paths;
        unsigned npaths;
        bool issue_events;          /* --event issue: those that reached the device; else those that were queued */
        struct dbio_trace_devices *devices;
        void *state;                /* the reader's own */
        struct dbio_trace_parts *parts; /* files read side by side (replay/traceinput.h); else NULL */
        char note[512];             /* what could not be known; "" = nothing */
        uint64_t end_ns;            /* of the recording, where that is later than the last event; else 0 */
        uint64_t last_ns, inversions;
        bool untimed;               /* set by the reader: there are no time stamps, only an order */
        unsigned nskipped;
        struct {
                const char *why;
                uint64_t n;
        } skipped[12];              /* lines or records that are no I/O */
};

/* The number of a device or file of that name, made at its first use. UINT32_MAX without memory or beyond 65,535. */
uint32_t dbio_trace_device(struct dbio_trace_input *input, const char *name, size_t size);
/* Counts a line or record that is no I/O; why is a constant. */
void dbio_trace_skip(struct dbio_trace_input *input, const char *why);
void dbio_trace_skip_more(struct dbio_trace_input *input, const char *why, uint64_t n);
/* Adds a sentence to the note, once. */
void dbio_trace_note(struct dbio_trace_input *input, const char *text);
/* To be called with the stamp of every event line in the order of the file: counts those before their predecessor. */
static inline void dbio_trace_stamp(struct dbio_trace_input *input, uint64_t t_ns)
{
        if (t_ns < input->last_ns)
                input->inversions++;
        input->last_ns = t_ns;
}

struct dbio_trace_format {
        const char *name, *summary;
        bool binary;                /* places are byte offsets */
        bool beside;                /* each of several files has a reader of its own: they were recorded side by side */
        bool takes_spec;            /* NAME:SPEC tells how its lines look */
        const char *spec;           /* a preset of the csv reader */
        /* How sure the first bytes (and the path) make it, 0 to 100; for `auto`. head is terminated. */
        int (*probe)(const char *path, const char *head, size_t size);
        int (*open)(struct dbio_trace_input *input, struct dbio_err *err);
        /* 1 and an event; 0 at the end; -1 with err, located, where a line or record is bad: the next call goes on
         * behind it. DBIO_IO and what has no way on (DBIO_REFUSED is turned into DBIO_USAGE) end the reading. */
        int (*next)(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err);
        void (*close)(struct dbio_trace_input *input); /* accepts a reader whose open failed */
};

extern const struct dbio_trace_format *const dbio_trace_formats[]; /* ended by NULL */
/* `auto` probes the first path; `NAME:SPEC` is NAME, where that takes one. DBIO_USAGE where there is none, with a near miss. */
const struct dbio_trace_format *dbio_trace_format_find(const char *name, const char *path, struct dbio_err *err);
/* Whether source begins with a format's name and a colon (FORMAT:TRACE); sets *path to the trace's begin. */
bool dbio_trace_source(const char *source, char *format, size_t size, const char **path);
/* Of a source that dbio_trace_source does not take: DBIO_USAGE where a word and a colon stand before what is no file, so
 * that a format was meant; else 0. */
int dbio_trace_source_check(const char *source, struct dbio_err *err);
void dbio_trace_formats_print(FILE *out);

enum dbio_misaligned { DBIO_MISALIGNED_REFUSE, DBIO_MISALIGNED_ROUND, DBIO_MISALIGNED_PASS };

struct dbio_trace_options {
        unsigned nmaps;
        const char *const *maps;    /* FROM[@BASE]=TO[@OFFSET]; FROM `*` = all others, TO `-` = leave out; without any,
                                     * every device is a target of its name */
        const char *only_target;    /* the single target that a single device may take without a map; else NULL */
        bool fold, reads_only, issue_events;
        bool compact;               /* regions of 1 MiB that no op touches are taken out; the trace is read twice */
        uint64_t skip_bad;          /* bad lines that may be left out */
        enum dbio_misaligned misaligned;
};

/* One I/O as it will be replayed: sorted, mapped, from time 0. */
struct dbio_trace_op {
        uint64_t t_ns, offset;
        uint64_t think_ns;          /* from the completion that it followed to its issue */
        uint32_t length;
        uint32_t after;             /* so many ops back in the trace is the one whose completion it followed; 0 = none */
        uint16_t target;
        uint8_t kind, flags;
};

struct dbio_trace_target {
        char *name;
        uint64_t begin, end;        /* of its first and last byte */
        bool reads, writes;
        bool taken;                 /* by a device of the trace */
        uint64_t fit_bytes;         /* size of what it is bound to; 0 = not known */
        unsigned fit_sector;
};

/* What is told after an import. */
struct dbio_trace_summary {
        uint64_t ios[DBIO_KINDS], bytes[DBIO_KINDS];
        uint64_t first_ns, last_ns; /* on the trace's own clock */
        uint64_t min_offset, max_end; /* over all devices, reads writes and trims */
        uint64_t sizes[40];         /* reads and writes: sizes[k] holds 2^(k-1) < length <= 2^k */
        uint64_t sequential;        /* reads and writes that begin where the last one of their device and kind ended */
        uint64_t inversions;        /* events before their predecessor in the file */
        uint64_t bad, misaligned[2]; /* for sectors of 512 and of 4096 bytes */
        uint64_t rounded, folded, dropped, left_out, spread, spread_seconds;
        uint64_t completions;       /* events with a latency */
        uint64_t zero_length;
        uint64_t preflushes;        /* flushes that writes brought along: ops of their own, not among ios */
        uint64_t gap_bytes;         /* taken out by --compact */
        unsigned peak_depth;        /* most in flight at once, where there are completions; else 0 */
        uint32_t max_length;        /* of reads and writes */
        uint64_t end_ns;            /* of the recording, from time 0 */
        bool untimed;
        char first_bad[800], first_misaligned[300]; /* messages */
        char note[512];
};

/* A source of ops in order; from a trace's files or from a schedule file. */
struct dbio_trace_feed;

/* format_name as for dbio_trace_format_find. The strings of options and paths stay the caller's and must outlive it. */
int dbio_trace_feed_open(struct dbio_trace_feed **feed, const char *format_name, const char *const *paths, unsigned npaths,
                         const struct dbio_trace_options *options, struct dbio_err *err);
/* 1 if path is a schedule file of a trace, 0 if it is none, -1. */
int dbio_trace_feed_open_file(struct dbio_trace_feed **feed, const char *path, const struct dbio_trace_options *options,
                              struct dbio_err *err);
/* Reads the first events, so that the first ops are at hand. */
int dbio_trace_feed_prime(struct dbio_trace_feed *feed, struct dbio_err *err);
/* 1, 0 at the end, -1. */
int dbio_trace_feed_next(struct dbio_trace_feed *feed, struct dbio_trace_op *op, struct dbio_err *err);
/* Targets met so far (all of them after the end, or at once from a schedule file). */
unsigned dbio_trace_feed_targets(const struct dbio_trace_feed *feed);
const struct dbio_trace_target *dbio_trace_feed_target(const struct dbio_trace_feed *feed, unsigned target);
/* From now on ops are checked and changed to fit these targets (a target's name, size and sector); one that is not
 * among them is an error. */
void dbio_trace_feed_fit(struct dbio_trace_feed *feed, const char *const *names, const uint64_t *bytes,
                         const unsigned *sectors, unsigned n);
/* Complete at the end, or at once from a schedule file. */
const struct dbio_trace_summary *dbio_trace_feed_summary(struct dbio_trace_feed *feed);
const struct dbio_trace_input *dbio_trace_feed_input(const struct dbio_trace_feed *feed);
uint64_t dbio_trace_feed_ops(const struct dbio_trace_feed *feed);
/* SHA-256 of what a schedule file holds; "" for other feeds. */
const char *dbio_trace_feed_hash(const struct dbio_trace_feed *feed);
bool dbio_trace_feed_folds(const struct dbio_trace_feed *feed); /* as asked now or when the schedule was made */
void dbio_trace_feed_close(struct dbio_trace_feed *feed); /* accepts NULL */

/* What is in a trace, as import without -o says it: as text, or as one JSON object. The feed
 * has been read to its end before, or is a schedule file. */
void dbio_trace_summary_print(struct dbio_trace_feed *feed, FILE *out);
void dbio_trace_summary_json(struct dbio_trace_feed *feed, FILE *out);

/* Writes all of a feed into a schedule file (replay/schedulefile.h, kind 2). DBIO_IO, or the feed's own errors. */
int dbio_trace_file_write(struct dbio_trace_feed *feed, const char *path, struct dbio_err *err);

#endif
