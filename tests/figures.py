"""Works out the views of a run from its ops log by the definitions of the contract, and prints where they differ.

figures.py DB OPSLOG [SCALE]: for simulated runs with one adapter port at most. SCALE is that of --scale-time.
"""
import sqlite3
import struct
import sys
import zlib
from collections import defaultdict, namedtuple

KINDS = 'read write fsync trim commit'.split()
ROLES = ('io data_read read_ahead checkpoint lazy_write eager_write page_flush doublewrite log binlog log_read archive sort '
         'backup restore recovery snapshot file_init source insert purge change_buffer_merge writeback').split()
Op = namedtuple('Op', 'key length episode intended submitted completed error')
Phase = namedtuple('Phase', 'name streams ops')
differences = []


def differ(what, got, want):
    differences.append(f'{what}: {got}, not {want}')


def equal(what, got, want, within=0.0):
    if (got is None) != (want is None) or (got is not None and abs(got - want) > within + 1e-9 * abs(want)):
        differ(what, got, want)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_log(path):
    data, phases, at = open(path, 'rb').read(), [], 8
    assert data[:8] == b'dbioops1'
    while at < len(data):
        block, size, crc = struct.unpack_from('<III', data, at)
        body = data[at + 12:at + 12 + size]
        at += 12 + size
        assert zlib.crc32(body) == crc
        if block == 1:
            streams, i = varint(body, 0)
            names = body[varint(body, i)[1]:].split(b'\0')
            phases.append(Phase(names[0].decode(), [n.decode() for n in names[1:1 + streams]], []))
            continue
        phase, i, last = phases[-1], 4, 0
        for _ in range(struct.unpack_from('<I', body)[0]):
            kind, role, i, f = body[i], body[i + 1], i + 3, []
            for _ in range(11 if kind & 128 else 10):
                value, i = varint(body, i)
                f.append(value)
            last += f[7] >> 1 ^ -(f[7] & 1)
            key = phase.streams[f[0]], KINDS[kind & 127], ROLES[role]
            phase.ops.append(Op(key, f[5], f[6], last - f[8] - f[9], last - f[8], last, kind >= 128))
    return phases


