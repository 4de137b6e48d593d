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

int dbio_cmd_check(const struct dbio_cmdline *line, struct dbio_err *err)
{
        for (unsigned i = 0; i < line->narguments; i++) {
                struct dbio_demand demand;
                struct dbio_targets targets;
                struct dbio_schedule *schedule;
                if (dbio_demand_prepare(line->arguments[i], line, &demand, &targets, &schedule, err))
                        return -1;
                if (dbio_cmdline_has(line, DBIO_OPT_PRINT) && demand.has_workload)
                        fputs(demand.workload.resolved, stdout);
                else
                        printf("%s: ok, %u targets, %u streams, %u phases, schedule %.8s\n", line->arguments[i], demand.nspecs,
                               demand.has_workload ? demand.workload.nstreams : demand.nspecs, schedule->nphases, schedule->hash);
                int code = dbio_cmdline_has(line, DBIO_OPT_PRINT) ? 0 : print_notes(schedule, err);
                schedule->free(schedule);
                dbio_targets_close(&targets);
                dbio_demand_release(&demand);
                if (code)
                        return -1;
        }
        return DBIO_OK;
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
