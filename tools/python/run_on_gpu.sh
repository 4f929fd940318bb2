#!/usr/bin/env bash
# Builds libradiance with the kernels of this machine's GPU and runs the Python tests on it, with the Python that is
# here: nothing is downloaded or installed. The last line counts the tests.
#   usage: run_on_gpu.sh [pytest option ...]
#     PYTHON=...             another interpreter than python3
#     RADIANCE_LIBRARY=...   a library that is built already
#   results: build/gpu-tests.log and build/gpu-python.json
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
python=${PYTHON:-python3}

missing=() tools=()
[ -n "${RADIANCE_LIBRARY:-}" ] || tools=(cmake ninja c++)
for tool in ${tools[@]+"${tools[@]}"}; do command -v "$tool" > /dev/null || missing+=("$tool"); done
for module in torch pytest numpy safetensors transformers; do
  "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)" ||
    missing+=("Python's $module")
done
if [ ${#missing[@]} -gt 0 ]; then
  (IFS=,; echo "run_on_gpu.sh: missing here:${missing[*]/#/ }" >&2)
  exit 2
fi
"$python" - <<'PYTHON'
import sys, torch, transformers
if not torch.cuda.is_available():
    sys.exit(f"run_on_gpu.sh: torch {torch.__version__} sees no GPU")
print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.cuda.get_device_name(0)}")
PYTHON

mkdir -p build
if [ -z "${RADIANCE_LIBRARY:-}" ]; then
  export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  {
    cmake -S . -B build/gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DRADIANCE_PYTHON=ON -DRADIANCE_TESTS=OFF &&
      cmake --build build/gpu
  } > build/gpu-build.log 2>&1 || { tail -n 40 build/gpu-build.log; exit 1; }
  RADIANCE_LIBRARY=$PWD/build/gpu/linear/libradiance.so.1
fi
export RADIANCE_LIBRARY PYTHONPATH=$PWD/python

log=build/gpu-tests.log
status=0
"$python" -m pytest -q -ra -p no:cacheprovider --durations=5 --ignore tests/python/vllm --ignore tests/python/serve \
  --junitxml build/gpu-tests.xml -k 'cuda or gpu' tests/python "$@" > "$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then tail -c 9000 "$log"; else tail -n 8 "$log"; fi
"$python" tools/python/op_overhead.py --device cuda --seconds 1.5 --json build/gpu-op-overhead.json || status=1
"$python" tools/python/gpu_report.py build/gpu-tests.xml build/gpu-op-overhead.json build/gpu-python.json
exec tools/python/count_tests.sh "$log" $status
