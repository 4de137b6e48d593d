/* Whether a figure's kind is one that its stream has: known only from what the streams are compiled to. */
#include <stdio.h>
#include <string.h>

#include "patterns/workload.h"

#define SEVERAL 128u /* beside the kinds' bits: more than one in one phase, so that a figure must name its own */

static unsigned kinds_of(const struct dbio_stream *stream)
{
        unsigned kinds = stream->flags & DBIO_STREAM_COMMITS ? 1u << DBIO_COMMIT : 0;

        for (unsigned i = 0; i < stream->nuses; i++)
                kinds |= (stream->uses[i].reads ? 1u << DBIO_READ : 0) | (stream->uses[i].writes ? 1u << DBIO_WRITE : 0);
        return kinds;
}

void dbio_kinds_add(unsigned char *kinds, const struct dbio_workload_phase *phase, const struct dbio_phase *open)
{
        for (unsigned i = 0; open->record && i < open->nstreams; i++) {
                unsigned seen = kinds_of(&open->streams[i]);

                kinds[phase->streams[i]] |= (unsigned char)(seen & (seen - 1) ? seen | SEVERAL : seen);
        }
}

static void list(unsigned kinds, const char *before, const char *between, char *text, size_t size)
{
        text[0] = 0;
        for (unsigned kind = 0; kind < DBIO_KINDS; kind++)
                if (kinds & 1u << kind)
                        snprintf(text + strlen(text), size - strlen(text), "%s%s%s", *text ? between : "", before,
                                 dbio_kind_name(kind));
}

static int check(const struct dbio_figure *figure, unsigned kinds, struct dbio_err *err)
{
        char has[80], before[80], right[400];

        if (!kinds || figure->kind == DBIO_FSYNC) /* in no recorded phase; and of fsyncs streams do not tell */
                return 0;
        list(kinds, "", " and ", has, sizeof has);
        snprintf(before, sizeof before, "%s.", figure->stream);
        list(kinds, before, " or ", right, sizeof right);
        if (figure->kind < 0 && kinds & SEVERAL)
                return dbio_node_error(figure->node, err, "%s has figures of kind %s: say which, %s", figure->stream, has,
                                       right);
        if (figure->kind >= 0 && !(kinds & 1u << figure->kind))
                return dbio_node_error(figure->node, err, "%s has no figures of kind %s, only of %s", figure->stream,
                                       dbio_kind_name((unsigned)figure->kind), has);
        return 0;
}

int dbio_kinds_check(const unsigned char *kinds, const struct dbio_workload *workload, struct dbio_err *err)
{
        const struct {
                unsigned n;
                const struct dbio_figure *figures;
        } lists[] = {{workload->nlimits, workload->limits},
                     {workload->nobserved, workload->observed},
                     {workload->nconditions, workload->conditions}};

        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
                for (unsigned k = 0; k < lists[i].n; k++)
                        for (unsigned s = 0; s < workload->nstreams; s++)
                                if (!strcmp(workload->streams[s].name, lists[i].figures[k].stream) &&
                                    check(&lists[i].figures[k], kinds[s], err))
                                        return -1;
        return 0;
}
