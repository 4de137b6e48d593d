/* Past results of SQLIO, diskspd and fio as runs: `dbio import sqlio-text FILE...`. One file a format behind one table. */
#ifndef DBIO_REPLAY_OLDRESULTS_H
#define DBIO_REPLAY_OLDRESULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/err.h"
#include "replay/command.h"
#include "replay/derive.h"
#include "results/imported.h"

#define DBIO_OLD_NAME 64

/* What a format's reader gives, one test (a phase) after the other. */
struct dbio_old_results {
        struct dbio_old_phase {
                char name[DBIO_OLD_NAME];
                uint64_t duration_ns;
                unsigned n;
                struct dbio_imported_total *totals; /* their texts live as long as the results */
        } *phases;
        unsigned n;
        char started_at[32];      /* "" = not said */
        char note[256];           /* of the line `how`: what the figures are and are not; "" = nothing */
        char **texts;
        unsigned ntexts;
};

struct dbio_old_format {
        const char *name, *summary, *tool;
        int (*read)(const struct dbio_derive_file *file, struct dbio_old_results *out, struct dbio_err *err);
};

extern const struct dbio_old_format *const dbio_old_formats[]; /* ended by NULL */
extern const struct dbio_old_format dbio_old_sqlio_text, dbio_old_diskspd_text, dbio_old_diskspd_xml, dbio_old_fio_json;
const struct dbio_old_format *dbio_old_format_find(const char *name); /* NULL */
void dbio_old_formats_print(FILE *out);

/* For readers: a phase, and a total of the last phase with all times NAN; NULL without memory. */
struct dbio_old_phase *dbio_old_phase_add(struct dbio_old_results *out, const char *name, double seconds);
struct dbio_imported_total *dbio_old_total_add(struct dbio_old_results *out, const char *stream, int kind);
/* A test's length that is printed in steps of `step` seconds: ios / iops, where that is the same length, so that the rate comes
 * out as it was printed; else as it stands. */
double dbio_old_seconds(double seconds, double step, double ios, double iops);
void dbio_old_results_release(struct dbio_old_results *out);

/* import FORMAT FILE...: a run for each file, told on stdout. DBIO_USAGE, DBIO_IO. */
int dbio_old_results_import(const struct dbio_cmdline *line, struct dbio_err *err);

#endif
