/* --dry-run: what a run would do to its targets and take of the machine. */
#include <inttypes.h>
#include <string.h>

#include "engine/guard.h"
#include "engine/units.h"
#include "replay/session.h"

struct lines {
        FILE *out;
        unsigned n;
};

static void print_line(void *user, const char *text)
{
        struct lines *lines = user;

        fprintf(lines->out, "  %s\n", text);
        lines->n++;
}

static void print_bytes(FILE *out, const char *what, uint64_t bytes)
{
        fprintf(out, "  %-12s %10.1f MiB\n", what, (double)bytes / 1048576);
}

/* A stream's places, one line a target that it touches. */
static void print_uses(const struct dbio_session *session, const struct dbio_stream *stream, FILE *out)
{
        if (stream->note[0])
                fprintf(out, "  %-16s %s\n", stream->name, stream->note);
        for (unsigned i = 0; i < stream->nuses; i++) {
                const struct dbio_stream_use *use = &stream->uses[i];
                fprintf(out, "  %-16s %-8s %-11s %15" PRIu64 " to %15" PRIu64 "\n", stream->name,
                        session->schedule->target_names[use->target],
                        use->reads && use->writes ? "read, write" : use->writes ? "write" : "read", use->from, use->to);
        }
}

int dbio_session_describe(struct dbio_session *session, FILE *out, struct dbio_err *err)
{
        struct dbio_run_options options = session->options;
        struct dbio_schedule *schedule = session->schedule;
        struct lines lines = {.out = out};
        struct dbio_run *run = NULL;
        uint64_t arena_most = 0, maps_most = 0;
        unsigned workers_most = 0;

        fprintf(out, "DRY RUN  %s, schedule %.8s, engine %s (%s)\n", session->demand.name, schedule->hash,
                options.backend->name, session->engine_why);
        fprintf(out, "TARGETS that would be written\n");
        if (!session->simulated && session->nbindings)
                dbio_guard_describe(&session->targets, session->demand.specs,
                                    dbio_cmdline_has(session->line, DBIO_OPT_PREPARE), print_line, &lines);
        if (!lines.n)
                fprintf(out, "  none\n");
        /* Nothing is opened: the null engine asks for the same memory. */
        options.backend = dbio_backend_find("null");
        options.sim = NULL;
        if (dbio_run_open(&run, schedule, &session->targets, &options, err))
                return -1;
        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                uint64_t arena_bytes, maps = 0;
                unsigned workers;
                if (schedule->phase_open(schedule, i, &phase, err)) {
                        dbio_run_close(run);
                        return -1;
                }
                fprintf(out, "PHASE %s: bytes of each target\n", phase.name);
                for (unsigned s = 0; s < phase.nstreams; s++) {
                        print_uses(session, &phase.streams[s], out);
                        maps += phase.streams[s].memory_bytes;
                }
                dbio_run_plan(run, &phase, &workers, &arena_bytes);
                arena_most = arena_bytes > arena_most ? arena_bytes : arena_most;
                maps_most = maps > maps_most ? maps : maps_most;
                workers_most = workers > workers_most ? workers : workers_most;
                schedule->phase_close(schedule, &phase);
        }
        dbio_run_close(run);
        fprintf(out, "MEMORY  with %u workers\n", workers_most);
        print_bytes(out, "program", 32u << 20);
        print_bytes(out, "I/O buffers", arena_most);
        print_bytes(out, "dirty maps", maps_most);
        if (session->options.verify)
                print_bytes(out, "verify, up to", dbio_verify_memory(&session->targets, session->demand.specs));
        return DBIO_OK;
}
