#!/bin/sh
# Runs the five field studies on simulated devices and lays the published figures beside those obtained. Exit 1 where one
# misses its gate. Gates of S0 are those of the validation table behind the device profiles; those marked * are our own.
#
# fitted: the figure was used to choose a number of a profile or of the workload; predicted: it was not.
work=${DBIO_WORK:-build}/studies
root=$(cd "$(dirname "$0")/.." && pwd)
studies=$root/configs/studies
DBIO=${DBIO:-$root/build/dbio}
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
export DBIO_DB=$PWD/studies.db
within=0 all=0
# Phases are short, as simulated devices are soon steady; the files have the lengths for real devices. QUICK leaves out
# most of the loaders and depths.
loaders='1, 2, 4, 8, 16, 24, 28, 32, 48, 60, 64'
depths='1'
ms=${QUICK:+50ms} ms=${ms:-100ms} s=${QUICK:+3s} s=${s:-5s} minute=${QUICK:+2s} minute=${minute:-65s}

sql() { sqlite3 -noheader "$DBIO_DB" "$1"; }
dbio() { # what, arguments: quiet, and loud where it fails
        name=$1
        shift
        "$DBIO" "$@" > "$name.txt" 2> "$name.err" && return
        echo "$name failed: dbio $*" >&2
        cat "$name.err" >&2
}
figure() { # label, phase, stream, kind, expression over v_phase's rows
        sql "SELECT $5 FROM v_phase JOIN v_run USING (run_id) WHERE label = '$1' AND phase = '$2' AND stream = '$3'
                AND kind = '$4' GROUP BY run_id ORDER BY run_id DESC LIMIT 1"
}
around() { # label, window, expression over v_interference's rows
        sql "SELECT $3 FROM v_interference JOIN v_run USING (run_id) WHERE label = '$1' AND stream = 'user-reads'
                AND other_stream = 'checkpoint' AND window = '$2'"
}
heading() { printf '\n%s\n  %-52s %12s %12s %8s %9s\n' "$1" '' published obtained differ gate; }
row() { # text, published, obtained, gate in %, fitted|predicted
        all=$((all + 1))
        line=$(echo "$2 $3 $4" | awk -v text="$1" -v how="$5" -v mark="$6" '{
                off = $2 == "" || $1 + 0 == 0 ? 999 : 100 * ($2 / $1 - 1)
                ok = off <= $3 && off >= -$3
                printf "%d  %-52s %12.6g %12.6g %+6.1f %% %4s %s%-2s %s, %s", ok, text, $1, $2, off, $3, "%", mark, ok ? "within" : "OUTSIDE", how }')
        within=$((within + ${line%% *}))
        echo "${line#?}"
}
range() { # text, published as text, obtained, least, most, fitted|predicted
        all=$((all + 1))
        line=$(echo "$3 $4 $5" | awk -v text="$1" -v said="$2" -v how="$6" -v mark="$7" '{
                ok = $1 != "" && $1 >= $2 && $1 <= $3
                printf "%d  %-52s %12s %12.4g %8s %9s %s, %s", ok, text, said, $1, "", $2 "-" $3 mark, ok ? "within" : "OUTSIDE", how }')
        within=$((within + ${line%% *}))
        echo "${line#?}"
}
holds() { # text, what was found (nothing = it holds)
        all=$((all + 1))
        if [ -z "$2" ]; then
                within=$((within + 1))
                printf '  %-72s yes\n' "$1"
        else
                printf '  %-72s NO\n' "$1"
                echo "$1: $2" >&2
        fi
}

