#!/usr/bin/env bash
# Makes the wheel of the Python package in FOLDER, build/wheels if none is given, and prints its name.
#   usage: make_wheel.sh [FOLDER] [pip option ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-build/wheels}
[ $# -eq 0 ] || shift
mkdir -p "$folder"
rm -f "$folder"/radiance_autoround-*.whl
"${PYTHON:-/usr/bin/python3}" -m pip wheel --quiet --no-deps --wheel-dir "$folder" "$@" . >&2
realpath "$folder"/radiance_autoround-*.whl
