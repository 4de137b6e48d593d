/* check and compile: what a workload says, without I/O. */
#include "replay/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/demand.h"
#include "replay/schedulefile.h"

/* What streams have to say of themselves, each once. */
static int print_notes(struct dbio_schedule *schedule, struct dbio_err *err)
{
        char last[sizeof ((struct dbio_stream *)0)->note + 256] = "", line[sizeof last];

        for (unsigned i = 0; i < schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                if (schedule->phase_open(schedule, i, &phase, err))
                        return -1;
                for (unsigned s = 0; s < phase.nstreams; s++) {
                        if (!phase.streams[s].note[0])
                                continue;
                        snprintf(line, sizeof line, "  %s: %s", phase.streams[s].name, phase.streams[s].note);
                        if (strcmp(line, last))
                                puts(line);
                        strcpy(last, line);
                }
                schedule->phase_close(schedule, &phase);
        }
        return 0;
}

static const char *plural(unsigned n)
{
        return n == 1 ? "" : "s";
}

static int check_one(const char *source, const struct dbio_cmdline *line, bool first, struct dbio_err *err)
{
        struct dbio_demand demand;
        struct dbio_targets targets;
        struct dbio_schedule *schedule;
        int code = 0;

        if (dbio_demand_prepare(source, line, &demand, &targets, &schedule, err))
                return -1;
        if (dbio_cmdline_has(line, DBIO_OPT_PRINT) && demand.has_workload) {
                printf("%s%s", first ? "" : "---\n", demand.workload.resolved);
        } else {
                unsigned nstreams = demand.has_workload ? demand.workload.nstreams : demand.nspecs;

                printf("%s: ok, %u target%s, %u stream%s, %u phase%s, schedule %.8s\n", source, demand.nspecs,
                       plural(demand.nspecs), nstreams, plural(nstreams), schedule->nphases, plural(schedule->nphases),
                       schedule->hash);
                code = print_notes(schedule, err);
        }
        schedule->free(schedule);
        dbio_targets_close(&targets);
        dbio_demand_release(&demand);
        return code;
}

/* All of them, whatever is found in one; the code is that of the first that is wrong. */
int dbio_cmd_check(const struct dbio_cmdline *line, struct dbio_err *err)
{
        int code = DBIO_OK;
        bool first = true;

        for (unsigned i = 0; i < line->narguments; i++) {
                struct dbio_err fault = {0};

                if (!check_one(line->arguments[i], line, first, &fault)) {
                        first = false;
                        continue;
                }
                if (line->narguments == 1) {
                        *err = fault;
                        return -1;
                }
                fflush(stdout);
                dbio_error_print(&fault);
                code = code ? code : (int)fault.code;
        }
        return code;
}

int dbio_cmd_compile(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *output = dbio_cmdline_value(line, DBIO_OPT_OUTPUT);
        struct dbio_demand demand;
        struct dbio_targets targets;
        struct dbio_schedule *schedule;

        if (!output)
                return dbio_err_set(err, DBIO_USAGE, "compile needs -o FILE");
        if (dbio_demand_prepare(line->arguments[0], line, &demand, &targets, &schedule, err))
                return -1;
        int code = demand.has_workload ? dbio_schedulefile_write_workload(output, demand.workload.resolved,
                                                                          strlen(demand.workload.resolved), err)
                                       : dbio_err_set(err, DBIO_USAGE, "%s is a trace: `dbio import` makes a schedule of it",
                                                      line->arguments[0]);
        if (!code)
                fprintf(stderr, "%s: schedule %.8s\n", output, schedule->hash);
        schedule->free(schedule);
        dbio_targets_close(&targets);
        dbio_demand_release(&demand);
        return code;
}
