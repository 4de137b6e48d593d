/* The inside of a report, shared by its files: report.c (the page), report_answer.c (its top),
 * report_data.c (what the charts draw), report_tables.c (tables and folded parts). */
#ifndef DBIO_RESULTS_REPORT_STATE_H
#define DBIO_RESULTS_REPORT_STATE_H

#include <jansson.h>

#include "engine/hist.h"
#include "results/compare_state.h"
#include "results/interference_load.h"
#include "results/report.h"

enum { REPORT_POINTS = 1200 }; /* of a series; longer ones are drawn by means over several intervals */

struct dbio_report_run {
        const char *name;
        const struct dbio_runs *runs;
        int64_t run_id; /* the one whose figures are shown */
        struct dbio_figure_rows figures;
        struct dbio_interference_list interference; /* of all repetitions that count */
        unsigned used;                              /* repetitions that count */
        bool simulated, usable;
        char *workload, *hash, *started, *trust, *why; /* why: not valid or not complete */
};

/* A stream and kind that has charts. */
struct dbio_report_stream {
        unsigned phase; /* of report.phases */
        char name[64];
        int kind;
        bool main; /* of its phase */
        double ios;
        json_t *json; /* borrowed from data */
};

struct dbio_report_phase {
        char name[64];
        double seconds;
};

struct dbio_page {
        struct dbio_store *store;
        unsigned nr;
        struct dbio_report_run *sets;
        unsigned nphases;
        struct dbio_report_phase *phases;
        unsigned nstreams;
        struct dbio_report_stream *streams;
        struct dbio_comparison *comparison; /* two sets of equal demand, else NULL */
        json_t *data;
        FILE *out;
};

/* report_data.c: phases, streams and the data of the charts. -1 with err. */
int dbio_report_collect(struct dbio_page *page, struct dbio_err *err);

/* report_answer.c */
void dbio_report_answer(struct dbio_page *page);
void dbio_report_tiles(struct dbio_page *page);
/* The stream that the page is about first: the main one of the last phase, as warm-ups come first. NULL: none. */
const struct dbio_report_stream *dbio_report_main(const struct dbio_page *page);
/* A set's figures of a stream; NULL where it has none. */
const struct dbio_run_figures *dbio_report_figures(const struct dbio_page *page, unsigned set,
                                                   const struct dbio_report_stream *stream);
/* Formats and escapes. */
void dbio_report_printf(struct dbio_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* report_tables.c */
int dbio_report_tables(struct dbio_page *page, struct dbio_err *err);
int dbio_report_folded(struct dbio_page *page, struct dbio_err *err);

/* Text with the characters that HTML gives a meaning escaped. NULL prints nothing. */
void dbio_report_text(struct dbio_page *page, const char *text);

#endif
