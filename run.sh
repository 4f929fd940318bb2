#!/usr/bin/env bash
# Installs what is missing, builds, and does the main job on a real checkpoint's first layer:
# inspects it, gates its layers and the kernels, and measures them.
set -euo pipefail
cd "$(dirname "$0")"

tools/install_packages.sh build
cmake --preset release > /dev/null
cmake --build build
radiance=build/cli/radiance

for checkpoint in tests/data/smollm2-135m-instruct-layer0-g128 \
                  tests/data/smollm2-135m-instruct-layer0-g64; do
  echo "== $checkpoint"
  $radiance inspect "$checkpoint"
  $radiance gate --model "$checkpoint"
done
echo "== the gate"
$radiance gate
echo "== the bench (for all of it: $radiance bench)"
$radiance bench --shapes gate_up,out --m 1,4,16,64 --scope op --samples 5 --row-seconds 4
