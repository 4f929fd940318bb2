#!/usr/bin/env python3
"""What the torch operator adds to the C call that it makes, at M = 1 and more.

Each sample runs the operator, the same radiance_forward through ctypes with its arguments made before, and that call
with no rows (what crossing into C costs), one after the other a few hundred times each. The overhead is what the
operator takes beyond the call without the crossing; the median of the samples' differences, since other work on the
machine slows all three alike.
"""

import argparse
import ctypes
import statistics
import sys
import time
from pathlib import Path

import torch

import radiance_autoround
from radiance_autoround import _library, weights

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "serve"))
import report  # noqa: E402

# name: N, K, group; the smallest show the operator itself, the last is a layer of the target
SHAPES = {"tiny": (64, 64, 32), "SmolLM2 o_proj": (576, 576, 64), "SmolLM2 up_proj": (1536, 576, 64),
          "out": (5120, 5120, 128)}


def timed(function, count):
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count * 1e6


def measure(name, m, samples, device):
    n, k, group = SHAPES[name]
    qweight = torch.randint(-2**31, 2**31 - 1, (k // 8, n), dtype=torch.int32)
    scales = (torch.randn(-(-k // group), n) * 0.01).half()
    packed = radiance_autoround.pack(qweight, scales, group, device)
    x = torch.randn(m, k, device=device).bfloat16()
    operator = torch.ops.radiance.packed_linear
    y = operator(x, packed, n)
    weight = weights.find(packed)
    workspace, stream = weight.device.workspace(weight.workspace_bytes(m))

    def arguments(rows):
        buffer = ctypes.create_string_buffer(_library.FORWARD_ARGS.size)
        _library.FORWARD_ARGS.pack_into(buffer, 0, len(buffer), rows, x.data_ptr(), _library.BF16, k, y.data_ptr(),
                                        _library.BF16, n, 0, 0, workspace.pointer, workspace.bytes, stream)
        return buffer

    forward, handle = _library.LIBRARY.radiance_forward, weight.handle
    with_rows, without = arguments(m), arguments(0)
    at, empty_at = ctypes.addressof(with_rows), ctypes.addressof(without)
    contestants = {"us": lambda: operator(x, packed, n), "call_us": lambda: forward(handle, at),
                   "crossing_us": lambda: forward(handle, empty_at)}
    once = max(timed(contestants["us"], 3), 1.0)
    count = max(3, min(400, int(20_000 / once)))
    taken = {key: [] for key in contestants}
    with torch.inference_mode():
        for _ in range(samples):
            for key, function in contestants.items():
                taken[key].append(timed(function, count))
            if device.type == "cuda":
                torch.cuda.synchronize()
    overheads = sorted(us - (call - crossing) for us, call, crossing in zip(*taken.values()))
    quarter = len(overheads) // 4
    return {"shape": name, "N": n, "K": k, "M": m, "group": group, "format": "autoround", "scope": "op",
            "config": radiance_autoround.explain(packed, m).split(":")[0], "samples": samples, "calls_per_sample": count,
            **{key: round(statistics.median(values), 3) for key, values in taken.items()},
            "overhead_us": round(statistics.median(overheads), 3),
            "overhead_quartiles_us": [round(overheads[quarter], 3), round(overheads[-1 - quarter], 3)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the results here")
    parser.add_argument("--samples", type=int, default=41)
    parser.add_argument("--m", default="1,16")
    parser.add_argument("--device", default="cpu", type=torch.device, help="cpu or cuda")
    parser.add_argument("--limit", type=float, help="exit with 1 if the overhead at M = 1 is above this many us")
    options = parser.parse_args()
    rows = []
    print(f"{'shape':16} {'M':>4} {'op us':>9} {'call us':>9} {'crossing':>9} {'overhead us':>12}  quartiles")
    for name in SHAPES:
        for m in map(int, options.m.split(",")):
            row = measure(name, m, options.samples, options.device)
            rows.append(row)
            low, high = row["overhead_quartiles_us"]
            print(f"{name:16} {m:4} {row['us']:9.2f} {row['call_us']:9.2f} {row['crossing_us']:9.2f} "
                  f"{row['overhead_us']:12.2f}  {low:.2f} to {high:.2f}")
    if options.json:
        report.write(options.json, {**report.provenance("radiance/op-overhead/1"), "rows": rows})
    # Where the call takes hundreds of microseconds its own jitter is larger than the operator.
    worst = max(row["overhead_us"] for row in rows if row["M"] == 1 and row["call_us"] < 100)
    return 1 if options.limit is not None and worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
