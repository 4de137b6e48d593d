#!/bin/sh
# kill -9 at random moments, KILLS times (200): the database stays whole, the run stays listed with its figures, and at
# most the last two intervals and the running one are missing. Then a full disk under the database, and two runs on one database.
set -u
kills=${KILLS:-200}
dbio=${DBIO:?}
work=$(mktemp -d "${TMPDIR:-/tmp}/dbio-kills.XXXXXX")
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$work"' EXIT
cd "$work" || exit 1
cat > w.yaml <<'Y'
name: kills
targets: {data: {size: 16MiB}}
streams: {reads: {pattern: io.random, target: data, read: 90%, depth: 4}}
phases: [{name: p, duration: 30s}]
Y
bad=0
say() { echo "not ok - $*"; bad=$((bad + 1)); }
sql() { sqlite3 -noheader -separator ' ' k.db "$1"; }
"$dbio" run w.yaml --target data=d --create --db k.db --duration 300ms --quiet > /dev/null 2>&1
i=0
while [ $i -lt "$kills" ]; do
        i=$((i + 1))
        began=$(date +%s%N)
        "$dbio" run w.yaml --target data=d --db k.db --interval 50ms --quiet > /dev/null 2>&1 &
        pid=$!
        sleep "$(awk -v seed=$i 'BEGIN { srand(seed * 7919); printf "%.3f", 0.05 + rand() * 2.5 }')"
        kill -KILL $pid 2> /dev/null
        wait $pid 2> /dev/null
        lived=$((($(date +%s%N) - began) / 1000000))
        [ "$(sql 'PRAGMA integrity_check')" = ok ] || say "kill $i: integrity"
        # Committed once a second: what is readable reaches to the last commit, so at most 1 s and two intervals are missing
        # of what ran; starting up takes its part of the life too.
        # shellcheck disable=SC2046
        set -- $(sql "SELECT run_id, coalesce((SELECT max(t_ns + interval_ns) / 1000000 FROM v_series s WHERE s.run_id = r.run_id), 0)
                FROM v_run r ORDER BY run_id DESC LIMIT 1")
        if [ $# = 2 ] && [ $((lived - $2)) -gt 2000 ]; then say "kill $i: lived $lived ms, figures to $2 ms"; fi
        "$dbio" show --db k.db > /dev/null 2> err || { [ "$lived" -lt 400 ] || say "kill $i: show: $(cat err)"; }
done
echo "$kills kills: $(sql 'SELECT count(*) FROM v_run') runs listed, $bad faults"

if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=400k tmpfs full 2> /dev/null; then
        mounted=$work/full
        timeout 60 "$dbio" run w.yaml --target data=d --db full/k.db --interval 10ms --intervals full --duration 8s --quiet > out 2> err
        code=$?
        [ $code = 4 ] || [ $code = 0 ] || say "full disk: exit $code"
        [ $code = 0 ] || grep -q 'error: ' err || say "full disk: no message"
        umount full && mounted=
        echo "full disk under the database: exit $code: $(head -n 1 err)"
fi
"$dbio" run w.yaml --target data=d --db two.db --duration 3s --quiet --label one > /dev/null 2> err1 &
one=$!
"$dbio" run w.yaml --engine null --db two.db --duration 3s --quiet --label two > /dev/null 2> err2
code=$?
wait $one
code1=$?
case "$code$code1" in *[!06]*) say "two runs on one database: exit $code1 and $code: $(cat err1 err2)" ;; esac
[ "$(sqlite3 two.db "SELECT count(*) FROM v_run WHERE status = 'complete'")" = 2 ] || say 'two runs on one database: not both complete'
[ "$(sqlite3 two.db 'PRAGMA integrity_check')" = ok ] || say 'two runs on one database: integrity'
[ $bad = 0 ] && echo 'all held'
[ $bad = 0 ]
