#!/usr/bin/env bash
# Measures our cpu library beside llama.cpp's ggml and oneDNN in one loop, and writes the result.
#   usage: run.sh OUT.json [--shapes gate_up,down,out] [--m 1,2,4,8,16,64,512] [--samples N]
#                 [--threads 2] [--only NAMES] [--work DIR] [more of rivals --help]
# What it fetches and builds stays in --work (default build-rivals/ of the repository), so that a
# second run starts at once.
set -euo pipefail

llama_cpp_python=0.3.36  # carries llama.cpp's sources, ggml 0.25
onednn=2023.2.0          # oneDNN 3.2, the newest that is packaged with OpenMP threads

case ${1:--} in -*) sed -n 2,6p "$0" | cut -c3- >&2; exit 2 ;; esac
out=$(realpath -m "$1")
command="tools/rivals/run.sh $(basename "$1")"
shift
here=$(dirname "$(realpath "$0")")
repository=$(realpath "$here/../..")
work=$repository/build-rivals
options=()
while [ $# -gt 0 ]; do
  if [ "$1" = --work ]; then work=$(realpath -m "$2"); shift 2; continue; fi
  options+=("$1")
  command+=" $1"
  shift
done
mkdir -p "$work"

"$repository/tools/install_packages.sh" build
python3 -c 'import ensurepip' 2> /dev/null || {
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    python3 python3-venv > /dev/null
}

# Runs a step quietly; its output is shown when it fails.
quietly() {
  "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; echo "failed: $*" >&2; exit 2; }
}

venv=$work/venv
pip=("$venv/bin/pip" --disable-pip-version-check)
[ -x "$venv/bin/pip" ] || quietly python3 -m venv "$venv"
[ -f "$work/onednn-$onednn" ] || {
  echo "fetching oneDNN ($onednn)"
  quietly "${pip[@]}" install --no-deps onednn-cpu-gomp==$onednn onednn-devel-cpu-gomp==$onednn
  touch "$work/onednn-$onednn"
}
sources=$work/llama_cpp_python-$llama_cpp_python
[ -f "$sources/complete" ] || {
  echo "fetching llama.cpp's sources (llama-cpp-python $llama_cpp_python)"
  quietly "${pip[@]}" download --no-deps --no-binary llama-cpp-python -d "$work" \
    llama-cpp-python==$llama_cpp_python
  quietly tar -xzf "$sources.tar.gz" -C "$work" --wildcards '*/vendor/llama.cpp/ggml/*'
  touch "$sources/complete"
}

echo "building radiance"
quietly cmake -S "$repository" -B "$work/radiance" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DRADIANCE_TESTS=OFF
quietly cmake --build "$work/radiance" --target radiance --parallel "$(nproc)"
quietly cmake --install "$work/radiance/linear" --prefix "$work/prefix"

has() { grep -q -w -m 1 "$1" /proc/cpuinfo; }
# build NAME OPTION...: the program with a ggml of these options, the others as llama.cpp sets them.
build() {
  local name=$1
  shift
  echo "building ggml and the program ($name)"
  quietly cmake -S "$here" -B "$work/$name" -G Ninja \
    -DGGML_SOURCE="$sources/vendor/llama.cpp/ggml" \
    -DLLAMA_CPP_PYTHON=$llama_cpp_python -DCMAKE_PREFIX_PATH="$work/prefix;$venv" \
    -DGGML_LLAMAFILE=ON -DGGML_OPENMP="${GGML_OPENMP:-ON}" -DGGML_CPU_REPACK=ON -DGGML_CCACHE=OFF "$@"
  quietly cmake --build "$work/$name" --target rivals --parallel "$(nproc)"
}
build native -DGGML_NATIVE=ON
if has amx_bf16; then
  flags=()
  for feature in avx_vnni:AVX_VNNI avx512f:AVX512 avx512vbmi:AVX512_VBMI avx512_vnni:AVX512_VNNI \
                 avx512_bf16:AVX512_BF16; do
    has "${feature%:*}" && flags+=("-DGGML_${feature#*:}=ON")
  done
  build noamx -DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON \
    -DGGML_F16C=ON -DGGML_BMI2=ON -DCMAKE_C_FLAGS=-mtune=native -DCMAKE_CXX_FLAGS=-mtune=native \
    "${flags[@]}"
fi

# OpenMP's workers go on spinning after a call for up to 15 ms, into what others do next; 30000
# turns are one or two, and longer than any pause between calls of a sample.
export GOMP_SPINCOUNT=30000
# Large pages for what the rivals allocate, as our library asks for by itself.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
result=$work/result.json
rm -f "$result"
status=0
run() {
  local name=$1
  shift
  "$work/$name/rivals" --json "$result" --command "$command" "$@" "${options[@]}" || status=$?
  [ $status -le 1 ] || exit $status
}
if has amx_bf16; then
  run native --device cpu:amx
  ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 run noamx --device cpu:avx512
else
  run native --device cpu
fi
cp "$result" "$out.tmp"
mv "$out.tmp" "$out"
exit $status
