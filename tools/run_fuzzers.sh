#!/usr/bin/env bash
# Builds the libFuzzer targets and runs each for a while on its kept corpus.
#   usage: run_fuzzers.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
tools/install_packages.sh build fuzz
cmake --preset fuzz > /dev/null
mapfile -t targets < <(sed -nE 's/^radiance_fuzzer\(([a-z0-9_]+).*/\1/p' tests/fuzz/CMakeLists.txt)
[ ${#targets[@]} -gt 0 ] || { echo "tests/fuzz names no fuzzer" >&2; exit 1; }
for target in "${targets[@]}"; do
  cmake --build build-fuzz --target "fuzz_$target" > build-fuzz/build.log 2>&1 ||
    { tail -n 50 build-fuzz/build.log; exit 1; }
  found=build-fuzz/corpus/$target
  mkdir -p "$found"
  # New inputs go to the build folder; what is worth keeping is copied to tests/fuzz/corpus by hand.
  build-fuzz/tests/fuzz/fuzz_"$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -artifact_prefix=build-fuzz/ -print_final_stats=1 "$found" tests/fuzz/corpus/"$target" \
    > build-fuzz/"$target".log 2>&1 || { tail -n 60 build-fuzz/"$target".log; exit 1; }
  echo "$target: $(grep -E 'number_of_executed_units' build-fuzz/"$target".log | tr -s ' ')"
done
