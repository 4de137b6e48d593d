/* Traces whose stamps are whole seconds: how far apart the events of a second are is known once all of them have been read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/tracefeed.h"

#define SECOND_NS 1000000000u
#define IN_MEMORY DBIO_TRACE_WINDOW

static int failed(struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_IO, "cannot keep the events of one second in a temporary file: %s", strerror(errno));
}

static int keep(struct dbio_trace_spreader *s, const struct dbio_trace_event *event, struct dbio_err *err)
{
        if (!s->events && !(s->events = malloc(IN_MEMORY * sizeof *s->events)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (s->n < IN_MEMORY) {
                s->events[s->n++] = *event;
                return 0;
        }
        if (!s->more && !(s->more = tmpfile()))
                return failed(err);
        if (s->n == IN_MEMORY)
                rewind(s->more);
        s->n++;
        return fwrite(event, sizeof *event, 1, s->more) == 1 ? 0 : failed(err);
}

/* All events of the second of s->ahead. */
static int collect(struct dbio_trace_feed *feed, struct dbio_trace_spreader *s, struct dbio_err *err)
{
        uint64_t second = s->ahead.t_ns;
        int code;

        s->n = s->at = 0;
        do {
                if (keep(s, &s->ahead, err))
                        return -1;
                code = dbio_trace_sorted_next(feed, &s->ahead, err);
        } while (code > 0 && s->ahead.t_ns == second && s->ahead.flags & DBIO_TRACE_COARSE);
        s->has_ahead = code > 0;
        if (s->n > IN_MEMORY && (fflush(s->more) || fseek(s->more, 0, SEEK_SET)))
                return failed(err);
        if (s->n > 1) {
                feed->summary.spread += s->n;
                feed->summary.spread_seconds++;
        }
        return code < 0 ? -1 : 0;
}

static int give(struct dbio_trace_spreader *s, struct dbio_trace_event *event, struct dbio_err *err)
{
        if (s->at < IN_MEMORY)
                *event = s->events[s->at];
        else if (fread(event, sizeof *event, 1, s->more) != 1)
                return failed(err);
        event->t_ns += s->at++ * SECOND_NS / s->n;
        return 1;
}

int dbio_trace_spread_next(struct dbio_trace_feed *feed, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct dbio_trace_spreader *s = &feed->spreader;
        int code;

        if (s->at < s->n)
                return give(s, event, err);
        if (!s->has_ahead) {
                code = dbio_trace_sorted_next(feed, event, err);
                if (code <= 0 || !(event->flags & DBIO_TRACE_COARSE) || feed->input.untimed)
                        return code;
                s->ahead = *event;
        }
        s->has_ahead = false;
        if (!(s->ahead.flags & DBIO_TRACE_COARSE)) {
                *event = s->ahead;
                return 1;
        }
        return collect(feed, s, err) ? -1 : give(s, event, err);
}

void dbio_trace_spreader_release(struct dbio_trace_spreader *spreader)
{
        free(spreader->events);
        if (spreader->more)
                fclose(spreader->more);
}
