#!/usr/bin/env bash
# clang-format on all our sources; --fix rewrites them.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.h' '*.c')
if [ "${1:-}" = --fix ]; then
  clang-format-22 -i "${files[@]}"
else
  clang-format-22 --dry-run -Werror "${files[@]}"
fi
echo "${#files[@]} files formatted"
