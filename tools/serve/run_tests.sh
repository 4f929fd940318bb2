#!/usr/bin/env bash
# The tests against the real vLLM package: `./test.sh --serve`. The last line counts them.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: run_tests.sh [--quick] [MODELS] [-- pytest option ...]

Makes .venv-serve (tools/serve/make_venv.sh) and, unless MODELS names a folder of tools/make_checkpoint's, the models
in build/serve-models (tools/serve/make_models.sh), and runs tests/python/vllm. --quick serves one of the two int4
models. The library and the command must be built.
USAGE
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
models='' selection=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --quick) selection=(-k 'not smollm2-g128 and not without_speculation') ;;
    --) shift; break ;;
    -*) usage >&2; exit 2 ;;
    *) models=$1 ;;
  esac
  shift
done
venv=${SERVE_VENV:-$root/.venv-serve}
tools/serve/make_venv.sh "$venv"
if [ -z "$models" ]; then
  models=build/serve-models
  tools/serve/make_models.sh "$models" "$venv"
fi

log=build/serve-tests.log
status=0
# The package is the installed one, not the folder's.
env -u PYTHONPATH -u RADIANCE_LIBRARY "$venv/bin/python" -m pytest -q -ra -p no:cacheprovider tests/python/vllm --models "$(realpath "$models")" \
  ${selection[@]+"${selection[@]}"} "$@" > "$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then cat "$log"; fi
exec tools/python/count_tests.sh "$log" $status
