#include "replay/command.h"

#include <stddef.h>

#define FLAG(opt, text, about) [DBIO_OPT_##opt] = {.name = text, .help = about}
#define VALUE(opt, text, what, about, standard) \
        [DBIO_OPT_##opt] = {.name = text, .argument = what, .help = about, .fallback = standard}
#define CHOICE(opt, text, what, about, standard) \
        [DBIO_OPT_##opt] = {.name = text, .argument = what, .help = about, .fallback = standard, .choice = true}
#define MANY(opt, text, what, about) \
        [DBIO_OPT_##opt] = {.name = text, .argument = what, .help = about, .repeats = true}

const struct dbio_option dbio_options[DBIO_OPTIONS] = {
        FLAG(ALLOW_BUSY, "allow-busy", "read a device or file that others use, within caps"),
        FLAG(ALLOW_WRITE, "allow-write", "write to a file that dbio did not make, or to a block device"),
        VALUE(BIND, "bind", "FILE", "bindings from a YAML file of `target: binding` lines", NULL),
        FLAG(CREATE, "create", "make missing target files: preallocate and write them"),
        FLAG(CSV, "csv", "rows of v_phase as CSV"),
        FLAG(COUNTERS, "counters", "totals under the database's own counter names"),
        VALUE(DB, "db", "FILE", "results database (default $DBIO_DB, else dbio.db)", NULL),
        MANY(DESTROY, "destroy", "ID", "overwrite what has a signature or data: its serial, WWN or path"),
        VALUE(DEVICE, "device", "TEXT", "only runs whose bindings contain this", NULL),
        FLAG(DRY_RUN, "dry-run", "say what would be read, written and used, and stop"),
        VALUE(DURATION, "duration", "D", "of every phase", NULL),
        CHOICE(ENGINE, "engine", "auto|io_uring|libaio|sync|null", "what carries ops out", "auto"),
        CHOICE(EVENT, "event", "queue|issue", "which event of a trace counts", "queue"),
        FLAG(FOLD, "fold", "fold offsets beyond a smaller target into it"),
        CHOICE(FORMAT, "format", "table|csv|json", "of the ops", "table"),
        CHOICE(EXPORT_FORMAT, "format", "json|csv|hdr|fio-json|influx", "of the export", "json"),
        MANY(GATE, "gate", "EXPR", "a bound on a figure, or `limits`: pass 0, fail 1, inconclusive 6"),
        VALUE(INTERVAL, "interval", "D", "of the series, from 10ms", "1s"),
        CHOICE(INTERVALS, "intervals", "full", "keep histograms of every interval", NULL),
        FLAG(JSON, "json", "one JSON document on stdout"),
        FLAG(JSON_SCHEMA, "json-schema", "a JSON Schema of the workload language"),
        VALUE(JUNIT, "junit", "FILE", "gates as a JUnit test suite", NULL),
        VALUE(LABEL, "label", "TEXT", "names the run, or only runs with this label", NULL),
        VALUE(LIKE, "like", "RUN", "workload, seed, options and bindings of that run", NULL),
        VALUE(LIMIT, "limit", "N", "ops a phase and stream where a stream is endless; 0 = none", "1000"),
        VALUE(MAKE_FILESYSTEMS, "make-filesystems", "DEVICE|IMAGE", "ext4 and XFS of several cluster sizes in turn", NULL),
        MANY(MAP, "map", "FROM=TO", "device or file of the trace to a target"),
        VALUE(MARGIN, "margin", "N%", "what counts as the same", "5%"),
        FLAG(MARKDOWN, "markdown", "the reference as in configs/README.md"),
        VALUE(MAX_IOPS, "max-iops", "N", "cap over all streams", NULL),
        VALUE(MAX_MIBS, "max-mibs", "N", "cap in MiB/s over all streams", NULL),
        CHOICE(MISALIGNED, "misaligned", "refuse|round|pass", "ops of a trace that do not fit the target's sector", "refuse"),
        VALUE(ON_ERROR, "on-error", "stop|continue|N", "at an I/O error; N = stop after N", "stop"),
        VALUE(OPS_LOG, "ops-log", "FILE", "every op, packed; `explain` reads it", NULL),
        [DBIO_OPT_OUTPUT] = {.name = "output", .argument = "FILE", .help = "where to write", .letter = 'o'},
        CHOICE(PACE, "pace", "timed|fast|dependent", "replay of a trace: as recorded, keeping depth, or after completions",
               "timed"),
        CHOICE(PACING, "pacing", "precise|balanced|frugal", "how waits are kept: spin 60 us, 30 us, not at all", "precise"),
        VALUE(PHASE, "phase", "P", "only this phase", NULL),
        FLAG(PLOT, "plot", "the series, drawn in the terminal"),
        FLAG(PREPARE, "prepare", "write sparse and unwritten parts of target files first"),
        FLAG(PRINT, "print", "the resolved workload"),
        FLAG(QUICK, "quick", "a shortened study"),
        FLAG(QUIET, "quiet", "no progress"),
        FLAG(READS_ONLY, "reads-only", "leave the writes of a trace out"),
        VALUE(REPEAT, "repeat", "N", "repetitions, kept as one set", "1"),
        FLAG(RESUME, "resume", "keep a study's finished runs and go on"),
        VALUE(SCALE_TIME, "scale-time", "X", "multiplies due times and durations", "1"),
        MANY(SET, "set", "KEY=VALUE", "changes a key of the workload, dotted; `*` for all"),
        VALUE(SINCE, "since", "TIME", "only runs started at or after this (2026-11-30 or with a time)", NULL),
        VALUE(SKIP_BAD, "skip-bad", "N", "bad lines of a trace that may be left out", "0"),
        VALUE(STOP_IF, "stop-if", "EXPR", "end when the host suffers: 'sda.await > 20ms for 3s'", NULL),
        VALUE(STREAM, "stream", "S", "only this stream", NULL),
        FLAG(STRICT, "strict", "exit 6 where a phase did not reach a steady state"),
        MANY(TARGET, "target", "NAME=BINDING", "PATH[,PATH...], PATH@OFFSET, sim:PROFILE[#NAME]"),
        VALUE(TIMEOUT, "timeout", "D", "an op in flight for longer ends the run", "30s"),
        FLAG(VERIFY, "verify", "stamp what is written and check what is read"),
        VALUE(WORKERS, "workers", "N", "OS threads", "auto"),
        VALUE(WORKLOAD, "workload", "TEXT", "only runs of this workload", NULL),
        FLAG(YES, "yes", "answer questions with yes"),
};
