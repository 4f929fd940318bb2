#!/usr/bin/env python3
"""How fast the emulator executes the decode kernels, with its strict checks and without.

    emulator_speed.py RADIANCE OUT.json [--repeats N]

Runs `radiance bench --device emu` on one thread, in turns without and with --strict, and writes for
each number of rows the median of wave-instructions a second of processor time. That is a property of
the emulator and this machine, and says nothing of a card.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

SHAPE, ROWS = "gate_up", "1,16,64"


def bench(radiance, strict, folder):
    path = pathlib.Path(folder) / "bench.json"
    command = [radiance, "bench", "--device", "emu", "--threads", "1", "--shapes", SHAPE, "--m", ROWS,
               "--seed", "1", "--json", str(path)]
    subprocess.run(command + (["--strict"] if strict else []), check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(path.read_text(encoding="utf-8"))


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("radiance")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    header, counts, seconds = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.repeats):
            for strict in (False, True):
                report = bench(options.radiance, strict, folder)
                header = {key: report[key] for key in
                          ("schema", "commit", "compiler", "driver", "device", "arch", "seed")}
                for row in report["rows"]:
                    if row["scope"] != "gemm":
                        continue
                    call = row["counters"]["call"]
                    key = (row["config"], row["shape"], row["M"], strict)
                    counts[key] = call["wave_instructions"]
                    seconds.setdefault(key, []).append(call["host_cpu_ns"] * 1e-9)

    rows = []
    for key, samples in seconds.items():
        config, shape, m, strict = key
        median = statistics.median(samples)
        rows.append({"config": config, "shape": shape, "M": m, "strict": strict,
                     "samples": len(samples), "wave_instructions": counts[key],
                     "cpu_s": median, "spread": (max(samples) - min(samples)) / median,
                     "per_second_core": counts[key] / median})
    header["command"] = f"emulator_speed.py --repeats {options.repeats}"
    header["processor"] = processor()
    temporary = options.out.with_suffix(f".tmp{os.getpid()}")
    temporary.write_text(json.dumps(header | {"rows": rows}, indent=2) + "\n", encoding="utf-8")
    temporary.rename(options.out)
    for row in rows:
        print(f"{row['config']} M={row['M']} {'strict' if row['strict'] else 'plain '}: "
              f"{row['per_second_core'] * 1e-6:.1f} M wave-instructions/s, "
              f"spread {100 * row['spread']:.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
