/* What the files of the pacer share; nobody else includes it. */
#ifndef DBIO_ENGINE_PACER_INSIDE_H
#define DBIO_ENGINE_PACER_INSIDE_H

#include <math.h>

#include "engine/pacer.h"
#include "engine/wakes.h"

#define DBIO_NONE UINT32_MAX
#define DBIO_LANE_AHEAD 8 /* ops that a planned source gives in advance */

enum dbio_lane_kind { DBIO_LANE_CLOSED, DBIO_LANE_TIMED, DBIO_LANE_REACTIVE };

/* Sources whose fill and done may change when the others have something. */
struct dbio_lane_group {
        uint32_t first, nr; /* reactive lanes, in pacer->members */
        bool touched;
};

struct dbio_lane_log {
        struct dbio_log_position *position;
        uint64_t durable; /* last seen */
        uint32_t lane;    /* its first */
        uint32_t waiters; /* list of lanes */
};

/* One source. */
struct dbio_lane {
        struct dbio_source *source;
        const struct dbio_stream *stream;
        uint64_t start_ns, stop_ns, think_ns;
        uint64_t room_ns;  /* since when there was room for another op */
        uint64_t barren_ns, seq;
        uint32_t stream_index, depth, outstanding, let_go, barren;
        uint32_t pending_head, pending_tail; /* formed, not let go */
        uint32_t next_listed, next_waiter, next_starved;
        uint32_t group, log, after;
        uint32_t freed_head, nfreed;
        uint64_t *freed;   /* closed loop: when slots became free (think included), a ring of `depth` */
        uint8_t kind, ahead_head, nahead;
        bool listed, waiting, starved, over, finished, finite, barrier, capped;
        bool behind;       /* open loop: its depth holds up an op that is due */
        struct dbio_op ahead[DBIO_LANE_AHEAD];
};

struct dbio_port {
        uint32_t head, tail; /* ops that only the HBA holds back */
        bool claimed;        /* room for one more command is ours */
        bool at_cap;
        uint64_t blocked_ns; /* last refusal + 1 */
        _Atomic uint32_t *own;
};

struct dbio_pacer {
        struct dbio_pacer_config config;
        struct dbio_lane *lanes;
        struct dbio_lane_group *groups;
        uint32_t *members;
        struct dbio_lane_log *logs;
        unsigned nlogs, ngroups;
        struct dbio_slot *slots;
        struct dbio_port *ports;
        unsigned *port_turn;  /* per stream */
        struct dbio_wakes wakes; /* of lanes */
        unsigned next_port, ports_at_cap;
        uint64_t at_cap_ns; /* since when one is */
        uint64_t now_ns, turn_ns, close_ns; /* turn: of the last */
        uint64_t *freed;
        uint32_t free_slot, listed_head, listed_tail, starved_head, starved_tail, turn;
        unsigned uncapped, uncapped_max, inflight, begun, queued, left, finite_left;
        double ns_per_op, ns_per_byte;
        uint32_t *touched;   /* groups in which something happened in this turn */
        unsigned ntouched;
        bool closing, closed, capped, limited;
        struct dbio_pacer_figures figures;
};

static inline void dbio_lane_unschedule(struct dbio_pacer *p, const struct dbio_lane *lane)
{
        dbio_wakes_remove(&p->wakes, (uint32_t)(lane - p->lanes));
}

static inline void dbio_lane_schedule(struct dbio_pacer *p, const struct dbio_lane *lane, uint64_t wake_ns)
{
        if (wake_ns != UINT64_MAX)
                dbio_wakes_add(&p->wakes, (uint32_t)(lane - p->lanes), wake_ns);
}

/* --- small things ------------------------------------------------------------------------------------------------- */

static inline uint64_t dbio_pacer_scale(const struct dbio_pacer *p, uint64_t ns)
{
        if (p->config.scale_time == 1 || ns == UINT64_MAX)
                return ns;
        return (uint64_t)ceil((double)ns * p->config.scale_time);
}

static inline uint64_t dbio_lane_phase_time(const struct dbio_pacer *p, const struct dbio_lane *lane,
                                            uint64_t stream_ns)
{
        return stream_ns >= UINT64_MAX / 2 ? UINT64_MAX : lane->start_ns + dbio_pacer_scale(p, stream_ns);
}

static inline uint64_t dbio_lane_stream_time(const struct dbio_pacer *p, const struct dbio_lane *lane,
                                             uint64_t phase_ns)
{
        uint64_t ns = phase_ns > lane->start_ns ? phase_ns - lane->start_ns : 0;

        return p->config.scale_time == 1 ? ns : (uint64_t)((double)ns / p->config.scale_time + 1e-3);
}

/* Puts the lane at the end of those that the turn looks at. */
void dbio_lane_list(struct dbio_pacer *pacer, struct dbio_lane *lane);
/* Forms what the lane may have now, at most *budget ops. */
void dbio_lane_run(struct dbio_pacer *pacer, struct dbio_lane *lane, unsigned *budget);
/* Gives up an op that was formed and never issued. */
void dbio_lane_drop(struct dbio_pacer *pacer, struct dbio_lane *lane, struct dbio_slot *slot);
/* A planned source's next op, NULL at its end. */
const struct dbio_op *dbio_lane_look_ahead(struct dbio_pacer *pacer, struct dbio_lane *lane);
/* One command less on the port. */
void dbio_port_give_back(struct dbio_pacer *pacer, struct dbio_port *port, uint64_t now_ns);
/* The phase is over: its time at the cap ends. */
void dbio_port_finish(struct dbio_pacer *pacer, struct dbio_port *port, uint64_t now_ns);

#endif
