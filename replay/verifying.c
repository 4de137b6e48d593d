/* --verify: what is said before a run, and after it. */
#include <inttypes.h>
#include <stdio.h>

#include "engine/verify.h"
#include "replay/progress.h"
#include "replay/session.h"

void dbio_session_verify_announce(const struct dbio_session *session)
{
        if (session->options.verify)
                fprintf(stderr, "verify: takes up to %.1f MiB of memory, as sectors are written\n",
                        (double)dbio_verify_memory(&session->targets, session->demand.specs) / 1048576);
}

static uint64_t print_wrong(const struct dbio_session *session, const struct dbio_verify_report *report)
{
        uint64_t sum = 0;
        char text[512];

        for (unsigned i = 0; i < report->nfirst; i++) {
                dbio_verify_format(&report->first[i], &session->targets, text, sizeof text);
                fprintf(stderr, "verify: %s\n", text);
        }
        for (int i = 0; i < DBIO_VERIFY_TYPES; i++)
                sum += report->wrong[i];
        if (sum > report->nfirst)
                fprintf(stderr, "verify: and %" PRIu64 " more\n", sum - report->nfirst);
        return sum;
}

int dbio_session_verify(const struct dbio_session *session, struct dbio_run *run, struct dbio_err *err)
{
        struct dbio_verify_report report;
        struct dbio_progress progress;
        uint64_t wrong;
        int code;

        if (!session->options.verify)
                return DBIO_OK;
        dbio_progress_init(&progress, dbio_cmdline_has(session->line, DBIO_OPT_QUIET), 1);
        code = dbio_run_verify(run, dbio_progress_bytes, &progress, &report, err);
        wrong = print_wrong(session, &report);
        fprintf(stderr, "verify: %" PRIu64 " writes; %" PRIu64 " sectors read in the run and %" PRIu64 " after it, %" PRIu64
                " unknown; %" PRIu64 " wrong", report.writes, report.read_sectors, report.swept_sectors,
                report.unknown_sectors, wrong);
        for (int i = 0; i < DBIO_VERIFY_TYPES; i++)
                if (report.wrong[i])
                        fprintf(stderr, ", %" PRIu64 " %s", report.wrong[i], dbio_verify_type_name(i));
        fputc('\n', stderr);
        return code ? -1 : wrong ? DBIO_MISMATCH : DBIO_OK;
}
