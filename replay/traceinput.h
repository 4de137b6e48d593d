/* Reading one trace of one or several files: by one reader, which takes the files one after the other (or all of them, as that of
 * blktrace), or by a reader a file, merged by time, where the format's files are recorded side by side. */
#ifndef DBIO_REPLAY_TRACEINPUT_H
#define DBIO_REPLAY_TRACEINPUT_H

#include "replay/trace.h"

#define DBIO_TRACE_BESIDE_MAX 64u /* files side by side; more are read one after the other */

/* As the functions of a format; input->format, paths, npaths, spec, devices and issue_events are set. */
int dbio_trace_input_open(struct dbio_trace_input *input, struct dbio_err *err);
int dbio_trace_input_next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err);
void dbio_trace_input_close(struct dbio_trace_input *input); /* accepts one that was not opened */

#endif
