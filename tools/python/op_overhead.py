#!/usr/bin/env python3
"""What the torch operator adds to the C call that it makes, at M = 1 and more.

A sample is one call of the operator, one of the same radiance_forward through ctypes with its arguments made before,
and one of that with no rows (what crossing into C costs). The overhead is what the operator takes beyond the call without
the crossing: the median of the samples' differences, for what else runs on the machine slows all three alike. Times are
those that this thread had a processor; the library has no other thread here, so they are all of the work.

A weight larger than the caches leaves nothing of torch and Python in them, and each call begins with fetching those:
add_us, a torch.add of 64 numbers in the same place, shows what that costs torch's own smallest operator.
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


def timed(function):
    start = time.thread_time_ns()
    function()
    return (time.thread_time_ns() - start) / 1e3 - timed.clock


timed.clock = 0.0  # what reading the clock costs
timed.clock = statistics.median(timed(lambda: None) for _ in range(2001))


def measure(name, m, seconds, device):
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
    few = torch.ones(64, device=device)
    others = [lambda: forward(handle, at), lambda: torch.add(few, few)]
    added = []
    taken = {key: [] for key in contestants}
    with torch.inference_mode():
        for function in [*contestants.values(), *others]:
            function()
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(taken["us"]) < 21:
            for key, function in contestants.items():
                taken[key].append(timed(function))
            others[0]()
            added.append(timed(others[1]))
            if device.type == "cuda":
                torch.cuda.synchronize()
    overheads = sorted(us - (call - crossing) for us, call, crossing in zip(*taken.values()))
    quarter = len(overheads) // 4
    return {"shape": name, "N": n, "K": k, "M": m, "group": group, "format": "autoround", "scope": "op",
            "config": radiance_autoround.explain(packed, m).split(":")[0], "samples": len(overheads),
            **{key: round(statistics.median(values), 3) for key, values in taken.items()},
            "add_us": round(statistics.median(added), 3), "overhead_us": round(statistics.median(overheads), 3),
            "overhead_quartiles_us": [round(overheads[quarter], 3), round(overheads[-1 - quarter], 3)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the results here")
    parser.add_argument("--seconds", type=float, default=4, help="for each shape and M")
    parser.add_argument("--m", default="1,16")
    parser.add_argument("--device", default="cpu", type=torch.device, help="cpu or cuda")
    parser.add_argument("--limit", type=float, help="exit with 1 if the overhead at M = 1 with a weight that stays in the caches is above "
                        "this many us")
    options = parser.parse_args()
    radiance_autoround.set_cpu_threads(1)
    rows = []
    print(f"{'shape':16} {'M':>4} {'op us':>9} {'call us':>9} {'crossing':>9} {'add us':>9} {'overhead us':>12}  quartiles")
    for name in SHAPES:
        for m in map(int, options.m.split(",")):
            row = measure(name, m, options.seconds, options.device)
            rows.append(row)
            low, high = row["overhead_quartiles_us"]
            print(f"{name:16} {m:4} {row['us']:9.2f} {row['call_us']:9.2f} {row['crossing_us']:9.2f} "
                  f"{row['add_us']:9.2f} {row['overhead_us']:12.2f}  {low:.2f} to {high:.2f}")
    if options.json:
        about = report.provenance("radiance/op-overhead/1")
        if options.device.type == "cuda":
            about.update(device=torch.cuda.get_device_name(options.device),
                         arch="sm%d%d" % torch.cuda.get_device_capability(options.device))
        report.write(options.json, {**about, "rows": rows})
    worst = max(row["overhead_us"] for row in rows if row["M"] == 1 and row["N"] * row["K"] < 1 << 20)
    return 1 if options.limit is not None and worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
