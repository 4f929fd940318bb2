#!/usr/bin/env bash
# usage: exported_symbols.sh libradiance.so radiance.h
set -eu
exported=$(nm -D --defined-only "$1" | awk '$2 == "T" {sub(/@.*/, "", $3); print $3}' | sort)
others=$(nm -D --defined-only "$1" | awk '$2 != "T" && $2 != "A" {print $2, $3}')
declared=$(grep -oE '\bradiance_[a-z_]+\(' "$2" | tr -d '(' | sort -u |
  while read -r name; do grep -qE "^RADIANCE_API.*\b$name\(" "$2" && echo "$name"; done | sort)
if [ -n "$others" ]; then
  printf 'exported, and not functions:\n%s\n' "$others"
  exit 1
fi
diff <(echo "$declared") <(echo "$exported") || { echo "< declared, > exported"; exit 1; }
echo "$(echo "$exported" | wc -l) functions, as declared"
