/* The tables of every key of a workload file that is not a pattern's own. */
#ifndef DBIO_PATTERNS_KEYS_H
#define DBIO_PATTERNS_KEYS_H

#include "patterns/doc.h"
#include "patterns/field.h"
#include "patterns/pattern.h"

struct dbio_payload_keys {
        double compressible, dedup;
};

struct dbio_hba_keys {
        uint64_t ports, max_outstanding, max_transfer; /* the latter two DBIO_UNSET = no limit */
};

/* The top level. Nodes are read by code of their own. */
struct dbio_workload_keys {
        const char *name, *description, *extends;
        uint64_t seed, timeout_ns, workers;
        const struct dbio_node *on_error, *defaults, *targets, *streams, *phases, *limits, *observed, *study;
        struct dbio_hba_keys hba;
        struct dbio_payload_keys payload;
};

struct dbio_precondition_keys {
        uint64_t fill, overwrite;
        int until; /* 0 = steady, DBIO_ENUM_UNSET = the counts alone */
};

struct dbio_layout_keys {
        uint64_t cluster, grow, aged, partition_offset; /* DBIO_UNSET = not given */
        bool interleave;
};

struct dbio_target_keys {
        struct dbio_amount size;
        uint64_t page, files; /* files DBIO_UNSET = number of paths */
        const struct dbio_node *layout;
        struct dbio_precondition_keys precondition;
};

struct dbio_phase_keys {
        const char *name;
        uint64_t duration_ns, ops;
        bool record;
        const struct dbio_node *streams, *set;
};

struct dbio_study_keys {
        const struct dbio_node *axes, *cases, *find;
        uint64_t pause_ns;
};

struct dbio_find_keys {
        const char *key;
        const struct dbio_node *condition;
};

/* What a stream says besides the pattern's own keys. */
struct dbio_stream_entry {
        const char *pattern;
        struct dbio_target_list target;
        struct dbio_stream_keys keys; /* target and members are filled from the list */
        struct dbio_payload_keys payload;
};

extern const struct dbio_field dbio_workload_fields[], dbio_hba_fields[], dbio_payload_fields[], dbio_target_fields[],
        dbio_layout_fields[], dbio_precondition_fields[], dbio_phase_fields[], dbio_study_fields[], dbio_find_fields[],
        dbio_dirty_fields[];

#define DBIO_STREAM_FIELDS_MAX 20

/* The shared keys that a stream of the pattern has (of struct dbio_stream_entry), those left out that the pattern has
 * itself; ended like any table. */
void dbio_stream_fields(const struct dbio_pattern *pattern, struct dbio_field fields[DBIO_STREAM_FIELDS_MAX]);
/* All of them, and for each which enum dbio_pattern_key bits give it (0 = every pattern). For the reference. */
const struct dbio_field *dbio_stream_field_all(unsigned i, unsigned *keys);

#endif
