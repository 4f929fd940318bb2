#!/usr/bin/env python3
"""Differential fuzzing of the emulator: random C++ functions, compiled by one clang for this machine
and for gfx1201, run natively and in the emulator on the same random inputs. Every output must be
equal bit by bit; a NaN equals any NaN.

  differential.py --library libamdhip64.so.7 --clang clang-22 [--seed N] [--seconds S] [--batches N]

A batch's seed names everything about it: `--seed N --batches 1` repeats it. What differs is kept in
--keep, with the command that shows it again. Exit status: 0 all equal, 1 a difference, 2 cannot run.
"""

import argparse
import ctypes
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import generate

FIELDS = [("w", "i", 8), ("l", "q", 4), ("f", "f", 8), ("d", "d", 4), ("h", "e", 8), ("s", "h", 8),
          ("c", "b", 16)]
BLOCK = struct.Struct("<" + "".join(f"{n}{c}" for _, c, n in FIELDS))
UNIFORM = struct.Struct("<4i2q4f2d")
THREADS = 64

# Half precision is rounded after every operation, as the card does.
NATIVE = ["-x", "c++", "functions.cpp", "-shared", "-fPIC", "-march=x86-64-v3", "-Xclang",
          "-ffloat16-excess-precision=none", "-lm"]
# Strict takes a misaligned access for a mistake; by default the compiler makes some on purpose.
DEVICE = ["-x", "hip", "functions.cpp", "--offload-arch=gfx1201", "--cuda-device-only",
          "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-g", "-Xclang", "-target-feature",
          "-Xclang", "-unaligned-access-mode"]

INTEGER_VALUES = [0, 1, -1, 2, 7, 8, 31, 32, 127, -128, 255, 0x7fff, -0x8000, 0xffff, 0x7fffffff,
                  -0x80000000, 0x7fffffffffffffff, -0x8000000000000000]
FLOAT_VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 65504.0, 6e-8, 6.1e-5, 1e-40, 1e-45, 3.4e38,
                5e-324, 1e308, math.inf, -math.inf, math.nan, 448.0, 2147483648.0, 1e10]


def random_integer(rng, bits):
    kind = rng.random()
    if kind < 0.3:
        value = rng.choice(INTEGER_VALUES)
    elif kind < 0.6:
        value = rng.randrange(-100, 100)
    else:
        value = rng.getrandbits(bits)
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def random_float(rng, code):
    kind = rng.random()
    if kind < 0.25:
        value = rng.choice(FLOAT_VALUES)
    elif kind < 0.75:
        value = rng.uniform(-100, 100)
    else:
        size = struct.calcsize(code)
        value = struct.unpack("<" + code, rng.randbytes(size))[0]
    try:
        struct.pack("<" + code, value)
    except OverflowError:
        value = math.inf
    return value


def random_values(rng, layout):
    values = []
    for code, count in layout:
        for _ in range(count):
            if code in "fde":
                values.append(random_float(rng, code))
            else:
                values.append(random_integer(rng, 8 * struct.calcsize("<" + code)))
    return values


def equal(field_code, a, b):
    if a == b:
        return True
    if field_code not in "fde":
        return False
    x, y = struct.unpack("<" + field_code, a)[0], struct.unpack("<" + field_code, b)[0]
    return math.isnan(x) and math.isnan(y)


def first_difference(native, emulated, index):
    """The first field of a block that differs: (name, native value, emulated value)."""
    at = index * BLOCK.size
    for name, code, count in FIELDS:
        size = struct.calcsize("<" + code)
        for i in range(count):
            a, b = native[at:at + size], emulated[at:at + size]
            if not equal(code, a, b):
                return (f"{name}[{i}]",) + tuple(
                    f"{struct.unpack('<' + code, x)[0]!r} (0x{int.from_bytes(x, 'little'):x})"
                    for x in (a, b))
            at += size
    return None