def percentile(values, thousandths):
    """The highest value of the bucket (two significant digits) of the ceil(p n)-th smallest, at most the largest."""
    if not values:
        return None
    values = sorted(values)
    value = values[-(-thousandths * len(values) // 1000) - 1]
    shift = max(0, value.bit_length() - 8)
    return min(((value >> shift) + 1 << shift) - 1, values[-1])


def mean(values):
    return sum(values) / len(values) if values else None


def service(ops):
    return [op.completed - op.submitted for op in ops]


def response(ops):
    return [op.completed - op.intended for op in ops]


def most_in_flight(ops, completions_first):
    events = sorted([(op.submitted, completions_first, 1) for op in ops] +
                    [(op.completed, not completions_first, -1) for op in ops])
    most = now = 0
    for _, _, step in events:
        now += step
        most = max(most, now)
    return most


def at_cap_ns(ops, cap):
    sum_ns = now = since = 0
    for t, step in sorted([(op.submitted, 1) for op in ops] + [(op.completed, -1) for op in ops]):
        sum_ns += t - since if now >= cap else 0
        now, since = now + step, t
    return sum_ns


class Run:
    def __init__(self, db):
        self.db = db
        self.run = db.execute('SELECT max(run_id) FROM v_run').fetchone()[0]

    def rows(self, view, phase):
        self.db.row_factory = sqlite3.Row
        return self.db.execute(f'SELECT * FROM {view} WHERE run_id = ? AND phase = ?', (self.run, phase)).fetchall()


def check_phase(run, phase, duration):
    by_key = {(r['stream'], r['kind'], r['role']): r for r in run.rows('v_phase', phase.name)}
    ops = defaultdict(list)
    for op in phase.ops:
        ops[op.key].append(op)
    if set(ops) != {k for k in by_key if k[1] != 'commit'}:
        differ(f'{phase.name}: rows', sorted(by_key), sorted(ops))
    for key, all_ops in ops.items():
        row, good, what = by_key[key], [op for op in all_ops if not op.error], f'{phase.name} {key}'
        equal(f'{what} ios', row['ios'], len(good))
        equal(f'{what} bytes', row['bytes'], sum(op.length for op in good))
        equal(f'{what} errors', row['errors'], len(all_ops) - len(good))
        equal(f'{what} duration', row['duration_ns'], duration)
        equal(f'{what} iops', row['iops'], len(good) * 1e9 / duration)
        equal(f'{what} depth_mean', row['depth_mean'], sum(service(all_ops)) / duration)
        if not most_in_flight(all_ops, False) >= row['depth_peak'] >= most_in_flight(all_ops, True):
            differ(f'{what} depth_peak', row['depth_peak'], most_in_flight(all_ops, True))
        for part, values in ('service', service(good)), ('response', response(good)):
            equal(f'{what} {part} mean', row[f'{part}_mean_ns'], mean(values))
            equal(f'{what} {part} max', row[f'{part}_max_ns'], max(values, default=None))
            for name, p in ('p50', 500), ('p90', 900), ('p95', 950), ('p99', 990), ('p999', 999):
                equal(f'{what} {part} {name}', row[f'{part}_{name}_ns'], percentile(values, p))
        waits = [op.submitted - op.intended for op in good]
        equal(f'{what} wait mean', row['wait_mean_ns'], mean(waits))
        equal(f'{what} wait p99', row['wait_p99_ns'], percentile(waits, 990))
    for stream in phase.streams:
        mine = [r for r in by_key.values() if r['stream'] == stream and r['kind'] != 'commit']
        equal(f'{phase.name} {stream} due - unissued', sum(r['due'] - r['unissued'] for r in mine),
              sum(op.key[0] == stream for op in phase.ops))
    return by_key, ops


def check_series(run, phase, by_key, ops, grid, intervals):
    cells = defaultdict(dict)
    for row in run.rows('v_series', phase.name):
        cells[row['stream'], row['kind'], row['role']][row['t_ns']] = row
    for key, row in by_key.items():
        if sorted(cells[key]) != [i * grid for i in range(intervals)]:
            differ(f'{phase.name} {key} grid', len(cells[key]), intervals)
        for figure in 'ios', 'bytes', 'errors':
            equal(f'{phase.name} {key} sum of {figure}', sum(c[figure] for c in cells[key].values()), row[figure])
        done = defaultdict(list)
        for op in ops.get(key, ()):
            done[op.completed // grid * grid].append(op)
        for t, cell in cells[key].items() if key[1] != 'commit' else ():
            good, what = [op for op in done[t] if not op.error], f'{phase.name} {key} at {t / 1e9:g} s'
            equal(f'{what} ios', cell['ios'], len(good))
            equal(f'{what} errors', cell['errors'], len(done[t]) - len(good))
            equal(f'{what} service mean', cell['service_mean_ns'], mean(service(good)))
            equal(f'{what} service p99', cell['service_p99_ns'], percentile(service(good), 990))
            equal(f'{what} response p99', cell['response_p99_ns'], percentile(response(good), 990))


def check_episodes(run, phase, scale):
    streams = defaultdict(list)
    for row in run.rows('v_episode', phase.name):
        ops = [op for op in phase.ops if op.key[0] == row['stream'] and op.episode == row['episode']]
        good, what = [op for op in ops if not op.error], f"{phase.name} {row['stream']} episode {row['episode']}"
        writes = [op for op in good if op.key[1] == 'write']
        if row['end_ns'] is not None and ops:
            equal(f'{what} end', row['end_ns'], max(op.completed for op in ops), max(0, scale - 1))
        equal(f'{what} writes', row['writes'], len(writes))
        equal(f'{what} bytes', row['bytes'], sum(op.length for op in writes or good))
        equal(f'{what} write mean', row['write_mean_ns'], mean(service(writes)), 1)
        streams[row['stream']].append(row)
    return streams


def recovery_of(begin, end, following, rates, lengths, grid, median):
    row = 0
    for i in range(-(-end // grid), len(rates)) if end is not None and median is not None else ():
        if lengths[i] < 0.9 * grid or (following is not None and (i + 1) * grid > following):
            break
        row = row + 1 if rates[i] >= 0.95 * median else 0
        if row == 3:
            return i - 2
    return None


def cut(phase, stream, episodes, duration, grid, intervals):
    """During, after (1) or quiet (2) of each interval outside episodes, and recoveries, for one stream against one other."""
    lengths = [min(grid, max(0, duration - i * grid)) for i in range(intervals)]
    inside, done = [0] * intervals, [0] * intervals
    for e in episodes:
        end = duration if e['end_ns'] is None else e['end_ns']
        for i in range(intervals):
            inside[i] += max(0, min(end, i * grid + lengths[i]) - max(e['begin_ns'], i * grid))
    for op in phase.ops:
        if op.key[0] == stream and not op.error and op.key[1] in ('read', 'write'):
            done[op.completed // grid] += 1
    rates = [done[i] * 1e9 / lengths[i] if lengths[i] else 0 for i in range(intervals)]
    free = sorted(rates[i] for i in range(intervals) if not inside[i] and lengths[i] >= 0.9 * grid)
    median = (free[(len(free) - 1) // 2] + free[len(free) // 2]) / 2 if free else None
    windows, recovered = [2] * intervals, []
    for e, following in zip(episodes, [x['begin_ns'] for x in episodes[1:]] + [None]):
        end = e['end_ns']
        back = recovery_of(e['begin_ns'], end, following, rates, lengths, grid, median)
        recovered.append(None if back is None else back * grid)
        if end is None or end >= duration or (following is not None and following <= end):
            continue
        last = back if back is not None else intervals if following is None else min(intervals, -(-following // grid))
        windows[end // grid:last] = [1] * (last - end // grid)
    spans = [sum(inside)] + [sum(lengths[i] - inside[i] for i in range(intervals) if windows[i] == w) for w in (1, 2)]
    return windows, recovered, spans + [spans[0] + spans[1]]


def check_windows(run, phase, by_key, ops, episodes, duration, grid, intervals):
    rows = {(r['stream'], r['kind'], r['role'], r['other_stream'], r['window']): r
            for r in run.rows('v_interference', phase.name)}
    back = {(r['stream'], r['other_stream'], r['episode']): r['recovered_ns'] for r in run.rows('v_recovery', phase.name)}
    for other in episodes:
        for stream in {key[0] for key in by_key} - {other}:
            windows, recovered, spans = cut(phase, stream, episodes[other], duration, grid, intervals)
            for e, want in zip(episodes[other], recovered):
                equal(f"{phase.name} {stream} recovered from {other} {e['episode']}", back[stream, other, e['episode']], want)
            for key in by_key:
                if key[0] != stream:
                    continue
                parts = [], [], [], []
                for op in ops.get(key, ()):
                    inside = any(e['begin_ns'] < op.completed and (e['end_ns'] is None or op.completed <= e['end_ns'])
                                 for e in episodes[other])
                    window = 0 if inside else windows[op.completed // grid]
                    for w in {window, 3 if window < 2 else window} if not op.error else ():
                        parts[w].append(op)
                got = [rows[(*key, other, w)] for w in ('during', 'after', 'quiet', 'affected')]
                equal(f'{phase.name} {key} {other} sum', sum(r['ios'] for r in got[:3]), by_key[key]['ios'])
                for row, part, span in zip(got, parts, spans):
                    what = f"{phase.name} {key} {other} {row['window']}"
                    equal(f'{what} duration', row['duration_ns'], span)
                    if key[1] == 'commit':
                        continue
                    equal(f'{what} ios', row['ios'], len(part))
                    equal(f'{what} service mean', row['service_mean_ns'], mean(service(part)))
                    equal(f'{what} service p50', row['service_p50_ns'], percentile(service(part), 500))
                    equal(f'{what} service p99', row['service_p99_ns'], percentile(service(part), 990))
                    equal(f'{what} response p99', row['response_p99_ns'], percentile(response(part), 990))


def main():
    run = Run(sqlite3.connect(sys.argv[1]))
    compared = 0
    for phase in read_log(sys.argv[2]):
        duration = max((op.completed for op in phase.ops), default=0)
        by_key, ops = check_phase(run, phase, duration)
        compared += len(by_key)
        grid = run.rows('v_series', phase.name)[0]['interval_ns']
        intervals = max(-(-duration // grid), duration // grid + 1)
        check_series(run, phase, by_key, ops, grid, intervals)
        episodes = check_episodes(run, phase, float(sys.argv[3]) if len(sys.argv) > 3 else 1)
        check_windows(run, phase, by_key, ops, episodes, duration, grid, intervals)
        for limit in run.rows('v_limit', phase.name):
            if limit['limit_name'] == 'hba.max_outstanding' and not any(r['splits'] for r in by_key.values()):
                equal(f'{phase.name} time at the cap', limit['at_cap_ns'], at_cap_ns(phase.ops, limit['cap']))
                equal(f'{phase.name} hits', limit['hits'], sum(r['hba_waits'] for r in by_key.values()))
    print(*differences[:20], '' if compared else 'nothing was compared', sep='\n')


main()
