#!/usr/bin/env python3
"""Counts the machine instructions of Hopper's kernels: of each, and of its main loop.

  sass_census.py [--cuobjdump PATH] [--nvcc PATH] [--json FILE] CUBIN...

A main loop is the shortest loop (from a backward branch to its target) that holds a matrix
multiplication. Accesses to local memory (`spills`: LDL and STL) are a defect, and so are as many waits
for multiplications as there are multiplications (ptxas ran them one by one, C7510 and its kin) where
a scale covers several. `overlapped` are the instructions between a last multiplication and the wait for
it: what runs beside the tensor cores in the same warpgroup.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"^\s*Function : (\S+)")
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
TARGET = re.compile(r"0x([0-9a-f]+)")

CLASSES = {
    "qgmma": ("QGMMA",),
    "float": ("FFMA", "FMUL", "FADD", "FMNMX", "FSETP", "FSEL", "HADD2", "HMUL2", "HFMA2"),
    "convert": ("F2F", "F2FP", "I2F", "F2I", "I2FP", "MUFU"),
    "shared": ("LDS", "STS", "STSM", "LDSM", "ATOMS"),
    "global": ("LDG", "STG", "ATOMG", "ATOM", "RED", "LD", "ST", "UBLKCP", "UTMALDG"),
    "local": ("LDL", "STL"),
    "sync": ("SYNCS", "BAR", "WARPGROUP", "WARPSYNC", "FENCE", "MEMBAR", "DEPBAR", "ACQBULK",
             "BSSY", "BSYNC", "ERRBAR", "CCTL", "ELECT"),
    "branch": ("BRA", "EXIT", "RET", "CALL", "BRX", "YIELD", "NANOSLEEP", "NOP"),
    "constant": ("LDC", "ULDC"),
}
CLASS_OF = {name: kind for kind, names in CLASSES.items() for name in names}


def kind_of(opcode):
    name = opcode.split(".")[0]
    if name in CLASS_OF:
        return CLASS_OF[name]
    return "uniform" if name.startswith("U") or name in ("R2UR", "S2UR") else "integer"


def main_loop(code):
    """(first, last) index of the main loop's instructions; None without multiplications."""
    index = {address: i for i, (address, _, _) in enumerate(code)}
    best = None
    for i, (address, opcode, operands) in enumerate(code):
        found = TARGET.search(operands) if opcode.startswith("BRA") else None
        if not found or int(found[1], 16) > address or int(found[1], 16) not in index:
            continue
        first = index[int(found[1], 16)]
        inside = any(op.startswith("QGMMA") for _, op, _ in code[first:i + 1])
        if inside and (best is None or i - first < best[1] - best[0]):
            best = (first, i)
    return best


def counts(code):
    result = {"instructions": len(code)}
    for kind in list(CLASSES) + ["uniform", "integer"]:
        result[kind] = sum(kind_of(opcode) == kind for _, opcode, _ in code)
    return result


def loop_counts(code):
    result = counts(code)
    waits = overlapped = since = 0
    pending = False  # a multiplication since the last wait
    for _, opcode, _ in code:
        if opcode.startswith("QGMMA"):
            pending, since = True, 0
        elif opcode.startswith("WARPGROUP.DEPBAR"):
            waits += 1
            if pending:
                overlapped += since
            pending = False
        else:
            since += 1
    return result | {"waits": waits, "overlapped": overlapped}


def census(cuobjdump, cubin):
    """The kernels of a cubin, as a list of records."""
    path = os.pathsep.join([os.path.dirname(cuobjdump), os.environ.get("PATH", "")])  # of nvdisasm

    def run(option):
        return subprocess.run([cuobjdump, option, cubin], capture_output=True, text=True,
                              check=True, env=os.environ | {"PATH": path}).stdout

    usage, name = {}, None
    for line in run("-res-usage").splitlines():
        found = re.match(r"^\s*Function (\S+):", line)
        name = found[1] if found else name
        found = USAGE.search(line)
        if found and name:
            usage[name] = [int(x) for x in found.groups()]
    code, name = {}, None
    for line in run("-sass").splitlines():
        found = FUNCTION.match(line)
        if found:
            name = found[1]
            code[name] = []
        found = INSTRUCTION.match(line)
        if found and name:
            code[name].append((int(found[1], 16), found[2], found[3]))
    records = []
    for name in sorted(code):
        registers, stack, shared, local = usage[name]
        whole, loop = counts(code[name]), main_loop(code[name])
        record = {"name": name, "target": "sm90", "instructions": whole["instructions"],
                  "registers": registers, "static_shared_bytes": shared,
                  "stack_bytes": stack + local, "spills": whole["local"], "classes": whole}
        if loop:
            record["main_loop"] = loop_counts(code[name][loop[0]:loop[1] + 1])
        records.append(record)
    return records


def find_cuobjdump(folder=None):
    """Where the disassembler is: in a folder of pip's, on the path, or beside CUDA's compiler."""
    places = glob.glob(f"{folder}/lib/python3*/site-packages/nvidia/*/bin") if folder else []
    path = os.pathsep.join(places + [os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
    return shutil.which("cuobjdump", path=path)


def compiler_version(nvcc):
    lines = subprocess.run([nvcc, "--version"], text=True, capture_output=True,
                           check=True).stdout.splitlines()
    return next((line for line in lines if "release" in line), "nvcc")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuobjdump", default=find_cuobjdump())
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--json")
    parser.add_argument("cubins", nargs="+")
    options = parser.parse_args()
    if not options.cuobjdump:
        print("sass_census.py: no cuobjdump here (PyPI has nvidia-cuda-cuobjdump)", file=sys.stderr)
        return 2
    try:
        kernels = [k for cubin in options.cubins for k in census(options.cuobjdump, cubin)]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"sass_census.py: {error}", file=sys.stderr)
        return 2
    print(f"{'kernel':<18}{'registers':>10}{'stack':>7}{'spills':>8}   main loop: "
          f"{'instructions':>12}{'QGMMA':>7}{'waits':>7}{'overlapped':>12}")
    for k in kernels:
        loop = k.get("main_loop")
        print(f"{k['name']:<18}{k['registers']:>10}{k['stack_bytes']:>7}{k['spills']:>8}   " +
              (f"{'':>11}{loop['instructions']:>12}{loop['qgmma']:>7}{loop['waits']:>7}"
               f"{loop['overlapped']:>12}" if loop else ""))
    if options.json:
        here = os.path.dirname(os.path.abspath(__file__))
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=here, text=True,
                                capture_output=True, check=False).stdout.strip()
        record = {"schema": 1, "commit": commit or "unknown", "compiler": compiler_version(options.nvcc), "driver": "none",
                  "device": "none", "arch": "sm90", "seed": 0,
                  "command": "tools/sass_census.py " +
                             " ".join(os.path.basename(c) for c in options.cubins),
                  "kernels": kernels}
        with open(options.json + ".tmp", "w", encoding="ascii") as file:
            json.dump(record, file, indent=1)
            file.write("\n")
        os.replace(options.json + ".tmp", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
