#include "patterns/keys.h"

#include <string.h>

#define JUDGEMENT "judgement"

static const char *const until_names[] = {"steady", NULL};
static const char *const arrival_names[] = {"poisson", "uniform", NULL};
static const char *const dirty_names[] = {"extents", "pages", "dense", "stride", "hot", NULL};

#define AT(member) .offset = offsetof(struct dbio_payload_keys, member)
const struct dbio_field dbio_payload_fields[] = {
        {.key = "compressible",
         .type = DBIO_FIELD_SHARE,
         AT(compressible),
         .fallback = "0%",
         .help = "share of each block that compresses away",
         .source = "judgement: what is written must not flatter a device that compresses"},
        {.key = "dedup",
         .type = DBIO_FIELD_SHARE,
         AT(dedup),
         .fallback = "0%",
         .help = "share of the blocks that repeat another one",
         .source = "judgement: what is written must not flatter a device that deduplicates"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_hba_keys, member)
const struct dbio_field dbio_hba_fields[] = {
        {.key = "ports",
         .type = DBIO_FIELD_COUNT,
         AT(ports),
         .fallback = "1",
         .min = 1,
         .max = 64,
         .help = "ports; ops go over them in turn",
         .source = JUDGEMENT},
        {.key = "max_outstanding",
         .type = DBIO_FIELD_COUNT,
         AT(max_outstanding),
         .min = 1,
         .max = 1000000,
         .help = "commands in flight a port, after splitting"},
        {.key = "max_transfer",
         .type = DBIO_FIELD_SIZE,
         AT(max_transfer),
         .min = 512,
         .max = 1 << 30,
         .help = "largest command; longer ops are split"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_workload_keys, member)
const struct dbio_field dbio_workload_fields[] = {
        {.key = "name", .type = DBIO_FIELD_TEXT, AT(name), .help = "name of the workload; without it the file's name"},
        {.key = "description", .type = DBIO_FIELD_TEXT, AT(description), .help = "a line of text"},
        {.key = "extends",
         .type = DBIO_FIELD_TEXT,
         AT(extends),
         .help = "another workload file, beside this one, or an installed one; maps here are merged into its maps,"
                 " lists and single values replace its"},
        {.key = "seed",
         .type = DBIO_FIELD_COUNT,
         AT(seed),
         .fallback = "1",
         .help = "of all random sequences: the same seed, the same ops",
         .source = JUDGEMENT},
        {.key = "hba",
         .type = DBIO_FIELD_MAP,
         AT(hba),
         .sub = dbio_hba_fields,
         .help = "what the host's adapter allows, per port"},
        {.key = "payload",
         .type = DBIO_FIELD_MAP,
         AT(payload),
         .sub = dbio_payload_fields,
         .help = "what writes contain"},
        {.key = "on_error",
         .type = DBIO_FIELD_NODE,
         AT(on_error),
         .help = "stop | continue | N: stop at the first I/O error, never, or after N; the option wins"},
        {.key = "timeout",
         .type = DBIO_FIELD_TIME,
         AT(timeout_ns),
         .flags = DBIO_FIELD_POSITIVE,
         .help = "an I/O that takes longer is given up; the option wins"},
        {.key = "workers",
         .type = DBIO_FIELD_COUNT,
         AT(workers),
         .min = 1,
         .max = 1024,
         .help = "threads of dbio; the option wins"},
        {.key = "defaults",
         .type = DBIO_FIELD_NODE,
         AT(defaults),
         .help = "keys for every stream whose pattern knows them: {version: 2008}"},
        {.key = "targets",
         .type = DBIO_FIELD_NODE,
         AT(targets),
         .flags = DBIO_FIELD_REQUIRED,
         .help = "name: {keys}, the places of I/O, bound to files or devices when run",
         .source = JUDGEMENT},
        {.key = "streams",
         .type = DBIO_FIELD_NODE,
         AT(streams),
         .flags = DBIO_FIELD_REQUIRED,
         .help = "name: {keys}, the actors of the database",
         .source = JUDGEMENT},
        {.key = "phases",
         .type = DBIO_FIELD_NODE,
         AT(phases),
         .flags = DBIO_FIELD_REQUIRED,
         .help = "list of {keys}, run one after the other",
         .source = JUDGEMENT},
        {.key = "limits",
         .type = DBIO_FIELD_NODE,
         AT(limits),
         .help = "list of figures with bounds that recorded phases should hold: ['log.commit.mean < 2ms']"},
        {.key = "observed",
         .type = DBIO_FIELD_NODE,
         AT(observed),
         .help = "figures that the database saw, printed beside the replay's: {user-reads.read.mean: 18.4ms}"},
        {.key = "study", .type = DBIO_FIELD_NODE, AT(study), .help = "a matrix of runs"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_precondition_keys, member)
const struct dbio_field dbio_precondition_fields[] = {
        {.key = "fill",
         .type = DBIO_FIELD_COUNT,
         AT(fill),
         .fallback = "0",
         .max = 100,
         .help = "times the whole target is written in sequence",
         .source = JUDGEMENT},
        {.key = "overwrite",
         .type = DBIO_FIELD_COUNT,
         AT(overwrite),
         .fallback = "0",
         .max = 100,
         .help = "times its size is then written at random",
         .source = JUDGEMENT},
        {.key = "until",
         .type = DBIO_FIELD_ENUM,
         AT(until),
         .names = until_names,
         .help = "go on writing until the rate is steady"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_layout_keys, member)
const struct dbio_field dbio_layout_fields[] = {
        {.key = "cluster",
         .type = DBIO_FIELD_SIZE,
         AT(cluster),
         .min = 512,
         .max = 1 << 21,
         .help = "cluster of the file system"},
        {.key = "grow", .type = DBIO_FIELD_SIZE, AT(grow), .min = 4096, .help = "the files grew in steps of this size"},
        {.key = "interleave",
         .type = DBIO_FIELD_BOOL,
         AT(interleave),
         .fallback = "no",
         .help = "the files grew in turn, so that their pieces alternate",
         .source = JUDGEMENT},
        {.key = "aged",
         .type = DBIO_FIELD_SIZE,
         AT(aged),
         .min = 4096,
         .help = "mean extent of files on an aged file system"},
        {.key = "partition_offset",
         .type = DBIO_FIELD_SIZE,
         AT(partition_offset),
         .fallback = "0",
         .help = "where the partition begins on the device",
         .source = JUDGEMENT},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_target_keys, member)
const struct dbio_field dbio_target_fields[] = {
        {.key = "size",
         .type = DBIO_FIELD_AMOUNT,
         AT(size),
         .fallback = "all",
         .flags = DBIO_FIELD_POSITIVE,
         .help = "bytes, or a share of the bound device or existing file",
         .source = JUDGEMENT},
        {.key = "page",
         .type = DBIO_FIELD_SIZE,
         AT(page),
         .fallback = "8K",
         .min = 512,
         .max = 65536,
         .flags = DBIO_FIELD_POWER_OF_TWO,
         .help = "page of the database files",
         .source = JUDGEMENT},
        {.key = "files",
         .type = DBIO_FIELD_COUNT,
         AT(files),
         .min = 1,
         .max = 1024,
         .help = "files or parts that the target consists of; without it one a path"},
        {.key = "layout",
         .type = DBIO_FIELD_NODE,
         AT(layout),
         .sub = dbio_layout_fields,
         .help = "how the files came to lie on the disk: contiguous, or {keys}"},
        {.key = "precondition",
         .type = DBIO_FIELD_MAP,
         AT(precondition),
         .sub = dbio_precondition_fields,
         .help = "writes before the first phase, remembered by the device's serial"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_phase_keys, member)
const struct dbio_field dbio_phase_fields[] = {
        {.key = "name", .type = DBIO_FIELD_TEXT, AT(name), .flags = DBIO_FIELD_REQUIRED, .help = "name of the phase"},
        {.key = "duration",
         .type = DBIO_FIELD_TIME,
         AT(duration_ns),
         .flags = DBIO_FIELD_POSITIVE,
         .help = "the phase ends after this time"},
        {.key = "ops",
         .type = DBIO_FIELD_COUNT,
         AT(ops),
         .flags = DBIO_FIELD_POSITIVE,
         .help = "the phase ends after so many reads and writes"},
        {.key = "record",
         .type = DBIO_FIELD_BOOL,
         AT(record),
         .fallback = "yes",
         .help = "no: a warm-up, its figures are not kept",
         .source = JUDGEMENT},
        {.key = "streams",
         .type = DBIO_FIELD_NODE,
         AT(streams),
         .help = "list of the streams that run; all without it"},
        {.key = "set",
         .type = DBIO_FIELD_NODE,
         AT(set),
         .help = "keys of streams that differ in this phase: {streams.log.commit_rate: 4000/s}"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_find_keys, member)
const struct dbio_field dbio_find_fields[] = {
        {.key = "key",
         .type = DBIO_FIELD_TEXT,
         AT(key),
         .flags = DBIO_FIELD_REQUIRED,
         .help = "the dotted key that is raised"},
        {.key = "while",
         .type = DBIO_FIELD_NODE,
         AT(condition),
         .flags = DBIO_FIELD_REQUIRED,
         .help = "list of figures with bounds that must hold"},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_study_keys, member)
const struct dbio_field dbio_study_fields[] = {
        {.key = "axes",
         .type = DBIO_FIELD_NODE,
         AT(axes),
         .help = "dotted key, or target.NAME, or several with commas: list of values; a run for each combination"},
        {.key = "cases",
         .type = DBIO_FIELD_NODE,
         AT(cases),
         .help = "name: {dotted key or target.NAME: value}; a run for each"},
        {.key = "find",
         .type = DBIO_FIELD_NODE,
         AT(find),
         .sub = dbio_find_fields,
         .help = "the most of a key that still holds its bounds: headroom"},
        {.key = "pause",
         .type = DBIO_FIELD_TIME,
         AT(pause_ns),
         .fallback = "0s",
         .help = "time between runs",
         .source = JUDGEMENT},
        {.key = NULL},
};
#undef AT

#define AT(member) .offset = offsetof(struct dbio_dirty_keys, member)
const struct dbio_field dbio_dirty_fields[] = {
        {.key = "map",
         .type = DBIO_FIELD_ENUM,
         AT(map),
         .fallback = "extents",
         .names = dirty_names,
         .help = "how dirty pages lie: whole 64K extents, pages by chance, all adjacent, every n-th, extents by skew",
         .source = "judgement: an error log's pages a write are best met by extents"},
        {.key = "density",
         .type = DBIO_FIELD_FACTOR,
         AT(density),
         .min = 0.000001,
         .max = 1,
         .help = "share of pages in the window that are dirty, as a decimal"},
        {.key = "pages_per_write",
         .type = DBIO_FIELD_FACTOR,
         AT(pages_per_write),
         .min = 1,
         .max = 128,
         .help = "mean pages a write, as the error log gives it; the density is solved for",
         .source = "SQL Server error log, FlushCache: bufs / writes"},
        {.key = "stride",
         .type = DBIO_FIELD_COUNT,
         AT(stride),
         .min = 2,
         .max = 1000000,
         .help = "pages from one dirty page to the next, for map: stride"},
        {.key = NULL},
};
#undef AT

#define AT(member)   .offset = offsetof(struct dbio_stream_entry, member)
#define KEYS(member) .offset = offsetof(struct dbio_stream_entry, keys.member)
static const struct {
        unsigned keys; /* any of these bits gives it; 0 = every pattern */
        struct dbio_field field;
} stream_fields[] = {
        {0,
         {.key = "pattern",
          .type = DBIO_FIELD_TEXT,
          AT(pattern),
          .flags = DBIO_FIELD_REQUIRED,
          .help = "what the stream does: a name that `dbio describe patterns` lists"}},
        {0,
         {.key = "target",
          .type = DBIO_FIELD_TARGETS,
          AT(target),
          .flags = DBIO_FIELD_REQUIRED,
          .help = "the target of its I/O"}},
        {DBIO_KEYS_VERSION,
         {.key = "version",
          .type = DBIO_FIELD_VERSION,
          KEYS(version),
          .help = "version of the database: changes defaults",
          .source = "judgement: a version in wide use"}},
        {DBIO_KEYS_READ | DBIO_KEYS_THREADS,
         {.key = "threads",
          .type = DBIO_FIELD_COUNT,
          KEYS(threads),
          .fallback = "1",
          .min = 1,
          .max = 65535,
          .help = "actors, each with its own sequence and depth",
          .source = JUDGEMENT}},
        {DBIO_KEYS_READ,
         {.key = "depth",
          .type = DBIO_FIELD_COUNT,
          KEYS(depth),
          .min = 1,
          .max = 65535,
          .help = "I/Os kept outstanding by a thread (1 if not given); with rate the most it may have (no cap)"}},
        {DBIO_KEYS_READ,
         {.key = "rate",
          .type = DBIO_FIELD_ANY_RATE,
          KEYS(rate),
          .flags = DBIO_FIELD_POSITIVE,
          .help = "open loop: ops or bytes a second of the whole stream, whatever the device does"}},
        {DBIO_KEYS_READ,
         {.key = "arrival",
          .type = DBIO_FIELD_ENUM,
          KEYS(arrival),
          .fallback = "poisson",
          .names = arrival_names,
          .help = "how the ops of rate arrive",
          .source = "judgement: independent sessions"}},
        {DBIO_KEYS_READ,
         {.key = "think",
          .type = DBIO_FIELD_TIME,
          KEYS(think_ns),
          .fallback = "0s",
          .help = "closed loop: from a completion to the thread's next op",
          .source = JUDGEMENT}},
        {DBIO_KEYS_READ | DBIO_KEYS_SKEW,
         {.key = "skew",
          .type = DBIO_FIELD_SKEW,
          KEYS(skew),
          .fallback = "uniform",
          .help = "where in the region: evenly, by a Zipf law, or a hot part",
          .source = JUDGEMENT}},
        {0,
         {.key = "start",
          .type = DBIO_FIELD_TIME,
          KEYS(start_ns),
          .fallback = "0s",
          .help = "offset in the phase at which it begins",
          .source = JUDGEMENT}},
        {0,
         {.key = "stop",
          .type = DBIO_FIELD_TIME,
          KEYS(stop_ns),
          .flags = DBIO_FIELD_POSITIVE,
          .help = "offset in the phase at which it ends; the phase's end without it"}},
        {0,
         {.key = "region",
          .type = DBIO_FIELD_REGION,
          KEYS(region),
          .fallback = "{from: 0%, to: 100%}",
          .help = "part of the target that it uses",
          .source = JUDGEMENT}},
        {DBIO_KEYS_WRITE,
         {.key = "after",
          .type = DBIO_FIELD_STREAM,
          KEYS(after),
          .help = "a log stream of the phase that must be durable first: no data page before its log"}},
        {DBIO_KEYS_WRITE,
         {.key = "write_through",
          .type = DBIO_FIELD_BOOL,
          KEYS(write_through),
          .help = "writes are on stable storage when they complete",
          .source = "as the database writes"}},
        {DBIO_KEYS_DIRTY,
         {.key = "dirty_map",
          .type = DBIO_FIELD_TEXT,
          KEYS(dirty_map),
          .help = "name of a map of dirty pages that streams share"}},
        {DBIO_KEYS_DIRTY,
         {.key = "dirty",
          .type = DBIO_FIELD_MAP,
          KEYS(dirty),
          .sub = dbio_dirty_fields,
          .help = "which pages are dirty"}},
        {0,
         {.key = "payload",
          .type = DBIO_FIELD_MAP,
          AT(payload),
          .sub = dbio_payload_fields,
          .help = "what its writes contain; the workload's payload without it"}},
};
#undef AT
#undef KEYS

#define STREAM_FIELDS (sizeof stream_fields / sizeof *stream_fields)
_Static_assert(STREAM_FIELDS < DBIO_STREAM_FIELDS_MAX, "room for the end");

const struct dbio_field *dbio_stream_field_all(unsigned i, unsigned *keys)
{
        if (i >= STREAM_FIELDS)
                return NULL;
        *keys = stream_fields[i].keys;
        return &stream_fields[i].field;
}

void dbio_stream_fields(const struct dbio_pattern *pattern, struct dbio_field fields[DBIO_STREAM_FIELDS_MAX])
{
        struct dbio_field *out = fields;

        for (size_t i = 0; i < STREAM_FIELDS; i++) {
                if (stream_fields[i].keys && !(stream_fields[i].keys & pattern->keys))
                        continue;
                if (dbio_field_find(pattern->fields, stream_fields[i].field.key))
                        continue;
                *out = stream_fields[i].field;
                if (out->type == DBIO_FIELD_VERSION) {
                        out->names = pattern->versions;
                        out->fallback = pattern->versions[0];
                }
                if (!strcmp(out->key, "write_through"))
                        out->fallback = pattern->write_through ? "yes" : "no";
                out++;
        }
        memset(out, 0, sizeof *out);
}
