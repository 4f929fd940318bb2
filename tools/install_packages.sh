#!/usr/bin/env bash
# Installs what is missing of the Debian packages that a task needs.
#   usage: install_packages.sh build|python|lint|cache|fuzz|serve...
set -euo pipefail

packages=()
for task in "$@"; do
  case $task in
    build) packages+=(g++ cmake ninja-build pkg-config git ca-certificates binutils
             nlohmann-json3-dev libcli11-dev libfmt-dev libgtest-dev libgmock-dev
             # gfx1201 kernels; libllvm22, the disassembler, comes with them
             clang-22 lld-22
             # the tests: a bundle of code objects, differential fuzzing
             clang-tools-22 llvm-22 python3) ;;
    # torch.compile builds its own C++ against Python.h; a processor without AVX2
    python) packages+=(g++ binutils python3-venv python3-dev qemu-user) ;;
    lint) packages+=(clang-format-22 clang-tidy-22 clang-tools-22 python3) ;;
    cache) packages+=(ccache) ;;
    fuzz) packages+=(clang-22 libclang-rt-22-dev) ;;
    # vLLM's CPU build; torch.compile builds C++ with Python's headers
    serve) packages+=(python3 python3-venv python3-dev libnuma1) ;;
    *) echo "install_packages.sh: no task is called \"$task\"" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
    missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || {
    echo "these packages are missing and this user cannot install them: ${missing[*]}" >&2
    exit 2
  }
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" > /dev/null