heading 'S0  ioDrive against RAID 10'
s0=$studies/iodrive-vs-raid10
dbio sqlio study "$s0/sqlio.yaml" --label sqlio --set study.axes="{target.data: ['sim:pcie-ssd-iodrive80']}" --set 'phases.*.duration=2s'
row 'SQLIO 8K random reads/s, ioDrive (V7)' 65000 "$(figure 'sqlio/data=sim:pcie-ssd-iodrive80' read-8k read-8k read 'sum(iops)')" 5 fitted
row 'SQLIO 8K random writes/s, ioDrive (V8)' 46000 "$(figure 'sqlio/data=sim:pcie-ssd-iodrive80' write-8k write-8k write 'sum(iops)')" 5 fitted
dbio mixed-raid10 run "$s0/mixed-raid10.yaml" --target data=sim:raid10-15k-sas --label mixed-raid10
row 'RAID 10, 10,000 pages a minute: reads/s quiet (V1)' 3700 "$(around mixed-raid10 quiet iops)" 5 fitted
row 'RAID 10: reads/s under the checkpoint (V2)' 2000 "$(around mixed-raid10 affected iops)" 8 fitted
range 'RAID 10: p99 of the checkpoint'\''s writes, ms (V3)' 'very low' "$(figure mixed-raid10 reads-and-checkpoint checkpoint write 'max(service_p99_ns) / 1e6')" 0 1 predicted
dbio mixed-iodrive run "$s0/mixed-iodrive.yaml" --target data=sim:pcie-ssd-iodrive80 --label mixed-iodrive --interval 50ms
row 'ioDrive, 10,000 pages per 10 s: reads/s quiet (V4)' 42000 "$(around mixed-iodrive quiet iops)" 5 fitted
row 'ioDrive: reads/s under the checkpoint (V5)' 33000 "$(around mixed-iodrive affected iops)" 8 fitted
range 'ioDrive: read ms under the checkpoint (V5)' '<= 0.4' "$(around mixed-iodrive affected 'service_mean_ns / 1e6')" 0 0.4 predicted
range 'ioDrive: write ms of the checkpoint (V6)' 'about 1' "$(figure mixed-iodrive reads-and-checkpoint checkpoint write 'max(service_mean_ns) / 1e6')" 0.4 1.5 fitted
dbio access-paths study "$s0/access-paths.yaml" --label paths
row 'scan of 1,002,490 pages, s (V9)' 10.404 "$(figure 'paths/data=sim:pcie-ssd-iodrive80' scan scan read 'max(duration_ns) / 1e9')" 5 fitted
row 'lookup of 1,006,198 pages, s (V10)' 15.898 "$(figure 'paths/data=sim:pcie-ssd-iodrive80' lookup lookup read 'max(duration_ns) / 1e9')" 7 predicted
dbio fragmentation study "$s0/fragmentation.yaml" --label frag
scan_s() { figure "frag/data=sim:$1,layout=$2" scan scan read 'max(duration_ns) / 1e9'; }
turns='{grow: 1MiB, interleave: yes}'
row 'RAID 10: contiguous scan, s (V11)' 6.452 "$(scan_s raid10-15k-sas contiguous)" 10 fitted
row 'RAID 10: fragmented scan, s (V12)' 10.829 "$(scan_s raid10-15k-sas "$turns")" 10 predicted
range 'RAID 10: fragmented / contiguous (V12)' 1.678 "$(echo "$(scan_s raid10-15k-sas "$turns") $(scan_s raid10-15k-sas contiguous)" | awk '{ print $1 / $2 }')" 1.4 2.0 predicted
row 'ioDrive: fragmented / contiguous (V13)' 1.002 "$(echo "$(scan_s pcie-ssd-iodrive80 "$turns") $(scan_s pcie-ssd-iodrive80 contiguous)" | awk '{ print $1 / $2 }')" 1 predicted
holds 'the study says: contiguous is faster on disks, and no different on the SSD' \
        "$(grep -q 'raid10-15k-sas .*contiguous by' fragmentation.txt && grep -q 'iodrive80 .*no difference' fragmentation.txt || cat fragmentation.txt)"
dbio checkpoint run "$s0/checkpoint.yaml" --target data=sim:s0-checkpoint-volume --label checkpoint
episode() { sql "SELECT $2 FROM v_episode JOIN v_run USING (run_id) WHERE label = 'checkpoint' AND phase = '$1'"; }
row 'checkpoint, consecutive pages: MiB/s (V14)' 280.93 "$(episode consecutive mib_per_s)" 1 fitted
row '  writes for 1,572,070 pages' 97851 "$(episode consecutive writes)" 1 fitted
row '  ms' 43719 "$(episode consecutive '(end_ns - begin_ns) / 1e6')" 1 fitted
row 'checkpoint, every second page: MiB/s (V14)' 56.41 "$(episode every-second mib_per_s)" 1 fitted
row '  writes for 147,579 pages' 147573 "$(episode every-second writes)" 1 predicted
row '  ms' 20438 "$(episode every-second '(end_ns - begin_ns) / 1e6')" 1 fitted
dbio like-for-like study "$s0/like-for-like.yaml" --label like ${QUICK:+--set "phases.reads-and-checkpoint.duration=35s"}
holds 'like for like: one schedule hash on both devices' \
        "$(sql "SELECT 'hashes: ' || count(DISTINCT schedule_hash) || ' of runs ' || count(*) FROM v_run WHERE label LIKE 'like/%'
        HAVING count(DISTINCT schedule_hash) <> 1 OR count(*) <> 2")"
