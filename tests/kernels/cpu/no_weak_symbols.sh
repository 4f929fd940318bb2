#!/usr/bin/env bash
# A weak function in an object compiled for an instruction set could be the copy that the linker
# keeps for everybody, and then stop older processors with an illegal instruction.
set -eu
[ $# -gt 0 ] || { echo "no objects given"; exit 1; }
found=$(for object in "$@"; do nm -C "$object" | grep -E ' [Wu] ' | sed "s|^|$(basename "$object"): |" || true; done)
# Sanitizer builds put their own helpers into every object.
found=$(printf '%s\n' "$found" | grep -vE 'asan|ubsan|tsan|__sanitizer|^$' || true)
if [ -n "$found" ]; then
  printf 'weak symbols:\n%s\n' "$found"
  exit 1
fi
echo "$# objects without weak symbols"
