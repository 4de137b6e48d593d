/* Making a pacer: lanes, groups, logs and all memory that it will need. */
#include "engine/pacer_inside.h"

#include <stdlib.h>

#define UNCAPPED 2048u     /* ops in flight of a stream without a depth */
#define UNCAPPED_MAX 8192u /* of all such on a worker */
#define OPS_MAX 32768u
#define CLOSED_DEPTH 1024u /* of a closed loop that names none */

static enum dbio_lane_kind kind_of(const struct dbio_stream *stream)
{
        if (stream->flags & DBIO_STREAM_REACTIVE)
                return DBIO_LANE_REACTIVE;
        return stream->flags & DBIO_STREAM_TIMED ? DBIO_LANE_TIMED : DBIO_LANE_CLOSED;
}

static unsigned depth_of(const struct dbio_stream *stream)
{
        return stream->depth || kind_of(stream) != DBIO_LANE_CLOSED ? stream->depth : CLOSED_DEPTH;
}

static unsigned uncapped_of(const struct dbio_pacer_config *config)
{
        unsigned sum = 0, last = DBIO_NONE;

        for (unsigned i = 0; i < config->nlanes; i++) {
                if (depth_of(&config->phase->streams[config->lanes[i].stream]) || config->lanes[i].stream == last)
                        continue;
                last = config->lanes[i].stream;
                sum += UNCAPPED;
        }
        return sum < UNCAPPED_MAX ? sum : UNCAPPED_MAX;
}

void dbio_pacer_room(const struct dbio_pacer_config *config, unsigned *ops, unsigned *commands)
{
        uint64_t sum = uncapped_of(config), each = 1, max = config->hba.max_transfer;

        for (unsigned i = 0; i < config->nlanes; i++) {
                const struct dbio_stream *stream = &config->phase->streams[config->lanes[i].stream];

                sum += depth_of(stream);
                if (max && (stream->max_length + max - 1) / max > each)
                        each = (stream->max_length + max - 1) / max;
                for (unsigned k = 0; config->files && k < stream->nuses; k++)
                        if (config->files[stream->uses[k].target] > each)
                                each = config->files[stream->uses[k].target];
        }
        *ops = (unsigned)(sum < OPS_MAX ? sum : OPS_MAX);
        sum = *ops * each;
        max = (uint64_t)config->hba.ports * config->hba.max_outstanding;
        /* one more than may go, so that it is always the HBA that refuses, and is said to have */
        if (max && sum > max + 1)
                sum = max + 1;
        *commands = (unsigned)(sum < DBIO_PACER_COMMANDS_MAX ? sum : DBIO_PACER_COMMANDS_MAX);
}

static uint32_t find_log(struct dbio_pacer *p, const struct dbio_log_position *position)
{
        for (unsigned i = 0; position && i < p->nlogs; i++)
                if (p->logs[i].position == position)
                        return i;
        return DBIO_NONE;
}

static void init_lane(struct dbio_pacer *p, struct dbio_lane *lane, const struct dbio_lane_spec *spec)
{
        const struct dbio_stream *stream = &p->config.phase->streams[spec->stream];

        lane->source = stream->sources[spec->source];
        lane->source->report = p->config.report(p->config.user, spec->stream);
        lane->stream = stream;
        lane->stream_index = spec->stream;
        lane->start_ns = dbio_pacer_scale(p, stream->start_ns);
        lane->stop_ns = dbio_pacer_scale(p, stream->stop_ns);
        lane->think_ns = dbio_pacer_scale(p, stream->think_ns);
        lane->kind = (uint8_t)kind_of(stream);
        lane->depth = depth_of(stream);
        lane->capped = lane->depth;
        lane->finite = !(stream->flags & DBIO_STREAM_ENDLESS) || stream->stop_ns != UINT64_MAX;
        lane->pending_head = DBIO_NONE;
        lane->log = DBIO_NONE;
        lane->barren_ns = UINT64_MAX;
        if (stream->position) {
                lane->log = p->nlogs;
                p->logs[p->nlogs++] = (struct dbio_lane_log){.position = stream->position,
                                                             .durable = stream->position->durable,
                                                             .lane = (uint32_t)(lane - p->lanes),
                                                             .waiters = DBIO_NONE};
        }
        p->left++;
        p->finite_left += lane->finite;
        if (lane->start_ns)
                dbio_lane_schedule(p, lane, lane->start_ns);
        else
                dbio_lane_list(p, lane);
}

