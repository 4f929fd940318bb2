#!/usr/bin/env python3
"""The machine code of Hopper's kernels, without a GPU: what would be a defect, and, from the compiler
that docs/results/census-sm90.json names, nothing worse than it records.

  sass_test.py --nvcc PATH --tools FOLDER --recorded FILE CUBIN...

Exit status: 0 good, 1 not, 77 no disassembler here.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import sass_census  # noqa: E402


def problems_of(kernel, recorded):
    """What is wrong with a kernel, as sentences."""
    name, loop = kernel["name"], kernel.get("main_loop")
    if kernel["spills"] or kernel["stack_bytes"]:
        yield f"{name}: {kernel['spills']} spills, {kernel['stack_bytes']} bytes of stack"
    if name.startswith(("prefill", "decode")):
        if not loop:
            yield f"{name}: no matrix multiplication"
        elif "slab" in name and loop["waits"] >= loop["qgmma"]:
            yield f"{name}: {loop['waits']} waits for {loop['qgmma']} multiplications: run one by one"
    if recorded is None:
        return
    for key in ("registers", "static_shared_bytes"):
        if kernel[key] > recorded[key]:
            yield f"{name}: {key} {kernel[key]}, recorded {recorded[key]}"
    for key in ("instructions", "waits") if loop else ():
        if loop[key] > recorded["main_loop"][key]:
            yield f"{name}: main loop {key} {loop[key]}, recorded {recorded['main_loop'][key]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--tools", required=True, help="where pip may have put a disassembler")
    parser.add_argument("--recorded", required=True)
    parser.add_argument("cubins", nargs="+")
    options = parser.parse_args()
    cuobjdump = sass_census.find_cuobjdump(options.tools)
    if not cuobjdump:
        print("no cuobjdump here")
        return 77
    report = json.loads(pathlib.Path(options.recorded).read_text(encoding="utf-8"))
    recorded = {k["name"]: k for k in report["kernels"]}
    comparable = report["compiler"] == sass_census.compiler_version(options.nvcc)
    kernels = [k for cubin in options.cubins for k in sass_census.census(cuobjdump, cubin)]
    problems = [p for k in kernels
                for p in problems_of(k, recorded.get(k["name"]) if comparable else None)]
    if comparable and {k["name"] for k in kernels} != set(recorded):
        problems.append("the kernels are not those of the record")
    for problem in problems:
        print(problem)
    print(f"{len(kernels)} kernels, {len(problems)} problems" +
          ("" if comparable else f"; recorded by another compiler, {report['compiler']}"))
    return 1 if problems or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
