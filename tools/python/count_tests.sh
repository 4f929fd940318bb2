#!/usr/bin/env bash
# What a pytest log says: skipped tests by name, and the closing line "N passed, N failed[, N skipped]".
#   usage: count_tests.sh LOG STATUS      STATUS: pytest's exit status, which is returned
set -euo pipefail
log=$1 status=$2
sed -n '/^SKIPPED/p' "$log"
count() { sed -nE '$s/^(.*[^0-9])?([0-9]+) '"$1"'.*/\2/p' "$log"; }
passed=$(count passed) failed=$(count failed) errors=$(count error) skipped=$(count skipped)
failed=$((${failed:-0} + ${errors:-0}))
if [ "$status" -ne 0 ] && [ $failed -eq 0 ]; then failed=1; fi
echo "${passed:-0} passed, $failed failed${skipped:+, $skipped skipped}"
exit "$status"
