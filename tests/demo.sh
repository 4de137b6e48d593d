#!/bin/sh
# The main job, twice: RAID10 against a PCIe SSD under reads plus checkpoint on simulated devices, then the same kind of
# workload on a real file, by libaio and by io_uring.
set -eu
dbio=$1
out=build/demo
mkdir -p "$out"
rm -f "$out/demo.db" "$out/demo.db-wal" "$out/demo.db-shm"
# Named, not in the environment, so that the commands proposed at the end of each run can be pasted.
db=$out/demo.db
say() { printf '\n== %s\n' "$*"; }

say 'Simulated: ten 15K SAS disks in RAID10, then a PCIe SSD, reads plus checkpoint'
for device in raid10:raid10-15k-sas ssd:pcie-ssd-iodrive80; do
        profile=${device#*:}
        "$dbio" run sqlserver/read-plus-checkpoint --target "data=sim:$profile#one" --target "log=sim:$profile#one" \
                --label "${device%%:*}" --db "$db"
done
"$dbio" compare raid10 ssd --db "$db"
"$dbio" report raid10 ssd -o "$out/report.html" --db "$db"

say "Real: the same kind of workload, shortened, on files under $out"
for engine in libaio io_uring; do
        "$dbio" run sqlserver/read-plus-checkpoint --engine "$engine" --label "$engine" --db "$db" --create \
                --target "data=$out/data" --target "log=$out/log" \
                --set targets.data.size=512MiB --set targets.log.size=64MiB \
                --set streams.user-reads.depth=1 --set streams.checkpoint.every=6s --set streams.checkpoint.pages=4_000 \
                --set 'phases.warm-up.duration=2s' --set phases.reads-only.duration=6s \
                --set phases.reads-and-checkpoint.duration=20s || [ $? = 6 ]
done
"$dbio" compare libaio io_uring --db "$db"
say "The page to look at: $out/report.html; all figures: sqlite3 $db 'SELECT * FROM v_phase'"
