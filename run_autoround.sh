#!/usr/bin/env bash
# Serves an int4 checkpoint folder through vLLM's OpenAI server with this library's kernels: builds what is missing,
# looks at the machine, chooses the settings that the device needs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'USAGE'
usage: run_autoround.sh [option ...] CHECKPOINT [-- vLLM option ...]

Serves the folder CHECKPOINT (AutoRound auto_round:auto_gptq or GPTQ, int4, symmetric) at http://HOST:PORT/v1.

  --device cpu|r9700|h200   where it runs (default: the GPU that is here, else the processor)
  --port N, --host H        default 8000 and 127.0.0.1
  --tp N                    GPUs the model is divided over (default: 1)
  --max-len N               longest sequence, in tokens (default: 8192 on a processor, else the model's own)
  --mtp N                   speculate N tokens with the checkpoint's own layer for multi-token prediction
  --drafter DIR --draft N   speculate N tokens with a draft model (default: 4)
  --check N:K,...           also compute layers of these shapes exactly, and log the difference (slow)
  --venv DIR                Python environment with vLLM (default: .venv-serve on a processor, made if it is missing;
                            on a GPU the python3 in PATH, whose vLLM and torch are for that GPU)
  -h, --help

What follows -- goes to vLLM as it is, also its other speculative settings (--speculative-config). With speculation the
accepted tokens of a draft are printed every ten seconds. DRY_RUN=1 prints the command and starts nothing, also where
the device is missing.
USAGE
}

