#!/bin/sh
# Runs test programs (Check suites writing TAP) and shell tests (*.test, TAP on stdout); ends with one line of counts.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/dbio-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
export DBIO_WORK="$work"
passed=0 failed=0 skipped=0
for test; do
        if [ ! -e "$test" ]; then
                echo "FAIL $test: not there"
                failed=$((failed + 1))
                continue
        fi
        name=$(basename "$test")
        tap=$work/$name.tap log=$work/$name.log
        : > "$tap"
        case $test in
        *.test) sh "$test" > "$tap" 2> "$log" ;;
        *) CK_TAP_LOG_FILE_NAME=$tap CK_VERBOSITY=silent DBIO_SKIPS=$work/$name.skips "$test" > "$log" 2>&1 ;;
        esac
        code=$?
        ok=$(grep -c '^ok' "$tap")
        bad=$(grep -c '^not ok' "$tap")
        skip=$(($(grep -c '^ok.*# SKIP' "$tap") + $(cat "$work/$name.skips" 2>/dev/null | wc -l)))
        if [ "$bad" -gt 0 ] || [ "$code" -ne 0 ] || [ "$ok" -eq 0 ]; then
                [ "$bad" -gt 0 ] || bad=1
                echo "FAIL $name: $bad failed, exit $code"
                grep '^not ok' "$tap"
                tail -n 30 "$log"
        else
                echo "ok   $name: $((ok - skip))${skip:+, $skip skipped}"
        fi
        grep '^ok.*# SKIP' "$tap" | sed 's/^/     /'
        cat "$work/$name.skips" 2>/dev/null | sed 's/^/     skipped: /'
        passed=$((passed + ok - skip)) failed=$((failed + bad)) skipped=$((skipped + skip))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
