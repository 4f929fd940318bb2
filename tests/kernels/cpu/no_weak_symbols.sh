#!/usr/bin/env bash
# A weak function in an object compiled for an instruction set could be the copy that the linker
# keeps for everybody, and then stop older processors with an illegal instruction.
set -eu
[ $# -gt 0 ] || { echo "no objects given"; exit 1; }
symbols=$(nm -C "$@")  # fails the test if an object cannot be read
# Sanitizer builds put their own helpers into every object.
found=$(printf '%s\n' "$symbols" | awk '/ [Wu] / && !/asan|ubsan|tsan|__sanitizer/')
if [ -n "$found" ]; then
  printf 'weak symbols:\n%s\n' "$found"
  exit 1
fi
echo "$# objects without weak symbols"
