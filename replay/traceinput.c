#include "replay/traceinput.h"

#include <stdlib.h>

struct dbio_trace_parts {
        unsigned n;
        bool summed;
        struct part {
                struct dbio_trace_input input;
                struct dbio_trace_event head; /* its next */
                bool has, ended;
        } list[];
};

int dbio_trace_input_open(struct dbio_trace_input *input, struct dbio_err *err)
{
        struct dbio_trace_parts *parts;

        if (!input->format->beside || input->npaths < 2 || input->npaths > DBIO_TRACE_BESIDE_MAX)
                return input->format->open(input, err);
        input->parts = parts = calloc(1, sizeof *parts + input->npaths * sizeof *parts->list);
        if (!parts)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < input->npaths; i++) {
                parts->list[i].input = *input;
                parts->list[i].input.parts = NULL;
                parts->list[i].input.paths = &input->paths[i];
                parts->list[i].input.npaths = 1;
                parts->n++;
                if (input->format->open(&parts->list[i].input, err))
                        return -1;
        }
        return 0;
}

/* What the readers have counted and noted, once, at the end. */
static void sum(struct dbio_trace_input *input, struct dbio_trace_parts *parts)
{
        for (unsigned i = 0; i < parts->n && !parts->summed; i++) {
                const struct dbio_trace_input *part = &parts->list[i].input;

                for (unsigned k = 0; k < part->nskipped; k++)
                        dbio_trace_skip_more(input, part->skipped[k].why, part->skipped[k].n);
                if (*part->note)
                        dbio_trace_note(input, part->note);
                input->inversions += part->inversions;
                input->untimed |= part->untimed;
                if (part->end_ns > input->end_ns)
                        input->end_ns = part->end_ns;
        }
        parts->summed = true;
}

int dbio_trace_input_next(struct dbio_trace_input *input, struct dbio_trace_event *event, struct dbio_err *err)
{
        struct dbio_trace_parts *parts = input->parts;
        struct part *best = NULL;

        if (!parts)
                return input->format->next(input, event, err);
        for (unsigned i = 0; i < parts->n; i++) {
                struct part *part = &parts->list[i];
                if (!part->has && !part->ended) {
                        int code = input->format->next(&part->input, &part->head, err);
                        if (code < 0)
                                return -1;
                        part->has = code > 0;
                        part->ended = !code;
                        part->head.file = (uint16_t)i;
                }
                if (part->has && (!best || part->head.t_ns < best->head.t_ns))
                        best = part;
        }
        if (!best) {
                sum(input, parts);
                return 0;
        }
        *event = best->head;
        best->has = false;
        return 1;
}

void dbio_trace_input_close(struct dbio_trace_input *input)
{
        struct dbio_trace_parts *parts = input->parts;

        if (!parts) {
                input->format->close(input);
                return;
        }
        for (unsigned i = 0; i < parts->n; i++)
                input->format->close(&parts->list[i].input);
        free(parts);
        input->parts = NULL;
}
