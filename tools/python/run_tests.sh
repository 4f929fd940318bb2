#!/usr/bin/env bash
# The tests of the torch operators: `./test.sh --python`. Makes the wheel and a virtual environment (5 GB) in build/,
# installs the one into the other, and runs tests/python on it. The last line counts the tests.
#   usage: run_tests.sh [--venv FOLDER] [pytest option ...]
# --venv: an environment that has what requirements.txt lists already, as that of `./test.sh --serve` has.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

tools/install_packages.sh build python
venv=build/venv-python-tests
if [ "${1:-}" = --venv ]; then
  venv=$2
  shift 2
# The mark holds the requirements it was made from: other pins make it anew.
elif ! cmp -s "$here/requirements.txt" "$venv/requirements-installed.txt"; then
  echo "making $venv"
  /usr/bin/python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/requirements-installed.txt"
fi
wheel=$(PYTHON=$venv/bin/python tools/python/make_wheel.sh build/wheels)
"$venv/bin/python" -m pip install --quiet --no-deps --force-reinstall "$wheel"

log=build/python-tests.log
status=0
# The package is the installed one, not the folder's.
env -u PYTHONPATH -u RADIANCE_LIBRARY RADIANCE_WHEEL="$wheel" \
  "$venv/bin/python" -m pytest -q -ra -p no:cacheprovider --ignore tests/python/vllm tests/python "$@" \
  > "$log" 2>&1 || status=$?
if [ $status -ne 0 ]; then cat "$log"; fi
exec tools/python/count_tests.sh "$log" $status
