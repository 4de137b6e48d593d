#!/bin/sh
# Runs every fuzz target of a folder for FUZZ_SECONDS each, from its corpus; what fails is left beside the target.
set -u
folder=${1:?folder of the fuzz targets}
code=0
for program in "$folder"/fuzz_*; do
        [ -x "$program" ] && [ -f "$program" ] || continue
        case $program in *.[od]) continue ;; esac
        name=$(basename "$program")
        found=$folder/corpus_${name#fuzz_}
        dict=tests/corpus/${name#fuzz_}.dict
        mkdir -p "$found"
        echo "== $name"
        "$program" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
                -artifact_prefix="$folder/$name-" $([ -f "$dict" ] && echo "-dict=$dict") "$found" "tests/corpus/${name#fuzz_}" \
                $(case $name in fuzz_workload) echo tests/bad configs ;; esac) 2> "$folder/$name.log" || code=1
        grep -E 'stat::number_of_executed|SUMMARY|ERROR' "$folder/$name.log"
done
exit $code
