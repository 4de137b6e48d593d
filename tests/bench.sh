#!/bin/sh
# Benchmarks: what dbio costs, alternating with fio on the same target. Figures, not verdicts: read the ratios with
# their spread. BENCH_PAIRS=5 pairs a row, BENCH_SECONDS=2 a run.
set -u
pairs=${BENCH_PAIRS:-5} seconds=${BENCH_SECONDS:-2}
work=$(mktemp -d "${BENCH_DIR:-build}/bench.XXXXXX")
zram=
trap 'rm -rf "$work"; [ -z "$zram" ] || echo 1 > /sys/block/zram0/reset' EXIT
for program in "$DBIO_BUILD"/tests/bench_*; do
        case $program in *.o | *.d) continue ;; esac
        echo "== $(basename "$program")"
        "$program"
done
command -v fio > /dev/null || { echo 'fio is not here: no comparison'; exit 0; }

# engine, depth, file -> "iops cpu_ns_per_io peak_kib"
run_dbio() {
        rm -f "$work"/d.db*
        printf 'name: b\ntargets: {data: {size: all}}\nstreams:\n  r: {pattern: io.random, target: data, size: 8K, depth: %s}\nphases:\n  - {name: p, duration: %ss}\n' \
                "$2" "$seconds" > "$work/b.yaml"
        peak=$( { command time -f %M "$DBIO" run "$work/b.yaml" --engine "$1" --target data="$3" --db "$work/d.db" --workers 1 \
                --allow-busy --max-iops 100000000 --max-mibs 1000000 --quiet > /dev/null 2> "$work/err"; } 2>&1; tail -n 1 "$work/err")
        sqlite3 -separator ' ' "$work/d.db" "SELECT cast(p.iops AS int), cast((r.cpu_user_ns + r.cpu_sys_ns) / p.ios AS int), '$peak'
                FROM v_phase p JOIN v_run r USING (run_id)"
}
run_fio() { # further options in $4
        command time -f %M fio --name=b --ioengine="$1" --iodepth="$2" --filename="$3" --rw=randread --bs=8k --direct=1 --time_based \
                --runtime="$seconds" --norandommap --randrepeat=0 --output-format=json ${4:-} > "$work/fio.json" 2> "$work/err"
        peak=$(tail -n 1 "$work/err")
        sqlite3 -separator ' ' :memory: "WITH f(j) AS (SELECT json_extract(readfile('$work/fio.json'), '\$.jobs[0]'))
                SELECT cast(json_extract(j, '\$.read.iops') AS int), cast((json_extract(j, '\$.usr_cpu') + json_extract(j, '\$.sys_cpu')) / 100
                * json_extract(j, '\$.job_runtime') * 1e6 / json_extract(j, '\$.read.total_ios') AS int), '$peak' FROM f"
}
ratios() { # lines "dbio_iops dbio_cpu dbio_kib fio_iops fio_cpu fio_kib" -> median and range of the paired ratios
        awk '{ r[NR] = $1 / $4; c[NR] = $2 / $5; d[NR] = $1; f[NR] = $4; m = $3 > m ? $3 : m; g = $6 > g ? $6 : g }
             function sort(a, n, i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
             END { n = NR; sort(r, n); sort(c, n); sort(d, n); sort(f, n); k = int((n + 1) / 2)
                   printf "dbio %d IOPS, fio %d IOPS, ratio %.2f [%.2f..%.2f]; CPU per I/O ratio %.2f [%.2f..%.2f]; peak MiB %.1f, fio %.1f\n",
                          d[k], f[k], r[k], r[1], r[n], c[k], c[1], c[n], m / 1024, g / 1024 }'
}
row() { # engine depth file fio-options text
        i=0
        while [ $i -lt "$pairs" ]; do
                i=$((i + 1))
                if [ $((i % 2)) = 1 ]; then a=$(run_dbio "$1" "$2" "$3"); b=$(run_fio "$1" "$2" "$3" "$4")
                else b=$(run_fio "$1" "$2" "$3" "$4"); a=$(run_dbio "$1" "$2" "$3"); fi
                echo "$a $b"
        done > "$work/rows"
        printf '%-9s depth %-4s %-22s ' "$1" "$2" "$5"
        ratios < "$work/rows"
}
file=$work/data
dd if=/dev/urandom of="$file" bs=1M count="${BENCH_MIB:-512}" status=none && sync "$file"
setfattr -n user.dbio -v 1 "$file" 2> /dev/null
# A RAM-backed block device where an unused one is there: reads of it are the cheapest that a block device gives. It has
# no queue, so the kernel hands io_uring's requests to threads of its own.
if [ -z "${BENCH_DEVICE:-}" ] && [ "$(id -u)" = 0 ] && [ "$(cat /sys/block/zram0/disksize 2> /dev/null)" = 0 ] &&
        echo 2G > /sys/block/zram0/disksize; then
        zram=yes
        BENCH_DEVICE=/dev/zram0
fi
for place in "file $file" ${BENCH_DEVICE:+"device $BENCH_DEVICE"}; do
        echo "== 8K random reads, ${place%% *}: $pairs alternating pairs of $seconds s, median [range]"
        for engine in libaio io_uring; do
                for depth in 1 32 128; do
                        row $engine $depth "${place#* }" '' 'fio as it comes'
                done
                for depth in 32 128; do
                        row $engine $depth "${place#* }" '--iodepth_batch_submit=16 --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32' 'fio with batches'
                done
        done
done