class Hip:
    """As much of the runtime as this needs."""

    def __init__(self, path):
        self.runtime = ctypes.CDLL(path)
        self.runtime.radiance_emulator_last_report.restype = ctypes.c_char_p
        self.runtime.radiance_emulator_version.restype = ctypes.c_char_p
        self.option("quiet", "1")

    def option(self, name, value):
        if self.runtime.radiance_emulator_set_option(name.encode(), value.encode()) != 0:
            raise RuntimeError(f"the emulator has no option {name}={value}")

    def version(self):
        return self.runtime.radiance_emulator_version().decode()

    def call(self, name, *arguments):
        result = getattr(self.runtime, name)(*arguments)
        if result != 0:
            report = self.runtime.radiance_emulator_last_report().decode()
            raise RuntimeError(f"{name}: {report or result}")

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        self.call("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def upload(self, pointer, data):
        self.call("hipMemcpy", pointer, bytes(data), ctypes.c_size_t(len(data)), 1)

    def download(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.call("hipMemcpy", data, pointer, ctypes.c_size_t(size), 2)
        return data.raw

    def launch(self, module, name, groups, arguments):
        function = ctypes.c_void_p()
        self.call("hipModuleGetFunction", ctypes.byref(function), module, name.encode())
        pointers = (ctypes.c_void_p * len(arguments))(
            *[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments])
        self.call("hipModuleLaunchKernel", function, groups, 1, 1, THREADS, 1, 1, 0, None, pointers,
                  None)


class Batch:
    """The functions of one seed, and their inputs."""

    def __init__(self, options, seed, folder):
        self.options = options
        self.folder = folder
        self.source = os.path.join(folder, "functions.cpp")
        with open(self.source, "w", encoding="ascii") as file:
            file.write(generate.program(seed, options.functions))
        rng = random.Random(seed)
        self.level = rng.choices(["-O0", "-O1", "-O2", "-O3"], [1, 3, 4, 4])[0]
        self.strict = rng.random() < 0.5
        self.order = str(rng.getrandbits(63)) if rng.random() < 0.5 else "none"
        layout = [(c, n) for _, c, n in FIELDS]
        self.blocks = b"".join(BLOCK.pack(*random_values(rng, layout))
                               for _ in range(options.inputs))
        self.uniform = UNIFORM.pack(
            *random_values(rng, [("i", 4), ("q", 2), ("f", 4), ("d", 2)]))
        self.native = ctypes.CDLL(self.compile("native.so", NATIVE + ["-O1"])).run
        self.image = self.device_image()

    def compile(self, name, arguments):
        path = os.path.join(self.folder, name)
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([self.options.clang, *arguments, "-std=c++20", "-fwrapv",
                        "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-I", here,
                        "-o", path], check=True, cwd=self.folder)
        return path

    def device_image(self, *arguments):
        with open(self.compile("device.hsaco", DEVICE + [self.level, *arguments]), "rb") as file:
            return file.read()

    def run_native(self, function):
        out = ctypes.create_string_buffer(len(self.blocks))
        self.native(function, self.blocks, out, self.uniform, self.options.inputs)
        return out.raw

    def run_emulated(self, hip, function, image):
        """Throws RuntimeError with the emulator's sentence."""
        hip.option("strict", "1" if self.strict else "0")
        hip.option("seed", self.order)
        try:
            module = ctypes.c_void_p()
            hip.call("hipModuleLoadData", ctypes.byref(module), image)
            source, out = hip.allocate(len(self.blocks)), hip.allocate(len(self.blocks))
            hip.upload(source, self.blocks)
            hip.upload(out, bytes(len(self.blocks)))
            count = self.options.inputs
            hip.launch(module, f"k{function}", (count + THREADS - 1) // THREADS,
                       [source, out, ctypes.create_string_buffer(self.uniform, len(self.uniform)),
                        ctypes.c_int(count)])
            return hip.download(out, len(self.blocks))
        finally:
            hip.runtime.hipDeviceReset()


def compare(batch, expected, got):
    """(index of the input, field, native, emulated) of every input that differs."""
    if expected == got:
        return []
    found = ((index, first_difference(expected, got, index))
             for index in range(batch.options.inputs))
    return [(index,) + difference for index, difference in found if difference]


def sign_only(difference):
    """Whether a zero, or what was divided by it, has another sign."""
    pair = {value.split()[0] for value in difference[2:]}
    return pair in ({"0.0", "-0.0"}, {"inf", "-inf"})


def run_function(batch, hip, function):
    """What is wrong with a function, as text, and whether it is the compiler's known fault."""
    expected = batch.run_native(function)
    try:
        differing = compare(batch, expected, batch.run_emulated(hip, function, batch.image))
        if not differing:
            return None, False
        index, field, native, emulated = differing[0]
        text = f"input {index}: {field} is {native} natively and {emulated} emulated"
        if any(sign_only(d) for d in differing):
            again = batch.run_emulated(hip, function, batch.device_image("-DOPAQUE"))
            return text, not compare(batch, expected, again)
        return text, False
    except RuntimeError as error:
        return str(error), False


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", dest="runtime", required=True)
    parser.add_argument("--clang", default="clang-22")
    parser.add_argument("--seed", type=int, default=None, help="of the first batch; the clock's if none")
    parser.add_argument("--batches", type=int, default=0, help="0: until the time is over")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--functions", type=int, default=20, help="a batch")
    parser.add_argument("--inputs", type=int, default=256, help="a function")
    parser.add_argument("--json", help="write what was run to this file")
    parser.add_argument("--keep", default=".", help="folder for the sources of differing batches")
    options = parser.parse_args()
    hip = Hip(options.runtime)
    start = time.monotonic()
    first = options.seed if options.seed is not None else int(time.time())
    cases = batches = compiler_faults = 0
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        while (batches < options.batches) if options.batches else \
                (batches == 0 or time.monotonic() - start < options.seconds):
            seed = first + batches
            # A library that is loaded cannot be replaced under the same name.
            batch_folder = os.path.join(folder, str(seed))
            os.mkdir(batch_folder)
            batch = Batch(options, seed, batch_folder)
            for function in range(options.functions):
                text, by_compiler = run_function(batch, hip, function)
                compiler_faults += by_compiler
                if text and not by_compiler:
                    print(f"seed {seed}, {batch.level}{', strict' if batch.strict else ''}, "
                          f"function{function}: {text}", flush=True)
                    bad.append(seed)
            cases += options.functions * options.inputs
            batches += 1
            if seed in bad:
                kept = os.path.join(options.keep, f"differential-{seed}.cpp")
                shutil.copy(batch.source, kept)
                print(f"kept in {kept}; again: --seed {seed} --batches 1 --functions "
                      f"{options.functions} --inputs {options.inputs}", flush=True)
    print(f"seeds {first} to {first + batches - 1}: {cases} cases, {len(bad)} functions differ; "
          f"{compiler_faults} differ by a fault of the compiler (prelude.hpp, OPAQUE)")
    if options.json:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True,
                                text=True, check=False, cwd=os.path.dirname(__file__) or ".")
        record = {"schema": 1, "commit": commit.stdout.strip() or "unknown",
                  "command": f"differential.py --seed {first} --batches {batches} "
                             f"--functions {options.functions} --inputs {options.inputs}",
                  "seed": first, "device": "emu", "arch": "gfx1201", "driver": hip.version(),
                  "first_seed": first, "last_seed": first + batches - 1, "functions": options.functions,
                  "inputs": options.inputs, "cases": cases, "differing": len(bad),
                  "differing_seeds": sorted(set(bad)), "compiler_faults": compiler_faults,
                  "compiler": subprocess.run([options.clang, "--version"], capture_output=True,
                                             text=True, check=True).stdout.splitlines()[0]}
        with open(options.json + ".tmp", "w", encoding="ascii") as file:
            json.dump(record, file, indent=2)
            file.write("\n")
        os.replace(options.json + ".tmp", options.json)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
