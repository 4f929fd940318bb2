#!/usr/bin/env bash
# Puts CUDA's disassembler (cuobjdump, which calls nvdisasm), from PyPI, into FOLDER, where CUDA's
# compiler came without it.
#   usage: install_cuobjdump.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: install_cuobjdump.sh FOLDER" >&2; exit 2; }
path=$PATH:/usr/local/cuda/bin
PATH=$path command -v nvcc > /dev/null || { echo "no nvcc here: nothing to disassemble"; exit 0; }
PATH=$path command -v cuobjdump > /dev/null && exit 0
ls "$1"/lib/python3*/site-packages/nvidia/*/bin/cuobjdump > /dev/null 2>&1 && exit 0
python3 -m venv "$1"
"$1/bin/pip" install --quiet nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm
