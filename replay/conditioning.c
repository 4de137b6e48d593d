/* `precondition` of targets: done before the first phase unless it is remembered, and told by `show` either way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device.h"
#include "engine/precondition.h"
#include "replay/progress.h"
#include "replay/session.h"
#include "results/remember.h"

static int condition(struct dbio_session *session, unsigned target, char *note, size_t size, struct dbio_err *err)
{
        const struct dbio_target_spec *spec = &session->demand.specs[target];
        struct dbio_progress progress;
        const struct dbio_precondition_options options = {
                .backend = session->options.backend, .page = spec->page, .progress = dbio_progress_bytes,
                .user = &progress, .stop = session->options.stop,
        };
        char name[1024], text[128], before[128], since[32];
        unsigned rounds;
        bool steady;

        dbio_precondition_name(&session->targets, target, name, sizeof name);
        dbio_precondition_format(&spec->precondition, text, sizeof text);
        if (dbio_store_recall(session->store, name, before, sizeof before, since, sizeof since, err))
                return -1;
        if (strcmp(before, text) == 0) {
                snprintf(note, size, "preconditioned on %s (%s)", since, text);
                fprintf(stderr, "target %s: was preconditioned on %s (%s), not again\n", spec->name, since, text);
                return 0;
        }
        dbio_progress_init(&progress, dbio_cmdline_has(session->line, DBIO_OPT_QUIET), 1);
        session->begun = true;
        if (dbio_precondition_run(&session->targets, target, &spec->precondition, &options, &rounds, &steady, err))
                return -1;
        if (!spec->precondition.until_steady)
                snprintf(note, size, "preconditioned (%s)", text);
        else
                snprintf(note, size, "preconditioned (%s: %s %u rounds)", text, steady ? "after" : "NOT STEADY after", rounds);
        fprintf(stderr, "target %s: %s\n", spec->name, note);
        return steady || !spec->precondition.until_steady ? dbio_store_remember(session->store, name, text, err) : 0;
}

/* Flash that nobody conditioned answers faster than it will in use. */
static int note_unconditioned(struct dbio_session *session, unsigned target, char *note, size_t size,
                              struct dbio_err *err)
{
        const struct dbio_target_file *file = &session->targets.files[session->targets.targets[target].first_file];
        struct dbio_device device;
        char name[1024], before[128], since[32];

        if (!file->block || dbio_device_read(&device, file->device, NULL) || device.rotational || device.ram)
                return 0;
        dbio_precondition_name(&session->targets, target, name, sizeof name);
        if (dbio_store_recall(session->store, name, before, sizeof before, since, sizeof since, err))
                return -1;
        if (before[0])
                snprintf(note, size, "preconditioned on %s (%s)", since, before);
        else
                snprintf(note, size, "not preconditioned");
        return 0;
}

int dbio_session_precondition(struct dbio_session *session, struct dbio_err *err)
{
        const size_t size = 256;

        session->notes = calloc(session->targets.n + 1, sizeof *session->notes);
        if (!session->notes)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < session->targets.n; i++) {
                enum dbio_target_kind kind = session->targets.targets[i].kind;
                int code = 0;

                if (kind != DBIO_TARGET_FILE && kind != DBIO_TARGET_BLOCK)
                        continue;
                session->notes[i] = calloc(1, size);
                if (!session->notes[i])
                        return dbio_err_set(err, DBIO_IO, "out of memory");
                code = dbio_precondition_asked(&session->demand.specs[i].precondition)
                               ? condition(session, i, session->notes[i], size, err)
                               : note_unconditioned(session, i, session->notes[i], size, err);
                if (code)
                        return -1;
        }
        return 0;
}

void dbio_session_notes_release(struct dbio_session *session)
{
        for (unsigned i = 0; session->notes && i < session->targets.n; i++)
                free(session->notes[i]);
        free(session->notes);
        session->notes = NULL;
}
