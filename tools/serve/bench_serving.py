#!/usr/bin/env python3
"""Tokens a second of served models, in one run: ours, vLLM's built-in method for the same checkpoint, and bf16.

  bench_serving.py --models DIR --json docs/results/cpu-serving-speed.json          (5 to 6 minutes on two cores)

All servers are started first; then they take turns, and those that wait are stopped (SIGSTOP). A turn is one measure of a
second or two, so that the three stand beside each other in time: only ratios of one turn count, since another program, or
another machine on the same host, may take half of the processors in the next. --under CMD runs the measuring part, not
the starting, under a command: one that keeps others off the machine.

vLLM's own method on a processor is its kernel CPUWNA16LinearKernel, which takes auto-round's checkpoints as GPTQ; with AMX
it rounds the activations to int8, and --all also runs it with 16-bit ones. The checkpoint is group 64: K = 576 ends in
half a group of 128, which that kernel does not load.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import report
from server import Server, metric

VOCABULARY = range(100, 40000)
NO_PLUGIN = {"VLLM_PLUGINS": "none"}
CONTESTANTS = {  # name: (folder, environment)
    "radiance W4A8": ("smollm2-g64", {}),
    "vLLM int4": ("smollm2-g64", NO_PLUGIN),
    "vLLM bf16": ("smollm2-bf16", NO_PLUGIN),
    "vLLM int4, 16-bit activations": ("smollm2-g64", {**NO_PLUGIN, "VLLM_CPU_INT4_W4A8": "0"}),
}
USUAL = 3


def random_prompt(tokens: int) -> list[int]:
    return [random.choice(VOCABULARY) for _ in range(tokens)]


def prefill(server: dict[str, str], client: Any, tokens: int) -> float:
    begin = time.perf_counter()
    client.completions.create(model=server["model"], prompt=random_prompt(tokens), max_tokens=1, temperature=0)
    return tokens / (time.perf_counter() - begin)


def decode(server: dict[str, str], client: Any, streams: int, tokens: int) -> float:
    """Tokens a second of all streams together, by the server's own time between tokens: reading streams would take the
    processors from the server, 250 times a second with 16 of them."""

    def gaps() -> tuple[float, float]:
        names = ("vllm:inter_token_latency_seconds_sum", "vllm:inter_token_latency_seconds_count")
        return tuple(metric(server["url"], name) for name in names)

    before = gaps()
    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(lambda _: client.completions.create(
            model=server["model"], prompt=random_prompt(16), max_tokens=tokens, temperature=0,
            extra_body={"ignore_eos": True}), range(streams)))
    seconds, count = (now - then for now, then in zip(gaps(), before))
    if count != streams * (tokens - 1):
        raise RuntimeError(f"{count:.0f} gaps between the tokens of {streams} answers of {tokens}")
    return streams * count / seconds


MEASURES = {
    "prefill 128": lambda server, client: statistics.median(prefill(server, client, 128) for _ in range(3)),
    "prefill 1024": lambda server, client: prefill(server, client, 1024),
    "decode 1": lambda server, client: decode(server, client, 1, 41),
    "decode 4": lambda server, client: decode(server, client, 4, 33),
    "decode 16": lambda server, client: decode(server, client, 16, 33),
}


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    import openai

    servers = {name: (server, openai.OpenAI(base_url=f"{server['url']}/v1", api_key="none", timeout=600, max_retries=0))
               for name, server in plan["servers"].items()}
    samples: dict[tuple[str, str], list[float]] = {(name, what): [] for name in servers for what in MEASURES}
    order = list(servers)
    for turn in range(plan["rounds"] + 1):
        for what, how in MEASURES.items():
            for name in order:
                server, client = servers[name]
                os.killpg(server["group"], signal.SIGCONT)
                value = how(server, client)
                os.killpg(server["group"], signal.SIGSTOP)
                if turn:  # the first round warms up
                    samples[name, what].append(value)
            order.append(order.pop(0))
        print(f"round {turn} of {plan['rounds']}", flush=True)
    return [{"contestant": name, "measure": what, "tokens_per_second": statistics.median(values), "samples": values}
            for (name, what), values in samples.items()]


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds to each row ours over theirs, the median of the rounds' ratios and its quartiles, and the samples' spread."""
    ours = {row["measure"]: row["samples"] for row in rows if row["contestant"] == next(iter(CONTESTANTS))}
    for row in rows:
        ratios = sorted(mine / theirs for mine, theirs in zip(ours[row["measure"]], row["samples"]))
        row["ours_over_theirs"] = statistics.median(ratios)
        row["ratio_quartiles"] = [ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]]
        values = sorted(row["samples"])
        row["spread"] = (values[-1 - len(values) // 4] - values[len(values) // 4]) / row["tokens_per_second"]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder with smollm2-g64 and smollm2-bf16")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="vLLM's int4 with 16-bit activations too")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--under", default="", metavar="CMD", help="run the measuring part under this command")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)  # the measuring part, under CMD
    options = parser.parse_args()
    if options.plan:
        plan = json.loads(options.plan.read_text())
        options.plan.write_text(json.dumps(measure(plan)))
        return
    if not options.models:
        parser.error("--models is missing")

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers, kernels = {}, {}
        contestants = list(CONTESTANTS.items())[:None if options.all else USUAL]
        for number, (name, (folder, environment)) in enumerate(contestants):
            server = stack.enter_context(Server(
                options.models / folder, scratch / f"{number}.log",
                ["--no-enable-prefix-caching", *(["--enforce-eager"] if options.eager else [])], environment,
                track=False))
            is_ours = "radiance: " in server.output()
            if is_ours != (number == 0):
                raise SystemExit(f"{name}: {'our' if is_ours else 'not our'} method was chosen")
            kernel = re.search(r"Using (CPU\w+LinearKernel) for", server.output())
            print(f"{name}: started in {server.starting_seconds:.0f} s{f', {kernel[1]}' if kernel else ''}", flush=True)
            servers[name] = {"url": server.url, "model": server.name, "group": server.process.pid}
            kernels[name] = "radiance" if is_ours else kernel[1] if kernel else None
            os.killpg(server.process.pid, signal.SIGSTOP)
            stack.callback(os.killpg, server.process.pid, signal.SIGCONT)
        plan = scratch / "plan.json"
        plan.write_text(json.dumps({"rounds": options.rounds, "servers": servers}))
        subprocess.run([*shlex.split(options.under), sys.executable, __file__, "--plan", str(plan)], check=True)
        rows = with_ratios(json.loads(plan.read_text()))

    print(f"{'':32}" + "".join(f"{what:>22}" for what in MEASURES))
    for name in servers:
        mine = {row["measure"]: row for row in rows if row["contestant"] == name}
        print(f"{name:32}" + "".join(f"{mine[what]['tokens_per_second']:>12.1f} ({mine[what]['ours_over_theirs']:.2f}x) "
                                     for what in MEASURES))
    if options.json:
        about = report.provenance("serving-speed-1")
        about["command"] = about["command"].replace(f" --under {options.under}", "")
        report.write(options.json, {**about, "rounds": options.rounds, "compiled": not options.eager, "kernels": kernels,
                                    "rows": rows})


if __name__ == "__main__":
    main()
