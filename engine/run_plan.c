/* What the phases of a run need: workers, buffers, commands in flight. */
#include "engine/run_inside.h"

#define WORKERS_AUTO 8u
#define UNCAPPED_BYTES (32u << 20) /* buffers of a writing stream without a depth */
#define STREAM_BYTES (256u << 20)  /* at most, of any */

unsigned dbio_run_most_workers(const struct dbio_run *run)
{
        unsigned n = run->options.workers;

        if (run->clock->is_virtual)
                return 1;
        if (!n)
                n = run->ncpus < WORKERS_AUTO ? run->ncpus : WORKERS_AUTO;
        return n < DBIO_WORKERS_MAX ? n : DBIO_WORKERS_MAX;
}

static bool owns_buffers(const struct dbio_run *run, const struct dbio_stream *stream)
{
        for (unsigned i = 0; i < stream->nuses; i++)
                if (stream->uses[i].writes)
                        return true;
        return run->own_reads;
}

/* Buffers of a worker's writes, by the depths of its sources. */
static uint64_t bytes_of(const struct dbio_run *run, const struct dbio_phase *phase,
                         const struct dbio_lane_spec *lanes, unsigned n)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < n;) {
                const struct dbio_stream *stream = &phase->streams[lanes[i].stream];
                uint64_t each = dbio_buffers_round(stream->max_length), bytes;
                unsigned first = i;

                while (i < n && lanes[i].stream == lanes[first].stream)
                        i++;
                if (!owns_buffers(run, stream))
                        continue;
                bytes = stream->depth ? each * stream->depth * (i - first) : each * 2048;
                if (!stream->depth && bytes > UNCAPPED_BYTES)
                        bytes = UNCAPPED_BYTES;
                if (bytes > STREAM_BYTES)
                        bytes = STREAM_BYTES;
                sum += bytes > 4 * each ? bytes : 4 * each;
        }
        return sum;
}

static uint64_t scratch_of(const struct dbio_phase *phase)
{
        uint64_t bytes = DBIO_BUFFERS_BLOCK;

        for (unsigned i = 0; i < phase->nstreams; i++)
                if (dbio_buffers_round(phase->streams[i].max_length) > bytes)
                        bytes = dbio_buffers_round(phase->streams[i].max_length);
        return bytes;
}

/* Bytes of the two areas that writes of zeroes and of 0xC0 come from. */
static uint64_t fill_of(const struct dbio_phase *phase)
{
        uint64_t bytes = 0;

        for (unsigned i = 0; i < phase->nstreams; i++)
                if (phase->streams[i].fills && dbio_buffers_round(phase->streams[i].max_length) > bytes)
                        bytes = dbio_buffers_round(phase->streams[i].max_length);
        return bytes;
}

struct dbio_pacer_config dbio_run_pacer_config(const struct dbio_run *run, const struct dbio_phase *phase,
                                             const struct dbio_placement *placement, unsigned worker)
{
        return (struct dbio_pacer_config){
                .phase = phase,
                .hba = run->hba,
                .worker = worker,
                .nworkers = placement->nworkers,
                .lanes = placement->lanes + placement->first[worker],
                .nlanes = placement->first[worker + 1] - placement->first[worker],
                .scale_time = run->options.scale_time,
                .max_iops = run->options.max_iops,
                .max_bytes_per_s = run->options.max_bytes_per_s,
                .files = run->files,
                .buffer_reads = run->own_reads,
        };
}

/* What one phase needs of each worker, taken into the run's maxima. */
/* What closed loops are to keep in flight must be possible: fewer, unsaid, would be another workload. */
static int check_depth(const struct dbio_phase *phase, const struct dbio_pacer_config *config, struct dbio_err *err)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < config->nlanes; i++) {
                const struct dbio_stream *stream = &phase->streams[config->lanes[i].stream];
                if (!(stream->flags & (DBIO_STREAM_REACTIVE | DBIO_STREAM_TIMED)))
                        sum += stream->depth;
        }
        if (sum <= DBIO_PACER_COMMANDS_MAX)
                return 0;
        return dbio_err_set(err, DBIO_USAGE, "phase %s keeps %llu ops in flight on a worker; at most %u are possible: lower "
                            "threads or depth", phase->name, (unsigned long long)sum, DBIO_PACER_COMMANDS_MAX);
}

static int plan_phase(struct dbio_run *run, const struct dbio_phase *phase, struct dbio_err *err)
{
        struct dbio_placement placement;

        if (dbio_placement_init(&placement, phase, dbio_run_most_workers(run)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (placement.nworkers > run->nworkers)
                run->nworkers = placement.nworkers;
        if (scratch_of(phase) > run->scratch_bytes)
                run->scratch_bytes = scratch_of(phase);
        if (fill_of(phase) > run->fill_bytes)
                run->fill_bytes = fill_of(phase);
        for (unsigned i = 0; i < placement.nworkers; i++) {
                struct dbio_pacer_config config = dbio_run_pacer_config(run, phase, &placement, i);
                uint64_t bytes = bytes_of(run, phase, config.lanes, config.nlanes);
                unsigned ops, commands;

                if (check_depth(phase, &config, err)) {
                        dbio_placement_release(&placement);
                        return -1;
                }
                dbio_pacer_room(&config, &ops, &commands);
                if (commands > run->workers[i].ncommands)
                        run->workers[i].ncommands = commands;
                if (bytes > run->write_bytes[i])
                        run->write_bytes[i] = bytes;
        }
        dbio_placement_release(&placement);
        return 0;
}

int dbio_run_plan_all(struct dbio_run *run, struct dbio_err *err)
{
        for (unsigned i = 0; i < run->schedule->nphases; i++) {
                struct dbio_phase phase = {0};
                int result = run->schedule->phase_open(run->schedule, i, &phase, err);

                if (!result)
                        result = plan_phase(run, &phase, err);
                run->schedule->phase_close(run->schedule, &phase);
                if (result)
                        return -1;
        }
        return 0;
}

void dbio_run_plan(const struct dbio_run *run, const struct dbio_phase *phase, unsigned *workers, uint64_t *arena_bytes)
{
        struct dbio_placement placement;

        *workers = 0;
        *arena_bytes = run->arena_bytes;
        if (dbio_placement_init(&placement, phase, dbio_run_most_workers(run)))
                return;
        *workers = placement.nworkers;
        *arena_bytes = placement.nworkers * scratch_of(phase) + 2 * fill_of(phase);
        for (unsigned i = 0; i < placement.nworkers; i++)
                *arena_bytes += bytes_of(run, phase, placement.lanes + placement.first[i],
                                         placement.first[i + 1] - placement.first[i]);
        dbio_placement_release(&placement);
}
