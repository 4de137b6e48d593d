/* Files that dbio writes besides targets and databases: schedules, workloads, reports, exports. */
#ifndef DBIO_REPLAY_OUTPUT_H
#define DBIO_REPLAY_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "replay/command.h"

/* A file that takes its place when it is whole, so that there is never half of one. */
struct dbio_output {
        FILE *file;
        char path[PATH_MAX];
        char temporary[PATH_MAX + 32]; /* beside it */
};

/* Links are followed. What is there and no regular file, such as a device: DBIO_USAGE; else DBIO_IO. */
int dbio_output_open(struct dbio_output *output, const char *path, struct dbio_err *err);
/* whole: puts it in its place, DBIO_IO where that fails. Else it goes, and err is left as it is. */
int dbio_output_close(struct dbio_output *output, bool whole, struct dbio_err *err);

/* Before a command begins: what its options name for writing must be no block device, target or file with a
 * signature (DBIO_REFUSED), nor the results database or a file that it reads (DBIO_USAGE). */
int dbio_output_check(const struct dbio_cmdline *line, struct dbio_err *err);

#endif