dbio like-compare compare like/raid10 like/iodrive
holds 'like for like: compare calls the demand the same' "$(grep -q 'demand *SAME' like-compare.txt || cat like-compare.txt)"
sed -n '/^VERDICT/,/^$/s/^/    /p' like-compare.txt

heading 'S1  bulk load scaling (Fibre Channel SAN, simulated)'
san='--target data=sim:fc-san#san --target source=sim:fc-san#san --target log=sim:fc-san#san'
# shellcheck disable=SC2086
dbio scaling study "$studies/bulk-load-scaling/scaling.yaml" $san --label scaling --set 'phases.*.duration=2s' \
        ${QUICK:+--set "study.axes={streams.load.threads: [$loaders]}"}
loaded() { figure "scaling/threads=$1" load load write 'sum(mib_per_s)'; }
row '64 loaders against 60' 1 "$(echo "$(loaded 64) $(loaded 60)" | awk '{ print $1 / $2 }')" 5 predicted '*'
# shellcheck disable=SC2086
dbio headroom study "$studies/bulk-load-scaling/headroom.yaml" $san --label headroom --set "phases.*.duration=$s"
row 'the load as it was, MB/s of writes' 333 "$(figure headroom/333MB/s load load write 'sum(bytes) * 1e3 / max(duration_ns)')" 5 predicted '*'
range 'headroom: the CPUs were the limit, not the storage' '> 1 x' "$(sql "SELECT holds / own FROM study WHERE label = 'headroom'")" 1.05 1000 predicted '*'
grep -h 'stops scaling\|still scales\|fit:' scaling.txt | tail -n 2
grep -h 'headroom [0-9.]* x' headroom.txt

heading 'S2  cluster size (RAID 1 of two SSDs, simulated)'
cluster=$studies/cluster-size.yaml
[ -z "$QUICK" ] || sed "s/depth: \[.*\]/depth: [$depths]/; s|schema=..|schema=../..|" "$cluster" > few.yaml
few=${QUICK:+few.yaml}
"$DBIO" study "$cluster" --target data=sim:raid1-sata-ssd --label length --dry-run > length.txt 2>&1
holds '7 x 5 x 3 runs of 300 s and 104 pauses: 8 h 54 min, said before it starts' "$(grep -q '105 cells, 105 runs, 8 h 54 min' length.txt || cat length.txt)"
dbio cluster-as-published study "${few:-$cluster}" --target data=sim:raid1-sata-ssd --label as-published --set "phases.*.duration=$ms"
dbio cluster-as-sqlserver study "${few:-$cluster}" --target data=sim:raid1-sata-ssd --label as-sqlserver --set "phases.*.duration=$ms" \
        --set 'streams.*.write_through=yes'
dbio cluster-grown study "${few:-$cluster}" --target data=sim:raid1-sata-ssd --label grown --set "phases.*.duration=$ms" \
        --set 'targets.data.layout={cluster: 4K, grow: 4K, interleave: yes}'
best() { # label, stream, kind, cluster
        sql "SELECT max(iops) FROM v_phase JOIN v_run USING (run_id) WHERE label LIKE '$1/%,cluster=$4' AND stream = '$2' AND kind = '$3'"
}
for stream in sequential-write-1k sequential-write-8k; do
        row "$stream: 4K against 64K clusters" 1 "$(echo "$(best as-published $stream write 4K) $(best as-published $stream write 64K)" | awk '{ print $1 / $2 }')" 1 predicted '*'
done
for run in cluster-as-published cluster-as-sqlserver; do
        holds "$run: nothing is split, and it says so" "$(grep -q 'in all runs: .*cluster size changed nothing: 0 split I/Os' $run.txt || cat $run.txt)"
done
holds 'grown in steps of 4K: 8K reads are two pieces on 4K clusters, one on 8K and 64K' \
        "$(grep -q 'random-read-8k *4K .*(2.000 pieces' cluster-grown.txt && grep -q 'random-read-8k *64K .*changed nothing' cluster-grown.txt || cat cluster-grown.txt)"
sed -n '/BEST OF EACH ROW/,/^$/p' cluster-grown.txt | head -n 13

heading 'S3  InnoDB concurrency (two SSDs five times apart, simulated)'
dbio innodb study "$studies/innodb-concurrency/innodb.yaml" --label innodb --set 'phases.*.duration=2s'
dbio myisam study "$studies/innodb-concurrency/myisam.yaml" --label myisam --set 'phases.read.duration=2s' \
        --set 'phases.read-heavy.duration=2s' --set "phases.half-and-half.duration=$minute"
