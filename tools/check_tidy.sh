#!/usr/bin/env bash
# clang-tidy on the library, the lab and the command, with the compile commands of build/.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files 'numerics/*.cpp' 'runtime/*.cpp' 'kernels/*.cpp' 'linear/*.cpp' \
  'checkpoint/*.cpp' 'lab/*.cpp' 'cli/*.cpp' 'census/*.cpp' \
  'disasm/*.cpp' 'emulator/*.cpp' 'python/*.cpp')
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 4 clang-tidy-22 -p build --quiet --warnings-as-errors='*' 2>/dev/null
echo "${#files[@]} files checked"
