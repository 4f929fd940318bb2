#!/usr/bin/env python3
"""Makes one file of the parts that several runs of one command wrote, a shape each.

  merge_results.py OUT PART...

Lists (rows, cases, slow_cells) are joined in the order of the parts; of the header, which must name the
same commit, device and command but for its --shapes and --seed, the first part's is kept with all
shapes in its command. Parts that are not there are left out and named. Exit status: 0 good, 1 a part was
missing, 2 none there or parts that do not belong together.
"""

import json
import pathlib
import re
import sys

SHAPES = re.compile(r"--shapes (\S+)")
LISTS = ("rows", "cases", "slow_cells")
SAME = ("schema", "commit", "compiler", "driver", "device", "arch")


def without_shapes(report):
    return SHAPES.sub("--shapes", report["command"])


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    out, parts = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    missing = [part.name for part in parts if not part.exists()]
    reports = [json.loads(part.read_text(encoding="utf-8")) for part in parts if part.exists()]
    if missing:
        print(f"merge_results.py: missing {', '.join(missing)}", file=sys.stderr)
    if not reports:
        return 2
    first = reports[0]
    for other in reports[1:]:
        for key in SAME:
            if other.get(key) != first.get(key):
                print(f"merge_results.py: {key} is {first.get(key)} and {other.get(key)}", file=sys.stderr)
                return 2
        if without_shapes(other) != without_shapes(first):
            print(f"merge_results.py: commands differ: {first['command']}; {other['command']}",
                  file=sys.stderr)
            return 2
    shapes = [SHAPES.search(report["command"]) for report in reports]
    merged = dict(first)
    if all(shapes):
        named = ",".join(shape.group(1) for shape in shapes)
        merged["command"] = SHAPES.sub(f"--shapes {named}", first["command"])
    for key in LISTS:
        if key in first:
            merged[key] = [entry for report in reports for entry in report.get(key, [])]
    out.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
