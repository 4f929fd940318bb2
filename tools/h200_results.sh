#!/usr/bin/env bash
# Records docs/results/h200-*.json on a machine with a Hopper GPU, printing as it goes.
#
#   h200_results.sh bench|check|all [FOLDER]
#
# bench: every shape and M beside cuBLASLt, and AutoRound beside MXFP4 (about two minutes).
# check: the gate, and compute-sanitizer over the gate's small suites (about a minute).
# all: first the gate, last what is least missed should time run out.
# FOLDER: where the files go (docs/results). RADIANCE names the command (build/cli/radiance),
# RADIANCE_LINES one that was built with -DRADIANCE_CUDA_LINE_INFO=ON, for the sanitizer.
# Afterwards: tools/tables.py, and tools/roofline.py docs/results/h200-bench.json docs/roofline-h200.svg
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
what=${1:-all}
folder=${2:-$here/../docs/results}
radiance=${RADIANCE:-$here/../build/cli/radiance}
lines=${RADIANCE_LINES:-$radiance}
case $what in bench | check | all) ;; *)
  echo "h200_results.sh: bench, check or all, not $what" >&2
  exit 2
  ;;
esac
[ -x "$radiance" ] || { echo "h200_results.sh: no $radiance (RADIANCE=...)" >&2; exit 2; }
mkdir -p "$folder"

# Where a CUDA toolkit or a Python package keeps cuBLASLt, for the loader.
for library in /usr/local/cuda*/lib64/libcublasLt.so.1[23] \
  "$(python3 -c 'import nvidia, glob; print(*glob.glob(list(nvidia.__path__)[0] + "/*/lib/libcublasLt.so.1[23]"))' \
    2> /dev/null | cut -d' ' -f1)"; do
  [ -e "$library" ] || continue
  LD_LIBRARY_PATH=$(dirname "$library")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
  break
done

shapes=(gate_up down out 34816x5120 5120x17408 14336x5120 16384x5120 5120x6144 5120x3072)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
run() {
  local start=$SECONDS
  echo "== $*"
  "$@" || status=1
  echo "== $((SECONDS - start)) s"
}

# A process a shape: one whose kernel fails takes nothing of the others with it.
bench_all() {
  local parts=() shape
  for shape in "${shapes[@]}"; do
    parts+=("$scratch/$shape.json")
    "$radiance" bench --device cuda:0 --rivals --verbose --shapes "$shape" --samples 11 \
      --m between,256,512,1024,2048,4096,8192 --scope both --json "${parts[-1]}" |
      grep -E "^$shape .* M=|^cuda|^radiance" || status=1
  done
  python3 "$here/merge_results.py" "$folder/h200-bench.json" "${parts[@]}"
}

if [ "$what" != bench ]; then
  run "$radiance" gate --device cuda:0 --json "$folder/h200-gate.json"
fi
if [ "$what" != check ]; then
  run bench_all
fi
if [ "$what" != bench ]; then
  run python3 "$here/sanitize_sm90.py" --radiance "$lines" --seconds 20 --json "$folder/h200-sanitizer.json"
fi
if [ "$what" != check ]; then
  run "$radiance" compare --device cuda:0 --m 1,8,16,32,64,128,256,2048 --scope gemm --samples 11 \
    --json "$folder/h200-compare.json"
fi
exit $status