fail() { echo "run_autoround.sh: $*" >&2; exit 2; }
number() { [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 $2: not a positive number"; }

device='' port=8000 host=127.0.0.1 tp=1 max_len='' mtp='' drafter='' draft=4 check='' venv='' checkpoint=''
passed=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --device | --port | --host | --tp | --max-len | --mtp | --drafter | --draft | --check | --venv)
      (($# >= 2)) || fail "$1 needs a value"
      name=${1#--}
      printf -v "${name//-/_}" %s "$2"
      shift ;;
    --) shift; passed=("$@"); break ;;
    -*) usage >&2; fail "there is no option $1" ;;
    *) [[ -z $checkpoint ]] || fail "one checkpoint, not two: $checkpoint and $1"; checkpoint=$1 ;;
  esac
  shift
done
[[ -n $checkpoint ]] || { usage >&2; exit 2; }
[[ -f $checkpoint/config.json ]] || fail "$checkpoint: no folder with a config.json"
number --port "$port"; number --tp "$tp"; number --draft "$draft"
[[ -z $max_len ]] || number --max-len "$max_len"
[[ -z $mtp ]] || number --mtp "$mtp"
[[ -z $mtp || -z $drafter ]] || fail "--mtp and --drafter: one of them"
[[ -z $drafter || -f $drafter/config.json ]] || fail "$drafter: no folder with a config.json"
weight_mib=$(du -cmL "$checkpoint"/*.safetensors 2> /dev/null | tail -n 1 | cut -f 1)
[[ ${weight_mib:-0} -gt 0 ]] || fail "$checkpoint holds no .safetensors file"

# ---- the machine ----

# What this host lacks: the end, except for DRY_RUN, which shows what another host would be given.
unfit() {
  [[ -n ${DRY_RUN:-} && ${DRY_RUN:-} != 0 ]] || fail "$@"
  echo "run_autoround.sh: would stop here: $*" >&2
}
has_nvidia() { command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=name --format=csv,noheader > /dev/null 2>&1; }
has_amd() { [[ -e /dev/kfd ]] && compgen -G '/sys/class/kfd/kfd/topology/nodes/*/properties' > /dev/null; }
if [[ -z $device ]]; then
  if has_nvidia; then device=h200; elif has_amd; then device=r9700; else device=cpu; fi
fi

check_nvidia() {
  has_nvidia || { unfit "no NVIDIA GPU or no driver: nvidia-smi finds none"; return 0; }
  local index name capability driver free
  while IFS=, read -r index name capability driver free; do
    ((index < tp)) || continue
    echo "GPU $index:$name, compute capability$capability, driver$driver,$free MiB free"
    [[ ${capability// /} == 9.0 ]] || unfit "GPU $index has compute capability$capability; the kernels are for 9.0 (Hopper)"
    ((free > weight_mib / tp + 2048)) ||
      unfit "GPU $index has$free MiB free; its part of the weights takes $((weight_mib / tp)), and 2048 are needed beside it"
  done < <(nvidia-smi --query-gpu=index,name,compute_cap,driver_version,memory.free --format=csv,noheader,nounits)
  (($(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l) >= tp)) || unfit "--tp $tp: there are fewer GPUs"
}

check_amd() {
  has_amd || { unfit "no AMD GPU or no driver: /dev/kfd is missing"; return 0; }
  [[ -r /dev/kfd && -w /dev/kfd ]] || unfit "/dev/kfd may not be opened by $(id -un): join the groups render and video"
  local found=0 card used total properties
  for properties in /sys/class/kfd/kfd/topology/nodes/*/properties; do
    grep -q '^gfx_target_version 120001$' "$properties" && found=$((found + 1))
  done
  ((found >= tp)) || unfit "$found GPUs are gfx1201 (R9700, RX 9070), $tp are needed"
  for card in /sys/class/drm/card*/device/mem_info_vram_total; do
    [[ -e $card ]] || continue
    total=$(($(< "$card") >> 20)) used=$(($(< "${card%total}used") >> 20))
    echo "${card%/device*}: $((total - used)) of $total MiB free"
    ((total - used > weight_mib / tp + 2048)) || ((total < 4096)) ||
      unfit "${card%/device*} has $((total - used)) MiB free; its part of the weights takes $((weight_mib / tp)), and 2048 are needed beside it"
  done
}

check_cpu() {
  local free
  grep -qw avx2 /proc/cpuinfo || echo "this processor has no AVX2: the portable kernels are slow"
  free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  echo "$(nproc) processors, $free MiB of memory free"
  # The weights as they are loaded and as they are packed, and what Python and torch take.
  ((free > 2 * weight_mib + 4096)) || unfit "$free MiB of memory are free; $((2 * weight_mib + 4096)) are needed"
}

environment=() arguments=(--host "$host" --port "$port" --tensor-parallel-size "$tp")
# vLLM checks for tensors that are missing in float models only, unless it is told to.
arguments+=(--model-loader-extra-config '{"enable_weights_track": true}')
case $device in
  cpu)
    ((tp == 1)) || fail "--tp $tp: a processor is one device"
    check_cpu
    venv=${venv:-$root/.venv-serve}
    # No thread is bound: vLLM's own binding keeps a core for itself. OpenMP's threads sleep when they have nothing to
    # do: spinning, they keep the library's from their cores (decode ran at a quarter of the rate). 4 GiB of cache.
    environment+=(VLLM_CPU_OMP_THREADS_BIND=nobind OMP_WAIT_POLICY=PASSIVE "VLLM_CPU_KVCACHE_SPACE=${VLLM_CPU_KVCACHE_SPACE:-4}")
    arguments+=(--max-model-len "${max_len:-8192}") ;;
  h200)
    check_nvidia
    [[ -z $max_len ]] || arguments+=(--max-model-len "$max_len")
    arguments+=(--gpu-memory-utilization 0.9) ;;
  r9700)
    check_amd
    # 32 GB a card: most of what the weights leave is for the cache.
    [[ -z $max_len ]] || arguments+=(--max-model-len "$max_len")
    arguments+=(--gpu-memory-utilization 0.95) ;;
  *) fail "--device $device: known are cpu, r9700 and h200" ;;
esac
[[ -z $check ]] || environment+=("RADIANCE_CHECK=$check")

# A JSON string: quotes and backslashes in a path would end it early.
quoted() { local text=${1//\\/\\\\}; printf '"%s"' "${text//\"/\\\"}"; }
speculates=false
if [[ -n $mtp ]]; then
  arguments+=(--speculative-config "{\"method\": \"mtp\", \"num_speculative_tokens\": $mtp}")
  speculates=true
elif [[ -n $drafter ]]; then
  arguments+=(--speculative-config "{\"model\": $(quoted "$drafter"), \"num_speculative_tokens\": $draft}")
  speculates=true
elif [[ " ${passed[*]-} " == *" --speculative-config"* ]]; then
  speculates=true
fi

python=python3
[[ -z $venv ]] || python=$venv/bin/python
command=("$python" -m vllm.entrypoints.openai.api_server --model "$checkpoint" "${arguments[@]}"
         ${passed[@]+"${passed[@]}"})

if [[ -n ${DRY_RUN:-} && ${DRY_RUN:-} != 0 ]]; then
  printf '%s ' ${environment[@]+"${environment[@]}"}
  printf '%q ' "${command[@]}"
  echo
  exit 0
fi

# ---- build and serve ----

if [[ $device == cpu && $venv == "$root/.venv-serve" ]]; then "$root/tools/serve/make_venv.sh" "$venv"; fi
"$python" -c 'import vllm' 2> /dev/null || fail "$python has no vLLM"
"$python" -c 'import radiance_autoround' 2> /dev/null || "$python" -m pip install --quiet --no-deps "$root"

if ! $speculates; then exec env ${environment[@]+"${environment[@]}"} "${command[@]}"; fi
env ${environment[@]+"${environment[@]}"} "${command[@]}" &
server=$!
"$python" "$root/tools/serve/accepted_tokens.py" --url "http://$host:$port" --pid "$server" &
watcher=$!
# Both run in the background: a shell that waits for a command in the foreground would keep a signal until that ends.
runs() { kill -0 "$1" 2> /dev/null; }
stop() { if kill -TERM "$1" 2> /dev/null; then :; fi; }  # it may have ended
trap 'stop "$server"' INT TERM
status=0
while runs "$server"; do
  status=0
  wait "$server" || status=$?
done
stop "$watcher"
exit "$status"