reads() { figure "innodb/threads=$1,data=sim:$2#ssd" read reads read 'sum(iops)'; }
gain() { echo "$(reads "$1" nvme-gen3) $(reads "$1" sata-ssd)" | awk '{ print 100 * ($1 / $2 - 1) }'; }
range 'a five times faster SSD gains, 16 readers, %' '2-5 %' "$(gain 16)" 2 5 fitted
range 'a five times faster SSD gains, 32 readers, %' '2-5 %' "$(gain 32)" 2 5 predicted
holds 'it says where the device is not the limit' "$(grep -q 'The device is not the limit up to 64' innodb.txt || cat innodb.txt)"
consumer='--target data=sim:sata-ssd-consumer#ssd --target redo=sim:sata-ssd-consumer#ssd --target binlog=sim:sata-ssd-consumer#ssd'
# shellcheck disable=SC2086
dbio inserts run "$studies/innodb-concurrency/innodb.yaml" $consumer --set streams.redo.sessions=32 --label inserts --set 'phases.*.duration=2s'
range 'InnoDB inserts on a consumer SSD, 32 sessions, worst, ms' '8-19' "$(figure inserts insert redo commit 'max(response_max_ns) / 1e6')" 8 19 fitted
sed -n '/^  [a-z]/h; /The device is/{G; s/^ *\(.*\)\n *\(.*\)$/  \2: \1/p}' innodb.txt
dbio sessions study "$studies/innodb-concurrency/headroom.yaml" --label sessions --target data=sim:sata-ssd#ssd \
        --target redo=sim:sata-ssd#ssd --target binlog=sim:sata-ssd#ssd
grep -h 'headroom [0-9.]* x' sessions.txt

heading 'S4  limits of the host adapter (four FC ports)'
fixed='--target data=sim:fixed-5ms#san --target redo=sim:fixed-2ms#log'
# shellcheck disable=SC2086
dbio hba study "$studies/hba-limits/limits.yaml" $fixed --label hba ${QUICK:+--set 'phases.*.duration=5s'}
writes() { figure "hba/$1" peak dbwr write "$2"; }
log_sync() { figure "$1" peak lgwr commit 'max(response_mean_ns) / 1e6'; }
row 'write ms, 1,024 elements and 1 MiB' 9.5 "$(writes as-was 'max(response_mean_ns) / 1e6')" 5 fitted '*'
row '  of it waiting for an element' 4.5 "$(writes as-was 'max(wait_mean_ns) / 1e6')" 5 fitted '*'
row 'write ms, 4,096 elements and 16 MiB' 5 "$(writes as-tuned 'max(response_mean_ns) / 1e6')" 5 fitted '*'
row 'write IOPS, tuned / before' 1 "$(echo "$(writes as-tuned 'sum(iops)') $(writes as-was 'sum(iops)')" | awk '{ print $1 / $2 }')" 1 predicted '*'
row 'log file sync ms, 1,024 elements and 1 MiB' 3.92 "$(log_sync hba/as-was)" 5 fitted '*'
sed -n '/LIMITS/,/^$/p' hba.txt
# shellcheck disable=SC2086
dbio before run "$studies/hba-limits/before-upgrade.yaml" $fixed --label before-upgrade ${QUICK:+--set 'phases.*.duration=5s'}
row 'write ms before the CPU upgrade, same limits' 5 "$(figure before-upgrade peak dbwr write 'max(response_mean_ns) / 1e6')" 5 fitted '*'
row 'log file sync ms before the CPU upgrade' 2.97 "$(log_sync before-upgrade)" 5 fitted '*'
"$DBIO" compare hba/as-was hba/as-tuned > tuned.txt 2>&1
holds 'tuned: compare says that the writes got faster' "$(grep -q 'as-tuned is FASTER.*9\.[0-9]* -> 5.00 ms' tuned.txt || cat tuned.txt)"
"$DBIO" compare before-upgrade hba/as-was > changed.txt 2>&1
holds 'the workload changed: compare does not blame the storage' "$(grep -q 'VERDICT *none: the demand is NOT the same' changed.txt || cat changed.txt)"
if "$DBIO" help diff > /dev/null 2>&1; then
        "$DBIO" diff "$studies/hba-limits/before-upgrade.yaml" "$studies/hba-limits/limits.yaml" > diff.txt 2>&1
        holds 'nor does diff, without any run' "$(grep -q 'workload changed' diff.txt || cat diff.txt)"
fi
sed -n '/^VERDICT/,$s/^/  /p' changed.txt

printf '\nWhat is assumed, and what was not reproduced: configs/studies/README.md\n'
echo "$within of $all within gates"
[ "$within" = "$all" ]
