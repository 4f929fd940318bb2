#!/usr/bin/env bash
# usage: installed_package.sh BUILD_DIR CONSUMER_DIR CC SANITIZERS
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=${4:+-fsanitize=$4}
cmake --install "$1" --prefix "$work/prefix" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake -S "$2" -B "$work/build" -DCMAKE_C_COMPILER="$3" -DCMAKE_C_FLAGS="$flags" \
  -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/log" 2>&1 &&
  cmake --build "$work/build" >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer"
libdir=$(dirname "$(find "$work/prefix" -name 'libradiance.so')")
[ "$(basename "$(readlink "$libdir/libradiance.so")")" = libradiance.so.1 ]
# The same by hand: one header folder, one library, plain C11.
# shellcheck disable=SC2086
"$3" -std=c11 -Wall -Wextra -Werror -pedantic $flags -I"$work/prefix/include" "$2/consumer.c" \
  -L"$libdir" -lradiance -lm -Wl,-rpath,"$libdir" -o "$work/by_hand"
"$work/by_hand"
grep -q -- "-lradiance" "$libdir/pkgconfig/radiance.pc"
