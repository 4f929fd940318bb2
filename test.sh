#!/usr/bin/env bash
# Installs what is missing, builds, and runs every C++ test. The last line counts them.
#   --python [...]  instead: the tests that need only torch (tools/python/run_tests.sh)
#   --serve [...]   instead: the tests against the real vLLM package (tools/serve/run_tests.sh --help)
set -euo pipefail
cd "$(dirname "$0")"

if [ "${1:-}" = --python ]; then exec tools/python/run_tests.sh "${@:2}"; fi
tools/install_packages.sh build
cmake --preset release > /dev/null
if [ "${1:-}" = --serve ]; then
  cmake --build build --target radiance_cli
  exec tools/serve/run_tests.sh "${@:2}"
fi
cmake --build build

log=build/ctest.log
status=0
ctest --test-dir build -j "$(nproc)" --output-on-failure --no-tests=error > "$log" 2>&1 || status=$?
# Failures in full, skipped tests by name, everything else as a count.
if [ $status -ne 0 ]; then cat "$log"; fi
grep -E '\*\*\*(Skipped|Not Run)|\(Skipped\)|\(Disabled\)' "$log" || true
passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed ' "$log" || true)
skipped=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*(\*\*\*Skipped|\*\*\*Not Run)' "$log" || true)
total=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: ' "$log" || true)
failed=$((total - passed - skipped))
if [ $status -ne 0 ] && [ $failed -eq 0 ]; then failed=1; fi
if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
exit $status