/* Groups of the reactive lanes: by the streams' number, or each on its own. */
static void init_groups(struct dbio_pacer *p)
{
        uint32_t nmembers = 0;

        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct dbio_lane *lane = &p->lanes[i];

                for (unsigned k = 0; lane->stream->group && k < i; k++)
                        if (p->lanes[k].stream->group == lane->stream->group) {
                                lane->group = p->lanes[k].group;
                                goto next;
                        }
                lane->group = p->ngroups++;
                p->groups[lane->group].first = nmembers;
                for (unsigned k = i; k < p->config.nlanes; k++) {
                        if (k != i && (!lane->stream->group || p->lanes[k].stream->group != lane->stream->group))
                                continue;
                        if (p->lanes[k].kind != DBIO_LANE_REACTIVE) {
                                if (!lane->stream->group)
                                        break;
                                continue;
                        }
                        p->members[nmembers++] = k;
                        p->groups[lane->group].nr++;
                        if (!lane->stream->group)
                                break;
                }
next:;
        }
}

static void init_freed(struct dbio_pacer *p)
{
        uint64_t *at = p->freed;

        for (unsigned i = 0; i < p->config.nlanes; i++) {
                struct dbio_lane *lane = &p->lanes[i];

                if (lane->kind != DBIO_LANE_CLOSED)
                        continue;
                lane->freed = at;
                lane->nfreed = lane->depth;
                for (unsigned k = 0; k < lane->depth; k++)
                        *at++ = lane->start_ns;
        }
}

static bool allocate(struct dbio_pacer *p, unsigned nslots)
{
        unsigned n = p->config.nlanes + 1, nstreams = p->config.phase->nstreams + 1;
        uint64_t freed = 1;

        for (unsigned i = 0; i < p->config.nlanes; i++)
                freed += depth_of(&p->config.phase->streams[p->config.lanes[i].stream]);
        p->lanes = calloc(n, sizeof *p->lanes);
        p->groups = calloc(n, sizeof *p->groups);
        p->members = calloc(n, sizeof *p->members);
        p->touched = calloc(n, sizeof *p->touched);
        p->logs = calloc(n, sizeof *p->logs);
        p->slots = calloc(nslots + 1, sizeof *p->slots);
        p->ports = calloc(p->config.hba.ports, sizeof *p->ports);
        p->port_turn = calloc(nstreams, sizeof *p->port_turn);
        p->freed = calloc(freed, sizeof *p->freed);
        p->figures.issued = calloc(nstreams, sizeof *p->figures.issued);
        p->figures.unissued = calloc(nstreams, sizeof *p->figures.unissued);
        return !dbio_wakes_init(&p->wakes, n) && p->lanes && p->groups && p->members && p->touched && p->logs &&
               p->slots && p->ports && p->port_turn && p->freed && p->figures.issued && p->figures.unissued;
}

struct dbio_pacer *dbio_pacer_new(const struct dbio_pacer_config *config)
{
        struct dbio_pacer *p = calloc(1, sizeof *p);
        unsigned nslots, ncommands;

        if (!p)
                return NULL;
        p->config = *config;
        dbio_pacer_room(config, &nslots, &ncommands);
        if (!allocate(p, nslots)) {
                dbio_pacer_free(p);
                return NULL;
        }
        p->listed_head = p->starved_head = p->free_slot = DBIO_NONE;
        for (unsigned i = nslots; i-- > 0; p->free_slot = i)
                p->slots[i].next = p->free_slot;
        p->uncapped_max = uncapped_of(config);
        p->limited = config->hba.max_outstanding;
        p->figures.outstanding.cap = config->hba.max_outstanding;
        p->figures.transfer.cap = config->hba.max_transfer;
        p->ns_per_op = config->max_iops > 0 ? 1e9 / config->max_iops : 0;
        p->ns_per_byte = config->max_bytes_per_s > 0 ? 1e9 / config->max_bytes_per_s : 0;
        p->capped = p->ns_per_op > 0 || p->ns_per_byte > 0;
        for (unsigned i = 0; i < config->hba.ports; i++) {
                p->ports[i].head = p->ports[i].tail = DBIO_NONE;
                p->ports[i].own = &config->pace->ports[config->worker * config->hba.ports + i].outstanding;
        }
        for (unsigned i = 0; i < config->nlanes; i++)
                init_lane(p, &p->lanes[i], &config->lanes[i]);
        for (unsigned i = 0; i < config->nlanes; i++)
                p->lanes[i].after = find_log(p, p->lanes[i].stream->after);
        init_groups(p);
        init_freed(p);
        return p;
}

void dbio_pacer_free(struct dbio_pacer *p)
{
        if (!p)
                return;
        free(p->lanes);
        free(p->groups);
        free(p->members);
        free(p->touched);
        free(p->logs);
        dbio_wakes_release(&p->wakes);
        free(p->slots);
        free(p->ports);
        free(p->port_turn);
        free(p->freed);
        free(p->figures.issued);
        free(p->figures.unissued);
        free(p);
}
